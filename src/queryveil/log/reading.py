"""`read_log`: files in, one `QueryLog` out, every row accounted for."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl

from ..core.progress import NoProgress, Progress, prefetch
from ..core.randomness import RandomSource
from ..engine.operations import unique_users
from ..engine.table import EngineConfig
from ..errors import InputError, TooManyRejectedError, UsageError, did_you_mean
from .accounting import RowAccounting, SourceFile
from .cleaning import Cleaner
from .options import ReadOptions
from .query_log import SCHEMA, QueryLog, categorical_encoder
from .readers.base import RawRows, Reader, ReaderOptions
from .readers.registry import detect_reader, get_reader
from .readers.source import TextFile, check_unpacked

# Where more than half of so many rows cannot be read, the rest need not be tried.
_EARLY_STOP, _HOPELESS = 1_000_000, 0.5


def read_log(
    paths: str | Path | Iterable[str | Path],
    options: ReadOptions | None = None,
    *,
    engine: str | EngineConfig = "local",
    chance: RandomSource | None = None,
    progress: Progress | None = None,
    **more: object,
) -> QueryLog:
    """Read one log from one or several files, plain, gzip or zstd.

    With `engine="spark"` (or an `Engine` that says which cluster) Spark reads them, and what is
    done with the log is done there; a DataFrame of Spark can be given instead of files.

    Keyword arguments are those of `ReadOptions`, and go before `options`. Rows that cannot be
    read are counted and kept for the owner; above `max_rejected` of them nothing is given back.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = path.write_text("uid,q\\n7,Red  Shoes\\n8,\\n")
    >>> log = read_log(path, columns={"user": "uid", "query": "q"})
    >>> log.local_frame.collect()["query"].to_list(), log.accounting.dropped
    (['red shoes'], {'empty query': 1})
    """
    for name in more:
        if name not in ReadOptions.__dataclass_fields__:
            known = did_you_mean(name, ReadOptions.__dataclass_fields__)
            raise UsageError(f'read_log has no argument "{name}"', hint=known)
    asked = replace(options or ReadOptions(), **more)  # type: ignore[arg-type]
    shown = progress or NoProgress()
    where = EngineConfig(engine) if isinstance(engine, str) else engine
    if where.is_remote or hasattr(paths, "mapInArrow"):
        log = _read_far(paths, asked, where, shown)
    else:
        files = resolve_paths(paths)
        with shown.stage("read", sum(path.stat().st_size for path in files)) as advance:
            log = _read(files, asked, advance)
    log = replace(log, options_fingerprint=asked.fingerprint(), could_stop=asked.may_stop)
    log = replace(log, since=asked.since, until=asked.until)
    return _sampled(log, asked.sample_users, chance or RandomSource())


def _read_far(
    paths: str | Path | Iterable[str | Path],
    asked: ReadOptions,
    engine: EngineConfig,
    shown: Progress,
) -> QueryLog:
    """Let a cluster read the log; only here is Spark imported."""
    with shown.stage("start Spark"):
        spark = engine.open()  # says what is missing, which the import below would not
    from .spark_reader import read_with_spark

    given = [paths] if isinstance(paths, (str, Path)) else paths
    with shown.stage("read"):
        log, cleaner = read_with_spark(spark, given, asked, _cleaner(asked))
    _check_read(cleaner, asked, log.sources[0].path)
    return log


def resolve_paths(paths: str | Path | Iterable[str | Path]) -> list[Path]:
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
    files = [TextFile(path, asked.encoding, asked.max_decompressed_size, advance) for path in paths]
    readers = _readers(files, asked)
    cleaner = _cleaner(asked)
    encode = categorical_encoder()
    blocks = [encode(pl.DataFrame(schema=SCHEMA))]
    for rows in prefetch(_cleaned(readers, asked, cleaner)):
        blocks.append(encode(rows))
    _check_read(cleaner, asked, paths[0])
    sources = tuple(
        SourceFile(str(f.path), r.name, f.sha256, cleaner.columns.get(str(f.path), {}))
        for r, fs in readers
        for f in fs
    )
    return QueryLog(pl.concat(blocks, rechunk=False).lazy(), cleaner.accounting, sources)


def _cleaner(asked: ReadOptions) -> Cleaner:
    dates = _start(asked.since), _end(asked.until)
    return Cleaner(*dates, asked.exclude_users, asked.time_format)


def _check_read(cleaner: Cleaner, asked: ReadOptions, where: object) -> None:
    """Refuse a log of which too much cannot be read, or nothing is left."""
    if asked.may_stop:
        _stop_if_too_many(cleaner.accounting, asked.max_rejected)
    if asked.may_stop and not cleaner.accounting.rows:
        raise InputError(
            "there is no row, at most a header", where=where, hint="is this the right file?"
        )
    if (asked.since or asked.until) and not cleaner.has_times:
        raise UsageError(
            "this log has no times, so no days can be chosen",
            where=where,
            hint="leave --since and --until out, or say where the times are: --columns time=...",
        )
    if asked.exclude_users:
        found = len(cleaner.excluded_seen)
        cleaner.accounting.excluded_users = {"asked": len(asked.exclude_users), "found": found}
    if unknown := len(asked.exclude_users - cleaner.excluded_seen):
        warnings.warn(
            f"{unknown:,} of the {len(asked.exclude_users):,} users to leave out have no row here: "
            "are their names written as in the log?",
            stacklevel=4,
        )


def _readers(files: list[TextFile], asked: ReadOptions) -> list[tuple[Reader, list[TextFile]]]:
    """Group the files by reader: some readers need several files at once."""
    groups: dict[str, tuple[Reader, list[TextFile]]] = {}
    for file in files:
        if not ReaderOptions(asked.columns).numbered:  # whose first bytes may be a query
            check_unpacked(file.path)
        named = get_reader(asked.format) if asked.format else None
        reader = named or detect_reader(file, bool(asked.columns))
        if asked.columns and not reader.accepts_columns:
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
    form = ReaderOptions(asked.columns, asked.quote, asked.query_parameter, asked.delimiter)
    for raw in prefetch(_raw(readers, form)):
        yield cleaner.clean(raw)
        if asked.may_stop and cleaner.accounting.rows >= _EARLY_STOP:
            _stop_if_too_many(cleaner.accounting, max(asked.max_rejected, _HOPELESS))


def _raw(readers: list[tuple[Reader, list[TextFile]]], form: ReaderOptions) -> Iterator[RawRows]:
    for reader, files in readers:
        yield from reader.read(files, form)


def _start(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day)


def _end(day: date | None) -> datetime | None:
    """Give the start of the next day; after the last day there is none, so there is no end."""
    return None if day is None or day == date.max else _start(day + timedelta(days=1))


def _stop_if_too_many(tally: RowAccounting, most: float) -> None:
    if tally.rejected_share <= most:
        return
    reasons = sorted(tally.rejected.items(), key=lambda item: -item[1])
    first = tally.rejected_rows().head(3).rows()
    examples = "; ".join(f"{file} line {line:,}: {reason}" for file, line, reason in first)
    raise TooManyRejectedError(
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
    "not a date": 'say how times are written: --time-format "%m/%d/%Y %H:%M" if months come first; '
    "dates with slashes need it.",
    "no user": "name the columns: --columns user=...,query=...,time=...",
    "click without its query": "name the file of queries too: ubi_queries.jsonl ubi_events.jsonl.",
    "no time": "is this the right --format and delimiter?",
    "too many columns": "is this the right --format and delimiter?",
}


def _sampled(log: QueryLog, sample: float | None, chance: RandomSource) -> QueryLog:
    if sample is None:
        return log
    users = len(unique_users(log.local_frame))
    size = round(sample * users) if sample < 1 else int(sample)
    if size > users:
        raise UsageError(f"a sample of {size:,} users was asked for, the log has {users:,}")
    return log.sample_users(max(size, 1), chance)
