"""`read_log`: files in, one `QueryLog` out, every row accounted for."""

from __future__ import annotations

import glob
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from ..engine import Chance, Progress, Silent, distinct_users, prefetch
from ..errors import InputError, RejectedError, UsageError, did_you_mean
from .clean import Cleaner
from .readers import (
    RawRows,
    Reader,
    ReaderOptions,
    TextFile,
    find_reader,
    parse_columns,
    reader_named,
)
from .table import KINDS, QueryLog, encoder
from .tally import Source, Tally
from .times import check_format

__all__ = ["ReadOptions", "find_files", "read_log"]

# Where more than half of so many rows cannot be read, the rest need not be tried.
_EARLY_STOP, _HOPELESS = 1_000_000, 0.5


@dataclass(frozen=True)
class ReadOptions:
    """What an owner may say about a log, the same for every command that reads one.

    format
        the name of a reader; found from the first bytes where it is not given
    columns
        our name of a column and the file's: ``{"user": "uid", "query": "q"}``
    since, until
        the first and the last day to keep
    sample_users
        a number of users (from 1 on) or a share of them (below 1) to keep, drawn at random
    exclude_users
        users to leave out, because they objected
    max_rejected
        the share of rows that may be rejected before the run stops
    max_expanded
        how many bytes a packed file may expand to
    """

    format: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    since: date | None = None
    until: date | None = None
    sample_users: float | None = None
    exclude_users: frozenset[str] = frozenset()
    max_rejected: float = 0.01
    max_expanded: int | None = None
    encoding: str = "utf-8"
    time_format: str | None = None
    quote: str | None = None
    query_parameter: str = "q"

    def __post_init__(self) -> None:
        self._take_texts()
        if not 0 <= self.max_rejected <= 1:
            raise UsageError(f"max-rejected is {self.max_rejected}", hint="a share, 0 to 1")
        if self.sample_users is not None and not 0 < self.sample_users < float("inf"):
            raise UsageError("the sample has no users", hint="a number from 1, or a share: 5%")
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"the dates end ({self.until}) before they begin ({self.since})")
        if self.max_expanded is not None and self.max_expanded < 1:
            raise UsageError(f"max-expanded is {self.max_expanded}", hint="bytes, from 1 on")
        if self.quote not in (None, "none") and not _is_sign(self.quote):
            raise UsageError(f'"{self.quote}" is no quotation mark', hint='one sign, or "none"')
        if self.time_format:
            check_format(self.time_format)

    def told(self) -> str:
        """Tell all options in one text; users who objected as a digest."""
        values = {name: getattr(self, name) for name in sorted(self.__dataclass_fields__)}
        users = "\n".join(sorted(self.exclude_users)).encode(errors="backslashreplace")
        values["exclude_users"] = hashlib.sha256(users).hexdigest()
        values["columns"] = sorted(self.columns.items())
        return json.dumps(values, default=str)

    def _take_texts(self) -> None:
        """Take in Python what the commands take: user=uid,query=q and 2006-03-01."""
        given: dict[str, Any] = vars(self)
        if isinstance(given["columns"], str):
            object.__setattr__(self, "columns", parse_columns(given["columns"]))
        for name in ("since", "until"):
            if isinstance(day := given[name], str):
                object.__setattr__(self, name, _day(day))
        if isinstance(given["exclude_users"], str):
            raise UsageError("exclude_users is a text", hint='a set of users: {"7", "8"}')
        object.__setattr__(self, "exclude_users", frozenset(map(str, self.exclude_users)))
        for name in ("sample_users", "max_rejected"):
            if isinstance(value := given[name], str):
                raise UsageError(f'{name} is the text "{value}"', hint="a number: 0.05, or 1000")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f'"{text}" is no day', hint="write 2006-03-01") from error


def _is_sign(text: str | None) -> bool:
    return text is not None and len(text) == 1 and text.isascii() and text.isprintable()


