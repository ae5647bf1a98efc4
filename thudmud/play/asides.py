"""What happens in the hall besides the boards: people come and go, speak, and ask questions.

These are told and never stored. Sentences are made of them in `thudmud.views`. A ``room`` is the
name of a board, or None for the hall.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from thudmud.play.analysis import AnalysedBattle, Analysis
from thudmud.play.archive import Battle, LookupAnswer
from thudmud.play.commands import (
    Analyse,
    Bans,
    Boards,
    Finger,
    Follow,
    Games,
    Help,
    Hint,
    History,
    Ignore,
    Lessons,
    Letters,
    Look,
    Mutes,
    Observe,
    Plan,
    PlayNow,
    Query,
    Reports,
    Seeks,
    Style,
    Syntax,
    ViewBots,
    ViewGame,
    ViewNews,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Who,
)
from thudmud.play.events import Moved, Parting, TableEvent
from thudmud.play.exercises import Exercise
from thudmud.play.hints import Advice
from thudmud.play.letters import NO_LETTERS, LetterCount, LettersPage, Report
from thudmud.play.options import Options, SetOption, ShowOptions, ShowScheme, Toggle
from thudmud.play.order import Sanction
from thudmud.play.table import Table
from thudmud.rules import Comment, Game, Move, Side

Question = (
    Analyse
    | Bans
    | Boards
    | ViewBots
    | ViewNews
    | Finger
    | Follow
    | Games
    | Help
    | Hint
    | History
    | Ignore
    | Lessons
    | Letters
    | Look
    | Mutes
    | Observe
    | Plan
    | Query
    | PlayNow
    | Reports
    | Seeks
    | ViewRecord
    | ShowOptions
    | ShowScheme
    | ViewStandings
    | Syntax
    | ViewGame
    | ViewPossible
    | ViewScore
    | Who
)


@dataclass(frozen=True, slots=True)
class Entered:
    """A player came in, to the hall or, with a seat that was kept, to its board.

    ``member`` says that they have an account; ``styles`` and ``options`` are how they want to see
    what they are shown, ``ignored`` whom they do not want to hear, ``followed`` whom they follow,
    ``plan`` what they say about themselves, and ``news`` which edition of the news they have seen
    last, where that is known; ``adjourned``, that a match of theirs is put away; ``letters``, how
    many have been written to them. ``observed`` are the boards that they observe, and ``active`` is
    when they typed something last, about.
    """

    player: str
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


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """A player who is back is shown a board where a seat was kept, and what happened there since.

    ``missed`` are the events, each with the table right after it.
    """

    player: str
    board: str
    missed: tuple[tuple[TableEvent, Table], ...] = ()


@dataclass(frozen=True, slots=True)
class TookOver:
    """A player goes on from another connection, and is shown where they are."""

    player: str
    room: str | None
    letters: LetterCount = NO_LETTERS


@dataclass(frozen=True, slots=True)
class Gone:
    """A player is here no longer.

    ``told`` says that the others in the room know, since the player has left a seat in it.
    """

    player: str
    room: str | None
    parting: Parting
    told: bool = False


@dataclass(frozen=True, slots=True)
class WentOut:
    """A player left a room for another; told to those who stay."""

    player: str
    room: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class CameIn:
    """A player came to a room; told there, and to the player.

    ``sits`` says that they do so to take a seat, which is told next.
    """

    player: str
    room: str | None
    sits: bool = False


@dataclass(frozen=True, slots=True)
class Spoke:
    """A player said something to a room; with ``talk``, to those alone who hear such talk."""

    player: str
    room: str | None
    text: str
    talk: Toggle | None = None

    @property
    def verb(self) -> str:
        """How they said it: ``say``, ``kibitz``, ``whisper`` or ``shout``."""
        return "say" if self.talk in {None, Toggle.WATCHERS} else self.talk.value


@dataclass(frozen=True, slots=True)
class Emoted:
    """A player did something that a room sees; ``talk`` is as in `Spoke`."""

    player: str
    room: str | None
    text: str
    talk: Toggle | None = None


@dataclass(frozen=True, slots=True)
class PlayersDeaf:
    """Who only watches is told, once, that the players at a board do not hear what they say."""

    player: str
    board: str


@dataclass(frozen=True, slots=True)
class Told:
    """A player said something to one other."""

    player: str
    to: str
    text: str


@dataclass(frozen=True, slots=True)
class LetterSent:
    """A player has written to a member, who reads it whenever they like, and may be here."""

    player: str
    to: str
    text: str
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class LettersForgotten:
    """A player has deleted some of their letters, by their numbers."""

    player: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReportMade:
    """A player has told the operator of another; ``said`` is what they last heard from that one."""

    player: str
    about: str
    text: str
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invited:
    """A player asked another to a seat at a board; a bot perhaps to play there at some level."""

    player: str
    to: str
    board: str
    side: Side
    level: int | None = None


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A player does not want the seat at a board to which another had asked them."""

    player: str
    to: str
    board: str


