"""What happens away from the boards: people come and go, speak, and ask questions.

Asides are delivered, and never become events. A `StoredAside` is stored as rows before anybody is
told. `thudmud.views` turns asides into sentences. A ``room`` is the name of a board, or None for
the hall.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from thudmud.game.archive import NOTHING_FOUND, Found, RatingChange
from thudmud.game.command import Command
from thudmud.game.events import BattleEnded, Parting, TableEvent
from thudmud.game.options import Options, Style, Toggle
from thudmud.game.table import Table
from thudmud.game.telling import Telling
from thudmud.rules import Side
from thudmud.values import value

if TYPE_CHECKING:
    from thudmud.game.hall import Hall
    from thudmud.game.people import Person


@value
class Aside:
    """Something that is told, or noted about the people here; never stored as an event.

    Attributes:
        crosses: whether other nodes are told, because their players see it or the list of people
            changes.
        is_limited: whether it counts towards how often a player may disturb others.
        is_heard: whether it is something the player said, which others can report.
        is_choice: whether it changes a member's preferences, see `chosen`.
        KINDS: all classes of asides.
    """

    player: str
    crosses = False
    is_limited = False
    is_heard = False
    is_choice = False
    KINDS: ClassVar[list[type[Aside]]] = []

    @classmethod
    def crossing(cls) -> list[type[Aside]]:
        """Return the classes whose asides cross to other nodes."""
        return [each for each in cls.KINDS if each.crosses]

    @property
    def involves(self) -> set[str]:
        """The players it names, who read "you" in place of their names."""
        return {self.player}

    def happen(self, hall: Hall) -> Telling:
        """Apply it to the hall, and return who is told."""
        return Telling(self, (self.player,))

    def abroad(self) -> Aside:
        """Return what other nodes are told of it, if it crosses."""
        return self

    def chosen(self, hall: Hall, person: Person) -> Person:
        """Return the player, who is a member, with the preferences that hold after it."""
        return person


class StoredAside:
    """A mixin: the aside is stored, as rows of its own and not as an event, before it is told."""

    __slots__ = ()


AsideT = TypeVar("AsideT", bound=Aside)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def aside(kind: type[AsideT]) -> type[AsideT]:
    """Make a class an aside: a frozen dataclass that is listed in ``Aside.KINDS``."""
    made = value(kind)
    made.is_choice = made.chosen is not Aside.chosen
    Aside.KINDS.append(made)
    return made


@aside
class Entered(Aside):
    """A player came in: to the hall, or to the board where a seat was kept for them.

    ``member`` says whether they have an account. ``styles``, ``options``, ``ignored``,
    ``followed``, ``plan`` and ``news`` (the last edition they have seen) are their preferences, as
    far as known. ``adjourned`` says whether a match of theirs is put away, ``found`` what features
    have looked up about them, ``observed`` which boards they observe, and ``active`` roughly when
    they last typed something.
    """

    crosses = True

    room: str | None = None
    member: bool = False
    styles: tuple[tuple[str, Style], ...] = ()
    options: Options | None = None
    adjourned: bool = False
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    found: Found = field(default=NOTHING_FOUND, compare=False)
    followed: tuple[str, ...] | None = None
    plan: str | None = None
    observed: tuple[str, ...] = ()
    active: float = field(default=0.0, compare=False)

    def happen(self, hall: Hall) -> Telling:
        hall.let_in(self)
        audience = (self.player,) if self.room else hall.told_who_moves(self.player, None)
        return Telling(self, audience, hall.table_in(self.room))


@value
class AtBoard(Aside):
    """Something one player is told about a board."""

    board: str

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, (self.player,), hall.table_in(self.board))


@aside
class CaughtUp(AtBoard):
    """A player who came back is shown a board where a seat was kept, and what they missed.

    ``missed`` are the events, each with the table right after it.
    """

    missed: tuple[tuple[TableEvent, Table], ...] = ()


@aside
class TookOver(Aside):
    """A player moved to another connection, and is shown where they are."""

    room: str | None
    found: Found = field(default=NOTHING_FOUND, compare=False)

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, (self.player,), hall.table_in(self.room))


@aside
class Gone(Aside):
    """A player left the server.

    ``told`` says that the others in the room know already, because the player left a seat there.
    """

    crosses = True

    room: str | None
    parting: Parting
    told: bool = False

    def happen(self, hall: Hall) -> Telling:
        player, room = self.player, self.room
        audience = (player,) if self.told else hall.told_who_moves(player, room)
        hall.take_leave(player)
        return Telling(self, audience)


@aside
class WentOut(Aside):
    """A player left a room for another one. Told to those who stay.

    ``told`` says that nothing is said of it: a tournament has told whom it pairs.
    """

    crosses = is_limited = True

    room: str | None
    to: str | None
    told: bool = False

    def happen(self, hall: Hall) -> Telling:
        audience = hall.told_who_moves(self.player, self.room)
        return Telling(self, tuple(name for name in audience if name != self.player))


@aside
class CameIn(Aside):
    """A player came into a room. Told there, and to the player.

    ``sits`` says that they came to take a seat, which is told next.
    """

    crosses = is_limited = True

    room: str | None
    sits: bool = False

    def happen(self, hall: Hall) -> Telling:
        hall.rooms.move(hall.people[self.player], self.room)
        audience = hall.told_who_moves(self.player, self.room)
        return Telling(self, audience, hall.table_in(self.room))


@value
class Aloud(Aside):
    """Something a player says or does in a room. ``talk`` limits who hears it."""

    room: str | None
    text: str
    talk: Toggle | None = None
    crosses = is_limited = is_heard = True

    def happen(self, hall: Hall) -> Telling:
        """Return who hears or sees it.

        What the players of a board say there is heard by all who watch it. What others say stays in
        the room, except kibitzes and whispers.
        """
        player, room, talk = self.player, self.room, self.talk
        occupants, table = hall.rooms.occupants(room), hall.table_in(room)
        if talk is Toggle.SHOUT:
            there = tuple(each.name for each in hall.people.values() if each.options.has(talk))
        elif room is None or table is None:
            there = occupants.names
        else:
            seated = table.seats.values()
            if player in seated or talk is Toggle.KIBITZ or talk is Toggle.WHISPER:
                occupants = hall.rooms.told_of(room)
            there = occupants.and_also((*seated, player) if talk else seated)
            if talk:
                there = hall.who_hears(there, talk, table, player)
        heard = hall.people.hearers(player, there)
        is_all = heard[: len(occupants.names)] == occupants.names
        return Telling(self, heard, table, occupants if is_all else None)


@aside
class Spoke(Aloud):
    """A player said something."""

    @property
    def verb(self) -> str:
        """How they said it: ``say``, ``kibitz``, ``whisper`` or ``shout``."""
        if self.talk is None or self.talk is Toggle.WATCHERS:
            return "say"
        return str(self.talk.value)


@aside
class Emoted(Aloud):
    """A player did something, by an emote."""

    verb: ClassVar[str] = "emote"


@value
class ToAnother(Aside):
    """Something a player does that concerns one other player."""

    to: str
    crosses = is_limited = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.to}

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.people.hearers(self.player, (self.player, self.to)))


@aside
class Told(ToAnother):
    """A player said something to one other player."""

    text: str
    is_heard = True
    verb: ClassVar[str] = "tell"


@aside
class Invited(ToAnother):
    """A player invited another to a seat at a board.

    Attributes:
        board: its name.
        side: the seat.
        level: at which a bot is to play; None for its usual one.
        battle: the number of a battle of theirs that was put away and goes on there if the other
            agrees; None if it is about the seat alone.
    """

    board: str
    side: Side
    level: int | None = None
    battle: int | None = None

    def happen(self, hall: Hall) -> Telling:
        if asked := hall.people.get(self.to):
            asked.invitations[self.player] = self
        return ToAnother.happen(self, hall)  # super() fails: with slots, @aside makes a new class


@aside
class FollowedCame(Aside):
    """Followers of a player who would not see it are told that the player came in."""

    room: str | None

    def happen(self, hall: Hall) -> Telling:
        raise ValueError(f"{self} is told with what has happened")


@aside
class FollowedBegan(AtBoard):
    """Followers of one of its players are told that a match begins or is resumed."""

    dwarf: str
    troll: str
    resumed: bool = False

    def happen(self, hall: Hall) -> Telling:
        raise ValueError(f"{self} is told with what has happened")


@aside
class ResultTold(AtBoard):
    """Those in the hall are told the result of a rated match between people.

    ``ended`` is the end of its second battle, ``battle`` the number of that.
    """

    battle: int | None
    ended: BattleEnded
    changes: tuple[RatingChange, ...] = ()

    def happen(self, hall: Hall) -> Telling:
        raise ValueError(f"{self} is told with what has happened")


@aside
class Active(Aside):
    """A player is active. Noted now and then when they type; nobody is told."""

    crosses = True

    at: float

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].active = self.at
        return Telling(self, ())


@aside
class ObserveChosen(AtBoard):
    """A player started or stopped observing a board. ``observed`` is the new list."""

    crosses = True

    observed: tuple[str, ...]

    def happen(self, hall: Hall) -> Telling:
        hall.observe(self.player, self.observed)
        table = hall.tables[self.board] if self.board in self.observed else None
        return Telling(self, (self.player,), table)


@aside
class TimeShort(AtBoard):
    """A player whose turn it is has fewer than ``seconds`` seconds left."""

    seconds: float


@aside
class BoardListed(AtBoard):
    """The entry of a board in the list of boards changed. ``player`` is "".

    Told to the programs of those in the hall.
    """

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.rooms.occupants(None).names, hall.tables[self.board])


@aside
class Asked(Aside):
    """A player asked a question. The answer is for them alone.

    ``answer`` is what was looked up for it: from the store, or from an adviser.
    """

    question: Command
    board: str | None = None
    answer: Any = None

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        self.question.answered(hall, person, self.answer)
        table = hall.board_seen(self.player, self.board) if self.board else None
        return Telling(self, (self.player,), table)
