"""The table of rules: which method is proposed for which answers, and with which parameters.

`RULES` is read from top to bottom. A rule applies if its recipients and purposes contain the
answers. Its method is then proposed unless one of these three reasons excludes it, which `advise`
states with its result:

1. it could break something that must never happen (`preventions.py`, by the guarantee alone);
2. it needs a taxonomy of the queries' language, and there is none;
3. so few users leave too little (`strength.py`, by forecasts and shipped figures alone).

The first three that remain are the proposals. `docs/advise.md` shows this table; a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .answers import RECIPIENTS, Purpose, Recipient

MAX_PROPOSALS = 3
# A private release of fewer expected queries is proposed only with care, and of even fewer never.
ENOUGH_QUERIES, FEWEST_QUERIES = 100, 20
# A private profile is useful if it saves at least this fraction of the loss of a uniform one.
ENOUGH_SAVED_LOSS = 0.5
# Users that are needed for each user of a threshold or a group; below, few texts pass it.
USERS_PER_THRESHOLD = 200


@dataclass(frozen=True)
class Strength:
    """How strong the parameters are for one sort of recipients.

    Attributes:
        k: Users who share a released log, and who sent each released text.
        min_users: Users of each released query, under a rule without a model.
        epsilons: The smallest that leaves enough is proposed; none above the last.
    """

    k: int
    min_users: int
    epsilons: tuple[float, ...]


STRENGTHS: Mapping[Recipient, Strength] = {
    "public": Strength(k=10, min_users=50, epsilons=(1.0, 2.0)),
    "partner": Strength(k=5, min_users=20, epsilons=(1.0, 2.0, 4.0)),
    "team": Strength(k=5, min_users=10, epsilons=(1.0, 2.0, 4.0)),
}


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    Attributes:
        method: The spec of the method, without the parameter that `STRENGTHS` chooses.
        chosen: The parameter that `STRENGTHS` chooses.
        care: What the data owner must take care of; such a proposal is never a plain yes.
        users_per_threshold: Users that are needed for each user of k or `min_users`.
    """

    name: str
    method: str
    chosen: Literal["epsilon", "k", "min-users"]
    recipients: tuple[Recipient, ...]
    purposes: tuple[Purpose, ...]
    needs_taxonomy: bool
    why: str
    keeps: str
    loses: str
    care: str = ""
    users_per_threshold: int = USERS_PER_THRESHOLD


_GROUPS_CARE = (
    "k-anonymity does not hide what a group has in common, and does not add up: release the same "
    "users once, or with `groups_of`"
)
_RULE_CARE = (
    "this is a rule about single queries and guarantees nothing about a user: give it only to "
    "recipients who are bound by contract"
)

