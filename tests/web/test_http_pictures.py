"""Pictures over HTTP: formats, caching, refusals and overload."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from collections.abc import AsyncIterator, Awaitable
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.game.annals import CAPTURE, LONGER, NOON, TROLLS, Annals
from tests.rules.shorthand import to_and_fro
from tests.server.plain import PATIENCE, Serving, Setup
from tests.web.asked import ask
from thudmud.errors import InvalidValueError
from thudmud.game.clocks import TimeControl
from thudmud.game.events import Commented
from thudmud.game.projections import HALL
from thudmud.pictures import SCHEMES, frame
from thudmud.pictures.drawing import Still
from thudmud.rules import DISCWORLD, MOST_PLIES, Ending, Game, read_record
from thudmud.server import drawing, drawing_queue, gallery
from thudmud.server.drawing import DrawingProcess, Job, render
from thudmud.server.drawing_queue import DrawingQueue
from thudmud.server.pages import Pages
from thudmud.store import accounts
from thudmud.store.lookups import FoldedGames
from thudmud.web.pictures import Absence, PictureRequest, read_picture_request

PROXY = "127.0.0.5"
WEB = {"port": 0, "requests_at_once": 100_000, "forwarders": [PROXY]}
GAME = Game.start(DISCWORLD).play(CAPTURE[0]).play(CAPTURE[1])


class Asking:
    """A server with a finished battle, and HTTP clients for it."""

    def __init__(
        self, setup: Setup, client: httpx.AsyncClient, forwarder: httpx.AsyncClient
    ) -> None:
        self.setup, self.client, self._forwarder = setup, client, forwarder
        self.annals = Annals()
        self._stored = 0

    async def store(self) -> None:
        """Store the events since the last call."""
        for stream, event in self.annals.log[self._stored :]:
            version = await self.setup.service.store.version(stream)
            await self.setup.service.store.append({stream: (version, [event])})
        self._stored = len(self.annals.log)

    async def get(self, path: str, tag: str = "", *, source: str = "") -> httpx.Response:
        """Request a path with an entity tag, or from a forwarded source address."""
        if source:
            return await self._forwarder.get(path, headers={"X-Forwarded-For": source})
        return await self.client.get(path, headers={"If-None-Match": tag} if tag else {})


@pytest.fixture
async def asking(serving: Serving) -> AsyncIterator[Asking]:
    setup = await serving(web=WEB)
    [(host, port)] = setup.web_places
    url, proxy = f"http://{host}:{port}", httpx.AsyncHTTPTransport(local_address=PROXY)
    async with (
        httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE, transport=proxy) as forwarder,
    ):
        asking = Asking(setup, client, forwarder)
        asking.annals.begin(time=TimeControl(10, 5))
        asking.annals.play(CAPTURE)
        asking.annals.end(TROLLS, count=2)
        await asking.store()
        yield asking


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Return a list that records drawing jobs."""
    jobs: list[Job] = []
    draw = DrawingProcess.draw

    async def noted(studio: DrawingProcess, job: Job) -> bytes:
        jobs.append(job)
        return await draw(studio, job)

    monkeypatch.setattr(DrawingProcess, "draw", noted)
    return jobs


class Drawing:
    """A fake drawing process whose pictures wait for `may_go_on`.

    Attributes:
        kinds: the affected formats; others are drawn normally.
        plies: the number of plies of each GIF begun.
        asked: an item for each picture requested.
    """

    def __init__(self) -> None:
        self.begun, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.kinds = {"svg", "png", "gif", "thud"}
        self.plies: list[int] = []
        self.asked: asyncio.Queue[None] = asyncio.Queue()

    async def draw(self, job: Job) -> bytes:
        if isinstance(job.subject, Game):
            self.plies.append(len(job.subject.moves))
        self.begun.set()
        await self.may_go_on.wait()
        return b"drawn"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Drawing:
    """Hold back all pictures; return the handle to release them."""
    held = Drawing()
    draw, ask = DrawingProcess.draw, DrawingQueue.draw

    def drawn(studio: DrawingProcess, job: Job) -> Awaitable[bytes]:
        return held.draw(job) if job.kind in held.kinds else draw(studio, job)

    def asked(queue: DrawingQueue, *words: Any) -> Awaitable[bytes]:
        held.asked.put_nowait(None)
        return ask(queue, *words)

    monkeypatch.setattr(DrawingProcess, "draw", drawn)
    monkeypatch.setattr(DrawingQueue, "draw", asked)
    return held


