"""Put a table into a page of the docs, between the marks that are there for it."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "benchmarks.md"
END = "<!-- end -->"


def put_table(name: str, table: str, page: Path = PAGE) -> None:
    begin = f"<!-- benchmark {name} -->"
    before, rest = page.read_text("utf-8").split(begin)
    page.write_text(f"{before}{begin}\n{table}\n{END}{rest.split(END, 1)[1]}", "utf-8")
