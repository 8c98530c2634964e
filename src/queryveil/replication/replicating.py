"""Replicate the evaluation of a paper on any log, and check its claims."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ..comparison.comparing import compare_figures
from ..comparison.grid import FigureRequest, FigureSpec
from ..comparison.journal import Journal
from ..comparison.result import ClaimResult, ComparisonRow, RunOptions
from ..core.arguments import guided_with
from ..core.progress import NoProgress, Progress
from ..core.registry import Registry, discover_values, value_fault
from ..errors import UsageError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from ..log.reading import read_log
from ..measures.base import parse_measure
from ..methods.base import parse_method
from ..synthetic.generator import DEFAULT_SHAPE
from ..synthetic.output import write_synthetic_log
from .claims import Evidence, Paper
from .result import Replication


def _paper_fault(name: str, item: Any) -> str | None:
    return value_fault(name, item) if isinstance(item, Paper) else "it is not a Paper"


# A paper is a constant `PAPER` of a module here, or of an entry point of any distribution.
PAPERS: Registry[Paper] = Registry(
    "paper", "queryveil.papers", lambda: discover_values(Paper, __package__ or ""), _paper_fault
)
SEED = 2006  # of the synthetic log, which is therefore the same everywhere


@guided_with(READING_OPTIONS)
def replicate(
    paper: str,
    log: LogLike | None = None,
    how: RunOptions | None = None,
    *,
    users: int | None = None,
    taxonomy: str | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Replication:
    """Compute a paper's figures and check its claims; without a log, on a synthetic one.

    Args:
        paper: The name of a paper, such as "erola2011".
        log: A log, or what `read_log` reads: files or a frame.
        how: Options of the runs, such as `RunOptions(repeats=3)`.
        users: Number of users of the synthetic log.
        taxonomy: Replaces WordNet.
        journal: Keeps the rows, so that a later call continues where this one stopped.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        The rows of the figures, and whether each claim holds.

    Raises:
        UsageError: The paper is unknown; the hint has a similar name.

    >>> replicate("erola2012")
    Traceback (most recent call last):
    queryveil.errors.UsageError: unknown paper "erola2012". Hint: did you mean "erola2011"?
    """
    target, stages, how = PAPERS.find(paper), progress or NoProgress(), how or RunOptions()
    read_log_of = None if log is None else lambda: open_log(log, reading, progress=stages)
    with _open_log(target, read_log_of, users, stages) as read:
        request = FigureRequest(_set_taxonomy(target.figures, taxonomy))
        options = replace(how, synthetic=log is None)
        comparison = compare_figures(read, request, options, journal=journal, progress=stages)
        facts = target.facts(read, taxonomy or "wordnet", stages) if target.facts else None
    evidence = Evidence(_remove_taxonomy(comparison.rows, taxonomy), facts)
    command = _format_command(target, log is None, users, taxonomy, how)
    return Replication(
        comparison=replace(comparison, command=command),
        claims=_evaluate_claims(target, evidence),
        deviations=target.deviations,
    )


def _evaluate_claims(paper: Paper, evidence: Evidence) -> tuple[ClaimResult, ...]:
    verdicts = [(claim, claim.evaluate(evidence)) for claim in paper.claims]
    return tuple(
        ClaimResult(
            paper=paper.title,
            claim=claim.claim,
            published=claim.published,
            ours=verdict.ours,
            holds=verdict.holds,
            why=verdict.why,
        )
        for claim, verdict in verdicts
    )


@contextmanager
def _open_log(
    paper: Paper,
    read: Callable[[], QueryLog] | None,
    users: int | None,
    progress: Progress,
) -> Iterator[QueryLog]:
    """Yield the given log, or a temporary synthetic one."""
    if read is not None:
        if users is not None:
            raise UsageError(
                "users is the size of the synthetic log, and a log was given",
                hint="to measure a sample of the log: `sample_users=1000`",
            )
        yield read()
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "synthetic.tsv"
        size = paper.users if users is None else users
        topics = paper.topical_domain
        # The published verdicts are those of the classic shape.
        write_synthetic_log(
            path,
            users=size,
            topics=topics,
            shape=DEFAULT_SHAPE if topics else "classic",
            seed=SEED,
            progress=progress,
        )
        yield read_log(path, progress=progress)


def _set_taxonomy(figures: tuple[FigureSpec, ...], taxonomy: str | None) -> tuple[FigureSpec, ...]:
    """Replace the taxonomy of the methods and measures that have one."""
    if taxonomy is None:
        return figures
    return tuple(
        replace(
            figure,
            methods=tuple(
                _add_taxonomy(str(spec), parse_method(str(spec)).params(), taxonomy)
                for spec in figure.methods
            ),
            measure=_add_taxonomy(figure.measure, parse_measure(figure.measure).params(), taxonomy),
        )
        for figure in figures
    )


def _add_taxonomy(spec: str, names: Container[str], taxonomy: str) -> str:
    return f"{spec}:taxonomy={taxonomy}" if "taxonomy" in names else spec


def _remove_taxonomy(
    rows: Sequence[ComparisonRow], taxonomy: str | None
) -> Sequence[ComparisonRow]:
    """Remove the taxonomy from the specs, as the claims have none."""
    end = f":taxonomy={taxonomy}"
    return [
        replace(row, label=row.label.removesuffix(end), measure=row.measure.removesuffix(end))
        for row in rows
    ]


def _format_command(
    paper: Paper, synthetic: bool, users: int | None, taxonomy: str | None, how: RunOptions
) -> str:
    options = {
        "--users": users,
        "--taxonomy": taxonomy,
        "--repeats": how.repeats if how.repeats > 1 else None,
        "--seed": how.seed,
    }
    flags = [
        word for name, value in options.items() if value is not None for word in (name, str(value))
    ]
    words = ["queryveil", "replicate", paper.name, *([] if synthetic else ["LOG"]), *flags]
    return shlex.join([*words, "--out", "DIR"])
