"""`read_log`: read files into one `QueryLog`, with every row accounted for."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import polars as pl

from ..core.arguments import check_keywords
from ..core.progress import NoProgress, Progress, prefetch
from ..core.randomness import RandomSource
from ..engine.operations import unique_users
from ..engine.table import EngineConfig
from ..errors import InputError, TooManyRejectedError, UsageError, did_you_mean
from .accounting import RowAccounting, SourceFile
from .cleaning import Cleaner
from .frames import FRAME, LogFrame, is_frame, raw_rows
from .keywords import READING_OPTIONS, ReadingKeywords
from .options import ReadOptions
from .query_log import SCHEMA, QueryLog, categorical_encoder
from .readers.base import RawRows, Reader, ReaderOptions
from .readers.registry import detect_reader, get_local_reader
from .readers.source import TextFile, check_unpacked

# What a log can be read from. Frames of pandas have the Arrow interface too.
LogSource: TypeAlias = str | Path | Iterable[str | Path] | LogFrame

# If more than half of so many rows are rejected, reading stops before the end of the files.
_EARLY_STOP, _EARLY_STOP_FRACTION = 1_000_000, 0.5


def read_log(
    source: LogSource,
    options: ReadOptions | None = None,
    *,
    engine: str | EngineConfig = "local",
    rng: RandomSource | None = None,
    progress: Progress | None = None,
    **more: Unpack[ReadingKeywords],
) -> QueryLog:
    r"""Read one log from files, plain, gzip or zstd, or from a frame.

    All sources are cleaned alike: queries in lower case, runs of white space as one blank, times in
    UTC. Rows that cannot be read are counted and listed for the data owner.

    Args:
        source: A file, a pattern such as `"logs/*.tsv"`, or a list of them; or a frame of pandas,
            Polars (also a lazy one), PyArrow or another library with the Arrow interface.
        options: Options that several logs share; keyword arguments override them.
        engine: "local", or "spark" (or an `EngineConfig` that names a cluster): Spark reads the
            files, or its own DataFrame, and the operations on the log run there.
        rng: The source of randomness of `sample_users`.
        progress: Receives the stages of the work.
        more: Those of `ReadOptions`: `columns`, `format`, `since`, `until`, `exclude_users` and
            others. `columns` is a dict or a text: `columns="user=customer,query=search"`.

    Returns:
        The log, with the outcome of every row in `accounting`.

    Raises:
        InputError: A file cannot be read.
        ColumnError: A column is missing; the message names those that there are.
        TooManyRejectedError: More than the fraction `max_rejected` of the rows cannot be read.
        ArgumentError: There is no such option.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = path.write_text("uid,q\n7,Red  Shoes\n8,\n")
    >>> log = read_log(path, columns={"user": "uid", "query": "q"})
    >>> log.to_polars()["query"].to_list(), log.accounting.dropped
    (['red shoes'], {'empty query': 1})
    >>> frame = pl.DataFrame({"uid": [7, 8], "q": ["Red  Shoes", ""]})
    >>> read_log(frame, columns="user=uid,query=q").to_polars().equals(log.to_polars())
    True
    """
    merged = _merge_options("read_log", options, more)
    display = progress or NoProgress()
    config = EngineConfig(engine) if isinstance(engine, str) else engine
    if is_frame(source) and not hasattr(source, "mapInArrow"):
        if config.is_remote:
            raise UsageError(
                "a frame in memory is read on this machine, not with Spark",
                hint="leave `engine` out, or name files that Spark can read",
            )
        log = _read_frame(source, merged)
    elif config.is_remote or hasattr(source, "mapInArrow"):
        log = _read_with_spark(source, merged, config, display)
    else:
        files = resolve_paths(source)
        with display.stage("read", sum(path.stat().st_size for path in files)) as advance:
            log = _read_files(files, merged, advance)
    return _with_options(log, merged, rng or RandomSource())


def _read_frame(frame: LogFrame, options: ReadOptions) -> QueryLog:
    cleaner = _build_cleaner(options)
    rows = cleaner.clean(raw_rows(frame, options.columns))
    _check_read(cleaner, options, FRAME)
    return QueryLog(categorical_encoder()(rows).lazy(), cleaner.accounting)


def _merge_options(
    function: str, options: ReadOptions | None, more: Mapping[str, object]
) -> ReadOptions:
    check_keywords(function, more, (*READING_OPTIONS, "engine", "options", "progress", "rng"))
    return replace(options or ReadOptions(), **more)  # type: ignore[arg-type]


def _with_options(log: QueryLog, options: ReadOptions, rng: RandomSource) -> QueryLog:
    """Return the log with the options that later steps need, and the sample of its users."""
    log = replace(log, options_fingerprint=options.fingerprint(), could_stop=options.may_stop)
    log = replace(log, since=options.since, until=options.until)
    return _sample_users(log, options.sample_users, rng)


def _read_with_spark(
    paths: Any,
    options: ReadOptions,
    engine: EngineConfig,
    progress: Progress,
) -> QueryLog:
    """Read the log with Spark, which is imported only here."""
    with progress.stage("start Spark"):
        spark = engine.open()  # raises a readable error if PySpark is missing
    from .spark_reader import read_with_spark  # noqa: PLC0415  (an optional package)

    source = [paths] if isinstance(paths, (str, Path)) else paths
    with progress.stage("read"):
        log, cleaner = read_with_spark(spark, source, options, _build_cleaner(options))
    _check_read(cleaner, options, log.sources[0].path)
    return log


def resolve_paths(paths: LogSource) -> list[Path]:
    """Resolve names and patterns to files; raise an error if one matches no file."""
    names = _list_names(paths)
    files: list[Path] = []
    for name in names:
        matches = _expand(name)
        if not matches:
            raise InputError("no file fits this pattern", where=name, hint="check the path")
        files += matches
    if not files:
        raise UsageError("no log was named", hint="name one or several files")
    resolved = [path.resolve() for path in files]
    for path, target in zip(files, resolved, strict=True):
        if resolved.count(target) > 1:
            raise UsageError(
                "this file is named twice", where=path, hint="its rows would count twice"
            )
    return files


def _list_names(paths: Any) -> list[str | Path]:
    if isinstance(paths, str | Path):
        return [paths]
    # A column of a frame is no list of files: an error would show its first cell.
    is_list = isinstance(paths, Iterable) and not is_frame(paths) and not hasattr(paths, "dtype")
    names = list(paths) if is_list else [paths]
    for name in names:
        if not isinstance(name, str | Path):
            raise UsageError(
                f"a log cannot be read from a value of type {type(name).__name__}",
                hint="name a file, or several in a list; or give one frame of pandas, Polars or "
                "PyArrow with a column of users and a column of queries",
            )
    return names


def _expand(name: str | Path) -> list[Path]:
    """Return the files that match a pattern, or the file of that name."""
    try:
        is_pattern = glob.has_magic(str(name)) and not Path(name).exists()
        files = sorted(map(Path, glob.glob(str(name)))) if is_pattern else [Path(name)]  # noqa: PTH207
        if is_pattern:  # the ledger of privacy budgets may be in the folder of the log
            files = [path for path in files if path.name != "ledger.db"]
        for path in files:
            _check_file(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=name) from error
    return files


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError("this is a folder", where=path, hint=f'name files, or "{path}/*.tsv"')
    if not path.exists():
        raise InputError("no such file", where=path, hint=_suggest_name(path))
    if not path.is_file():
        # The beginning of a file is read twice: first to detect the format.
        raise InputError("this is a pipe or a device", where=path, hint="write it to a file first")


def _suggest_name(path: Path) -> str:
    try:
        siblings = [entry.name for entry in path.absolute().parent.iterdir()]
    except OSError:
        return "its folder does not exist either"
    hint = did_you_mean(path.name, siblings)
    return hint if hint.startswith("did") else "check the path"


def _read_files(
    paths: list[Path], options: ReadOptions, advance: Callable[[int], None]
) -> QueryLog:
    files = [
        TextFile(path, options.encoding, options.max_decompressed_size, advance) for path in paths
    ]
    readers = _group_by_reader(files, options)
    cleaner = _build_cleaner(options)
    encode = categorical_encoder()
    blocks = [encode(pl.DataFrame(schema=SCHEMA))]
    for rows in prefetch(_iter_clean_rows(readers, options, cleaner)):
        blocks.append(encode(rows))
    _check_read(cleaner, options, paths[0])
    sources = tuple(
        SourceFile(
            str(file.path), reader.name, file.sha256, cleaner.columns.get(str(file.path), {})
        )
        for reader, group in readers
        for file in group
    )
    return QueryLog(pl.concat(blocks, rechunk=False).lazy(), cleaner.accounting, sources)


def _build_cleaner(options: ReadOptions) -> Cleaner:
    dates = _start_of(options.since), _end_of(options.until)
    return Cleaner(*dates, options.exclude_users, options.time_format)


def _check_read(cleaner: Cleaner, options: ReadOptions, where: object) -> None:
    """Raise an error if too many rows were rejected, or there is nothing to read."""
    if options.may_stop:
        _check_rejected(cleaner.accounting, options.max_rejected)
    if options.may_stop and not cleaner.accounting.rows:
        raise InputError(
            "there is no row, only a header or nothing", where=where, hint="is this the right file?"
        )
    if (options.since or options.until) and not cleaner.has_times:
        raise UsageError(
            "this log has no times, so it cannot be restricted to days",
            where=where,
            hint='leave `since` and `until` out, or name the column of times: `columns="time=..."`',
        )
    if options.exclude_users:
        seen = len(cleaner.excluded_seen)
        cleaner.accounting.excluded_users = {"asked": len(options.exclude_users), "found": seen}
    if unknown := len(options.exclude_users - cleaner.excluded_seen):
        warnings.warn(
            f"{unknown:,} of the {len(options.exclude_users):,} users to leave out have no row: "
            "are their names written as in the log?",
            stacklevel=4,
        )


def _group_by_reader(
    files: list[TextFile], options: ReadOptions
) -> list[tuple[Reader, list[TextFile]]]:
    """Group the files by reader; some readers need several files at once."""
    groups: dict[str, tuple[Reader, list[TextFile]]] = {}
    for file in files:
        if not ReaderOptions(options.columns).numbered:  # else the first bytes may be a query
            check_unpacked(file.path)
        if options.format:
            reader = get_local_reader(options.format)
        else:
            reader = detect_reader(file, bool(options.columns))
        if options.columns and not reader.accepts_columns:
            raise UsageError(
                f"{reader.name} has its own columns, `columns` has no meaning for it",
                where=file.path,
                hint="leave `columns` out, or name another `format`",
            )
        groups.setdefault(reader.name, (reader, []))[1].append(file)
    for reader, _ in groups.values():
        if reader.warning:
            warnings.warn(reader.warning, stacklevel=4)
    return list(groups.values())


def _iter_clean_rows(
    readers: list[tuple[Reader, list[TextFile]]], options: ReadOptions, cleaner: Cleaner
) -> Iterator[pl.DataFrame]:
    reader_options = ReaderOptions(
        options.columns, options.quote, options.query_parameter, options.delimiter
    )
    for raw in prefetch(_iter_raw_rows(readers, reader_options)):
        yield cleaner.clean(raw)
        if options.may_stop and cleaner.accounting.rows >= _EARLY_STOP:
            _check_rejected(cleaner.accounting, max(options.max_rejected, _EARLY_STOP_FRACTION))


def _iter_raw_rows(
    readers: list[tuple[Reader, list[TextFile]]], options: ReaderOptions
) -> Iterator[RawRows]:
    for reader, files in readers:
        if reader.read is not None:  # `_group_by_reader` takes local readers only
            yield from reader.read(files, options)


def _start_of(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day)


def _end_of(day: date | None) -> datetime | None:
    """Return the start of the next day; None, without a limit, if there is no such day."""
    return None if day is None or day == date.max else _start_of(day + timedelta(days=1))


def _check_rejected(accounting: RowAccounting, max_fraction: float) -> None:
    """Raise an error with examples if too large a fraction of rows was rejected."""
    if accounting.rejected_share <= max_fraction:
        return
    reasons = sorted(accounting.rejected.items(), key=lambda item: -item[1])
    first = accounting.rejected_rows().head(3).rows()
    examples = "; ".join(f"{file} line {line:,}: {reason}" for file, line, reason in first)
    raise TooManyRejectedError(
        f"{sum(accounting.rejected.values()):,} of {accounting.rows:,} rows cannot be read "
        f"({', '.join(f'{reason}: {number:,}' for reason, number in reasons)}). "
        f"First: {examples}",
        hint=_REJECT_HINTS.get(reasons[0][0], "is this the right `format`?")
        + " To continue anyway, raise `max_rejected`",
    )


_REJECT_HINTS = {
    "not UTF-8": 'try `encoding="latin-1"`.',
    "NUL byte": 'if this is UTF-16, try `encoding="utf-16-le"`.',
    "quotation mark out of place": 'if queries hold quotation marks, try `quote="none"`.',
    "not a date": 'set the format of times: `time_format="%m/%d/%Y %H:%M"` if months come first; '
    "dates with slashes need it.",
    "no user": 'name the columns: `columns="user=...,query=...,time=..."`',
    "click without its query": "name the file of queries too: ubi_queries.jsonl ubi_events.jsonl.",
    "no time": "is this the right `format` and `delimiter`?",
    "too many columns": "is this the right `format` and `delimiter`?",
}


def _sample_users(log: QueryLog, sample: float | None, rng: RandomSource) -> QueryLog:
    if sample is None:
        return log
    users = len(unique_users(log.local_frame))
    size = round(sample * users) if sample < 1 else int(sample)
    if size > users:
        raise UsageError(f"sample-users is {size:,}, but the log has only {users:,} users")
    return log.sample_users(max(size, 1), rng)
