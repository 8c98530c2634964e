"""`read_log`: files, patterns and packing, the owner's options, and a stop that explains itself."""

from __future__ import annotations

import gzip
import hashlib
import os
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
import zstandard

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import InputError, TooManyRejectedError, UsageError
from queryveil.log import reading as read
from queryveil.log.options import ReadOptions
from queryveil.log.query_log import QueryLog
from queryveil.log.readers import source
from queryveil.log.reading import read_log as read_a_log

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def aol(*users: str, query: str = "cats", day: int = 1) -> str:
    rows = (f"{user}\t{query}\t2006-03-{day:02} 10:00:05\t\t\n" for user in users)
    return HEADER + "".join(rows)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_log(*args: object, **more: object) -> QueryLog:
    """Read, and check what must always hold."""
    log = read_a_log(*args, **more)
    tally = log.accounting
    gone = sum(tally.dropped.values()) + sum(tally.rejected.values())
    assert tally.rows == log.count() + gone
    assert tally.rejected_rows().height == sum(tally.rejected.values())
    return log


def users_of(log: QueryLog) -> list[str]:
    return log.local_frame.collect()["user"].to_list()


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, Path, lambda path: [str(path)], lambda path: iter([path])])
def test_a_path_in_any_form(tmp_path, kind):
    path = write(tmp_path / "log.tsv", aol("7"))
    assert users_of(read_log(kind(path))) == ["7"]


def test_packed_and_plain_files_are_one_log(tmp_path):
    write(tmp_path / "1.tsv", aol("1", "2"))
    write(tmp_path / "2.tsv.gz", gzip.compress(aol("3").encode()) + gzip.compress(b"4\tx\t\n"))
    frames = [zstandard.compress(part.encode()) for part in (aol("5"), aol("6").partition("\n")[2])]
    write(tmp_path / "3.tsv.zst", b"".join(frames))
    log = read_log(tmp_path / "*", max_rejected=1)
    assert users_of(log) == ["1", "2", "3", "5", "6"]
    assert log.accounting.rejected_rows().rows() == [(str(tmp_path / "2.tsv.gz"), 3, "no time")]
    assert [Path(s.path).name for s in log.sources] == ["1.tsv", "2.tsv.gz", "3.tsv.zst"]
    for found in log.sources:
        assert found.sha256 == hashlib.sha256(Path(found.path).read_bytes()).hexdigest()


def test_several_formats_in_one_call(tmp_path):
    paths = [
        write(tmp_path / "a.tsv", aol("1")),
        write(tmp_path / "b.csv", "user;query;time\n2;dogs;25.03.2006 10:00\n"),
        write(tmp_path / "c.jsonl", '{"uid": 3, "q": "birds", "timestamp": 1141207205}\n'),
        write(tmp_path / "d.excite", "4\t970916105432\tfish\n"),
        tmp_path / "e.parquet",
    ]
    pl.DataFrame({"user": [5], "query": ["frogs"], "date": [date(2006, 3, 1)]}).write_parquet(
        paths[4]
    )
    log = read_log(paths)
    assert sorted(users_of(log)) == ["1", "2", "3", "4", "5"]
    assert {s.format for s in log.sources} == {"aol", "csv", "jsonl", "excite", "parquet"}
    assert sorted(log.local_frame.collect()["time"].dt.year().to_list()) == [
        1997,
        2006,
        2006,
        2006,
        2006,
    ]


def test_one_user_in_several_files_is_one_user(tmp_path):
    write(tmp_path / "a.tsv", aol("7"))
    write(tmp_path / "b.jsonl", '{"user": 7, "query": "CATS"}\n')
    pl.DataFrame({"user": [7], "query": [" cats"]}).write_parquet(tmp_path / "c.parquet")
    table = read_log([tmp_path / "a.tsv", tmp_path / "b.jsonl", tmp_path / "c.parquet"]).local_frame
    assert table.select(pl.col("user", "query").n_unique()).collect().row(0) == (1, 1)


def test_patterns_are_sorted_and_each_must_fit(tmp_path):
    for name in ("log-10.tsv", "log-02.tsv", "log-01.tsv"):
        write(tmp_path / name, aol(name))
    assert users_of(read_log(f"{tmp_path}/log-*.tsv")) == ["log-01.tsv", "log-02.tsv", "log-10.tsv"]
    with pytest.raises(InputError, match="no file fits") as caught:
        read_log([tmp_path / "log-01.tsv", tmp_path / "lgo-*.tsv"])
    assert "lgo-*" in caught.value.where


def test_a_name_with_the_signs_of_a_pattern(tmp_path):
    assert users_of(read_log(write(tmp_path / "log[1].tsv", aol("7")))) == ["7"]


