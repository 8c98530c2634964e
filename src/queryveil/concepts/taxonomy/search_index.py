"""Search for concepts by words: a full-text index (SQLite's FTS5) beside a taxonomy's file.

The index has two tables with a row a concept. `names` holds only its name, so that a short name
ranks above a long one and the many texts of a large category do not count against it. `whole`
holds the name, the names above it, and the texts: its description, and its sites' titles and
descriptions. Both keep no text, only where words stand. What ranks alike comes in the order of
the taxonomy, where a concept nearer to the root comes first, so a search is the same every time.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...core.files import atomic_file
from ...core.progress import NoProgress, Progress
from ...errors import InputError, OutputError
from .arrays import IntArray, RaggedArray
from .graph import Taxonomy

TextBlocks = Iterable[tuple[Sequence[int], Sequence[str]]]
_Row = tuple[int, str, str, str]

_VERSION = 1
_ROWS = 20_000
_HASH_BYTES = 64 << 20  # of words held before they are written: few pieces to join later
_STEPS, _MOST_STEPS = 1_000_000, 1000  # of SQLite, looked at now and then; some ten seconds
_MOST_CHARACTERS, _MOST_WORDS = 1000, 50
_AGAIN = "import the taxonomy again"
_INSERT = "INSERT INTO whole (rowid, name, path, text) VALUES (?, ?, ?, ?)"
_NAMED = "SELECT rowid, -bm25(names) FROM names WHERE names MATCH ? ORDER BY 2 DESC, 1 LIMIT ?"
_WHOLE = """SELECT rowid, -bm25(whole, 16.0, 4.0, 1.0) FROM whole WHERE whole MATCH ?
            ORDER BY 2 DESC, 1 LIMIT ?"""


def index_path(taxonomy: Path) -> Path:
    """Give where the index of a taxonomy's file is.

    >>> index_path(Path("odp.qvt")).name
    'odp.qvt.search'
    """
    return taxonomy.with_name(f"{taxonomy.name}.search")


def write_index(
    path: Path, taxonomy: Taxonomy, texts: TextBlocks = (), progress: Progress | None = None
) -> None:
    """Write the index of a taxonomy; it appears whole or not at all.

    `texts` are blocks of concepts and texts, a concept as often as it likes and in any order.
    """
    try:
        with atomic_file(path) as part, tempfile.TemporaryFile(dir=path.parent) as file:
            spool = _Spool(file, texts)
            base = sqlite3.connect(part)
            try:
                _fill(base, taxonomy, spool, progress or NoProgress())
            finally:
                base.close()
    except sqlite3.Error as error:
        raise OutputError(f"cannot be written ({error})", where=path) from error


class SearchIndex:
    """Finds the concepts of a taxonomy by words; may be used from several processes.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Windsurfing", "Top/Shopping/Sports"])
    >>> search = SearchIndex.open(odp)
    >>> [odp.name(concept) for concept in search.best_match("sports", 2)]
    ['Top/Sports', 'Top/Shopping/Sports']
    >>> odp.name(search.find("sport windsurf", 1)[0][0])
    'Top/Sports/Water_Sports/Windsurfing'
    """

    def __init__(self, path: Path | None, taxonomy: Taxonomy) -> None:
        self.path, self.taxonomy = path, taxonomy
        self._process = 0
        self._opened()

    @classmethod
    def open(cls, taxonomy: Taxonomy) -> SearchIndex:
        """Open the index beside a taxonomy's file, or make one of its labels in memory."""
        beside = index_path(taxonomy.file) if taxonomy.file else None
        if beside and beside.exists():
            return cls(beside, taxonomy)
        made = taxonomy.cache.get("search")
        if not isinstance(made, cls):
            made = taxonomy.cache["search"] = cls(None, taxonomy)
        return made

    def best_match(self, term: str, n: int) -> list[int]:
        """Give the first `n` concepts of a term: those named so, then others that hold it."""
        words = _words(term)
        return list(self._ranked([(_NAMED, " AND ", words), (_WHOLE, " AND ", words)], n))

    def best_matches(self, terms: Sequence[str], n: int) -> RaggedArray:
        """Give the first `n` concepts of each of many terms; a repeated one is searched once."""
        found = {term: self.best_match(term, n) for term in dict.fromkeys(terms)}
        return RaggedArray.from_lists([found[term] for term in terms])

    def find(self, text: str, n: int) -> list[tuple[int, float]]:
        """Give the `n` concepts that fit some words best, each with a score.

        The score is above 2 where all words stand in the name, above 1 where all stand in the
        name, the names above or the texts, and below 1 where only some do.
        """
        words = _words(text)
        ways = [(_NAMED, " AND ", words), (_WHOLE, " AND ", words), (_WHOLE, " OR ", words)]
        return list(self._ranked(ways, n).items())

    def _ranked(self, ways: list[tuple[str, str, list[str]]], n: int) -> dict[int, float]:
        found: dict[int, float] = {}
        for base, (query, link, words) in zip((2, 1, 0), ways, strict=False):
            if not words or len(found) >= n:
                break
            for row, score in self._ask(query, link.join(words), n + len(found)):
                if len(found) < n:
                    found.setdefault(row - 1, base + score / (1 + score))
        return found

    def _ask(self, query: str, match: str, n: int) -> list[tuple[int, float]]:
        try:
            found = self._limited(self._opened()).execute(query, (match, n)).fetchall()
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, str(error)) from error
        if not all(isinstance(row, int) and 0 < row <= len(self.taxonomy) for row, _ in found):
            raise _damaged(self.path, "it names concepts that there are not")
        return found

    def _limited(self, base: sqlite3.Connection) -> sqlite3.Connection:
        """Let one search take so many steps: in a damaged index it might not end."""
        steps = itertools.count(1)
        base.set_progress_handler(lambda: next(steps) > _MOST_STEPS, _STEPS)
        return base

    # -- the index ------------------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection:
        """Give this process's own connection; one in memory is its own after a fork already."""
        if not self._process or (self.path and self._process != os.getpid()):
            if self.path:
                self._base = _open(self.path, self.taxonomy)
            else:
                self._base = _in_memory(self.taxonomy)
            weakref.finalize(self, self._base.close)
            self._process = os.getpid()
        return self._base

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "taxonomy": self.taxonomy, "_process": 0}


