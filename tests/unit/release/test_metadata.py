"""The descriptions for other tools: whole, true to the files, and silent about the log."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from queryveil.log.query_log import QueryLog
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.cards import PublicCard
from queryveil.release.formats import OUTPUT_FORMATS
from queryveil.release.guarantee import Check, Guarantee
from queryveil.release.metadata import metadata_files
from queryveil.release.release import Release
from queryveil.release.verification import verify_public
from queryveil.workflows.anonymization import anonymize

ROWS = [
    (f"private-name-{n}", query, "2006-03-01 10:00:00", 1, "http://a.example")
    for n in range(9)
    for query in ("weather", "=1+1", "'quoted'")
]
ROWS += [(f"private-name-{n}", f"secret {n}", None, None, None) for n in range(9)]
TABLES = {
    "queries": pl.DataFrame({"query": ["a", "b"], "count": [5, 3]}),
    "clicks": pl.DataFrame({"query": ["a"], "url": ["u"], "count": [4]}),
    "transitions": pl.DataFrame({"query": ["a"], "next": ["b"], "count": [2]}),
}
LOG = pl.LazyFrame(
    {"user": ["x"], "query": ["a"], "time": [1], "rank": [None], "url": [None]},
    schema_overrides={"time": pl.Int32, "rank": pl.Int32, "url": pl.String},
)
CHECK = Check("min-count", {"table": "queries", "at_least": 1})


def promise(model: str = "approx-dp", **more: Any) -> Guarantee:
    told: dict[str, Any] = {
        "statement": "Little is told.",
        "neighbours": "two logs of which one has the whole log of one more user",
        "epsilon": 2.0,
        "delta": 1e-6,
        "assumptions": ("one name is one person",),
        "not_covered": ("how long it took",),
        "checks": (CHECK,),
    }
    return Guarantee(model=model, **told | more)


def release(guarantee: Guarantee, **more: Any) -> Release:
    told: dict[str, Any] = {"tables": TABLES, "notes": ("a note",), "identifiers": "drop"}
    source = QueryLog.from_rows(ROWS)
    return Release("dp-statistics", {"n": 1, "list": "a.txt"}, guarantee, source, **told | more)


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def written(made: Release, folder: Path, form: str = "parquet") -> dict[str, Any]:
    made.write(folder, format=form)
    return load(folder / "public" / "croissant.json")


def entry(made: Release, folder: Path) -> dict[str, Any]:
    made.write(folder)
    return load(folder / "public" / "dp-deployment.json")


# --- Croissant -----------------------------------------------------------------------------------

TEXT, WHOLE, DATE = "sc:Text", "sc:Integer", "sc:Date"
LOG_FIELDS = {"user": TEXT, "query": TEXT, "time": DATE, "rank": WHOLE, "url": TEXT}
MEDIA = {
    "parquet": "application/x-parquet",
    "tsv": "text/tab-separated-values",
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
}
REQUIRED = {"@context", "@type", "conformsTo", "name", "description", "distribution", "recordSet"}
RAI = {
    "rai:dataCollection", "rai:dataCollectionMissingData", "rai:dataManipulationProtocol",
    "rai:personalSensitiveInformation", "rai:dataLimitations", "rai:dataBiases",
    "rai:dataUseCases", "rai:dataSocialImpact",
}  # fmt: skip
OWNERS = {"license", "creator", "url", "datePublished", "version", "citeAs", "publisher"}


def assert_describes(told: dict[str, Any], public: Path, fields: dict[str, dict[str, str]]) -> None:
    """Compare a description with the files: `fields` are the columns of each, with their kinds."""
    assert told.keys() >= REQUIRED | RAI
    assert not told.keys() & OWNERS
    assert told["@type"] == "sc:Dataset"
    standard = "http://mlcommons.org/croissant/"
    assert told["conformsTo"] == [f"{standard}1.0", f"{standard}RAI/1.0"]
    assert told["@context"]["rai"] == f"{standard}RAI/"
    assert [file["@id"] for file in told["distribution"]] == list(fields)
    for file, records, (name, columns) in zip(
        told["distribution"], told["recordSet"], fields.items(), strict=True
    ):
        data = (public / name).read_bytes()
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
        assert (file["@type"], file["contentUrl"]) == ("cr:FileObject", name)
        assert file["encodingFormat"] == MEDIA[name.partition(".")[2]]
        assert records["@type"] == "cr:RecordSet"
        assert {one["name"]: one["dataType"] for one in records["field"]} == columns
        for one in records["field"]:
            assert one["@id"] == f"{records['@id']}/{one['name']}"
            assert one["source"]["fileObject"] == {"@id": name}
            assert one["source"]["extract"] == {"column": one["name"]}


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_a_log_is_described(form: str, tmp_path: Path) -> None:
    made = anonymize(QueryLog.from_rows(ROWS), FrequentQueries(min_users=5))
    told = written(made, tmp_path / "out", form)
    assert_describes(told, tmp_path / "out" / "public", {f"log.{form}": LOG_FIELDS})
    changed = [f["name"] for f in told["recordSet"][0]["field"] if "transform" in f["source"]]
    assert changed == (["user", "query", "url"] if form in ("tsv", "csv") else [])
    assert "key" not in told["recordSet"][0]


@pytest.mark.parametrize(
    ("step", "kind", "says"),
    [
        ("none", DATE, "not given"),
        ("month", DATE, "when, to the month"),
        ("day", DATE, "when, to the day"),
        ("hour", "sc:DateTime", "when, to the hour"),
    ],
)
def test_times_are_what_the_card_says(step: str, kind: str, says: str, tmp_path: Path) -> None:
    made = anonymize(QueryLog.from_rows(ROWS), FrequentQueries(min_users=5, time_precision=step))
    time = written(made, tmp_path / "out")["recordSet"][0]["field"][2]
    assert (time["name"], time["dataType"], time["description"]) == ("time", kind, says)


STATISTICS = {
    "queries.tsv": {"query": TEXT, "count": WHOLE},
    "clicks.tsv": {"query": TEXT, "url": TEXT, "count": WHOLE},
    "transitions.tsv": {"query": TEXT, "next": TEXT, "count": WHOLE},
}


def test_tables_are_described(tmp_path: Path) -> None:
    told = written(release(promise()), tmp_path / "out")
    assert_describes(told, tmp_path / "out" / "public", STATISTICS)
    keys = [[one["@id"] for one in records["key"]] for records in told["recordSet"]]
    assert keys == [
        ["queries/query"],
        ["clicks/query", "clicks/url"],
        ["transitions/query", "transitions/next"],
    ]
    assert told["description"].startswith("Statistics of a log")


def test_a_log_and_tables_are_described(tmp_path: Path) -> None:
    told = written(release(promise(), log=LOG), tmp_path / "out", "jsonl")
    fields = STATISTICS | {"log.jsonl": LOG_FIELDS | {"time": WHOLE}}
    assert_describes(told, tmp_path / "out" / "public", fields)
    assert told["description"].startswith("A log of")


def test_the_promise_and_its_limits_are_told(tmp_path: Path) -> None:
    told = written(release(promise("conditional-dp", given="the lengths")), tmp_path / "out")
    assert told["rai:personalSensitiveInformation"][1:] == [
        "Standing: formal. Differential privacy for a user's whole log, epsilon 2, delta 1e-06, "
        "only given that public is: the lengths.",
        "Promise: conditional-dp, epsilon 2.0, delta 1e-06; the unit is a user's whole log.",
        "Only given that public is: the lengths",
        "Assumed: one name is one person",
    ]
    assert told["rai:dataLimitations"] == [
        "Not covered by the promise: how long it took",
        "a note",
    ]
    assert '(n=1, list="a.txt"). Little is told.' in told["rai:dataManipulationProtocol"]


# --- the registry --------------------------------------------------------------------------------

# What the registry's form requires, and the words that it allows.
FORM: dict[str, set[str]] = {
    "basic": {
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit", "privacy_unit_details", "privacy_parameters",
        "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name", "model_name_details", "trust_assumptions", "release_type_details",
        "access_type", "access_type_details",
    },
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "composition"},
    "administrative": {"status", "registry_authors", "tier"},
}  # fmt: skip
FILL = "to be filled in by the publisher"


@pytest.mark.parametrize(
    ("model", "variant", "more"),
    [
        ("pure-dp", "Pure DP", {"delta": None}),
        ("approx-dp", "Approximate DP", {}),
        ("conditional-dp", "Custom", {"given": "the lengths", "per_query_epsilon": 0.5}),
    ],
)
def test_an_entry_is_whole(model: str, variant: str, more: dict[str, Any], tmp_path: Path) -> None:
    told = entry(release(promise(model, **more)), tmp_path / "out")
    assert told.keys() == {"url_slug", "deployment"}
    parts = told["deployment"]
    assert {name: set(part) for name, part in parts.items()} == FORM
    loss, kind = parts["privacy_loss"], parts["dp_variant"]
    numbers = {"epsilon": 2.0} if model == "pure-dp" else {"epsilon": 2.0, "delta": 1e-6}
    assert loss["privacy_parameters"] == numbers
    assert loss["privacy_unit"] == "user-level: a user's whole log"
    assert loss["privacy_unit_details"].startswith("Adjacent are two logs of which one has")
    assert ("Epsilon of one query: 0.5" in loss["privacy_parameters_details"]) is bool(
        more.get("given")
    )
    assert kind["variant_name"] == variant
    given = "- Taken as public already: the lengths\n" if "given" in more else ""
    assert kind["unprotected_quantities"] == f"{given}- how long it took"
    assert parts["deployment_model"]["model_name"] == "Central"
    assert parts["deployment_model"]["trust_assumptions"] == "- one name is one person"
    assert parts["basic"]["data_product_type"] == "Summary statistics"
    assert parts["administrative"] == {"status": "Draft", "registry_authors": [FILL], "tier": 1}


def test_what_only_the_publisher_knows_is_marked(tmp_path: Path) -> None:
    basic = entry(release(promise(), log=LOG), tmp_path / "out")["deployment"]["basic"]
    assert {name for name, value in basic.items() if value == FILL} == {
        "intended_use", "data_product_region", "publication_date",
    }  # fmt: skip
    assert basic["data_curators"] == [{"data_curator_name": FILL, "data_curator_type": FILL}]
    assert basic["data_product_type"] == "Dataset"


@pytest.mark.parametrize("model", ["none", "k-anonymity"])
def test_only_differential_privacy_has_an_entry(model: str, tmp_path: Path) -> None:
    release(promise(model, epsilon=None, delta=None, k=5)).write(tmp_path / "out")
    assert not (tmp_path / "out" / "public" / "dp-deployment.json").exists()
    assert failed(tmp_path / "out") == set()


# --- both ----------------------------------------------------------------------------------------


def failed(folder: Path) -> set[str]:
    return {one.check for one in verify_public(folder / "public") if not one.holds}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    release(promise()).write(tmp_path / "out")
    return tmp_path / "out"


def mend(public: Path) -> None:
    """Make the digests fit, as a careful forger would."""
    card = load(public / "release.json")
    names = sorted(path.name for path in public.iterdir() if path.name != "release.json")
    card["files"] = {n: hashlib.sha256((public / n).read_bytes()).hexdigest() for n in names}
    (public / "release.json").write_text(json.dumps(card))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a word": lambda p: rewrite(p / "croissant.json", "whole log", "query"),
    "a number": lambda p: rewrite(p / "dp-deployment.json", '"epsilon": 2.0', '"epsilon": 0.1'),
    "a licence": lambda p: rewrite(p / "croissant.json", "{", '{"license": "mine",'),
    "no description": lambda p: (p / "croissant.json").unlink(),
    "no entry": lambda p: (p / "dp-deployment.json").unlink(),
}


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("how", DAMAGE)
def test_a_change_is_found(out: Path, how: str) -> None:
    public = out / "public"
    assert failed(out) == set()
    DAMAGE[how](public)
    assert failed(out) == {"files", "metadata"}
    mend(public)
    assert failed(out) == {"metadata"}


def test_an_entry_beside_a_release_without_one_is_found(tmp_path: Path) -> None:
    anonymize(QueryLog.from_rows(ROWS), FrequentQueries(min_users=5)).write(tmp_path / "out")
    public = tmp_path / "out" / "public"
    (public / "dp-deployment.json").write_text("{}")
    mend(public)
    found = verify_public(public, declared=FrequentQueries.parameters())
    assert {one.check for one in found if not one.holds} == {"metadata"}


def test_another_version_is_not_compared(out: Path) -> None:
    public = out / "public"
    rewrite(public / "croissant.json", "query log", "log")
    mend(public)
    rewrite(public / "release.json", f'"{qv.__version__}"', '"0.0.9"')
    found = {finding.check: finding.holds for finding in verify_public(public)}
    assert found["metadata"] is None  # neither held nor failed: nobody here can tell


def test_nothing_private_is_in_them(tmp_path: Path) -> None:
    path = tmp_path / "my-input.tsv"
    lines = ["user\tquery\ttime\trank\turl"]
    lines += ["\t".join(map(str, row)) for row in ROWS if row[2]]
    lines += [f"private-name-1\tsecret {n}\t2006-03-01 10:00:00\t\t" for n in range(5)]
    path.write_text("\n".join(lines) + "\n")
    card = anonymize(qv.read_log(path), FrequentQueries(min_users=5)).write(tmp_path / "out")
    text = "".join(metadata_files(card.public).values())
    assert text == (tmp_path / "out" / "public" / "croissant.json").read_text("utf-8")
    digests = list(card.input.sha256.values())
    assert digests
    for word in ("private-name", "secret", "my-input", str(tmp_path), *digests):
        assert word not in text


def test_they_are_decided_by_the_card(tmp_path: Path) -> None:
    card = release(promise()).write(tmp_path / "out")
    public = PublicCard.from_dict(load(tmp_path / "out" / "public" / "release.json"))
    assert metadata_files(card.public) == metadata_files(public)
    for name, text in metadata_files(public).items():
        assert (tmp_path / "out" / "public" / name).read_text("utf-8") == text


def test_a_name_that_is_no_text_can_stand_on_the_card(tmp_path: Path) -> None:
    source, odd = QueryLog.from_rows(ROWS), {"list": "caf\udce9.txt"}
    Release("dp-statistics", odd, promise(), source, tables=TABLES).write(tmp_path / "out")
    told = load(tmp_path / "out" / "public" / "croissant.json")
    assert "caf\udce9.txt" in told["rai:dataManipulationProtocol"]


def test_what_is_not_for_publication_says_so(tmp_path: Path) -> None:
    made = release(promise(), not_release_grade_because=("a seed was given",))
    told = written(made, tmp_path / "out")
    deployed = load(tmp_path / "out" / "public" / "dp-deployment.json")["deployment"]
    for text in (told["description"], deployed["basic"]["description"]):
        assert text.startswith("Not for publication: a seed was given.")
    assert told["rai:dataLimitations"][0] == "Not for publication: a seed was given"
    assert told["rai:dataUseCases"].startswith("None in public")
