"""An empirical audit of epsilon: a lower bound from guesses on neighboring logs.

Which logs are compared depends on the neighborhood of the guarantee, and on the texts that the
method releases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..concepts.mapping.options import MappingOptions
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
from .result import MeasureResult

Trial = CrowdTrial | SwapTrial

_TRIAL_SEED = 20230  # public and fixed: a measurement is not a release
_PROBES = 10**6  # turns from here on only choose the logs; no guess is made on them
_SIZES = (8, 64, 512, 4096, 32768)
_MAX_TEXTS = 20  # texts per target: more make larger logs, and add little evidence
_MAX_ROWS = 400_000  # of all crowds together
_LENGTHS = "how many phrases"
_FIRST = "first appears"


def choose_trial(
    context: MeasureContext, release: Release, rerun: Rerun, targets: int, background_users: int
) -> Trial:
    """Choose logs that are neighbors under the guarantee, in which a target is visible."""
    sample = context.log.sample_users(
        min(background_users, context.log.count_distinct("user")), RandomSource(_TRIAL_SEED)
    )
    if _has_same_users(release.guarantee):
        return _choose_swap(context, release, rerun, targets, sample)
    return _choose_crowd(context, release, rerun, targets, sample)


def _has_same_users(guarantee: Guarantee) -> bool:
    """Return whether neighbors have the same users; raise if the audit has no such logs."""
    for condition in (guarantee.given or "").split(" and "):
        if condition and not any(known in condition for known in (_LENGTHS, _FIRST)):
            raise UsageError(
                f"this guarantee holds only between logs that agree in {condition}, and the audit "
                "cannot build such logs",
                hint="audit the method with parameters of a stronger guarantee, such as one domain",
            )
    neighbors = guarantee.neighbours or "one more user"  # the default without a guarantee
    if "one more user" not in neighbors and "same users" not in neighbors:
        raise UsageError(f"the audit has no logs for these neighbors: {neighbors}")
    return "same users" in neighbors


def _contribution_bound(release: Release, default: int) -> int:
    """Return the contribution bound of a user, or the default."""
    bounds = ("max_queries_per_user", "max_phrases_per_user")
    stated = next((release.parameters[b] for b in bounds if b in release.parameters), None)
    return default if stated is None else int(stated)


def _choose_crowd(
    context: MeasureContext, release: Release, rerun: Rerun, targets: int, sample: QueryLog
) -> CrowdTrial:
    """Choose the smallest crowd whose texts are released; the smallest size if none is."""
    each = min(_contribution_bound(release, _MAX_TEXTS), _MAX_TEXTS)
    tried = 0
    for texts in _candidate_texts(context, 2 * each * targets):
        for size in _SIZES:
            tried += 1
            if _is_visible(build_crowd_trial(sample, texts, 1, each, size), rerun, _PROBES + tried):
                fitting = max(1, min(targets, _MAX_ROWS // (size * each), len(texts) // (2 * each)))
                return build_crowd_trial(sample, texts, fitting, each, size)
    return build_crowd_trial(
        sample, next(_candidate_texts(context, 2 * each * targets)), targets, each, _SIZES[0]
    )


def _is_visible(crowd: CrowdTrial, rerun: Rerun, turn: int) -> bool:
    try:
        return crowd.shows(rerun(crowd.log(np.ones(1, np.bool_), crowd.designs[:1]), turn))
    except QueryveilError:  # a method may reject a log that is too small
        return False


def _candidate_texts(context: MeasureContext, number: int) -> Iterator[list[str]]:
    """Yield lists of texts: nouns, which a public list of queries may have; then the log's own."""
    labels = context.taxonomy(MappingOptions()).labels
    indices = np.linspace(0, len(labels) - 1, 4 * number + 400).astype(np.int64).tolist()
    nouns = dict.fromkeys(labels[index].lower() for index in indices)
    yield [word for word in nouns if word.isascii() and word.isalpha()][:number]
    commonest = original_frequencies(context).sort("count", "text", descending=[True, False])
    if commonest.height > 2 * _MAX_TEXTS:
        yield commonest["text"].head(number).to_list()


