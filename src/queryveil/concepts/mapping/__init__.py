"""From the text of a query to concepts of a taxonomy."""
