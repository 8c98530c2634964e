"""The search index: ranking, hostile terms, and an index that does not belong."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.search_index import SearchIndex, index_path, write_index
from queryveil.core.progress import NoProgress
from queryveil.errors import InputError, OutputError

PATHS = [
    "Top/Shopping/Sports/Soccer_Stores",
    "Top/Sports/Soccer/Clubs",
    "Top/Sports/Soccer/Women",
    "Top/Regional/Soccer",
    "Top/Arts/Music/Café",
    "Top/Science/Biology",
]
TEXTS = [
    (["Top/Science/Biology", "Top/Arts/Music"], ["The cell and its soccer", "Songs of whales"]),
    (["Top/Science/Biology", "Top/Science/Biology"], ["Whales in the sea", "Whales sing, too"]),
    ([], []),
]


@pytest.fixture(scope="module")
def odp() -> Taxonomy:
    return taxonomy_from_paths(PATHS)


@pytest.fixture(scope="module")
def index(odp, tmp_path_factory) -> Path:
    path = index_path(tmp_path_factory.mktemp("search") / "odp.qvt")
    write(path, odp)
    return path


def write(path: Path, odp: Taxonomy, progress: NoProgress | None = None) -> None:
    blocks = (([odp.find(name) for name in names], texts) for names, texts in TEXTS)
    write_index(path, odp, blocks, progress)


@pytest.fixture
def search(index, odp) -> SearchIndex:
    return SearchIndex(index, odp)


def named(search: SearchIndex, concepts: list[int]) -> list[str]:
    return [search.taxonomy.name(concept) for concept in concepts]


# --- ranking -------------------------------------------------------------------------------------


def test_names_come_first_the_short_and_high_ones_before(search):
    assert named(search, search.best_match("soccer", 10)) == [
        "Top/Sports/Soccer",
        "Top/Regional/Soccer",
        "Top/Shopping/Sports/Soccer_Stores",
        "Top/Sports/Soccer/Clubs",
        "Top/Sports/Soccer/Women",
        "Top/Science/Biology",
    ]


def test_texts_of_one_category_may_stand_anywhere(search):
    assert named(search, search.best_match("whale", 5)) == ["Top/Arts/Music", "Top/Science/Biology"]
    for word in ("cell", "sea", "sings"):
        assert named(search, search.best_match(word, 5))[0] == "Top/Science/Biology"


def test_words_are_stemmed_and_accents_do_not_matter(search):
    assert named(search, search.best_match("CAFE", 1)) == ["Top/Arts/Music/Café"]
    assert named(search, search.best_match("storing", 1)) == ["Top/Shopping/Sports/Soccer_Stores"]


def test_another_language_is_not_stemmed_as_english():
    draft = TaxonomyBuilder("boutique", language="french")
    root = draft.add("tout", 1, "tout")
    draft.add("magasins", 2, "magasins", root)
    search = SearchIndex.open(draft.build(RepairLog("boutique")))
    assert search.best_match("magasins", 1) == [1]
    assert search.best_match("magasin", 1) == []


def test_as_many_as_asked(search):
    assert len(search.best_match("soccer", 1)) == 1
    assert len(search.best_match("soccer", 3)) == 3
    assert search.best_match("soccer", 3) == search.best_match("soccer", 5)[:3]
    assert search.best_match("soccer", 0) == []


def test_many_terms_at_once(search):
    terms = ["soccer", "nothing such", "whales", "soccer"]
    lists = search.best_matches(terms, 2)
    assert [one.tolist() for one in (lists[0], lists[1], lists[2], lists[3])] == [
        search.best_match(term, 2) for term in terms
    ]
    assert len(search.best_matches([], 2)) == 0


def test_several_words_may_stand_in_name_path_and_text(search):
    found = search.find("women soccer sports", 3)
    assert named(search, [found[0][0]]) == ["Top/Sports/Soccer/Women"]
    assert 1 < found[0][1] < 2
    assert all(score < 1 for _, score in found[1:])
    assert 2 < search.find("soccer stores", 1)[0][1] < 3
    scores = [score for _, score in search.find("soccer clubs", 20)]
    assert scores == sorted(scores, reverse=True)


def test_the_artificial_root_is_never_found(odp, search):
    assert 0 not in search.best_match("top", 10)


def test_the_index_is_the_same_every_time(tmp_path, odp, index):
    write(tmp_path / "again.search", odp)
    assert (tmp_path / "again.search").read_bytes() == index.read_bytes()


def test_ties_are_broken_by_the_order_of_the_taxonomy():
    odp = taxonomy_from_paths([f"Top/{letter}/Same" for letter in "ZYXWV"])
    assert SearchIndex.open(odp).best_match("same", 4) == odp.lookup("same")[:4]


# --- hostile terms -------------------------------------------------------------------------------

HOSTILE = [
    "", " ", '"', '""', "'", "*", "soccer*", "^soccer", "name:soccer", "-soccer", "(", "a OR",
    "AND", "NOT", "NEAR(a b)", "{name path}: x", "\0", "soc\0cer", "\udcff", "; DROP TABLE about",
    "+", "a + b", "😀", "\u0301", "x" * 100_000, "word " * 10_000, "a-b" * 5000, "²", "_", "İ",
]  # fmt: skip


@pytest.mark.parametrize("term", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_terms_are_only_words(search, term):
    assert isinstance(search.best_match(term, 5), list)
    assert isinstance(search.find(term, 5), list)


def test_operators_are_words(search):
    assert search.best_match('"soccer"', 5) == search.best_match("soccer", 5)
    assert search.best_match("soccer NOT clubs", 5) == []
    assert named(search, search.best_match("(soccer) - clubs", 1)) == ["Top/Sports/Soccer/Clubs"]


@given(st.text())
def test_any_text_can_be_searched_for(text):
    assert _SMALL.best_match(text, 3) == [
        concept for concept, score in _SMALL.find(text, 3) if score > 1
    ]


_SMALL = SearchIndex.open(taxonomy_from_paths(PATHS))


# --- files ---------------------------------------------------------------------------------------


def test_without_texts_labels_are_searched():
    draft = TaxonomyBuilder("words")
    root = draft.add("00001740-n", 1, "entity")
    dog = draft.add("02084071-n", 2, "dog", root)
    draft.label(dog, "domestic dog")
    draft.add("02087122-n", 3, "hunting dog", dog)
    search = SearchIndex.open(draft.build(RepairLog("words")))
    assert search.best_match("entity", 5) == [0, 1, 2]
    assert search.best_match("domestic", 1) == [1]


def test_the_index_beside_the_file_is_taken(tmp_path, odp):
    odp.write(tmp_path / "odp.qvt")
    opened = Taxonomy.open(tmp_path / "odp.qvt")
    assert SearchIndex.open(opened).best_match("whales", 1) == []
    write(index_path(tmp_path / "odp.qvt"), odp)
    assert named(SearchIndex.open(opened), SearchIndex.open(opened).best_match("whales", 1)) == [
        "Top/Arts/Music"
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odp.qvt", "odp.qvt.search"]


def test_a_missing_index(tmp_path, odp):
    with pytest.raises(InputError, match="no search index") as raised:
        SearchIndex(tmp_path / "none.search", odp)
    assert raised.value.hint == "import the taxonomy again"


@pytest.mark.parametrize("paths", [PATHS[:-1], [*PATHS[:-1], "Top/Science/Botany"],
                                   [*PATHS[:-1], "Top/Arts/Biology", "Top/Science"]])  # fmt: skip
def test_an_index_of_another_taxonomy(index, paths):
    with pytest.raises(InputError, match="of another taxonomy"):
        SearchIndex(index, taxonomy_from_paths(paths))


def test_an_index_that_is_damaged(tmp_path, odp, index):
    path = tmp_path / "bad.search"
    for data in (b"", b"no database" * 1000, index.read_bytes()[:6000]):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"damaged|cut"):
            SearchIndex(path, odp).best_match("soccer", 5)


def test_a_database_of_something_else(tmp_path, odp):
    base = sqlite3.connect(tmp_path / "other.search")
    base.execute("CREATE TABLE users (name)")
    base.commit()
    base.close()
    with pytest.raises(InputError, match="damaged"):
        SearchIndex(tmp_path / "other.search", odp)


def test_nothing_is_left_of_an_index_that_fails(tmp_path, odp):
    def texts():
        yield [1], ["one"]
        raise InputError("the content is cut off")

    with pytest.raises(InputError, match="cut off"):
        write_index(tmp_path / "odp.search", odp, texts())
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError):
        write_index(tmp_path / "no folder" / "odp.search", odp)


def test_the_index_is_opened_to_read_only(search):
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        search._opened().execute("DELETE FROM about")


def test_a_name_with_signs_of_an_address(tmp_path, odp):
    path = tmp_path / "odp 100%?mode=rwc#x.search"
    write(path, odp)
    assert SearchIndex(path, odp).best_match("soccer", 1)


def test_several_processes_search_at_once(tmp_path, odp, search):
    odp.write(tmp_path / "odp.qvt")
    write(index_path(tmp_path / "odp.qvt"), odp)
    code = (
        "import sys; from queryveil.concepts import Taxonomy;"
        "from queryveil.concepts.taxonomy.search_index import SearchIndex;"
        "print(SearchIndex.open(Taxonomy.open(sys.argv[1])).best_match('soccer', 5))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "odp.qvt")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    expected = str(search.best_match("soccer", 5))
    assert [process.communicate()[0].strip() for process in both] == [expected] * 2


def test_after_a_fork_a_process_opens_its_own(search, monkeypatch):
    before, expected = search._opened(), search.best_match("soccer", 5)
    assert search._opened() is before
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert search.best_match("soccer", 5) == expected
    assert search._opened() is not before


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_copy_opens_its_own(search, in_memory):
    one = _SMALL if in_memory else search
    assert pickle.loads(pickle.dumps(one)).best_match("soccer", 5) == one.best_match("soccer", 5)


def test_progress_and_stages(tmp_path, odp):
    progress = NoProgress()
    write(tmp_path / "odp.search", odp, progress)
    assert list(progress.seconds) == ["index the texts"]
