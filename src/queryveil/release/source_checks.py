"""Checks of a release against the log that it was made of, for the data owner.

The public files cannot show how many users of the log sent a text, or what one member of a group
contributed. With the log and the private mapping both are counted again, on the written files. The
users are counted in chunks, so that memory does not grow with the pairs of users and texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..concepts.mapping.occurrences import TextRuns
from ..core.records import Scalar
from ..engine.operations import count_rows, match_encoding, unique_queries
from .cards import PublicCard
from .check_results import CheckResult
from .formats import KIND, QUERY, has_kinds

TEXTS, CLICKS, TIMES, MEMBERS = "log-texts", "log-clicks", "log-times", "log-shares"
SOURCE_CHECKS = (TEXTS, CLICKS, TIMES, MEMBERS)
_CHUNK_ROWS = 2_000_000  # rows of the log whose users are counted at a time
_PAIR = ["query", "url"]
_FORMATS = {"hour": "%Y-%m-%d %H:%M:%S", "day": "%Y-%m-%d", "month": "%Y-%m-01"}

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class SourceRules:
    """What a card promises about the users of the log.

    Attributes:
        min_users: The minimal number of users of a text and of a time.
        min_click_users: That of a click, and of a click at its rank.
        time_precision: The resolution of released times.
        has_phrases: Whether texts without a kind are phrases, and not whole queries.
        max_fraction: The maximal fraction of a group's log from one member; None without groups.
        k: The minimal number of members of a group.
    """

    min_users: int
    min_click_users: int
    time_precision: str
    has_phrases: bool = False
    max_fraction: float | None = None
    k: int = 1

    @classmethod
    def of(cls, card: PublicCard) -> SourceRules | None:
        """Return the rules of a card; None if nothing on it can be counted in the log."""
        stated: Mapping[str, Scalar] = card.parameters
        fraction, click_users = stated.get("max_member_fraction"), stated.get("min_click_users")
        min_users, precision = stated.get("min_users"), stated.get("time_precision")
        if not isinstance(min_users, int) or not isinstance(precision, str):
            return None
        if card.guarantee.model == "k-anonymity" and isinstance(fraction, int | float):
            has_phrases = stated.get("output_unit") == "phrase"
            k = card.guarantee.k or 1
            return cls(min_users, min_users, precision, has_phrases, float(fraction), k)
        if card.method == "frequent-queries" and isinstance(click_users, int):
            return cls(min_users, click_users, precision)
        return None


def check_source(
    frame: pl.LazyFrame, released: pl.LazyFrame, mapping: pl.DataFrame | None, rules: SourceRules
) -> list[CheckResult]:
    """Count again, in the log as the method read it, what the card promises of its users.

    Args:
        frame: The log as the method read it, without identifiers.
        released: The published log, as it was read from its file.
        mapping: The private mapping: user, pseudonym, and group where there are groups.
    """
    results = [_check_clicks(frame, released, rules), _check_times(frame, released, rules)]
    texts = _released_texts(released, rules)
    groups: _Groups | None = None
    if rules.max_fraction is not None:
        shared = _read_groups(frame, released, mapping, texts, rules)
        if isinstance(shared, CheckResult):
            results.append(shared)
        else:
            groups = shared
    counted = _count_senders(frame, texts, groups, rules)
    results.append(_judge_texts(texts, counted, rules))
    if groups is not None:
        results.append(_judge_members(counted, groups, rules))
    return sorted(results, key=lambda result: SOURCE_CHECKS.index(result.check))


def _check_clicks(frame: pl.LazyFrame, released: pl.LazyFrame, rules: SourceRules) -> CheckResult:
    """Check that enough users made each released click, and made it at its rank."""
    minimum, short, keys = rules.min_click_users, 0, 0
    for columns in (_PAIR, [*_PAIR, "rank"]):
        wanted = released.select(columns).drop_nulls().unique().collect(engine="streaming")
        keys += wanted.height
        wanted = match_encoding(frame, wanted, *columns)
        rows = frame.select("user", *columns).join(wanted.lazy(), on=columns, how="semi")
        counts = rows.unique().group_by(columns).len().filter(pl.col("len") >= minimum)
        short += wanted.height - count_rows(counts)
    statement = f"each of {keys:,} released clicks and ranks was had by {minimum:,} or more users"
    return _result(CLICKS, short, f"{statement} of the log")


def _check_times(frame: pl.LazyFrame, released: pl.LazyFrame, rules: SourceRules) -> CheckResult:
    """Check that enough users sent a query in each released hour, day or month."""
    wanted = released.select(time=pl.col("time").str.replace(r"\.0+$", "")).drop_nulls()
    times, step = wanted.unique().collect(engine="streaming"), rules.time_precision
    if step not in _FORMATS:
        return _result(TIMES, times.height, "no times are released")
    sent = frame.select("user", time=pl.col("time").dt.strftime(_FORMATS[step]))
    if step == "hour":
        sent = sent.with_columns(pl.col("time").str.replace(r"\d\d:\d\d$", "00:00"))
    counts = sent.drop_nulls().unique().group_by("time").len()
    enough = counts.filter(pl.col("len") >= rules.min_users).collect(engine="streaming")
    short = times.join(enough, on="time", how="anti").height
    statement = f"each of {times.height:,} times, to the {step}, was had by {rules.min_users:,}"
    return _result(TIMES, short, f"{statement} or more users of the log")


def _released_texts(released: pl.LazyFrame, rules: SourceRules) -> pl.DataFrame:
    """Return the distinct texts, as what they are released: name, complete, part."""
    is_complete = pl.lit(not rules.has_phrases)
    if has_kinds(released):
        is_complete = pl.col(KIND).cast(pl.String).eq_missing(QUERY)
    rows = released.select(name=pl.col("query").cast(pl.String), is_complete=is_complete)
    texts = rows.group_by("name").agg(
        complete=pl.col("is_complete").any(), part=~pl.col("is_complete").all()
    )
    return texts.sort("name").collect(engine="streaming")


@dataclass(frozen=True, repr=False)
class _Groups:
    """The groups of a release.

    Attributes:
        members: user and group.
        texts: The rows of each text in the log of each group: group, text, rows.
        sizes: The rows of the log of each group.
    """

    members: pl.DataFrame
    texts: pl.DataFrame
    sizes: Counts


def _read_groups(
    frame: pl.LazyFrame,
    released: pl.LazyFrame,
    mapping: pl.DataFrame | None,
    texts: pl.DataFrame,
    rules: SourceRules,
) -> _Groups | CheckResult:
    """Return the groups and the texts that each shares; a failed check if they do not fit."""
    if mapping is None or not {"user", "pseudonym", "group"} <= set(mapping.columns):
        return CheckResult(MEMBERS, False, "shares cannot be counted without private/mapping.tsv")
    number = pl.col("group").rank("dense").cast(pl.Int64) - 1
    members = mapping.select("user", "pseudonym", group=number)
    users = frame.select(pl.col("user").cast(pl.String)).unique().collect(engine="streaming")
    rows = released.group_by("user", "query").len().collect(engine="streaming")
    rows = rows.with_columns(pl.col("user", "query").cast(pl.String))
    names = rows.select(pseudonym=pl.col("user").unique())
    strange = members.join(users, on="user", how="anti").height
    strange += members.height - members.select("user").n_unique()
    strange += names.join(members, on="pseudonym", how="anti").height
    strange += members.join(names, on="pseudonym", how="anti").height
    sizes = members.group_by("group").len(name="members")
    known = texts.select("name").with_row_index("text")
    shared = (
        rows.join(members, left_on="user", right_on="pseudonym")
        .group_by("group", "query")
        .agg(rows=pl.col("len").min(), highest=pl.col("len").max(), having=pl.len())
        .join(sizes, on="group")
        .join(known, left_on="query", right_on="name")
    )
    unequal = pl.col("having").ne(pl.col("members")) | pl.col("rows").ne(pl.col("highest"))
    strange += shared.filter(unequal).height + sizes.filter(pl.col("members") < rules.k).height
    if strange or not members.height:
        message = "the mapping does not fit: its groups are those of the released logs"
        return _result(MEMBERS, max(strange, 1), message)
    lengths = shared.group_by("group").agg(pl.col("rows").sum()).sort("group")["rows"]
    return _Groups(
        members.select("user", "group"),
        shared.select("group", "text", pl.col("rows").cast(pl.Int64)),
        lengths.to_numpy().astype(np.int64),
    )


@dataclass(frozen=True, repr=False)
class _Senders:
    """How many users sent each text as a whole query, and how many sent it at all.

    `own` has the rows of texts that one member alone of their group sent: group, user, rows.
    """

    complete: Counts
    inside: Counts
    own: list[pl.DataFrame] = field(default_factory=list)


def _count_senders(
    frame: pl.LazyFrame, texts: pl.DataFrame, groups: _Groups | None, rules: SourceRules
) -> _Senders:
    queries = unique_queries(frame)
    numbers = pl.DataFrame({"query": queries}).with_row_index("number")
    equal = numbers.select("number", name=pl.col("query").cast(pl.String))
    equal = equal.join(texts.select("name").with_row_index("text"), on="name").drop("name")
    inside = equal
    if rules.max_fraction is not None:  # others release whole queries alone
        runs = TextRuns(texts["name"]).find(queries).rename({"query": "number"})
        inside = pl.concat([equal, runs.select("number", "text")]).unique()
    counted = _Senders(np.zeros(texts.height, np.int64), np.zeros(texts.height, np.int64))
    for chunk in _user_chunks(frame, groups):
        sent = frame.select("user", "query").join(chunk.lazy(), on="user")
        sent = sent.join(numbers.lazy(), on="query").select("person", "group", "number").unique()
        pairs = sent.collect(engine="streaming")
        for table, sums in ((equal, counted.complete), (inside, counted.inside)):
            senders = pairs.join(table, on="number").select("person", "group", "text").unique()
            counts = senders.group_by("text").len()
            sums[counts["text"].to_numpy()] += counts["len"].to_numpy()
        if groups is not None:
            counted.own.append(_own_rows(senders, groups))
    return counted


def _user_chunks(frame: pl.LazyFrame, groups: _Groups | None) -> Sequence[pl.DataFrame]:
    """Return the users in chunks, those of a group in the same one: user, person, group."""
    users = frame.select("user").unique().collect(engine="streaming").with_row_index("person")
    group = pl.lit(None, pl.Int64).alias("group")
    if groups is None:
        users = users.with_columns(group)
    else:
        members = match_encoding(frame, groups.members, "user")
        users = users.join(members, on="user", how="left")
    chunks = 1 + count_rows(frame) // _CHUNK_ROWS
    place = pl.coalesce("group", pl.col("person").cast(pl.Int64)) % chunks
    return users.with_columns(place=place).partition_by("place", include_key=False)


def _own_rows(senders: pl.DataFrame, groups: _Groups) -> pl.DataFrame:
    """Return the rows of each member whose text no other member sent: group, person, rows."""
    shared = senders.join(groups.texts, on=["group", "text"])
    by_text = shared.group_by("group", "text").agg(
        pl.len(), pl.col("person").first(), pl.col("rows").first()
    )
    return by_text.filter(pl.col("len") == 1).group_by("group", "person").agg(pl.col("rows").sum())


def _judge_texts(texts: pl.DataFrame, counted: _Senders, rules: SourceRules) -> CheckResult:
    complete, part = texts["complete"].to_numpy(), texts["part"].to_numpy()
    short = int((complete & (counted.complete < rules.min_users)).sum())
    short += int((part & (counted.inside < rules.min_users)).sum())
    statements = []
    if complete.any():
        statements.append(f"each of {int(complete.sum()):,} released queries was sent")
    if part.any():
        statements.append(f"each of {int(part.sum()):,} released parts was sent inside of queries")
    minimum = f"by {rules.min_users:,} or more users of the log"
    return _result(TEXTS, short, f"{', and '.join(statements) or 'each text was sent'} {minimum}")


def _judge_members(counted: _Senders, groups: _Groups, rules: SourceRules) -> CheckResult:
    own, fraction = pl.concat(counted.own), rules.max_fraction or 0.0
    length = groups.sizes[own["group"].to_numpy()]
    # Floats such as 1/49 are rounded down; 49 times that must be 1.
    limit = np.maximum(1, np.floor(length * fraction + 1e-9))
    beyond = int((own["rows"].to_numpy() > limit).sum())
    statement = f"in each of {len(groups.sizes):,} groups, the rows whose text one member alone"
    return _result(
        MEMBERS, beyond, f"{statement} sent are at most {fraction:.0%} of all, or one row"
    )


def _result(check: str, wrong: int, statement: str) -> CheckResult:
    return CheckResult(
        check, not wrong, f"{wrong:,} wrong, not so: {statement}" if wrong else statement
    )
