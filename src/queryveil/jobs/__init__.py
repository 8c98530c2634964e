"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""
