"""Read a release that is to be extended: its card, its method, and who has used how much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from ..core.bounded import read_json
from ..core.progress import Progress
from ..errors import InputError, UsageError, VerificationError
from ..methods.base import Method, get_method
from ..release.formats import read_public_log
from ..release.reading import read_pseudonyms
from ..release.untrusted import file_digest
from .verification import verify

# What an append adds to the promise is no part of the method.
_ADDED = {"spent_before": 0.0, "goes_on": False}


@dataclass(frozen=True, repr=False)
class PreviousRelease:
    """The release that is extended.

    `card` is its internal card, `digest` that of its public card, by which the ledger knows it.
    """

    folder: Path
    card: dict[str, Any]
    digest: str

    @property
    def until(self) -> date | None:
        """The last day that its owner had it read up to, if they named one."""
        day = self.card["input"].get("until")
        try:
            return None if day is None else date.fromisoformat(day)
        except (TypeError, ValueError) as error:
            raise VerificationError("its card is damaged", where=self.folder) from error

    def mapping(self) -> pl.DataFrame:
        """Read who has which pseudonym, and has used how many slots."""
        path = self.folder / "private" / "mapping.tsv"
        if not path.is_file():
            raise InputError(
                "there is no private/mapping.tsv, so nobody can tell who is who",
                where=self.folder,
                hint="it was written with --forget-mapping: make a new release instead",
            )
        found = _read_mapping(path)
        _check_mapping(path, found)
        self._check_names(path, found)
        return found

    def _check_names(self, path: Path, mapping: pl.DataFrame) -> None:
        """Refuse a mapping that lacks somebody: she would count as new, with nothing used."""
        log = read_public_log(self.folder / "public")
        if log is None:
            return
        names = log.select(pseudonym="user").unique().collect(engine="streaming")
        missing = names.join(mapping, on="pseudonym", how="anti").height
        if missing:
            raise VerificationError(f"{missing:,} users of the release are missing", where=path)


def open_previous_release(folder: Path, progress: Progress) -> PreviousRelease:
    """Open the folder of a release, and check that it is whole and fit to be extended."""
    found = verify(folder, progress=progress)
    if found["holds"] is False:
        broken = "; ".join(f["message"] for f in found["findings"] if f["holds"] is False)
        raise VerificationError(f"this release does not hold: {broken}", where=folder)
    path = folder / "private" / "card.json"
    if not path.is_file():
        raise InputError(
            "there is no private/card.json", where=folder, hint="name what `anonymize --out` wrote"
        )
    card = read_json(path)  # verify has read it already
    if not card["release_grade"]:
        raise UsageError(
            "this release is not for publication, and nothing real may be linked to it: "
            + "; ".join(map(str, card.get("not_release_grade_because", []))),
            where=folder,
            hint="extend a release that was made without a seed",
        )
    return PreviousRelease(folder, card, file_digest(folder / "public" / "release.json"))


def base_method(before: PreviousRelease, given: Method | None) -> Method:
    """Give the method of a release, as it was before anything was added to its promise."""
    card = before.card
    method = get_method(card["method"]).from_params(card["parameters"]) if given is None else given
    if given is not None:
        _check_same(before, given)
    elif method.input_files():
        names = ", ".join(path.name for path in method.input_files())
        raise UsageError(
            f"the card does not say where its method's files lie ({names})",
            where=before.folder,
            hint="give the method again, with --method and all its parameters",
        )
    added = {name: value for name, value in _ADDED.items() if name in method.params()}
    return replace(method, **added)


def _check_same(before: PreviousRelease, given: Method) -> None:
    """Name the first way in which a method differs from that of the release."""
    hint = "leave --method out to take that of the release"
    name, shown = before.card["method"], before.card["parameters"]
    if given.name != name:
        what = f"it was made by {name}, not by {given.name}"
        raise UsageError(what, where=before.folder, hint=hint)
    for declared in given.parameters():
        value, stands = getattr(given, declared.name), shown.get(declared.name, declared.default)
        if declared.name not in _ADDED and not _is_same(value, stands):
            what = f"it was made with {declared.option} {stands}, not {value}"
            raise UsageError(what, where=before.folder, hint=hint)


def _is_same(value: Any, shown: Any) -> bool:
    """Compare with what a card shows: of files, the names alone."""
    if not isinstance(value, str):
        return bool(value == shown)
    names = ",".join(Path(name.strip()).name for name in value.split(","))
    return shown in (value, names, f"./{names}")


def _read_mapping(path: Path) -> pl.DataFrame:
    try:
        table = read_pseudonyms(path)
        if "slots" not in table.columns:
            raise InputError(
                "private/mapping.tsv has no column slots",
                where=path.parent.parent,
                hint="only a method that pays for queries one by one can be extended",
            )
        return table.select("user", "pseudonym", pl.col("slots").cast(pl.Int64))
    except (pl.exceptions.PolarsError, OSError):  # which would show cells of it
        raise VerificationError("this mapping is damaged", where=path) from None


def _check_mapping(path: Path, mapping: pl.DataFrame) -> None:
    empty = sum(mapping.null_count().row(0))
    twice = any(mapping[name].n_unique() < mapping.height for name in ("user", "pseudonym"))
    if empty or twice or mapping.filter(pl.col("slots") < 0).height:
        raise VerificationError("this mapping is damaged", where=path)
