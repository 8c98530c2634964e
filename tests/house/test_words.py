"""Words of the old private dialect in the source: their numbers may only fall.

The glossary is in docs/reference/glossary.md. When a number is lower than its limit, lower it.
Some of these words are good English in a sentence and poor names, so names are counted apart from
texts: docstrings, comments, messages and pages.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import queryveil

ROOT = Path(queryveil.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
PAGES = sorted([*ROOT.rglob("*.j2"), *ROOT.rglob("*.js"), *ROOT.rglob("*.css")])

# In names, as one of their words: `users_found`, `FarTable`.
IN_NAMES = {
    "found": 0,
    "told": 0,
    "says": 0,
    "she|her|hers|he|his|him": 0,
    "liking|likings|telling|judging|errand|errands|ruler|peek|likeness|alike": 1,
    "far|whole|keyed|marked": 147,
    "chance|chances": 9,
    "share|shares": 82,
    "promise|promises": 10,
    "colour|colours|neighbour|centre|behaviour|normalised|anonymised|personalisation|judgement": 2,
}
# As a name of its own: `most` says nothing, `most_frequent` does.
AS_NAMES = {"given|some|one|most|least": 95}
IN_TEXTS = {
    r"(?i)(?<!not )\bfound\b": 4,
    r"(?i)\btold\b": 5,
    r"(?i)\bsays\b": 7,
    r"(?i)\b(?:she|her|hers|herself|he|his|him|himself)\b": 11,  # stop words of several languages
    r"(?i)\b(?:liking|telling|judging|errands?|ruler|peek|likeness)\b": 2,
    # British spelling; the key `neighbours` of JSON stays.
    r"(?i)\b(?:colour|behaviour|favour|neighbour(?!s\b)|centre|grey|cancelled|labelled)\w*": 0,
    r"(?i)\b(?:anonymi|normali|generali|personali|minimi|maximi|randomi|recogni|summari|penali|organi"
    r"|optimi|initiali|analy)s(?:e[drs]?|ing|ations?)\b": 2,
    r"^(?:Give|Tell|Say)\b": 0,
    r"(?i)\b(?:told apart|done again|the way of the data|foretells?)\b": 0,
    r"(?i)\b(?:singles?|singled) out\b": 2,
    r"(?i)\bstands? (?:in|on|twice)\b": 4,
    r"(?i)\bwhoever\b": 4,
    r"(?i)\bhow fine\b|\bone log at least\b": 0,
}
JSON_TYPES = 18


def read(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def tokens(path: Path) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(read(path)).readline))


def find_names() -> Iterator[tuple[str, str]]:
    """Yield each name in the code with its place."""
    for path in FILES:
        for token in tokens(path):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def find_texts() -> Iterator[tuple[str, str]]:
    """Yield each line of strings, comments and pages with its place."""
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for path in FILES:
        for token in tokens(path):
            if token.type in kinds:
                for number, line in enumerate(token.string.splitlines(), token.start[0]):
                    yield f"{path.relative_to(ROOT)}:{number}", line.strip("rbf\"'# ")
    for path in PAGES:
        for number, line in enumerate(read(path).splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


@cache
def names() -> list[tuple[str, str]]:
    return list(find_names())


@cache
def texts() -> list[tuple[str, str]]:
    return list(find_texts())


@cache
def words_of(name: str) -> frozenset[str]:
    """Split a name into words.

    >>> sorted(words_of("FarTable")), sorted(words_of("users_found"))
    (['far', 'table'], ['found', 'users'])
    """
    name = name.replace("NotFound", "")  # FileNotFoundError
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return frozenset(word.lower() for word in words)


def check(places: list[str], limit: int) -> None:
    assert len(places) <= limit, f"{len(places)} of at most {limit}: " + ", ".join(places[-40:])


@pytest.mark.parametrize("banned", IN_NAMES)
def test_words_in_names(banned: str) -> None:
    bad = set(banned.split("|"))
    check([f"{at} {name}" for at, name in names() if bad & words_of(name)], IN_NAMES[banned])


@pytest.mark.parametrize("banned", AS_NAMES)
def test_names_that_say_nothing(banned: str) -> None:
    bad = set(banned.split("|"))
    check([f"{at} {name}" for at, name in names() if name in bad], AS_NAMES[banned])


@pytest.mark.parametrize("banned", IN_TEXTS)
def test_words_in_texts(banned: str) -> None:
    pattern = re.compile(banned)
    places = [at for at, line in texts() for _ in pattern.findall(line)]
    check(places, IN_TEXTS[banned])


def is_json_type(node: ast.AST) -> bool:
    """Return whether a node is `dict[str, Any]`, `Mapping[str, Any]` or their alias."""
    if isinstance(node, ast.Name):
        return node.id == "JsonObject"
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    return ast.unparse(node) in ("dict[str, Any]", "Mapping[str, Any]", "MutableMapping[str, Any]")


def test_results_have_types() -> None:
    """Untyped JSON objects belong to the border, where JSON is read and written."""
    places = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(read(path)))
        if is_json_type(node)
    ]
    check(places, JSON_TYPES)
