"""From queries to concepts: phrases, labels, names, and what was found."""
