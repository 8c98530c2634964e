"""Examples run: docstrings, README and docs."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil
from page_commands import blocks

REPO = Path(__file__).parents[2]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(queryveil.__path__, "queryveil.")
    if not module.name.endswith("__main__")
)
PAGES = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_docstring_examples() -> None:
    modules = map(importlib.import_module, MODULES)
    found = sum(len(t.examples) for m in modules for t in doctest.DocTestFinder().find(m))
    assert found > 30


# The tutorial in Python is a test of its own, in tests/personas.
TUTORIALS = REPO / "docs" / "tutorials"
WITH_PYTHON = [page for page in PAGES if blocks(page, "python") and TUTORIALS not in page.parents]
# Runs each page's code for itself, and tells what went wrong. To import, to make a mapper and to
# draw noise for all buckets of a sketch takes longer than all else.
RUN_PAGES = """
import json, os, sys, traceback
from functools import cache
from queryveil.concepts.mapping import mapper, options
from queryveil.dp.sketch import NoisySketch

options.Mapper = cache(mapper.Mapper)
NoisySketch.__init__.__defaults__ = (1 << 10,)
told = {}
for folder, code in json.load(sys.stdin).items():
    os.chdir(folder)
    try:
        exec(compile(code, folder, "exec"), {"__name__": "__main__"})
    except BaseException:
        told[folder] = traceback.format_exc()
print(json.dumps(told), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Give each page a folder with a small log.tsv."""
    made = {page: tmp_path_factory.mktemp("page") for page in WITH_PYTHON}
    first, *others = made.values()
    queryveil.write_synthetic_log(first / "log.tsv", users=300)
    for other in others:
        shutil.copy(first / "log.tsv", other)
    return made


@pytest.fixture(scope="module")
def told(folders: dict[Path, Path]) -> dict[str, str]:
    """Run the Python of all pages in a process, and give what failed in which folder."""
    code = {str(folders[page]): "\n".join(blocks(page, "python")) for page in folders}
    run = subprocess.run(
        [sys.executable, "-c", RUN_PAGES],
        input=json.dumps(code), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(run.stderr.splitlines()[-1]))


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_in_pages(page: Path, folders: dict[Path, Path], told: dict[str, str]) -> None:
    """The Python of a page runs from top to bottom."""
    assert str(folders[page]) not in told, told[str(folders[page])]


def generated_pages() -> set[Path]:
    """Return the pages that exist only on the site, where MkDocs checks their links."""
    spec = importlib.util.spec_from_file_location("reference", REPO / "tools/site/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {REPO / "docs" / name for name in module.pages()}


def test_links_in_pages() -> None:
    """In the README too a link names a file of the repository, never a page of the site alone."""
    broken, generated = [], generated_pages()
    for page in [*PAGES, REPO / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            target = (page.parent / link).resolve()
            on_site = target in generated and REPO / "docs" in page.parents
            if not (link.startswith("http") or on_site or target.exists()):
                broken.append(f"{page.name}: {link}")
    assert not broken
