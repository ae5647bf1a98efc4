"""GMCP: framing and parsing, behaviour over a real socket, and docs/gmcp.md."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.plain import Client, Serving, Setup
from tests.telnet.commands import DO, DONT, GMCP, IAC, SB, SE, WILL, framed
from thudmud.telnet import gmcp
from thudmud.telnet.gmcp import packed, read, supported
from thudmud.telnet.interface import Credentials, Watch


def package(text: str) -> bytes:
    return framed(GMCP, text.encode())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=5,
)


@given(st.from_regex(r"\A[A-Za-z]{1,9}(\.[A-Za-z]{1,9})?\Z"), values)
def test_packed_message_round_trips(name: str, data: object) -> None:
    found = read(packed(name, json.dumps(data, ensure_ascii=False)))
    assert found is None or found == (name.lower(), data)


@given(st.binary(max_size=300))
def test_arbitrary_payload_never_raises(payload: bytes) -> None:
    found = read(payload)
    assert found is None or found[0].islower() or not found[0].upper().isupper()


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (b"Core.Ping", ("core.ping", None)),
        (b"CORE.PING 120", ("core.ping", 120)),
        (b'  Core.Hello  {"client": "x"} ', ("core.hello", {"client": "x"})),
        (b"", None),
        (b" ", None),
        (b"{}", None),
        (b"Core.Hello {", None),
        (b"Core.Hello \xff", None),
        (b"Core\x1b[31m 1", None),
        (b"A " + b"[" * 8 + b"]" * 8, ("a", [[[[[[[[]]]]]]]])),
        (b"A " + b"[" * 9 + b"]" * 9, None),
        (b"A " + b"[" * 4000, None),
        (b"A " + b'{"a":' * 800 + b"1" + b"}" * 800, None),
        (b"A " + b"9" * 4400, None),  # more digits than Python converts to an int
        (b"x" * 65, None),
    ],
)
def test_payload_parsing(payload: bytes, found: object) -> None:
    assert read(payload) == found


def test_supported_packages_follow_set_add_and_remove() -> None:
    wanted = supported(
        frozenset(), "set", ["Thud  1", "Char.Login 1", "thud.MOVE", 4, None, "a b c", "12"]
    )
    assert wanted == {"thud", "char.login", "thud.move", "12"}
    wanted = supported(wanted, "remove", ["Thud", "Room"])
    assert wanted == {"char.login", "thud.move", "12"}
    wanted = supported(wanted, "add", ["THUD 1"])
    assert wanted == {"char.login", "thud.move", "thud", "12"}
    for nonsense in (None, "Thud 1", {"Thud": 1}, 4):
        assert supported(wanted, "set", nonsense) == wanted
    many = [f"Package{number} 1" for number in range(65)]
    assert supported(wanted, "set", many) == wanted
    assert supported(wanted, "set", []) == frozenset()


def test_credentials_repr_omits_the_password() -> None:
    assert "haddock" not in repr(Credentials("Anna", "haddock"))


# Over a socket


async def agreed(serving: Serving, name: str = "", **settings: object) -> tuple[Setup, Client]:
    setup = await serving(**settings)
    client = await setup.connect(name)
    await client.speak()
    await client.send(IAC + DO + GMCP)
    assert await client.fence() == b""
    return setup, client


async def test_ping_is_answered_in_order_with_typed_lines(serving: Serving) -> None:
    _, client = await agreed(serving, "Anna")
    await client.send(b"a\r\n" + package("core.PING 33") + b"b\r\n")
    assert await client.fence() == b"echo a\r\n> " + package("Core.Ping") + b"echo b\r\n> "


async def test_gmcp_is_inactive_before_agreement(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect("Anna")
    await client.speak()
    await client.send(package("Core.Ping") + package('Core.Supports.Set ["Thud 1"]'))
    assert await client.fence() == b""
    assert not setup.service.terminals["Anna"].packages
    await client.send(b"real join game as dwarf on oak board\r\n")
    assert SB not in await client.fence()


async def test_facts_are_sent_to_subscribed_clients_only(serving: Serving) -> None:
    setup, anna = await agreed(serving, "Anna")
    await anna.send(package('Core.Supports.Set ["THUD.table 1"]') + b"real go oak board\r\n")
    await anna.fence()
    assert setup.service.terminals["Anna"].packages == {"thud.table"}
    bob = await setup.connect("Bob")
    await bob.send(b"real join game as troll on oak board\r\n")
    assert SB not in await bob.fence()
    seen = await anna.until(IAC + SE)
    assert b"Thud.Table {" in seen
    told = json.loads(seen.partition(b"Thud.Table ")[2].removesuffix(IAC + SE))
    assert "Bob" in json.dumps(told)
    await anna.send(package('Core.Supports.Remove ["Thud.Table"]'))
    await anna.fence()
    await bob.send(b"real leave game on oak board\r\n")
    await bob.fence()
    assert b"Thud." not in await anna.fence()


async def test_answer_echoes_the_id_of_the_question(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna")
    await anna.send(package('Core.Supports.Set ["Thud.Refused 1", "Thud.Who"]'))
    for asked, told in (
        ('{"line": "who", "id": 7}', b'"id":7}'),
        ('{"line": "who", "id": "a"}', b'"id":"a"}'),
        ('{"line": "quit", "id": 8}', b'"code":"no_question"'),
    ):
        await anna.send(package(f"Thud.Ask {asked}"))
        assert told in await anna.until(IAC + SE)
    for unfit in ("true", "null", "[1]", "1e400", str(1 << 60)):
        await anna.send(package(f'Thud.Ask {{"line": "who", "id": {unfit}}}'))
        assert b'"id"' not in await anna.until(IAC + SE)


async def test_standard_mud_packages_are_supported(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna")
    # Mudlet's default request.
    wanted = ["Char 1", "Char.Skills 1", "Char.Items 1", "Room 1", "IRE.Rift 1", "Comm.Channel 1"]
    await anna.send(package(f"Core.Supports.Set {json.dumps(wanted)}"))
    told = await anna.fence()
    assert b'Char.Name {"name":"Anna","fullname":"Anna"}' in told
    assert b'"name":"Hall","area":"thudmud"' in told
    assert b"Thud." not in told
    await anna.send(b"real say Hello!\r\n")
    said = b'Comm.Channel.Text {"channel":"say","talker":"Anna","text":"Anna says: Hello!"}'
    assert said in await anna.until(IAC + SE)
    await anna.send(b"real quit\r\n")
    assert b'Core.Goodbye "quit"' in await anna.until(IAC + SE)


async def test_refused_line_sends_thud_refused_with_its_code(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna")
    await anna.send(package('Core.Supports.Set ["Thud.Refused 1"]') + b"real dance\r\n")
    assert b'Thud.Refused {"code":"unknown_command"' in await anna.until(IAC + SE)


async def test_late_subscription_sends_the_current_state(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna")
    await anna.send(b"real join game as dwarf on oak board\r\n")
    await anna.fence()
    await anna.send(package('Core.Supports.Add ["Thud 1"]'))
    assert b"Thud.Table {" in await anna.fence()
    await anna.send(package('Core.Supports.Add ["Thud 1", "Room 1"]'))  # no new facts
    await anna.fence()


async def test_gmcp_stops_after_dont(serving: Serving) -> None:
    setup, anna = await agreed(serving, "Anna")
    await anna.send(package('Core.Supports.Set ["Thud 1"]') + IAC + DONT + GMCP)
    await anna.fence()
    assert not setup.service.terminals["Anna"].packages
    await anna.send(b"real join game as dwarf on oak board\r\n" + package("Core.Ping"))
    assert SB not in await anna.fence()


@pytest.mark.parametrize(
    "nonsense",
    [
        package("Core.Hello {"),
        package("Core.Supports.Set 7"),
        package("Core.Supports.Nothing []"),
        package("No.Such.Package [1, 2]"),
        package("Core.Supports.Set " + "[" * 3000),
        package('Core.Supports.Set ["' + "x" * 5000 + '"]'),
        package("Char.Login"),
        package('Char.Login {"name": 4, "password": []}'),
        IAC + SB + GMCP + IAC + SE,
    ],
)
async def test_malformed_messages_are_ignored(serving: Serving, nonsense: bytes) -> None:
    setup, anna = await agreed(serving, "Anna")
    await anna.send(nonsense + b"look\r\n")
    assert await anna.fence() == b"echo look\r\n> "
    assert not setup.service.terminals["Anna"].packages


async def test_oversized_subnegotiation_is_dropped_whole(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna", max_subnegotiation=100)
    ping = "Core.Ping " + "1" * 89  # 100 bytes, including the option
    await anna.send(package(ping))
    assert package("Core.Ping") in await anna.fence()
    await anna.send(package(ping + "1"))
    assert await anna.fence() == b""


# Logging in


async def member(setup: Setup, name: str) -> None:
    client = await setup.connect(name)
    await client.send(b"register\r\npassword\r\npassword\r\nquit\r\n")
    await client.rest()


RESULT = package(f"{gmcp.LOGIN_RESULT} {gmcp.SUCCESS}")
DENIAL = package(f"{gmcp.LOGIN_RESULT} {gmcp.FAILURE}")


@pytest.mark.parametrize(
    "login",
    ['Char.Login {"name": "anna", "password": "password"}',
     'char.login.credentials {"account": "Anna", "password": "password"}'],
)  # fmt: skip
async def test_valid_credentials_skip_the_login_dialogue(
    serving: Serving, login: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    setup, client = await agreed(serving)
    await member(setup, "Anna")
    await client.send(package(login))
    assert await client.until(b"> ") == b"\r\nAnna comes in.\r\n" + RESULT + b"> "
    assert "password" not in " ".join(each.getMessage() for each in caplog.records)
    assert "password" not in " ".join(setup.service.typed)


async def test_wrong_password_falls_back_to_the_password_prompt(serving: Serving) -> None:
    setup, client = await agreed(serving)
    await member(setup, "Anna")
    await client.send(package('Char.Login {"name": "anna", "password": "passport"}'))
    assert await client.until(b"word: ") == (
        b"\r\nThat isn't the password of Anna. Try again, or just press Enter to stop.\r\n"
        + DENIAL
        + IAC + WILL + b"\x01"
        + b"Password: "
    )  # fmt: skip
    await client.send(package('Char.Login {"name": "anna", "password": "password"}'))
    assert await client.fence() == b""  # ignored at the password prompt
    await client.send(b"password\r\n")
    assert b"Anna comes in." in await client.until(b"> ")


@pytest.mark.parametrize("name", ["4", "", "Anna\r\nquit", "quit"])
async def test_unusable_login_name_falls_back_to_the_name_prompt(
    serving: Serving, name: str
) -> None:
    _, client = await agreed(serving)
    await client.send(package(f"Char.Login {json.dumps({'name': name, 'password': 'x'})}"))
    if name == "quit":
        assert b"Goodbye!" in await client.rest()
    else:
        assert (await client.until(b"name? ")).endswith(DENIAL + b"What is your name? ")


async def test_login_after_the_name_is_ignored(serving: Serving) -> None:
    setup, client = await agreed(serving, "Bob")
    await member(setup, "Anna")
    await client.fence()
    await client.send(package('Char.Login {"name": "anna", "password": "password"}') + b"look\r\n")
    assert await client.fence() == b"echo look\r\n> "


PAGE = (Path(__file__).parents[2] / "docs" / "gmcp.md").read_text("utf-8")
SENT = re.findall(r"^    (Char\.Login\S*) (\{.*\})$", PAGE, re.MULTILINE)
CORE = re.findall(r"^\| `(Core\.\S+)` \| `(.*?)` \|", PAGE.split("\n## Log in")[0], re.MULTILINE)


def test_documented_login_messages_match_the_server() -> None:
    ours = [(name, json.loads(data)) for name, data in SENT if name.endswith(("Default", "Result"))]
    assert ours == [
        (gmcp.LOGIN, json.loads(gmcp.PASSWORDS)),
        (gmcp.LOGIN_RESULT, json.loads(gmcp.SUCCESS)),
        (gmcp.LOGIN_RESULT, json.loads(gmcp.FAILURE)),
    ]


def test_documented_login_requests_are_parsed() -> None:
    theirs = [f"{name} {data}" for name, data in SENT if not name.endswith(("Default", "Result"))]
    heard = [gmcp.read(each.encode()) for each in theirs]
    assert [each and each[0] for each in heard] == ["char.login.credentials", "char.login"]
    for each in heard:
        assert each
        assert gmcp.credentials(each[1]) == ("Anna", "correct horse")
    assert gmcp.read(b"Char.Login.Credentials {}") == ("char.login.credentials", {})
    assert gmcp.credentials({}) is None


def test_documented_core_messages_are_parsed() -> None:
    wanted = frozenset({"char"})
    seen = []
    for name, text in CORE:
        heard = gmcp.read(f"{name} {text}".encode())
        assert heard
        package, data = heard
        seen.append(package)
        if package.startswith("core.supports"):
            wanted = gmcp.supported(wanted, package.rpartition(".")[2], data)
            assert ("thud" in wanted) is (not package.endswith("remove"))
    assert wanted == {"char.login"}
    assert seen == [
        "core.hello",
        "core.supports.set",
        "core.supports.add",
        "core.supports.remove",
        "core.ping",
    ]


@pytest.mark.parametrize(("levels", "is_read"), [(8, True), (9, False)])
def test_documented_nesting_limit_is_enforced(levels: int, is_read: bool) -> None:  # noqa: FBT001 (of a parameter)
    assert f"more than {levels if is_read else levels - 1} levels deep" in PAGE
    payload = b"Thud.Move " + b"[" * levels + b"]" * levels
    assert (gmcp.read(payload) is not None) is is_read


@pytest.mark.parametrize("value", ["[]", "{}", "0"])
def test_payload_with_too_many_values_is_rejected(value: str) -> None:
    assert gmcp.read(f"Thud.Ask [{','.join([value] * 300)}]".encode()) is not None
    assert gmcp.read(f"Thud.Ask [{','.join([value] * 2600)}]".encode()) is None
    assert gmcp.read(b'Thud.Ask "' + b"," * 2600 + b'"') is not None  # a line


def test_long_board_name_is_truncated() -> None:
    assert gmcp.watched({"board": "b" * 8000}) == Watch("b" * 256)


@pytest.mark.parametrize(
    ("data", "watch"),
    [
        ({"battle": 12}, Watch(battle=12)),
        ({"battle": 12, "explore": 0}, Watch(battle=12, explored=0)),
        ({"battle": 12, "explore": 34}, Watch(battle=12, explored=34)),
        ({"battle": True}, None),
        ({"battle": 12, "explore": False}, None),
        ({"battle": 12.0}, None),
        ({"battle": 12, "explore": -1}, None),
        ({"battle": 12, "explore": "all"}, None),
        ({"battle": 12, "explore": 10**12}, None),
        ({"board": "oak"}, Watch("oak")),
    ],
)
def test_watch_request_parsing(data: dict[str, object], watch: Watch | None) -> None:
    assert gmcp.watched(data) == watch


async def test_prompt_resume_word_and_queries_reach_telnet_clients(
    serving: Serving,
) -> None:
    _, client = await agreed(serving)
    await client.send(package('Core.Supports.Set ["Thud 1"]'))
    await client.until(b'Thud.Prompt {"asks":"name","hidden":false}')
    await client.send(package('Thud.Watch {"board": "oak"}'))
    await client.until(b'Thud.Board {"board":"oak board"')
    await client.send(b"Anna\r\n")
    word = (await client.until(b"Thud.Prompt")).partition(b"Thud.Word ")[2]
    assert json.loads(word.partition(b"\xff")[0])["player"] == "Anna"
    await client.send(package('Thud.Ask "who"'))
    await client.until(b'Thud.Who {"people":[{"player":"Anna"')


async def test_flooding_client_is_sent_goodbye_rejected(serving: Serving) -> None:
    _, anna = await agreed(serving, "Anna", telnet_bytes=1024, max_subnegotiation=64)
    await anna.send(package('Core.Supports.Set ["Thud 1"]'))
    await anna.fence()
    await anna.send((IAC + b"\xf1") * 1000)
    assert b'Thud.Goodbye {"why":"rejected"}' in await anna.until(IAC + SE)