def read_log(
    paths: str | Path | Iterable[str | Path],
    options: ReadOptions | None = None,
    *,
    chance: Chance | None = None,
    progress: Progress | None = None,
    **more: object,
) -> QueryLog:
    """Read one log from one or several files, plain, gzip or zstd.

    Keyword arguments are those of `ReadOptions`, and go before `options`. Rows that cannot be
    read are counted and kept for the owner; above `max_rejected` of them nothing is given back.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = path.write_text("uid,q\\n7,Red  Shoes\\n8,\\n")
    >>> log = read_log(path, columns={"user": "uid", "query": "q"})
    >>> log.frame.collect()["query"].to_list(), log.tally.dropped
    (['red shoes'], {'empty query': 1})
    """
    for name in more:
        if name not in ReadOptions.__dataclass_fields__:
            known = did_you_mean(name, ReadOptions.__dataclass_fields__)
            raise UsageError(f'read_log has no argument "{name}"', hint=known)
    asked = replace(options or ReadOptions(), **more)  # type: ignore[arg-type]
    shown = progress or Silent()
    files = find_files(paths)
    with shown.stage("read", sum(path.stat().st_size for path in files)) as advance:
        log = replace(_read(files, asked, advance), asked=asked.told())
    return _sampled(log, asked.sample_users, chance or Chance())


