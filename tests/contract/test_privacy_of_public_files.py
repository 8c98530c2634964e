"""Nothing of the log is in the public files but what is released."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from releases import USERS, Made, cards, made, once, population

pytestmark = pytest.mark.usefixtures("one_mapper")


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Give the bytes of every file, and what is packed in them (Parquet's pages)."""
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes()
        yield path.name, data
        for found in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), data):
            frame = zstandard.ZstdDecompressor().decompressobj()
            yield path.name, frame.decompress(data[found.start() :])


def said(public: Path, *patterns: str) -> str:
    """Give the text of the cards and descriptions, without digests."""
    texts = [path.read_text("utf-8") for one in patterns for path in sorted(public.glob(one))]
    return re.sub(r"\b[0-9a-f]{64}\b", "", "".join(texts))


def test_the_packed_pages_are_looked_into(made: Made) -> None:
    # Else the two tests below would prove nothing about Parquet.
    query = made.rows()[0][1].encode()
    assert any(query in data for name, data in contents(made.public) if name.startswith("log."))


def test_no_user_of_the_log_is_in_public(made: Made) -> None:
    users = {row[0] for row in made.input_rows()}
    assert len(users) == USERS
    for name, data in contents(made.public):
        assert b"someone-" not in data, name
        assert not [user for user in users if user[-12:].encode() in data], name


def test_no_dropped_query_is_in_public(made: Made) -> None:
    released = "\n".join(f"{query}\n{url}" for _, query, _, _, url, *_ in made.rows())
    words = said(made.public, "*.json", "*.html")
    dropped = {
        query
        for _, query, *_ in made.input_rows()
        if len(query) > 6
        and query not in released
        and query not in words
        and query.strip(",;\"'") == query  # a comma may be the file's own
    }
    assert len(dropped) > 1000
    for name, data in contents(made.public):
        text = data.decode("utf-8", "replace")
        assert not [query for query in dropped if query in text], name


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def test_the_public_card_tells_nothing_of_the_log(made: Made) -> None:
    public, internal = cards(made)
    counts = internal["input"]
    secret = {counts["rows"], counts["users"], counts["queries"], *counts["normalized"].values()}
    secret |= {*internal["dropped"].values(), *internal["blanked"].values()}
    secret |= set(internal["generated"].values())
    if made.makes_rows:
        # Every user may have got a pseudonym, and every row may have been made: then anyone
        # can count them in the public log.
        secret -= set(public["figures"].values())
    secret = {number for number in secret if number > 99}  # smaller ones meet by chance
    assert len(secret) >= (2 if made.makes_rows else 4)
    assert {counts["rows"], counts["queries"]} <= secret
    assert not secret & set(leaves(public))
    public.pop("files")  # its digests hold every number
    text = json.dumps(public) + said(made.public, "[!r]*.json", "*.html")
    for number in secret:
        assert not re.search(rf"(?<![\w,.#]){number:,}(?![\w,%])", text), number
        assert not re.search(rf"(?<![\w,.#]){number}(?![\w,%])", text), number
    words = [*counts["sha256"], *counts["sha256"].values(), made.folder.parent.name, "peak"]
    assert not [word for word in words if word in text]
    card = json.dumps(public)  # in other files the name of a stage can be a word of the format
    assert not [stage for stage in internal["seconds"] if f'"{stage}"' in card]
