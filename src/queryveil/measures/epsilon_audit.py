"""Which logs an audit compares: that hangs on what the method promises, and on what it shows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from ..core.randomness import RandomSource
from ..errors import InputError, QueryveilError, UsageError
from ..log.query_log import QueryLog
from ..release.guarantee import Guarantee
from ..release.release import Release
from ._shared.audit_trials import CrowdTrial, build_crowd_trial
from ._shared.counts import original_frequencies
from .original import MeasureContext
from .rerunning import Rerun
from .risk.audit_swap import SwapTrial, log_from_queries

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
