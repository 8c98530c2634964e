"""Metadata files with the content of the public card in formats that other tools read."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

from .formats import OUTPUT_FORMATS, PUBLIC_SCHEMA, PUBLIC_TABLES
from .guarantee import words_of
from .noise import about_noise, about_texts

_NUMBERS = ("k", "epsilon", "delta", "per_query_epsilon")


def releases_log(card: dict[str, Any]) -> bool:
    """Return whether the release has users' logs, and not only statistics."""
    return any(name.startswith("log.") for name in card["files"])


def describe_release(card: dict[str, Any]) -> str:
    """Return a description of the release and its guarantee; reasons against publication first."""
    what = "A log of web searches" if releases_log(card) else "Statistics of a log of web searches"
    unfit = " ".join(f"Not for publication: {why}." for why in card["not_release_grade_because"])
    claim = "" if unfit else f" {_claim(card)}."
    promise = f"{what}, released with the method {card['method']}.{claim}"
    return f"{unfit} {promise} {card['guarantee']['statement']}".lstrip()


def _claim(card: dict[str, Any]) -> str:
    """Return the standing as a sentence without its period."""
    words = words_of(card["guarantee"], card["standing"])
    return words[:1].upper() + words[1:]


def format_parameters(card: dict[str, Any]) -> str:
    """Return the parameters on one line."""
    parameters = card["parameters"].items()
    return ", ".join(f"{name}={json.dumps(x, ensure_ascii=False)}" for name, x in parameters)


def responsible_ai_fields(card: dict[str, Any]) -> dict[str, Any]:
    """Return the responsible-AI fields of a Croissant description."""
    promise, unfit = card["guarantee"], card["not_release_grade_because"]
    numbers = "".join(f", {n} {promise[n]}" for n in _NUMBERS if promise[n] is not None)
    use = "logs of pseudonyms" if releases_log(card) else "counts, which are nobody's log"
    return {
        "rai:dataCollection": "What people searched for, as it was logged. How, where and when "
        "that was, the publisher knows and this file does not.",
        "rai:dataCollectionMissingData": "What was left out is not told: how much it is could tell "
        "whether a person is in the log.",
        "rai:dataManipulationProtocol": f"queryveil {card['queryveil']}, method {card['method']}"
        f" ({format_parameters(card)}). {promise['statement']}",
        "rai:personalSensitiveInformation": [
            "Queries can tell of anything: health, belief, money, names, places.",
            f"Standing: {card['standing']}. {_claim(card)}.",
            f"Promise: {promise['model']}{numbers}; the unit is a {promise['unit']}'s whole log.",
            *([f"Only given that public is: {promise['given']}"] if promise["given"] else []),
            *(f"Assumed: {text}" for text in promise["assumptions"]),
        ],
        "rai:dataLimitations": [
            *(f"Not for publication: {why}" for why in unfit),
            *(f"Not covered by the promise: {text}" for text in promise["not_covered"]),
            *card["warnings"],
            *card["notes"],
            *(
                f"{name}: {text}" if name else text
                for name, statements in about_noise(card).items()
                for text in statements
            ),
        ],
        "rai:dataBiases": "Protection falls on what is rare: it is left out, made coarser or lost "
        "in noise. So rare interests and small groups weigh less here than in the log.",
        "rai:dataUseCases": "None in public: this release is not for publication."
        if unfit
        else f"Studies of how people search that can do with {use}.",
        "rai:dataSocialImpact": "What is true of many people can be learned from it, also about "
        "people who are not in the log.",
    }


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

_COLUMNS = {
    "user": ("sc:Text", "a random pseudonym"),
    "query": ("sc:Text", "the query, or what the method put in its place"),
    "rank": ("sc:Integer", "the place of the clicked result in the list, where a click is given"),
    "url": ("sc:Text", "the clicked result, where a click is given"),
    "next": ("sc:Text", "the query that came after"),
    "count": ("sc:Integer", "how many, as the method counts: noise can be in it"),
}


def croissant_metadata(card: dict[str, Any]) -> dict[str, Any]:
    """Return the Croissant description of a release: files, columns and responsible use."""
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
    """Return the columns of a data file; of another file, none."""
    path = PurePath(name)
    if path.suffix[1:] not in OUTPUT_FORMATS:
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
        "encodingFormat": OUTPUT_FORMATS[PurePath(name).suffix[1:]].media_type,
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
    """Return type and description of times; without a step, rows are numbered instead of dated."""
    steps = [check["step"] for check in checks if check["check"] == "time-step"]
    if not steps:
        return "sc:Integer", "a number in place of a date: the order of a user's rows"
    kind = "sc:DateTime" if steps[0] == "hour" else "sc:Date"
    return kind, "not given" if steps[0] == "none" else f"when, to the {steps[0]}"