RULES: tuple[Rule, ...] = (
    Rule(
        name="private-profiles",
        method="profile-first",
        chosen="epsilon",
        recipients=RECIPIENTS,
        purposes=("user-modeling",),
        needs_taxonomy=True,
        why="the whole budget of a user is spent on their interests, which is what you need",
        keeps="how much of each user's log is about which topic, approximately",
        loses="the queries themselves (new ones are drawn from the topics), clicks, times and "
        "their order",
    ),
    Rule(
        name="private-click-counts",
        method="dp-statistics:budget-split=2/1/0",
        chosen="epsilon",
        recipients=RECIPIENTS,
        purposes=("ranking",),
        needs_taxonomy=False,
        why="ranking needs which results are clicked for a query, and no users",
        keeps="frequent queries and their frequent clicks, with noisy counts",
        loses="rare queries and clicks, all users, sessions and times",
    ),
    Rule(
        name="private-transition-counts",
        method="dp-statistics:budget-split=2/0/1",
        chosen="epsilon",
        recipients=RECIPIENTS,
        purposes=("suggestion",),
        needs_taxonomy=False,
        why="suggestions need frequent queries and which query follows them, and no users",
        keeps="frequent queries and frequent pairs of successive queries, with noisy counts",
        loses="rare queries and pairs, all users, clicks and times",
    ),
    Rule(
        name="private-query-counts",
        method="dp-statistics:budget-split=1/0/0",
        chosen="epsilon",
        recipients=RECIPIENTS,
        purposes=("trends", "suggestion", "linguistics"),
        needs_taxonomy=False,
        why="the whole budget is spent on the counts of queries, so that most of them are kept",
        keeps="frequent queries with noisy counts",
        loses="rare queries, all users, clicks, sessions and times; for trends over time make one "
        "release for each period, whose epsilons add up",
    ),
    Rule(
        name="private-synthetic-log",
        method="dp-statistics:synthetic-users=1000",
        chosen="epsilon",
        recipients=RECIPIENTS,
        purposes=("benchmark",),
        needs_taxonomy=False,
        why="others get a log that their programs can read, sampled from private counts",
        keeps="frequent queries, clicks and pairs of successive queries, as counts and as a log of "
        "invented users",
        loses="rare queries and what is typical of single users: no invented user is a real one",
    ),
    Rule(
        name="groups-of-similar-interests",
        method="semantic-microaggregation",
        chosen="k",
        recipients=RECIPIENTS,
        purposes=("user-modeling", "benchmark"),
        needs_taxonomy=True,
        why="users of similar interests share one log, so that interests are kept",
        keeps="logs of real phrases by interest, with days and clicks",
        loses="single users, whole queries, rare texts, and the counts of queries",
        care=_GROUPS_CARE,
    ),
    Rule(
        name="groups-of-equal-queries",
        method="string-microaggregation",
        chosen="k",
        recipients=RECIPIENTS,
        purposes=("ranking", "user-modeling", "benchmark"),
        needs_taxonomy=False,
        why="users who sent the same queries share one log; it needs no taxonomy",
        keeps="logs of real queries, with days and clicks",
        loses="single users, rare queries, and the counts of queries",
        care=_GROUPS_CARE,
    ),
    Rule(
        name="groups-for-words",
        method="string-microaggregation:include-clicks=no",
        chosen="k",
        recipients=RECIPIENTS,
        purposes=("linguistics",),
        needs_taxonomy=False,
        why="users who sent the same queries share one log, which keeps more different words than "
        "a list of frequent queries",
        keeps="whole queries as they were sent, by groups of users",
        loses="single users, rare queries, clicks, and the counts of queries; of users with few "
        "queries each, too little is left",
        care=_GROUPS_CARE,
        users_per_threshold=10 * USERS_PER_THRESHOLD,
    ),
    Rule(
        name="list-of-frequent-queries",
        method="frequent-queries:pseudonym-scope=none:include-clicks=no",
        chosen="min-users",
        recipients=("partner", "team"),
        purposes=("trends", "suggestion", "linguistics"),
        needs_taxonomy=False,
        why="frequent queries with exact counts and days, without any users",
        keeps="queries that many users sent, with exact counts by day",
        loses="rare queries, all users and clicks",
        care=_RULE_CARE,
    ),
    Rule(
        name="clicks-of-frequent-queries",
        method="frequent-queries:pseudonym-scope=none:min-click-users=10",
        chosen="min-users",
        recipients=("partner", "team"),
        purposes=("ranking",),
        needs_taxonomy=False,
        why="frequent queries and their clicks with exact counts, without any users",
        keeps="queries that many users sent, and clicks that at least 10 users made",
        loses="rare queries and clicks, and all users",
        care=_RULE_CARE,
    ),
    Rule(
        name="sessions-of-frequent-queries",
        method="frequent-queries:pseudonym-scope=session:include-clicks=no",
        chosen="min-users",
        recipients=("partner", "team"),
        purposes=("suggestion", "benchmark"),
        needs_taxonomy=False,
        why="the frequent queries of a session stay together, exactly",
        keeps="sessions of queries that many users sent",
        loses="rare queries, clicks, and which sessions belong to one user",
        care=_RULE_CARE,
    ),
    Rule(
        name="logs-of-frequent-queries",
        method="frequent-queries:pseudonym-scope=user:min-click-users=10",
        chosen="min-users",
        recipients=("team",),
        purposes=("user-modeling", "benchmark"),
        needs_taxonomy=False,
        why="the frequent queries of a user stay together, exactly",
        keeps="logs of queries that many users sent, with days and clicks",
        loses="rare queries and rare clicks",
        care=_RULE_CARE,
    ),
)
