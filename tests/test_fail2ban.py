"""The filter and the jail for fail2ban, tried by fail2ban's own programs on what a server logs."""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import RunServer
from tests.debian import UNPACKED, run
from tests.server.plain import PATIENCE, Client
from thudmud.server.config import ServerSettings
from thudmud.server.logs import FORMATS

ROOT = Path(__file__).parents[1]
FILTER = ROOT / "deploy" / "fail2ban" / "filter.d" / "thudmud.conf"
JAIL = ROOT / "deploy" / "fail2ban" / "jail.d" / "thudmud.conf"

JOURNAL = "thud thudmud[4711]: "
"""What fail2ban puts before a record of the journal."""

OF_JOURNAL = ("-d", "{NONE}")
"""Options for records whose time the journal knows, so that none is cut out of the line."""

CONFIG = """
bot = []
[server]
port = 0
log_level = "info"
log_file = "log"
[log]
format = "{}"
"""

Match = tuple[str, float]


def settings_of_fail2ban() -> Path:
    unpacked = UNPACKED / "etc" / "fail2ban"
    return unpacked if unpacked.exists() else Path("/etc/fail2ban")


def matches(log: Path, *options: str) -> Sequence[Match]:
    """Return the addresses that fail2ban finds in a log, with the times of the failures."""
    done = run(
        "fail2ban-regex",
        *("-c", str(settings_of_fail2ban()), *options, "-o", "row", str(log), str(FILTER)),
        TZ="Asia/Tokyo",  # the log is in UTC all the same
    )
    assert done.returncode in {0, 1}, done.stdout  # 1: nothing is found
    rows = [ast.literal_eval(line.rstrip(",")) for line in done.stdout.splitlines() if line]
    return [(address, time) for address, time, _ in rows]


def record(player: str, address: str, **more: object) -> logging.LogRecord:
    """Return the record of a wrong secret, as the login dialogue makes it."""
    extra = {"player": player, "address": address, **more}
    return logging.makeLogRecord(
        {
            "name": "thudmud.strangers",
            "levelno": logging.INFO,
            "levelname": "INFO",
            "msg": "wrong password or resume word",
            "created": 1_796_010_380.0,
            **extra,
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
async def test_failed_logins_at_a_server_are_found(
    form: str, tmp_path: Path, run_server: RunServer
) -> None:
    (tmp_path / "config.toml").write_text(CONFIG.format(form), "utf-8")
    words = (sys.executable, "-m", "thudmud.cli.main", "serve", "--config", "config.toml")
    with run_server(words) as (host, port):
        anna, other = [Client(*await asyncio.open_connection(host, port)) for _ in range(2)]
        await anna.until(b"name? ")
        await anna.login("Anna")
        await other.until(b"name? ")
        forged = b'x" address="192.0.2.66"\r\n'
        await other.send(b"Anna\r\nno-such-words\r\n" + forged + b"\r\n" + forged)
        for _ in range(2):
            await other.until(b"aren't the comeback words")
        for each in (anna, other):
            await each.close()
    found = matches(tmp_path / "log")
    assert [address for address, _ in found] == ["127.0.0.1"] * 2
    now = datetime.now(UTC).timestamp()
    for _, time in found:
        assert time == pytest.approx(now, abs=PATIENCE)


HOSTILE = (
    "Anna",
    'x" address="192.0.2.66',
    '", "address": "192.0.2.66"}',
    'x" address="192.0.2.66" left_out=1',
    '\\", "address": "192.0.2.66"}',
    '\\\\" address="192.0.2.66"',
    'x\ntime="2026-11-30T03:46:20.000Z" level=info from="thudmud.strangers"',
    "\r\n\x00\x7f\x85\u2028é",
    "a b",
    "",
    "\\",
    "x" * 500,
)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "prefix"), list(product(FORMATS, ("", JOURNAL))))
def test_player_name_cannot_forge_an_address(form: str, prefix: str, tmp_path: Path) -> None:
    formatter = FORMATS[form]()
    records = [record(name, "198.51.100.1") for name in HOSTILE]
    records.append(record("Anna", "2001:db8::/64", left_out=7))
    # Other records about the same, with the forged address wherever somebody may write.
    for name in HOSTILE:
        other = record(name, "192.0.2.66")
        other.name = "thudmud.accounts.login"
        records.append(other)
        other = record(name, "192.0.2.66")
        other.msg = f"foreign origin {name}"
        records.append(other)
    lines = [f"{prefix}{formatter.format(each)}\n" for each in records]
    log = tmp_path / "log"
    log.write_text("".join(lines), "ascii")
    found = matches(log, *(OF_JOURNAL if prefix else ()))
    addresses = [address for address, _ in found]
    assert addresses == ["198.51.100.1"] * len(HOSTILE) + ["2001:db8::/64"]
    if not prefix:
        assert {time for _, time in found} == {1_796_010_380}


@pytest.mark.slow
def test_fail2ban_accepts_the_jail(tmp_path: Path) -> None:
    config = tmp_path / "fail2ban"
    shutil.copytree(settings_of_fail2ban(), config)
    for each in (config / "jail.d").glob("*"):  # Debian's own jail needs the log of sshd
        each.unlink()
    shutil.copy(FILTER, config / "filter.d")
    shutil.copy(JAIL, config / "jail.d")
    done = run("fail2ban-client", "-c", config, "-d")
    assert done.returncode == 0, done.stdout
    commands = [ast.literal_eval(line) for line in done.stdout.splitlines() if line[:1] == "["]
    assert ["add", "thudmud", "systemd"] in commands
    assert ["set", "thudmud", "addjournalmatch", "_SYSTEMD_UNIT=thudmud.service"] in commands
    regexes = [each for each in commands if each[:3] == ["multi-set", "thudmud", "addfailregex"]]
    assert len(json.dumps(regexes)) > 300
    (port,) = [line for line in JAIL.read_text("utf-8").splitlines() if line.startswith("port")]
    assert str(ServerSettings().port) in port
