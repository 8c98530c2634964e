"""The names that a file of a release may have: a file of any other name is none of ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from .formats import OUTPUT_FORMATS
from .tables import PUBLIC_TABLES

__all__ = ["CARD", "KNOWN", "SIGNATURE", "data_of", "strange_names"]

CARD = "release.json"
SIGNATURE = "signature.json"
_LOGS = frozenset(f"log.{form}" for form in OUTPUT_FORMATS)
_TABLES = frozenset(f"{name}.tsv" for name in PUBLIC_TABLES)
_TEXT_FILES = frozenset(f"{name}.about.txt" for name in PUBLIC_TABLES)
_CARDS = frozenset({CARD, "report.html", "croissant.json", "dp-deployment.json", SIGNATURE})
KNOWN = _LOGS | _TABLES | _TEXT_FILES | _CARDS


def strange_names(names: Iterable[str]) -> list[str]:
    """Return the names that no release has, and those of a second log.

    >>> strange_names(["release.json", "mapping.tsv", "log.csv", "log.tsv"])
    ['log.csv', 'log.tsv', 'mapping.tsv']
    """
    given = set(names)
    logs = given & _LOGS
    return sorted(given - KNOWN | (logs if len(logs) > 1 else set()))


def data_of(names: Iterable[str]) -> frozenset[str]:
    """Return which data files there are, by what they hold: log, queries, clicks, transitions.

    >>> sorted(data_of(["release.json", "log.csv", "queries.tsv"]))
    ['log', 'queries']
    """
    return frozenset(PurePath(name).stem for name in set(names) & (_LOGS | _TABLES))
