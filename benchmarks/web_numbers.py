"""The numbers of the mapping of web queries: judged, covered, brands, speed, size of the data.

The verdicts are in docs/explanation/judged.md by topic number, the brands in brands.tsv here.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.result import ConceptMapping
from queryveil.concepts.taxonomy.graph import Taxonomy

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explanation" / "judged.md"
SOURCE = HERE.parent / "src" / "queryveil"
_ROW = re.compile(r"^\| (\d+) \| (\w+) \| (\w+) \|", re.MULTILINE)


@dataclass(frozen=True)
class Judged:
    """The shares of queries judged right by each judge and by both, and their agreement."""

    queries: int
    first: float
    second: float
    both: float
    agreement: float
    kappa: float


def read_judged(page: Path = PAGE) -> Judged:
    """Count the verdicts of the page; nothing to map and nothing mapped is right."""
    rows = _ROW.findall(page.read_text("utf-8"))
    verdicts = [(a != "wrong", b != "wrong") for _, a, b in rows]
    count = len(verdicts)
    first, second = (sum(pair[judge] for pair in verdicts) / count for judge in (0, 1))
    agreement = sum(a == b for a, b in verdicts) / count
    by_chance = first * second + (1 - first) * (1 - second)
    return Judged(
        count,
        first,
        second,
        sum(a and b for a, b in verdicts) / count,
        agreement,
        (agreement - by_chance) / (1 - by_chance),
    )


def read_brands() -> list[tuple[str, set[str]]]:
    lines = (HERE / "brands.tsv").read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return [(query, set(labels.split(","))) for query, labels in pairs]


def wrong_brands(mapper: Mapper) -> list[str]:
    """Return the brands of which no concept, nor one above it, has an expected label."""
    brands = read_brands()
    mapped = mapper.map(pl.Series([query for query, _ in brands])).phrases
    concepts: dict[int, list[int]] = {}
    for row, concept in mapped.filter(pl.col("concept") >= 0).select("query", "concept").rows():
        concepts.setdefault(row, []).append(concept)
    return [
        query
        for row, (query, labels) in enumerate(brands)
        if not any(labels & _labels_above(mapper.taxonomy, c) for c in concepts.get(row, []))
    ]


def _labels_above(taxonomy: Taxonomy, concept: int) -> set[str]:
    return {taxonomy.label(int(above)) for above in (concept, *taxonomy.ancestors(concept))}


def share_covered(mapping: ConceptMapping) -> float:
    return mapping.phrases.filter(pl.col("concept") >= 0)["query"].n_unique() / len(mapping.queries)


def share_of_users(log: pl.DataFrame, mapper: Mapper) -> tuple[float, float]:
    """Return the shares of distinct queries and of users of a log with a concept."""
    distinct = log["query"].unique(maintain_order=True)
    mapping = mapper.map(distinct)
    rows = mapping.phrases.filter(pl.col("concept") >= 0)["query"].unique()
    covered = log.filter(pl.col("query").is_in(distinct.gather(rows).implode()))
    return share_covered(mapping), covered["user"].n_unique() / log["user"].n_unique()


def read_log(path: Path) -> pl.DataFrame:
    """Read a log of three columns without a header: user, time, query."""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    rows = [(line.split("\t")[0], line.split("\t")[2].strip()) for line in lines if "\t" in line]
    table = pl.DataFrame(rows, schema=["user", "query"], orient="row")
    return table.filter(pl.col("query") != "")


def rates(taxonomy: Taxonomy, queries: pl.Series) -> tuple[float, float]:
    """Return queries a second of the first mapper, and of a second one in the same process."""
    measured = []
    for _ in range(2):
        mapper = Mapper(taxonomy)
        start = time.process_time()
        mapper.map(queries)
        measured.append(len(queries) / (time.process_time() - start))
    return measured[0], measured[1]


def data_size() -> int:
    """Return the bytes of the data files for concepts and names of the core package."""
    folders = (SOURCE / "concepts" / "data", SOURCE / "lexicons" / "data")
    return sum(path.stat().st_size for folder in folders for path in folder.iterdir())


def table(taxonomy: Taxonomy, queries: pl.Series | None, logs: list[Path]) -> str:
    """Return the table in Markdown; what is not installed here is left out."""
    mapper, judged, brands = Mapper(taxonomy), read_judged(), read_brands()
    rows = [
        ("judged right when the verdicts were given: first judge, second judge, both", "88%",
         f"{judged.first:.1%}, {judged.second:.1%}, {judged.both:.1%} of {judged.queries}"),
        ("agreement of the judges, Cohen's kappa", "",
         f"{judged.agreement:.1%}, {judged.kappa:.2f}"),
    ]  # fmt: skip
    wrong = wrong_brands(mapper)
    share = 1 - len(wrong) / len(brands)
    rows.append((f"{len(brands)} brands and sites right", "90%", f"{share:.1%}"))
    if queries is not None:
        distinct = queries.unique(maintain_order=True)
        first, second = rates(taxonomy, distinct)
        rows.append(("distinct TREC queries with a concept", "92%",
                     f"{share_covered(mapper.map(distinct)):.1%}"))  # fmt: skip
        rows.append(("speed on one core, a first and a second mapper", "60,000 a second",
                     f"{first:,.0f}, {second:,.0f}"))  # fmt: skip
    for path in logs:
        covered, users = share_of_users(read_log(path), mapper)
        rows.append((f"{path.name}: distinct queries, users with a concept", "92%, 98%",
                     f"{covered:.1%}, {users:.1%}"))  # fmt: skip
    rows.append(("data files of the core", "4 MB", f"{data_size() / 1e6:.2f} MB"))
    lines = ["| | aim | here |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join([*lines, "", f"Brands not right: {', '.join(wrong)}."])
