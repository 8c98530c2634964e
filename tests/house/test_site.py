"""The documentation builds as a site: strictly, and without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
# Anything that a page would load from elsewhere; links that a reader may follow are no such thing.
LOADED = re.compile(
    r"""(?:<script[^>]*\ssrc|<img[^>]*\ssrc|<link[^>]*\shref)=["']?(?:https?:)?//[^"'\s>]+"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does: a broken link or anchor fails."""
    site = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        check=False, cwd=REPO, capture_output=True, text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return site


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = {
        (page.name, found)
        for page in site.rglob("*.html")
        for found in LOADED.findall(page.read_text("utf-8"))
    }
    assert loaded == set()


def test_search_needs_no_server(site: Path) -> None:
    """The index is a script, which a page that was opened as a file can load."""
    index = (site / "search/search_index.js").read_text("utf-8")
    assert index.startswith("var __index = ")
    assert "iframe-worker" in (site / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("page", "part"),
    [
        ("reference/cli.html", "queryveil anonymize"),
        ("reference/api.html", "read_log"),
        ("reference/errors.html", "BudgetError"),
        ("reference/formats.html", "parquet"),
        ("reference/methods/index.html", "semantic-microaggregation"),
        ("reference/measures.html", "what it measures"),
    ],
)
def test_the_reference_is_generated(site: Path, page: str, part: str) -> None:
    assert part in (site / page).read_text("utf-8")
