"""What every method owes: the promise on the written files, and nothing else in them.

The recounts here are plain Python over the written file and the input. A new method needs a
recount of its own promise in `RECOUNTS`, or of each check that it promises in `CHECKS`, else
the first test says so.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, reduce
from hashlib import sha256
from html import unescape
from itertools import islice, pairwise
from operator import getitem
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.errors import QueryveilError
from queryveil.methods.microaggregation import queries as stand_ins
from queryveil.methods.replacement import base as family
from queryveil.release.cards import PrivateCard, PublicCard
from queryveil.release.guarantee import standing_of
from queryveil.release.metadata import metadata_files
from queryveil.release.page import render_card
from queryveil.workflows.verification import verify

USERS = 150
# Parameters under which a log of so few users gives something to look at; else the defaults.
LINES = {
    "frequent-queries": "frequent-queries:min-users=6:min-click-users=3",
    "semantic-microaggregation": "semantic-microaggregation:k=3",
    "string-microaggregation": "string-microaggregation:k=3",
    "category-microaggregation": "category-microaggregation:k=3",
    "syntactic-microaggregation": "syntactic-microaggregation:k=3:max-rows-per-user=4",
    "semantic-replacement": "semantic-replacement:domain=sport:max-phrases-per-user=5",
    "profile-first": "profile-first:domain=A:max-phrases-per-user=5",
    "concept-histogram": "concept-histogram:domain=sport:max-phrases-per-user=5",
}
# What gives tables instead of a log is looked at in test_statistics.py.
TABLES = ("dp-statistics", "click-graph")
# Baselines that are never for publication, whatever their parameters.
UNFIT = ("disconnected-graph",)
METHODS = [LINES.get(name, name) for name in qv.METHODS if name not in TABLES]
# The first of a family shows what the others would show again: they share promise and writing.
ALIKE = ("string-", "category-", "syntactic-", "profile-first", "concept-histogram")
FIRST = [line for line in METHODS if not line.startswith(ALIKE)]
CASES = [(line, "tsv") for line in METHODS] + [(line, "parquet") for line in FIRST]
CASES += [(line, form) for line in FIRST if line.startswith("freq") for form in ("csv", "jsonl")]

Row = tuple[str, str, str, int | None, str | None]


def name_of(case: tuple[str, str]) -> str:
    """Name a test after the form and the method."""
    line, form = case
    return f"{form}-{line}"


@dataclass(frozen=True)
class Made:
    """A release on disk, with what went in."""

    folder: Path
    card: PrivateCard
    method: qv.Method
    log: qv.QueryLog

    @property
    def public(self) -> Path:
        return self.folder / "public"

    @property
    def makes_rows(self) -> bool:
        """Whether the card says that released rows are no rows of the log."""
        return bool(self.card.generated)

    @property
    def has_slots(self) -> bool:
        """Whether rows are numbered instead of dated."""
        return any(check.check == "slots" for check in self.method.guarantee().checks)

    @property
    def shares_logs(self) -> bool:
        """Whether groups of users share one log."""
        return self.method.guarantee().model == "k-anonymity"

    def rows(self) -> list[Row]:
        return list(published(self.public))

    def input_rows(self) -> list[Row]:
        return list(rows_of(Path(self.log.sources[0].path)))


@cache
def published(public: Path) -> list[Row]:
    """Read the rows of a release that no test changes, once."""
    return read_rows(public)


@cache
def rows_of(path: Path) -> list[Row]:
    """Read the rows of a log that no test changes, once."""
    texts = pl.col("user", "query", "time", "url").cast(pl.String)
    return qv.read_log(path).local_frame.with_columns(texts).collect().rows()


def read_rows(public: Path) -> list[Row]:
    """Read the published log with other means than queryveil's own, where there are any."""
    if (path := public / "log.parquet").exists():
        return pl.read_parquet(path).with_columns(pl.col("time").cast(pl.String)).rows()
    if (path := public / "log.jsonl").exists():
        return [tuple(json.loads(line).values()) for line in path.read_text("utf-8").splitlines()]
    if (path := public / "log.tsv").exists():
        cells = [line.split("\t") for line in path.read_text("utf-8").split("\n")[1:-1]]
    else:
        with (public / "log.csv").open(encoding="utf-8", newline="") as file:
            cells = list(csv.reader(file))[1:]
    bare = [[cell.removeprefix("'") or None for cell in row] for row in cells]
    return [(u, q, t, int(r) if r else None, url) for u, q, t, r, url in bare]


def make(
    path: Path, folder: Path, line: str, form: str = "parquet", seed: int | None = None
) -> Made:
    log, method = qv.read_log(path), qv.parse_method(line)
    card = qv.anonymize(log, method, seed=seed).write(folder, format=form)
    return Made(folder, card, method, log)


@pytest.fixture(autouse=True, scope="module")
def no_hints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        one = cache(Mapper)  # to make one takes a third of a run
        patch.setattr(family, "Mapper", one)
        patch.setattr(stand_ins, "Mapper", one)
        yield


