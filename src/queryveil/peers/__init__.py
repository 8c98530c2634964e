"""The client side: friends who submit each other's queries."""
