"""One module for each file format, and the registry that finds them."""
