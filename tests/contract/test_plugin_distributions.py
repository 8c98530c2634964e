"""A distribution of somebody else adds a method, a measure and a detector for all commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
POINTS = """[queryveil.methods]
head-queries = acme_veil:HeadQueries
broken = acme_veil:NoSuchClass

[queryveil.measures]
empty-fraction = acme_veil:EmptyFraction

[queryveil.detectors]
member-number = acme_veil:DETECTOR
"""


def first_example(page: str) -> str:
    """Return the first example of a page: the class, without its test."""
    text = (DOCS / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip leaves it: a module, and the data of its distribution."""
    site = tmp_path_factory.mktemp("site")
    pages = ("add-a-method.md", "add-a-measure.md", "add-a-detector.md")
    (site / "acme_veil.py").write_text("\n\n".join(map(first_example, pages)))
    info = site / "acme_veil-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-veil\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(POINTS)
    return site


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    lines = [f"user{n},query {n % 3},2006-03-01 10:00:00\n" for n in range(30)]
    (folder / "log.csv").write_text("user,query,time\n" + "".join(lines))
    return folder


def run(folder: Path, site: Path | None, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(site or ""), os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(
        [sys.executable, "-m", "queryveil", *words],
        cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip


def test_a_method_and_a_measure_of_another_distribution(site: Path, folder: Path) -> None:
    listed = run(folder, site, "methods", "head-queries")
    assert listed.returncode == 0, listed.stderr
    assert "most frequent queries" in listed.stdout
    assert 'the method "broken" of acme-veil 1.2 is left out' in listed.stderr
    made = run(folder, site, "anonymize", "log.csv", "--method", "head-queries:top=2", "-o", "out")
    assert made.returncode == 0, made.stderr
    verified = run(folder, site, "verify", "out")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    measured = run(
        folder, site, "measure", "log.csv", "out", "--measures", "empty-fraction", "--json"
    )
    assert '"value": 0.333' in measured.stdout, measured.stderr


def test_verify_fails_without_the_distribution(site: Path, folder: Path) -> None:
    made = run(folder, site, "anonymize", "log.csv", "--method", "head-queries:top=1", "-o", "two")
    assert made.returncode == 0, made.stderr
    verified = run(folder, None, "verify", "two")
    assert verified.returncode == 1
    assert "install acme-veil 1.2" in verified.stdout + verified.stderr


def test_the_card_names_the_distribution(site: Path, folder: Path) -> None:
    made = run(folder, site, "anonymize", "log.csv", "--method", "head-queries", "-o", "three")
    assert made.returncode == 0, made.stderr
    path = folder / "three" / "public" / "release.json"
    card = json.loads(path.read_text("utf-8"))
    assert card["distribution"] == {"name": "acme-veil", "version": "1.2"}
    for changed in ({"name": "another", "version": "1.2"}, None):
        path.write_text(json.dumps(card | {"distribution": changed}), "utf-8")
        verified = run(folder, site, "verify", "three/public")
        assert verified.returncode == 1


def test_a_detector_of_another_distribution(site: Path, folder: Path) -> None:
    """The card names the distribution; without it, `verify` cannot run the check and fails."""
    lines = ["user,query\n", *(f"user{n},member m12345{n % 3}\n" for n in range(9))]
    (folder / "members.csv").write_text("".join([*lines, *(f"user{n},golf\n" for n in range(9))]))
    words = ("members.csv", "--method", "frequent-queries:min-users=2:min-click-users=2")
    made = run(folder, site, "anonymize", *words, "--detectors", "member-number", "-o", "four")
    assert made.returncode == 0, made.stderr
    card = json.loads((folder / "four" / "public" / "release.json").read_text("utf-8"))
    acme = {"name": "acme-veil", "version": "1.2"}
    assert card["detectors"] == [{"name": "member-number", "version": "1", "distribution": acme}]
    assert card["figures"]["queries"] == 1
    assert run(folder, site, "verify", "four").returncode == 0
    verified = run(folder, None, "verify", "four")
    assert verified.returncode == 1
    output = verified.stdout + verified.stderr
    assert "install member-number 1 (acme-veil 1.2)" in " ".join(output.split())
