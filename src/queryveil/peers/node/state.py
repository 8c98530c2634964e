"""What survives a restart: counters of friends, and of the account."""

from __future__ import annotations

from secrets import token_bytes
from typing import Any

from ...errors import InputError
from ..errands import Tally
from ..exchange import Exchange
from .account import Account
from .home import Home

__all__ = ["load", "save", "secret", "state_of"]

_FILE, _SECRET = "state.json", "secret"


def secret(home: Home) -> bytes:
    """Give the node's secret for digests, made once."""
    found = home.read(_SECRET)
    if found is None:
        found = token_bytes(32)
        home.write(_SECRET, found)
    return found


def state_of(exchange: Exchange, account: Account, friends: list[str]) -> dict[str, Any]:
    """Give all counters as one document."""
    told = {
        friend: {"counts": list(exchange.counts(friend)), "tally": exchange.tally(friend).told()}
        for friend in friends
    }
    return {"version": 1, "friends": told, "account": account.state()}


def save(home: Home, state: dict[str, Any]) -> None:
    """Write the counters."""
    home.write_json(_FILE, state)


def load(home: Home, exchange: Exchange, account: Account) -> None:
    """Take up the counters of an earlier run, if there are any."""
    state = home.read_json(_FILE)
    if state is None:
        return
    try:
        for friend, told in state["friends"].items():
            asked, took = told["counts"]
            exchange.remember(friend, (int(asked), int(took)), Tally(**told["tally"]))
        account.restore(state["account"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        where, hint = home.path / _FILE, "restore it, or remove it to begin anew"
        raise InputError("these are no counters of a node", where=where, hint=hint) from error
