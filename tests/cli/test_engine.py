"""`thudmud engine` as other programs see it: a process with two pipes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from thudmud.bots import LONGEST_LINE
from thudmud.cli.main import main

ENGINE = [sys.executable, "-m", "thudmud.cli.main", "engine"]


def answers(asked: bytes, *words: str) -> list[bytes]:
    """Run the engine on an input, check that it exits cleanly, and return its output lines."""
    done = subprocess.run(
        [*ENGINE, *words], input=asked, capture_output=True, timeout=60, check=True
    )
    assert done.stderr == b""
    return done.stdout.splitlines()


def test_every_command_is_answered_with_one_line() -> None:
    assert answers(b"rules classic\n\nplay dA6-C6\nmoves\nquit\nname\n") == [
        b"rules classic",
        b"play dA6-C6",
        b"moves dA6-C6",
        b"quit",
    ]


def test_engine_exits_at_end_of_input_and_reads_an_unterminated_line() -> None:
    assert answers(b"") == []
    assert answers(b"rules") == [b"rules discworld"]
    assert answers(b"rules\r\nrules classic\r\n") == [b"rules discworld", b"rules classic"]


def test_byte_order_mark_before_the_first_line_is_skipped() -> None:
    assert answers(b"\xef\xbb\xbfrules classic\nrules\n") == [b"rules classic", b"rules classic"]


def test_invalid_text_and_overlong_lines_are_answered_with_errors() -> None:
    longest = b"play " + b"x" * (LONGEST_LINE - 5)
    asked = b"\xff\xfe\x00\n" + b"x" * 300_000 + b"\n" + longest + b"\n" + longest + b"x\nrules\n"
    garbage, far_too_long, long, too_long, rules = answers(asked)
    assert garbage.startswith(b"error unknown word ")
    assert long.startswith(b"error expected a ply")
    assert far_too_long == too_long == b"error line longer than 65536 characters"
    assert rules == b"rules discworld"


def test_same_seed_gives_the_same_plies() -> None:
    asked = b"level 1\ngo\nmoves dA6-B6\ngo\nmoves\ngo\n"
    assert answers(asked, "--seed", "3") == answers(asked, "--seed", "3")
    assert len({answers(asked, "--seed", str(seed))[1] for seed in range(5)}) > 1


def test_level_option_sets_the_initial_level() -> None:
    assert answers(b"level\n", "--level", "2") == answers(b"level 2\n")


def test_pending_commands_are_answered_after_the_end_of_input() -> None:
    thought, stop, name = answers(b"go nodes 2000\n" * 2 + b"stop\nname\n")[1:]
    assert thought.startswith(b"go d")
    assert (stop, name) == (b"stop", *answers(b"name"))
    alone = answers(b"info on\ngo nodes 2000\n")
    assert alone[-2].startswith(b"# depth ")


def test_stop_interrupts_a_running_search() -> None:
    with subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdin
        assert engine.stdout

        def ask(line: bytes) -> None:
            assert engine.stdin
            engine.stdin.write(line)
            engine.stdin.flush()

        ask(b"info on\ngo 3600\n")
        assert engine.stdout.readline() == b"info on\n"
        assert engine.stdout.readline().startswith(b"# depth 1 ")
        ask(b"rules\n  stop \nname\n")
        said = iter(engine.stdout.readline, b"")
        heard = [next(line for line in said if not line.startswith(b"#")) for _ in range(4)]
        assert heard[0].startswith(b"go d")
        assert heard[1:3] == [b"rules discworld\n", b"stop\n"]
        ask(b"go depth 1\n")
        assert next(said).startswith(b"# depth 1 ")
        assert next(said).startswith(b"go d")
        ask(b"quit\n")
        assert engine.wait(timeout=20) == 0


def test_search_ends_when_the_client_is_gone() -> None:
    with subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdin
        assert engine.stdout
        engine.stdin.write(b"name\ngo 3600\n")
        engine.stdin.flush()
        assert engine.stdout.readline().startswith(b"name ")
        engine.stdout.close()
        engine.stdin.close()
        assert engine.wait(timeout=20) == 141  # as if SIGPIPE had ended it


def test_answers_are_flushed_and_a_closed_output_ends_the_engine() -> None:
    with subprocess.Popen(ENGINE, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as engine:
        assert engine.stdin
        assert engine.stdout
        for _ in range(3):
            engine.stdin.write(b"undo\n")
            engine.stdin.flush()
            assert engine.stdout.readline() == b"error there is no ply to take back\n"
        engine.stdout.close()
        engine.stdin.write(b"undo\n")
        engine.stdin.close()
        assert engine.wait(timeout=20) == 141  # as if SIGPIPE had ended it


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", "9" * 30])
def test_malformed_seed_is_a_usage_error(seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["engine", f"--seed={seed}"])
    assert ended.value.code == 2
    assert "expected a whole number of at least 0" in capsys.readouterr().err


def test_unknown_level_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["engine", "--level", "99"])
    assert ended.value.code == 2
    assert "unknown level '99'; expected one of 1 " in capsys.readouterr().err
