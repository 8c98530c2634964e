"""Replicate the evaluation of a paper on any log, and check its claims."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..comparison.comparing import RunOptions, compare_figures
from ..comparison.grid import Figure, FigureRequest
from ..comparison.result import Comparison
from ..core.progress import NoProgress, Progress
from ..core.registry import Registry, discover_values, value_fault
from ..errors import UsageError
from ..log.query_log import QueryLog
from ..log.reading import read_log
from ..measures.base import parse_measure
from ..methods.base import parse_method
from ..synthetic.output import write_synthetic_log
from .claims import Evidence, Paper


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
    progress: Progress | None = None,
) -> Comparison:
    """Compute a paper's figures and check its claims; without a log, on a synthetic one.

    The result has `claims` in `about`: claim, published, ours, holds (None if it is undecided)
    and why. `users` is the size of the synthetic log, `taxonomy` replaces WordNet.
    """
    target, stages, how = PAPERS.find(paper), progress or NoProgress(), how or RunOptions()
    with _open_log(target, log, users, stages) as read:
        request = FigureRequest(_set_taxonomy(target.figures, taxonomy))
        comparison = compare_figures(
            read, request, replace(how, synthetic=log is None), progress=stages
        )
        facts = target.facts(read, taxonomy or "wordnet", stages) if target.facts else {}
    rows = _remove_taxonomy(comparison.rows, taxonomy)
    claims = [
        {"paper": target.title} | claim.evaluate(Evidence(rows, facts)) for claim in target.claims
    ]
    about = comparison.about | {
        "claims": claims,
        "differs": list(target.deviations),
        "synthetic": log is None,
        "command": _format_command(target, log is None, users, taxonomy, how),
    }
    return replace(comparison, about=about)


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
                hint="to measure a sample of the log: --sample-users 1000",
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


def _set_taxonomy(figures: tuple[Figure, ...], taxonomy: str | None) -> tuple[Figure, ...]:
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


def _add_taxonomy(spec: str, values: Mapping[str, Any], taxonomy: str) -> str:
    return f"{spec}:taxonomy={taxonomy}" if "taxonomy" in values else spec


def _remove_taxonomy(rows: list[dict[str, Any]], taxonomy: str | None) -> list[dict[str, Any]]:
    """Remove the taxonomy from the specs, as the claims have none."""
    end = f":taxonomy={taxonomy}"
    names = ("label", "measure")
    return [row | {name: str(row[name]).removesuffix(end) for name in names} for row in rows]


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
