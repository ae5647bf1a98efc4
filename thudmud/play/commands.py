"""The commands: frozen values that a line of text parses into.

``str(command)`` is the command in its canonical form, which parses back to an equal one. How a line
is read stands in `thudmud.language`, what a command does in `thudmud.verbs.decisions`.

``on`` is the player's own words for a board (``"oak board"``, ``"2nd board"``, ``"it"``), or None
where they were left out; only the hall knows which board they mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from thudmud.english import length
from thudmud.errors import InvalidValueError
from thudmud.play.clocks import TimeClass, TimeControl
from thudmud.play.command import Command
from thudmud.play.days import day_begins
from thudmud.play.events import Offer
from thudmud.rules import EVERY, Attempt, Piece, Side, Square
from thudmud.rules.board import LETTERS

if TYPE_CHECKING:
    from thudmud.play.hall import Hall, Person


def _on(words: str | None) -> str:
    return "" if words is None else f" on {words}"


@dataclass(frozen=True, slots=True)
class _BoardCommand(Command):
    """A command that says nothing but at which board."""

    on: str | None = None
    words: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.words}{_on(self.on)}"


# In the hall, and anywhere.


@dataclass(frozen=True, slots=True)
class Look(Command):
    """Look round, or at a board."""

    is_question = True

    at: str | None = None

    def __str__(self) -> str:
        return "look" if self.at is None else f"look at {self.at}"


@dataclass(frozen=True, slots=True)
class Go(Command):
    """Walk to a board, or back to the hall (``to`` is None)."""

    to: str | None = None

    def __str__(self) -> str:
        return "go hall" if self.to is None else f"go to {self.to}"


@dataclass(frozen=True, slots=True)
class Boards(Command):
    """List the boards."""

    is_question = True

    def __str__(self) -> str:
        return "boards"


@dataclass(frozen=True, slots=True)
class ViewBots(Command):
    """List the bots, and how well each plays."""

    is_question = True

    def __str__(self) -> str:
        return "bots"


@dataclass(frozen=True, slots=True)
class ViewNews(Command):
    """Read what the operator has written for all."""

    def __str__(self) -> str:
        return "news"

    def answered(self, hall: Hall, person: Person, answer: Any) -> None:
        person.news = hall.edition


@dataclass(frozen=True, slots=True)
class Again(Command):
    """Do once more what one did last."""

    def __str__(self) -> str:
        return "again"


@dataclass(frozen=True, slots=True)
class Register(Command):
    """Keep one's name, by a password."""

    def __str__(self) -> str:
        return "register"


@dataclass(frozen=True, slots=True)
class Password(Command):
    """Change one's password."""

    def __str__(self) -> str:
        return "password"


@dataclass(frozen=True, slots=True)
class Say(Command):
    """Speak to everybody in the room."""

    speaks = True

    text: str

    def __str__(self) -> str:
        return f"say {self.text}"


@dataclass(frozen=True, slots=True)
class Emote(Command):
    """Do something that everybody in the room sees: the text follows one's name."""

    speaks = True

    text: str

    def __str__(self) -> str:
        return f"emote {self.text}"


@dataclass(frozen=True, slots=True)
class Tell(Command):
    """Speak to one player, wherever they are."""

    speaks = True

    player: str
    text: str

    def __str__(self) -> str:
        return f"tell {self.player} {self.text}"


@dataclass(frozen=True, slots=True)
class SendLetter(Command):
    """Leave a message for a member, who need not be here."""

    speaks = True

    player: str
    text: str

    def __str__(self) -> str:
        return f"message {self.player} {self.text}"


@dataclass(frozen=True, slots=True)
class Letters(Command):
    """Read the messages that others have left for one, or those of one player; the last first."""

    sender: str | None = None
    page: int = 1

    def __str__(self) -> str:
        sender = "" if self.sender is None else f" from {self.sender}"
        return f"messages{sender}{'' if self.page == 1 else f' page {self.page}'}"


