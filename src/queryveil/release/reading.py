"""Read a written release, to measure it."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import polars as pl

from ..core.arguments import guided_with
from ..errors import UsageError, VerificationError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from .cards import InputSummary, PrivateCard, read_card
from .formats import unescape_formula
from .release import Release
from .untrusted import read_data
from .verification import read_public_card


@guided_with(READING_OPTIONS)
def read_release(
    folder: str | Path, source: LogLike, **reading: Unpack[ReadingKeywords]
) -> Release:
    """Return a release as far as its files hold it.

    Without the private mapping the pseudonyms are not linked to users; some measures need that.

    Args:
        folder: The folder of the release.
        source: The log that it was made of, or what `read_log` reads: files or a frame.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        The release.

    Raises:
        VerificationError: The card or a file is damaged.
        UsageError: The release was made of another log.

    >>> import tempfile
    >>> import queryveil as qv
    >>> log, folder = qv.make_log(50), tempfile.mkdtemp() + "/release"
    >>> _ = qv.anonymize(log, qv.FrequentQueries(min_users=5)).write(folder)
    >>> read_release(folder, log).method
    'frequent-queries'
    """
    return _read_release(Path(folder), open_log(source, reading))


def _read_release(folder: Path, source: QueryLog) -> Release:
    card = read_public_card(folder / "public")
    private_card = read_private_card(folder)
    if private_card is not None:
        check_same_log(private_card.input, source, folder)
    mapping = folder / "private" / "mapping.tsv"
    log, tables = read_data(folder / "public", ours=False)
    return Release(
        method=card.method,
        parameters=card.parameters,
        guarantee=card.guarantee,
        source=source,
        log=log,
        tables=tables,
        mapping=read_pseudonyms(mapping) if mapping.is_file() else None,
        method_spec=None if private_card is None else private_card.method_spec,
        identifiers=card.identifiers,
        sensitive=card.sensitive,
        detectors=card.detectors,
        distribution=card.distribution,
    )


def read_private_card(folder: Path) -> PrivateCard | None:
    """Read the private card of a release; None if it has none."""
    path = folder / "private" / "card.json"
    return read_card(path, PrivateCard) if path.exists() else None


def check_same_log(
    known: InputSummary, log: QueryLog, folder: Path, *, by_counts: bool = False
) -> None:
    """Raise UsageError for another log than that of the release: its risks would look too low.

    The same rows in another file, compressed or not, are the same log.

    Args:
        by_counts: Whether users and queries are counted even if the files are the same, or had no
            digest: the same files can be read otherwise, such as a sample of their users.
    """
    digests = set(known.sha256.values())
    if not by_counts and (not digests or digests == {source.sha256 for source in log.sources}):
        return
    if (known.users, known.queries) != (log.count_distinct("user"), log.count_distinct("query")):
        raise UsageError(
            "this release was made of another log",
            where=folder,
            hint="name the very files that it was made of, read in the same way",
        )


def read_pseudonyms(path: Path, names: tuple[str, ...] = ("user", "pseudonym")) -> pl.DataFrame:
    """Return the table of users and pseudonyms, all columns as texts."""
    try:
        table = pl.read_csv(path, separator="\t", infer_schema=False, glob=False)
        return table.with_columns(unescape_formula(pl.col(name)).alias(name) for name in names)
    except (pl.exceptions.PolarsError, OSError):  # their messages would show cells of the mapping
        raise VerificationError("this mapping is damaged", where=path) from None
