"""Randomized response among n answers: the true one has weight e^epsilon, each other has 1.

It is the exponential mechanism for answers that are true or false. Weights are integers, so the
probabilities are exact, and their ratio is at most e^epsilon. docs/privacy/profile-first.md has the
proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import numpy as np

from ..errors import UsageError
from .exponential.sampling import uniform_below
from .noise import Integers, NoiseSource

_BITS = 59  # of the sum of all weights
_OTHER_BITS = 20  # at most, of a false answer's weight: the relative rounding is 2^-20 then
_MAX_EPSILON = Fraction(34)  # e^34 is below 2^50; a larger epsilon changes nothing


@dataclass(frozen=True)
class RandomizedResponse:
    """Randomized response among `size` answers.

    >>> response = RandomizedResponse(4, Fraction(3))
    >>> round(response.truth_probability, 3), response.true_weight, response.other_weight
    (0.87, 21061211, 1048576)
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.size < 1 or self.epsilon <= 0 or self.total.bit_length() > _BITS:
            raise UsageError(
                f"no response among {self.size:,} answers at epsilon {float(self.epsilon):g} is "
                "exact in 64 bits",
                hint="fewer answers, or a smaller epsilon",
            )

    @property
    def other_weight(self) -> int:
        """The weight of each false answer."""
        total = self.size + math.ceil(math.exp(min(self.epsilon, _MAX_EPSILON)))
        return 1 << max(0, min(_OTHER_BITS, _BITS - 1 - total.bit_length()))

    @property
    def true_weight(self) -> int:
        """The weight of the true answer: rounded down, so that the ratio is within epsilon."""
        power = min(self.epsilon, _MAX_EPSILON)
        with localcontext(prec=60, rounding=ROUND_FLOOR):
            exact = (Decimal(power.numerator) / power.denominator).exp().next_minus()
            return int(exact * self.other_weight)

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return self.true_weight + (self.size - 1) * self.other_weight

    @property
    def truth_probability(self) -> float:
        """The probability of the true answer."""
        return self.true_weight / self.total

    @property
    def signal_strength(self) -> float:
        """The weight of the truth in the mixture of the truth and a uniform answer."""
        return (self.true_weight - self.other_weight) / self.total

    def draw(self, answers: Integers, noise: NoiseSource) -> Integers:
        """Return a randomized answer for each true answer; both are from 0 to `size` - 1."""
        if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < self.size:
            raise UsageError(
                f"answers must be from 0 to {self.size - 1:,}",
                hint="this is a defect: please report it",
            )
        picks = uniform_below(np.full(len(answers), self.total), noise)
        others = (picks - self.true_weight) // self.other_weight
        others += others >= answers  # the true answer is not among the false ones
        return np.where(picks < self.true_weight, answers, others)