@dataclass(frozen=True, slots=True)
class ForgetLetters(Command):
    """Delete a message by its number, or those of one player, or all."""

    number: int | None = None
    sender: str | None = None

    def __str__(self) -> str:
        if self.number is not None:
            return f"forget {self.number}"
        return "forget messages" if self.sender is None else f"forget messages from {self.sender}"


@dataclass(frozen=True, slots=True)
class Shout(Command):
    """Speak to everybody who has not turned that off."""

    speaks = True

    text: str

    def __str__(self) -> str:
        return f"shout {self.text}"


@dataclass(frozen=True, slots=True)
class FileReport(Command):
    """Tell the operator of a player, who need not be here."""

    player: str
    text: str

    def __str__(self) -> str:
        return f"report {self.player} {self.text}"


@dataclass(frozen=True, slots=True)
class Kibitz(Command):
    """Speak to the players at a board and to all who watch; the text may end in "on" and which."""

    speaks = True

    text: str

    def __str__(self) -> str:
        return f"kibitz {self.text}"


@dataclass(frozen=True, slots=True)
class Whisper(Command):
    """Speak to those alone who watch a board; the text may end in "on" and which."""

    speaks = True

    text: str

    def __str__(self) -> str:
        return f"whisper {self.text}"


@dataclass(frozen=True, slots=True)
class Observe(Command):
    """Be told of what happens at a board from afar; ``at`` is None to list where one is.

    ``at`` is the name of a board, of one who plays at it, or "battle" and its number.
    """

    at: str | None = None

    def __str__(self) -> str:
        return "observe" if self.at is None else f"observe {self.at}"


@dataclass(frozen=True, slots=True)
class Unobserve(Command):
    """Be told of a board no longer; ``at`` is as in `Observe`, but None for all of them."""

    at: str | None = None

    def __str__(self) -> str:
        return "unobserve" if self.at is None else f"unobserve {self.at}"


@dataclass(frozen=True, slots=True)
class Invite(Command):
    """Ask a player to a seat at a board, by default a free one; a bot perhaps at some level."""

    player: str
    side: Side | None = None
    on: str | None = None
    level: str | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" as {self.side.value}"
        level = "" if self.level is None else f" level {self.level}"
        return f"invite {self.player}{side}{level}{_on(self.on)}"


# Who plays with whom.


def _terms(
    rules: str | None, time: TimeControl | None, side: Side | None, *, rated: bool = True
) -> str:
    """Return the words for what a match is to be like."""
    words = ["" if rules is None else f" {rules}", "" if time is None else f" {time}"]
    words.append("" if side is None else f" as {side.value}")
    return "".join([*words, "" if rated else " unrated"])


@dataclass(frozen=True, slots=True)
class Seek(Command):
    """Say that one would like to play, by some ruleset and clock or none, with anybody."""

    rules: str | None = None
    side: Side | None = None
    rated: bool = True
    time: TimeControl | None = None

    def __str__(self) -> str:
        return f"seek{_terms(self.rules, self.time, self.side, rated=self.rated)}"


@dataclass(frozen=True, slots=True)
class Challenge(Command):
    """Ask a player to a match at a board of its own; a bot perhaps at some level."""

    player: str
    rules: str | None = None
    side: Side | None = None
    rated: bool = True
    level: str | None = None
    time: TimeControl | None = None

    def __str__(self) -> str:
        terms = _terms(self.rules, self.time, self.side, rated=self.rated)
        level = "" if self.level is None else f" level {self.level}"
        return f"match {self.player}{terms}{level}"


@dataclass(frozen=True, slots=True)
class Seeks(Command):
    """List who would like to play."""

    is_question = True

    def __str__(self) -> str:
        return "seeks"


@dataclass(frozen=True, slots=True)
class Accept(Command):
    """Agree to what was offered: a seek by its number, what a player offers, or the only one."""

    what: int | str | None = None

    def __str__(self) -> str:
        return "accept" if self.what is None else f"accept {self.what}"


