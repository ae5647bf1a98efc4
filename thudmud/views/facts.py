"""Facts: what happened, as data for programs, by GMCP (the package ``Thud``) or as machine lines.

`docs/gmcp.md` and `docs/machine.md` describe them for programmers. A fact has one form, whoever
reads it. Fields are only ever added at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import Enum
from math import ceil

from thudmud.errors import Refused
from thudmud.play import asides, events
from thudmud.play.analysis import AnalysedBattle, Analysis
from thudmud.play.archive import (
    AdjournedMatches,
    Battle,
    BotList,
    FoundBattle,
    HistoryPage,
    ListedBot,
    PlayerScore,
    Ranking,
    RatingChange,
)
from thudmud.play.clocks import AWAY, TimeControl
from thudmud.play.exercises import Exercise, InLesson
from thudmud.play.hall import Hall
from thudmud.play.hints import Advice
from thudmud.play.letters import LettersPage
from thudmud.play.options import Toggle
from thudmud.play.table import Seat, Table
from thudmud.play.telling import Telling
from thudmud.rules import (
    Comment,
    Game,
    Piece,
    Ruleset,
    Side,
    Square,
    write_position,
)
from thudmud.verbs.archive import Games, History, ViewRecord, ViewScore, ViewStandings
from thudmud.verbs.letters import Letters
from thudmud.verbs.matchmaking import Seeks
from thudmud.verbs.options import SetToggle
from thudmud.verbs.queries import Hint, ViewClock, ViewGame, ViewPossible
from thudmud.verbs.rooms import Boards, Look, Observe, ViewBots
from thudmud.views import data
from thudmud.views.archive import heard
from thudmud.views.colours import as_hex
from thudmud.views.data import Data, Fact
from thudmud.views.people import person_data
from thudmud.views.registry import facts_of
from thudmud.views.sentences import game_at

_PRESENCE = (events.Returned, events.Absent)

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


def facts(hall: Hall, telling: Telling) -> list[Fact]:
    """Return what a program is told of one thing that happened, in this order."""
    return list(_facts(hall, telling))


def concerning(hall: Hall, player: str) -> list[Fact]:
    """Return how things stand for somebody: where they are, have a seat, or observe a board."""
    room = hall.people[player].room
    known = [*_where(hall, player), _options(hall, player)]
    if hall.people[player].observed:
        known.append(_observed(hall, player))
    seats = [table for table in hall.seats_of(player) if table.name != room]
    others = {room, *(table.name for table in seats)}
    observed = hall.people[player].observed
    seats += [hall.tables[board] for board in observed if board not in others]
    if room is None:
        boards = [Fact("Thud.Board", _board(table), player) for table in seats]
        return [*known, *_listed(hall, player), *boards]
    tables = [hall.tables[room], *seats]
    return [*known, *(fact for table in tables for fact in _whole(table, player))]


def watched(hall: Hall, room: str | None, name: str) -> list[Fact]:
    """Return how things stand in a room, for somebody without a name who watches it."""
    known = _listed(hall, name) if room is None else _whole(hall.tables[room], name)
    return [_here(hall, room, name), *known]


def recorded(found: FoundBattle, player: str) -> list[Fact]:
    """Return a battle with all its plies, and what was said about them."""
    comments = [_comment(found.battle.number, each) for each in found.comments]
    record = Fact("Thud.Record", data.record(found), player)
    return [record, *(Fact("Thud.Comment", each, player) for each in comments)]


def refusal_fact(refusal: Refused, player: str, board: str | None = None) -> Fact:
    """Return why nothing comes of what a player asked for.

    Args:
        refusal: why.
        player: who asked, and is told alone.
        board: the board that it is about, if that is known.
    """
    details = {key: _plain(each) for key, each in refusal.details.items() if key != "board"}
    known = {
        "code": refusal.code.value,
        "squares": _plain(refusal.squares),
        "board": refusal.details.get("board", board),
        "details": details,
    }
    return Fact("Thud.Refused", known, player)


def _facts(hall: Hall, telling: Telling) -> Iterator[Fact]:
    event, table = telling.event, telling.table
    if (made := facts_of(hall, telling)) is not None:
        yield from made
        return
    if isinstance(event, events.HallEvent):
        yield from _of_hall(event, table)
        return
    match event:
        case asides.Asked():
            yield from _answered(hall, event, table)
        case asides.TurnedDown() | asides.LetterSent() | asides.Announced() | asides.ShutdownTold():
            yield _news(event)
        case asides.Spoke() | asides.Emoted() | asides.Told():
            yield _said(event, telling.at)
        case asides.Invited(player, to, board, side, level):
            asked = {"board": board, "side": side.value, "player": player, "to": to}
            yield Fact("Thud.Invite", {**asked, "level": level})
        case asides.BoardListed() if table:
            yield Fact("Thud.Listed", _listing(table))
        case asides.ObserveChosen(player):
            yield _observed(hall, player)
            if table:
                yield from _whole(table, player)
        case asides.TookOver(player) | asides.OptionChosen(player, SetToggle(Toggle.MACHINE, True)):
            yield from concerning(hall, player)
            if isinstance(event, asides.TookOver):
                yield from _waiting(event)
        case asides.OptionChosen(player):
            yield _options(hall, player)
        case asides.Entered() | asides.CameIn() | asides.CaughtUp():
            yield from _arrived(hall, event, table)
        case asides.WentOut(player, room, to):
            yield _went(player, room, to)
        case asides.Gone(player, room, told=False):
            yield _went(player, room, is_gone=True)
        case asides.Exercised() | asides.ExerciseLeft():
            yield from _exercised(event)
        case asides.Analysing(player, battle, done, plies):
            yield Fact("Thud.Analysis", _analysing(battle, done, plies), player)
        case asides.CommentMade(player, _, number, ply, text):
            known = {"battle": number, "ply": ply, "player": player, "text": text or None}
            yield Fact("Thud.Comment", known)
        case asides.Replayed(player, battle, _, ply, comments=comments):
            yield Fact("Thud.Replay", data.replayed(event), player)
            for comment in heard(hall, player, comments, ply):
                yield Fact("Thud.Comment", _comment(battle.number, comment), player)
        case _ if table and isinstance(event, events.TableEvent):
            yield from _happened(hall, event, table, telling.changes)


def _news(
    event: asides.TurnedDown | asides.LetterSent | asides.Announced | asides.ShutdownTold,
) -> Fact:
    """Return the fact of what somebody, or everybody, has to know, and is no talk."""
    match event:
        case asides.TurnedDown(player, to, board):
            return Fact("Thud.Declined", {"board": board, "player": player, "to": to})
        case asides.LetterSent(player, to):
            return Fact("Thud.Message", {"player": player, "to": to})
        case asides.Announced(player, text):
            return Fact("Thud.Broadcast", {"player": player, "text": text})
        case asides.ShutdownTold(_, _, seconds, why):
            left = None if seconds is None else ceil(seconds)
            return Fact("Thud.Shutdown", {"seconds": left, "why": why or None})


def _exercised(event: asides.Exercised | asides.ExerciseLeft) -> Iterator[Fact]:
    """Yield the facts of what somebody does in a lesson or a puzzle."""
    player, exercise = event.player, event.exercise
    if isinstance(event, asides.ExerciseLeft):
        yield Fact("Thud.Exercise", _exercise(exercise, player, (), left=True), player)
        return
    yield from (_moved(each, after) for each, after in event.plies)
    if event.shows and not event.plies:
        yield from _whole(exercise.table, player)
    yield Fact("Thud.Exercise", _exercise(exercise, player, event.remarks), player)


def _arrived(
    hall: Hall, event: asides.Entered | asides.CameIn | asides.CaughtUp, table: Table | None
) -> Iterator[Fact]:
    """Yield the facts of somebody's coming to a room, or back to a board where a seat was kept."""
    player = event.player
    match event:
        case asides.Entered(room=None) | asides.CameIn(room=None):
            yield _came(hall, player, None)
            yield from _where(hall, player)
            if isinstance(event, asides.Entered):
                yield _options(hall, player)
            yield from _listed(hall, player)
            if isinstance(event, asides.Entered):
                yield from _waiting(event)
        case asides.Entered():
            yield from _waiting(event)
        case asides.CameIn(sits=sits) if table:
            yield _came(hall, player, table.name)
            yield from _where(hall, player)
            if not sits:
                yield from _whole(table, player)
        case asides.CaughtUp() if table:
            if hall.people[player].room == table.name:
                yield from _where(hall, player)
                yield _options(hall, player)
            yield from _whole(table, player)


