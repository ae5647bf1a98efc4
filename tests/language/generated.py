"""Hypothesis strategies for commands and lines of the command language.

An object (the free text that names a board) has no comma, doesn't end in a full stop or an
exclamation mark, and contains "capturing" or "level" only as its first word.
A player's name is a word that starts with neither a digit nor a comma and isn't "page".
"""

from __future__ import annotations

import re

from hypothesis import strategies as st

from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.archive.commands import (
    Games,
    History,
    MakeComment,
    Replay,
    Step,
    Stop,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
)
from thudmud.features.exercises.commands import Lessons, TryPuzzle, Tutorial
from thudmud.features.explorer.commands import Explore
from thudmud.features.hints.commands import Hint
from thudmud.features.letters.commands import ForgetLetters, Letters, SendLetter
from thudmud.features.matchmaking.commands import (
    Accept,
    AcceptWord,
    Challenge,
    Decline,
    Invite,
    NewBoard,
    No,
    PlayNow,
    Seek,
    Seeks,
    Withdraw,
    Yes,
)
from thudmud.features.moderation.commands import (
    Ban,
    Bans,
    Broadcast,
    CancelShutdown,
    CloseReport,
    CloseReports,
    FileReport,
    Kick,
    Mute,
    Mutes,
    Reports,
    StopServer,
    Unban,
    Unmute,
)
from thudmud.features.notifications.commands import (
    Notify,
    NotifyBrowser,
    NotifyCode,
    NotifyMail,
    NotifyOf,
    NotifyOff,
    NotifyPublished,
    NotifyQuiet,
    NotifyWay,
    Published,
)
from thudmud.features.notifications.model import Kind, Quiet
from thudmud.features.options.commands import (
    Flip,
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetRows,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
    ShowOptions,
    ShowScheme,
)
from thudmud.features.people.commands import Finger, Follow, Ignore, Plan, Unfollow, Unignore, Who
from thudmud.features.playing.moves import (
    Adjourn,
    Claim,
    End,
    Play,
    PlayRecorded,
    Resign,
    Start,
    Undo,
)
from thudmud.features.playing.queries import (
    Around,
    Captures,
    LastMove,
    Lines,
    ScanColumn,
    ScanRow,
    SetBoard,
    ViewClock,
    ViewGame,
    ViewPossible,
    Where,
)
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import (
    Pieces,
    SetClock,
    SetRules,
    SetUp,
    SetUpLess,
    SetUpMore,
    SetUpOpening,
)
from thudmud.features.playing.unfinished import UnfinishedPly
from thudmud.features.rooms.commands import Boards, Go, Look, Observe, Unobserve, ViewBots, ViewNews
from thudmud.features.talk.commands import (
    Emote,
    Kibitz,
    Respond,
    Say,
    Shout,
    Social,
    Tell,
    Whisper,
)
from thudmud.features.talk.socials import SOCIALS
from thudmud.features.tournaments.commands import (
    CancelTournament,
    Enter,
    LeaveTournament,
    NewTournament,
    PauseTournament,
    ResumeTournament,
    Tournaments,
    ViewTournament,
)
from thudmud.features.tv.commands import Tv
from thudmud.features.variations.commands import Evaluate, Retry, ViewVariation
from thudmud.game.clocks import MOST_DAYS, MOST_INCREMENT, MOST_MINUTES, TimeClass, TimeControl
from thudmud.game.command import Command
from thudmud.game.days import TODAY, TOMORROW
from thudmud.game.events import TournamentKind
from thudmud.game.more import Again, Help, LogoutEverywhere, Password, Quit, Register, Syntax
from thudmud.game.options import (
    HEIGHTS,
    WIDTHS,
    Charset,
    Colour,
    Element,
    Orient,
    Scheme,
    Size,
    Style,
    Switch,
    Toggle,
)
from thudmud.language import clean
from thudmud.rules import EVERY, Attempt, Piece, Side, Square, Verb

_RULES = ["discworld", "classic", "koom valley"]
_HALL = ("hall", "the hall")
_NASTY = ["on", "to", "board to", "start game", "capturing stone", "2", "all", "none", "A6", "as"]
_NASTY += ["level", "level board", "board levels"]
_ENDING = {"capturing", "level"}

