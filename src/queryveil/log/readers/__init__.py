"""One module for each file format, and their registry."""
