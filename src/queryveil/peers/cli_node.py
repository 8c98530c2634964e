"""`queryveil peers node ...` and `queryveil peers engine`: one person's node, and a toy engine."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..cli.options import screen_options, with_options
from ..cli.terminal import Terminal, sanitize
from ..core.bounded import read_within
from ..errors import InputError, UsageError
from .protocol.policy import ProtocolSettings

app = typer.Typer(
    help="Your own node: friends submit your queries, and you theirs.", no_args_is_help=True
)

HomeFolder = Annotated[Path, typer.Option("--home", help="Folder of the node.")]
_HOME = Path("queryveil-node")


def _node() -> Any:
    """Import the node when it is wanted: it needs packages that a plain installation lacks."""
    try:
        return importlib.import_module("queryveil.peers.node")
    except ImportError as error:
        hint = "pip install 'queryveil[peers]'"
        raise UsageError(f"a node needs {error.name}", hint=hint) from error


@app.command()
@with_options(screen_options)
def run(
    screen: Terminal,
    home: HomeFolder = _HOME,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of your page, on this machine only.")
    ] = 7070,
    listen: Annotated[
        str, typer.Option(help="Where friends reach you: HOST:PORT, or none.")
    ] = "127.0.0.1:7071",
    engine: Annotated[
        str,
        typer.Option(
            envvar="QUERYVEIL_ENGINE", help="searxng:URL, or template:URL with {query} in it."
        ),
    ] = "searxng:http://localhost:8888",
    results: Annotated[
        str | None, typer.Option(help="template: where the results are, as data.items.")
    ] = None,
    fields: Annotated[
        str | None, typer.Option(help="template: title=name,url=link,snippet=text.")
    ] = None,
    keep_texts: Annotated[
        bool, typer.Option("--keep-texts", help="Keep the queries that you submit, to show them.")
    ] = False,
    submit: Annotated[float, typer.Option(help="Chance that a relay submits a query.")] = 0.5,
    hops: Annotated[int, typer.Option(help="How often a query is handed on at most.")] = 10,
) -> None:
    """Run the node until it is stopped."""
    node = _node()
    plan = node.Plan(
        home, engine, port, listen, results, fields, keep_texts, ProtocolSettings(submit, hops)
    )
    node.serve_node(plan, lambda address: _ready(screen, "Your page", address))


@app.command()
@with_options(screen_options)
def invite(
    screen: Terminal,
    name: Annotated[str, typer.Option(help="What friends call you.")],
    address: Annotated[
        str, typer.Option(help="HOST:PORT where friends reach you; none if they cannot.")
    ] = "",
    home: HomeFolder = _HOME,
) -> None:
    """Print the line that a friend needs to add you."""
    node = _node()
    identity = node.open_identity(node.Home(home))
    line = node.invitation(identity, name, address)
    found = {"invitation": line, "fingerprint": node.spoken(identity.fingerprint)}
    screen.result(found, lambda _: _say(line))


@app.command()
@with_options(screen_options)
def accept(
    screen: Terminal,
    invitations: Annotated[
        list[str], typer.Argument(metavar="INVITATION...", help="Friends' lines, or files of one.")
    ],
    called: Annotated[str | None, typer.Option("--as", help="Your own name for her.")] = None,
    home: HomeFolder = _HOME,
) -> None:
    """Add a friend. She must add you too."""
    node = _node()
    folder = node.Home(home)
    own = node.open_identity(folder).fingerprint
    if called and len(invitations) > 1:
        raise UsageError("--as names one friend", hint="accept them one by one")
    found = []
    for line in map(_line, invitations):
        friend = node.read_invitation(line)
        friend = node.Friend(called or friend.name, friend.address, friend.certificate)
        node.accept(folder, own, friend)
        found.append({"name": friend.name, "fingerprint": node.spoken(friend.fingerprint)})
    screen.result({"friends": found}, lambda console: _draw_friends(console, found))


@app.command()
@with_options(screen_options)
def forget(
    screen: Terminal,
    name: Annotated[str, typer.Argument(help="The friend's name.")],
    home: HomeFolder = _HOME,
) -> None:
    """Remove a friend."""
    node = _node()
    gone = node.forget(node.Home(home), name)
    says = sanitize(f"{gone.name} is no friend any more.")
    screen.result({"name": gone.name}, lambda out: out.print(says))


@app.command("status")
@with_options(screen_options)
def show(screen: Terminal, home: HomeFolder = _HOME) -> None:
    """Tell your exposure so far, and what friends did for you."""
    node = _node()
    if not home.is_dir():
        raise UsageError("there is no node", where=home, hint="queryveil peers node invite")
    found = node.status(node.Home(home))
    screen.result(found, lambda console: _draw(console, found))


@with_options(screen_options)
def engine(
    screen: Terminal,
    port: Annotated[int, typer.Option(help="Port, on this machine only.")] = 8888,
) -> None:
    """Run a toy search engine, to try nodes out: it shows who sent which query."""
    _node().serve_engine(port, lambda address: _ready(screen, "The toy engine", address))


def _line(text: str) -> str:
    """Give an invitation: what was typed, or the first line of a file."""
    if text.startswith("queryveil:"):
        return text
    try:
        return read_within(Path(text)).decode("utf-8")[:4096].strip()
    except (OSError, ValueError) as error:
        hint = "queryveil:NAME@HOST:PORT#..., or a file with it"
        raise InputError("this is no invitation, nor a file", where=text, hint=hint) from error


def _draw_friends(console: Console, friends: list[dict[str, str]]) -> None:
    for one in friends:
        says = f"{one['name']} is a friend now. Her fingerprint must be {one['fingerprint']}"
        console.print(sanitize(says), soft_wrap=True)


def _ready(screen: Terminal, what: str, address: str) -> None:
    screen.result({"page": address}, lambda _: _say(f"{what}: {address}"))
    sys.stdout.flush()  # whoever waits for this line must not wait for the buffer


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _draw(console: Console, found: dict[str, Any]) -> None:
    value = found["exposure"]
    console.print("no query yet" if value is None else f"exposure (PEL) {value:.1f}%")
    console.print(f"{found['own']} own queries, {found['seen']} seen under your account")
    table = Table("friend", "trust", "relayed for you", "you relayed", "refused you", box=None)
    for one in found["friends"]:
        counts = (one["carried"], one["served"], one["turned_down"])
        table.add_row(sanitize(one["name"]), f"{one['trust']:.0%}", *map(str, counts))
    console.print(table if found["friends"] else "no friends yet")
    console.print(f"[dim]your fingerprint: {found['fingerprint']}[/]", soft_wrap=True)
