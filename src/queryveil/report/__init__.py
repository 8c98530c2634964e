"""What was found, drawn for people: pages that need nothing but themselves."""

from .comparison import render_comparison
from .lines import short_labels
from .peers import render_sweep
from .peers_picture import sweep_svg
from .picture import frontier_svg
from .release_page import render_private_report

__all__ = [
    "frontier_svg",
    "render_comparison",
    "render_private_report",
    "render_sweep",
    "short_labels",
    "sweep_svg",
]
