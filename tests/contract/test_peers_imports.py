"""Peers use these names of queryveil and no others: what may change freely stays free to change."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import queryveil

ROOT = Path(queryveil.__file__).parent
ALL = "*"  # the module is public as a whole
PUBLIC = {
    "_version": {"__version__"},
    "cli.compare": {"Repeats", "Seed"},
    "cli.config": {"parse_fraction"},
    "cli.help": {"Application"},
    "cli.options": ALL,
    "cli.release_options": {"LedgerName", "Overwrite"},
    "cli.terminal": ALL,
    "comparison": {"parse_sweeps"},
    "comparison.series": {"ChartSeries", "chart_lines"},
    "core.bounded": {"MAX_LIST", "parse_json", "read_within"},
    "core.extras": {"import_extra"},
    "core.files": {"atomic_file"},
    "core.folders": {"atomic_folder", "check_output_folder", "is_queryveil_folder"},
    "core.parameters": {"parse_spec"},
    "core.progress": {"NoProgress", "Progress"},
    "core.randomness": {"RandomSource"},
    "core.records": {"Json", "Record", "Scalar", "json_field"},
    "errors": ALL,
    "log.query_log": {"QueryLog"},
    "measures.profile_exposure": {"exposure_levels"},
    "render": ALL,
    "replication.claims": ALL,
    "workflows.budget": {"note_look"},
}


def imports_of_peers() -> dict[str, set[str]]:
    """Return the names that files of peers import from modules outside of peers."""
    names = defaultdict(set)
    for path in (ROOT / "peers").rglob("*.py"):
        package = ["queryveil", *path.relative_to(ROOT).parts[:-1]]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                module = ".".join([*base, *([node.module] if node.module else [])])
                names[module] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.name].add("*")
    return {
        module.removeprefix("queryveil").removeprefix("."): imported
        for module, imported in names.items()
        if module.split(".")[0] == "queryveil" and not (module + ".").startswith("queryveil.peers.")
    }


def is_public(module: str, names: set[str]) -> bool:
    whole = [public for public, listed in PUBLIC.items() if listed == ALL]
    if any(module == public or module.startswith(f"{public}.") for public in whole):
        return True
    return module in PUBLIC and names <= set(PUBLIC[module])


def test_peers_use_public_names_only() -> None:
    imported = imports_of_peers()
    assert {"core.records", "log.query_log", "cli.terminal"} <= imported.keys()
    private = {module: names for module, names in imported.items() if not is_public(module, names)}
    assert private == {}


def test_the_list_is_not_longer_than_needed() -> None:
    imported = imports_of_peers()
    used = {
        module for module in PUBLIC if any((m + ".").startswith(module + ".") for m in imported)
    }
    assert used == PUBLIC.keys()


def test_no_underscored_name_is_public() -> None:
    named = [name for listed in PUBLIC.values() if listed != ALL for name in listed]
    assert [name for name in named if name.startswith("_") and not name.endswith("__")] == []
