"""Asides: transient happenings away from the boards, such as arrivals, speech and questions.

Asides are delivered but never become events. A `StoredAside` is stored as rows before delivery.
`thudmud.game.hall.applies` registers the function that applies an aside to the hall;
`thudmud.views` turns asides into sentences. A ``room`` is the name of a board, or None for the
hall.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

from thudmud.game.archive import NOTHING_FOUND, LookupResults, RatingChange
from thudmud.game.events import BattleEnded, Parting, TableEvent
from thudmud.game.options import Options, Style, Toggle
from thudmud.game.table import Table
from thudmud.rules import Side
from thudmud.values import ArrayValue


class Aside(ArrayValue, tag=True):
    """A message to players, or a change to the people online, that isn't stored as an event.

    Attributes:
        reaches_other_nodes: whether it is sent to other nodes, because their players see it or the
            list of people changes.
        is_limited: whether it counts towards the player's rate limit on disturbing others.
        is_speech: whether it is speech, which others can report.
        KINDS: all aside classes.
    """

    player: str
    reaches_other_nodes = False
    is_limited = False
    is_speech = False
    KINDS: ClassVar[list[type[Aside]]] = []

    @classmethod
    def kinds_for_other_nodes(cls) -> list[type[Aside]]:
        """Return the classes whose asides are sent to other nodes."""
        return [each for each in cls.KINDS if each.reaches_other_nodes]

    @property
    def involves(self) -> set[str]:
        """The players named in the aside, who read "you" in place of their names."""
        return {self.player}

    def form_for_other_nodes(self) -> Aside:
        """Return the form that is sent to other nodes, if `reaches_other_nodes` is set."""
        return self


class StoredAside:
    """A mixin for asides that are stored before delivery, as rows of their own, not as events."""

    __slots__ = ()


AsideT = TypeVar("AsideT", bound=Aside)


def aside(kind: type[AsideT]) -> type[AsideT]:
    """Register a class in ``Aside.KINDS``; a class decorator."""
    Aside.KINDS.append(kind)
    return kind


@aside
class Entered(Aside):
    """A player entered the server, either in the hall or at a board where a seat was kept.

    Attributes:
        room: the room that the player entered.
        is_member: whether the player has an account.
        styles: the player's board styles, by board.
        options: the player's options; None if unknown.
        adjourned: whether the player has an adjourned match.
        ignored: the players ignored by the player; None if unknown.
        news: the last edition of the news that the player has seen; None if unknown.
        found: the answers to the lookups that features registered for entry.
        followed: the players followed by the player; None if unknown.
        plan: the player's plan; None if unknown.
        observed: the boards that the player observes.
        active: the approximate time of the player's last input, in seconds since the epoch.
    """

    reaches_other_nodes = True

    room: str | None = None
    is_member: bool = False
    styles: tuple[tuple[str, Style], ...] = ()
    options: Options | None = None
    adjourned: bool = False
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    found: LookupResults = NOTHING_FOUND
    followed: tuple[str, ...] | None = None
    plan: str | None = None
    observed: tuple[str, ...] = ()
    active: float = 0.0


class AtBoard(Aside):
    """An aside about a board."""

    board: str


@aside
class CaughtUp(AtBoard):
    """A returning player is shown a board where a seat was kept, and the events missed there.

    ``missed`` has the events, each with the table right after it.
    """

    missed: tuple[tuple[TableEvent, Table], ...] = ()


@aside
class TookOver(Aside):
    """A player moved to another connection, where the current room is shown again."""

    room: str | None
    found: LookupResults = NOTHING_FOUND


@aside
class Gone(Aside):
    """A player left the server.

    ``is_announced``: whether the room has been notified already, because the player left a seat
    there.
    """

    reaches_other_nodes = True

    room: str | None
    parting: Parting
    is_announced: bool = False


@aside
class WentOut(Aside):
    """A player left a room for another one; delivered to the players who stay.

    ``is_silent``: whether nobody is told, because a tournament has announced its pairings.
    """

    reaches_other_nodes = is_limited = True

    room: str | None
    to: str | None
    is_silent: bool = False


@aside
class CameIn(Aside):
    """A player entered a room; delivered to that room, including the player.

    ``takes_seat``: whether the player is about to take a seat, which is announced next.
    """

    reaches_other_nodes = is_limited = True

    room: str | None
    takes_seat: bool = False


class Aloud(Aside):
    """Speech or an emote in a room; ``talk`` limits the audience."""

    room: str | None
    text: str
    talk: Toggle | None = None
    reaches_other_nodes = is_limited = is_speech = True


@aside
class Spoke(Aloud):
    """A player said something."""

    @property
    def verb(self) -> str:
        """The verb of speech: ``say``, ``kibitz``, ``whisper`` or ``shout``."""
        if self.talk is None or self.talk is Toggle.WATCHERS:
            return "say"
        return str(self.talk.value)


@aside
class Emoted(Aloud):
    """A player emoted.

    ``to``: the player at whom it is directed, whose name ends the text; None for nobody.
    """

    to: str | None = None
    verb: ClassVar[str] = "emote"

    @property
    def involves(self) -> set[str]:
        return {self.player} | ({self.to} if self.to else set())


class ToAnother(Aside):
    """An aside from one player to another, ``to``."""

    to: str
    reaches_other_nodes = is_limited = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.to}


@aside
class Told(ToAnother):
    """A player said something privately to another player."""

    text: str
    is_speech = True
    verb: ClassVar[str] = "tell"


@aside
class Invited(ToAnother):
    """A player invited another to a seat at a board.

    Attributes:
        board: the name of the board.
        side: the side of the seat.
        level: the playing level for an invited bot; None for its usual level.
        battle: the number of the two players' adjourned battle that resumes there if the other
            player agrees; None for an invitation to the seat alone.
    """

    board: str
    side: Side
    level: int | None = None
    battle: int | None = None


@aside
class FollowedCame(Aside):
    """A followed player entered; delivered to followers who wouldn't see the arrival itself."""

    room: str | None


@aside
class FollowedBegan(AtBoard):
    """A match began or was resumed; delivered to followers of its players."""

    dwarf: str
    troll: str
    resumed: bool = False


@aside
class ResultTold(AtBoard):
    """The result of a match, announced in the hall.

    ``ended`` is the end of the second battle; ``battle`` is the number of that battle. ``rated`` is
    whether the match was a rated one between people.
    """

    battle: int | None
    ended: BattleEnded
    changes: tuple[RatingChange, ...] = ()
    rated: bool = True


@aside
class Active(Aside):
    """A player is active; recorded now and then on input, and delivered to nobody."""

    reaches_other_nodes = True

    at: float


@aside
class ObserveChosen(AtBoard):
    """A player started or stopped observing a board; ``observed`` is the new list of boards."""

    reaches_other_nodes = True

    observed: tuple[str, ...]


@aside
class TimeShort(AtBoard):
    """A player whose turn it is has fewer than ``seconds`` seconds left."""

    seconds: float


@aside
class BoardListed(AtBoard):
    """An entry in the list of boards changed; ``player`` is "".

    Delivered to the client programs of the players in the hall.
    """
