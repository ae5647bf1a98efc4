"""Tournaments for tests: entrants, and rounds with outcomes chosen by the test."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from thudmud.features.tournaments.pairing import Entrant, MatchResult, Pairing, pair
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import replace

Outcome = Callable[[Pairing], MatchResult]


def entered(count: int) -> list[Entrant]:
    """Return entrants A, B, C ..., or P1, P2 ... if there are many, strongest first."""
    names = [chr(ord("A") + each) if count <= 26 else f"P{each + 1}" for each in range(count)]
    return [Entrant(name, 3000.0 - each) for each, name in enumerate(names)]


def won_by(pairing: Pairing, winner: str | None, by: int = 10, plies: int = 60) -> MatchResult:
    """Return the result of a pairing that `winner` wins by `by` points, or a level one if None."""
    ahead = 0 if winner is None else by if winner == pairing.first else -by
    return MatchResult((BattleScore(20 + max(ahead, 0), 20 + max(-ahead, 0), plies),) * 1)


def absent(*players: str) -> MatchResult:
    return MatchResult((), players)


def stronger(pairing: Pairing) -> MatchResult:
    """Return a win for the player with the earlier name, the stronger of the two."""
    return won_by(pairing, min(pairing.players, key=lambda name: (len(name), name)))


def ended(pairings: Sequence[Pairing], outcome: Outcome = stronger) -> tuple[Pairing, ...]:
    """Return a round with its open pairings decided by `outcome`."""
    return tuple(each if each.is_over else replace(each, result=outcome(each)) for each in pairings)


def played(
    kind: TournamentKind,
    entrants: Sequence[Entrant],
    rounds: int,
    outcome: Outcome = stronger,
    asked: int | None = None,
) -> list[tuple[Pairing, ...]]:
    """Return the first rounds of a tournament, at most `rounds`."""
    all_rounds: list[tuple[Pairing, ...]] = []
    while len(all_rounds) < rounds and (pairings := pair(kind, entrants, all_rounds, asked)):
        all_rounds.append(ended(pairings, outcome))
    return all_rounds


def shown(pairings: Sequence[Pairing]) -> str:
    """Return pairings in published notation: ``A-D B-C``, and ``E`` for a bye."""
    return " ".join("-".join(each.players) for each in pairings)


def can_be_paired(names: Sequence[str], met: Collection[frozenset[str]]) -> bool:
    """Whether all players (all but one of an odd number) can be paired without a repeat."""
    if len(names) % 2:
        return any(can_be_paired([*names[:at], *names[at + 1 :]], met) for at in range(len(names)))
    return not names or any(
        frozenset((names[0], other)) not in met
        and can_be_paired([each for each in names[1:] if each != other], met)
        for other in names[1:]
    )
