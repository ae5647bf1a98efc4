"""What happens in the hall besides the boards: people come and go, speak, and ask questions.

These are told and never stored. Sentences are made of them in `thudmud.views`. A ``room`` is the
name of a board, or None for the hall.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from thudmud.play.analysis import Analysis
from thudmud.play.archive import Battle
from thudmud.play.command import Command
from thudmud.play.events import Moved, Parting, TableEvent
from thudmud.play.exercises import Exercise
from thudmud.play.hints import Advice
from thudmud.play.letters import NO_LETTERS, LetterCount
from thudmud.play.options import Options, SetOption, Style, Toggle
from thudmud.play.order import Measure, Sanction
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.rules import Comment, Game, Move, Side
from thudmud.values import value

if TYPE_CHECKING:
    from thudmud.play.hall import Hall
    from thudmud.play.people import Person


@value
class Aside:
    """What is told, or is noted of those who are here, and is never stored.

    Attributes:
        crosses: whether other nodes are told, too: their players see it, or who is here changes.
        is_limited: whether it counts towards how often a player may disturb others.
        is_kept: whether it is stored, or noted, before anybody is told.
        is_heard: whether it is in the player's own words, and heard at once: it can be reported.
        is_choice: whether a member may have chosen something by it, which is kept, see `chosen`.
        KINDS: all that there are.
    """

    player: str
    crosses = False
    is_limited = False
    is_heard = False
    is_kept = False
    is_choice = False
    KINDS: ClassVar[list[type[Aside]]] = []

    @classmethod
    def crossing(cls) -> list[type[Aside]]:
        """Return the kinds that cross."""
        return [each for each in cls.KINDS if each.crosses]

    @property
    def involves(self) -> set[str]:
        """Whom it names: they are told of themselves in the second person."""
        return {self.player}

    def happen(self, hall: Hall) -> Telling:
        """Make it so in the hall, and return who is told."""
        return Telling(self, (self.player,))

    def chosen(self, hall: Hall, person: Person) -> Person:
        """Return the player, a member, with what they have chosen by it."""
        return person


AsideT = TypeVar("AsideT", bound=Aside)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def aside(kind: type[AsideT]) -> type[AsideT]:
    """Make an aside of a class: a frozen dataclass, listed in ``Aside.KINDS``."""
    made = value(kind)
    made.is_choice = made.chosen is not Aside.chosen
    Aside.KINDS.append(made)
    return made


@aside
class Entered(Aside):
    """A player came in, to the hall or, with a seat that was kept, to its board.

    ``member`` says that they have an account; ``styles`` and ``options`` are how they want to see
    what they are shown, ``ignored`` whom they do not want to hear, ``followed`` whom they follow,
    ``plan`` what they say about themselves, and ``news`` which edition of the news they have seen
    last, where that is known; ``adjourned``, that a match of theirs is put away; ``letters``, how
    many have been written to them. ``observed`` are the boards that they observe, and ``active`` is
    when they typed something last, about.
    """

    crosses = True

    room: str | None = None
    member: bool = False
    styles: tuple[tuple[str, Style], ...] = ()
    options: Options | None = None
    adjourned: bool = False
    ignored: tuple[str, ...] | None = None
    news: str | None = None
    letters: LetterCount = NO_LETTERS
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
    """What one player is told about a board."""

    board: str

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, (self.player,), hall.table_in(self.board))


@aside
class CaughtUp(AtBoard):
    """A player who is back is shown a board where a seat was kept, and what happened there since.

    ``missed`` are the events, each with the table right after it.
    """

    missed: tuple[tuple[TableEvent, Table], ...] = ()


@aside
class TookOver(Aside):
    """A player goes on from another connection, and is shown where they are."""

    room: str | None
    letters: LetterCount = NO_LETTERS

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, (self.player,), hall.table_in(self.room))


@aside
class Gone(Aside):
    """A player is here no longer.

    ``told`` says that the others in the room know, since the player has left a seat in it.
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
    """A player left a room for another; told to those who stay."""

    crosses = is_limited = True

    room: str | None
    to: str | None

    def happen(self, hall: Hall) -> Telling:
        audience = hall.told_who_moves(self.player, self.room)
        return Telling(self, tuple(name for name in audience if name != self.player))


