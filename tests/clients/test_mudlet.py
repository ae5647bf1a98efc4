"""The server's negotiation with Mudlet, which `tests/clients/mudlet.py` imitates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.clients.conftest import Served
from tests.clients.mudlet import MSP, Mudlet
from tests.clients.window import plain
from tests.clients.wire import (
    CHARSET,
    DO,
    DONT,
    ECHO,
    EOR,
    GMCP,
    IAC,
    MSDP,
    MSSP,
    MXP,
    NAWS,
    NEW_ENVIRON,
    SB,
    SGA,
    TTYPE,
    WILL,
    WONT,
    Wire,
)

PASSWORD = "swordfish"  # noqa: S105  (only for tests)
END_OF_RECORD = bytes([0xEF])
BINARY, LINEMODE, TIMING_MARK = 0, 34, 6


@pytest.fixture
def mudlet(served: Served) -> Iterator[Callable[..., Mudlet]]:
    """Start fake Mudlets; closes them at the end."""
    started: list[Mudlet] = []

    def start(columns: int = 100, *, reader: bool = False) -> Mudlet:
        started.append(Mudlet(served.port, columns, reader=reader))
        started[-1].until("What is your name? ")
        return started[-1]

    yield start
    for each in started:
        each.close()


def come_in(player: Mudlet, name: str) -> None:
    player.type(name)
    player.until("You come into the hall.")
    player.until("\n> ")


def registered(player: Mudlet, name: str) -> None:
    come_in(player, name)
    player.type("register")
    for prompt in ("New password: ", "And again: "):
        player.until(prompt)
        player.type(PASSWORD)
    player.until("is yours now")
    player.until("\n> ")
    player.type("quit")
    player.until_closed()


def counted(player: Mudlet, *command: int) -> int:
    return sum(each.startswith(bytes(command)) for each in player.commands)


def until_known(player: Mudlet) -> None:
    """Wait for the CHARSET request and the third TTYPE request."""
    player.until_told(SB, CHARSET, 1)
    player.wait(lambda: counted(player, SB, TTYPE, 1) == 3, "the third question for its type")


def test_negotiation_agrees_on_all_common_options(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet()
    for verb, option in ((DO, NAWS), (DO, TTYPE), (WILL, CHARSET), (WILL, EOR), (WILL, GMCP)):
        player.until_told(verb, option)
    player.until_told(WILL, MSSP)
    asked = player.until_told(SB, CHARSET, 1)
    assert b"UTF-8" in asked.split(asked[3:4])
    rounds = bytes([SB, TTYPE, 1])
    player.wait(lambda: player.commands.count(rounds) >= 3, "three rounds of TTYPE")
    come_in(player, "mudletone")
    for option in (SGA, LINEMODE, MXP, MSP, MSDP):
        assert bytes([WILL, option]) not in player.commands
        assert bytes([DO, option]) not in player.commands
    assert bytes([WILL, BINARY]) not in player.commands
    said = Counter(each for each in player.commands if each[0] in {WILL, WONT, DO, DONT})
    assert set(said.values()) == {1}, said
    assert player.commands.count(rounds) <= 4
    asked = next((each for each in player.commands if each[:2] == bytes([SB, NEW_ENVIRON])), b"")
    assert b"USER" not in asked.replace(b"USERVAR", b"")


def test_mssp_status_is_sent(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet()
    told = player.until_told(SB, MSSP)[2:]
    pairs = [each.split(b"\2") for each in told.split(b"\1")[1:]]
    values = {name.decode(): value.decode() for name, value, *_ in pairs}
    assert values["NAME"]
    assert values["PLAYERS"].isdecimal()
    assert int(values["UPTIME"]) > 1_700_000_000


def test_every_prompt_is_followed_by_end_of_record(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet()
    player.until_told(DO, NAWS)
    player.until_told(SB, TTYPE, 1)
    come_in(player, "mudletmarks")
    player.send(bytes([IAC, DO, TIMING_MARK]))
    player.until_told(WILL, TIMING_MARK)  # follows the prompt's mark
    marks = player.commands.count(END_OF_RECORD)
    for number in range(1, 4):
        player.type("who")
        player.until("\n> ")
        player.wait(
            lambda number=number: player.commands.count(END_OF_RECORD) >= marks + number,  # type: ignore[misc]
            "the mark after a prompt",
        )
    assert player.commands.count(END_OF_RECORD) == marks + 3


def test_mxp_is_refused(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet()
    player.send(bytes([IAC, WILL, MXP, IAC, DO, MXP]))
    player.until_told(DONT, MXP)
    player.until_told(WONT, MXP)
    come_in(player, "mudletmxp")


def test_password_echo_is_switched_once(mudlet: Callable[..., Mudlet]) -> None:
    registered(mudlet(), "mudletword")
    player = mudlet()
    player.type("mudletword")
    player.until("Password: ")
    player.until_told(WILL, ECHO)
    player.type("haddock")
    player.until("Password: ")
    player.type(PASSWORD)
    player.until("You come into the hall.")
    player.until_told(WONT, ECHO)
    player.until("\n> ")
    player.type("quit")
    player.until_closed()
    # Mudlet stops hiding input after five changes less than five seconds apart.
    assert counted(player, WILL, ECHO) == counted(player, WONT, ECHO) == 1


def test_automatic_login_over_gmcp(mudlet: Callable[..., Mudlet]) -> None:
    registered(mudlet(), "mudletself")
    player = mudlet()
    offered = player.until_heard("Char.Login.Default")
    assert isinstance(offered, dict)
    assert "password-credentials" in offered["type"]
    said = {"account": "mudletself", "password": "haddock", "version": 1}
    player.tell("Char.Login.Credentials", said)
    answer = player.until_heard("Char.Login.Result")
    assert isinstance(answer, dict)
    assert answer["success"] is False
    assert answer["message"]
    player.until_told(WILL, ECHO)  # Mudlet falls back to the player
    player.until("Password: ")
    player.type(PASSWORD)
    player.until("You come into the hall.")
    player.type("quit")
    player.until_closed()

    again = mudlet()
    again.until_heard("Char.Login.Default")
    again.tell("Char.Login.Credentials", said | {"password": PASSWORD})
    again.until("You come into the hall.")
    assert again.until_heard("Char.Login.Result") == {"success": True}
    assert not counted(again, WILL, ECHO)


def test_login_without_stored_password_uses_the_prompts(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet()
    player.until_heard("Char.Login.Default")
    player.tell("Char.Login.Credentials", {})  # leaves the login to the player
    come_in(player, "mudlettypes")


def test_gmcp_scripts_receive_subscribed_packages(
    mudlet: Callable[..., Mudlet], partner: Callable[[str], Wire]
) -> None:
    player = mudlet()
    come_in(player, "mudletscripts")
    player.tell("Core.Ping", 120)
    player.until_heard("Core.Ping")
    player.type("join game as dwarf on mudlet board")
    player.until("You sit down")
    player.until("\n> ")
    assert not [name for name, _ in player.heard if name.lower().startswith("thud")]
    player.tell("Core.Supports.Add", ["Thud 1"])  # gmod.enableModule("...", "Thud")
    bert = partner("mudletbert")
    bert.type("join game as troll on mudlet board")
    bert.until("You sit down")
    assert isinstance(player.until_heard("Thud.Table"), dict)
    player.type("start")
    assert isinstance(player.until_heard("Thud.Board"), dict)
    player.until("begin a match")
    player.type("move f15 f8")
    assert isinstance(player.until_heard("Thud.Move"), dict)


def test_colours_and_width_are_applied(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet(60)
    until_known(player)
    come_in(player, "mudletlooks")
    player.type("help")
    assert 40 < max(map(len, player.until("\n> ").splitlines())) <= 60
    player.resize(100)
    player.type("help")
    assert 60 < max(map(len, player.until("\n> ").splitlines())) <= 100
    player.type("look at mudlet board")
    seen = player.until("\n> ")
    assert "\x1b[" in seen
    assert not seen.isascii()


def test_screen_reader_gets_a_board_in_words(mudlet: Callable[..., Mudlet]) -> None:
    player = mudlet(reader=True)
    until_known(player)
    come_in(player, "mudletears")
    player.type("look at mudlet board")
    seen = plain(player.until("\n> "))
    assert "A B C" not in seen
    assert "rolls" in seen
    assert max(map(len, seen.splitlines())) > player.columns  # Mudlet and the reader break lines
