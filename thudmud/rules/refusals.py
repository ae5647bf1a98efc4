"""Refusals of moves: the codes, and the exception that carries one."""

from __future__ import annotations

from enum import Enum

from thudmud.errors import RefusedError
from thudmud.rules.board import Square


class Reason(Enum):
    """The codes of refused moves. Programs rely on the values, so these never change."""

    GAME_OVER = "game_over"
    NOT_YOUR_TURN = "not_your_turn"
    OFF_BOARD = "off_board"
    NO_PIECE = "no_piece"
    THUDSTONE_STAYS = "thudstone_stays"
    NOT_YOUR_ROCK = "not_your_rock"
    NOT_YOUR_PIECE = "not_your_piece"
    NO_SUCH_VERB = "no_such_verb"
    NOT_THIS_SIDES_VERB = "not_this_sides_verb"

    SAME_SQUARE = "same_square"
    NOT_STRAIGHT = "not_straight"
    BLOCKED = "blocked"
    TARGET_TAKEN = "target_taken"
    MOVE_ONTO_TROLL = "move_onto_troll"
    TOO_FAR = "too_far"
    MUST_SHOVE = "must_shove"
    NOT_IN_FRONT = "not_in_front"
    LINE_TOO_SHORT = "line_too_short"
    SHOVE_NEEDS_LINE = "shove_needs_line"
    LANDS_ON_NO_TROLL = "lands_on_no_troll"

    NAMED_TWICE = "named_twice"
    NO_ENEMY_THERE = "no_enemy_there"
    CAPTURE_NOT_ADJACENT = "capture_not_adjacent"
    NO_DWARF_ADJACENT = "no_dwarf_adjacent"
    TOO_MANY_CAPTURES = "too_many_captures"
    MOVE_CAPTURES = "move_captures"
    HURL_TO_CAPTURE = "hurl_to_capture"
    HURL_CAPTURES = "hurl_captures"
    SHOVE_CAPTURES_NOTHING = "shove_captures_nothing"
    CAPTURE_UNSAID = "capture_unsaid"

    NOT_TRAPPED = "not_trapped"
    NOT_TRAPPED_AT_EDGE = "not_trapped_at_edge"
    NO_TROLL_TRAPPED = "no_troll_trapped"
    ROCK_NOT_ESCORTED = "rock_not_escorted"
    ROCK_CAPTURES = "rock_captures"
    ROCK_TAKES_NO_PART = "rock_takes_no_part"

    MUST_TRAMPLE = "must_trample"
    TRAMPLE_NOT_NEXT = "trample_not_next"
    TRAMPLE_NO_LANDING = "trample_no_landing"
    TRAMPLE_AT_EDGE = "trample_at_edge"
    TRAMPLE_ENDS_ELSEWHERE = "trample_ends_elsewhere"
    NO_TRAMPLE = "no_trample"
    TRAMPLES_TOO_MANY = "tramples_too_many"
    TRAMPLE_AMBIGUOUS = "trample_ambiguous"


class IllegalMoveError(RefusedError, ValueError):
    """Raised when the rules refuse an attempt.

    Attributes:
        code: the rule that the attempt breaks.
        squares: the squares concerned; may be empty.
    """

    code: Reason
    squares: tuple[Square, ...]
