"""Look at a log if the data owner allows it: record the look, then measure the proposals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..concepts.mapping.guessing import guess_language
from ..concepts.mapping.language import language_code
from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.operations import unique_queries
from ..errors import QueryveilError, UsageError
from ..log.query_log import QueryLog
from ..measures.base import Measure
from ..measures.context import MeasureContext
from ..methods.base import Method, parse_method
from ..release.release import Release
from ..workflows.budget import DATA_ACCESS_RECORDED, is_differentially_private, note_look
from ..workflows.measurement import compute_measure, make_rerun, run_for_measurement
from ..workflows.taxonomies import make_mapper
from .answers import Answers
from .evaluation import Observed
from .figures import make_figure, measures_for
from .result import Figure, Proposal

SAMPLED_USERS = 1_000
MAX_SECONDS = 30.0  # no measurement starts after that


@dataclass(frozen=True)
class Sample:
    """A sample of the users of a log, and what was seen of the whole."""

    log: QueryLog = field(repr=False)
    users: int
    sampled_users: int
    observed: Observed
    notes: tuple[str, ...]


def look_at_log(log: QueryLog, answers: Answers, ledger: str | None, progress: Progress) -> Sample:
    """Record the look in the ledger; then count the users and draw a sample of them.

    Raises:
        UsageError: The look cannot be recorded; nothing is then computed.
    """
    notes = note_look(log, ledger, "advise")
    if notes != [DATA_ACCESS_RECORDED]:
        raise UsageError(
            "the look at this log cannot be recorded in a ledger, so there is none",
            hint="name the population with `ledger=NAME`, or leave out `look`",
        )
    with progress.stage("count users"):
        users = log.count_distinct("user")
        size = min(users, SAMPLED_USERS)
        sample = log.sample_users(size, RandomSource()) if size < users else log
    with progress.stage("map queries"):
        coverage = _measure_coverage(sample, answers) if answers.has_taxonomy else None
        notes = [*notes, *_note_language(sample, answers)]
    return Sample(sample, users, size, Observed(users, coverage), tuple(notes))


def _note_language(log: QueryLog, answers: Answers) -> list[str]:
    """Return the language that the letters of the queries fit best, and whether it is another."""
    guessed = guess_language(unique_queries(log.local_frame))
    if not guessed.is_sure:
        return []
    answered = guessed.code == language_code(answers.language)
    but = "" if answered else f", but the answer was {answers.language}: `language={guessed.code}`"
    return [f"The queries of the sample seem to be {guessed.name}{but}."]


def _measure_coverage(log: QueryLog, answers: Answers) -> float:
    """Return the fraction of the phrases of distinct queries that have a concept."""
    mapper = make_mapper(answers.taxonomy or "wordnet", language=answers.query_language)
    queries = log.local_frame.select("query").unique().collect()["query"].cast(str)
    concepts = mapper.map(queries.sort()).phrases["concept"]
    return round(int((concepts >= 0).sum()) / max(len(concepts), 1), 4)


def measure_proposals(
    proposals: Sequence[Proposal], answers: Answers, sample: Sample, progress: Progress
) -> tuple[Proposal, ...]:
    """Return the proposals with figures of the sample; their methods and parameters stay."""
    measures, context = measures_for(answers), MeasureContext(sample.log)
    deadline = time.monotonic() + MAX_SECONDS
    measured = []
    with progress.stage("measure proposals", max(1, len(proposals) * len(measures))) as advance:
        for proposal in proposals:
            figures = _measure_one(proposal, measures, context, sample, deadline, advance)
            measured.append(replace(proposal, figures=(*figures, *proposal.figures)))
    return tuple(measured)


def _measure_one(
    proposal: Proposal,
    measures: Sequence[Measure],
    context: MeasureContext,
    sample: Sample,
    deadline: float,
    advance: Callable[[int], None],
) -> list[Figure]:
    method = parse_method(proposal.method)
    basis = _describe_basis(method, sample)
    release = _run(method, sample.log, deadline)
    figures = []
    for measure in measures:
        value = _measure_value(measure, context, method, release, deadline)
        if value is not None:
            figures.append(make_figure(measure, [value], "measured", basis))
        advance(1)
    return figures


def _describe_basis(method: Method, sample: Sample) -> str:
    if sample.sampled_users == sample.users:
        return f"all {sample.users:,} users of this log"
    text = f"a sample of {sample.sampled_users:,} users of this log"
    if is_differentially_private(method):
        return f"{text}; the whole log has the same noise and more rows, so it keeps more"
    return f"{text}; the whole log has more users, so it keeps more, and its risk differs"


def _run(method: Method, log: QueryLog, deadline: float) -> Release | None:
    """Return a release of the sample in memory, which spends nothing; None if there is none."""
    if time.monotonic() > deadline:
        return None
    try:
        return run_for_measurement(method, log, RandomSource())
    except QueryveilError:
        return None


def _measure_value(
    measure: Measure,
    context: MeasureContext,
    method: Method,
    release: Release | None,
    deadline: float,
) -> float | None:
    """Return the value of a measure; None if it does not apply, or the time is over."""
    if release is None or time.monotonic() > deadline:
        return None
    try:
        measure.prepare(context)
        return compute_measure(measure, context, release, make_rerun(method, None)).value
    except QueryveilError:
        return None
