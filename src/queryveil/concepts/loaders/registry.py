"""Open taxonomies by name or file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...core.bounded import MOST_LIST, BoundsError, read_within
from ...errors import InputError, UsageError
from ..taxonomy.builder import RepairLog
from ..taxonomy.graph import Taxonomy
from ..taxonomy.merging import merge_taxonomies
from ..taxonomy.storage import check_plain_file
from .paths import import_paths
from .skos import SKOS_ENDINGS, import_skos
from .table import import_table

BUILT_IN = {"wordnet": "nouns of WordNet 3.0"}
_DATA = Path(__file__).parents[1] / "data"


def open_taxonomy(text: str | Path | Taxonomy) -> Taxonomy:
    """Open one or several taxonomies: `wordnet`, a `.qvt` file, a path list, or `wordnet,odp.qvt`.

    Of several, separated by commas, the first that has a label determines its meaning.

    >>> len(open_taxonomy("wordnet"))
    82115
    """
    if isinstance(text, Taxonomy):
        return text
    names = [name.strip() for name in str(text).split(",") if name.strip()]
    if not names:
        raise UsageError("no taxonomy was named", hint="wordnet, or a file")
    if len(set(names)) < len(names):
        raise UsageError(f'a taxonomy is named twice in "{text}"')
    opened = [
        _open_built_in(name) if name in BUILT_IN else _open_file(Path(name)) for name in names
    ]
    return opened[0] if len(opened) == 1 else merge_taxonomies(opened)


def public_names(text: str) -> list[str]:
    """Return the names of taxonomies without their folders, since the path of a file is private.

    >>> public_names("wordnet, /home/ann/shop.qvt")
    ['wordnet', 'shop.qvt']
    """
    return [Path(name.strip()).name for name in text.split(",")]


@cache
def _open_built_in(name: str) -> Taxonomy:
    return Taxonomy.open(_DATA / f"{name}.qvt")


def _open_file(path: Path) -> Taxonomy:
    check_plain_file(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        known = ", ".join(BUILT_IN)
        raise InputError(
            f"cannot be read ({error.strerror})",
            where=path,
            hint=f"name a file, or a built-in taxonomy: {known}",
        ) from error
    if start == b"QVT1" or path.suffix == ".qvt":  # its first bytes may be damaged
        return Taxonomy.open(path)
    endings = {suffix.lower() for suffix in path.suffixes}
    repairs = RepairLog(path)
    if endings & SKOS_ENDINGS:
        return import_skos(path, repairs)
    if ".csv" in endings:
        return import_table(path, repairs)
    return import_paths(path, repairs).taxonomy


def _describe_error(error: OSError | ValueError) -> str:
    if isinstance(error, BoundsError):
        return f"it is {error}"
    return getattr(error, "strerror", None) or "it is no text in UTF-8"


def read_custom_terms(path: Path, taxonomy: Taxonomy) -> list[tuple[str, int]]:
    """Read the custom terms of a data owner.

    Each line has a term, a tab and a concept (its name or a label).
    """
    terms = []
    try:
        lines = read_within(path, MOST_LIST).decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = _describe_error(error)
        raise InputError(f"cannot be read ({reason})", where=path) from error
    for number, line in enumerate(lines, 1):
        term, _, concept = (cell.strip() for cell in line.partition("\t"))
        if not line.strip():
            continue
        if not term or not concept:
            raise InputError(
                f"line {number:,}: not a term, a tab and a concept", where=path, hint=line[:60]
            )
        try:
            terms.append((term, taxonomy.find(concept)))
        except UsageError as error:
            raise InputError(
                f"line {number:,}: {error.what}", where=path, hint=error.hint
            ) from error
    return terms
