"""Decide how many users must have sent the name of a known person before a method may read it."""

from __future__ import annotations

from ..methods.base import Method
from .budget import is_differentially_private

_NO_THRESHOLD = 1 << 62  # more users than any log has


def users_for_names(method: Method) -> int:
    """Return how many users must have sent a query with the name of a known person.

    0 for methods that spend a budget: their mechanism protects every text, and a threshold outside
    of it would reveal facts of the log. A method without `k` and `min_users` gets no such query.

    >>> from queryveil import parse_method
    >>> users_for_names(parse_method("frequent-queries:min-users=7"))
    7
    """
    if is_differentially_private(method):
        return 0
    parameters = method.params()
    thresholds = [parameters[name] for name in ("k", "min_users") if name in parameters]
    return max((int(users) for users in thresholds if users), default=_NO_THRESHOLD)