@dataclass(frozen=True, slots=True)
class Decline(Command):
    """Refuse what was offered: a seek by its number, or what a player offers."""

    what: int | str

    def __str__(self) -> str:
        return f"decline {self.what}"


@dataclass(frozen=True, slots=True)
class Withdraw(Command):
    """Take a seek back, or all of one's own."""

    number: int | None = None

    def __str__(self) -> str:
        return "withdraw" if self.number is None else f"withdraw {self.number}"


@dataclass(frozen=True, slots=True)
class PlayNow(Command):
    """Play with whoever would like to: with a bot at once, until somebody comes."""

    rules: str | None = None
    side: Side | None = None
    time: TimeControl | None = None

    def __str__(self) -> str:
        return f"play{_terms(self.rules, self.time, self.side)}"


@dataclass(frozen=True, slots=True)
class NewBoard(Command):
    """Open a board, which goes when nobody needs it any more."""

    rules: str | None = None

    def __str__(self) -> str:
        return "new board" if self.rules is None else f"new board {self.rules}"


MatchmakingCommand = (
    Seek | Challenge | Seeks | Accept | Decline | Withdraw | PlayNow | NewBoard
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Help(Command):
    """Read a help page; the contents if ``topic`` is None."""

    topic: str | None = None

    def __str__(self) -> str:
        return "help" if self.topic is None else f"help {self.topic}"


@dataclass(frozen=True, slots=True)
class Syntax(Command):
    """See the patterns of a command; of all of them if ``verb`` is None."""

    verb: str | None = None

    def __str__(self) -> str:
        return "syntax" if self.verb is None else f"syntax {self.verb}"


@dataclass(frozen=True, slots=True)
class Quit(Command):
    """Leave the server."""

    def __str__(self) -> str:
        return "quit"


RoomCommand = (
    Look
    | Go
    | Boards
    | ViewBots
    | ViewNews
    | Say
    | Emote
    | Tell
    | SendLetter
    | Letters
    | ForgetLetters
    | Shout
    | FileReport
    | Kibitz
    | Whisper
    | Observe
    | Unobserve
    | Invite
    | Help
    | Syntax
    | Register
    | Password
    | Again
    | Quit
)


# What operators do to keep order.


def _for(seconds: int | None, why: str) -> str:
    return ("" if seconds is None else f" for {length(seconds)}") + (
        f" because {why}" if why else ""
    )


@dataclass(frozen=True, slots=True)
class Broadcast(Command):
    """Tell everybody something, wherever they are."""

    text: str

    def __str__(self) -> str:
        return f"broadcast {self.text}"


@dataclass(frozen=True, slots=True)
class Mute(Command):
    """Let nobody hear a player, for so many seconds or for good."""

    player: str
    seconds: int | None = None
    why: str = ""

    def __str__(self) -> str:
        return f"mute {self.player}{_for(self.seconds, self.why)}"


@dataclass(frozen=True, slots=True)
class Unmute(Command):
    """Let a player be heard again."""

    player: str

    def __str__(self) -> str:
        return f"unmute {self.player}"


@dataclass(frozen=True, slots=True)
class Mutes(Command):
    """List those who are muted."""

    def __str__(self) -> str:
        return "mutes"


@dataclass(frozen=True, slots=True)
class Kick(Command):
    """End a player's connection; they may come back."""

    player: str
    why: str = ""

    def __str__(self) -> str:
        return f"kick {self.player}{_for(None, self.why)}"


@dataclass(frozen=True, slots=True)
class Ban(Command):
    """Keep out a player, or all who come from an address or a network, for a time or for good."""

    whom: str
    seconds: int | None = None
    why: str = ""

    def __str__(self) -> str:
        return f"ban {self.whom}{_for(self.seconds, self.why)}"


@dataclass(frozen=True, slots=True)
class Unban(Command):
    """Keep a player, an address or a network out no longer."""

    whom: str

    def __str__(self) -> str:
        return f"unban {self.whom}"


@dataclass(frozen=True, slots=True)
class Bans(Command):
    """List who is kept out, page by page."""

    page: int = 1

    def __str__(self) -> str:
        return "bans" if self.page == 1 else f"bans page {self.page}"


@dataclass(frozen=True, slots=True)
class Reports(Command):
    """List what players have reported of others, page by page."""

    page: int = 1

    def __str__(self) -> str:
        return "reports" if self.page == 1 else f"reports page {self.page}"


@dataclass(frozen=True, slots=True)
class CloseReport(Command):
    """Close a report: it has been seen to."""

    number: int

    def __str__(self) -> str:
        return f"close report {self.number}"


@dataclass(frozen=True, slots=True)
class StopServer(Command):
    """Stop the server in so many seconds; 0 is now."""

    seconds: int
    why: str = ""

    def __str__(self) -> str:
        when = f"in {length(self.seconds)}" if self.seconds else "now"
        return f"shutdown {when}{_for(None, self.why)}"


@dataclass(frozen=True, slots=True)
class CancelShutdown(Command):
    """Do not stop the server after all."""

    def __str__(self) -> str:
        return "cancel shutdown"


OperatorCommand = (
    Broadcast
    | Mute
    | Unmute
    | Mutes
    | Kick
    | Ban
    | Unban
    | Bans
    | Reports
    | CloseReport
    | StopServer
    | CancelShutdown
)


# Exercises: the tutorial and the puzzles.


@dataclass(frozen=True, slots=True)
class Tutorial(Command):
    """Begin a lesson of the tutorial, or go on where one was."""

    lesson: int | None = None

    def __str__(self) -> str:
        return "tutorial" if self.lesson is None else f"tutorial {self.lesson}"


@dataclass(frozen=True, slots=True)
class Lessons(Command):
    """List the lessons, and which of them one has done."""

    def __str__(self) -> str:
        return "lessons"


@dataclass(frozen=True, slots=True)
class TryPuzzle(Command):
    """Try a puzzle: the one with a number, or one that fits."""

    number: int | None = None

    def __str__(self) -> str:
        return "puzzle" if self.number is None else f"puzzle {self.number}"


@dataclass(frozen=True, slots=True)
class Stop(Command):
    """Leave the lesson, the puzzle or the replay that one has open: one at most."""

    def __str__(self) -> str:
        return "stop"


ExerciseCommand = Tutorial | Lessons | TryPuzzle | Stop


# The battles that were played.


@dataclass(frozen=True, slots=True)
class Games(Command):
    """List one's own matches, running and adjourned; or all that are being played."""

    is_question = True

    everybodys: bool = False

    def __str__(self) -> str:
        return "games all" if self.everybodys else "games"


@dataclass(frozen=True, slots=True)
class History(Command):
    """List the battles that were played, the last one first: all of them, or some.

    Attributes:
        player: only those of a player; None for everybody's, or with an opponent for one's own.
        page: which page of them, from 1.
        opponent: only those with somebody.
        rules: only those by a ruleset, by its name.
        day: only those that began on a day such as 2026-11-20, ``today`` or ``yesterday``.

    Raises:
        InvalidValueError: there is no such day.
    """

    is_question = True

    player: str | None = None
    page: int = 1
    opponent: str | None = None
    rules: str | None = None
    day: str | None = None

    def __post_init__(self) -> None:
        if self.day is not None and day_begins(self.day, 0.0) is None:
            raise InvalidValueError(f"there is no day {self.day!r:.50}")

    def __str__(self) -> str:
        opponent = self.opponent and f"with {self.opponent}"
        page = "" if self.page == 1 else f"page {self.page}"
        words = "history", self.player, opponent, self.rules, self.day, page
        return " ".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class Replay(Command):
    """Go through a battle again, from after a ply of it; 0 is its beginning."""

    number: int
    ply: int = 0

    def __str__(self) -> str:
        return f"replay {self.number}" + (f" {self.ply}" if self.ply else "")


class Way(Enum):
    """Where to go in a battle that is replayed."""

    NEXT = "next"
    BACK = "back"
    FIRST = "first"
    LAST = "last"
    PLAY = "play"
    """On to the end by itself, ply by ply: what ``play`` means in a replay."""


@dataclass(frozen=True, slots=True)
class Step(Command):
    """See another ply of the battle that one is replaying; on or back by several perhaps."""

    way: Way
    plies: int = 1

    def __str__(self) -> str:
        return self.way.value + ("" if self.plies == 1 else f" {self.plies}")


@dataclass(frozen=True, slots=True)
class ViewRecord(Command):
    """See a battle in record notation."""

    is_question = True

    number: int

    def __str__(self) -> str:
        return f"record {self.number}"


@dataclass(frozen=True, slots=True)
class MakeComment(Command):
    """Comment on a ply of a battle; on the one that is shown in a replay if ``number`` is None.

    With the text "" one's own comment there is taken away.
    """

    speaks = True

    text: str
    number: int | None = None
    ply: int | None = None

    def __str__(self) -> str:
        place = "" if self.number is None else f" {self.number} {self.ply}"
        return f"comment{place} {self.text or 'none'}"


@dataclass(frozen=True, slots=True)
class ViewScore(Command):
    """See what a player has won and lost; oneself if ``player`` is None."""

    is_question = True

    player: str | None = None

    def __str__(self) -> str:
        return "score" if self.player is None else f"score {self.player}"


@dataclass(frozen=True, slots=True)
class ViewStandings(Command):
    """List the players by their ratings: by some ruleset and at some pace, or where most have one.

    ``rules`` is the ruleset's name.
    """

    is_question = True

    rules: str | None = None
    time: TimeClass | None = None

    def __str__(self) -> str:
        words = "standings", self.rules, self.time and self.time.value
        return " ".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class Analyse(Command):
    """See what a battle was worth, ply by ply; without a number, the one that is replayed."""

    number: int | None = None

    def __str__(self) -> str:
        return "analyse" if self.number is None else f"analyse {self.number}"

    def answered(self, hall: Hall, person: Person, answer: Any) -> None:
        # What the plies were worth is shown in a replay, if it is that battle which is open.
        if person.replay and person.replay.game == answer.game:
            person.replay = replace(person.replay, analysis=answer.analysis)


@dataclass(frozen=True, slots=True)
class CancelAnalysis(Command):
    """Wait no longer for the analysis that one has asked for."""

    def __str__(self) -> str:
        return "analyse cancel"


ArchiveCommand = (
    Games
    | History
    | Replay
    | Step
    | ViewRecord
    | ViewScore
    | ViewStandings
    | Analyse
    | CancelAnalysis
)
"""What is only shown."""


# What somebody asks about the pieces on a board.

_NAMES = {
    Piece.DWARF: "dwarfs",
    Piece.TROLL: "trolls",
    Piece.STONE: "stone",
    Piece.ROCK: "rock",
}


@dataclass(frozen=True, slots=True)
class Where(Command):
    """Tell the squares on which pieces of a kind stand."""

    piece: Piece
    on: str | None = None

    def __str__(self) -> str:
        return f"where {_NAMES[self.piece]}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class ScanRow(Command):
    """Tell what stands in a row, 0 being the row that is called 1."""

    row: int
    on: str | None = None

    def __str__(self) -> str:
        return f"scan row {self.row + 1}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class ScanColumn(Command):
    """Tell what stands in a column, 0 being the column that is called A."""

    column: int
    on: str | None = None

    def __str__(self) -> str:
        return f"scan column {LETTERS[self.column]}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Around(Command):
    """Tell what stands on a square, and what is next to it in each direction."""

    square: Square
    on: str | None = None

    def __str__(self) -> str:
        return f"around {self.square}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Lines(Command):
    """Tell the lines of pieces from which one can be hurled or shoved, of one side or both."""

    side: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" {self.side.plural}"
        return f"lines{side}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class Captures(Command):
    """Tell the moves that capture, of the side to move or of the piece on one square."""

    origin: Square | None = None
    on: str | None = None

    def __str__(self) -> str:
        origin = "" if self.origin is None else f" {self.origin}"
        return f"captures{origin}{_on(self.on)}"


class LastMove(_BoardCommand):
    """Tell the last ply."""

    __slots__ = ()
    words = "last move"


@dataclass(frozen=True, slots=True)
class ViewClock(Command):
    """Tell how much time the players of a board have left, and whose time runs."""

    is_question = True

    on: str | None = None

    def __str__(self) -> str:
        return f"clock{_on(self.on)}"


Query = Where | ScanRow | ScanColumn | Around | Lines | Captures | LastMove | ViewClock


# At a board.


class Style(Enum):
    """How a board is shown after a move: drawn whole, or told in one status line."""

    FULL = "full"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True)
