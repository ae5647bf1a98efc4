"""Who is ahead in a tournament.

Match points come first: 1 for a match won, a half for a level one. Of those with as many, battle
points do, which are by how much a player was ahead in all battles; then Sonneborn-Berger in a round
robin, the points of those whom a player beat, and half of those with whom they were level, or
Buchholz in a Swiss, the points of all whom a player met; then what they did against each other. Who
are still equal share a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from thudmud.features.tournaments.pairing import Entrant, Pairing, Rounds, goes_on, seeded
from thudmud.game.events import TournamentKind
from thudmud.values import Value, replace


class Placing(Value):
    """A line of the standings.

    Attributes:
        place: 1 for whoever leads; those who are equal share it.
        player: whose line it is.
        points: their match points.
        battle_points: by how much they were ahead in all battles, together.
        tie_break: Sonneborn-Berger or Buchholz, as the kind has it; else 0.
        won: how many matches they won, also those to which nobody came, but no byes.
        drawn: how many ended level.
        lost: how many they lost.
        left: whether they have left the tournament.
    """

    place: int
    player: str
    points: float = 0.0
    battle_points: int = 0
    tie_break: float = 0.0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    left: bool = False


def standings(
    kind: TournamentKind, entrants: Sequence[Entrant], rounds: Rounds
) -> tuple[Placing, ...]:
    """Return the standings, whoever leads first. Rounds and pairings may be under way.

    In a round robin, the matches of who left before half of theirs count for nobody, else those who
    were to meet them last would have points for nothing.
    """
    counted = [pairing for pairing in _counted(kind, entrants, rounds) if pairing.over]
    of_player: dict[str, list[Pairing]] = {each.player: [] for each in entrants}
    for pairing in counted:
        for player in pairing.players:
            of_player[player].append(pairing)
    points = {
        player: sum(each.match_points(player) for each in mine)
        for player, mine in of_player.items()
    }
    lines = [
        _line(kind, entrant, of_player[entrant.player], points, len(rounds))
        for entrant in seeded(entrants)
    ]
    if kind is TournamentKind.KNOCK_OUT:
        reached = _reached(entrants, rounds)
        return _placed(lines, {player: (rounds_won,) for player, rounds_won in reached.items()})
    orders: dict[str, tuple[float, ...]] = {
        each.player: (each.points, each.battle_points, each.tie_break) for each in lines
    }
    lines.sort(key=lambda each: orders[each.player], reverse=True)
    for order, tied in groupby(lines, key=lambda each: orders[each.player]):
        names = {each.player for each in tied}
        against = _against_each_other(names, of_player)
        orders |= {player: (*order, against[player]) for player in names}
    return _placed(lines, orders)


def course(player: str, rounds: Rounds) -> tuple[Pairing | None, ...]:
    """Return a player's pairing of each round; None for a round in which they had none."""
    return tuple(
        next((pairing for pairing in each if player in pairing.players), None) for each in rounds
    )


def _counted(
    kind: TournamentKind, entrants: Iterable[Entrant], rounds: Rounds
) -> Iterator[Pairing]:
    """Yield the pairings that count for points."""
    gone: set[str] = set()
    if kind.is_all_play_all:
        names = [each.player for each in entrants]
        cycles = 2 if kind is TournamentKind.DOUBLE_ROUND_ROBIN else 1
        matches = cycles * (len(names) - 1)
        for entrant in entrants:
            played = [each for each in course(entrant.player, rounds) if each and each.played]
            if entrant.left is not None and 2 * len(played) < matches:
                gone.add(entrant.player)
    for pairings in rounds:
        yield from (each for each in pairings if gone.isdisjoint(each.players))


def _line(
    kind: TournamentKind,
    entrant: Entrant,
    pairings: Sequence[Pairing],
    points: Mapping[str, float],
    rounds: int,
) -> Placing:
    """Return a player's line, without the place."""
    player = entrant.player
    matches = [each for each in pairings if not each.is_bye]
    results = [each.match_points(player) for each in matches]
    met = [
        (points[str(each.opponent(player))], each.match_points(player))
        for each in matches
        if each.played
    ]
    tie_break = 0.0
    if kind.is_all_play_all:
        tie_break = sum(theirs * result for theirs, result in met)
    elif kind is TournamentKind.SWISS:
        # A round without an opponent counts as if one had as many points as the player.
        tie_break = sum(theirs for theirs, _ in met) + (rounds - len(met)) * points[player]
    return Placing(
        0,
        player,
        points[player],
        sum(each.battle_points(player) for each in matches),
        tie_break,
        results.count(1.0),
        results.count(0.5),
        results.count(0.0),
        entrant.left is not None,
    )


def _against_each_other(
    names: set[str], of_player: Mapping[str, Sequence[Pairing]]
) -> dict[str, float]:
    """Return the points of some players against each other; none unless each has met all others."""
    among = {
        player: [each for each in of_player[player] if each.played and names >= {*each.players}]
        for player in names
    }
    if any(
        {*names} - {player} - {str(each.opponent(player)) for each in mine}
        for player, mine in among.items()
    ):
        return dict.fromkeys(names, 0.0)
    return {
        player: sum(each.match_points(player) for each in mine) for player, mine in among.items()
    }


def _reached(entrants: Sequence[Entrant], rounds: Rounds) -> dict[str, float]:
    """Return how many rounds of a knock-out each has won, and a half more for who is still in."""
    won = dict.fromkeys((each.player for each in entrants), 0.0)
    still_in = {each.player for each in entrants if each.left is None}
    for pairings in rounds:
        for pairing in pairings:
            winner = goes_on(pairing, entrants)
            if winner:
                won[winner] += 1
            if pairing.over:
                still_in -= {*pairing.players} - {winner}
    return {player: rounds + 0.5 * (player in still_in) for player, rounds in won.items()}


def _placed(
    lines: Iterable[Placing], orders: Mapping[str, tuple[float, ...]]
) -> tuple[Placing, ...]:
    """Return lines in order, the highest first, with their places."""
    ranked = sorted(lines, key=lambda each: orders[each.player], reverse=True)
    placed: list[Placing] = []
    for number, line in enumerate(ranked, 1):
        is_equal = bool(placed) and orders[placed[-1].player] == orders[line.player]
        placed.append(replace(line, place=placed[-1].place if is_equal else number))
    return tuple(placed)
