"""Metadata files with the content of the public card in formats that other tools read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import TypeAlias

from ..core.records import Json
from .cards import PublicCard
from .checks import requires_kinds
from .formats import KIND, OUTPUT_FORMATS, PUBLIC_SCHEMA, PUBLIC_TABLES, SCHEMA_WITH_KIND
from .guarantee import Check, Guarantee

# A document in the format of others: they choose its keys.
ForeignDocument: TypeAlias = dict[str, Json]


def releases_log(card: PublicCard) -> bool:
    """Return whether the release has users' logs, and not only statistics."""
    return any(name.startswith("log.") for name in card.files)


def describe_release(card: PublicCard) -> str:
    """Return a description of the release and its guarantee; reasons against publication first."""
    what = "A log of web searches" if releases_log(card) else "Statistics of a log of web searches"
    unfit = " ".join(f"Not for publication: {why}." for why in card.not_release_grade_because)
    claim = "" if unfit else f" {_claim(card)}."
    promise = f"{what}, released with the method {card.method}.{claim}"
    return f"{unfit} {promise} {card.guarantee.statement}".lstrip()


def _claim(card: PublicCard) -> str:
    """Return the standing as a sentence without its period."""
    summary = card.standing_summary
    return summary[:1].upper() + summary[1:]


def format_parameters(card: PublicCard) -> str:
    """Return the parameters on one line."""
    parameters = card.parameters.items()
    return ", ".join(f"{name}={json.dumps(x, ensure_ascii=False)}" for name, x in parameters)


def _list_numbers(guarantee: Guarantee) -> dict[str, float]:
    """Return the numbers of a guarantee by name, without those that it does not have."""
    numbers = {
        "k": guarantee.k,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "per_query_epsilon": guarantee.per_query_epsilon,
    }
    return {name: number for name, number in numbers.items() if number is not None}