class Join(Command):
    """Take a free seat at a board: the only one, if ``side`` is None.

    A bot takes it to play at some level perhaps, which nobody types.
    """

    side: Side | None = None
    on: str | None = None
    level: int | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" as {self.side.value}"
        return f"join game{side}{_on(self.on)}"


class Leave(_BoardCommand):
    """Give the seat up."""

    __slots__ = ()
    words = "leave game"


class End(_BoardCommand):
    """Offer to end the battle, or agree to the other player's offer (``end``, ``finish``)."""

    __slots__ = ()
    words = "end game"


class Start(_BoardCommand):
    """Begin the next battle, or ask for (or agree to) a new match in the middle of one."""

    __slots__ = ()
    words = "start game"


@dataclass(frozen=True, slots=True)
class Practice(Command):
    """Take both seats and begin a battle, by the board's ruleset or by one that is named."""

    rules: str | None = None
    on: str | None = None

    def __str__(self) -> str:
        rules = "" if self.rules is None else f" {self.rules}"
        return f"practice{rules}{_on(self.on)}"


class Resign(_BoardCommand):
    """Give the battle up."""

    __slots__ = ()
    words = "resign game"


class Undo(_BoardCommand):
    """Ask for one's last ply back, or agree that the other takes theirs back."""

    __slots__ = ()
    words = "undo"


