"""`thudmud store` from the command line, on the file of a running server."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.deeds import OAK, joined, started
from thudmud.cli.common import Progress
from thudmud.cli.main import main
from thudmud.store import Store
from thudmud.store.files import beside

Shown = pytest.CaptureFixture[str]

IN_ORDER = "is in order: 2 events, 1 battle and 2 players\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a folder whose store holds a battle."""
    monkeypatch.chdir(tmp_path)

    async def play() -> None:
        store = await Store.open("thudmud.db")
        await store.append({OAK: (0, [started(1), joined(2)])})
        await store.close()

    asyncio.run(play())
    return tmp_path


def check(*words: str) -> int:
    return main(["store", "check", *words])


def damage(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("update event set at = at + 1 where position = 2")


def test_check_beside_a_server_counts_the_sound_entries(folder: Path, capsys: Shown) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.other", folder / "thudmud.db", "serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2],
    ) as server:  # fmt: skip
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        assert check() == 0
        assert server.communicate()[0] == b"done\n"
    assert capsys.readouterr() == (f"thudmud.db {IN_ORDER}", "")


def test_store_file_is_configured_or_named(folder: Path, capsys: Shown) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (folder / "thudmud.db").rename(elsewhere / "boards")
    (folder / "thudmud.db-head").rename(elsewhere / "boards-head")
    config = elsewhere / "config.toml"
    config.write_text('[storage]\nfile = "boards"\n', encoding="utf-8")
    assert check("--config", str(config)) == 0
    config.write_text('[gateway]\nfile = "boards"\n', encoding="utf-8")
    assert check("--gateway", "--config", str(config)) == 0
    assert check(str(elsewhere / "boards")) == 0
    assert capsys.readouterr().out == f"{elsewhere / 'boards'} {IN_ORDER}" * 3


def test_check_reports_damage_and_changes_nothing(folder: Path, capsys: Shown) -> None:
    path = folder / "thudmud.db"
    damage(path)
    before = path.read_bytes()
    assert check() == 1
    assert capsys.readouterr() == (
        "The store thudmud.db is damaged: the time of event 2 is out of order. Restore a backup.\n",
        "",
    )
    assert path.read_bytes() == before
    path.unlink()
    assert check() == 1
    assert "thudmud.db is gone, but thudmud.db-head is still there" in capsys.readouterr().out
    assert not path.exists()
    path.write_bytes(b"rubbish" * 1000)
    assert check() == 1
    assert "thudmud.db is damaged: file is not a database" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["none.db"], "The store none.db could not be checked: no such file."),
        (["--gateway"], "The store gateway.db could not be checked: no such file."),
        (["boards"], "The store boards could not be used: it is a folder."),
        (["other.db"], "other.db is not a store of thudmud, but another program's database."),
        (
            ["--config", "none.toml"],
            "thudmud: none.toml: no such file",
        ),
        (
            ["--config", "memory.toml"],
            'thudmud: memory.toml: storage.backend is "memory": nothing is stored',
        ),
        (
            ["thudmud.db", "--gateway"],
            "thudmud: expected either FILE, or --config and --gateway",
        ),
    ],
)
def test_uncheckable_store_is_status_2(
    folder: Path, words: list[str], why: str, capsys: Shown
) -> None:
    (folder / "memory.toml").write_text('[storage]\nbackend = "memory"\n', encoding="utf-8")
    (folder / "boards").mkdir()
    with closing(sqlite3.connect(folder / "other.db")) as connection:
        connection.execute("create table account (name text)")
    assert check(*words) == 2
    assert capsys.readouterr() == ("", f"{why}\n")
    assert not beside(folder / "none.db", "-head").exists()


def test_missing_action_is_a_usage_error(capsys: Shown) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["store"])
    assert stopped.value.code == 2
    assert "ACTION" in capsys.readouterr().err


def test_store_package_runs_the_same_check(folder: Path) -> None:
    for status in (0, 1):
        done = subprocess.run(
            [sys.executable, "-m", "thudmud.store", folder / "thudmud.db"],
            capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (status, "")
        assert ("is in order" in done.stdout) == (not status)
        damage(folder / "thudmud.db")


OLD = 60.0
"""The time of all events in these tests."""


@pytest.fixture
def old(folder: Path) -> Path:
    """Change into a folder whose store holds events that can be pruned."""

    async def play() -> None:
        (folder / "thudmud.db").unlink()
        (folder / "thudmud.db-head").unlink()
        store = await Store.open("thudmud.db", clock=lambda: OLD)
        await store.append({OAK: (0, [joined(1), joined(2), started(3)])})
        await store.close()

    asyncio.run(play())
    return folder / "thudmud.db"


def test_prune_counts_and_drops_spare_events(old: Path, capsys: Shown) -> None:
    prune = ["store", "prune", "--before"]
    assert main([*prune, "1970-01-01"]) == 0
    assert main([*prune, "2020-01-01", "--dry-run"]) == 0
    assert main(["store", "check"]) == 0
    assert main([*prune, "2020-01-01", str(old)]) == 0
    assert main(["store", "check"]) == 0
    assert capsys.readouterr() == (
        "thudmud.db: nothing to delete before that day\n"
        "thudmud.db: would delete 2 events (0.0 MB of text): 2 joined\n"
        "thudmud.db is in order: 3 events, 1 battle and 2 players\n"
        f"{old}: deleted 2 events (0.0 MB of text): 2 joined\n"
        'new events use the free space; "thudmud store compact" makes the file smaller\n'
        "thudmud.db is in order: 1 event, 1 battle and 2 players\n",
        "",
    )


def test_prune_works_beside_a_server_but_compact_does_not(old: Path, capsys: Shown) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.other", old, "serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2],
    ) as server:  # fmt: skip
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        assert main(["store", "prune", "--before", "2020-01-01"]) == 0
        assert "2 joined" in capsys.readouterr().out
        assert main(["store", "compact"]) == 2
        assert "thudmud: The store thudmud.db is in use" in capsys.readouterr().err
        assert server.communicate()[0] == b"done\n"
    assert main(["store", "compact"]) == 0
    assert re.fullmatch(r"thudmud\.db: 0\.\d MB before, 0\.\d MB now\n", capsys.readouterr().out)
    assert check() == 0


NO_FILE = (
    "no such file. The server creates it when it first starts. If it is elsewhere, name the"
    " configuration with --config FILE."
)


def test_invalid_prune_and_compact_arguments_are_refused(old: Path, capsys: Shown) -> None:
    with pytest.raises(SystemExit):
        main(["store", "prune", "--before", "tomorrow"])
    assert "expected a day such as 2026-11-20, got 'tomorrow'" in capsys.readouterr().err
    for words in (["prune", "--before", "2020-01-01"], ["compact"]):
        assert main(["store", *words, "none.db"]) == 2
        assert main(["store", *words, "--gateway"]) == 2
        assert main(["store", *words, str(old), "--gateway"]) == 2
        assert capsys.readouterr().err == (
            f"thudmud: none.db: {NO_FILE}\n"
            f"thudmud: gateway.db: {NO_FILE}\n"
            "thudmud: expected either FILE, or --config and --gateway\n"
        )


def test_progress_is_shown_only_on_a_terminal(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("thudmud.cli.common.monotonic", lambda: now)
    with Progress("battles") as told:
        now = 10.0
        told(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("battles") as told:
        told(500, 2000)
        now = 11.0
        told(1000, 2000)
        told(1001, 2000)
    assert capsys.readouterr().err == "\r\x1b[K1,000 of 2,000 battles, 50 %\r\x1b[K"