@pytest.fixture(scope="module")
def synthetic(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first users of the log, in a folder: the ledger of private releases lies beside it."""
    lines = synthetic.read_text("utf-8").splitlines(keepends=True)
    users = dict.fromkeys(line.split("\t")[0] for line in lines[1:])
    chosen = {"AnonID", *[*users][:USERS]}
    path = tmp_path_factory.mktemp("population") / "log.tsv"
    path.write_text("".join(line for line in lines if line.split("\t")[0] in chosen), "utf-8")
    return path


@pytest.fixture(scope="module")
def larger(large: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first lines of the large log, for methods that would take seconds for all of them."""
    path = tmp_path_factory.mktemp("larger") / "log.tsv"
    with large.open("rb") as lines, path.open("wb") as file:
        file.writelines(islice(lines, 40_001))
    return path


Once = Callable[..., Made]


@pytest.fixture(scope="module")
def once(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make each release once, in whatever order tests ask for them."""

    @cache
    def release(line: str, form: str = "tsv", seed: int | None = None) -> Made:
        return make(synthetic, tmp_path_factory.mktemp("made") / "out", line, form, seed)

    return release


@pytest.fixture(scope="module", params=METHODS)
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=CASES, ids=name_of)
def made(request: pytest.FixtureRequest, once: Once) -> Made:
    return once(*request.param)


@pytest.fixture(scope="module")
def one(line: str, once: Once) -> Made:
    """The same in one form, for what has nothing to do with the form."""
    return once(line)


@pytest.fixture(scope="module")
def seeded(line: str, once: Once) -> Made:
    return once(line, seed=9)


# --- the promise ---------------------------------------------------------------------------------


def recount_frequent_queries(made: Made) -> None:
    queries, pairs, ranks, days = (defaultdict(set) for _ in range(4))
    for user, query, time, rank, url in made.input_rows():
        queries[query].add(user)
        pairs[query, url].add(user)
        ranks[query, url, rank].add(user)
        days[time[:10]].add(user)
    released = made.rows()
    assert made.card.generated == {}  # it leaves out and blanks, and makes nothing
    assert len({query for _, query, *_ in released}) > 5
    assert any(url for *_, url in released)
    for _, query, time, rank, url in released:
        assert len(queries[query]) >= made.method.min_users, query
        assert time is None or re.fullmatch(r"2006-\d\d-\d\d", time)
        assert time is None or len(days[time]) >= made.method.min_users, time
        if url is None:
            assert rank is None
        else:
            assert len(pairs[query, url]) >= made.method.min_click_users, (query, url)
        assert rank is None or len(ranks[query, url, rank]) >= made.method.min_click_users, (
            query,
            url,
            rank,
        )
    assert any(time for _, _, time, _, _ in released)
    assert any(rank for _, _, _, rank, _ in released)


def whole_logs(rows: list[Row]) -> dict[str, frozenset[tuple[tuple[Any, ...], int]]]:
    """Give each name's rows without the name, and how often each stands there."""
    logs = defaultdict(Counter)
    for user, *row in rows:
        logs[user][tuple(row)] += 1
    return {user: frozenset(log.items()) for user, log in logs.items()}


def recount_equal_logs(made: Made, given: dict[str, Any]) -> None:
    k = made.method.guarantee().k
    assert type(k) is int
    assert k >= 2
    assert given["k"] == cards(made)[0]["guarantee"]["k"] == k
    logs = whole_logs(made.rows())
    shared = Counter(logs.values())
    assert len(shared) > 5  # one log for everybody would be easy, and of no use
    assert len(set(made.rows())) > 50
    assert min(shared.values()) >= k
    assert len(logs) <= len({user for user, *_ in made.input_rows()})


def recount_time_step(made: Made, given: dict[str, Any]) -> None:
    forms = {
        "month": r"2006-\d\d-01",
        "day": r"2006-\d\d-\d\d",
        "hour": r"2006-\d\d-\d\d \d\d:00:00(\.0+)?",
    }
    for _, _, time, _, _ in made.rows():
        if given["step"] == "none":
            assert time is None
        else:
            assert time is None or re.fullmatch(forms[given["step"]], time), time


def recount_no_clicks(made: Made, given: dict[str, Any]) -> None:
    assert not given
    assert not [row for row in made.rows() if row[3:] != (None, None)]


def recount_slots(made: Made, given: dict[str, Any]) -> None:
    slots = defaultdict(list)
    for user, _, time, _, _ in made.rows():
        slots[user].append(int(time))
    assert given == {"rows": made.method.max_phrases_per_user, "all": True}
    assert len(slots) == len({user for user, *_ in made.input_rows()})
    assert {tuple(sorted(mine)) for mine in slots.values()} == {tuple(range(1, given["rows"] + 1))}
    assert len({query for _, query, *_ in made.rows()}) > 50


def recount_disjoint_clicks(made: Made, given: dict[str, Any]) -> None:
    assert not given
    queries = defaultdict(set)
    for _, query, _, _, url in made.rows():
        queries[url].add(query)
    queries.pop(None, None)
    assert len(queries) > 50
    assert {len(several) for several in queries.values()} == {1}


RECOUNTS: dict[str, Callable[[Made], None]] = {"frequent-queries": recount_frequent_queries}
CHECKS: dict[str, Callable[[Made, dict[str, Any]], None]] = {
    "equal-logs": recount_equal_logs,
    "time-step": recount_time_step,
    "no-clicks": recount_no_clicks,
    "slots": recount_slots,
    "disjoint-clicks": recount_disjoint_clicks,
}


def test_the_promise_holds_on_the_written_file(made: Made) -> None:
    if made.method.name in RECOUNTS:
        RECOUNTS[made.method.name](made)
        return
    guarantee = made.method.guarantee()
    names = {check.check for check in guarantee.checks}
    assert names <= CHECKS.keys(), "this method has no recount of its promise here"
    if guarantee.model == "k-anonymity":
        assert "equal-logs" in names
    for check in guarantee.checks:
        CHECKS[check.check](made, check.arguments)


def words_of(text: str) -> str:
    """Give the words of a text, each between two blanks, so that only whole ones are found."""
    return " ".join(["", *re.findall(r"\w+", text), ""])


def test_what_is_released_stood_in_the_log(made: Made) -> None:
    """A row is one of the log, coarser; or it was made, of queries or phrases of the log.

    Where rows are numbered slots it is a name of a concept, whatever stood in the log.
    """
    known = made.input_rows()
    queries = {query for _, query, *_ in known}
    if made.has_slots:
        labels = set(qv.open_taxonomy("wordnet").labels.series())
        assert {query for _, query, *_ in made.rows()} <= labels
        return
    if made.makes_rows:
        texts = "\n".join(map(words_of, queries))
        strange = {query for _, query, *_ in made.rows()} - queries
        assert not [query for query in strange if words_of(query) not in texts]
        assert {row[4] for row in made.rows()} <= {row[4] for row in known} | {None}
        return
    days = Counter((query, time[:10]) for _, query, time, _, _ in known)
    clicks = Counter((query, time[:10], rank, url) for _, query, time, rank, url in known)
    timed = [(q, time[:10], rank, url) for _, q, time, rank, url in made.rows() if time]
    assert Counter((query, day) for query, day, _, _ in timed) <= days
    assert Counter(row for row in timed if row[2] is not None) <= clicks


def test_the_mapping_says_who_is_who(made: Made) -> None:
    text = (made.folder / "private" / "mapping.tsv").read_text("utf-8")
    header, *lines = (line.split("\t") for line in text.splitlines())
    assert header[:2] == ["user", "pseudonym"]
    assert header[2:] in ([], ["group"], ["slots"])
    assert {line[0] for line in lines} <= {user for user, *_ in made.input_rows()}
    assert len({line[0] for line in lines}) == len({line[1] for line in lines}) == len(lines)
    logs = whole_logs(made.rows())
    assert {line[1] for line in lines} == logs.keys()
    groups = defaultdict(list)
    for _, pseudonym, *group in lines:
        groups[tuple(group)].append(logs[pseudonym])
    if "group" in header:
        k = made.method.guarantee().k
        assert all(len(group) >= k and len(set(group)) == 1 for group in groups.values())


def test_verify_passes(made: Made) -> None:
    found = verify(made.folder)
    assert found.holds, found
    assert {f.check for f in found.findings} >= {"files", "figures", "private", "card"}


def test_verify_passes_on_a_copy_of_the_public_files_alone(made: Made, tmp_path: Path) -> None:
    copy = shutil.copytree(made.public, tmp_path / "copy")
    assert verify(copy).holds


# --- what must not be in it ----------------------------------------------------------------------


def test_output_is_shuffled(made: Made) -> None:
    released = made.rows()
    queries = [query for _, query, *_ in released]
    kept = set(queries)
    assert queries != [query for _, query, *_ in made.input_rows() if query in kept]
    # In the input a person's rows stand together. Among shuffled ones few neighbours do.
    names = [user for user, *_ in released]
    if made.has_slots:  # or in the order of what is published, which is random itself
        assert released == sorted(released, key=lambda row: (row[0], int(row[2])))
        return
    together = sum(a == b for a, b in pairwise(names))
    assert together < len(names) / 3


def test_unseeded_runs_differ(one: Made, line: str, synthetic: Path, tmp_path: Path) -> None:
    two = make(synthetic, tmp_path / "two", line, "tsv")
    assert one.card.public.files != two.card.public.files
    assert [row[1:] for row in one.rows()] != [row[1:] for row in two.rows()]
    assert {row[0] for row in one.rows()}.isdisjoint(row[0] for row in two.rows())


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Give the bytes of every file, and what is packed in them (Parquet's pages)."""
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes()
        yield path.name, data
        for found in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), data):
            frame = zstandard.ZstdDecompressor().decompressobj()
            yield path.name, frame.decompress(data[found.start() :])


def said(public: Path, *patterns: str) -> str:
    """Give the text of the cards and descriptions, without digests."""
    texts = [path.read_text("utf-8") for one in patterns for path in sorted(public.glob(one))]
    return re.sub(r"\b[0-9a-f]{64}\b", "", "".join(texts))


def test_the_packed_pages_are_looked_into(made: Made) -> None:
    # Else the two tests below would prove nothing about Parquet.
    query = made.rows()[0][1].encode()
    assert any(query in data for name, data in contents(made.public) if name.startswith("log."))


def test_no_user_of_the_log_is_in_public(made: Made) -> None:
    users = {row[0] for row in made.input_rows()}
    assert len(users) == USERS
    for name, data in contents(made.public):
        assert b"someone-" not in data, name
        assert not [user for user in users if user[-12:].encode() in data], name


def test_no_dropped_query_is_in_public(made: Made) -> None:
    released = "\n".join(f"{query}\n{url}" for _, query, _, _, url in made.rows())
    words = said(made.public, "*.json", "*.html")
    dropped = {
        query
        for _, query, *_ in made.input_rows()
        if len(query) > 6
        and query not in released
        and query not in words
        and query.strip(",;\"'") == query  # a comma may be the file's own
    }
    assert len(dropped) > 1000
    for name, data in contents(made.public):
        text = data.decode("utf-8", "replace")
        assert not [query for query in dropped if query in text], name


def test_pseudonyms_are_no_function_of_the_names(
    seeded: Made, line: str, tmp_path: Path, synthetic: Path
) -> None:
    # The same order of users under other names gives the same public bytes for a seed.
    text = synthetic.read_text("utf-8")
    renamed = re.sub(r"^someone-(\d{6})-\w{12}", r"person-\1", text, flags=re.M)
    other = tmp_path / "other.tsv"
    other.write_text(renamed, "utf-8")
    assert renamed != text
    renamed_too = make(other, tmp_path / "two", line, "tsv", seed=9)
    assert public_bytes(seeded.folder) == public_bytes(renamed_too.folder)


def public_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "public").iterdir()}


