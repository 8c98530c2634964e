"""Which logs an audit compares: that hangs on what the method promises, and on what it shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..errors import InputError, QueryveilError, UsageError
from ..log.query_log import QueryLog
from ..release.guarantee import Guarantee
from ..release.release import Release
from ._shared.audit_trials import CrowdTrial, SwapTrial, build_crowd_trial, log_from_queries
from ._shared.counts import original_frequencies
from ._shared.statistics import GuessRule, epsilon_lower_bound, fit_rule
from .base import Rerun, RerunMeasure
from .context import MeasureContext

Trial = CrowdTrial | SwapTrial

_TRIAL_SEED = 20230  # public: a measure is no release
_PROBES = 10**6  # turns from here on try out logs, and no guess is made on them
_SIZES = (8, 64, 512, 4096, 32768)
_EACH = 20  # texts of a person at most: more make larger logs, and show little more
_ROWS = 400_000  # of all crowds together
_LENGTHS = "how many phrases"
_FIRST = "first appears"


def choose_trial(
    before: MeasureContext, after: Release, again: Rerun, persons: int, users: int
) -> Trial:
    """Choose logs that are neighbours in the sense of the promise, where a person is seen well."""
    some = before.log.sample_users(
        min(users, before.log.count_distinct("user")), RandomSource(_TRIAL_SEED)
    )
    if _swaps(after.guarantee):
        return _swap(before, after, again, persons, some)
    return _crowd(before, after, again, persons, some)


def _swaps(promise: Guarantee) -> bool:
    """Tell whether neighbours have the same users; refuse what the audit has no logs for."""
    for given in (promise.given or "").split(" and "):
        if given and not any(known in given for known in (_LENGTHS, _FIRST)):
            raise UsageError(
                f"this promise holds only between logs that agree in {given}, and the audit "
                "cannot make such logs",
                hint="audit the method with parameters that promise more, such as one domain",
            )
    told = promise.neighbours or "one more user"  # where nothing is promised, she comes or not
    if "one more user" not in told and "same users" not in told:
        raise UsageError(f"the audit has no logs for these neighbours: {told}")
    return "same users" in told


def _most(after: Release, usual: int) -> int:
    """Tell how many queries of a person count."""
    return int(after.parameters.get("max_queries_per_user", usual))


def _crowd(
    before: MeasureContext, after: Release, again: Rerun, persons: int, some: QueryLog
) -> CrowdTrial:
    """Take the smallest crowd whose texts show; the smallest of all if none does."""
    each = min(_most(after, _EACH), _EACH)
    tried = 0
    for words in _words(before, 2 * each * persons):
        for size in _SIZES:
            tried += 1
            if _shows(build_crowd_trial(some, words, 1, each, size), again, _PROBES + tried):
                fit = max(1, min(persons, _ROWS // (size * each), len(words) // (2 * each)))
                return build_crowd_trial(some, words, fit, each, size)
    return build_crowd_trial(
        some, next(_words(before, 2 * each * persons)), persons, each, _SIZES[0]
    )


def _shows(crowd: CrowdTrial, again: Rerun, turn: int) -> bool:
    try:
        return crowd.shows(again(crowd.log(np.ones(1, np.bool_), crowd.designs[:1]), turn))
    except QueryveilError:  # a method may refuse a log that is too small for it
        return False


def _words(before: MeasureContext, number: int) -> Iterator[list[str]]:
    """Give texts: nouns, which a public list of queries may well have; then the log's own."""
    labels = before.taxonomy("wordnet").labels
    places = np.linspace(0, len(labels) - 1, 4 * number + 400).astype(np.int64).tolist()
    nouns = dict.fromkeys(labels[place].lower() for place in places)
    yield [word for word in nouns if word.isascii() and word.isalpha()][:number]
    commonest = original_frequencies(before).sort("count", "text", descending=[True, False])
    if commonest.height > 2 * _EACH:
        yield commonest["text"].head(number).to_list()