class _Spool:
    """Texts of concepts in any order, kept in a file, and given back concept by concept."""

    def __init__(self, file: IO[bytes], texts: TextBlocks) -> None:
        self.file = file.fileno()
        owners, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for concepts, block in texts:
            pieces = [text.encode("utf-8", "replace") for text in block]
            file.write(b"".join(pieces))
            owners.append(np.array(concepts, np.int32))
            sizes.append(np.fromiter(map(len, pieces), np.int32, len(pieces)))
        file.flush()
        self.owners, self.sizes = np.concatenate(owners), np.concatenate(sizes)
        self.starts = np.cumsum(self.sizes, dtype=np.int64) - self.sizes
        self.order = np.argsort(self.owners, kind="stable")
        self.owners = self.owners[self.order]

    def texts(self, begin: int, end: int) -> dict[int, list[str]]:
        """Give the texts of a range of concepts."""
        first, last = np.searchsorted(self.owners, [begin, end])
        rows = self.order[first:last]
        places = zip(self.sizes[rows].tolist(), self.starts[rows].tolist(), strict=True)
        found: dict[int, list[str]] = {}
        for owner, (size, start) in zip(self.owners[first:last].tolist(), places, strict=True):
            found.setdefault(owner, []).append(os.pread(self.file, size, start).decode())
        return found


def _fill(
    base: sqlite3.Connection, taxonomy: Taxonomy, spool: _Spool | None, progress: Progress
) -> None:
    base.execute("PRAGMA journal_mode = OFF")
    base.execute("PRAGMA synchronous = OFF")
    for statement in _tables(taxonomy).values():
        base.execute(statement)
    base.executemany("INSERT INTO about VALUES (?, ?)", _identity(taxonomy).items())
    for setting in (("hashsize", _HASH_BYTES), ("automerge", 0)):
        base.execute("INSERT INTO names (names, rank) VALUES (?, ?)", setting)
        base.execute("INSERT INTO whole (whole, rank) VALUES (?, ?)", setting)
    with progress.stage("index the texts", len(taxonomy)) as advance:
        for rows in _rows(taxonomy, spool):
            base.executemany(_INSERT, rows)
            names = ((row, name) for row, name, _, _ in rows)
            base.executemany("INSERT INTO names (rowid, name) VALUES (?, ?)", names)
            advance(len(rows))
    base.commit()


