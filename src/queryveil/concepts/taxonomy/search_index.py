"""Full-text search for concepts: an index (SQLite's FTS5) in a file beside the taxonomy.

The index has two tables with one row per concept. `names` holds only the name, so that a short
name ranks above a long one and the many texts of a large category do not lower its rank. `whole`
holds the name, the names of the ancestors, and the texts: the description of the concept, and
titles and descriptions of its sites. Both store word positions, not texts. Ties are broken by the
order of the taxonomy, in which concepts near the root come first, so results are deterministic.
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
from typing import IO

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
_HASH_BYTES = 64 << 20  # of words buffered before a write: fewer segments to merge later
# Steps of SQLite between two callbacks, and callbacks per search: about ten seconds.
_STEPS_PER_CALLBACK, _MAX_CALLBACKS = 1_000_000, 1000
_MAX_CHARACTERS, _MAX_WORDS = 1000, 50
_HINT = "import the taxonomy again"
_INSERT = "INSERT INTO whole (rowid, name, path, text) VALUES (?, ?, ?, ?)"
_MATCH_NAME = "SELECT rowid, -bm25(names) FROM names WHERE names MATCH ? ORDER BY 2 DESC, 1 LIMIT ?"
_MATCH_WHOLE = """SELECT rowid, -bm25(whole, 16.0, 4.0, 1.0) FROM whole WHERE whole MATCH ?
            ORDER BY 2 DESC, 1 LIMIT ?"""


def index_path(taxonomy: Path) -> Path:
    """Return the path of the index of a taxonomy file.

    >>> index_path(Path("odp.qvt")).name
    'odp.qvt.search'
    """
    return taxonomy.with_name(f"{taxonomy.name}.search")


def write_index(
    path: Path, taxonomy: Taxonomy, texts: TextBlocks = (), progress: Progress | None = None
) -> None:
    """Write the index of a taxonomy atomically.

    Args:
        texts: Blocks of concepts and texts; a concept may occur many times, in any order.
    """
    try:
        with atomic_file(path) as part, tempfile.TemporaryFile(dir=path.parent) as file:
            spool = _Spool(file, texts)
            base = sqlite3.connect(part)
            try:
                _fill_index(base, taxonomy, spool, progress or NoProgress())
            finally:
                base.close()
    except sqlite3.Error as error:
        raise OutputError(f"cannot be written ({error})", where=path) from error


class SearchIndex:
    """Search the concepts of a taxonomy by words; safe to use from several processes.

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
        """Open the index beside the taxonomy file, or build one from its labels in memory."""
        beside = index_path(taxonomy.file) if taxonomy.file else None
        if beside and beside.exists():
            return cls(beside, taxonomy)
        cached = taxonomy.cache.get("search")
        if not isinstance(cached, cls):
            cached = taxonomy.cache["search"] = cls(None, taxonomy)
        return cached

    def best_match(self, term: str, n: int) -> list[int]:
        """Return the first `n` concepts of a term: those with it in their name, then others."""
        words = _quote_words(term)
        return list(self._rank([(_MATCH_NAME, " AND ", words), (_MATCH_WHOLE, " AND ", words)], n))

    def best_matches(self, terms: Sequence[str], n: int) -> RaggedArray:
        """Return the first `n` concepts of each term; a repeated term is searched once."""
        concepts = {term: self.best_match(term, n) for term in dict.fromkeys(terms)}
        return RaggedArray.from_lists([concepts[term] for term in terms])

    def find(self, text: str, n: int) -> list[tuple[int, float]]:
        """Return the `n` concepts that match the words of a text best, each with a score.

        The score is above 2 if all words occur in the name, above 1 if all occur in the name,
        the names of the ancestors or the texts, and below 1 if only some do.
        """
        words = _quote_words(text)
        stages = [
            (_MATCH_NAME, " AND ", words),
            (_MATCH_WHOLE, " AND ", words),
            (_MATCH_WHOLE, " OR ", words),
        ]
        return list(self._rank(stages, n).items())

    def _rank(self, stages: list[tuple[str, str, list[str]]], n: int) -> dict[int, float]:
        scores: dict[int, float] = {}
        for base, (query, link, words) in zip((2, 1, 0), stages, strict=False):
            if not words or len(scores) >= n:
                break
            for row, score in self._query(query, link.join(words), n + len(scores)):
                if len(scores) < n:
                    scores.setdefault(row - 1, base + score / (1 + score))
        return scores

    def _query(self, query: str, match: str, n: int) -> list[tuple[int, float]]:
        try:
            rows = self._limit_steps(self._opened()).execute(query, (match, n)).fetchall()
        except sqlite3.DatabaseError as error:
            raise _damage_error(self.path, str(error)) from error
        if not all(isinstance(row, int) and 0 < row <= len(self.taxonomy) for row, _ in rows):
            raise _damage_error(self.path, "it names concepts that there are not")
        return rows

    def _limit_steps(self, base: sqlite3.Connection) -> sqlite3.Connection:
        """Limit the steps of one search: in a damaged index it might not end."""
        steps = itertools.count(1)
        base.set_progress_handler(lambda: next(steps) > _MAX_CALLBACKS, _STEPS_PER_CALLBACK)
        return base

    # -- the index ------------------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection:
        """Return the connection of this process.

        SQLite connections to files must not cross a fork. An index in memory is copied by the fork.
        """
        if not self._process or (self.path and self._process != os.getpid()):
            if self.path:
                self._base = _open_index(self.path, self.taxonomy)
            else:
                self._base = _build_in_memory(self.taxonomy)
            weakref.finalize(self, self._base.close)
            self._process = os.getpid()
        return self._base

    def __getstate__(self) -> dict[str, Path | Taxonomy | int | None]:
        return {"path": self.path, "taxonomy": self.taxonomy, "_process": 0}


