"""HTTP: files, caching, link previews, malformed requests and rate limits."""

from __future__ import annotations

import asyncio
import html
import re
import struct
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import h11
import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from werkzeug.exceptions import BadRequest, HTTPException

from tests.conftest import PassTime
from tests.server.bots import until
from tests.server.plain import PATIENCE, Client, Serving
from tests.service.stores import do_instead
from tests.web.asked import ask
from thudmud.server.inbox import FairScheduler
from thudmud.store import StoreError, battles
from thudmud.web import connection, site
from thudmud.web.connection import FILE_PIECE, KEPT, MAX_HEAD
from thudmud.web.http import HttpRequest, read_request, require_strict_head
from thudmud.web.pictures import Preview
from thudmud.web.sharing import Linked, with_open_graph_tags
from thudmud.web.site import files

WEB = {"port": 0}
SPARSE = {"requests_at_once": 10, "requests_per_second": 1}
HEAD = b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
KEPT_ALIVE = b"keep-alive\r\n\r\n"
ELSEWHERE = "127.0.0.2"


async def answers(clients: Sequence[Client], most: int) -> list[int]:
    """Wait for a total number of answers to `HEAD`; return the count of each client."""
    counts = [0] * len(clients)

    async def count(number: int) -> None:
        while True:
            await clients[number].until(KEPT_ALIVE)
            counts[number] += 1
            if sum(counts) >= most:
                done.set()

    done = asyncio.Event()
    counting = [asyncio.create_task(count(number)) for number in range(len(clients))]
    async with asyncio.timeout(PATIENCE):
        await done.wait()
    for each in counting:
        each.cancel()
    await asyncio.gather(*counting, return_exceptions=True)
    return counts


def read(head: bytes) -> HttpRequest:
    """Parse a request head.

    Raises:
        HTTPException: the request is refused.
        h11.RemoteProtocolError: the head is malformed.
    """
    require_strict_head(head)
    http = h11.Connection(h11.SERVER)
    http.receive_data(head + b"\r\n\r\n")
    event = http.next_event()
    if not isinstance(event, h11.Request):
        raise h11.RemoteProtocolError("expected a whole request")
    return read_request(event, lambda: False)


@pytest.fixture
async def asking(serving: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """Return an HTTP client of a server."""
    [(host, port)] = (await serving(web=WEB)).web_places
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=PATIENCE) as client:
        yield client


async def test_page_and_its_files_are_served(asking: httpx.AsyncClient) -> None:
    page = await asking.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path, file in files().items():
        got = await asking.get(path)
        assert (got.status_code, got.content) == (200, file.body)
    assert {"/index.html"} < set(files())


async def test_icons_are_served(asking: httpx.AsyncClient) -> None:
    page = (await asking.get("/")).text
    manifest = (await asking.get("/thud.webmanifest")).json()
    linked = re.findall(r'<link rel="(?:icon|apple-touch-icon)" href="([^"]+)"', page)
    icons = {each["src"]: each for each in manifest["icons"]}
    for path in {"/favicon.ico", "/apple-touch-icon.png", *linked, *icons}:
        icon = await asking.get(path)
        assert icon.status_code == 200, path
        if path.endswith(".png"):
            assert icon.headers["content-type"] == "image/png"
            width, height = struct.unpack(">II", icon.content[16:24])
            assert icons.get(path, {}).get("sizes", "180x180") == f"{width}x{height}"
            assert len(icon.content) < 10_000
    purposes = {each["purpose"] for each in manifest["icons"] if each["sizes"] == "512x512"}
    assert purposes == {"any", "maskable"}


async def test_security_policy_allows_only_own_resources(
    asking: httpx.AsyncClient,
) -> None:
    for path in ("/", "/nowhere", "/ws"):
        headers = (await asking.get(path)).headers
        policy = headers.get("content-security-policy", "")
        assert path == "/ws" or policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert path == "/ws" or headers["x-content-type-options"] == "nosniff"
    for path in ("/", "/board/oak"):
        answer = await asking.get(path)
        policy = answer.headers["content-security-policy"]
        assert " style=" not in answer.text.partition("<body")[2].partition("<script")[0]
        for kind in ("script", "style"):
            for text in re.findall(f"<{kind}[^>]*>(.*?)</{kind}>", answer.text, re.DOTALL):
                digest = b64encode(sha256(text.encode()).digest()).decode()
                assert not text or f"'sha256-{digest}'" in policy


