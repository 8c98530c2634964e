"""Read a release that is to be extended: its card, its method and its users' contributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from ..core.progress import Progress
from ..errors import InputError, UsageError, VerificationError
from ..methods.base import METHODS, Method
from ..release.cards import PrivateCard
from ..release.formats import read_public_log
from ..release.reading import read_private_card, read_pseudonyms
from ..release.untrusted import file_digest
from .verification import verify


@dataclass(frozen=True, repr=False)
class PreviousRelease:
    """The release that is extended.

    Attributes:
        card: Its private card.
        digest: Digest of its public card, by which the ledger knows it.
    """

    folder: Path
    card: PrivateCard
    digest: str

    @property
    def until(self) -> date | None:
        """The last day of its log, if the data owner named one."""
        return self.card.input.until

    def mapping(self) -> pl.DataFrame:
        """Read the pseudonym of each user, and how many slots they have used."""
        path = self.folder / "private" / "mapping.tsv"
        if not path.is_file():
            raise InputError(
                "private/mapping.tsv is missing, so users cannot be linked to their pseudonyms",
                where=self.folder,
                hint="this release was written with `include_mapping=False`; make a new "
                "release instead",
            )
        mapping = _read_mapping(path)
        _check_mapping(path, mapping)
        self._check_complete(path, mapping)
        return mapping

    def _check_complete(self, path: Path, mapping: pl.DataFrame) -> None:
        """Raise an error if a released user is missing: they would be new, with no slot used."""
        log = read_public_log(self.folder / "public")
        if log is None:
            return
        pseudonyms = log.select(pseudonym="user").unique().collect(engine="streaming")
        missing = pseudonyms.join(mapping, on="pseudonym", how="anti").height
        if missing:
            raise VerificationError(f"{missing:,} users of the release are missing", where=path)


def open_previous_release(folder: Path, progress: Progress) -> PreviousRelease:
    """Open the folder of a release, and check that it is unchanged and can be extended."""
    report = verify(folder, progress=progress)
    if report.holds is False:
        failures = "; ".join(report.messages(False))
        raise VerificationError(f"this release does not verify: {failures}", where=folder)
    card = read_private_card(folder)
    if card is None:
        raise InputError(
            "there is no private/card.json",
            where=folder,
            hint="name what `anonymize_to_folder()` wrote",
        )
    if not card.public.release_grade:
        raise UsageError(
            "this release is not for publication, and no real release may be linked to it: "
            + "; ".join(card.public.not_release_grade_because),
            where=folder,
            hint="extend a release that was made without a seed",
        )
    return PreviousRelease(folder, card, file_digest(folder / "public" / "release.json"))


def base_method(previous: PreviousRelease, requested: Method | None) -> Method:
    """Return the method of a release, without the parameters that an extension sets.

    `requested` is the method that the caller named, if any. It must be that of the release.
    """
    card = previous.card.public
    if requested is not None:
        _check_same(previous, requested)
        method = requested
    else:
        method = METHODS.find(card.method).from_params(dict(card.parameters))
    if requested is None and method.input_files():
        names = ", ".join(path.name for path in method.input_files())
        raise UsageError(
            f"the card does not have the folders of the files that its method reads ({names})",
            where=previous.folder,
            hint="name the method again, with `method` and all its parameters",
        )
    return replace(method, **{d.name: d.default for d in method.parameters() if d.internal})


def _check_same(previous: PreviousRelease, method: Method) -> None:
    """Raise an error that names the first difference between a method and that of the release."""
    hint = "leave `method` out to use that of the release"
    name, parameters = previous.card.method, previous.card.public.parameters
    if method.name != name:
        message = f"it was made by {name}, not by {method.name}"
        raise UsageError(message, where=previous.folder, hint=hint)
    for declared in method.parameters():
        value = getattr(method, declared.name)
        card_value = parameters.get(declared.name, declared.default)
        if not declared.internal and not _is_same(value, card_value):
            message = f"it was made with `{declared.name}={card_value}`, not {value}"
            raise UsageError(message, where=previous.folder, hint=hint)


def _is_same(value: Any, card_value: Any) -> bool:
    """Return whether a value equals that on a card, which has files without their folders."""
    if not isinstance(value, str):
        return bool(value == card_value)
    names = ",".join(Path(name.strip()).name for name in value.split(","))
    return card_value in (value, names, f"./{names}")


def _read_mapping(path: Path) -> pl.DataFrame:
    try:
        table = read_pseudonyms(path)
        if "slots" not in table.columns:
            raise InputError(
                "private/mapping.tsv has no column slots",
                where=path.parent.parent,
                hint="only a method that charges each query separately can be extended",
            )
        return table.select("user", "pseudonym", pl.col("slots").cast(pl.Int64))
    except (pl.exceptions.PolarsError, OSError):  # their messages would show cells of the mapping
        raise VerificationError("this mapping is damaged", where=path) from None


def _check_mapping(path: Path, mapping: pl.DataFrame) -> None:
    nulls = sum(mapping.null_count().row(0))
    duplicated = any(mapping[name].n_unique() < mapping.height for name in ("user", "pseudonym"))
    if nulls or duplicated or mapping.filter(pl.col("slots") < 0).height:
        raise VerificationError("this mapping is damaged", where=path)
