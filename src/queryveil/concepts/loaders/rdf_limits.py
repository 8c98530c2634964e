"""What an RDF file may cost: looked at before, or while, the parser reads it.

The parser expands entities, namespaces and contexts as the file asks. Some lines can so become
gigabytes, or hours. Real vocabularies declare namespaces (`<!ENTITY owl "http://...">`), have some
levels, and grow by a small factor; whatever goes far beyond that is refused.
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

_MOST_LEVELS = 100  # of elements within elements, and of objects within objects
_MOST_ENTITIES, _MOST_VALUE = 1000, 2000
_FREE, _MOST_RATIO = 16 << 20, 50  # of what a file may become, in characters
_MOST_JSON = 256 << 20
_MOST_WORK, _PLAIN_CONTEXT = 5_000_000, 200
_REFERENCE = re.compile(rb"&([^&;#\s]{1,100});")
_HINT = "write the addresses out, or convert the file to Turtle"


class Growth:
    """What came out of a file beside what went in, in characters and bytes."""

    def __init__(self, path: Path) -> None:
        self.path, self.read, self.made = path, 0, 0

    def add(self, made: int) -> None:
        """Count what was made of the bytes so far, and refuse what grows beyond measure."""
        self.made += made
        if self.made > _FREE + _MOST_RATIO * self.read:
            raise FormatError(
                f"it grows to more than {self.made:,} characters from {self.read:,} bytes",
                where=self.path,
                hint=_HINT,
            )


# --- RDF/XML -------------------------------------------------------------------------------------


def checked_xml(chunks: Iterator[bytes], growth: Growth) -> Iterator[bytes]:
    """Hand on XML, each piece after it was found to be harmless."""
    guard = _Xml(growth.path)
    rest = b""
    for chunk in chunks:
        guard.feed(chunk)
        # A reference may lie across two pieces.
        text = rest + chunk
        cut = text.rfind(b"&", -101)
        whole, rest = (text, b"") if cut < 0 else (text[:cut], text[cut:])
        growth.add(guard.expanded(whole))
        yield chunk
    guard.feed(b"", last=True)


class _Xml:
    """Follows the elements and declarations of a document, and expands nothing."""

    def __init__(self, path: Path) -> None:
        self.path, self.level = path, 0
        self.entities: dict[bytes, int] = {}
        # Whatever the document says of its encoding, the parser takes it as UTF-8.
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        # With it, references are handed over as they are instead of being expanded.
        self.parser.DefaultHandler = lambda _: None

    def feed(self, data: bytes, *, last: bool = False) -> None:
        try:
            self.parser.Parse(data, last)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise FormatError(
                f"line {error.lineno:,}: {what}", where=self.path, hint="mend the file"
            ) from error

    def expanded(self, text: bytes) -> int:
        """Return how many bytes the references in a text stand for."""
        if not self.entities:
            return 0
        return sum(self.entities.get(found, 0) for found in _REFERENCE.findall(text))

    def _start(self, _name: str, _attributes: dict[str, str]) -> None:
        self.level += 1
        if self.level > _MOST_LEVELS:
            raise self._refused(f"elements within elements, more than {_MOST_LEVELS} deep")

    def _end(self, _name: str) -> None:
        self.level -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_more: str | None) -> None:
        if parameter or value is None:
            raise self._refused(f'the entity "{name[:60]}" is no plain text')
        if "&" in value or "%" in value or "<" in value:
            raise self._refused(f'the entity "{name[:60]}" is made of others')
        if len(value) > _MOST_VALUE or len(self.entities) >= _MOST_ENTITIES:
            raise self._refused(
                f"more than {_MOST_ENTITIES:,} entities, or one of over {_MOST_VALUE:,} characters"
            )
        self.entities.setdefault(name.encode(), len(value.encode()))

    def _refused(self, what: str) -> FormatError:
        line = self.parser.CurrentLineNumber
        return FormatError(f"line {line:,}: {what}", where=self.path, hint=_HINT)


# --- JSON-LD -------------------------------------------------------------------------------------


def checked_json(chunks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    """Hand on JSON-LD, after its depth and the work of its contexts were looked at."""
    pieces, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        if size > _MOST_JSON:
            what = f"more than {_MOST_JSON:,} bytes of JSON-LD"
            raise FormatError(what, where=path, hint="convert the file to Turtle or N-Triples")
        pieces.append(chunk)
    whole = b"".join(pieces)
    _check_json(whole, path)
    yield whole


def _check_json(data: bytes, path: Path) -> None:
    counted = _Contexts()
    try:
        text = data.decode("utf-8")
        check_depth(text, _MOST_LEVELS)
        json.loads(text, object_pairs_hook=counted.take)
    except json.JSONDecodeError as error:
        what = f"line {error.lineno:,}: {error.msg}"
        raise FormatError(what, where=path, hint="mend the file") from error
    except BoundsError as error:
        raise FormatError(str(error), where=path, hint=_HINT) from error
    except ValueError as error:  # no text, or a number of thousands of digits
        raise FormatError("this is no JSON", where=path, hint="mend the file") from error
    if counted.work > _MOST_WORK and counted.largest > _PLAIN_CONTEXT:
        what = f"a context of {counted.largest:,} names that is taken up again and again"
        raise FormatError(what, where=path, hint=_HINT)


class _Contexts:
    """Counts what contexts cost; of the objects themselves nothing is kept."""

    def __init__(self) -> None:
        self.objects = self.contexts = self.largest = 0
        self.scoped = False

    @property
    def work(self) -> int:
        """How often a name is looked at: a context within a context counts for every object."""
        return self.largest * (self.objects if self.scoped else self.contexts)

    def take(self, pairs: list[tuple[str, Any]]) -> _Object:
        self.objects += 1
        inner = [one for _, value in pairs for one in _objects(value)]
        for key, value in pairs:
            if key == "@context":
                self.contexts += 1
                given = _objects(value)
                self.largest = max(self.largest, sum(one.keys for one in given))
                self.scoped |= any(one.context for one in given)
        context = any(key == "@context" for key, _ in pairs) or any(one.context for one in inner)
        return _Object(len(pairs), context)


class _Object:
    __slots__ = ("context", "keys")

    def __init__(self, keys: int, context: bool) -> None:
        self.keys, self.context = keys, context


def _objects(value: Any) -> list[_Object]:
    if isinstance(value, list):
        return [one for inner in value for one in _objects(inner)]
    return [value] if isinstance(value, _Object) else []