@pytest.mark.parametrize("path", ["/board/oak", "/?board=oak", "/board/Oak%20board", "/"])
async def test_links_open_the_page(asking: httpx.AsyncClient, path: str) -> None:
    page = (await asking.get(path)).text
    served = files()["/index.html" if path.startswith("/board") else "/start.html"].body.decode()
    assert page[page.index("<body") :] in served


def told_of(page: str) -> tuple[str, str]:
    """Return the title and description of a page's Open Graph tags."""
    title, description = re.findall(
        r'<meta property="og:(?:title|description)" content="(.*?)"', page, re.DOTALL
    )
    return html.unescape(title), html.unescape(description)


async def test_link_preview_describes_its_target(asking: httpx.AsyncClient) -> None:
    async def told(path: str) -> tuple[str, str]:
        return told_of((await asking.get(path)).text)

    title, description = await told("/")
    assert title == "The hall \N{EN DASH} Thud"
    assert "the board game of dwarfs and trolls" in description
    for path in ("/board/oak", "/board/Oak%20Board"):
        title, description = await told(path)
        assert title == "Oak board \N{EN DASH} Thud"
        assert description == "Oak board (discworld rules): both seats free."
    assert (await told("/lesson/1"))[0].startswith("Lesson 1 of 7: ")
    title, description = await told("/puzzle/1")
    assert title == "Puzzle 1 \N{EN DASH} Thud"
    assert description.startswith("The dwarfs move, under discworld rules. ")
    for path in ("/lessons", "/tv"):
        assert await told(path) == await told("/")


