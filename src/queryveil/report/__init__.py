"""What was found, drawn for people: pages that need nothing but themselves."""

from .comparison import comparison_page
from .lines import short_labels

__all__ = ["comparison_page", "short_labels"]
