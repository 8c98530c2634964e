"""The results of simulations: one run, one setting of a sweep, and a whole sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ...core.records import Record, Scalar, json_field
from .scenario import Scenario


@dataclass(frozen=True, repr=False)
class UserMeans(Record):
    """The mean of a figure over all, honest and selfish users, and by number of friends."""

    shown = ("honest", "selfish")
    mean: float | None
    by_degree: Mapping[str, float | None]  # of honest users
    honest: float | None
    selfish: float | None


@dataclass(frozen=True, repr=False)
class DegreeCounts(Record):
    """The honest users with a number of friends, and how many have a high uncertainty."""

    shown = ("users", "above_70", "above_80")
    users: int
    above_70: int
    above_80: int


@dataclass(frozen=True, repr=False)
class MessageCounts(Record):
    """The requests of a simulation, by outcome."""

    shown = ("asked", "accepted", "refused", "silent")
    asked: int
    accepted: int
    refused: int
    silent: int


@dataclass(frozen=True, repr=False)
class TrafficSummary(Record):
    """The relayed and submitted queries of a simulation."""

    shown = ("hops", "submissions")
    hops: float
    hops_counted: Mapping[str, int]
    refusals: int
    messages: MessageCounts
    submissions: int
    duplicates: int
    failures: int


@dataclass(frozen=True, repr=False, kw_only=True)
class AttackSummary(Record):
    """How often the engine guesses the user behind a submission, by its best attack."""

    shown = ("best_attack",)
    rates: UserMeans = json_field(flat=True)
    best_attack: str
    attacks: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class DishonestSummary(Record):
    """What dishonest users learn from the queries that they relay."""

    shown = ("users", "recorded")
    users: int
    recorded: int
    sender_is_origin: float | None
    known_by_count: float | None
    queries_known: float


@dataclass(frozen=True, repr=False)
class ServiceLoss(Record):
    """The divergence between what users search for and what the engine sees under their account."""

    shown = ("queries", "words")
    queries: UserMeans
    words: UserMeans


@dataclass(frozen=True, repr=False)
class Load(Record):
    """How a kind of work is spread over the users."""

    shown = ("mean", "max")
    mean: float
    max: int
    max_over_mean: float | None


@dataclass(frozen=True, repr=False)
class LoadSummary(Record):
    """The work of the users."""

    shown = ("submissions", "relays")
    submissions: Load
    relays: Load


@dataclass(frozen=True, repr=False)
class FriendCounts(Record):
    """The number of friends of a user."""

    shown = ("mean", "max")
    mean: float
    max: int


@dataclass(frozen=True, repr=False)
class GraphSummary(Record):
    """The social graph of a simulation; `alone` counts users without friends."""

    shown = ("name", "links")
    name: str
    links: int
    friends: FriendCounts
    alone: int
    rejected: Mapping[str, int]


@dataclass(frozen=True, repr=False)
class SpreadSummary(Record):
    """Test T1: how the submissions of one repeated query are spread over accounts."""

    shown = ("own_fraction", "top_relay")
    own_fraction: UserMeans
    rank: UserMeans
    top_relay: UserMeans
    accounts: UserMeans
    evenness: UserMeans
    stands_out: UserMeans


@dataclass(frozen=True, repr=False, kw_only=True)
class SimulationSummary(Record):
    """The figures of one run.

    Honest users are all who relay for others, also those who record what they relay. Figures by
    degree (the number of friends) are of honest users.
    """

    shown = ("users", "queries", "guess_rate")
    users: int
    queries: int
    pel: UserMeans
    uncertainty: UserMeans
    above_70: float | None
    above_80: float | None
    degrees: Mapping[str, DegreeCounts]
    traffic: TrafficSummary = json_field(flat=True)
    guess_rate: float
    guess: AttackSummary
    dishonest: DishonestSummary
    service: ServiceLoss
    load: LoadSummary
    graph: GraphSummary
    t1: SpreadSummary | None = json_field(optional=True, default=None)


@dataclass(frozen=True, repr=False, kw_only=True)
class Simulation(Record):
    """One simulated scenario on a log."""

    shown = ("scenario", "summary")
    schema_number = 1

    queryveil: str
    seed: int | None
    scenario: Scenario
    summary: SimulationSummary = json_field(flat=True)
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class SettingFigures(Record):
    """The main figures of a setting: means over its runs, None where a run has no value."""

    shown = ("learned", "mean_hops")
    learned: float | None
    pel: float | None
    pel_selfish: float | None
    pel_fewest: float | None
    pel_most: float | None
    above_70: float | None
    above_80: float | None
    guess_rate: float | None
    friends_know: float | None
    mean_hops: float
    refusals: float | None
    duplicates: float | None
    service: float | None
    busiest: float | None


@dataclass(frozen=True, repr=False, kw_only=True)
class Setting(Record):
    """One setting of a sweep.

    `front`: no other setting has both lower exposure and fewer hops. `best`: chosen by the rule.
    """

    shown = ("figures", "best")
    params: Mapping[str, Scalar]
    figures: SettingFigures = json_field(flat=True)
    runs: tuple[SimulationSummary, ...] = json_field(optional=True, default=())
    front: bool
    best: bool


@dataclass(frozen=True, repr=False)
class SweptLog(Record):
    """The log of a sweep."""

    shown = ("rows", "users")
    files: Mapping[str, str]
    rows: int
    users: int


@dataclass(frozen=True, repr=False)
class DegreeExtremes(Record):
    """The fewest and the most friends that honest users have."""

    shown = ("fewest", "most")
    fewest: str
    most: str


@dataclass(frozen=True, repr=False)
class PeerSweep(Record):
    """A sweep over settings of the protocol; `best` is None if no setting has honest users."""

    shown = ("seed", "repeats", "best")
    schema_number = 1

    queryveil: str
    seed: int | None
    repeats: int
    max_mean_hops: float
    rule: str
    scenario: Scenario
    sweep: Mapping[str, tuple[Scalar, ...]]
    log: SweptLog
    classes: DegreeExtremes | None
    notes: tuple[str, ...]
    best: Setting | None  # without its runs
    settings: tuple[Setting, ...]

    def to_polars(self) -> pl.DataFrame:
        """Return one row per setting, with a column for each swept parameter."""
        rows = [
            {**setting.params, **setting.figures.to_dict()}
            | {"front": setting.front, "best": setting.best}
            for setting in self.settings
        ]
        return pl.DataFrame(rows, infer_schema_length=None)


@dataclass(frozen=True, repr=False)
class WrittenSweep(Record):
    """A sweep, and the folder into which it was written, if any."""

    schema_number = 1

    result: PeerSweep = json_field(flat=True)
    folder: str | None = json_field(optional=True, default=None)
