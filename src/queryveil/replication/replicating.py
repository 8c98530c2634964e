"""Replicate the evaluation of a paper on any log, and check its claims."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..comparison.comparing import compare_figures
from ..comparison.grid import FigureRequest, FigureSpec
from ..comparison.journal import Journal
from ..comparison.result import ClaimResult, ComparisonRow, RunOptions
from ..core.progress import NoProgress, Progress
from ..core.registry import Registry, discover_values, value_fault
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..log.reading import read_log
from ..measures.base import parse_measure
from ..methods.base import parse_method
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


def replicate(
    paper: str,
    log: QueryLog | Callable[[], QueryLog] | None = None,
    how: RunOptions | None = None,
    *,
    users: int | None = None,
    taxonomy: str | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> Replication:
    """Compute a paper's figures and check its claims; without a log, on a synthetic one.

    `users` is the size of the synthetic log, `taxonomy` replaces WordNet.
    """
    target, stages, how = PAPERS.find(paper), progress or NoProgress(), how or RunOptions()
    with _open_log(target, log, users, stages) as read:
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
    log: QueryLog | Callable[[], QueryLog] | None,
    users: int | None,
    progress: Progress,
) -> Iterator[QueryLog]:
    """Yield the given log, or a temporary synthetic one."""
    if log is not None:
        if users is not None:
            raise UsageError(
                "users is the size of the synthetic log, and a log was given",
                hint="to measure a sample of the log: `sample_users=1000`",
            )
        yield log() if callable(log) else log
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "synthetic.tsv"
        size = paper.users if users is None else users
        write_synthetic_log(
            path, users=size, topics=paper.topical_domain, seed=SEED, progress=progress
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
