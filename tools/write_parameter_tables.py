"""Write the tables of parameters into the docs of methods and measures.

A table stands between `<!-- parameters NAME -->` and `<!-- end -->`, and is generated from the
declarations of the method or measure NAME: tools/write_parameter_tables.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from queryveil.core.parameters import Parameter, Parametrized
from queryveil.measures.base import MEASURES
from queryveil.methods.base import METHODS

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"<!-- parameters ([a-z-]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def pages() -> Iterator[Path]:
    """Yield the pages that have tables of parameters."""
    yield from sorted((DOCS / "reference" / "methods").glob("*.md"))
    yield DOCS / "reference" / "measures.md"


def documented() -> list[str]:
    """Return the methods and measures that have a table, with repetitions."""
    return [name for page in pages() for name in BLOCK.findall(page.read_text("utf-8"))]


def fill_tables(text: str) -> str:
    """Return a page with the tables that follow from the declarations."""
    return BLOCK.sub(lambda block: _block(block[1]), text)


def _block(name: str) -> str:
    kind: type[Parametrized] = METHODS.find(name) if name in METHODS else MEASURES.find(name)
    rows = [_row(declared, name in METHODS) for declared in kind.user_parameters()]
    head = "| parameter | default | values | meaning |\n|---|---|---|---|\n"
    return f"<!-- parameters {name} -->\n{head}{''.join(rows)}<!-- end -->\n"


def _row(declared: Parameter, has_option: bool) -> str:
    name = declared.option if has_option else declared.name
    shown = ("no", "yes")[declared.default] if declared.type is bool else str(declared.default)
    cells = (f"`{name}`", f"`{shown}`" if shown else "", declared.allowed, declared.help)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def main() -> None:
    """Write all tables."""
    for page in pages():
        page.write_text(fill_tables(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