def test_no_files():
    with pytest.raises(UsageError, match="no log was named"):
        read_log([])


def test_many_blocks_are_as_one(tmp_path, monkeypatch):
    text = aol(*(str(n) for n in range(500)), query="Red  Shoes") + "\t\t\t\t\n" * 3 + "x\n"
    path = write(tmp_path / "log.tsv", text)
    whole = read_log(path)
    monkeypatch.setattr(source, "BLOCK", 1000)
    parts = read_log(path)
    assert parts.local_frame.collect().rows() == whole.local_frame.collect().rows()
    assert parts.accounting.dropped == whole.accounting.dropped == {"blank line": 3}
    assert parts.accounting.normalized == whole.accounting.normalized
    assert parts.accounting.rejected_rows().rows() == whole.accounting.rejected_rows().rows()


def test_progress_comes_to_the_size_of_the_files(tmp_path):
    class Watched(NoProgress):
        total = done = 0

        def stage(self, name, total=None):
            Watched.total = total
            return super().stage(name, total)

        def _shown(self, name, total):
            from contextlib import nullcontext

            return nullcontext(self._add)

        def _add(self, more):
            Watched.done += more

    write(tmp_path / "a.tsv", aol("1"))
    write(tmp_path / "b.tsv.gz", gzip.compress(aol("2").encode()))
    pl.DataFrame({"user": [5], "query": ["frogs"]}).write_parquet(tmp_path / "c.parquet")
    watched = Watched()
    read_log(tmp_path / "*", progress=watched)
    assert Watched.done == Watched.total == sum(p.stat().st_size for p in tmp_path.iterdir())
    assert watched.seconds.keys() == {"read"}


# --- dates ---------------------------------------------------------------------------------------


def days(tmp_path: Path, **more: date) -> list[int]:
    text = HEADER + "".join(
        f"7\tcats\t2006-03-{day:02} {time}\t\t\n"
        for day in range(1, 6)
        for time in ("00:00:00", "23:59:59")
    )
    return (
        read_log(write(tmp_path / "log.tsv", text), **more)
        .local_frame.collect()["time"]
        .dt.day()
        .to_list()
    )


def test_first_and_last_day_are_kept_whole(tmp_path):
    march = [date(2006, 3, day) for day in range(1, 6)]
    assert days(tmp_path, since=march[1]) == [2, 2, 3, 3, 4, 4, 5, 5]
    assert days(tmp_path, until=march[1]) == [1, 1, 2, 2]
    assert days(tmp_path, since=march[2], until=march[2]) == [3, 3]
    assert len(days(tmp_path, since=date.min, until=date.max)) == 10


def test_all_days_may_be_outside(tmp_path):
    log = read_log(write(tmp_path / "log.tsv", aol("7")), since=date(2007, 1, 1))
    assert log.count() == 0
    assert log.accounting.dropped == {"outside the dates asked for": 1}


# --- users ---------------------------------------------------------------------------------------


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    text = aol(*(f"u{n % 40}" for n in range(200)))
    return write(tmp_path / "crowd.tsv", text)


@pytest.mark.parametrize(
    ("asked", "users"), [(1, 1), (7, 7), (40, 40), (0.1, 4), (0.5, 20), (0.001, 1)]
)
def test_samples_by_number_and_by_share(crowd, asked, users):
    log = read_log(crowd, sample_users=asked)
    assert len(set(users_of(log))) == users
    assert log.count() == 5 * users
    missing = 200 - 5 * users
    assert log.accounting.dropped == ({"not in the sample of users": missing} if missing else {})


def test_samples_are_repeatable_with_a_seed_and_only_then(crowd):
    def sample(chance: RandomSource) -> frozenset[str]:
        return frozenset(users_of(read_log(crowd, sample_users=20, rng=chance)))

    assert sample(RandomSource(3)) == sample(RandomSource(3))
    assert len({sample(RandomSource(seed)) for seed in range(5)}) > 1
    assert len({sample(RandomSource()) for _ in range(5)}) > 1


def test_a_sample_does_not_depend_on_the_order_of_the_file(crowd, tmp_path):
    lines = crowd.read_text().splitlines()
    turned = write(tmp_path / "turned.tsv", "\n".join([lines[0], *lines[:0:-1]]))
    first, second = (
        set(users_of(read_log(path, sample_users=5, rng=RandomSource(1))))
        for path in (crowd, turned)
    )
    assert first == second


def test_a_sample_larger_than_the_log(crowd):
    with pytest.raises(UsageError, match="41, but the log has only 40 users"):
        read_log(crowd, sample_users=41)


