"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""

from .anonymize import anonymize, check_release_target
from .demo import demo
from .pack import pack
from .plan import plan
from .profile import profile
from .synth import synth
from .verify import verify

__all__ = [
    "anonymize",
    "check_release_target",
    "demo",
    "pack",
    "plan",
    "profile",
    "synth",
    "verify",
]
