"""Facts: what happened, as data for programs, by GMCP (the package ``Thud``) or as machine lines.

`docs/gmcp.md` and `docs/machine.md` describe them for programmers. A fact has one form, whoever
reads it. Fields are only ever added at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import ceil

from thudmud.errors import Refused
from thudmud.play import asides, commands, events
from thudmud.play.analysis import AnalysedBattle, Analysis
from thudmud.play.archive import Battle, BotList, FoundBattle, ListedBot
from thudmud.play.exercises import Exercise, InLesson
from thudmud.play.hall import Hall, Telling
from thudmud.play.hints import Advice
from thudmud.play.options import SetMachine
from thudmud.play.table import Seat, Table
from thudmud.rules import (
    SQUARES,
    Comment,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Score,
    Side,
    Square,
    write_position,
)
from thudmud.rules.board import WIDTH
from thudmud.views.archive import heard
from thudmud.views.sentences import game_at

Data = Mapping[str, object]
"""What a fact holds: only what JSON can hold."""

DRAWN_ANEW = (
    events.BattleStarted,
    events.Resumed,
    events.RulesSet,
    events.PositionSet,
    events.TakenBack,
    events.Adjourned,
    events.Cleared,
)
"""The events that change a position, but for plies."""

EMPTY, OFF_BOARD = ".", " "
"""What stands in the rows of a board where no piece does."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that a program is told.

    Attributes:
        package: what GMCP calls it.
        data: what it holds.
        to: whose alone it is, of those who are told of what happened; None for all of them.
    """

    package: str
    data: Data
    to: str | None = None


def facts(hall: Hall, telling: Telling) -> list[Fact]:
    """Return what a program is told of one thing that happened, in this order."""
    return list(_facts(hall, telling))


def concerning(hall: Hall, player: str) -> list[Fact]:
    """Return how things stand for somebody: where they are, and wherever they have a seat."""
    room = hall.people[player].room
    seats = [table for table in hall.seats_of(player) if table.name != room]
    if room is None:
        boards = [Fact("Thud.Board", _board(table), player) for table in seats]
        return [*_listed(hall, player), *boards]
    tables = [hall.tables[room], *seats]
    return [fact for table in tables for fact in _whole(table, player)]


def refusal_fact(refusal: Refused, player: str, board: str | None = None) -> Fact:
    """Return why nothing comes of what a player asked for.

    Args:
        refusal: why.
        player: who asked, and is told alone.
        board: the board that it is about, if that is known.
    """
    details = {key: _plain(each) for key, each in refusal.details.items() if key != "board"}
    data = {
        "code": refusal.code.value,
        "squares": _plain(refusal.squares),
        "board": refusal.details.get("board", board),
        "details": details,
    }
    return Fact("Thud.Refused", data, player)


def _facts(hall: Hall, telling: Telling) -> Iterator[Fact]:
    event, table = telling.event, telling.table
    match event:
        case events.BoardOpened() if table:
            yield Fact("Thud.Table", _table(table))
        case events.BoardClosed() if table:
            yield Fact("Thud.Closed", {"board": table.name})
        case events.BoardRenamed(name=name) if table:
            yield Fact("Thud.Renamed", {"board": table.name, "name": name})
        case asides.Spoke(player, room, text):
            yield _said("say", player, text, room=room)
        case asides.Emoted(player, room, text):
            yield _said("emote", player, text, room=room)
        case asides.Told(player, to, text):
            yield _said("tell", player, text, to=to)
        case asides.Invited(player, to, board, side, level):
            asked = {"board": board, "side": side.value, "player": player, "to": to}
            yield Fact("Thud.Invite", {**asked, "level": level})
        case asides.TookOver(player) | asides.OptionChosen(player, SetMachine(True)):
            yield from concerning(hall, player)
        case asides.Entered(player, None) | asides.CameIn(player, None):
            yield from _listed(hall, player)
        case asides.Asked(player, commands.Boards() | commands.Look(None), None):
            yield from _listed(hall, player)
        case (
            asides.CaughtUp(player)
            | asides.CameIn(player, sits=False)
            | asides.Asked(player, commands.Look() | commands.ViewGame())
        ):
            if table:
                yield from _whole(table, player)
        case asides.Exercised(player, exercise, remarks, plies, shows):
            yield from (_moved(each, after) for each, after in plies)
            if shows and not plies:
                yield from _whole(exercise.table, player)
            said = [each.value for each in remarks]
            yield Fact("Thud.Exercise", _exercise(exercise, player, said), player)
        case asides.ExerciseLeft(player, exercise):
            yield Fact("Thud.Exercise", _exercise(exercise, player, [], left=True), player)
        case asides.Asked(player, commands.ViewBots(), answer=BotList(bots)):
            yield Fact("Thud.Bots", {"bots": [_bot(bot) for bot in bots]}, player)
        case asides.Asked(player, commands.Hint(), answer=Advice() as advice) if table:
            yield Fact("Thud.Hint", _hint(table, advice), player)
        case asides.Analysing() | asides.Asked(answer=AnalysedBattle()):
            yield Fact("Thud.Analysis", _analysis(event), event.player)
        case asides.CommentMade(player, _, number, ply, text):
            data = {"battle": number, "ply": ply, "player": player, "text": text or None}
            yield Fact("Thud.Comment", data)
        case asides.Replayed(player, battle, _, ply, comments=comments):
            for comment in heard(hall, player, comments, ply):
                yield Fact("Thud.Comment", _comment(battle.number, comment), player)
        case asides.Asked(player, commands.ViewRecord(), answer=FoundBattle() as found):
            for comment in heard(hall, player, found.comments):
                yield Fact("Thud.Comment", _comment(found.battle.number, comment), player)
        case _ if table and isinstance(event, events.TableEvent):
            yield from _happened(event, table)


def _comment(battle: int, comment: Comment) -> Data:
    return {
        "battle": battle,
        "ply": comment.ply,
        "player": comment.player or None,
        "text": comment.text,
    }


def _happened(event: events.TableEvent, table: Table) -> Iterator[Fact]:
    """Yield the facts of an event of a table, as it stands right after."""
    match event:
        case events.Moved():
            yield _moved(event, table)
            return
        case events.TakenBack():
            yield from _taken_back(event, table)
        case events.BattleEnded():
            yield _ended(event, table)
    yield Fact("Thud.Table", _table(table))
    if isinstance(event, DRAWN_ANEW):
        yield Fact("Thud.Board", _board(table))
    elif isinstance(event, events.Joined):
        yield Fact("Thud.Board", _board(table), event.player)


def _listed(hall: Hall, player: str) -> list[Fact]:
    """Return what goes with a list of all boards."""
    return [Fact("Thud.Table", _table(table), player) for table in hall.tables.values()]


def _whole(table: Table, player: str) -> list[Fact]:
    """Return what goes with a board that somebody is shown."""
    return [
        Fact("Thud.Table", _table(table), player),
        Fact("Thud.Board", _board(table), player),
    ]


# What each of them holds.


def _table(table: Table) -> Data:
    match = table.match
    return {
        **_place(table),
        "rules": (table.game.ruleset if table.game else table.ruleset).name,
        "part": match.battle if match else None,
        "running": table.running,
        "over": bool(match and match.over),
        "seats": _plain(table.seating),
        "points": {side.value: match.points(side) if match else 0 for side in Side},
        "offers": [
            {"offer": offer.value, "side": side.value} for offer, side in table.offers.items()
        ],
    }


def _board(table: Table) -> Data:
    game = game_at(table)
    position = game.position
    stone, rock = (position.squares(piece) for piece in (Piece.STONE, Piece.ROCK))
    return {
        **_place(table),
        "rules": game.ruleset.name,
        "ply": len(game.moves),
        "turn": _turn(game) if table.game else None,
        "rows": _rows(position),
        "dwarfs": _names(position.squares(Piece.DWARF)),
        "trolls": _names(position.squares(Piece.TROLL)),
        "stone": str(stone[0]) if stone else None,
        "rock": str(rock[0]) if rock else None,
        "last": _way(game.moves[-1]) if game.moves else None,
        "score": _score(game.score),
        "opening": write_position(table.opening) if table.opening else None,
    }


def _moved(event: events.Moved, table: Table) -> Fact:
    if table.game is None:
        raise ValueError(f"{event} happened in no battle")
    return Fact("Thud.Move", _ply(event, table, table.game))


def _taken_back(event: events.TakenBack, table: Table) -> Iterator[Fact]:
    """Yield each ply that was taken back, the last of them first."""
    game, side = table.game, event.side
    if game is None:
        raise ValueError(f"{event} happened in no battle")
    told = []
    for move in event.moves:
        played = events.Moved(event.at, table.seats.get(side, ""), side, move, len(game.moves) + 1)
        told.append(Fact("Thud.Move", _ply(played, table, game, taken_back=True)))
        game, side = game.play(move), side.other
    yield from reversed(told)


def _ply(event: events.Moved, table: Table, game: Game, *, taken_back: bool = False) -> Data:
    """Return a ply which has led to ``game``, or has been taken back to it."""
    return {
        **_place(table),
        "ply": event.ply,
        "taken_back": taken_back,
        "side": event.side.value,
        "player": event.player or None,
        **_way(event.move),
        "record": str(event.move),
        "score": _score(game.score),
        "turn": _turn(game),
        "at": int(event.at),
    }


def _ended(event: events.BattleEnded, table: Table) -> Fact:
    outcome, match = event.outcome, table.match
    data = {
        **_place(table),
        "outcome": outcome.ending.value.replace(" ", "_"),
        "winner": outcome.winner.value if outcome.winner else None,
        "score": _score(outcome.score),
        "points": {side.value: match.points(side) if match else 0 for side in Side},
        "part": match.battle if match else None,
        "over": bool(match and match.over),
        "dwarf": event.dwarf or None,
        "troll": event.troll or None,
        "player": event.player,
        "plies": event.plies,
        "rated": event.rated,
        "at": int(event.at),
    }
    return Fact("Thud.End", data)


def _hint(table: Table, advice: Advice) -> Data:
    return {
        **_place(table),
        "side": advice.side.value,
        **_way(advice.move),
        "record": str(advice.move),
        "reasons": [
            {"reason": each.merit.value, "number": each.number or None} for each in advice.reasons
        ],
    }


def _exercise(exercise: Exercise, player: str, remarks: list[str], *, left: bool = False) -> Data:
    side = exercise.table.side_of(player)
    lesson = exercise if isinstance(exercise, InLesson) else None
    return {
        "board": exercise.table.name,
        "number": exercise.number,
        "step": lesson.step + 1 if lesson else None,
        "steps": len(lesson.lesson.steps) if lesson else None,
        "side": side.value if side else None,
        "remarks": remarks,
        "over": exercise.is_over,
        "left": left,
    }


def _bot(bot: ListedBot) -> Data:
    rating, tally = bot.fared.rating, bot.fared.in_all
    return {
        "bot": bot.name,
        "level": bot.level or None,
        "rating": rating.points if rating else None,
        "uncertainty": rating.uncertainty if rating else None,
        "battles": rating.battles if rating else 0,
        "won": tally.won,
        "drawn": tally.drawn,
        "lost": tally.lost,
    }


def _analysis(aside: asides.Analysing | asides.Asked) -> Data:
    """Return how far an analysis has come, or all of it."""
    match aside:
        case asides.Analysing(_, battle, done, plies):
            return _analysing(battle, done, plies)
        case asides.Asked(answer=AnalysedBattle(battle, game, analysis)):
            return _analysed(battle, game, analysis)
    raise ValueError(f"{aside} is about no analysis")


def _analysing(battle: Battle, done: int, plies: int) -> Data:
    known = {"battle": battle.number, "rules": battle.rules, "plies": plies, "done": done}
    return {**known, "nodes": None, "worth": [], "better": []}


def _analysed(battle: Battle, game: Game, analysis: Analysis) -> Data:
    plies, turns = len(game.moves), (game.opening.turn, game.opening.turn.other)
    return {
        **_analysing(battle, plies, plies),
        "nodes": analysis.nodes,
        "worth": list(analysis.worths),
        "better": [
            {
                "ply": ply,
                "side": turns[(ply - 1) % 2].value,
                "record": str(game.moves[ply - 1]),
                "lost": analysis.lost[ply - 1],
                "mark": mark.value if (mark := analysis.mark(ply)) else None,
                "line": list(map(str, line)),
            }
            for ply, line in enumerate(analysis.lines, 1)
            if line
        ],
    }


def _said(
    kind: str, player: str, text: str, *, room: str | None = None, to: str | None = None
) -> Fact:
    data = {"room": room, "player": player, "kind": kind, "text": text, "to": to}
    return Fact("Thud.Say", data)


# What several of them have in common.


def _place(table: Table) -> Data:
    """Return which battle a fact is of, and how far the board had come then."""
    number = table.match.number if table.match else None
    return {"board": table.name, "version": table.version, "battle": number}


def _seat(seat: Seat) -> Data:
    since = seat.away_since
    return {
        "side": seat.side.value,
        "player": seat.player,
        "away_since": None if since is None else int(since),
    }


def _way(move: Move) -> Data:
    return {
        "piece": move.piece.noun.lower(),
        "verb": move.verb.value,
        "from": str(move.origin),
        "to": str(move.target),
        "captures": _names(move.captures),
        "trample": move.trample,
    }


def _rows(position: Position) -> list[str]:
    marks = dict.fromkeys(SQUARES, EMPTY)
    for piece in Piece:
        marks |= dict.fromkeys(position.squares(piece), piece.value)
    grid = [[Square(column, row) for column in range(WIDTH)] for row in range(WIDTH)]
    return ["".join(marks.get(square, OFF_BOARD) for square in row) for row in grid]


def _turn(game: Game) -> str | None:
    return None if game.outcome else game.position.turn.value


def _plain(value: object) -> object:
    """Return what JSON has for a detail of a refusal."""
    match value:
        case None | str() | int():
            return value
        case float():  # seconds to wait
            return ceil(value)
        case Square():
            return str(value)
        case Piece():
            return value.noun.lower()
        case Enum():
            return value.value
        case Ruleset():
            return value.name
        case Seat():
            return _seat(value)
        case tuple():
            return [_plain(each) for each in value]
        case _:
            raise TypeError(f"there is no form in JSON for {value!r}")


def _names(squares: Iterable[Square]) -> list[str]:
    return [str(square) for square in squares]


def _score(score: Score) -> Data:
    return {side.value: score.of(side) for side in Side}


TAG = "@thud"
"""What a line for a program begins with, in column one."""


def as_json(data: Data) -> str:
    """Return data as JSON: one line, and nothing in it but printable ASCII."""
    return json.dumps(data, separators=(",", ":")).replace("\x7f", "\\u007f")


def machine_line(fact: Fact) -> str:
    """Return a fact as one line, however wide the screen is."""
    kind = fact.package.rpartition(".")[2].lower()
    return f"{TAG} {as_json({'type': kind, **fact.data})}"


def set_apart(lines: Iterable[str]) -> list[str]:
    """Return lines of text so that none is taken for a fact: players can say what they like."""
    return [f" {each}" if each.startswith(TAG) else each for each in lines]