def _tables(taxonomy: Taxonomy) -> dict[str, str]:
    """Return how each table of an index is made."""
    words = "unicode61 remove_diacritics 2"
    words = f"porter {words}" if taxonomy.language == "english" else words
    options = f"content='', tokenize='{words}'"
    return {
        "about": "CREATE TABLE about (name TEXT PRIMARY KEY, value INTEGER)",
        "names": f"CREATE VIRTUAL TABLE names USING fts5(name, {options})",
        "whole": f"CREATE VIRTUAL TABLE whole USING fts5(name, path, text, {options})",
    }


def _rows(taxonomy: Taxonomy, spool: _Spool | None) -> Iterator[list[_Row]]:
    labels, titles = taxonomy.labels.series().to_list(), taxonomy.titles
    others, above = taxonomy.label_concepts.transpose(len(taxonomy)), taxonomy.all_ancestors
    for begin in range(0 if taxonomy.has_real_root else 1, len(taxonomy), _ROWS):
        end = min(begin + _ROWS, len(taxonomy))
        texts = spool.texts(begin, end) if spool else {}
        rows = []
        for concept in range(begin, end):
            own = int(titles[concept])
            more = [labels[row] for row in others[concept].tolist() if row != own]
            path = " ".join(labels[row] for row in titles[above[concept][:-1]].tolist())
            text = texts.get(concept, [])
            # A category is known by its name; a concept of WordNet by any of its labels.
            name, text = ([], [*more, *text]) if taxonomy.paths else (more, text)
            rows.append((concept + 1, " ".join([labels[own], *name]), path, "\n".join(text)))
        yield rows


def _identity(taxonomy: Taxonomy) -> dict[str, int]:
    """Give what tells one taxonomy from another."""
    parents: IntArray = taxonomy.parents.items.astype(np.int32)
    names = zlib.crc32(taxonomy.names.bytes.tobytes())
    crc = zlib.crc32(parents.tobytes(), names)
    return {"version": _VERSION, "concepts": len(taxonomy), "crc32": crc}


def _open(path: Path, taxonomy: Taxonomy) -> sqlite3.Connection:
    """Open an index to read; it is never changed in place, so no process need lock it."""
    if not path.is_file():
        raise InputError("there is no search index", where=path, hint=_AGAIN)
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        base = sqlite3.connect(address, uri=True, check_same_thread=False)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA cell_size_check = ON")
        made = dict(base.execute("SELECT name, sql FROM sqlite_master LIMIT 1000"))
        ours = all(made.get(name) == sql for name, sql in _tables(taxonomy).items())
        if not ours:
            raise sqlite3.DatabaseError("its tables are not those of an index")
        about = dict(base.execute("SELECT name, value FROM about LIMIT 10"))
    except sqlite3.Error as error:
        raise _damaged(path, str(error)) from error
    if about != _identity(taxonomy):
        base.close()
        raise InputError("this search index is of another taxonomy", where=path, hint=_AGAIN)
    return base


def _in_memory(taxonomy: Taxonomy) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        _fill(base, taxonomy, None, NoProgress())
    except sqlite3.OperationalError as error:
        base.close()
        raise InputError(f"search needs SQLite with FTS5 ({error})", where=taxonomy) from error
    return base


def _damaged(path: Path | None, why: str) -> InputError:
    return InputError(f"the search index is damaged ({why})", where=path, hint=_AGAIN)


def _words(text: str) -> list[str]:
    """Quote each word, so that nothing in it is taken for an operator."""
    plain = text[:_MOST_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode()
    words = (word for word in plain.split() if any(char.isalnum() for char in word))
    return ['"' + word.replace('"', '""') + '"' for word in dict.fromkeys(words)][:_MOST_WORDS]
