"""The same methods on Spark: one log, two engines, the same releases. Real worker processes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import kills
import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import queryveil as qv
from conftest import NO_JAVA
from queryveil.cli.app import app
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.dp.public_counts import EmptyCellSampler
from queryveil.engine.operations import aggregate, map_partitions, protect_partitions
from queryveil.engine.table import EngineConfig
from queryveil.errors import InputError, UsageError
from queryveil.ledger.ledger import Ledger
from queryveil.log.screening import screen
from queryveil.log.sensitive import drop_topics

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason=NO_JAVA)
MASTER = "local-cluster[1,2,1024]"  # one process of two cores starts sooner than two
# Small tables: what Spark does to be fast with large ones takes longer than the work.
LESS = "-XX:TieredStopAtLevel=1"
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.task.maxFailures": "2",
    "spark.driver.extraJavaOptions": LESS,
    "spark.executor.extraJavaOptions": LESS,
}
REPLACED = "semantic-replacement:domain=animal"
ODD = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    "1\tRed  Shoes\t2006-03-01 10:00:00\t1\thttp://a.example\n"
    "1\tred shoes\t2006-03-01 10:00:00\t2\thttp://b.example\n"
    "2\t\t2006-03-01 10:00:00\t\t\n"
    "2\t-\t2006-03-01 10:00:00\t\t\n"
    "3\tcats\tnever\t\t\n"
    "\tdogs\t2006-03-01 10:00:00\t\t\n"
    "4\tdogs\t2006-03-02 10:00:00\tx\thttp://a.example\n"
    "5\tdogs\t2006-03-02 10:00:00\t1\thttp://a.example\tmore\n"
    "6\tÜber uns\t2006-03-03 10:00:00\t\t\n"
    "7\tcats and dogs\t2006-03-04 10:00:00\t\t\n"
)


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineConfig]:
    """Start real worker processes once for all tests."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(kills)
    one = EngineConfig("spark", spark_master=MASTER, spark_config=QUICK)
    spark = one.open()
    yield one
    spark.session.stop()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a synthetic log."""
    folder = tmp_path_factory.mktemp("log")
    qv.write_synthetic_log(folder / "log.tsv", users=300, seed=1)
    return folder / "log.tsv"


@pytest.fixture(scope="module")
def here(path: Path) -> qv.QueryLog:
    """Read it on this machine."""
    return qv.read_log(path)


@pytest.fixture(scope="module")
def there(path: Path, engine: EngineConfig) -> qv.QueryLog:
    """Read it on the cluster."""
    return qv.read_log(path, engine=engine)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the log of many people who ask little: all that each asks counts."""
    lines = [
        f"{user}\t{query}\t2006-03-{1 + user % 9:02} 10:0{place}:00\t{rank}\t{url}"
        for user in range(400)
        for place, query in enumerate(("weather", "news today", f"team {user % 5}", f"my {user}"))
        for rank, url in ((place + 1, f"http://{place}.example"), ("", ""))[: 1 + user % 2]
    ]
    path = tmp_path_factory.mktemp("crowd") / "log.tsv"
    path.write_text("\n".join([ODD.split("\n", maxsplit=1)[0], *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def far_crowd(crowd: Path, engine: EngineConfig) -> qv.QueryLog:
    """Read it on the cluster."""
    return qv.read_log(crowd, engine=engine)


IDENTIFIERS = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    "1\tweather\t2006-03-01 10:00:00\t1\thttp://a.example/?token=b7\n"
    "1\tjane@mail.example\t2006-03-01 10:01:00\t1\thttp://a.example\n"
    "2\tcall 212-555-0123\t2006-03-01 10:02:00\t\t\n"
    "3\tweather\t2006-03-01 10:03:00\t2\thttp://a.example\n"
    "3\tJane(at)mail.example\t2006-03-01 10:04:00\t\t\n"
)


@pytest.mark.parametrize("setting", ["drop", "mask"])
def test_identifiers_are_searched_there_too(
    setting: str, engine: EngineConfig, tmp_path: Path
) -> None:
    path = tmp_path / "log.tsv"
    path.write_text(IDENTIFIERS)
    here, there = qv.read_log(path), qv.read_log(path, engine=engine)
    one, two = screen(here, setting), screen(there, setting)
    assert one.accounting.dropped == two.accounting.dropped
    assert one.accounting.normalized == two.accounting.normalized
    assert (one.count(), one.accounting.kept) == (two.count(), two.accounting.kept)
    method = "frequent-queries:min-users=1:min-click-users=1:pseudonym-scope=none"
    cards = [
        qv.anonymize(log, method, identifiers=setting).write(tmp_path / name, format="tsv")
        for log, name in ((here, "here"), (there, "there"))
    ]
    assert cards[0].dropped == cards[1].dropped
    lines = [(tmp_path / name / "public/log.tsv").read_text() for name in ("here", "there")]
    texts = [sorted(line.split("\t")[1:] for line in text.splitlines()) for text in lines]
    assert texts[0] == texts[1]
    assert "mail.example" not in lines[1]


def test_sensitive_topics_are_dropped_there_too(engine: EngineConfig, tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    queries = ("weather", "breast cancer", "county jail")
    lines = [f"u{n}\t{query}\t2006-03-01 10:00:00\t\t\n" for n in range(5) for query in queries]
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    here, there = qv.read_log(path), qv.read_log(path, engine=engine)
    one, two = (drop_topics(log, "drop:health,crime") for log in (here, there))
    assert one.accounting.dropped == two.accounting.dropped
    assert (one.count(), one.accounting.kept) == (two.count(), two.accounting.kept) == (5, 5)
    counts = [qv.profile(log).sensitive for log in (here, there)]
    assert counts[0] == counts[1]
    assert counts[0]["health"].users == 5


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no noise; all of it is drawn on the driver, so that this is enough."""
    zeros = lambda self, size, scale: np.zeros(size, np.int64)  # noqa: E731
    monkeypatch.setattr(NoiseSource, "laplace", zeros)
    monkeypatch.setattr(NoiseSource, "gaussian", zeros)
    nothing = lambda self, cells, source: np.zeros(0, np.int64)  # noqa: E731
    monkeypatch.setattr(EmptyCellSampler, "sample", nothing)


def plain(rows: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    table = rows.lazy().collect()
    return table.with_columns(pl.col(pl.Categorical).cast(pl.String))


def owned(release: qv.Release) -> pl.DataFrame:
    """Give the released rows under the users' own names, in one order."""
    assert release.log is not None and release.mapping is not None
    names = plain(release.mapping).select("pseudonym", owner="user")
    rows = plain(release.log).join(names, left_on="user", right_on="pseudonym").drop("user")
    return rows.sort(pl.all())


# -- reading ----------------------------------------------------------------------------------


def test_odd_rows_are_told_as_here(engine: EngineConfig, tmp_path: Path) -> None:
    path = tmp_path / "odd.tsv"
    path.write_text(ODD)
    asked = {
        "max_rejected": 1,
        "since": "2006-03-01",
        "until": "2006-03-03",
        "exclude_users": {"6"},
    }
    one, two = qv.read_log(path, **asked), qv.read_log(path, engine=engine, **asked)
    for name in ("rows", "dropped", "rejected", "normalized", "excluded_users", "kept"):
        assert getattr(one.accounting, name) == getattr(two.accounting, name), name
    assert two.count() == one.count() == 2
    reasons = two.accounting.rejected_rows()["reason"].to_list()
    assert sorted(reasons) == sorted(one.accounting.rejected_rows()["reason"].to_list())


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_all_formats_hold_the_same_log(
    form: str, here: qv.QueryLog, engine: EngineConfig, tmp_path: Path
) -> None:
    rows = plain(here.local_frame)
    for part in range(2):  # a folder of several files
        some = rows[part::2]
        if form == "csv":
            some.write_csv(tmp_path / f"{part}.csv")
        else:
            some.write_parquet(tmp_path / f"{part}.parquet")
    if form == "parquet":  # as a notebook has it
        found = qv.read_log(engine.open().session.read.parquet(str(tmp_path)))
    else:
        found = qv.read_log(tmp_path, engine=engine)
    assert found.accounting.kept == here.accounting.kept
    assert found.count("event") == here.count("event")
    assert {name: found.count_distinct(name) for name in ("user", "query", "url")} == {
        name: here.count_distinct(name) for name in ("user", "query", "url")
    }


def test_a_log_is_described_as_here(here: qv.QueryLog, there: qv.QueryLog) -> None:
    mapper = qv.make_mapper("wordnet")
    assert qv.profile(there, taxonomy=mapper) == qv.profile(here, taxonomy=mapper)


def test_a_user_with_endless_lines_is_cut_by_whole_minutes(
    engine: EngineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queryveil.log.spark_reader.MAX_ROWS_PER_PARTITION", 50)
    robot = [f"9\tq{n % 7}\t2006-03-01 10:{n // 10:02}:00\t\t" for n in range(400)]
    people = [f"{n}\tweather\t2006-03-01 10:00:00\t\t" for n in range(10, 50)]
    header = ODD.split("\n", maxsplit=1)[0]
    (tmp_path / "log.tsv").write_text("\n".join([header, *robot, *people]) + "\n")
    log = qv.read_log(tmp_path / "log.tsv", engine=engine)
    assert log.accounting.dropped == {"beyond a user's first 50 lines": 350}
    assert log.count() == log.accounting.kept == 90
    assert log.count_distinct("user") == 41


# -- methods ----------------------------------------------------------------------------------


def test_frequent_queries_are_the_same(here: qv.QueryLog, there: qv.QueryLog) -> None:
    line = "frequent-queries:min-users=3:min-click-users=2:pseudonym-scope=session"
    one, two = qv.anonymize(here, line), qv.anonymize(there, line)
    assert_frame_equal(owned(one), owned(two))
    assert (one.dropped, one.blanked) == (two.dropped, two.blanked)
    sizes = [plain(r.log).group_by("user").len()["len"].sort() for r in (one, two)]
    assert sizes[0].equals(sizes[1])


@pytest.mark.usefixtures("silent")
def test_statistics_without_noise_are_the_same(
    crowd: Path, far_crowd: qv.QueryLog, tmp_path: Path
) -> None:
    here = qv.read_log(crowd)
    (tmp_path / "pool.txt").write_text("weather\nnews today\nmy 7\nnever asked")
    results = "\n".join(f"{q}\thttp://{n}.example" for n, q in enumerate(("weather", "news today")))
    (tmp_path / "results.tsv").write_text(results)
    asked = "epsilon=100:max-queries-per-user=5:max-clicks-per-user=5"
    lines = [
        *(f"dp-statistics:{asked}:delta=0.001:selection={way}" for way in ("gaussian", "sips")),
        f"dp-statistics:{asked}:delta=0.001:selection=guided:contribution-order=random",
        f"dp-statistics:{asked}:mode=pure:public-queries={tmp_path}/pool.txt:public-results={tmp_path}/results.tsv",
        f"click-graph:{asked}:public-results={tmp_path}/results.tsv",
    ]
    for line in lines:
        one, two = (qv.anonymize(log, line, ledger=f"{tmp_path}/") for log in (here, far_crowd))
        assert {"weather", "news today"} <= set(one.tables["queries"]["query"]), line
        assert one.tables["clicks"].height > 0, line
        for name, table in one.tables.items():
            assert_frame_equal(table, two.tables[name])


def test_users_give_no_more_than_is_allowed(there: qv.QueryLog) -> None:
    from queryveil.methods.statistics.contributions import bound_contributions, query_pairs

    def bounded(frame: pl.LazyFrame, chance: RandomSource) -> pl.DataFrame:
        mine = bound_contributions(query_pairs(frame, chance), 3, None, chance)
        return mine.group_by("user").agg(keys=pl.len())

    found = aggregate(there.table, bounded, ["user"], RandomSource())
    assert found.height == there.count_distinct("user")
    assert found["keys"].max() == 3


@pytest.mark.parametrize(
    "line",
    [
        "semantic-replacement:max-phrases-per-user=9:domain=animal",
        "concept-histogram:domain=animal",
    ],
)
def test_each_user_has_her_slots_once(
    line: str, here: qv.QueryLog, there: qv.QueryLog, tmp_path: Path
) -> None:
    release = qv.anonymize(there, line, ledger=f"{tmp_path}/")
    card = release.write(tmp_path / "out")
    assert card.engine.startswith("spark ")
    assert qv.verify(tmp_path / "out").holds
    rows = plain(release.log)
    slots = int(release.parameters["max_phrases_per_user"])
    expected = pl.DataFrame({"time": range(1, slots + 1)}, schema={"time": pl.Int32})
    assert rows.height == slots * here.count_distinct("user")
    assert_frame_equal(rows.select("time").unique().sort("time"), expected)
    assert rows.select("user", "time").is_unique().all()
    assert (
        plain(release.mapping)["user"]
        .sort()
        .equals(plain(here.local_frame.select("user").unique())["user"].sort())
    )
    assert release.dropped == qv.anonymize(here, line, ledger=f"{tmp_path}/").dropped


def test_blocks_are_anonymous_each(
    there: qv.QueryLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queryveil.methods.microaggregation.blocking.BLOCK_USERS", 160)
    release = qv.anonymize(there, "semantic-microaggregation:k=4")
    card = release.write(tmp_path / "out")
    assert qv.verify(tmp_path / "out").holds
    groups = plain(release.mapping)
    # A user who sent identifiers alone is in no group.
    users = screen(there, "drop", min_name_users=4).count_distinct("user")
    assert groups["user"].n_unique() == groups.height == users
    identifiers = sum(n for why, n in card.dropped.items() if "looks like" in why)
    assert card.dropped["replaced by the log of the group"] + identifiers == there.accounting.kept
    sizes = groups.group_by("group").len()["len"]
    assert sizes.min() >= 4 and sizes.max() < 8


# -- measures ---------------------------------------------------------------------------------


def test_measures_are_the_same(here: qv.QueryLog, there: qv.QueryLog) -> None:
    release = qv.anonymize(here, "semantic-microaggregation:k=3", seed=1)
    wanted = ["query-coverage", "record-linkage"]
    one, two = (qv.measure(log, release, wanted) for log in (here, there))
    for name in wanted:
        # On a cluster nobody computes what the threshold would allow at best.
        local = {k: v for k, v in one[name].baselines.items() if k != "best_with_threshold"}
        assert replace(one[name], baselines=local) == two[name], name


# -- failure ----------------------------------------------------------------------------------


def test_what_was_drawn_is_not_drawn_again(there: qv.QueryLog, tmp_path: Path) -> None:
    """An executor dies in mid-run: its shares are drawn anew, and no share shows two draws."""
    work = kills.Traced(tmp_path, 2.0)
    begun = lambda: any(tmp_path.iterdir())  # noqa: E731
    split = map_partitions(there.table, lambda frame, _: frame.collect(), RandomSource())
    whole = kills.while_killing(lambda: protect_partitions(split, work, RandomSource()), begun)
    rows = whole.rows.collect()
    shares = whole.counts["shares"]
    attempts = {path.name for path in tmp_path.iterdir()}
    assert len(attempts) > shares, "the executor died too late for this test to say anything"
    assert rows["drawn"].n_unique() == shares
    assert rows["user"].is_unique().all() and rows.height == there.count_distinct("user")
    kept = {f"{min(names)}-{drawn[0]}" for drawn, names in rows.group_by("drawn").agg("user").rows()
            for drawn in [(drawn,)]}  # fmt: skip
    assert kept <= attempts


def test_a_lost_executor_costs_nothing(
    there: qv.QueryLog, here: qv.QueryLog, tmp_path: Path
) -> None:
    """The ledger is written before the first draw, and once."""
    ledger = tmp_path / "ledger.db"

    def job() -> qv.PrivateCard:
        release = qv.anonymize(there, REPLACED, ledger=f"{tmp_path}/")
        return release.write(tmp_path / "out")

    card = kills.while_killing(job, ledger.exists)
    assert card.public.figures.rows == 100 * here.count_distinct("user")
    assert qv.verify(tmp_path / "out").holds
    with Ledger.open(ledger) as book:
        assert [entry.epsilon for entry in book.entries()] == [1]


def test_a_method_for_one_machine_is_refused_before_anything_is_paid(
    there: qv.QueryLog, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="profile-first needs the whole log on one machine"):
        qv.anonymize(there, "profile-first", ledger=f"{tmp_path}/")
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="needs the whole log on one machine"):
        there.local_frame  # noqa: B018


def test_errors_of_work_are_told_in_its_words(there: qv.QueryLog) -> None:
    def stumble(frame: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
        if frame.collect().height:
            raise UsageError("this share cannot be protected")
        return pl.DataFrame({"all": [0]})

    with pytest.raises(UsageError, match="this share cannot be protected"):
        aggregate(there.table, stumble, ["all"])


def test_the_command_takes_the_running_session(
    engine: EngineConfig, path: Path, tmp_path: Path
) -> None:
    command = [
        "anonymize",
        str(path),
        "--engine",
        "spark",
        "--method",
        "frequent-queries:min-users=5",
    ]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert '"engine": "spark' in (tmp_path / "out" / "private" / "card.json").read_text()
    with pytest.raises(UsageError, match="a session of Spark runs already"):
        EngineConfig("spark", spark_master="local").open()


def test_the_scratch_folder_is_gone_with_the_log(
    engine: EngineConfig, path: Path, tmp_path: Path
) -> None:
    log = qv.read_log(path, engine=engine)
    place = Path(log.table.place.removeprefix("file:"))
    assert place.exists()
    assert place.parent.stat().st_mode & 0o077 == 0
    del log
    assert not place.exists()
    shared = qv.read_log(path, engine=EngineConfig("spark", spark_scratch=str(tmp_path / "shared")))
    (run,) = (tmp_path / "shared").iterdir()
    assert run.stat().st_mode & 0o077 == 0
    del shared
    assert not run.exists()


def test_the_log_is_not_where_executors_look(engine: EngineConfig, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        qv.read_log(tmp_path / "nothing.parquet", engine=engine)


def test_this_machine_needs_no_spark(path: Path) -> None:
    import subprocess

    code = f"import sys, queryveil as q; q.read_log({str(path)!r}); print('pyspark' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=os.environ
    )
    assert told.stdout.strip() == b"False"


def test_a_repeat_is_paid_and_a_named_copy_is_not(far_crowd: qv.QueryLog, tmp_path: Path) -> None:
    line = qv.parse_method("click-graph:epsilon=5")
    for name in ("one", "two"):
        card = qv.anonymize_to_folder(far_crowd, line, tmp_path / name, ledger=f"{tmp_path}/")
        assert card.copied is None
    copied = qv.copy_release(tmp_path / "one", tmp_path / "three", ledger=f"{tmp_path}/")
    assert copied.copied == str(tmp_path / "one")


def test_a_log_is_named_by_its_rows(
    engine: EngineConfig, crowd: Path, far_crowd: qv.QueryLog
) -> None:
    """Read in another order and number of files it is the same log."""
    header, *lines = crowd.read_text().splitlines()
    parts = crowd.parent / "parts"
    parts.mkdir()
    for part in range(2):
        (parts / f"{part}.tsv").write_text("\n".join([header, *lines[part::2]]) + "\n")
    again = qv.read_log(parts, engine=engine)
    assert again.sources[0].sha256 == far_crowd.sources[0].sha256
    assert again.accounting.kept == far_crowd.accounting.kept


def test_a_log_of_a_cluster_must_name_its_population(engine: EngineConfig, tmp_path: Path) -> None:
    pl.DataFrame({"user": ["1", "2"], "query": ["a", "a"]}).write_parquet(tmp_path / "x.parquet")
    frame = engine.open().session.read.parquet(str(tmp_path))
    log = qv.read_log(frame)
    with pytest.raises(UsageError, match="no folder for a ledger"):
        qv.anonymize(log, "click-graph")
    none = qv.read_log(frame, exclude_users={"1", "2"})
    assert qv.profile(none).size.kept_rows == none.count_distinct("user") == 0


def test_files_with_other_headers_are_refused(engine: EngineConfig, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("AnonID\tQuery\n1\tcats\n")
    (tmp_path / "b.tsv").write_text("Query\tAnonID\ncats\t1\n")
    with pytest.raises(InputError, match="different first lines"):
        qv.read_log(tmp_path, engine=engine)


def test_a_row_that_looks_like_a_header_stops_nothing(engine: EngineConfig, tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = "AnonID\tQuery\n1\tcats\nuser\tquery\ncookie\tsearch\n"
        (tmp_path / f"{name}.tsv").write_text(text)
    log = qv.read_log(tmp_path, engine=engine)
    assert (log.count(), log.count_distinct("user")) == (6, 3)


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl"])
def test_each_row_is_read_alone_there_too(engine: EngineConfig, tmp_path: Path, name: str) -> None:
    """The same rows and rejections as here, whatever one user's rows look like."""
    times = ["13/02/2006", "2006-03-01", "1.3.2006 10:00", "1141207205", "soon", ""]
    rows = [(str(n % 3), f"query {n}", time) for n, time in enumerate(times * 2)]
    sign = "\t" if name == "log.tsv" else ","
    lines = [sign.join(("user", "query", "time")), *(sign.join(row) for row in rows)]
    if name == "log.jsonl":
        fields = [dict(zip(("user", "query", "time"), row, strict=True)) for row in rows]
        lines = [*(json.dumps(row) for row in fields), "{", '{"user": ["x"], "query": {"a": 1.0}}']
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    here, there = (qv.read_log(path, engine=one, may_stop=False) for one in ("local", engine))
    assert there.accounting.rejected == here.accounting.rejected
    assert there.count() == here.count() > 0
    assert qv.profile(there).size.queries == qv.profile(here).size.queries
