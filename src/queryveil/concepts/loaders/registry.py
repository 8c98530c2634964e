"""All taxonomy loaders, and the opening of taxonomies by name or file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ...core.arguments import guided
from ...core.bounded import MAX_LIST, BoundsError, read_within
from ...core.progress import NoProgress
from ...core.registry import Registry, discover_values, value_fault
from ...errors import FormatError, InputError, UsageError
from ..mapping.web_lexicon import extend_wordnet
from ..taxonomy.builder import RepairLog
from ..taxonomy.graph import Taxonomy
from ..taxonomy.merging import merge_taxonomies
from ..taxonomy.storage import check_plain_file
from .base import TaxonomyLoader
from .paths import PATHS
from .shop import LANGUAGES, SHOP, SHOP_NAMES, open_shop


def _fault_of(name: str, item: Any) -> str | None:
    is_loader = isinstance(item, TaxonomyLoader)
    return value_fault(name, item) if is_loader else "it is not a TaxonomyLoader"


TAXONOMY_LOADERS: Registry[TaxonomyLoader] = Registry(
    "taxonomy loader",
    "queryveil.taxonomies",
    lambda: discover_values(TaxonomyLoader, __package__),
    _fault_of,
)
BUILT_IN = {
    "wordnet": "nouns of WordNet 3.0, with names of brands and web sites below them",
    "wordnet-nouns": "nouns of WordNet 3.0 alone, as in the papers",
    **{
        name: f"Shopify's product taxonomy, labels in {LANGUAGES[code].capitalize()}"
        for name, code in SHOP_NAMES.items()
    },
}
_DATA = Path(__file__).parents[1] / "data"


@guided
def open_taxonomy(text: str | Path | Taxonomy) -> Taxonomy:
    """Open one or several taxonomies: `wordnet`, `shop`, a `.qvt` file, or `wordnet,odp.qvt`.

    Of several, separated by commas, the first that has a label determines its meaning.

    Args:
        text: Names of built-in taxonomies or files, separated by commas; a taxonomy is returned as
            it is.

    Returns:
        The taxonomy.

    Raises:
        InputError: A file cannot be read.

    >>> len(open_taxonomy("wordnet-nouns"))
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
    if name in SHOP_NAMES:
        return open_shop(SHOP_NAMES[name])
    if name == "wordnet":
        return extend_wordnet(_open_built_in("wordnet-nouns"))
    return Taxonomy.open(_DATA / "wordnet.qvt")


def _open_file(path: Path) -> Taxonomy:
    check_plain_file(path)
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        if not path.exists() and path.name.startswith((f"{SHOP}:", f"{SHOP}-")):
            raise _no_language_error(path.name) from error
        known = ", ".join(BUILT_IN)
        raise InputError(
            f"cannot be read ({error.strerror})",
            where=path,
            hint=f"name a file, or a built-in taxonomy: {known}",
        ) from error
    if start == b"QVT1" or path.suffix == ".qvt":  # its first bytes may be damaged
        return Taxonomy.open(path)
    return _loader_of(path).run([path], RepairLog(path), NoProgress()).taxonomy


def _no_language_error(name: str) -> UsageError:
    """Return the error for a language that the product taxonomy does not have."""
    return UsageError(
        f'there is no taxonomy "{name}"', hint=f"the languages of {SHOP}: {', '.join(SHOP_NAMES)}"
    )


def _loader_of(path: Path) -> TaxonomyLoader:
    """Return the loader that fits the ending of a file name; a path list has no ending."""
    endings = {suffix.lower() for suffix in path.suffixes}
    fitting = [loader for loader in TAXONOMY_LOADERS.values() if endings & {*loader.extensions}]
    if len(fitting) > 1:
        names = ", ".join(loader.name for loader in fitting)
        raise FormatError(
            f"several loaders fit this file: {names}",
            where=path,
            hint="convert it first: `import_taxonomy()`",
        )
    return fitting[0] if fitting else PATHS


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
        lines = read_within(path, MAX_LIST).decode("utf-8-sig").splitlines()
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
