"""`thudmud match`: good and bad programs, statistics, and resuming after an interruption."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.bots import BAD, program
from thudmud.bots.program import Program
from thudmud.cli import match
from thudmud.cli.main import main
from thudmud.rules import RULESETS, Game, write_position

Shown = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]

FAULTS = {
    "crashing": "failures",
    "nonsense": "failures",
    "silent": "time_outs",
    "illegal": "illegal_plies",
}
"""The statistic that counts each fault. The tests of server bots cover all possible faults."""


GOOD = shlex.join(
    program(
        'at, there = ("dA6", "dB6") if setup.endswith("dwarf") else ("TG7", "TF7")\n'
        "at, there = (at, there) if at in setup else (there, at)\n"
        'print("go", f"{at}-{there[1:]}", flush=True)'
    )
)
"""Moves one piece back and forth while not blocked. Our own player is too slow to start."""


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def command(*words: str) -> str:
    return shlex.join(words)


def played(capsys: Shown, *words: str) -> dict[str, Any]:
    """Play a match and return its summary; unless ``words`` limit the time, no ply can be late."""
    assert main(["match", "--seconds", "3600", *words, "--json"]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


def test_match_between_two_levels_is_summarized(capsys: Shown) -> None:
    words = ["thudmud:1", "thudmud:slate", "--games", "2", "--plies", "20", "--seconds", "3600"]
    assert main(["match", *words]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("thudmud:1 against thudmud:slate\ndiscworld rules, go 3600, 2 battles\n")
    assert "illegal plies              0         0" in out
    assert "endings: length 2" in out
    assert [line.split(";")[1] for line in err.splitlines()] == [" length, 20 plies"] * 2


def test_bot_labels_appear_in_all_output(tmp_path: Path, capsys: Shown) -> None:
    out = tmp_path / "out"
    naive = command(sys.executable, "-m", "benchmarks.strangers", "random")
    words = ["match", f"Any={naive}", "easy=thudmud:1", "--games", "2", "--plies", "6",
             "--out", str(out)]  # fmt: skip
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Any against easy\n")
    assert "battle 1: Any (dwarfs)" in shown.err
    words[1] = f"Any={naive} "
    assert main([*words, "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["bots"]] == ["Any", "easy"]
    words[1] = "Any=thudmud:2"
    assert main(words) == 2
    assert "its battles were played with other settings" in capsys.readouterr().err


def test_output_fits_a_narrow_terminal() -> None:
    ours, its = pty.openpty()
    words = ("thudmud:1", "thudmud:2", "--games", "2", "--plies", "8")
    with subprocess.Popen(
        [sys.executable, "-m", "thudmud.cli.main", "match", *words],
        stdout=its, stderr=its, env=os.environ | {"COLUMNS": "40"},
    ) as match:  # fmt: skip
        os.close(its)
        text = b""
        with suppress(OSError):  # that is how a terminal ends
            while piece := os.read(ours, 65536):
                text += piece
        os.close(ours)
    assert match.returncode == 0
    assert b"match 1, battle 2" in text
    assert b"endings: " in text
    assert max(map(len, text.decode().splitlines())) <= 40


def test_same_seed_gives_the_same_plies_for_any_worker_count(tmp_path: Path, capsys: Shown) -> None:
    found = []
    for workers in (1, 3):
        out = tmp_path / f"{workers}.jsonl"
        words = ["--rules", "koom valley", "--games", "4", "--plies", "12", "--seed", "5"]
        words += ["--workers", str(workers), "--out", str(out)]
        played(capsys, "thudmud:1", "thudmud:2", *words)
        battles = [json.loads(line) for line in out.read_text("utf-8").splitlines()[1:]]
        found.append({(each["match"], each["battle"]): each["plies"] for each in battles})
    assert found[0] == found[1]
    assert len(found[0]) == 4
    assert found[0][1, 1][:4] == found[0][1, 2][:4] != found[0][2, 1][:4]


def test_sides_are_swapped_and_points_added(tmp_path: Path, capsys: Shown) -> None:
    out = tmp_path / "out"
    summary = played(capsys, "thudmud:4", "thudmud:1", "--games", "2", "--out", str(out))
    first, second = map(json.loads, out.read_text("utf-8").splitlines()[1:])
    assert (first["dwarfs"], second["dwarfs"]) == (1, 2)
    points = [bot["points"] for bot in summary["bots"]]
    assert points == [
        first["score"][0] + second["score"][1],
        first["score"][1] + second["score"][0],
    ]
    assert summary["matches"] == {"won": 1, "drawn": 0, "lost": 0}
    assert summary["elo_from"] < 0
    assert summary["elo_to"] is None
    assert summary["bots"][0]["error_as_dwarfs"] is None  # undefined for a single battle


def test_margins_come_with_their_standard_error(tmp_path: Path, capsys: Shown) -> None:
    out = tmp_path / "out"
    words = ["--games", "4", "--plies", "24", "--out", str(out)]
    summary = played(capsys, "thudmud:2", "thudmud:1", *words)
    lines = map(json.loads, out.read_text("utf-8").splitlines()[1:])
    scores = [battle["score"] for battle in lines if battle["dwarfs"] == 1]
    margins = [dwarfs - trolls for dwarfs, trolls in scores]
    mean = sum(margins) / 2
    error = (sum((each - mean) ** 2 for each in margins) / (2 * 1)) ** 0.5
    first, second = summary["bots"]
    assert first["margin_as_dwarfs"] == -second["margin_as_trolls"] == pytest.approx(mean, abs=0.01)
    assert first["error_as_dwarfs"] == second["error_as_trolls"] == pytest.approx(error, abs=0.01)
    assert error > 0


@pytest.mark.parametrize("kind", FAULTS)
def test_failing_program_loses_the_battle(
    kind: str, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Program.ask

    async def ask(program: Program, line: str, seconds: float) -> str:
        """Wait long for the good program, but not for the silent one."""
        is_silent = program._command == tuple(BAD["silent"]) and line.startswith("go")
        return await asked(program, line, 0.01 if is_silent else seconds)

    monkeypatch.setattr(Program, "ask", ask)
    bad_one = command(*BAD[kind])
    if FAULTS[kind] == "failures":
        words = ["match", GOOD, f"bad={bad_one}", "--games", "4", "--random", "0"]
        assert main([*words, "--seconds", "3600"]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("bad (dwarfs)") == shown.err.count("bad (trolls)") == 1
        assert "thudmud: bad failed in each battle: " in shown.err
        return
    summary = played(capsys, GOOD, bad_one, "--games", "2", "--random", "0")
    good, bad = summary["bots"]
    assert bad[FAULTS[kind]] == 2
    assert sum(good[fault] for fault in FAULTS.values()) == 0
    assert bad["points"] == 0
    assert summary["matches"]["won"] == 1


@pytest.mark.parametrize("workers", ["1", "3"])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("/no/such/program", "no executable program '/no/such/program'"),
        (f"{sys.executable} -c 0", 'the program ended instead of answering "name"'),
    ],
)
def test_program_that_fails_to_start_aborts_the_match(
    bad: str, why: str, workers: str, capsys: Shown
) -> None:
    for bots in ([f"bad={bad}", GOOD], [GOOD, f"bad={bad}"]):
        assert main(["match", *bots, "--games", "20", "--workers", workers]) == 2
        shown = capsys.readouterr()
        assert (shown.out, shown.err.count("battle 1")) == ("", 0)
        assert shown.err.endswith(f"cannot start bad: {why}\n")


def test_program_that_fails_sometimes_loses_only_those_battles(capsys: Shown) -> None:
    half = program(
        'if setup.endswith("dwarf"): sys.exit(3)\n'
        'print("go", "TG7-F7" if "TG7" in setup else "TF7-G7", flush=True)'
    )
    words = ("--games", "2", "--random", "0", "--plies", "6")
    summary = played(capsys, GOOD, command(*half), *words)
    assert summary["bots"][1]["failures"] == 1
    assert summary["endings"] == {"length": 1, "failure": 1}


def test_program_needs_only_five_commands(capsys: Shown) -> None:
    """Capabilities are requested once, and the program may exit on that request."""
    plain = [
        sys.executable, "-c",
        "import sys\n"
        "for line in sys.stdin:\n"
        "    word = line.split()[0]\n"
        "    assert word in {'name', 'rules', 'position', 'go', 'quit'}\n"
        "    if word == 'position': setup = line\n"
        "    ply = ('TG7-F7' if 'TG7' in setup else 'TF7-G7') if word == 'go' else ''\n"
        "    print(word, ply, flush=True)\n",
    ]  # fmt: skip
    summary = played(capsys, "thudmud:1", command(*plain), "--games", "2", "--plies", "3",
                     "--random", "0", "--nodes", "10")  # fmt: skip
    assert summary["limit"] == "nodes 10"
    assert summary["endings"] == {"length": 1, "illegal ply": 1}  # it never moves a dwarf


def test_cpu_option_limits_processor_time(
    tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "_HANGING", 3600)  # more than any load on the machine can use up
    out = tmp_path / "out"
    words = ["thudmud", "thudmud:1", "--games", "2", "--plies", "6", "--seconds", "0.2", "--cpu"]
    summary = played(capsys, *words, "--out", str(out))
    assert summary["endings"] == {"length": 2}
    terms = json.loads(out.read_text("utf-8").splitlines()[0])
    assert (terms["seconds"], terms["cpu_seconds"]) == (3600, 0.2)
    used = summary["bots"][0]["cpu_seconds_a_ply"]
    assert used is None or used > 0.07  # it uses 0.14 of the 0.2


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU seconds are unknown")
def test_program_with_too_many_cpu_seconds_forfeits(capsys: Shown) -> None:
    burn = (
        "begun = time.process_time()\n"
        "while time.process_time() < begun + 1: pass\n"
        'print("go", "dA6-B6", flush=True)'
    )
    words = ("--games", "2", "--random", "0", "--cpu", "--seconds", "0.1")
    summary = played(capsys, GOOD, command(*program(burn)), *words, "--plies", "1")
    assert summary["endings"] == {"length": 1, "time-out": 1}
    assert summary["bots"][1]["time_outs"] == 1


def test_battle_without_captures_ends_as_quiet(capsys: Shown) -> None:
    amble = program('print("go", "TG7-F7" if "TG7" in setup else "TF7-G7", flush=True)')
    summary = played(capsys, "thudmud:1", command(*amble), "--games", "2", "--quiet", "2",
                     "--random", "0")  # fmt: skip
    assert summary["endings"]["quiet"] == 1


def test_openings_are_read_from_a_file(tmp_path: Path, capsys: Shown) -> None:
    openings, out = tmp_path / "openings", tmp_path / "out"
    opening = Game.start(RULESETS["classic"]).push("dA6-B6")
    setup = write_position(opening.position)
    openings.write_text(f"# two\n\ndA6-B6 TG7-F6\n{setup}\n", "utf-8")
    played(capsys, GOOD, GOOD, "--games", "6", "--plies", "3", "--rules", "classic",
           "--openings", str(openings), "--out", str(out))  # fmt: skip
    battles = map(json.loads, out.read_text("utf-8").splitlines()[1:])
    plies = {(each["match"], each["battle"]): each["plies"] for each in battles}
    assert plies[1, 1][:2] == plies[3, 2][:2] == ["dA6-B6", "TG7-F6"]
    assert plies[2, 1][0].startswith("T")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dA6-B6 dA7-B7\n", "line 1: "),
        ("\ndA6\n", "line 2: expected a ply such as"),
        ("# nothing\n", "contains no opening"),
    ],
)
def test_invalid_openings_file_is_refused_with_its_line(
    text: str, problem: str, tmp_path: Path, capsys: Shown
) -> None:
    openings = tmp_path / "openings"
    openings.write_text(text, "utf-8")
    assert main(["match", "thudmud", "thudmud", "--openings", str(openings)]) == 2
    assert problem in capsys.readouterr().err


def test_sprt_stops_once_significant(capsys: Shown) -> None:
    bad = command(*BAD["illegal"])
    words = (GOOD, bad, "--games", "100", "--sprt", "0", "400", "--random", "0")
    summary = played(capsys, *words)
    assert summary["sprt"]["accepted"] == 400
    assert 2 < summary["battles"] < 60


def test_interrupted_match_is_resumed_from_its_file(tmp_path: Path, capsys: Shown) -> None:
    out, slow, pids = tmp_path / "out", tmp_path / "slow", tmp_path / "pids"
    patient = program(  # except on the first request
        f'with open({str(pids)!r}, "a+") as file: is_first = not file.tell()\n'
        f'with open({str(pids)!r}, "a") as file: file.write(f"{{os.getpid()}}\\n")\n'
        f"while os.path.exists({str(slow)!r}) and not is_first: time.sleep(0.05)\n"
        'print("go TG7-H8", flush=True)'
    )
    slow.touch()
    words = ["match", "thudmud:1", command(*patient), "--games", "4", "--random", "0", "--seconds",
             "600", "--plies", "8", "--workers", "1", "--out", str(out), "--json"]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "thudmud.cli.main", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as run:  # fmt: skip
        assert run.stderr
        assert run.stdout
        assert run.stderr.readline().startswith("match 1, battle 1: ")
        while pids.read_text().count("\n") < 2:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        summary = json.loads(run.stdout.read())
        assert run.wait(timeout=60) == 130
    for pid in map(int, pids.read_text().split()):
        while is_running(pid):  # init may need a while to reap the orphan
            time.sleep(0.02)
    assert summary["battles"] == 1
    slow.unlink()
    with out.open("a") as file:
        file.write('{"match": 2, "ba')  # as if the power had failed
    before = out.read_text("utf-8").splitlines()[:-1]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["battles"] == 4
    assert len(shown.err.splitlines()) == 4 - summary["battles"]
    after = out.read_text("utf-8").splitlines()
    assert after[: len(before)] == before
    assert len(after) == 5
    assert main([*words, "--seed", "2"]) == 2
    assert "its battles were played with other settings" in capsys.readouterr().err


WORDS = ["match", "thudmud:1", "thudmud:1", "--games", "2", "--plies", "4", "--random", "0"]


@pytest.fixture
def finished(tmp_path: Path, capsys: Shown) -> Path:
    """Return the file of a finished match."""
    out = tmp_path / "out"
    assert main([*WORDS, "--seconds", "3600", "--out", str(out)]) == 0
    capsys.readouterr()
    return out


def change(line: int, key: str, found: object) -> Callable[[list[str]], list[str]]:
    def changed(lines: list[str]) -> list[str]:
        fields = json.loads(lines[line])
        lines[line] = json.dumps({**fields, key: found})
        return lines

    return changed


@pytest.mark.parametrize(
    "strange",
    [
        lambda _: ["one line"],
        lambda _: ["two", "lines", ""],
        lambda _: ["[1]", ""],
        lambda _: ["{}", ""],
        lambda _: ['{"bots": 7'],
        lambda _: ["\xff", ""],
        lambda lines: [*lines[:-1], "[1]", ""],
        lambda lines: [*lines[:-1], "null", ""],
        lambda lines: [*lines[:-1], "7", ""],
        lambda lines: [*lines[:-1], "{}", ""],
        lambda lines: [*lines[:-1], "my notes"],
        lambda lines: [*lines[:-1], '{"mine": 1'],
        change(1, "score", 1),
        change(1, "score", [1, 2, 3]),
        change(1, "match", found=True),
        change(1, "plies", "dA6-B6"),
        change(1, "plies", [1]),
        change(1, "cpu", ["1", None]),
        change(1, "why", None),
        change(1, "more", 1),
    ],
)
def test_file_of_another_kind_is_refused_and_unchanged(
    finished: Path, capsys: Shown, strange: Callable[[list[str]], list[str]]
) -> None:
    lines = strange(finished.read_text("utf-8").split("\n"))
    finished.write_bytes("\n".join(lines).encode("latin-1"))
    before = finished.read_bytes()
    assert main([*WORDS, "--seconds", "3600", "--out", str(finished)]) == 2
    wrong = "contains something other than battles; not overwritten"
    assert capsys.readouterr().err == f"thudmud: {finished}: {wrong}\n"
    assert finished.read_bytes() == before


def test_match_file_truncated_anywhere_is_resumed(finished: Path, capsys: Shown) -> None:
    whole = finished.read_bytes()
    first = whole.index(b"\n")
    for size in (0, 1, first - 1, first, first + 1, first + 5, first + 50, len(whole) - 1):
        finished.write_bytes(whole[:size])
        assert main([*WORDS, "--seconds", "3600", "--out", str(finished)]) == 0
        capsys.readouterr()
        again = [json.loads(line) for line in finished.read_text("utf-8").splitlines()]
        assert [each.get("plies") for each in again] == [
            json.loads(line).get("plies") for line in whole.splitlines()
        ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["thudmud:9", "thudmud"], "unknown level '9'"),
        (["thudmud", "'"], "cannot parse the command"),
        (["thudmud", ""], "expected a command, got an empty one"),
        (["thudmud", "any="], "expected a command, got an empty one"),
        (["thudmud", "best=thudmud:9"], "unknown level '9'"),
        (["thudmud"], "the following arguments are required"),
        (["thudmud", "thudmud", "--games", "3"], "expected an even number"),
        (["thudmud", "thudmud", "--seconds", "nan"], "expected a number from 0.01"),
        (["thudmud", "thudmud", "--workers", "0"], "expected at least 1"),
        (["thudmud", "thudmud", "--rules", "chess"], "expected one of"),
    ],
)
def test_invalid_match_arguments_are_a_usage_error(
    words: list[str], problem: str, capsys: Shown
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["match", *words])
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err
