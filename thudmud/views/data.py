"""Parts of facts: positions, plies, battles and results as data for JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from itertools import zip_longest
from operator import or_
from typing import Any

from thudmud.game import archive
from thudmud.game.clocks import seconds_left_after_plies
from thudmud.rules import (
    RULESETS,
    SQUARES,
    Ending,
    Game,
    Move,
    Outcome,
    Piece,
    Position,
    Ruleset,
    Score,
    Side,
    Square,
    Verb,
    write_record,
)
from thudmud.rules.board import WIDTH, squares_in
from thudmud.values import Value
from thudmud.views.legal import MOST_PATHS, as_moving, moves_of

ALL_CAPTURED = "all_captured"
"""The outcome of a battle in which one side has no piece left: an `Ending.NO_MOVE` in the rules."""

Data = Mapping[str, object]
"""Data of a fact, which can be encoded as JSON."""


class Fact(Value):
    """A fact for programs.

    Attributes:
        package: the name of its GMCP package.
        data: its content.
        to: the only player whose programs receive it; None for all recipients.
    """

    package: str
    data: Data
    to: str | None = None


EMPTY, OFF_BOARD = ".", " "
"""The characters of empty squares, and of squares off the board."""


def square_names(of: Iterable[Square]) -> list[str]:
    """Return the names of squares."""
    return [str(square) for square in of]


def score_data(of: Score) -> Data:
    """Return a score as data."""
    return {side.value: of.of(side) for side in Side}


def move_data(move: Move) -> Data:
    """Return a move as data."""
    return {
        "piece": move.piece.noun.lower(),
        "verb": move.verb.value,
        "from": str(move.origin),
        "to": str(move.target),
        "captures": square_names(move.captures),
        "trample": move.is_trample,
    }


def side_to_move(game: Game) -> str | None:
    """Return the side to move; None after the end."""
    return None if game.outcome else game.position.turn.value


def position_rows(position: Position) -> list[str]:
    """Return the rows of a position as strings, row 1 first."""
    marks = dict.fromkeys(SQUARES, EMPTY)
    for piece in Piece:
        marks |= dict.fromkeys(position.squares(piece), piece.value)
    grid = [[Square(column, row) for column in range(WIDTH)] for row in range(WIDTH)]
    return ["".join(marks.get(square, OFF_BOARD) for square in row) for row in grid]


def game_data(game: Game) -> dict[str, object]:
    """Return the state of a game as data."""
    position = game.position
    stone, rock = (position.squares(piece) for piece in (Piece.STONE, Piece.ROCK))
    return {
        "rules": game.ruleset.name,
        "ply": len(game.moves),
        "turn": side_to_move(game),
        "rows": position_rows(position),
        "dwarfs": square_names(position.squares(Piece.DWARF)),
        "trolls": square_names(position.squares(Piece.TROLL)),
        "stone": str(stone[0]) if stone else None,
        "rock": str(rock[0]) if rock else None,
        "last": move_data(game.moves[-1]) if game.moves else None,
        "score": score_data(game.score),
    }


def legal_moves_data(game: Game, origin: Square) -> Data:
    """Return the legal moves of the piece on a square, as if it were its turn.

    In each entry, ``prey`` are the pieces that can be captured on the way to the targets ``to``;
    any ``least`` to ``most`` of them may be chosen. A trample captures all of them, in order.
    """
    position, _ = as_moving(game, origin)
    piece = position.piece_at(origin) if origin.is_on_board else None
    moves = () if game.outcome else moves_of(game.ruleset, position, origin)
    choices: defaultdict[tuple[Verb, Square], list[int]] = defaultdict(list)
    tramples: list[Move] = []
    for move in moves:
        if move.is_trample:
            tramples.append(move)
        else:
            choices[move.verb, move.target].append(move.captured_bits)
    targets: defaultdict[tuple[Verb, int, int, int], list[Square]] = defaultdict(list)
    for (verb, target), options in choices.items():
        sizes = [each.bit_count() for each in options]
        targets[verb, reduce(or_, options), min(sizes), max(sizes)].append(target)
    ways = [
        _way_to(verb, to, squares_in(prey), least, most)
        for (verb, prey, least, most), to in targets.items()
    ]
    for each in tramples[:MOST_PATHS]:
        number = len(each.captures)
        ways.append(_way_to(each.verb, [each.target], each.captures, number, number, trample=True))
    return {
        "from": str(origin),
        "piece": piece.noun.lower() if piece else None,
        "ways": ways,
        "more": len(tramples) > MOST_PATHS,
    }


def legal_ply_records(game: Game) -> Data:
    """Return the legal moves of the side to move, as game records."""
    listed, has_more = game.listed_moves()
    return {"turn": side_to_move(game), "plies": [str(move) for move in listed], "more": has_more}


def _way_to(
    verb: Verb,
    to: Iterable[Square],
    prey: Iterable[Square],
    least: int,
    most: int,
    *,
    trample: bool = False,
) -> Data:
    known = {"verb": verb.value, "to": square_names(to), "prey": square_names(prey)}
    return {**known, "least": least, "most": most, "trample": trample}


# Past battles and results.


class RecordedBattle(Data):
    """A battle with all its plies as data, built on first access.

    This takes 10 ms for 2,000 plies. `thudmud.views.facts.as_json` caches the JSON.

    Attributes:
        found: the battle.
    """

    def __init__(self, found: archive.FoundBattle) -> None:
        self.found = found

    def __getitem__(self, key: str) -> object:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    @cached_property
    def _data(self) -> Data:
        return record_data(self.found)


def record_data(found: archive.FoundBattle) -> Data:
    """Return a battle with all its plies as data."""
    game = found.game
    if game is None:
        return {**battle_data(found.battle), "rows": None, "moves": None, "record": None}
    side, moves, control = game.initial_position.turn, [], found.battle.time
    left = seconds_left_after_plies(control, found.spent) if control else []
    times = zip_longest(game.moves, found.spent, left)
    for ply, (move, spent, rest) in enumerate(times, 1):
        known = {"ply": ply, "side": side.value, **move_data(move), "record": str(move)}
        time = {
            "spent": None if spent is None else round(spent, 1),
            "left": None if rest is None else int(rest),
        }
        moves.append({**known, **time})
        side = side.other
    text = write_record(game, found.comments, found.spent)
    return {
        **battle_data(found.battle),
        "rows": position_rows(game.initial_position),
        "moves": moves,
        "record": text,
    }


def battle_data(known: archive.Battle) -> dict[str, object]:
    """Return a battle without its plies as data."""
    return {
        "battle": known.number,
        "at": int(known.at),
        "rules": known.rules,
        "dwarf": known.dwarf or None,
        "troll": known.troll or None,
        "part": known.part,
        "state": known.state.value,
        "plies": known.plies,
        "rated": known.rated,
        "imported": known.imported,
        "set_up": known.has_custom_opening,
        **outcome_data(known.outcome, RULESETS.get(known.rules)),
        "time": str(known.time) if known.time else None,
        "tournament": known.tournament.number if known.tournament else None,
        "event": known.event or None,
        "round": known.tournament.round if known.tournament else None,
    }


def outcome_data(
    outcome: Outcome | None, rules: Ruleset | None, position: Position | None = None
) -> Data:
    """Return the outcome of a battle as data.

    Args:
        outcome: the outcome; None while the battle goes on.
        rules: the ruleset; None if it is unknown.
        position: the last position, if it is known.
    """
    if outcome is None:
        return {"outcome": None, "winner": None, "score": None}
    is_captured = rules is not None and rules.scoring.captured_side(outcome) is not None
    if outcome.ending is Ending.NO_MOVE and position:
        is_captured = not position.bits(Piece.of(position.turn))
    return {
        "outcome": ALL_CAPTURED if is_captured else outcome.ending.value.replace(" ", "_"),
        "winner": outcome.winner.value if outcome.winner else None,
        "score": score_data(outcome.score),
    }


def history_data(page: archive.HistoryPage, number: int) -> Data:
    """Return a page of past battles as data. `number` is the page's number."""
    return {
        "page": number,
        "battles": [battle_data(each) for each in page.battles],
        "in_all": page.in_all,
    }


