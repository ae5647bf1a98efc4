from __future__ import annotations

import ast
import json
import logging
import re
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.cli.main import main
from thudmud.server import logs
from thudmud.server.logs import LONGEST_VALUE, JsonFormatter, StructuredFormatter

ROOT = Path(__file__).parents[2]
PAIR = re.compile(r'([a-z_]+)=([A-Za-z0-9]+|"(?:[^"\\]|\\.)*")(?: |$)')


def formatted(
    message: str,
    *arguments: object,
    failed: bool = False,
    form: type[StructuredFormatter] = StructuredFormatter,
    **more: object,
) -> str:
    error = sys.exc_info() if failed else None
    record = logging.LogRecord("a.b", logging.INFO, __file__, 1, message, arguments, error)
    record.created, record.msecs = 1_795_248_000.5, 500.0
    vars(record).update(more)
    return form().format(record)


def fields(line: str) -> dict[str, str]:
    """Parse a log line as a log processor would."""
    assert "".join(match[0] for match in PAIR.finditer(line)) == line
    return {
        key: json.loads(value) if value.startswith('"') else value
        for key, value in PAIR.findall(line)
    }


def test_record_is_one_line_of_keys_and_values() -> None:
    assert formatted("%s was turned away", "Anna", peer="::1 4242", word="FULL") == (
        'time="2026-11-21T08:00:00.500Z" level=info from="a.b" event="Anna was turned away"'
        ' peer="::1 4242" word=FULL'
    )


def test_empty_value_is_logged() -> None:
    assert formatted("x", peer="").endswith('event=x peer=""')


@given(st.text(max_size=LONGEST_VALUE), st.text(max_size=LONGEST_VALUE))
def test_arbitrary_text_is_logged_losslessly_in_ascii(message: str, value: str) -> None:
    line = formatted("%s", message, word=value)
    assert line.isascii()
    assert line.isprintable()
    told = fields(line)
    assert (told["event"], told["word"]) == (message, value)


def test_logged_text_cannot_forge_a_record() -> None:
    assert formatted("%s", 'a\nlevel=error event="b').endswith(r'event="a\nlevel=error event=\"b"')


def test_traceback_is_part_of_its_record() -> None:
    try:
        int("boom \x1b[31m\x7f\nlevel=error")
    except ValueError:
        line = formatted("failed", failed=True)
    assert line.isprintable()
    assert fields(line)["trace"].startswith("Traceback")
    assert r"boom \\x1b[31m\\x7f\\nlevel=error" in line


@pytest.mark.parametrize("form", [StructuredFormatter, JsonFormatter])
def test_long_value_is_truncated_in_both_formats(form: type[StructuredFormatter]) -> None:
    long = "\xff" * 7700
    try:
        int(long)
    except ValueError:
        line = formatted("from %s", long, failed=True, form=form, origin=long, at=(long, 1), n=12)
    told = json.loads(line) if form is JsonFormatter else fields(line)
    assert told["origin"] == f"{long[:LONGEST_VALUE]}... (7500 more)"
    assert told["event"].startswith(f"from {long[:100]}")
    assert "ValueError" in told["trace"]
    for value in told.values():
        assert max(map(len, str(value).split("\n"))) < LONGEST_VALUE + 20
    assert told["n"] == (12 if form is JsonFormatter else "12")
    assert len(line) < 8000


def test_rotated_file_is_reopened(tmp_path: Path) -> None:
    path = tmp_path / "log"
    logs.configure_logging("info", path)
    logging.getLogger("x").info("one", extra={"peer": "é"})
    path.rename(tmp_path / "log.1")
    logging.getLogger("x").info("two")
    logging.getLogger("x").debug("three")
    assert fields((tmp_path / "log.1").read_text().strip())["peer"] == "é"
    assert fields(path.read_text().strip())["event"] == "two"
    for each in (path, tmp_path / "log.1"):
        assert not stat.S_IMODE(each.stat().st_mode) & 0o007


def written(path: Path) -> list[dict[str, str]]:
    return [fields(line) for line in path.read_text("ascii").splitlines()]


def log(message: str, number: int, at: float, level: int = logging.ERROR, name: str = "x") -> None:
    record = logging.LogRecord(name, level, __file__, 1, message, (number,), None)
    record.created = at
    logging.getLogger(name).handle(record)


