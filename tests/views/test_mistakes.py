"""What is told to somebody whose line could not be read, to the letter."""

from __future__ import annotations

import pytest
from wcwidth import wcswidth

from thudmud.language import ParseError, parse
from thudmud.views.refusals import explain

WIDE = ["\u6f22\u5b57", "\U0001f44d", "\U0001f468\u200d\U0001f680", "e\u0301"]
"""Han, two emoji, of which one is three characters, and a letter with an accent of its own."""


def told(line: str, width: int) -> str:
    with pytest.raises(ParseError) as caught:
        parse(line)
    return "\n".join(explain(caught.value, width))


CASES = [
    (
        "hurk a6 b6",
        80,
        """\
hurk a6 b6
^^^^
There is no command "hurk". Did you mean "hurl"?""",
    ),
    (
        "inventory",
        80,
        """\
inventory
^^^^^^^^^
There is no command "inventory". "help" lists the commands, "syntax" how each
is typed.""",
    ),
    (
        "move from a6 tu b6 on board",
        40,
        """\
move from a6 tu b6 on board
             ^^
After "move from a6" comes a position
such as A6 or "to", not "tu".""",
    ),
    (
        "move a6",
        80,
        """\
move a6
       ^
After "move a6" something is missing: a position such as A6 or "to".""",
    ),
    (
        "move from I16 to A0",
        80,
        """\
move from I16 to A0
          ^^^
There is no row 16: rows go from 1 to 15.""",
    ),
    (
        "move A1 5 to b6",
        80,
        """\
move A1 5 to b6
        ^
There is a blank inside a number: "A1 5". Did you mean "A15"?""",
    ),
    (
        "move a6 b6 on board capturing",
        80,
        """\
move a6 b6 on board capturing
                             ^
After "move a6 b6 on board capturing" something is missing: a position such as
A6, "all" or "none".""",
    ),
    (
        "shove c5 to c7 on board",
        80,
        """\
shove c5 to c7 on board
                       ^
A shove has to capture: add "capturing" and positions such as D8, E8, or "all".""",
    ),
    (
        "move from a6 to b6 on the second oak board capturing d8, e8 f8, g8",
        40,
        """\
...ak board capturing d8, e8 f8, g8
                             ^^
After "... oak board capturing d8, e8"
comes a comma, "and" or the end of the
line, not "f8".""",
    ),
    (
        "scan row",
        80,
        """\
scan row
        ^
After "scan row" something is missing: a row such as 5.""",
    ),
    ("\x00", 80, 'Type a command; "help" lists them.'),
]


@pytest.mark.parametrize(("line", "width", "text"), CASES)
def test_explain(line: str, width: int, text: str) -> None:
    assert told(line, width) == text


@pytest.mark.parametrize("column", [0, 3, 30, 100, 250, 290])
@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_caret_stays_under_the_word(column: int, width: int) -> None:
    line = ("." * column + "@@@").ljust(300, ".")
    shown, carets, *_ = explain(ParseError(line, column, "@@@", expected=('"on"',)), width)
    assert len(shown) < width
    assert shown[carets.index("^") :].startswith("@@@")
    assert carets.strip() == "^^^"
    assert shown.strip(".") == "@@@"


@pytest.mark.parametrize("width", [20, 21, 40, 41, 80])
@pytest.mark.parametrize("text", WIDE)
@pytest.mark.parametrize("times", [0, 1, 2, 30])
def test_the_caret_knows_what_takes_two_columns(text: str, times: int, width: int) -> None:
    line = f"{text * times}@@@{text * times}"
    error = ParseError(line, len(text) * times, "@@@", expected=('"on"',))
    shown, carets, *_ = explain(error, width)
    assert wcswidth(shown) < width
    assert carets == " " * wcswidth(shown[: shown.index("@")]) + "^^^"


def test_the_caret_is_as_long_as_the_word() -> None:
    for word in WIDE:
        line, caret, *_ = told(f"move {word} to b6", 80).split("\n")
        assert line == f"move {word} to b6"
        assert caret == " " * len("move ") + "^" * wcswidth(word)


def test_a_line_that_is_too_long_shows_where_it_was_cut() -> None:
    shown, caret, sentence = told("say " + "na" * 1000, 80).split("\n")
    assert shown.startswith("...nana")
    assert caret.index("^") == len(shown)
    assert sentence == "That is too long: a line has at most 1,024 characters."