def adjourned_data(matches: Iterable[archive.AdjournedMatch]) -> Data:
    """Return adjourned matches as data."""
    return {
        "adjourned": [
            {**battle_data(each.battle), "plies": len(each.match.moves)} for each in matches
        ]
    }


def standings_data(ranking: archive.Ranking) -> Data:
    """Return the standings as data."""
    return {
        "players": [
            {"place": place, "player": name, **rating_data(rating)}
            for place, name, rating in ranking.players
        ],
        "in_all": ranking.in_all,
        "rules": ranking.pool.rules,
        "time": ranking.pool.time.value,
    }


def results_data(found: archive.PlayerScore | None, player: str) -> Data:
    """Return a player's results as data."""
    found = found or archive.PlayerScore(player)
    return {
        "player": found.name,
        "people": {**tally_data(found.people), "ratings": ratings_data(found.people)},
        "bots": {**tally_data(found.bots), "ratings": ratings_data(found.bots)},
        "levels": [
            {"level": level or None, **tally_data(each), "ratings": ratings_data(each)}
            for level, each in found.levels.items()
        ],
        "puzzles": rating_data(found.puzzles),
        "tournaments": [
            {
                "tournament": each.number,
                "title": each.title or None,
                "place": each.place,
                "entrants": each.entrants,
            }
            for each in found.tournaments
        ],
        "curves": [
            {"rules": pool.rules, "time": pool.time.value, "points": list(points)}
            for pool, points in found.curves.items()
        ],
    }


def ratings_data(of: archive.Performance) -> list[Data]:
    """Return the ratings in a role as data."""
    return [
        {"rules": pool.rules, "time": pool.time.value, **rating_data(rating)}
        for pool, rating in of.ratings.items()
    ]


def rating_data(rating: archive.Rating | None) -> dict[str, Any]:
    """Return a rating as data."""
    return {
        "rating": rating.points if rating else None,
        "uncertainty": rating.uncertainty if rating else None,
        "battles": rating.results if rating else 0,
        "provisional": rating.is_provisional if rating else None,
    }


def rating_change_data(change: archive.RatingChange) -> Data:
    """Return a rating change as data."""
    player, pool, before, rating, with_bot = change
    return {
        "player": player,
        "rules": pool.rules,
        "time": pool.time.value,
        "before": before,
        "rating": rating.points,
        "uncertainty": rating.uncertainty,
        "matches": rating.results,
        "provisional": rating.is_provisional,
        "against": "bots" if with_bot else "people",
    }


def tally_data(of: archive.Performance) -> dict[str, int]:
    """Return the tally of all battles in a role as data."""
    known = of.in_all
    return {"won": known.won, "drawn": known.drawn, "lost": known.lost}
