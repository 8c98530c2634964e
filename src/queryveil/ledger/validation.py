"""Check what a reservation states before it becomes an event: a ledger is never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..core.records import Json
from ..dp.budget import check_delta, check_epsilon, format_exact
from ..dp.losses import RELATIONS, Loss, Relation
from ..errors import UsageError, did_you_mean
from .entries import ENTRY_KINDS, EntryKind
from .events import Charged, Reserved, current_time
from .limits import Budget


def reservation_event(
    kind: EntryKind,
    method: str,
    recipe: str,
    log_digest: str,
    cost: Budget | None,
    notes: Sequence[str],
    extra: Mapping[str, Json],
    extends: int | None,
    relation: Relation | None,
    losses: Sequence[Loss],
) -> Reserved | Charged:
    """Return the event of a reservation; its entry has the number 0 until it is added.

    With a cost its name is `charged`, not `reserved`: a version that does not know relations then
    refuses the ledger instead of ignoring a field.
    """
    event = Reserved(
        time=current_time(),
        entry=0,
        kind=kind,
        method=require_text(method, "method"),
        recipe=require_text(recipe, "recipe"),
        log=require_text(log_digest, "log digest"),
        epsilon=cost and format_exact(cost.epsilon),
        delta=cost and format_exact(cost.delta),
        notes=tuple(require_text(note, "note") for note in notes),
        extra=_check_json(extra),
    )
    if cost is None:
        return event
    if relation is not None and relation not in RELATIONS:
        raise UsageError(
            f'"{relation}" is no neighboring relation', hint=did_you_mean(relation, RELATIONS)
        )
    return Charged(**vars(event), extends=extends, relation=relation, losses=tuple(losses))


def entry_cost(
    kind: str, epsilon: Fraction | None, delta: Fraction | None, *, extends: bool
) -> Budget | None:
    """Return the cost of a release; one that extends another may cost 0."""
    if kind not in ENTRY_KINDS:
        raise UsageError(f'"{kind}" is no kind of release', hint=did_you_mean(kind, ENTRY_KINDS))
    if kind in ("dp", "conditional-dp"):
        if epsilon is None:
            raise UsageError(f"a release of kind {kind} needs an epsilon")
        free = extends and isinstance(epsilon, Fraction) and epsilon == 0
        exact = epsilon if free else check_epsilon(epsilon)
        return Budget(exact, check_delta(Fraction(0) if delta is None else delta))
    if extends:
        raise UsageError(f"a release of kind {kind} cannot extend another")
    if epsilon is not None or delta is not None:
        raise UsageError(f"a release of kind {kind} has no epsilon and no delta")
    return None


def require_text(value: str, name: str) -> str:
    """Return the value; raise UsageError unless it is a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise UsageError(f"the {name} of an entry must be a text, got {value!r}")
    return value


def _check_json(extra: Mapping[str, Json]) -> Mapping[str, Json]:
    try:
        data: Mapping[str, Json] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"extra cannot be written as JSON ({error})") from error
    if _is_deep(data, 20):  # deeper JSON can be written, but a reader may refuse it
        raise UsageError("extra is nested too deeply", hint="at most 20 levels")
    return data


def _is_deep(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(_is_deep(item, levels - 1) for item in inner))
