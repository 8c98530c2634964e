"""Put a table into the README, between the marks that are there for it."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
END = "<!-- end -->"


def put_table(name: str, table: str) -> None:
    begin = f"<!-- benchmark {name} -->"
    before, rest = README.read_text("utf-8").split(begin)
    README.write_text(f"{before}{begin}\n{table}\n{END}{rest.split(END, 1)[1]}", "utf-8")
