"""How much stronger one player is than another, by the results of their matches.

Elo differences mean what they do in chess: a player who is D points stronger scores ``1 / (1 + 10
** (-D / 400))`` of the matches, a draw being half a match. The uncertainty is told as well: by an
interval of 95 %, and by a test that goes on until it is sure enough.
"""

from __future__ import annotations

import math

from thudmud.values import Value

_DEVIATIONS = 1.96
"""Standard deviations to both sides of a mean that make an interval of 95 %."""

_WRONG = 0.05
"""The probability that either answer of a test is wrong."""

BOUND = math.log((1 - _WRONG) / _WRONG)
"""A test accepts one of its hypotheses when the log-likelihood ratio is this far from 0, 2.94."""


class Results(Value):
    """The results of a player's matches against another."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def matches(self) -> int:
        """The number of matches."""
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """The share of them that were won, draws counting half; one half if there are none."""
        return (self.won + self.drawn / 2) / self.matches if self.matches else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share.

        It is Wilson's interval, which is also right if all matches are won, or few were played.
        """
        if not self.matches:
            return 0.0, 1.0
        square = _DEVIATIONS**2 / self.matches
        middle = (self.share + square / 2) / (1 + square)
        half = math.sqrt(square * self.share * (1 - self.share) + square**2 / 4) / (1 + square)
        # Exact ends, which rounding would miss.
        low = max(0.0, middle - half) if self.share else 0.0
        return low, min(1.0, middle + half) if self.share < 1 else 1.0

    def likelihood_ratio(self, elo_0: float, elo_1: float) -> float:
        """Return the log-likelihood ratio of the results: ``elo_1`` stronger against ``elo_0``.

        Results are taken as normally distributed: N matches with a mean of m and a variance of v
        give N (s1 - s0) (2 m - s0 - s1) / (2 v), where s0 and s1 are the expected scores. Half a
        match of each result is added, so that there is a variance from the first match on.
        """
        won, drawn, lost = self.won + 0.5, self.drawn + 0.5, self.lost + 0.5
        number = won + drawn + lost
        mean = (won + drawn / 2) / number
        variance = (won + drawn / 4) / number - mean**2
        low, high = expected(elo_0), expected(elo_1)
        return number * (high - low) * (2 * mean - low - high) / (2 * variance)


def expected(difference: float) -> float:
    """Return the expected score of a player who is so many Elo points stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


def elo(share: float) -> float:
    """Return the difference in Elo points that gives a player such a share."""
    if share in {0.0, 1.0}:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))
