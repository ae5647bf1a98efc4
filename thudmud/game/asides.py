"""What happens away from the boards: people come and go, speak, and ask questions.

Asides are delivered, and never become events. A `StoredAside` is stored as rows before anybody is
told. `thudmud.game.hall.applies` says how one is applied to the hall, and `thudmud.views` turns it
into sentences. A ``room`` is the name of a board, or None for
the hall.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

from thudmud.game.archive import NOTHING_FOUND, Found, RatingChange
from thudmud.game.events import BattleEnded, Parting, TableEvent
from thudmud.game.options import Options, Style, Toggle
from thudmud.game.table import Table
from thudmud.rules import Side
from thudmud.values import ArrayValue


class Aside(ArrayValue, tag=True):
    """Something that is told, or noted about the people here; never stored as an event.

    Attributes:
        crosses: whether other nodes are told, because their players see it or the list of people
            changes.
        is_limited: whether it counts towards how often a player may disturb others.
        is_heard: whether it is something the player said, which others can report.
        KINDS: all classes of asides.
    """

    player: str
    crosses = False
    is_limited = False
    is_heard = False
    KINDS: ClassVar[list[type[Aside]]] = []

    @classmethod
    def crossing(cls) -> list[type[Aside]]:
        """Return the classes whose asides cross to other nodes."""
        return [each for each in cls.KINDS if each.crosses]

    @property
    def involves(self) -> set[str]:
        """The players it names, who read "you" in place of their names."""
        return {self.player}

    def abroad(self) -> Aside:
        """Return what other nodes are told of it, if it crosses."""
        return self


class StoredAside:
    """A mixin: the aside is stored, as rows of its own and not as an event, before it is told."""

    __slots__ = ()


AsideT = TypeVar("AsideT", bound=Aside)


def aside(kind: type[AsideT]) -> type[AsideT]:
    """List a class in ``Aside.KINDS``."""
    Aside.KINDS.append(kind)
    return kind


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
    found: Found = NOTHING_FOUND
    followed: tuple[str, ...] | None = None
    plan: str | None = None
    observed: tuple[str, ...] = ()
    active: float = 0.0


class AtBoard(Aside):
    """Something one player is told about a board."""

    board: str


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
    found: Found = NOTHING_FOUND


@aside
class Gone(Aside):
    """A player left the server.

    ``told`` says that the others in the room know already, because the player left a seat there.
    """

    crosses = True

    room: str | None
    parting: Parting
    told: bool = False


@aside
class WentOut(Aside):
    """A player left a room for another one. Told to those who stay.

    ``told`` says that nothing is said of it: a tournament has told whom it pairs.
    """

    crosses = is_limited = True

    room: str | None
    to: str | None
    told: bool = False


@aside
class CameIn(Aside):
    """A player came into a room. Told there, and to the player.

    ``sits`` says that they came to take a seat, which is told next.
    """

    crosses = is_limited = True

    room: str | None
    sits: bool = False


class Aloud(Aside):
    """Something a player says or does in a room. ``talk`` limits who hears it."""

    room: str | None
    text: str
    talk: Toggle | None = None
    crosses = is_limited = is_heard = True


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


class ToAnother(Aside):
    """Something a player does that concerns one other player."""

    to: str
    crosses = is_limited = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.to}


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


@aside
class FollowedCame(Aside):
    """Followers of a player who would not see it are told that the player came in."""

    room: str | None


@aside
class FollowedBegan(AtBoard):
    """Followers of one of its players are told that a match begins or is resumed."""

    dwarf: str
    troll: str
    resumed: bool = False


@aside
class ResultTold(AtBoard):
    """Those in the hall are told the result of a rated match between people.

    ``ended`` is the end of its second battle, ``battle`` the number of that.
    """

    battle: int | None
    ended: BattleEnded
    changes: tuple[RatingChange, ...] = ()


@aside
class Active(Aside):
    """A player is active. Noted now and then when they type; nobody is told."""

    crosses = True

    at: float


@aside
class ObserveChosen(AtBoard):
    """A player started or stopped observing a board. ``observed`` is the new list."""

    crosses = True

    observed: tuple[str, ...]


@aside
class TimeShort(AtBoard):
    """A player whose turn it is has fewer than ``seconds`` seconds left."""

    seconds: float


@aside
class BoardListed(AtBoard):
    """The entry of a board in the list of boards changed. ``player`` is "".

    Told to the programs of those in the hall.
    """