def _answered(hall: Hall, asked: asides.Asked, table: Table | None) -> Iterator[Fact]:
    """Yield the facts that answer a question; they are for who asked alone."""
    me = asked.player
    match asked.question, asked.answer:
        case Seeks(), _:
            yield from _sought(hall, me)
        case Observe(), _:
            yield _observed(hall, me)
        case Boards(), _:
            yield from _listed(hall, me)
        case Look(None), _:
            yield from _where(hall, me)
            yield from _whole(table, me) if table else _listed(hall, me)
        case ((Look() | ViewGame() | ViewClock()), _) if table:
            yield from _whole(table, me)
        case ViewPossible(Square() as origin), _ if table and table.game:
            known = {**_place(table), "ply": len(table.game.moves)}
            yield Fact("Thud.Legal", {**known, **data.legal(table.game, origin)}, me)
        case ViewBots(), BotList(bots):
            yield Fact("Thud.Bots", {"bots": [_bot(bot) for bot in bots]}, me)
        case Hint(), Advice() as advice if table:
            yield Fact("Thud.Hint", _hint(table, advice), me)
        case _, AnalysedBattle(battle, game, analysis):
            yield Fact("Thud.Analysis", _analysed(battle, game, analysis), me)
        case ViewStandings(), Ranking() as ranking:
            yield Fact("Thud.Standings", data.standings(ranking), me)
        case ViewScore(player), PlayerScore() | None as score:
            yield Fact("Thud.Score", data.fared(score, player or me), me)
        case History(player, page), HistoryPage() as battles:
            yield Fact("Thud.History", {"player": player, **data.history(battles, page)}, me)
        case Letters(page=page), LettersPage() as letters:
            yield _letters(letters, page, me)
        case Games(), AdjournedMatches() as matches:
            yield Fact("Thud.Games", data.adjourned(matches), me)
        case ViewRecord(), FoundBattle() as found:
            yield from recorded(found._replace(comments=heard(hall, me, found.comments)), me)


