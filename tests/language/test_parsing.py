"""Valid lines and the commands that they parse to."""

from __future__ import annotations

from itertools import chain, permutations

import pytest
from msgspec.structs import fields

from tests.cases import cases
from thudmud.features.archive.commands import (
    Games,
    History,
    Replay,
    Step,
    Stop,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
)
from thudmud.features.letters.commands import ForgetLetters, Letters, SendLetter
from thudmud.features.matchmaking.commands import (
    Accept,
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
from thudmud.features.playing.moves import Adjourn, Claim, End, Play, Resign, Start, Undo
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
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.playing.setup import SetClock, SetRules
from thudmud.features.playing.unfinished import UnfinishedPly
from thudmud.features.rooms.commands import Boards, Go, Look, Observe, Unobserve, ViewBots, ViewNews
from thudmud.features.talk.commands import Emote, Kibitz, Respond, Say, Shout, Social, Tell, Whisper
from thudmud.features.tournaments.commands import Enter, LeaveTournament
from thudmud.game.clocks import TimeClass, TimeControl
from thudmud.game.more import Again, Help, LogoutEverywhere, Password, Quit, Register, Syntax
from thudmud.game.options import (
    SHADES,
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
from thudmud.game.refusals import Mistake
from thudmud.language import KEYWORDS, MAX_LINE, VERBS, ParseError, parse
from thudmud.rules import EVERY, Attempt, Every, Piece, Side, Square, Verb


def at(name: str) -> Square:
    return Square.parse(name)


def play(
    verb: Verb,
    origin: str,
    target: str,
    captures: str | tuple[Square, ...] | Every | None = None,
    on: str | None = None,
) -> Play:
    squares = tuple(map(at, captures.split())) if isinstance(captures, str) else captures
    return Play(Attempt(verb, at(origin), at(target), squares), on)


SEATS = [
    ("join game as dwarf on oak board", Join(Side.DWARF, "oak board")),
    ("join game as dwarfs", Join(Side.DWARF)),
    ("JOIN GAME AS DWARVES ON Oak Board", Join(Side.DWARF, "Oak Board")),
    ("join as trolls on 2nd board", Join(Side.TROLL, "2nd board")),
    ("join game as troll on it", Join(Side.TROLL, "it")),
    ("join", Join()),
    ("join game", Join()),
    ("join oak", Join(on="oak")),
    ("join on oak board", Join(on="oak board")),
    ("join as dwarf oak", Join(Side.DWARF, "oak")),
    ("join trolls", Join(Side.TROLL)),
    ("join oak board as trolls", Join(Side.TROLL, "oak board")),
    ("join game on it as dwarf", Join(Side.DWARF, "it")),
    ("leave game on board 2", Leave("board 2")),
    ("leave", Leave()),
    ("enter 3", Enter(3)),
    ("enter tournament 3", Enter(3)),
    ("enter tournament 3 with grog", Enter(3, "grog")),
    ("withdraw from 3", LeaveTournament(3)),
    ("withdraw from tournament 3", LeaveTournament(3)),
    ("withdraw bert from tournament 3", LeaveTournament(3, "bert")),
    ("end game on last board", End("last board")),
    ("end", End()),
    ("finish", End()),
    ("finish game on board", End("board")),
    ("start", Start()),
    ("rematch", Start()),
    ("rematch on board", Start("board")),
    ("start new on board", Start("board")),
    ("Start New Game On Board", Start("Board")),
    ("start game", Start()),
    ("resign", Resign()),
    ("resign from game on board", Resign("board")),
    ("resign game", Resign()),
    ("set board full on board", SetBoard(Style.FULL, "board")),
    ("set board brief", SetBoard(Style.BRIEF)),
    ("set rules discworld on oak board", SetRules("discworld", "oak board")),
    ("set rules classic", SetRules("classic")),
    ("set clock 10+5 on oak board", SetClock(TimeControl(10, 5), "oak board")),
    ("Set Clock 180 + 180", SetClock(TimeControl(180, 180))),
    ("set clock 1 day", SetClock(TimeControl(days=1))),
    ("set clock 14 Days on it", SetClock(TimeControl(days=14), "it")),
    ("set clock off", SetClock(None)),
    ("set clock none on oak", SetClock(None, "oak")),
    ("set rules KOOM  valley on board", SetRules("koom valley", "board")),
    ("view", ViewGame()),
    ("view game on 2", ViewGame("2")),
    ("view possible", ViewPossible()),
    ("view possible on board", ViewPossible(None, "board")),
    ("view possible from a 6 on board", ViewPossible(at("A6"), "board")),
    ("view possible a6", ViewPossible(at("A6"))),
]

PLIES = [
    ("move from a6 to b6 on board", play(Verb.MOVE, "A6", "B6", None, "board")),
    ("move a6 b6", play(Verb.MOVE, "A6", "B6")),
    ("move a6 to b6", play(Verb.MOVE, "A6", "B6")),
    ("move from a6 b6", play(Verb.MOVE, "A6", "B6")),
    ("MOVE FROM A 6 TO o  15", play(Verb.MOVE, "A6", "O15")),
    (
        "move a1 o15",
        play(Verb.MOVE, "A1", "O15"),
    ),  # inside the grid but off the board: still parses
    ("move g7 f7 capturing e7", play(Verb.MOVE, "G7", "F7", "E7")),
    ("move g7 f7 capturing e 7 , E6 ,g 8", play(Verb.MOVE, "G7", "F7", "E7 E6 G8")),
    ("move g7 f7 capturing all", play(Verb.MOVE, "G7", "F7", EVERY)),
    ("move g7 f7 capturing none", play(Verb.MOVE, "G7", "F7", ())),
    ("move g7 f7, capturing none", play(Verb.MOVE, "G7", "F7", ())),
    ("move g7 f7 on board, capturing e7", play(Verb.MOVE, "G7", "F7", "E7", "board")),
    ("shove c5 c7 capturing d8 e 8, f9 on it", play(Verb.SHOVE, "C5", "C7", "D8 E8 F9", "it")),
    ("shove c5 to c7 on board capturing d8, e8", play(Verb.SHOVE, "C5", "C7", "D8 E8", "board")),
    ("shove c5 c7 capturing d8,e8 on board", play(Verb.SHOVE, "C5", "C7", "D8 E8", "board")),
    ("shove c5 c7 Capturing All On board", play(Verb.SHOVE, "C5", "C7", EVERY, "board")),
    ("shove c5 c7", play(Verb.SHOVE, "C5", "C7")),
    ("SHOVE from C5 to C7 on board", play(Verb.SHOVE, "C5", "C7", None, "board")),
    ("hurl", UnfinishedPly(Verb.HURL)),
    ("hurl on oak board", UnfinishedPly(Verb.HURL, None, "oak board")),
    ("shove G7", UnfinishedPly(Verb.SHOVE, Square.parse("G7"))),
    ("m from a6", UnfinishedPly(Verb.MOVE, Square.parse("A6"))),
    ("move the dwarf", UnfinishedPly(Verb.MOVE)),
    ("move the troll from g7 on 2", UnfinishedPly(Verb.MOVE, Square.parse("G7"), "2")),
    ("shove c5 c7 capturing none", play(Verb.SHOVE, "C5", "C7", ())),
    ("hurl from f1 to f6 on board", play(Verb.HURL, "F1", "F6", None, "board")),
    ("a6 b6", play(Verb.MOVE, "A6", "B6")),
    ("A6 to B6 on board", play(Verb.MOVE, "A6", "B6", None, "board")),
    ("a6-b6", play(Verb.MOVE, "A6", "B6")),
    ("a6 - b 6", play(Verb.MOVE, "A6", "B6")),
    ("g7 f7 capturing e7, e6", play(Verb.MOVE, "G7", "F7", "E7 E6")),
    ("g7-f7 capturing e7 on board", play(Verb.MOVE, "G7", "F7", "E7", "board")),
    ("m a6 b6", play(Verb.MOVE, "A6", "B6")),
    ("hurl f1-f6", play(Verb.HURL, "F1", "F6")),
    ("move the dwarf from a6 to b6", play(Verb.MOVE, "A6", "B6")),
    ("move Rock h8 h7", play(Verb.MOVE, "H8", "H7")),
    ("shove the troll from c5 to c7 capturing d8", play(Verb.SHOVE, "C5", "C7", "D8")),
    ("hurl f1 f6 capturing f6", play(Verb.HURL, "F1", "F6", "F6")),
]

SECOND_THOUGHTS = [
    ("undo", Undo()),
    ("undo on oak board", Undo("oak board")),
    ("Takeback", Undo()),
    ("take  back on it", Undo("it")),
    ("no", No()),
    ("NO on board 2", No("board 2")),
    ("decline", No()),
    ("refuse on oak", No("oak")),
    ("claim", Claim()),
    ("claim game on oak board", Claim("oak board")),
    ("adjourn", Adjourn()),
    ("adjourn game", Adjourn()),
    ("adjourn on 2", Adjourn("2")),
    ("resume", Resume()),
    ("resume game", Resume()),
    ("resume 3", Resume(3)),
    ("resume game 999999999 on oak board", Resume(999_999_999, "oak board")),
    ("resume on 2", Resume(None, "2")),
]

WHAT_WAS_PLAYED = [
    ("games", Games()),
    ("history", History()),
    ("history anna", History("anna")),
    ("History Anna Page 12", History("Anna", 12)),
    ("history page 2", History(None, 2)),
    ("history pager", History("pager")),
    ("history me", History("me")),
    ("history with bert", History(opponent="bert")),
    ("history anna with bert", History("anna", 1, "bert")),
    ("history Koom-Valley", History(rules="koom valley")),
    ("history koom", History("koom")),
    ("history anna koom valley page 2", History("anna", 2, rules="koom valley")),
    ("history classic with bert", History(opponent="bert", rules="classic")),
    ("history with bert classic today", History(None, 1, "bert", "classic", "today")),
    ("history 2026-11-20", History(day="2026-11-20")),
    ("history anna Yesterday", History("anna", day="yesterday")),
    ("history 2024-02-29 page 3", History(page=3, day="2024-02-29")),
    ("replay 12", Replay(12)),
    ("replay 12 40", Replay(12, 40)),
    ("next 10", Step(Way.NEXT, 10)),
    ("back 5", Step(Way.BACK, 5)),
    ("next", Step(Way.NEXT)),
    ("Back", Step(Way.BACK)),
    ("first", Step(Way.FIRST)),
    ("last", Step(Way.LAST)),
    ("play", PlayNow()),
    ("Play koom valley as troll", PlayNow("koom valley", Side.TROLL)),
    ("play 5+3", PlayNow(time=TimeControl(5, 3))),
    ("play 5+0 koom valley as dwarf", PlayNow("koom valley", Side.DWARF, TimeControl(5))),
    ("seek", Seek()),
    ("seek 10+5 unrated", Seek(rated=False, time=TimeControl(10, 5))),
    ("seek 3 days classic", Seek("classic", time=TimeControl(days=3))),
    ("seek 3d", Seek(time=TimeControl(days=3))),
    ("seek classic 14 D unrated", Seek("classic", rated=False, time=TimeControl(days=14))),
    (
        "seek koom valley 3 days as troll unrated",
        Seek("koom valley", Side.TROLL, rated=False, time=TimeControl(days=3)),
    ),
    (
        "match bert koom valley 3 days",
        Challenge("bert", "koom valley", time=TimeControl(days=3)),
    ),
    (
        "match slate 10+5 classic level 2",
        Challenge("slate", "classic", level="2", time=TimeControl(10, 5)),
    ),
    ("seek classic as dwarf unrated", Seek("classic", Side.DWARF, rated=False)),
    ("seek unrated", Seek(rated=False)),
    ("seek classic rated as troll", Seek("classic", Side.TROLL, rated=True)),
    ("seek koom valley Casual 3 days", Seek("koom valley", rated=False, time=TimeControl(days=3))),
    ("match kim 3 days rated", Challenge("kim", rated=True, time=TimeControl(days=3))),
    ("match kim casual", Challenge("kim", rated=False)),
    ("play rated", PlayNow(rated=True)),
    ("play casual 5+3", PlayNow(time=TimeControl(5, 3), rated=False)),
    ("match bert", Challenge("bert")),
    ("match bert koom valley as troll", Challenge("bert", "koom valley", Side.TROLL)),
    ("match bert unrated", Challenge("bert", rated=False)),
    ("match grog classic level 3", Challenge("grog", "classic", level="3")),
    ("match grog level 1 1+0", Challenge("grog", level="1", time=TimeControl(1))),
    ("match grog unrated as troll classic", Challenge("grog", "classic", Side.TROLL, rated=False)),
    ("play unrated level Marble", PlayNow(rated=False, level="Marble")),
    ("invite grog level 3 as dwarf", Invite("grog", Side.DWARF, level="3")),
    ("invite grog on oak board as troll", Invite("grog", Side.TROLL, "oak board")),
    ("seeks", Seeks()),
    ("accept", Accept()),
    ("yes", Yes()),
    ("yes 7", Yes(7)),
    ("yes bert", Yes("bert")),
    ("accept 7", Accept(7)),
    ("accept bert", Accept("bert")),
    ("no bert", Decline("bert")),
    ("decline 7", Decline(7)),
    ("withdraw", Withdraw()),
    ("withdraw 7", Withdraw(7)),
    ("new board", NewBoard()),
    ("new board Koom Valley", NewBoard("koom valley")),
    ("games all", Games(includes_everybody=True)),
    ("record 7", ViewRecord(7)),
    ("score", ViewScore()),
    ("score anna", ViewScore("anna")),
    ("standings", ViewStandings()),
    ("standings classic", ViewStandings("classic")),
    ("standings koom valley blitz", ViewStandings("koom valley", TimeClass.BLITZ)),
    ("standings Long", ViewStandings(None, TimeClass.LONG)),
    ("standings rapid classic", ViewStandings("classic", TimeClass.RAPID)),
    ("register", Register()),
    ("logout everywhere", LogoutEverywhere()),
    ("logout", Quit()),
    ("PASSWORD", Password()),
]

OBJECTS = [
    "board to",
    "start game",
    "capturing stone",
    "level board",
    "levels board",
    "2",
    "on",
    "onyx board",
    "the 2nd oak-board",
    "A6",
    "boards",
    "bj\u00f6rn's board",
]

ROUND_ABOUT = [
    ("look", Look()),
    ("l", Look()),
    ("L at oak board", Look("oak board")),
    ("look board", Look("board")),
    ("look at at", Look("at")),
    ("look attic", Look("attic")),
    ("boards", Boards()),
    ("boards 2", Boards(2)),
    ("boards page 2", Boards(2)),
    ("who", Who()),
    ("who be", Who("be")),
    ("who page 2", Who(page=2)),
    ("who bert page 2", Who("bert", 2)),
    ("finger", Finger()),
    ("Finger Anna.", Finger("Anna")),
    ("plan", Plan()),
    ("plan To win, and to learn!", Plan("To win, and to learn!")),
    ("plan none", Plan("none")),
    ("plan -", Plan("-")),
    ("follow", Follow()),
    ("follow Anna", Follow("Anna")),
    ("unfollow Anna", Unfollow("Anna")),
    ("options times on", SetToggle(Toggle.TIMES, value=True)),
    ("options invitations off", SetToggle(Toggle.INVITATIONS, value=False)),
    ("options results off", SetToggle(Toggle.RESULTS, value=False)),
    ("bots", ViewBots()),
    ("news", ViewNews()),
    ("again", Again()),
    (".", Again()),
    ("l 2", Look("2")),
    ("h", Help()),
    ("?", Help()),
    ("? move", Help("move")),
    ("commands", Help()),
    ("go board", Go("board")),
    ("go to oak board", Go("oak board")),
    ("go hall", Go()),
    ("go to the Hall", Go()),
    ("go hall board", Go("hall board")),
    ("go hallway", Go("hallway")),
    ("say hello, all", Say("hello, all")),
    ("'hello", Say("hello")),
    ("' hello", Say("hello")),
    ("''tis", Say("'tis")),
    ("emote waves.", Emote("waves.")),
    (":waves.", Emote("waves.")),
    ("tell anna well played", Tell("anna", "well played")),
    ("invite anna", Invite("anna")),
    ("invite anna on it", Invite("anna", None, "it")),
    ("invite grog level 3", Invite("grog", level="3")),
    ("invite grog as dwarf level Marble on it", Invite("grog", Side.DWARF, "it", "Marble")),
    ("invite grog on oak board level 3", Invite("grog", None, "oak board", "3")),
    ("invite grog as troll on it LEVEL marble", Invite("grog", Side.TROLL, "it", "marble")),
    ("Invite Anna as trolls on the 2nd board", Invite("Anna", Side.TROLL, "the 2nd board")),
    ("invite as as dwarf", Invite("as", Side.DWARF)),
    ("broadcast Hello, all!", Broadcast("Hello, all!")),
    ("MUTE bert FOR an hour BECAUSE of that", Mute("bert", 3600, "of that")),
    ("mute bert because he shouts for 2 hours", Mute("bert", None, "he shouts for 2 hours")),
    ("unmute bert.", Unmute("bert")),
    ("mutes", Mutes()),
    ("kick bert", Kick("bert")),
    ("ban 203.0.113.0/24 for 90 minutes", Ban("203.0.113.0/24", 5400)),
    ("ban 2001:db8::/32 for 1 week", Ban("2001:db8::/32", 604_800)),
    ("ban bert for 3 days because he insults others.", Ban("bert", 259_200, "he insults others.")),
    *(
        (f"mute bert for {words}", Mute("bert", seconds))
        for words, seconds in {
            "2 min": 120,
            "2min": 120,
            "2 mins": 120,
            "2 m": 120,
            "2m": 120,
            "90 sec": 90,
            "90 secs": 90,
            "90S": 90,
            "1 hour": 3600,
            "1h": 3600,
            "2 hr": 7200,
            "2 hrs.": 7200,
            "2 H": 7200,
            "3d": 259_200,
            "3 D": 259_200,
            "2 wk": 1_209_600,
            "2 wks": 1_209_600,
            "2w": 1_209_600,
            "a min": 60,
            "an hr": 3600,
        }.items()
    ),
    ("ban bert for 2d because of that", Ban("bert", 172_800, "of that")),
    ("shutdown in 90s", StopServer(90)),
    ("unban 203.0.113.7.", Unban("203.0.113.7")),
    ("bans page 2", Bans(2)),
    ("reports", Reports()),
    ("close report 12", CloseReport(12)),
    ("close reports about bert", CloseReports(about="bert")),
    ("close reports from Carla", CloseReports(by="Carla")),
    ("close all reports", CloseReports()),
    ("shutdown in 10 minutes because of an update", StopServer(600, "of an update")),
    ("shutdown now", StopServer(0)),
    ("cancel shutdown", CancelShutdown()),
    ("ignore", Ignore()),
    ("Ignore Anna", Ignore("Anna")),
    ("ignore page", Ignore("page")),
    ("unignore Anna", Unignore("Anna")),
    ("message bert Shall we play?", SendLetter("bert", "Shall we play?")),
    ("messages", Letters()),
    ("MESSAGES from Bert.", Letters("Bert")),
    ("messages from bert page 2", Letters("bert", 2)),
    ("messages page 3", Letters(None, 3)),
    ("forget 12", ForgetLetters(12)),
    ("forget message 12", ForgetLetters(12)),
    ("forget messages", ForgetLetters()),
    ("forget messages from bert", ForgetLetters(None, "bert")),
    ("shout Who plays?", Shout("Who plays?")),
    ("report bert He is rude.", FileReport("bert", "He is rude.")),
    ("report bert because he is rude.", FileReport("bert", "he is rude.")),
    ("report bert BECAUSE, well", FileReport("bert", "BECAUSE, well")),
    ("report bert because of his shouts", FileReport("bert", "because of his shouts")),
    ("report bert because", FileReport("bert", "because")),
    ("options shout off", SetToggle(Toggle.SHOUT, value=False)),
    ("kibitz Well played on oak!", Kibitz("Well played on oak!")),
    ("WHISPER the trolls, of course", Whisper("the trolls, of course")),
    ("observe", Observe()),
    ("observe oak board.", Observe("oak board")),
    ("observe anna", Observe("anna")),
    ("observe battle 12", Observe("battle 12")),
    ("observe 2", Observe("2")),
    ("unobserve", Unobserve()),
    ("unobserve 2nd board", Unobserve("2nd board")),
    ("help", Help()),
    ("help Koom Valley", Help("Koom Valley")),
    ("help '", Help("'")),
    ("syntax", Syntax()),
    ("syntax move", Syntax("move")),
    ("Quit", Quit()),
]


QUERIES = [
    ("where", Where()),
    ("where on oak board", Where(None, "oak board")),
    ("where dwarfs", Where(Piece.DWARF)),
    ("where dwarves", Where(Piece.DWARF)),
    ("Where Troll on oak board", Where(Piece.TROLL, "oak board")),
    ("where stone", Where(Piece.STONE)),
    ("where thudstone on 2", Where(Piece.STONE, "2")),
    ("where rock", Where(Piece.ROCK)),
    ("scan row 1", ScanRow(0)),
    ("scan row 15 on stone", ScanRow(14, "stone")),
    ("scan column f", ScanColumn(5)),
    ("SCAN COLUMN O on on", ScanColumn(14, "on")),
    ("around f6", Around(at("F6"))),
    ("around f 6 on board", Around(at("F6"), "board")),
    ("lines", Lines()),
    ("lines dwarfs", Lines(Side.DWARF)),
    ("lines troll on it", Lines(Side.TROLL, "it")),
    ("lines on trolls", Lines(None, "trolls")),
    ("captures", Captures()),
    ("captures f6", Captures(at("F6"))),
    ("captures from f6 on board", Captures(at("F6"), "board")),
    ("moves", ViewPossible()),
    ("moves f6", ViewPossible(at("F6"))),
    ("moves from f6 on board", ViewPossible(at("F6"), "board")),
    ("clock", ViewClock()),
    ("Clocks on oak board", ViewClock("oak board")),
    ("time", ViewClock()),
    ("last move", LastMove()),
    ("last moves", LastMove()),
    ("last move on oak board", LastMove("oak board")),
    ("last on oak board", LastMove("oak board")),
]

OPTIONS = [
    ("options", ShowOptions()),
    ("Option", ShowOptions()),
    ("options charset ascii", SetCharset(Charset.ASCII)),
    ("options charset UTF-8", SetCharset(Charset.UTF_8)),
    ("options charset utf8", SetCharset(Charset.UTF_8)),
    ("options charset auto", SetCharset(Charset.AUTO)),
    ("options colour on", SetColour(Switch.ON)),
    ("options color off", SetColour(Switch.OFF)),
    ("option colour AUTO", SetColour(Switch.AUTO)),
    ("options rows auto", SetRows(None)),
    ("options rows Off", SetRows(0)),
    ("options rows 0", SetRows(0)),
    ("options rows 5", SetRows(5)),
    ("option rows 500", SetRows(500)),
    ("options width auto", SetWidth(None)),
    ("options width 20", SetWidth(20)),
    ("options width 500", SetWidth(500)),
    ("options orient north", SetOrient(Orient.NORTH)),
    ("options orient south", SetOrient(Orient.SOUTH)),
    ("options size large", SetSize(Size.LARGE)),
    ("option SIZE auto", SetSize(Size.AUTO)),
    ("options reader on", SetReader(Switch.ON)),
    ("options reader auto", SetReader(Switch.AUTO)),
    ("set machine on", SetToggle(Toggle.MACHINE, value=True)),
    ("set machine off", SetToggle(Toggle.MACHINE, value=False)),
    ("options machine on", SetToggle(Toggle.MACHINE, value=True)),
    ("options colour scheme safe", SetScheme(Scheme.SAFE)),
    ("options colour special thud", ShowScheme()),
    ("options colour", ShowScheme()),
    ("options prompt off", SetToggle(Toggle.PROMPT, value=False)),
    ("options kibitz off", SetToggle(Toggle.KIBITZ, value=False)),
    ("options whisper on", SetToggle(Toggle.WHISPER, value=True)),
    ("options watchers on", SetToggle(Toggle.WATCHERS, value=True)),
    ("options bell on", SetToggle(Toggle.BELL, value=True)),
    ("option bell off", SetToggle(Toggle.BELL, value=False)),
    ("option seeks on", SetToggle(Toggle.SEEKS, value=True)),
]

ELEMENTS = [
    ("dwarf", Element.DWARF),
    ("dwarves", Element.DWARF),
    ("Trolls", Element.TROLL),
    ("stone", Element.STONE),
    ("rocks", Element.ROCK),
    ("square", Element.SQUARES),
    ("last move", Element.LAST_MOVE),
    ("last moves", Element.LAST_MOVE),
    ("captured", Element.CAPTURED),
    ("coordinate", Element.COORDINATES),
    ("turns", Element.TURN),
]

COLOURS = [
    ("default", None),
    ("none", Colour()),
    ("bold", Colour(bold=True)),
    ("red", Colour(1)),
    ("Bright Red", Colour(9)),
    ("grey", Colour(8)),
    ("gray", Colour(8)),
    ("0", Colour(0)),
    ("255", Colour(255)),
    ("#FF8800", Colour((255, 136, 0))),
    ("on blue", Colour(background=4)),
    ("on bright white bold", Colour(background=15, bold=True)),
    *(
        (words, Colour(1, 4, bold=True))
        for words in (
            "bold red on blue",
            "bold on blue red",
            "red bold on blue",
            "red on blue bold",
            "on blue bold red",
            "on blue red bold",
        )
    ),
    ("208 on #000001", Colour(208, (0, 0, 1))),
]


@cases(("words", "element"), ELEMENTS)
@cases(("shade", "colour"), COLOURS)
def test_element_colour_line_is_parsed(
    words: str, element: Element, shade: str, colour: Colour | None
) -> None:
    line = f"options colour special thud {words} {shade}"
    assert parse(line) == SetElement(element, colour)


def test_colour_accepts_all_numbers_and_shade_names() -> None:
    for number in range(256):
        line = f"options colour special thud turn {number} on {number}"
        assert parse(line) == SetElement(Element.TURN, Colour(number, number))
    for number, name in enumerate(SHADES):
        assert parse(f"options colour special thud turn {name}") == SetElement(
            Element.TURN, Colour(number)
        )


def test_width_accepts_exactly_the_listed_widths() -> None:
    for width in range(1000):
        try:
            assert parse(f"options width {width}") == SetWidth(width)
        except ParseError:
            assert width not in WIDTHS
        else:
            assert width in WIDTHS


BY_HABIT = [
    ("draw", End()),
    ("draw game on oak", End("oak")),
    ("offer draw", End()),
    ("Offer a draw on it.", End("it")),
    ("rematch", Start()),
    ("takeback 2", Undo(moves=2)),
    ("undo 3 on oak", Undo("oak", 3)),
    ("flip", Flip()),
    ("board", ViewGame()),
    ("board on oak", ViewGame("oak")),
    ("board 2", ViewGame("2")),
    ("examine oak board", Look("oak board")),
    ("x", Look()),
    ("capture", Captures()),
    ("capture on oak", Captures(on="oak")),
    ("exit", Quit()),
    ("bye!", Quit()),
    ("logout", Quit()),
    ("exit replay", Stop()),
    ("reply on my way", Respond("on my way")),
    ("r Hello!", Respond("Hello!")),
    ("stats anna", ViewScore("anna")),
    ("watch anna", Observe("anna")),
    ("unwatch", Unobserve()),
    ("f1f6", play(Verb.MOVE, "F1", "F6")),
    ("f11f6 on oak", play(Verb.MOVE, "F11", "F6", on="oak")),
    ("g7f7 capturing e6e7", play(Verb.MOVE, "G7", "F7", "E6 E7")),
    ("move f1f15", play(Verb.MOVE, "F1", "F15")),
    ("A7xB7", play(Verb.HURL, "A7", "B7")),
    ("a7 x b 7 on oak", play(Verb.HURL, "A7", "B7", on="oak")),
    ("a15xb14", play(Verb.HURL, "A15", "B14")),
    ("gg", Say("Good game!")),
    ("GG!", Say("Good game!")),
    ("smile", Social("smile")),
    ("Smile anna.", Social("smile", "anna")),
    ("bow to anna", Social("bow", "anna")),
    ("laugh with anna", Social("laugh", "anna")),
    ("rules", Help("rules")),
    ("Koom Valley", Help("koom valley")),
    ("ratings.", Help("ratings")),
    ("history all", History(includes_everybody=True)),
    (
        "history all classic today page 2",
        History(page=2, rules="classic", day="today", includes_everybody=True),
    ),
    ("match kim 3 days rated", Challenge("kim", time=TimeControl(days=3), rated=True)),
]


@cases(
    ("line", "command"),
    BY_HABIT + QUERIES + OPTIONS + SEATS + PLIES + SECOND_THOUGHTS + WHAT_WAS_PLAYED + ROUND_ABOUT,
)
def test_line_parses_to_the_expected_command(line: str, command: object) -> None:
    assert parse(line) == command


@pytest.mark.parametrize("verb", ["match grog", "play", "seek"])
def test_match_terms_are_accepted_in_any_order(verb: str) -> None:
    terms = ["koom valley", "1+0", "as troll", "unrated", "level 2"]
    terms = terms[: 4 if verb == "seek" else 5]
    for given in chain.from_iterable(permutations(terms, n) for n in range(len(terms) + 1)):
        command: object = parse(" ".join([verb, *given]))
        assert parse(str(command)) == command
        assert command == parse(" ".join([verb, *(each for each in terms if each in given)]))


def assert_same(line: str, same: str) -> None:
    # Typed as `object`: comparing two unions of commands makes mypy check every pair of members.
    command: object = parse(same)
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("move a6 b6 on board.", "move a6 b6 on board"),
        ("go to oak board!", "go to oak board"),
        ("a6 b6.", "a6 b6"),
        ("who...", "who"),
        ("shove c5 c7 capturing d8!", "shove c5 c7 capturing d8"),
        ("record 12.", "record 12"),
        ("set rules koom valley.", "set rules koom valley"),
        ("invite grog.", "invite grog"),
        ("again.", "again"),
    ],
)
def test_line_with_final_punctuation_is_the_same_command(line: str, same: str) -> None:
    assert_same(line, same)


