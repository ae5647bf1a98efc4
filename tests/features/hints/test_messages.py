"""Text of hints: on a screen, for a screen reader, and for a player away from the board."""

from __future__ import annotations

import pytest

from thudmud.errors import RefusedError
from thudmud.features.hints.commands import Hint
from thudmud.features.hints.model import HintRefusal
from thudmud.game.advice import Advice, Because, Merit
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import Ending, Move, Piece, Side, Square, Verb
from thudmud.views.refusals import refusal_text
from thudmud.views.telling import renderer_for
from thudmud.views.view import Display, View

TABLE = Table.set_up(BoardSpec("oak board"))
WIDE = View("Anna", Style.FULL, Display(width=200))


def because(merit: Merit, number: int = 0, goal: Ending | None = None) -> Because:
    return Because(merit, number, goal)


def move(piece: Piece, *squares: str, verb: Verb = Verb.MOVE) -> Move:
    origin, target, *captures = map(Square.parse, squares)
    return Move(piece, origin, target, tuple(captures), verb=verb)


STEP = move(Piece.DWARF, "A6", "B6")
TAKES = move(Piece.TROLL, "G7", "F7", "E7", "F8")
HURL = move(Piece.DWARF, "F6", "G7", "G7", verb=Verb.HURL)
SAFE, LOSES, REGAINS = (because(each, 1) for each in (Merit.SAFE, Merit.LOSES, Merit.REGAINS))
CAPTURES = because(Merit.CAPTURES, 2)
STEPS, TAKING = 'Try "a6 b6": ', 'Try "g7 f7 capturing e7, f8": '


def told(table: Table, advice: Advice, view: View) -> list[str]:
    asked = Asked("Anna", Hint(), table.name, advice)
    return renderer_for(Hall([BoardSpec(table.name)]), Delivery(asked, ("Anna",), table))(view)


@pytest.mark.parametrize(
    ("ply", "reasons", "sentence"),
    [
        (TAKES, [CAPTURES, SAFE], f"{TAKING}it captures 2 dwarfs, and costs you nothing."),
        (
            TAKES, [CAPTURES, LOSES],
            f"{TAKING}it captures 2 dwarfs, but the dwarfs can then capture a troll.",
        ),
        (
            TAKES, [CAPTURES, because(Merit.SAVES, 1), LOSES, REGAINS],
            f"{TAKING}it captures 2 dwarfs, but the dwarfs can still capture a troll, and you a "
            "dwarf after that.",
        ),
        (
            TAKES, [because(Merit.STOPS), CAPTURES, because(Merit.SAVES, 3), SAFE],
            f"{TAKING}it keeps the dwarfs from winning next, and captures 2 dwarfs.",
        ),
        (
            HURL, [because(Merit.CAPTURES, 1), SAFE],
            'Try "hurl f6 g7": it captures a troll, and costs you nothing.',
        ),
        (STEP, [because(Merit.WINS)], f"{STEPS}it wins the battle."),
        (
            STEP, [because(Merit.SAVES, 2), SAFE],
            f"{STEPS}it saves 2 dwarfs, and keeps all your dwarfs safe.",
        ),
        (
            STEP, [because(Merit.WINS_NEXT), because(Merit.GATHERS, 1), SAFE],
            f"{STEPS}it threatens to win next, and brings the dwarf next to another.",
        ),
        (
            STEP, [because(Merit.THREATENS, 1), because(Merit.GATHERS, 3), SAFE],
            f"{STEPS}it threatens to capture a troll, and brings the dwarf next to 3 others.",
        ),
        (
            STEP,
            [
                because(Merit.NEARS, goal=Ending.ROCK_ESCAPED),
                because(Merit.BLOCKS, goal=Ending.ROCK_CAPTURED),
            ],
            f"{STEPS}it brings the Rock closer to home, and keeps trolls away from the Rock.",
        ),
        (
            STEP,
            [
                because(Merit.NEARS, goal=Ending.ROCK_CAPTURED),
                because(Merit.BLOCKS, goal=Ending.ROCK_ESCAPED),
            ],
            f"{STEPS}it brings another troll next to the Rock, and bars the Rock's way home.",
        ),
        (
            STEP,
            [
                because(Merit.NEARS, goal=Ending.NO_MOVE),
                because(Merit.BLOCKS, goal=Ending.NO_MOVE),
            ],
            f"{STEPS}it brings you closer to winning, and keeps the trolls from getting "
            "closer to winning.",
        ),
        (STEP, [SAFE], f"{STEPS}it keeps all your dwarfs safe."),
        (
            STEP, [LOSES],
            f"{STEPS}no other move seems better, but the trolls can then capture a dwarf.",
        ),
        (STEP, [], f"{STEPS}no other move seems better."),
    ],
)  # fmt: skip
def test_hint_sentence_gives_the_weightiest_reasons(
    ply: Move, reasons: list[Because], sentence: str
) -> None:
    side = Side.TROLL if ply.piece is Piece.TROLL else Side.DWARF
    assert told(TABLE, Advice(side, ply, tuple(reasons)), WIDE) == [sentence]