def _choose_swap(
    context: MeasureContext, release: Release, rerun: Rerun, targets: int, sample: QueryLog
) -> SwapTrial:
    """Pair texts that the method has released: their concepts are in its domain."""
    rows = _contribution_bound(release, 100)
    probe = rerun(sample, _PROBES)
    if probe.log is None:
        raise UsageError(
            f"this release ({release.method}) has no users' logs that could be audited"
        )
    texts = probe.log.select(text=pl.col("query").cast(pl.String)).unique().sort("text").collect()
    known = _select_single_concepts(context, release, texts["text"])
    if _LENGTHS in (release.guarantee.given or ""):
        known = _select_full_logs(known, rows, rerun)
    chosen = known[np.linspace(0, known.height - 1, min(2 * targets, known.height)).astype(int)]
    half = chosen.height // 2
    if not half:
        raise InputError("the method releases too few texts for an audit", hint="use a larger log")
    # Neighbors in the alphabet are often similar, so texts of the two halves are paired.
    pairs = [(index, half + index) for index in range(half)]
    options = MappingOptions.of(release.parameters)
    taxonomy = context.taxonomy(options) if "concept" in known else None
    return SwapTrial(
        tuple((chosen["text"][first], chosen["text"][second]) for first, second in pairs),
        rows,
        taxonomy,
        None if taxonomy is None else chosen["concept"].to_numpy()[np.array(pairs)],
    )


def _select_single_concepts(
    context: MeasureContext, release: Release, texts: pl.Series
) -> pl.DataFrame:
    """Keep the texts of one phrase with a concept, if the method uses concepts."""
    frame = texts.to_frame("text")
    if "taxonomy" not in release.parameters:
        return frame
    mapping = context.map_queries(
        frame.lazy().rename({"text": "query"}), MappingOptions.of(release.parameters)
    )
    single = mapping.phrases.filter(pl.col("query").is_unique() & (pl.col("concept") >= 0))
    names = pl.DataFrame({"text": mapping.queries}).with_row_index("query")
    single = single.with_columns(pl.col("query").cast(pl.UInt32))
    return names.join(single, on="query").select(pl.col("text").cast(pl.String), "concept")


def _select_full_logs(known: pl.DataFrame, rows: int, rerun: Rerun) -> pl.DataFrame:
    """Keep the texts that fill all rows of a user, so that all logs agree in their row counts."""
    probe = rerun(log_from_queries(known["text"].to_list(), rows), _PROBES + 1)
    if probe.log is None or probe.mapping is None:
        return known.clear()
    counts = probe.log.group_by(pseudonym=pl.col("user").cast(pl.String)).len().collect()
    full = probe.mapping.lazy().select(pl.col("user", "pseudonym").cast(pl.String)).collect()
    full = full.join(counts.filter(pl.col("len") == rows), on="pseudonym", how="semi")
    named = known.with_row_index("person").with_columns(user=pl.format("on trial {}", "person"))
    return named.join(full, on="user", how="semi").drop("person", "user")


_SEED = 20231

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class EpsilonAudit(RerunMeasure):
    """A lower bound of epsilon, proven by guesses; 0 proves nothing.

    >>> str(EpsilonAudit(runs=40))
    'epsilon-audit:runs=40'
    """

    name: ClassVar[str] = "epsilon-audit"
    title: ClassVar[str] = "lower bound of epsilon by an attack"
    description: ClassVar[str] = (
        "fair coins decide which target users are in a log, and the coins are guessed from the "
        "release: too many right guesses prove, with 95% confidence, a lower bound of epsilon; "
        "above the claimed epsilon the guarantee is broken, and 0 proves nothing"
    )
    paper: ClassVar[str] = "Steinke, Nasr, Jagielski 2023; Clopper and Pearson 1934"
    unit: ClassVar[str] = "epsilon, a lower bound"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    runs: int = parameter(
        20,
        "number of runs of the method; half of them choose the attack",
        min=2,
        max=10**5,
        unit="runs",
    )
    targets: int = parameter(
        40, "number of target users in each run, each with an independent coin", min=1, max=1000
    )
    background_users: int = parameter(
        20, "number of users of the log who are in every run, next to the targets", min=1
    )
    seed: int = parameter(0, "seed of the coins; another seed is another audit", min=0)

    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> MeasureResult:
        """Return the bound, the claimed epsilon, and the largest bound that could be proven."""
        guarantee, delta = release.guarantee, release.guarantee.delta or 0.0
        trial = choose_trial(context, release, rerun, self.targets, self.background_users)
        coins = _toss_coins(self.runs, trial.targets, self.seed)
        half = self.runs // 2
        design, rule = _choose_design(trial, coins[:half], rerun, delta)
        same = [[design] * trial.targets] * (self.runs - half)
        table, tossed = _run_trials(trial, coins[half:], same, rerun, half)
        right, guesses = rule.right(table, tossed), rule.guesses(len(tossed))
        bound = epsilon_lower_bound(right, guesses, len(tossed), delta)
        max_bound = epsilon_lower_bound(len(tossed), len(tossed), len(tossed), delta)
        counts = {"right": right, "guesses": guesses, "trials": len(tossed), "runs": self.runs}
        return self.result(
            round(bound, 6),
            counts=counts | ({"crowd": trial.size} if isinstance(trial, CrowdTrial) else {}),
            details={
                "claimed": guarantee.epsilon,
                "delta": guarantee.delta,
                "holds": None if guarantee.epsilon is None else bool(guarantee.epsilon >= bound),
                "max_bound": round(max_bound, 6),
                "design": design,
                "statistic": rule.statistic,
            },
            summary=_summarize(bound, max_bound, guarantee, right, guesses),
            basis=_describe_basis(trial, rule),
        )


