"""Risk and utility: the runs that none dominates, where better is, and what the script is given."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_comparisons import RISK, USE, Balanced, cells, compared

from queryveil.comparison.frontier import frontier_svg, frontier_view
from queryveil.comparison.page import render_comparison
from queryveil.comparison.result import Comparison, RunOptions
from queryveil.comparison.scatter import build_scatter, dominates, pareto_front
from queryveil.errors import UsageError
from queryveil.render.charts.labels import NARROW, WIDE, Box, LetterSize
from queryveil.render.charts.scatter import ScatterChart

few = st.integers(0, 4).map(float)


@given(st.lists(st.tuples(few, few), max_size=12))
def test_unbeaten_is_what_it_says(points: list[tuple[float, float]]) -> None:
    found = pareto_front(points)
    plain = [i for i, p in enumerate(points) if not any(dominates(other, p) for other in points)]
    assert sorted(found) == plain
    assert [points[i] for i in found] == sorted(points[i] for i in found)


@given(
    st.lists(st.tuples(few, few, st.integers(0, 2)), min_size=1, max_size=10),
    st.sets(st.integers(0, 2)),
)
def test_the_front_of_what_is_shown(runs: list[tuple[float, float, int]], hidden: set[int]) -> None:
    """What the script shows when methods are hidden is the front of the other runs."""
    rows = [
        one
        for i, (x, y, group) in enumerate(runs)
        for one in cells(f"m{group}", {"k": i}, found=x, kept=y)
    ]
    chart = build_scatter(compared(rows))
    front, numbers = chart.fronts[0, 0], {group.number: group.label for group in chart.groups}
    gone = {number for number, label in numbers.items() if int(label[1]) in hidden}
    points = {i: runs[int(run.name.partition("=")[2])][:2] for i, run in enumerate(chart.runs)}
    shown = [i for i in front.order if chart.runs[i].group.number not in gone]
    seen = [
        i
        for i, groups in zip(front.order, front.dominated, strict=True)
        if i in shown and gone.issuperset(groups)
    ]
    assert seen == [shown[i] for i in pareto_front([points[i] for i in shown])]


ROWS = [
    *cells("m", {"k": 5}, found=1.0, kept=0.2), *cells("m", {"k": 2}, found=4.0, kept=0.6),
    *cells("m", {"k": 3}, found=3.0, kept=0.1), *cells("flat", {}, found=2.0, kept=0.4),
    *cells("none", {}, found=None, kept=0.9),
]  # fmt: skip


def section(comparison: dict) -> str:
    """Give the section of the frontier, as the page of the comparison has it."""
    page = render_comparison(comparison)
    return re.search(r"<section><h2>Risk and utility.*?</section>", page, re.DOTALL)[0]


def svg_of(html: str) -> ElementTree.Element:
    text = re.search(r'<svg class="qv-chart scatter".*?</svg>', html, re.DOTALL)[0]
    return ElementTree.fromstring(text)


def marks(svg: ElementTree.Element) -> list[tuple[float, float]]:
    shown = [g for g in svg.iter("g") if "run" in g.get("class", "").split()]
    numbers = [re.findall(r"[\d.]+", g.get("transform")) for g in shown if not g.get("display")]
    return [(float(x), float(y)) for x, y in numbers]


def test_the_section_tells_the_best_in_words() -> None:
    html = section(compared(ROWS))
    told = re.search(r'<ul class="front">(.*?)</ul>', html)[1]
    assert re.findall("<li>(.*?)</li>", told) == [
        "m k=5: found 1, kept 0.2", "flat: found 2, kept 0.4", "m k=2: found 4, kept 0.6",
    ]  # fmt: skip
    assert "lack one of the two values: <span>none</span>" in html
    assert (
        len(
            [
                g
                for g in svg_of(html).iter("g")
                if {"run", "best"} <= set(g.get("class", "").split())
            ]
        )
        == 3
    )
    assert len(marks(svg_of(html))) == 4


def test_runs_are_joined_in_the_order_of_what_was_swept() -> None:
    both = [*cells("m", {"k": 2, "link": "a"}, found=1.0), *cells("m", {"k": 2, "link": "b"}),
            *cells("m", {"k": 1, "link": "a"}, found=1.0, kept=1.0)]  # fmt: skip
    assert build_scatter(compared(ROWS)).strands == ((1, 2, 0), (3,), (4,))
    assert build_scatter(compared(both)).strands[0] == (1, 0)
    words = [*cells("m", {"by": "b"}, found=1.0, kept=1.0), *cells("m", {"by": "a"}, found=1.0)]
    assert build_scatter(compared(words)).strands == ((0, 1),)


@pytest.mark.parametrize("risk", ["lower", "higher"])
@pytest.mark.parametrize("use", ["lower", "higher"])
def test_better_is_left_and_up(risk: str, use: str) -> None:
    x, y = (1.0 if risk == "lower" else 9.0), (9.0 if use == "higher" else 1.0)
    rows = [*cells("good", {}, found=x, kept=y), *cells("bad", {}, found=10 - x, kept=10 - y)]
    about = {"found": replace(RISK, better=risk), "kept": replace(USE, better=use)}
    html = section(compared(rows, **about))
    (good, bad) = marks(svg_of(html))
    assert good[0] < bad[0]
    assert good[1] < bad[1]  # y grows downwards
    assert f"\N{LEFTWARDS ARROW} {risk} is better" in html
    assert f"\N{UPWARDS ARROW} {use} is better" in html
    assert re.findall("<li>(good|bad): ", html) == ["good"]


@pytest.mark.parametrize(
    "about",
    [{"found": RISK}, {"kept": USE}, {"found": replace(RISK, kind="utility"), "kept": USE}],
    ids=["no utility", "no risk", "two utilities"],
)
def test_without_both_there_is_no_picture(about: dict) -> None:
    rows = [row for row in ROWS if row.measure in about]
    assert frontier_view(compared(rows, **about)) is None
    assert "Risk and utility" not in render_comparison(compared(rows, **about))


def test_a_measure_that_failed_everywhere_cannot_be_chosen() -> None:
    rows = cells("m", {}, found=None, other=1.0, kept=0.5)
    html = section(compared(rows, found=RISK, other=RISK, kept=USE))
    assert re.findall("<option[^>]*>(.*?)</option>", html) == ["other", "kept"]


def test_the_first_measures_that_some_run_has_both_of() -> None:
    rows = [*cells("a", {}, found=1.0), *cells("b", {}, other=1.0, kept=2.0)]
    html = section(compared(rows, found=RISK, other=RISK, kept=USE))
    assert '<option value="1" selected>other</option>' in html


def test_what_is_no_number_is_not_drawn() -> None:
    rows = [*cells("a", {}, found=float("inf"), kept=1.0), *cells("b", {}, found=1.0, kept=1.0)]
    html = section(compared(rows))
    assert len(marks(svg_of(html))) == 1
    assert "Infinity" not in html
    rows = cells("a", {}, found=float("nan"), kept=1.0)
    assert frontier_view(compared(rows)) is None


def test_repeats_reach() -> None:
    rows = cells("m", {}, 1, found=1.0, kept=1.0) + cells("m", {}, 2, found=3.0, kept=2.0)
    html = section(replace(compared(rows), options=RunOptions(repeats=2)))
    reach = re.search(r'class="reach" d="M(\S+) 0H(\S+)M0 (\S+)V(\S+)"', html)
    left, right, low, high = map(float, reach.groups())
    assert left < 0 < right
    assert high < 0 < low
    assert "m: found 2 (1 to 3), kept 1.5 (1 to 2)" in html
    assert "Strokes reach" in html


def test_the_script_gets_all_values_in_a_form_that_ends_nothing() -> None:
    bad = "</script><!--<script>&"
    html = section(compared([*ROWS, *cells(bad, {}, found=1.0, kept=1.0)]))
    text = re.search(r'class="data">(.*?)</script>', html)[1]
    assert not re.search("[<>&]", text)
    data = json.loads(text)
    assert [run["name"] for run in data["runs"]] == ["m k=5", "m k=2", "m k=3", "flat", "none", bad]
    found, kept = data["across"][0], data["up"][0]
    assert (found["name"], kept["name"]) == ("found", "kept")
    assert [place and place[3] for place in found["places"]] == ["1", "4", "3", "2", None, "1"]
    assert data["pairs"][0][0]["order"] == [5, 0, 3, 2, 1]
    assert data["pairs"][0][0]["dominated"] == [[], [3], [3], [0, 1, 3], [3]]


def test_where_this_release_stands() -> None:
    own = cells("this release", {}, found=3.5, kept=0.3)
    assert "<b>This release is beaten by flat.</b>" in section(compared([*ROWS, *own]))
    own = cells("this release", {}, found=0.5, kept=0.3)
    assert "<b>No other run beats this release.</b>" in section(compared([*ROWS, *own]))
    assert '<p class="own"><b></b></p>' in section(compared(ROWS))


def test_the_picture_alone() -> None:
    bad = "<&'\""
    text = frontier_svg(compared(ROWS), "found", "kept", {"m": bad})
    svg = ElementTree.fromstring(text)
    texts = ["".join(one.itertext()) for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"users found", "queries kept", bad, "flat"} <= set(texts)
    assert "none" not in texts  # it is not in the picture
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"script|href|url\(|@import", text)
    long = frontier_svg(compared(ROWS), "found", "kept", {"m": "m" * 70})
    assert ElementTree.fromstring(long).get("viewBox") != svg.get("viewBox")


@pytest.mark.parametrize("pair", [("kept", "found"), ("found", "other"), ("other", "kept")])
def test_a_picture_of_what_was_not_measured(pair: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=r"no (risk|utility) measure") as raised:
        frontier_svg(compared(ROWS), *pair)
    assert raised.value.hint


def test_the_same_place_everywhere_can_be_drawn() -> None:
    rows = [*cells("a", {}, found=0.0, kept=0.0), *cells("b", {}, found=0.0, kept=0.0)]
    html = section(compared(rows))
    Balanced(html)
    assert len(marks(svg_of(html))) == 2


def with_references(rows: list, **values: dict[str, float]) -> Comparison:
    references = [row for label, one in values.items() for row in cells(label, {}, **one)]
    return replace(compared(rows), references=tuple(references))


def test_references_are_drawn_but_beat_nobody() -> None:
    found = with_references(ROWS, empty={"found": 0.0, "kept": 0.9})
    chart = build_scatter(found)
    assert [run.name for run in chart.runs][-1] == "empty"
    assert [chart.runs[i].name for i in chart.fronts[0, 0].best] == ["m k=5", "flat", "m k=2"]
    assert chart.missing((0, 0)) == ["none"]
    html = section(found)
    assert len(marks(svg_of(html))) == 5
    assert "Rings are for reference" in html
    assert "Rings are for reference" not in section(compared(ROWS))


def test_a_reference_beyond_the_axis_stands_at_its_edge_with_its_values() -> None:
    found = with_references(ROWS, original={"found": 4.0, "kept": 90.0})
    chart = build_scatter(found)
    place = chart.up[0].places[-1]
    assert place.clamped
    assert place.at == chart.frame.top
    assert "original (beyond the axis: 4, 90)" in section(found)


def test_the_verdict_counts_the_runs_that_none_beats() -> None:
    html = section(compared(ROWS))
    assert (
        "For users found against queries kept, no other run beats these 3 of 4 runs, from the "
        "lowest risk to the highest utility:" in html
    )
    assert "no other run beats this one of 1 run:" in section(
        compared(cells("m", {}, found=1.0, kept=1.0))
    )


def test_risk_over_decades_has_a_log_scale_with_a_place_for_zero() -> None:
    rows = [row for i, x in enumerate((0.0, 0.1, 1.0, 50.0))
            for row in cells("m", {"k": i}, found=x, kept=x)]  # fmt: skip
    found = compared(rows)
    (axis,) = build_scatter(found).across
    zero, first, second, last = (place.at for place in axis.places)
    frame = build_scatter(found).frame
    assert zero == frame.left
    assert zero < first < second < last <= frame.right
    assert [tick.text for tick in axis.view.ticks] == ["0", "0.1", "1", "10"]
    assert "percent, log scale. \N{LEFTWARDS ARROW} lower is better" in section(found)


def boxes(chart: ScatterChart, size: LetterSize) -> list[Box]:
    marks = chart.draw((0, 0)).marks
    placed = [(mark, mark.wide if size is WIDE else mark.narrow) for mark in marks]
    result = []
    for mark, label in placed:
        if label is not None:
            width = size.letter * len(label.text)
            left = mark.x + label.x - {"start": 0, "middle": width / 2, "end": width}[label.anchor]
            base = mark.y + label.y
            result.append(Box(left, base - 0.8 * size.line, left + width, base + 0.2 * size.line))
    return result


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@given(runs=st.lists(st.tuples(few, few, st.integers(0, 3)), min_size=1, max_size=14))
def test_labels_cover_no_label_and_no_mark(
    size: LetterSize, runs: list[tuple[float, float, int]]
) -> None:
    rows = [row for i, (x, y, group) in enumerate(runs)
            for row in cells(f"method-{group}", {"k": i}, found=x, kept=y)]  # fmt: skip
    chart = build_scatter(compared(rows))
    labels = boxes(chart, size)
    assert not any(a.overlaps(b) for i, a in enumerate(labels) for b in labels[:i])
    for mark in chart.draw((0, 0)).marks:
        assert not any(
            one.left < mark.x < one.right and one.top < mark.y < one.bottom for one in labels
        )
    assert all(one.left >= 0 and one.right <= chart.frame.width for one in labels)


def test_a_method_is_named_beside_its_marks() -> None:
    texts = [mark.wide.text for mark in build_scatter(compared(ROWS)).draw((0, 0)).marks
             if mark.wide]  # fmt: skip
    assert "flat" in texts
    assert any(text.startswith("m k=") for text in texts)
