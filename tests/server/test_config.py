from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from thudmud.rules import RULESETS
from thudmud.search.levels import LEVELS, find_level
from thudmud.server.config import BotSettings, ConfigError, Settings, load_settings

SHIPPED = Path(__file__).parents[2] / "config.toml"


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    return [
        re.sub(r"^(, line \d+)?: ", "", each.removeprefix(str(path)))
        for each in caught.value.problems
    ]


def test_shipped_file_lists_every_default() -> None:
    assert load_settings(SHIPPED) == Settings()
    written = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    for section in ("server", "web", "metrics", "gateway"):
        written[section]["host"] = [written[section]["host"]]
    assert written == json.loads(Settings().model_dump_json())


def test_default_bots_can_be_disabled(tmp_path: Path) -> None:
    whole = SHIPPED.read_text(encoding="utf-8")
    (line,) = re.findall(r"(?m)^#   (bot = .*)$", whole)
    without = whole[: whole.index("\n[[bot]]")]
    path = tmp_path / "config.toml"
    path.write_text(without, encoding="utf-8")
    assert [bot.name for bot in load_settings(path).bot] == ["Grog", "Tunk", "Harl", "Skarn"]
    path.write_text(without.replace("[server]", f"{line}\n\n[server]", 1), encoding="utf-8")
    assert load_settings(path) == Settings(bot=())


def test_shipped_file_explains_every_key() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if re.match("[a-z_]+ =", line) and "[[board]]" not in lines[:number]:
            assert lines[number - 1].startswith("#"), line
    explained = "\n".join(line for line in lines if line.startswith("#"))
    assert all(word in explained for word in ["rules:", "style:", "Names", *RULESETS])
    assert all(f"#   {key}: " in explained for key in BotSettings.model_fields)


def test_missing_file_argument_gives_the_defaults() -> None:
    settings = load_settings(None)
    assert settings.server.port == 8483
    assert [(each.name, each.rules, each.style) for each in settings.board] == [
        ("oak board", "discworld", "full"),
        ("pine board", "discworld", "brief"),
        ("marble board", "classic", "full"),
        ("basalt board", "koom valley", "full"),
    ]


def test_omitted_key_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[server]\nshutdown_grace = 2\n[[board]]\nname = 'board'\n", encoding="utf-8")
    settings = load_settings(path)
    assert settings.server == Settings().server.model_copy(update={"shutdown_grace": 2.0})
    assert [board.name for board in settings.board] == ["board"]


def test_default_bots_cover_the_range_of_levels() -> None:
    levels = [find_level(bot.level).number for bot in Settings().bot]
    assert len(set(levels)) == len(levels) == 4
    assert {min(levels), max(levels)} == {LEVELS[0].number, LEVELS[-1].number}


@pytest.mark.parametrize("level", ["2", "'2'", "'slate'", "'Slate'"])
def test_bot_level_is_given_by_number_or_name(tmp_path: Path, level: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[[bot]]\nname = 'Grog'\nlevel = {level}\n", "utf-8")
    assert [bot.level for bot in load_settings(path).bot] == ["Slate"]


def test_bot_requires_only_a_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "[[bot]]\nname = 'grog'\n[[bot]]\nname = 'Mog'\ncommand = ['x', 'y']\n", "utf-8"
    )
    grog, mog = load_settings(path).bot
    assert (grog.name, grog.command, grog.seconds, grog.restarts) == ("Grog", (), 5.0, 3)
    assert (grog.level, grog.pause) == ("Granite", 1.0)
    assert mog.command == ("x", "y")


