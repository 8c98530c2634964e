"""The pages in a real browser: their scripts sort, move and hide, and nothing else can run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any, Literal

import pytest

import queryveil as qv
from queryveil.comparison.frontier import describe_front
from queryveil.comparison.page import render_comparison
from queryveil.comparison.result import (
    Comparison,
    ComparisonRow,
    LogSummary,
    MeasureInfo,
    RunOptions,
)
from queryveil.comparison.scatter import build_scatter

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason=f"NO BROWSER: the scripts of the pages are not tested (none of {', '.join(BROWSERS)})",
)

# What is read of a page; the driver of a test calls it when it likes.
READ = """
const all = (css) => [...document.querySelectorAll(css)];
const texts = (css) => all(css).map((one) => one.textContent);
const seen = () => ({
  best: texts("ul.front li"),
  verdict: texts(".front-verdict").join(),
  marks: all(".scatter .run").map((g) => g.getAttribute("display") ? null : [
    g.getAttribute("transform"), g.classList.contains("best"),
    g.querySelector(".reach").getAttribute("d")]),
  joins: all(".scatter .join").map((one) => one.getAttribute("points")),
  step: document.querySelector(".scatter .front").getAttribute("d"),
  axes: all(".scatter .across, .scatter .up").map((g) => !g.getAttribute("display")),
  missing: texts(".missing span").join(),
  labels: all(".scatter .at").map((one) => one.textContent &&
    [one.textContent, ...["x", "y", "text-anchor"].map((name) => one.getAttribute(name))]),
});
const choose = (x, y) => all("select").forEach((one, i) => {
  one.value = [x, y][i];
  one.dispatchEvent(new Event("change"));
});
const tell = (found) => {
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
};
"""


def driven(page: str, driver: str, folder: Path) -> Any:
    """Open a page, let a script drive it, and give what that told; nothing may go wrong."""
    script = f"{READ}tell((() => {{{driver}}})());"
    digest = b64encode(sha256(script.encode()).digest()).decode()
    page = page.replace("; script-src ", f"; script-src 'sha256-{digest}' ", 1)
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    done = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=500", "--dump-dom",
         file.as_uri()],
        capture_output=True, text=True, timeout=600, check=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )  # fmt: skip
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, errors
    return {"told": json.loads(unescape(found[1])), "console": errors}


def row(
    label: str, k: int | None, measure: str, value: float | None, repeat: int = 1
) -> ComparisonRow:
    return ComparisonRow(
        method=f"{label}:k={k}",
        label=label,
        params={} if k is None else {"k": k},
        repeat=repeat,
        measure=measure,
        value=value,
        seconds=0.1,
        error="it broke" if value is None else None,
    )


def about(kind: Literal["risk", "utility"], better: Literal["lower", "higher"]) -> MeasureInfo:
    return MeasureInfo(f"a {kind}", "what it is", "none", "share", better, kind, {})


HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=2>"
VALUES = {
    ("m", 10): (1.0, 5.0, 0.2, 30.0), ("m", 9): (4.0, 2.0, 0.6, 10.0),
    ("m", 2): (6.0, 1.0, 0.9, 20.0), ("flat", None): (2.0, 2.5, 0.5, 15.0),
    (HOSTILE, None): (5.0, None, 0.3, 5.0),
}  # fmt: skip
MEASURES = {
    "found": about("risk", "lower"), "safe": about("risk", "higher"),
    "kept": about("utility", "higher"), "error": about("utility", "lower"),
}  # fmt: skip


def comparison(
    notes: tuple[str, ...] = (HOSTILE,),
    command: str = "queryveil compare",
    files: dict[str, str] | None = None,
) -> Comparison:
    rows = [
        row(label, k, measure, value and value + 0.1 * turn, turn)
        for (label, k), values in VALUES.items()
        for measure, value in zip(MEASURES, values, strict=True)
        for turn in (1, 2)
    ]
    return Comparison(
        queryveil="1",
        options=RunOptions(repeats=2),
        log=LogSummary(files=files or {}, rows=10, users=3, queries=4),
        notes=notes,
        known_before=0,
        command=command,
        measures=MEASURES,
        figures=(),
        rows=tuple(rows),
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Drive one page through all that its scripts do."""
    driver = """
      const found = { hacked: typeof hacked, first: seen(), pairs: [] };
      for (const x of [0, 1]) for (const y of [0, 1]) { choose(x, y); found.pairs.push(seen()); }
      choose(0, 0);
      const [m, flat] = all(".key button");
      const press = (one) => { one.click(); return [one.getAttribute("aria-pressed"), seen()]; };
      found.without = press(m); found.again = press(m);
      // A page that has no focus yet, as under load, sends no events of focus: send them then.
      const mark = all(".scatter .run")[3], tip = document.querySelector(".tip");
      const send = (one, name) => document.hasFocus()
        || one.dispatchEvent(new FocusEvent(name, { bubbles: true }));
      mark.focus(); send(mark, "focusin");
      found.tip = [tip.hidden, tip.textContent, document.activeElement === mark];
      const key = (name) => {
        const event = new KeyboardEvent("keydown", { key: name, bubbles: true });
        document.activeElement.dispatchEvent(event);
        return document.activeElement.getAttribute("aria-label").split(":")[0];
      };
      found.keys = ["Home", "ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight"].map(key);
      found.stops = all(".scatter .run[tabindex='0']").length;
      const last = document.activeElement;
      last.blur(); send(last, "focusout"); found.gone = tip.hidden;
      const table = all("table.sorts").at(-1), heads = [...table.querySelectorAll("th button")];
      const column = (i) => [...table.tBodies[0].rows].map((row) => row.cells[i].textContent);
      found.sorted = [1, 3, 3].map((i) => {
        heads[i].click();
        return [heads.map((one) => one.parentNode.getAttribute("aria-sort")), column(i)];
      });
      dispatchEvent(new Event("beforeprint"));
      found.open = all("details").map((one) => one.open);
      dispatchEvent(new Event("afterprint"));
      found.folded = all("details").map((one) => one.open);
      found.choice = document.querySelector(".choice").hidden;
      return found;
    """
    return driven(render_comparison(comparison()), driver, tmp_path_factory.mktemp("browser"))


