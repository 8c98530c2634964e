"""Differentially private statistics (Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Literal

import polars as pl

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...core.records import Scalar
from ...dp.noise import NoiseSource
from ...errors import ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Guarantee
from ...release.noise import CountNoise
from ..base import DELTA_HELP, EPSILON_HELP, Method, MethodOutput
from ..forecast import Forecast
from .approximate import TableMechanisms, calibrate_mechanisms, release_approximate
from .as_published import AsPublished
from .forecasts import SelectionThreshold, approx_noise, forecast_tables
from .guarantees import PUBLISHED_BLOCKER, approx_guarantee, published_guarantee, pure_guarantee
from .public_lists import WORDNET, PublicListRelease, read_public_queries, read_public_results
from .synthesis import SYNTHESIS_NOTE, public_constants, synthesize_log

SELECTIONS = ("auto", "laplace", "gaussian", "weighted", "sips", "guided")
MODES = ("approx", "pure", "paper")
_MAX_BOUND = 10_000
_MIN_DELTA = 1e-30
# Parameters of some modes only. Elsewhere they would be ignored silently, so they are an error.
_MODES_OF = {
    "delta": ("approx",),
    "selection": ("approx",),
    "contribution_order": ("approx", "pure"),
    "budget_split": ("approx", "pure"),
    "public_queries": ("pure", "paper"),
    "public_results": ("pure",),
    "published_threshold": ("paper",),
}


@dataclass(frozen=True)
class DpStatistics(Method):
    """Release noisy counts of queries, clicks and transitions between queries, without users.

    >>> str(DpStatistics(epsilon=0.5))
    'dp-statistics:epsilon=0.5'
    """

    name: ClassVar[str] = "dp-statistics"
    title: ClassVar[str] = "noisy counts of queries, clicks and transitions, without any users"
    paper: ClassVar[str] = "Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    good_for: ClassVar[str] = (
        "publishing what many users search for and click: trends, query suggestion, ranking; it "
        "needs many users, and releases counts instead of logs"
    )
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    mode: str = parameter(
        "approx",
        "counted queries: those of the log (approx), of a public list (pure), or as in the paper",
        choices=MODES,
    )
    epsilon: float = parameter(1.0, EPSILON_HELP, min=0.001, max=100.0)
    delta: float = parameter(1e-9, DELTA_HELP, min=0.0, max=0.01)
    max_queries_per_user: int = parameter(
        20, "number of queries of each user that are counted", min=1, max=_MAX_BOUND, unit="queries"
    )
    max_clicks_per_user: int = parameter(
        5, "number of clicks of each user that are counted", min=1, max=_MAX_BOUND, unit="clicks"
    )
    selection: str = parameter(
        "auto",
        "mechanism that selects the frequent queries; auto: laplace or guided",
        choices=SELECTIONS,
    )
    contribution_order: str = parameter(
        "short",
        "which queries of a user are counted, if they have more: short ones first, or at random",
        choices=("short", "random"),
    )
    budget_split: str = parameter(
        "2/1/1", "division of the budget: weights of queries, clicks and transitions"
    )
    public_queries: str = parameter(
        WORDNET, "public list of queries: wordnet, or a file with one query per line"
    )
    public_results: str = parameter(
        "", "file of public results: one query, tab and URL per line; none: no clicks"
    )
    synthetic_users: int = parameter(
        0,
        "number of users of a synthetic log, drawn from the released tables; 0: no such log",
        min=0,
        max=10**8,
        unit="users",
    )
    published_threshold: int = parameter(
        500, "noisy count above which a query is released, in mode paper", min=1, max=10**6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for declared in self.parameters():
            modes = _MODES_OF.get(declared.name, MODES)
            value = getattr(self, declared.name)
            unset = (declared.default, 0.0)  # a delta of 0 means no delta
            if self.mode not in modes and value not in unset:
                raise ParameterError(
                    f"{self.mode} mode has no `{declared.name}`",
                    hint=f"omit `{declared.name}`, or use `mode` {' or '.join(modes)}",
                )
        if self.mode == "approx" and self.delta < _MIN_DELTA:
            raise ParameterError(
                f'`delta` cannot be "{self.delta}"',
                hint=f'approx mode needs at least {_MIN_DELTA}; `mode="pure"` needs no delta',
            )
        _, clicks, _ = self.budget_weights  # raises an error if the split is invalid
        if self.public_results and not clicks:
            raise ParameterError(
                "`public_results` is set, but `budget_split` has no weight for clicks",
                hint="use 2/1/1, for example",
            )

    @property
    def budget_weights(self) -> tuple[Fraction, Fraction, Fraction]:
        """The fractions of the budget for queries, clicks and transitions."""
        parts = self.budget_split.split("/")
        if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
            raise ParameterError(
                f'`budget_split` cannot be "{self.budget_split}"',
                hint="use three integers, such as 2/1/1",
            )
        queries, clicks, transitions = (int(part) for part in parts)
        if not queries:
            raise ParameterError(
                "`budget_split` has no weight for the table of queries",
                hint="clicks and transitions need released queries: use 2/1/1 or 1/0/0",
            )
        total = queries + clicks + transitions
        return Fraction(queries, total), Fraction(clicks, total), Fraction(transitions, total)

    @property
    def budget(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta as exact fractions of their decimal texts."""
        delta = self.delta if self.mode == "approx" else 0
        return Fraction(repr(self.epsilon)), Fraction(repr(delta))

    @property
    def contribution_bounds(self) -> tuple[int, int, int]:
        """The contribution bounds of queries, clicks and transitions."""
        return self.max_queries_per_user, self.max_clicks_per_user, self.max_queries_per_user

    def mechanisms(self) -> TableMechanisms:
        """Return the mechanisms of mode approx, from the parameters alone."""
        return calibrate_mechanisms(
            self.selection, *self.budget, self.contribution_bounds, self.budget_weights
        )

    def public_list_release(self) -> PublicListRelease:
        """Return the release of mode pure, before the public lists are read."""
        return PublicListRelease.of(
            self.public_queries,
            self.public_results,
            self.budget[0],
            self.contribution_bounds,
            self.budget_weights,
        )

    def _paper_release(self) -> AsPublished:
        bounds = (self.max_queries_per_user, self.max_clicks_per_user)
        return AsPublished(self.public_queries, self.budget[0], *bounds, self.published_threshold)

    def input_files(self) -> tuple[Path, ...]:
        """Return the files of the public lists."""
        names = [self.public_results] if self.mode == "pure" else []
        if self.mode != "approx" and self.public_queries != WORDNET:
            names.append(self.public_queries)
        return tuple(Path(name) for name in names if name)

    def check_ready(self) -> None:
        """Raise an error if a public list cannot be read."""
        if self.mode != "approx":
            read_public_queries(self.public_queries)
        if self.public_results:
            read_public_results(self.public_results)

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Bound contributions, count, add noise, apply thresholds."""
        noise = NoiseSource(None if rng.is_secure else rng.uint64s)
        table_noise: tuple[CountNoise, ...] | None = self.table_noise({})
        if self.mode == "pure":
            tables, table_noise = self.public_list_release().release(
                log, self.contribution_order, rng, noise, progress
            )
        elif self.mode == "paper":
            tables = self._paper_release().release(log, noise, progress)
        else:
            mechanisms = self.mechanisms()
            tables = release_approximate(
                log, mechanisms, self.contribution_order, rng, noise, progress
            )
        synthetic, notes = self._synthesize(tables, rng, progress)
        return MethodOutput(
            tables=tables,
            log=None if synthetic is None else synthetic.lazy(),
            generated={} if synthetic is None else {"synthetic rows": synthetic.height},
            dropped={"summed up in the tables, with noise": log.accounting.kept},
            notes=notes,
            noise=table_noise or (),
        )

    def table_noise(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...] | None:
        """Return the noise of each table; that of mode pure depends on the public lists."""
        if self.mode == "approx":
            return approx_noise(self.mechanisms())
        if self.mode == "paper":
            return self._paper_release().table_noise()
        return (
            None
            if self.input_files() or "queries" not in rows
            else self.public_list_release().table_noise(rows)
        )

    def _synthesize(
        self, tables: Mapping[str, pl.DataFrame], rng: RandomSource, progress: Progress
    ) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
        """Return a log sampled from the released tables, and notes on its public constants."""
        if not self.synthetic_users:
            return None, ()
        if not (tables["queries"]["count"] > 0).any():
            return None, ("no query was released, so there is no synthetic log",)
        with progress.stage("synthesize"):
            log = synthesize_log(tables, self.synthetic_users, rng)
        return log, (
            SYNTHESIS_NOTE,
            *(f"{name}: {fact}" for name, fact in public_constants().items()),
        )

    def public_params(self) -> dict[str, Scalar]:
        """Return the parameters for the card; the folder of a file is private."""
        pool = (
            self.public_queries
            if self.public_queries == WORDNET
            else Path(self.public_queries).name
        )
        if (
            pool == WORDNET != self.public_queries
        ):  # a file with this name is not the list in the package
            pool = f"./{pool}"
        names = {"public_queries": pool, "public_results": Path(self.public_results).name}
        return self.params() | names | ({} if self.mode == "approx" else {"delta": 0.0})

    def forecast(self, expected_users: int) -> Forecast | None:
        """Return noise, thresholds and the expected number of queries."""
        if self.mode == "paper":
            return None
        if self.mode == "pure":
            return self.public_list_release().forecast(expected_users)
        return forecast_tables(self.mechanisms(), self.contribution_order, expected_users)

    def output_files(self) -> frozenset[str]:
        """Return the tables that have budget, and the synthetic log if there is one."""
        names = zip(("queries", "clicks", "transitions"), self.budget_weights, strict=True)
        tables = {name for name, weight in names if weight or self.mode == "paper"}
        return frozenset(tables | ({"log"} if self.synthetic_users else set()))

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that the published steps do not have the claimed guarantee."""
        return (PUBLISHED_BLOCKER,) if self.mode == "paper" else ()

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return a function from the number of users to the expected number of queries."""
        if self.mode == "paper":
            return None
        if self.mode == "pure":
            return self.public_list_release().selection_threshold().queries
        return SelectionThreshold.of(self.mechanisms(), self.contribution_order).queries

    def guarantee(self) -> Guarantee:
        """Return the guarantee of the mode."""
        guarantees = {
            "approx": approx_guarantee,
            "pure": pure_guarantee,
            "paper": published_guarantee,
        }
        return guarantees[self.mode](self)