# --- the cards -----------------------------------------------------------------------------------

PUBLIC = {
    "schema", "queryveil", "method", "parameters", "guarantee", "standing", "release_grade",
    "not_release_grade_because", "warnings", "figures", "files", "notes", "noise",
    "identifiers",
}  # fmt: skip
GUARANTEE = {
    "model", "unit", "neighbours", "given", "k", "epsilon", "delta", "per_query_epsilon",
    "assumptions", "not_covered", "checks", "statement", "relation", "losses",
}  # fmt: skip
INTERNAL = {
    "input",
    "engine",
    "method_spec",
    "output",
    "generated",
    "dropped",
    "blanked",
    "ledger",
    "measured",
    "seconds",
    "peak_mb",
}
MODELS = {"k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none"}


def cards(made: Made) -> tuple[dict[str, Any], dict[str, Any]]:
    public = json.loads((made.public / "release.json").read_text("utf-8"))
    return public, json.loads((made.folder / "private" / "card.json").read_text("utf-8"))


def test_cards_are_complete(made: Made) -> None:
    public, internal = cards(made)
    assert public.keys() == PUBLIC
    assert public["guarantee"].keys() == GUARANTEE
    assert public["guarantee"]["model"] in MODELS
    assert public["guarantee"]["unit"] == "user"
    assert public["guarantee"]["assumptions"]
    assert public["guarantee"]["not_covered"]
    assert public["guarantee"]["checks"]
    # What was left to the method is shown as it was decided.
    decided = {"min_users": made.method.k, "max_share": 0.4} if made.shares_logs else {}
    assert public["parameters"] == made.method.params() | decided
    assert public["method"] == made.method.name
    assert public["queryveil"] == qv.__version__
    assert internal.keys() == public.keys() | INTERNAL
    assert PrivateCard.from_dict(internal) == made.card
    assert {key: internal[key] for key in public} == public
    assert internal["input"].keys() >= {"rows", "users", "queries", "rejected", "sha256"}
    assert internal["seconds"].keys() >= {"write", "verify"}
    assert internal["engine"] == "local"
    assert internal["peak_mb"] > 10


