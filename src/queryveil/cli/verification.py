"""Run `queryveil verify`, `pack`, `sign` and `keys`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .. import workflows
from ..errors import UnknownVersionError, VerificationError
from ..ledger.groups import OTHER_GROUPS_NOTE
from ..release.cards import PublicCard
from ..release.guarantee import Level
from ..release.verification import read_public_card
from ..workflows.repeated_releases import warnings_of_folder
from . import tables
from .documents import PackedRelease, PublicKey, SignedRelease
from .help import RARE, Application
from .options import screen_options, with_options
from .terminal import Terminal, sanitize

app = Application()
keys = Application(help="Keys that sign releases.", no_args_is_help=True)
app.add_typer(keys, name="keys")

SignWith = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        metavar="KEY",
        rich_help_panel=RARE,
        help="File of a private key that signs the release.",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Argument(metavar="KEY", help="File of the private key; else in the home folder."),
]


@keys.command("make", example="queryveil keys make")
@with_options(screen_options)
def keys_make(screen: Terminal, key: KeyFile = None) -> None:
    """Generate a key pair: the private key is written to a file, the public key is printed."""
    _show_key(screen, workflows.make_signing_key(key))


@keys.command("show", example="queryveil keys show")
@with_options(screen_options)
def keys_show(screen: Terminal, key: KeyFile = None) -> None:
    """Print the public key, which readers need from a channel that they trust."""
    _show_key(screen, workflows.show_signing_key(key))


def _show_key(screen: Terminal, public: str) -> None:
    screen.result(PublicKey(public), lambda console: console.print(public, soft_wrap=True))


@app.command(example="queryveil sign release")
@with_options(screen_options)
def sign(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    key: Annotated[
        Path | None, typer.Option("--key", help="File of the private key; else in the home folder.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier signature.")
    ] = False,
) -> None:
    """Sign the public files of a release, so that readers can detect a changed copy."""
    public = workflows.sign(folder, key, overwrite=overwrite, progress=screen)
    document = SignedRelease(str(folder), public)
    text = f"Signed by {public}. Readers check: queryveil verify DIR --signer KEY"
    screen.result(document, lambda console: console.print(text, soft_wrap=True))


@app.command(example="queryveil verify release")
@with_options(screen_options)
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    log: Annotated[
        list[Path] | None,
        typer.Option("--log", metavar="LOG", help="Log of the release: count again in it."),
    ] = None,
    signer: Annotated[
        str | None, typer.Option("--signer", help="Public key of the required signer.")
    ] = None,
    with_all: Annotated[
        bool, typer.Option("--all", help="Print also the checks that pass, and all claims.")
    ] = False,
) -> None:
    """Check the guarantee of a release on its written files."""
    paths = [str(path) for path in log] if log else None
    report = workflows.verify(folder, signer=signer, log=paths, progress=screen)
    screen.result(
        report, lambda console: tables.print_verification(console, report, with_all=with_all)
    )
    messages = report.messages(report.holds)
    # The report above lists the failed checks already.
    listed = f"{len(messages)} of {len(report.findings)} checks fail"
    problems = "; ".join(messages) if screen.as_json or screen.quiet else listed
    if report.holds is False:
        raise VerificationError(f"the guarantee does not hold: {problems}", where=folder)
    if report.holds is None:
        hint = "verify it with the version that wrote it"
        raise UnknownVersionError(f"some checks are unknown: {problems}", where=folder, hint=hint)


@app.command(example="queryveil pack release")
@with_options(screen_options)
def pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Archive; else DIR.tar.gz.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing archive.")
    ] = False,
    not_for_publication: Annotated[
        bool,
        typer.Option("--not-for-publication", help="Pack a release that is not for publication."),
    ] = False,
) -> None:
    """Archive the public files of a release, and only those."""
    archive = workflows.pack(
        folder, out, overwrite=overwrite, not_for_publication=not_for_publication, progress=screen
    )
    card = read_public_card(folder / "public")
    size = archive.stat().st_size
    document = PackedRelease(str(archive), size, card.standing.value)
    text = f"{sanitize(str(archive))} has the public files only ({size:,} bytes): "
    text += f"{may_be_published(card, warnings_of_folder(folder))}."
    screen.result(document, lambda console: console.print(text, soft_wrap=True))


def may_be_published(card: PublicCard, warned: Sequence[str] = ()) -> str:
    """Return a text on whether the public files may be published.

    Only a formal guarantee is enough for a yes.

    Args:
        warned: Warnings of the ledger about other releases of the same users.
    """
    summary = sanitize(card.standing_summary)
    if card.standing is not Level.FORMAL:
        return summary
    has_others = bool(warned) or OTHER_GROUPS_NOTE in card.notes
    condition = "only if no other release of the same users is" if has_others else ""
    return f"may be published {condition}".rstrip() + f": {summary}"
