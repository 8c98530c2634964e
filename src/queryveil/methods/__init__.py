"""The published methods, one file each."""