def test_figures_of_the_public_card_follow_from_the_file(made: Made) -> None:
    rows = made.rows()
    distinct = [{row[i] for row in rows if row[i] is not None} for i in (0, 1, 4)]
    expected = [len(rows), *map(len, distinct)]
    assert cards(made)[0]["figures"] == dict(
        zip(("rows", "ids", "queries", "urls"), expected, strict=True)
    )


def test_every_row_is_accounted_for(made: Made) -> None:
    card = cards(made)[1]
    rejected, dropped = card["input"]["rejected"], card["dropped"]
    lines = Path(made.log.sources[0].path).read_bytes().count(b"\n") - 1  # the header is no row
    total = len(made.rows()) + sum(dropped.values()) + sum(rejected.values())
    assert card["input"]["rows"] == lines == total - sum(card["generated"].values())
    assert sum(card["generated"].values()) <= len(made.rows())
    assert all(rows > 0 for rows in card["generated"].values())


def test_rows_that_cannot_be_read_are_accounted_for(
    line: str, synthetic: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.tsv"
    log.write_bytes(
        synthetic.read_bytes()
        + b"someone\ta query\tyesterday\t\t\n"  # rejected
        + b"someone\tq\t2006-03-01 10:00:00\tfirst\thttp://a.example\n"  # rejected
        + b"someone\t-\t2006-03-01 10:00:00\t\t\n"  # dropped
    )
    made = make(log, tmp_path / "out", line)
    card, lines = cards(made)[1], len(log.read_bytes().splitlines()) - 1
    assert sum(card["input"]["rejected"].values()) == 2
    total = card["output"]["rows"] + sum(card["dropped"].values()) + 2
    assert card["input"]["rows"] == total - sum(card["generated"].values()) == lines
    table = (tmp_path / "out" / "private" / "rejected.tsv").read_text().splitlines()
    assert [row.split("\t")[1] for row in table] == ["line", str(lines - 1), str(lines)]


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def test_the_public_card_tells_nothing_of_the_log(made: Made) -> None:
    public, internal = cards(made)
    counts = internal["input"]
    secret = {counts["rows"], counts["users"], counts["queries"], *counts["normalised"].values()}
    secret |= {*internal["dropped"].values(), *internal["blanked"].values()}
    secret |= set(internal["generated"].values())
    if made.makes_rows:
        # Every user may have got a pseudonym, and every row may have been made: then anyone
        # can count them in the public log.
        secret -= set(public["figures"].values())
    secret = {number for number in secret if number > 99}  # smaller ones meet by chance
    assert len(secret) >= (2 if made.makes_rows else 4)
    assert {counts["rows"], counts["queries"]} <= secret
    assert not secret & set(leaves(public))
    public.pop("files")  # its digests hold every number
    text = json.dumps(public) + said(made.public, "[!r]*.json", "*.html")
    for number in secret:
        assert not re.search(rf"(?<![\w,.#]){number:,}(?![\w,%])", text), number
        assert not re.search(rf"(?<![\w,.#]){number}(?![\w,%])", text), number
    words = [*counts["sha256"], *counts["sha256"].values(), made.folder.parent.name, "peak"]
    assert not [word for word in words if word in text]
    card = json.dumps(public)  # in other files the name of a stage can be a word of the format
    assert not [stage for stage in internal["seconds"] if f'"{stage}"' in card]


def test_the_public_page_says_what_the_card_says(made: Made) -> None:
    public, internal = cards(made)
    page = unescape((made.public / "report.html").read_text("utf-8"))
    guarantee = public["guarantee"]
    for says in (guarantee["statement"], *guarantee["not_covered"], *guarantee["assumptions"]):
        assert says in page
    assert "http" not in page.replace("http-equiv", "")  # it needs nothing but itself
    private = unescape((made.folder / "private" / "report.html").read_text("utf-8"))
    assert "do not publish" in private
    assert "do not publish" not in page
    assert f"{internal['input']['rows']:,}" in private


# --- seeds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_same_seed_gives_the_same_bytes(
    case: tuple[str, str], once: Once, synthetic: Path, tmp_path: Path
) -> None:
    one, two = once(*case, seed=9), make(synthetic, tmp_path / "two", *case, seed=9)
    assert public_bytes(one.folder) == public_bytes(two.folder)


