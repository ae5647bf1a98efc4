"""Standings of a tournament.

Match points come first: 1 for a win, a half for a level match. Ties are broken by battle points, a
player's lead added up over all battles; then by Sonneborn-Berger in a round robin (the points of
beaten opponents, and half the points of those with whom the player was level) or Buchholz in a
Swiss (the points of all opponents); then by the matches between the tied players. Players who are
still tied share a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from thudmud.features.tournaments.pairing import (
    Entrant,
    Pairing,
    Rounds,
    advancing_player,
    sort_by_seed,
)
from thudmud.game.events import TournamentKind
from thudmud.values import Value, replace


class Placing(Value):
    """A row of the standings.

    Attributes:
        place: the rank, from 1; tied players share it.
        player: the player's name.
        points: match points.
        battle_points: the player's lead, added up over all battles.
        tie_break: Sonneborn-Berger or Buchholz, depending on the kind; else 0.
        won: matches won, including those to which the opponent didn't come, but no byes.
        drawn: matches that ended level.
        lost: matches lost.
        has_left: whether the player has left the tournament.
    """

    place: int
    player: str
    points: float = 0.0
    battle_points: int = 0
    tie_break: float = 0.0
    won: int = 0
    drawn: int = 0
    lost: int = 0
    has_left: bool = False


def standings(
    kind: TournamentKind, entrants: Sequence[Entrant], rounds: Rounds
) -> tuple[Placing, ...]:
    """Return the standings, leader first. Rounds and matches may be under way.

    In a round robin, matches of a player who left before playing half of them don't count for
    anybody. Otherwise the remaining opponents would get their points for nothing.
    """
    counted = [pairing for pairing in _counting_pairings(kind, entrants, rounds) if pairing.is_over]
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
        for entrant in sort_by_seed(entrants)
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
    """Return a player's pairing in each round; None for a round without one."""
    return tuple(
        next((pairing for pairing in each if player in pairing.players), None) for each in rounds
    )


def _counting_pairings(
    kind: TournamentKind, entrants: Iterable[Entrant], rounds: Rounds
) -> Iterator[Pairing]:
    """Yield the pairings that count for points."""
    gone: set[str] = set()
    if kind.is_round_robin:
        names = [each.player for each in entrants]
        cycles = 2 if kind is TournamentKind.DOUBLE_ROUND_ROBIN else 1
        matches = cycles * (len(names) - 1)
        for entrant in entrants:
            played = [each for each in course(entrant.player, rounds) if each and each.was_played]
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
    """Return a player's row, without the place."""
    player = entrant.player
    matches = [each for each in pairings if not each.is_bye]
    results = [each.match_points(player) for each in matches]
    met = [
        (points[str(each.opponent(player))], each.match_points(player))
        for each in matches
        if each.was_played
    ]
    tie_break = 0.0
    if kind.is_round_robin:
        tie_break = sum(theirs * result for theirs, result in met)
    elif kind is TournamentKind.SWISS:
        # A round without an opponent counts as a meeting with somebody who has the player's own
        # points.
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
    """Return the players' points in matches among themselves; 0 unless each has met all others."""
    among = {
        player: [each for each in of_player[player] if each.was_played and names >= {*each.players}]
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
    """Return each player's rounds won in a knock-out, plus a half unless knocked out."""
    won = dict.fromkeys((each.player for each in entrants), 0.0)
    still_in = {each.player for each in entrants if each.left is None}
    for pairings in rounds:
        for pairing in pairings:
            winner = advancing_player(pairing, entrants)
            if winner:
                won[winner] += 1
            if pairing.is_over:
                still_in -= {*pairing.players} - {winner}
    return {player: rounds + 0.5 * (player in still_in) for player, rounds in won.items()}


def _placed(
    lines: Iterable[Placing], orders: Mapping[str, tuple[float, ...]]
) -> tuple[Placing, ...]:
    """Return the rows in order, highest first, with their places."""
    ranked = sorted(lines, key=lambda each: orders[each.player], reverse=True)
    placed: list[Placing] = []
    for number, line in enumerate(ranked, 1):
        is_equal = bool(placed) and orders[placed[-1].player] == orders[line.player]
        placed.append(replace(line, place=placed[-1].place if is_equal else number))
    return tuple(placed)