async def test_battle_link_waits_for_the_store(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    setup = await serving(web=WEB)
    found: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def battle(_: int) -> None:
        await found

    do_instead(monkeypatch, setup.sessions.store, battles.battle, battle)
    waiting, gone = await setup.connect_web(), await setup.connect_web()
    for client in (waiting, gone):
        await client.send(
            b"GET /game/1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
        )
    other = await setup.connect_web()
    await other.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    await other.until(b"keep-alive\r\n\r\n")  # other requests don't wait
    assert waiting.unread == b""
    await gone.close()
    found.set_exception(StoreError("The disk is gone."))
    await waiting.until(files()["/index.html"].body)
    await waiting.until(b"keep-alive\r\n\r\n")
    assert "The disk is gone." in caplog.text


WORDS = st.text(st.characters(exclude_categories=["Cs"]))
HOSTILE = [
    '"><script>alert(1)</script>',
    "' onload=alert(1) '",
    "</title><img src=x>",
    "&quot;><b>",
]


@pytest.mark.parametrize("words", HOSTILE)
async def test_hostile_link_path_is_not_inserted_into_the_page(
    asking: httpx.AsyncClient, words: str
) -> None:
    for kind in ("board", "game"):
        for path in (quote(words, safe=""), quote(f"oak{words}", safe=""), f"1{quote(words)}"):
            page = await asking.get(f"/{kind}/{path}")
            assert page.status_code == 404 or page.content == files()["/index.html"].body


@given(WORDS, WORDS)
def test_preview_text_is_escaped(title: str, description: str) -> None:
    """Must hold for any names of boards and players."""
    preview = Preview(title, description)
    pages = [
        with_open_graph_tags(
            files()["/index.html"].body, shared, "https://x.example", may_embed=True
        ).decode()
        for shared in (
            Linked("/board/oak", preview),
            Linked("/board/oak", Preview("Oak", "A board.")),
        )
    ]
    assert told_of(pages[0]) == (f"{title} \N{EN DASH} Thud", description)
    for letter in '<>"':
        assert pages[0].count(letter) == pages[1].count(letter)


NOTHING = [
    ("GET", "/nowhere", 404),
    ("GET", "/board/", 404),
    ("GET", "/board/oak/more", 404),
    ("GET", "/tournament/x", 404),
    ("GET", "/../pyproject.toml", 404),
    ("GET", "/%2e%2e/connection.py", 404),
    ("GET", "//etc/passwd", 404),
    ("HEAD", "/nowhere", 404),
    ("POST", "/", 405),
    ("DELETE", "/main.js", 405),
    ("OPTIONS", "/", 405),
    ("GET", "/ws", 426),
    ("POST", "/ws", 405),
]


async def test_missing_paths_and_methods_are_refused(asking: httpx.AsyncClient) -> None:
    for method, path, status in NOTHING:
        got = await asking.request(method, path)
        assert got.status_code == status, (method, path)
        if status == 405:
            assert got.headers["allow"] == "GET, HEAD"


NO_PAGES = {
    "/nowhere": "nothing at this address",
    "/board/nowhere": "no such board",
    "/game/9999": "no such battle",
    "/game/abc": "no such battle",
    "/game/9999999999999": "no such battle",
    "/tournament/99": "no such tournament",
    "/tournament/x": "no such tournament",
    "/lesson/8": "no such lesson",
    "/lesson/x": "no such lesson",
    "/puzzle/0": "no such puzzle",
    "/puzzle/1000": "no such puzzle",
}


async def test_missing_page_links_to_the_start_page(asking: httpx.AsyncClient) -> None:
    for path, words in NO_PAGES.items():
        got = await asking.get(path)
        assert (got.status_code, got.headers["cache-control"]) == (404, "no-store"), path
        assert got.headers["content-type"] == "text/html; charset=utf-8"
        assert words in got.text
        assert '<a class="button" href="/">' in got.text
        assert ("<a href='/'>" in got.text) is path.startswith(("/board", "/game", "/tournament"))
        for sheet in re.findall(r'<link rel="stylesheet" href="(.*?)">', got.text):
            assert (await asking.get(sheet)).status_code == 200
    assert (await asking.get("/nowhere.png")).text == "Page not found. The game is at /.\n"


async def test_frame_is_unavailable_while_the_store_is_down(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(number: int) -> None:
        raise StoreError("The disk is gone.")

    setup = await serving(web=WEB)
    monkeypatch.setattr(setup.sessions, "battle_preview", fail)
    [(host, port)] = setup.web_places
    base = f"http://{host}:{port}"
    async with httpx.AsyncClient(base_url=base, timeout=PATIENCE) as client:
        for path in ("/embed/game/1", f"/oembed?url={base}/game/1"):
            assert (await client.get(path)).status_code == 503


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/board/oak/", "/board/oak"),
        ("/board/oak%20board/", "/board/oak%20board"),
        ("/game/1/?ply=3", "/game/1?ply=3"),
        ("/tournament/1/", "/tournament/1"),
    ],
)
async def test_slash_at_the_end_of_a_link_is_redirected(
    asking: httpx.AsyncClient, path: str, target: str
) -> None:
    got = await asking.get(path)
    assert (got.status_code, got.headers["location"]) == (308, target)


@pytest.mark.parametrize("path", ["/board/", "//example.org/", "/nowhere/", "/board/oak//"])
def test_slash_at_the_end_of_no_link_is_not_found(path: str) -> None:
    assert ask(path).status_code == 404


async def test_unchanged_page_is_answered_with_304(asking: httpx.AsyncClient) -> None:
    first = await asking.get("/")
    assert first.headers["cache-control"] == "no-cache"
    again = await asking.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await asking.get("/", headers={"If-None-Match": '"other"'})
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("known", "status"),
    [
        ("*", 304),
        ("W/{}", 304),
        ("{}", 304),
        ('"a", W/{}', 304),
        ('W/"a,b",{}', 304),
        ('"x{}"', 200),
        ("", 200),
        ('"*"', 200),
    ],
)
async def test_entity_tag_list_is_compared_weakly(
    asking: httpx.AsyncClient, known: str, status: int
) -> None:
    tag = files()["/board.js"].tag.removeprefix("W/")
    asked = {"If-None-Match": known.format(tag)}
    assert (await asking.get("/board.js", headers=asked)).status_code == status


