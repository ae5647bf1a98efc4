"""Parse errors: their column, code, expected words and suggestion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from thudmud.game.refusals import Mistake
from thudmud.language import MAX_LINE, ParseError, clean, parse
from thudmud.language.parsing import parse_uncached
from thudmud.language.slips import (
    _OF_ELSEWHERE,
    FIRST_WORD_MISTAKE_DETECTORS,
    MISTAKE_DETECTORS,
    ErrorLocation,
)
from thudmud.language.words import FIRST, SYNONYMS, begins_with_terminal
from thudmud.rules import RULESETS

POSITION = "<position>"
BOARD = "<object>"
NUMBER = "<number>"
PLAYER = "<player>"
END = "<end>"
PIECES = ("dwarf", "troll", "stone", "rock")
PAINTS = ("on", "none", "bold", "default")
DWARF = "options colour special thud dwarf"

M = Mistake
GENERAL = {M.UNKNOWN_COMMAND, M.UNEXPECTED_WORD, M.MISSING_WORD}
"""The codes of an unexpected or missing word without a more specific diagnosis."""


def refusal(line: str) -> ParseError:
    """Return the error of a line, even if `parse` would rephrase the line."""
    with pytest.raises(ParseError) as caught:
        parse_uncached(clean(line)) if len(line) <= MAX_LINE else parse(line)
    return caught.value


@cases(
    ("line", "word", "expected"),
    [
        ("move it", "it", (POSITION, "from")),
        ("move a6 to", "", (POSITION,)),
        ("move from", "", (POSITION,)),
        ("move a6 tu b6", "tu", (POSITION, "to")),
        ("move a6 to", "", (POSITION,)),
        ("move a6 b6 on", "", (BOARD,)),
        ("move a6 b6 on board capturing", "", (POSITION, "all", "none")),
        ("move a6 b6 capturing on board", "on", (POSITION, "all", "none")),
        ("move a6 b6 capturing , c7", ",", (POSITION, "all", "none")),
        ("move a6 b6 capturing c7,", "", (POSITION,)),
        ("move a6 b6 capturing c7,,c8", ",", (POSITION,)),
        ("move a6 b6 capturing c7 with", "with", (POSITION, ",", "and", "on", END)),
        ("move a6 b6 capturing all c8", "c8", ("on", END)),
        ("move a6 b6 on board capturing c7 on board", "on", (POSITION, ",", "and", END)),
        ("move a6 b6 c6", "c6", ("on", "capturing", END)),
        ("move a06 b6", "a06", (POSITION, "from")),
        ("move onyx", "onyx", (POSITION, "from")),
        ("move from to a6", "to", (POSITION,)),
        ("hurl f1 f6 capture f6", "capture", ("on", "capturing", END)),
        ("join game oak, pine", ",", ("as", END)),
        ("join game as", "", ("dwarf", "troll")),
        ("join game as goblin", "goblin", ("dwarf", "troll")),
        ("leave game oak board", "oak", ("on", END)),
        ("leave game on board capturing all", "capturing", (END,)),
        ("leave game on oak, board", ",", (END,)),
        ("end game on", "", (BOARD,)),
        ("set", "", ("clock", "board", "rules", "machine")),
        ("set board", "", ("full", "brief")),
        ("set rules", "", ("discworld", "classic", "koom valley")),
        ("set rules koom", "koom", ("discworld", "classic", "koom valley")),
        ("look at", "", (BOARD,)),
        ("go", "", (BOARD, "to", "hall")),
        ("say", "", ("<text>",)),
        ("'", "", ("<text>",)),
        (":", "", ("<deed>",)),
        ("tell", "", (PLAYER,)),
        ("tell anna", "", ("<text>",)),
        ("ignore 2", "2", (PLAYER, END)),
        ("ignore anna bert", "bert", (END,)),
        ("unignore", "", (PLAYER,)),
        ("undo oak", "oak", (NUMBER, "on", END)),
        ("undo game", "game", (NUMBER, "on", END)),
        ("take back on", "", (BOARD,)),
        ("no on", "", ("<object>",)),
        ("claim victory", "victory", ("game", "on", END)),
        ("adjourn game 3", "3", ("on", END)),
        ("resume oak", "oak", (NUMBER, "tournament", "game", "on", END)),
        ("resume game 3 4", "4", ("on", END)),
        ("resume on 3, 4", ",", (END,)),
        (
            "history anna bert",
            "bert",
            ("<day>", "with", "today", "yesterday", "page", *RULESETS, END),
        ),
        (
            "history ,",
            ",",
            (PLAYER, "<day>", "all", "with", "today", "yesterday", "page", *RULESETS, END),
        ),
        ("history with", "", (PLAYER,)),
        (
            "history classic classic",
            "classic",
            ("<day>", "with", "today", "yesterday", "page", END),
        ),
        ("history classic today page", "", (NUMBER,)),
        (
            "standings anna",
            "anna",
            ("untimed", "blitz", "rapid", "long", "correspondence", *RULESETS, END),
        ),
        ("standings blitz rapid", "rapid", (*RULESETS, END)),
        ("history page", "", (NUMBER,)),
        ("history page two", "two", (NUMBER,)),
        ("history anna page", "", (NUMBER,)),
        ("replay 12 back", "back", (NUMBER, END)),
        ("replay 12 40 back", "back", (END,)),
        ("record 7,8", ",", (END,)),
        ("next five", "five", (NUMBER, END)),
        ("first 5", "5", (END,)),
        ("score anna bert", "bert", (END,)),
        ("tell 2 hello", "2", (PLAYER,)),
        ("games now", "now", ("all", END)),
        ("quit now", "now", ("tutorial", "puzzle", "replay", END)),
        ("where goblins are", "goblins", ("on", *PIECES, END)),
        ("scan", "", ("row", "column")),
        ("scan row", "", ("<row>",)),
        ("scan column ff", "ff", ("<column>",)),
        ("scan row 5 6", "6", ("on", END)),
        ("around", "", (POSITION,)),
        ("around oak", "oak", (POSITION,)),
        ("lines goblins", "goblins", ("on", "dwarf", "troll", END)),
        ("captures oak", "oak", (POSITION, "from", "on", "dwarf", "troll", END)),
        ("last oak", "oak", ("move", "on", END)),
        ("options charset", "", ("auto", "ascii", "utf-8")),
        ("options colour up", "up", ("on", "scheme", "special", "off", "auto", END)),
        ("options prompt", "", ("on", "off")),
        ("options width", "", ("<width>", "auto")),
        ("options width wide", "wide", ("<width>", "auto")),
        ("options orient up", "up", ("north", "south")),
        ("options size", "", ("auto", "small", "large")),
        ("set machine auto", "auto", ("on", "off")),
        ("options colour special", "", ("thud",)),
        ("options colour special thud dwarf", "", ("<colour>", *PAINTS)),
        ("options colour special thud dwarf on", "", ("<colour>",)),
        ("options colour special thud dwarf none red", "red", (END,)),
        ("options colour special thud dwarf red on blue red", "red", ("bold", END)),
        ("options colour special thud dwarf red, bold", ",", ("on", "bold", END)),
        ("boards, who", ",", ("<number>", "page", END)),
    ],
)
def test_error_lists_the_expected_words(line: str, word: str, expected: tuple[str, ...]) -> None:
    error = refusal(line)
    assert error.code in {M.UNEXPECTED_WORD if word else M.MISSING_WORD, M.WHERE_FINDS_PIECES}
    assert (error.word, error.expected) == (word, expected)


@pytest.mark.parametrize("line", ["xyzzy", "on board", "", "a 6 b6", "\x07"])
def test_unknown_command_fails_at_column_zero(line: str) -> None:
    error = refusal(line)
    assert (error.column, error.understood_part, error.suggestion) == (0, "", None)
    assert error.code is (M.UNKNOWN_COMMAND if error.line else M.EMPTY_LINE)
    assert "move" in error.expected


@pytest.mark.parametrize(
    ("line", "column", "understood"),
    [
        ("move a6  tu b6", 8, "move a6"),
        ("  move\ta6\tto", 10, "move a6 to"),
        ("leave game, on board", 10, "leave game"),
        ("move a6 b6 on the oak board capturing d8 , e 8; f8", 46, None),
    ],
)
def test_error_column_is_that_of_the_wrong_word(
    line: str, column: int, understood: str | None
) -> None:
    error = refusal(line)
    assert error.column == column
    assert understood is None or error.understood_part == understood


@cases(
    ("line", "suggestion"),
    [
        ("hrul a6 b6", "hurl"),
        ("shov a6 b6", "shove"),
        ("Mvoe a6 b6", "move"),
        ("jion game", "join"),
        ("who?", "who"),
        ("logoff", "quit"),
        ("drawn", "end"),
        ("kib nice", "kibitz"),
        ("unob anna", "unobserve"),
        ("spectate anna", "observe"),
        ("newbie", "help thud"),
        ("stand up", "leave"),
        ("throw f1 f6", "hurl"),
        ("challenge anna", "match"),
        ("whois anna", "finger"),
        ("q", "quit"),
        ("move a6 ot b6", None),
        ("move a6 b6 in board", "on"),
        ("move a6 b6 captruing c7", "capturing"),
        ("move a6 b6 capture c7", "capturing"),
        ("move a6 b6 capturing everything", "all"),
        ("join game as dwarve", "dwarves"),
        ("set rules koom", "koom valley"),
        ("set rules discwrold", "discworld"),
        ("set board breif", "brief"),
        ("view posible", "possible"),
        ("oops", "undo"),
        ("nope", "no"),
        ("continue", "resume"),
        ("resum", "resume"),
        ("game", "games"),
        ("histroy", "history"),
        ("history 2", "page 2"),
        ("history anna bert", "with bert"),
        ("history anna vs bert", "with"),
        ("history anna clasic", "classic"),
        ("standings clasic", "classic"),
        ("standings blits", "blitz"),
        ("history anna 02", "page 2"),
        ("history anna pgae 2", "page"),
        ("walk oak board", "go"),
        ("relpay 12", "replay"),
        ("previous", "back"),
        ("rankings", "standings"),
        ("rating", "help ratings"),
        ("ratings please", "help ratings"),
        ("answer hello", "tell"),
        ("pose", "emote"),
        ("smiel", "smile"),
        ("match grog 1", "level 1"),
        ("play classic 3", "level 3"),
        ("replay #12", "12"),
        ("resume game 012", "12"),
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
        ("ignroe bert", "ignore"),
        ("gag bert", "ignore"),
        ("ungag bert", "unignore"),
        ("last mvoe", "move"),
        ("colour off", "options colour"),
        ("options vivid", "colour scheme vivid"),
        ("options 80", "width 80"),
        ("options north", "orient north"),
        ("options large", "size large"),
        ("options size big", "large"),
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
        ("not", "notify"),
        ("notify mial anna@example.org", "mail"),
        ("notify mail of", "off"),
        ("waltz", None),
    ],
)
def test_misspelt_word_gets_a_suggestion(line: str, suggestion: str | None) -> None:
    assert refusal(line).suggestion == suggestion


@pytest.mark.parametrize(
    ("line", "code", "suggestion", "facts"),
    [
        ("move from I16 to A0", M.NO_SUCH_ROW, None, {"row": "16"}),
        ("move a6 to A0", M.NO_SUCH_ROW, None, {"row": "0"}),
        ("move Z3 a4", M.NO_SUCH_COLUMN, None, {"letter": "Z"}),
        ("move a6 b6 capturing p4", M.NO_SUCH_COLUMN, None, {"letter": "P"}),
        ("view possible from o 100", M.NO_SUCH_ROW, None, {"row": "100"}),
        ("move A1 5 to b6", M.BLANK_IN_NUMBER, "A15", {"typed": "A1 5"}),
        ("move b6 to a 1 2", M.BLANK_IN_NUMBER, "A12", {"typed": "a 1 2"}),
        ("move b6 to a1 6", M.BLANK_IN_NUMBER, None, {"typed": "a1 6"}),
        ("move b6 c7 capturing a1 1, b2", M.BLANK_IN_NUMBER, "A11", {"typed": "a1 1"}),
        ("p6 b6", M.NO_SUCH_COLUMN, None, {"letter": "P"}),
        ("a6-b16", M.NO_SUCH_ROW, None, {"row": "16"}),
        ("a6b16", M.NO_SUCH_ROW, None, {"row": "16"}),
        ("a6;b6", M.POSITIONS_TOGETHER, None, {"one": "A6", "other": "B6"}),
        ("move a6/b6", M.POSITIONS_TOGETHER, None, {"one": "A6", "other": "B6"}),
        ("move a6 b6 capturing d8;e8", M.POSITIONS_TOGETHER, None, {"one": "D8", "other": "E8"}),
    ],
)
def test_invalid_position_has_a_specific_code_and_suggestion(
    line: str, code: Mistake, suggestion: str | None, facts: dict[str, object]
) -> None:
    error = refusal(line)
    assert (error.code, error.suggestion) == (code, suggestion)
    assert error.details.items() >= facts.items()


@cases(
    ("line", "code", "facts"),
    [
        ("replay 0", M.NUMBERS_BEGIN_WITH_1, {}),
        ("history page 000", M.NUMBERS_BEGIN_WITH_1, {}),
        ("resume #0", M.NUMBERS_BEGIN_WITH_1, {}),
        ("record 1234567890", M.NUMBER_TOO_LONG, {"most": 9}),
        ("replay " + "9" * 1000, M.NUMBER_TOO_LONG, {"most": 9}),
        ("replay", M.NO_BATTLE_NUMBER, {}),
        ("tournament new swiss starts 25:00", M.NO_SUCH_TIME_OF_DAY, {}),
        ("tournament new swiss starts 20.11.2026", M.NO_SUCH_DAY, {}),
        ("history 2026-02-30", M.NO_SUCH_DAY, {}),
        ("history anna 20.11.2026", M.NO_SUCH_DAY, {}),
        ("history classic 2026/11/20", M.NO_SUCH_DAY, {}),
        ("history with bert 2026-11", M.NO_SUCH_DAY, {}),
        ("record anna", M.NO_BATTLE_NUMBER, {}),
        ("replay -1", M.NO_BATTLE_NUMBER, {}),
        ("Play oak", M.PLAY_FOR_JOIN, {}),
        ("seek 200+5", M.NO_SUCH_CLOCK, {}),
        ("invite grog classic 1+0", M.MATCH_FOR_INVITE, {"typed": "match grog classic 1+0"}),
        ("match bert classic 0 days", M.NO_SUCH_CLOCK, {}),
        ("set clock 10+181", M.NO_SUCH_CLOCK, {}),
        ("ok", M.AGREE_BY_THE_SAME, {}),
        ("Agreed!", M.AGREE_BY_THE_SAME, {}),
        ("n", M.NO_DIRECTIONS, {}),
        ("East", M.NO_DIRECTIONS, {}),
        ("inventory", M.NOTHING_TO_CARRY, {}),
        ("i", M.NOTHING_TO_CARRY, {}),
        ("capture f7", M.CAPTURE_BY_A_MOVE, {}),
        ("take d8", M.CAPTURE_BY_A_MOVE, {}),
        ("kill f7", M.CAPTURE_BY_A_MOVE, {}),
        ("abort", M.NO_ABORTING, {}),
        ("moretime 60", M.NO_MORE_TIME, {}),
        ("swap", M.SEATS_SWAP_THEMSELVES, {}),
        ("pass", M.NO_PASSING, {}),
        ("castle", M.NOT_CHESS, {}),
        ("promote", M.NOT_CHESS, {}),
        ("Hello!", M.SAY_IT, {}),
        ("rated", M.RATED_IS_A_TERM, {}),
        ("smile broadly at anna", M.EMOTE_FOR_SOCIAL, {}),
        ("next 0", M.NUMBERS_BEGIN_WITH_1, {}),
        ("scan row 16", M.NO_SUCH_ROW, {"row": "16"}),
        ("scan row 0", M.NO_SUCH_ROW, {"row": "0"}),
        ("scan row " + "9" * 1000, M.NO_SUCH_ROW, {"row": "9999"}),
        ("scan column p", M.NO_SUCH_COLUMN, {"letter": "P"}),
        ("scan row F", M.COLUMN_FOR_ROW, {"letter": "F"}),
        ("scan column 06", M.ROW_FOR_COLUMN, {"row": "6"}),
        ("around p6", M.NO_SUCH_COLUMN, {"letter": "P"}),
        ("captures a16", M.NO_SUCH_ROW, {"row": "16"}),
        ("where anna", M.WHERE_FINDS_PIECES, {}),
        ("where are the trolls", M.WHERE_WITH_FILLERS, {}),
        ("moves a6 to b6", M.MOVES_FOR_MOVE, {}),
        ("options rows 4", M.NO_SUCH_HEIGHT, {"least": 5, "most": 500}),
        ("options rows -24", M.NO_SUCH_HEIGHT, {"least": 5, "most": 500}),
        ("options width 7", M.NO_SUCH_WIDTH, {"least": 20, "most": 500}),
        ("options width 501", M.NO_SUCH_WIDTH, {"least": 20, "most": 500}),
        ("options width -80", M.NO_SUCH_WIDTH, {"least": 20, "most": 500}),
        ("options width " + "8" * 1000, M.NO_SUCH_WIDTH, {"least": 20, "most": 500}),
        ("set width 60", M.SET_FOR_OPTIONS, {"option": "options width 60"}),
        (f"{DWARF} 256", M.NO_SUCH_COLOUR_NUMBER, {}),
        (f"{DWARF} on -1", M.NO_SUCH_COLOUR_NUMBER, {}),
        (f"{DWARF} #ff880", M.NOT_SIX_DIGITS, {}),
        (f"{DWARF} bright", M.BRIGHT_ALONE, {}),
        (f"{DWARF} puce", M.NO_SUCH_COLOUR, {}),
        (f"{DWARF} red on none", M.NO_SUCH_COLOUR, {}),
        ("register swordfish", M.REST_IS_ASKED_FOR, {"verb": "register"}),
        ("Password old new", M.REST_IS_ASKED_FOR, {"verb": "password"}),
    ],
)
def test_typical_mistake_has_a_specific_code(
    line: str, code: Mistake, facts: dict[str, object]
) -> None:
    error = refusal(line)
    assert (error.code, error.suggestion) == (code, None)
    assert error.details.items() >= facts.items()


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("seek 10 5", "10+5"),
        ("match grog level 1 1m", "1+0"),
        ("seek 10/5 as dwarf", "10+5"),
        ("seek classic 10m", "10+0"),
        ("play 12", "12+0"),
        ("play 10 min", "10+0"),
        ("match bert koom valley 10 min 5 sec unrated", "10+5"),
        ("match bert 03d", "3 days"),
        ("match bert 1-D", "1 day"),
        ("set clock 5+ on oak", "5+0"),
        ("set clock 010+5", "10+5"),
    ],
)
def test_clock_in_another_notation_gets_a_suggestion(line: str, meant: str) -> None:
    error = refusal(line)
    assert (error.code, error.suggestion) == (M.CLOCK_WRITTEN_OTHERWISE, meant)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("mute bert 10 min", "for 10 min"),
        ("ban bert 2d because of that", "for 2d"),
        ("mute bert a week", "for a week"),
        ("mute bert a", None),
        ("mute bert 10", None),
        ("mute bert 2 fortnights", None),
    ],
)
def test_duration_without_its_preposition_gets_a_suggestion(line: str, meant: str | None) -> None:
    assert refusal(line).suggestion == meant


@pytest.mark.parametrize(
    ("line", "word", "meant"),
    [
        ("mute bert for 10", "10", "10 minutes"),
        ("mute bert for 10 because he shouts", "10", "10 minutes"),
        ("mute bert for 2 minuts", "2 minuts", "2 minutes"),
        ("ban bert for 010 hours because of that", "010 hours", "10 hours"),
        ("shutdown in 1 weak", "1 weak", "1 week"),
        ("shutdown in an our", "an our", "1 hour"),
        ("mute bert for 2 fortnights", "2 fortnights", None),
        ("mute bert for 0 minutes", "0 minutes", None),
        ("mute bert for 20000 days", "20000 days", None),
        ("mute bert for ever", "ever", None),
        ("mute bert for a", "a", None),
    ],
)
def test_duration_in_another_notation_gets_a_suggestion(
    line: str, word: str, meant: str | None
) -> None:
    error = refusal(line)
    assert (error.code, error.expected) == (M.UNEXPECTED_WORD, ("<time>",))
    assert (error.word, error.column) == (word, line.index(word))
    assert error.suggestion == meant


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("colors", "options colour"),
        ("brief", "set board brief"),
        ("full", "set board full"),
        ("set brief", "board brief"),
        ("set classic", "rules classic"),
        ("set", None),
    ],
)
def test_setting_with_a_missing_word_gets_a_suggestion(line: str, suggestion: str | None) -> None:
    error = refusal(line)
    assert error.code in GENERAL
    assert error.suggestion == suggestion


def test_set_without_a_word_expects_the_settings() -> None:
    assert refusal("set").expected == refusal("set foo").expected
    assert "board" in refusal("set").expected


@pytest.mark.parametrize(
    ("colour", "code", "suggestion"),
    [
        ("gren", M.NO_SUCH_COLOUR, "green"),
        ("orange", M.NO_SUCH_COLOUR, "yellow"),
        ("bold purple", M.NO_SUCH_COLOUR, "magenta"),
        ("bright gren", M.BRIGHT_ALONE, "bright green"),
    ],
)
def test_invalid_colour_has_a_specific_code_and_suggestion(
    colour: str, code: Mistake, suggestion: str
) -> None:
    error = refusal(f"{DWARF} {colour}")
    assert (error.code, error.suggestion) == (code, suggestion)
    assert error.column == len(f"{DWARF} bold " if "bold" in colour else f"{DWARF} ")


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("dA6-B6", "move from A6 to B6"),
        ("dA6-J6.", "move from A6 to I6"),
        ("dF1-F6xF6", "hurl from F1 to F6"),
        ("TG7-F7xE6xE7", "move from G7 to F7 capturing E6, E7"),
        ("TC5-C7xB7", "shove from C5 to C7 capturing B7"),
        ("move RH8-H7", "move from H8 to H7"),
        ("move a6xb6", "hurl from A6 to B6"),
        ("a6-b6xb6", "hurl from A6 to B6"),
        ("move g7-f7xe7", "move from G7 to F7 capturing E7"),
    ],
)
def test_move_in_record_notation_is_translated_into_a_command(line: str, typed: str) -> None:
    error = refusal(line)
    assert (error.code, error.suggestion) == (M.AS_IN_RECORDS, None)
    assert error.details["typed"] == typed
    parse(typed)


@pytest.mark.parametrize("line", ["dI6-J6", "dA6-A16", "a6xb6xc6", "dA6", "xyz-a6"])
def test_malformed_record_notation_is_not_translated(line: str) -> None:
    assert refusal(line).code is not M.AS_IN_RECORDS


def test_overlong_line_is_refused_and_truncated() -> None:
    for line in ("x" * (MAX_LINE + 1), " " * 16_000, "say " + "a" * 10_000_000):
        error = refusal(line)
        assert error.code is M.LINE_TOO_LONG
        assert error.details["most"] == MAX_LINE
        assert len(error.line) <= MAX_LINE
    assert parse("say " + "a" * (MAX_LINE - 4))


STRANGE = st.sampled_from(
    [
        *SYNONYMS,
        *_OF_ELSEWHERE,
        *RULESETS,
        *["12", "#12", "1", "yes", "on", "off", "bright", "10+5", "3d"],
    ]
)
STRANGER = st.from_regex(
    r"[dTRa-p ]?[A-Pa-p]?[0-9]{0,3}[-+/x.#]?[A-Pa-p]?[0-9]{0,2}[a-z]{0,6}", fullmatch=True
)


@given(st.lists(STRANGE | STRANGER | st.text(max_size=8), max_size=3))
def test_slips_at_first_are_the_only_ones_for_an_unknown_verb(words: list[str]) -> None:
    line = clean(" ".join(words))
    if not begins_with_terminal(FIRST, line):
        place = ErrorLocation.of(line, 0)
        assert [slip for slip in MISTAKE_DETECTORS if slip(place)] == [
            slip for slip in FIRST_WORD_MISTAKE_DETECTORS if slip(place)
        ]
