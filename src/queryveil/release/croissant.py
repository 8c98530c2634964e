"""The release as a Croissant description: JSON-LD that tools for data sets read.

It follows Croissant 1.0 and its responsible-AI fields (RAI 1.0), and is made from the public
card alone, so it tells nothing that the card does not. What only the publisher knows (licence,
creator, address, date) is left out: a guess would be read as a fact.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from .formats import PUBLIC_SCHEMA
from .responsible import describe_release, responsible_ai_fields
from .tables import PUBLIC_TABLES

__all__ = ["croissant_metadata"]

_STANDARD = "http://mlcommons.org/croissant/"
_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
    "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate",
    "separator", "source", "subField", "transform",
)  # fmt: skip
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": _STANDARD,
    "rai": f"{_STANDARD}RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
} | {term: f"cr:{term}" for term in _TERMS}

_MEDIA = {
    "parquet": "application/x-parquet",
    "tsv": "text/tab-separated-values",
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
}
_COLUMNS = {
    "user": ("sc:Text", "a random pseudonym"),
    "query": ("sc:Text", "the query, or what the method put in its place"),
    "rank": ("sc:Integer", "the place of the clicked result in the list, where a click is given"),
    "url": ("sc:Text", "the clicked result, where a click is given"),
    "next": ("sc:Text", "the query that came after"),
    "count": ("sc:Integer", "how many, as the method counts: noise can be in it"),
}


def croissant_metadata(card: dict[str, Any]) -> dict[str, Any]:
    """Describe the files of a release, their columns, and what to know before using them."""
    names = [name for name in card["files"] if _columns_of(name)]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [f"{_STANDARD}1.0", f"{_STANDARD}RAI/1.0"],
        "name": f"query-log-{card['method']}",
        "description": describe_release(card),
        "keywords": ["query log", "web search", "anonymization", card["method"]],
        "isLiveDataset": False,
        "distribution": [_file(name, card["files"][name]) for name in names],
        "recordSet": [_records(name, card["guarantee"]["checks"]) for name in names],
    } | responsible_ai_fields(card)


def _columns_of(name: str) -> tuple[str, ...]:
    """Give the columns of a data file; another file has none."""
    path = PurePath(name)
    if path.suffix[1:] not in _MEDIA:
        return ()
    if path.stem in PUBLIC_TABLES:
        return (*PUBLIC_TABLES[path.stem], "count")
    return tuple(PUBLIC_SCHEMA) if path.stem == "log" else ()


def _file(name: str, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _MEDIA[PurePath(name).suffix[1:]],
        "sha256": digest,
    }


def _records(name: str, checks: list[dict[str, Any]]) -> dict[str, Any]:
    stem = PurePath(name).stem
    columns = {"time": _time(checks), **_COLUMNS}
    fields = [_field(name, column, *columns[column]) for column in _columns_of(name)]
    key = [{"@id": f"{stem}/{column}"} for column in PUBLIC_TABLES.get(stem, ())]
    records = {"@type": "cr:RecordSet", "@id": stem, "name": stem, "field": fields}
    return records | ({"key": key} if key else {})


def _time(checks: list[dict[str, Any]]) -> tuple[str, str]:
    """Say what the times of a log are; without a step, rows are numbered instead of dated."""
    steps = [check["step"] for check in checks if check["check"] == "time-step"]
    if not steps:
        return "sc:Integer", "a number in place of a date: the order of a user's rows"
    kind = "sc:DateTime" if steps[0] == "hour" else "sc:Date"
    return kind, "not given" if steps[0] == "none" else f"when, to the {steps[0]}"


def _field(name: str, column: str, kind: str, says: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": name}, "extract": {"column": column}}
    if kind == "sc:Text" and name.endswith((".tsv", ".csv")):
        # Takes away the apostrophe that keeps a spreadsheet from running a cell.
        source["transform"] = {"regex": r"^'?([\s\S]*)$"}
    return {
        "@type": "cr:Field",
        "@id": f"{PurePath(name).stem}/{column}",
        "name": column,
        "description": says,
        "dataType": kind,
        "source": source,
    }