async def test_finished_battle_is_drawn_in_all_formats(asking: Asking) -> None:
    svg, png, gif = [await asking.get(f"/game/1.{kind}") for kind in ("svg", "png", "gif")]
    assert svg.text == frame(GAME)
    assert Image.open(BytesIO(png.content)).size == (640, 640)
    assert getattr(Image.open(BytesIO(gif.content)), "n_frames", 1) == 3
    for each, kind in ((svg, "svg+xml"), (png, "png"), (gif, "gif")):
        assert each.headers["content-type"] == f"image/{kind}"
        assert each.headers["cache-control"] == "public, max-age=86400"
        assert each.headers["access-control-allow-origin"] == "*"
        assert "set-cookie" not in each.headers
    assert len({each.headers["etag"] for each in (svg, png, gif)}) == 3
    head = await asking.client.head("/game/1.png")
    assert (head.content, head.headers["content-length"]) == (b"", str(len(png.content)))


async def test_battle_record_download(asking: Asking) -> None:
    got = await asking.get("/game/1.thud")
    record = read_record(got.text)
    assert (record.game.moves, record.game.outcome) == (CAPTURE, TROLLS)
    assert (record.dwarf, record.troll, record.clock) == ("Anna", "Bert", "10+5")
    assert len(record.spent) == 2
    assert got.headers["cache-control"] == "no-cache"
    comment = Commented(NOON, "Anna", *asking.annals.battle(1).id, 1, "oops")
    store = asking.setup.service.store
    await store.append({HALL: (await store.version(HALL), [comment])})
    said = await asking.get("/game/1.thud", got.headers["etag"])
    assert "; Anna: oops\n" in said.text


async def test_erased_player_is_not_named_in_the_record(asking: Asking) -> None:
    store = asking.setup.service.store
    await store.write(accounts.enrol, "Anna", "hash")
    await store.write(accounts.erase, "Anna")
    record = read_record((await asking.get("/game/1.thud")).text)
    assert (record.dwarf, record.troll) == ("", "Bert")


async def test_picture_options_are_applied(asking: Asking) -> None:
    got = await asking.get("/game/1.svg?ply=1&side=north&colours=safe&theme=dark")
    assert got.text == frame(GAME, 1, orientation="north", colours=SCHEMES["safe dark"])
    assert (await asking.get("/game/1.svg?ply=0")).text == frame(GAME, 0)
    moving = await asking.get("/game/1.gif?ply=1")
    assert getattr(Image.open(BytesIO(moving.content)), "n_frames", 1) == 2


NO_PICTURES = [
    ("/game/2.svg", "There is no such battle."),
    ("/game/0.svg", "There is no such battle."),
    ("/game/999999999999.png", "There is no such battle."),
    ("/game/9223372036854775808.svg", "There is no such battle."),
    (f"/game/{'9' * 5000}.svg", "There is no such battle."),
    ("/game/one.gif", "There is no such battle."),
    ("/game/\N{SUPERSCRIPT TWO}.gif", "There is no such battle."),
    ("/board/nowhere.svg", "There is no such board."),
    ("/board/%3Cscript%3E.svg", "There is no such board."),
    ("/board/%00.svg", "There is no such board."),
    ("/board/hall.svg", "There is no such board."),
    ("/game/1.svg?ply=3", "Expected a ply from 0 to 2, got 3."),
    ("/game/1.gif?ply=3", "The battle has 2 plies."),
    ("/game/1.svg?ply=x", 'Expected a ply of the battle, and "south" or "north" as orientation.'),
    (
        "/game/1.svg?ply=9999999",
        'Expected a ply of the battle, and "south" or "north" as orientation.',
    ),
    (
        "/game/1.svg?side=west",
        'Expected a ply of the battle, and "south" or "north" as orientation.',
    ),
    ("/game/1.svg?colours=%3Cb%3E", f"Expected one of the colour schemes {', '.join(SCHEMES)}."),
    ("/game/1/../1.svg/x.svg", "Page not found. The game is at /."),
]


