"""A peer as a program: links to friends, the local page, search engines."""