def _swap(
    before: MeasureContext, after: Release, again: Rerun, persons: int, some: QueryLog
) -> SwapTrial:
    """Pair texts that the method itself has shown: their concepts lie in its domain."""
    rows = _most(after, 100)
    shown = again(some, _PROBES)
    if shown.log is None:
        raise UsageError(f"this release ({after.method}) has no users' logs that could be audited")
    texts = shown.log.select(text=pl.col("query").cast(pl.String)).unique().sort("text").collect()
    known = _with_concepts(before, after, texts["text"])
    if _LENGTHS in (after.guarantee.given or ""):
        known = _as_long(known, rows, again)
    chosen = known[np.linspace(0, known.height - 1, min(2 * persons, known.height)).astype(int)]
    fit = chosen.height // 2
    if not fit:
        raise InputError("the method shows too few texts for an audit", hint="take a larger log")
    # Those that stand near each other in the alphabet are often alike: pair them crosswise.
    pairs = [(place, fit + place) for place in range(fit)]
    taxonomy = before.taxonomy(str(after.parameters["taxonomy"])) if "concept" in known else None
    return SwapTrial(
        tuple((chosen["text"][one], chosen["text"][two]) for one, two in pairs),
        rows,
        taxonomy,
        None if taxonomy is None else chosen["concept"].to_numpy()[np.array(pairs)],
    )


def _with_concepts(before: MeasureContext, after: Release, texts: pl.Series) -> pl.DataFrame:
    """Keep the texts that are one phrase with a concept, where the method speaks of concepts."""
    frame = texts.to_frame("text")
    if "taxonomy" not in after.parameters:
        return frame
    found = before.map_queries(
        frame.lazy().rename({"text": "query"}), str(after.parameters["taxonomy"])
    )
    single = found.phrases.filter(pl.col("query").is_unique() & (pl.col("concept") >= 0))
    names = pl.DataFrame({"text": found.queries}).with_row_index("query")
    single = single.with_columns(pl.col("query").cast(pl.UInt32))
    return names.join(single, on="query").select(pl.col("text").cast(pl.String), "concept")


def _as_long(known: pl.DataFrame, rows: int, again: Rerun) -> pl.DataFrame:
    """Keep the texts that fill all rows of a person, so that all logs agree in their numbers."""
    shown = again(log_from_queries(known["text"].to_list(), rows), _PROBES + 1)
    if shown.log is None or shown.mapping is None:
        return known.clear()
    counts = shown.log.group_by(pseudonym=pl.col("user").cast(pl.String)).len().collect()
    full = shown.mapping.lazy().select(pl.col("user", "pseudonym").cast(pl.String)).collect()
    full = full.join(counts.filter(pl.col("len") == rows), on="pseudonym", how="semi")
    named = known.with_row_index("person").with_columns(user=pl.format("on trial {}", "person"))
    return named.join(full, on="user", how="semi").drop("person", "user")


