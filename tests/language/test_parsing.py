"""Lines that ask for something, and what they ask for."""

from __future__ import annotations

import pytest

from thudmud.language import KEYWORDS, MAX_LINE, VERBS, ParseError, parse
from thudmud.play.commands import (
    Accept,
    Adjourn,
    Again,
    Around,
    Boards,
    Captures,
    Challenge,
    Claim,
    Command,
    Decline,
    Emote,
    End,
    Games,
    Go,
    Help,
    History,
    Ignore,
    Invite,
    Join,
    LastMove,
    Leave,
    Lines,
    Look,
    NewBoard,
    No,
    Password,
    Play,
    PlayNow,
    Quit,
    Register,
    Replay,
    Resign,
    Resume,
    Say,
    ScanColumn,
    ScanRow,
    Seek,
    Seeks,
    SetBoard,
    SetRules,
    Start,
    Step,
    Style,
    Syntax,
    Tell,
    Undo,
    Unignore,
    ViewBots,
    ViewGame,
    ViewNews,
    ViewPossible,
    ViewRecord,
    ViewScore,
    ViewStandings,
    Way,
    Where,
    Who,
    Withdraw,
)
from thudmud.play.options import (
    SHADES,
    WIDTHS,
    Charset,
    Colour,
    Element,
    Orient,
    Scheme,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOrient,
    SetPrompt,
    SetReader,
    SetScheme,
    SetWidth,
    ShowOptions,
    ShowScheme,
    Switch,
)
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
    ("end game on last board", End("last board")),
    ("end", End()),
    ("finish", End()),
    ("finish game on board", End("board")),
    ("start", Start()),
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
    ("move a1 o15", play(Verb.MOVE, "A1", "O15")),  # in the grid, off the board: parses
    ("move g7 f7 capturing e7", play(Verb.MOVE, "G7", "F7", "E7")),
    ("move g7 f7 capturing e 7 , E6 ,g 8", play(Verb.MOVE, "G7", "F7", "E7 E6 G8")),
    ("move g7 f7 capturing all", play(Verb.MOVE, "G7", "F7", EVERY)),
    ("move g7 f7 capturing none", play(Verb.MOVE, "G7", "F7", ())),
    ("move g7 f7, capturing none", play(Verb.MOVE, "G7", "F7", ())),
    ("move g7 f7 on board, capturing e7", play(Verb.MOVE, "G7", "F7", "E7", "board")),
    ("shove c5 to c7 on board capturing d8, e8", play(Verb.SHOVE, "C5", "C7", "D8 E8", "board")),
    ("shove c5 c7 capturing d8,e8 on board", play(Verb.SHOVE, "C5", "C7", "D8 E8", "board")),
    ("shove c5 c7 Capturing All On board", play(Verb.SHOVE, "C5", "C7", EVERY, "board")),
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
    ("seek", Seek()),
    ("seek classic as dwarf unrated", Seek("classic", Side.DWARF, rated=False)),
    ("seek unrated", Seek(rated=False)),
    ("match bert", Challenge("bert")),
    ("match bert koom valley as troll", Challenge("bert", "koom valley", Side.TROLL)),
    ("match bert unrated", Challenge("bert", rated=False)),
    ("match grog classic level 3", Challenge("grog", "classic", level="3")),
    ("seeks", Seeks()),
    ("accept", Accept()),
    ("yes", Accept()),
    ("accept 7", Accept(7)),
    ("accept bert", Accept("bert")),
    ("no bert", Decline("bert")),
    ("decline 7", Decline(7)),
    ("withdraw", Withdraw()),
    ("withdraw 7", Withdraw(7)),
    ("new board", NewBoard()),
    ("new board Koom Valley", NewBoard("koom valley")),
    ("games all", Games(everybodys=True)),
    ("record 7", ViewRecord(7)),
    ("score", ViewScore()),
    ("score anna", ViewScore("anna")),
    ("standings", ViewStandings()),
    ("register", Register()),
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
    ("who", Who()),
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
    ("ignore", Ignore()),
    ("Ignore Anna", Ignore("Anna")),
    ("ignore page", Ignore("page")),
    ("unignore Anna", Unignore("Anna")),
    ("help", Help()),
    ("help Koom Valley", Help("Koom Valley")),
    ("help '", Help("'")),
    ("syntax", Syntax()),
    ("syntax move", Syntax("move")),
    ("Quit", Quit()),
]


