"""Stop a run whose rows could not be read, and name the way on."""

from __future__ import annotations

import math

from ..errors import InputError, TooManyRejectedError
from .accounting import RowAccounting

# The outcomes of rows in which the columns were not found.
_MISSING = {"blank line", "empty query", "action line of a bulk file"}


def check_queries(accounting: RowAccounting, where: object) -> None:
    """Raise an error if no row has a query: the columns have other names, or another level."""
    missing = {reason: accounting.dropped.get(reason, 0) for reason in sorted(_MISSING)}
    if sum(missing.values()) < accounting.rows:
        return
    raise InputError(
        f"none of {accounting.rows:,} rows has a query in the columns that were looked for",
        where=where,
        hint='name the columns: `columns="user=...,query=...,time=..."`; a path with dots selects '
        'from nested objects: "query=_source.user_query". If this is a response of a search '
        'engine, not one object per line: `format="opensearch"`',
    )


def check_rejected(accounting: RowAccounting, max_fraction: float) -> None:
    """Raise an error with examples if too large a fraction of rows was rejected."""
    if (fraction := accounting.rejected_share) <= max_fraction:
        return
    reasons = sorted(accounting.rejected.items(), key=lambda item: -item[1])
    first = accounting.rejected_rows().head(3).rows()
    examples = "; ".join(f"{file} line {line:,}: {reason}" for file, line, reason in first)
    raise TooManyRejectedError(
        f"{sum(accounting.rejected.values()):,} of {accounting.rows:,} rows cannot be read "
        f"({', '.join(f'{reason}: {number:,}' for reason, number in reasons)}). "
        f"First: {examples}",
        hint=_hint_at(reasons[0][0], fraction),
    )


def _hint_at(reason: str, fraction: float) -> str:
    """Return the way on after the most frequent reason to reject rows."""
    hint = _REJECT_HINTS.get(reason, "is this the right `format`?")
    if fraction > _MAX_LEFT_OUT:
        return f"{hint} To continue anyway, raise `max_rejected`"
    leave_out = f"`max_rejected={math.ceil(fraction * 1000) / 1000:g}`"
    if reason == "no user":  # the column is the right one: other rows have a user
        return f"to leave out the rows without a user: {leave_out}"
    return f"{hint} To leave these rows out: {leave_out}"


# Most rows are not left out: something else is wrong with the file.
_MAX_LEFT_OUT = 0.5
_REJECT_HINTS = {
    "not UTF-8": 'if Windows or Excel wrote it, try `encoding="cp1252"`.',
    "NUL byte": 'if this is UTF-16, try `encoding="utf-16-le"`.',
    "quotation mark out of place": 'if queries hold quotation marks, try `quote="none"`.',
    "not a date": 'set the format of times: `time_format="%d/%m/%Y %H:%M"`, or '
    '`time_format="%m/%d/%Y %H:%M"` if months come first; dates with slashes need it. If date and '
    'time are two columns: `columns="time=date+time"`.',
    "no user": 'name the columns: `columns="user=...,query=...,time=..."`; in JSON a dot leads '
    "into an object: user=user.id.",
    "click without its query": "name the file of queries too: ubi_queries.jsonl ubi_events.jsonl.",
    "no time": "is this the right `format` and `delimiter`?",
    "too many columns": "is this the right `format` and `delimiter`?",
}
