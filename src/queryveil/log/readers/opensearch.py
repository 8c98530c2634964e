"""Search responses of OpenSearch and Elasticsearch, beside their dumps and bulk files.

Dumps and bulk files are JSON lines, and the reader of JSON lines knows them. A response is one
object, whose hits are taken apart here, each on its own: one that cannot be read costs no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...errors import FormatError
from .base import RawRows, Reader, ReaderOptions, is_named
from .jsonl import read_block, read_lines
from .source import BLOCK, LineBlock, TextFile, repair

_MAX_BYTES = 1 << 30
# The envelope of a response up to the list of its hits. A stored document can have fields of these
# names too, but it has others before a list of hits: its query, for example.
_STRING = rb'"(?:[^"\\]|\\.)*+"'
_PLAIN = rb'[^"{}\[\]]|' + _STRING


def _nest(depth: int) -> bytes:
    """Return the pattern of an object or a list with so many levels within it."""
    inner = _PLAIN + (b"|" + _nest(depth - 1) if depth else b"")
    return rb"[{\[](?:" + inner + rb")*+[}\]]"


def _members(names: bytes) -> bytes:
    value = rb"(?:" + _STRING + rb"|[-+.\w]++|" + _nest(4) + rb")"
    return rb'(?:\s*"(?:' + names + rb')"\s*:\s*' + value + rb"\s*,)"


_ENVELOPE = re.compile(
    rb"\s*\{"
    + _members(
        rb"_scroll_id|pit_id|took|timed_out|terminated_early|num_reduce_phases|_shards|_clusters"
    )
    + rb'++\s*"hits"\s*:\s*\{'
    + _members(rb"total|max_score")
    + rb'*+\s*"hits"\s*:\s*\[',
    re.DOTALL,
)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)


def _is_response(start: bytes) -> bool:
    """Return whether a file is a response, by its envelope: that is not written by a user."""
    return _ENVELOPE.match(start) is not None


def _read_response(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    data = bytearray()
    for text in file.iter_text(BLOCK):
        data += text
        if len(data) > _MAX_BYTES:
            raise FormatError(
                "this response is too large to be read at once",
                where=file.path,
                hint="write its hits as lines: jq -c '.hits.hits[]'",
            )
    hits = [hit.replace(b"\n", b" ").replace(b"\r", b" ") for hit in _iter_hits(bytes(data))]
    if hits:
        block = repair(LineBlock(b"\n".join(hits) + b"\n", 1, {}), "utf-8")
        yield read_block(file, block, options)


def _iter_hits(data: bytes) -> Iterator[bytes]:
    """Yield the objects in the list of hits."""
    opening = _ENVELOPE.match(data)
    depth, start = 0, 0
    for token in _TOKEN.finditer(data, opening.end() if opening else len(data)):
        sign = token[0]
        if sign in (b"{", b"["):
            start = token.start() if depth == 0 else start
            depth += 1
        elif sign in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                return
            if depth == 0:
                yield data[start : token.end()]


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        is_response = _is_response(file.start())
        yield from (_read_response if is_response else read_lines)(file, options)


OPENSEARCH = Reader(
    "opensearch",
    "OpenSearch or Elasticsearch: dumps, bulk files, search responses",
    is_named(r".*(opensearch|elastic).*\.(jsonl|ndjson|json)"),
    _read,
    accepts_columns=True,
    names="opensearch*.json, elasticdump*.json",
)