class No(_BoardCommand):
    """Decline what the other player has offered, or take back what one has offered oneself."""

    __slots__ = ()
    words = "no"


class Claim(_BoardCommand):
    """Win the battle, since the other player has been away for too long."""

    __slots__ = ()
    words = "claim game"


class Adjourn(_BoardCommand):
    """Offer to put the match away for another day, or agree to it."""

    __slots__ = ()
    words = "adjourn game"


OFFERING: Mapping[Offer, type[End | Start | Adjourn | Undo]] = {
    Offer.END: End,
    Offer.RESTART: Start,
    Offer.ADJOURN: Adjourn,
    Offer.UNDO: Undo,
}
"""The command that makes each offer, and agrees to it."""


@dataclass(frozen=True, slots=True)
class Resume(Command):
    """Go on with a match that was put away: the one of battle ``number``, or the only one."""

    number: int | None = None
    on: str | None = None

    def __str__(self) -> str:
        number = "" if self.number is None else f" {self.number}"
        return f"resume game{number}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetBoard(Command):
    """Choose one's own style for a board."""

    style: Style
    on: str | None = None

    def __str__(self) -> str:
        return f"set board {self.style.value}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetRules(Command):
    """Choose the ruleset of a board, by the ruleset's name."""

    rules: str
    on: str | None = None

    def __str__(self) -> str:
        return f"set rules {self.rules}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetClock(Command):
    """Choose how much time the next match on a board gives; None for no clock."""

    time: TimeControl | None
    on: str | None = None

    def __str__(self) -> str:
        return f"set clock {self.time or 'off'}{_on(self.on)}"


