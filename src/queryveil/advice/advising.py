"""`advise`: whether to release a log, by which methods, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from ..concepts.mapping.language import language_code
from ..concepts.mapping.language_data import install_hint
from ..core.arguments import guided_with
from ..core.progress import NoProgress, Progress
from ..errors import UsageError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.options import ReadOptions
from ..log.query_log import QueryLog
from ..log.reading import merge_options, read_log
from .answers import ASSUMED_NEVER, Answers, Never
from .commands import LogSource, name_method
from .evaluation import Evaluation, Observed, evaluate, propose
from .looking import look_at_log, measure_proposals
from .result import Advice, Look, Proposal, RangeAdvice, Verdict

# Sizes for which conditional advice is given if the number of users is not known.
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
_RECIPIENTS = {"public": "the public", "partner": "a partner", "team": "your own team"}
_LAW = (
    "Whether you may release the data at all is also a question of law, contracts and consent, "
    "which this advice does not answer."
)


@guided_with(READING_OPTIONS)
def advise(
    log: LogLike | None = None,
    *,
    recipient: str | None = None,
    purpose: str | None = None,
    users: int | None = None,
    language: str | None = None,
    never: str | Iterable[str] | None = None,
    taxonomy: str | Path | None = None,
    look: bool = False,
    ledger: str | None = None,
    options: ReadOptions | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Advice:
    """Return which methods and parameters fit a log, its recipients and their purpose.

    Without `look` nothing of the log is read, and it need not exist. With `look` the ledger of the
    population first records the data access; then each proposal is measured on a sample of users.
    Later private releases state the access on their cards. Proposals of private methods never
    depend on the log.

    Args:
        log: A log, or what `read_log` reads: files or a frame; without it the lines to copy have a
            placeholder.
        recipient: Who gets the data: public, partner or team.
        purpose: What for: trends, ranking, suggestion, user-modeling, linguistics or benchmark.
        users: About how many users the log has: a public figure, not counted in the log.
        language: The language of the queries. WordNet, which is included, is English.
        never: What must never happen: identify-a-user, reveal-a-rare-query, link-two-queries,
            depend-on-one-user, several of them, or none.
        taxonomy: A taxonomy in the language of the queries, as `import_taxonomy` writes it.
        look: Whether the log may be read.
        ledger: Name or folder of the ledger; else it is beside the log.
        options: How the log is read.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        The verdict (`release`), up to three proposals with reasons, figures and lines to copy, and
        why other methods are not proposed. Where an answer is missing, the protected choice is
        assumed, and the result lists it.

    Raises:
        UsageError: An answer is unknown, there is no log to look at, or a look cannot be recorded.

    >>> advice = advise(recipient="public", purpose="trends", users=1_000)
    >>> advice.release
    'no'
    >>> [proposal.method for proposal in advise(users=1_000_000, purpose="trends").proposals]
    ['dp-statistics:delta=1e-08:budget-split=1/0/0']
    """
    answers = Answers.of(
        recipient=recipient,
        purpose=purpose,
        users=users,
        language=language,
        never=never,
        taxonomy=None if taxonomy is None else str(taxonomy),
    )
    read_options = merge_options("advise", options, reading)
    source = LogSource.of(log, read_options, ledger)
    if not look:
        return give_advice(answers, source)
    if log is None:
        raise UsageError("there is no log to look at", hint="name the log, or leave out `look`")

    named = log  # the name is not None here, also where it is read later

    def read() -> QueryLog:
        if isinstance(named, QueryLog) or callable(named):
            return open_log(named, reading)
        return read_log(named, read_options, progress=progress)

    return give_advice(answers, source, read, ledger=ledger, progress=progress)


def give_advice(
    answers: Answers,
    source: LogSource,
    read: Callable[[], QueryLog] | None = None,
    *,
    ledger: str | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Return the advice for answers; `read` is called only if a look is allowed."""
    if read is None:
        if answers.users is None:
            return _advise_by_users(answers)
        return _build(answers, evaluate(answers), source)
    shown = progress or NoProgress()
    sample = look_at_log(read(), answers, ledger, shown)
    before = evaluate(answers, Observed(sample.users))
    after = evaluate(answers, sample.observed)
    advice = _build(answers, after, source, sample.observed)
    look = Look(
        users=sample.users,
        sampled_users=sample.sampled_users,
        coverage=sample.observed.coverage,
        changes=_describe_changes(before, after),
        notes=sample.notes,
    )
    if answers.users is None and not advice.proposals:
        return replace(_advise_by_users(answers), excluded=advice.excluded, look=look)
    measured = measure_proposals(advice.proposals, answers, sample, shown)
    return replace(advice, look=look, proposals=measured)


