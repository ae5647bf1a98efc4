"""Lines that ask for nothing we know: where they fail, and what is said about it."""

from __future__ import annotations

import pytest

from thudmud.language import MAX_LINE, ParseError, parse

POSITION = "a position such as A6"
BOARD = "the name of a board"
NUMBER = "a number such as 12"
PLAYER = "the name of a player"
END = "the end of the line"
PIECES = ('"dwarf"', '"troll"', '"stone"', '"rock"')
PAINTS = ('"on"', '"none"', '"bold"', '"default"')
DWARF = "options colour special thud dwarf"
HUES = "black, red, green, yellow, blue, magenta, cyan or white"
NO_COLOUR = (
    f'That is no colour here: name {HUES}, "bright" before them or not; or a number, '
    "0 to 255, or #rrggbb."
)


def refusal(line: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse(line)
    return caught.value


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("move", "", (POSITION, '"from"')),
        ("move a6", "", (POSITION, '"to"')),
        ("move from", "", (POSITION,)),
        ("move a6 tu b6", "tu", (POSITION, '"to"')),
        ("move a6 to", "", (POSITION,)),
        ("move a6 b6 on", "", (BOARD,)),
        ("move a6 b6 on board capturing", "", (POSITION, '"all"', '"none"')),
        ("move a6 b6 capturing on board", "on", (POSITION, '"all"', '"none"')),
        ("move a6 b6 capturing , c7", ",", (POSITION, '"all"', '"none"')),
        ("move a6 b6 capturing c7,", "", (POSITION,)),
        ("move a6 b6 capturing c7,,c8", ",", (POSITION,)),
        ("move a6 b6 capturing c7 c8", "c8", ('a comma, "and"', '"on"', END)),
        ("move a6 b6 capturing all c8", "c8", ('"on"', END)),
        ("move a6 b6 on board capturing c7 on board", "on", ('a comma, "and"', END)),
        ("move a6 b6 c6", "c6", ('"on"', '"capturing"', END)),
        ("move a06 b6", "a06", (POSITION, '"from"')),
        ("move onyx", "onyx", (POSITION, '"from"')),
        ("move from to a6", "to", (POSITION,)),
        ("hurl f1 f6 capture f6", "capture", ('"on"', '"capturing"', END)),
        ("join game", "", ('"as"',)),
        ("join game as", "", ('"dwarf"', '"troll"')),
        ("join game as goblin", "goblin", ('"dwarf"', '"troll"')),
        ("join game as dwarf onyx board", "onyx", ('"on"', END)),
        ("leave game oak board", "oak", ('"on"', END)),
        ("leave game on board capturing all", "capturing", (END,)),
        ("leave game on oak, board", ",", (END,)),
        ("end game on", "", (BOARD,)),
        ("set", "", ('"board"', '"rules"', '"machine"')),
        ("set board", "", ('"full"', '"brief"')),
        ("set rules", "", ('"discworld"', '"classic"', '"koom valley"')),
        ("set rules koom", "koom", ('"discworld"', '"classic"', '"koom valley"')),
        ("look at", "", (BOARD,)),
        ("go", "", (BOARD, '"to"', '"hall"')),
        ("say", "", ("what you want to say",)),
        ("'", "", ("what you want to say",)),
        (":", "", ("what you do",)),
        ("tell", "", (PLAYER,)),
        ("tell anna", "", ("what you want to say",)),
        ("undo oak", "oak", ('"on"', END)),
        ("undo game", "game", ('"on"', END)),
        ("take back on", "", (BOARD,)),
        ("no thanks", "thanks", ('"on"', END)),
        ("claim victory", "victory", ('"game"', '"on"', END)),
        ("adjourn game 3", "3", ('"on"', END)),
        ("resume oak", "oak", (NUMBER, '"game"', '"on"', END)),
        ("resume game 3 4", "4", ('"on"', END)),
        ("resume on 3, 4", ",", (END,)),
        ("history anna bert", "bert", ('"page"', END)),
        ("history ,", ",", (PLAYER, '"page"', END)),
        ("history page", "", (NUMBER,)),
        ("history page two", "two", (NUMBER,)),
        ("history anna page", "", (NUMBER,)),
        ("replay 12 back", "back", (END,)),
        ("record 7,8", ",", (END,)),
        ("next 5", "5", (END,)),
        ("score anna bert", "bert", (END,)),
        ("tell 2 hello", "2", (PLAYER,)),
        ("games now", "now", (END,)),
        ("quit now", "now", (END,)),
        ("where", "", PIECES),
        ("where goblins are", "goblins", PIECES),
        ("scan", "", ('"row"', '"column"')),
        ("scan row", "", ("a row such as 5",)),
        ("scan column ff", "ff", ("a column such as F",)),
        ("scan row 5 6", "6", ('"on"', END)),
        ("around", "", (POSITION,)),
        ("around oak", "oak", (POSITION,)),
        ("lines goblins", "goblins", ('"on"', '"dwarf"', '"troll"', END)),
        ("captures oak", "oak", (POSITION, '"from"', '"on"', END)),
        ("last oak", "oak", ('"move"', '"on"', END)),
        ("options charset", "", ('"auto"', '"ascii"', '"utf-8"')),
        ("options colour", "", ('"on"', '"scheme"', '"special"', '"off"', '"auto"')),
        ("options width", "", ("a number from 20 to 500", '"auto"')),
        ("options width wide", "wide", ("a number from 20 to 500", '"auto"')),
        ("options orient up", "up", ('"north"', '"south"')),
        ("set machine auto", "auto", ('"on"', '"off"')),
        ("options colour special", "", ('"thud"',)),
        ("options colour special thud dwarf", "", ("a colour such as red", *PAINTS)),
        ("options colour special thud dwarf on", "", ("a colour such as red",)),
        ("options colour special thud dwarf none red", "red", (END,)),
        ("options colour special thud dwarf red on blue red", "red", ('"bold"', END)),
        ("options colour special thud dwarf red, bold", ",", ('"on"', '"bold"', END)),
        ("boards, who", ",", (END,)),
    ],
)
def test_what_was_expected(line: str, word: str, expected: tuple[str, ...]) -> None:
    error = refusal(line)
    assert (error.word, error.expected) == (word, expected)


