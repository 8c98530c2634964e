"""Many peers in memory, and what an observer learns of them."""
