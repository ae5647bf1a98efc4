"""What a command brings about in the hall, or why it does not.

Owns what each command means to the one who types it: at which board, with which words to whom.
What happens at a board it leaves to `thudmud.tables.table_decisions`. Must never change anything.
"""

from __future__ import annotations

from functools import singledispatch

from thudmud.commands import (
    Adjourn,
    ArchiveCommand,
    Boards,
    Claim,
    Command,
    Emote,
    End,
    Games,
    Go,
    Help,
    History,
    Invite,
    Join,
    Leave,
    Look,
    No,
    Password,
    Play,
    Quit,
    Record,
    Register,
    Replay,
    Resign,
    Resume,
    Say,
    SetBoard,
    SetRules,
    Standings,
    Start,
    Step,
    Syntax,
    Tell,
    Undo,
    ViewGame,
    ViewPossible,
    ViewScore,
    Way,
    Who,
)
from thudmud.commands.options import (
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOption,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
    ShowOptions,
    ShowScheme,
)
from thudmud.commands.queries import (
    Around,
    Captures,
    LastMove,
    Lines,
    Query,
    ScanColumn,
    ScanRow,
    Where,
)
from thudmud.tables import table_decisions
from thudmud.tables.archive_decisions import looked_up, to_resume
from thudmud.tables.asides import (
    Aside,
    Asked,
    CameIn,
    Emoted,
    OptionChosen,
    Question,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.tables.events import Parting
from thudmud.tables.hall import Hall
from thudmud.tables.invitations import invited
from thudmud.tables.meaning import away_from, board_meant, fits_a_board, player_meant
from thudmud.tables.objects import listed
from thudmud.tables.options import after
from thudmud.tables.outcome import Decision
from thudmud.tables.people import Person
from thudmud.tables.presence import part
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.seating import Occasion, battle
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
        Unread: the moves of a battle are needed first.
    """
    if isinstance(command, Quit):
        return part(hall, player, Parting.QUIT, now)
    occasion = Occasion(now, hall.members)
    return [_decide(command, hall, hall.people[player], occasion)]


@singledispatch
def _decide(command: object, hall: Hall, person: Person, occasion: Occasion) -> Decision:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"the hall knows nothing of {type(command).__name__}")


@_decide.register(Leave)
@_decide.register(Start)
@_decide.register(End)
@_decide.register(Resign)
@_decide.register(Undo)
@_decide.register(No)
@_decide.register(Claim)
@_decide.register(Adjourn)
@_decide.register(SetRules)
@_decide.register(Play)
def _(
    command: table_decisions.TableCommand, hall: Hall, person: Person, occasion: Occasion
) -> Decision:
    table = board_meant(hall, person, command.on)
    events = table_decisions.decide(table, person.name, command, occasion)
    return Decision(person.name, table.name, table.version, events)


@_decide.register
def _(command: Join, hall: Hall, person: Person, occasion: Occasion) -> Decision:
    table = _to_join(command, hall, person)
    events = table_decisions.decide(table, person.name, command, occasion)
    walk = _walk(person, table.name, sits=True) if person.room != table.name else ()
    return Decision(person.name, table.name, table.version, events, walk)


@_decide.register
def _(command: Resume, hall: Hall, person: Person, occasion: Occasion) -> Decision:
    table = board_meant(hall, person, command.on)
    saved = to_resume(command, hall, person, table)
    events = table_decisions.resume(table, person.name, saved, occasion)
    return Decision(person.name, table.name, table.version, events)


@_decide.register
def _(command: SetBoard, hall: Hall, person: Person, _: Occasion) -> Decision:
    board = board_meant(hall, person, command.on).name
    return Decision(person.name, board, asides=(StyleChosen(person.name, board, command.style),))


@_decide.register
def _(command: ViewGame, hall: Hall, person: Person, _: Occasion) -> Decision:
    return _answer(person, command, board_meant(hall, person, command.on).name)


@_decide.register
def _(command: ViewPossible, hall: Hall, person: Person, _: Occasion) -> Decision:
    table = board_meant(hall, person, command.on)
    battle(table, person.name)
    return _answer(person, command, table.name)


@_decide.register
def _(command: Look, hall: Hall, person: Person, _: Occasion) -> Decision:
    match command.at and command.at.lower():
        case None | "here" | "round" | "around":
            return _answer(person, Look(), person.room)
        case "hall" | "the hall":
            return _answer(person, Look())
        case "me" | "myself":
            return _answer(person, Look(person.name))
        case words if words in hall.names and not fits_a_board(hall, words):
            return _answer(person, Look(hall.names[words]))
        case words if not fits_a_board(hall, words) and (away := away_from(hall, words)):
            raise Refused(Refusal.AWAY_FROM, player=away[0], boards=listed(away[1]))
    return _answer(person, command, board_meant(hall, person, command.at).name)


@_decide.register(Where)
@_decide.register(ScanRow)
@_decide.register(ScanColumn)
@_decide.register(Around)
@_decide.register(Lines)
@_decide.register(Captures)
@_decide.register(LastMove)
def _(command: Query, hall: Hall, person: Person, _: Occasion) -> Decision:
    return _answer(person, command, board_meant(hall, person, command.on).name)


@_decide.register(SetCharset)
@_decide.register(SetColour)
@_decide.register(SetWidth)
@_decide.register(SetOrient)
@_decide.register(SetReader)
@_decide.register(SetMachine)
@_decide.register(SetScheme)
@_decide.register(SetElement)
def _(command: SetOption, _hall: Hall, person: Person, _: Occasion) -> Decision:
    chosen = OptionChosen(person.name, command, after(person.options, command))
    return Decision(person.name, asides=(chosen,))


@_decide.register(Boards)
@_decide.register(Who)
@_decide.register(Help)
@_decide.register(ShowOptions)
@_decide.register(ShowScheme)
@_decide.register(Syntax)
def _(command: Question, _hall: Hall, person: Person, _: Occasion) -> Decision:
    return _answer(person, command)


@_decide.register(Games)
@_decide.register(History)
@_decide.register(Record)
@_decide.register(Replay)
@_decide.register(ViewScore)
@_decide.register(Standings)
def _(command: ArchiveCommand, hall: Hall, person: Person, _: Occasion) -> Decision:
    return Decision(person.name, asides=(looked_up(hall, person, command),))


@_decide.register
def _(command: Step, hall: Hall, person: Person, occasion: Occasion) -> Decision:
    replay = person.replay
    at_end = replay is None or replay.ply == len(replay.game.moves)
    if command.way is Way.LAST and at_end and person.room:
        return _decide(LastMove(), hall, person, occasion)
    return Decision(person.name, asides=(looked_up(hall, person, command),))


@_decide.register(Register)
@_decide.register(Password)
def _(_command: Register | Password, _hall: Hall, _person: Person, _: Occasion) -> Decision:
    # Whoever keeps accounts sees to these before they come here.
    raise Refused(Refusal.NO_ACCOUNTS)


@_decide.register
def _(command: Go, hall: Hall, person: Person, _: Occasion) -> Decision:
    to = None if command.to is None else board_meant(hall, person, command.to).name
    if to == person.room:
        raise Refused(Refusal.ALREADY_THERE if to else Refusal.ALREADY_IN_HALL, board=to)
    return Decision(person.name, to, asides=_walk(person, to))


@_decide.register
def _(command: Say, _hall: Hall, person: Person, _: Occasion) -> Decision:
    return Decision(person.name, asides=(Spoke(person.name, person.room, command.text),))


@_decide.register
def _(command: Emote, _hall: Hall, person: Person, _: Occasion) -> Decision:
    return Decision(person.name, asides=(Emoted(person.name, person.room, command.text),))


@_decide.register
def _(command: Tell, hall: Hall, person: Person, _: Occasion) -> Decision:
    to = player_meant(hall, command.player)
    if to == person.name:
        raise Refused(Refusal.TELL_SELF)
    return Decision(person.name, asides=(Told(person.name, to, command.text),))


@_decide.register
def _(command: Invite, hall: Hall, person: Person, occasion: Occasion) -> Decision:
    to, table = player_meant(hall, command.player), board_meant(hall, person, command.on)
    asked = invited(table, person.name, to, command.side, occasion)
    return Decision(person.name, table.name, asides=(asked,))


def _to_join(command: Join, hall: Hall, person: Person) -> Table:
    """Return the table that is meant, which cannot be one of several where one sits already."""
    if command.on is None and person.room is None and len(hall.seats_of(person.name)) > 1:
        raise Refused(Refusal.SAY_WHICH, boards=listed(hall.tables, "or"))
    return board_meant(hall, person, command.on)


def _walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[Aside, ...]:
    return (WentOut(person.name, person.room, to), CameIn(person.name, to, sits))


def _answer(person: Person, question: Question, board: str | None = None) -> Decision:
    return Decision(person.name, board, asides=(Asked(person.name, question, board),))
