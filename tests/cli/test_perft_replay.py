"""`thudmud perft` and `thudmud replay` from the command line."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from thudmud.cli.main import main
from thudmud.cli.records import MOST_LINES
from thudmud.rules import CLASSIC, KOOM_VALLEY, Ending, Game, Record, Side, write_record
from thudmud.values import replace

RECORD = """\
dF1,dG1,dJ1,dK1,TG7,TH7,RH8
dF1-F6
TG7-G6xF6
"""
"""Columns as in game records, which skip I: their J is our I."""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "game.thud"
    path.write_text(RECORD, encoding="utf-8")
    return path


Shown = pytest.CaptureFixture[str]


class TestPerft:
    @pytest.mark.parametrize(
        ("words", "count"),
        [
            (["--depth", "1"], 656),
            (["--depth", "0"], 1),
            (["--depth", "2", "--rules", "classic"], 22_624),
            (["--depth", "1", "--rules", "koom valley"], 388),
            (["1", "--rules", "koom"], 388),
            (["2", "--depth", "2", "--rules", "C"], 22_624),
            (["--depth", "1", "--rules", "Koom-Valley"], 388),
        ],
    )
    def test_perft_counts_the_plies(self, words: list[str], count: int, capsys: Shown) -> None:
        assert main(["perft", *words]) == 0
        assert capsys.readouterr().out == f"{count}\n"

    def test_perft_divide_prints_each_part_before_the_total(self, capsys: Shown) -> None:
        assert main(["perft", "--depth", "2", "--divide"]) == 0
        *parts, total = capsys.readouterr().out.splitlines()
        assert len(parts) == 656
        assert sum(int(part.split()[1]) for part in parts) == int(total) == 22_624
        assert any(part.startswith("dA6-B6 ") for part in parts)

    def test_perft_starts_from_the_end_of_a_record(self, record: Path, capsys: Shown) -> None:
        assert main(["perft", "--depth", "1", "--record", str(record)]) == 0
        counted = capsys.readouterr().out
        assert main(["perft", "--depth", "1", "--record", str(record), "--divide"]) == 0
        *parts, total = capsys.readouterr().out.splitlines()
        assert f"{total}\n" == counted
        assert {part[:3] for part in parts} == {"dG1", "dJ1", "dK1"}

    def test_perft_after_the_end_of_a_battle_is_refused(
        self, tmp_path: Path, capsys: Shown
    ) -> None:
        path = tmp_path / "over.thud"
        path.write_text("dG6,TG7,RH8\ndG6-G7xG7\n", encoding="utf-8")
        assert main(["perft", "2", "--record", str(path)]) == 2
        told = f"thudmud: {path}: the battle is over, so there are no plies to count\n"
        assert capsys.readouterr() == ("", told)

    @pytest.mark.parametrize("words", [[], ["2", "--depth", "1"]])
    def test_perft_without_one_number_of_plies_names_the_form(
        self, words: list[str], capsys: Shown
    ) -> None:
        assert main(["perft", *words]) == 2
        told = "thudmud: expected one number of plies, such as: thudmud perft 2\n"
        assert capsys.readouterr() == ("", told)

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (["--rules", "chess", "--depth", "1"], "--rules: expected one of discworld, classic"),
            (["--depth", "two"], "--depth: expected a number from 0 to 20, got 'two'"),
            (["--depth", "-1"], "--depth"),
            (["--depth", "21"], "expected a number from 0 to 20, got '21'"),
            (["two"], "N: expected a number from 0 to 20, got 'two'"),
            (["1", "--rules", ""], "--rules: expected one of discworld, classic"),
        ],
    )
    def test_invalid_arguments_are_a_usage_error(
        self, words: list[str], problem: str, capsys: Shown
    ) -> None:
        with pytest.raises(SystemExit) as stopped:
            main(["perft", *words])
        assert stopped.value.code == 2
        assert problem in capsys.readouterr().err


class TestReplay:
    def test_replay_draws_the_final_board(self, record: Path, capsys: Shown) -> None:
        assert main(["replay", str(record)]) == 0
        assert capsys.readouterr().out == (
            "   A B C D E-F-G-H-I-J-K L M N O\n"
            " 1         / . d . d d \\          1\n"
            " 2       / . . . . . . . \\        2\n"
            " 3     / . . . . . . . . . \\      3\n"
            " 4   / . . . . . . . . . . . \\    4\n"
            " 5 / . . . . . . . . . . . . . \\  5\n"
            " 6 . . . . . *[T]. . . . . . . .  6\n"
            " 7 . . . . . . + T . . . . . . .  7\n"
            " 8 . . . . . . . X . . . . . . .  8\n"
            " 9 . . . . . . . . . . . . . . .  9\n"
            "10 . . . . . . . . . . . . . . . 10\n"
            "11 \\ . . . . . . . . . . . . . / 11\n"
            "12   \\ . . . . . . . . . . . /   12\n"
            "13     \\ . . . . . . . . . /     13\n"
            "14       \\ . . . . . . . /       14\n"
            "15         \\ . . . . . /         15\n"
            "   A B C D E-F-G-H-I-J-K L M N O\n"
            "Discworld rules, 2 moves\n"
            "Score: dwarfs 3, trolls 8; the trolls lead by 5.\n"
            "It is the dwarfs' turn.\n"
        )

    def test_replay_prints_the_score_and_the_ending(self, tmp_path: Path, capsys: Shown) -> None:
        path = tmp_path / "over.thud"
        path.write_text("dG6,TG7,RH8\ndG6-G7xG7\n", encoding="utf-8")
        assert main(["replay", str(path), "--rules", "classic"]) == 0
        assert capsys.readouterr().out.endswith(
            "Classic rules, 1 move\n"
            "Score: dwarfs 1, trolls 0; the dwarfs win by 1.\n"
            "The battle is over: every troll was captured.\n"
        )

    def test_rules_header_is_used_and_checked_against_the_option(
        self, tmp_path: Path, capsys: Shown
    ) -> None:
        path = tmp_path / "game.thud"
        game = Game.start(KOOM_VALLEY).push("dA10-B9")
        path.write_text(str(Record(game, "Anna", "Bert", "2026-11-22")), encoding="utf-8")
        assert main(["replay", str(path)]) == 0
        printed = capsys.readouterr().out
        assert "Koom Valley rules, 1 move\n" in printed
        assert main(["replay", str(path), "--rules", "Koom-Valley"]) == 0
        assert capsys.readouterr().out == printed
        assert main(["replay", str(path), "--rules", "classic"]) == 2
        assert capsys.readouterr().err == (
            f"thudmud: {path}: line 1: expected classic rules, got koom valley rules\n"
        )
        assert main(["perft", "--depth", "1", "--record", str(path)]) == 0
        assert capsys.readouterr().out == f"{len(game.legal_moves())}\n"

    @pytest.mark.parametrize(
        ("ending", "words"),
        [
            (Ending.RESIGNATION, "the trolls resigned"),
            (Ending.CLAIM, "the trolls stopped playing"),
            (Ending.AGREEMENT, "ended by agreement"),
            (Ending.QUIET, "ended for lack of captures"),
            (Ending.DESERTION, "ended by one player"),
        ],
    )
    def test_ending_header_is_spelled_out(
        self, tmp_path: Path, ending: Ending, words: str, capsys: Shown
    ) -> None:
        path = tmp_path / "game.thud"
        game = Game.start(CLASSIC).push("dA6-B6")
        given_up = ending in {Ending.RESIGNATION, Ending.CLAIM}
        ended = game.resign(Side.TROLL) if given_up else game.agree(ending)
        assert ended.outcome
        outcome = replace(ended.outcome, ending=ending)
        path.write_text(str(Record(replace(game, outcome=outcome))), encoding="utf-8")
        assert main(["replay", str(path)]) == 0
        assert capsys.readouterr().out.endswith(f"\nThe battle is over: {words}.\n")

    def test_score_of_the_opening_is_even(self, tmp_path: Path, capsys: Shown) -> None:
        path = tmp_path / "opening.thud"
        path.write_text(write_record(Game.start(CLASSIC)), encoding="utf-8")
        assert main(["replay", str(path)]) == 0
        assert "Score: dwarfs 32, trolls 32; even.\n" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (RECORD.replace("dJ1", "dI1"), "line 1: I1: game records skip the letter I"),
            (RECORD + "dG1-G9\n", "line 4: dG1-G9: "),
            ("", "line 1: missing setup line"),
            ("\x01\xff", "line 1: "),
        ],
    )
    def test_invalid_line_is_reported_by_number(
        self, tmp_path: Path, text: str, problem: str, capsys: Shown
    ) -> None:
        path = tmp_path / "game.thud"
        path.write_text(text, encoding="utf-8")
        assert main(["replay", str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"thudmud: {path}: {problem}")

    def test_unreadable_file_is_reported(self, tmp_path: Path, capsys: Shown) -> None:
        binary = tmp_path / "binary"
        binary.write_bytes(b"\xff\xfe\x00")
        assert main(["replay", str(binary)]) == 2
        assert "not UTF-8 text" in capsys.readouterr().err
        os.mkfifo(tmp_path / "pipe")
        for name in ("", "pipe"):
            assert main(["replay", str(tmp_path / name)]) == 2
            assert "not a file" in capsys.readouterr().err
        assert main(["replay", str(tmp_path / "none")]) == 2
        assert "no such file" in capsys.readouterr().err

    def test_oversized_file_is_refused(self, tmp_path: Path, capsys: Shown) -> None:
        huge, long = tmp_path / "huge", tmp_path / "long"
        with huge.open("wb") as file:
            file.truncate(100 * 1024 * 1024)
        long.write_text(RECORD + "dG1-G2\n" * MOST_LINES, encoding="utf-8")
        for path, why in ((huge, "larger than"), (long, "more than")):
            assert main(["replay", str(path)]) == 2
            assert why in capsys.readouterr().err

    @pytest.mark.parametrize(
        "line",
        [
            "d" + "A" * 900_000,
            "TG7-F7" + "xE7" * 200_000,
            "dA1-\x1b[2J\x1b]0;no title\x07",
            '[\x1b[31mRules "x]',
            '[Dwarf "' + "\\\\" * 400_000,
            '[Rules "\x1b[31m' + "x" * 1000 + '"]',
        ],
        ids=lambda line: repr(line[:12]),
    )
    def test_hostile_line_is_reported_in_one_short_line(
        self, tmp_path: Path, capsys: Shown, line: str
    ) -> None:
        path = tmp_path / "game.thud"
        text = f"{line}\n{RECORD}" if line.startswith("[") else f"{RECORD}{line}\n"
        path.write_text(text, encoding="utf-8")
        assert main(["replay", str(path)]) == 2
        told = capsys.readouterr().err.removesuffix("\n")
        assert told.isprintable()
        assert len(told) < len(str(path)) + 300

    @pytest.mark.parametrize(
        "line", ["TG7-F7" + "xE7" * 200_000, "dA6-P8", "\x1b[2J", '[Rules "koom valley"]']
    )
    def test_long_battle_with_an_invalid_last_line_is_refused(
        self, tmp_path: Path, capsys: Shown, line: str
    ) -> None:
        chance = Random(18)  # noqa: S311  (a game, no secret)
        game = Game.start(CLASSIC)
        while len(game.moves) < 1990:
            game = game.play(chance.choice([ply for ply in game.legal_moves() if not ply.captures]))
        path = tmp_path / "game.thud"
        legal = write_record(game)
        path.write_text(legal, encoding="utf-8")
        assert main(["replay", "--rules", "classic", str(path)]) == 0
        capsys.readouterr()
        path.write_text(f"{legal}{line}\n", encoding="utf-8")
        assert main(["replay", "--rules", "classic", str(path)]) == 2
        captured = capsys.readouterr()
        told = captured.err.removesuffix("\n")
        assert told.startswith(f"thudmud: {path}: line {len(legal.splitlines()) + 1}: ")
        assert told.isprintable()
        assert len(told) < len(str(path)) + 300
        assert not captured.out

    def test_ply_after_the_end_of_the_battle_is_refused(
        self, tmp_path: Path, capsys: Shown
    ) -> None:
        path = tmp_path / "game.thud"
        path.write_text("dA6,dB6,TC6,RH8\ndB6-C6xC6\ndA6-A7\n", encoding="utf-8")
        assert main(["replay", str(path)]) == 2
        assert capsys.readouterr().err.startswith(f"thudmud: {path}: line 3: ")
