"""One loader for each form in which knowledge bases come."""
