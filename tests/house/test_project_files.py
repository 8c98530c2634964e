"""Workflows, hooks and citation parse, and name only what is there."""

from __future__ import annotations

import itertools
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from queryveil import __version__

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"(?m)^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text("utf-8")))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_targets_of_the_makefile(path: Path) -> None:
    document = yaml.safe_load(path.read_text("utf-8"))
    assert document["permissions"] == {"contents": "read"}
    runs = [
        step["run"] for job in document["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert runs
    for run in runs:
        assert re.fullmatch(r"make [a-z-]+", run)
        assert run.removeprefix("make ") in TARGETS


def test_workflows_run_every_python_that_is_declared() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        classifiers = tomllib.load(file)["project"]["classifiers"]
    declared = [text.rpartition(" ")[2] for text in classifiers if ":: 3." in text]
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    assert tests["jobs"]["test"]["strategy"]["matrix"]["python-version"] == declared


def test_hooks_run_programs_of_the_environment() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert {hook["id"] for hook in hooks} == {"ruff-format", "ruff-check", "mypy", "words"}
    for hook in hooks:
        assert hook["entry"].startswith(".venv/bin/")
        for word in hook["entry"].split():
            assert not word.startswith("tests/") or (ROOT / word).is_file()


def test_the_citation_has_this_version_and_what_the_format_requires() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["version"] == __version__
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])


def test_links_of_the_security_page_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", (ROOT / "SECURITY.md").read_text("utf-8")):
        assert (ROOT / link).is_file()


def test_the_image_copies_what_is_there_and_runs_as_no_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    copies = [line.split()[1:-1] for line in lines if re.match(r"COPY (?!--from)", line)]
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name in itertools.chain(*copies):
        assert (ROOT / name).exists()
        assert f"!{name}" in allowed
    users = [line for line in lines if line.startswith("USER ")]
    assert users == ["USER queryveil"]


def locked(path: str) -> dict[str, str]:
    text = (ROOT / path).read_text("utf-8")
    assert not re.search(r"https?://|file:", text)
    return {line.split(" \\")[0]: "" for line in re.findall(r"(?m)^[a-zA-Z].*$", text)}


def test_the_lock_files_agree() -> None:
    core, everything = locked("requirements.lock"), locked("requirements-dev.lock")
    names = {line.partition("==")[0] for line in core}
    versions = {line.partition(" ;")[0] for line in everything}
    assert {line.partition(" ;")[0] for line in core} <= versions
    assert {"opendp", "scipy", "networkx"} <= names
    assert not {"pyspark", "pandas", "mkdocs", "pytest"} & names
