"""Use that is left to the reader of a release: meaning, frequencies, interests, retrieval."""

__all__: list[str] = []