def _comment(battle: int, comment: Comment) -> Data:
    return {
        "battle": battle,
        "ply": comment.ply,
        "player": comment.player or None,
        "text": comment.text,
    }


def _of_hall(event: events.HallEvent, table: Table | None) -> Iterator[Fact]:
    """Yield the facts of an event of the hall itself, and of the board that it is about."""
    match event:
        case events.BoardOpened() if table:
            yield Fact("Thud.Table", _table(table))
        case events.BoardClosed() if table:
            yield Fact("Thud.Closed", {"board": table.name})
        case events.BoardRenamed(name=name) if table:
            yield Fact("Thud.Renamed", {"board": table.name, "name": name})
        case events.SeekMade():
            yield Fact("Thud.Seek", _seek(event))
        case events.SeekEnded(number=number, why=why, player=player):
            yield Fact("Thud.Settled", {"seek": number, "why": why.value, "player": player})


def _happened(
    hall: Hall, event: events.TableEvent, table: Table, changes: Iterable[RatingChange]
) -> Iterator[Fact]:
    """Yield the facts of an event of a table, as it stands right after."""
    # Who is back at a seat, or away from it, has come to the room or left it by that.
    person = hall.people.get(event.player) if isinstance(event, _PRESENCE) else None
    if person and person.room == table.name:
        if isinstance(event, events.Returned):
            yield _came(hall, event.player, table.name)
        else:
            yield _went(event.player, table.name, is_gone=True)
    match event:
        case events.Moved():
            yield _moved(event, table)
            return
        case events.TakenBack():
            yield from _taken_back(event, table)
        case events.BattleEnded():
            yield _ended(event, table, changes)
    yield Fact("Thud.Table", _table(table))
    if isinstance(event, DRAWN_ANEW):
        yield Fact("Thud.Board", _board(table))
    elif isinstance(event, events.Joined):
        yield Fact("Thud.Board", _board(table), event.player)


