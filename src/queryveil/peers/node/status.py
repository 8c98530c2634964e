"""The status of a node as saved in its folder, whether it runs or not."""

from __future__ import annotations

import time

from ..protocol.exchange import Exchange
from .exposure import ExposureCounter
from .identity import format_fingerprint, load_identity, read_friends
from .node import NODE_SETTINGS
from .records import SavedFriend, SavedStatus
from .state import load_secret, load_state
from .storage import NodeDirectory


def status(home: NodeDirectory) -> SavedStatus:
    """Return the exposure, the counts and the friends, as they were last saved."""
    identity = load_identity(home)
    account = ExposureCounter(load_secret(home))
    exchange = Exchange(NODE_SETTINGS, clock=lambda: 0.0)
    load_state(home, exchange, account, time.time())
    friends = tuple(
        SavedFriend(
            name=friend.name,
            address=friend.address,
            fingerprint=format_fingerprint(friend.fingerprint),
            trust=exchange.trust(friend.fingerprint),
            counts=exchange.stats(friend.fingerprint).snapshot(),
        )
        for friend in read_friends(home)
    )
    return SavedStatus(
        fingerprint=format_fingerprint(identity.fingerprint),
        exposure=account.exposure(),
        account=account.counts(),
        friends=friends,
    )
