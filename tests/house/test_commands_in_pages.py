"""The shell commands of the README and the docs run, and every block says what it is."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import queryveil
from page_commands import REPO, blocks, fences, run_page

PAGES = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]
# Run as tests of their own, in tests/personas, which look at the outcome too.
TUTORIALS = REPO / "docs" / "tutorials"
WITH_COMMANDS = [page for page in PAGES if blocks(page, "sh") and TUTORIALS not in page.parents]
SHOWN = {"text", "toml", "json", "csv"}
# Commands that cannot run in a test: how many blocks of a page, and why.
NOT_RUN = {
    "README.md": (1, "pip reaches beyond this machine"),
    "docs/explanation/peers.md": (1, "25 simulations take a minute"),
    "docs/explanation/published-curves.md": (1, "the figures of a paper take minutes"),
    "docs/how-to/add-a-detector.md": (2, "Presidio, spaCy and their models are not installed"),
    "docs/how-to/own-taxonomy.md": (1, "the dump of the Open Directory is not part of the project"),
    "docs/how-to/peers-node.md": (1, "servers; tests/browser/test_peers_search.py runs them"),
    "docs/how-to/spark.md": (4, "needs a cluster; tests/spark runs on one"),
    "docs/reference/measures.md": (1, "the figures of a paper take minutes"),
}


def name_of(page: Path) -> str:
    return str(page.relative_to(REPO))


def test_every_block_says_what_it_is() -> None:
    """A block without a language would not be run, and nobody would notice."""
    known = {"python", "sh", "console", "py", *SHOWN}
    assert {
        (name_of(page), language)
        for page in PAGES
        for language, _ in fences(page)
        if language not in known
    } == set()


def test_blocks_that_do_not_run_are_listed_with_a_reason() -> None:
    found = {
        name_of(page): len(blocks(page, "console")) + len(blocks(page, "py")) for page in PAGES
    }
    assert {name: count for name, count in found.items() if count} == {
        name: count for name, (count, _) in NOT_RUN.items()
    }


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "log.tsv"
    queryveil.write_synthetic_log(path, users=200)
    return path


@pytest.mark.filterwarnings("default")  # as on a reader's screen
@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_in_pages(
    page: Path, log: Path, cli: Callable[..., tuple[int, str, str]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The commands of a page run in their order, in a folder with a small log.

    `march.tsv` and `april.tsv` are logs of the same users, for pages about a second release.
    """
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    written = "".join(blocks(page, "sh"))
    for name in ("log.tsv", "march.tsv", "april.tsv"):
        if f"--out {name}" not in written:
            shutil.copy(log, tmp_path / name)
    run_page(page, cli, tmp_path, _with_few_users)


def _with_few_users(command: str) -> str:
    """Let a synthetic log be small: nothing here looks at what comes out."""
    return re.sub(r"(queryveil synth .*--users) \d+", r"\1 200", command)


def test_the_readme_is_short() -> None:
    """All else is on the site."""
    assert len((REPO / "README.md").read_text("utf-8").split()) <= 900