def test_users_who_objected(crowd):
    with pytest.warns(UserWarning, match="1 of the 3 users to leave out have no row"):
        log = read_log(crowd, exclude_users=frozenset({"u1", "u39", "nobody"}))
    assert set(users_of(log)) == {f"u{n}" for n in range(40)} - {"u1", "u39"}
    assert log.accounting.dropped == {"user asked to be left out": 10}


def test_a_file_named_twice_is_refused(crowd):
    with pytest.raises(UsageError, match="named twice"):
        read_log([crowd, str(crowd.parent / "." / crowd.name)])


def test_users_who_objected_are_not_in_the_sample(crowd):
    out = frozenset(f"u{n}" for n in range(38))
    log = read_log(crowd, exclude_users=out, sample_users=2)
    assert set(users_of(log)) == {"u38", "u39"}


# --- too many bad rows ---------------------------------------------------------------------------


def with_bad(good: int, bad: int) -> str:
    return aol(*["7"] * good) + "\tcats\t2006-03-01 10:00:05\t\t\n" * bad


@pytest.mark.parametrize(
    ("good", "bad", "most", "stops"),
    [
        (99, 1, 0.01, False),
        (98, 2, 0.01, True),
        (99, 1, 0.0, True),
        (100, 0, 0.0, False),
        (50, 50, 0.5, False),
        (0, 5, 1.0, False),
        (0, 5, 0.99, True),
    ],
)
def test_above_the_share_that_is_allowed_nothing_comes_back(tmp_path, good, bad, most, stops):
    path = write(tmp_path / "log.tsv", with_bad(good, bad))
    if stops:
        with pytest.raises(TooManyRejectedError):
            read_log(path, max_rejected=most)
    else:
        assert read_log(path, max_rejected=most).accounting.rejected == (
            {"no user": bad} if bad else {}
        )


def test_one_percent_is_the_default(tmp_path):
    assert read_log(write(tmp_path / "log.tsv", with_bad(99, 1))).count() == 99
    with pytest.raises(TooManyRejectedError):
        read_log(write(tmp_path / "log.tsv", with_bad(98, 2)))


def test_the_stop_says_how_many_why_where_and_what_to_do(tmp_path):
    text = aol("7") + "\tcats\t2006-03-01 10:00:05\t\t\n" * 2 + "8\tcats\tsoon\t\t\n" * 3
    path = write(tmp_path / "log.tsv", text)
    with pytest.raises(TooManyRejectedError) as caught:
        read_log(path)
    said = str(caught.value)
    assert "5 of 6 rows cannot be read (not a date: 3, no user: 2)" in said
    assert f"{path} line 3: no user; {path} line 4: no user; {path} line 5: not a date" in said
    assert '`time_format="%m/%d/%Y %H:%M"`' in caught.value.hint
    assert "`max_rejected`" in caught.value.hint
    assert "cats" not in said


def test_a_bad_beginning_does_not_stop_a_good_log(tmp_path, monkeypatch):
    """The share is of all rows: what comes later may be good."""
    monkeypatch.setattr(read, "_EARLY_STOP", 50)
    monkeypatch.setattr(source, "BLOCK", 400)
    bad, good = with_bad(0, 3), with_bad(700, 0).partition("\n")[2]
    assert read_log(write(tmp_path / "log.tsv", bad + good)).count() == 700


def test_a_hopeless_file_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "_EARLY_STOP", 50)
    monkeypatch.setattr(source, "BLOCK", 400)
    path = write(tmp_path / "log.tsv", with_bad(1, 5000))
    with pytest.raises(TooManyRejectedError, match=r"of \d\d rows cannot be read"):
        read_log(path)
    assert read_log(path, max_rejected=1).accounting.rejected == {"no user": 5000}


# --- options -------------------------------------------------------------------------------------


def test_how_times_are_written(tmp_path):
    path = write(tmp_path / "log.csv", "user,query,time\n7,cats,01.03.2006 22:30\n")
    log = read_log(path, time_format="%d.%m.%Y %H:%M")
    assert log.local_frame.collect()["time"].to_list() == [datetime(2006, 3, 1, 22, 30)]


def test_encoding(tmp_path):
    path = write(tmp_path / "log.tsv", aol("7", query="CAF\u00c9").encode("latin-1"))
    with pytest.raises(TooManyRejectedError) as caught:
        read_log(path)
    assert "not UTF-8: 1" in str(caught.value)
    assert '`encoding="cp1252"`' in caught.value.hint
    assert read_log(path, encoding="latin-1").local_frame.collect()["query"].to_list() == [
        "caf\u00e9"
    ]


def test_how_far_a_packed_file_may_expand(tmp_path):
    path = write(tmp_path / "log.tsv.gz", gzip.compress(aol("7", "8").encode()))
    with pytest.raises(InputError, match="expands to more than 60 bytes"):
        read_log(path, max_decompressed_size=60)
    assert read_log(path, max_decompressed_size=10_000).count() == 2


