"""Every reason to refuse an attempt, with examples."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.rules.shorthand import D, T, ask, board
from thudmud.rules import CLASSIC, DISCWORLD, KOOM_VALLEY, IllegalMoveError, Reason, Ruleset, Side


class Example(NamedTuple):
    """A refused attempt, the squares that are the reason, and the text for players."""

    code: Reason
    rules: Ruleset
    pieces: str
    side: Side
    words: str
    squares: str
    sentence: str


R = Reason
THUD = "d A6 B6 C6 E7 E8 T F7 F8 X H8"
VALLEY = "d E7 F6 H9 T E6 L7 R H8"

EXAMPLES = [
    Example(
        R.GAME_OVER, KOOM_VALLEY, "d H2 T E6 R H1", D, "move H2 H3",
        "", "This battle is over.",
    ),
    Example(
        R.NOT_YOUR_TURN, CLASSIC, THUD, T, "move F7 G7",
        "", "It is the dwarfs' turn.",
    ),
    Example(
        R.OFF_BOARD, CLASSIC, THUD, D, "move A1 A6",
        "A1", "A1 is off the board; that row goes from F1 to J1.",
    ),
    Example(
        R.OFF_BOARD, CLASSIC, THUD, D, "move A6 A5",
        "A5", "A5 is off the board; that row goes from B5 to N5.",
    ),
    Example(
        R.OFF_BOARD, CLASSIC, THUD, T, "move F7 G7 capturing E7, O15",
        "O15", "O15 is off the board; that row goes from F15 to J15.",
    ),
    Example(
        R.NO_PIECE, CLASSIC, THUD, D, "move D6 D7",
        "D6", "Nothing stands on D6.",
    ),
    Example(
        R.THUDSTONE_STAYS, CLASSIC, THUD, D, "move H8 H7",
        "H8", "The Thudstone on H8 never moves.",
    ),
    Example(
        R.NOT_YOUR_ROCK, KOOM_VALLEY, VALLEY, T, "move H8 H7",
        "H8", "Only the dwarfs move the Rock on H8.",
    ),
    Example(
        R.NOT_YOUR_PIECE, CLASSIC, THUD, D, "move F7 G7",
        "F7", "A troll stands on F7; it is the dwarfs' turn.",
    ),
    Example(
        R.NO_SUCH_VERB, KOOM_VALLEY, VALLEY, D, "hurl E7 E6",
        "", "There is no hurl in Koom Valley; you can move.",
    ),
    Example(
        R.NOT_THIS_SIDES_VERB, CLASSIC, THUD, D, "shove A6 A7",
        "A6", "The dwarfs can't shove; they can move or hurl.",
    ),
    Example(
        R.NOT_THIS_SIDES_VERB, DISCWORLD, THUD, T, "hurl F7 E7",
        "F7", "The trolls can't hurl; they can move or shove.",
    ),
    Example(
        R.SAME_SQUARE, CLASSIC, THUD, D, "move A6 A6",
        "A6", "The piece on A6 has to move to another square.",
    ),
    Example(
        R.NOT_STRAIGHT, CLASSIC, THUD, D, "move A6 C7",
        "A6 C7", "C7 isn't in a straight line with A6.",
    ),
    Example(
        R.BLOCKED, CLASSIC, THUD, D, "move A6 D6",
        "B6", "The way from A6 to D6 is blocked at B6 by a dwarf.",
    ),
    Example(
        R.BLOCKED, CLASSIC, "d H7 T A6 X H8", D, "move H7 H9",
        "H8", "The way from H7 to H9 is blocked at H8 by the Thudstone.",
    ),
    Example(
        R.BLOCKED, DISCWORLD, "d F8 G9 T H9 I9 X H8", T, "shove H9 F9 capturing F8",
        "G9", "The way from H9 to F9 is blocked at G9 by a dwarf.",
    ),
    Example(
        R.TARGET_TAKEN, CLASSIC, THUD, D, "move A6 B6",
        "B6", "B6 is occupied by a dwarf; choose an empty square.",
    ),
    Example(
        R.MOVE_ONTO_TROLL, CLASSIC, THUD, D, "move E7 F7",
        "F7", 'A dwarf moves to empty squares only; to capture the troll on F7, type "hurl from E7'
        ' to F7".',
    ),
    Example(
        R.MOVE_ONTO_TROLL, CLASSIC, "d E7 T H7 X H8", D, "move E7 H7",
        "H7", "A dwarf moves to empty squares only; to capture the troll on H7, hurl a dwarf at"
        " it.",
    ),
    Example(
        R.TOO_FAR, CLASSIC, THUD, T, "move F7 H7",
        "F7 H7", "A troll moves at most 1 square; H7 is 2 away.",
    ),
    Example(
        R.TOO_FAR, KOOM_VALLEY, VALLEY, T, "move L7 L11",
        "L7 L11", "A troll moves at most 3 squares; L11 is 4 away.",
    ),
    Example(
        R.TOO_FAR, KOOM_VALLEY, VALLEY, D, "move H8 H6",
        "H8 H6", "The Rock moves at most 1 square; H6 is 2 away.",
    ),
    Example(
        R.MUST_SHOVE, CLASSIC, "d D8 T C5 C6 X H8", T, "move C6 C8",
        "C6 C8", "Only a shove goes from C6 to C8, and has to capture one or more of D8.",
    ),
    Example(
        R.TOO_FAR, CLASSIC, "d D9 T C5 C6 X H8", T, "move C6 C9",
        "C6 C9", "A troll moves at most 1 square; C9 is 3 away.",
    ),
    Example(
        R.NOT_IN_FRONT, CLASSIC, "d C7 D7 T G7 X H8", D, "hurl C7 G7",
        "D7", "You can hurl only the front dwarf of a line, here the one on D7.",
    ),
    Example(
        R.NOT_IN_FRONT, DISCWORLD, "d F5 T E8 E7 X H8", T, "shove E8 E6 capturing F5",
        "E7", "You can shove only the front troll of a line, here the one on E7.",
    ),
    Example(
        R.LINE_TOO_SHORT, CLASSIC, "d C7 D7 T H7 X H8", D, "hurl D7 H7",
        "D7 H7", "The line of 2 dwarfs can be hurled at most 2 squares; H7 is 4 away.",
    ),
    Example(
        R.LINE_TOO_SHORT, DISCWORLD, THUD, T, "shove F7 F4",
        "F7 F4", "The line of 2 trolls can be shoved at most 2 squares; F4 is 3 away.",
    ),
    Example(
        R.SHOVE_NEEDS_LINE, CLASSIC, THUD, T, "shove F7 E6 capturing E7",
        "F7", "A shove needs a line of 2 trolls; there is none straight behind F7.",
    ),
    Example(
        R.LANDS_ON_NO_TROLL, CLASSIC, THUD, D, "hurl C6 D6",
        "D6", "A hurled dwarf has to land on a troll; D6 is empty.",
    ),
    Example(
        R.LANDS_ON_NO_TROLL, CLASSIC, THUD, D, "hurl A6 B6",
        "B6", "A hurled dwarf has to land on a troll; B6 holds a dwarf.",
    ),
    Example(
        R.NAMED_TWICE, DISCWORLD, THUD, T, "move F8 F9 capturing E8, E8",
        "E8", "E8 is named twice; once is enough.",
    ),
    Example(
        R.NO_DWARF_ADJACENT, CLASSIC, THUD, T, "move F7 G6 capturing all",
        "G6", "A move to G6 captures nothing: no dwarf is next to it.",
    ),
    Example(
        R.HURL_TO_CAPTURE, CLASSIC, THUD, D, "move C6 D6 capturing all",
        "D6", "A move to D6 captures nothing: dwarfs capture by being hurled.",
    ),
    Example(
        R.SHOVE_CAPTURES_NOTHING, CLASSIC, "d A6 T H3 H4 X H8", T, "shove H3 H2",
        "H2", "A shove has to capture, and no dwarf is next to H2.",
    ),
    Example(
        R.NO_TROLL_TRAPPED, KOOM_VALLEY, VALLEY, D, "move E7 D7 capturing all",
        "D7", "A move to D7 captures nothing: no troll is trapped there.",
    ),
    Example(
        R.ROCK_TAKES_NO_PART, KOOM_VALLEY, VALLEY, D, "move H8 I8 capturing all",
        "I8", "A move to I8 captures nothing: the Rock takes no part in captures.",
    ),
    Example(
        R.NO_TRAMPLE, KOOM_VALLEY, VALLEY, T, "move L7 L8 capturing all",
        "L8", "A move to L8 captures nothing: no trample ends there.",
    ),
    Example(
        R.CAPTURE_UNSAID, DISCWORLD, THUD, T, "shove F7 F6 capturing none",
        "E7", 'A shove has to capture; add "capturing" and one or more of E7, or "all".',
    ),
    Example(
        R.NO_ENEMY_THERE, DISCWORLD, THUD, T, "move F7 F6 capturing E6",
        "E6", "There is no dwarf on E6 to capture.",
    ),
    Example(
        R.NO_ENEMY_THERE, KOOM_VALLEY, VALLEY, D, "move E7 D6 capturing E7",
        "E7", "There is no troll on E7 to capture.",
    ),
    Example(
        R.CAPTURE_NOT_ADJACENT, DISCWORLD, THUD, T, "move F7 F6 capturing E8",
        "E8 F6", "E8 isn't next to F6, where the troll would end up.",
    ),
    Example(
        R.TOO_MANY_CAPTURES, CLASSIC, "d E5 E6 E7 T F7 X H8", T, "move F7 F6 capturing all",
        "E5 E6 E7", "A move captures at most 1 dwarf here; choose among E5, E6, E7.",
    ),
    Example(
        R.TOO_MANY_CAPTURES, CLASSIC, "d E5 E6 E7 T F7 F8 X H8", T, "move F7 F6 capturing E6, E5",
        "E5 E6", "A move captures at most 1 dwarf here; choose among E5, E6, or shove there "
        "instead.",
    ),
    Example(
        R.TOO_MANY_CAPTURES, CLASSIC, "d E5 E6 E7 T F7 G8 X H8", T, "move F7 F6 capturing E6, E5",
        "E5 E6", "A move captures at most 1 dwarf here; choose among E5, E6.",
    ),
    Example(
        R.MOVE_CAPTURES, CLASSIC, THUD, D, "move C6 E6 capturing F7",
        "F7", "A dwarf that moves captures nothing; a hurl captures the troll it lands on.",
    ),
    Example(
        R.HURL_CAPTURES, CLASSIC, THUD, D, "hurl E7 F7 capturing F7, F8",
        "F7", "A hurl captures the troll it lands on, here F7, and nothing else.",
    ),
    Example(
        R.HURL_CAPTURES, CLASSIC, THUD, D, "hurl E7 F7 capturing none",
        "F7", "A hurl captures the troll it lands on, here F7, and nothing else.",
    ),
    Example(
        R.NOT_TRAPPED, KOOM_VALLEY, VALLEY, D, "move E7 D7 capturing E6",
        "E6 F5", "The troll on E6 isn't trapped: no dwarf is behind it on F5.",
    ),
    Example(
        R.NOT_TRAPPED_AT_EDGE, KOOM_VALLEY, "d N9 H9 T O8 R H8", D, "move N9 N8 capturing O8",
        "O8", "The troll on O8 can't be trapped from N8: the board ends behind it.",
    ),
    Example(
        R.ROCK_NOT_ESCORTED, KOOM_VALLEY, VALLEY, D, "move H8 H7",
        "H7", "The Rock moves from next to a dwarf to next to a dwarf; none is next to H7.",
    ),
    Example(
        R.ROCK_NOT_ESCORTED, KOOM_VALLEY, "d A6 T L7 R H8", D, "move H8 H7",
        "H8", "The Rock moves from next to a dwarf to next to a dwarf; none is next to H8.",
    ),
    Example(
        R.ROCK_CAPTURES, KOOM_VALLEY, "d H9 T H7 R H8", D, "move H8 G8 capturing H7",
        "H7", 'The Rock captures nothing; leave "capturing" out.',
    ),
    Example(
        R.MUST_TRAMPLE, KOOM_VALLEY, "d D5 F6 H9 T C4 R H8", T, "move C4 E6",
        "D5", 'Only a trample goes from C4 to E6; add "capturing D5".',
    ),
    Example(
        R.MUST_TRAMPLE, KOOM_VALLEY, "d D5 F6 H9 T C4 R H8", T, "move C4 G6 capturing none",
        "D5 F6", 'Only a trample goes from C4 to G6; add "capturing D5, F6".',
    ),
    Example(
        R.TRAMPLE_NOT_NEXT, KOOM_VALLEY, "d D5 F6 H9 T C4 R H8", T, "move C4 E6 capturing F6",
        "F6 C4", "F6 isn't next to C4, where the trample has got to.",
    ),
    Example(
        R.TRAMPLE_NO_LANDING, KOOM_VALLEY, "d D5 E6 H9 T C4 R H8", T, "move C4 E6 capturing D5",
        "E6", "D5 can't be trampled from C4: E6 beyond it isn't empty.",
    ),
    Example(
        R.TRAMPLE_AT_EDGE, KOOM_VALLEY, "d A8 H9 T B8 R H8", T, "move B8 C8 capturing A8",
        "A8", "A8 can't be trampled from B8: the board ends beyond it.",
    ),
    Example(
        R.TRAMPLE_ENDS_ELSEWHERE, KOOM_VALLEY, "d D5 H9 T C4 R H8", T,
        "move C4 F6 capturing D5",
        "E6 F6", "That trample ends on E6, not on F6.",
    ),
    Example(
        R.TRAMPLES_TOO_MANY, KOOM_VALLEY,
        "d G10 I10 F11 G11 H11 I11 J11 G12 I12 F13 G13 H13 I13 J13 G14 I14 T H12 R H8", T,
        "move H12 F12 capturing all",
        "F12", "There are too many ways to trample to F12 to try them all; name the dwarfs in the "
        'order trampled, such as "capturing G12".',
    ),
    Example(
        R.TRAMPLE_AMBIGUOUS, KOOM_VALLEY, "d E5 F6 E7 D6 H10 T D5 R H9", T,
        "move D5 D5 capturing all",
        "E5 D6 F6 E7",
        'More than one trample fits; name the dwarfs in order, such as "capturing E5, F6, E7, D6" '
        'or "capturing D6, E7, F6, E5".',
    ),
    Example(
        R.TRAMPLE_AMBIGUOUS, KOOM_VALLEY, "d E5 F6 E7 D6 H10 T D5 R H9", T,
        "move D5 D5 capturing F6, E5, D6, E7",
        "E5 D6 F6 E7",
        'More than one trample fits; name the dwarfs in order, such as "capturing E5, F6, E7, D6" '
        'or "capturing D6, E7, F6, E5".',
    ),
]  # fmt: skip


def refusal(example: Example) -> IllegalMoveError:
    turn = example.side.other if example.code is R.NOT_YOUR_TURN else example.side
    position = board(example.pieces, turn)
    with pytest.raises(IllegalMoveError) as caught:
        example.rules.resolve(position, ask(example.words), example.side)
    return caught.value
