"""The commands that look at what was written: verify and pack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import workflows
from ..errors import UnknownVersionError, VerificationError
from ..release.guarantee import Level, words_of
from ..release.verification import read_public_card
from ..workflows.repeated_releases import AGAIN, warnings_of_folder
from . import tables
from .options import screen_options, with_options
from .terminal import Terminal, sanitize

app = typer.Typer()
keys = typer.Typer(help="Keys to sign releases with.", no_args_is_help=True)
app.add_typer(keys, name="keys")

SignWith = Annotated[
    Path | None, typer.Option("--sign", metavar="KEY", help="Sign it with this private key.")
]
KeyFile = Annotated[
    Path | None, typer.Argument(metavar="KEY", help="File of the private key; else one at home.")
]


@keys.command("make")
@with_options(screen_options)
def keys_make(screen: Terminal, key: KeyFile = None) -> None:
    """Make a key pair: the private key stays in a file, the public one is shown."""
    _show_key(screen, workflows.make_signing_key(key))


@keys.command("show")
@with_options(screen_options)
def keys_show(screen: Terminal, key: KeyFile = None) -> None:
    """Show the public key, to be given to readers by a way that they trust."""
    _show_key(screen, workflows.show_signing_key(key))


def _show_key(screen: Terminal, public: str) -> None:
    screen.result({"key": public}, lambda console: console.print(public, soft_wrap=True))


@app.command()
@with_options(screen_options)
def sign(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    key: Annotated[
        Path | None, typer.Option("--key", help="File of the private key; else one at home.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier signature.")] = False,
) -> None:
    """Sign the public files of a release, so that a changed copy is seen."""
    public = workflows.sign(folder, key, force=force, progress=screen)
    found = {"folder": str(folder), "key": public}
    text = f"Signed by {public}. Readers check: queryveil verify DIR --signer KEY"
    screen.result(found, lambda console: console.print(text, soft_wrap=True))


@app.command()
@with_options(screen_options)
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    signer: Annotated[
        str | None, typer.Option("--signer", help="Public key of who must have signed it.")
    ] = None,
) -> None:
    """Re-check the promise of a release on its written files."""
    found = workflows.verify(folder, signer=signer, progress=screen)
    screen.result(found, lambda console: tables.print_verification(console, found))
    wrong = "; ".join(f["message"] for f in found["findings"] if f["holds"] is found["holds"])
    if found["holds"] is False:
        raise VerificationError(f"the promise does not hold: {wrong}", where=folder)
    if found["holds"] is None:
        hint = "verify it with the version that wrote it"
        raise UnknownVersionError(f"not all could be checked: {wrong}", where=folder, hint=hint)


@app.command()
@with_options(screen_options)
def pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a release.")],
    screen: Terminal,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Archive; else DIR.tar.gz.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an archive that stands there.")
    ] = False,
    not_for_publication: Annotated[
        bool, typer.Option("--not-for-publication", help="Pack also what is not to be published.")
    ] = False,
) -> None:
    """Archive the public files of a release, and only those."""
    archive = workflows.pack(
        folder, out, force=force, not_for_publication=not_for_publication, progress=screen
    )
    card = read_public_card(folder / "public")
    found = {"archive": str(archive), "bytes": archive.stat().st_size, "standing": card["standing"]}
    text = f"{sanitize(str(archive))} holds the public files alone ({found['bytes']:,} bytes): "
    text += f"{may_be_published(card, warnings_of_folder(folder))}."
    screen.result(found, lambda console: console.print(text, soft_wrap=True))


def may_be_published(card: dict[str, Any], warned: Sequence[str] = ()) -> str:
    """Return what may be done with the public files; only a formal guarantee says so of itself.

    `warned` is what the ledger says of other releases of the same people.
    """
    words = sanitize(words_of(card["guarantee"], card["standing"]))
    if card["standing"] != Level.FORMAL:
        return words
    several = bool(warned) or AGAIN in card.get("notes", ())
    alone = "only if no other release of these people is" if several else ""
    return f"may be published {alone}".rstrip() + f": {words}"
