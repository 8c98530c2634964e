"""The shapes of synthetic logs: what kind of log is made, in numbers that can be set.

A shape prints as a spec, which is one line of text, and is parsed back from it::

    web:navigational=0.3:median-lines=20
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..core.parameters import Parametrized, parameter, parse_spec
from ..errors import ParameterError, UsageError, did_you_mean
from .distributions import LINES_MEAN, LINES_MEDIAN
from .sessions import CLASSIC, SessionHabits

# A lognormal needs a mean above its median.
_LEAST_SPREAD = 1.05


@dataclass(frozen=True)
class ClassicShape(Parametrized):
    """The first shape of the synthetic log, kept byte for byte: published numbers mean it."""

    name: ClassVar[str] = "classic"

    @property
    def lines(self) -> tuple[float, float]:
        """The median and the mean number of rows of a user."""
        return LINES_MEDIAN, LINES_MEAN


@dataclass(frozen=True)
class LogShape(Parametrized):
    """A web search log that measures like samples of AOL's: sites, names, repeats, new words.

    >>> str(LogShape(navigational=0.5))
    'web:navigational=0.5'
    """

    name: ClassVar[str] = "web"
    topics: ClassVar[tuple[str, ...]] = ()  # all

    median_lines: int = parameter(40, "median number of rows of a user", min=1, max=1_000)
    mean_lines: int = parameter(80, "mean number of rows of a user", min=2, max=5_000)
    navigational: float = parameter(
        0.32, "fraction of new queries that ask for a site", min=0, max=0.9
    )
    addresses: float = parameter(
        0.58, "fraction of queries for a site that are typed as an address", min=0, max=1
    )
    repeats: float = parameter(
        0.35, "fraction of queries that are an earlier one of the user again", min=0, max=0.9
    )
    one_event: float = parameter(
        0.4, "fraction of longer sessions that end after one event", min=0, max=1
    )
    new_words: float = parameter(
        0.33, "fraction of words that are in no list, so that the vocabulary grows", min=0, max=0.9
    )
    misspelled: float = parameter(0.1, "fraction of words that are misspelled", min=0, max=0.5)
    persons: float = parameter(0.145, "fraction of new queries that name a person", min=0, max=0.5)
    places: float = parameter(0.12, "fraction of queries that add a place", min=0, max=1)
    sentences: float = parameter(
        0.004, "fraction of new queries that are pasted sentences", min=0, max=0.2
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mean_lines < _LEAST_SPREAD * self.median_lines:
            raise ParameterError(
                f"`mean_lines` is {self.mean_lines} with a median of {self.median_lines}",
                parameter="mean_lines",
                hint="the mean must be at least 5% above `median_lines`: some users are heavy",
            )
        asked = self.navigational + self.persons + self.sentences
        if asked > 1:
            raise ParameterError(
                f"sites, persons and sentences are {asked:g} of the queries together",
                parameter="navigational",
                hint="`navigational`, `persons` and `sentences` must sum to at most 1",
            )

    @property
    def lines(self) -> tuple[float, float]:
        """The median and the mean number of rows of a user."""
        return self.median_lines, self.mean_lines

    @property
    def habits(self) -> SessionHabits:
        """How users search in sessions."""
        return SessionHabits(
            new=0.55,
            new_session=0.2,
            one_event=self.one_event,
            resent_at_start=self.repeats,
            resent_later=self.repeats,
            reformulated=min(0.3, 1 - self.repeats),
            clicked=CLASSIC.clicked,
        )


@dataclass(frozen=True)
class ShopShape(LogShape):
    """The search box of a shop: products, few addresses, light users and short sessions."""

    name: ClassVar[str] = "shop"
    topics: ClassVar[tuple[str, ...]] = (
        "clothing.n.01", "garment.n.01", "coat.n.01", "shoe.n.01", "undergarment.n.01",
        "jewelry.n.01", "toiletry.n.01", "toy.n.01", "furniture.n.01", "seat.n.03", "table.n.02",
        "household_appliance.n.01", "kitchen_appliance.n.01", "cooking_utensil.n.01", "tool.n.01",
        "sports_equipment.n.01", "computer.n.01", "telephone.n.01", "electronic_equipment.n.01",
        "software.n.01", "musical_instrument.n.01", "book.n.01", "timepiece.n.01", "fabric.n.01",
        "wine.n.01", "beverage.n.01", "cheese.n.01", "sweet.n.03", "vitamin.n.01",
    )  # fmt: skip

    median_lines: int = parameter(6, "median number of rows of a user", min=1, max=1_000)
    mean_lines: int = parameter(12, "mean number of rows of a user", min=2, max=5_000)
    navigational: float = parameter(
        0.06, "fraction of new queries that ask for a site", min=0, max=0.9
    )
    repeats: float = parameter(
        0.15, "fraction of queries that are an earlier one of the user again", min=0, max=0.9
    )
    persons: float = parameter(0.01, "fraction of new queries that name a person", min=0, max=0.5)
    places: float = parameter(0.01, "fraction of queries that add a place", min=0, max=1)
    sentences: float = parameter(
        0.001, "fraction of new queries that are pasted sentences", min=0, max=0.2
    )


Shape = LogShape | ClassicShape
SHAPES: dict[str, type[Shape]] = {
    shape.name: shape for shape in (LogShape, ShopShape, ClassicShape)
}


def parse_shape(shape: Shape | str) -> Shape:
    """Return the shape of a spec; a shape is returned as it is.

    >>> parse_shape("web:repeats=0.1").repeats
    0.1
    >>> parse_shape("clasic")
    Traceback (most recent call last):
    queryveil.errors.UsageError: unknown shape "clasic". Hint: did you mean "classic"?
    """
    if not isinstance(shape, str):
        return shape
    name, values = parse_spec(shape)
    if name not in SHAPES:
        raise UsageError(f'unknown shape "{name}"', hint=did_you_mean(name, SHAPES))
    return SHAPES[name].from_params(values)
