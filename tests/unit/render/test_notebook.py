"""What a notebook shows of results: enough to read them, and nothing that people typed."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

import queryveil as qv
from queryveil.core.notebook import PRIVATE_FIGURES, NotebookTable, NotebookView
from queryveil.render.notebook import render_view

FRAME = pl.DataFrame(
    {
        "user": [f"canary-{number}" for number in range(6)] * 2,
        "query": ["Red Shoes"] * 6 + [f"my street {number}" for number in range(6)],
        "url": "http://hidden.example",
    }
)
PRIVATE = re.compile("canary|shoes|street|hidden", re.I)


class Tags(HTMLParser):
    """Checks that every element is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag not in ("script", "style", "img", "link")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(result: object) -> str:
    html: str = result._repr_html_()  # type: ignore[attr-defined]
    parser = Tags()
    parser.feed(html)
    assert parser.open == []
    assert not PRIVATE.search(html)
    return html


@pytest.fixture(scope="module")
def log() -> qv.QueryLog:
    return qv.read_log(FRAME)


@pytest.fixture(scope="module")
def release(log: qv.QueryLog) -> qv.Release:
    return qv.anonymize(log, "semantic-microaggregation", k=3)


def test_a_log_and_a_release_show_no_row_and_no_figure(
    log: qv.QueryLog, release: qv.Release
) -> None:
    for result in (log, release):
        html = shown(result)
        assert PRIVATE_FIGURES not in html
        assert not re.search(r">\s*(12|6)\s*<", html)
    assert "every released log is shared by at least 3 users" in shown(release)
    assert "user, query, time, rank, url" in shown(log)


def test_exact_figures_come_with_a_warning(log: qv.QueryLog, release: qv.Release) -> None:
    results = [
        qv.profile(log),
        qv.plan(log, "frequent-queries", min_users=2),
        qv.measure(log, release, "query-coverage"),
        qv.measure(log, release, ["query-coverage", "uniqueness"]),
        qv.compare(log, "frequent-queries", sweep={"min_users": [2, 3]}, measures="query-coverage"),
    ]
    for result in results:
        assert "do not share" in shown(result)
    assert "users with a query that nobody else sent" in shown(results[0])
    assert "min_users=3" in shown(results[-1])


def test_what_follows_from_public_figures_has_no_warning() -> None:
    planned = qv.plan("nowhere.tsv", "dp-statistics", epsilon=1, expected_users=50_000)
    html = shown(planned)
    assert "do not share" not in html
    assert "50,000" in html
    assert "2.72 times as likely" in html


def test_a_record_shows_the_fields_of_its_repr_and_no_others(release: qv.Release) -> None:
    html = shown(release.guarantee)
    assert "k-anonymity" in html
    assert release.guarantee.statement not in html
    assert qv.profile(FRAME).size._repr_html_() is None  # its repr has no fields


def test_texts_are_escaped() -> None:
    attack = "<script>alert(1)</script>"
    view = NotebookView(
        attack, ((attack, attack),), (NotebookTable(attack, (attack,), ((attack,),)),), (attack,)
    )
    assert "<script" not in render_view(view)
    assert render_view(view).count("&lt;script&gt;") == 7