@pytest.mark.parametrize("line", ["inventory", "on board", "", "a6 b6", "\x07"])
def test_no_such_command(line: str) -> None:
    error = refusal(line)
    assert (error.column, error.understood, error.suggestion) == (0, "", None)
    assert '"move"' in error.expected


@pytest.mark.parametrize(
    ("line", "column", "understood"),
    [
        ("move a6  tu b6", 8, "move a6"),
        ("  move\ta6", 7, "move a6"),
        ("leave game, on board", 10, "leave game"),
        ("move a6 b6 on the oak board capturing d8 , e 8; f8", 46, None),
    ],
)
def test_where_it_failed(line: str, column: int, understood: str | None) -> None:
    error = refusal(line)
    assert error.column == column
    assert understood is None or error.understood == understood


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("hrul a6 b6", "hurl"),
        ("shov a6 b6", "shove"),
        ("Mvoe a6 b6", "move"),
        ("jion game", "join"),
        ("who?", "who"),
        ("exit", "quit"),
        ("north", "go"),
        ("draw", "end"),
        ("stand up", "leave"),
        ("throw f1 f6", "hurl"),
        ("? thud", "help"),
        ("move a6 ot b6", None),
        ("move a6 b6 in board", "on"),
        ("move a6 b6 captruing c7", "capturing"),
        ("move a6 b6 capture c7", "capturing"),
        ("move a6 b6 capturing everything", "all"),
        ("join game as dwarve", "dwarves"),
        ("join gaem as dwarf", "game"),
        ("set rules koom", "koom valley"),
        ("set rules discwrold", "discworld"),
        ("set board breif", "brief"),
        ("view posible", "possible"),
        ("take d8", "take back"),
        ("oops", "undo"),
        ("nope", "no"),
        ("pause", "adjourn"),
        ("continue", "resume"),
        ("resum", "resume"),
        ("game", "games"),
        ("histroy", "history"),
        ("history 2", "page 2"),
        ("history anna 02", "page 2"),
        ("history anna pgae 2", "page"),
        ("watch oak board", "go"),
        ("replya 12", "replay"),
        ("n", "go"),
        ("previous", "back"),
        ("ratings", "standings"),
        ("stats anna", "score"),
        ("replay #12", "12"),
        ("resume game 012", "12"),
        ("record 12.", "12"),
        ("optoins", "options"),
        ("settings", "options"),
        ("scan colum f", "column"),
        ("scan row 05", "5"),
        ("scan 5", "row 5"),
        ("scan f", "column f"),
        ("scan p", None),
        ("row 5", "scan row"),
        ("where trols", "trolls"),
        ("threats", "captures"),
        ("nearby f6", "around"),
        ("last mvoe", "move"),
        ("colour off", "options colour"),
        ("options vivid", "colour scheme vivid"),
        ("options 80", "width 80"),
        ("options north", "orient north"),
        ("options on", None),
        ("options colour yes", "on"),
        ("options reader no", "off"),
        ("options color dwarf red", "special thud dwarf"),
        ("option color special troll red", "thud troll"),
        ("options charset utf", "utf-8"),
        ("options width 080", "80"),
        (f"{DWARF} 007", "7"),
        (f"{DWARF} #F80", "#ff8800"),
        (f"{DWARF} ff8800", "#ff8800"),
        (f"{DWARF} red blue", "on blue"),
        (f"{DWARF} blod", "bold"),
        (f"{DWARF} light red", "bright"),
        (f"{DWARF} reset", "default"),
        ("not", None),
        ("dance", None),
    ],
)
def test_near_misses(line: str, suggestion: str | None) -> None:
    assert refusal(line).suggestion == suggestion


