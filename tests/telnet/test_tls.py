"""TLS on its own port, and clients that connect to the wrong one."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from tests.conftest import NO_WEB, FreePort
from tests.server.plain import PATIENCE, Client, Serving
from tests.telnet.test_intake import last_words
from thudmud.errors import StartError
from thudmud.server.acceptor import (
    FAREWELL,
    Acceptor,
    ConnectionCapacity,
    ConnectionLimiter,
    IncomingConnection,
)
from thudmud.server.config import ServerSettings, Settings, StorageSettings
from thudmud.server.runtime import open_sessions
from thudmud.telnet import tls

AUTHORITY = trustme.CA()

Secure = Callable[..., Awaitable[Acceptor]]


@pytest.fixture
async def secure(tmp_path: Path, free_port: FreePort) -> AsyncIterator[Secure]:
    """Start servers with TLS on a port: ``await secure(connections=5)``."""
    pem = tmp_path / "both.pem"
    AUTHORITY.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    async with AsyncExitStack() as stack:

        async def start(**changed: object) -> Acceptor:
            given = {"port": 0, "tls_port": free_port(), "tls_certificate": "both.pem"}
            settings = Settings(
                server=ServerSettings.model_validate(given | {"shutdown_grace": 0.2} | changed),
                storage=StorageSettings(backend="memory"),
                web=NO_WEB,
            )
            server = Acceptor(settings, tmp_path)
            await server.bind()
            sessions = await stack.enter_async_context(open_sessions(settings, tmp_path))
            await server.start(sessions)
            stack.push_async_callback(server.stop)
            return server

        yield start


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


async def connected(server: Acceptor, context: ssl.SSLContext | None = None) -> Client:
    async with asyncio.timeout(PATIENCE):
        host, port = server.tls_places[0]
        return Client(*await asyncio.open_connection(host, port, ssl=context))


async def test_session_over_tls(secure: Secure) -> None:
    client = await connected(await secure(), trusting())
    await client.until(b"name? ")
    await client.send(b"anna\r\n")
    await client.until(b"You come into the hall.")
    await client.send(b"quit\r\n")
    assert (await client.rest()).endswith(b"Goodbye!\r\n")
    await client.close()


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        (b"anna\r\n", b"You come into the hall."),
        (b"\xff\xfc\x1fanna\r\nlook\r\n", b"You come into the hall."),
        (b"\xff\xf6", b"Yes, thudmud is here."),
        (b"\xff\xf1" * 2000 + b"anna\r\n", b"You come into the hall."),
        (b"GET / HTTP/1.1\r\n", b"on another port."),
        (b"x" * 100_000 + b"\r\n", b"so it was ignored"),
    ],
    ids=lambda value: repr(value[:20]),
)
async def test_data_sent_with_the_end_of_the_handshake_is_processed(
    secure: Secure, caplog: pytest.LogCaptureFixture, first: bytes, answer: bytes
) -> None:
    host, port = (await secure()).tls_places[0]
    reader, writer = await asyncio.open_connection(host, port)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting().wrap_bio(into, out, server_hostname="127.0.0.1")
    seen = b""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                writer.write(out.read())
                into.write(await reader.read(65536))
        client.write(first)
        writer.write(out.read())  # the end of the handshake together with the first data
        while answer not in seen:
            try:
                seen += client.read(65536)
            except ssl.SSLWantReadError:
                data = await reader.read(65536)
                assert data, seen
                into.write(data)
    writer.transport.abort()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_connection_without_handshake_counts_against_the_limit(secure: Secure) -> None:
    server = await secure(connections_per_address=3, accepts_per_second=1000, accepts_at_once=1000)
    silent = [await connected(server) for _ in range(3)]
    fourth = await connected(server)
    assert await fourth.rest() == b""
    await silent[0].send(b"GET / HTTP/1.1\r\n\r\n")
    await last_words(silent[0])
    # Failed handshake: the slot is free again.
    client = await connected(server, trusting())
    await client.until(b"name? ")
    for each in (*silent, fourth, client):
        await each.close()


async def test_client_with_unread_input_receives_the_farewell(secure: Secure) -> None:
    server = await secure(commands_per_second=1, commands_at_once=10, shutdown_grace=1.0)
    client = await connected(server, trusting())
    await client.until(b"name? ")
    client.writer.write(b"anna\r\n" + b"look\r\n" * 10_000)
    await client.until(b"You come into the hall.")
    told = asyncio.create_task(client.rest())
    async with asyncio.timeout(PATIENCE):
        await server.stop()
    assert (await told).endswith(f"{FAREWELL}\r\n".encode())
    await client.close()


@pytest.mark.parametrize(
    "sent", [b"", b"\x16", b"\x16\x03\x01\x01\0\x01", b"GET / HTTP/1.1\r\n\r\n"]
)
async def test_disconnect_before_the_handshake_logs_no_warning(
    secure: Secure, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    server = await secure(connections_per_address=1, accepts_per_second=1000, accepts_at_once=1000)
    gone = await connected(server)
    await gone.send(sent)
    gone.writer.write_eof()
    assert await last_words(gone) == b""
    await gone.close()
    client = await connected(server, trusting())
    await client.until(b"name? ")
    await client.close()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_fragmented_client_hello_is_accepted(secure: Secure) -> None:
    host, port = (await secure()).tls_places[0]
    reader, writer = await asyncio.open_connection(host, port)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting().wrap_bio(into, out, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    hello = out.read()
    link = writer.get_extra_info("socket")
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(len(hello)):
        writer.write(hello[at : at + 1])
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        assert (await reader.read(1)) == b"\x16"  # a handshake record
    writer.transport.abort()


class OutOfFiles(asyncio.Transport):
    """A connection in a process that has reached its limit of open files."""

    aborted = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return {"peername": ("192.0.2.1", 4000), "socket": self}.get(name, default)

    def dup(self) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    def abort(self) -> None:
        self.aborted = True


def test_connection_failing_on_setup_releases_its_slot(caplog: pytest.LogCaptureFixture) -> None:
    limiter = ConnectionLimiter(ServerSettings(connections_per_address=1), ConnectionCapacity(1000))
    transport = OutOfFiles()

    async def come() -> None:
        incoming = IncomingConnection(limiter, lambda _: asyncio.BufferedProtocol(), trusting())
        incoming.connection_made(transport)
        assert limiter.acquire("192.0.2.1", asyncio.get_running_loop().time()) is None

    asyncio.run(come())
    assert transport.aborted
    assert caplog.records[0].__dict__["why"] == "[Errno 24] Too many open files"


async def test_tls_hello_on_the_plain_port_is_explained(serving: Serving) -> None:
    client = await (await serving()).connect()
    await client.until(b"name? ")
    await client.send(b"\x16\x03\x01\x02\x00\x01\x00")
    assert b"This port speaks plain telnet, not TLS." in await client.rest()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "server.tls_certificate: cannot read .*: no such file"),
        (b"rubbish", "server.tls_certificate: .* contains no certificate in PEM format"),
    ],
)
async def test_unusable_certificate_is_reported(
    tmp_path: Path, free_port: FreePort, text: bytes | None, problem: str
) -> None:
    if text is not None:
        (tmp_path / "c.pem").write_bytes(text)
    settings = ServerSettings(port=0, tls_port=free_port(), tls_certificate="c.pem")
    with pytest.raises(StartError, match=problem):
        await Acceptor(Settings(server=settings, web=NO_WEB), tmp_path).bind()


# The certificate in use.


def issued(folder: Path, end: datetime) -> Path:
    """Write a certificate for two names."""
    path = folder / "tls.pem"
    certificate = AUTHORITY.issue_cert("thud.example.org", "192.0.2.1", not_after=end)
    certificate.private_key_and_cert_chain_pem.write_to_path(path)
    return path


@pytest.mark.parametrize("year", [2020, 2070])
def test_certificate_in_use_is_described(tmp_path: Path, year: int) -> None:
    end = datetime(year, 5, 6, 7, 8, 9, tzinfo=UTC)
    path = issued(tmp_path, end)
    certificate = tls.served_certificate(tls.context(path, None), path)
    assert certificate is not None
    assert certificate.end == end.timestamp()
    assert certificate.begin < certificate.end
    assert set(certificate.names) == {"thud.example.org", "192.0.2.1"}


def test_certificate_in_a_replaced_file_is_not_the_one_in_use(tmp_path: Path) -> None:
    end = datetime(2070, 1, 1, tzinfo=UTC)
    path = issued(tmp_path, end)
    context = tls.context(path, None)
    issued(tmp_path, end)
    assert tls.served_certificate(context, path) is None
    path.unlink()
    assert tls.served_certificate(context, path) is None
