"""Run all steps on a synthetic log: risks, three kinds of release, checks and a comparison."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import polars as pl

from .._version import __version__
from ..comparison import RunOptions, compare_figures, frontier_svg, request_figures
from ..core.folders import check_output_folder, is_queryveil_folder
from ..core.progress import NoProgress, Progress
from ..errors import UsageError
from ..ledger.summary import LedgerSummary
from ..log.query_log import QueryLog
from ..log.reading import read_log
from ..methods.base import Method
from ..methods.microaggregation.semantic import SemanticMicroaggregation
from ..methods.replacement.profile_first import ProfileFirst
from ..methods.statistics.dp_statistics import DpStatistics
from ..release.explanations import explain_epsilon, explain_guarantee
from ..release.release import Release
from ..synthetic.output import write_synthetic_log
from ..workflows.anonymization import anonymize
from ..workflows.budget import show_ledger
from ..workflows.profiling import profile
from ..workflows.verification import verify
from .page import render_demonstration
from .records import DemoComparison, Demonstration, DemoRelease, NoisyCount, UserExample

USERS = 10_000
_SEED = 2006
_COMPARED = 500  # users of the comparison: a sample of the log, so that it takes seconds
_EXAMPLE = (8, 12)  # distinct queries of the user who is shown
_SHOWN = 8
_MARKER = "demo.json"
_PARTS = ("microaggregation", "statistics", "replacement")
_NAMES = {_MARKER, "index.html", "frontier.svg", "private", "comparison", *_PARTS}

# Clicks and transitions would take budget from the queries, and the table would be shorter.
_STATISTICS = DpStatistics(epsilon=2, max_queries_per_user=10, budget_split="1/0/0")
_REPLACEMENT = ProfileFirst(epsilon=2, max_phrases_per_user=20)
_MICROAGGREGATION = SemanticMicroaggregation(k=5)
_RISK, _UTILITY = "record-linkage", "profile-divergence"
_METHODS = (
    "frequent-queries",
    "semantic-microaggregation",
    "string-microaggregation",
    "profile-first:max-phrases-per-user=20",
)
_SWEEP = {"k": (3, 5, 10), "epsilon": (2.0, 8.0)}


def demo(
    folder: str | Path = "queryveil-demo",
    *,
    users: int = USERS,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Demonstration:
    """Generate a log; profile, release, verify and compare it; write a page that shows all.

    Nothing leaves the folder: the log and the ledger of its budget are in `private`. An earlier
    demo is replaced; another folder is not, even with `overwrite`.

    Args:
        users: Users of the synthetic log. With fewer users, less can be released privately.
        overwrite: Accepted as by other functions; an earlier demo is replaced without it.

    Returns:
        The results of all steps; `page` names the page to look at.

    Raises:
        OutputError: The folder exists and is no demo.
    """
    stages, target = progress or NoProgress(), Path(folder)
    _prepare(target, overwrite)
    path = target / "private" / "log.tsv"
    summary = write_synthetic_log(path, users=users, seed=_SEED, progress=stages)
    path.chmod(0o600)
    log = read_log(path, may_stop=False, progress=stages)  # rows must not stop a private release
    figures = profile(log, progress=stages)
    made = [
        _release(log, method, target / name, users, stages)
        for name, method in zip(_PARTS, (_MICROAGGREGATION, _STATISTICS, _REPLACEMENT), strict=True)
    ]
    (grouped, micro), (tables, statistics), (replaced, replacement) = made
    counts = _noisy_counts(tables)
    result = Demonstration(
        folder=str(target),
        page=str(target / "index.html"),
        log=summary,
        profile=figures,
        example=_example(log, grouped, replaced),
        counts=counts[:_SHOWN],
        released_queries=len(counts),
        together=_explain_sum(show_ledger([path])),
        microaggregation=micro,
        statistics=statistics,
        replacement=replacement,
        comparison=_compare(path, target, users, stages),
    )
    page = render_demonstration(result, (target / "frontier.svg").read_text("utf-8"))
    (target / "index.html").write_text(page, encoding="utf-8")
    return result


def _prepare(target: Path, overwrite: bool) -> None:
    """Make the folder; its first file marks it as a demo, which a later one may replace."""
    check_output_folder(target, overwrite or _is_demo(target), _is_demo)
    if target.exists():
        shutil.rmtree(target)
    (target / "private").mkdir(parents=True)
    (target / "private").chmod(0o700)
    (target / _MARKER).write_text(json.dumps({"queryveil": __version__}), encoding="ascii")


def _is_demo(folder: Path) -> bool:
    return is_queryveil_folder(folder, _MARKER, _NAMES)


def _release(
    log: QueryLog, method: Method, folder: Path, users: int, progress: Progress
) -> tuple[Release, DemoRelease]:
    release = anonymize(log, method, expected_users=users, yes=True, progress=progress)
    card = release.write(folder)
    expected = f" --expected-users {users}" * (card.guarantee.epsilon is not None)
    path = folder.parent / "private" / "log.tsv"
    return release, DemoRelease(
        folder=str(folder),
        meaning=explain_guarantee(card.guarantee) or "",
        command=f"queryveil anonymize {path} {_options(method)}{expected} --out my-{folder.name}",
        card=card,
        verify=verify(folder, progress=progress),
    )


def _explain_sum(ledger: LedgerSummary) -> str:
    spent = ledger.spent
    meaning = explain_epsilon(
        float(Fraction(spent.epsilon)), float(Fraction(spent.delta)), ledger.relation
    )
    return f"epsilon {spent.epsilon}: {meaning}"


def _options(method: Method) -> str:
    """Return the options of a command for a method: k, and those that are not the default."""
    name, *settings = str(method).split(":")
    pairs = (setting.partition("=") for setting in settings)
    options = [f"--{key} {value}" for key, _, value in pairs]
    if isinstance(method, SemanticMicroaggregation):
        options = [f"--k {method.k}"]
    return " ".join([f"--method {name}", *options])


def _noisy_counts(release: Release) -> tuple[NoisyCount, ...]:
    """Return the released counts, the largest first, with the interval of their noise."""
    table = release.tables["queries"].sort("count", descending=True)
    (noise,) = (noise for noise in release.noise if noise.table == "queries")
    rows = table.select("query", "count").iter_rows()
    return tuple(NoisyCount(query, count, noise.interval) for query, count in rows)


def _example(log: QueryLog, grouped: Release, replaced: Release) -> UserExample:
    """Return the first user with a few distinct queries, as they are before and after."""
    rows = log.local_frame.select(pl.col("user", "query").cast(pl.String)).collect()
    distinct = rows.unique(maintain_order=True)
    shared = grouped.to_polars().select(pl.col("user", "query").cast(pl.String)).unique()
    shared = shared.group_by("user").len("after").rename({"user": "pseudonym"})
    users = (
        distinct.group_by("user", maintain_order=True)
        .len("before")
        .join(_mapping(grouped), on="user", maintain_order="left")
        .join(shared, on="pseudonym", maintain_order="left")
        .join(_mapping(replaced), on="user", how="semi", maintain_order="left")
    )
    few = pl.col("before").is_between(*_EXAMPLE) & (pl.col("after") >= _EXAMPLE[0])
    user = users.sort(~few, maintain_order=True)["user"][0]
    groups = _mapping(grouped)
    group = groups.filter(user=user)["group"][0]
    return UserExample(
        user=user,
        group_size=groups.filter(group=group).height,
        before=tuple(distinct.filter(user=user)["query"])[:_SHOWN],
        grouped=_queries_of(grouped, user),
        replaced=_queries_of(replaced, user),
    )


def _queries_of(release: Release, user: str) -> tuple[str, ...]:
    pseudonym = _mapping(release).filter(user=user)["pseudonym"][0]
    rows = release.to_polars().select(pl.col("user", "query").cast(pl.String))
    return tuple(rows.filter(user=pseudonym)["query"].unique(maintain_order=True))[:_SHOWN]


def _mapping(release: Release) -> pl.DataFrame:
    if release.mapping is None:
        raise UsageError("this release has no users")
    return release.mapping.lazy().collect()


def _compare(log: Path, target: Path, users: int, progress: Progress) -> DemoComparison:
    sample = min(_COMPARED, users)
    request = request_figures(_METHODS, (_RISK, _UTILITY), _SWEEP)
    compared = compare_figures(
        lambda: read_log(log, sample_users=sample, progress=progress),
        request,
        RunOptions(synthetic=True),
        progress=progress,
    )
    compared.write(target / "comparison")
    picture = target / "frontier.svg"
    picture.write_text(frontier_svg(compared, _RISK, _UTILITY), encoding="utf-8")
    sweeps = " ".join(
        f"--sweep {name}={','.join(f'{value:g}' for value in values)}"
        for name, values in _SWEEP.items()
    )
    return DemoComparison(
        folder=str(target / "comparison"),
        report=str(target / "comparison" / "report.html"),
        picture=str(picture),
        users=sample,
        command=(
            f"queryveil compare {log} --sample-users {sample} --methods {','.join(_METHODS)} "
            f"{sweeps} --measures {_RISK},{_UTILITY} --out my-comparison"
        ),
    )
