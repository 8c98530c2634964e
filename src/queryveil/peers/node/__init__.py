"""A node that a person can run: encrypted links to friends, a local page, a search engine."""