@aside
class CameIn(Aside):
    """A player came to a room; told there, and to the player.

    ``sits`` says that they do so to take a seat, which is told next.
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
    """What a player says to a room, or does there; with ``talk``, for those who hear such talk."""

    room: str | None
    text: str
    talk: Toggle | None = None
    crosses = is_limited = is_heard = True

    def happen(self, hall: Hall) -> Telling:
        """Return who hears it, or sees it.

        What players say at their board is heard by all who watch. What others say there stays in
        the room, but for kibitzes and whispers.
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
    """A player did something."""

    verb: ClassVar[str] = "emote"


@aside
class PlayersDeaf(AtBoard):
    """Who only watches is told, once, that the players at a board do not hear what they say."""

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].knows_deaf = True
        return Telling(self, (self.player,))


@value
class ToAnother(Aside):
    """What a player does that is for one other."""

    to: str
    crosses = is_limited = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.to}

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.people.hearers(self.player, (self.player, self.to)))


@aside
class Told(ToAnother):
    """A player said something to one other."""

    text: str
    is_heard = True
    verb: ClassVar[str] = "tell"


@aside
class LetterSent(ToAnother):
    """A player has written to a member, who reads it whenever they like, and may be here."""

    is_kept = True

    text: str
    is_here: bool = False

    def happen(self, hall: Hall) -> Telling:
        both = self.player, self.to
        return Telling(self, both if self.to in hall.people else both[:1])


@aside
class LettersForgotten(Aside):
    """A player has deleted some of their letters, by their numbers."""

    is_kept = True

    numbers: tuple[int, ...]


@aside
class ReportMade(Aside):
    """A player has told the operator of another; ``said`` is what they last heard from that one."""

    crosses = is_limited = is_kept = True

    about: str
    text: str
    said: tuple[str, ...] = ()

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.operators_and(self.player))


@aside
class Invited(ToAnother):
    """A player asked another to a seat at a board; a bot perhaps to play there at some level."""

    board: str
    side: Side
    level: int | None = None

    def happen(self, hall: Hall) -> Telling:
        if asked := hall.people.get(self.to):
            asked.invitations[self.player] = self
        return ToAnother.happen(self, hall)  # super() fails: with slots, @aside makes a new class


@aside
class TurnedDown(ToAnother):
    """A player does not want the seat at a board to which another had asked them."""

    board: str

    def happen(self, hall: Hall) -> Telling:
        if asked := hall.people.get(self.player):
            asked.invitations.pop(self.to, None)
        return ToAnother.happen(self, hall)  # super() fails: with slots, @aside makes a new class


@aside
class StyleChosen(AtBoard):
    """A player chose how to be shown a board."""

    crosses = True

    style: Style

    def chosen(self, hall: Hall, person: Person) -> Person:
        return replace(person, styles={**person.styles, self.board: self.style})

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        person.styles[self.board] = self.style
        hall.rooms.changed(person)
        return Telling(self, (self.player,), hall.board_seen(self.player, self.board))


@aside
class OptionChosen(Aside):
    """A player chose how to be shown everything; ``options`` are all that hold now."""

    crosses = True

    choice: SetOption
    options: Options

    def chosen(self, hall: Hall, person: Person) -> Person:
        return replace(person, options=self.options)

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        person.options = self.options
        hall.rooms.changed(person)
        return Telling(self, (self.player,))


@aside
class FollowedCame(Aside):
    """Those who follow a player, and would not see it, are told that the player has come."""

    room: str | None

    def happen(self, hall: Hall) -> Telling:
        raise ValueError(f"{self} is told with what has happened")


