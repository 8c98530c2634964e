"""Forged releases: who changes a bare copy of public/, and all that follows from the change.

The forger draws the page and the descriptions anew, and mends the digests: each file fits the
others, and only what the method says about its own parameters and files can give the forgery away.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from pages import draw_page
from queryveil.release.cards import PublicCard, public_figures
from queryveil.release.formats import read_public_log, read_public_tables
from queryveil.release.metadata import metadata_files
from queryveil.release.noise import CountNoise, describe_noise
from queryveil.release.untrusted import file_digest

DAY = "2006-03-01 10:00:00"
ROWS = [
    (f"user-{number}", text, DAY, None, None)
    for number in range(12)
    for text in ("weather", *(("tennis", "football") if number % 2 else ("hotels", "flights")))
]
LINES = {
    "rule": "frequent-queries:min-users=3",
    "unfit": "frequent-queries:min-users=1",
    "groups": "semantic-microaggregation:k=5:include-clicks=no:min-users=2",
    "noise": "dp-statistics:mode=pure",
    "loud": "dp-statistics:mode=pure:epsilon=20",
}
Card = dict[str, Any]
Forgery = Callable[[Path, Card], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write one honest release of each kind."""
    place, log = tmp_path_factory.mktemp("made"), qv.QueryLog.from_rows(ROWS)
    for name, line in LINES.items():
        qv.anonymize(log, line, ledger=str(place)).write(place / name, format="csv")
    qv.anonymize(log, LINES["groups"], seed=1).write(place / "seeded", format="csv")
    return {path.name: path for path in place.iterdir() if path.is_dir()}


def read(public: Path) -> Card:
    return json.loads((public / "release.json").read_text("utf-8"))