async def test_unavailable_pictures_are_answered_with_404(asking: Asking) -> None:
    for path, sentence in NO_PICTURES:
        got = await asking.get(path)
        assert (got.status_code, got.text) == (404, f"{sentence}\n"), path
        assert got.headers["content-type"] == "text/plain; charset=utf-8"
        assert got.headers["cache-control"] == "no-store"


@given(
    st.text(st.characters(blacklist_categories=["Cs"])),
    st.sampled_from(["svg", "png", "gif", "thud"]),
    st.text(st.characters(blacklist_categories=["Cs"])),
)
def test_arbitrary_picture_paths_never_raise(name: str, kind: str, query: str) -> None:
    for where in ("game", "board"):
        response = ask(f"/{where}/{quote(name)}.{kind}", query=query)
        assert response.status_code == 404
        wanted = read_picture_request(where, name, kind, dict(parse_qsl(query)))
        assert isinstance(wanted, (PictureRequest, Absence))


async def test_board_picture_shows_the_current_position(asking: Asking) -> None:
    opening = await asking.get("/board/elm.svg")
    assert opening.text == frame(Game.start(DISCWORLD))
    assert opening.headers["cache-control"] == "no-cache"
    assert (await asking.get("/board/Elm%20Board.svg")).headers["etag"] == opening.headers["etag"]
    asking.annals.begin("elm board", dwarf="Carl", troll="Dora")
    asking.annals.play(LONGER[:1], "elm board")
    await asking.store()
    played = await asking.get("/board/elm.svg", opening.headers["etag"])
    assert played.text == frame(Game.start(DISCWORLD).play(LONGER[0]))
    assert (await asking.get("/game/2.svg")).text == played.text
    assert (await asking.get("/game/2.svg")).headers["cache-control"] == "no-cache"
    record = read_record((await asking.get("/board/elm.thud")).text)
    assert (record.game.moves, record.dwarf, record.date) == (LONGER[:1], "Carl", "")


async def test_picture_is_drawn_once_and_not_for_a_matching_tag(
    asking: Asking, jobs: list[Job]
) -> None:
    gots = await asyncio.gather(*(asking.get("/game/1.png") for _ in range(8)))
    assert len({each.content for each in gots}) == len(jobs) == 1
    tag = gots[0].headers["etag"]
    for known in (tag, f'W/"x", {tag}'):
        again = await asking.get("/game/1.png", known)
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (await asking.get("/game/1.png", '"another"')).status_code == 200
    assert (await asking.get("/game/1.png?utm=1")).headers["etag"] == tag
    assert len(jobs) == 1


async def test_least_recently_used_pictures_are_evicted(
    asking: Asking, jobs: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "MOST_KEPT", 25_000)  # room for two
    for ply in (0, 1, 0, 2, 0, 1):
        await asking.get(f"/game/1.svg?ply={ply}")
    assert [each.subject for each in jobs] == [Still.of(GAME, ply) for ply in (0, 1, 2, 1)]


async def test_full_drawing_queue_is_answered_with_503(
    asking: Asking, held: Drawing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_queue, "MOST_WAITING", 0)
    first = asyncio.create_task(asking.get("/game/1.svg"))
    await held.begun.wait()
    refused = await asking.get("/board/oak.svg")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert refused.text == "Too many pictures are being drawn at the moment.\n"
    same = asyncio.create_task(asking.get("/game/1.svg"))
    assert (await asking.get("/")).status_code == 200
    held.may_go_on.set()
    assert [(await each).content for each in (first, same)] == [b"drawn"] * 2


