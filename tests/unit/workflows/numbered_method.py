"""A small method that pays for rows one by one, for tests of what extends a release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from queryveil.core.parameters import parameter
from queryveil.core.progress import Progress
from queryveil.core.randomness import RandomSource
from queryveil.log.query_log import QueryLog
from queryveil.methods.base import METHODS, MethodOutput
from queryveil.methods.continuation import ContinuableMethod, PreviousContributions
from queryveil.release.guarantee import Check, Guarantee

NONE = pl.DataFrame(schema={"user": pl.String, "pseudonym": pl.String, "slots": pl.Int64})


@dataclass(frozen=True)
class Slotted(ContinuableMethod):
    """Each row is a slot, and gives way to a number; `drawn` notes what anybody may have seen."""

    name: ClassVar[str] = "slotted"
    title: ClassVar[str] = "for tests"
    paper: ClassVar[str] = "none"
    guarantee_summary: ClassVar[str] = "nothing"
    drawn: ClassVar[Path | None] = None

    epsilon: float = parameter(1.0, "what one person can change", min=0.001, max=1000.0)
    max_phrases_per_user: int = parameter(4, "rows of a user", min=1, max=1000)
    words: str = parameter("", "a file")
    previous_epsilon: float = parameter(0.0, "spent before", min=0.0, max=1e6, internal=True)

    def input_files(self) -> tuple[Path, ...]:
        return (Path(self.words),) if self.words else ()

    def public_params(self) -> dict[str, Any]:
        return self.params() | {"words": Path(self.words).name}

    def guarantee(self) -> Guarantee:
        return Guarantee(
            model="conditional-dp",
            statement="A promise.",
            relation="replace-one",
            epsilon=self.previous_epsilon + self.epsilon,
            checks=(Check("no-clicks", {}),),
        )

    def count_contributions(self, log: QueryLog, earlier: PreviousContributions) -> pl.DataFrame:
        rows = log.local_frame.group_by("user").agg(slots=pl.len()).collect()
        wants = rows.select(pl.col("user").cast(pl.String), pl.col("slots").cast(pl.Int64))
        used = earlier.mapping.select("user", used="slots")
        free = (earlier.max_contributions - pl.col("used").fill_null(0)).clip(
            0, self.max_phrases_per_user
        )
        uses = wants.join(used, on="user", how="left").with_columns(free=free)
        return uses.select("user", slots=pl.min_horizontal("slots", "free"))

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> MethodOutput:
        return self.continue_release(
            log, PreviousContributions(NONE, self.max_phrases_per_user), chance, progress
        )

    def continuing(self, previous_epsilon: float) -> Slotted:
        return replace(self, previous_epsilon=previous_epsilon)

    def continue_release(
        self,
        log: QueryLog,
        earlier: PreviousContributions,
        chance: RandomSource,
        progress: Progress,
    ) -> MethodOutput:
        uses = self.count_contributions(log, earlier)
        mapping = earlier.updated(uses, chance)
        rows = mapping.select("user", "pseudonym").join(uses, on="user")
        rows = rows.select(pl.col("pseudonym").repeat_by("slots").explode(empty_as_null=False))
        if self.drawn:
            with self.drawn.open("a") as file:
                file.write(json.dumps(dict(uses.rows())) + "\n")
        public = rows.select(
            user="pseudonym",
            query="n" + pl.Series(chance.uint64s(rows.height)).cast(pl.String),
            time=pl.lit(None, pl.String),
            rank=pl.lit(None, pl.Int32),
            url=pl.lit(None, pl.String),
        )
        return MethodOutput(
            log=public.lazy(),
            mapping=mapping,
            dropped={"replaced": log.accounting.kept},
            generated={"drawn": public.height},
        )


@contextmanager
def known() -> Iterator[None]:
    """Let the method be found by its name, as long as a test runs."""
    with METHODS.adding(Slotted.name, Slotted):
        yield


def write_log(path: Path, rows: list[tuple[str, Any]]) -> Path:
    """Write rows of a user and a day (or none) as AOL does."""
    lines = [f"{user}\tq{day}\t{f'2006-03-{day:02} 10:00:00' if day else ''}\t\t\n"
             for user, day in rows]  # fmt: skip
    path.parent.mkdir(exist_ok=True)
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    return path
