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
from queryveil.release.cards import PrivateCard, PublicCard
from queryveil.release.checks import describe_check
from queryveil.release.guarantee import Check, Guarantee, Level
from queryveil.release.page import render_card
from queryveil.release.private_page import render_private_card
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


def test_the_pages_are_well_formed(card: PrivateCard) -> None:
    for page in (render_private_card(card), render_card(card.public)):
        tags = Tags()
        tags.feed(page)
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
    for page in (render_private_card(odd), render_card(odd.public)):
        tags = Tags()
        tags.feed(page)
        assert not {"script", "img"} & tags.seen
        assert text not in page


def test_an_empty_log_draws(card: PrivateCard) -> None:
    nothing = replace(card, input=replace(card.input, rows=0, rejected={}), dropped={})
    assert "0 rows were read" in render_private_card(nothing)


def test_pages_stand_in_both_folders(tmp_path: Path) -> None:
    lines = [(user, "weather", None, None, None) for user in "abcdef"]
    anonymize(QueryLog.from_rows(lines), FrequentQueries(min_users=5)).write(tmp_path / "out")
    assert "public page" in (tmp_path / "out" / "public" / "report.html").read_text()
    assert "private report" in (tmp_path / "out" / "private" / "report.html").read_text()


# --- what the public page opens with -------------------------------------------------------------


def lead(card: PublicCard) -> str:
    page = render_card(card)
    return unescape(re.search('<p class="lead">(.*?)</p>', page)[1])


def test_the_public_page_opens_with_the_guarantee(card: PrivateCard) -> None:
    public = replace(card.public, not_release_grade_because=(), standing=Level.FORMAL)
    groups = Guarantee("k-anonymity", "as groups", k=5)
    noisy = Guarantee("approx-dp", "with noise", relation="add-remove", epsilon=1.0, delta=1e-9)
    assert lead(replace(public, guarantee=groups)) == (
        "Every released log is shared by at least 5 users, and nothing in it separates them."
    )
    assert lead(replace(public, guarantee=noisy)) == (
        "Adding or removing one person's whole log makes no result more than 2.72 times as likely, "
        "plus at most one in a billion."
    )


def test_a_rule_promises_nothing(card: PrivateCard) -> None:
    public = replace(card.public, not_release_grade_because=(), standing=Level.RULE_ONLY)
    assert lead(public) == "A rule was kept, and nothing is promised about a person."
    assert '<span class="badge warn">rule only</span>' in render_card(public)


def test_what_is_not_for_publication_opens_with_the_reason(card: PrivateCard) -> None:
    assert lead(card.public).startswith("Not for publication: a fixed seed was used")
    assert '<span class="badge bad">not for publication</span>' in render_card(card.public)


def test_a_condition_stands_in_the_guarantee(card: PrivateCard) -> None:
    given = Guarantee(
        "conditional-dp", "", relation="replace-one", epsilon=2.0, given="the lengths of logs"
    )
    public = replace(
        card.public, guarantee=given, standing=Level.FORMAL, not_release_grade_because=()
    )
    assert lead(public).endswith("only if this is public already: the lengths of logs.")
    assert '<span class="badge warn">formal guarantee, under a condition</span>' in (
        render_card(public)
    )


def test_the_statement_stands_once(card: PrivateCard) -> None:
    for page in (render_card(card.public), render_private_card(card)):
        assert page.count(card.guarantee.statement) == 1


def test_nothing_of_the_log_is_on_the_public_page(card: PrivateCard) -> None:
    """The public page does not depend on what only the private card has."""
    other = replace(
        card, dropped={"x": 977}, input=replace(card.input, rows=977, users=978), measured={}
    )
    assert render_card(other.public) == render_card(card.public)
    assert render_private_card(other) != render_private_card(card)


# --- parameters and checks in words --------------------------------------------------------------


def test_parameters_are_explained_by_their_declarations(card: PrivateCard) -> None:
    for name, kind in METHODS.items():
        declared = kind.parameters()
        public = replace(card.public, method=name, parameters=kind().params())
        page = unescape(render_card(public, declared=declared))
        for parameter in declared:
            assert parameter.help.partition("`")[0] in page
            assert parameter.name.replace("_", "-") in page


def test_an_unknown_method_has_its_values_without_help(card: PrivateCard) -> None:
    public = replace(card.public, method="not-installed", parameters={"width": 7, "soft": None})
    page = render_card(public)
    assert "<dt>width</dt><dd><b>7</b></dd>" in page
    assert "<dt>soft</dt><dd><b>not set</b></dd>" in page


@pytest.mark.parametrize("name", list(METHODS))
def test_no_page_shows_the_notation_of_python(card: PrivateCard, name: str) -> None:
    method = METHODS[name]()
    public = replace(
        card.public, method=name, parameters=method.params(), guarantee=method.guarantee()
    )
    page = render_card(public, declared=method.parameters())
    text = re.sub("<(style|pre)>.*?</(style|pre)>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\b(None|True|False)\b|\d+e-0|[{}`]|\['|\bcheck: ", unescape(text))


def test_checks_are_described_in_words() -> None:
    described = [
        describe_check(check) for check in FrequentQueries(min_users=30).guarantee().checks
    ]
    assert "each value of query has 30 or more users" in described
    assert "times are given to the day only" in described
    assert "does not know this check" in describe_check(Check("other", {"x": 1}))
    assert "damaged" in describe_check(Check("equal-logs", {"k": "many"}))


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


def test_small_numbers_are_typed_shortly(card: PrivateCard) -> None:
    words = typed(render_card(replace(card.public, parameters={"delta": 1e-09})))
    assert words[words.index("--delta") + 1] == "1e-9"


def test_the_log_is_named_to_its_owner_alone(card: PrivateCard) -> None:
    named = replace(card, input=replace(card.input, sha256={"my<log.tsv": "12ab"}))
    assert "my&lt;log.tsv (SHA-256 12ab)" in render_private_card(named)
    assert "12ab" not in render_card(named.public)