@pytest.mark.parametrize("verb", ["stop", "leave", "quit", "end", "finish"])
@pytest.mark.parametrize("what", ["tutorial", "puzzle", "replay"])
def test_synonyms_of_stop_close_a_tutorial_puzzle_or_replay(verb: str, what: str) -> None:
    for line in (f"{verb} {what}", "stop", "replay off"):
        assert parse(line) == Stop()


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("setup remove g7 h7", "setup remove g7, h7"),
        ("setup remove g 7 h7 and a6 on oak", "setup remove g7, h7, a6 on oak"),
        ("setup add trolls g7 h7", "setup add trolls g7, h7"),
        ("setup dwarfs a6 b5 trolls g7 turn trolls", "setup dwarfs a6, b5, trolls g7 turn trolls"),
    ],
)
def test_setup_commas_are_optional(line: str, same: str) -> None:
    assert_same(line, same)


@pytest.mark.parametrize("line", ["say hi!", "tell anna hi.", ":waves.", "'. . ."])
def test_speech_keeps_its_final_punctuation(line: str) -> None:
    assert str(parse(line)).endswith(line[-1])


def test_board_name_after_a_side_may_contain_as() -> None:
    assert parse("join as dwarf on same as ever") == Join(Side.DWARF, "same as ever")


@pytest.mark.parametrize("words", OBJECTS)
def test_board_name_may_contain_keywords(words: str) -> None:
    assert parse(f"move a6 b6 on {words}") == play(Verb.MOVE, "A6", "B6", None, words)
    assert parse(f"move a6 b6 on {words} capturing e7") == play(Verb.MOVE, "A6", "B6", "E7", words)
    assert parse(f"move a6 b6 capturing e7 on {words}") == play(Verb.MOVE, "A6", "B6", "E7", words)
    assert parse(f"leave game on {words}") == Leave(words)
    assert parse(f"resume game 3 on {words}") == Resume(3, words)
    assert parse(f"take back on {words}") == Undo(words)
    assert parse(f"look at {words}") == Look(words)
    assert parse(f"invite grog level 3 on {words}") == Invite("grog", None, words, "3")
    assert parse(f"invite grog on {words} level 3") == Invite("grog", None, words, "3")


