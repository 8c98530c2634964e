"""Two releases of the same people: who can be distinguished, who is warned, what keeps groups."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from queryveil.errors import EmptyReleaseError, InputError, UsageError, VerificationError

K = 4
LINE = f"string-microaggregation:k={K}:min-users=2"
WORDS = ("hotel", "paris", "guitar", "beagle", "football", "recipe", "knife", "violin")
Command = Callable[..., Any]


def write_log(path: Path, users: range, seed: int) -> Path:
    """Write what some people sent, anew for each seed: their interests change."""
    chance = random.Random(seed)
    lines = ["user\tquery\ttime\trank\turl"]
    for user in users:
        for word in chance.choices(WORDS, k=6):
            lines.append(f"person-{user:03}\t{word}\t2006-03-0{chance.randint(1, 9)} 10:00:00\t\t")
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def release(path: Path, folder: Path, line: str = LINE, **more: Any) -> qv.PrivateCard:
    return qv.anonymize(qv.read_log(path), line, **more).write(folder)


def groups(folder: Path) -> dict[str, str]:
    return dict(pl.read_csv(folder / "private" / "mapping.tsv", separator="\t",
                            infer_schema=False).select("user", "group").rows())  # fmt: skip


def intersections(*folders: Path) -> list[int]:
    """Return, for each user of all releases, how many users share her groups in all of them."""
    known = [groups(folder) for folder in folders]
    users = set.intersection(*(set(mine) for mine in known))
    cells = Counter(tuple(mine[user] for mine in known) for user in users)
    return [cells[tuple(mine[user] for mine in known)] for user in users]


@pytest.fixture
def logs(tmp_path: Path) -> tuple[Path, Path]:
    """A log of 60 people, and a later one: 12 are gone, 20 are new."""
    return (write_log(tmp_path / "logs" / "first.tsv", range(60), 1),
            write_log(tmp_path / "logs" / "second.tsv", range(12, 80), 2))  # fmt: skip


@pytest.mark.parametrize("method", ["string", "semantic", "category", "syntactic"])
def test_the_intersection_attack(method: str, logs: tuple[Path, Path], tmp_path: Path) -> None:
    line = f"{method}-microaggregation:k={K}:min-users=2"
    release(logs[0], tmp_path / "one", line)
    release(logs[1], tmp_path / "apart", line)
    card = release(logs[1], tmp_path / "kept", line, groups_of=tmp_path / "one")
    apart = intersections(tmp_path / "one", tmp_path / "apart")
    assert sum(size < K for size in apart) > len(apart) / 2
    kept = intersections(tmp_path / "one", tmp_path / "kept")
    assert len(kept) >= K
    assert min(kept) >= K
    # Whoever knows that a person is new finds k who are.
    old = groups(tmp_path / "one")
    new = Counter(group for user, group in groups(tmp_path / "kept").items() if user not in old)
    assert sum(new.values()) == 20
    assert min(new.values()) >= K
    assert not {g for u, g in groups(tmp_path / "kept").items() if u in old} & new.keys()
    assert card.public.release_grade
    assert qv.verify(tmp_path / "kept").holds


def test_who_is_left_of_a_small_group_is_dropped_and_counted(
    logs: tuple[Path, Path], tmp_path: Path
) -> None:
    release(logs[0], tmp_path / "one")
    card = release(logs[1], tmp_path / "two", groups_of=tmp_path / "one")
    left = Counter(g for u, g in groups(tmp_path / "one").items() if int(u[-3:]) >= 12)
    small = sum(size for size in left.values() if size < K)
    assert small > 0
    assert card.dropped[f"fewer than {K} users of the earlier group are left"] == 6 * small
    assert len(groups(tmp_path / "two")) == 68 - small
    assert card.input.rows + sum(card.generated.values()) == (
        card.output.rows + sum(card.dropped.values())
    )


def test_too_few_newcomers_are_dropped_and_counted(tmp_path: Path) -> None:
    first = write_log(tmp_path / "logs" / "a.tsv", range(20), 1)
    second = write_log(tmp_path / "logs" / "b.tsv", range(20 + K - 1), 2)
    release(first, tmp_path / "one")
    card = release(second, tmp_path / "two", groups_of=tmp_path / "one")
    assert card.dropped[f"fewer than {K} users are new since the earlier release"] == 6 * (K - 1)
    assert set(groups(tmp_path / "two")) == set(groups(tmp_path / "one"))
    third = write_log(tmp_path / "logs" / "c.tsv", range(100, 100 + K - 1), 2)
    with pytest.raises((EmptyReleaseError, InputError)):
        release(third, tmp_path / "three", groups_of=tmp_path / "one")


def histories(folders: list[Path]) -> list[int]:
    """Return, for each user of the last release, how many there have the same groups in all."""
    known = [groups(folder) for folder in folders]
    cells = Counter(tuple(mine.get(user) for mine in known) for user in known[-1])
    return list(cells.values())


def test_who_was_away_comes_back_to_no_other_group(tmp_path: Path) -> None:
    """Three in a row: who left, or whose group was too small, must not count as new."""
    people = (range(60), range(30, 75), range(80), range(10, 90))
    folders: list[Path] = []
    for n, some in enumerate(people):
        path = write_log(tmp_path / "logs" / f"{n}.tsv", some, n)
        kept = {"groups_of": folders[-1]} if folders else {}
        folders.append(tmp_path / f"release-{n}")
        card = release(path, folders[-1], **kept)
        assert not [note for note in card.public.notes if "no k is promised" in note]
        assert min(histories(folders)) >= K
        for earlier in folders[:-1]:
            assert min(intersections(earlier, folders[-1]), default=K) >= K
    assert len(set(groups(folders[2])) & set(groups(folders[0])) - set(groups(folders[1]))) > K
    absent = folders[2] / "private" / "absent.tsv"
    assert absent.stat().st_mode & 0o077 == 0
    fourth = write_log(tmp_path / "logs" / "4.tsv", range(90), 4)
    known = absent.read_text()
    absent.write_text(known + next(iter(groups(folders[2]))) + "\t999\n")  # of one who is there
    with pytest.raises(VerificationError, match="damaged"):
        release(fourth, tmp_path / "more", groups_of=folders[2])
    absent.unlink()
    with pytest.raises(InputError, match=r"private/absent\.tsv is missing"):
        release(fourth, tmp_path / "more", groups_of=folders[2])


def test_groups_of_other_people_are_refused(tmp_path: Path) -> None:
    release(write_log(tmp_path / "logs" / "a.tsv", range(20), 1), tmp_path / "one")
    other = write_log(tmp_path / "others" / "b.tsv", range(100, 140), 2)
    with pytest.raises(InputError, match="no user of this log"):
        release(other, tmp_path / "two", groups_of=tmp_path / "one")


def swapped(text: str) -> str:
    """Put the first person of a mapping into the group of another, and that one into theirs."""
    head, first, *rest = (line.split("\t") for line in text.splitlines())
    other = next(line for line in rest if line[2] != first[2])
    first[2], other[2] = other[2], first[2]
    return "\n".join("\t".join(line) for line in (head, first, *rest))


def test_a_second_release_warns_on_card_screen_and_in_verify(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    asked = ("--method", LINE)
    first = cli("anonymize", logs[0], *asked, "--out", tmp_path / "one")
    assert "an earlier k-anonymous release" not in first.out + first.err
    assert qv.verify(tmp_path / "one").warnings == ()
    second = cli("anonymize", logs[1], *asked, "--out", tmp_path / "two")
    assert "an earlier k-anonymous release of the same people" in " ".join(second.out.split())
    assert "(may be published: k-anonymity" in first.out
    assert "(may be published only if no other release of the same users is: k-anonym" in second.out
    for folder in (tmp_path / "one", tmp_path / "two"):
        assert "1 other release of the same users" in qv.verify(folder).warnings[0]
        shown = cli("verify", folder)
        assert shown.code == 0
        assert "Warning" in shown.out
    card = json.loads((tmp_path / "two" / "public" / "release.json").read_text())
    assert any("no k is promised for both" in note for note in card["notes"])
    shutil.rmtree(tmp_path / "two" / "private")
    assert qv.verify(tmp_path / "two").warnings == ()  # the public has no ledger


def test_kept_groups_are_said_and_warn_of_others_alone(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    release(logs[0], tmp_path / "one")
    asked = ("--method", LINE, "--groups-of", tmp_path / "one", "--out", tmp_path / "two")
    shown = cli("anonymize", logs[1], *asked)
    assert shown.code == 0, shown.err
    said = " ".join(shown.out.split())
    assert "the groups are those of an earlier release" in said
    assert "no k is promised for both" not in said
    assert [qv.verify(tmp_path / name).warnings for name in ("one", "two")] == [(), ()]
    card = release(logs[1], tmp_path / "three", groups_of=tmp_path / "two")  # one after another
    assert not [note for note in card.public.notes if "no k is promised" in note]
    other = release(logs[1], tmp_path / "four", groups_of=tmp_path / "one")  # beside two and three
    assert [note for note in other.public.notes if "no k is promised" in note]


def test_a_seeded_release_is_none_of_the_ledgers(logs: tuple[Path, Path], tmp_path: Path) -> None:
    release(logs[0], tmp_path / "one", seed=1)
    assert release(logs[1], tmp_path / "two").public.notes == ()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("person-001", "person-002"),
        lambda text: "\n".join(text.splitlines()[:-1]),
        lambda text: text.replace("\tgroup", "\tother"),
        lambda text: "\n".join(f"{line.rpartition(chr(9))[0]}\t{n}" if n else line
                               for n, line in enumerate(text.splitlines())),
        lambda text: "no mapping at all",
        swapped,
    ],
    ids=["twice", "one missing", "no group", "groups of one", "noise", "swapped"],
)  # fmt: skip
def test_a_damaged_mapping_is_refused(
    damage: Callable[[str], str], logs: tuple[Path, Path], tmp_path: Path
) -> None:
    release(logs[0], tmp_path / "one")
    path = tmp_path / "one" / "private" / "mapping.tsv"
    path.write_text(damage(path.read_text()))
    with pytest.raises(VerificationError, match="mapping is damaged"):
        release(logs[1], tmp_path / "two", groups_of=tmp_path / "one")


def test_what_has_no_groups_is_refused(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    release(logs[0], tmp_path / "one")
    release(logs[0], tmp_path / "none", "frequent-queries:min-users=2:min-click-users=2")
    with pytest.raises(UsageError, match="not k-anonymous"):
        release(logs[1], tmp_path / "two", groups_of=tmp_path / "none")
    with pytest.raises(UsageError, match="has no groups"):
        release(
            logs[1], tmp_path / "two", "frequent-queries:min-users=2", groups_of=tmp_path / "one"
        )
    with pytest.raises(UsageError, match="seed"):
        release(logs[1], tmp_path / "two", groups_of=tmp_path / "one", seed=1)
    (tmp_path / "one" / "public" / "log.parquet").write_bytes(b"")
    with pytest.raises(VerificationError, match="does not verify"):
        release(logs[1], tmp_path / "two", groups_of=tmp_path / "one")
    for more in ("--extend", "--copy-of"):
        shown = cli("anonymize", logs[1], "--groups-of", tmp_path / "one", more,
                        tmp_path / "one", "--out", tmp_path / "two")  # fmt: skip
        assert shown.code != 0
        assert "--groups-of" in shown.err
    forgotten = tmp_path / "forgotten"
    qv.anonymize(qv.read_log(logs[0]), LINE).write(forgotten, include_mapping=False)
    with pytest.raises(InputError, match=r"private/mapping\.tsv is missing"):
        release(logs[1], tmp_path / "two", groups_of=forgotten)


def test_a_release_in_no_ledger_warns(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    asked = ("--method", LINE, "--ledger", "no/such/folder", "--out", tmp_path / "one")
    shown = cli("anonymize", logs[0], *asked)
    assert shown.code == 0
    assert "this release is in no ledger" in " ".join(shown.out.split())
    assert "is in no ledger" in qv.verify(tmp_path / "one").warnings[0]
    release(logs[0], tmp_path / "seeded", seed=1)
    assert qv.verify(tmp_path / "seeded").warnings == ()


def test_two_that_are_written_after_both_were_made(logs: tuple[Path, Path], tmp_path: Path) -> None:
    """The ledger is asked when a release is written: then the other may stand already."""
    log = qv.read_log(logs[0])
    one, two = qv.anonymize(log, LINE), qv.anonymize(log, LINE.replace("string", "syntactic"))
    assert one.write(tmp_path / "one").public.notes == ()
    card = two.write(tmp_path / "two")
    assert any("other groups" in note for note in card.public.notes)
    assert two.write(tmp_path / "again").public.notes == card.public.notes


def test_two_that_are_written_at_the_same_time(
    logs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is begun while the other is under way: one of the two is told."""
    from queryveil.release import writing as write

    log, real, cards = qv.read_log(logs[0]), write._write_public, []

    def interrupted(release: Any, public: Path, form: str) -> Any:
        if not cards:
            cards.append(None)
            cards[0] = qv.anonymize(log, LINE).write(tmp_path / "inner")
        return real(release, public, form)

    monkeypatch.setattr(write, "_write_public", interrupted)
    outer = qv.anonymize(log, LINE).write(tmp_path / "outer")
    assert outer.public.notes == ()
    assert any("other groups" in note for note in cards[0].public.notes)


@pytest.mark.filterwarnings("default")
def test_packing_warns_of_other_releases(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    release(logs[0], tmp_path / "one")
    release(logs[0], tmp_path / "two")
    ran = cli("pack", tmp_path / "one")
    assert "with other groups" in " ".join(ran.err.split())
    assert "may be published only if no other release of the same users is" in ran.out
    assert "--groups-of" in " ".join(ran.err.split())
    with pytest.warns(UserWarning, match="other groups"):
        qv.pack(tmp_path / "two")


def test_the_screen_offers_to_keep_the_groups(
    logs: tuple[Path, Path], tmp_path: Path, cli: Command
) -> None:
    release(logs[0], tmp_path / "one")
    ran = cli("anonymize", logs[0], "--method", LINE, "--out", tmp_path / "two")
    assert "--groups-of DIR" in " ".join(ran.out.split())
