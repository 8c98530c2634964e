"""A taxonomy: its arrays, graph, file and checks."""
