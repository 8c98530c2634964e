"""Write the figures of `queryveil replicate` into a page: tools/write_claims.py DIR...

The page is docs/explanation/replication.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from queryveil import ClaimResult, Replication

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "replication.md"
END = "<!-- end -->"
WORDS = {True: "holds", False: "does not hold", None: "undecided"}


def table(replication: Replication) -> str:
    """Return the claims as a table, with the log and the command of the replication."""
    log, command = replication.comparison.log, replication.comparison.command
    rows = [
        f"| {claim.claim} | {claim.published} | {_ours(claim)} | {WORDS[claim.holds]} |"
        for claim in replication.claims
    ]
    return "\n".join(
        [
            f"`{command}`, {log.users:,} users and {log.rows:,} rows:",
            "",
            "| claim | published | ours | |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _ours(claim: ClaimResult) -> str:
    return " ".join(part for part in (claim.ours, f"({claim.why})" * bool(claim.why)) if part)


def main(folders: list[str]) -> None:
    """Put each table between its marks."""
    text = PAGE.read_text("utf-8")
    for folder in folders:
        document = json.loads((Path(folder) / "comparison.json").read_text("utf-8"))
        replication = Replication.from_dict(document)
        name = replication.comparison.command.split()[2]
        begin = f"<!-- claims {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table(replication)}\n{END}{rest.split(END, 1)[1]}"
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
