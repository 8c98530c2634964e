"""Measure a written release, and put what was found into its owner's report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..core.files import atomic_file
from ..core.folders import read_json_card
from ..core.progress import NoProgress, Progress
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..methods.base import Method
from ..release.page import render_card
from ..release.reading import read_release
from ..release.release import Release
from ..render.charts.line import STYLE as CHART
from ..render.charts.scales import is_drawable
from ..render.html import SORTING, cell, number, section, sortable
from ..workflows.measurement import measure, method_of_release
from .comparing import RunOptions, compare_figures
from .frontier import FRONTIER_STYLE, SCRIPT, frontier_section
from .grid import expand_grid, request_figures
from .series import REFERENCES

_STYLE = CHART + FRONTIER_STYLE + "main { max-width: 60rem; }"


def render_private_report(
    card: dict[str, Any],
    measures: Mapping[str, Mapping[str, Any]] | None = None,
    comparison: Mapping[str, Any] | None = None,
) -> str:
    """Draw an internal card with what was measured, and with other methods beside it.

    In the comparison, the run whose label is "this release" stands out.
    """
    if "input" not in card:
        raise UsageError(
            "measures are of private data: a public page cannot show them",
            hint="give the card of private/card.json",
        )
    extra = [_risk_and_use(measures)] if measures else []
    extra += [frontier_section(comparison)] if comparison else []
    return render_card(card, extra, style=_STYLE, scripts=(SORTING, SCRIPT))


def _risk_and_use(measures: Mapping[str, Mapping[str, Any]]) -> str:
    heads = [("of", ""), ("measure", "text"), ("value", "number"), ("better", ""),
             ("in words", "text")]  # fmt: skip
    order = sorted(measures.items(), key=lambda item: item[1].get("kind") != "risk")
    rows = [_row(line, told) for line, told in order]
    return section("Risk and use, measured", sortable(heads, rows, folds=True))


def _row(line: str, told: Mapping[str, Any]) -> list[str]:
    value = told["value"]
    about = escape(f"{line}; {told['unit']}")
    return [
        cell(str(told.get("kind", ""))),
        f'<td class="text">{escape(told["title"])}<br><span class="soft">{about}</span></td>',
        number("" if value is None else f"{value:.4g}", value),
        cell(told["better"]),
        f'<td class="text">{_in_words(told)}</td>',
    ]


def _in_words(told: Mapping[str, Any]) -> str:
    if told["value"] is None:
        return f"Not measured: {escape(str(told.get('why_not', '')))}"
    words = [str(told["words"])] if told.get("words") else []
    beside = {called: told.get(name) for name, called in REFERENCES.items()}
    words += [f"{called}: {value:.4g}" for called, value in beside.items() if is_drawable(value)]
    ruler = f'<span class="soft">Ruler: {escape(told["ruler"])}.</span>' if "ruler" in told else ""
    text = " ".join(f"{escape(one[:1].upper() + one[1:])}." for one in words)
    return "<br>".join(part for part in (text, ruler) if part)


THIS_RELEASE = "this release"


def measure_folder(
    log: QueryLog,
    folder: str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    methods: Sequence[str | Method] = (),
    sweep: Mapping[str, Sequence[Any]] | None = None,
    how: RunOptions | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure the release in a folder, and show it in `private/report.html`.

    With `sweep` its own method is run at other values, with `methods` others are run too: the
    report then has the frontier of risk and use, with this release in it. What was measured
    before stays. Without the private card there is no report, and `report` is None.
    """
    shown, how, place = progress or NoProgress(), how or RunOptions(), Path(folder)
    release, over = read_release(place, log), dict(sweep or {})
    beside = [*_at_other_values(release, over), *methods]
    if beside:
        expand_grid(beside, over)  # refuses what cannot be run before anything is measured
    found = measure(log, release, measures, seed=how.seed, dataset=how.dataset, progress=shown)
    taken = {line: told for line, told in found["measures"].items() if told["value"] is not None}
    if beside and taken:
        compared = compare_figures(
            log, request_figures(beside, list(taken), over), how, progress=shown
        )
        found["notes"] = list(dict.fromkeys([*found["notes"], *compared.about["notes"]]))
        found["comparison"] = _beside(compared.to_dict(), str(method_of_release(release)), taken)
    return found | {"report": _report(place / "private", found)}


def _at_other_values(release: Release, sweep: Mapping[str, Sequence[Any]]) -> list[Method]:
    """Give the release's method without the values that are swept."""
    if not sweep:
        return []
    own, swept = method_of_release(release), {name.replace("-", "_") for name in sweep}
    return [own.from_params({name: v for name, v in own.params().items() if name not in swept})]


def _beside(
    compared: dict[str, Any], line: str, taken: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Put this release beside the runs, in the place of one that is the same method's."""
    rows = [
        {"method": line, "label": THIS_RELEASE, "swept": {}, "repeat": 1, "measure": name,
         "value": told["value"], "error": None, "told": {}}
        for name, told in taken.items()
    ]  # fmt: skip
    others = [row for row in compared["rows"] if row["method"] != line]
    return compared | {"rows": [*rows, *others]}


def _report(private: Path, found: dict[str, Any]) -> str | None:
    card = private / "card.json"
    if not card.is_file():
        return None
    kept = private / "measures.json"
    whole = _together(read_json_card(kept), found)
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    drawn = render_private_report(read_json_card(card), whole["measures"], whole.get("comparison"))
    _write(kept, text)
    _write(private / "report.html", drawn)
    return str(private / "report.html")


def _together(before: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Add what was found to what was measured before; the newer figure stands."""
    known = before.get("measures")
    measures = (known if isinstance(known, dict) else {}) | found["measures"]
    return before | found | {"measures": measures}


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as part:
        part.touch(0o600)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
