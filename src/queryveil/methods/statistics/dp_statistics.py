"""Differentially private statistics (Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import polars as pl

from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...errors import ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Guarantee
from ...release.noise import CountNoise
from ...release.release import Release
from ..base import Method
from .approximate import TableMechanisms, calibrate_mechanisms, release_approximate
from .as_published import AsPublished
from .forecasts import Cut, approx_noise, forecast_tables
from .guarantees import PUBLISHED_BLOCKER, approx_guarantee, published_guarantee, pure_guarantee
from .public_lists import WORDNET, PublicListRelease, read_public_queries, read_public_results
from .synthesis import SYNTHESIS_NOTE, public_constants, synthesize_log

SELECTIONS = ("auto", "laplace", "gaussian", "weighted", "sips", "guided")
MODES = ("approx", "pure", "paper")
_MOST = 10_000
_LEAST_DELTA = 1e-30
# Parameters that have a meaning in some modes only: elsewhere they would do nothing, unseen.
_MODES_OF = {
    "delta": ("approx",),
    "selection": ("approx",),
    "prefer": ("approx", "pure"),
    "split": ("approx", "pure"),
    "pool": ("pure", "paper"),
    "url_pool": ("pure",),
    "paper_threshold": ("paper",),
}


@dataclass(frozen=True)
class DpStatistics(Method):
    """Noisy counts of queries, of clicks and of steps from query to query; no users at all.

    >>> str(DpStatistics(epsilon=0.5))
    'dp-statistics:epsilon=0.5'
    """

    name: ClassVar[str] = "dp-statistics"
    title: ClassVar[str] = "noisy counts of queries, clicks and transitions, without any users"
    paper: ClassVar[str] = "Zhang, Yang, Singh 2016, repaired; Korolova et al. 2009"
    guarantee_summary: ClassVar[str] = "differential privacy for a user's whole log"
    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "steps"

    mode: str = parameter(
        "approx", "keys of the log, of a public list, or the paper's own steps", choices=MODES
    )
    epsilon: float = parameter(1.0, "what one person can change at most", min=0.001, max=100.0)
    delta: float = parameter(
        1e-9, "chance that the promise fails: far below one over the people", min=0.0, max=0.01
    )
    max_queries_per_user: int = parameter(
        20, "queries that count of each user", min=1, max=_MOST, unit="queries"
    )
    max_clicks_per_user: int = parameter(
        20, "clicks that count of each user", min=1, max=_MOST, unit="clicks"
    )
    selection: str = parameter("auto", "how frequent queries are found", choices=SELECTIONS)
    prefer: str = parameter(
        "short", "which queries of a user count, if she has more", choices=("short", "random")
    )
    split: str = parameter("2/1/1", "shares of the budget: queries, clicks, transitions")
    pool: str = parameter(WORDNET, "public list of queries: wordnet, or a file, one a line")
    url_pool: str = parameter("", "public results: a file, a query, a tab and a URL a line")
    synthesize: int = parameter(
        0, "users of a synthetic log that is made of the tables; 0 for none", min=0, max=10**8,
        unit="users",
    )  # fmt: skip
    paper_threshold: int = parameter(
        500, "noisy count above which the paper shows a query", min=1, max=10**6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for declared in self.parameters():
            modes = _MODES_OF.get(declared.name, MODES)
            value = getattr(self, declared.name)
            usual = (declared.default, 0.0)  # a delta of 0 is none
            if self.mode not in modes and value not in usual:
                raise ParameterError(
                    f"{self.mode} mode has no {declared.option.removeprefix('--')}",
                    hint=f"leave {declared.option} out, or take --mode {' or '.join(modes)}",
                )
        if self.mode == "approx" and self.delta < _LEAST_DELTA:
            raise ParameterError(
                f'--delta cannot be "{self.delta}"',
                hint=f"approx mode needs one from {_LEAST_DELTA} on; --mode pure needs none",
            )
        _, clicks, _ = self.budget_weights  # refuses what is no split
        if self.url_pool and not clicks:
            raise ParameterError(
                "--url-pool is given, but --split gives the clicks nothing", hint="such as 2/1/1"
            )

    @property
    def budget_weights(self) -> tuple[Fraction, Fraction, Fraction]:
        """The shares of the budget: of queries, clicks and transitions."""
        parts = self.split.split("/")
        if len(parts) != 3 or not all(part.isdecimal() and len(part) < 4 for part in parts):
            raise ParameterError(
                f'--split cannot be "{self.split}"', hint="three whole numbers, such as 2/1/1"
            )
        queries, clicks, transitions = (int(part) for part in parts)
        if not queries:
            raise ParameterError(
                "--split gives the table of queries nothing",
                hint="clicks and transitions are those of released queries: 2/1/1, or 1/0/0",
            )
        whole = queries + clicks + transitions
        return Fraction(queries, whole), Fraction(clicks, whole), Fraction(transitions, whole)

    @property
    def budget(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta, exactly as they are written."""
        delta = self.delta if self.mode == "approx" else 0
        return Fraction(repr(self.epsilon)), Fraction(repr(delta))

    @property
    def contribution_bounds(self) -> tuple[int, int, int]:
        """How many queries, clicks and transitions of a user count."""
        return self.max_queries_per_user, self.max_clicks_per_user, self.max_queries_per_user

    def mechanisms(self) -> TableMechanisms:
        """Make what adds the noise in mode approx, from the parameters alone."""
        return calibrate_mechanisms(
            self.selection, *self.budget, self.contribution_bounds, self.budget_weights
        )

    def public_list_release(self) -> PublicListRelease:
        """Make what releases the tables in mode pure; the public lists are not read yet."""
        return PublicListRelease.of(
            self.pool, self.url_pool, self.budget[0], self.contribution_bounds, self.budget_weights
        )

    def _paper(self) -> AsPublished:
        most = (self.max_queries_per_user, self.max_clicks_per_user)
        return AsPublished(self.pool, self.budget[0], *most, self.paper_threshold)

    def input_files(self) -> tuple[Path, ...]:
        """List the public lists."""
        names = [self.url_pool] if self.mode == "pure" else []
        if self.mode != "approx" and self.pool != WORDNET:
            names.append(self.pool)
        return tuple(Path(name) for name in names if name)

    def check_ready(self) -> None:
        """Read the public lists once, to see that they can be read."""
        if self.mode != "approx":
            read_public_queries(self.pool)
        if self.url_pool:
            read_public_results(self.url_pool)

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Bound each user, count, add noise, cut off."""
        noise = NoiseSource(None if chance.is_secure else chance.uint64s)
        noises: tuple[CountNoise, ...] | None = self.noises({})
        if self.mode == "pure":
            tables, noises = self.public_list_release().release(
                log, self.prefer, chance, noise, progress
            )
        elif self.mode == "paper":
            tables = self._paper().release(log, noise, progress)
        else:
            made = self.mechanisms()
            tables = release_approximate(log, made, self.prefer, chance, noise, progress)
        synthetic, told = self._synthetic(tables, chance, progress)
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            tables=tables,
            log=None if synthetic is None else synthetic.lazy(),
            generated={} if synthetic is None else {"synthetic rows": synthetic.height},
            dropped={"summed up in the tables, with noise": log.accounting.kept},
            notes=told,
            noise=noises or (),
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def noises(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...] | None:
        """Return the noise of each table; that of mode pure depends on the public lists."""
        if self.mode == "approx":
            return approx_noise(self.mechanisms())
        if self.mode == "paper":
            return self._paper().noises()
        return (
            None
            if self.input_files() or "queries" not in rows
            else self.public_list_release().noises(rows)
        )

    def _synthetic(
        self, tables: Mapping[str, pl.DataFrame], chance: RandomSource, progress: Progress
    ) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
        """Make a log of what is published, and say what of it is not taken from there."""
        if not self.synthesize:
            return None, ()
        if not (tables["queries"]["count"] > 0).any():
            return None, ("no query shows, so no synthetic log could be made of the tables",)
        with progress.stage("synthesize"):
            made = synthesize_log(tables, self.synthesize, chance)
        return made, (
            SYNTHESIS_NOTE,
            *(f"{name}: {fact}" for name, fact in public_constants().items()),
        )

    def _published(self) -> dict[str, Any]:
        """Give the parameters as the card shows them: where a file lies is private."""
        pool = self.pool if self.pool == WORDNET else Path(self.pool).name
        if pool == WORDNET != self.pool:  # a file of that name is not the list inside
            pool = f"./{pool}"
        shown = {"pool": pool, "url_pool": Path(self.url_pool).name}
        return self.params() | shown | ({} if self.mode == "approx" else {"delta": 0.0})

    def forecast(self, population: int) -> dict[str, Any]:
        """Tell noise, thresholds and the expected yield."""
        if self.mode != "approx":
            return self.public_list_release().forecast(population) if self.mode == "pure" else {}
        return forecast_tables(self.mechanisms(), population)

    def gives(self) -> frozenset[str]:
        """Return the tables that have a share of the budget, and the synthetic log if wanted."""
        names = zip(("queries", "clicks", "transitions"), self.budget_weights, strict=True)
        tables = {name for name, share in names if share or self.mode == "paper"}
        return frozenset(tables | ({"log"} if self.synthesize else set()))

    def unfit(self) -> tuple[str, ...]:
        """Return that the paper's own steps do not keep what it claims."""
        return (PUBLISHED_BLOCKER,) if self.mode == "paper" else ()

    def expected_queries(self) -> Callable[[int], int] | None:
        """Return what tells about how many queries show."""
        if self.mode == "paper":
            return None
        return (
            self.public_list_release().cut() if self.mode == "pure" else Cut.of(self.mechanisms())
        ).queries

    def guarantee(self) -> Guarantee:
        """Promise what the mode promises."""
        promises = {
            "approx": approx_guarantee,
            "pure": pure_guarantee,
            "paper": published_guarantee,
        }
        return promises[self.mode](self)
