"""Quality of Swiss pairings, and the time to pair a round.

Run ``python -m benchmarks.tournaments``. It simulates 9 rounds among 200 players of known strength,
and prints the rank correlation of the final order with the order by strength (Kendall's tau: 1 for
the same order, about 0 for a random one), beside yardsticks: a random order, and a complete round
robin. It also prints the most frequent pairing, the largest imbalance of sides, and the CPU time of
the slowest round to pair, also for 512 players, and for few players with enough rounds that
pairings have to be planned ahead.
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
WEAKEST, STRONGEST = 1000, 2200  # ratings, evenly spaced
POINTS_APART = 25.0  # rating difference worth a point in a battle
LUCK = 15.0  # standard deviation of the points of a battle


@dataclass(frozen=True)
class Simulated:
    """Results of a simulated tournament.

    Attributes:
        agreement: Kendall's tau of the final order with the order by strength.
        met: number of meetings of the most frequent pair.
        balance: largest surplus of battles begun with the same side, of any player.
        slowest: CPU seconds of the slowest round to pair.
    """

    agreement: float
    met: int
    balance: int
    slowest: float


def simulated(
    kind: TournamentKind, players: int, rounds: int, seed: int, *, are_known: bool = False
) -> Simulated:
    """Simulate a tournament among players of known strength.

    Args:
        kind: pairing system.
        players: number of players.
        rounds: maximum number of rounds.
        seed: random seed.
        are_known: whether entrants are seeded by strength; otherwise all have the same rating.
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
    """Add a random result: the margin grows with the difference in strength."""
    if pairing.second is None:
        return pairing
    better = (strengths[pairing.first] - strengths[pairing.second]) / POINTS_APART
    battles = []
    for _ in range(2):
        ahead = round(chance.gauss(better, LUCK))
        battles.append(BattleScore(max(ahead, 0), max(-ahead, 0), 80))
    return replace(pairing, result=MatchResult(tuple(battles)))


def agreement(order: Sequence[str], strength: Callable[[str], float]) -> float:
    """Return Kendall's tau between an order, best first, and the order by strength."""
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
