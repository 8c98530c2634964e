"""Pages and charts. The package knows plain values only."""
