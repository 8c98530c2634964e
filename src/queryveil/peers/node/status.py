"""What a node's folder tells, whether it runs or not."""

from __future__ import annotations

import time
from typing import Any

from ..exchange import Exchange
from .account import Account
from .daemon import NODE_SETTINGS
from .friends import friends_of, spoken
from .home import Home
from .identity import open_identity
from .state import load, secret

__all__ = ["status"]


def status(home: Home) -> dict[str, Any]:
    """Give the exposure, the counts and the friends, as they were last written."""
    identity = open_identity(home)
    account = Account(secret(home))
    exchange = Exchange(NODE_SETTINGS, clock=lambda: 0.0)
    load(home, exchange, account, time.time())
    friends = [
        {
            "name": one.name,
            "address": one.address,
            "fingerprint": spoken(one.fingerprint),
            "trust": exchange.trust(one.fingerprint),
            **exchange.tally(one.fingerprint).told(),
        }
        for one in friends_of(home)
    ]
    return {
        "fingerprint": spoken(identity.fingerprint),
        "exposure": account.exposure(),
        **account.told(),
        "friends": friends,
    }