async def test_gif_requests_of_one_address_do_not_delay_others(
    asking: Asking, held: Drawing
) -> None:
    held.kinds = {"gif"}
    greedy = []
    for ply in (0, 1):
        path = f"/game/1.gif?ply={ply}"
        greedy.append(asyncio.create_task(asking.get(path, source="192.0.2.1")))
        await held.asked.get()
    refused = await asking.get("/game/1.gif", source="192.0.2.1")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.headers["cache-control"] == "no-store"
    assert (
        refused.text == "Your last pictures are still being drawn. Please try again in a moment.\n"
    )
    for kind in ("svg", "png", "thud"):
        for source in ("192.0.2.2", "192.0.2.1"):
            got = await asking.get(f"/game/1.{kind}?ply=1", source=source)
            assert got.status_code == 200
    honest = asyncio.create_task(asking.get("/game/1.gif", source="192.0.2.2"))
    for _ in ("the refused one", "svg", "png", "thud", "the honest one"):
        await held.asked.get()
    held.may_go_on.set()
    assert [(await each).status_code for each in (*greedy, honest)] == [200] * 3
    assert sorted(held.plies) == [0, 1, 2]


async def test_ipv6_network_has_one_share(asking: Asking, held: Drawing) -> None:
    greedy = []
    for ply in (0, 1):
        path, source = f"/game/1.gif?ply={ply}", f"2001:db8::{ply + 1}"
        greedy.append(asyncio.create_task(asking.get(path, source=source)))
        await held.asked.get()
    assert (await asking.get("/game/1.gif", source="2001:db8::3")).status_code == 429
    held.may_go_on.set()
    assert [(await each).status_code for each in greedy] == [200] * 2


async def test_queued_picture_is_dropped_after_a_disconnect(asking: Asking, held: Drawing) -> None:
    first = asyncio.create_task(asking.get("/game/1.gif?ply=0"))
    await held.begun.wait()
    gone = await asking.setup.connect_web()
    await gone.send(b"GET /game/1.gif?ply=1 HTTP/1.1\r\nHost: x\r\n\r\n")
    for _ in range(2):
        await held.asked.get()
    await gone.close()
    await asking.get("/")  # answered after the server has noticed the disconnect
    last = asyncio.create_task(asking.get("/game/1.gif?ply=2"))  # takes the freed slot
    await held.asked.get()
    held.may_go_on.set()
    assert [(await each).status_code for each in (first, last)] == [200] * 2
    assert held.plies == [0, 2]


async def test_disconnect_does_not_cancel_a_shared_picture(asking: Asking, held: Drawing) -> None:
    gone = await asking.setup.connect_web()
    await gone.send(b"GET /game/1.svg HTTP/1.1\r\nHost: x\r\n\r\n")
    await held.begun.wait()
    await gone.close()
    other = asyncio.create_task(asking.get("/game/1.svg"))
    held.may_go_on.set()
    assert (await other).content == b"drawn"


async def test_pipelined_requests_and_half_close_wait_for_a_picture(asking: Asking) -> None:
    client = await asking.setup.connect_web()
    asked = (b"/game/1.svg", b"/nowhere", b"/game/1.gif")
    await client.send(b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % each for each in asked))
    client.writer.write_eof()
    svg, nothing, gif = (await client.rest()).split(b"HTTP/1.1 ")[1:]
    assert svg.startswith(b"200 OK")
    assert svg.endswith(b"</svg>")
    assert nothing.startswith(b"404 ")
    assert gif.endswith(b";")


def pages_of(asking: Asking) -> Pages:
    """Return the server's `Pages`, which exist after the first request."""
    assert asking.setup._server._pages
    return asking.setup._server._pages


