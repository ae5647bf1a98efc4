"""How well a Swiss finds out who is stronger, and how long a round takes to pair.

Run ``python -m benchmarks.tournaments``. It plays 9 rounds among 200 players of known strength, and
prints how much the final order agrees with that of strength (Kendall's tau: 1 for the same order, 0
for one by chance), beside yardsticks: the order by chance, and that of a round robin in which all
meet all. It also prints whether anybody met twice, how much more often anybody began with one side,
and the CPU that the slowest round took to pair, also for 512 players, and for few players with so
many rounds that each has to be paired ahead.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from statistics import mean

from thudmud.features.tournaments.pairing import Entrant, MatchResult, Pairing, pair
from thudmud.features.tournaments.standings import standings
from thudmud.game.events import BattleScore, TournamentKind
from thudmud.values import replace

PLAYERS, ROUNDS, TOURNAMENTS = 200, 9, 10
WEAKEST, STRONGEST = 1000, 2200  # ratings, which are spread evenly
POINTS_APART = 25.0  # of rating, which are worth a point in a battle
LUCK = 15.0  # one standard deviation of the points of a battle


@dataclass(frozen=True)
class Simulated:
    """A tournament that was played.

    Attributes:
        agreement: of its order with that by strength, as Kendall's tau.
        met: how often the two met who met most often.
        balance: how many times more somebody began with one side.
        slowest: the CPU of the slowest round, in seconds.
    """

    agreement: float
    met: int
    balance: int
    slowest: float


def simulated(
    kind: TournamentKind, players: int, rounds: int, seed: int, *, are_known: bool = False
) -> Simulated:
    """Play a tournament among players of known strength.

    Args:
        kind: how it is paired.
        players: how many.
        rounds: how many at most.
        seed: decides who is lucky.
        are_known: whether their ratings are right; else they are by chance, and so the seeds.
    """
    chance = Random(seed)
    step = (STRONGEST - WEAKEST) / players
    strengths = {f"P{number}": WEAKEST + step * number for number in range(players)}
    names = chance.sample(list(strengths), players)
    entrants = [Entrant(name, strengths[name] if are_known else 1500.0) for name in names]
    played: list[tuple[Pairing, ...]] = []
    slowest = 0.0
    while len(played) < rounds:
        began = time.process_time()
        pairings = pair(kind, entrants, played, rounds)
        slowest = max(slowest, time.process_time() - began)
        if not pairings:
            break
        played.append(tuple(_with_result(each, strengths, chance) for each in pairings))
    met = Counter(frozenset(each.players) for each in sum(played, ()) if each.second)
    balance: Counter[str] = Counter()
    for each in sum(played, ()):
        if each.second:
            balance.update({each.first: 1})
            balance.subtract({each.second: 1})
    order = [each.player for each in standings(kind, entrants, played)]
    return Simulated(
        agreement(order, strengths.__getitem__),
        max(met.values()),
        max(map(abs, balance.values())),
        slowest,
    )


def _with_result(pairing: Pairing, strengths: dict[str, float], chance: Random) -> Pairing:
    """Return a pairing with its result: the stronger player does better, but for luck."""
    if pairing.second is None:
        return pairing
    better = (strengths[pairing.first] - strengths[pairing.second]) / POINTS_APART
    battles = []
    for _ in range(2):
        ahead = round(chance.gauss(better, LUCK))
        battles.append(BattleScore(max(ahead, 0), max(-ahead, 0), 80))
    return replace(pairing, result=MatchResult(tuple(battles)))


def agreement(order: Sequence[str], strength: Callable[[str], float]) -> float:
    """Return how much an order, best first, agrees with that by strength: Kendall's tau."""
    pairs = list(combinations(order, 2))
    right = sum(strength(better) > strength(worse) for better, worse in pairs)
    return (2 * right - len(pairs)) / len(pairs)


def main() -> None:
    swiss, all_play_all = TournamentKind.SWISS, TournamentKind.ROUND_ROBIN
    print(f"{PLAYERS} players; Kendall's tau of the final order with that by strength")
    by_chance = []
    for seed in range(TOURNAMENTS):
        order = Random(seed).sample(range(PLAYERS), PLAYERS)
        by_chance.append(agreement([str(each) for each in order], float))
    print(f"  by chance                              {mean(by_chance):5.2f}")
    for are_known, seeds in ((False, "nothing known of anybody"), (True, "seeded by strength")):
        done = [
            simulated(swiss, PLAYERS, ROUNDS, seed, are_known=are_known)
            for seed in range(TOURNAMENTS)
        ]
        taus = [each.agreement for each in done]
        print(
            f"  swiss, {ROUNDS} rounds, {seeds:24}{mean(taus):5.2f}"
            f" ({min(taus):.2f} to {max(taus):.2f} in {TOURNAMENTS})"
        )
        print(
            f"    nobody met anybody more than {max(each.met for each in done)} times, or began"
            f" more than {max(each.balance for each in done)} times more with one side"
        )
    yardstick = simulated(all_play_all, PLAYERS, PLAYERS, 0)
    print(f"  round robin, {PLAYERS - 1} rounds                 {yardstick.agreement:5.2f}")
    print("CPU of the slowest round to pair, in milliseconds")
    for players, rounds in ((20, 19), (42, 20), (PLAYERS, ROUNDS), (512, ROUNDS)):
        slowest = max(simulated(swiss, players, rounds, seed).slowest for seed in range(3))
        print(f"  {f'{players} players, {rounds} rounds':38} {slowest * 1000:6.1f}")


if __name__ == "__main__":
    main()
