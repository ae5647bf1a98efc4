"""The table of exit codes in docs/tools.md, compared with what the commands return."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import FreePort
from thudmud.cli import perft
from thudmud.cli.common import TRY_LATER, UNUSABLE
from thudmud.cli.main import SUBCOMMANDS, main
from thudmud.game.projections import PROJECTION
from thudmud.store import Store

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tools.md").read_text("utf-8")

Row = tuple[int, str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows() -> Iterator[Row]:
    """Yield the codes of the table, with the command or commands of each."""
    _, _, section = PAGE.partition("\n## Exit codes\n")
    for code, commands in re.findall(r"(?m)^\| (\d+) \| (.*?) \|", section):
        yield int(code), commands.replace("`", "")


def commands_with(code: int) -> list[str]:
    """Return the commands that the table lists for a code."""
    return [each for found, commands in rows() if found == code for each in commands.split(", ")]


def make_store() -> None:
    async def make() -> None:
        store = await Store.open("thudmud.db")
        await store.close()

    asyncio.run(make())


def write(name: str, text: str) -> str:
    Path(name).write_text(text, "utf-8")
    return name


def fail_health() -> int:
    return main(["health"])


def fail_doctor() -> int:
    write("thudmud.db", "no database")
    return main(["doctor"])


def fail_check() -> int:
    make_store()
    Path("thudmud.db").write_bytes(b"")
    return main(["store", "check"])


def fail_backup() -> int:
    make_store()
    Path("thudmud.db").write_bytes(b"")
    return main(["store", "backup", "copies"])


def fail_restore() -> int:
    make_store()
    Path("thudmud.db").rename("backup.db")
    Path("backup.db").write_bytes(b"")
    return main(["store", "restore", "backup.db", "--file", "new.db"])


def fail_script() -> int:
    return main(["script", write("a.thud-script", "Anna> look\nAnna| Nothing of the kind.\n")])


def fail_import() -> int:
    make_store()
    return main(["import", write("a.thud", "no record")])


def fail_export() -> int:
    make_store()
    return main(["export", "--player", "Nobody", "--to", "records"])


FAILURES: dict[str, Callable[[], int]] = {
    "health": fail_health,
    "doctor": fail_doctor,
    "store check": fail_check,
    "store backup": fail_backup,
    "store restore": fail_restore,
    "script": fail_script,
    "import": fail_import,
    "export": fail_export,
}
"""By command, a case of code 1."""

OUTDATED = {
    "store check": "",
    "store prune": "--before 2020-01-01",
    "store compact": "",
    "store copy": "thudmud.db other.db",
    "user": "list",
    "board": "list",
    "import": "game.thud",
    "export": "--to records",
    "draw": "1",
}
"""By command, the words with which it opens a store."""


def test_table_has_the_codes_in_order() -> None:
    codes = [code for code, _ in rows()]
    assert codes == sorted(codes)
    assert set(codes) == {0, 1, UNUSABLE, 3, TRY_LATER, 130, 141}
    for _, commands in rows():
        for command in commands.removeprefix("all but ").split(", "):
            assert command == "all" or command.split()[0] in SUBCOMMANDS


def test_table_lists_every_command_with_code_1() -> None:
    assert commands_with(1) == list(FAILURES)


def test_table_lists_every_command_with_code_3() -> None:
    assert commands_with(3) == list(OUTDATED)


@pytest.mark.parametrize("command", OUTDATED)
def test_command_on_an_outdated_store_is_code_3(command: str) -> None:
    make_store()
    write("game.thud", "dA6-B6\n")
    with closing(sqlite3.connect("thudmud.db", isolation_level=None)) as connection:
        connection.execute("update head set projection = ?", (PROJECTION - 1,))
    assert main([*command.split(), *OUTDATED[command].split()]) == 3


@pytest.mark.parametrize("command", FAILURES)
def test_failure_of_a_command_is_code_1(command: str) -> None:
    assert FAILURES[command]() == 1


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_unknown_option_is_code_2(command: str) -> None:
    assert (UNUSABLE, "all") in rows()
    with pytest.raises(SystemExit) as ended:
        main([command, "--no-such-option"])
    assert ended.value.code == UNUSABLE


@pytest.mark.parametrize("command", ["serve", "gateway", "health", "board list", "store check"])
def test_unusable_configuration_is_code_2(command: str) -> None:
    words = [*command.split(), "--config", write("config.toml", "[")]
    assert main(words) == UNUSABLE


def test_success_is_code_0() -> None:
    assert main(["perft", "1"]) == 0


def test_server_without_its_database_is_code_75(free_port: FreePort) -> None:
    dsn = f"host=127.0.0.1 port={free_port()} dbname=thud"
    config = write("config.toml", f'[storage]\nbackend = "postgresql"\ndsn = "{dsn}"\n')
    words = [sys.executable, "-m", "thudmud", "serve", "--port", "0", "--config", config]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == TRY_LATER, done.stderr


def test_interrupted_command_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(perft, "run", interrupt)
    assert main(["perft", "1"]) == 130


def test_output_that_nobody_reads_is_code_141() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words = [sys.executable, "-m", "thudmud", "manual"]
        done = subprocess.run(words, stdout=writing, check=False)
    finally:
        os.close(writing)
    assert done.returncode == 141


def test_unit_restarts_unless_the_code_is_2() -> None:
    unit = (ROOT / "deploy" / "thudmud.service").read_text("utf-8")
    assert "\nRestart=on-failure\n" in unit
    assert f"\nRestartPreventExitStatus={UNUSABLE}\n" in unit
