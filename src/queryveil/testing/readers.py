"""The kit for readers: samples are detected, read whole, and their faults have line numbers."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import zstandard

from ..errors import QueryveilError
from ..log.query_log import QueryLog
from ..log.readers.base import Reader
from ..log.readers.registry import READERS, detect_reader
from ..log.readers.source import TextFile
from ..log.reading import read_log
from .checks import KitCheck, require, run_checks
from .logs import Row, rows_of


@dataclass(frozen=True)
class ReaderSample:
    """A file of the format and the rows that it holds.

    Attributes:
        name: The name of the file, which says its format: `log.csv`.
        text: The content; bytes for a binary format, of which no further variants are made.
        rows: The rows that a reader finds: user, query, time (ISO), rank, url.
        bad_lines: The numbers of lines that cannot be read.
        columns: The mapping of columns, where the format needs one.
    """

    name: str
    text: str | bytes = field(repr=False)
    rows: Sequence[Row] = field(repr=False)
    bad_lines: tuple[int, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        """The content as bytes."""
        return self.text.encode() if isinstance(self.text, str) else self.text


# A sample of each general format: no other reader may take it for its own.
OTHER_SAMPLES = {
    "parquet": ("log.parquet", b"PAR1"),
    "ubi": ("ubi_queries.jsonl", b'{"query_id": "1"}\n'),
    "jsonl": ("log.jsonl", b'{"user": "ann", "query": "tennis"}\n'),
    "aol": ("user-ct-test-collection-01.txt", b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"),
    "excite": ("log.excite", b"ann\t970916105432\ttennis\n"),
    "access": ("access.log", b""),
    "tsv": ("log.tsv", b"user\tquery\nann\ttennis\n"),
    "csv": ("log.csv", b"user,query\nann,tennis\n"),
}


def check_reader(reader: Reader, samples: Sequence[ReaderSample]) -> None:
    """Check a reader; raise KitFailure with every check that it fails."""
    run_checks(f"the reader {reader.name}", reader_checks(reader, samples))


def reader_checks(reader: Reader, samples: Sequence[ReaderSample]) -> list[KitCheck]:
    """Return the checks of `check_reader`, for `pytest.mark.parametrize`."""
    checks: dict[str, Callable[[], None]] = {
        "is described": lambda: _is_described(reader, samples),
        "leaves the files of other readers": lambda: _leaves_others(reader),
    }
    for sample in samples:
        checks[f"detects {sample.name}"] = partial(_detects, reader, sample)
        checks[f"reads {sample.name}"] = partial(_reads, reader, sample, sample.name, sample.data)
        checks[f"survives damage of {sample.name}"] = partial(_survives, reader, sample)
        if isinstance(sample.text, str):
            for ending, data in _variants(sample.text).items():
                checks[f"reads {sample.name}{ending}"] = partial(
                    _reads, reader, sample, sample.name + ending.split(" ")[0], data
                )
    return [KitCheck(name, run) for name, run in checks.items()]


def _variants(text: str) -> dict[str, bytes]:
    data = text.encode()
    return {
        ".gz": gzip.compress(data),
        ".zst": zstandard.compress(data),
        " in UTF-16": text.encode("utf-16"),
        " without a last line end": data.removesuffix(b"\n"),
        " with Windows line ends": data.replace(b"\n", b"\r\n"),
    }


def _is_described(reader: Reader, samples: Sequence[ReaderSample]) -> None:
    require(reader.name and reader.title, "a reader needs a name and a title")
    require(reader.read is not None, "the kit checks readers that need no Spark")
    require(samples, "pass at least one ReaderSample")
    require(any(sample.rows for sample in samples), "no sample has a row")


def _known(reader: Reader) -> AbstractContextManager[None]:
    if READERS.get(reader.name) is reader:
        return nullcontext()
    return READERS.adding(reader.name, reader)


def _write(folder: str, name: str, data: bytes) -> Path:
    path = Path(folder) / name
    path.write_bytes(data)
    return path


def _leaves_others(reader: Reader) -> None:
    with tempfile.TemporaryDirectory() as folder, _known(reader):
        for name, (file, data) in OTHER_SAMPLES.items():
            if name == reader.name or name not in READERS:
                continue
            detected = detect_reader(TextFile(_write(folder, file, data)))
            require(
                detected is READERS[name],
                f"{file} is taken for {detected.name}, but it is of the format {name}",
            )


def _detects(reader: Reader, sample: ReaderSample) -> None:
    with tempfile.TemporaryDirectory() as folder, _known(reader):
        path = _write(folder, sample.name, sample.data)
        detected = detect_reader(TextFile(path), bool(sample.columns))
        require(
            detected is reader,
            f"{sample.name} is taken for {detected.name}: `sniff` sees its name and first line",
        )


def _read(reader: Reader, sample: ReaderSample, name: str, data: bytes) -> QueryLog:
    with tempfile.TemporaryDirectory() as folder, _known(reader):
        path = _write(folder, name, data)
        return read_log(
            path, format=reader.name, columns=sample.columns, max_rejected=1, may_stop=False
        )


def _reads(reader: Reader, sample: ReaderSample, name: str, data: bytes) -> None:
    log = _read(reader, sample, name, data)
    rows, expected = list(rows_of(log)), [tuple(row) for row in sample.rows]
    require(rows == expected, f"it reads {rows!r}, and the file has {expected!r}")
    lines = tuple(log.accounting.rejected_rows()["line"].to_list())
    require(
        lines == sample.bad_lines,
        f"it rejects the lines {lines}, and bad are the lines {sample.bad_lines}",
    )
    accounting = log.accounting
    counted = accounting.kept + sum(accounting.dropped.values()) + sum(accounting.rejected.values())
    require(
        accounting.rows == counted,
        f"of {accounting.rows:,} rows {counted:,} are kept, dropped or rejected: nothing may get "
        "lost",
    )


def _survives(reader: Reader, sample: ReaderSample) -> None:
    """Check that damaged files are read in part, or refused with an error of queryveil."""
    data = sample.data
    damaged = [data[: len(data) // 2], data[:-3], data + b"\x00\xff\xfe noise \n", b"\xff" * 50]
    for content in damaged:
        try:
            _read(reader, sample, sample.name, content)
        except QueryveilError as error:
            require(str(error).strip(), f"it raises {type(error).__name__} without a message")
