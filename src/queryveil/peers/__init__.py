"""The client side: friends submit each other's queries, so that a search engine knows nobody's."""
