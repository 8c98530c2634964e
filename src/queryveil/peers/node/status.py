"""What a node's folder tells, whether it runs or not."""

from __future__ import annotations

import time
from typing import Any

from ..protocol.exchange import Exchange
from .exposure import ExposureCounter
from .identity import format_fingerprint, load_identity, read_friends
from .node import NODE_SETTINGS
from .state import load_secret, load_state
from .storage import NodeDirectory


def status(home: NodeDirectory) -> dict[str, Any]:
    """Give the exposure, the counts and the friends, as they were last written."""
    identity = load_identity(home)
    account = ExposureCounter(load_secret(home))
    exchange = Exchange(NODE_SETTINGS, clock=lambda: 0.0)
    load_state(home, exchange, account, time.time())
    friends = [
        {
            "name": one.name,
            "address": one.address,
            "fingerprint": format_fingerprint(one.fingerprint),
            "trust": exchange.trust(one.fingerprint),
            **exchange.stats(one.fingerprint).to_dict(),
        }
        for one in read_friends(home)
    ]
    return {
        "fingerprint": format_fingerprint(identity.fingerprint),
        "exposure": account.exposure(),
        **account.to_dict(),
        "friends": friends,
    }
