"""Checks of a kit: functions with a name, which are run alone or together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


class KitFailure(AssertionError):  # noqa: N818  (a failure of a test, as pytest calls it)
    """An item does not do what every item of its sort must do."""


@dataclass(frozen=True)
class KitCheck:
    """A check of a kit; calling it raises if the item fails it."""

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run the check."""
        self.run()

    def __str__(self) -> str:
        return self.name


def require(condition: object, message: str) -> None:
    """Raise KitFailure with a message unless the condition holds."""
    if not condition:
        raise KitFailure(message)


def run_checks(item: object, checks: Iterable[KitCheck]) -> None:
    """Run all checks of an item; raise KitFailure with every failure if there are any."""
    failures = []
    for check in checks:
        try:
            check()
        except Exception as error:
            kind = "" if isinstance(error, KitFailure) else f"{type(error).__name__}: "
            failures.append(f"- {check.name}: {kind}{error}")
    if failures:
        number = f"{len(failures)} checks" if len(failures) > 1 else "1 check"
        raise KitFailure("\n".join([f"{item} fails {number}:", *failures]))
