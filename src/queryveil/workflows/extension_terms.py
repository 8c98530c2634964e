"""Compute the terms of an extension: the contributions of a user, and their cost.

A *slot* is one contribution that was paid for: the right of a user to have one query released.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter

from ..errors import ParameterError, UsageError, VerificationError
from ..ledger.entries import EntryDetails, LedgerEntry
from ..ledger.ledger import Ledger
from ..ledger.reservation import Reservation
from ..ledger.streams import ReleaseStream
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..methods.continuation import ContinuableMethod
from .budget import (
    NOT_REPEATABLE,
    exact_fraction,
    plan_reservation,
    release_fingerprint,
)
from .previous_release import PreviousRelease


@dataclass(frozen=True)
class ExtensionTerms:
    """The contribution bound of an extension, and its cost.

    Attributes:
        method: The method, with the guarantee of all releases of the stream together.
        account: Reservation in the ledger, with the cost that this release adds.
        max_contributions: Slots that a user may have used in all releases together.
        lost: Earlier attempts that ended early; each counts as released.
    """

    method: ContinuableMethod
    account: Reservation
    max_contributions: int
    lost: tuple[LedgerEntry, ...]


def cannot_extend(method: Method) -> ParameterError:
    """Return the error for a method that cannot extend a release."""
    return ParameterError(
        f"{method.name} cannot extend an earlier release",
        hint="create a new release: only methods with a budget for each query can extend",
    )


def compute_extension_terms(
    log: QueryLog,
    base: ContinuableMethod,
    previous: PreviousRelease,
    ledger: str | None,
    lower: bool,
) -> ExtensionTerms:
    """Find the earlier release in the ledger, and compute the terms of its extension."""
    cap, slot_cost = _compute_slot_cost(base)
    reservation = plan_reservation(log, base, base.guarantee(), ledger=ledger, seeded=False)
    reservation = replace(reservation, recipe=_build_recipe(base))
    stream = _find_stream(reservation, previous)
    _check_files(base, stream, previous)
    max_contributions, more = contributions_granted(stream.paid, slot_cost, cap, lower=lower)
    cost = more * slot_cost
    method = _state_total_cost(base, stream.paid + cost)
    reservation = replace(
        reservation,
        method=str(method),
        cost=(cost, Fraction(0)),
        losses=reservation.losses if more else (),
        extends=stream.entry.number,
        lost=tuple(entry.number for entry in stream.unconfirmed),
        details=EntryDetails(max_contributions),
    )
    return ExtensionTerms(method, reservation, max_contributions, stream.unconfirmed)


def contributions_granted(
    paid: Fraction, slot: Fraction, cap: int, *, lower: bool
) -> tuple[int, int]:
    """Return how many slots a user may have used in all, and how many of them are newly paid for.

    The first number is called *max_contributions* below, the second *more*.

    Args:
        paid: What the ledger counts for the earlier releases of the stream together.
        slot: The cost of one slot.
        cap: The slots of one release.
        lower: Whether the guarantee may be lowered, so that another release is paid for.

    Why the ledger's limit holds for every user. Let *others* be what the ledger counts for
    releases that are no part of this stream, so that spent = others + paid. A user who has used s
    slots of the stream in all has lost at most others + s * slot. Since s <= max_contributions and
    max_contributions * slot <= paid + more * slot, that is at most spent + more * slot. This is
    what the ledger counts from now on: it adds more * slot before noise is drawn, and refuses
    an amount beyond the limit, all in exact fractions. So every user has max_contributions - s
    slots left.

    Without `lower` nothing is added, and users continue within what was paid. A ledger limit
    that leaves room does not change this: it bounds what may be spent, and does not request it.
    To spend more would give another guarantee than that of the release before. With `lower` the
    slots of a whole release are paid for, never of a part of it: with a part, the number of
    released queries of a user would reveal how many slots they had used before.

    >>> contributions_granted(Fraction(1), Fraction(1, 10), 10, lower=False)
    (10, 0)
    >>> contributions_granted(Fraction(1), Fraction(1, 10), 10, lower=True)
    (20, 10)
    """
    more = cap if lower else 0
    return paid // slot + more, more


def _compute_slot_cost(method: Method) -> tuple[int, Fraction]:
    """Return the number of slots per user of a method, and the cost of one slot."""
    guarantee = method.guarantee()
    cap, whole = method.params().get("max_phrases_per_user"), exact_fraction(guarantee.epsilon)
    if guarantee.delta:
        raise ParameterError(
            "a release with a delta cannot be extended: its cost is not a sum over slots",
            hint="extend a release that was made without `delta`",
        )
    if guarantee.model not in ("pure-dp", "conditional-dp") or not cap or not whole:
        raise cannot_extend(method)
    return int(cap), whole / int(cap)


def _build_recipe(method: Method) -> str:
    """Return what determines how many slots a log uses.

    The first element differs from that of `release_fingerprint`, so that an extension is never
    taken for a release of its own.
    """
    _, version, *digests = json.loads(release_fingerprint(method))
    return json.dumps(["append", version, *digests])


def _check_files(method: Method, stream: ReleaseStream, previous: PreviousRelease) -> None:
    """Raise an error if the files of the method changed, even if their names did not."""
    current, earlier = (
        json.loads(text)[2:] for text in (_build_recipe(method), stream.entry.method_spec)
    )
    if current != earlier:
        raise UsageError(
            "the files that the method reads differ from those of the earlier release",
            where=previous.folder,
            hint="name the method with the files of the earlier release",
        )


def _find_stream(reservation: Reservation, previous: PreviousRelease) -> ReleaseStream:
    """Return the stream of the earlier release in the ledger.

    Raise an error if the ledger does not have it: what was spent would be unknown.
    """
    stream = None
    if reservation.path is not None and reservation.path.exists():
        with Ledger.open(reservation.path, create=False) as ledger:
            stream = ledger.stream(previous.digest)
    if stream is None:
        raise UsageError(
            f"{reservation.path} does not know this release, so the remaining contributions of its "
            "users are unknown",
            where=previous.folder,
            hint="name the population as for the first release: `ledger`; a release that was "
            "not confirmed cannot be extended",
        )
    # Whether a log that comes from no file is unchanged cannot be known: assume that it is not.
    digest = "another" if reservation.digest == NOT_REPEATABLE else reservation.digest
    stream.check(
        reservation.kind, digest, reservation.recipe, [entry.number for entry in stream.unconfirmed]
    )
    return stream


def _state_total_cost(base: ContinuableMethod, total: Fraction) -> ContinuableMethod:
    """Return the method with the guarantee of all releases of the stream together."""
    whole = exact_fraction(base.guarantee().epsilon) or Fraction(0)
    method = base.continuing(_round_up_to_float(total - whole))
    stated = exact_fraction(method.guarantee().epsilon) or Fraction(0)
    if stated < total * (1 - Fraction(1, 10**12)):  # tolerates the rounding of a float
        raise VerificationError(
            f"the guarantee of {method} does not cover what was spent",
            hint="this is a defect: please report it",
        )
    return method


def _round_up_to_float(value: Fraction) -> float:
    """Return the nearest float whose decimal representation is not below `value`."""
    nearest = float(value)
    return nearest if Fraction(repr(nearest)) >= value else nextafter(nearest, inf)
