"""On what terms an earlier release is extended: how many slots a user has, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter

from ..errors import ParameterError, UsageError, VerificationError
from ..ledger.entries import LedgerEntry
from ..ledger.ledger import Ledger
from ..ledger.streams import ReleaseStream
from ..log.query_log import QueryLog
from ..methods.base import Method
from .budget import (
    NOT_REPEATABLE,
    Reservation,
    exact_fraction,
    plan_reservation,
    release_fingerprint,
)
from .previous_release import PreviousRelease


@dataclass(frozen=True)
class ExtensionTerms:
    """What a release that extends another may use, and what is paid for that.

    method
        the method, promising what all releases together cost
    account
        its place in the ledger, with what it adds
    most
        slots that a user may have used in all afterwards
    lost
        earlier attempts that ended early, each counted as made
    """

    method: Method
    account: Reservation
    max_contributions: int
    lost: tuple[LedgerEntry, ...]


def compute_extension_terms(
    log: QueryLog, base: Method, before: PreviousRelease, dataset: str | None, lower: bool
) -> ExtensionTerms:
    """Find the earlier release in the ledger, and what it and its users still have."""
    cap, slot = _slot(base)
    account = plan_reservation(log, base, base.guarantee(), dataset=dataset, seeded=False)
    account = replace(account, recipe=_recipe(base))
    stream = _stream(account, before)
    _check_files(base, stream, before)
    most, more = contributions_granted(stream.paid, slot, cap, lower=lower)
    cost = more * slot
    account = replace(
        account,
        method=str(told := _told(base, stream.paid + cost)),
        cost=(cost, Fraction(0)),
        losses=account.losses if more else (),
        extends=stream.entry.number,
        lost=tuple(entry.number for entry in stream.unconfirmed),
        extra={"most": most},
    )
    return ExtensionTerms(told, account, most, stream.unconfirmed)


def contributions_granted(
    paid: Fraction, slot: Fraction, cap: int, *, lower: bool
) -> tuple[int, int]:
    """Give how many slots a user may have used in all, and how many of these are paid anew.

    `paid` is what the ledger counts for the earlier releases together, `slot` the price of one
    slot, and `cap` the slots of one release.

    Why the ledger's limit holds for every user. Let *others* be what the ledger counts for
    releases that are no part of this stream, so that spent = others + paid. A user who has used s
    slots of the stream in all has lost at most others + s * slot. Since s <= most and
    most * slot <= paid + more * slot, that is at most spent + more * slot. This is what the ledger
    counts from now on: it adds more * slot before noise is drawn, and refuses that beyond the
    limit, all in exact fractions. So what every user has left is most - s.

    Without `lower` nothing is added, and users go on within what was paid. A limit that leaves
    room does not change that: it says what may be spent, not that it shall be, and the promise
    would be another one than that of the release before. With `lower` a whole release is paid
    anew or none: of a part, each user's number of queries would tell how much she had used.

    >>> contributions_granted(Fraction(1), Fraction(1, 10), 10, lower=False)
    (10, 0)
    >>> contributions_granted(Fraction(1), Fraction(1, 10), 10, lower=True)
    (20, 10)
    """
    more = cap if lower else 0
    return paid // slot + more, more


def _slot(method: Method) -> tuple[int, Fraction]:
    """Give a method's slots a user, and the price of one."""
    promise = method.guarantee()
    cap, whole = method.params().get("max_queries_per_user"), exact_fraction(promise.epsilon)
    if promise.delta:
        raise ParameterError(
            "a release with a delta cannot be extended: its slots do not add up one by one",
            hint="extend one that was made without --delta",
        )
    if promise.model not in ("pure-dp", "conditional-dp") or not cap or not whole:
        raise method.cannot_extend()
    return int(cap), whole / int(cap)


def _recipe(method: Method) -> str:
    """Tell what decides how many slots a log uses; it is no recipe of a release of its own."""
    _, version, *digests = json.loads(release_fingerprint(method))
    return json.dumps(["append", version, *digests])


def _check_files(method: Method, stream: ReleaseStream, before: PreviousRelease) -> None:
    """Refuse other files under the same names."""
    now, then = (json.loads(text)[2:] for text in (_recipe(method), stream.entry.recipe))
    if now != then:
        raise UsageError(
            "the files that its method reads are not those of before",
            where=before.folder,
            hint="give the method with the files that it was made with",
        )


def _stream(account: Reservation, before: PreviousRelease) -> ReleaseStream:
    """Find the earlier release in the ledger; without it nobody knows what was spent."""
    stream = None
    if account.path is not None and account.path.exists():
        with Ledger.open(account.path, create=False) as ledger:
            stream = ledger.stream(before.digest)
    if stream is None:
        raise UsageError(
            f"{account.path} does not know this release, so what its users have left is unknown",
            where=before.folder,
            hint="name the population as for the first release: --dataset; a release that was "
            "not confirmed cannot be extended",
        )
    # Of a log that comes from no file nobody can tell whether it is the same again.
    digest = "another" if account.digest == NOT_REPEATABLE else account.digest
    stream.check(
        account.kind, digest, account.recipe, [entry.number for entry in stream.unconfirmed]
    )
    return stream


def _told(base: Method, total: Fraction) -> Method:
    """Let the method promise what all releases of the stream cost together."""
    whole = exact_fraction(base.guarantee().epsilon) or Fraction(0)
    if "goes_on" in base.params():
        base = replace(base, **{"goes_on": True})
    if total == whole:
        return base
    if "spent_before" not in base.params():
        raise ParameterError(f"{base.name} cannot tell what was spent before")
    told = replace(base, **{"spent_before": _at_least(total - whole)})
    promised = exact_fraction(told.guarantee().epsilon) or Fraction(0)
    if promised < total * (1 - Fraction(1, 10**12)):  # but for a float's rounding
        raise VerificationError(
            f"{told} does not promise what was spent", hint="this is a defect: please report it"
        )
    return told


def _at_least(value: Fraction) -> float:
    """Give the nearest float that, as it is written, is not less."""
    near = float(value)
    return near if Fraction(repr(near)) >= value else nextafter(near, inf)