squares = st.builds(Square, st.integers(0, 14), st.integers(0, 14))
texts = st.text(min_size=1, max_size=40).map(clean).filter(bool)
comments = texts.filter(lambda text: text.lower() != "none" and not text.isdigit())
words = st.text(min_size=1, max_size=12).map(lambda text: clean(text).replace(" ", "")).filter(bool)
objects = (
    (st.lists(words, min_size=1, max_size=4).map(" ".join) | st.sampled_from(_NASTY))
    .map(lambda text: clean(text.replace(",", " ")))
    .filter(lambda text: bool(text) and not _ENDING.intersection(text.lower().split()[1:]))
    .filter(lambda text: not text.endswith((".", "!")))
)
boards = st.none() | objects
times = (
    st.none()
    | st.builds(TimeControl, st.integers(1, MOST_MINUTES), st.integers(0, MOST_INCREMENT))
    | st.builds(lambda days: TimeControl(days=days), st.integers(1, MOST_DAYS))
)
sides = st.none() | st.sampled_from(Side)
some_squares = st.lists(squares, max_size=40).map(tuple)
plies = st.builds(
    "{}{}-{}{}".format,
    st.sampled_from("dTR"),
    squares.map(lambda square: square.record_name),
    squares.map(lambda square: square.record_name),
    st.lists(squares.map(lambda square: f"x{square.record_name}"), max_size=8).map("".join),
)
variations = st.lists(plies, max_size=4).map(tuple)
pieces = st.builds(Pieces, some_squares, some_squares, some_squares)
numbers = st.integers(1, 999_999_999)
players = words.filter(
    lambda word: (
        word[0] not in "0123456789,"
        and word[-1] not in ".!"
        and word.lower().split(",")[0] != "page"
    )
)
secrets = st.from_regex(r"[a-z0-9][a-z0-9-]{3,39}", fullmatch=True)
rules = st.none() | st.sampled_from(_RULES)
_NOBODY = {"all", "page", "with", "today", "yesterday", *_RULES}
whose = st.none() | players.filter(lambda word: word.lower().split(",")[0] not in _NOBODY)
days = st.none() | st.sampled_from(["today", "yesterday"]) | st.dates().map(str)
sides = st.none() | st.sampled_from(Side)
levels = st.none() | st.from_regex(r"[1-9]|[a-z]{1,9}", fullmatch=True)
bytes_ = st.integers(0, 255)
shades = st.none() | bytes_ | st.tuples(bytes_, bytes_, bytes_)
colours = st.builds(Colour, shades, shades, st.booleans())


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    """Draw an attempt."""
    captures = st.lists(squares, max_size=15).map(tuple) | st.just(EVERY) | st.none()
    return Attempt(draw(st.sampled_from(Verb)), draw(squares), draw(squares), draw(captures))


keys = st.from_regex("[A-Za-z0-9_-]{20,100}", fullmatch=True)
hours = st.builds(
    Quiet, st.integers(0, 719), st.integers(720, 1439), st.integers(-12 * 60, 14 * 60)
) | st.builds(Quiet, st.integers(720, 1439), st.integers(0, 719))
lengths = st.builds(
    lambda number, unit: number * unit,
    st.integers(1, 9999),
    st.sampled_from([1, 60, 3_600, 86_400, 604_800]),
)
"""Durations in seconds that a player can type."""
whys = st.just("") | texts
networks = st.ip_addresses().map(str) | st.ip_addresses(v=4).map(lambda each: f"{each}/24")


banned = players.filter(lambda word: "," not in word) | networks


def _is_a_name(word: str) -> bool:
    """Whether a word is a name, as opposed to a preposition that may stand before one."""
    return word.lower().split(",")[0] not in {"at", "to", "with"}


def _is_no_from(word: str) -> bool:
    """Whether a word is a name, as opposed to the "from" that may follow one."""
    return word.lower().split(",")[0] != "from"


_terms = {
    "kind": st.sampled_from(TournamentKind),
    "rounds": st.none() | st.integers(0, 999),
    "time": times,
    "rules": rules,
    "rated": st.booleans(),
    "uses_bot_filler": st.booleans(),
    "seconds": st.just(0) | lengths,
    "limit": st.just(0) | lengths,
    "title": st.just("") | texts.map(lambda text: text.replace('"', "").strip()),
}
"""The terms of a tournament, except its start."""
times_of_day = st.times().map(lambda time: f"{time:%H:%M}")


commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(NewTournament, **_terms, wait=st.none() | lengths),
    st.builds(
        NewTournament,
        **_terms,
        day=st.none() | st.sampled_from([TODAY, TOMORROW]) | st.dates().map(str),
        at=times_of_day,
    ),
    st.builds(Tournaments, numbers),
    st.builds(ViewTournament, numbers, numbers),
    st.builds(Enter, numbers, st.none() | players),
    st.builds(LeaveTournament, numbers, st.none() | players.filter(_is_no_from)),
    *(st.builds(kind, numbers) for kind in (PauseTournament, ResumeTournament, CancelTournament)),
    st.builds(Join, st.sampled_from(Side), boards),
    st.builds(
        Join,
        on=boards.filter(lambda on: on is None or "as" not in on.lower().split()[1:]),
    ),
    *(st.builds(kind, boards) for kind in (Leave, End, Start, Resign, ViewGame)),
    *(st.builds(kind, boards) for kind in (No, Claim, Adjourn, Hint)),
    st.builds(Undo, boards, numbers),
    st.builds(Resume, st.none() | numbers, boards),
    st.builds(
        Practice, st.none() | st.sampled_from(["discworld", "classic", "koom valley"]), boards
    ),
    st.builds(SetBoard, st.sampled_from(Style), boards),
    st.builds(SetRules, st.sampled_from(_RULES), boards),
    st.builds(SetClock, times, boards),
    st.builds(SetUp, pieces.filter(any), sides, boards),
    st.builds(SetUpMore, pieces.filter(any), sides, boards),
    st.builds(SetUpMore, st.just(Pieces()), st.sampled_from(Side), boards),
    st.builds(SetUpLess, some_squares.filter(bool), sides, boards),
    st.builds(SetUpOpening, boards),
    st.builds(Play, attempts(), boards),
    st.builds(UnfinishedPly, st.sampled_from(Verb), st.none() | squares, boards),
    st.builds(PlayRecorded, plies, boards),
    st.builds(ViewPossible, st.none() | squares, boards),
    st.builds(History, whose, numbers, st.none() | players, rules, days),
    st.builds(lambda *terms: History.of_everybody("all", *terms), rules, days, numbers),
    st.builds(ViewStandings, rules, st.none() | st.sampled_from(TimeClass)),
    st.builds(ViewScore, st.none() | players),
    st.builds(Replay, numbers, st.just(0) | numbers),
    st.builds(ViewRecord, numbers),
    st.builds(Analyse, st.none() | numbers),
    st.builds(Explore) | st.builds(Explore, numbers, st.just(0) | numbers),
    st.builds(Explore, on=boards),
    st.builds(ViewVariation, numbers, st.just(0) | numbers, variations),
    st.builds(Evaluate, numbers, st.just(0) | numbers, variations),
    st.builds(
        Retry,
        numbers,
        st.just(0) | numbers,
        variations,
        sides,
        levels,
    ),
    st.just(CancelAnalysis()),
    st.builds(MakeComment, st.just("") | comments, numbers, st.integers(0, 999_999_999)),
    st.builds(MakeComment, st.just("") | comments.filter(lambda text: not text[0].isdigit())),
    st.builds(Step, st.sampled_from([way for way in Way if way is not Way.PLAY])),
    st.builds(Step, st.sampled_from([Way.NEXT, Way.BACK]), numbers),
    st.builds(Seek, rules, sides, st.booleans(), times),
    st.builds(Seek, rules, sides, st.booleans(), times, secrets),
    st.builds(AcceptWord, secrets),
    st.builds(Challenge, players, rules, sides, st.booleans(), levels, times),
    st.builds(PlayNow, rules, sides, times, st.booleans(), levels),
    st.builds(NewBoard, rules),
    *(st.builds(kind, st.none() | numbers | players) for kind in (Accept, Yes)),
    st.builds(Decline, numbers | players.filter(lambda word: word.lower().split(",")[0] != "on")),
    st.builds(Withdraw, st.none() | numbers),
    st.builds(Games, st.booleans()),
    st.builds(Tutorial, st.none() | numbers),
    st.builds(TryPuzzle, st.none() | numbers),
    st.sampled_from([Lessons(), Stop()]),
    st.builds(Where, st.none() | st.sampled_from(Piece), boards),
    st.builds(ScanRow, st.integers(0, 14), boards),
    st.builds(ScanColumn, st.integers(0, 14), boards),
    st.builds(Around, squares, boards),
    st.builds(Lines, st.none() | st.sampled_from(Side), boards),
    st.builds(Captures, st.none() | squares, boards),
    st.builds(LastMove, boards),
    st.builds(ViewClock, boards),
    st.builds(SetCharset, st.sampled_from(Charset)),
    st.builds(SetColour, st.sampled_from(Switch)),
    st.builds(SetWidth, st.none() | st.sampled_from(WIDTHS)),
    st.builds(SetOrient, st.sampled_from(Orient)),
    st.builds(SetSize, st.sampled_from(Size)),
    st.builds(SetRows, st.none() | st.just(0) | st.sampled_from(HEIGHTS)),
    st.builds(SetReader, st.sampled_from(Switch)),
    st.builds(SetToggle, st.sampled_from(Toggle), st.booleans()),
    st.builds(SetScheme, st.sampled_from(Scheme)),
    st.builds(SetElement, st.sampled_from(Element), st.none() | colours),
    st.sampled_from([ShowOptions(), ShowScheme(), Flip()]),
    st.builds(Look, boards),
    st.builds(Go, boards.filter(lambda to: to is None or to.lower() not in _HALL)),
    st.builds(Say, texts),
    st.builds(Emote, texts),
    st.builds(Social, st.sampled_from(sorted(SOCIALS)), st.none() | players.filter(_is_a_name)),
    st.builds(Respond, texts),
    st.builds(Kibitz, texts),
    st.builds(Whisper, texts),
    st.builds(Observe, boards),
    st.builds(Unobserve, boards),
    st.builds(Tv, st.booleans()),
    st.builds(Tell, players, texts),
    st.builds(SendLetter, players, texts),
    st.builds(Letters, st.none() | players, numbers),
    st.builds(ForgetLetters, numbers),
    st.builds(ForgetLetters, st.none(), st.none() | players),
    st.builds(Shout, texts),
    st.builds(FileReport, players, texts),
    st.builds(
        Invite,
        players,
        st.none() | st.sampled_from(Side),
        boards,
        levels,
    ),
    st.builds(Broadcast, texts),
    st.builds(Mute, players, st.none() | lengths, whys),
    st.builds(Unmute, players),
    st.builds(Kick, players, whys),
    st.builds(Ban, banned, st.none() | lengths, whys),
    st.builds(Unban, banned),
    st.builds(Bans, numbers),
    st.builds(Reports, numbers),
    st.builds(CloseReport, numbers),
    players.map(CloseReports.of_subject),
    players.map(CloseReports.of_author),
    st.builds(StopServer, st.just(0) | lengths, whys),
    st.sampled_from([Mutes(), CancelShutdown(), CloseReports()]),
    st.builds(Ignore, st.none() | players),
    st.builds(Unignore, players),
    st.builds(Who, st.none() | players, numbers),
    st.builds(Finger, st.none() | players),
    st.builds(Plan, st.none() | texts),
    st.builds(Follow, st.none() | players),
    st.builds(Unfollow, players),
    st.builds(Help, st.none() | texts),
    st.builds(Syntax, st.none() | texts),
    st.builds(Boards, numbers),
    st.sampled_from([ViewBots(), Quit(), Seeks()]),
    st.sampled_from([Register(), Password(), LogoutEverywhere()]),
    st.sampled_from([ViewNews(), Again(), Notify()]),
    st.builds(NotifyMail, st.emails().filter(lambda each: not re.search("[ ,]|[.!]$", each))),
    st.builds(NotifyCode, st.from_regex("[0-9]{6}", fullmatch=True)),
    st.builds(NotifyBrowser, st.just("https://push.example.org/a?b=c"), keys, keys),
    st.builds(NotifyOff, st.none() | st.sampled_from(NotifyWay)),
    st.builds(NotifyOf, st.sampled_from(Kind), st.booleans()),
    st.builds(NotifyQuiet, st.none() | hours),
    st.builds(NotifyPublished, st.sampled_from(Published), st.booleans()),
    st.just(NotifyPublished(Published.CALENDAR, is_on=True, with_new_address=True)),
)
"""Any command."""


@st.composite
def mutated_lines(draw: st.DrawFn) -> str:
    """Draw the line of a command after one to four random insertions, deletions or repetitions."""
    line = str(draw(commands))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(len(line), start + 8)))
        piece = draw(
            st.sampled_from(["", " ", ",", "capturing", " on ", "a1 5", "I16", line[start:end] * 2])
            | st.text(max_size=4)
        )
        line = line[:start] + piece + line[end:]
    return line