def test_nothing_goes_wrong(told: dict[str, Any]) -> None:
    assert told["console"] == []
    assert told["told"]["hacked"] == "undefined"


def drawn_by_python(x: int, y: int) -> dict[str, Any]:
    """Give what Python draws for two measures, in the form that the browser tells it."""
    chart = build_scatter(comparison())
    drawing = chart.draw((x, y))
    return {
        "best": [chart.describe(i, (x, y)) for i in chart.fronts[x, y].best],
        "marks": [
            [f"translate({mark.x} {mark.y})", mark.best, mark.reach] if mark.shown else None
            for mark in drawing.marks
        ],
        "joins": [points for _, points in drawing.joins],
        "step": drawing.step,
        "axes": [i == x for i in (0, 1)] + [i == y for i in (0, 1)],
        "missing": "; ".join(chart.missing((x, y))),
        "verdict": describe_front(chart, (x, y)),
        "labels": [
            [label.text, f"{label.x:g}", f"{label.y:g}", label.anchor] if label else ""
            for mark in drawing.marks
            for label in (mark.wide, mark.narrow)
        ],
    }


def numbers(found: dict[str, Any]) -> list[float]:
    """Give all places of a picture: tenths may be rounded the other way by the browser."""
    return [float(one) for one in re.findall(r"-?[\d.]+", json.dumps([found["marks"],
            found["joins"], found["step"]]))]  # fmt: skip


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_script_draws_what_python_draws(told: dict[str, Any], x: int, y: int) -> None:
    seen, expected = told["told"]["pairs"][2 * x + y], drawn_by_python(x, y)
    for part in ("best", "verdict", "axes", "missing", "labels"):
        assert seen[part] == expected[part]
    kinds = [[mark and mark[1] for mark in one["marks"]] for one in (seen, expected)]
    assert kinds[0] == kinds[1]
    assert numbers(seen) == pytest.approx(numbers(expected), abs=0.11)


