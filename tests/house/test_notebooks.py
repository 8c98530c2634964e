"""The notebooks in examples/ are valid, store no output, and run from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def test_there_are_three() -> None:
    names = {path.stem for path in NOTEBOOKS}
    assert names == {"quickstart", "dp_statistics", "compare_methods"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_store_no_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


def run(name: str) -> dict[str, Any]:
    """Run the cells in order, in this process: a kernel would take longer to start."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{name} {cell.id}", "exec"), names)
    return names


def test_quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run("quickstart")
    assert names["release"].guarantee.k == 5
    assert names["verification"]
    assert "<" in names["verification"]._repr_html_()


def test_dp_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run("dp_statistics")
    assert names["release"].guarantee.epsilon == 2
    assert names["left"][0] == 2
    assert "5" in str(names["refused"])
    assert names["verification"]


def test_compare_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run("compare_methods")
    assert names["table"].height == 15  # two methods at two values and a baseline, three measures
    assert names["table"]["error"].null_count() == 15
    assert "<svg" in names["chart"]._repr_svg_()
    assert (tmp_path / "compared/report.html").exists()
