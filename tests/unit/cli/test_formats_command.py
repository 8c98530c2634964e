"""`queryveil formats` lists what is read, by the names that really select a reader."""

from __future__ import annotations

import json
import re

from conftest import Run
from queryveil.log.readers.base import FileHeader
from queryveil.log.readers.registry import READERS, select_reader, spark_readers


def test_all_formats_and_columns_are_listed(cli: Run) -> None:
    document = json.loads(cli("formats", "--json").out)
    assert [item["name"] for item in document["formats"]] == list(READERS)
    assert list(document["header_names"]) == ["user", "query", "time", "rank", "url"]
    assert "suchbegriff" in cli("formats").out


def test_listed_file_names_select_their_reader() -> None:
    for reader in READERS.values():
        for ending in re.findall(r"(?:^|, )(\.\w+)", reader.names):
            readers = [*READERS.values()] if reader.read else spark_readers()
            assert select_reader(FileHeader(f"log{ending}"), readers) is reader, ending