def test_options_as_one_object_and_more(tmp_path):
    path = write(tmp_path / "log.tsv", aol("7") + aol("8", day=9).partition("\n")[2])
    options = ReadOptions(since=date(2006, 3, 5))
    assert users_of(read_log(path, options)) == ["8"]
    assert users_of(read_log(path, options, exclude_users=frozenset({"8"}))) == []
    assert options.exclude_users == frozenset()


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_rejected": -0.1},
        {"max_rejected": 1.1},
        {"max_rejected": float("nan")},
        {"sample_users": 0},
        {"sample_users": -3},
        {"sample_users": float("nan")},
        {"sample_users": float("inf")},
        {"since": date(2006, 3, 2), "until": date(2006, 3, 1)},
        {"max_decompressed_size": 0},
        {"quote": ""},
        {"quote": "''"},
        {"quote": "\u201c"},
        {"quote": "\n"},
        {"time_format": "%Q"},
        {"format": "xlsx"},
    ],
    ids=str,
)
def test_options_that_make_no_sense(tmp_path, wrong):
    with pytest.raises(UsageError):
        read_log(write(tmp_path / "log.tsv", aol("7")), **wrong)


# --- names that are no files ---------------------------------------------------------------------


def test_a_file_that_is_not_there(tmp_path):
    write(tmp_path / "search-log.tsv", aol("7"))
    with pytest.raises(InputError, match="no such file") as caught:
        read_log(tmp_path / "serach-log.tsv")
    assert caught.value.hint == 'did you mean "search-log.tsv"?'
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / "zzz")
    assert caught.value.hint == "check the path"
    with pytest.raises(InputError) as caught:
        read_log(tmp_path / "no" / "such" / "folder.tsv")
    assert "folder does not exist" in caught.value.hint


def test_a_folder(tmp_path):
    with pytest.raises(InputError, match="this is a folder") as caught:
        read_log(tmp_path)
    assert f"{tmp_path}/*.tsv" in caught.value.hint


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe") as caught:
        read_log(tmp_path / "pipe")
    assert caught.value.hint


def test_a_name_that_no_file_can_have(tmp_path):
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(InputError):
            read_log(tmp_path / name)


def test_a_link_that_leads_nowhere(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("link", "loop"):
        with pytest.raises(InputError, match="no such file"):
            read_log(tmp_path / name)


def test_a_link_to_a_log(tmp_path):
    write(tmp_path / "log.tsv", aol("7"))
    (tmp_path / "link.tsv").symlink_to(tmp_path / "log.tsv")
    assert users_of(read_log(tmp_path / "link.tsv")) == ["7"]


def test_columns_of_a_format_that_has_its_own(tmp_path):
    path = write(tmp_path / "a.tsv", aol("1"))
    with pytest.raises(UsageError, match="has its own columns"):
        read_log(path, format="aol", columns={"user": "AnonID", "query": "Query"})


def test_python_takes_what_the_commands_take(tmp_path):
    path = write(tmp_path / "a.csv", "uid,q,t\n7,cats,2006-03-01\n8,dogs,2006-03-05\n")
    log = read_log(path, columns="user=uid,query=q,time=t", since="2006-03-02", exclude_users=[])
    assert users_of(log) == ["8"]
    assert log.sources[0].columns == {"user": "uid", "query": "q", "time": "t"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"column": {}},
        {"since": "soon"},
        {"sample_users": "5%"},
        {"max_rejected": "1%"},
        {"exclude_users": "objections.txt"},
    ],
)
def test_mistakes_in_python_are_explained(tmp_path, wrong):
    with pytest.raises(UsageError):
        read_log(write(tmp_path / "a.tsv", aol("1")), **wrong)


def test_days_of_a_log_without_times(tmp_path):
    path = write(tmp_path / "a.csv", "user,query\n7,cats\n")
    with pytest.raises(UsageError, match="has no times"):
        read_log(path, since=date(2006, 3, 1))


def test_objections_are_counted_on_the_tally(crowd):
    with pytest.warns(UserWarning):
        log = read_log(crowd, exclude_users=frozenset({"u1", "nobody"}))
    assert log.accounting.excluded_users == {"asked": 2, "found": 1}


def test_a_parquet_file_whose_name_is_a_pattern_is_itself(tmp_path):
    pl.DataFrame({"user": ["1"], "query": ["wrong"]}).write_parquet(tmp_path / "log1.parquet")
    right = tmp_path / "log[1].parquet"
    pl.DataFrame({"user": ["1"], "query": ["right"]}).write_parquet(right)
    assert read_log(right).local_frame.collect()["query"].to_list() == ["right"]
