"""Reading, cleaning and holding a query log, and writing one that belongs to nobody."""
