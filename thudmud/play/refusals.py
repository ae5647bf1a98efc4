"""Why a table or the hall says no, and why a line is no command: a code for each reason.

`thudmud.errors.Refused` carries one. The rules of the game have codes of their own,
`thudmud.rules.Reason`.
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
    TALK_TOO_FAST = "talk_too_fast"
    NOT_LISTENING = "not_listening"
    IGNORE_SELF = "ignore_self"
    IGNORED_ALREADY = "ignored_already"
    IGNORES_TOO_MANY = "ignores_too_many"
    NOT_IGNORED = "not_ignored"
    NO_ACCOUNTS = "no_accounts"

    NO_BOARD_UP = "no_board_up"
    BOARD_NAME_UNFIT = "board_name_unfit"
    BOARD_NAME_TAKEN = "board_name_taken"

    INVITE_SELF = "invite_self"
    PLAYS_THERE = "plays_there"
    PLAYS_AT_NO_LEVEL = "plays_at_no_level"
    NO_SUCH_LEVEL = "no_such_level"
    NO_SEAT_FREE = "no_seat_free"
    SEAT_NOT_FREE = "seat_not_free"
    SEAT_TAKEN = "seat_taken"
    SAME_SEAT = "same_seat"
    ONE_SEAT_EACH = "one_seat_each"
    MATCH_UNDER_WAY = "match_under_way"

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

    NO_HINTS = "no_hints"
    NO_HINTS_RATED = "no_hints_rated"
    HINT_PENDING = "hint_pending"
    HINT_FAILED = "hint_failed"
    HINT_OUT_OF_DATE = "hint_out_of_date"

    NO_ANALYSES = "no_analyses"
    NO_ANALYSES_RATED = "no_analyses_rated"
    ANALYSE_WHICH = "analyse_which"
    NOT_OVER = "not_over"
    TOO_SHORT = "too_short"
    ANALYSIS_PENDING = "analysis_pending"
    ANALYSES_TOO_MANY = "analyses_too_many"
    ANALYSIS_FAILED = "analysis_failed"
    NOTHING_ANALYSED = "nothing_analysed"

    NO_EXERCISE = "no_exercise"
    IN_BATTLE = "in_battle"
    NO_SUCH_LESSON = "no_such_lesson"
    NO_SUCH_PUZZLE = "no_such_puzzle"
    STEP_OPEN = "step_open"
    STEP_DONE = "step_done"
    EXERCISE_OVER = "exercise_over"

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

    NO_COMMENTS = "no_comments"
    COMMENT_PLAYERS_ONLY = "comment_players_only"
    COMMENT_RUNNING = "comment_running"
    COMMENT_NO_SUCH_PLY = "comment_no_such_ply"
    COMMENT_TOO_LONG = "comment_too_long"
    COMMENT_TOO_MANY = "comment_too_many"
    COMMENT_NONE = "comment_none"

    RULES_RUNNING = "rules_running"
    RULES_MID_MATCH = "rules_mid_match"
    RULES_SEATED_ONLY = "rules_seated_only"
    RULES_ALREADY = "rules_already"
    RULES_UNKNOWN = "rules_unknown"

    SETUP_RUNNING = "setup_running"
    SETUP_MID_MATCH = "setup_mid_match"
    SETUP_SEATED_ONLY = "setup_seated_only"
    SETUP_ALREADY = "setup_already"
    SETUP_TOO_MANY = "setup_too_many"
    SETUP_NEEDS_ROCK = "setup_needs_rock"
    SETUP_OVER = "setup_over"


class Mistake(Enum):
    """Why a line is no command; the value is stable, for programs."""

    EMPTY_LINE = "empty_line"
    LINE_TOO_LONG = "line_too_long"
    UNKNOWN_COMMAND = "unknown_command"
    UNEXPECTED_WORD = "unexpected_word"
    MISSING_WORD = "missing_word"

    BLANK_IN_NUMBER = "blank_in_number"
    NO_SUCH_COLUMN = "no_such_column"
    NO_SUCH_ROW = "no_such_row"
    POSITIONS_TOGETHER = "positions_together"
    SHOVE_WITHOUT_CAPTURES = "shove_without_captures"
    NUMBERS_BEGIN_WITH_1 = "numbers_begin_with_1"
    NUMBER_TOO_LONG = "number_too_long"
    NO_BATTLE_NUMBER = "no_battle_number"
    COLUMN_FOR_ROW = "column_for_row"
    ROW_FOR_COLUMN = "row_for_column"
    MOVES_FOR_MOVE = "moves_for_move"
    WHERE_WITH_FILLERS = "where_with_fillers"
    WHERE_FINDS_PIECES = "where_finds_pieces"
    AGREE_BY_THE_SAME = "agree_by_the_same"
    PLAY_FOR_JOIN = "play_for_join"
    REST_IS_ASKED_FOR = "rest_is_asked_for"

    NO_SUCH_WIDTH = "no_such_width"
    NOT_SIX_DIGITS = "not_six_digits"
    NO_SUCH_COLOUR_NUMBER = "no_such_colour_number"
    BRIGHT_ALONE = "bright_alone"
    NO_SUCH_COLOUR = "no_such_colour"
    SET_FOR_OPTIONS = "set_for_options"
    NO_I_IN_RECORDS = "no_i_in_records"


class NameProblem(Enum):
    """Why nobody can be called something; the value is stable, for programs."""

    ASKS_FOR_HELP = "asks_for_help"
    NO_NAME = "no_name"
    HAS_A_MEANING = "has_a_meaning"
