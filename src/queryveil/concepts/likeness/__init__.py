"""How alike concepts and users are: distances, similarities, profiles, levels, topics."""
