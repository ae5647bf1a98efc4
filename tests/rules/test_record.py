"""Game records: reading, writing, and errors with their line."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import cases
from tests.conftest import examples
from tests.rules.shorthand import D, T, board, seeded, squares
from thudmud.errors import InvalidValueError
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Comment,
    Ending,
    Game,
    IllegalMoveError,
    Move,
    Piece,
    Reason,
    Record,
    RecordError,
    Ruleset,
    Side,
    Square,
    Verb,
    read_ply,
    read_position,
    read_record,
    read_records,
    write_record,
)
from thudmud.rules.board import distance
from thudmud.views.refusals import refusal_text

THUD = (
    "dF1,dG1,dJ1,dK1,dE2,dL2,dD3,dM3,dC4,dN4,dB5,dO5,dA6,dP6,dA7,dP7,dA9,dP9,dA10,dP10,dB11,dO11,"
    "dC12,dN12,dD13,dM13,dE14,dL14,dF15,dG15,dJ15,dK15,TG7,TH7,TJ7,TG8,TJ8,TG9,TH9,TJ9,RH8"
)
VALLEY = (
    "dH9,dA10,dP10,dB11,dO11,dC12,dN12,dD13,dM13,dE14,dL14,dF15,dG15,dH15,dJ15,dK15,"
    "TF2,TH2,TK2,TE3,TF3,TH3,TK3,TL3,RH8"
)

seeds = st.integers(0, 2**32 - 1).map(seeded)
rulesets = st.sampled_from(list(RULESETS.values()))


def battle(ruleset: Ruleset, random: Random, plies: int) -> Game:
    game = Game.start(ruleset)
    while game.outcome is None and len(game.moves) < plies:
        moves = game.legal_moves()
        captures = [move for move in moves if move.captures]
        game = game.play(random.choice(random.choice((captures, moves)) or moves))
    return game


@pytest.mark.parametrize(("name", "setup"), [("classic", THUD), ("koom valley", VALLEY)])
def test_record_of_an_opening_is_its_setup_line(name: str, setup: str) -> None:
    start = Game.start(RULESETS[name])
    assert write_record(start) == setup + "\n"
    assert read_record(setup, RULESETS[name]).game == start


@examples(40)
@given(rulesets, seeds)
def test_record_round_trips_to_the_same_battle(ruleset: Ruleset, random: Random) -> None:
    game = battle(ruleset, random, 60)
    text = write_record(game)
    again = read_record(text, ruleset).game
    assert again == game
    assert [move.verb for move in again.moves] == [move.verb for move in game.moves]
    assert write_record(again) == text


@examples(40)
@given(rulesets, seeds)
def test_ply_round_trips_to_the_same_move(ruleset: Ruleset, random: Random) -> None:
    game = battle(ruleset, random, 40)
    for move in game.legal_moves():
        read = read_ply(str(move), ruleset, game.position)
        assert (read, read.verb) == (move, move.verb)


def test_record_of_a_mid_game_opening_round_trips() -> None:
    for turn in (D, T):
        opening = board("d A6 B6 T D6 G7 X H8", turn)
        game = Game.start(CLASSIC, opening)
        game = game.play(game.legal_moves()[0])
        assert read_record(write_record(game), CLASSIC).game == game


def test_turn_header_is_written_when_no_ply_shows_the_side() -> None:
    game = Game.start(CLASSIC, board("d A6 T D6 X H8", T))
    assert write_record(game) == '[Turn "troll"]\ndA6,TD6,RH8\n'
    assert read_record(write_record(game), CLASSIC).game == game
    assert read_record(str(Record(game))).game == game


SAID = (
    Comment(0, "", "note: a short one"),
    Comment(1, "Anna", "Hm: yes!"),
    Comment(1, "Bert", "; no"),
    Comment(2, "", "Bert"),
)


class TestComments:
    def test_comments_round_trip(self) -> None:
        game = Game.start(CLASSIC).push("dA6-B6").push("TG7-F7")
        record = Record(game, "Anna", "Bert", comments=SAID)
        assert str(record).splitlines()[-6:] == [
            "; : note: a short one",
            "dA6-B6",
            "; Anna: Hm: yes!",
            "; Bert: ; no",
            "TG7-F7",
            "; : Bert",
        ]
        assert read_record(str(record)) == record
        assert ";" not in write_record(game)

    def test_comments_are_read_anywhere_and_without_a_name(self) -> None:
        text = ';found in a book\n[Rules "classic"]\n; of 2002\ndA6,TG7,RH8\n;well\n;\ndA6-B6\n;!\n'
        record = read_record(text)
        assert [(each.ply, each.player, each.text) for each in record.comments] == [
            (0, "", "found in a book"),
            (0, "", "of 2002"),
            (0, "", "well"),
            (1, "", "!"),
        ]
        assert len(record.game.moves) == 1

    def test_error_below_comments_names_the_right_line(self) -> None:
        with pytest.raises(RecordError, match="line 4: expected a ply"):
            read_record("dA6,TG7,RH8\n; well\n\nnonsense\n", CLASSIC)

    @pytest.mark.parametrize(
        ("ply", "player", "text"),
        [
            (-1, "Anna", "no"),
            (1, "Anna B", "no"),
            (1, "Anna:", "no"),
            (1, "Anna", ""),
            (1, "Anna", " no"),
            (1, "Anna", "one\ntwo"),
            (1, "Anna", "one\u2028two"),
        ],
    )
    def test_invalid_comment_is_refused(self, ply: int, player: str, text: str) -> None:
        with pytest.raises(InvalidValueError):
            Comment(ply, player, text)

    @pytest.mark.parametrize("plies", [(1, 0), (2,)])
    def test_comments_out_of_order_are_refused(self, plies: tuple[int, ...]) -> None:
        with pytest.raises(InvalidValueError):
            Record(
                Game.start(CLASSIC).push("dA6-B6"),
                comments=tuple(Comment(ply, "Anna", "well") for ply in plies),
            )


class TestTimes:
    GAME = Game.start(CLASSIC).push("dA6-B6").push("TG7-F7")

    def test_times_are_written_between_plies_and_comments(self) -> None:
        said = (Comment(1, "Anna", "time 0:01.0"),)
        record = Record(self.GAME, comments=said, clock="10+5", spent=(7.4, 3725.0))
        header, *_, ply, time, comment, _, last = str(record).splitlines()[1:]
        assert header == '[Clock "10+5"]'
        assert (ply, time, comment) == ("dA6-B6", "; time 0:07.4", "; Anna: time 0:01.0")
        assert last == "; time 1:02:05.0"
        assert read_record(str(record)) == record

    @given(st.tuples(*[st.integers(0, 10**7)] * 2))
    def test_times_round_trip_in_tenths_of_seconds(self, tenths: tuple[int, int]) -> None:
        record = Record(self.GAME, spent=tuple(each / 10 for each in tenths))
        assert read_record(str(record)) == record

    def test_times_are_dropped_when_one_is_missing(self) -> None:
        text = str(Record(self.GAME, clock="3 days", spent=(1.0, 2.0)))
        record = read_record(text.replace("; time 0:01.0\n", ""))
        assert (record.clock, record.spent, record.comments) == ("3 days", (), ())

    @pytest.mark.parametrize("plies", range(3))
    @pytest.mark.parametrize("timed", range(3))
    @pytest.mark.parametrize("before_setup", [False, True])
    def test_time_before_the_first_ply_is_ignored(
        self, plies: int, timed: int, *, before_setup: bool
    ) -> None:
        setup, *moves = str(write_record(self.GAME)).splitlines()
        lines = ["; time 0:09.0", setup] if before_setup else [setup, "; time 0:09.0"]
        for number, move in enumerate(moves[:plies]):
            lines += [move, *["; time 0:01.0"] * (number < timed)]
        record = read_record("\n".join(lines), self.GAME.ruleset)
        assert record.spent == ((1.0,) * plies if timed >= plies else ())
        assert record.comments == ()

    @pytest.mark.parametrize("spent", [(1.0,), (1.0, 2.0, 3.0), (1.0, -2.0)])
    def test_times_that_do_not_match_the_plies_are_refused(self, spent: tuple[float, ...]) -> None:
        with pytest.raises(InvalidValueError):
            Record(self.GAME, spent=spent)

    def test_battle_lost_on_time_round_trips(self) -> None:
        resigned = self.GAME.resign(Side.TROLL)
        assert resigned.outcome is not None
        lost = replace(resigned, outcome=replace(resigned.outcome, ending=Ending.TIME))
        assert read_record(str(Record(lost))).game == lost


def test_bare_record_omits_an_ending_by_resignation() -> None:
    game = Game.start(CLASSIC).resign(Side.TROLL)
    assert read_record(write_record(game), CLASSIC).game.outcome is None


def test_ending_by_a_ply_is_derived_from_the_ply() -> None:
    game = read_record("dG2,dA8,TA6,RH2\nRH2-H1\n", KOOM_VALLEY).game
    assert game.outcome is not None
    assert game.outcome.ending is Ending.ROCK_ESCAPED


@pytest.mark.parametrize(
    ("words", "ply"),
    [
        ("d A6 B6", "dA6-B6"),
        ("d I6 I1", "dJ6-J1"),
        ("d O6 O7 O7", "dP6-P7xP7"),
        ("T G7 F7 E7 E8", "TG7-F7xE7xE8"),
        ("T G7 G7 I8 H8", "TG7-G7xJ8xH8"),
        ("R H8 I7", "RH8-J7"),
    ],
)
def test_ply_is_written_in_record_notation(words: str, ply: str) -> None:
    piece, names = words.split(maxsplit=1)
    origin, target, *captures = squares(names)
    verb = Verb.HURL if captures == [target] else Verb.MOVE
    move = Move(Piece(piece), origin, target, tuple(captures), origin is target, verb)
    assert str(move) == ply


def test_white_space_in_a_record_is_ignored() -> None:
    record = f" {THUD.replace(',', ', ')} \r\n\r\n  d A6-B6  \r\n\n"
    assert read_record(record, CLASSIC).game == read_record(f"{THUD}\ndA6-B6", CLASSIC).game


def test_trample_captures_keep_their_order() -> None:
    setup = "dD5,dF6,dH9,dA10,TC4,RH8"
    move = read_record(f"{setup}\nTC4-G6xD5xF6", KOOM_VALLEY).game.moves[-1]
    assert move.captures == squares("D5 F6")
    assert move.is_trample


@cases(
    ("ruleset", "text", "error"),
    [
        (CLASSIC, "", "line 1: missing setup line, such as dF1,dG1,...,RH8"),
        (CLASSIC, " \n\n", "line 1: missing setup line, such as dF1,dG1,...,RH8"),
        (
            CLASSIC,
            "dA6-B6\n",
            "line 1: expected the setup as the first line of a record, "
            "such as dF1,dG1,...,RH8; got 'dA6-B6' in it",
        ),
        (
            CLASSIC,
            "dF1,,RH8",
            "line 1: expected the setup as the first line of a record, "
            "such as dF1,dG1,...,RH8; got '' in it",
        ),
        (
            CLASSIC,
            "\ndF1,xG1,RH8",
            "line 2: expected the setup as the first line of a record, "
            "such as dF1,dG1,...,RH8; got 'xG1' in it",
        ),
        (
            CLASSIC,
            "dI6,RH8",
            "line 1: I6: game records skip the letter I (A to H, then J to P)",
        ),
        (
            CLASSIC,
            "dQ6,RH8",
            "line 1: expected a square from A1 to P15 (no letter I), got Q6",
        ),
        (
            CLASSIC,
            "dA16,RH8",
            "line 1: expected a square from A1 to P15 (no letter I), got A16",
        ),
        (
            CLASSIC,
            "dA0,RH8",
            "line 1: expected a square from A1 to P15 (no letter I), got A0",
        ),
        (
            CLASSIC,
            "df1,RH8",
            "line 1: expected a square such as A6, with a capital letter, got f1",
        ),
        (
            CLASSIC,
            "dA06,RH8",
            "line 1: expected a square such as A6, with a capital letter, got A06",
        ),
        (
            CLASSIC,
            f"dA{'1' * 5_000},RH8",
            f"line 1: expected a square such as A6, with a capital letter, got A{'1' * 5_000}",
        ),
        (CLASSIC, "dA1,RH8", "line 1: dA1 is off the board"),
        (CLASSIC, "dF1,TF1,RH8", "line 1: two pieces on F1"),
        (CLASSIC, "dF1,TG7", "line 1: expected 1 R, got 0"),
        (
            KOOM_VALLEY,
            "RH8,dF1,RH9",
            "line 1: expected at most one Thudstone and one Rock, got 0 and 2",
        ),
        (CLASSIC, "dF1,RH9", "line 1: expected the Thudstone at RH8"),
        (
            CLASSIC,
            THUD.replace("RH8", "TA8,RH8"),
            "line 1: expected at most 8 trolls, got 9",
        ),
        (
            KOOM_VALLEY,
            VALLEY.replace("RH8", "dA6,RH8"),
            "line 1: expected at most 16 dwarfs, got 17",
        ),
        (
            CLASSIC,
            f"{THUD}\ndA6-B6\nnonsense\n",
            "line 3: expected a ply such as dA6-B6 or TG7-F7xE7, got 'nonsense'",
        ),
        (
            CLASSIC,
            f"{THUD}\ndA6-B6x\n",
            "line 2: expected a ply such as dA6-B6 or TG7-F7xE7, got 'dA6-B6x'",
        ),
        (
            CLASSIC,
            f"{THUD}\ndA6-I6\n",
            "line 2: I6: game records skip the letter I (A to H, then J to P)",
        ),
        (
            CLASSIC,
            f"{THUD}\n\ndA6-A6\n",
            "line 3: dA6-A6: same_square A6",
        ),
        (CLASSIC, f"{THUD}\nTA6-B6\n", "line 2: TA6-B6: the piece on A6 is a dwarf"),
        (CLASSIC, f"{THUD}\nRA6-B6\n", "line 2: RA6-B6: the piece on A6 is a dwarf"),
        (CLASSIC, f"{THUD}\ndA8-B8\n", "line 2: dA8-B8: no_piece A8"),
        (CLASSIC, f"{THUD}\nRH8-H7\n", "line 2: RH8-H7: thudstone_stays H8"),
        (
            CLASSIC,
            f"{THUD}\ndA6-B6\ndA7-B7\n",
            "line 3: dA7-B7: not_your_turn",
        ),
        (
            CLASSIC,
            f"{THUD}\ndK1-K9xK9\n",
            "line 2: dK1-K9xK9: lands_on_no_troll J9",
        ),
        (
            CLASSIC,
            f"{THUD}\ndA6-B6\nTJ7-L7\n",
            "line 3: TJ7-L7: too_far I7 K7",
        ),
        (
            CLASSIC,
            f"{THUD}\ndA6-B6\nTJ7-L7xK6\n",
            "line 3: TJ7-L7xK6: no_enemy_there J6",
        ),
        (
            KOOM_VALLEY,
            "dG2,dA8,TA6,RH2\nRH2-H1\nTA6-A7\n",
            "line 3: TA6-A7: game_over",
        ),
        (
            CLASSIC,
            "dE2,dF2,dG2,dH2,dJ1,TF1,TG1,RH8\ndJ1-H1\nTF1-E2\n",
            "line 3: TF1-E2: game_over",
        ),
    ],
)
def test_invalid_record_is_refused_with_line_and_problem(
    ruleset: Ruleset, text: str, error: str
) -> None:
    with pytest.raises(RecordError) as caught:
        read_record(text, ruleset)
    assert str(caught.value).startswith(error)
    assert error.startswith(f"line {caught.value.line}: {caught.value.problem}")


def error_in(text: str, ruleset: Ruleset) -> RecordError | None:
    try:
        read_record(text, ruleset)
    except RecordError as error:
        return error
    return None


@examples(300)
@given(rulesets, st.text() | st.text("dTRABCDEFGHIJKLMNOP0123456789x-,\n"))
def test_arbitrary_text_reads_or_raises_a_record_error(ruleset: Ruleset, text: str) -> None:
    for record in (text, f"{THUD}\n{text}", f"{VALLEY}\n{text}"):
        error = error_in(record, ruleset)
        if error is not None:
            assert 1 <= error.line <= max(1, len(record.splitlines()))
            assert str(error).startswith(f"line {error.line}: {error.problem}")


@examples(60)
@given(rulesets, seeds)
def test_corrupted_record_reads_or_raises_a_record_error(ruleset: Ruleset, random: Random) -> None:
    text = write_record(battle(ruleset, random, 12))
    for _ in range(30):
        place = random.randrange(len(text))
        spoilt = text[:place] + random.choice("dTRAIP19x-,\n ") + text[place + 1 :]
        error = error_in(spoilt, ruleset)
        assert error is None or error.problem


def several(random: Random) -> list[Record]:
    """Return records of several battles, with and without plies."""
    return [
        Record(battle(rules, random, plies), dwarf="Anna", date="2026-11-22", round=str(number))
        for number, (rules, plies) in enumerate([(CLASSIC, 9), (KOOM_VALLEY, 0), (DISCWORLD, 30)])
    ]


class TestSeveralRecords:
    @examples(20)
    @given(seeds)
    def test_records_round_trip_one_after_the_other(self, random: Random) -> None:
        records = several(random)
        text = "\n".join(map(str, records))
        assert list(read_records(text)) == records
        assert list(read_records("\ufeff" + text.replace("\n", "\r\n"))) == records

    def test_bare_records_begin_with_their_setups(self) -> None:
        games = [Game.start(CLASSIC), Game.start(CLASSIC).push("dA6-B6")]
        text = "".join(map(write_record, games * 2))
        assert [each.game for each in read_records(text, CLASSIC)] == games * 2
        assert [each.game for each in read_records(text, default=CLASSIC)] == games * 2

    def test_comment_belongs_to_the_record_above_it(self) -> None:
        text = f"{THUD}\ndA6-B6\n; Anna: One.\n{THUD}\n; Bert: Two.\n"
        comments = [each.comments for each in read_records(text, CLASSIC)]
        assert comments == [(Comment(1, "Anna", "One."),), (Comment(0, "Bert", "Two."),)]

    def test_joined_files_with_byte_order_marks_are_read(self) -> None:
        text = f'\ufeff[Rules "classic"]\n{THUD}\n' * 2
        assert len(list(read_records(text))) == 2

    @pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
    def test_blank_text_has_no_records(self, text: str) -> None:
        assert list(read_records(text)) == []

    def test_error_has_its_line_and_the_records_before_it_are_read(self) -> None:
        records = read_records(f"{THUD}\n\n{THUD}\ndA6-A6\n", CLASSIC)
        assert next(records).game == Game.start(CLASSIC)
        with pytest.raises(RecordError, match=r"^line 4: dA6-A6: same_square"):
            next(records)

    def test_headers_without_a_setup_are_refused(self) -> None:
        text = f'{THUD}\n[Rules "classic"]\n'
        with pytest.raises(RecordError, match=r"^line 2: missing setup line"):
            list(read_records(text, CLASSIC))

    def test_single_reader_says_how_many_there_are(self) -> None:
        text = f'[Rules "classic"]\n{THUD}\ndA6-B6\n\n' * 3
        with pytest.raises(RecordError, match=r"^line 5: expected one record, got 3"):
            read_record(text)


@pytest.mark.parametrize(
    ("date", "read"),
    [
        ("2026.11.22", "2026-11-22"),
        ("2026-11-22", "2026-11-22"),
        ("2026.11.??", ""),
        ("2026.??.??", ""),
        ("????.??.??", ""),
        ("?", ""),
    ],
)
def test_date_is_read_as_pgn_writes_it(date: str, read: str) -> None:
    record = read_record(f'\ufeff[Rules "classic"]\n[Date "{date}"]\n{THUD}\ndF15-F8\n')
    assert record.date == read
    assert read_record(str(record)) == record


@pytest.mark.parametrize("date", ["2026.13.22", "22.11.2026", "2026.11-22", "2026-11-??"])
def test_malformed_date_is_refused(date: str) -> None:
    with pytest.raises(RecordError, match=r"^line 2: expected a date such as 2026-11-22"):
        read_record(f'[Rules "classic"]\n[Date "{date}"]\n{THUD}\n')


@examples(60)
@given(rulesets, seeds)
def test_move_is_parsed_without_a_position(ruleset: Ruleset, random: Random) -> None:
    tramples = ruleset is KOOM_VALLEY
    for move in battle(ruleset, random, 40).moves:
        parsed = Move.parse(str(move), tramples=tramples)
        assert parsed == move
        assert str(parsed) == str(move)
        assert parsed.verb is move.verb or distance(move.origin, move.target) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("xx", "expected a ply such as dA6-B6"),
        ("dA6-I6", "game records skip the letter I"),
        ("dA6-A6", "origin and target are the same"),
        ("dA1-A6", "a square is off the board"),
        ("RH8-H7xH6", "only dwarfs and trolls capture"),
    ],
)
def test_impossible_move_is_not_parsed(text: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        Move.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("TF8-E7xD7xE6", Reason.TOO_MANY_CAPTURES),
        ("TF8-E7xD7xD6", Reason.NO_ENEMY_THERE),
        ("TF8-D6xD7", Reason.SHOVE_NEEDS_LINE),
    ],
)
def test_ply_of_a_lone_classic_troll_is_refused_for_its_captures(text: str, reason: Reason) -> None:
    position = read_position("dD7,dE6,TF8,RH8 troll", CLASSIC)
    with pytest.raises(IllegalMoveError) as refused:
        read_ply(text, CLASSIC, position)
    assert refused.value.code is reason
    if reason is Reason.TOO_MANY_CAPTURES:
        assert refusal_text(refused.value).startswith("A move captures at most 1 dwarf here;")


def test_read_ply_checks_syntax_and_legality() -> None:
    position = DISCWORLD.initial_position
    assert read_ply("dA6-B6", DISCWORLD, position).target is Square.parse("B6")
    with pytest.raises(IllegalMoveError):
        read_ply("dA6-A7", DISCWORLD, position)
    with pytest.raises(ValueError, match="expected a ply such as"):
        read_ply("a6 b6", DISCWORLD, position)
