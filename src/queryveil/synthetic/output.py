"""Write a synthetic log to a file."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl
import zstandard

from ..core.arguments import guided
from ..core.files import atomic_file
from ..core.progress import NoProgress, Progress, prefetch
from ..core.records import Record
from ..errors import OutputError, UsageError
from .generator import DEFAULT_LANGUAGE, DEFAULT_SHAPE, generate_blocks, planned_rows
from .shapes import Shape, parse_shape
from .topical import topical_rows

_MAX_USERS, _MAX_QUERIES = 100_000, 1_000
_HEADER = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")


@dataclass(frozen=True, repr=False)
class SyntheticLogSummary(Record):
    """The file of a synthetic log, and its size."""

    shown = ("users", "rows", "seed")
    schema_number = 1

    out: str
    users: int
    rows: int
    seed: int
    bytes: int
    shape: str
    language: str


@guided
def write_synthetic_log(
    out: str | Path,
    *,
    users: int | None = None,
    lines: int | None = None,
    seed: int = 0,
    shape: Shape | str = DEFAULT_SHAPE,
    language: str = DEFAULT_LANGUAGE,
    topics: str | None = None,
    queries: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> SyntheticLogSummary:
    """Write a synthetic log in AOL's form; the suffix of the name sets format and compression.

    `.tsv`, `.tsv.gz`, `.tsv.zst`, `.csv`, `.jsonl` and `.parquet` are known. With `topics`, a
    domain such as `A` or `disease,sport`, each user sends so many queries (100) about its topics.

    Args:
        out: The file to write.
        users: Number of users; else 1000, or as `lines` needs it.
        lines: Number of rows; else about 80 per user.
        seed: The same seed gives the same log.
        shape: Kind of log: `web`, `shop` or `classic`, with settings such as `web:repeats=0.1`.
        language: Language of the queries: `en`, `de`, `fr` or another of ten.
        topics: Topics of the queries, as concepts of WordNet.
        queries: Queries of each user, with `topics`.
        overwrite: Whether an existing file is replaced.
        progress: Receives the stages of the work.

    Returns:
        The numbers of users and rows, and the size of the file.

    Raises:
        OutputError: The file exists already, or cannot be written.

    >>> import tempfile
    >>> write_synthetic_log(tempfile.mkdtemp() + "/log.tsv", users=3, lines=200).rows
    200
    """
    path = Path(out)
    write = _writer(path)
    shown = progress or NoProgress()
    kind = parse_shape(shape)
    if topics is None:
        total, blocks = _plan(users, lines, seed, kind, language, queries)
    else:
        if (str(kind), language) != (DEFAULT_SHAPE, DEFAULT_LANGUAGE) or lines is not None:
            raise UsageError(
                "`topics` takes neither `lines` nor `shape` nor `language`",
                hint="`queries` sets the queries of each user",
            )
        total, blocks = _plan_topical(topics, users, queries, seed)
    with (
        atomic_file(path, overwrite=overwrite) as part,
        shown.stage("synthesize", total) as advance,
    ):
        counted = _Counted(_report(blocks, advance))
        try:
            write(counted, part)
        except pl.exceptions.PolarsError as error:  # raised by Polars if the disk is full
            raise OutputError(
                f"cannot be written ({str(error).splitlines()[0]})", where=path
            ) from error
    return SyntheticLogSummary(
        out=str(path),
        users=counted.users,
        rows=counted.rows,
        seed=seed,
        bytes=path.stat().st_size,
        shape="topics" if topics else str(kind),
        language=language,
    )


def _plan(
    users: int | None,
    lines: int | None,
    seed: int,
    shape: Shape,
    language: str,
    queries: int | None,
) -> tuple[int, Iterator[pl.DataFrame]]:
    """Return the number of rows, and an iterator that generates them in blocks."""
    if queries is not None:
        raise UsageError("`queries` needs `topics`", hint="`lines` sets the lines of a log")
    total = planned_rows(users, lines=lines, seed=seed, shape=shape)
    blocks = generate_blocks(users, lines=lines, seed=seed, shape=shape, language=language)
    return total, prefetch(blocks)


def _plan_topical(
    topics: str, users: int | None, queries: int | None, seed: int
) -> tuple[int, Iterator[pl.DataFrame]]:
    """Return the number of rows, and an iterator that generates them in blocks."""
    people, each = 1000 if users is None else users, 100 if queries is None else queries
    if not (1 <= people <= _MAX_USERS and 1 <= each <= _MAX_QUERIES):
        raise UsageError(
            f"{people:,} users with {each:,} queries each are asked for",
            hint=f"up to {_MAX_USERS:,} users with up to {_MAX_QUERIES:,} queries",
        )
    return people * each, iter([topical_rows(topics, people, each, seed)])


class _Counted:
    """Blocks that are counted as they pass."""

    def __init__(self, blocks: Iterator[pl.DataFrame]) -> None:
        self.blocks, self.rows, self.users = blocks, 0, 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for block in self.blocks:
            self.rows += block.height
            self.users += block["user"].n_unique()
            yield block


def _report(
    blocks: Iterator[pl.DataFrame], advance: Callable[[int], None]
) -> Iterator[pl.DataFrame]:
    for block in blocks:
        yield block
        advance(block.height)


def _writer(path: Path) -> Callable[[_Counted, Path], None]:
    name = path.name.lower()
    for ending, write in _WRITERS.items():
        if name.endswith(ending):
            return write
    raise UsageError(
        f'"{path.name}" does not say in what form to write',
        hint=f"end the name in one of {', '.join(_WRITERS)}",
    )


def _tsv(blocks: _Counted, path: Path, opened: Callable[[Path], Any] | None = None) -> None:
    with (opened or _plain)(path) as file:
        file.write(("\t".join(_HEADER) + "\n").encode())
        for block in blocks:
            _cells(block, file, "\t", "never")


def _csv(blocks: _Counted, path: Path) -> None:
    with _plain(path) as file:
        file.write(b"user,query,time,rank,url\n")
        for block in blocks:
            _cells(block, file, ",", "necessary")


def _cells(block: pl.DataFrame, file: IO[bytes], separator: str, quotes: Any) -> None:
    text = io.BytesIO()
    block.write_csv(
        text,
        include_header=False,
        separator=separator,
        quote_style=quotes,
        datetime_format="%Y-%m-%d %H:%M:%S",
    )
    file.write(text.getbuffer())


def _jsonl(blocks: _Counted, path: Path) -> None:
    with _plain(path) as file:
        for block in blocks:
            block.write_ndjson(file)


def _parquet(blocks: _Counted, path: Path) -> None:
    pl.concat(list(blocks)).write_parquet(path)


@contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        yield file


@contextmanager
def _gzipped(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        yield file  # type: ignore[misc]


@contextmanager
def _zstandard(path: Path) -> Iterator[Any]:
    with path.open("wb") as raw, zstandard.ZstdCompressor(level=3).stream_writer(raw) as file:
        yield file


_WRITERS: dict[str, Callable[[_Counted, Path], None]] = {
    ".tsv": _tsv,
    ".tsv.gz": lambda blocks, path: _tsv(blocks, path, _gzipped),
    ".tsv.zst": lambda blocks, path: _tsv(blocks, path, _zstandard),
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