@aside
class FollowedBegan(AtBoard):
    """Those who follow one of its players are told that a match begins, or goes on."""

    dwarf: str
    troll: str
    resumed: bool = False

    def happen(self, hall: Hall) -> Telling:
        raise ValueError(f"{self} is told with what has happened")


@aside
class Active(Aside):
    """A player has typed something, as is noted now and then; nobody is told."""

    crosses = True

    at: float

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].active = self.at
        return Telling(self, ())


@aside
class ObserveChosen(AtBoard):
    """A player observes a board, or no longer; ``observed`` are all that they observe now."""

    crosses = True

    observed: tuple[str, ...]

    def happen(self, hall: Hall) -> Telling:
        hall.observe(self.player, self.observed)
        table = hall.tables[self.board] if self.board in self.observed else None
        return Telling(self, (self.player,), table)


@aside
class Replayed(Aside):
    """A player sees a battle again, as it stood after ``ply`` plies.

    ``playing`` says that it goes on by itself. ``then`` is the battle as it stood there, if that is
    known, so that what is seen next need not be found from the opening. ``comments`` are those on
    all its plies. ``analysis`` is what each ply was worth, if that is known and may be told.
    ``spent`` is how many seconds each took, if a clock ran.
    """

    battle: Battle
    game: Game
    ply: int
    playing: bool = False
    then: Game | None = field(default=None, compare=False, repr=False)
    comments: tuple[Comment, ...] = ()
    analysis: Analysis | None = field(default=None, repr=False)
    spent: tuple[float, ...] = ()

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].replay = self
        return Telling(self, (self.player,))


@aside
class ReplayLeft(Aside):
    """A player sees a battle no longer; ``replay`` is what they saw last."""

    replay: Replayed

    def happen(self, hall: Hall) -> Telling:
        hall.people[self.player].replay = None
        return Telling(self, (self.player,))


@aside
class Analysing(Aside):
    """A battle is analysed for a player; ``done`` of its plies are, so far."""

    battle: Battle
    done: int
    plies: int


@aside
class AnalysisCancelled(Aside):
    """A player waits no longer for the analysis of a battle."""

    number: int


@aside
class CommentMade(Aside):
    """A player commented on a ply of a battle, or took that back if ``text`` is "".

    It is stored by an event of its own; this is what is told of it, to the player and to ``other``,
    who played the battle, too. ``comments`` are all there are on the battle now.
    """

    crosses = is_limited = True

    other: str
    battle: int
    ply: int
    text: str
    comments: tuple[Comment, ...] = ()

    @property
    def involves(self) -> set[str]:
        return {self.player, self.other}

    def happen(self, hall: Hall) -> Telling:
        both = [hall.people[name] for name in (self.player, self.other) if name in hall.people]
        for person in both:
            if person.replay and person.replay.battle.number == self.battle:
                person.replay = replace(person.replay, comments=self.comments)
        told = tuple(person.name for person in (both if self.text else both[:1]))
        return Telling(self, hall.people.hearers(self.player, told))


class Remark(Enum):
    """What is said in an exercise; the value is stable, for programs."""

    BEGUN = "begun"
    """Which lesson or puzzle it is."""
    TASK = "task"
    """What is to be done."""
    DONE = "done"
    """It has been done."""
    NEXT = "next"
    """It goes on when the player says so."""
    OVER = "over"
    """The lesson is done, or the puzzle solved; and what else there is."""
    WRONG = "wrong"
    """What was played can be played, but is not what is wanted."""
    FEWER = "fewer"
    """It is, but could capture more."""
    HINT = "hint"
    """Something that helps."""
    ANSWER = "answer"
    """What does it."""
    COUNTED = "counted"
    """What is said counts for a rating: it was the first try at a puzzle."""