async def test_unread_large_picture_is_sent_in_pieces(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def large(_: DrawingProcess, job: Job) -> bytes:
        return b"x" * 20_000_000

    monkeypatch.setattr(DrawingProcess, "draw", large)
    client = await asking.setup.connect_web()
    client.stop_reading()
    await client.send(b"GET /game/1.gif HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (await asking.client.head("/game/1.gif")).headers["content-length"] == "20000000"
    browsing = pages_of(asking)._browsing
    async with asyncio.timeout(PATIENCE):
        while not any(each.get_write_buffer_size() for each in browsing):  # noqa: ASYNC110
            await asyncio.sleep(0)
    (connection,) = (each for each in browsing if each.get_write_buffer_size())
    assert connection.get_write_buffer_size() < 1_000_000
    client.read_on()
    await client.until(b"x" * 20_000_000)


async def test_killed_drawing_process_is_restarted(asking: Asking) -> None:
    await asking.get("/game/1.svg")
    studio = pages_of(asking)._gallery._others._studio
    process = studio._process
    assert process
    os.kill(process.pid, signal.SIGKILL)
    assert (await asking.get("/game/1.png")).status_code == 200
    assert studio._process is not process


async def test_unstartable_drawing_process_is_answered_with_503(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    got = await asking.get("/game/1.svg")
    assert (got.status_code, got.text) == (503, "That picture can't be drawn at the moment.\n")
    assert got.headers["retry-after"] == "5"
    monkeypatch.undo()
    assert (await asking.get("/game/1.svg")).status_code == 200


async def test_drawing_process_ends_when_idle_and_with_the_server(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "IDLE", 0.0)
    await asking.get("/game/1.svg?ply=0")
    studio = pages_of(asking)._gallery._others._studio
    while studio._process:  # noqa: ASYNC110  (ended by a timer of zero seconds)
        await asyncio.sleep(0)
    monkeypatch.setattr(drawing, "IDLE", 60.0)
    await asking.get("/game/1.svg?ply=1")
    process = studio._process
    assert process
    await asking.setup.stop()
    assert process.returncode is not None


async def test_missing_pictures_extra_leaves_only_svg(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "can_draw_pixels", lambda: False)
    for kind in ("png", "gif"):
        got = await asking.get(f"/game/1.{kind}")
        assert (got.status_code, got.text) == (
            404,
            "PNG and GIF are not available on this server, only SVG.\n",
        )
    assert (await asking.get("/game/1.svg")).status_code == 200


async def test_picture_counts_as_several_requests(serving: Serving) -> None:
    setup = await serving(web={"port": 0, "requests_at_once": 10, "requests_per_second": 1})
    client = await setup.connect_web()
    await client.send(b"GET /board/oak.svg HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
    for _ in range(2):
        await client.until(b"</svg>")
    other = await setup.connect_web(source="127.0.0.2")
    await other.send(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
    await other.until(b"keep-alive\r\n\r\n")
    assert client.unread == b""


def test_gif_length_is_limited() -> None:
    game, troll = Game.start(DISCWORLD), ("TG7-G6", "TG6-G7")
    for turn in range(251):
        game = game.push(("dA6-B6", "dB6-A6")[turn % 2]).push(troll[turn % 2])
    with pytest.raises(InvalidValueError, match="expected at most 500 plies for a GIF, got 502"):
        Job.of("gif", game, None, "south", "plain")
    assert Job.of("gif", game, 500, "south", "plain")
    assert render(Job.of("svg", game, None, "south", "plain"))


def test_job_of_a_long_battle_is_small() -> None:
    game = to_and_fro(DISCWORLD, MOST_PLIES)
    for kind in ("svg", "png"):
        assert len(pickle.dumps(Job.of(kind, game, 1000, "south", "plain"))) < 1000


async def test_overlong_gif_is_refused_before_its_plies_are_read(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = to_and_fro(DISCWORLD, 600)
    asking.annals.begin()
    asking.annals.play(game.moves)
    asking.annals.end(TROLLS, count=600)
    await asking.store()
    monkeypatch.setattr(FoldedGames, "find", None)
    got = await asking.get("/game/2.gif")
    assert got.status_code == 404
    assert got.text == "Expected at most 500 plies for a GIF, got 600.\n"
    monkeypatch.undo()
    assert (await asking.get("/game/2.svg?ply=600")).text == frame(game.agree(Ending.AGREEMENT))


def test_drawing_process_reports_errors_and_continues() -> None:
    told, back = BytesIO(), BytesIO()
    unreadable = "", "", "yesterday", (), "", "", ""
    for job in (
        Job.of("thud", GAME, None, "south", "plain", record=unreadable),
        Job.of("svg", GAME, 1, "south", "plain"),
    ):
        data = pickle.dumps(job)
        told.write(drawing._LENGTH.pack(len(data)) + data)
    told.seek(0)
    drawing.main(told, back)
    answers: list[Any] = []
    back.seek(0)
    while head := back.read(drawing._LENGTH.size):
        answers.append(pickle.loads(back.read(drawing._LENGTH.unpack(head)[0])))  # noqa: S301  (our own)
    assert answers == [
        "expected a date such as 2026-11-22, got 'yesterday'",
        frame(GAME, 1).encode(),
    ]