@dataclass(frozen=True, slots=True)
class StyleChosen:
    """A player chose how to be shown a board."""

    player: str
    board: str
    style: Style


@dataclass(frozen=True, slots=True)
class OptionChosen:
    """A player chose how to be shown everything; ``options`` are all that hold now."""

    player: str
    choice: SetOption
    options: Options


@dataclass(frozen=True, slots=True)
class IgnoreChosen:
    """A player hears another no longer, or again; ``ignored`` are all whom they do not hear now.

    ``is_here`` says that somebody is here who is called so.
    """

    player: str
    other: str
    ignored: tuple[str, ...]
    is_here: bool = True


@dataclass(frozen=True, slots=True)
class FollowChosen:
    """A player follows another, or no longer; ``followed`` are all whom they follow now.

    ``is_here`` says that somebody is here who is called so.
    """

    player: str
    other: str
    followed: tuple[str, ...]
    is_here: bool = True


@dataclass(frozen=True, slots=True)
class FollowedCame:
    """Those who follow a player, and would not see it, are told that the player has come."""

    player: str
    room: str | None


@dataclass(frozen=True, slots=True)
class FollowedBegan:
    """Those who follow one of its players are told that a match begins, or goes on."""

    player: str
    board: str
    dwarf: str
    troll: str
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class PlanChosen:
    """A player says something about themselves from now on, or nothing if ``plan`` is ""."""

    player: str
    plan: str


@dataclass(frozen=True, slots=True)
class Active:
    """A player has typed something, as is noted now and then; nobody is told."""

    player: str
    at: float


@dataclass(frozen=True, slots=True)
class ObserveChosen:
    """A player observes a board, or no longer; ``observed`` are all that they observe now."""

    player: str
    board: str
    observed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A player sees a battle again, as it stood after ``ply`` plies.

    ``playing`` says that it goes on by itself. ``then`` is the battle as it stood there, if that is
    known, so that what is seen next need not be found from the opening. ``comments`` are those on
    all its plies. ``analysis`` is what each ply was worth, if that is known and may be told.
    ``spent`` is how many seconds each took, if a clock ran.
    """

    player: str
    battle: Battle
    game: Game
    ply: int
    playing: bool = False
    then: Game | None = field(default=None, compare=False, repr=False)
    comments: tuple[Comment, ...] = ()
    analysis: Analysis | None = field(default=None, repr=False)
    spent: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayLeft:
    """A player sees a battle no longer; ``replay`` is what they saw last."""

    player: str
    replay: Replayed


@dataclass(frozen=True, slots=True)
class Analysing:
    """A battle is analysed for a player; ``done`` of its plies are, so far."""

    player: str
    battle: Battle
    done: int
    plies: int


@dataclass(frozen=True, slots=True)
class AnalysisCancelled:
    """A player waits no longer for the analysis of a battle."""

    player: str
    number: int


@dataclass(frozen=True, slots=True)
class CommentMade:
    """A player commented on a ply of a battle, or took that back if ``text`` is "".

    It is stored by an event of its own; this is what is told of it, to the player and to ``other``,
    who played the battle, too. ``comments`` are all there are on the battle now.
    """

    player: str
    other: str
    battle: int
    ply: int
    text: str
    comments: tuple[Comment, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Exercised:
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

    player: str
    exercise: Exercise
    remarks: tuple[Remark, ...]
    plies: tuple[tuple[Moved, Table], ...] = ()
    shows: bool = False
    advice: Advice | None = None
    answer: Move | None = None


@dataclass(frozen=True, slots=True)
class ExerciseLeft:
    """A player's exercise is over, or waits until they come back to it."""

    player: str
    exercise: Exercise


