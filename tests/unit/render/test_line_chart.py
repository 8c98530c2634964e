"""A line chart: well-formed, in its frame, with every text escaped."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.render.charts.line import ChartLine, ChartPoint, line_chart
from queryveil.render.charts.scales import Axis, choose_scale, make_axis, nice_ticks
from queryveil.render.html import PACKAGE, environment


def point(x: float | None, value: float, spread: float = 0.0, says: str = "here") -> ChartPoint:
    return ChartPoint(x, value, value - spread, value + spread, says)


def html(lines: list[ChartLine], **more: object) -> str:
    titles = {"title": "t", "x_title": "x", "y_title": "y"}
    text = '{% import "_charts.html.j2" as charts %}{{ charts.page_chart(chart) }}'
    template = environment(PACKAGE).from_string(text)
    return template.render(chart=line_chart(lines, **(titles | more)))


def drawn(lines: list[ChartLine], **more: object) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{html(lines, **more)}</div>")


def marks(chart: ElementTree.Element) -> list[tuple[float, float]]:
    circles = chart.find("div/svg").iter("circle")
    return [(float(one.get("cx")), float(one.get("cy"))) for one in circles]


def test_points_stand_where_they_belong() -> None:
    chart = drawn([ChartLine("a", (point(2, 0.0), point(3, 0.5), point(4, 1.0)))])
    (x1, y1), (x2, y2), (x3, y3) = marks(chart)
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.2)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.2)
    assert y1 > y3


def test_a_log_axis_has_equal_steps_for_equal_factors() -> None:
    chart = drawn([ChartLine("a", tuple(point(x, 1.0) for x in (0.1, 1, 10)))], scale="log")
    xs = [x for x, _ in marks(chart)]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert [t.text for t in chart.iter("text") if t.get("text-anchor") == "middle"] == [
        "0.1", "1", "10",
    ]  # fmt: skip


def test_names_along_the_axis() -> None:
    chart = drawn([ChartLine("a", (point(0, 1.0), point(1, 2.0)))], names=["user", "none"])
    texts = [text.text for text in chart.iter("text")]
    assert {"user", "none"} <= set(texts)


def test_repeats_show_as_a_band_or_a_stroke() -> None:
    band = drawn([ChartLine("a", (point(1, 0.5, 0.1), point(2, 0.6, 0.1)))])
    assert len([e for e in band.iter("polygon") if e.get("class") == "band"]) == 1
    alone = drawn([ChartLine("a", (point(1, 0.5, 0.1),))])
    assert len([e for e in alone.iter("line") if e.get("class") == "reach"]) == 1
    sure = drawn([ChartLine("a", (point(1, 0.5), point(2, 0.6)))])
    assert not list(sure.iter("polygon"))


def test_a_level_line_spans_the_chart() -> None:
    chart = drawn(
        [ChartLine("a", (point(1, 0.5), point(9, 0.6))), ChartLine("b", (point(None, 0.4),))]
    )
    [_, level] = [e for e in chart.find("div/svg").iter("polyline") if e.get("class") == "path"]
    (left, y), (right, end) = (point.split(",") for point in level.get("points").split())
    assert float(right) - float(left) > 500
    assert y == end
    assert level.find("title").text == "here"


def test_the_key_goes_from_top_to_bottom() -> None:
    lines = [ChartLine(name, (point(1, 0.0), point(2, end))) for name, end in
             (("low", 0.1), ("high", 0.9), ("middle", 0.5))]  # fmt: skip
    key = ["".join(entry.itertext()).strip() for entry in drawn(lines).iter("li")]
    assert key == ["high", "middle", "low"]


def test_texts_are_escaped() -> None:
    bad = '<script>alert("&")</script>'
    text = html(
        [ChartLine(bad, (point(1, 1.0, says=bad),))], title=bad, x_title=bad, y_title=bad
    ) + html([ChartLine("a", (point(0, 1.0),))], names=[bad])
    assert "<script" not in text
    found = ElementTree.fromstring(f"<div>{text}</div>")
    assert next(found.iter("title")).text == bad


def test_nothing_to_draw() -> None:
    assert "nothing to draw" in html([])
    assert "nothing to draw" in html([ChartLine("a", ())])


values = st.floats(0, 1e6, allow_subnormal=False)


@given(
    st.dictionaries(st.floats(1e-6, 1e6), values, min_size=1, max_size=15),
    st.sampled_from(["linear", "log"]),
)
def test_any_points_stay_inside(points: dict[float, float], scale: str) -> None:
    chart = drawn(
        [ChartLine("a", tuple(point(x, y) for x, y in sorted(points.items())))], scale=scale
    )
    for x, y in marks(chart):
        assert 62 <= x <= 620
        assert 44 <= y <= 340


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_round_ticks_enclose_and_are_few(low: float, span: float) -> None:
    ticks = nice_ticks(low, low + span)
    slack = 1e-6 * max(abs(low), span, 1)
    assert ticks[0] <= low + slack
    assert ticks[-1] >= low + span - slack
    assert 2 <= len(ticks) <= 9
    assert ticks == sorted(ticks)


def test_many_values_get_round_ticks() -> None:
    assert len(make_axis(list(range(1, 60)), "linear").ticks) < 10
    powers = make_axis([10 ** (i / 4) for i in range(-8, 9)], "log")
    assert [text for _, text in powers.ticks] == ["0.01", "0.1", "1", "10", "100"]


def test_scales() -> None:
    assert choose_scale([1, 2.5]) == "linear"
    assert choose_scale([0, 100]) == "linear"
    assert choose_scale([True, False]) == "names"
    assert choose_scale([]) == "names"
    assert Axis(1, 100, (), log=True).place(10) == pytest.approx(0.5)
    assert math.isfinite(make_axis([3.0], "log").place(3.0))
    assert math.isfinite(make_axis([3.0], "linear").place(3.0))
