"""Texts for screen readers: short facts in words for every event and position."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.house.plays import told
from tests.views.positions import game_of, played_at_random, table_with
from thudmud.features.playing.moves import Resign
from thudmud.game.command import Command
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import DISCWORLD, KOOM_VALLEY, RULESETS, Piece, Ruleset, Side, Square
from thudmud.rules.board import bits_of
from thudmud.views import reader
from thudmud.views.view import Terminal

BOARDS = [BoardSpec("oak board"), BoardSpec("elm table", "koom valley", Style.BRIEF)]
SPELT_OUT = re.compile(r"[\[\]()<>|*+_#/\\.]{2}|[\[\]()<>|*+_#/\\]|  ")
"""Symbols that a voice would spell out, and spacing that is only visual."""


def house_of(*names: str) -> House:
    """Return a house whose players all use screen readers."""
    house = House(BOARDS)
    for name in names:
        house.enter(name, 0.0, Terminal(has_reader=True))
    return house


def playing(board: str = "oak board", *watching: str) -> House:
    """Return a house in which Anna (dwarfs) and Bert have begun a battle."""
    house = house_of("Anna", "Bert", *watching)
    for name in watching:
        house.obey(name, f"go to {board}", 0.0)
    house.obey("Anna", f"join game as dwarf on {board}", 0.0)
    house.obey("Bert", f"join game as troll on {board}", 0.0)
    house.obey("Anna", "start game", 0.0)
    return house


def heard(house: House, who: str, line: str | Command) -> dict[str, str]:
    return told(house.obey(who, line, 0.0))


def test_move_is_announced_in_three_lines() -> None:
    house = playing("oak board", "Carla")
    texts = heard(house, "Anna", "move a6 to b6")
    assert texts == {
        "Anna": "Move 1: you move the dwarf from A6 to B6.\nDwarfs 32, trolls 8.\nBert's turn.",
        "Bert": "Move 1: Anna moves the dwarf from A6 to B6.\nDwarfs 32, trolls 8.\nYour turn.",
        "Carla": "Move 1: Anna moves the dwarf from A6 to B6.\nDwarfs 32, trolls 8.\n"
        "Bert's turn, trolls.",
    }


def test_brief_style_counts_pieces_only_after_a_capture() -> None:
    house = playing()
    house.obey("Anna", "set board brief", 0.0)
    quiet = heard(house, "Anna", "move a6 to f6")
    assert quiet["Anna"] == "Move 1: you move the dwarf from A6 to F6.\nBert's turn."
    assert "Dwarfs 32, trolls 8." in quiet["Bert"]
    assert heard(house, "Bert", "move g7 to g6 capturing f6")["Anna"] == (
        "Move 2: Bert moves the troll from G7 to G6, capturing the dwarf at F6.\n"
        "Dwarfs 31, trolls 8.\nYour turn."
    )


def test_move_announced_elsewhere_begins_with_the_board() -> None:
    house = playing()
    house.obey("Bert", "go to hall", 0.0)
    assert heard(house, "Anna", "move a6 to b6")["Bert"].split("\n") == [
        "At the oak board:",
        "Move 1: Anna moves the dwarf from A6 to B6.",
        "Dwarfs 32, trolls 8.",
        "Your turn.",
    ]


def test_piece_counts_include_the_rock() -> None:
    house = playing("elm table")
    text = heard(house, "Anna", "move h8 to g8")["Anna"]
    assert text == "Move 1: you move the Rock from H8 to G8.\nBert's turn."
    house.obey("Anna", "set board full", 0.0)
    text = heard(house, "Bert", "move f2 to f1")["Anna"]
    assert "Dwarfs 16, trolls 8, the Rock on G8." in text


def test_battle_end_is_announced_one_fact_per_line() -> None:
    house = playing()
    assert heard(house, "Bert", Resign("oak board"))["Anna"].split("\n") == [
        "Bert resigns.",
        "The battle is over.",
        "Dwarfs, you: 32.",
        "Trolls, Bert: 0.",
        "You win the battle, 32 to 0!",
        "Match score: you 32, Bert 0.",
        '"start game on oak board" offers the second battle, with the seats swapped.',
        '"replay 1" shows this battle again.',
    ]


def test_facts_begin_with_a_capital_letter_for_winner_and_loser() -> None:
    house = playing()
    assert heard(house, "Anna", Resign("oak board"))["Anna"].startswith("You resign.\n")
    for player in ("Anna", "Bert"):
        house.obey(player, "start game", 0.0)
    assert "\nYou win the match by 64!" in heard(house, "Anna", Resign("oak board"))["Bert"]


def test_parse_error_has_no_caret() -> None:
    house = playing()
    assert heard(house, "Anna", "where goblins")["Anna"].split("\n") == [
        '"where" finds dwarfs, trolls, the stone or the rock; to find a player, type "look".',
    ]
    assert "^" not in heard(house, "Anna", "move a6 tu b6")["Anna"]
    house.obey("Anna", "options reader off", 0.0)
    assert "^" in heard(house, "Anna", "move a6 tu b6")["Anna"]


def test_undo_is_announced_with_counts_and_turn() -> None:
    house = playing()
    house.obey("Anna", "move a6 to b6", 0.0)
    house.obey("Anna", "undo", 0.0)
    assert heard(house, "Bert", "undo")["Anna"].split("\n") == [
        "You take back A6 to B6.",
        "Dwarfs 32, trolls 8.",
        "Your turn.",
    ]


@pytest.mark.parametrize("words", ["look", "view game", "look at oak board"])
def test_look_at_a_board_describes_the_whole_position(words: str) -> None:
    house = playing()
    house.obey("Anna", "move a6 to f6", 0.0)
    house.obey("Bert", "move g7 to g6 capturing f6", 0.0)
    assert heard(house, "Anna", words)["Anna"].split("\n")[:9] == [
        "Oak board, discworld rules. Battle 1 of 2, 2 moves.",
        "Dwarfs, you: 31 left, 1 lost.",
        "Trolls, Bert: 8 left.",
        "Dwarfs at diagonal J1 to O6, diagonal A10 to F15, diagonal O10 to J15, diagonal "
        "F1 to B5, G1, I1, A7, O7, A9, O9, G15, I15.",
        "Trolls at diagonal G6 to I8, G9 to I9, I7, G8.",
        "The Thudstone at H8.",
        "Score: dwarfs 31, trolls 32.",
        "Move 2: Bert moves the troll from G7 to G6, capturing the dwarf at F6.",
        "Your turn.",
    ]


def test_arrival_describes_the_position_or_only_the_counts_if_brief() -> None:
    house = playing("oak board", "Carla")
    house.obey("Carla", "go to hall", 0.0)
    assert "The Thudstone at H8." in heard(house, "Carla", "go to oak board")["Carla"]
    house.obey("Carla", "set board brief", 0.0)
    house.obey("Carla", "go to hall", 0.0)
    assert heard(house, "Carla", "go to oak board")["Carla"].split("\n") == [
        "You walk to the oak board.",
        "Oak board, discworld rules. Battle 1 of 2, 0 moves.",
        "Dwarfs 32, trolls 8.",
        "Anna's turn, dwarfs.",
        "Also here: Anna and Bert.",
    ]


def test_returning_player_hears_the_position_last() -> None:
    house = playing()
    house.depart("Anna", 1.0)
    house.obey("Bert", "undo", 2.0)
    back = told(house.enter("Anna", 3.0, Terminal(has_reader=True)))
    assert back["Anna"].split("\n")[-2:] == ["Your turn.", "Also here: Bert."]
    assert "Trolls at G7 to I7, G9 to I9, G8, I8." in back["Anna"]


def test_open_offers_are_listed_one_fact_per_line() -> None:
    house = playing()
    house.obey("Bert", "end game", 0.0)
    assert heard(house, "Anna", "look")["Anna"].split("\n")[-5:] == [
        "Your turn.",
        "Bert offers to end the battle.",
        "As it stands, the battle would be drawn 32 all.",
        'To agree, type "end game on oak board"; "no on oak board" or the next move declines.',
        "Also here: Bert.",
    ]


def test_replay_announces_each_ply_and_the_counts() -> None:
    house = playing()
    house.obey("Anna", "move a6 to b6", 0.0)
    house.obey("Anna", Resign("oak board"), 0.0)
    house.obey("Anna", "replay 1", 0.0)
    assert heard(house, "Anna", "next")["Anna"].split("\n") == [
        "Battle 1, move 1 of 1: you move the dwarf from A6 to B6.",
        "Dwarfs 32, trolls 8.",
        "Anna resigned.",
    ]


@pytest.mark.parametrize("turn", Side)
def test_turn_is_worded_for_player_and_watcher(turn: Side) -> None:
    table = table_with(game_of(DISCWORLD, turn, "dA6 TB7 XH8"))
    name = table.seats[turn]
    assert reader.turn_sentences(table, name) == ["Your turn."]
    assert reader.turn_sentences(table, None) == [f"{name}'s turn, {turn.plural}."]


def test_empty_seat_is_described() -> None:
    house = playing()
    house.obey("Anna", "leave game", 0.0)
    text = heard(house, "Bert", "look")["Bert"]
    assert "The dwarfs' turn; their seat is empty." in text
    assert "Dwarfs, nobody: 32 left." in text


def test_turn_of_an_absent_player_says_that_they_are_away() -> None:
    house = playing()
    house.depart("Anna", 1.0)
    assert "Anna's turn; Anna is away." in heard(house, "Bert", "look")["Bert"]


@pytest.mark.parametrize(
    ("squares", "expected"),
    [
        ("", ""),
        ("A6", "A6"),
        ("A6 B6", "A6, B6"),
        ("A6 B6 C6", "A6 to C6"),
        ("D5 D6 D7", "D5 to D7"),
        ("D5 E6 F7", "diagonal D5 to F7"),
        ("F5 E6 D7", "diagonal F5 to D7"),
        ("C6 D6 E6 C7 C8 C9", "C6 to C9, D6, E6"),
        ("D5 E5 F5 D6 E6 F6 D7 E7 F7", "D5 to F5, D6 to F6, D7 to F7"),
    ],
)
def test_runs_merge_adjacent_squares(squares: str, expected: str) -> None:
    assert reader.describe_squares(bits_of(tuple(map(Square.parse, squares.split())))) == expected


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda each: each.name)
@pytest.mark.parametrize("plies", [0, 7, 40, 90])
def test_position_names_every_piece_briefly(ruleset: Ruleset, plies: int) -> None:
    game = played_at_random(ruleset, Random(plies), plies)  # noqa: S311 (games to try, no secrets)
    facts = reader.whole_board(table_with(game), "Anna")
    for piece, noun in ((Piece.DWARF, "Dwarfs at "), (Piece.TROLL, "Trolls at ")):
        (said,) = [fact for fact in facts if fact.startswith(noun)] or [""]
        assert _squares(said) == set(game.position.squares(piece))
    assert sum(map(len, facts)) < 700
    assert not [fact for fact in facts if SPELT_OUT.search(fact)]


def _squares(said: str) -> set[Square]:
    """Return the squares that a fact names, including those within ranges."""
    found: set[Square] = set()
    for first, last in re.findall(r"([A-O][0-9]+)(?: to ([A-O][0-9]+))?", said):
        start, end = Square.parse(first), Square.parse(last or first)
        steps = max(abs(end.column - start.column), abs(end.row - start.row)) or 1
        across, down = (end.column - start.column) // steps, (end.row - start.row) // steps
        found |= {
            Square(start.column + across * step, start.row + down * step)
            for step in range(steps + 1 if last else 1)
        }
    return found


@pytest.mark.parametrize("ruleset", [DISCWORLD, KOOM_VALLEY], ids=lambda each: each.name)
def test_announcements_of_a_whole_game_contain_no_symbols(ruleset: Ruleset) -> None:
    house = playing("oak board" if ruleset is DISCWORLD else "elm table")
    board = house.hall.tables["oak board" if ruleset is DISCWORLD else "elm table"].name
    random = Random(3)  # noqa: S311 (a game to try, no secret)
    for _ in range(60):
        game = house.hall.tables[board].game
        if game is None or game.outcome:
            break
        move = random.choice(game.legal_moves())
        squares = ", ".join(map(str, move.captures)) or "none"
        captured = "" if move.verb.value == "hurl" else f" capturing {squares}"
        line = f"{move.verb.value} {move.origin} to {move.target}{captured}"
        texts = heard(house, "Anna" if game.position.turn is Side.DWARF else "Bert", line)
        assert texts["Anna"].startswith(("Move", "You", "At"))
        for text in texts.values():
            assert not SPELT_OUT.search(text), text
            assert len(text.split("\n")) <= 4