class Pieces(NamedTuple):
    """The squares of the pieces that somebody sets up, as they were typed.

    Attributes:
        dwarfs: those of the dwarfs.
        trolls: those of the trolls.
        middle: those of the Thudstone or the Rock, whichever the rules have: there should be one.
    """

    dwarfs: tuple[Square, ...] = ()
    trolls: tuple[Square, ...] = ()
    middle: tuple[Square, ...] = ()

    @classmethod
    def of(cls, standing: Iterable[tuple[Piece, Square]]) -> Pieces:
        """Return pieces by their squares."""
        pairs = list(standing)
        middle = {Piece.STONE, Piece.ROCK}
        return cls(
            *(
                tuple(square for piece, square in pairs if piece in kinds)
                for kinds in ({Piece.DWARF}, {Piece.TROLL}, middle)
            )
        )

    def __str__(self) -> str:
        """Return them as they are typed."""
        kinds = zip(("dwarfs", "trolls", "rock"), self, strict=True)
        return " ".join(
            f"{kind} {', '.join(map(str, squares))}" for kind, squares in kinds if squares
        )


NO_PIECES = Pieces()


def _turn(side: Side | None) -> str:
    return "" if side is None else f" turn {side.plural}"


@dataclass(frozen=True, slots=True)
class SetUp(Command):
    """Set up the position that the next match at a board begins from: these pieces and no others.

    Without a ``turn`` it is that of the side that begins by the rules.
    """

    pieces: Pieces
    turn: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        return f"setup {self.pieces}{_turn(self.turn)}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetUpMore(Command):
    """Add pieces to the position that the next match begins from, or change whose turn it is."""

    pieces: Pieces = NO_PIECES
    turn: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        added = f" add {self.pieces}" if any(self.pieces) else ""
        return f"setup{added}{_turn(self.turn)}{_on(self.on)}"


