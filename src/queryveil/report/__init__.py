"""What was found, drawn for people: pages that need nothing but themselves."""

from .comparison import comparison_page
from .lines import short_labels
from .peers import peers_page
from .peers_picture import peers_svg
from .picture import frontier_svg
from .release_page import internal_page

__all__ = [
    "comparison_page",
    "frontier_svg",
    "internal_page",
    "peers_page",
    "peers_svg",
    "short_labels",
]