@aside
class Exercised(Aside):
    """A player is told something in an exercise, which stands so from now on.

    Attributes:
        player: whose it is.
        exercise: as it is now.
        remarks: what is said, in this order.
        plies: what was played, by the player and then by the server, each with the board after it.
        shows: whether the board is shown.
        advice: what speaks for and against a ply that was played, or was only tried.
        answer: what the other side could answer that.
    """

    exercise: Exercise
    remarks: tuple[Remark, ...]
    plies: tuple[tuple[Moved, Table], ...] = ()
    shows: bool = False
    advice: Advice | None = None
    answer: Move | None = None

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        if person.exercise is None:
            hall.rooms.changed(person)
        person.exercise, person.replay = self.exercise, None
        person.studies = person.studies.after(self.exercise)
        return Telling(self, (self.player,), self.exercise.table)


@aside
class ExerciseLeft(Aside):
    """A player's exercise is over, or waits until they come back to it."""

    exercise: Exercise

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        person.exercise = None
        hall.rooms.changed(person)
        return Telling(self, (self.player,))


@aside
class BattleWaits(ToAnother):
    """A player opened an exercise in the middle of a battle, which waits; ``to`` is the other one.

    It is "" in practice. ``exercise`` is what the board of the exercise is called.
    """

    board: str
    exercise: str


@aside
class MoveTaught(AtBoard):
    """A newcomer whose turn it is at a board is told how to move; or is reminded, ``again``.

    ``hints`` says that they can ask for one.
    """

    hints: bool
    again: bool = False


@aside
class TimeShort(AtBoard):
    """A player whose turn it is at a board has less than some seconds left."""

    seconds: float


class OfOperators(Aside):
    """What operators bring about, which is noted, or stored, before it is told."""

    __slots__ = ()
    is_kept = True


@aside
class Announced(OfOperators):
    """An operator told everybody something, wherever they are."""

    crosses = True

    text: str

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, tuple(hall.people))


@value
class OfSanction(OfOperators):
    """What concerns a measure against somebody; told to them, and to all operators."""

    sanction: Sanction
    crosses = True

    @property
    def involves(self) -> set[str]:
        return {self.player, self.sanction.whom}

    def happen(self, hall: Hall) -> Telling:
        told_of_it = hall.operators_and(self.player)
        is_ban = self.sanction.measure is Measure.BAN
        if not is_ban and self.sanction.whom in hall.people:
            told_of_it = *told_of_it, self.sanction.whom
        return Telling(self, tuple(dict.fromkeys(told_of_it)))


@aside
class Sanctioned(OfSanction):
    """An operator took a measure against somebody."""


@aside
class Lifted(OfSanction):
    """An operator ended a measure; told as it was when it began."""


@aside
class ReportClosed(OfOperators):
    """An operator has seen to a report; told to all operators."""

    crosses = True

    number: int

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.operators_and(self.player))


@aside
class ShutdownTold(OfOperators):
    """Everybody on this node, or one player, is told that the server will stop.

    Attributes:
        player: the operator who has said so.
        at: when it stops, in seconds since the epoch.
        seconds: in how many that is; None if it does not stop after all.
        why: the reason, if one was given.
        to: who alone is told; empty if all are.
    """

    at: float
    seconds: float | None
    why: str = ""
    to: str = ""

    def happen(self, hall: Hall) -> Telling:
        if self.to:
            return Telling(self, (self.to,))
        hall.shutdown = None if self.seconds is None else self
        return Telling(self, tuple(hall.people))


@aside
class BoardListed(AtBoard):
    """The list of all boards shows one otherwise now; ``player`` is ``""``: nobody did it alone.

    Programs of those in the hall are told.
    """

    def happen(self, hall: Hall) -> Telling:
        return Telling(self, hall.rooms.occupants(None).names, hall.tables[self.board])


@aside
class Asked(Aside):
    """A player asked for something that changes nothing; the answer is for them alone.

    ``answer`` is what was looked up for it, where it is about what was played before, or about what
    to play.
    """

    question: Command
    board: str | None = None
    answer: Any = None

    def happen(self, hall: Hall) -> Telling:
        person = hall.people[self.player]
        self.question.answered(hall, person, self.answer)
        table = hall.board_seen(self.player, self.board) if self.board else None
        return Telling(self, (self.player,), table)