def test_command_texts_are_of_type_str() -> None:
    """Lark's tokens are strings with a position, which must not leak into commands."""
    for command in map(
        parse, ("tell anna hello", "look at oak board", "leave on board", "score anna")
    ):
        assert isinstance(command, Tell | Look | Leave | ViewScore)
        for field in fields(command):
            assert type(getattr(command, field.name)) is str


def test_command_numbers_are_of_type_int() -> None:
    command = parse("replay 3")
    assert isinstance(command, Replay)
    assert type(command.number) is int


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("\u2018hello everybody\u2019", "'hello everybody"),
        ("\u2019hello", "'hello"),
        ("\u201chello everybody\u201d", "'hello everybody"),
        ("\u201ehello everybody\u201c", "'hello everybody"),
        ('"hello everybody"', "'hello everybody"),
        ('"hello', "'hello"),
        ("tournament new swiss \u201cThursday\u201d", 'tournament new swiss "Thursday"'),
        ("f15\u2013f8", "f15-f8"),
        ("move f15\u2212f8", "move f15-f8"),
        ("f15\u00a0\u2014\u202ff8", "f15 - f8"),
        ("tournament new swiss \u201cAnna\u2019s cup\u201d", 'tournament new swiss "Anna\'s cup"'),
    ],
)
def test_typographic_signs_are_equivalent_to_ascii(typed: str, plain: str) -> None:
    assert parse(typed) == parse(plain)


