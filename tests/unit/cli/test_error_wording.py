"""Errors are worded for their reader: parameters in Python, options on the command line."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.cli.messages import name_options
from queryveil.cli.terminal import Terminal, print_error
from queryveil.errors import ParameterError, PopulationWarning, QueryveilError, UsageError


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`min_users` is 3", "--min-users is 3"),
        ('name it: `ledger="NAME"`', "name it: --ledger NAME"),
        ("`sample_users=10`, or less", "--sample-users 10, or less"),
        ("`expected_users=N`", "--expected-users N"),
        ("`overwrite=True` replaces it", "--overwrite replaces it"),
        ("`include_mapping=False`", "--no-mapping"),
        ("`resume=False`", "--no-resume"),
        ('`time_format="%m/%d/%Y %H:%M"`', '--time-format "%m/%d/%Y %H:%M"'),
        ('`delimiter=";"`', '--delimiter ";"'),
        (
            '`spark_config={"spark.executor.memory": "4g"}`',
            "--spark-config spark.executor.memory=4g",
        ),
        ('`columns="user=1,query=2"`', "--columns user=1,query=2"),
        ("see `profile()`", "see `queryveil profile`"),
        ("`some_other_name` and `a b` stay", "`some_other_name` and `a b` stay"),
    ],
)
def test_message_names_options(message: str, shown: str) -> None:
    assert name_options(message) == shown


def error_of(capsys: pytest.CaptureFixture[str], error: QueryveilError) -> str:
    print_error(error)
    return capsys.readouterr().err


def test_parameter_out_of_range(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ParameterError, match="`min_users` cannot be") as caught:
        qv.FrequentQueries(min_users=0)
    assert caught.value.parameter == "min_users"
    assert '--min-users cannot be "0"' in error_of(capsys, caught.value)


def test_unknown_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ParameterError, match=r"`min_user`.*did you mean `min_users`") as caught:
        qv.parse_method("frequent-queries:min-user=3")
    assert caught.value.parameter == "min_user"
    shown = error_of(capsys, caught.value)
    assert "frequent-queries has no parameter --min-user\n" in shown
    assert "did you mean --min-users?" in shown


def test_parameter_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="`k` cannot be"):
        qv.SemanticMicroaggregation(k=1)
    assert ParameterError("no").parameter is None


def test_keyword_of_reading(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match=r"^`max_rejected` must be") as caught:
        qv.ReadOptions(max_rejected=2)
    assert "--max-rejected must be from 0 to 1" in error_of(capsys, caught.value)


def test_hint_with_a_value(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.tsv").touch()
    with pytest.raises(QueryveilError, match="`overwrite=True`") as caught:
        qv.write_synthetic_log(tmp_path / "out/x.tsv", users=2)
    shown = error_of(capsys, caught.value)
    assert "--overwrite" in shown
    assert "`" not in shown


def test_warning(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    Terminal()._warn(PopulationWarning("declare it with `expected_users=N`"))
    assert "declare it with --expected-users N" in capsys.readouterr().err
