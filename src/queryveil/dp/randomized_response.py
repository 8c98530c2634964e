"""Randomised response among n answers: the true one with weight e^epsilon, all others with 1.

It is the exact form of the exponential mechanism for answers that are right or wrong. Weights are
integers, so the chances are exact, and their ratio is at most e^epsilon.
docs/privacy/profile-first.md has the proof.
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
_FINEST = 20  # bits of the weight of a wrong answer, at most: the right one is rounded by as much
_LARGEST = Fraction(34)  # e^34 is below 2^50; beyond, more changes nothing


@dataclass(frozen=True)
class RandomizedResponse:
    """Gives back one of `size` answers.

    >>> response = RandomizedResponse(4, Fraction(3))
    >>> round(response.truth_probability, 3), response.true_weight, response.other_weight
    (0.87, 21061211, 1048576)
    """

    size: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.size < 1 or self.epsilon <= 0 or self.total.bit_length() > _BITS:
            raise UsageError(
                f"no response among {self.size:,} answers at epsilon {float(self.epsilon):g}",
                hint="fewer answers, or a smaller epsilon",
            )

    @property
    def other_weight(self) -> int:
        """The weight of each wrong answer."""
        whole = self.size + math.ceil(math.exp(min(self.epsilon, _LARGEST)))
        return 1 << max(0, min(_FINEST, _BITS - 1 - whole.bit_length()))

    @property
    def true_weight(self) -> int:
        """The weight of the right answer: rounded down, so that the ratio is within epsilon."""
        power = min(self.epsilon, _LARGEST)
        with localcontext(prec=60, rounding=ROUND_FLOOR):
            exact = (Decimal(power.numerator) / power.denominator).exp().next_minus()
            return int(exact * self.other_weight)

    @property
    def total(self) -> int:
        """All weights together."""
        return self.true_weight + (self.size - 1) * self.other_weight

    @property
    def truth_probability(self) -> float:
        """The chance that the right answer is given."""
        return self.true_weight / self.total

    @property
    def signal_strength(self) -> float:
        """The share that is told: otherwise the answer is drawn from all alike."""
        return (self.true_weight - self.other_weight) / self.total

    def draw(self, answers: Integers, noise: NoiseSource) -> Integers:
        """Give for each answer, from 0 to below `size`, the one that is told."""
        if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < self.size:
            raise UsageError(f"answers go from 0 to {self.size - 1:,}", hint="this is a defect")
        picks = uniform_below(np.full(len(answers), self.total), noise)
        others = (picks - self.true_weight) // self.other_weight
        others += others >= answers  # the right one is not among the wrong ones
        return np.where(picks < self.true_weight, answers, others)