@dataclass(frozen=True, slots=True)
class TimeShort:
    """A player whose turn it is at a board has less than some seconds left."""

    player: str
    board: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Announced:
    """An operator told everybody something, wherever they are."""

    player: str
    text: str


@dataclass(frozen=True, slots=True)
class Sanctioned:
    """An operator took a measure against somebody; told to them, and to all operators."""

    player: str
    sanction: Sanction


@dataclass(frozen=True, slots=True)
class Lifted:
    """An operator ended a measure; told as it was when it began."""

    player: str
    sanction: Sanction


@dataclass(frozen=True, slots=True)
class ReportClosed:
    """An operator has seen to a report; told to all operators."""

    player: str
    number: int


@dataclass(frozen=True, slots=True)
class ShutdownTold:
    """Everybody on this node, or one player, is told that the server will stop.

    Attributes:
        player: the operator who has said so.
        at: when it stops, in seconds since the epoch.
        seconds: in how many that is; None if it does not stop after all.
        why: the reason, if one was given.
        to: who alone is told; empty if all are.
    """

    player: str
    at: float
    seconds: float | None
    why: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class BoardListed:
    """A board has come to look otherwise in a list of all boards, by nobody's (``""``) doing alone.

    Programs of those in the hall are told.
    """

    player: str
    board: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A player asked for something that changes nothing; the answer is for them alone.

    ``answer`` is what was looked up for it, where it is about what was played before, or about what
    to play.
    """

    player: str
    question: Question
    board: str | None = None
    answer: LookupAnswer | Advice | AnalysedBattle | LettersPage | tuple[Report, ...] | None = None


Happening = (
    Entered
    | CaughtUp
    | TookOver
    | Gone
    | WentOut
    | CameIn
    | Spoke
    | Emoted
    | PlayersDeaf
    | Told
    | LetterSent
    | LettersForgotten
    | ReportMade
    | Invited
    | TurnedDown
    | StyleChosen
    | OptionChosen
    | IgnoreChosen
    | FollowChosen
    | FollowedCame
    | FollowedBegan
    | PlanChosen
    | Active
    | ObserveChosen
    | Replayed
    | ReplayLeft
    | Analysing
    | AnalysisCancelled
    | CommentMade
    | Exercised
    | ExerciseLeft
    | TimeShort
    | Announced
    | Sanctioned
    | Lifted
    | ReportClosed
    | ShutdownTold
    | BoardListed
)
OfOperators = Announced | Sanctioned | Lifted | ReportClosed | ShutdownTold
"""What operators bring about, which is noted, or stored, before it is told."""

Aside = Happening | Asked
CrossingAside = (
    Active
    | Announced
    | CameIn
    | CommentMade
    | Emoted
    | Entered
    | FollowChosen
    | Gone
    | IgnoreChosen
    | Invited
    | LetterSent
    | Lifted
    | ObserveChosen
    | OptionChosen
    | PlanChosen
    | ReportClosed
    | ReportMade
    | Sanctioned
    | Spoke
    | StyleChosen
    | Told
    | TurnedDown
    | WentOut
)
"""What is only told, also to those on other nodes, or is known there of who is here."""
