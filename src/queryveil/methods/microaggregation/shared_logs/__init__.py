"""Compose the logs that the users of a group share, from texts that many users sent."""
