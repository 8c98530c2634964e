"""The page of a comparison: complete, for the owner only, in need of nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from small_comparisons import RISK, USE, Balanced, cells, compared

from queryveil.comparison.page import render_comparison
from queryveil.comparison.result import (
    ClaimResult,
    Comparison,
    ComparisonRow,
    Figure,
    LogSummary,
    RunOptions,
)
from queryveil.comparison.series import chart_lines, figure_series, reference_lines, short_labels
from queryveil.core.records import Scalar


def row(label: str, value: float | None, repeat: int = 1, **params: Scalar) -> ComparisonRow:
    method = ":".join([label, *(f"{name}={value}" for name, value in params.items())])
    return ComparisonRow(
        method=method,
        label=label,
        params=params,
        repeat=repeat,
        measure="loss:a=1",
        value=value,
        seconds=0.1,
        error=None if value is not None else "it <b>broke",
        details={"basis": "a basis & more"} if value is not None else {},
    )


def comparison(
    rows: Sequence[ComparisonRow],
    x: str | None = "k",
    repeat: int = 2,
    notes: tuple[str, ...] = (),
) -> Comparison:
    runs = tuple(dict.fromkeys((row.label, row.method) for row in rows))
    info = replace(RISK, title="a loss", description="what is <lost>", unit="bits", kind="utility")
    return Comparison(
        queryveil="1",
        options=RunOptions(repeats=repeat),
        log=LogSummary(files={"a&b.tsv": "12ab"}, rows=10, users=3, queries=4),
        notes=notes,
        known_before=0,
        command="queryveil compare LOG --methods 'a<b'",
        measures={"loss:a=1": info},
        figures=(Figure("Losses", "loss:a=1", x, "auto", runs),),
        rows=tuple(rows),
    )


ROWS = [
    row("m", 0.2, 1, k=2), row("m", 0.4, 2, k=2), row("m", 0.6, 1, k=3), row("flat:n=1", 0.5),
    row("bad", None, k=2),
]  # fmt: skip


def test_the_page_is_whole_and_fetches_nothing() -> None:
    page = render_comparison(comparison(ROWS, notes=("a note & more",)))
    found = Balanced(page)
    assert found.fetched == []
    assert not re.search(r"https?:|@import|url\(|<link|<img|fetch|XMLHttp|import\(", page)
    for text in (
        "For the data owner only", "Do not publish", "Losses", "Lower is better",
        "Basis: a basis & more.", "bad:k=2 (loss:a=1): it <b>broke", "what is <lost>", "12ab",
        "--methods 'a<b'", "a note & more", "flat n=1", "means of 2 runs",
    ):  # fmt: skip
        assert text in found.text


def test_a_basis_names_its_methods() -> None:
    rows = [row("m:a=1", 0.2, k=2), row("n", 0.5)]
    details = {"basis": "another", "counts": {"users": 1200, "left_out": 3}}
    rows[1] = replace(rows[1], details=details)
    text = Balanced(render_comparison(comparison(rows))).text
    assert "Basis of m: a basis & more." in text
    assert "Basis of n: another; 1,200 users measured, 3 left out." in text


def test_where_nothing_was_swept_there_are_bars() -> None:
    page = render_comparison(comparison([row("one", 0.5), row("two", 0.25)], None, repeat=1))
    first, second = (float(w) for w in re.findall(r'class="bar"[^>]* width="([\d.]+)"', page))
    assert first == pytest.approx(2 * second, abs=0.2)
    assert "means of" not in page


@pytest.mark.parametrize("x", ["k", None])
def test_where_all_failed_that_is_said(x: str | None) -> None:
    found = Balanced(render_comparison(comparison([row("bad", None)], x)))
    assert "nothing to draw" in found.text
    assert "it <b>broke" in found.text


def test_zero_everywhere_can_be_drawn() -> None:
    Balanced(render_comparison(comparison([row("m", 0.0, k=2)])))
    Balanced(render_comparison(comparison([row("m", 0.0)], None)))


def test_series() -> None:
    found = comparison([*ROWS, row("m", 0.9, k=2, link="user")])
    series = figure_series(found.figures[0], found.rows)
    assert [(one.label, one.level, one.values) for one in series] == [
        ("m", False, {2: [0.2, 0.4], 3: [0.6]}),
        ("flat n=1", True, {None: [0.5]}),
        ("m link=user", False, {2: [0.9]}),
    ]
    lines, scale, names = chart_lines(series, "auto")
    assert (scale, names) == ("linear", [])
    first = lines[0].points[0]
    assert (first.value, first.low, first.high) == (pytest.approx(0.3), 0.2, 0.4)
    assert first.tooltip == "m at 2: 0.3 (0.2 to 0.4)"


def test_a_scale_that_does_not_suit_is_not_taken() -> None:
    rows = [row("m", 0.1, k=0), row("m", 0.2, k=50)]
    series = figure_series(comparison(rows).figures[0], rows)
    assert chart_lines(series, "log")[1] == "linear"
    rows = [row("m", 0.1, k="a"), row("m", 0.2, k="b")]
    series = figure_series(comparison(rows).figures[0], rows)
    assert chart_lines(series, "log")[1:] == ("names", ["a", "b"])


def test_labels_are_short_and_apart() -> None:
    where = "budget=per-user:domain=A"
    labels = [
        f"s:criterion={criterion}:calibration={calibration}:{where}:keep-length=true"
        for criterion in ("sqc1", "sqc2")
        for calibration in ("nominal", "exact")
    ]
    short = short_labels([*labels, f"h:{where}"])
    assert list(short.values()) == [
        "s criterion=sqc1 calibration=nominal", "s criterion=sqc1 calibration=exact",
        "s criterion=sqc2 calibration=nominal", "s criterion=sqc2 calibration=exact", "h",
    ]  # fmt: skip
    assert short_labels(["m:k=2"]) == {"m:k=2": "m k=2"}


# --- all runs, claims ----------------------------------------------------------------------------


def test_all_runs_stand_in_one_table() -> None:
    rows = cells("m", {"k": 2}, 1, found=1.0, kept=0.25) + cells("m", {"k": 2}, 2, found=2.0)
    rows += cells("b<i>", {}, found=None, kept=0.5)
    page = render_comparison(compared(rows))
    table = page[page.index("All runs") :].partition("</table>")[0]
    assert '<td>m</td><td>k=2</td><td class="number" data-value="1.5">1.5 <span' in table
    assert "(1 to 2)" in table
    assert '<td class="number" data-value="" title="no found here">' in table
    assert "<td>b&lt;i&gt;</td><td></td>" in table
    Balanced(page)


def test_claims_are_told_in_words() -> None:
    claims = [
        ClaimResult("P", f"c{i}", "<1", "0.5", holds, why)
        for i, (holds, why) in enumerate([(True, ""), (False, "a < b"), (None, "")])
    ]
    text = Balanced(render_comparison(compared(cells("m", {}, found=1.0)), claims)).text
    assert text.index("Published claims and our results") < text.index("All runs")
    for words in ("\u2713 holds", "\u2715 does not hold", "? undecided", "a < b", "<1"):
        assert words in text
    without = render_comparison(compared(cells("m", {}, found=1.0)))
    assert "Published claims" not in without


HOSTILE = """</script><script>hacked=1</script><img src=x onerror="hacked=2">'\u2028"""


