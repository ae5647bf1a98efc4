"""`thudmud user` from the command line, on the store of a running server."""

from __future__ import annotations

import asyncio
import io
import json
import re
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.conftest import RunServer
from tests.features.moderation.reports import report
from tests.server.plain import PATIENCE
from thudmud.accounts.passwords import Passwords
from thudmud.cli.main import main
from thudmud.store import Account, KeptName, Store, accounts

Shown = pytest.CaptureFixture[str]
T = TypeVar("T")

SERVE = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change into a folder with the accounts of Anna and Bob."""

    async def fill(store: Store) -> None:
        await store.write(accounts.enrol, "Bob", "hash")
        await store.write(accounts.enrol, "Anna", "hash")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "Asia/Tokyo")  # no output depends on the local time zone
    do(fill)
    return tmp_path


def do(action: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        store = await Store.open("thudmud.db", clock=lambda: 60.0)
        try:
            return await action(store)
        finally:
            await store.close()

    return asyncio.run(run())


def account(name: str) -> Account:
    found = do(lambda store: store.read(accounts.find, name))
    assert found
    return found


def user(*words: str) -> int:
    return main(["user", *words])


def fits(password: str, name: str) -> bool:
    passwords = Passwords()
    try:
        return asyncio.run(passwords.is_correct(password, account(name).password))
    finally:
        passwords.close()


def test_accounts_and_bans_are_listed(capsys: Shown) -> None:
    do(lambda store: store.write(accounts.enrol, "Cara", "hash"))
    do(lambda store: store.write(accounts.enrol, "Dora", "hash"))
    assert user("ban", "bob") == 0
    assert user("ban", "mallory") == 0
    assert user("ban", "cara") == 0
    assert user("remove", "cara") == 0
    assert user("remove", "dora") == 0
    assert capsys.readouterr().out == (
        "Bob is banned\n"
        "Mallory is banned, and has no account\n"
        "Cara is banned\n"
        "removed Cara; past battles remain, without the name, and the name is still banned\n"
        "removed Dora; past battles remain, without the name, and the name is free again\n"
    )
    assert user("list") == 0
    out = capsys.readouterr().out
    anna, bob, cara, mallory, total = (" ".join(line.split()) for line in out.splitlines())
    assert anna == "Anna since 1970-01-01 00:01 UTC seen 1970-01-01 00:01 UTC"
    assert bob == anna.replace("Anna", "Bob") + " banned"
    assert re.fullmatch(r"Cara banned \d{4}-\d\d-\d\d \d\d:\d\d UTC, has no account", cara)
    assert re.fullmatch(r"Mallory banned \d{4}-\d\d-\d\d \d\d:\d\d UTC, has no account", mallory)
    assert total == "4 names"
    assert user("list", "MALLORY") == 0
    assert " ".join(capsys.readouterr().out.split()) == mallory


def test_reports_are_listed_and_closed(capsys: Shown) -> None:
    do(lambda store: report(store, "Anna", "Bob", "He is rude.", ["say: you oaf", "emote: spits."]))
    do(lambda store: report(store, "Bob", "Anna", "She is, too."))
    assert user("reports") == 0
    day = "1970-01-01 00:01 UTC"
    first = (
        f"   1  {day}  Anna about Bob: He is rude.\n"
        "          heard from Bob: say: you oaf\n"
        "          heard from Bob: emote: spits.\n"
    )
    second = f"   2  {day}  Bob about Anna: She is, too."
    assert capsys.readouterr().out == f"{first}{second}\n2 reports\n"
    assert user("reports", "--close", "2") == 0
    assert capsys.readouterr().out == "closed report 2\n"
    assert user("reports") == 0
    assert capsys.readouterr().out == f"{first}1 report\n"
    assert user("reports", "--all") == 0
    assert capsys.readouterr().out == f"{first}{second}  closed\n2 reports\n"
    assert user("reports", "--close", "2") == 2
    assert capsys.readouterr().err == (
        'thudmud: no open report 2: "thudmud user reports" lists the open ones\n'
    )


def test_account_is_banned_and_unbanned(capsys: Shown) -> None:
    assert user("unban", "anna") == 2
    assert capsys.readouterr().err == (
        'thudmud: Anna is not banned; "thudmud user list" shows who is\n'
    )
    assert user("ban", "anna") == 0
    assert account("Anna").banned
    assert user("unban", "anna") == 0
    assert not account("Anna").banned


def test_name_without_an_account_is_banned_and_unbanned(capsys: Shown) -> None:
    for _ in range(2):
        assert user("ban", "mallory") == 0
    for action in ("reset", "remove"):
        assert user(action, "mallory") == 2
        assert "no account 'mallory'" in capsys.readouterr().err
    assert account("Mallory").banned
    assert user("unban", "MALLORY") == 0
    assert capsys.readouterr().out == "Mallory is no longer banned\n"
    assert do(lambda store: store.read(accounts.find, "mallory")) is None


@pytest.mark.parametrize("name", ["m4llory", "x", "", "mal lory", "board"])
def test_invalid_name_is_refused(name: str, capsys: Shown) -> None:
    assert user("ban", name) == 2
    assert f"{name!r} is not a valid name: " in capsys.readouterr().err


def test_account_is_removed(capsys: Shown) -> None:
    assert user("remove", "anna") == 0
    assert do(lambda store: store.read(accounts.find, "Anna")) is None
    for action in ("reset", "remove"):
        assert user(action, "anna") == 2
        assert "no account 'anna'" in capsys.readouterr().err
    assert user("unban", "anna") == 2
    assert "anna is not banned" in capsys.readouterr().err
    assert user("ban", "anna") == 0
    assert capsys.readouterr().out == "Anna is banned, and has no account\n"


def test_password_is_generated(capsys: Shown) -> None:
    assert user("reset", "anna", "--generate") == 0
    said, _, password = capsys.readouterr().out.rstrip().rpartition(" ")
    assert said == "Anna has a new password:"
    assert len(password) == 16
    assert fits(password, "Anna")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_password_is_read_from_standard_input(
    mark: str, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{mark}new password\n"))
    assert user("reset", "anna") == 0
    assert capsys.readouterr().out == "Anna has a new password\n"
    assert fits("new password", "Anna")


def test_password_is_prompted_for_twice_on_a_terminal(
    capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Typist(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Typist())
    for lines, status in [(["new password"] * 2, 0), (["new password", "other"], 2)]:
        answers = iter(lines)
        monkeypatch.setattr("getpass.getpass", lambda _prompt, answers=answers: next(answers))
        assert user("reset", "anna") == status
    assert capsys.readouterr().err == "thudmud: the two passwords differ\n"
    assert fits("new password", "Anna")


@pytest.mark.parametrize(
    ("password", "problem"), [("short", "at least 8"), ("x" * 10_000, "at most 128"), ("", "8")]
)
def test_password_of_invalid_length_is_refused(
    password: str, problem: str, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(password))
    assert user("reset", "anna") == 2
    assert problem in capsys.readouterr().err
    assert account("Anna").password == "hash"  # noqa: S105  (nobody's)


def test_export_prints_all_data_of_a_player(capsys: Shown) -> None:
    assert user("export", "ANNA") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["battle"]) == ("Anna", [])
    assert told["account"][0]["created"] == "1970-01-01T00:01:00Z"
    assert user("export", "zoe") == 2
    assert capsys.readouterr().err == "thudmud: no player called 'zoe'\n"


def test_guest_is_removed(capsys: Shown) -> None:
    do(lambda store: store.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 60.0)))
    assert user("export", "gast") == 0
    assert user("remove", "gast") == 0
    assert user("remove", "gast") == 2
    assert capsys.readouterr().out.endswith(
        "removed Gast; past battles remain, without the name, and the name is free again\n"
    )


@pytest.mark.parametrize("action", ["list", "reset", "remove"])
def test_unknown_account_is_reported(action: str, capsys: Shown) -> None:
    assert user(action, "cara") == 2
    assert capsys.readouterr().err == (
        "thudmud: no account 'cara'; \"thudmud user list\" lists them\n"
    )


def test_store_is_found_through_the_configuration(folder: Path, capsys: Shown) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    config = elsewhere / "config.toml"
    config.write_text('[storage]\nfile = "names"\n', encoding="utf-8")
    assert user("list", "--config", str(config)) == 2
    assert capsys.readouterr().err == (
        f"thudmud: {elsewhere / 'names'}: no such file. The server creates it when it first "
        "starts. If it is elsewhere, name the configuration with --config FILE.\n"
    )
    for suffix in ("", "-head"):
        (folder / f"thudmud.db{suffix}").rename(elsewhere / f"names{suffix}")
    assert user("list", "--config", str(config)) == 0
    assert capsys.readouterr().out.endswith("2 names\n")


def test_unusable_store_or_configuration_is_reported(folder: Path, capsys: Shown) -> None:
    config = folder / "config.toml"
    config.write_text("[storage]\nbackend = 3\n", encoding="utf-8")
    assert user("list") == 2
    assert "storage.backend" in capsys.readouterr().err
    config.write_text('[storage]\nbackend = "memory"\n', encoding="utf-8")
    assert user("list") == 2
    assert 'storage.backend is "memory"' in capsys.readouterr().err
    config.unlink()
    (folder / "thudmud.db").write_bytes(b"rubbish" * 1000)
    assert user("list") == 2
    assert "thudmud: The store thudmud.db is damaged: " in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        user()
    assert stopped.value.code == 2


@pytest.mark.usefixtures("cold")
def test_ban_and_reset_reach_a_running_server(
    run_server: RunServer, folder: Path, capsys: Shown
) -> None:
    begin_anew(folder)
    with run_server(SERVE, cwd=folder) as address:
        with socket.create_connection(address, timeout=PATIENCE) as anna:
            anna.sendall(b"anna\nregister\npassword\npassword\n")
            until(anna, b"is yours now")
            assert user("ban", "anna") == 0
            assert "has banned Anna. If that's a mistake" in until(anna, b"")
        assert user("unban", "anna") == 0
        capsys.readouterr()
        assert user("reset", "anna", "--generate") == 0
        password = capsys.readouterr().out.split()[-1]
        seen = banned = "has banned Anna."
        while banned in seen:  # until the server has noticed the change
            with socket.create_connection(address, timeout=PATIENCE) as anna:
                anna.sendall(b"anna\npassword\n" + password.encode() + b"\nquit\n")
                seen = until(anna, b"")
        assert seen.index("That isn't the password") < seen.index("You come into the hall.")
        with socket.create_connection(address, timeout=PATIENCE) as mallory:
            mallory.sendall(b"mallory\n")
            until(mallory, b"You come into the hall.")
            assert user("ban", "mallory") == 0
            assert "has banned Mallory." in until(mallory, b"")
        with socket.create_connection(address, timeout=PATIENCE) as mallory:
            mallory.sendall(b"Mallory\nquit\n")
            assert "has banned Mallory." in until(mallory, b"")


def test_removed_player_is_disconnected(run_server: RunServer, folder: Path, capsys: Shown) -> None:
    begin_anew(folder)
    with run_server(SERVE, cwd=folder) as address:
        with (
            socket.create_connection(address, timeout=PATIENCE) as anna,
            socket.create_connection(address, timeout=PATIENCE) as bert,
        ):
            for connection, name in ((anna, b"anna"), (bert, b"bert")):
                connection.sendall(name + b"\nregister\npassword\npassword\n")
                until(connection, b"is yours now")
            assert user("remove", "anna") == 0
            assert "has ended your visit" in until(anna, b"")
            bert.sendall(b"quit\n")
            assert "has ended your visit" not in until(bert, b"")
        with socket.create_connection(address, timeout=PATIENCE) as anna:
            anna.sendall(b"anna\n")
            assert "Your comeback words" in until(anna, b"You come into the hall.")
            assert user("remove", "anna") == 2
            assert "Anna is online as a guest" in capsys.readouterr().err
            anna.sendall(b"quit\n")
            until(anna, b"")


def test_password_reset_ends_all_logins(run_server: RunServer, folder: Path, capsys: Shown) -> None:
    begin_anew(folder)
    with (
        run_server(SERVE, cwd=folder) as address,
        socket.create_connection(address, timeout=PATIENCE) as anna,
    ):
        word = program_word(anna, b"anna\nregister\npassword\npassword\n")
        changing = b"password\npassword\nanother one\nanother one\n"
        changed = program_word(anna, changing)
        anna.sendall(b"logout everywhere\n")
        latest = program_word(anna, b"")
        with socket.create_connection(address, timeout=PATIENCE) as thief:
            for each in (word, changed, "password"):
                thief.sendall(f"anna\n{each}\n\n".encode())
                until(thief, b"That isn't the password of Anna.")
        assert user("reset", "anna", "--generate") == 0
        password = capsys.readouterr().out.split()[-1]
        assert "You've been logged out" in until(anna, b"")
    with run_server(SERVE, cwd=folder) as address:  # the reset is permanent
        with socket.create_connection(address, timeout=PATIENCE) as thief:
            thief.sendall(f"anna\n{latest}\n".encode())
            until(thief, b"That isn't the password of Anna.")
        with socket.create_connection(address, timeout=PATIENCE) as anna:
            word = program_word(anna, f"anna\n{password}\n".encode())
    with (
        run_server(SERVE, cwd=folder) as address,
        socket.create_connection(address, timeout=PATIENCE) as anna,
    ):
        anna.sendall(f"anna\n{word}\nquit\n".encode())
        assert "You come into the hall." in until(anna, b"")


def test_resume_word_of_a_removed_member_does_not_open_a_new_account(
    run_server: RunServer, folder: Path
) -> None:
    begin_anew(folder)
    registering = b"anna\nregister\npassword\npassword\n"
    with run_server(SERVE, cwd=folder) as address:
        with socket.create_connection(address, timeout=PATIENCE) as anna:
            word = program_word(anna, registering)
            assert user("remove", "anna") == 0
            assert "has ended your visit" in until(anna, b"")
        with (
            socket.create_connection(address, timeout=PATIENCE) as next_anna,
            socket.create_connection(address, timeout=PATIENCE) as thief,
        ):
            program_word(next_anna, registering)
            thief.sendall(f"anna\n{word}\n".encode())
            until(thief, b"That isn't the password of Anna.")


def program_word(connection: socket.socket, lines: bytes) -> str:
    """Type lines in a client that stores resume words; return the word sent to the member."""
    supports = b'\xff\xfd\xc9\xff\xfa\xc9Core.Supports.Set ["Thud.Word 1"]\xff\xf0'
    connection.sendall(supports + lines)
    seen = ""
    while not (found := MEMBERS_WORD.search(seen)):
        seen += until(connection, b"\xff\xf0")
    return found[1]


MEMBERS_WORD = re.compile(
    r"(?:is yours now|has been changed|logged out everywhere|is registered)"
    r'.*Thud\.Word {"player": ?"Anna", ?"word": ?"([a-z-]+)"}',
    re.DOTALL,
)
"""Output of registration, password change or login, up to the resume word."""


def test_seated_player_is_removed_only_while_the_server_is_stopped(
    run_server: RunServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_anew(folder)
    with (
        run_server(SERVE, cwd=folder) as address,
        socket.create_connection(address, timeout=PATIENCE) as anna,
    ):
        anna.sendall(b"anna\nregister\npassword\npassword\njoin game as dwarf on oak board\n")
        until(anna, b"You sit down")
        assert user("remove", "anna") == 2
        assert (
            "Anna has a seat at the oak board, and the server is running" in capsys.readouterr().err
        )
    assert user("remove", "anna") == 0


def test_tournament_entrant_is_removed_only_after_the_tournament(
    run_server: RunServer, folder: Path, capsys: Shown
) -> None:
    begin_anew(folder)
    with run_server(SERVE, cwd=folder) as address:
        with socket.create_connection(address, timeout=PATIENCE) as anna:
            anna.sendall(b"anna\nregister\npassword\npassword\n")
            until(anna, b"is yours now")
            anna.sendall(b"tournament new swiss\nenter 1\n")
            until(anna, b"You're in tournament 1")
            assert user("remove", "anna") == 2
            assert "Anna has entered or announced a tournament" in capsys.readouterr().err
            anna.sendall(b"cancel tournament 1\nquit\n")
            until(anna, b"")
        assert user("remove", "anna") == 0


def test_registration_fails_while_the_store_file_is_missing(
    run_server: RunServer, folder: Path
) -> None:
    begin_anew(folder)
    registering = b"register\npassword\npassword\n"
    with (
        run_server(SERVE, cwd=folder) as address,
        socket.create_connection(address, timeout=PATIENCE) as anna,
    ):
        anna.sendall(b"anna\n")
        until(anna, b"You come into the hall.")
        away = (folder / "thudmud.db").rename(folder / "away")
        anna.sendall(registering)
        assert "is yours" not in until(anna, b"can't reach its accounts just now")
        away.rename(folder / "thudmud.db")
        anna.sendall(registering)
        until(anna, b"is yours now")


def begin_anew(folder: Path) -> None:
    for file in folder.glob("thudmud.db*"):
        file.unlink()


def until(connection: socket.socket, wanted: bytes) -> str:
    """Return the output up to ``wanted``, or to the end if that is empty."""
    seen = b""
    while (data := connection.recv(65536)) and not (wanted and wanted in seen + data):
        seen += data
    return (seen + data).decode("utf-8", "replace")
