"""`python -m queryveil`."""

from .cli import main

main()