_SEED = 20231

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class EpsilonAudit(RerunMeasure):
    """The least epsilon that the method can have, proven by guesses; 0 proves nothing.

    >>> str(EpsilonAudit(runs=40))
    'epsilon-audit:runs=40'
    """

    name: ClassVar[str] = "epsilon-audit"
    title: ClassVar[str] = "epsilon that an attack proves at least"
    description: ClassVar[str] = (
        "persons are put into logs by the toss of a coin, and the coins guessed from what is "
        "released: too many right guesses prove, with 95% confidence, that epsilon is at least so "
        "much; above the claimed epsilon the promise is broken, and 0 proves nothing"
    )
    paper: ClassVar[str] = "Steinke, Nasr, Jagielski 2023; Clopper and Pearson 1934"
    unit: ClassVar[str] = "epsilon, a lower bound"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    runs: int = parameter(
        20, "runs of the method; half of them choose how to guess", min=2, max=10**5, unit="runs"
    )
    persons: int = parameter(
        40, "persons on trial in each run, each with a coin of her own", min=1, max=1000
    )
    users: int = parameter(
        20, "users of the log who are in every run, where persons come or stay away", min=1
    )

    toss: int = parameter(0, "which coins: repeat an audit with another number", min=0)

    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Give the bound, beside what is claimed and what could be proven at best."""
        promise, delta = after.guarantee, after.guarantee.delta or 0.0
        trial = choose_trial(before, after, again, self.persons, self.users)
        coins = _coins(self.runs, trial.targets, self.toss)
        half = self.runs // 2
        way, rule = _chosen(trial, coins[:half], again, delta)
        same = [[way] * trial.targets] * (self.runs - half)
        table, tossed = _tried(trial, coins[half:], same, again, half)
        right, guesses = rule.right(table, tossed), rule.guesses(len(tossed))
        bound = epsilon_lower_bound(right, guesses, len(tossed), delta)
        most = epsilon_lower_bound(len(tossed), len(tossed), len(tossed), delta)
        return {
            "value": round(bound, 6),
            "claimed": promise.epsilon,
            "delta": promise.delta,
            "holds": None if promise.epsilon is None else bool(promise.epsilon >= bound),
            "most": round(most, 6),
            "right": right,
            "guesses": guesses,
            "trials": len(tossed),
            "runs": self.runs,
            "way": way,
            "statistic": rule.statistic,
            "crowd": trial.size if isinstance(trial, CrowdTrial) else None,
            "words": _told(bound, most, promise, right, guesses),
            "ruler": _ruler(trial, rule),
        }


def _coins(runs: int, persons: int, toss: int) -> Flags:
    numbers = RandomSource(_SEED + toss).uint64s(runs * persons).reshape(runs, persons)
    return (numbers & np.uint64(1)).astype(np.bool_)


def _chosen(trial: Trial, coins: Flags, again: Rerun, delta: float) -> tuple[str, GuessRule]:
    """Try all ways at once, each with some of the persons, and take the way and rule that do best.

    Who tries which way changes from run to run, so that one person is enough.
    """
    ways = (np.arange(coins.shape[1])[None, :] + np.arange(len(coins))[:, None]) % len(
        trial.designs
    )
    table, tossed = _tried(trial, coins, np.array(trial.designs)[ways].tolist(), again, 0)
    found = []
    for way, name in enumerate(trial.designs):
        mine = ways.reshape(-1) == way
        some = {statistic: values[mine] for statistic, values in table.items()}
        found.append((*fit_rule(some, tossed[mine], delta), name))
    _, rule, name = max(found, key=lambda one: one[0])
    return name, rule


def _tried(
    trial: Trial, coins: Flags, ways: Sequence[Sequence[str]], again: Rerun, first: int
) -> tuple[Table, Flags]:
    """Run the method on a log for each row of coins; give statistics and coins of all persons."""
    logs = (trial.log(*given) for given in zip(coins, ways, strict=True))
    found = [trial.scores(again(log, first + turn)) for turn, log in enumerate(logs)]
    return trial.together(_joined(found)), coins.reshape(-1)


def _joined(tables: Sequence[Table]) -> Table:
    """Put tables one below the other; what one of them has not is 0 there."""
    names = sorted({name for table in tables for name in table})
    nothing = [np.zeros_like(next(iter(table.values()))) for table in tables]
    return {
        name: np.concatenate([t.get(name, n) for t, n in zip(tables, nothing, strict=True)])
        for name in names
    }


def _told(bound: float, most: float, promise: Guarantee, right: int, guesses: int) -> str:
    """Say what the guesses prove, and no more."""
    counted = f"{right:,} of {guesses:,} guesses were right"
    if bound == 0:
        return f"{counted}: that proves nothing, neither for the method nor against it"
    least = f"{counted}, so epsilon is at least {bound:.2f} (95% confidence)"
    if promise.epsilon is None:
        enough = "; more could not be proven by so many guesses" if bound > 0.9 * most else ""
        return f"{least}; the method claims none{enough}"
    if promise.epsilon < bound:
        return f"{least}: more than the {promise.epsilon:g} that is claimed; the promise is broken"
    return f"{least}; {promise.epsilon:g} is claimed, and this attack does not disprove it"


def _ruler(trial: Trial, rule: GuessRule) -> str:
    called = "highest" if rule.sign > 0 else "lowest"
    who = "1 person" if trial.targets == 1 else f"{trial.targets:,} persons"
    logs = (
        f"come or stay away, each with a crowd of {trial.size:,}"
        if isinstance(trial, CrowdTrial)
        else "send one text or another"
    )
    return f"a run has {who} who {logs}; guesses by {rule.statistic}, the {called} called in"
