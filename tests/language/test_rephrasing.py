"""Lines in the words of other games, which are carried out as if the player knew ours."""

from __future__ import annotations

import pytest

from thudmud.game.refusals import Mistake
from thudmud.language import ParseError, parse
from thudmud.language.parsing import TAKEN_WORDS, player_problem
from thudmud.language.rephrasing import FIRST_WORDS


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("f1/e5", "f1 e5"),
        ("f1>e5", "f1 e5"),
        ("f1 -> f6", "f1 f6"),
        ("f1=>f6", "f1 f6"),
        ("f1 \u2192 f6", "f1 f6"),
        ("f 1 e 5", "f1 e5"),
        ("move f1->f6 on oak", "f1 f6 on oak"),
        ("dF1-F6", "ply dF1-F6"),
        ("TC5-C7xB7xD8 on oak", "ply TC5-C7xB7xD8 on oak"),
        ("RH8-H7", "ply RH8-H7"),
        ("g7f7xf6", "g7 f7 capturing f6"),
        ("g7-f7xf6xf8", "g7 f7 capturing f6, f8"),
        ("g7 f7 x f6, f8", "g7 f7 capturing f6, f8"),
        ("g7 f7 takes f6 on oak", "g7 f7 capturing f6 on oak"),
        ("g7 f7 all", "g7 f7 capturing all"),
        ("g7 f7 xall", "g7 f7 capturing all"),
        ("g7 f7 x", "g7xf7"),
        ("f1-f6xf6", "f1xf6"),
        ("shove c5>c7 xd8", "shove c5 c7 capturing d8"),
    ],
)
def test_move_in_another_notation_is_the_move(line: str, meant: str) -> None:
    assert parse(line) == parse(meant)


@pytest.mark.parametrize(
    "line", ["dJ1-J6", "TG7-J7xK6", "TG7-J7xE7", "f1 e5 f6", "g7 f7 x f6 maybe", "h8 x"]
)
def test_ambiguous_move_is_not_rephrased(line: str) -> None:
    with pytest.raises(ParseError):
        parse(line)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("seek 5 3", "seek 5+3"),
        ("seek 10", "seek 10+0"),
        ("seek koom valley 10 min unrated", "seek koom valley 10+0 unrated"),
        ("match piet 5 5", "match piet 5+5"),
        ("play 5 3", "play 5+3"),
        ("set clock 3-d on oak", "set clock 3 days on oak"),
        ("play grog", "match grog"),
        ("play grog as troll", "match grog as troll"),
    ],
)
def test_terms_in_another_notation_are_the_terms(line: str, meant: str) -> None:
    assert parse(line) == parse(meant)


@pytest.mark.parametrize("line", ["play 5", "seek 300 5", "play oak board", "seek five"])
def test_unclear_terms_are_not_rephrased(line: str) -> None:
    with pytest.raises(ParseError):
        parse(line)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("whoami", "finger"),
        ("who am I?", "finger"),
        ("whose turn is it?", "clock"),
        ("turn", "clock"),
        ("turn on oak", "clock on oak"),
        ("sought", "seeks"),
        ("unseek 2", "withdraw 2"),
        ("goto oak", "go oak"),
        ("sit as dwarf", "join as dwarf"),
        ("refresh", "look"),
        ("yell hello", "shout hello"),
        ("/who", "who"),
        ("/me waves", "emote waves"),
        ("/msg anna hi", "tell anna hi"),
        ("ansi off", "options colour off"),
        ("colour off", "options colour off"),
        ("reader on", "options reader on"),
        ("options screen reader", "options reader on"),
        ("screenreader off", "options reader off"),
        ("brief", "set board brief"),
        ("f6", "around f6"),
        ("where f6 on oak", "around f6 on oak"),
        ("what is on f6?", "around f6"),
        ("what's at f 6", "around f6"),
    ],
)
def test_command_of_other_games_is_ours(line: str, meant: str) -> None:
    assert parse(line) == parse(meant)


@pytest.mark.parametrize("line", ["/", "///who", "goto", "/waltz", "brief maybe"])
def test_line_of_no_known_kind_keeps_its_error(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(line)
    assert caught.value.line == line


def test_error_is_about_the_line_as_typed() -> None:
    with pytest.raises(ParseError) as caught:
        parse("play oak board")
    assert caught.value.code is Mistake.PLAY_FOR_JOIN
    assert caught.value.line == "play oak board"


def test_rephrased_words_cannot_be_names() -> None:
    assert FIRST_WORDS <= TAKEN_WORDS
    assert all(player_problem(word) for word in FIRST_WORDS)