def _where(hall: Hall, player: str) -> list[Fact]:
    """Return who somebody is, and who is where they are."""
    room = hall.people[player].room
    me = Fact("Thud.Me", {**person_data(hall, player), "room": room}, player)
    return [me, _here(hall, room, player)]


def _here(hall: Hall, room: str | None, player: str) -> Fact:
    people = [person_data(hall, name) for name in hall.people_in(room)]
    return Fact("Thud.Here", {"room": room, "people": people}, player)


def _came(hall: Hall, player: str, room: str | None) -> Fact:
    return Fact("Thud.Came", {"room": room, **person_data(hall, player)})


def _went(player: str, room: str | None, to: str | None = None, *, is_gone: bool = False) -> Fact:
    return Fact("Thud.Went", {"room": room, "player": player, "to": to, "gone": is_gone})


def _listed(hall: Hall, player: str) -> list[Fact]:
    """Return what goes with a list of all boards."""
    tables = [Fact("Thud.Table", _table(table), player) for table in hall.tables.values()]
    return [*tables, *_sought(hall, player)]


def _sought(hall: Hall, player: str) -> list[Fact]:
    """Return the seeks that somebody can accept, or has made."""
    return [
        Fact("Thud.Seek", _seek(seek), player)
        for seek in hall.seeks.values()
        if seek.to in {"", player} or seek.player == player
    ]


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
        "time": str(table.time) if table.time else None,
        "clock": _clock(table),
        "claim_at": None if table.claim_at is None else int(table.claim_at),
    }


def _listing(table: Table) -> Data:
    """Return what a list of boards shows of one."""
    known = _table(table)
    keys = ("board", "version", "battle", "rules", "running", "time")
    seats = {side.value: table.seats.get(side) for side in Side}
    return {**{key: known[key] for key in keys}, **seats}


def _board(table: Table) -> Data:
    game = game_at(table)
    return {
        **_place(table),
        **data.standing(game),
        "turn": data.turn(game) if table.game else None,
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
        **data.way(event.move),
        "record": str(event.move),
        "score": data.score(game.score),
        "turn": data.turn(game),
        "at": int(event.at),
        "clock": _clock(table),
    }


def _ended(event: events.BattleEnded, table: Table, changes: Iterable[RatingChange]) -> Fact:
    outcome, match = event.outcome, table.match
    known = {
        **_place(table),
        "outcome": outcome.ending.value.replace(" ", "_"),
        "winner": outcome.winner.value if outcome.winner else None,
        "score": data.score(outcome.score),
        "points": {side.value: match.points(side) if match else 0 for side in Side},
        "part": match.battle if match else None,
        "over": bool(match and match.over),
        "dwarf": event.dwarf or None,
        "troll": event.troll or None,
        "player": event.player,
        "plies": event.plies,
        "rated": event.rated,
        "at": int(event.at),
        "ratings": [_change(each) for each in changes],
    }
    return Fact("Thud.End", known)


def _change(change: RatingChange) -> Data:
    player, pool, before, rating = change
    return {
        "player": player,
        "rules": pool.rules,
        "time": pool.time.value,
        "before": before,
        "rating": rating.points,
        "uncertainty": rating.uncertainty,
        "matches": rating.results,
        "provisional": rating.is_provisional,
    }


def _seek(seek: events.SeekMade) -> Data:
    return {
        "seek": seek.number,
        "player": seek.player,
        "rules": seek.rules,
        "side": seek.side.value if seek.side else None,
        "rated": seek.rated,
        "to": seek.to or None,
        "at": int(seek.at),
        "time": str(seek.time) if seek.time else None,
    }


def _hint(table: Table, advice: Advice) -> Data:
    return {
        **_place(table),
        "side": advice.side.value,
        **data.way(advice.move),
        "record": str(advice.move),
        "reasons": [
            {"reason": each.merit.value, "number": each.number or None} for each in advice.reasons
        ],
    }


def _exercise(
    exercise: Exercise, player: str, remarks: Iterable[asides.Remark], *, left: bool = False
) -> Data:
    side = exercise.table.side_of(player)
    lesson = exercise if isinstance(exercise, InLesson) else None
    return {
        "board": exercise.table.name,
        "number": exercise.number,
        "step": lesson.step + 1 if lesson else None,
        "steps": len(lesson.lesson.steps) if lesson else None,
        "side": side.value if side else None,
        "remarks": [each.value for each in remarks],
        "over": exercise.is_over,
        "left": left,
    }


