"""How much stronger one player is than another, by the matches that they have played.

Elo differences have the meaning that they have in chess: whoever is D points stronger scores
``1 / (1 + 10 ** (-D / 400))`` of the matches, a draw being half of one. What is not known for sure
is told: an interval of 95 %, and a test that goes on until it is sure enough.
"""

from __future__ import annotations

import math

from thudmud.values import value

_DEVIATIONS = 1.96
"""An interval of so many standard deviations to both sides holds 95 %."""

_WRONG = 0.05
"""How likely either answer of a test is to be wrong."""

BOUND = math.log((1 - _WRONG) / _WRONG)
"""A test accepts one of its hypotheses when the log-likelihood ratio is so far from 0, 2.94."""


@value
class Results:
    """The matches of a player against another."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def matches(self) -> int:
        """How many there are."""
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """The part of them that it has won, with half of the draws; one half if there are none."""
        return (self.won + self.drawn / 2) / self.matches if self.matches else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """What that would be after very many matches, with a probability of 95 %.

        It is Wilson's interval, which also holds where all matches are won, or few were played.
        """
        if not self.matches:
            return 0.0, 1.0
        square = _DEVIATIONS**2 / self.matches
        middle = (self.share + square / 2) / (1 + square)
        half = math.sqrt(square * self.share * (1 - self.share) + square**2 / 4) / (1 + square)
        # Its ends are exact where rounding would leave them a little less.
        low = max(0.0, middle - half) if self.share else 0.0
        return low, min(1.0, middle + half) if self.share < 1 else 1.0

    def likelihood_ratio(self, elo_0: float, elo_1: float) -> float:
        """Return how much likelier the matches are if it is ``elo_1`` stronger than if ``elo_0``.

        It is the logarithm of that ratio, with results taken to be distributed normally: N matches
        with a mean of m and a variance of v give N (s1 - s0) (2 m - s0 - s1) / (2 v), where s0 and
        s1 are the scores that are expected. Half a match of each result is added, so that there is
        a variance from the first match on.
        """
        won, drawn, lost = self.won + 0.5, self.drawn + 0.5, self.lost + 0.5
        number = won + drawn + lost
        mean = (won + drawn / 2) / number
        variance = (won + drawn / 4) / number - mean**2
        low, high = expected(elo_0), expected(elo_1)
        return number * (high - low) * (2 * mean - low - high) / (2 * variance)


def expected(difference: float) -> float:
    """Return what part of the matches is scored by whoever is so many Elo points stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


def elo(share: float) -> float:
    """Return by how many Elo points a player is stronger who scores such a part of the matches."""
    if share in {0.0, 1.0}:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))
