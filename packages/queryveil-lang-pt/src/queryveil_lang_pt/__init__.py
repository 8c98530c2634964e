"""Portuguese words on the concepts of WordNet 3.0, for queryveil."""