def _toss_coins(runs: int, targets: int, seed: int) -> Flags:
    numbers = RandomSource(_SEED + seed).uint64s(runs * targets).reshape(runs, targets)
    return (numbers & np.uint64(1)).astype(np.bool_)


def _choose_design(trial: Trial, coins: Flags, rerun: Rerun, delta: float) -> tuple[str, GuessRule]:
    """Try all designs at once, each with some of the targets, and choose the best design and rule.

    The design of a target changes from run to run, so that one target is enough.
    """
    designs = (np.arange(coins.shape[1])[None, :] + np.arange(len(coins))[:, None]) % len(
        trial.designs
    )
    table, tossed = _run_trials(trial, coins, np.array(trial.designs)[designs].tolist(), rerun, 0)
    candidates = []
    for design, name in enumerate(trial.designs):
        selected = designs.reshape(-1) == design
        statistics = {statistic: values[selected] for statistic, values in table.items()}
        candidates.append((*fit_rule(statistics, tossed[selected], delta), name))
    _, rule, name = max(candidates, key=lambda candidate: candidate[0])
    return name, rule


def _run_trials(
    trial: Trial, coins: Flags, designs: Sequence[Sequence[str]], rerun: Rerun, first: int
) -> tuple[Table, Flags]:
    """Run the method on a log for each row of coins; return statistics and coins of all targets."""
    logs = (trial.log(*settings) for settings in zip(coins, designs, strict=True))
    scores = [trial.scores(rerun(log, first + turn)) for turn, log in enumerate(logs)]
    return trial.add_centered(_concatenate(scores)), coins.reshape(-1)


def _concatenate(tables: Sequence[Table]) -> Table:
    """Concatenate tables; a statistic that a table lacks is 0 there."""
    names = sorted({name for table in tables for name in table})
    nothing = [np.zeros_like(next(iter(table.values()))) for table in tables]
    return {
        name: np.concatenate([t.get(name, n) for t, n in zip(tables, nothing, strict=True)])
        for name in names
    }


def _summarize(
    bound: float, max_bound: float, guarantee: Guarantee, right: int, guesses: int
) -> str:
    """Return a sentence on what the guesses prove."""
    counted = f"{right:,} of {guesses:,} guesses were right"
    if bound == 0:
        return f"{counted}: that proves nothing, neither for the method nor against it"
    claim = f"{counted}, so epsilon is at least {bound:.2f} (95% confidence)"
    if guarantee.epsilon is None:
        enough = "; more could not be proven by so many guesses" if bound > 0.9 * max_bound else ""
        return f"{claim}; the method claims none{enough}"
    if guarantee.epsilon < bound:
        return (
            f"{claim}: more than the {guarantee.epsilon:g} that is claimed; the guarantee is broken"
        )
    return f"{claim}; {guarantee.epsilon:g} is claimed, and this attack does not disprove it"


def _describe_basis(trial: Trial, rule: GuessRule) -> str:
    side = "highest" if rule.sign > 0 else "lowest"
    who = "1 target" if trial.targets == 1 else f"{trial.targets:,} targets"
    logs = (
        f"are added or not, each with a crowd of {trial.size:,}"
        if isinstance(trial, CrowdTrial)
        else "send one text or another"
    )
    return f"a run has {who} who {logs}; guesses by {rule.statistic}, the {side} values are in"