@dataclass(frozen=True, slots=True)
class SetUpLess(Command):
    """Take pieces out of the position that the next match begins from."""

    squares: tuple[Square, ...]
    turn: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        return f"setup remove {', '.join(map(str, self.squares))}{_turn(self.turn)}{_on(self.on)}"


class SetUpOpening(_BoardCommand):
    """Have the next match at a board begin as by its rules again."""

    __slots__ = ()
    words = "setup opening"


SetUpCommand = SetUp | SetUpMore | SetUpLess | SetUpOpening


@dataclass(frozen=True, slots=True)
class Play(Command):
    """Ask for a ply: ``move``, ``shove`` or ``hurl``."""

    attempt: Attempt
    on: str | None = None

    def __str__(self) -> str:
        asked = self.attempt
        line = f"{asked.verb.value} from {asked.origin} to {asked.target}{_on(self.on)}"
        if asked.captures is None:
            return line
        if asked.captures is EVERY:
            return f"{line} capturing all"
        return f"{line} capturing {', '.join(map(str, asked.captures)) or 'none'}"


class ViewGame(_BoardCommand):
    """See a board drawn whole."""

    __slots__ = ()
    words = "view game"
    is_question = True


@dataclass(frozen=True, slots=True)
class ViewPossible(Command):
    """List the legal moves, or those of the piece on one square."""

    is_question = True

    origin: Square | None = None
    on: str | None = None

    def __str__(self) -> str:
        start = "" if self.origin is None else f" from {self.origin}"
        return f"view possible{start}{_on(self.on)}"


class Hint(_BoardCommand):
    """Ask what to play, and why."""

    __slots__ = ()
    words = "hint"


GameCommand = (
    Join
    | Leave
    | End
    | Start
    | Practice
    | Resign
    | Undo
    | No
    | Claim
    | Adjourn
    | Resume
    | SetBoard
    | SetRules
    | SetUpCommand
    | SetClock
    | Play
    | ViewGame
    | ViewPossible
    | Hint
)
