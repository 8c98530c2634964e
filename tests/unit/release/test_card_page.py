"""The card for people shows every text as a text."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.main import get_command

from queryveil.cli.app import app
from queryveil.log.query_log import QueryLog
from queryveil.methods.base import METHODS, Method
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.cards import PrivateCard
from queryveil.release.page import render_card
from queryveil.workflows.anonymization import anonymize


class Tags(HTMLParser):
    """Lists the elements of a page, and whether each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> PrivateCard:
    lines = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in "abcdef"]
    release = anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5), seed=1)
    return release.write(tmp_path_factory.mktemp("page") / "out")


def test_the_page_is_well_formed(card: PrivateCard) -> None:
    for one in (card, card.public):
        tags = Tags()
        tags.feed(render_card(one))
        assert tags.open == []
        assert "script" not in tags.seen


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x>', "a & b"])
def test_texts_are_escaped(card: PrivateCard, text: str) -> None:
    odd = replace(
        card,
        public=replace(
            card.public,
            method=text,
            parameters={"n": text, text: True},
            not_release_grade_because=(text,),
        ),
        dropped={text: 3},
        blanked={text: 1},
        generated={text: 2},
        seconds={text: 1.0},
    )
    drawn = render_card(odd)
    tags = Tags()
    tags.feed(drawn)
    assert not {"script", "img"} & tags.seen
    assert text not in drawn


def test_an_empty_log_draws(card: PrivateCard) -> None:
    nothing = replace(card, input=replace(card.input, rows=0, rejected={}), dropped={})
    assert "0 rows were read" in render_card(nothing)


def test_pages_stand_in_both_folders(tmp_path: Path) -> None:
    lines = [(user, "weather", None, None, None) for user in "abcdef"]
    anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5)).write(tmp_path / "out")
    assert "public card" in (tmp_path / "out" / "public" / "report.html").read_text()
    assert "internal card" in (tmp_path / "out" / "private" / "report.html").read_text()


# --- to run it again -----------------------------------------------------------------------------


def typed(drawn: str) -> list[str]:
    return shlex.split(unescape(re.search("<pre>(.*?)</pre>", drawn)[1]))


@pytest.mark.parametrize("name", list(METHODS))
def test_the_command_asks_for_the_same_method(card: PrivateCard, name: str) -> None:
    """Typed as it stands on the page, the command line gives the method back."""
    method = turned(METHODS[name]())
    program, command, *words = typed(
        render_card(replace(card.public, method=name, parameters=method.params()))
    )
    assert (program, command) == ("queryveil", "anonymize")
    given = get_command(app).commands["anonymize"].make_context("anonymize", words).params
    assert given["method"] == name
    assert str(given["out"]) == "DIR"
    asked = {one.name: given[one.name] for one in method.user_parameters()}
    assert type(method).from_params(asked) == method


def turned(method: Method) -> Method:
    """Turn every yes into a no and the other way round, so that no default helps."""
    values, asked = method.params(), {one.name for one in method.user_parameters()}
    return type(method).from_params(
        values | {n: not v for n, v in values.items() if type(v) is bool and n in asked}
    )


def test_the_command_has_no_internal_parameter(card: PrivateCard) -> None:
    for name, kind in METHODS.items():
        public = replace(card.public, method=name, parameters=kind().params())
        words = typed(render_card(public))
        for one in kind.parameters():
            option = one.name.replace("_", "-")
            named = {f"--{option}", f"--no-{option}"} & set(words)
            assert not (one.internal and named), one.name


def test_odd_values_are_quoted(card: PrivateCard) -> None:
    words = typed(
        render_card(
            replace(
                card.public, parameters={"public_queries": "my list; rm", "empty": "", "x": None}
            )
        )
    )
    assert words[words.index("--public-queries") + 1] == "my list; rm"
    assert words[words.index("--empty") + 1] == ""
    assert "--x" not in words


def test_the_promise_stands_at_the_top(card: PrivateCard) -> None:
    drawn = render_card(card)
    assert drawn.count(card.guarantee.statement) == 1
    assert drawn.index(card.guarantee.statement) < drawn.index("What is guaranteed")


def test_the_log_is_named_to_its_owner_alone(card: PrivateCard) -> None:
    named = replace(card, input=replace(card.input, sha256={"my<log.tsv": "12ab"}))
    assert "my&lt;log.tsv (SHA-256 12ab)" in render_card(named)
    assert "12ab" not in render_card(named.public)
