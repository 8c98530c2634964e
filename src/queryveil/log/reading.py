"""`read_log`: read files into one `QueryLog`, with every row accounted for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
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
from ..errors import (
    InputError,
    QueryveilError,
    UsageError,
)
from .accounting import SourceFile
from .cleaning import Cleaner
from .frames import FRAME, LogFrame, is_frame, raw_rows
from .inputs import PIPE, STANDARD_INPUT, name_list, open_inputs
from .keywords import READING_OPTIONS, ReadingKeywords
from .options import ReadOptions
from .outcomes import check_queries, check_rejected
from .query_log import SCHEMA, QueryLog, categorical_encoder
from .readers.base import RawRows, Reader, ReaderOptions
from .readers.columns import is_user_per_file
from .readers.registry import (
    detect_reader,
    detect_stream_reader,
    get_local_reader,
    is_archive_name,
)
from .readers.source import TextFile, check_unpacked
from .user_files import UserFiles

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
    r"""Read one log from files, plain, gzip or zstd, or from a frame; "-" is standard input.

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
    merged = merge_options("read_log", options, more)
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
        log = _read_locally(source, merged, display)
    return _with_options(log, merged, rng or RandomSource())


def _read_frame(frame: LogFrame, options: ReadOptions) -> QueryLog:
    cleaner = _build_cleaner(options)
    rows = cleaner.clean(raw_rows(frame, options.columns, may_stop=options.may_stop))
    _check_read(cleaner, options, FRAME)
    return QueryLog(categorical_encoder()(rows).lazy(), cleaner.accounting)


def merge_options(
    function: str, options: ReadOptions | None, more: Mapping[str, object]
) -> ReadOptions:
    """Return the options with those of keyword arguments; raise if there is no such option."""
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

    source: Any = paths if hasattr(paths, "mapInArrow") else name_list(paths)
    _check_spark_paths(source, options)
    with progress.stage("read"):
        log, cleaner = read_with_spark(spark, source, options, _build_cleaner(options))
    _check_read(cleaner, options, log.sources[0].path)
    return log


def _check_spark_paths(source: Any, options: ReadOptions) -> None:
    if is_user_per_file(options.columns):
        raise UsageError("Spark does not read one file per user", hint='use `engine="local"`')
    if isinstance(source, list) and PIPE in map(str, source):
        raise UsageError("Spark does not read standard input", hint="name files")


def _read_locally(paths: LogSource, options: ReadOptions, progress: Progress) -> QueryLog:
    """Read files, a folder or standard input on this machine."""
    per_user = is_user_per_file(options.columns)
    has_header = not _reader_options(options).numbered  # else the first bytes may be a query
    with open_inputs(paths, folders=per_user, may_be_compressed=has_header) as (files, pipe):
        size = sum(path.stat().st_size for path in files)
        try:
            with progress.stage("read", size) as advance:
                limit = options.max_decompressed_size
                texts = [TextFile(path, options.encoding, limit, advance) for path in files]
                inputs = _UserInputs(texts, options) if per_user else _Inputs(texts, options, pipe)
                return _read_inputs(inputs, options)
        except QueryveilError as error:
            if error.where == str(pipe):
                error.where = STANDARD_INPUT
            raise


def _read_inputs(inputs: _Inputs | _UserInputs, options: ReadOptions) -> QueryLog:
    cleaner = _build_cleaner(options)
    encode = categorical_encoder()
    blocks = [encode(pl.DataFrame(schema=SCHEMA))]
    for rows in prefetch(_iter_clean_rows(inputs, options, cleaner)):
        blocks.append(encode(rows))
    _check_read(cleaner, options, inputs.first_name)
    sources = tuple(
        replace(source, columns=cleaner.columns.get(source.path, {})) for source in inputs.sources()
    )
    return QueryLog(pl.concat(blocks, rechunk=False).lazy(), cleaner.accounting, sources)


class _Inputs:
    """The files of a log, grouped by format; one of them may be a copy of standard input."""

    def __init__(self, files: list[TextFile], options: ReadOptions, pipe: Path | None) -> None:
        self._names = {str(pipe): STANDARD_INPUT} if pipe else {}
        self._groups: dict[str, tuple[Reader, list[TextFile]]] = {}
        for file in files:  # some readers need several files at once
            reader = _choose_reader(file, options, is_pipe=file.path == pipe)
            self._groups.setdefault(reader.name, (reader, []))[1].append(file)
        for reader, _ in self._groups.values():
            if reader.warning:
                warnings.warn(reader.warning, stacklevel=6)
        self.first_name = self._name(files[0].path)

    def rows(self, options: ReaderOptions) -> Iterator[RawRows]:
        """Yield the rows of all files."""
        for reader, files in self._groups.values():
            if reader.read is not None:  # `_choose_reader` takes local readers only
                for raw in reader.read(files, options):
                    yield replace(raw, file=self._names.get(raw.file, raw.file))

    def sources(self) -> list[SourceFile]:
        """Return what was read; the digests are known after the rows."""
        return [
            SourceFile(self._name(file.path), reader.name, file.sha256)
            for reader, group in self._groups.values()
            for file in group
        ]

    def _name(self, path: Path) -> str:
        return self._names.get(str(path), str(path))


