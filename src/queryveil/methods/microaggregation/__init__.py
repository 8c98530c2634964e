"""k-anonymous logs by microaggregation: groups of similar users share one log."""
