"""The Python front door, as the package's docstring shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil as qv


def test_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qv.write_synthetic_log("log.tsv", users=2000, seed=1)
    code = qv.__doc__.partition("import queryveil as qv")[2]
    assert "anonymize" in code
    names = {"qv": qv}
    exec(code, names)
    assert names["release"].guarantee.model == "none"
    assert qv.verify("out").holds


def test_what_is_exported_is_there_and_sorted() -> None:
    constants_first = lambda name: (not name.isupper(), name)  # noqa: E731
    assert qv.__all__ == sorted(qv.__all__, key=constants_first)
    assert all(hasattr(qv, name) for name in qv.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+", qv.__version__)


def test_importing_draws_in_nothing_heavy() -> None:
    """Names are imported when they are first used: `import queryveil` takes milliseconds."""
    heavy = ("pyspark", "typer", "rich", "polars", "numpy", "scipy", "opendp", "jinja2", "pandas")
    text = f"import sys, queryveil; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_whole_way(synthetic: Path, tmp_path: Path) -> None:
    log = qv.read_log(synthetic)
    method = qv.FrequentQueries(min_users=6, min_click_users=3)
    planned = qv.plan(log, method)
    release = qv.anonymize(log, method)
    assert isinstance(release, qv.Release)
    assert isinstance(release.guarantee, qv.Guarantee)
    card = release.write(tmp_path / "out", format="csv")
    assert qv.verify(tmp_path / "out").holds
    assert qv.verify(str(tmp_path / "out")).method == "frequent-queries"
    assert qv.pack(tmp_path / "out").is_file()
    assert qv.profile(log).size.users == card.input.users
    same = ("input", "output", "dropped", "blanked", "guarantee", "parameters", "method")
    written = card.to_dict()
    assert planned.preview is not None
    previewed = planned.preview.to_dict()
    assert {key: previewed[key] for key in same} == {key: written[key] for key in same}


def test_errors_have_one_root_and_tell_what_to_do() -> None:
    named = [getattr(qv, name) for name in qv.__all__ if name.endswith("Error")]
    errors = [kind for kind in named if not issubclass(kind, qv.Measure)]  # query-frequency-error
    assert len(errors) > 10
    assert all(issubclass(kind, qv.QueryveilError) for kind in errors)
    with pytest.raises(qv.QueryveilError, match=r"no such file\. Hint: "):
        qv.read_log("/nowhere/log.tsv")


def test_a_release_can_be_written_twice(synthetic: Path, tmp_path: Path) -> None:
    release = qv.anonymize(qv.read_log(synthetic), qv.FrequentQueries(min_users=6))
    release.write(tmp_path / "one", format="tsv")
    release.write(tmp_path / "two", format="tsv")
    one, two = ((tmp_path / name / "public" / "log.tsv").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_sample_of_users_is_accounted_for(synthetic: Path, tmp_path: Path) -> None:
    log = qv.read_log(synthetic, sample_users=100)
    card = qv.anonymize(log, qv.FrequentQueries(min_users=4)).write(tmp_path / "out")
    assert card.input.users == 100
    assert card.dropped["not in the sample of users"] > 1000
    assert card.input.rows == card.output.rows + sum(card.dropped.values())


@pytest.mark.parametrize("form", ["parket", "", "PARQUET", "xlsx"])
def test_unknown_forms(synthetic: Path, tmp_path: Path, form: str) -> None:
    release = qv.anonymize(qv.read_log(synthetic), qv.FrequentQueries(min_users=6))
    with pytest.raises(qv.UsageError, match="unknown output format"):
        release.write(tmp_path / "out", format=form)
    assert not (tmp_path / "out").exists()
