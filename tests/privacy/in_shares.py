"""A log in shares of whole users, as a cluster has it, without a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from queryveil.core.randomness import RandomSource
from queryveil.engine.table import PartitionFunction, ProtectedTable, ProtectFunction, RemoteTable
from queryveil.log.query_log import QueryLog, categorical_encoder

_TEXTS = (pl.Categorical, pl.Enum)


@dataclass(frozen=True, eq=False)
class Shares(RemoteTable):
    """Each share has an encoding of texts of its own, as on a cluster."""

    parts: list[pl.DataFrame]
    engine: str = "shares"

    def map_partitions(self, work: PartitionFunction, chance: RandomSource) -> Shares:
        return Shares([work(part.lazy(), chance) for part in self.parts])

    def aggregate_remote(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
    ) -> Shares:
        return Shares([self.aggregate(work, keys, chance, tops, None)])

    def aggregate(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
        at_least: tuple[str, int] | None,
    ) -> pl.DataFrame:
        parts = [work(part.lazy(), chance or RandomSource()) for part in self.parts]
        rows = pl.concat([part.with_columns(pl.col(_TEXTS).cast(pl.String)) for part in parts])
        others = [name for name in rows.columns if name not in keys]
        sums = [pl.col(n).max() if n in tops else pl.col(n).sum() for n in others]
        found = rows.group_by(keys).agg(sums)
        return found if at_least is None else found.filter(pl.col(at_least[0]) >= at_least[1])

    def count_distinct(self, column: str) -> int:
        return len({text for part in self.parts for text in part[column].cast(pl.String)})

    def protect_partitions(
        self, work: ProtectFunction, chance: RandomSource, at_once: int
    ) -> ProtectedTable:
        found = [work(part.lazy(), chance) for part in self.parts]
        counts: dict[str, int] = {}
        for part in found:
            for name, number in part.counts.items():
                counts[name] = counts.get(name, 0) + number
        texts = [part.rows.with_columns(pl.col(_TEXTS).cast(pl.String)) for part in found]
        mappings = [part.mapping for part in found if part.mapping is not None]
        mapping = pl.concat(mappings) if mappings else None
        return ProtectedTable(pl.concat(texts).lazy(), mapping, counts, found[0].texts)

    def repartition(self, blocks: RemoteTable) -> RemoteTable:
        raise NotImplementedError

    def count_users_by_flags(
        self, key: str, sizes: RemoteTable, marks: PartitionFunction
    ) -> pl.DataFrame:
        raise NotImplementedError


def in_shares(log: QueryLog, shares: int = 3) -> QueryLog:
    """Cut a log into shares of whole users."""
    rows = log.local_frame.collect()
    share = rows["user"].to_physical() % shares
    parts = [rows.filter(share == number) for number in range(shares)]
    texts = pl.col(_TEXTS).cast(pl.String)
    return replace(
        log, table=Shares([categorical_encoder()(part.with_columns(texts)) for part in parts])
    )
