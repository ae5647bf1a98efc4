"""`thudmud board` from the command line, with and without a running server."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from tests.conftest import RunServer, running
from tests.server.plain import PATIENCE
from thudmud.cli.main import main

Shown = pytest.CaptureFixture[str]

SERVE = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]
WHERE = "one of the default boards"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a server has run once."""
    folder = tmp_path_factory.mktemp("begun")
    with running(SERVE, cwd=folder):
        pass
    return folder


@pytest.fixture(autouse=True)
def folder(begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a fresh copy of ``begun``."""
    copytree(begun, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def anna(run_server: RunServer, folder: Path) -> Iterator[socket.socket]:
    """Yield the connection of a player who has logged in."""
    with (
        run_server(SERVE, cwd=folder) as address,
        socket.create_connection(address, timeout=PATIENCE) as anna,
    ):
        anna.sendall(b"anna\n")
        until(anna, "You come into the hall.")
        yield anna


def until(player: socket.socket, wanted: str) -> str:
    """Return the player's output up to and including ``wanted``."""
    seen = ""
    while wanted not in seen:
        part = player.recv(4096).decode("utf-8", "replace")
        assert part, seen
        seen += part
    return seen


def board(*words: str) -> int:
    return main(["board", *words])


def test_board_is_opened_renamed_and_closed_without_a_server(capsys: Shown) -> None:
    assert board("open", "yew", "board", "--rules", "classic") == 0
    assert board("rename", "yew board", "--to", "fir board") == 0
    assert board("open", "ash board") == 0
    assert board("close", "ash", "board") == 0
    assert capsys.readouterr().out.splitlines() == [
        "The yew board is open (classic rules).",
        "The yew board is now the fir board.",
        "The ash board is open (discworld rules).",
        "The ash board is closed.",
    ]
    assert board("list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "oak board: discworld, nobody plays the dwarfs, nobody plays the trolls",
        "pine board: discworld, nobody plays the dwarfs, nobody plays the trolls",
        "marble board: classic, nobody plays the dwarfs, nobody plays the trolls",
        "basalt board: koom valley, nobody plays the dwarfs, nobody plays the trolls",
        "fir board (key: yew board): classic, nobody plays the dwarfs, nobody plays the trolls",
        "5 boards",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["yew board", "fir board"],
        ["Yew", "board", "fir", "board"],
        ["yew", "board", "to", "fir", "board"],
        ["yew board", "to", "fir board"],
    ],
    ids=" ".join,
)
def test_new_name_of_a_board_may_follow_the_old_one(words: list[str], capsys: Shown) -> None:
    assert board("open", "yew board") == 0
    assert board("rename", *words) == 0
    assert capsys.readouterr().out.lower().endswith("the yew board is now the fir board.\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["rename", "yew board"], "expected the name of a board and its new name, such as: "),
        (["rename", "elm", "board", "ash"], "expected the name of a board and its new name"),
        (["rename", "elm", "ash"], 'There is no "elm".'),
        (["close", "oak board"], f"the oak board is {WHERE}, and would be back"),
        (["rename", "Oak Board", "--to", "yew board"], f"the oak board is {WHERE}"),
        (["close", "yew board"], 'There is no "yew board". The boards are: oak board, pine'),
        (["open", "pine board"], "There is already a board called pine board."),
        (["open", "on"], '"on" can\'t be the name of a board: use at most 30 letters'),
    ],
)
def test_board_change_that_is_impossible_is_refused_with_the_reason(
    words: list[str], why: str, capsys: Shown
) -> None:
    assert board(*words) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"thudmud: {why}")
    assert not told.out


def test_board_with_unknown_rules_is_a_usage_error(capsys: Shown) -> None:
    with pytest.raises(SystemExit):
        board("open", "yew board", "--rules", "chess")
    assert "expected one of discworld" in capsys.readouterr().err


def test_board_change_reaches_a_running_server_at_once(anna: socket.socket) -> None:
    assert board("open", "yew board", "--rules", "koom valley") == 0
    until(anna, "There's a new board: the yew board (koom valley rules).")
    anna.sendall(b"join game as dwarf on yew board\n")
    until(anna, "You sit down at the yew board")
    assert board("rename", "yew board", "--to", "fir board") == 0
    until(anna, "The yew board is now the fir board.")
    assert board("close", "fir board") == 0
    seen = until(anna, "The fir board is closed.")
    assert "The fir board is closing" in seen
    anna.sendall(b"go pine board\n")
    until(anna, "You walk to the pine board.")


def test_board_renamed_in_the_configuration_is_listed_with_its_key(
    folder: Path, capsys: Shown, run_server: RunServer
) -> None:
    (folder / "config.toml").write_text('[[board]]\nname = "yew board"\nkey = "oak board"\n')
    with run_server(SERVE, cwd=folder):
        assert board("list") == 0
        assert capsys.readouterr().out.startswith("yew board (key: oak board): discworld")
    assert board("close", "pine board") == 0  # no longer listed
    assert board("close", "yew board") == 2
    assert "the yew board is in config.toml" in capsys.readouterr().err


def test_board_list_without_a_store_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert board("list") == 2
