"""Limits on memory and time for RDF files, checked before or while the parser reads them.

The parser expands all entities, namespaces and contexts of a file. So a few lines can need
gigabytes of memory, or hours. Real vocabularies declare namespaces (`<!ENTITY owl "http://...">`),
have a few levels, and grow by a small factor. Files far beyond that are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from ...core.bounded import BoundsError, check_depth
from ...errors import FormatError

_MAX_LEVELS = 100  # of nested elements, and of nested objects
_MAX_ENTITIES, _MAX_VALUE = 1000, 2000
# The limit of the output in characters: a fixed amount, plus this factor per byte of the file.
_FREE_GROWTH, _MAX_RATIO = 16 << 20, 50
_MAX_JSON = 256 << 20
_MAX_WORK, _PLAIN_CONTEXT = 5_000_000, 200
_REFERENCE = re.compile(rb"&([^&;#\s]{1,100});")
_HINT = "write the addresses out, or convert the file to Turtle"


class Growth:
    """Compare the output of a parser, in characters, with the bytes that it read."""

    def __init__(self, path: Path) -> None:
        self.path, self.read, self.produced = path, 0, 0

    def add(self, size: int) -> None:
        """Add to the output; raise FormatError if it is too large for the bytes read so far."""
        self.produced += size
        if self.produced > _FREE_GROWTH + _MAX_RATIO * self.read:
            raise FormatError(
                f"it grows to more than {self.produced:,} characters from {self.read:,} bytes",
                where=self.path,
                hint=_HINT,
            )


# --- RDF/XML -------------------------------------------------------------------------------------


def checked_xml(chunks: Iterator[bytes], growth: Growth) -> Iterator[bytes]:
    """Yield chunks of XML, each after it was checked."""
    guard = _XmlGuard(growth.path)
    rest = b""
    for chunk in chunks:
        guard.feed(chunk)
        # A reference may span two chunks.
        text = rest + chunk
        cut = text.rfind(b"&", -101)
        whole, rest = (text, b"") if cut < 0 else (text[:cut], text[cut:])
        growth.add(guard.expanded(whole))
        yield chunk
    guard.feed(b"", last=True)


class _XmlGuard:
    """Check the elements and declarations of a document without expanding entities."""

    def __init__(self, path: Path) -> None:
        self.path, self.level = path, 0
        self.entities: dict[bytes, int] = {}
        # The parser reads the document as UTF-8, whatever encoding it declares.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        # With this handler, expat does not expand references.
        self.parser.DefaultHandler = lambda _: None

    def feed(self, data: bytes, *, last: bool = False) -> None:
        try:
            self.parser.Parse(data, last)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise FormatError(
                f"line {error.lineno:,}: {what}", where=self.path, hint="correct the file"
            ) from error

    def expanded(self, text: bytes) -> int:
        """Return the number of bytes that the references in a text expand to."""
        if not self.entities:
            return 0
        return sum(self.entities.get(name, 0) for name in _REFERENCE.findall(text))

    def _start(self, _name: str, _attributes: dict[str, str]) -> None:
        self.level += 1
        if self.level > _MAX_LEVELS:
            raise self._limit_error(f"elements within elements, more than {_MAX_LEVELS} deep")

    def _end(self, _name: str) -> None:
        self.level -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_more: str | None) -> None:
        if parameter or value is None:
            raise self._limit_error(f'the entity "{name[:60]}" is no plain text')
        if "&" in value or "%" in value or "<" in value:
            raise self._limit_error(f'the entity "{name[:60]}" is made of others')
        if len(value) > _MAX_VALUE or len(self.entities) >= _MAX_ENTITIES:
            raise self._limit_error(
                f"more than {_MAX_ENTITIES:,} entities, or one of over {_MAX_VALUE:,} characters"
            )
        self.entities.setdefault(name.encode(), len(value.encode()))

    def _limit_error(self, what: str) -> FormatError:
        line = self.parser.CurrentLineNumber
        return FormatError(f"line {line:,}: {what}", where=self.path, hint=_HINT)


# --- JSON-LD -------------------------------------------------------------------------------------


def checked_json(chunks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    """Yield JSON-LD after a check of its depth and of the cost of its contexts."""
    pieces, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        if size > _MAX_JSON:
            what = f"more than {_MAX_JSON:,} bytes of JSON-LD"
            raise FormatError(what, where=path, hint="convert the file to Turtle or N-Triples")
        pieces.append(chunk)
    whole = b"".join(pieces)
    _check_json(whole, path)
    yield whole


def _check_json(data: bytes, path: Path) -> None:
    contexts = _ContextCounter()
    try:
        text = data.decode("utf-8")
        check_depth(text, _MAX_LEVELS)
        json.loads(text, object_pairs_hook=contexts.take)
    except json.JSONDecodeError as error:
        what = f"line {error.lineno:,}: {error.msg}"
        raise FormatError(what, where=path, hint="correct the file") from error
    except BoundsError as error:
        raise FormatError(str(error), where=path, hint=_HINT) from error
    except ValueError as error:  # no text, or a number of thousands of digits
        raise FormatError("this is no JSON", where=path, hint="correct the file") from error
    if contexts.work > _MAX_WORK and contexts.largest > _PLAIN_CONTEXT:
        what = f"a context of {contexts.largest:,} names that is applied too often"
        raise FormatError(what, where=path, hint=_HINT)


class _ContextCounter:
    """Count the cost of contexts while JSON is parsed; the objects are not kept."""

    def __init__(self) -> None:
        self.objects = self.contexts = self.largest = 0
        self.scoped = False

    @property
    def work(self) -> int:
        """The number of names to process; a nested context is applied to every object."""
        return self.largest * (self.objects if self.scoped else self.contexts)

    def take(self, pairs: list[tuple[str, Any]]) -> _Object:
        self.objects += 1
        inner = [item for _, value in pairs for item in _list_objects(value)]
        for key, value in pairs:
            if key == "@context":
                self.contexts += 1
                definitions = _list_objects(value)
                self.largest = max(self.largest, sum(item.keys for item in definitions))
                self.scoped |= any(item.context for item in definitions)
        context = any(key == "@context" for key, _ in pairs) or any(item.context for item in inner)
        return _Object(len(pairs), context)


class _Object:
    __slots__ = ("context", "keys")

    def __init__(self, keys: int, context: bool) -> None:
        self.keys, self.context = keys, context


def _list_objects(value: Any) -> list[_Object]:
    if isinstance(value, list):
        return [item for inner in value for item in _list_objects(inner)]
    return [value] if isinstance(value, _Object) else []
