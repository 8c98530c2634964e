"""What survives a restart: counters of friends, and of the account."""

from __future__ import annotations

import hmac
from secrets import token_bytes
from typing import Any

from ...errors import InputError
from ..protocol.exchange import Exchange
from ..protocol.state import PeerStats
from .exposure import ExposureCounter
from .storage import NodeDirectory


_FILE, _SECRET = "state.json", "secret"


def load_secret(home: NodeDirectory) -> bytes:
    """Give the node's secret for digests, made once."""
    found = home.read(_SECRET)
    if found is None:
        found = token_bytes(32)
        home.write(_SECRET, found)
    return found


def search_key(home: NodeDirectory) -> str:
    """Return the key of the search address: the same after a restart, as a browser keeps it."""
    # No text that is digested under the secret begins with a zero byte.
    return hmac.digest(load_secret(home), b"\0search", "sha256").hex()[:32]


def snapshot(
    exchange: Exchange, account: ExposureCounter, friends: list[str], now: float
) -> dict[str, Any]:
    """Give all counters as one document, with the time at which they hold."""
    told = {
        friend: {"counts": list(exchange.counts(friend)), "tally": exchange.stats(friend).to_dict()}
        for friend in friends
    }
    return {"version": 1, "at": now, "friends": told, "account": account.state()}


def save_state(home: NodeDirectory, state: dict[str, Any]) -> None:
    """Write the counters."""
    home.write_json(_FILE, state)


def load_state(
    home: NodeDirectory, exchange: Exchange, account: ExposureCounter, now: float
) -> None:
    """Take up the counters of an earlier run, if there are any; what is old counts less."""
    state = home.read_json(_FILE)
    if state is None:
        return
    where, hint = home.path / _FILE, "restore it, or remove it to begin anew"
    damaged = InputError("these are no counters of a node", where=where, hint=hint)
    try:
        age = max(0.0, now - float(state.get("at", now)))  # a clock that was put back ages nothing
        for friend, told in state["friends"].items():
            asked, took = map(float, told["counts"])
            if not 0 <= took <= asked < float("inf"):
                raise damaged
            exchange.restore(friend, (asked, took), PeerStats(**told["tally"]), age)
        account.restore(state["account"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged from error