def test_another_seed_gives_other_bytes(
    seeded: Made, line: str, synthetic: Path, tmp_path: Path
) -> None:
    other = make(synthetic, tmp_path / "other", line, "tsv", seed=10)
    assert public_bytes(seeded.folder)["log.tsv"] != public_bytes(other.folder)["log.tsv"]


@pytest.mark.parametrize("first", FIRST)
def test_the_same_seed_gives_the_same_bytes_of_a_large_log(
    first: str, large: Path, larger: Path, tmp_path: Path
) -> None:
    # Large enough for several threads, which must not decide the order.
    log, runs = (large, 4) if first.startswith("frequent") else (larger, 2)
    made = [make(log, tmp_path / str(i), first, "jsonl", seed=9) for i in range(runs)]
    assert len({sha256((one.public / "log.jsonl").read_bytes()).digest() for one in made}) == 1


def test_a_seed_is_marked_as_not_for_publication(seeded: Made) -> None:
    public = cards(seeded)[0]
    assert public["release_grade"] is False
    assert any("seed" in reason for reason in public["not_release_grade_because"])
    assert "not for publication" in (seeded.public / "report.html").read_text()
    assert verify(seeded.folder).release_grade is False


def test_without_a_seed_it_is_for_publication(made: Made) -> None:
    unfit = made.method.name in UNFIT
    card = cards(made)[0]
    assert card["release_grade"] is not unfit
    assert bool(card["not_release_grade_because"]) is unfit
    follows = standing_of(made.method.guarantee(), made.method.reasons_not_to_publish())
    assert (card["standing"], card["release_grade"]) == (follows.level, follows.release_grade)
    assert card["not_release_grade_because"] == list(follows.because)
    assert card["warnings"] == list(made.method.warnings())
    assert ("not for publication" in (made.public / "report.html").read_text()) is unfit


# --- tampering -----------------------------------------------------------------------------------


@pytest.fixture(params=[case for case in CASES if case[0] in FIRST], ids=name_of)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    line, form = request.param
    return str(line), str(form)


@pytest.fixture
def copy(case: tuple[str, str], once: Once, tmp_path: Path) -> Path:
    """A copy of the release, in each form, that a test may damage."""
    return shutil.copytree(once(*case).folder, tmp_path / "release")


