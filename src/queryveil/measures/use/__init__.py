"""Use that is left to the reader of a release: meaning, frequencies, interests, retrieval."""