@pytest.mark.parametrize(("warning", "limit"), [(0, 600), (3_300, 0), (0, 0), (599, 600)])
def test_idle_warning_below_the_limit_or_zero_is_accepted(
    tmp_path: Path, warning: int, limit: int
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[players]\nidle_warning = {warning}\nidle_limit = {limit}\n", "utf-8")
    players = load_settings(path).players
    assert (players.idle_warning, players.idle_limit) == (warning, limit)


MISTAKES = """
[server]
port = "x"
--> server.port: expected a whole number from 0 to 65535, got "x"

[server]
port = 65536
--> server.port: expected a whole number from 0 to 65535, got 65536

[server]
port = true
--> server.port: expected a whole number from 0 to 65535, got true

[server]
port = 8.5
--> server.port: expected a whole number from 0 to 65535, got 8.5

[server]
host = ''
--> server.host: expected an address, a host name, or a list of them, such as ["192.0.2.1",
    "2001:db8::1"], got ""

[server]
prot = 1
--> server.prot: unknown setting; did you mean "port"?

[game]
zzz = 1
--> game.zzz: unknown setting;
    expected one of quiet_plies, seat_grace, idle_claim, first_move, replay_pause

[listing]
zzz = 1
--> listing.zzz: unknown setting;
    expected one of name, hostname, location, website, contact, created

[gateway]
heartbeat = 0
--> gateway.heartbeat: expected a number of seconds from 1 to 3600, got 0

[web]
origins = ['example.org']
--> web.origins 1: expected an origin as browsers send it, such as "https://example.org",
    got "example.org"

[web]
forwarders = ['my proxy']
--> web.forwarders 1: expected an address or a network, such as "192.0.2.0/24", got "my proxy"

[server]
proxies = '192.0.2.1'
--> server.proxies: expected a list of addresses,
    such as ["192.0.2.1", "192.0.2.0/24"], got "192.0.2.1"

[web]
tls_key = 'key.pem'
--> web: tls_key needs a certificate: set tls_certificate to its file

[gateway]
secret = "hunter2"
--> gateway.secret: expected 16 to 256 characters

[storage]
file = "a\\u0000b"
--> storage.file: expected the name of a file, got "a\\u0000b"

[server]
log_file = "a\\u0000b"
--> server.log_file: expected the name of a file, or "", got "a\\u0000b"

[gateway]
file = ""
--> gateway.file: expected the name of a file, got ""

[listing]
created = "soon"
--> listing.created: expected a year such as "2026", or "", got "soon"

[listing]
created = 2026
--> listing.created: expected a year such as "2026", or "", got 2026

[server]
tls_certificate = "chain.pem"
--> server: tls_certificate needs a port: set tls_port, or set this to ""

[server]
tls_port = 8485
tls_key = "key.pem"
--> server: tls_key needs a certificate: set tls_certificate to its file

[server]
tls_key = "key.pem"
--> server: tls_key needs a certificate: set tls_certificate to its file

[server]
tls_port = 8485
--> server: tls_port needs a certificate: set tls_certificate to its file

[sever]
port = 1
--> sever: unknown setting; did you mean "server"?

"\\u001b[2J" = 1
--> "\\u001b[2J": unknown setting;
    expected one of server, log, listing, game, players, features, storage, web, mail, push,
    tournaments, metrics, gateway, board, bot

server = 3
--> server: expected a section [server], got 3

[game]
quiet_plies = -1
--> game.quiet_plies: expected a whole number from 0 to 1000000, got -1

[server]
shutdown_grace = nan
--> server.shutdown_grace: expected a number from 0 to 600, got NaN

[server]
connections = 3
connections_reserved = 3
--> server: connections_reserved (3) should be less than connections (3)

[players]
idle_limit = 600
--> players: idle_limit (600.0) should be more than idle_warning (3300.0), unless either is 0

[players]
idle_warning = 3600.5
idle_limit = 3600.5
--> players: idle_limit (3600.5) should be more than idle_warning (3600.5), unless either is 0

[players]
idle_warning = -1
--> players.idle_warning: expected a number of seconds from 0 to 31622400, got -1

[server]
log_level = "loud"
--> server.log_level: expected "debug", "info", "warning" or "error", got "loud"

[board]
name = 'oak'
--> board: expected at least one section [[board]], got {"name": "oak"}

board = []
--> board: expected at least one section [[board]], got []

board = [3]
--> board 1: expected a section, got 3

[[board]]
rules = 'classic'
--> board 1, name: missing; expected a name made of letters, such as "oak board"

[[board]]
name = 'oak'
[[board]]
name = 'pine'
rules = 'chess'
--> board 2, rules: expected one of discworld, classic, koom valley, got "chess"

[[board]]
name = 'oak'
style = 'long'
--> board 1, style: expected "full" or "brief", got "long"

[[board]]
name = 'oak'
rule = 'classic'
--> board 1, rule: unknown setting; did you mean "rules"?

[[board]]
name = 'oak'
description = 'Oak.  More oak.'
--> board 1, description: expected one line of text, with single blanks between the words,
    got "Oak.  More oak."

[[board]]
name = 3
--> board 1, name: expected a name made of letters, such as "oak board", got 3

[[board]]
name = 'oak  board'
--> board 1, name: should be at most 30 letters and single spaces,
    got "oak  board"

[[board]]
name = 'board 2'
--> board 1, name: should be at most 30 letters and single spaces, got "board 2"

[[board]]
name = 'Hall'
--> board 1, name: should not contain "hall", which is a word in commands

[[board]]
name = 'it'
--> board 1, name: should not contain "it", which is a word in commands

[[board]]
name = 'last board'
--> board 1, name: should not contain "last", which is a word in commands

[[board]]
name = 'oak board'
key = '(board) 7'
--> board 1, key: should not begin with "(board) ", which is reserved for boards that players open,
    got "(board) 7"

[storage]
file = 'gateway.db'
--> gateway: file: gateway.db is already used by storage.file

[storage]
file = 'all/of.it'
[gateway]
file = './all/of.it'
--> gateway: file: ./all/of.it is already used by storage.file

[storage]
file = 1
[gateway]
file = '1'
--> storage.file: expected the name of a file, got 1

[[board]]
name = 'game'
--> board 1, name: should not contain "game", which is a word in commands

[[board]]
name = 'Oak'
[[board]]
name = 'oak'
--> board: each needs its own name, but "oak" occurs twice

[[bot]]
name = 'Grog the Bot'
--> bot: 'Grog the Bot' is not a valid name for a bot: A name is 2 to 20 letters
    from A to Z, without accents, digits or spaces. Name the bots in sections [[bot]], or write
    "bot = []" above the first section for none.

[[board]]
name = 'grog board'
[[bot]]
name = 'grog'
--> bot: 'Grog' is not a valid name for a bot: "Grog" is reserved.
    Please choose another name. Name the bots in sections [[bot]], or write "bot = []" above the
    first section for none.

[[board]]
name = 'grog board'
--> bot: 'Grog' is not a valid name for a bot: "Grog" is reserved.
    Please choose another name. Name the bots in sections [[bot]], or write "bot = []" above the
    first section for none.

[game]
quiet_plies = 3
bot = []
--> game.bot: not a setting of this section; "bot" belongs above the first section

[[board]]
name = 'oak'
bot = []
--> board 1, bot: not a setting of this section; "bot" belongs above the first section

[[bot]]
name = 'Grog'
[[bot]]
name = 'GROG'
--> bot: each needs its own name, but "GROG" occurs twice

[[bot]]
command = ['grog']
--> bot 1, name: missing; expected a name that a player could have, such as "Grog"

[[bot]]
name = 'Grog'
command = 'grog'
--> bot 1, command: expected a list of words, such as ["thudmud", "engine"], got "grog"

[[bot]]
name = 'Grog'
command = ['grog', 1]
--> bot 1, command 2: expected a list of words, such as ["thudmud", "engine"], got 1

[[bot]]
name = 'Grog'
seconds = 0
--> bot 1, seconds: expected a number of seconds from 0.1 to 3600, got 0

[[bot]]
name = 'Grog'
restart = 1
--> bot 1, restart: unknown setting; did you mean "restarts"?

[[bot]]
name = "Grog"
level = "Basalt"
--> bot 1, level: expected one of 1 Chalk, 2 Slate, 3 Marble, 4 Granite, 5 Flint, 6 Quartz,
    7 Diamond, by number or name, got "Basalt"

[[bot]]
name = "Grog"
level = 8
--> bot 1, level: expected one of 1 Chalk, 2 Slate, 3 Marble, 4 Granite, 5 Flint, 6 Quartz,
    7 Diamond, by number or name, got 8

[[bot]]
name = "Grog"
pause = -1
--> bot 1, pause: expected a number of seconds from 0 to 60, got -1

[server
port = 1
--> is not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 8)
"""
"""A file, then the one complaint about it."""


def mistakes() -> Iterator[tuple[str, str]]:
    for each in MISTAKES.split("\n\n"):
        text, _, line = each.strip().partition("\n--> ")
        yield text, line.replace("\n    ", " ")


@pytest.mark.parametrize(("text", "line"), [*mistakes(), (b"\xff\xfe", "is not UTF-8 text")])
def test_mistake_is_one_line_with_key_and_expected_value(
    tmp_path: Path, text: str | bytes, line: str
) -> None:
    assert problems(tmp_path, text) == [line]


def test_mistakes_are_all_reported_together(tmp_path: Path) -> None:
    found = problems(tmp_path, "[server]\nport = 'x'\nfoo = 1\n[game]\nquiet_plies = 1.5\n[x]\n")
    assert [each.partition(":")[0] for each in found] == [
        "server.port",
        "server.foo",
        "game.quiet_plies",
        "x",
    ]


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000], ids=["digits", "brackets"])
def test_unparsably_large_value_is_reported(tmp_path: Path, value: str) -> None:
    found = problems(tmp_path, f"[server]\nport = {value}\n")
    assert found == ["contains a value that is too large to read"]


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: no such file"):
        load_settings(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_settings(tmp_path)


@pytest.mark.parametrize("section", Settings.model_fields)
def test_unknown_key_is_reported_in_every_section(tmp_path: Path, section: str) -> None:
    head = f"[[{section}]]" if section in {"board", "bot"} else f"[{section}]"
    found = problems(tmp_path, f"{head}\nxyz = 1\n")
    assert any("xyz: unknown setting; expected one of" in each for each in found)
