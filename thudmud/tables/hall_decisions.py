"""What a command brings about in the hall, or why it does not.

Owns what each command means to the one who types it: at which board, with which words to whom.
What happens at a board it leaves to `thudmud.tables.table_decisions`. Must never change anything.
"""

from __future__ import annotations

from functools import singledispatch

from thudmud.commands.model import (
    Boards,
    Command,
    Emote,
    End,
    Go,
    Help,
    Join,
    Leave,
    Look,
    Play,
    Quit,
    Resign,
    Say,
    SetBoard,
    SetRules,
    Start,
    Syntax,
    Tell,
    ViewGame,
    ViewPossible,
    Who,
)
from thudmud.tables import table_decisions
from thudmud.tables.asides import (
    Aside,
    Asked,
    CameIn,
    Emoted,
    Gone,
    Question,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.tables.events import Parting
from thudmud.tables.hall import Decision, Hall, Person
from thudmud.tables.objects import listed
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import Table


def decide(hall: Hall, player: str, command: Command, now: float) -> list[Decision]:
    """Return what ``command`` would bring about, to be committed in this order.

    Args:
        hall: the hall as it stands.
        player: the name of somebody who is here.
        command: what they ask for.
        now: the time, in seconds since the epoch.

    Raises:
        Refused: a table or the hall does not allow it.
        IllegalMove: the rules of the game do not allow it.
    """
    if isinstance(command, Quit):
        return part(hall, player, Parting.QUIT, now)
    return [_decide(command, hall, hall.people[player], now)]


def part(hall: Hall, player: str, parting: Parting, now: float) -> list[Decision]:
    """Return what happens when ``player`` quits or is lost: seats given up, then gone."""
    left: list[Decision] = []
    for table in hall.seats_of(player):
        events = table_decisions.part(table, player, parting, now)
        left.append(Decision(player, table.name, table.version, events))
    room = hall.people[player].room
    gone = Gone(player, room, parting, told=room in {each.board for each in left})
    return [*left, Decision(player, asides=(gone,))]


@singledispatch
def _decide(command: object, hall: Hall, person: Person, now: float) -> Decision:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"the hall knows nothing of {type(command).__name__}")


@_decide.register(Leave)
@_decide.register(Start)
@_decide.register(End)
@_decide.register(Resign)
@_decide.register(SetRules)
@_decide.register(Play)
def _(
    command: Leave | Start | End | Resign | SetRules | Play, hall: Hall, person: Person, now: float
) -> Decision:
    table = hall.board(person, command.on)
    events = table_decisions.decide(table, person.name, command, now)
    return Decision(person.name, table.name, table.version, events)


@_decide.register
def _(command: Join, hall: Hall, person: Person, now: float) -> Decision:
    table = _to_join(command, hall, person)
    events = table_decisions.decide(table, person.name, command, now)
    walk = _walk(person, table.name, sits=True) if person.room != table.name else ()
    return Decision(person.name, table.name, table.version, events, walk)


@_decide.register
def _(command: SetBoard, hall: Hall, person: Person, _now: float) -> Decision:
    board = hall.board(person, command.on).name
    return Decision(person.name, board, asides=(StyleChosen(person.name, board, command.style),))


@_decide.register
def _(command: ViewGame, hall: Hall, person: Person, _now: float) -> Decision:
    return _answer(person, command, hall.board(person, command.on).name)


@_decide.register
def _(command: ViewPossible, hall: Hall, person: Person, _now: float) -> Decision:
    table = hall.board(person, command.on)
    table_decisions.battle(table, person.name)
    return _answer(person, command, table.name)


@_decide.register
def _(command: Look, hall: Hall, person: Person, _now: float) -> Decision:
    match command.at and command.at.lower():
        case None | "here" | "round" | "around":
            return _answer(person, Look(), person.room)
        case "hall" | "the hall":
            return _answer(person, Look())
        case "me" | "myself":
            return _answer(person, Look(person.name))
        case words if words in hall.names and not hall.fitting(words):
            return _answer(person, Look(hall.names[words]))
    return _answer(person, command, hall.board(person, command.at).name)


@_decide.register(Boards)
@_decide.register(Who)
@_decide.register(Help)
@_decide.register(Syntax)
def _(command: Boards | Who | Help | Syntax, _hall: Hall, person: Person, _now: float) -> Decision:
    return _answer(person, command)


@_decide.register
def _(command: Go, hall: Hall, person: Person, _now: float) -> Decision:
    to = None if command.to is None else hall.board(person, command.to).name
    if to == person.room:
        raise Refused(Refusal.ALREADY_THERE if to else Refusal.ALREADY_IN_HALL, board=to)
    return Decision(person.name, to, asides=_walk(person, to))


@_decide.register
def _(command: Say, _hall: Hall, person: Person, _now: float) -> Decision:
    return Decision(person.name, asides=(Spoke(person.name, person.room, command.text),))


@_decide.register
def _(command: Emote, _hall: Hall, person: Person, _now: float) -> Decision:
    return Decision(person.name, asides=(Emoted(person.name, person.room, command.text),))


@_decide.register
def _(command: Tell, hall: Hall, person: Person, _now: float) -> Decision:
    to = hall.player(command.player)
    if to == person.name:
        raise Refused(Refusal.TELL_SELF)
    return Decision(person.name, asides=(Told(person.name, to, command.text),))


def _to_join(command: Join, hall: Hall, person: Person) -> Table:
    """Return the table that is meant, which cannot be one of several where one sits already."""
    if command.on is None and person.room is None and len(hall.seats_of(person.name)) > 1:
        raise Refused(Refusal.SAY_WHICH, boards=listed(hall.tables, "or"))
    return hall.board(person, command.on)


def _walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[Aside, ...]:
    return (WentOut(person.name, person.room, to), CameIn(person.name, to, sits))


def _answer(person: Person, question: Question, board: str | None = None) -> Decision:
    return Decision(person.name, board, asides=(Asked(person.name, question, board),))
