"""The hall: the boards by name, who is where, and which board `on <object>` means.

Owns the tables and the people, and is the only thing here that changes. A command takes two steps:
`thudmud.tables.hall_decisions` says what it would bring about and changes nothing, `Hall.commit`
makes it so and says who is to be told. Whoever must write events down first does so between the
two. Must never know a word of what people are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from thudmud.commands import Style
from thudmud.commands.near import near_miss
from thudmud.tables.asides import (
    Aside,
    Asked,
    CameIn,
    Emoted,
    Entered,
    Gone,
    Spoke,
    StyleChosen,
    Told,
    WentOut,
)
from thudmud.tables.events import TableEvent
from thudmud.tables.objects import Phrase, listed, shortened
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

    def commit(self, decision: Decision) -> list[Telling]:
        """Make a decision so, and return who is to be told what, in order."""
        told = [self._told(aside) for aside in decision.asides]
        told += [self._happened(event, str(decision.board)) for event in decision.events]
        if decision.board and decision.player in self.people:
            self.people[decision.player].used = decision.board
        return told

    def board(self, person: Person, words: str | None) -> Table:
        """Return the table that ``words`` mean to ``person``; None means they said nothing.

        Raises:
            Refused: no board or more than one fits.
        """
        if words is None:
            return self._unsaid_board(person)
        if words.lower() == "it":
            if person.used is None:
                raise Refused(Refusal.NOTHING_USED, boards=listed(self.tables))
            return self.tables[person.used]
        return self.tables[self._named_board(person, words)]

    def remember(self, player: str, words: str | None) -> None:
        """Take note of the board that ``player`` has named, if it is one: it is "it" from now on.

        What is committed is remembered anyway; this is for a command that was refused.
        """
        with suppress(Refused):
            if words is not None:
                self.people[player].used = self.board(self.people[player], words).name

    def fitting(self, words: str) -> list[str]:
        """Return the names of the boards that a noun phrase fits, its ordinal left out."""
        return Phrase.parse(words).among(list(self.tables))

    @property
    def names(self) -> dict[str, str]:
        """The names of those who are here, by their lower-case forms."""
        return {name.lower(): name for name in self.people}

    def player(self, words: str) -> str:
        """Return the name of the one player whose name is ``words``, or begins so, in any case.

        Raises:
            Refused: nobody fits, or more than one.
        """
        beginning, names = words.lower(), self.names
        near = [name for lower, name in names.items() if lower.startswith(beginning)]
        match [names[beginning]] if beginning in names else near:
            case [name]:
                return name
            case []:
                raise Refused(Refusal.NO_SUCH_PLAYER, words=shortened(words))
            case several:
                raise Refused(
                    Refusal.WHICH_PLAYER, words=shortened(words), players=listed(several, "or")
                )

    # --- which board -------------------------------------------------------------------------

    def _unsaid_board(self, person: Person) -> Table:
        seated = self.seats_of(person.name)
        if person.room:
            return self.tables[person.room]
        if len(seated) == 1:
            return seated[0]
        if len(self.tables) == 1:
            return next(iter(self.tables.values()))
        # Whoever plays several games is asked about those.
        boards = [table.name for table in seated] or list(self.tables)
        raise Refused(Refusal.SAY_WHICH, boards=listed(boards, "or"))

    def _named_board(self, person: Person, words: str) -> str:
        phrase = Phrase.parse(words)
        fitting = phrase.among(list(self.tables))
        if not fitting:
            hint = _hint(phrase, list(self.tables))
            boards = listed(self.tables)
            raise Refused(Refusal.NO_BOARD_HERE, words=shortened(words), hint=hint, boards=boards)
        if phrase.ordinal is None and person.room in fitting:
            return str(person.room)
        picked = phrase.pick(fitting)
        if picked:
            return picked
        if phrase.ordinal is None:
            raise Refused(Refusal.WHICH_BOARD, words=shortened(words), boards=listed(fitting, "or"))
        raise Refused(Refusal.NO_SUCH_ORDINAL, words=shortened(words), boards=listed(fitting))

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
        return [*here, *(name for name in seated if name not in here)]

    def _told(self, aside: Aside) -> Telling:
        """Make an aside so, and return who is to be told."""
        match aside:
            case Entered(player):
                return Telling(aside, tuple(self.people_in(None)))
            case Gone(player, room, _, told):
                audience = (player,) if told else tuple(self.people_in(room))
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


def _hint(phrase: Phrase, names: Sequence[str]) -> str:
    """Return a question after the board that was probably meant, if one is near."""
    words = {word for name in names for word in name.lower().split()} | {"capturing", "hall"}
    for said in phrase.words:
        meant = near_miss(said, words)
        if meant and meant != said:
            return f' Did you mean "{meant}"?'
    return ""
