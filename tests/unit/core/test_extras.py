"""A missing extra is one line with the command that installs it, in a shell and from Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import queryveil
from queryveil.core.extras import import_extra

ROOT = Path(__file__).parents[3]
SOURCE = Path(queryveil.__file__).parent
TOOLS = {"dev", "docs"}  # extras for those who work on queryveil: its code imports none of them


@dataclass(frozen=True)
class Case:
    """What needs an extra: in a shell, in Python, or in both."""

    extra: str
    packages: tuple[str, ...]
    python: str
    shell: tuple[str, ...] | None = None


RELEASE = "qv.anonymize(qv.read_log('log.tsv'), qv.FrequentQueries(min_users=2))"
CASES = (
    Case(
        "spark",
        ("pyspark", "pandas", "pyarrow"),
        "qv.read_log('log.tsv', engine='spark')",
        ("profile", "log.tsv", "--engine", "spark"),
    ),
    Case(
        "peers",
        ("ada_url", "httpx", "starlette", "uvicorn"),
        "from queryveil.peers.node import load_identity",
        ("peers", "node", "status"),
    ),
    Case(
        "spacy",
        ("spacy",),
        "qv.concepts.Mapper(qv.concepts.open_taxonomy('wordnet'), tagger='spacy')",
        ("taxonomy", "map", "diving", "--tagger", "spacy"),
    ),
    Case("excel", ("fastexcel",), "qv.read_log('log.xlsx')", ("profile", "log.xlsx")),
    Case(
        "png",
        ("resvg_py",),
        "from queryveil.render.charts.picture import Chart; Chart('', ())._to_png()",
    ),
    Case("pandas", ("pandas",), f"{RELEASE}.to_pandas()"),
)
EACH = [
    pytest.param(case, package, id=f"{case.extra}-{package}")
    for case in CASES
    for package in case.packages
]


def declared_extras() -> dict[str, list[str]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    return {name: packages for name, packages in extras.items() if name not in TOOLS}


def put_logs(folder: Path) -> None:
    (folder / "log.tsv").write_text("user\tquery\n7\ttea\n8\ttea\n")
    with zipfile.ZipFile(folder / "log.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")


def run_without(package: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process where a package cannot be imported."""
    put_logs(folder)
    block = f"import sys; sys.modules[{package!r}] = None; {code}"
    env = {**os.environ, "XDG_DATA_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", block],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


# Imports once, then runs each case in a fork in which its package cannot be imported. That nothing
# imports an extra before it is needed is what `test_without_any_extra_everything_else_works` shows.
RUN_CASES = """
import json, os, sys, traceback
import queryveil.cli.app

queryveil.METHODS.names(), queryveil.MEASURES.names()
codes = {}
for folder, (package, code) in json.load(sys.stdin).items():
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.environ["XDG_DATA_HOME"] = folder
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        sys.modules[package], status = None, 0
        try:
            exec(code, {"sys": sys, "__name__": "__main__"})
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    codes[folder] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(codes))
"""


class Blocked(NamedTuple):
    """What a case gave back without its package, in a shell (None if no command) and in Python."""

    shell: tuple[int, str, str] | None
    python: tuple[int, str, str]


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Blocked]:
    """Run all cases, each without one of its packages, by extra and package."""
    top, code = tmp_path_factory.mktemp("blocked"), {}
    for case, package in (param.values for param in EACH):
        shell = f"sys.argv[1:] = {case.shell}; from queryveil.cli import main; main()"
        lines = {"shell": shell, "python": f"import queryveil as qv; {case.python}"}
        for kind, line in lines.items():
            folder = top / f"{case.extra}-{package}-{kind}"
            folder.mkdir()
            put_logs(folder)
            if kind == "python" or case.shell is not None:
                code[str(folder)] = (package, line)
    done = subprocess.run(
        [sys.executable, "-c", RUN_CASES],
        input=json.dumps(code), capture_output=True, text=True, check=True,
    )  # fmt: skip
    codes = json.loads(done.stdout)

    def outcome(kind: str, case: Case, package: str) -> Any:
        folder = top / f"{case.extra}-{package}-{kind}"
        texts = ((folder / name).read_text() for name in ("out", "err"))
        return (codes[str(folder)], *texts) if str(folder) in codes else None

    return {
        (case.extra, package): Blocked(*(outcome(kind, case, package) for kind in lines))
        for case, package in (param.values for param in EACH)
    }


def message(line: str, case: Case, package: str) -> None:
    """Check that a line names what is missing, and ends with the command."""
    end = f" needs {package}, which is not installed: pip install 'queryveil[{case.extra}]'"
    assert line.endswith(end)


@pytest.mark.parametrize(("case", "package"), EACH)
def test_in_a_shell(case: Case, package: str, blocked: dict[tuple[str, str], Blocked]) -> None:
    ran = blocked[case.extra, package].shell
    if ran is None:
        assert case.shell is None  # no command needs this extra
        return
    code, out, err = ran
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("Error: ")
    message(line, case, package)


@pytest.mark.parametrize(("case", "package"), EACH)
def test_in_python(case: Case, package: str, blocked: dict[tuple[str, str], Blocked]) -> None:
    code, _, err = blocked[case.extra, package].python
    assert code == 1
    last = err.splitlines()[-1]
    assert last.startswith("queryveil.errors.UsageError: ")
    message(last, case, package)


def test_without_any_extra_everything_else_works(tmp_path: Path) -> None:
    blocked = sorted({package for case in CASES for package in case.packages})
    code = (
        f"sys.modules.update(dict.fromkeys({blocked})); import queryveil as qv; "
        "from queryveil.log.readers.registry import READERS; "
        "from queryveil.concepts.loaders.registry import TAXONOMY_LOADERS; "
        "print(*map(len, (qv.METHODS, qv.MEASURES, READERS, TAXONOMY_LOADERS))); "
        f"print({RELEASE}.to_polars().height); "
        "sys.argv[1:] = ['peers', 'simulate', 'log.tsv', '--graph', 'barabasi-albert:m=1']; "
        "from queryveil.cli import main; main()"
    )
    ran = run_without(blocked[0], code, tmp_path)
    assert ran.returncode == 0, ran.stderr
    numbers, rows = ran.stdout.splitlines()[:2]
    assert all(int(number) > 3 for number in numbers.split())
    assert rows == "2"


def test_every_extra_has_a_case() -> None:
    assert declared_extras().keys() == {case.extra for case in CASES}
    for case in CASES:
        names = {re.split("[<>=]", item)[0] for item in declared_extras()[case.extra]}
        assert {package.replace("_", "-") for package in case.packages} <= names


def test_code_names_only_extras_that_exist() -> None:
    declared = declared_extras().keys()
    named = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        named |= set(re.findall(r"import_extra\([^)]*of=\"(\w+)\"", text))
        assert "except ImportError" not in text or path.name == "extras.py", path
    assert named <= declared
    assert named == declared


def test_docs_name_only_extras_that_exist() -> None:
    known = declared_extras().keys() | TOOLS
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "Makefile"]
    for path in pages:
        for names in re.findall(r"queryveil\[([\w,]+)\]", path.read_text("utf-8")):
            assert set(names.split(",")) <= known, path


def test_a_module_that_is_installed() -> None:
    assert import_extra("json", "nothing", of="spark").dumps([1]) == "[1]"
