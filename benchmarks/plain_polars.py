"""The baseline: what a capable person writes in an afternoon, without our care.

It reads an AOL file, normalises, counts users per query and per click, joins, gives new
pseudonyms, shuffles, writes Parquet and reads it back to count. It checks no row, keeps no
account, proves nothing, and would leave half a file behind if it were killed.

Usage: plain_polars.py LOG OUT.parquet
"""

import sys

import polars as pl

LOG, OUT = sys.argv[1:]
N, M = 30, 5
KINDS = {
    "user": pl.String,
    "query": pl.String,
    "time": pl.String,
    "rank": pl.Int32,
    "url": pl.String,
}


def enough_users(rows: pl.DataFrame, keys: list[str], least: int) -> pl.LazyFrame:
    pairs = rows.lazy().select("user", *keys).drop_nulls(keys)
    counts = pairs.group_by(keys).agg(pl.col("user").n_unique())
    return counts.filter(pl.col("user") >= least).select(keys)


query = pl.col("query").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
log = (
    pl.scan_csv(LOG, separator="\t", quote_char=None, has_header=False, skip_rows=1, schema=KINDS)
    .with_columns(query, pl.col("time").str.to_datetime("%Y-%m-%d %H:%M:%S"))
    .filter(~pl.col("query").is_in(["", "-"]))
    .collect(engine="streaming")
)
frequent = enough_users(log, ["query"], N)
kept = log.lazy().join(frequent, on="query", how="semi").collect(engine="streaming")
clicks = enough_users(kept, ["query", "url"], M).with_columns(known=True)
people = kept.select("user").unique().sample(fraction=1, shuffle=True).with_row_index("pseudonym")
public = (
    kept.lazy()
    .join(clicks, on=["query", "url"], how="left")
    .join(people.lazy(), on="user")
    .select(
        pl.col("pseudonym").alias("user"),
        "query",
        pl.col("time").dt.date(),
        pl.when("known").then("rank").alias("rank"),
        pl.when("known").then("url").alias("url"),
    )
    .collect(engine="streaming")
    .sample(fraction=1, shuffle=True)
)
public.write_parquet(OUT)
back = pl.scan_parquet(OUT).group_by("query").agg(pl.col("user").n_unique())
rows = pl.scan_parquet(OUT).select(pl.len()).collect().item()
queries, least = back.select(pl.len(), pl.col("user").min()).collect(engine="streaming").row(0)
print(rows, queries, least)
