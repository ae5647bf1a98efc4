"""Why a table or the hall says no: a code for each reason, which `thudmud.errors.Refused` carries.

The rules of the game have codes of their own, `thudmud.rules.Reason`.
"""

from __future__ import annotations

from enum import Enum


class Refusal(Enum):
    """Why a command is refused; the value is stable, for programs."""

    NO_BOARD_HERE = "no_board_here"
    NO_SUCH_ORDINAL = "no_such_ordinal"
    WHICH_BOARD = "which_board"
    SAY_WHICH = "say_which"
    NOTHING_USED = "nothing_used"
    ALREADY_THERE = "already_there"
    ALREADY_IN_HALL = "already_in_hall"
    NO_SUCH_PLAYER = "no_such_player"
    WHICH_PLAYER = "which_player"
    AWAY_FROM = "away_from"
    TELL_SELF = "tell_self"
    NO_ACCOUNTS = "no_accounts"

    INVITE_SELF = "invite_self"
    PLAYS_THERE = "plays_there"
    NO_SEAT_FREE = "no_seat_free"
    SEAT_NOT_FREE = "seat_not_free"
    SEAT_TAKEN = "seat_taken"
    SAME_SEAT = "same_seat"
    ONE_SEAT_EACH = "one_seat_each"

    NOT_SEATED = "not_seated"
    NEEDS_OPPONENT = "needs_opponent"
    NOBODY_TO_AGREE = "nobody_to_agree"
    NO_BATTLE = "no_battle"
    BATTLE_OVER = "battle_over"
    OPPONENTS_TURN = "opponents_turn"
    OVER_FOR_GOOD = "over_for_good"
    AWAY = "away"
    NOT_AWAY = "not_away"
    TOO_SOON = "too_soon"
    NOTHING_TO_CLAIM = "nothing_to_claim"
    NOBODY_TO_CLAIM_FROM = "nobody_to_claim_from"
    NO_MATCH = "no_match"
    NO_PLY_YET = "no_ply_yet"
    NOTHING_OFFERED = "nothing_offered"
    ALREADY_OFFERED = "already_offered"

    BOARD_IN_USE = "board_in_use"
    NOTHING_ADJOURNED = "nothing_adjourned"
    GOES_ON_ALREADY = "goes_on_already"
    NOT_YOURS_TO_RESUME = "not_yours_to_resume"
    RESUME_THERE = "resume_there"
    OPPONENT_NOT_THERE = "opponent_not_there"
    WHICH_ADJOURNED = "which_adjourned"

    NO_SUCH_BATTLE = "no_such_battle"
    NOT_KEPT = "not_kept"
    NOT_REPLAYING = "not_replaying"
    REPLAY_AT_START = "replay_at_start"
    REPLAY_AT_END = "replay_at_end"
    REPLAY_GONE_ON = "replay_gone_on"

    RULES_RUNNING = "rules_running"
    RULES_MID_MATCH = "rules_mid_match"
    RULES_SEATED_ONLY = "rules_seated_only"
    RULES_ALREADY = "rules_already"
    RULES_UNKNOWN = "rules_unknown"
