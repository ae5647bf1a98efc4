"""Statistics of relative strength: Elo difference, confidence interval, sequential test.

Elo differences are defined as in chess: a player who is D points stronger has an expected score of
``1 / (1 + 10 ** (-D / 400))`` per match, and a draw counts half. Two tools measure the uncertainty:
Wilson's 95 % interval, and a sequential probability ratio test (SPRT), which stops once the results
are conclusive.
"""

from __future__ import annotations

import math

from thudmud.values import Value

_DEVIATIONS = 1.96
"""Half-width of a 95 % interval of the normal distribution, in standard deviations."""

_WRONG = 0.05
"""Error probability of the sequential test, the same for both hypotheses."""

BOUND = math.log((1 - _WRONG) / _WRONG)
"""Decision bound of the sequential test: it ends when the log-likelihood ratio reaches ±2.94."""


class Results(Value):
    """A player's match results against one opponent."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def matches(self) -> int:
        """The number of matches."""
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """Score per match, from 0 to 1; a draw counts half. Without matches it is one half."""
        return (self.won + self.drawn / 2) / self.matches if self.matches else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % confidence interval of the share.

        Unlike the normal approximation, it also holds for few matches and for shares near 0 or 1.
        """
        if not self.matches:
            return 0.0, 1.0
        square = _DEVIATIONS**2 / self.matches
        middle = (self.share + square / 2) / (1 + square)
        half = math.sqrt(square * self.share * (1 - self.share) + square**2 / 4) / (1 + square)
        # Return exactly 0 and 1, which rounding errors would miss.
        low = max(0.0, middle - half) if self.share else 0.0
        return low, min(1.0, middle + half) if self.share < 1 else 1.0

    def likelihood_ratio(self, elo_0: float, elo_1: float) -> float:
        """Return the log-likelihood ratio of two hypotheses about the Elo difference.

        The score per match is approximated as normal. N matches with mean m and variance v give
        N (s1 - s0) (2 m - s0 - s1) / (2 v), where s0 and s1 are the expected scores. Half a match
        of each result is added, so that the variance is never zero.

        Args:
            elo_0: Elo difference of the null hypothesis.
            elo_1: Elo difference of the alternative; positive results favour it.
        """
        won, drawn, lost = self.won + 0.5, self.drawn + 0.5, self.lost + 0.5
        number = won + drawn + lost
        mean = (won + drawn / 2) / number
        variance = (won + drawn / 4) / number - mean**2
        low, high = expected_score(elo_0), expected_score(elo_1)
        return number * (high - low) * (2 * mean - low - high) / (2 * variance)


def expected_score(difference: float) -> float:
    """Return the expected score per match for an Elo difference."""
    return 1 / (1 + 10 ** (-difference / 400))


def elo_difference(share: float) -> float:
    """Return the Elo difference for an expected score: the inverse of `expected_score`."""
    if share in {0.0, 1.0}:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))