@pytest.fixture(params=FIRST)
def tsv(request: pytest.FixtureRequest, once: Once, tmp_path: Path) -> Path:
    """The same in one form, for damage that has nothing to do with the form."""
    return shutil.copytree(once(request.param).folder, tmp_path / "release")


def failed(folder: Path) -> set[str]:
    """Name the checks that do not hold; a card that cannot be read is one of them."""
    try:
        found = verify(folder)
    except QueryveilError as error:
        assert error.exit_code == 1
        return {type(error).__name__}
    names = {f.check for f in found.findings if not f.holds}
    assert found.holds == (not names)
    return names


def log_file(public: Path) -> Path:
    return next(path for path in public.iterdir() if path.name.startswith("log."))


def rewrite(public: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the published rows, in the file's own form."""
    path = log_file(public)
    names = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
             "url": pl.String}  # fmt: skip
    rows = pl.DataFrame(read_rows(public), schema=names, orient="row")
    changed = change(rows)
    write = {
        ".parquet": lambda: changed.write_parquet(path),
        ".jsonl": lambda: changed.write_ndjson(path),
        ".tsv": lambda: changed.write_csv(path, separator="\t", quote_style="never"),
        ".csv": lambda: changed.write_csv(path),
    }
    write[path.suffix]()


def mend_card(public: Path) -> None:
    """Make digests and figures on the card fit the changed files, as a careful forger would."""
    path = public / "release.json"
    card = json.loads(path.read_text("utf-8"))
    card["files"] = {
        file.name: sha256(file.read_bytes()).hexdigest()
        for file in public.iterdir()
        if file.name != "release.json"
    }
    rows = read_rows(public)
    distinct = [len({row[i] for row in rows} - {None}) for i in (0, 1, 4)]
    card["figures"] = dict(zip(("rows", "ids", "queries", "urls"), [len(rows), *distinct],
                               strict=True))  # fmt: skip
    redraw(public, card)
    path.write_text(json.dumps(card), "utf-8")


def edit_card(public: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = public / "release.json"
    card = json.loads(path.read_text("utf-8"))
    change(card)
    redraw(public, card)
    path.write_text(json.dumps(card), "utf-8")


def redraw(public: Path, card: dict[str, Any]) -> None:
    """Make the page and the metadata fit the card, as a careful forger would."""
    with suppress(Exception):  # a card with odd values cannot be drawn
        (public / "report.html").write_text(render_card(PublicCard.from_dict(card)), "utf-8")
    for old in public.glob("*-deployment.json"):  # another promise may have none
        old.unlink()
        if isinstance(card["files"], dict):
            del card["files"][old.name]
    with suppress(Exception):
        for name, text in metadata_files(PublicCard.from_dict(card)).items():
            (public / name).write_text(text, "utf-8")
    for name in ("report.html", "croissant.json", "dp-deployment.json"):
        if isinstance(card["files"], dict) and (public / name).exists():
            card["files"][name] = sha256((public / name).read_bytes()).hexdigest()


def test_the_forgers_tools_alone_break_nothing(copy: Path) -> None:
    # Else the tests below might fail for reasons other than the damage they do.
    rewrite(copy / "public", lambda rows: rows)
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == set()


def test_a_changed_cell_is_found(copy: Path) -> None:
    rewrite(copy / "public", lambda rows: rows.with_columns(
        query=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("another query")).otherwise("query")
    ))  # fmt: skip
    assert "files" in failed(copy)


def promised(public: Path, check: str, **given: Any) -> dict[str, Any]:
    """Give the check of that kind, and leave the test out where a method promises none."""
    card = json.loads((public / "release.json").read_text("utf-8"))
    for found in card["guarantee"]["checks"]:
        if found["check"] == check and found.items() >= given.items():
            return dict(found)
    pytest.skip(f"{card['method']} promises no {check}")


@pytest.mark.parametrize("mended", [False, True])
def test_a_query_pushed_below_the_threshold_is_found(copy: Path, mended: bool) -> None:
    public = copy / "public"
    least = promised(public, "min-ids", columns=["query"])["at_least"]

    def take_away(rows: pl.DataFrame) -> pl.DataFrame:
        query = rows["query"][0]
        spared = rows.filter(pl.col("query") == query)["user"].unique().head(least - 1)
        return rows.filter((pl.col("query") != query) | pl.col("user").is_in(spared.implode()))

    rewrite(public, take_away)
    if not mended:
        assert {"files", "figures", "min-ids"} <= failed(copy)
        return
    mend_card(public)
    assert "card" in failed(copy)  # the owner's card tells
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"min-ids"}  # and without it the promise itself


def test_a_rare_click_is_found(copy: Path) -> None:
    promised(copy / "public", "min-ids", columns=["query", "url"])
    rewrite(copy / "public", lambda rows: rows.with_columns(
        url=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("http://rare.example"))
        .otherwise("url")
    ))  # fmt: skip
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"min-ids"}