def _field(name: str, column: str, kind: str, description: str) -> dict[str, Any]:
    source: dict[str, Any] = {"fileObject": {"@id": name}, "extract": {"column": column}}
    if kind == "sc:Text" and name.endswith((".tsv", ".csv")):
        # Removes the apostrophe of `escape_formula`.
        source["transform"] = {"regex": r"^'?([\s\S]*)$"}
    return {
        "@type": "cr:Field",
        "@id": f"{PurePath(name).stem}/{column}",
        "name": column,
        "description": description,
        "dataType": kind,
        "source": source,
    }


_TO_FILL_IN = "to be filled in by the publisher"
# A conditional guarantee is none of the variants that the registry names.
_VARIANTS = {
    "pure-dp": "Pure DP",
    "approx-dp": "Approximate DP",
    "conditional-dp": "Custom",
}


def deployment(card: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry for a registry of DP deployments; None without differential privacy."""
    promise = card["guarantee"]
    if promise["model"] not in _VARIANTS:
        return None
    return {
        "url_slug": _TO_FILL_IN.replace(" ", "-"),
        "deployment": {
            "basic": _basic(card),
            "dp_variant": _variant(promise),
            "privacy_loss": _loss(promise),
            "deployment_model": _model(promise),
            "implementation": _implementation(card),
            "administrative": {
                "status": "Draft",
                "registry_authors": [_TO_FILL_IN],
                "tier": 1,
            },
        },
    }


def _basic(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"Web searches, released with {card['method']}",
        "data_curators": [{"data_curator_name": _TO_FILL_IN, "data_curator_type": _TO_FILL_IN}],
        "description": describe_release(card),
        "intended_use": _TO_FILL_IN,
        "data_product_type": "Dataset" if releases_log(card) else "Summary statistics",
        "data_product_region": _TO_FILL_IN,
        "publication_date": _TO_FILL_IN,
    }


def _variant(promise: dict[str, Any]) -> dict[str, Any]:
    given = [f"Taken as public already: {promise['given']}"] if promise["given"] else []
    return {
        "variant_name": _VARIANTS[promise["model"]],
        "data_domain": "Logs of web searches: rows of user, query and time, with rank and URL of "
        "the result where one was clicked.",
        "unprotected_quantities": _list([*given, *promise["not_covered"]]),
    }


def _loss(promise: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: promise[name] for name in ("epsilon", "delta") if promise[name] is not None}
    single = promise["per_query_epsilon"]
    details = f" Epsilon of one query: {single}." if single is not None else ""
    return {
        "privacy_unit": f"{promise['unit']}-level: a {promise['unit']}'s whole log",
        "privacy_unit_details": f"Adjacent are {promise['neighbours']}.",
        "privacy_parameters": numbers,
        "privacy_parameters_details": promise["statement"] + details,
    }


def _model(promise: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "Who made the release had the whole log and keeps it private.",
        "trust_assumptions": _list(promise["assumptions"]),
        "release_type_details": "The parameters are those of this release. Other releases about "
        "the same people add to them, but for those that it says it includes.",
        "access_type": "Non-interactive",
        "access_type_details": "The release is files; nobody can ask the log.",
    }


def _implementation(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "preprocessing_and_hyperparameter_tuning": _list(
            [f"Parameters: {format_parameters(card)}", *card["warnings"], *card["notes"]]
        ),
        "mechanisms": f"Method {card['method']} of queryveil {card['queryveil']}. Its "
        "documentation has the mechanism and the proof." + _noise(card),
        "composition": "The parameters are for all files of the release together.",
    }


def _noise(card: dict[str, Any]) -> str:
    """Return the size of the noise, table by table."""
    sizes = [text for statements in about_noise(card).values() for text in statements[:1]]
    names = [name or "rows" for name in about_noise(card)]
    lines = [f"{name}: {text}" for name, text in zip(names, sizes, strict=True)]
    return "\n" + _list(lines) if lines else ""


def _list(texts: list[str]) -> str:
    """Return a list in Markdown, the format of texts in the registry."""
    return "\n".join(f"- {text}" for text in texts)


_BUILDERS = {"croissant.json": croissant_metadata, "dp-deployment.json": deployment}
_ABOUT = tuple(f"{name}.about.txt" for name in PUBLIC_TABLES)


def metadata_files(card: dict[str, Any]) -> dict[str, str]:
    """Return the text of each metadata file by its name; it depends on the card alone."""
    contents = {name: build(card) for name, build in _BUILDERS.items()}
    return {
        name: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for name, content in contents.items()
        if content is not None
    } | about_texts(card)


def metadata_matches(card: dict[str, Any], public: Path) -> bool:
    """Return whether the metadata files are exactly those that follow from the card."""
    expected = metadata_files(card)
    present = {name for name in (*_BUILDERS, *_ABOUT) if (public / name).exists()}
    same = all(reads_as(public / name, text) for name, text in expected.items() if name in present)
    return same and present == expected.keys()


def reads_as(path: Path, text: str) -> bool:
    """Return whether a file holds a text; bytes of file names that are not UTF-8 are escaped."""
    data = text.encode("utf-8", errors="backslashreplace")
    too_long = path.stat().st_size > 2 * len(data)  # another system may write \r\n
    return not too_long and path.read_text("utf-8") == data.decode("utf-8")
