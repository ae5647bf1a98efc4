"""Trusted and untrusted proxies on the telnet and web ports."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.plain import Client, Serving, Setup
from tests.web.browsers import browser
from thudmud.accounts.limiters import network
from thudmud.server.proxies import HEAD, SIGNATURE, Proxies, parse_proxy_header, proxy_header_length
from thudmud.version import VERSION

HERE = "127.0.0.1"
NAMED = {"proxies": [HERE], "web": {"port": 0, "proxies": ["127.0.0.0/8"]}}

MUDLET = (
    b"\xff\xfd\xc9"  # DO GMCP
    b'\xff\xfa\xc9Core.Hello {"client": "Mudlet", "version": "4.19.1"}\xff\xf0'
    b"\xff\xfa\xc9Core.Ping\xff\xf0"
)


def header(source: str, port: int = 4000, *, command: int = 0x21, more: bytes = b"") -> bytes:
    """Return a PROXY protocol v2 header."""
    address = ipaddress.ip_address(source)
    family = 0x11 if address.version == 4 else 0x21
    rest = address.packed * 2 + port.to_bytes(2, "big") * 2 + more
    return SIGNATURE + bytes([command, family]) + len(rest).to_bytes(2, "big") + rest


addresses = st.ip_addresses()


@given(addresses, st.integers(0, 65535), st.binary(max_size=100))
def test_proxy_header_yields_the_client_address(address: Any, port: int, more: bytes) -> None:
    whole = header(str(address), port, more=more)
    assert proxy_header_length(whole[:HEAD]) == len(whole) - HEAD
    assert parse_proxy_header(whole) == (str(address), port)


@given(st.binary(max_size=HEAD * 2), st.sampled_from([SIGNATURE, b""]))
def test_arbitrary_first_bytes_never_raise(head: bytes, begins: bytes) -> None:
    length = proxy_header_length((begins + head)[:HEAD])
    assert length is None or length <= 2048


def test_local_and_unknown_proxy_commands_name_no_client() -> None:
    assert parse_proxy_header(header("192.0.2.1", command=0x20)) is None
    unknown = SIGNATURE + b"\x21\x00\x00\x00"
    assert (proxy_header_length(unknown), parse_proxy_header(unknown)) == (0, None)
    with pytest.raises(ValueError, match="truncated"):
        parse_proxy_header(header("192.0.2.1")[:-3])


@pytest.mark.parametrize(
    ("listed", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("198.51.100.1, 192.0.2.1", "192.0.2.1"),
        ("198.51.100.1, 192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("192.0.2.1:51234", "192.0.2.1"),
        ("nonsense, 192.0.2.1:51234 , ,10.0.0.1:80", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:DB8:0::1]:51234", "2001:db8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%" + "x" * 4000 + "]:51234", "fe80::1"),
        ("10.0.0.1, 10.0.0.2", "10.0.0.1"),
        (HERE, HERE),
        ("", None),
        (" , ", None),
        ("unknown", None),
        ("192.0.2.1, nonsense", None),
        ("192.0.2.1:", None),
        ("192.0.2.1:port", None),
        ("192.0.2.1:123456", None),
        ("[192.0.2.1", None),
        ("[]:80", None),
        ("2001:db8::1:::", None),
    ],
)
def test_forwarded_client_is_the_last_untrusted_address(listed: str, client: str | None) -> None:
    proxies = Proxies([HERE, "10.0.0.0/8"])
    for peer in (HERE, "::ffff:127.0.0.1"):
        assert proxies.client(peer, {"x-forwarded-for": listed}) == client
    assert proxies.client("192.0.2.9", {"x-forwarded-for": listed}) == "192.0.2.9"


@pytest.mark.parametrize(
    ("field", "client", "is_secure"),
    [
        ("for=192.0.2.1", "192.0.2.1", False),
        ("For=192.0.2.1; Proto=HTTPS;by=203.0.113.43", "192.0.2.1", True),
        ('for="192.0.2.1:51234";proto=wss, for=10.0.0.1;proto=http', "192.0.2.1", True),
        ('for="[2001:db8::1]:51234"', "2001:db8::1", False),
        ('for="192.0.2.\\1";ext="a, \\"b;c"', "192.0.2.1", False),
        ("for=_hidden", None, False),
        ("proto=https", None, True),
        ('for="192.0.2.1', None, False),
        ("for=192.0.2.1 nonsense", None, False),
        ("for=192.0.2.1,", None, False),
        ("", None, False),
    ],
)
def test_forwarded_header_is_parsed_without_x_forwarded_for(
    field: str, client: str | None, *, is_secure: bool
) -> None:
    proxies, fields = Proxies([HERE, "10.0.0.0/8"]), {"forwarded": field}
    assert proxies.client(HERE, fields) == client
    assert proxies.is_secure(HERE, fields) is is_secure
    other = {"x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "http", **fields}
    assert proxies.client(HERE, other) == "192.0.2.7"
    assert not proxies.is_secure(HERE, other)


@pytest.mark.parametrize(
    ("listed", "is_secure"),
    [
        ("https", True),
        ("HTTPS", True),
        ("wss", True),
        ("https, https", True),
        ("https, http", True),
        ("http, https", False),
        ("http", False),
        ("ws", False),
        ("", False),
    ],
)
def test_scheme_of_a_forwarded_request_is_that_of_the_first_proxy(
    listed: str, *, is_secure: bool
) -> None:
    proxies, fields = Proxies([HERE]), {"x-forwarded-proto": listed}
    assert proxies.is_secure(HERE, fields) is is_secure
    assert not proxies.is_secure("192.0.2.9", fields)


async def test_forwarded_request_without_a_client_is_refused(
    serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    setup = await serving(web={"port": 0, "forwarders": [HERE]})
    for field in ("X-Forwarded-For: unknown\r\n", "Forwarded: for=_hidden\r\n", ""):
        client = await setup.connect_web()
        await client.send(f"GET / HTTP/1.1\r\nHost: x\r\n{field}\r\n".encode())
        answer = await client.rest()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"expected an address in X-Forwarded-For" in answer
    assert len(caplog.records) == 3


def origin(setup: Setup, name: str) -> str:
    visit = setup.service.visit(name)
    return visit.origin if visit else ""


@pytest.mark.parametrize("source", ["192.0.2.1", "2001:db8::1"])
async def test_trusted_proxy_determines_the_player_address(serving: Serving, source: str) -> None:
    setup = await serving(**NAMED)
    client = await setup.connect()
    for byte in header(source, more=b"\x04\x00\x01x"):
        await client.send(bytes([byte]))
    await client.until(b"name? ")
    await client.login("Anna")
    assert origin(setup, "Anna") == network(source)


async def test_data_after_the_proxy_header_is_processed(serving: Serving) -> None:
    setup = await serving(**NAMED)
    client = await setup.connect()
    await client.send(header("192.0.2.1") + b"Anna\r\none\r\n")
    await client.until(b"echo one")
    page = await setup.connect_web()
    await page.send(header("192.0.2.1") + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await page.until(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("sent", [b"anna\r\n" * 10, b"\r\n\r\n", SIGNATURE + b"\x31" * 4])
async def test_trusted_proxy_without_a_header_is_disconnected(
    serving: Serving, sent: bytes
) -> None:
    setup = await serving(**NAMED)
    for client in (await setup.connect(), await setup.connect_web()):
        await client.send(sent)
        client.writer.write_eof()
        assert await left(client) == b""


async def left(client: Client) -> bytes:
    try:
        return await client.rest()
    except ConnectionError:
        return b""


async def test_untrusted_proxy_header_is_ignored(serving: Serving) -> None:
    setup = await serving(web={"port": 0}, proxies=["192.0.2.7"])
    client = await setup.connect()
    await client.send(header("192.0.2.1") + b"\r\nAnna\r\n")
    assert (await client.rest()).endswith(b"Goodbye!\r\n")  # the signature contains QUIT
    fields = {"X-Forwarded-For": "192.0.2.1"}
    async with browser(setup, "Bert", additional_headers=fields):
        assert origin(setup, "Bert") == HERE


async def test_connection_limits_apply_to_the_proxied_address(serving: Serving) -> None:
    setup = await serving(**NAMED, connections_per_address=1)
    for number, name in enumerate(["Anna", "Bert", "Carla"]):
        client = await setup.connect()
        await client.send(header(f"192.0.2.{number}"))
        await client.until(b"name? ")
        await client.login(name)
    again = await setup.connect()
    await again.send(header("192.0.2.1"))
    assert b"too many connections from your address" in await again.rest()
    client.writer.write_eof()
    await client.rest()
    again = await setup.connect()
    await again.send(header("192.0.2.2"))
    await again.until(b"name? ")


async def test_trusted_forwarder_determines_the_player_address(serving: Serving) -> None:
    setup = await serving(web={"port": 0, "forwarders": [HERE]}, connections_per_address=1)
    told = {"X-Forwarded-For": "198.51.100.1, 192.0.2.1"}
    other = {"X-Forwarded-For": "192.0.2.2", "X-Forwarded-Proto": "https"}
    [(host, port)] = setup.web_places
    async with (
        browser(setup, "Anna", additional_headers=told),
        browser(setup, "Bert", additional_headers=other, origin=f"https://{host}:{port}"),
    ):
        assert (origin(setup, "Anna"), origin(setup, "Bert")) == ("192.0.2.1", "192.0.2.2")
        with pytest.raises(Exception, match="503"):
            async with browser(setup, additional_headers=told):
                pass
        # The forwarder's own connections don't count against the limit per address.
        for _ in range(3):
            page = await setup.connect_web()
            request = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
            await page.send(request)
            await page.until(b"HTTP/1.1 200 OK")
    async with browser(setup, "Carla", additional_headers=told):
        pass


@pytest.mark.parametrize(
    ("web", "near", "far"),
    [
        ({"port": 0}, "http://127.0.0.1:{}/thudmud.mpackage", None),
        ({"port": 0, "host": "0.0.0.0"}, "http://localhost:{}/thudmud.mpackage", None),  # noqa: S104
        ({"port": 0, "proxies": [HERE]}, None, None),
        ({"port": 0, "public_url": "https://x.org"}, *["https://x.org/thudmud.mpackage"] * 2),
        (None, None, None),
    ],
)
async def test_mudlet_package_url_is_sent_if_reachable(
    serving: Serving, web: dict[str, object] | None, near: str | None, far: str | None
) -> None:
    setup = await serving(web=web, proxies=[HERE])
    for source, url in ((HERE, near), ("192.0.2.1", far)):
        client = await setup.connect()
        await client.send(header(source) + MUDLET)
        seen = await client.until(b"Core.Ping")
        found = re.search(rb"Client.GUI (\{.*?\})", seen)
        assert (found is not None) is (url is not None)
        if found and url:
            port = setup.web_places[0][1]
            assert json.loads(found[1]) == {"version": VERSION, "url": url.format(port)}