def test_another_measure_moves_the_marks(told: dict[str, Any]) -> None:
    pairs = told["told"]["pairs"]
    assert told["told"]["first"] == pairs[0]
    assert len({json.dumps(pair["marks"]) for pair in pairs}) == 4
    assert pairs[2]["marks"][4] is None  # it has no "safe"
    assert HOSTILE in pairs[2]["missing"]


def test_a_method_can_be_hidden(told: dict[str, Any]) -> None:
    (pressed, seen), (again, back) = told["told"]["without"], told["told"]["again"]
    assert (pressed, again) == ("false", "true")
    assert [mark is None for mark in seen["marks"]] == [True, True, True, False, False]
    assert seen["joins"][0] == ""
    assert [one.split(":")[0] for one in seen["best"]] == ["flat"]
    assert back == told["told"]["first"]


def test_a_mark_tells_what_it_is(told: dict[str, Any]) -> None:
    hidden, text, focused = told["told"]["tip"]
    assert not hidden
    assert focused
    assert text == "flat: found 2.15 (2.1 to 2.2), kept 0.65 (0.6 to 0.7)"
    assert told["told"]["gone"]
    assert not told["told"]["choice"]


def test_arrow_keys_go_from_mark_to_mark(told: dict[str, Any]) -> None:
    names = ["m k=10", "flat", "m k=9", "flat", "m k=2", "m k=2"]
    assert told["told"]["keys"] == names
    assert told["told"]["stops"] == 1  # Tab enters the chart once, and leaves it


def test_tables_sort(told: dict[str, Any]) -> None:
    by_text, up, down = told["told"]["sorted"]
    assert by_text == [[None, "ascending", None, None, None, None], ["k=2", "k=9", "k=10", "", ""]]
    assert up[0] == [None, None, None, "ascending", None, None]
    assert [one.split(" ")[0] for one in up[1]] == ["1.15", "2.15", "2.65", "5.15", "none"]
    assert down[0] == [None, None, None, "descending", None, None]
    assert [one.split(" ")[0] for one in down[1]] == ["5.15", "2.65", "2.15", "1.15", "none"]


def test_paper_shows_what_is_folded(told: dict[str, Any]) -> None:
    assert told["told"]["open"]
    assert all(told["told"]["open"])
    assert not any(told["told"]["folded"])


def test_no_other_script_can_run(tmp_path: Path) -> None:
    """Even if a text were not escaped, the policy would keep it from running."""
    page = render_comparison(comparison(notes=()))
    bad = '<script>hacked=1</script><p onclick="hacked=2">x</p><img src="x.png">'
    found = driven(page.replace("<h1>", f"{bad}<h1>"), """
      document.querySelector("[onclick]").click();
      return typeof hacked;
    """, tmp_path)  # fmt: skip
    assert found["told"] == "undefined"
    assert sum("Content Security Policy" in line for line in found["console"]) == 3


LONG = "a" * 150
NARROW = """
  document.body.style.width = "375px";
  return all("section, pre").filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => one.textContent.slice(0, 60));
"""


def test_pages_fit_a_phone(tmp_path: Path) -> None:
    """Nothing but a table in its own frame is wider than the page."""
    log = qv.QueryLog.from_rows([(user, "tennis", None, None, None) for user in "abc"])
    method = qv.DpStatistics(epsilon=9.0, delta=1e-4, max_queries_per_user=2, budget_split="1/0/0")
    qv.anonymize(log, method, ledger=str(tmp_path)).write(tmp_path / "out")
    command, files = f"queryveil compare {LONG}", {f"/{LONG}.tsv": "0" * 64}
    compared = comparison(notes=(), command=command, files=files)
    pages = [
        (tmp_path / "out" / "public" / "report.html").read_text(),
        (tmp_path / "out" / "private" / "report.html").read_text(),
        render_comparison(compared),
    ]
    for number, page in enumerate(pages):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert driven(allowing_scripts(page), NARROW, folder)["told"] == []


def allowing_scripts(page: str) -> str:
    """Give a page without scripts a policy that names some, for the driver to be added to."""
    return (
        page
        if "; script-src " in page
        else page.replace("style-src", "script-src 'none'; style-src", 1)
    )