def _describe_changes(before: Evaluation, after: Evaluation) -> tuple[str, ...]:
    """Return which proposals the look removed; it can add or change none of a private method."""
    left = {chosen.rule.name for chosen in after.proposed}
    reasons = {exclusion.rule: exclusion.because for exclusion in after.excluded}
    return tuple(
        f"{chosen.method.name} is not proposed: {reasons[chosen.rule.name]}"
        for chosen in before.proposed
        if chosen.rule.name not in left and chosen.rule.name in reasons
    )


def _build(
    answers: Answers,
    evaluation: Evaluation,
    source: LogSource,
    observed: Observed | None = None,
) -> Advice:
    proposals = tuple(propose(chosen, answers, source, observed) for chosen in evaluation.proposed)
    verdict = evaluation.verdict
    return Advice(
        release=verdict,
        summary=_summarize(verdict, proposals, answers),
        answers=answers,
        proposals=proposals,
        by_users=(),
        excluded=evaluation.excluded,
        instead=tuple(_list_alternatives(answers, evaluation)) if verdict == "no" else (),
        warnings=tuple(_list_warnings(answers)),
        look=None,
    )


def _advise_by_users(answers: Answers) -> Advice:
    """Return conditional advice: what the table gives for logs of several sizes."""
    ranges = []
    for size in SIZES:
        evaluation = evaluate(replace(answers, users=size))
        methods = tuple(name_method(chosen.method) for chosen in evaluation.proposed)
        ranges.append(RangeAdvice(size, evaluation.verdict, methods))
    return Advice(
        release="depends-on-users",
        summary="It depends on the number of users. Say about how many there are: `users=N`",
        answers=answers,
        proposals=(),
        by_users=tuple(ranges),
        excluded=(),
        instead=(),
        warnings=tuple(_list_warnings(answers)),
        look=None,
    )


def _summarize(verdict: Verdict, proposals: tuple[Proposal, ...], answers: Answers) -> str:
    to = _RECIPIENTS[answers.recipient]
    if verdict == "no":
        return (
            f"Do not release this log to {to}: nothing that prevents what must never happen would "
            f"be useful for {answers.purpose}"
        )
    fits = f"{proposals[0].title} fits your answers for a release to {to}"
    return f"{fits}; but {proposals[0].care}" if verdict == "with-care" else fits


def _list_warnings(answers: Answers) -> Iterator[str]:
    if not answers.has_taxonomy:
        yield (
            f"WordNet, the included taxonomy, has English words only. For queries in "
            f"{answers.language}: {install_hint(language_code(answers.language))}. Or import a "
            "thesaurus or a list of categories with `import_taxonomy()`, and name it with "
            "`taxonomy=FILE`."
        )
    yield _LAW


def _list_alternatives(answers: Answers, evaluation: Evaluation) -> Iterator[str]:
    """Yield what else can be done if nothing is proposed."""
    needed = [entry.users_needed for entry in evaluation.excluded if entry.users_needed]
    if needed:
        yield (
            f"Collect a longer period or more users: with about {min(needed):,} users a release "
            "would be proposed."
        )
    if not answers.has_taxonomy and any(
        "taxonomy" in entry.because for entry in evaluation.excluded
    ):
        yield "Import a taxonomy in the language of the queries: `import_taxonomy()`."
    for text, other in _other_answers(answers):
        methods = [chosen.method.name for chosen in evaluate(other).proposed]
        if methods:
            yield f"{text}: then {methods[0]} would be proposed."
    yield (
        "Publish a synthetic log that uses nothing of yours, if others only need the format: "
        "`write_synthetic_log()`."
    )


def _other_answers(answers: Answers) -> Iterator[tuple[str, Answers]]:
    """Yield weaker demands, the strongest first, with what they mean."""
    groups: tuple[Never, ...] = ("identify-a-user", "reveal-a-rare-query")
    if answers.recipient == "public":
        never = ASSUMED_NEVER["partner"]
        yield (
            "Share the data with a partner who is bound by contract, not with the public",
            replace(answers, recipient="partner", never=never),
        )
    elif not set(answers.never) <= set(groups):
        yield (
            'If k-anonymity is enough for you (`never="identify-a-user"`)',
            replace(answers, never=groups),
        )
