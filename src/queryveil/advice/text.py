"""Advice as plain text: the verdict first, then proposals, then what was excluded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from .answers import Answers
from .result import Advice, Figure, Look, Proposal

_WIDTH = 88
_VERDICTS = {
    "yes": "Release: yes",
    "with-care": "Release: with care",
    "no": "Release: no",
    "depends-on-users": "Release: depends on the number of users",
}
_ORIGINS = {"measured": "Measured: ", "shipped": "Elsewhere: "}


def describe(advice: Advice) -> str:
    """Return the advice as plain text."""
    return "\n".join(_lines(advice))


def _lines(advice: Advice) -> Iterator[str]:
    yield _VERDICTS[advice.release]
    yield from _wrap(f"{advice.summary}.", "")
    yield ""
    yield from _describe_answers(advice.answers)
    if advice.look is not None:
        yield from _describe_look(advice.look)
    for number, proposal in enumerate(advice.proposals, 1):
        yield ""
        yield from _describe_proposal(number, proposal)
    yield from _describe_ranges(advice)
    yield from _describe_list("Not proposed", _list_excluded(advice))
    yield from _describe_list("What you can do instead", advice.instead)
    yield from _describe_list("Note", advice.warnings)


def _list_excluded(advice: Advice) -> list[str]:
    """Return what is not proposed and why; two settings of a method may have the same reason."""
    return list(dict.fromkeys(f"{entry.method}: {entry.because}" for entry in advice.excluded))


def _describe_answers(answers: Answers) -> Iterator[str]:
    users = "not known" if answers.users is None else f"about {answers.users:,}"
    values = {
        "recipient": answers.recipient,
        "purpose": answers.purpose,
        "users": users,
        "language": answers.language,
        "never": ", ".join(answers.never) or "none",
    }
    yield "Your answers"
    for name, value in values.items():
        assumed = "  (not answered; assumed)" if name in answers.assumed else ""
        yield f"  {name + ':':<11}{value}{assumed if value != 'not known' else ''}"


def _describe_look(look: Look) -> Iterator[str]:
    yield ""
    yield "What was seen in the log (exact figures, for you alone)"
    yield f"  {look.users:,} users; {look.sampled_users:,} of them were measured"
    if look.coverage is not None:
        yield f"  {look.coverage:.0%} of the phrases have a concept of the taxonomy"
    for text in (*look.changes, *look.notes):
        yield from _wrap(text, "  ")


def _describe_proposal(number: int, proposal: Proposal) -> Iterator[str]:
    yield f"{number}. {proposal.title}"
    rows = {
        "Why": proposal.why,
        "Keeps": proposal.keeps,
        "Loses": proposal.loses,
        "Guarantee": proposal.meaning or "none about a user: a rule about single queries",
        "Take care": proposal.care,
        "Forecast": None
        if proposal.expected_queries is None
        else f"about {proposal.expected_queries:,} queries, for a log like that of AOL",
    }
    for title, text in rows.items():
        if text:
            yield from _wrap(f"{text}.", "   ", f"{title}: ")
    for never, text in proposal.prevents.items():
        yield from _wrap(f"{text}.", "   ", f"Against {never}: ")
    for figure in proposal.figures:
        yield from _wrap(_describe_figure(figure), "   ", _ORIGINS[figure.origin])
    if proposal.commands:
        yield "   Commands:"
        yield from (f"     {line}" for line in proposal.commands)
    yield "   Python:"
    yield from (f"     {line}" for line in proposal.python)


def _describe_figure(figure: Figure) -> str:
    value = f"{figure.low:.3g}"
    if f"{figure.high:.3g}" != value:
        value += f" to {figure.high:.3g}"
    return f"{figure.title} {value} ({figure.unit}; {figure.better} is better), on {figure.basis}."


def _describe_ranges(advice: Advice) -> Iterator[str]:
    if not advice.by_users:
        return
    yield ""
    yield "By the number of users"
    for entry in advice.by_users:
        methods = ": " + ", ".join(entry.methods) if entry.methods else ""
        yield from _wrap(f"{entry.release}{methods}", "  ", f"{entry.from_users:,} or more: ")


def _describe_list(title: str, texts: tuple[str, ...] | list[str]) -> Iterator[str]:
    if texts:
        yield ""
        yield title
        for text in texts:
            yield from _wrap(text, "  ", "- ")


def _wrap(text: str, indent: str, prefix: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent + prefix,
        subsequent_indent=indent + "  " * bool(prefix),
        break_long_words=False,
        break_on_hyphens=False,
    )
