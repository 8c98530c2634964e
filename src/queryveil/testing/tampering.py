"""Damage to a written release that `verify` must find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .checks import require
from .runs import MethodRun, failed_checks


@dataclass(frozen=True)
class Tampering:
    """A change of a public folder; it returns False where it does not apply to a release."""

    change: Callable[[Path], bool]

    def check(self, run: MethodRun, name: str) -> None:
        """Raise KitFailure unless `verify` finds the change, with and without private files."""
        copy = run.copy()
        if not self.change(copy / "public"):
            return
        for folder in (copy, copy / "public"):
            require(failed_checks(run.method, folder), f"`verify` does not see {name}")


def _data_file(public: Path) -> Path:
    return next(
        path for name in ("log", "queries", "clicks", "transitions")
        if (path := public / f"{name}.tsv").exists()
    )  # fmt: skip


def _change_cell(public: Path) -> bool:
    path = _data_file(public)
    header, *rows = path.read_text("utf-8").split("\n")
    if len(rows) < 2:
        return False
    cells = rows[0].split("\t")
    position = 1 if path.stem == "log" else -1
    cells[position] += "7"  # appended, so that it always differs from what was there
    rows[0] = "\t".join(cells)
    path.write_text("\n".join([header, *rows]), "utf-8")
    return True


def _drop_row(public: Path) -> bool:
    path = _data_file(public)
    header, *rows = path.read_text("utf-8").split("\n")
    path.write_text("\n".join([header, *rows[1:]]), "utf-8")
    return len(rows) > 1


def _add_file(public: Path) -> bool:
    (public / "mapping.tsv").write_text("user\tpseudonym\n", "utf-8")
    return True


def _remove_file(public: Path) -> bool:
    _data_file(public).unlink()
    return True


def _change_page(public: Path) -> bool:
    page = public / "report.html"
    page.write_text(page.read_text("utf-8").replace("</body>", "<p>and more</p></body>"), "utf-8")
    return True


def _edit_card(edit: Callable[[dict[str, Any]], object]) -> Callable[[Path], bool]:
    def change(public: Path) -> bool:
        path = public / "release.json"
        card = json.loads(path.read_text("utf-8"))
        edit(card)
        path.write_text(json.dumps(card), "utf-8")
        return True

    return change


TAMPERINGS = {
    "a changed cell": Tampering(_change_cell),
    "a missing row": Tampering(_drop_row),
    "an extra file": Tampering(_add_file),
    "a missing file": Tampering(_remove_file),
    "a changed page": Tampering(_change_page),
    "another guarantee on the card": Tampering(
        _edit_card(lambda card: card["guarantee"].update(statement="Nobody can ever be found."))
    ),
    "a missing check on the card": Tampering(
        _edit_card(lambda card: card["guarantee"]["checks"].pop())
    ),
    "another method on the card": Tampering(
        _edit_card(lambda card: card.update(method="no-such-method"))
    ),
    "another figure on the card": Tampering(
        _edit_card(lambda card: card["figures"].update(rows=12_345))
    ),
}
