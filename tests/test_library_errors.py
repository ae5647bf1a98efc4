"""Wrong arguments to the library: each raises a ThudmudError that says what would be right."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from thudmud import BoardSpec, House, Parting, Player, Question, Terminal, Workers, wrap
from thudmud.errors import InvalidValueError, ThudmudError, UnknownNameError
from thudmud.house import BoardNameError, NotCopyableError
from thudmud.rules import (
    CLASSIC,
    Comment,
    Ending,
    Game,
    IllegalMoveError,
    Move,
    Piece,
    Position,
    Record,
    RecordError,
    Score,
    Side,
    Square,
    divide,
    perft,
    read_ply,
    read_position,
    read_record,
    read_setup,
    write_record,
)

A6 = Square.parse("A6")
GAME = Game.start(CLASSIC)
OVER = GAME.resign(Side.DWARF)
OPENING = GAME.position
NOW = 1_800_000_000.0
OAK = BoardSpec("oak board")
WRONG: Any = "wrong"
"""A value of a wrong type, where a mistake is likely: what follows must not be half done."""


def house() -> House:
    """Return a house with one board and one player."""
    made = House([OAK])
    made.enter("Anna", NOW)
    return made


def bot_plays(ply: str) -> None:
    made = House([OAK], bots={"Grog": "1"})
    made.enter("Anna", NOW, room="oak board")
    for line in ("join game as dwarf", "invite grog", "start", "move a6 to b7"):
        made.obey("Anna", line, NOW)
    made.play_bot(made.bot_turns[0], ply, NOW)


RULES: list[tuple[Callable[[], object], type[ThudmudError], str]] = [
    (lambda: Square.parse("Z9"), InvalidValueError, "expected a letter from A to O and a number"),
    (lambda: Square(15, 0), InvalidValueError, "expected a column and a row from 0 to 14"),
    (lambda: Square.from_record("a6"), InvalidValueError, "expected a square such as A6"),
    (lambda: Square.from_record("Q1"), InvalidValueError, "expected a square from A1 to P15"),
    (lambda: Square.from_record("I6"), InvalidValueError, "game records skip the letter I"),
    (lambda: Game.start(WRONG), InvalidValueError, r"such as RULESETS\['classic'\], got 'wrong'"),
    (lambda: GAME.push("xx"), InvalidValueError, "expected a ply such as dA6-B6"),
    (lambda: GAME.push("dA6-I6"), InvalidValueError, "game records skip the letter I"),
    (lambda: GAME.push("TA6-B6"), InvalidValueError, "the piece on A6 is a dwarf"),
    (lambda: GAME.push("dA6-A6"), IllegalMoveError, "same_square"),
    (lambda: GAME.play("xx"), InvalidValueError, "expected a ply such as dA6-B6"),
    (GAME.undo, InvalidValueError, "there is no ply to take back"),
    (lambda: GAME.agree(Ending.TIME), InvalidValueError, "one of Ending.AGREEMENT, Ending.QUIET"),
    (lambda: OVER.push("dA6-B6"), IllegalMoveError, "game_over"),
    (lambda: GAME.after(1), InvalidValueError, "expected a ply from 0 to 0, got 1"),
    (lambda: GAME.after(-1), InvalidValueError, "expected a ply from 0 to 0, got -1"),
    (lambda: GAME.resign(Side.DWARF).undo().undo(), InvalidValueError, "no ply to take back"),
    (lambda: perft(CLASSIC, OPENING, -1), InvalidValueError, "a depth of 0 or more plies, got -1"),
    (lambda: divide(CLASSIC, OPENING, 0), InvalidValueError, "a depth of 1 or more plies, got 0"),
    (lambda: OPENING.after(WRONG), InvalidValueError, "expected a Move, got 'wrong'"),
    (lambda: Move(Piece.DWARF, A6, A6), InvalidValueError, "origin and target are the same"),
    (lambda: Position.from_diagram("", Side.DWARF), InvalidValueError, "expected 15 rows"),
    (lambda: read_position("dA6,RH8", CLASSIC), InvalidValueError, "a setup and dwarf or troll"),
    (lambda: read_setup("dA6;", CLASSIC, Side.DWARF), InvalidValueError, "such as dF1,dG1,...,RH8"),
    (lambda: read_setup("dA1", CLASSIC, Side.DWARF), InvalidValueError, "dA1 is off the board"),
    (lambda: read_setup("dA6,TA6", CLASSIC, Side.DWARF), InvalidValueError, "two pieces on A6"),
    (lambda: read_ply("A6", CLASSIC, OPENING), InvalidValueError, "expected a ply such as dA6-B6"),
    (lambda: read_record(""), RecordError, "missing setup line, such as"),
    (lambda: write_record(GAME, [Comment(3, "", "Hm.")]), InvalidValueError, "plies 0 to 0"),
    (lambda: write_record(GAME, spent=[1.0]), InvalidValueError, "expected 0 non-negative times"),
    (lambda: Record(GAME, date="2026"), InvalidValueError, "expected a date such as 2026-11-22"),
    (lambda: Score(-1, 0), InvalidValueError, "expected non-negative scores"),
]  # fmt: skip

HOUSE: list[tuple[Callable[[], object], type[ThudmudError], str]] = [
    (lambda: House([]), InvalidValueError, "expected at least one board"),
    (lambda: House([OAK], quiet_plies=-1), InvalidValueError, "quiet_plies to be 0 or more"),
    (lambda: House([OAK], seat_grace=-1), InvalidValueError, "seat_grace to be 0 or more"),
    (lambda: House([OAK], idle_limit=-1), InvalidValueError, "idle_limit to be 0 or more"),
    (lambda: House([OAK], first_move=-1), InvalidValueError, "first_move to be 0 or more"),
    (lambda: House([OAK], without=["radio"]), InvalidValueError, "unknown verbs: radio"),
    (lambda: House([OAK], bots={"Grog": "9"}), InvalidValueError, "expected one of 1 Chalk"),
    (lambda: House([OAK], bots={"": "1"}), InvalidValueError, "expected a name of 1 to 80"),
    (lambda: House([OAK], bots={"Mo": "1", "mo": "1"}), InvalidValueError, "two bots are called"),
    (lambda: House([OAK], left=-1.0), InvalidValueError, "expected a time in seconds"),
    (lambda: House([OAK], seat_grace=float("nan")), InvalidValueError, "to be 0 or more, got nan"),
    (lambda: House([OAK], events=["?"]), ThudmudError, "Not an event"),
    (lambda: BoardSpec("oak board", "chess"), InvalidValueError, "expected one of discworld"),
    (lambda: BoardSpec("oak board", style=WRONG), InvalidValueError, "one of Style.FULL, Style"),
    (lambda: Terminal(width=-3), InvalidValueError, "0 means unknown.*got -3 and 0"),
    (lambda: Terminal(height=-1), InvalidValueError, "0 means unknown.*got 80 and -1"),
    (lambda: Terminal(colours=7), InvalidValueError, "one of 0, 16, 256, 16777216 colours, got 7"),
    (lambda: Terminal(packages=WRONG), InvalidValueError, "expected a frozenset of packages"),
    (lambda: house().enter("anna", NOW), InvalidValueError, "Anna is already here"),
    (lambda: house().enter("", NOW), InvalidValueError, "expected a name of 1 to 80"),
    (lambda: house().enter("Bert", -1.0), InvalidValueError, "expected a time in seconds"),
    (lambda: house().enter("Bert", NOW, WRONG), InvalidValueError, "expected a Terminal, got"),
    (lambda: house().enter("Bert", NOW, profile=WRONG), InvalidValueError, "expected a Profile"),
    (lambda: house().enter("Bert", NOW, room="elm"), UnknownNameError, "expected one of oak board"),
    (lambda: house().take_over("Nob", Terminal(), NOW), UnknownNameError, "Nob is not here"),
    (lambda: house().take_over("Anna", WRONG, NOW), InvalidValueError, "expected a Terminal, got"),
    (lambda: house().obey("Nob", "look", NOW), UnknownNameError, "Nob is not here"),
    (lambda: house().obey("Anna", None, NOW), InvalidValueError, "type str, got NoneType"),  # type: ignore[arg-type]
    (lambda: house().ask("Nob", "look", NOW), UnknownNameError, "Nob is not here"),
    (lambda: house().ask("Anna", None, NOW), InvalidValueError, "type str, got NoneType"),  # type: ignore[arg-type]
    (lambda: house().depart("Nob", NOW), UnknownNameError, "Nob is not here"),
    (lambda: house().depart("Anna", NOW, WRONG), InvalidValueError, "expected one of Parting.LEFT"),
    (lambda: house().set_terminal("Nob", Terminal()), UnknownNameError, "Nob is not here"),
    (lambda: house().set_terminal("Anna", WRONG), InvalidValueError, "expected a Terminal, got"),
    (lambda: house().current_facts("Nob"), UnknownNameError, "Nob is not here"),
    (lambda: house().game("elm"), UnknownNameError, "unknown board elm; expected one of oak board"),
    (lambda: house().look_up(WRONG), InvalidValueError, "expected a Lookup, got 'wrong'"),
    (lambda: house().events(-1), InvalidValueError, "expected a non-negative number of events"),
    (lambda: house().parse("sharpen axe"), ThudmudError, "unknown_command"),
    (lambda: house().open_board("oak board", NOW), BoardNameError, "already a board called oak"),
    (lambda: house().open_board("board 5", NOW), BoardNameError, "use at most 30 letters"),
    (lambda: house().open_board("elm board", NOW, "go"), InvalidValueError, "one of discworld"),
    (lambda: house().rename_board("elm", "ash", NOW), BoardNameError, "boards are: oak board"),
    (lambda: house().close_board("elm", NOW), BoardNameError, "The boards are: oak board"),
    (lambda: house().close_board("oak board", -1.0), InvalidValueError, "a time in seconds"),
    (lambda: copy.copy(house()), NotCopyableError, "House.boards, events=house.events..."),
    (lambda: copy.deepcopy(house()), NotCopyableError, "House.boards, events=house.events..."),
    (lambda: pickle.dumps(house()), NotCopyableError, "House.boards, events=house.events..."),
    (lambda: Workers(-1), InvalidValueError, "expected 0 or more workers, got -1"),
    (lambda: Question("oak board", GAME), InvalidValueError, "a level or a number of nodes"),
    (lambda: Player(CLASSIC).think(OVER), InvalidValueError, "there is no ply to choose"),
    (lambda: wrap("Hello.", 1), InvalidValueError, "expected a width above 1, got 1"),
    (lambda: bot_plays("xx"), InvalidValueError, "expected a ply such as dA6-B6"),
    (lambda: bot_plays("TH9-A1"), IllegalMoveError, "off_board"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "sentence"), [*RULES, *HOUSE])
def test_wrong_argument_raises_an_error_that_says_what_is_right(
    call: Callable[[], object], kind: type[ThudmudError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence) as raised:
        call()
    assert isinstance(raised.value, ThudmudError)


def test_calls_with_wrong_arguments_change_nothing() -> None:
    made = house()
    calls: list[tuple[str, Callable[[], object]]] = [
        ("Bert", lambda: made.enter("Bert", NOW, WRONG)),
        ("Anna", lambda: made.depart("Anna", NOW, WRONG)),
        ("Anna", lambda: made.take_over("Anna", WRONG, NOW)),
    ]
    for name, call in calls:
        with pytest.raises(InvalidValueError):
            call()
        assert (name in made) is (name == "Anna")
    assert made.people == ("Anna",)
    assert made.depart("Anna", NOW, Parting.QUIT)


def test_error_about_a_board_names_the_first_five() -> None:
    made = House(
        [BoardSpec(f"{word} board") for word in ("ash", "elm", "fir", "yew", "oak", "box")]
    )
    with pytest.raises(UnknownNameError, match=r"one of ash board, elm .*, oak board, \.\.\.$"):
        made.game("bog")
