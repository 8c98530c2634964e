"""The demo: all kinds of release, verified and compared, on one synthetic log."""

from .demo import demo
from .page import render_demonstration
from .records import DemoComparison, Demonstration, DemoRelease, NoisyCount, UserExample

__all__ = [
    "DemoComparison",
    "DemoRelease",
    "Demonstration",
    "NoisyCount",
    "UserExample",
    "demo",
    "render_demonstration",
]
