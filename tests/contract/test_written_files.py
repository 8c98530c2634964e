"""What is in the written files of every method: who is who, in random order, in each format."""

from __future__ import annotations

import shutil
from collections import defaultdict
from hashlib import sha256
from itertools import islice, pairwise
from pathlib import Path

import pytest
from releases import (
    FIRST,
    OTHER_FORMATS,
    Made,
    Once,
    made,
    make,
    name_of,
    once,
    population,
    public_bytes,
    whole_logs,
)

from queryveil.workflows.verification import verify

pytestmark = pytest.mark.usefixtures("one_mapper")


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


@pytest.fixture(scope="module", params=OTHER_FORMATS, ids=name_of)
def other(request: pytest.FixtureRequest, once: Once) -> Made:
    """A release in another format than the kit for methods writes."""
    return once(*request.param)


@pytest.mark.parametrize("case", OTHER_FORMATS, ids=name_of)
def test_each_format_has_the_same_rows(case: tuple[str, str], once: Once) -> None:
    """What the kit recounts in one format holds in the others."""
    spec, form = case
    assert once(spec, form, seed=9).rows() == once(spec, "tsv", seed=9).rows()


def test_verify_passes(other: Made) -> None:
    found = verify(other.folder)
    assert found.holds, found
    assert {f.check for f in found.findings} >= {"files", "figures", "private", "card"}


def test_verify_passes_on_a_copy_of_the_public_files_alone(other: Made, tmp_path: Path) -> None:
    copy = shutil.copytree(other.public, tmp_path / "copy")
    assert verify(copy).holds


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


@pytest.fixture(scope="module")
def larger(large: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first lines of the large log, for methods that would take seconds for all of them."""
    path = tmp_path_factory.mktemp("larger") / "log.tsv"
    with large.open("rb") as lines, path.open("wb") as file:
        file.writelines(islice(lines, 40_001))
    return path


@pytest.mark.parametrize("case", OTHER_FORMATS, ids=name_of)
def test_the_same_seed_gives_the_same_bytes(
    case: tuple[str, str], once: Once, population: Path, tmp_path: Path
) -> None:
    one, two = once(*case, seed=9), make(population, tmp_path / "two", *case, seed=9)
    assert public_bytes(one.folder) == public_bytes(two.folder)


@pytest.mark.parametrize("first", FIRST)
def test_the_same_seed_gives_the_same_bytes_of_a_large_log(
    first: str, large: Path, larger: Path, tmp_path: Path
) -> None:
    # Large enough for several threads, which must not decide the order.
    log, runs = (large, 4) if first.startswith("frequent") else (larger, 2)
    made = [make(log, tmp_path / str(i), first, "jsonl", seed=9) for i in range(runs)]
    assert len({sha256((one.public / "log.jsonl").read_bytes()).digest() for one in made}) == 1