async def test_response_304_has_the_header_fields_but_no_length(
    asking: httpx.AsyncClient,
) -> None:
    for path in ("/", "/board.js", "/board/oak"):
        whole = await asking.get(path)
        again = await asking.get(path, headers={"If-None-Match": whole.headers["etag"]})
        assert again.status_code == 304
        assert "content-length" not in again.headers
        for name in ("cache-control", "etag", "vary"):
            assert again.headers[name] == whole.headers[name]


async def test_answers_have_a_date(asking: httpx.AsyncClient) -> None:
    for path in ("/", "/nowhere", "/ws", "/game/1.thud", "/metrics"):
        told = parsedate_to_datetime((await asking.get(path)).headers["date"])
        assert abs(datetime.now(UTC) - told) < timedelta(minutes=5)


async def test_options_asterisk_is_answered_with_204(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    await client.send(b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + HEAD.replace(b"1.1", b"1.2"))
    told = await client.until(KEPT_ALIVE)
    assert b"HTTP/1.1 204 No Content\r\n" in told
    assert b"content-length" not in told.lower(), "RFC 9110, section 8.6: none with 204"
    assert b"\ncontent-type" not in told.lower(), "there is no content"
    assert b"HTTP/1.1 200 OK\r\n" in await client.until(KEPT_ALIVE)


@pytest.mark.parametrize(
    "behind", [b"x" * 200_000, b"\r\nContent-Length: 99999\r\n\r\n" + b"x" * 90_000]
)
async def test_refused_client_still_sending_receives_the_error(
    serving: Serving, behind: bytes
) -> None:
    client = await (await serving(web=WEB)).connect_web()
    await client.send(b"POST / HTTP/1.1\r\nHost: x" + behind)
    assert (await client.rest())[:13] in {b"HTTP/1.1 431 ", b"HTTP/1.1 405 "}
    await client.send(b"x")  # must not cause a reset


async def test_invalid_websocket_handshake_is_answered_with_426(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    for fields in (b"", b"Upgrade: h2c\r\nConnection: Upgrade\r\n"):
        await client.send(b"GET /ws HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n")
        told = await client.until(KEPT_ALIVE)
        assert b"HTTP/1.1 426 Upgrade Required" in told
        assert b"Upgrade: websocket\r\n" in told
        assert b"Sec-WebSocket-Version: 13\r\n" in told
    await client.send(
        b"GET /ws HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: gmcp.mudstandards.org\r\n\r\n"
    )
    assert b"HTTP/1.1 426 Upgrade Required" in await client.rest()


async def test_page_resources_are_immutable(asking: httpx.AsyncClient) -> None:
    page = (await asking.get("/board/oak")).text
    loaded = re.findall(r'<(?:link|script)\b[^>]*(?:src|href)="(/[^"]*)"', page)
    folders = {path.rpartition("/")[0] for path in loaded if "webmanifest" not in path}
    [folder] = folders
    assert re.fullmatch("/[0-9a-f]{12}", folder)
    for path in loaded:
        got = await asking.get(path)
        assert got.status_code == 200
        is_lasting = got.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert is_lasting is path.startswith(folder)
        name = path.removeprefix(folder)
        assert (await asking.get(name)).headers["cache-control"] == "no-cache"
    assert (await asking.get(f"/000000000000{name}")).status_code == 404


async def test_empty_line_before_a_request_is_skipped(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    for opening in (b"\r\n", b"\r\n"):
        await client.send(opening[:1])
        await client.send(opening[1:] + b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP/1.1 200" in await client.until(KEPT_ALIVE)


@pytest.mark.parametrize(
    ("target", "path", "query", "host"),
    [
        ("http://thud.example/", "/", "", "thud.example"),
        ("HTTPS://thud.example:8/game/1?ply=2", "/game/1", "ply=2", "thud.example:8"),
        ("http://thud.example", "/", "", "thud.example"),
        ("http://thud.example?a=b", "/", "a=b", "thud.example"),
        ("/http://thud.example/", "/http://thud.example/", "", "x"),
        ("//thud.example/a%20b?c=%20", "/thud.example/a b", "c=%20", "x"),
    ],
)
def test_absolute_request_target_gives_path_and_host(
    target: str, path: str, query: str, host: str
) -> None:
    request = read(f"GET {target} HTTP/1.1\r\nHost: x".encode())
    assert (request.path, request.query_string.decode()) == (path, query)
    assert request.fields["host"] == host


async def test_gzip_is_used_if_accepted(asking: httpx.AsyncClient) -> None:
    sizes, pages = [], []
    for encoding in ("gzip, br", "identity", "gzip;q=0", "*;q=0.1, gzip;q=0.0"):
        answer = await asking.get("/board.js", headers={"Accept-Encoding": encoding})
        assert answer.headers["vary"] == "Accept-Encoding"
        sizes.append(int(answer.headers["content-length"]))
        pages.append(answer.text)
        assert ("content-encoding" in answer.headers) is (encoding == "gzip, br")
    assert sizes[0] < sizes[1] / 2
    assert len(set(pages)) == 1


async def test_head_has_the_headers_of_get_without_a_body(asking: httpx.AsyncClient) -> None:
    whole, head = await asking.get("/"), await asking.head("/")
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


async def test_pipelined_requests_are_answered_in_order(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    request = "GET {} HTTP/1.1\r\nHost: x\r\n\r\n"
    asked = "".join(map(request.format, ["/", "/nowhere", "/game/1", "/main.js"])).encode()
    for byte in range(0, len(asked), 7):
        await client.send(asked[byte : byte + 7])
    await client.until(b"HTTP/1.1 200 OK")
    await client.until(files()["/start.html"].body)
    await client.until(b"HTTP/1.1 404 Not Found")
    await client.until(b"no such battle")  # which waits for the store
    await client.until(files()["/main.js"].body)


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
async def test_connection_is_closed_after_the_response_if_required(
    serving: Serving, asked: bytes
) -> None:
    client = await (await serving(web=WEB)).connect_web()
    await client.send(asked)
    got = await client.rest()
    assert got.startswith(b"HTTP/1.1 200 OK")
    assert b"Connection: close" in got
    assert got.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"anna\r\n\r\n", 400),
        (b"\xff\xfd\x18\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET page HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET http://me@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 47\r\nContent-Length: 0\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +47\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4_7\r\n\r\n", 400),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
        ),
        (b"G" * (MAX_HEAD + 1), 431),
    ],
)
async def test_malformed_requests_are_refused(serving: Serving, sent: bytes, status: int) -> None:
    client = await (await serving(web=WEB)).connect_web()
    await client.send(sent)
    assert (await client.rest()).startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize(
    ("fault", "status"),
    [(b"", 200), (b"X: a\nb\r\n", 400), (b"X: a\rb\r\n", 400), (b" x\r\n", 400)],
)
async def test_head_in_single_bytes_is_checked_once(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, fault: bytes, status: int
) -> None:
    sizes: list[int] = []
    refused = False

    def check(received: bytes) -> None:
        nonlocal refused
        sizes.append(len(received))
        refused = True
        require_strict_head(received)
        refused = False

    def is_checked(number: int) -> bool:
        return len(sizes) == number

    monkeypatch.setattr(connection, "require_strict_head", check)
    client = await (await serving(web=WEB)).connect_web()
    head = b"HEAD / HTTP/1.1\r\nHost: x\r\n" + fault + b"Connection: close\r\n\r\n"
    for number, byte in enumerate(head, 1):
        await client.send(bytes([byte]))
        await until(partial(is_checked, number))
        if refused:
            break
    assert (await client.rest()).startswith(b"HTTP/1.1 %d " % status)
    assert max(sizes) <= 4


@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t"])
def test_header_value_of_blanks_is_parsed_in_linear_time(blank: bytes) -> None:
    """8,000 blanks before a NUL took minutes when a regex could split them in three places."""
    head, blanks = b"GET / HTTP/1.1\r\nHost: x\r\nX:", blank * 8000
    with pytest.raises(BadRequest):
        read(head + blanks + b"\0")
    request = read(head + blanks + b"a" + blanks + b"b" + blanks)
    assert request.fields["x"] == f"a{blanks.decode()}b"


async def test_pipelined_requests_are_answered_one_per_turn(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    await client.send(HEAD * 100)
    for _ in range(100):
        await client.until(KEPT_ALIVE)
    counting.cancel()
    assert turns >= 100


async def test_requests_before_a_half_close_are_all_answered(serving: Serving) -> None:
    client = await (await serving(web=WEB)).connect_web()
    await client.send(HEAD * 20)
    client.writer.write_eof()
    assert (await client.rest()).count(KEPT_ALIVE) == 20


async def test_forwarded_requests_count_against_their_clients(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(web=WEB | SPARSE | {"forwarders": ["127.0.0.1"]})
    first, second = [await setup.connect_web() for _ in range(2)]

    async def ask(connection: Client, address: str) -> bytes:
        await connection.send(HEAD[:-2] + f"X-Forwarded-For: {address}\r\n\r\n".encode())
        return await connection.until(b"\r\n\r\n")

    for _ in range(10):
        assert b" 200 " in await ask(first, "192.0.2.1")
    asking = [asyncio.create_task(ask(each, "192.0.2.1")) for each in (first, second)]
    # One waits for a second; the other would have to wait for two.
    [refused], [waiting] = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    assert b" 429 " in refused.result()
    assert re.search(rb"Retry-After: [2-9]\r\n", refused.result())  # a busy machine charges more
    assert b" 200 " in await ask([first, second][asking.index(refused)], "192.0.2.2")
    await pass_time(9)
    assert b" 200 " in await waiting


async def test_forwarder_connections_do_not_use_up_the_accept_rate(serving: Serving) -> None:
    setup = await serving(
        web=WEB | {"forwarders": ["127.0.0.1"]}, accepts_per_second=1, accepts_at_once=4
    )
    for _ in range(20):
        page = await setup.connect_web()
        await page.send(HEAD[:-2] + b"X-Forwarded-For: 192.0.2.1\r\n\r\n")
        assert b" 200 " in await page.until(b"\r\n\r\n")
    await (await setup.connect()).until(b"name? ")


@pytest.mark.parametrize(("forwarders", "count"), [([], 2), (["127.0.0.0/8"], 3)])
async def test_unforwarded_connections_share_the_turns_of_their_address(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, forwarders: list[str], count: int
) -> None:
    sources, wait = set[str](), FairScheduler.schedule

    def noted(queue: FairScheduler, source: str, *given: Any, **named: Any) -> None:
        sources.add(source)
        wait(queue, source, *given, **named)

    monkeypatch.setattr(FairScheduler, "schedule", noted)
    setup = await serving(web=WEB | {"forwarders": forwarders})
    for here in ("127.0.0.2", "127.0.0.2", "127.0.0.3"):
        page = await setup.connect_web(source=here)
        await page.send(HEAD[:-2] + b"X-Forwarded-For: 192.0.2.1\r\n\r\n")
        await page.until(b" 200 ")
    assert len(sources) == count


async def test_link_page_is_hashed_and_compressed_once_for_all_hosts(
    asking: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asking.get("/board/oak")
    hashed = list[int]()

    def hash_counted(data: bytes) -> object:
        hashed.append(len(data))
        return sha256(data)

    monkeypatch.setattr(site, "sha256", hash_counted)
    monkeypatch.setattr(site, "_packed", None)
    tags = set()
    for number in range(5):
        got = await asking.get("/board/oak", headers={"Host": f"{number}.example"})
        assert f"http://{number}.example/board/" in got.text
        again = {"Host": f"{number}.example", "If-None-Match": got.headers["etag"]}
        assert (await asking.get("/board/oak", headers=again)).status_code == 304
        tags.add(got.headers["etag"])
    assert len(tags) == 5
    assert max(hashed) < 1000


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: 47\r\nContent-Length: 0\r\n",
        "Content-Length: 47\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 47\r\nTransfer-Encoding: chunked\t\r\n",
        "Content-Length: +47\r\n",
        "Content-Length: 4_7\r\n",
        "Transfer-Encoding : chunked\r\n",
        "tRANSFER-ENCODING: chunked\r\n",
    ],
)
async def test_smuggled_request_in_a_body_is_not_answered(serving: Serving, framing: str) -> None:
    client = await (await serving(web=WEB)).connect_web()
    hidden = "GET /board.js HTTP/1.1\r\nHost: x\r\n\r\n"
    await client.send(f"GET / HTTP/1.1\r\nHost: x\r\n{framing}\r\n{hidden}".encode())
    told = await client.rest()
    assert len(re.findall(rb"HTTP/1\.1 [0-9]{3} ", told)) == 1


async def test_websocket_handshake_with_a_body_is_refused(asking: httpx.AsyncClient) -> None:
    for body in ({"content": b"abc"}, {"headers": {"Transfer-Encoding": "chunked"}}):
        got = await asking.request("GET", "/ws", **body)
        assert got.status_code == 400
        assert "without a body" in got.text


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_arbitrary_request_heads_never_raise(head: bytes) -> None:
    for each in (head, b"GET / HTTP/1.1\r\nHost: x\r\n" + head):
        with suppress(h11.RemoteProtocolError, HTTPException):
            request = read(each)
            assert ask(request.path, fields=request.fields).status_code in {200, 304, 404, 405}


@given(st.text(st.characters(blacklist_categories=["Cs"])))
@example("embed")
@example("../config.toml")
def test_arbitrary_paths_stay_within_the_served_files(path: str) -> None:
    if f"/{path.lstrip('/')}" == "/ws":
        return
    got = ask(path).body
    known = {each.body for each in files().values()}
    assert got in known or b"Page not found" in got or b"nothing to embed here" in got


async def test_connection_without_a_request_is_cut_off(
    serving: Serving, pass_time: PassTime
) -> None:
    setup = await serving(web=WEB | {"patience": 20})
    silent, slow = await setup.connect_web(), await setup.connect_web()
    await slow.send(b"GET / HTTP/1.1\r\n")
    await pass_time(21)
    assert [await each.rest() for each in (silent, slow)] == [b"", b""]


async def test_idle_kept_alive_connection_is_cut_off(serving: Serving, pass_time: PassTime) -> None:
    client = await (await serving(web=WEB)).connect_web()
    for _ in range(2):
        await client.send(b"GET /icon.svg HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.until(b"</svg>")
    await pass_time(KEPT + 1)
    assert (await client.rest()).strip() == b""


async def test_requests_over_the_rate_are_delayed(serving: Serving, pass_time: PassTime) -> None:
    setup = await serving(web=WEB | SPARSE)
    clients = [await setup.connect_web() for _ in range(2)]
    for client in clients:
        await client.send(HEAD * 6)
    for client, count in zip(clients, await answers(clients, 10), strict=True):
        assert count <= 6
        assert client.unread == b""
    other = await setup.connect_web(source=ELSEWHERE)
    await other.send(HEAD)
    await other.until(KEPT_ALIVE)
    await pass_time(2.1)
    assert sum(await answers(clients, 2)) == 2


async def test_large_files_count_as_several_requests(serving: Serving, pass_time: PassTime) -> None:
    setup = await serving(web=WEB | SPARSE)
    client = await setup.connect_web()
    body = files()["/thud-game.js"].body
    cost = 1 + len(body) // FILE_PIECE
    await client.send(b"GET /thud-game.js HTTP/1.1\r\nHost: x\r\n\r\n" * 12)
    for _ in range(-(-10 // cost)):
        await client.until(body)
    other = await setup.connect_web(source=ELSEWHERE)
    await other.send(HEAD)
    await other.until(KEPT_ALIVE)
    assert client.unread == b""
    await pass_time(2 * cost)
    await client.until(body)


async def test_client_not_reading_responses_is_throttled(serving: Serving) -> None:
    setup = await serving(web=WEB | {"requests_at_once": 1_000_000})
    client = await setup.connect_web()
    client.stop_reading()
    request = b"GET /main.js HTTP/1.1\r\nHost: x\r\n\r\n"
    sending = asyncio.create_task(client.send(request * 500_000))
    other = await setup.connect_web()
    for _ in range(100):
        await other.send(HEAD)
        await other.until(KEPT_ALIVE)
    assert not sending.done()  # otherwise all requests would have been read
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending


async def test_connection_over_the_cap_is_answered_with_503(serving: Serving) -> None:
    setup = await serving(web=WEB, connections_per_address=1)
    first = await setup.connect_web()
    got = await (await setup.connect_web()).rest()
    assert got.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"Retry-After: 60" in got
    assert b"too many connections from your address" in got
    await first.close()
