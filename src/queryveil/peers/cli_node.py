"""`queryveil peers node ...` and `queryveil peers engine`: one user's node, and a demo engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ..cli.help import Application
from ..cli.options import screen_options, with_options
from ..cli.terminal import Terminal, sanitize
from ..core.bounded import read_within
from ..core.extras import import_extra
from ..errors import InputError, UsageError
from .documents import AddedFriend, AddedFriends, Invitation, RemovedFriend, ServedPage
from .protocol.policy import ProtocolSettings

if TYPE_CHECKING:  # the node needs packages that a plain installation lacks
    from .node.records import SavedStatus

app = Application(
    help="Your own node: friends submit your queries, and you theirs.", no_args_is_help=True
)

NodeFolder = Annotated[Path, typer.Option(help="Folder of the node.")]
_NODE_DIR = Path("queryveil-node")


def _import_node() -> Any:
    """Import the node on demand: it needs packages that a plain installation lacks."""
    return import_extra("queryveil.peers.node", "a node", of="peers")


@app.command(example="queryveil peers node run --engine searxng:http://localhost:8888")
@with_options(screen_options)
def run(
    screen: Terminal,
    node_dir: NodeFolder = _NODE_DIR,
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
    results_path: Annotated[
        str | None, typer.Option(help="template: where the results are, as data.items.")
    ] = None,
    result_fields: Annotated[
        str | None, typer.Option(help="template: title=name,url=link,snippet=text.")
    ] = None,
    store_queries: Annotated[
        bool,
        typer.Option("--store-queries", help="Keep the queries that you submit, to show them."),
    ] = False,
    submit_probability: Annotated[
        float, typer.Option(help="Probability that a relay submits a query.")
    ] = 0.5,
    max_hops: Annotated[int, typer.Option(help="How often a query is relayed at most.")] = 10,
) -> None:
    """Run the node until it is stopped."""
    node = _import_node()
    plan = node.NodeConfig(
        node_dir, engine, port, listen, results_path, result_fields, store_queries,
        ProtocolSettings(submit_probability, max_hops),
    )  # fmt: skip
    node.serve_node(plan, lambda address: _print_address(screen, "Your page", address))


@app.command(example="queryveil peers node invite --name Ada --address 192.0.2.7:7071")
@with_options(screen_options)
def invite(
    screen: Terminal,
    name: Annotated[str, typer.Option(help="What friends call you.")],
    address: Annotated[
        str, typer.Option(help="HOST:PORT where friends reach you; none if they cannot.")
    ] = "",
    node_dir: NodeFolder = _NODE_DIR,
) -> None:
    """Print the line that a friend needs to add you."""
    node = _import_node()
    identity = node.load_identity(node.NodeDirectory(node_dir))
    line = node.make_invitation(identity, name, address)
    fingerprint = node.format_fingerprint(identity.fingerprint)
    document = Invitation(line, fingerprint)
    screen.result(document, lambda _: _print_plain(line))


@app.command(example="queryveil peers node accept invitation.txt")
@with_options(screen_options)
def accept(
    screen: Terminal,
    invitations: Annotated[
        list[str], typer.Argument(metavar="INVITATION...", help="Friends' lines, or files of one.")
    ],
    name: Annotated[str | None, typer.Option(help="Your name for the friend.")] = None,
    node_dir: NodeFolder = _NODE_DIR,
) -> None:
    """Add a friend. They must add you too."""
    node = _import_node()
    folder = node.NodeDirectory(node_dir)
    own = node.load_identity(folder).fingerprint
    if name and len(invitations) > 1:
        raise UsageError("--name names one friend", hint="accept them one by one")
    added = []
    for line in map(_read_line, invitations):
        friend = node.read_invitation(line)
        friend = node.Friend(name or friend.name, friend.address, friend.certificate)
        node.add_friend(folder, own, friend)
        fingerprint = node.format_fingerprint(friend.fingerprint)
        added.append(AddedFriend(friend.name, fingerprint))
    screen.result(AddedFriends(tuple(added)), lambda console: _print_added(console, added))


@app.command(example="queryveil peers node forget Ada")
@with_options(screen_options)
def forget(
    screen: Terminal,
    name: Annotated[str, typer.Argument(help="The friend's name.")],
    node_dir: NodeFolder = _NODE_DIR,
) -> None:
    """Remove a friend."""
    node = _import_node()
    removed = node.remove_friend(node.NodeDirectory(node_dir), name)
    message = sanitize(f"{removed.name} is no friend any more.")
    screen.result(RemovedFriend(removed.name), lambda out: out.print(message))


@app.command("status", example="queryveil peers node status")
@with_options(screen_options)
def show(screen: Terminal, node_dir: NodeFolder = _NODE_DIR) -> None:
    """Show your exposure so far, and how often friends relayed your queries."""
    node = _import_node()
    if not node_dir.is_dir():
        raise UsageError("there is no node", where=node_dir, hint="queryveil peers node invite")
    status = node.status(node.NodeDirectory(node_dir))
    screen.result(status, lambda console: _print_status(console, status))


@with_options(screen_options)
def engine(
    screen: Terminal,
    port: Annotated[int, typer.Option(help="Port, on this machine only.")] = 8888,
) -> None:
    """Run a demo search engine, to test nodes: it shows which account sent which query."""
    node = _import_node()
    node.serve_engine(port, lambda address: _print_address(screen, "The demo engine", address))


def _read_line(text: str) -> str:
    """Return an invitation: the text itself, or the content of the file of that name."""
    if text.startswith("queryveil:"):
        return text
    try:
        return read_within(Path(text)).decode("utf-8")[:4096].strip()
    except (OSError, ValueError) as error:
        hint = "queryveil:NAME@HOST:PORT#..., or a file with it"
        raise InputError("this is not an invitation, nor a file", where=text, hint=hint) from error


def _print_added(console: Console, friends: Sequence[AddedFriend]) -> None:
    for friend in friends:
        message = f"{friend.name} is a friend now. "
        message += f"Their fingerprint must be {friend.fingerprint}"
        console.print(sanitize(message), soft_wrap=True)


def _print_address(screen: Terminal, label: str, address: str) -> None:
    screen.result(ServedPage(address), lambda _: _print_plain(f"{label}: {address}"))
    sys.stdout.flush()  # a program that waits for this line must not wait for the buffer


def _print_plain(text: str) -> None:
    sys.stdout.write(text + "\n")


def _print_status(console: Console, status: SavedStatus) -> None:
    value, account = status.exposure, status.account
    console.print("no query yet" if value is None else f"exposure (PEL) {value:.1f}%")
    console.print(f"{account.own} own queries, {account.seen} seen under your account")
    table = Table("friend", "trust", "relayed for you", "you relayed", "refused you", box=None)
    for friend in status.friends:
        counts = (friend.counts.carried, friend.counts.served, friend.counts.turned_down)
        table.add_row(sanitize(friend.name), f"{friend.trust:.0%}", *map(str, counts))
    console.print(table if status.friends else "no friends yet")
    console.print(f"[dim]your fingerprint: {status.fingerprint}[/]", soft_wrap=True)
