"""The test T1 of the P2P paper: is a query that is sent many times spread, its user hidden?

Each user sends a text of her own many times. Of her text: the share that she submits herself, her
rank among those who do, and how even the shares are.
"""

from __future__ import annotations

import polars as pl

from .population import Numbers

__all__ = ["submission_spread"]


def submission_spread(origin: Numbers, account: Numbers) -> pl.DataFrame:
    """Give of each user: user, share, rank, top_relay, accounts, evenness, shown.

    `shown` tells that she submits her text more often than her most frequent relay, beyond noise:
    by more than twice the standard deviation of the difference of two such counts.

    >>> import numpy as np
    >>> spread_of(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2])).select("share", "rank").row(0)
    (0.25, 2.5)
    """
    counts = pl.DataFrame({"user": origin, "account": account}).group_by("user", "account").len("n")
    n, mine = pl.col("n"), pl.col("account") == pl.col("user")
    sums = counts.group_by("user").agg(
        sent=n.sum(),
        own=n.filter(mine).sum(),
        top=n.filter(~mine).max().fill_null(0),
        above=(n.filter(~mine) > n.filter(mine).sum()).sum(),
        equal=(n.filter(~mine) == n.filter(mine).sum()).sum(),
        accounts=pl.len(),
        entropy=-((n / n.sum()) * (n / n.sum()).log()).sum(),
    )
    own, top = pl.col("own"), pl.col("top")
    even = pl.when(pl.col("accounts") > 1).then(pl.col("entropy") / pl.col("accounts").log())
    return sums.select(
        "user",
        share=own / pl.col("sent"),
        rank=1 + pl.col("above") + pl.col("equal") / 2,
        top_relay=top / pl.col("sent"),
        accounts="accounts",
        evenness=even.otherwise(0.0),
        shown=own.cast(pl.Float64) - top > 2 * (own + top).cast(pl.Float64).sqrt(),
    ).sort("user")