def find_files(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Resolve names and patterns to files, or say which one is none."""
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    found: list[Path] = []
    for name in given:
        fits = _fitting(name)
        if not fits:
            raise InputError("no file fits this pattern", where=name, hint="check the path")
        found += fits
    if not found:
        raise UsageError("no log was named", hint="name one or several files")
    real = [path.resolve() for path in found]
    for path, place in zip(found, real, strict=True):
        if real.count(place) > 1:
            raise UsageError(
                "this file is named twice", where=path, hint="its rows would count twice"
            )
    return found


def _fitting(name: str | Path) -> list[Path]:
    try:
        pattern = glob.has_magic(str(name)) and not Path(name).exists()
        fits = sorted(map(Path, glob.glob(str(name)))) if pattern else [Path(name)]  # noqa: PTH207
        if pattern:  # the ledger of privacy budgets lies beside the log
            fits = [path for path in fits if path.name != "ledger.db"]
        for path in fits:
            _check_file(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=name) from error
    return fits


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError("this is a folder", where=path, hint=f'name files, or "{path}/*.tsv"')
    if not path.exists():
        raise InputError("no such file", where=path, hint=_near_names(path))
    if not path.is_file():
        # A log is read twice: first its beginning, to tell the format.
        raise InputError("this is a pipe or a device", where=path, hint="write it to a file first")


def _near_names(path: Path) -> str:
    try:
        beside = [entry.name for entry in path.absolute().parent.iterdir()]
    except OSError:
        return "its folder does not exist either"
    hint = did_you_mean(path.name, beside)
    return hint if hint.startswith("did") else "check the path"


def _read(paths: list[Path], asked: ReadOptions, advance: Callable[[int], None]) -> QueryLog:
    files = [TextFile(path, asked.encoding, asked.max_expanded, advance) for path in paths]
    readers = _readers(files, asked)
    cleaner = Cleaner(
        _start(asked.since), _end(asked.until), asked.exclude_users, asked.time_format
    )
    encode = encoder()
    blocks = [encode(pl.DataFrame(schema=KINDS))]
    for rows in prefetch(_cleaned(readers, asked, cleaner)):
        blocks.append(encode(rows))
    _stop_if_too_many(cleaner.tally, asked.max_rejected)
    if not cleaner.tally.rows:
        raise InputError(
            "there is no row, at most a header", where=paths[0], hint="is this the right file?"
        )
    if (asked.since or asked.until) and not cleaner.has_times:
        raise UsageError(
            "this log has no times, so no days can be chosen",
            where=paths[0],
            hint="leave --since and --until out, or say where the times are: --columns time=...",
        )
    if asked.exclude_users:
        found = len(cleaner.found_excluded)
        cleaner.tally.objections = {"asked": len(asked.exclude_users), "found": found}
    if unknown := len(asked.exclude_users - cleaner.found_excluded):
        warnings.warn(
            f"{unknown:,} of the {len(asked.exclude_users):,} users to leave out have no row here: "
            "are their names written as in the log?",
            stacklevel=3,
        )
    sources = tuple(
        Source(str(f.path), r.name, f.sha256, cleaner.columns.get(str(f.path), {}))
        for r, fs in readers
        for f in fs
    )
    return QueryLog(pl.concat(blocks, rechunk=False).lazy(), cleaner.tally, sources)


def _readers(files: list[TextFile], asked: ReadOptions) -> list[tuple[Reader, list[TextFile]]]:
    """Group the files by reader: some readers need several files at once."""
    groups: dict[str, tuple[Reader, list[TextFile]]] = {}
    for file in files:
        named = reader_named(asked.format) if asked.format else None
        reader = named or find_reader(file, bool(asked.columns))
        if asked.columns and not reader.takes_columns:
            raise UsageError(
                f"{reader.name} has its own columns, --columns has no meaning for it",
                where=file.path,
                hint="leave --columns out, or name another --format",
            )
        groups.setdefault(reader.name, (reader, []))[1].append(file)
    for reader, _ in groups.values():
        if reader.warning:
            warnings.warn(reader.warning, stacklevel=4)
    return list(groups.values())


def _cleaned(
    readers: list[tuple[Reader, list[TextFile]]], asked: ReadOptions, cleaner: Cleaner
) -> Iterator[pl.DataFrame]:
    form = ReaderOptions(asked.columns, asked.quote, asked.query_parameter)
    for raw in prefetch(_raw(readers, form)):
        yield cleaner.clean(raw)
        if cleaner.tally.rows >= _EARLY_STOP:
            _stop_if_too_many(cleaner.tally, max(asked.max_rejected, _HOPELESS))


def _raw(readers: list[tuple[Reader, list[TextFile]]], form: ReaderOptions) -> Iterator[RawRows]:
    for reader, files in readers:
        yield from reader.read(files, form)


def _start(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day)


def _end(day: date | None) -> datetime | None:
    """Give the start of the next day; after the last day there is none, so there is no end."""
    return None if day is None or day == date.max else _start(day + timedelta(days=1))


def _stop_if_too_many(tally: Tally, most: float) -> None:
    if tally.rejected_share <= most:
        return
    reasons = sorted(tally.rejected.items(), key=lambda item: -item[1])
    first = tally.rejected_rows().head(3).rows()
    examples = "; ".join(f"{file} line {line:,}: {reason}" for file, line, reason in first)
    raise RejectedError(
        f"{sum(tally.rejected.values()):,} of {tally.rows:,} rows cannot be read "
        f"({', '.join(f'{reason}: {number:,}' for reason, number in reasons)}). "
        f"First: {examples}",
        hint=_REJECT_HINTS.get(reasons[0][0], "is this the right --format?")
        + " To go on all the same, raise --max-rejected",
    )


_REJECT_HINTS = {
    "not UTF-8": "try --encoding latin-1.",
    "NUL byte": "if this is UTF-16, try --encoding utf-16-le.",
    "quotation mark out of place": "if queries hold quotation marks, try --quote none.",
    "not a date": "name the way times are written with --time-format.",
    "no time": "is this the right --format and delimiter?",
    "too many columns": "is this the right --format and delimiter?",
}


def _sampled(log: QueryLog, sample: float | None, chance: Chance) -> QueryLog:
    if sample is None:
        return log
    users = len(distinct_users(log.frame))
    size = round(sample * users) if sample < 1 else int(sample)
    if size > users:
        raise UsageError(f"a sample of {size:,} users was asked for, the log has {users:,}")
    return log.sample(max(size, 1), chance)