def responsible_ai_fields(card: PublicCard) -> ForeignDocument:
    """Return the responsible-AI fields of a Croissant description."""
    guarantee, unfit = card.guarantee, card.not_release_grade_because
    numbers = "".join(f", {name} {value}" for name, value in _list_numbers(guarantee).items())
    use = "logs of pseudonyms" if releases_log(card) else "counts, which are nobody's log"
    return {
        "rai:dataCollection": "What people searched for, as it was logged. The publisher "
        "knows how, where and when; this file does not state it.",
        "rai:dataCollectionMissingData": "What was left out is not stated: its amount could "
        "reveal whether a person is in the log.",
        "rai:dataManipulationProtocol": f"queryveil {card.queryveil}, method {card.method}"
        f" ({format_parameters(card)}). {guarantee.statement}",
        "rai:personalSensitiveInformation": [
            "Queries can reveal anything: health, belief, money, names, places.",
            f"Standing: {card.standing}. {_claim(card)}.",
            f"Promise: {guarantee.model}{numbers}; the unit is a {guarantee.unit}'s whole log.",
            *([f"Only given that public is: {guarantee.given}"] if guarantee.given else []),
            *(f"Assumed: {text}" for text in guarantee.assumptions),
        ],
        "rai:dataLimitations": [
            *(f"Not for publication: {why}" for why in unfit),
            *(f"Not covered by the promise: {text}" for text in guarantee.not_covered),
            *card.warnings,
            *card.notes,
            *(
                f"{name}: {text}" if name else text
                for name, statements in card.noise.statements_by_file().items()
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
_CONTEXT: ForeignDocument = {
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
    **{term: f"cr:{term}" for term in _TERMS},
}

_COLUMNS = {
    "user": ("sc:Text", "a random pseudonym"),
    "query": ("sc:Text", "the query, or what the method put in its place"),
    "rank": ("sc:Integer", "the place of the clicked result in the list, where a click is given"),
    "url": ("sc:Text", "the clicked result, where a click is given"),
    KIND: ("sc:Text", "query: the text is a whole query; part: a run of words inside of queries"),
    "next": ("sc:Text", "the query that came after"),
    "count": ("sc:Integer", "how many, as the method counts: noise can be in it"),
}


def croissant_metadata(card: PublicCard) -> ForeignDocument:
    """Return the Croissant description of a release: files, columns and responsible use."""
    checks = card.guarantee.checks
    names = [name for name in card.files if _columns_of(name, checks)]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [f"{_STANDARD}1.0", f"{_STANDARD}RAI/1.0"],
        "name": f"query-log-{card.method}",
        "description": describe_release(card),
        "keywords": ["query log", "web search", "anonymization", card.method],
        "isLiveDataset": False,
        "distribution": [_file(name, card.files[name]) for name in names],
        "recordSet": [_records(name, checks) for name in names],
        **responsible_ai_fields(card),
    }


def _columns_of(name: str, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the columns of a data file; of another file, none."""
    path = PurePath(name)
    if path.suffix[1:] not in OUTPUT_FORMATS:
        return ()
    if path.stem in PUBLIC_TABLES:
        return (*PUBLIC_TABLES[path.stem], "count")
    schema = SCHEMA_WITH_KIND if requires_kinds(checks) else PUBLIC_SCHEMA
    return tuple(schema) if path.stem == "log" else ()


def _file(name: str, digest: str) -> ForeignDocument:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": OUTPUT_FORMATS[PurePath(name).suffix[1:]].media_type,
        "sha256": digest,
    }


def _records(name: str, checks: Sequence[Check]) -> ForeignDocument:
    stem = PurePath(name).stem
    columns = {"time": _time(checks), **_COLUMNS}
    fields = [_field(name, column, *columns[column]) for column in _columns_of(name, checks)]
    key = [{"@id": f"{stem}/{column}"} for column in PUBLIC_TABLES.get(stem, ())]
    return {
        "@type": "cr:RecordSet",
        "@id": stem,
        "name": stem,
        "field": fields,
        **({"key": key} if key else {}),
    }


def _time(checks: Sequence[Check]) -> tuple[str, str]:
    """Return type and description of times; without a step, rows are numbered instead of dated."""
    steps = [check.arguments.get("step") for check in checks if check.check == "time-step"]
    if not steps:
        return "sc:Integer", "a number in place of a date: the order of a user's rows"
    kind = "sc:DateTime" if steps[0] == "hour" else "sc:Date"
    return kind, "not given" if steps[0] == "none" else f"when, to the {steps[0]}"


def _field(name: str, column: str, kind: str, description: str) -> ForeignDocument:
    source: ForeignDocument = {"fileObject": {"@id": name}, "extract": {"column": column}}
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


def deployment(card: PublicCard) -> ForeignDocument | None:
    """Return the entry for a registry of DP deployments; None without differential privacy."""
    guarantee = card.guarantee
    if guarantee.model not in _VARIANTS:
        return None
    return {
        "url_slug": _TO_FILL_IN.replace(" ", "-"),
        "deployment": {
            "basic": _basic(card),
            "dp_variant": _variant(guarantee),
            "privacy_loss": _loss(guarantee),
            "deployment_model": _model(guarantee),
            "implementation": _implementation(card),
            "administrative": {
                "status": "Draft",
                "registry_authors": [_TO_FILL_IN],
                "tier": 1,
            },
        },
    }


def _basic(card: PublicCard) -> ForeignDocument:
    return {
        "name": f"Web searches, released with {card.method}",
        "data_curators": [{"data_curator_name": _TO_FILL_IN, "data_curator_type": _TO_FILL_IN}],
        "description": describe_release(card),
        "intended_use": _TO_FILL_IN,
        "data_product_type": "Dataset" if releases_log(card) else "Summary statistics",
        "data_product_region": _TO_FILL_IN,
        "publication_date": _TO_FILL_IN,
    }


def _variant(guarantee: Guarantee) -> ForeignDocument:
    given = [f"Taken as public already: {guarantee.given}"] if guarantee.given else []
    return {
        "variant_name": _VARIANTS[guarantee.model],
        "data_domain": "Logs of web searches: rows of user, query and time, with rank and URL of "
        "the result where one was clicked.",
        "unprotected_quantities": _list([*given, *guarantee.not_covered]),
    }


def _loss(guarantee: Guarantee) -> ForeignDocument:
    numbers = _list_numbers(guarantee)
    single = guarantee.per_query_epsilon
    details = f" Epsilon of one query: {single}." if single is not None else ""
    return {
        "privacy_unit": f"{guarantee.unit}-level: a {guarantee.unit}'s whole log",
        "privacy_unit_details": f"Adjacent are {guarantee.neighbours}.",
        "privacy_parameters": {
            name: numbers[name] for name in ("epsilon", "delta") if name in numbers
        },
        "privacy_parameters_details": guarantee.statement + details,
    }


def _model(guarantee: Guarantee) -> ForeignDocument:
    return {
        "model_name": "Central",
        "model_name_details": "Who made the release had the whole log and keeps it private.",
        "trust_assumptions": _list(guarantee.assumptions),
        "release_type_details": "The parameters are those of this release. Other releases about "
        "the same people add to them, but for those that it says it includes.",
        "access_type": "Non-interactive",
        "access_type_details": "The release is files; nobody can ask the log.",
    }


def _implementation(card: PublicCard) -> ForeignDocument:
    return {
        "preprocessing_and_hyperparameter_tuning": _list(
            [f"Parameters: {format_parameters(card)}", *card.warnings, *card.notes]
        ),
        "mechanisms": f"Method {card.method} of queryveil {card.queryveil}. Its "
        "documentation has the mechanism and the proof." + _noise(card),
        "composition": "The parameters are for all files of the release together.",
    }


def _noise(card: PublicCard) -> str:
    """Return the size of the noise, table by table."""
    sizes = [
        text for statements in card.noise.statements_by_file().values() for text in statements[:1]
    ]
    names = [name or "rows" for name in card.noise.statements_by_file()]
    lines = [f"{name}: {text}" for name, text in zip(names, sizes, strict=True)]
    return "\n" + _list(lines) if lines else ""


def _list(texts: Iterable[str]) -> str:
    """Return a list in Markdown, the format of texts in the registry."""
    return "\n".join(f"- {text}" for text in texts)


_BUILDERS = {"croissant.json": croissant_metadata, "dp-deployment.json": deployment}
_ABOUT = tuple(f"{name}.about.txt" for name in PUBLIC_TABLES)


def metadata_files(card: PublicCard) -> dict[str, str]:
    """Return the text of each metadata file by its name; it depends on the card alone."""
    contents = {name: build(card) for name, build in _BUILDERS.items()}
    return {
        name: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for name, content in contents.items()
        if content is not None
    } | card.noise.about_texts()


def metadata_matches(card: PublicCard, public: Path) -> bool:
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