class _Spool:
    """Texts of concepts, written to a file in any order and read back by concept."""

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
        """Return the texts of a range of concepts."""
        first, last = np.searchsorted(self.owners, [begin, end])
        rows = self.order[first:last]
        extents = zip(self.sizes[rows].tolist(), self.starts[rows].tolist(), strict=True)
        texts: dict[int, list[str]] = {}
        for owner, (size, start) in zip(self.owners[first:last].tolist(), extents, strict=True):
            texts.setdefault(owner, []).append(os.pread(self.file, size, start).decode())
        return texts


def _fill_index(
    base: sqlite3.Connection, taxonomy: Taxonomy, spool: _Spool | None, progress: Progress
) -> None:
    base.execute("PRAGMA journal_mode = OFF")
    base.execute("PRAGMA synchronous = OFF")
    for statement in _table_statements(taxonomy).values():
        base.execute(statement)
    base.executemany("INSERT INTO about VALUES (?, ?)", _fingerprint(taxonomy).items())
    for setting in (("hashsize", _HASH_BYTES), ("automerge", 0)):
        base.execute("INSERT INTO names (names, rank) VALUES (?, ?)", setting)
        base.execute("INSERT INTO whole (whole, rank) VALUES (?, ?)", setting)
    with progress.stage("index the texts", len(taxonomy)) as advance:
        for rows in _iter_rows(taxonomy, spool):
            base.executemany(_INSERT, rows)
            names = ((row, name) for row, name, _, _ in rows)
            base.executemany("INSERT INTO names (rowid, name) VALUES (?, ?)", names)
            advance(len(rows))
    base.commit()


def _table_statements(taxonomy: Taxonomy) -> dict[str, str]:
    """Return the SQL statement that creates each table of an index."""
    tokenizer = "unicode61 remove_diacritics 2"
    tokenizer = f"porter {tokenizer}" if taxonomy.language == "english" else tokenizer
    options = f"content='', tokenize='{tokenizer}'"
    return {
        "about": "CREATE TABLE about (name TEXT PRIMARY KEY, value INTEGER)",
        "names": f"CREATE VIRTUAL TABLE names USING fts5(name, {options})",
        "whole": f"CREATE VIRTUAL TABLE whole USING fts5(name, path, text, {options})",
    }


def _iter_rows(taxonomy: Taxonomy, spool: _Spool | None) -> Iterator[list[_Row]]:
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
            # A category is identified by its name, a concept of WordNet by any of its labels.
            name, text = ([], [*more, *text]) if taxonomy.paths else (more, text)
            rows.append((concept + 1, " ".join([labels[own], *name]), path, "\n".join(text)))
        yield rows


def _fingerprint(taxonomy: Taxonomy) -> dict[str, int]:
    """Return what identifies the taxonomy of an index: its size and a check sum."""
    parents: IntArray = taxonomy.parents.items.astype(np.int32)
    names = zlib.crc32(taxonomy.names.bytes.tobytes())
    crc = zlib.crc32(parents.tobytes(), names)
    return {"version": _VERSION, "concepts": len(taxonomy), "crc32": crc}


def _open_index(path: Path, taxonomy: Taxonomy) -> sqlite3.Connection:
    """Open an index read-only; it is never changed in place, so no lock is needed."""
    if not path.is_file():
        raise InputError("there is no search index", where=path, hint=_HINT)
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        base = sqlite3.connect(address, uri=True, check_same_thread=False)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA cell_size_check = ON")
        statements = dict(base.execute("SELECT name, sql FROM sqlite_master LIMIT 1000"))
        expected = _table_statements(taxonomy)
        is_index = all(statements.get(name) == sql for name, sql in expected.items())
        if not is_index:
            raise sqlite3.DatabaseError("its tables are not those of an index")
        about = dict(base.execute("SELECT name, value FROM about LIMIT 10"))
    except sqlite3.Error as error:
        raise _damage_error(path, str(error)) from error
    if about != _fingerprint(taxonomy):
        base.close()
        raise InputError("this search index is of another taxonomy", where=path, hint=_HINT)
    return base


def _build_in_memory(taxonomy: Taxonomy) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        _fill_index(base, taxonomy, None, NoProgress())
    except sqlite3.OperationalError as error:
        base.close()
        raise InputError(f"search needs SQLite with FTS5 ({error})", where=taxonomy) from error
    return base


def _damage_error(path: Path | None, why: str) -> InputError:
    return InputError(f"the search index is damaged ({why})", where=path, hint=_HINT)


def _quote_words(text: str) -> list[str]:
    """Return the words of a text in quotes, so that none is read as an operator of FTS5."""
    plain = text[:_MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode()
    words = (word for word in plain.split() if any(char.isalnum() for char in word))
    return ['"' + word.replace('"', '""') + '"' for word in dict.fromkeys(words)][:_MAX_WORDS]