def test_repeated_records_are_left_out_and_counted(tmp_path: Path) -> None:
    logs.configure_logging("info", tmp_path / "log")
    for number in range(1000):
        log("error %d", number, 1e9)
        log("socket.accept() failed\nsocket: %d", number, 1e9)
    log("another %d", 1, 1e9)
    log("error %d", 1000, 1e9 + logs.WINDOW)
    log("error %d", 1001, 1e9 + logs.WINDOW)
    told = written(tmp_path / "log")
    errors = [each for each in told if each["event"].startswith("error")]
    events = [each["event"] for each in errors]
    assert events == [f"error {number}" for number in (*range(logs.MOST), 1000, 1001)]
    assert ["note" in each for each in errors] == [*[False] * (logs.MOST - 1), True, False, False]
    assert errors[-2]["left_out"] == str(1000 - logs.MOST)
    assert "left_out" not in errors[-1]
    assert len(told) == 2 * logs.MOST + 3


def test_info_records_have_a_higher_limit_than_errors(tmp_path: Path) -> None:
    logs.configure_logging("info", tmp_path / "log")
    for number in range(100):
        log("connected %d", number, 1e9, logging.INFO)
    assert len(written(tmp_path / "log")) == 100
    for number in range(logs.MOST_INFO):
        log("connected %d", number, 1e9, logging.INFO)
    assert len(written(tmp_path / "log")) == logs.MOST_INFO


def test_records_of_strangers_share_a_limit_and_are_counted(tmp_path: Path) -> None:
    logs.configure_logging("info", tmp_path / "log")
    for number in range(150):
        log("connected %d", number, 1e9, logging.INFO, logs.STRANGERS)
        log("foreign origin %d", number, 1e9, logging.INFO, logs.STRANGERS)
        log("came in %d", number, 1e9, logging.INFO)
    log("came in %d", 150, 1e9 + logs.WINDOW, logging.INFO)
    log("connected %d", 150, 1e9 + logs.WINDOW, logging.INFO, logs.STRANGERS)
    told = written(tmp_path / "log")
    assert len(told) == logs.MOST_OF_STRANGERS + 150 + 3
    [report] = [each for each in told if "number" in each]
    assert (report["level"], report["number"]) == ("warning", "100")
    assert report["what"] == "connected %d 50, foreign origin %d 50"
    assert [each["event"] for each in told[-3:]] == [
        report["event"],
        "came in 150",
        "connected 150",
    ]


OURS = {
    "broadcast",
    "came in",
    "gone",
    "listening",
    "reloaded settings and certificates",
    "starting",
    "stopped",
    "stopping",
    "not rehashed: the password has just been changed",
    "upgrading the store",
}
"""Events at the level `info` that a stranger cannot cause."""


def test_info_records_are_classified_as_ours_or_of_strangers() -> None:
    for path in (ROOT / "thudmud").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("_log"), attr="info"),
                    args=[ast.Constant(event), *_],
                ):
                    assert event in OURS, path
                case ast.Assign(
                    targets=[ast.Name("_of_strangers")], value=ast.Call(args=[ast.Constant(name)])
                ):
                    assert name == logs.STRANGERS, path


def test_clock_set_back_hides_no_records(tmp_path: Path) -> None:
    logs.configure_logging("info", tmp_path / "log")
    for number in range(100):
        log("error %d", number, 1e9)
    log("error %d", 100, 1e9 - 1000)
    assert written(tmp_path / "log")[-1]["event"] == "error 100"


def test_unwritable_file_does_not_stop_logging(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    logs.configure_logging("info", folder / "log")
    logging.getLogger("x").info("one")
    folder.rename(tmp_path / "old")
    logging.getLogger("x").info("two")
    logging.getLogger("x").info("three")
    problem = f"server.log_file: cannot write {folder / 'log'}: No such file or directory"
    assert capsys.readouterr().err == f"thudmud: {problem}\n"
    folder.mkdir()
    logging.getLogger("x").info("four")
    assert written(folder / "log")[-1]["event"] == "four"


def test_uncreatable_file_is_reported_at_startup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[server]\nport = 0\nlog_file = "nowhere/log"\n')
    assert main(["serve", "--config", str(config)]) == 2
    path = tmp_path / "nowhere" / "log"
    assert capsys.readouterr().err == (
        f"thudmud: server.log_file: cannot write {path}: No such file or directory\n"
    )