class _UserInputs:
    """The files of a log with one file per user."""

    def __init__(self, files: list[TextFile], options: ReadOptions) -> None:
        if options.format:
            _check_columns(get_local_reader(options.format), options, files[0])
        self._files = UserFiles(files, lambda file: _choose_reader(file, options))
        self.first_name = str(files[0].path)

    def rows(self, options: ReaderOptions) -> Iterator[RawRows]:
        """Yield the rows of all files."""
        return self._files.read(options)

    def sources(self) -> list[SourceFile]:
        """Return what was read; the digests are known after the rows."""
        formats = self._files.formats
        return [
            SourceFile(str(file.path), formats.get(str(file.path), "unknown"), file.sha256)
            for file in self._files.files
        ]


def _choose_reader(file: TextFile, options: ReadOptions, *, is_pipe: bool = False) -> Reader:
    """Return the reader of a file: the requested one, or the one that its name implies."""
    numbered = _reader_options(options).numbered
    requested = get_local_reader(options.format) if options.format else None
    is_archive = requested.is_archive if requested else is_archive_name(file.path)
    if not numbered and not is_archive:  # else the first bytes may be a query
        check_unpacked(file.path)
    if requested is not None:
        reader = requested
    elif is_pipe:
        reader = detect_stream_reader(file, options.columns, numbered)
    else:
        reader = detect_reader(file, bool(options.columns))
    _check_columns(reader, options, file)
    return reader


def _check_columns(reader: Reader, options: ReadOptions, file: TextFile) -> None:
    if options.columns and not reader.accepts_columns:
        raise UsageError(
            f"{reader.name} has its own columns, `columns` has no meaning for it",
            where=file.path,
            hint="leave `columns` out, or name another `format`",
        )


def _reader_options(options: ReadOptions) -> ReaderOptions:
    return ReaderOptions(
        options.columns, options.quote, options.query_parameter, options.delimiter, options.sheet
    )


def _build_cleaner(options: ReadOptions) -> Cleaner:
    dates = _start_of(options.since), _end_of(options.until)
    return Cleaner(*dates, options.exclude_users, options.time_format)


def _check_read(cleaner: Cleaner, options: ReadOptions, where: object) -> None:
    """Raise an error if too many rows were rejected, or there is nothing to read."""
    if options.may_stop:
        check_rejected(cleaner.accounting, options.max_rejected)
    if options.may_stop and not cleaner.accounting.rows:
        raise InputError(
            "there is no row, only a header or nothing", where=where, hint="is this the right file?"
        )
    if options.may_stop:
        check_queries(cleaner.accounting, where)
    # If each file is the log of one user, their header alone may tell that there are times.
    may_stop = options.may_stop or not is_user_per_file(options.columns)
    lacks_times = bool(cleaner.columns) and not cleaner.has_times  # a source without rows does not
    if may_stop and (options.since or options.until) and lacks_times:
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


def _iter_clean_rows(
    inputs: _Inputs | _UserInputs, options: ReadOptions, cleaner: Cleaner
) -> Iterator[pl.DataFrame]:
    for raw in prefetch(inputs.rows(_reader_options(options))):
        yield cleaner.clean(raw)
        if options.may_stop and cleaner.accounting.rows >= _EARLY_STOP:
            check_rejected(cleaner.accounting, max(options.max_rejected, _EARLY_STOP_FRACTION))


def _start_of(day: date | None) -> datetime | None:
    return None if day is None else datetime(day.year, day.month, day.day)


def _end_of(day: date | None) -> datetime | None:
    """Return the start of the next day; None, without a limit, if there is no such day."""
    return None if day is None or day == date.max else _start_of(day + timedelta(days=1))


def _sample_users(log: QueryLog, sample: float | None, rng: RandomSource) -> QueryLog:
    if sample is None:
        return log
    users = len(unique_users(log.local_frame))
    size = round(sample * users) if sample < 1 else int(sample)
    if size > users:
        raise UsageError(f"sample-users is {size:,}, but the log has only {users:,} users")
    return log.sample_users(max(size, 1), rng)
