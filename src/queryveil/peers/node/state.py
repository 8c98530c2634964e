"""The state that a node keeps over a restart: counts of friends, and of the account."""

from __future__ import annotations

import hmac
from secrets import token_bytes

from ...errors import InputError, VerificationError
from ..protocol.exchange import Exchange
from ..protocol.state import PeerStats
from .exposure import ExposureCounter
from .records import FriendState, NodeState
from .storage import NodeDirectory

_FILE, _SECRET = "state.json", "secret"


def load_secret(home: NodeDirectory) -> bytes:
    """Return the node's secret for digests, which is created once."""
    secret = home.read(_SECRET)
    if secret is None:
        secret = token_bytes(32)
        home.write(_SECRET, secret)
    return secret


def search_key(home: NodeDirectory) -> str:
    """Return the key of the search address, which a restart does not change: browsers store it."""
    # No query text begins with a zero byte, so this digest is not that of any query.
    return hmac.digest(load_secret(home), b"\0search", "sha256").hex()[:32]


def snapshot(
    exchange: Exchange, account: ExposureCounter, friends: list[str], now: float
) -> NodeState:
    """Return all counts with the present time."""
    entries = {
        friend: FriendState(exchange.counts(friend), exchange.stats(friend).snapshot())
        for friend in friends
    }
    return NodeState(1, now, entries, account.state())


def save_state(home: NodeDirectory, state: NodeState) -> None:
    """Write the counts to the folder of the node."""
    home.write_json(_FILE, state.to_dict())


def load_state(
    home: NodeDirectory, exchange: Exchange, account: ExposureCounter, now: float
) -> None:
    """Restore the counts of an earlier run, if there are any, with decay."""
    document = home.read_json(_FILE)
    if document is None:
        return
    where, hint = home.path / _FILE, "restore it, or remove it to begin anew"
    damaged = InputError("the saved counts of the node are damaged", where=where, hint=hint)
    try:
        state = NodeState.from_dict(document)
    except VerificationError as error:
        raise damaged from error
    age = max(0.0, now - state.at)  # never negative if a clock was set back
    for friend, entry in state.friends.items():
        requests, accepted = entry.counts
        if not 0 <= accepted <= requests < float("inf"):
            raise damaged
        exchange.restore(friend, entry.counts, PeerStats.resume(entry.tally), age)
    account.restore(state.account)
