"""Telnet option negotiation byte for byte over a real socket, and unit tests of the Q method."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.plain import OFFERS, PATIENCE, Client, Serving, Setup
from tests.telnet.commands import (
    BINARY,
    CHARSET,
    DO,
    DONT,
    ECHO,
    END,
    EOR,
    GA,
    GMCP,
    IAC,
    MCCP2,
    MSSP,
    NAWS,
    NEW_ENVIRON,
    SB,
    SGA,
    TSPEED,
    TTYPE,
    WILL,
    WONT,
    framed,
    naws,
)
from thudmud.features.rooms.messages import greeting
from thudmud.telnet.negotiation import QMethod, QState
from thudmud.telnet.screen import encode
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Terminal

# ruff: noqa: FBT001, FBT003  (True and False are the messages WILL/DO and WONT/DONT)

PROMPT = encode(greeting((), 0)) + b"What is your name? "

REQUEST = framed(CHARSET, b"\x01;UTF-8")
SEND_TYPE = framed(TTYPE, b"\x01")
SEND_VARIABLES = framed(NEW_ENVIRON, b"\x01\0CLIENT_NAME\0CHARSET\0MTTS")


def type_is(name: str) -> bytes:
    return framed(TTYPE, b"\0" + name.encode())


def charset(kind: bytes, text: bytes = b"") -> bytes:
    return framed(CHARSET, kind + text)


def variables(**values: str) -> bytes:
    pairs = "".join(f"\0{name}\1{value}" for name, value in values.items()).encode()
    return framed(NEW_ENVIRON, b"\0" + pairs)


async def arrive(serving: Serving, **settings: object) -> tuple[Setup, Client]:
    setup = await serving(**settings)
    client = await setup.connect()
    assert await client.until(b"name? ") == IAC + DO + NAWS + PROMPT
    return setup, client


async def fitted(setup: Setup, client: Client) -> Terminal:
    """Log a client in; return the terminal negotiated for it."""
    await client.send(b"anna\r\n")
    await client.fence()
    return setup.service.terminals["Anna"]


async def test_client_speaking_first_is_greeted_before_its_answer(serving: Serving) -> None:
    setup = await serving()
    early = socket.create_connection((setup.host, setup.port))
    early.sendall(IAC + WONT + NAWS + b"anna\r\n")  # waiting when the server accepts
    client = Client(*await asyncio.open_connection(sock=early))
    assert await client.until(OFFERS) == IAC + DO + NAWS + PROMPT + OFFERS
    await client.until(b"Anna comes in.\r\n> ")
    await client.close()


# Exchanges of real clients, from their documentation and sources.


async def test_tintin_negotiation(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + NAWS + naws(100))
    assert await client.fence() == OFFERS
    await client.send(IAC + WILL + TTYPE)
    assert await client.fence() == SEND_TYPE
    for each in ("TINTIN++", "XTERM-256COLOR"):
        await client.send(type_is(each))
        assert await client.fence() == SEND_TYPE
    await client.send(type_is("MTTS 271"))
    assert await client.fence() == b""
    await client.send(IAC + DO + CHARSET)
    assert await client.fence() == REQUEST
    await client.send(charset(b"\x02", b"UTF-8"))
    assert await client.fence() == b""
    await client.send(IAC + DO + EOR)
    assert await client.fence() == END  # marks the prompt already shown
    await client.send(IAC + DONT + GMCP + IAC + DONT + MSSP)
    assert await client.fence() == b""
    assert await fitted(setup, client) == Terminal(
        100, height=24, supports_utf8=True, colours=TRUE_COLOUR
    )
    await client.send(b"look\r\n\r\n")
    assert await client.fence() == b"echo look\r\n> " + END


async def test_seven_bit_client_is_asked_for_binary(serving: Serving) -> None:
    """Inetutils telnet agrees to BINARY when asked; with -8 it offers it for both directions."""
    setup, client = await arrive(serving)
    await client.send(IAC + WONT + NAWS + IAC + WILL + BINARY)
    assert await client.fence() == OFFERS
    await client.send("anna\nÄrger ☃\n".encode())  # in binary mode it ends lines with LF
    await client.until("echo Ärger ☃\r\n> ".encode())
    other = await setup.connect()
    await other.until(b"name? ")
    await other.send(IAC + WILL + BINARY + IAC + DO + BINARY)
    asked = OFFERS.replace(IAC + DO + BINARY, b"")
    assert await other.fence() == IAC + DO + BINARY + asked + IAC + WONT + BINARY


async def test_tinyfugue_negotiation(serving: Serving) -> None:
    """Offers NAWS and TTYPE once the server has sent an option; refuses CHARSET and GMCP."""
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + NAWS + IAC + WILL + TTYPE + naws(79))
    assert await client.fence() == OFFERS + SEND_TYPE
    await client.send(type_is("TINYFUGUE") + type_is("ANSI"))
    assert await client.fence() == SEND_TYPE * 2
    await client.send(type_is("ANSI") + type_is("ANSI"))
    assert await client.fence() == b""  # a repeated name ends the list (RFC 1091)
    await client.send(IAC + DONT + CHARSET + IAC + DO + EOR + IAC + DONT + GMCP + IAC + DONT + MSSP)
    assert await client.fence() == END
    assert await fitted(setup, client) == Terminal(79, height=24, colours=SIXTEEN)


async def test_putty_negotiation(serving: Serving) -> None:
    """Negotiates first, then waits for the answers to DO ECHO and DO SGA."""
    setup, client = await arrive(serving)
    wills = b"".join(IAC + WILL + each for each in (NAWS, TSPEED, TTYPE, NEW_ENVIRON, SGA))
    await client.send(wills + IAC + DO + ECHO + IAC + DO + SGA)
    assert await client.fence() == (
        OFFERS
        + IAC + DONT + TSPEED
        + SEND_TYPE
        + IAC + DO + NEW_ENVIRON + SEND_VARIABLES
        + IAC + DONT + SGA
        + IAC + WONT + ECHO
        + IAC + WONT + SGA
    )  # fmt: skip
    await client.send(naws(80) + type_is("XTERM") + variables())
    assert await client.fence() == SEND_TYPE
    refusals = b"".join(IAC + DONT + each for each in (CHARSET, EOR, GMCP, MSSP))
    await client.send(type_is("XTERM") + refusals)
    assert await client.fence() == b""
    # DO SGA suppresses GA, so prompts carry no mark.
    assert await fitted(setup, client) == Terminal(80, height=24, colours=SIXTEEN)
    await client.send(b"\r\n")
    assert await client.fence() == b"> "


async def test_inetutils_negotiation(serving: Serving) -> None:
    """Offers nothing of its own; agrees to the options that it implements."""
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + NAWS + naws(80))
    assert await client.fence() == OFFERS
    await client.send(IAC + WILL + TTYPE + IAC + DONT + CHARSET + IAC + DONT + EOR)
    assert await client.fence() == SEND_TYPE + GA
    await client.send(IAC + DONT + GMCP + IAC + DONT + MSSP + type_is("VT100") + type_is("VT100"))
    assert await client.fence() == SEND_TYPE
    assert await fitted(setup, client) == Terminal(80, height=24)
    await client.send(b"\r\n")
    assert await client.fence() == b"> " + GA


async def test_nc_is_sent_no_telnet_after_the_first_offer(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.send(b"anna\nlook\n")
    assert (await client.until(b"echo look\r\n> ")).count(IAC) == 0
    assert setup.service.terminals["Anna"] == Terminal()


async def test_mudlet_negotiation(serving: Serving) -> None:
    """Follows "Supported Protocols" in the Mudlet manual."""
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + NAWS + naws(100))
    assert await client.fence() == OFFERS
    hello = b'Core.Hello { "client": "Mudlet", "version": "4.19.1"}'
    wants = b'Core.Supports.Set [ "Char 1", "Room 1", "Client.Media 1", "Char.Login 1"]'
    await client.send(
        IAC + WILL + TTYPE
        + IAC + DO + CHARSET
        + IAC + DO + EOR
        + IAC + DO + GMCP
        + framed(GMCP, hello)
        + framed(GMCP, wants)
        + IAC + DO + MSSP
    )  # fmt: skip
    answers = await client.fence()
    login = framed(GMCP, b'Char.Login.Default {"type": ["password-credentials"]}')
    assert answers.startswith(SEND_TYPE + REQUEST + END + login + IAC + SB + MSSP)
    names = ["MUDLET", "ANSI-TRUECOLOR", "MTTS 2349"]
    await client.send(charset(b"\x02", b"UTF-8") + b"".join(map(type_is, names)))
    assert await client.fence() == SEND_TYPE * 2
    packages = frozenset({"char", "room", "client.media", "char.login"})
    assert await fitted(setup, client) == Terminal(
        100, height=24, supports_utf8=True, colours=TRUE_COLOUR, packages=packages
    )


# One option after the other


async def test_repeated_agreement_is_not_answered(serving: Serving) -> None:
    _, client = await arrive(serving)
    await client.speak()
    for asked in (IAC + WILL + TTYPE, IAC + DO + EOR, IAC + DO + GMCP, IAC + DO + CHARSET):
        await client.send(asked)
        await client.fence()
        await client.send(asked * 3)
        assert await client.fence() == b""
    await client.send((IAC + DONT + EOR) * 3)
    assert await client.fence() == IAC + WONT + EOR + GA


@pytest.mark.parametrize(
    "opening", [IAC + WILL + SGA, IAC + DONT + NAWS, naws(80), b"\xff\xfd\xff"]
)
async def test_offers_are_sent_once_at_the_first_sign_of_telnet(
    serving: Serving, opening: bytes
) -> None:
    _, client = await arrive(serving)
    await client.send(opening * 2)
    assert (await client.fence()).count(OFFERS) == 1


async def test_ayt_nop_and_ga_do_not_trigger_the_offers(serving: Serving) -> None:
    _, client = await arrive(serving)
    await client.send(IAC + b"\xf6" + IAC + b"\xf1" + IAC + b"\xf9")
    assert OFFERS not in await client.fence()


async def test_new_width_applies_immediately(serving: Serving) -> None:
    _, client = await arrive(serving)
    await client.send(IAC + WILL + NAWS + naws(60) + b"anna\r\n")
    await client.fence()
    for columns, used in [(40, 40), (255, 255), (1, 20), (19, 20), (501, 500), (0, 80)]:
        await client.send(naws(columns) + b"width\r\n")
        assert await client.fence() == f"width {used}\r\n> ".encode()


async def test_unsolicited_terminal_type_is_ignored(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.speak()
    await client.send(type_is("XTERM-256COLOR"))
    assert await client.fence() == b""
    assert not (await fitted(setup, client)).colours


async def test_terminal_type_requests_stop_after_nine(serving: Serving) -> None:
    _, client = await arrive(serving)
    await client.speak()
    await client.send(IAC + WILL + TTYPE)
    asked = 0
    while await client.fence() == SEND_TYPE:
        asked += 1
        await client.send(type_is(f"NAME-{asked}"))
    assert asked == 9


@pytest.mark.parametrize(
    ("answer", "utf8"),
    [
        (charset(b"\x02", b"UTF-8"), True),
        (charset(b"\x02", b"utf8"), True),
        (charset(b"\x02", b"LATIN1"), False),
        (charset(b"\x03"), False),
        (charset(b""), True),  # no answer: MTTS decides
        (charset(b"\x09"), True),
    ],
)
async def test_agreed_charset_overrides_mtts_bits(
    serving: Serving, *, answer: bytes, utf8: bool
) -> None:
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + TTYPE + IAC + DO + CHARSET + type_is("MTTS 4") + answer)
    await client.fence()
    terminal = await fitted(setup, client)
    assert (terminal.supports_utf8, terminal.is_ascii_only) == (utf8, not utf8)


async def test_charset_request_from_the_client_is_answered(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.speak()
    await client.send(IAC + WILL + CHARSET)
    assert await client.fence() == IAC + DO + CHARSET
    await client.send(charset(b"\x01", b" LATIN-1 KOI8-R"))
    assert await client.fence() == charset(b"\x03")
    await client.send(charset(b"\x01", b"[TTABLE]\x01;LATIN-1;utf-8"))
    assert await client.fence() == charset(b"\x02", b"utf-8")
    await client.send(charset(b"\x01"))
    assert await client.fence() == charset(b"\x03")
    assert (await fitted(setup, client)).supports_utf8


async def test_simultaneous_charset_requests_favour_the_server(serving: Serving) -> None:
    _, client = await arrive(serving)
    await client.speak()
    await client.send(IAC + WILL + CHARSET + IAC + DO + CHARSET + charset(b"\x01", b";UTF-8"))
    assert await client.fence() == IAC + DO + CHARSET + REQUEST + charset(b"\x03")


async def test_environment_is_requested_from_mnes_clients(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.send(IAC + WILL + TTYPE)
    await client.fence()
    await client.send(type_is("MTTS 521"))  # includes 512, MNES
    assert await client.fence() == IAC + DO + NEW_ENVIRON
    await client.send(IAC + WILL + NEW_ENVIRON)
    assert await client.fence() == SEND_VARIABLES
    await client.send(variables(CLIENT_NAME="CLIENT", CHARSET="UTF-8", MTTS="584"))
    assert await fitted(setup, client) == Terminal(
        supports_utf8=True, colours=PALETTE, has_reader=True
    )
    info = framed(NEW_ENVIRON, b"\x02\0MTTS\x011")  # INFO: a changed value
    await client.send(info)
    await client.fence()
    assert setup.service.terminals["Anna"] == Terminal(supports_utf8=True, colours=SIXTEEN)


async def test_screen_reader_is_recognised_from_mtts(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.send(
        IAC + WILL + TTYPE + type_is("CLIENT") + type_is("XTERM") + type_is("MTTS 69")
    )
    await client.fence()
    assert await fitted(setup, client) == Terminal(
        supports_utf8=True, colours=SIXTEEN, has_reader=True
    )


# Prompt marks


async def test_every_prompt_is_marked_once_eor_is_agreed(serving: Serving) -> None:
    setup, client = await arrive(serving)
    await client.send(IAC + DO + EOR)
    assert await client.fence() == OFFERS.replace(IAC + WILL + EOR, b"").replace(
        IAC + DO + TTYPE, END_AGREED + IAC + DO + TTYPE
    )
    await client.send(b"4\r\n")
    assert await client.until(END) == b"Letters, please.\r\nWhat is your name? " + END
    await client.send(b"anna\r\n")
    assert (await client.until(END)).endswith(b"\r\n> " + END)
    bob = await setup.connect("Bob")
    assert await client.until(END) == b"\r\nBob comes in.\r\n> " + END
    await bob.send(b"say one\r\n")
    assert await client.until(END) == b"\r\nBob says: one\r\n> " + END
    await client.send(b"register\r\n")
    assert (await client.until(END)).endswith(b"New password: " + END)
    await client.send(b"\r\n")
    assert (await client.until(END)).endswith(b"> " + END)
    assert not client.unread


END_AGREED = IAC + WILL + EOR + END


async def test_prompt_mark_becomes_ga_after_dont_eor(
    serving: Serving,
) -> None:
    _, client = await arrive(serving)
    await client.speak()
    await client.send(IAC + DO + EOR + IAC + DONT + EOR)
    assert await client.fence() == END + IAC + WONT + EOR + GA
    await client.send(b"4\r\n")
    assert await client.until(GA) == b"Letters, please.\r\nWhat is your name? " + GA


# The budget


async def test_requests_beyond_the_option_budget_are_ignored(serving: Serving) -> None:
    setup, client = await arrive(serving, option_changes=10)
    await client.speak()
    await client.send(IAC + WILL + NAWS)
    await client.send((IAC + WONT + NAWS + IAC + WILL + NAWS) * 20)
    assert await client.fence() == (IAC + DO + NAWS) + (IAC + DONT + NAWS + IAC + DO + NAWS) * 4 + (
        IAC + DONT + NAWS
    )
    await client.send(IAC + WILL + NAWS + IAC + DO + SGA + naws(60))
    assert await client.fence() == b""
    assert await fitted(setup, client) == Terminal()
    await client.send(b"look\r\n")
    assert await client.fence() == b"echo look\r\n> "


# MCCP2


async def test_mccp2_output_inflates_to_the_plain_output(serving: Serving) -> None:
    setup = await serving(compress=True)
    client = await setup.connect("Anna")
    await client.send(b"\xff\xfc\x1f")
    await client.until(IAC + WILL + MCCP2)
    await client.send(IAC + DO + MCCP2)
    await client.until(framed(MCCP2))
    await client.send(b"look\r\n")
    inflate = zlib.decompressobj()
    plain = inflate.decompress(client.unread)
    async with asyncio.timeout(PATIENCE):
        while b"echo look\r\n> " not in plain:
            plain += inflate.decompress(await client.reader.read(65536))
        await client.send(IAC + DONT + MCCP2 + b"end\r\n")
        rest = b""
        while not inflate.eof:
            rest += inflate.decompress(await client.reader.read(65536))
    client.unread = inflate.unused_data
    assert b"echo end" in rest + await client.fence()


async def test_mccp2_is_not_offered_by_default(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.speak()  # asserts the complete list of offers
    await client.send(IAC + DO + MCCP2)
    assert await client.fence() == b"\xff\xfc\x56"


# The Q method


LONGEST_EXCHANGE = 8
"""Messages that two ends may need, beyond those that they were told to begin with."""

events = st.lists(st.tuples(st.sampled_from(["want", "hear"]), st.booleans()), max_size=40)


@given(events, st.booleans())
def test_q_method_sends_at_most_once_per_state_change(
    happened: list[tuple[str, bool]], welcome: bool
) -> None:
    end = QMethod()
    for kind, value in happened:
        before = end.state
        if kind == "want":
            sent = value if end.want(value) else None
        else:
            sent = end.receive(value, welcome=welcome)
        refused = before is QState.NO and kind == "hear" and value and not welcome
        if sent is not None:
            assert (end.state is not before) or (refused and sent is False)
        if kind == "hear" and value is (before is QState.YES) and before in _SETTLED:
            assert sent is None
            assert end.state is before


_SETTLED = {QState.YES, QState.NO}


@given(st.lists(st.booleans(), max_size=40), st.booleans())
def test_q_method_ignores_repeated_messages(heard: list[bool], welcome: bool) -> None:
    end = QMethod()
    for each in heard:
        end.receive(each, welcome=welcome)
        if end.is_agreed is each:
            assert end.receive(each, welcome=welcome) is None


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([0, 1]), st.booleans()),  # one end wants it on or off
        st.tuples(st.sampled_from([0, 1]), st.none()),  # one end receives its next message
    ),
    max_size=60,
)


@given(steps, st.booleans(), st.booleans())
def test_q_method_peers_converge_and_agree(
    happened: list[tuple[int, bool | None]], first: bool, second: bool
) -> None:
    ends, welcome = (QMethod(), QMethod()), (first, second)
    wires: tuple[deque[bool], deque[bool]] = (deque(), deque())  # to either end

    def deliver(end: int) -> None:
        answer = ends[end].receive(wires[end].popleft(), welcome=welcome[end])
        if answer is not None:
            wires[1 - end].append(answer)

    sent = 0
    for end, wanted in happened:
        if wanted is None:
            if wires[end]:
                deliver(end)
        elif ends[end].want(wanted):
            sent += 1
            wires[1 - end].append(wanted)
    delivered = 0
    while wires[0] or wires[1]:
        deliver(0 if wires[0] else 1)
        delivered += 1
        assert delivered <= 2 * sent + LONGEST_EXCHANGE, "they go on for ever"
    assert ends[0].state is ends[1].state
    assert ends[0].state in _SETTLED


def test_q_method_queues_a_change_until_the_answer() -> None:
    end = QMethod()
    assert [end.want(each) for each in (True, True, False, True, False)] == [True] + [False] * 4
    assert end.receive(True, welcome=True) is False
    assert end.want(True) is False
    assert end.receive(False, welcome=True) is True
    assert end.is_asked
    assert end.receive(True, welcome=True) is None
    assert end.is_agreed


def test_q_method_accepts_will_as_an_answer_to_dont() -> None:
    end = QMethod()
    end.want(True)
    end.receive(True, welcome=True)
    assert end.want(False)
    assert end.receive(True, welcome=True) is None
    assert end.state is QState.NO
