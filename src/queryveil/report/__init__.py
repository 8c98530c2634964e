"""What was found, drawn for people: pages that need nothing but themselves."""
