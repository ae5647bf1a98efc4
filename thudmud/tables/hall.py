"""The hall: the boards by name, who is where, and which board `on <object>` means.

Owns the tables and the people, and is the only thing here that changes. A command takes two steps:
``decide`` says what it would bring about and changes nothing, ``commit`` makes it so and says who
is to be told. Whoever must write events down first does so between the two. Must never know a
word of what people are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod

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
    Style,
    Syntax,
    Tell,
    ViewGame,
    ViewPossible,
    Who,
)
from thudmud.tables import decisions
from thudmud.tables.asides import (
    Aside,
    Asked,
    CameIn,
    Emoted,
    Entered,
    Gone,
    Question,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.tables.events import Parting, TableEvent
from thudmud.tables.objects import Phrase, listed
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.table import BoardSpec, Table


@dataclass(slots=True)
class Person:
    """Somebody who is here: in which room, what ``it`` means to them, and how they see boards."""

    name: str
    room: str | None = None
    used: str | None = None
    styles: dict[str, Style] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a command would bring about.

    ``events`` are those of the table ``board``, decided when it stood at ``version``; ``asides``
    happen before them.
    """

    player: str
    board: str | None = None
    version: int = 0
    events: tuple[TableEvent, ...] = ()
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing that happened, who is to be told, and the table as it stood right after."""

    event: TableEvent | Aside
    audience: tuple[str, ...]
    table: Table | None = None


class Hall:
    """The boards and the people.

    Args:
        boards: the boards, in the order in which they are listed and counted.
        quiet_plies: after how many plies without a capture one player may end a battle alone;
            0 for never.
    """

    def __init__(self, boards: Sequence[BoardSpec], quiet_plies: int = 200) -> None:
        self.tables = {spec.name: Table.set_up(spec, quiet_plies) for spec in boards}
        self.people: dict[str, Person] = {}
        self._styles = {spec.name: spec.style for spec in boards}

    def style(self, player: str, board: str) -> Style:
        """Return how ``player`` is shown ``board``."""
        return self.people[player].styles.get(board, self._styles[board])

    def people_in(self, room: str | None) -> list[str]:
        """Return the names of those in a room, in the order they came to the server."""
        return [person.name for person in self.people.values() if person.room == room]

    def seats_of(self, player: str) -> list[Table]:
        """Return the tables at which ``player`` has a seat."""
        return [table for table in self.tables.values() if table.side_of(player)]

    def enter(self, player: str) -> list[Telling]:
        """Let somebody in, to the hall, and return who is to be told."""
        self.people[player] = Person(player)
        return self.commit(Decision(player, asides=(Entered(player),)))

    def parting(self, player: str, parting: Parting, now: float) -> list[Decision]:
        """Return what happens when ``player`` quits or is lost: seats given up, then gone."""
        decided = [
            Decision(player, table.name, table.version, decisions.part(table, player, parting, now))
            for table in self.seats_of(player)
        ]
        gone = Gone(player, self.people[player].room, parting)
        return [*decided, Decision(player, asides=(gone,))]

    def decide(self, player: str, command: Command, now: float) -> list[Decision]:
        """Return what ``command`` would bring about, to be committed in this order.

        Args:
            player: the name of somebody who is here.
            command: what they ask for.
            now: the time, in seconds since the epoch.

        Raises:
            Refused: a table or the hall does not allow it.
            IllegalMove: the rules of the game do not allow it.
        """
        if isinstance(command, Quit):
            return self.parting(player, Parting.QUIT, now)
        return [self._decide(command, self.people[player], now)]

    def commit(self, decision: Decision) -> list[Telling]:
        """Make a decision so, and return who is to be told what, in order."""
        told = [self._told(aside) for aside in decision.asides]
        told += [self._happened(event, str(decision.board)) for event in decision.events]
        if decision.board and decision.player in self.people:
            self.people[decision.player].used = decision.board
        return told

    def board(self, person: Person, words: str | None, preposition: str = "on") -> Table:
        """Return the table that ``words`` mean to ``person``; None means they said nothing.

        Raises:
            Refused: no board or more than one fits.
        """
        if words is None:
            return self._unsaid_board(person, preposition)
        if words.lower() == "it":
            if person.used is None:
                raise Refused(Refusal.NOTHING_USED, boards=listed(self.tables))
            return self.tables[person.used]
        return self.tables[self._named_board(person, words)]

    # --- which board -------------------------------------------------------------------------

    def _unsaid_board(self, person: Person, preposition: str) -> Table:
        seated = self.seats_of(person.name)
        if person.room:
            return self.tables[person.room]
        if len(seated) == 1:
            return seated[0]
        if len(self.tables) == 1:
            return next(iter(self.tables.values()))
        # Those who play several games are asked about those; anyone else about all.
        boards = [table.name for table in seated] or list(self.tables)
        raise Refused(Refusal.SAY_WHICH, boards=listed(boards, "or"), preposition=preposition)

    def _named_board(self, person: Person, words: str) -> str:
        phrase = Phrase.parse(words)
        fitting = phrase.among(list(self.tables))
        if not fitting:
            raise Refused(Refusal.NO_BOARD_HERE, words=words, boards=listed(self.tables))
        if phrase.ordinal is None and person.room in fitting:
            return str(person.room)
        picked = phrase.pick(fitting)
        if picked:
            return picked
        if phrase.ordinal is None:
            raise Refused(Refusal.WHICH_BOARD, words=words, boards=listed(fitting, "or"))
        raise Refused(Refusal.NO_SUCH_ORDINAL, words=words, boards=listed(fitting))

    # --- making it so ------------------------------------------------------------------------

    def _happened(self, event: TableEvent, board: str) -> Telling:
        """Make an event at a board so, and return who is to be told."""
        table = self.tables[board] = self.tables[board].apply(event)
        # Who has just given a seat up, from another room, is no longer among those concerned.
        audience = dict.fromkeys([*self._concerned(board), event.player])
        return Telling(event, tuple(audience), table)

    def _concerned(self, room: str | None) -> list[str]:
        """Return those in a room and those who sit at its board, wherever they are."""
        here = self.people_in(room)
        seated = self.tables[room].seats.values() if room else ()
        return [*here, *(name for name in seated if name not in here and name in self.people)]

    def _told(self, aside: Aside) -> Telling:
        """Make an aside so, and return who is to be told."""
        match aside:
            case Entered(player):
                return Telling(aside, tuple(self.people_in(None)))
            case Gone(player, room):
                audience = tuple(self.people_in(room))
                del self.people[player]
                return Telling(aside, audience)
            case WentOut(player, room):
                stay = (name for name in self.people_in(room) if name != player)
                return Telling(aside, tuple(stay))
            case CameIn(player, room):
                self.people[player].room = room
                return Telling(aside, tuple(self.people_in(room)), self._table(room))
            case Spoke(_, room) | Emoted(_, room):
                return Telling(aside, tuple(self._concerned(room)), self._table(room))
            case Told(player, to):
                return Telling(aside, (player, to))
            case StyleChosen(player, board, style):
                self.people[player].styles[board] = style
                return Telling(aside, (player,), self.tables[board])
            case Asked(player, _, board):
                return Telling(aside, (player,), self._table(board))

    def _table(self, room: str | None) -> Table | None:
        return self.tables[room] if room else None

    # --- deciding ----------------------------------------------------------------------------

    @singledispatchmethod
    def _decide(self, command: object, person: Person, now: float) -> Decision:  # noqa: ARG002 (the signature that the cases share)
        raise TypeError(f"the hall knows nothing of {type(command).__name__}")

    @_decide.register(Leave)
    @_decide.register(Start)
    @_decide.register(End)
    @_decide.register(Resign)
    @_decide.register(SetRules)
    @_decide.register(Play)
    def _at_table(self, command: decisions.TableCommand, person: Person, now: float) -> Decision:
        table = self.board(person, command.on)
        events = decisions.decide(table, person.name, command, now)
        return Decision(person.name, table.name, table.version, events)

    @_decide.register
    def _join(self, command: Join, person: Person, now: float) -> Decision:
        table = self.board(person, command.on)
        events = decisions.decide(table, person.name, command, now)
        walk = _walk(person, table.name) if person.room != table.name else ()
        return Decision(person.name, table.name, table.version, events, walk)

    @_decide.register
    def _set_board(self, command: SetBoard, person: Person, _now: float) -> Decision:
        board = self.board(person, command.on).name
        return Decision(
            person.name, board, asides=(StyleChosen(person.name, board, command.style),)
        )

    @_decide.register
    def _view(self, command: ViewGame, person: Person, _now: float) -> Decision:
        return _answer(person, command, self.board(person, command.on).name)

    @_decide.register
    def _view_possible(self, command: ViewPossible, person: Person, _now: float) -> Decision:
        table = self.board(person, command.on)
        decisions.battle(table)
        return _answer(person, command, table.name)

    @_decide.register
    def _look(self, command: Look, person: Person, _now: float) -> Decision:
        match command.at and command.at.lower():
            case None | "here" | "round" | "around":
                return _answer(person, Look(), person.room)
            case "hall" | "the hall":
                return _answer(person, Look())
        return _answer(person, command, self.board(person, command.at, "at").name)

    @_decide.register(Boards)
    @_decide.register(Who)
    @_decide.register(Help)
    @_decide.register(Syntax)
    def _question(self, command: Question, person: Person, _now: float) -> Decision:
        return _answer(person, command)

    @_decide.register
    def _go(self, command: Go, person: Person, _now: float) -> Decision:
        to = None if command.to is None else self.board(person, command.to).name
        if to == person.room:
            raise Refused(Refusal.ALREADY_THERE if to else Refusal.ALREADY_IN_HALL, board=to)
        return Decision(person.name, to, asides=_walk(person, to))

    @_decide.register
    def _say(self, command: Say, person: Person, _now: float) -> Decision:
        return _aside(Spoke(person.name, person.room, command.text))

    @_decide.register
    def _emote(self, command: Emote, person: Person, _now: float) -> Decision:
        return _aside(Emoted(person.name, person.room, command.text))

    @_decide.register
    def _tell(self, command: Tell, person: Person, _now: float) -> Decision:
        to = self._player(command.player)
        if to == person.name:
            raise Refused(Refusal.TELL_SELF)
        return _aside(Told(person.name, to, command.text))

    def _player(self, words: str) -> str:
        names = [name for name in self.people if name.lower().startswith(words.lower())]
        exact = [name for name in names if name.lower() == words.lower()]
        match exact or names:
            case [name]:
                return name
            case []:
                raise Refused(Refusal.NO_SUCH_PLAYER, words=words)
            case several:
                raise Refused(Refusal.WHICH_PLAYER, words=words, players=listed(several, "or"))


def _walk(person: Person, to: str | None) -> tuple[Aside, ...]:
    return (WentOut(person.name, person.room, to), CameIn(person.name, to))


def _aside(aside: Spoke | Emoted | Told) -> Decision:
    return Decision(aside.player, asides=(aside,))


def _answer(person: Person, question: Question, board: str | None = None) -> Decision:
    return Decision(person.name, board, asides=(Asked(person.name, question, board),))
