"""Write what `queryveil replicate` found into docs/replication.md: tools/write_claims.py DIR..."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "replication.md"
END = "<!-- end -->"
WORDS = {True: "holds", False: "does not hold", None: "cannot be told"}


def table(found: dict[str, Any]) -> str:
    """Give the claims as a table, with the log and the command that found them."""
    log = found["log"]
    rows = [
        f"| {one['claim']} | {one['published']} | {_ours(one)} | {WORDS[one['holds']]} |"
        for one in found["claims"]
    ]
    return "\n".join(
        [
            f"`{found['command']}`, {log['users']:,} users and {log['rows']:,} rows:",
            "",
            "| claim | published | ours | |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _ours(claim: dict[str, Any]) -> str:
    return " ".join(
        part for part in (claim["ours"], f"({claim['why']})" * bool(claim["why"])) if part
    )


def main(folders: list[str]) -> None:
    """Put each table between its marks."""
    text = PAGE.read_text("utf-8")
    for folder in folders:
        found = json.loads((Path(folder) / "comparison.json").read_text("utf-8"))
        name = found["command"].split()[2]
        begin = f"<!-- claims {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table(found)}\n{END}{rest.split(END, 1)[1]}"
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