QUERIES = [
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
    ("options width auto", SetWidth(None)),
    ("options width 20", SetWidth(20)),
    ("options width 500", SetWidth(500)),
    ("options orient north", SetOrient(Orient.NORTH)),
    ("options orient south", SetOrient(Orient.SOUTH)),
    ("options reader on", SetReader(Switch.ON)),
    ("options reader auto", SetReader(Switch.AUTO)),
    ("set machine on", SetMachine(value=True)),
    ("set machine off", SetMachine(value=False)),
    ("options machine on", SetMachine(value=True)),
    ("options colour scheme safe", SetScheme(Scheme.SAFE)),
    ("options colour special thud", ShowScheme()),
    ("options colour", ShowScheme()),
    ("options prompt off", SetPrompt(value=False)),
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


@pytest.mark.parametrize(("words", "element"), ELEMENTS)
@pytest.mark.parametrize(("shade", "colour"), COLOURS)
def test_the_colours_of_elements(
    words: str, element: Element, shade: str, colour: Colour | None
) -> None:
    line = f"options colour special thud {words} {shade}"
    assert parse(line) == SetElement(element, colour)


def test_a_colour_may_be_any_that_there_is() -> None:
    for number in range(256):
        line = f"options colour special thud turn {number} on {number}"
        assert parse(line) == SetElement(Element.TURN, Colour(number, number))
    for number, name in enumerate(SHADES):
        assert parse(f"options colour special thud turn {name}") == SetElement(
            Element.TURN, Colour(number)
        )


def test_a_width_may_be_any_that_there_is() -> None:
    for width in range(1000):
        try:
            assert parse(f"options width {width}") == SetWidth(width)
        except ParseError:
            assert width not in WIDTHS
        else:
            assert width in WIDTHS


@pytest.mark.parametrize(
    ("line", "command"),
    QUERIES + OPTIONS + SEATS + PLIES + SECOND_THOUGHTS + WHAT_WAS_PLAYED + ROUND_ABOUT,
)
def test_parse(line: str, command: Command) -> None:
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
def test_a_line_may_end_like_a_sentence(line: str, same: str) -> None:
    assert parse(line) == parse(same)


@pytest.mark.parametrize("line", ["say hi!", "tell anna hi.", ":waves.", "'. . ."])
def test_what_is_said_keeps_its_stops(line: str) -> None:
    assert str(parse(line)).endswith(line[-1])


def test_a_board_that_is_named_after_its_side_may_be_called_anything() -> None:
    assert parse("join as dwarf on same as ever") == Join(Side.DWARF, "same as ever")


@pytest.mark.parametrize("words", OBJECTS)
def test_a_board_may_be_called_anything(words: str) -> None:
    assert parse(f"move a6 b6 on {words}") == play(Verb.MOVE, "A6", "B6", None, words)
    assert parse(f"move a6 b6 on {words} capturing e7") == play(Verb.MOVE, "A6", "B6", "E7", words)
    assert parse(f"move a6 b6 capturing e7 on {words}") == play(Verb.MOVE, "A6", "B6", "E7", words)
    assert parse(f"leave game on {words}") == Leave(words)
    assert parse(f"resume game 3 on {words}") == Resume(3, words)
    assert parse(f"take back on {words}") == Undo(words)
    assert parse(f"look at {words}") == Look(words)
    assert parse(f"invite grog level 3 on {words}") == Invite("grog", None, words, "3")
    assert parse(f"invite grog on {words} level 3") == Invite("grog", None, words, "3")


def test_commands_hold_plain_text() -> None:
    """Lark's tokens know where they stood; nothing of that may stay in a command."""
    for command in map(
        parse, ("tell anna hello", "look at oak board", "leave on board", "score anna")
    ):
        assert isinstance(command, Tell | Look | Leave | ViewScore)
        for field in type(command).__dataclass_fields__:
            assert type(getattr(command, field)) is str


def test_commands_hold_plain_numbers() -> None:
    command = parse("replay 3")
    assert isinstance(command, Replay)
    assert type(command.number) is int


def test_a_long_list_of_positions_in_a_line_as_long_as_may_be() -> None:
    line = "move a6 b6 capturing " + ",".join(["c7"] * 334)
    command = parse(line)
    assert len(line) == MAX_LINE - 2
    assert isinstance(command, Play)
    assert isinstance(command.attempt.captures, tuple)
    assert len(command.attempt.captures) == 334


def test_verbs_and_keywords() -> None:
    for verb in ("join", "finish", "end", "l", "'", ":", "take back", "no", "syntax"):
        assert verb in VERBS
    assert not {"koom", "take", "page"}.intersection(VERBS)
    for verb in ("options", "where", "scan", "around", "lines", "captures", "moves"):
        assert verb in VERBS
    assert not {"row", "red", "dim", "north", "stone", "auto"}.intersection(KEYWORDS)
    for word in ("dwarves", "koom", "valley", "capturing", "hall", "quit", "l", "none"):
        assert word in KEYWORDS
    assert all(word == word.lower() for word in KEYWORDS)
