"""What may be published: the release, its guarantee, its cards, and the proof on the files."""
