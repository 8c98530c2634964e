"""The packages of other languages install from the clone, without a network."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil

PACKAGE = Path(__file__).parents[3] / "packages" / "queryveil-lang-de"


@pytest.mark.skipif(
    importlib.util.find_spec("pip") is None or importlib.util.find_spec("hatchling") is None,
    reason="needs pip and hatchling, which build the package",
)
def test_a_language_installs_from_the_clone(tmp_path: Path) -> None:
    copy = tmp_path / "clone"
    copy.mkdir()
    for path in PACKAGE.rglob("*"):  # a build must not write into the clone
        if path.is_file() and "__pycache__" not in path.parts:
            target = copy / path.relative_to(PACKAGE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--no-compile", "--target", str(site)]
    environment = {**os.environ, "PYTHONPATH": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*pip, *options, str(copy)], check=True, env=environment)
    # Only the installed package can have the words here: those of the clone are not on the path.
    source = str(Path(queryveil.__file__).parents[1])
    mapped = subprocess.run(
        [sys.executable, "-m", "queryveil", "taxonomy", "map", "gartenstuhl", "--language", "de"],
        check=True, capture_output=True, text=True, encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), source])},
    )  # fmt: skip
    assert "stuhl" in mapped.stdout
    data = site / "queryveil_lang_de" / "words.tsv.gz"
    assert data.read_bytes() == (PACKAGE / "src/queryveil_lang_de/words.tsv.gz").read_bytes()
    assert list(site.glob("queryveil_lang_de-*.dist-info/entry_points.txt"))
