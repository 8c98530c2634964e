"""The card as one self-contained HTML page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..render.html import document, listed, pairs, section
from .guarantee import Level, words_of
from .noise import about_noise

_COLORS = ("#1b7f5c", "#d9a441", "#b3543e", "#6a7fb0", "#8a6aa8", "#7a8791", "#4f9bb5")
_MODELS = {
    "none": "No formal guarantee: a rule was kept",
    "k-anonymity": "k-anonymity",
    "pure-dp": "Differential privacy",
    "approx-dp": "Approximate differential privacy",
    "conditional-dp": "Differential privacy, under a condition",
}


def render_card(
    card: dict[str, Any],
    extra: Sequence[str] = (),
    *,
    style: str = "",
    scripts: Sequence[str] = (),
) -> str:
    """Return a card, public or private, as a page.

    `extra` are sections of HTML for the data owner, with their style and scripts. A public page has
    none: it depends on its card alone, and `verify` renders it again.
    """
    internal = "input" in card
    parts = [_head(card, internal), *_measured(card), _promise(card["guarantee"])]
    parts += [_noise(card), *extra]
    parts += [_limits(card["guarantee"]), _notes(card)]
    if internal:
        parts += [_row_accounting(card)]
    parts += [_figures(card, internal), _parameters(card), _checks(card), _rerun(card, internal)]
    if internal:
        parts += [_run(card)]
    title = f"{card['method']}: {'internal' if internal else 'public'} card"
    body = "".join(parts) + _foot(card, internal)
    return document(title, body, style=style, scripts=scripts)


def _head(card: dict[str, Any], internal: bool) -> str:
    secret = '<p class="warn"><b>Internal: do not publish this page.</b></p>' if internal else ""
    warned = "".join(f'<p class="warn"><b>Warning:</b> {escape(w)}.</p>' for w in card["warnings"])
    return (
        f"<h1>A query log, released with {escape(card['method'])}</h1>{secret}{_standing(card)}"
        f'<p class="statement">{escape(card["guarantee"]["statement"])}</p>{warned}'
    )


def _standing(card: dict[str, Any]) -> str:
    """Return the standing: a badge, and its meaning in one sentence."""
    level, promise = card["standing"], card["guarantee"]
    if level == Level.NOT_FOR_PUBLICATION:
        badge = '<p><span class="badge warn">not for publication</span></p>'
        return badge + listed(card["not_release_grade_because"])
    name, kind = _BADGES[level]
    if promise.get("given"):
        name, kind = f"{name}, under a condition", "warn"
    words = f"{escape(words_of(promise, level))}."
    return f'<p><span class="badge {kind}">{name}</span> {words[:1].upper()}{words[1:]}</p>'


_BADGES = {Level.FORMAL: ("formal guarantee", "good"), Level.RULE_ONLY: ("rule only", "warn")}


def _measured(card: dict[str, Any]) -> list[str]:
    """Return the measurements that only the data owner sees."""
    summaries = [str(measured["words"]) for measured in card.get("measured", {}).values()]
    return [section("Measured for the owner alone", listed(summaries))] if summaries else []


_NUMBERS = {
    "k": "k",
    "epsilon": "epsilon",
    "delta": "delta",
    "per_query_epsilon": "epsilon of one query",
}


def _promise(guarantee: dict[str, Any]) -> str:
    numbers = {label: guarantee[name] for name, label in _NUMBERS.items()}
    rows = {name: value for name, value in numbers.items() if value is not None}
    rows["unit"] = f"one {guarantee['unit']}: a person's whole log"
    if guarantee.get("given"):
        rows["only given that public is"] = guarantee["given"]
    if guarantee["neighbours"]:
        rows["neighbours"] = guarantee["neighbours"]
    return section(
        "What is promised",
        f"<p><b>{_MODELS[guarantee['model']]}</b></p>{pairs(rows)}",
    )


def _limits(guarantee: dict[str, Any]) -> str:
    return section("What is not covered", listed(guarantee["not_covered"])) + section(
        "What is assumed", listed(guarantee["assumptions"])
    )


def _noise(card: dict[str, Any]) -> str:
    parts = [
        (f"<p><b>{escape(name)}</b></p>" if name else "") + listed(statements)
        for name, statements in about_noise(card).items()
    ]
    return section("How large the noise is", "".join(parts)) if parts else ""


def _notes(card: dict[str, Any]) -> str:
    return section("What else to know", listed(card["notes"])) if card.get("notes") else ""


def _row_accounting(card: dict[str, Any]) -> str:
    generated = sum(card["made"].values())
    released = "released" if not generated else "released as a row of the log"
    row_counts = {released: card["output"]["rows"] - generated} | card["dropped"]
    row_counts |= {f"rejected: {reason}": n for reason, n in card["input"]["rejected"].items()}
    total = max(card["input"]["rows"], 1)
    colors = [_COLORS[i % len(_COLORS)] for i in range(len(row_counts))]
    bar = "".join(
        f'<i style="width:{100 * n / total:.3f}%;background:{color}"></i>'
        for n, color in zip(row_counts.values(), colors, strict=True)
    )
    legend = "".join(
        f'<tr><td><span class="legend"><b style="background:{color}"></b></span>'
        f'{escape(name)}</td><td class="number">{n:,}</td>'
        f'<td class="number">{n / total:.2%}</td></tr>'
        for (name, n), color in zip(row_counts.items(), colors, strict=True)
    )
    blanked = pairs(card["blanked"]) if card["blanked"] else "<p>None.</p>"
    return section(
        "What became of every row",
        f"<p>{card['input']['rows']:,} rows went in.</p>"
        f'<div class="bar" role="img" aria-label="fractions of the rows">{bar}</div>'
        f"<table>{legend}</table>{_generated_rows(card)}"
        f"<p><b>Left empty, or not made</b></p>{blanked}",
    )


def _generated_rows(card: dict[str, Any]) -> str:
    """Return the numbers of generated rows; they are not rows of the log."""
    if not card["made"]:
        return ""
    rows = card["made"] | {"released in all": card["output"]["rows"]}
    return f"<p><b>Rows made by the method</b></p>{pairs(rows)}"


def _figures(card: dict[str, Any], internal: bool) -> str:
    names = {"rows": "rows", "ids": "pseudonyms", "queries": "queries", "urls": "URLs"}
    figures = {names.get(name, name): n for name, n in card["figures"].items()}
    if internal:
        figures |= {f"{name}, in the log": card["input"][name] for name in ("users", "queries")}
    return section("In numbers", pairs(figures))


def _parameters(card: dict[str, Any]) -> str:
    rows = dict(card["parameters"])
    if card.get("identifiers"):
        rows["identifiers"] = _IDENTIFIERS.get(card["identifiers"], card["identifiers"])
    return section("Parameters", pairs(rows))


_IDENTIFIERS = {
    "drop": "drop: queries that look like one were left out, such URLs blanked",
    "mask": "mask: what looks like one was masked in queries, such URLs blanked",
    "keep": "keep: let through as they are",
}


def _checks(card: dict[str, Any]) -> str:
    checks = [
        ", ".join(f"{key}: {value}" for key, value in check.items())
        for check in card["guarantee"]["checks"]
    ]
    text = "<p>Anyone can repeat these on the public files: <code>queryveil verify DIR</code>.</p>"
    return section("How it can be checked", text + listed(checks))


def _rerun(card: dict[str, Any], internal: bool) -> str:
    text = f"<pre>{escape(_command(card['method'], _options(card)))}</pre>"
    text += (
        "<p>What is left to chance is drawn anew each time: another run makes the same promise, "
        "and not the same files.</p>"
    )
    if internal:
        text += listed(f"{path} (SHA-256 {sha})" for path, sha in card["input"]["sha256"].items())
    return section("To run it again", text)


def _options(card: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters, and the setting of identifiers unless it is the default."""
    setting = card.get("identifiers") or "drop"
    more = {} if setting == "drop" else {"identifiers": setting}
    return dict(card["parameters"]) | more


def _command(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the command line that runs a method with these parameters.

    >>> _command("click-graph", {"min_users": 5, "clicks": False})
    'queryveil anonymize LOG --method click-graph --min-users 5 --no-clicks --out DIR'
    """
    words = ["queryveil", "anonymize", "LOG", "--method", method]
    for name, value in parameters.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            words += [f"--{option}", str(value)]
    return shlex.join([*words, "--out", "DIR"])


def _run(card: dict[str, Any]) -> str:
    seconds = {f"{stage}, seconds": value for stage, value in card["seconds"].items()}
    return section("The run", pairs(seconds | {"peak memory, MB": card["peak_mb"]}))


def _foot(card: dict[str, Any], internal: bool) -> str:
    text = "" if internal else " This page holds nothing that the other public files do not tell."
    version = escape(str(card["queryveil"]))
    return f'<footer class="soft">Made by queryveil {version}.{text}</footer>'
