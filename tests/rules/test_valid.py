"""Validation: invalid positions, moves, battles, scores and records cannot be constructed."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from tests.rules.shorthand import D, T, squares
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    Ending,
    Game,
    IllegalMoveError,
    Move,
    Piece,
    Position,
    Record,
    RecordError,
    Ruleset,
    Score,
    Side,
    Square,
    Verb,
    read_position,
    read_record,
    write_position,
    write_record,
)

H8, A6, B6, C6 = squares("H8 A6 B6 C6")
CORNER = Square.parse("A1")
DWARF, TROLL, STONE, ROCK = Piece


class TestPosition:
    @pytest.mark.parametrize(
        ("dwarfs", "trolls", "stone", "rock", "problem"),
        [
            (A6.bit, A6.bit, 0, 0, "two pieces are on the same square"),
            (0, H8.bit, H8.bit, 0, "two pieces are on the same square"),
            (0, 0, H8.bit, H8.bit, "two pieces are on the same square"),
            (CORNER.bit, 0, 0, 0, "a piece is off the board"),
            (1 << 15, 0, 0, 0, "a piece is off the board"),
            (1 << 300, 0, 0, 0, "a piece is off the board"),
            (-1, 0, 0, 0, "a piece is off the board"),
            (0, 0, 0, A6.bit | B6.bit, "one Thudstone and one Rock"),
            (0, 0, A6.bit | B6.bit, 0, "one Thudstone and one Rock"),
        ],
    )
    def test_invalid_fields_are_refused(
        self, dwarfs: int, trolls: int, stone: int, rock: int, problem: str
    ) -> None:
        with pytest.raises(InvalidValueError, match=problem):
            Position(dwarfs, trolls, stone, rock, D)

    def test_position_without_a_side_to_move_is_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="expected a Side to move"):
            Position(0, 0, 0, 0, "dwarf")  # type: ignore[arg-type]

    @pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
    def test_diagram_round_trips(self, rules: Ruleset) -> None:
        drawn = str(rules.initial_position)
        assert Position.from_diagram(drawn, D) == rules.initial_position
        assert drawn.splitlines()[0].split() == list("ABCDEFGHJKLMNOP")
        assert all(line == line.rstrip() for line in drawn.splitlines())

    @pytest.mark.parametrize(
        "diagram", ["", "A B C\n 1 ...", str(CLASSIC.initial_position).replace("X", "?")]
    )
    def test_invalid_diagram_is_refused(self, diagram: str) -> None:
        with pytest.raises(InvalidValueError):
            Position.from_diagram(diagram, D)

    @pytest.mark.parametrize("turn", [D, T])
    @pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
    def test_position_text_round_trips(self, rules: Ruleset, turn: Side) -> None:
        position = replace(rules.initial_position, turn=turn)
        assert read_position(write_position(position), rules) == position

    @pytest.mark.parametrize("text", ["", "dA6,RH8", "dA6,RH8 dwarfs", "dA6 dwarf", "RH9 troll"])
    def test_invalid_position_text_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            read_position(text, CLASSIC)


class TestMove:
    @pytest.mark.parametrize(
        ("fields", "problem"),
        [
            ((DWARF, CORNER, A6), "off the board"),
            ((DWARF, A6, CORNER), "off the board"),
            ((TROLL, A6, B6, (CORNER,)), "off the board"),
            ((DWARF, A6, A6), "origin and target are the same"),
            ((DWARF, A6, B6, (C6,), True), "only a moving troll can trample"),
            ((TROLL, A6, B6, (C6,), True, Verb.SHOVE), "only a moving troll can trample"),
            ((TROLL, A6, B6, (B6,), False, Verb.HURL), "a hurl needs a dwarf"),
            ((DWARF, A6, B6, (), False, Verb.HURL), "a hurl needs a dwarf"),
            ((DWARF, A6, B6, (C6,), False, Verb.HURL), "a hurl needs a dwarf"),
            ((DWARF, A6, B6, (C6,), False, Verb.SHOVE), "a shove needs a troll"),
            ((STONE, H8, A6), "the Thudstone can't move"),
            ((TROLL, A6, A6, (), True), "tramples and shoves have to capture"),
            ((TROLL, A6, B6, (), False, Verb.SHOVE), "tramples and shoves have to capture"),
            ((ROCK, H8, A6, (B6,)), "only dwarfs and trolls capture"),
            ((TROLL, H8, A6, (B6, B6)), "a square is captured twice"),
            ((TROLL, H8, A6, (C6, B6)), "aren't in board order"),
            ((TROLL, H8, A6, (H8,)), "the origin is captured"),
        ],
    )
    def test_invalid_fields_are_refused(self, fields: tuple[object, ...], problem: str) -> None:
        with pytest.raises(InvalidValueError, match=problem):
            Move(*fields)  # type: ignore[arg-type]

    @pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
    def test_legal_moves_pass_validation(self, rules: Ruleset) -> None:
        game = Game.start(rules)
        for _ in range(40):
            moves = game.legal_moves()
            for move in moves:
                made = replace(move)
                assert made == move
                assert (made.path_bits, made.captured_bits) == (move.path_bits, move.captured_bits)
            game = game.play(max(moves, key=lambda move: len(move.captures)))


class TestGame:
    def test_invalid_fields_are_refused(self) -> None:
        start = Game.start(CLASSIC)
        with pytest.raises(InvalidValueError, match="wrong side to move"):
            replace(start, moves=(Move(DWARF, A6, B6),))
        with pytest.raises(InvalidValueError, match="quiet plies, got"):
            replace(start, quiet_plies=1)
        with pytest.raises(InvalidValueError, match="expected non-negative scores"):
            Score(3, -1)

    def test_push_validates_but_play_trusts(self) -> None:
        start = Game.start(CLASSIC)
        assert start.push("dA6-B6") == start.play(Move(DWARF, A6, B6))
        assert start.moves == ()
        with pytest.raises(IllegalMoveError):
            start.push("dA6-A7")
        with pytest.raises(ValueError, match="skip the letter I"):
            start.push("dA6-I6")
        with pytest.raises(ValueError, match="expected a ply such as"):
            start.push("move a6 b6")
        over = start.resign(D)
        with pytest.raises(IllegalMoveError, match="game_over"):
            over.push("dA6-B6")

    def test_printed_move_can_be_pushed(self) -> None:
        game = Game.start(DISCWORLD)
        for ply in ("dF15-F8", "TG7-F7", "dF8-G8xG8"):
            game = game.push(ply)
            assert str(game.moves[-1]) == ply

    def test_game_prints_a_heading_and_its_board(self) -> None:
        game = Game.start(KOOM_VALLEY)
        heading, *drawn = str(game).splitlines()
        assert heading == "Koom Valley: 0 plies; dwarfs to move, score 0 to 0"
        assert "\n".join(drawn) == str(game.position)
        game = game.push("dH9-H10")
        assert str(game).splitlines()[0].startswith("Koom Valley: 1 ply, the last dH9-H10; trolls")
        assert "won by the trolls" in str(game.resign(D))
        assert "a draw" in str(game.agree(Ending.AGREEMENT))

    @pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
    def test_pickled_game_keeps_its_ruleset(self, rules: Ruleset) -> None:
        game = Game.start(rules)
        game = game.play(game.legal_moves()[0])
        again = pickle.loads(pickle.dumps(game))  # noqa: S301  (our own bytes)
        assert again == game
        assert hash(again) == hash(game)
        assert again.ruleset is rules

    def test_custom_ruleset_is_pickled_by_value(self) -> None:
        own = replace(CLASSIC, title="Mine")
        again = pickle.loads(pickle.dumps(own))  # noqa: S301  (our own bytes)
        assert again == own
        assert again is not CLASSIC

    def test_errors_survive_pickling(self) -> None:
        with pytest.raises(IllegalMoveError) as caught:
            Game.start(CLASSIC).push("dA6-A7")
        again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  (our own bytes)
        assert vars(again) == vars(caught.value)
        assert str(again) == str(caught.value) == "target_taken A7 target=A7 piece=dwarf"
        error = pickle.loads(pickle.dumps(RecordError(3, "this")))  # noqa: S301
        assert (error.line, error.problem) == (3, "this")
        assert isinstance(error, ThudmudError)


class TestRecord:
    def test_headers_round_trip(self) -> None:
        for rules in RULESETS.values():
            game = Game.start(rules)
            game = game.play(game.legal_moves()[0])
            for each in (game, game.resign(T), game.agree(Ending.AGREEMENT)):
                record = Record(each, "Anna", 'the "Rock"\\', "2026-11-22")
                assert read_record(str(record)) == record
                assert read_record(str(record), rules) == record

    def test_unknown_headers_are_omitted(self) -> None:
        text = str(Record(Game.start(KOOM_VALLEY)))
        assert text.splitlines()[0] == '[Rules "koom valley"]'
        assert text.splitlines()[1].startswith("dH9,")

    def test_foreign_headers_are_ignored(self) -> None:
        headers = '[Event "a (b) 1. e4"]\n[White_Elo "1"]\n[Source:URL "x"]\n[rules "Classic"]\n\n'
        assert read_record(f"{headers}{Record(Game.start(CLASSIC))}").game == Game.start(CLASSIC)

    def test_placeholder_headers_are_read_as_unknown(self) -> None:
        headers = '[Rules "classic"]\n[Date "????.??.??"]\n[Troll "?"]\n'
        record = read_record(headers + write_record(Game.start(CLASSIC)))
        assert (record.troll, record.date) == ("", "")

    @pytest.mark.parametrize(
        ("result", "winner", "ending", "problem"),
        [
            ("32-31", "dwarf", "agreement", "expected the result 32-32, winner none"),
            ("32-32", "troll", "quiet", "expected the result 32-32, winner none"),
            ("32-0", "troll", "resignation", "expected the result 0-32, winner troll"),
            ("0-32", "none", "claim", "the plies don't end the battle by claim with winner none"),
            (
                "0-32",
                "troll",
                "no move",
                "the plies don't end the battle by no move",
            ),
        ],
    )
    def test_headers_contradicting_the_rules_are_refused(
        self, result: str, winner: str, ending: str, problem: str
    ) -> None:
        headers = f'[Result "{result}"]\n[Winner "{winner}"]\n[Ending "{ending}"]\n'
        text = headers + write_record(Game.start(CLASSIC).push("dA6-B6"))
        with pytest.raises(RecordError, match=f"^line 3: {problem}"):
            read_record(text, CLASSIC)

    def test_default_rules_apply_only_without_a_rules_header(self) -> None:
        bare = write_record(Game.start(CLASSIC).push("dA6-B6"))
        assert read_record(bare, default=CLASSIC).game.ruleset is CLASSIC
        assert read_record(bare, DISCWORLD, default=CLASSIC).game.ruleset is DISCWORLD
        headed = f'[Rules "Discworld"]\n{bare}'
        assert read_record(headed, default=CLASSIC).game.ruleset is DISCWORLD

    @pytest.mark.parametrize(
        ("header", "line", "problem"),
        [
            ("", 1, 'missing header with the rules, such as [Rules "classic"]'),
            ('[Rules "chess"]\n', 1, "unknown rules 'chess'; expected one of discworld, "),
            ("[Rules]\n", 1, "expected a header such as"),
            ('[Rules "classic"]\n[Date "yesterday"]\n', 2, "expected a date such as"),
            ('[Rules "classic"]\n[Dwarf "a\x07b"]\n', 2, "expected one printable line"),
            (
                '[Rules "classic"]\n[Ending "boredom"]\n',
                2,
                "unknown ending 'boredom'",
            ),
            ('[Rules "classic"]\n[Ending "claim"]\n', 2, "missing headers for the ending"),
        ],
    )
    def test_invalid_header_is_refused_with_its_line(
        self, header: str, line: int, problem: str
    ) -> None:
        bare = str(Record(Game.start(CLASSIC))).split("\n", 1)[1]
        with pytest.raises(RecordError) as caught:
            read_record(header + bare)
        assert caught.value.line == line
        assert problem in caught.value.problem

    def test_rules_argument_contradicting_the_header_is_refused(self) -> None:
        with pytest.raises(RecordError, match="expected discworld rules, got classic rules"):
            read_record(str(Record(Game.start(CLASSIC))), DISCWORLD)

    def test_outcome_contradicting_the_plies_is_refused(self) -> None:
        told = '[Rules "koom valley"]\n[Result "0-1"]\n[Winner "troll"]\n[Ending "claim"]\n'
        with pytest.raises(RecordError, match="contradicts the plies"):
            read_record(told + "dG2,dA8,TA6,RH2\nRH2-H1\n")
