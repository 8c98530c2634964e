"""Methods that write new logs of concepts: each query replaced, or drawn from a private profile."""