@pytest.mark.parametrize(
    ("line", "detail", "suggestion"),
    [
        ("move from I16 to A0", "There is no row 16: rows go from 1 to 15.", None),
        ("move a6 to A0", "There is no row 0: rows go from 1 to 15.", None),
        ("move Z3 a4", "There is no column Z: columns go from A to O.", None),
        ("move a6 b6 capturing p4", "There is no column P: columns go from A to O.", None),
        ("view possible from o 100", "There is no row 100: rows go from 1 to 15.", None),
        ("move A1 5 to b6", 'There is a blank inside a number: "A1 5".', "A15"),
        ("move b6 to a 1 2", 'There is a blank inside a number: "a 1 2".', "A12"),
        ("move b6 to a1 6", 'There is a blank inside a number: "a1 6".', None),
        ("move b6 c7 capturing a1 1, b2", 'There is a blank inside a number: "a1 1".', "A11"),
        ("move a6-b6", "Write A6 and B6 apart from each other.", None),
        ("move a6b6", "Write A6 and B6 apart from each other.", None),
        ("move a6 b6 capturing d8;e8", "Write D8 and E8 apart from each other.", None),
    ],
)
def test_positions_that_are_none(line: str, detail: str, suggestion: str | None) -> None:
    error = refusal(line)
    assert (error.detail, error.suggestion) == (detail, suggestion)


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("replay 0", "Numbers begin with 1 here."),
        ("history page 000", "Numbers begin with 1 here."),
        ("resume #0", "Numbers begin with 1 here."),
        ("record 1234567890", "That number is too long: numbers have at most 9 digits."),
        ("replay " + "9" * 1000, "That number is too long: numbers have at most 9 digits."),
        ("replay", 'Say which battle, by its number: "history" lists them.'),
        ("record anna", 'Say which battle, by its number: "history" lists them.'),
        ("replay -1", 'Say which battle, by its number: "history" lists them.'),
        ("Play as dwarf", 'To take a seat, type "join game as dwarf" or "join game as troll".'),
        ("play 12", 'To take a seat, type "join game as dwarf" or "join game as troll".'),
        ("yes", 'To agree to an offer say the same: "undo", "end", "start" or "adjourn".'),
        ("Agreed!", 'To agree to an offer say the same: "undo", "end", "start" or "adjourn".'),
        ("scan row 16", "There is no row 16: rows go from 1 to 15."),
        ("scan row 0", "There is no row 0: rows go from 1 to 15."),
        ("scan row " + "9" * 1000, "There is no row 9999: rows go from 1 to 15."),
        ("scan column p", "There is no column P: columns go from A to O."),
        ("scan row F", 'F is a column: type "scan column f".'),
        ("scan column 06", '6 is a row: type "scan row 6".'),
        ("around p6", "There is no column P: columns go from A to O."),
        ("captures a16", "There is no row 16: rows go from 1 to 15."),
        (
            "where anna",
            '"where" finds dwarfs, trolls, the stone or the rock; to find a player, "look".',
        ),
        (
            "where are the trolls",
            'Say just "where", and "dwarfs", "trolls", "stone" or "rock".',
        ),
        (
            "moves a6 to b6",
            'To play a move, begin with "move"; "moves" lists what can be played.',
        ),
        ("options width 7", "A screen is 20 to 500 columns wide here."),
        ("options width 501", "A screen is 20 to 500 columns wide here."),
        ("options width -80", "A screen is 20 to 500 columns wide here."),
        ("options width " + "8" * 1000, "A screen is 20 to 500 columns wide here."),
        ("set width 60", 'That is one of the options: type "options width 60".'),
        (f"{DWARF} 256", "The numbers of colours go from 0 to 255."),
        (f"{DWARF} on -1", "The numbers of colours go from 0 to 255."),
        (f"{DWARF} #ff880", 'Write # and six digits, 0 to 9 and a to f, such as "#ff8800".'),
        (f"{DWARF} bright", f'After "bright" comes {HUES}.'),
        (f"{DWARF} puce", NO_COLOUR),
        (f"{DWARF} red on none", NO_COLOUR),
        (
            "register swordfish",
            'Type "register" by itself: you are asked for the rest, and it is not shown.',
        ),
        (
            "Password old new",
            'Type "password" by itself: you are asked for the rest, and it is not shown.',
        ),
    ],
)
def test_lines_with_a_sentence_of_their_own(line: str, detail: str) -> None:
    error = refusal(line)
    assert (error.detail, error.suggestion) == (detail, None)


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("colours", "options colour"),
        ("colors", "options colour"),
        ("brief", "set board brief"),
        ("full", "set board full"),
        ("set brief", "board brief"),
        ("set classic", "rules classic"),
        ("set", None),
    ],
)
def test_words_left_out_of_settings(line: str, suggestion: str | None) -> None:
    error = refusal(line)
    assert (error.detail, error.suggestion) == (None, suggestion)


