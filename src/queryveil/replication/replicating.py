"""Do the evaluation of a paper again, on any log, and say which of its claims hold there."""

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
from ..errors import UsageError, did_you_mean
from ..log.query_log import QueryLog
from ..log.reading import read_log
from ..measures.base import parse_measure
from ..methods.base import parse_method
from ..peers import paper as p2p
from ..synthetic.output import write_synthetic_log
from . import batet2013, erola2011, sanchez2018, zhang2016
from .claims import Evidence, Paper

PAPERS: Mapping[str, Paper] = {
    module.PAPER.name: module.PAPER
    for module in (batet2013, erola2011, zhang2016, sanchez2018, p2p)
}
SEED = 2006  # of the synthetic log: everybody's is the same


def replicate(
    paper: str,
    log: QueryLog | Callable[[], QueryLog] | None = None,
    how: RunOptions | None = None,
    *,
    users: int | None = None,
    taxonomy: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Draw a paper's figures and check its claims; without a log, on a synthetic one.

    What is found has `claims` in `about`: claim, published, ours, holds (None if it cannot be
    told) and why. `users` is the size of the synthetic log, `taxonomy` stands for WordNet.
    """
    wanted, shown, how = _paper(paper), progress or NoProgress(), how or RunOptions()
    with _log(wanted, log, users, shown) as read:
        asked = FigureRequest(_with(wanted.figures, taxonomy))
        found = compare_figures(read, asked, replace(how, synthetic=log is None), progress=shown)
        facts = wanted.facts(read, taxonomy or "wordnet", shown) if wanted.facts else {}
    rows = _without(found.rows, taxonomy)
    claims = [
        {"paper": wanted.title} | claim.evaluate(Evidence(rows, facts)) for claim in wanted.claims
    ]
    about = found.about | {
        "claims": claims,
        "differs": list(wanted.deviations),
        "synthetic": log is None,
        "command": _command(wanted, log is None, users, taxonomy, how),
    }
    return replace(found, about=about)


def _paper(name: str) -> Paper:
    if name not in PAPERS:
        raise UsageError(f'there is no paper "{name}"', hint=did_you_mean(name, PAPERS))
    return PAPERS[name]


@contextmanager
def _log(
    paper: Paper,
    given: QueryLog | Callable[[], QueryLog] | None,
    users: int | None,
    progress: Progress,
) -> Iterator[QueryLog]:
    """Give the log that was asked for, else a synthetic one for as long as it is needed."""
    if given is not None:
        if users is not None:
            raise UsageError("--users is for the synthetic log", hint="--sample-users 1000")
        yield given() if callable(given) else given
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "synthetic.tsv"
        people = paper.users if users is None else users
        write_synthetic_log(
            path, users=people, about=paper.topical_domain, seed=SEED, progress=progress
        )
        yield read_log(path, progress=progress)


def _with(figures: tuple[Figure, ...], taxonomy: str | None) -> tuple[Figure, ...]:
    """Let methods and measures that have a taxonomy use another one."""
    if taxonomy is None:
        return figures
    return tuple(
        replace(
            figure,
            methods=tuple(
                _line(str(line), parse_method(str(line)).params(), taxonomy)
                for line in figure.methods
            ),
            measure=_line(figure.measure, parse_measure(figure.measure).params(), taxonomy),
        )
        for figure in figures
    )


def _line(line: str, values: Mapping[str, Any], taxonomy: str) -> str:
    return f"{line}:taxonomy={taxonomy}" if "taxonomy" in values else line


def _without(rows: list[dict[str, Any]], taxonomy: str | None) -> list[dict[str, Any]]:
    """Call runs as the claims do."""
    end = f":taxonomy={taxonomy}"
    names = ("label", "measure")
    return [row | {name: str(row[name]).removesuffix(end) for name in names} for row in rows]


def _command(
    paper: Paper, synthetic: bool, users: int | None, taxonomy: str | None, how: RunOptions
) -> str:
    given = {
        "--users": users,
        "--taxonomy": taxonomy,
        "--repeat": how.repeat if how.repeat > 1 else None,
        "--seed": how.seed,
    }
    more = [word for name, v in given.items() if v is not None for word in (name, str(v))]
    words = ["queryveil", "replicate", paper.name, *([] if synthetic else ["LOG"]), *more]
    return shlex.join([*words, "--out", "DIR"])