def drop_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out the first row of a user who has several: else a whole user would go."""
    first = pl.arg_where(pl.len().over("user") > 1).first()
    return rows.filter(pl.int_range(pl.len()) != first)


def change_first(**cells: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Put other cells into the first row of a user who has several."""
    first = pl.int_range(pl.len()) == pl.arg_where(pl.len().over("user") > 1).first()
    changes = [
        pl.when(first).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in cells.items()
    ]
    return lambda rows: rows.with_columns(changes)


@pytest.mark.parametrize(
    "change",
    [
        change_first(query="another query"),
        change_first(user="aaaabbbbcccc"),
        drop_first,
        lambda rows: rows[[0, *range(rows.height)]],
    ],
    ids=["query", "user", "one row less", "one row twice"],
)
def test_a_log_that_too_few_share_is_found(
    copy: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    promised(copy / "public", "equal-logs")
    rewrite(copy / "public", change)
    mend_card(copy / "public")
    assert "card" in failed(copy)  # the owner's card tells
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"equal-logs"}  # and without it the promise itself


def test_a_group_of_one_user_too_few_is_found(copy: Path) -> None:
    k = promised(copy / "public", "equal-logs")["k"]
    logs = whole_logs(read_rows(copy / "public"))
    log = next(iter(logs.values()))
    alike = [user for user in logs if logs[user] == log]
    rewrite(copy / "public", lambda rows: rows.filter(~pl.col("user").is_in(alike[k - 1 :])))
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"equal-logs"}


def odd_time(time: str | None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    first = pl.int_range(pl.len()) == 0
    return lambda rows: rows.with_columns(time=pl.when(first).then(pl.lit(time)).otherwise("time"))


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1:],
        lambda rows: rows[[0, *range(rows.height)]],
        change_first(user="aaaabbbbcccc"),
        odd_time("2006-03-01"),
        odd_time("2006-03-01 10:11:12"),
        odd_time("2"),
        odd_time(None),
    ],
    ids=["a row less", "a row twice", "another user", "day", "second", "number twice", "no time"],
)
def test_a_slot_too_many_or_dated_is_found(
    copy: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    promised(copy / "public", "slots")
    rewrite(copy / "public", change)
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"slots"}


@pytest.mark.parametrize("finer", ["2006-03-01 10:11:12", "2006-03-01 10:00:00", "10:11", "1"])
def test_a_finer_time_is_found(copy: Path, finer: str) -> None:
    promised(copy / "public", "time-step", step="day")
    card = json.loads((copy / "public" / "release.json").read_text("utf-8"))
    alike = {"equal-logs"} & {check["check"] for check in card["guarantee"]["checks"]}
    rewrite(copy / "public", lambda rows: rows.with_columns(
        time=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(finer)).otherwise("time")
    ))  # fmt: skip
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"time-step"} | alike


@pytest.mark.parametrize("figure", ["rows", "ids", "queries", "urls"])
def test_a_changed_figure_is_found(tsv: Path, figure: str) -> None:
    edit_card(tsv / "public", lambda card: card["figures"].update({figure: 12345}))
    assert failed(tsv) == {"figures", "card"}
    shutil.rmtree(tsv / "private")
    assert failed(tsv) == {"figures"}