def test_set_alone_asks_for_what_can_be_set() -> None:
    assert refusal("set").expected == refusal("set foo").expected
    assert '"board"' in refusal("set").expected


@pytest.mark.parametrize(
    ("colour", "detail", "suggestion"),
    [
        ("gren", NO_COLOUR, "green"),
        ("orange", NO_COLOUR, "yellow"),
        ("bold purple", NO_COLOUR, "magenta"),
        ("bright gren", f'After "bright" comes {HUES}.', "bright green"),
    ],
)
def test_colours_that_are_none(colour: str, detail: str, suggestion: str) -> None:
    error = refusal(f"{DWARF} {colour}")
    assert (error.detail, error.suggestion) == (detail, suggestion)
    assert error.column == len(f"{DWARF} bold " if "bold" in colour else f"{DWARF} ")


@pytest.mark.parametrize("line", ["shove c5 c7", "shove from c5 to c7 on board", "SHOVE C5 C7"])
def test_a_shove_has_to_capture(line: str) -> None:
    error = refusal(line)
    assert error.detail == (
        'A shove has to capture: add "capturing" and positions such as D8, E8, or "all".'
    )
    assert error.word == ""


def test_a_line_that_is_too_long() -> None:
    for line in ("x" * (MAX_LINE + 1), " " * 16_000, "say " + "a" * 10_000_000):
        error = refusal(line)
        assert error.detail == "That is too long: a line has at most 1,024 characters."
        assert len(error.line) <= MAX_LINE
    assert parse("say " + "a" * (MAX_LINE - 4))