def _bot(bot: ListedBot) -> Data:
    return {
        "bot": bot.name,
        "level": bot.level or None,
        **data.rated(bot.rating),
        **data.tally(bot.fared),
    }


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


def _observed(hall: Hall, player: str) -> Fact:
    return Fact("Thud.Observe", {"boards": list(hall.people[player].observed)}, player)


def _options(hall: Hall, player: str) -> Fact:
    """Return how somebody wants to see boards, as far as programs that draw them may care."""
    chosen = hall.people[player].options
    colours = [
        {
            "element": element.value,
            "colour": as_hex(colour.foreground),
            "ground": as_hex(colour.background),
            "bold": colour.bold,
        }
        for element, colour in chosen.elements
    ]
    known = {"scheme": chosen.scheme.value, "orient": chosen.orient.value, "colours": colours}
    return Fact("Thud.Options", known, player)


def _waiting(came: asides.Entered | asides.TookOver) -> Iterator[Fact]:
    """Yield how many letters wait for somebody who has come in, if there are any."""
    if came.letters.in_all:
        yield _letters(LettersPage((), *came.letters), 0, came.player)


def _letters(found: LettersPage, page: int, player: str) -> Fact:
    letters = [
        {
            "number": each.number,
            "player": each.sender or None,
            "at": int(each.at),
            "text": each.text,
            "new": each.is_new,
        }
        for each in found.letters
    ]
    known = {"in_all": found.in_all, "new": found.new, "page": page or None, "messages": letters}
    return Fact("Thud.Messages", known, player)


def _said(aside: asides.Spoke | asides.Emoted | asides.Told, at: float) -> Fact:
    match aside:
        case asides.Spoke(room=room):
            kind, to = aside.verb, None
        case asides.Emoted(room=room):
            kind, to = "emote", None
        case asides.Told(to=to):
            kind, room = "tell", None
    known = {"room": room, "player": aside.player, "kind": kind, "text": aside.text, "to": to}
    return Fact("Thud.Say", {**known, "at": int(at)})


# What several of them have in common.


def _place(table: Table) -> Data:
    """Return which battle a fact is of, and how far the board had come then."""
    number = table.match.number if table.match else None
    return {"board": table.name, "version": table.version, "battle": number}


def _clock(table: Table) -> Data | None:
    """Return how the clock of a battle stood at a time, if it has one."""
    clock = table.match.clock if table.match else None
    if clock is None:
        return None
    is_on = table.clock is not None
    stands = is_on and clock.stands and clock.stood < AWAY
    return {
        **{side.value: int(clock.left(side)) for side in Side},
        "at": int(clock.at),
        "runs": clock.turn.value if is_on and not stands else None,
        "falls": int(clock.deadline) if is_on else None,
        "stands_until": int(clock.at + AWAY - clock.stood) if stands else None,
    }


def _seat(seat: Seat) -> Data:
    since = seat.away_since
    return {
        "side": seat.side.value,
        "player": seat.player,
        "away_since": None if since is None else int(since),
    }


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
        case TimeControl():
            return str(value)
        case Seat():
            return _seat(value)
        case tuple():
            return [_plain(each) for each in value]
        case _:
            raise TypeError(f"there is no form in JSON for {value!r}")


TAG = "@thud"
"""What a line for a program begins with, in column one."""


def as_json(known: Data) -> str:
    """Return data as JSON: one line, and nothing in it but printable ASCII."""
    return json.dumps(known, separators=(",", ":")).replace("\x7f", "\\u007f")


def machine_line(fact: Fact) -> str:
    """Return a fact as one line, however wide the screen is."""
    kind = fact.package.rpartition(".")[2].lower()
    return f"{TAG} {as_json({'type': kind, **fact.data})}"


def set_apart(lines: Iterable[str]) -> list[str]:
    """Return lines of text so that none is taken for a fact: players can say what they like."""
    return [f" {each}" if each.startswith(TAG) else each for each in lines]
