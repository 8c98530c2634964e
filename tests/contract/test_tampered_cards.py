"""`verify` finds each change of a card, of its page and of what else is in a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from forging import edit_card, failed, tsv
from releases import once, population

pytestmark = pytest.mark.usefixtures("one_mapper")


@pytest.mark.parametrize("figure", ["rows", "ids", "queries", "urls"])
def test_a_changed_figure_is_found(tsv: Path, figure: str) -> None:
    edit_card(tsv / "public", lambda card: card["figures"].update({figure: 12345}))
    assert failed(tsv) == {"figures", "card"}
    shutil.rmtree(tsv / "private")
    assert failed(tsv) == {"figures"}


def test_a_figure_too_many_is_found(tsv: Path) -> None:
    edit_card(tsv / "public", lambda card: card["figures"].update(users_of_the_log=300))
    assert failed(tsv) >= {"figures"}


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["parameters"].update(min_users=1000),
        lambda card: card["guarantee"].update(statement="nobody can ever be found"),
        lambda card: card["guarantee"].update(model="pure-dp", epsilon=0.1),
        lambda card: card["guarantee"].update(not_covered=[]),
        lambda card: card.update(release_grade=not card["release_grade"]),
        lambda card: card["guarantee"]["checks"].pop(),
    ],
)
def test_any_change_of_the_card_is_found_by_its_owner(
    tsv: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    edit_card(tsv / "public", change)
    assert "card" in failed(tsv)


@pytest.mark.parametrize("place", [(), ("guarantee",), ("noise",)])
def test_a_part_that_a_card_does_not_have_is_refused(tsv: Path, place: tuple[str, ...]) -> None:
    edit_card(
        tsv / "public", lambda card: reduce(getitem, place, card).update(more="about the log")
    )
    assert failed(tsv) == {"VerificationError"}


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["parameters"].update(min_users=1000),
        lambda card: card["parameters"].update(power="great"),
        lambda card: card["guarantee"].update(statement="nobody can ever be found"),
        lambda card: card["guarantee"].update(model="pure-dp", epsilon=0.1),
        lambda card: card["guarantee"].update(not_covered=[]),
        lambda card: card["guarantee"]["checks"].pop(),
        lambda card: card.update(method="no-such-method"),
    ],
)
def test_a_promise_that_is_not_the_methods_is_found_by_anyone(
    tsv: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    edit_card(tsv / "public", change)
    shutil.rmtree(tsv / "private")
    # The page of a method that nobody knows cannot be compared either.
    assert failed(tsv) - {"standing", "page"} == {"promise"}


def test_a_card_without_checks_proves_nothing(tsv: Path) -> None:
    edit_card(tsv / "public", lambda card: card["guarantee"].update(checks=[]))
    shutil.rmtree(tsv / "private")
    # Without its check, a column of kinds is one too many.
    assert failed(tsv) - {"columns"} == {"checks", "promise"}


def test_a_changed_page_is_found(tsv: Path) -> None:
    page = tsv / "public" / "report.html"
    page.write_text(page.read_text().replace("What is not covered", "What is covered"))
    assert failed(tsv) == {"files", "page"}


@pytest.mark.parametrize("name", ["mapping.tsv", "log.csv", ".hidden", "log.tsv.bak"])
def test_an_extra_file_is_found(tsv: Path, name: str) -> None:
    (tsv / "public" / name).write_text("user\tpseudonym\n")
    unlike_ours = {"bytes"} if name == "log.csv" else set()  # a log in another form than it says
    assert failed(tsv) == {"files", "names"} | unlike_ours


def test_an_extra_folder_is_found(tsv: Path) -> None:
    (tsv / "public" / "more").mkdir()
    assert failed(tsv) == {"plain"}


@pytest.mark.parametrize("keep", [0, 1, 200, -2])
def test_a_cut_card_is_found(tsv: Path, keep: int) -> None:
    path = tsv / "public" / "release.json"
    path.write_bytes(path.read_bytes()[:keep].rstrip())
    assert failed(tsv) == {"VerificationError"}


@pytest.mark.parametrize("text", ["no json", "[]", "7", "null", '"x"', "{}", "\xff", "[" * 9999])
def test_a_card_that_is_none_is_found(tsv: Path, text: str) -> None:
    (tsv / "public" / "release.json").write_text(text, "latin-1")
    assert failed(tsv) == {"VerificationError"}


def test_a_missing_card_is_told(tsv: Path) -> None:
    (tsv / "public" / "release.json").unlink()
    assert failed(tsv) == {"InputError"}


ODD = [None, True, 0, -1, 1e400, "x", [], [1], {}, {"check": 1}, {"a": {"b": []}}]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_values_on_a_card_never_pass_and_never_crash(tsv: Path, odd: Any) -> None:
    path = tsv / "public" / "release.json"
    whole = path.read_text("utf-8")
    shutil.rmtree(tsv / "private")
    places = [["method"], ["release_grade"], ["figures"], ["files"], ["guarantee"],
              ["guarantee", "model"], ["guarantee", "checks"]]  # fmt: skip
    for number, check in enumerate(json.loads(whole)["guarantee"]["checks"]):
        places += [["guarantee", "checks", number]]
        places += [["guarantee", "checks", number, key] for key in check if key != "ids"]
    for place in places:
        card = json.loads(whole)
        inner = reduce(getitem, place[:-1], card)
        if type(inner[place[-1]]) is type(odd) and place[-1] not in ("columns", "at_least", "k"):
            continue  # a value of the right type is another test's matter
        inner[place[-1]] = odd
        path.write_text(json.dumps(card), "utf-8")
        assert failed(tsv), (place, odd)


def test_private_files_that_others_can_read_are_found(tsv: Path) -> None:
    (tsv / "private" / "card.json").chmod(0o644)
    assert failed(tsv) == {"private"}