def test_typographic_signs_in_speech_are_kept() -> None:
    assert parse("say it\u2019s \u201cmine\u201d \u2013 I\u2019m sure") == Say(
        "it\u2019s \u201cmine\u201d \u2013 I\u2019m sure"
    )


def test_typographic_sign_that_begins_speech_is_replaced_alone() -> None:
    assert parse("\u2018it\u2019s \u201cmine\u201d \u2013 I\u2019m sure\u2019") == Say(
        "it\u2019s \u201cmine\u201d \u2013 I\u2019m sure"
    )


@pytest.mark.parametrize("line", ['"', "\u201c", '""', "\u2018\u2019"])
def test_quotation_marks_without_words_lack_what_to_say(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(line)
    assert (caught.value.code, caught.value.expected) == (Mistake.MISSING_WORD, ("<text>",))


def test_error_column_after_a_typographic_dash_is_exact() -> None:
    with pytest.raises(ParseError) as caught:
        parse("f15\u2013z9")
    assert (caught.value.column, caught.value.word) == (4, "z9")


def test_capture_list_may_fill_a_line_of_maximum_length() -> None:
    line = "move a6 b6 capturing " + ",".join(["c7"] * 334)
    command = parse(line)
    assert len(line) == MAX_LINE - 2
    assert isinstance(command, Play)
    assert isinstance(command.attempt.captures, tuple)
    assert len(command.attempt.captures) == 334


def test_verbs_and_keywords_contain_the_expected_words() -> None:
    for verb in ("join", "finish", "end", "l", "'", ":", "take back", "no", "syntax"):
        assert verb in VERBS
    assert not {"koom", "take", "page"}.intersection(VERBS)
    for verb in ("options", "where", "scan", "around", "lines", "captures", "moves"):
        assert verb in VERBS
    assert not {"row", "red", "dim", "north", "stone", "auto"}.intersection(KEYWORDS)
    for word in ("dwarves", "koom", "valley", "capturing", "hall", "quit", "l", "none"):
        assert word in KEYWORDS
    assert all(word == word.lower() for word in KEYWORDS)