def mend(public: Path, card: Card) -> None:
    """Write the card with page, descriptions, figures and digests that fit it."""
    card["files"] = {}
    for path in sorted(public.iterdir()):
        if path.suffix in (".csv", ".tsv", ".parquet", ".txt"):
            card["files"][path.name] = file_digest(path)
    data = {name: digest for name, digest in card["files"].items() if not name.endswith(".txt")}
    log, tables = read_public_log(public), read_public_tables(public)
    card["figures"] = public_figures(log, tables).to_dict()
    with suppress(qv.VerificationError):  # what cannot be drawn stays as it was
        typed = PublicCard.from_dict({**card, "files": data})
        drawn = {"report.html": draw_page(public, typed), **metadata_files(typed)}
        for name, text in drawn.items():
            (public / name).write_text(text)
    for name in ("report.html", "croissant.json", "dp-deployment.json"):
        if (public / name).exists():
            card["files"][name] = file_digest(public / name)
    (public / "release.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def forge(source: Path, target: Path, change: Forgery) -> Path:
    public = Path(shutil.copytree(source / "public", target))
    card = read(public)
    change(public, card)
    mend(public, card)
    return public


def failing(folder: Path) -> set[str]:
    try:
        found = qv.verify(folder)
    except qv.QueryveilError as error:
        return {type(error).__name__}
    assert found.holds is (not any(f.holds is False for f in found.findings)) or (
        found.holds is None
    )
    return {finding.check for finding in found.findings if finding.holds is False}


def claim(**parts: object) -> Forgery:
    return lambda _, card: card.update(parts)


def promise(line: str) -> Forgery:
    """Claim other parameters, with the whole promise that these would have."""

    def change(_: Path, card: Card) -> None:
        method = qv.parse_method(line)
        card["parameters"] = method.params()
        card["guarantee"] = method.guarantee().to_dict()

    return change


def guarantee(**parts: object) -> Forgery:
    return lambda _, card: card["guarantee"].update(parts)


def put(name: str, text: str = "user,pseudonym\n7,abc\n") -> Forgery:
    return lambda public, _: (public / name).write_text(text)


def thinned(public: Path, _: Card) -> None:
    """Leave four users of one log, where five were promised."""
    rows = pl.read_csv(public / "log.csv", infer_schema=False)
    logs = rows.group_by("user").agg(pl.concat_str(pl.exclude("user"), ignore_nulls=True).sort())
    alike = logs.group_by("query").agg("user").sort("query")["user"][0]
    rows.filter(~pl.col("user").is_in(alike[4:].implode())).write_csv(public / "log.csv")


def own_row(query: str) -> Forgery:
    def change(public: Path, _: Card) -> None:
        with (public / "log.csv").open("a") as file:
            file.write(f"zzzzzzzzzzzz,{query},2006-03-01,,\n")

    return change


def finer_times(public: Path, _: Card) -> None:
    text = (public / "log.csv").read_text()
    (public / "log.csv").write_text(text.replace("2006-03-01", "2006-03-01 10:00:00"))


def quieter(public: Path, card: Card) -> None:
    """Claim a tenth of the noise, with all that follows from it."""
    names = [declared.name for declared in fields(CountNoise)]
    told = [{name: one[name] for name in names} for one in card["noise"]["tables"]]
    noises = [CountNoise(**one | {"scale": one["scale"] / 10}) for one in told]
    described = describe_noise(noises, read_public_tables(public))
    card["noise"]["tables"] = [table.to_dict() for table in described]


def silent(public: Path, card: Card) -> None:
    for path in public.glob("*.about.txt"):
        path.unlink()
    card["noise"]["tables"] = []


def noise_key(_: Path, card: Card) -> None:
    card["noise"]["mapping"] = {"abc": "Jane Doe"}


FIT = {"standing": "formal", "release_grade": True, "not_release_grade_because": []}
RULE = FIT | {"standing": "rule-only"}
FORGERIES: dict[str, tuple[str, Forgery, str]] = {
    "a rule called formal": ("rule", claim(standing="formal"), "standing"),
    "a rule called k-anonymity": ("rule", guarantee(model="k-anonymity", k=5), "promise"),
    "an unknown standing": ("rule", claim(standing="certified"), "VerificationError"),
    "reasons left out": ("unfit", claim(**RULE), "reasons"),
    "only the grade turned": ("unfit", claim(release_grade=True), "standing"),
    "epsilon of 20 without its reason": ("loud", claim(**FIT), "reasons"),
    "epsilon of 20 told as 1": ("loud", guarantee(epsilon=1.0), "promise"),
    "seed told, and fit all the same": ("seeded", claim(release_grade=True), "standing"),
    "warnings left out": ("rule", claim(warnings=[]), "warnings"),
    "a larger k": ("groups", promise(LINES["groups"].replace("k=5", "k=10")), "equal-logs"),
    "k alone": ("groups", guarantee(k=10), "promise"),
    "a larger n": ("rule", promise("frequent-queries:min-users=40"), "min-ids"),
    "no limits": ("groups", guarantee(not_covered=[]), "promise"),
    "kind words": ("groups", guarantee(statement="Nobody can ever be found."), "promise"),
    "no assumptions": ("noise", guarantee(assumptions=[]), "promise"),
    "a smaller epsilon": ("noise", guarantee(epsilon=0.01), "promise"),
    "a part of its own": ("rule", claim(certified="by everybody"), "VerificationError"),
    "notes left out": ("noise", lambda _, card: card.pop("notes"), "VerificationError"),
    "the mapping": ("rule", put("mapping.tsv"), "names"),
    "a second log": ("rule", put("log.tsv", "user\tquery\ttime\trank\turl\n"), "names"),
    "a log of another name": ("rule", put("log2.csv"), "names"),
    "a hidden file": ("rule", put(".hidden"), "files"),
    "a table of nobody's promise": ("rule", put("queries.tsv", "query\tcount\nme\t9\n"), "data"),
    "a log beside statistics": ("noise", put("log.csv", "user,query,time,rank,url\n"), "data"),
    "a rare query": ("rule", own_row("jane doe springfield"), "min-ids"),
    "one who stands alone": ("groups", own_row("jane doe springfield"), "equal-logs"),
    "a group that was thinned": ("groups", thinned, "equal-logs"),
    "times of day": ("rule", finer_times, "time-step"),
    "a parameter too few": (
        "rule", lambda _, c: c["parameters"].pop("min_click_users"), "parameters",
    ),
    "a parameter too many": ("rule", lambda _, c: c["parameters"].update(x=1), "promise"),
    "an unknown method": ("rule", claim(method="perfect-privacy"), "promise"),
    "a tenth of the noise": ("noise", quieter, "scale"),
    "no noise": ("noise", silent, "scale"),
    "a part beside the noise": ("noise", noise_key, "VerificationError"),
    "no checks": ("groups", guarantee(checks=[]), "checks"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found_on_public_files_alone(
    name: str, made: dict[str, Path], tmp_path: Path
) -> None:
    source, change, check = FORGERIES[name]
    public = forge(made[source], tmp_path / "bare", change)
    assert check in failing(public)
    shutil.copytree(public, tmp_path / "again" / "public")
    with pytest.raises(qv.QueryveilError):
        qv.pack(tmp_path / "again", not_for_publication=True)


def _second_log(folder: Path) -> None:
    shutil.copytree(folder / "public", folder / "more")
    for path in (folder / "more").iterdir():
        path.rename(folder / path.name)
    (folder / "more").rmdir()


BESIDE: dict[str, Callable[[Path], Any]] = {
    "another log around the honest one": _second_log,
    "the mapping": lambda folder: (folder / "mapping.tsv").write_text("user\tpseudonym\n"),
    "a private file": lambda folder: (folder / "private").write_text("me"),
    "a hidden file": lambda folder: (folder / ".log.tsv").write_text("me"),
    "a link": lambda folder: (folder / "private").symlink_to(folder / "public"),
}


@pytest.mark.parametrize("name", BESIDE)
def test_nothing_stands_beside_what_was_checked(
    name: str, made: dict[str, Path], tmp_path: Path, cli
) -> None:
    """A reader would open what stands there, and nobody has looked at it."""
    folder = tmp_path / "copy"
    shutil.copytree(made["rule"] / "public", folder / "public")
    assert failing(folder) == set()
    BESIDE[name](folder)
    assert "folder" in failing(folder)
    assert cli("verify", str(folder)).code == 1
    with pytest.raises(qv.QueryveilError):
        qv.pack(folder)


def test_a_long_claim_says_that_it_is_longer(made: dict[str, Path], tmp_path: Path) -> None:
    public = forge(made["rule"], tmp_path / "bare", claim(notes=["x" * 3000]))
    assert any("2,506 more characters" in one for one in qv.verify(public).claims)


@pytest.mark.parametrize("source", [*LINES, "seeded"])
def test_what_is_honest_passes_and_says_what_it_cannot_show(
    source: str, made: dict[str, Path], tmp_path: Path
) -> None:
    assert failing(made[source]) == set()
    public = forge(made[source], tmp_path / "bare", lambda *_: None)
    assert failing(public) == set()
    found = qv.verify(public)
    assert found.holds is True
    assert ("that no fixed seed was used" in found.claims) is (source != "seeded")
    notes = read(public)["notes"]
    assert all(any(f"note: {note}"[:500] in one for one in found.claims) for note in notes)


def test_a_flattering_note_is_told_to_be_nobodys_proof(
    made: dict[str, Path], tmp_path: Path, cli
) -> None:
    public = forge(made["rule"], tmp_path / "bare", claim(notes=["approved by the authorities"]))
    assert "approved" not in cli("verify", str(public)).out
    ran = cli("verify", str(public), "--all")
    said, _, claims = ran.out.partition(
        "Claims of the data owner that cannot be checked on the files"
    )
    assert "approved by the authorities" in claims
    assert "approved" not in said


def test_another_version_is_neither_passed_nor_failed(
    made: dict[str, Path], tmp_path: Path, cli
) -> None:
    """A page that nobody here can draw again is not taken on trust."""
    public = forge(made["rule"], tmp_path / "copy" / "public", claim(queryveil="99.0"))
    (public / "report.html").write_text("<h1>Safe, says everybody</h1>")
    card = read(public)
    card["files"]["report.html"] = file_digest(public / "report.html")
    (public / "release.json").write_text(json.dumps(card, indent=2))
    assert qv.verify(public).holds is None
    ran = cli("verify", str(public), "--json")
    assert ran.code == 3
    found = {f["check"]: f["holds"] for f in json.loads(ran.out)["findings"]}
    assert (found["page"], found["metadata"]) == (None, None)
    assert "99.0, which queryveil" in ran.err
    with pytest.raises(qv.UnknownVersionError, match=r"99\.0"):
        qv.pack(tmp_path / "copy")
    card["guarantee"]["model"] = "k-anonymity"  # what can be compared still is
    (public / "release.json").write_text(json.dumps(card, indent=2))
    assert qv.verify(public).holds is False


def test_a_name_that_stands_twice_is_refused(made: dict[str, Path], tmp_path: Path) -> None:
    public = Path(shutil.copytree(made["rule"] / "public", tmp_path / "bare"))
    text = (public / "release.json").read_text()
    (public / "release.json").write_text(text.replace("{", '{"standing": "formal",', 1))
    assert failing(public) == {"VerificationError"}


def test_the_owners_card_must_be_there_and_agree(made: dict[str, Path], tmp_path: Path) -> None:
    whole = Path(shutil.copytree(made["rule"], tmp_path / "whole"))
    (whole / "private" / "card.json").unlink()
    assert failing(whole) == {"card"}
    with pytest.raises(qv.VerificationError, match="private card is missing"):
        qv.pack(whole)
    own = json.loads((made["rule"] / "private" / "card.json").read_text()) | {"notes": ["other"]}
    (whole / "private" / "card.json").write_text(json.dumps(own))
    (whole / "private" / "card.json").chmod(0o600)
    assert failing(whole) == {"card"}