AIMED = move(Piece.DWARF, "E8", "G8", "G8", verb=Verb.HURL)
TWO = move(Piece.TROLL, "F8", "F7", "F6", "G6")
THREE = move(Piece.TROLL, "F8", "F7", "E6", "F6", "G6", verb=Verb.SHOVE)


@pytest.mark.parametrize(
    ("ply", "reasons", "sentence"),
    [
        (
            STEP, [Because(Merit.SAVES, 2, capture=TWO), SAFE],
            "it saves the dwarfs at F6 and G6, and keeps all your dwarfs safe.",
        ),
        (
            STEP, [Because(Merit.SAVES, 1, capture=TWO), Because(Merit.LOSES, 2, capture=TWO)],
            "it saves a dwarf, but the trolls can still capture the dwarfs at F6 and G6.",
        ),
        (
            STEP, [Because(Merit.THREATENS, 1, capture=AIMED), SAFE],
            "it threatens to hurl E8 at the troll at G8, and keeps all your dwarfs safe.",
        ),
        (
            TAKES, [Because(Merit.THREATENS, 2, capture=TWO), SAFE],
            "it threatens the dwarfs at F6 and G6, and keeps all your trolls safe.",
        ),
        (
            TAKES, [Because(Merit.THREATENS, 3, capture=THREE), SAFE],
            "it threatens to capture 3 dwarfs by F8 to F7, and keeps all your trolls safe.",
        ),
        (
            STEP, [Because(Merit.LOSES, 3, capture=THREE)],
            "no other move seems better, but the trolls can then capture 3 dwarfs by F8 to F7.",
        ),
    ],
)  # fmt: skip
def test_hint_names_pieces_by_their_squares(
    ply: Move, reasons: list[Because], sentence: str
) -> None:
    side = Side.TROLL if ply.piece is Piece.TROLL else Side.DWARF
    [line] = told(TABLE, Advice(side, ply, tuple(reasons)), WIDE)
    assert line.partition(": ")[2] == sentence


def test_hint_has_the_expected_reply_unless_it_is_the_loss_named() -> None:
    quiet = move(Piece.TROLL, "G7", "G6")
    assert told(TABLE, Advice(Side.DWARF, STEP, (SAFE,), quiet), WIDE) == [
        f"{STEPS}it keeps all your dwarfs safe.",
        "The likely reply: G7 to G6.",
    ]
    loses = Because(Merit.LOSES, 2, capture=TWO)
    assert told(TABLE, Advice(Side.DWARF, STEP, (loses,), TWO), WIDE) == [
        f"{STEPS}no other move seems better, but the trolls can then capture the dwarfs at F6"
        " and G6."
    ]


ADVICE = Advice(Side.TROLL, TAKES, (CAPTURES, LOSES))


def test_hint_for_a_screen_reader_has_one_reason_a_line() -> None:
    assert told(TABLE, ADVICE, View("Anna", Style.FULL, Display(is_for_reader=True))) == [
        'Try "g7 f7 capturing e7, f8".',
        "It captures 2 dwarfs.",
        "The dwarfs can then capture a troll.",
    ]


def test_hint_from_elsewhere_names_the_board_and_wraps() -> None:
    away = View("Anna", Style.FULL, Display(width=40), is_elsewhere=True)
    assert told(TABLE, ADVICE, away) == [
        "Try",
        '"g7 f7 on oak board capturing e7, f8":',
        "it captures 2 dwarfs, but the dwarfs",
        "can then capture a troll.",
    ]


REFUSALS = {
    HintRefusal.NO_HINTS: 'There are no hints here. "captures" and "moves" list what you can play.',
    HintRefusal.NO_HINTS_RATED: (
        "Your battle at the oak board is rated, so there are no hints until it's over."
    ),
    HintRefusal.NO_HINTS_CLOCK: (
        "Your battle at the oak board is against a person and has a clock, so there are no "
        "hints until it's over."
    ),
    HintRefusal.HINT_PENDING: "Thinking ... Your hint will be here in a moment.",
    HintRefusal.HINT_FAILED: 'No hint this time. "hint on oak board" tries again.',
    HintRefusal.HINT_OUT_OF_DATE: (
        'Things have moved on at the oak board since you asked for a hint. "hint on oak '
        'board" tries again.'
    ),
}


@pytest.mark.parametrize("code", HintRefusal)
def test_hint_refusal_wording(code: HintRefusal) -> None:
    assert refusal_text(RefusedError(code, board="oak board")) == REFUSALS[code]