def test_hostile_texts_stay_texts() -> None:
    rows = cells(HOSTILE, {HOSTILE: HOSTILE}, **{HOSTILE: 1.0, "kept": 0.5})
    rows += cells("m", {}, **{HOSTILE: None, "kept": 0.5})
    rows[-2] = replace(rows[-2], error=HOSTILE)
    about = {
        HOSTILE: replace(RISK, title=HOSTILE, description=HOSTILE, unit=HOSTILE),
        "kept": USE,
    }
    claim = ClaimResult(HOSTILE, HOSTILE, HOSTILE, HOSTILE, None, HOSTILE)
    found = replace(compared(rows, **about), notes=(HOSTILE,))
    page = render_comparison(found, [claim], [HOSTILE])
    tags = [tag for tag, _ in Balanced(page).seen]
    assert "img" not in tags
    assert tags.count("script") == 4  # sorting, tooltips, the picture, and its values


def referred(chance: dict[str, list[float]], **more: float) -> Comparison:
    """A comparison of methods, each with a level of chance at k = 2, 3 ..."""
    rows = [
        replace(row(label, 0.5, k=k), details={"baselines": {"chance": value, **more}})
        for label, values in chance.items()
        for k, value in enumerate(values, 2)
    ]
    return comparison(rows)


def test_what_values_are_read_against_is_drawn_once_if_it_is_the_same() -> None:
    found = referred({"m": [0.10, 0.20], "n": [0.101, 0.199]})
    [line] = reference_lines(found.figures[0], found.rows)
    assert (line.label, line.values) == ("by chance", {2: [0.10], 3: [0.20]})
    page = render_comparison(found)
    assert page.count('<g class="tint-soft faint"') == 1
    assert "by chance" in Balanced(page).text


def test_and_apart_if_it_is_not() -> None:
    found = referred({"m": [0.1, 0.2], "n": [0.1, 0.4]}, worst_case=0.5)
    lines = reference_lines(found.figures[0], found.rows)
    assert [line.label for line in lines] == [
        "by chance (m)", "by chance (n)", "worst case of the paper",
    ]  # fmt: skip
    drawn, _, _ = chart_lines(figure_series(found.figures[0], found.rows), "linear", lines)
    assert [line.faint for line in drawn] == [False, False, True, True, True]