def test_a_figure_too_many_is_found(tsv: Path) -> None:
    edit_card(tsv / "public", lambda card: card["figures"].update(users_of_the_log=300))
    assert failed(tsv) >= {"figures"}


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["parameters"].update(min_users=1000),
        lambda card: card["guarantee"].update(statement="nobody can ever be found"),
        lambda card: card["guarantee"].update(model="pure-dp", epsilon=0.1),
        lambda card: card["guarantee"].update(not_covered=[]),
        lambda card: card.update(release_grade=not card["release_grade"]),
        lambda card: card["guarantee"]["checks"].pop(),
    ],
)
def test_any_change_of_the_card_is_found_by_its_owner(
    tsv: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    edit_card(tsv / "public", change)
    assert "card" in failed(tsv)


@pytest.mark.parametrize("place", [(), ("guarantee",), ("noise",)])
def test_a_part_that_a_card_does_not_have_is_refused(tsv: Path, place: tuple[str, ...]) -> None:
    edit_card(
        tsv / "public", lambda card: reduce(getitem, place, card).update(more="about the log")
    )
    assert failed(tsv) == {"VerificationError"}


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["parameters"].update(min_users=1000),
        lambda card: card["parameters"].update(power="great"),
        lambda card: card["guarantee"].update(statement="nobody can ever be found"),
        lambda card: card["guarantee"].update(model="pure-dp", epsilon=0.1),
        lambda card: card["guarantee"].update(not_covered=[]),
        lambda card: card["guarantee"]["checks"].pop(),
        lambda card: card.update(method="no-such-method"),
    ],
)
def test_a_promise_that_is_not_the_methods_is_found_by_anyone(
    tsv: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    edit_card(tsv / "public", change)
    shutil.rmtree(tsv / "private")
    assert failed(tsv) - {"standing"} == {"promise"}


def test_a_card_without_checks_proves_nothing(tsv: Path) -> None:
    edit_card(tsv / "public", lambda card: card["guarantee"].update(checks=[]))
    shutil.rmtree(tsv / "private")
    assert failed(tsv) == {"checks", "promise"}


def test_another_log_is_found(copy: Path, case: tuple[str, str], once: Once) -> None:
    other = once(*case, seed=9)
    shutil.copy(log_file(other.public), log_file(copy / "public"))
    assert "files" in failed(copy)


def test_cells_that_no_check_counts_are_found(copy: Path) -> None:
    """A null query, a null user, a rank without its URL: each would slip past the thresholds."""
    kept = shutil.copytree(copy / "public", copy.parent / "kept")
    shutil.rmtree(copy / "private")
    for spoilt in ({"query": None}, {"user": None}, {"url": None, "rank": 99}):
        first = pl.int_range(pl.len()) == 0
        changes = [
            pl.when(first).then(pl.lit(value)).otherwise(name).alias(name)
            for name, value in spoilt.items()
        ]
        rewrite(copy / "public", lambda rows, changes=changes: rows.with_columns(changes))
        mend_card(copy / "public")
        assert "cells" in failed(copy)
        shutil.rmtree(copy / "public")
        shutil.copytree(kept, copy / "public")


def test_a_changed_page_is_found(tsv: Path) -> None:
    page = tsv / "public" / "report.html"
    page.write_text(page.read_text().replace("What is not covered", "What is covered"))
    assert failed(tsv) == {"files", "page"}


@pytest.mark.parametrize("name", ["mapping.tsv", "log.csv", ".hidden", "log.tsv.bak"])
def test_an_extra_file_is_found(tsv: Path, name: str) -> None:
    (tsv / "public" / name).write_text("user\tpseudonym\n")
    unlike_ours = {"bytes"} if name == "log.csv" else set()  # a log in another form than it says
    assert failed(tsv) == {"files", "names"} | unlike_ours


def test_an_extra_folder_is_found(tsv: Path) -> None:
    (tsv / "public" / "more").mkdir()
    assert failed(tsv) == {"plain"}


@pytest.mark.parametrize("name", ["log", "report.html"])
def test_a_missing_file_is_found(copy: Path, name: str) -> None:
    path = log_file(copy / "public") if name == "log" else copy / "public" / name
    path.unlink()
    assert "files" in failed(copy)


def test_a_link_in_place_of_a_file_is_found(copy: Path, tmp_path: Path) -> None:
    log = log_file(copy / "public")
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    assert failed(copy) == {"plain"}


def test_a_folder_in_place_of_a_file_is_found(copy: Path) -> None:
    log = log_file(copy / "public")
    log.unlink()
    log.mkdir()
    assert failed(copy) == {"plain"}


@pytest.mark.parametrize("keep", [0, 1, 200, -2])
def test_a_cut_card_is_found(tsv: Path, keep: int) -> None:
    path = tsv / "public" / "release.json"
    path.write_bytes(path.read_bytes()[:keep].rstrip())
    assert failed(tsv) == {"VerificationError"}


@pytest.mark.parametrize("text", ["no json", "[]", "7", "null", '"x"', "{}", "\xff", "[" * 9999])
def test_a_card_that_is_none_is_found(tsv: Path, text: str) -> None:
    (tsv / "public" / "release.json").write_text(text, "latin-1")
    assert failed(tsv) == {"VerificationError"}


def test_a_missing_card_is_told(tsv: Path) -> None:
    (tsv / "public" / "release.json").unlink()
    assert failed(tsv) == {"InputError"}


ODD = [None, True, 0, -1, 1e400, "x", [], [1], {}, {"check": 1}, {"a": {"b": []}}]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_values_on_a_card_never_pass_and_never_crash(tsv: Path, odd: Any) -> None:
    path = tsv / "public" / "release.json"
    whole = path.read_text("utf-8")
    shutil.rmtree(tsv / "private")
    places = [["method"], ["release_grade"], ["figures"], ["files"], ["guarantee"],
              ["guarantee", "model"], ["guarantee", "checks"]]  # fmt: skip
    for number, check in enumerate(json.loads(whole)["guarantee"]["checks"]):
        places += [["guarantee", "checks", number]]
        places += [["guarantee", "checks", number, key] for key in check if key != "ids"]
    for place in places:
        card = json.loads(whole)
        inner = reduce(getitem, place[:-1], card)
        if type(inner[place[-1]]) is type(odd) and place[-1] not in ("columns", "at_least", "k"):
            continue  # a value of the right type is another test's matter
        inner[place[-1]] = odd
        path.write_text(json.dumps(card), "utf-8")
        assert failed(tsv), (place, odd)


def test_private_files_that_others_can_read_are_found(tsv: Path) -> None:
    (tsv / "private" / "card.json").chmod(0o644)
    assert failed(tsv) == {"private"}


def test_a_truncated_log_is_found(copy: Path) -> None:
    path = log_file(copy / "public")
    path.write_bytes(path.read_bytes()[:-7])
    assert "files" in failed(copy)


def test_a_log_of_noise_is_found_even_with_its_digest(copy: Path) -> None:
    path = log_file(copy / "public")
    path.write_bytes(b"\x00\xff noise \n" * 50)
    digest = sha256(path.read_bytes()).hexdigest()
    edit_card(copy / "public", lambda card: card["files"].update({path.name: digest}))
    assert failed(copy) & {"log", "columns", "figures"}
