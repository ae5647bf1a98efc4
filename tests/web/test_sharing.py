"""Boards and battles on other sites: link previews, embedded frames and oEmbed."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.plain import PATIENCE, Serving
from tests.web.asked import ANY, NoPictures, ask, nothing, routes
from thudmud.pictures.pixels import SIZE
from thudmud.web import sharing, site
from thudmud.web.http import HttpRequest
from thudmud.web.pictures import Preview, Site
from thudmud.web.sharing import base_of
from thudmud.web.site import files
from thudmud.web.viewer import bundle

TEXT = st.text(st.characters(blacklist_categories=["Cs"]))


@pytest.fixture
async def asking(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    """Return an HTTP client of a server with an oak board and battle 12."""

    async def told(number: int) -> tuple[str, str] | None:
        return ("Battle 12", "It was played.") if number == 12 else None

    setup = await serving(web={"port": 0})
    monkeypatch.setattr(setup.sessions, "battle_preview", told)
    [(host, port)] = setup.web_places
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=PATIENCE) as client:
        yield client


def tags(page: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="(.*?)">', page)
    return {name: html.unescape(content) for name, content in found}


async def test_link_preview_has_a_picture(asking: httpx.AsyncClient) -> None:
    here = str(asking.base_url).rstrip("/")
    for link, path in (
        ("/board/oak", "/board/oak"),
        ("/board/Oak%20board", "/board/Oak%20board"),
        ("/game/0012", "/game/12"),
    ):
        page = (await asking.get(link)).text
        told = tags(page)
        assert told["og:url"] == f"{here}{path}"
        assert told["og:image"] == f"{here}{path}.png"
        assert told["og:image:width"] == told["og:image:height"] == "640"
        assert told["twitter:card"] == "summary_large_image"
        (discovered,) = re.findall(r'type="application/json\+oembed" href="(.*?)"', page)
        assert html.unescape(discovered) == f"{here}/oembed?url={quote(here + path, safe='')}"
    assert (await asking.get("/board/oak.png")).headers["content-type"] == "image/png"
    for link in ("/", "/board/nowhere", "/game/x"):
        assert "og:image" not in tags((await asking.get(link)).text)


def test_tournament_link_preview_has_no_picture() -> None:
    async def find(kind: str, name: str) -> Preview | None:
        return Preview("Tournament 3", "A Swiss.") if (kind, name) == ("tournament", "3") else None

    response = ask("/tournament/03", routes(find, url="https://thud.example"))
    told = tags(response.body.decode())
    assert response.status_code == 200
    assert told["og:title"] == "Tournament 3 \N{EN DASH} Thud"
    assert told["og:url"] == "https://thud.example/tournament/3"
    assert "og:image" not in told
    assert "oembed" not in response.body.decode()


@pytest.mark.parametrize(
    ("host", "public_url", "is_secure", "base"),
    [
        ("thud.example", "", False, "http://thud.example"),
        ("thud.example:8485", "", True, "https://thud.example:8485"),
        ("[::1]:8485", "", False, "http://[::1]:8485"),
        ("thud.example", "https://thud.example.org", False, "https://thud.example.org"),
        ('x"><script>', "", False, ""),
        ("x/y", "", False, ""),
        ("a@b", "", False, ""),
        ("", "", False, ""),
    ],
)
def test_base_url_from_host_and_settings(
    host: str,
    public_url: str,
    is_secure: bool,  # noqa: FBT001
    base: str,
) -> None:
    request = HttpRequest("GET", "/", {"host": host})
    request.scheme = "https" if is_secure else "http"
    assert base_of(request, Site(nothing, NoPictures(), (), public_url)) == base


async def found(kind: str, name: str) -> Preview | None:
    """Return the same preview for any link."""
    return Preview("Battle 1", "It was played.")


def test_link_preview_without_pixels_or_address_has_no_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def linked(embed: frozenset[str], url: str) -> str:
        return ask("/game/1", routes(found, embed, url)).body.decode()

    assert not {"og:image", "og:url"} & set(tags(linked(ANY, "")))
    monkeypatch.setattr(sharing, "can_draw_pixels", lambda: False)
    got = linked(ANY, "https://x.example")
    assert tags(got)["og:url"] == "https://x.example/game/1"
    assert "og:image" not in tags(got)
    assert "oembed" in got
    assert "oembed" not in linked(frozenset(), "https://x.example")
    assert "data-pixels" in files()["/index.html"].body.decode()
    monkeypatch.setattr(site, "can_draw_pixels", lambda: False)
    assert b"data-pixels" not in files.__wrapped__()["/index.html"].body


async def test_embedded_frame_contains_only_the_viewer(asking: httpx.AsyncClient) -> None:
    for where in ("board/oak", "game/12"):
        got = await asking.get(f"/embed/{where}")
        assert got.status_code == 200
        policy = got.headers["content-security-policy"]
        assert "frame-ancestors *;" in policy
        assert "default-src 'self';" in policy
        assert "set-cookie" not in got.headers
        assert (
            f'<thud-game record="/{where}.thud" link="/{where}" live="5"></thud-game>' in got.text
        )
        loaded = re.findall(r'(?:src|href)="(.*?)"', got.text)
        assert loaded == ["/icon.svg", "/embed.css", "/thud-game.js"]
    chosen = await asking.get("/embed/game/12?ply=4&side=north&theme=dark&scheme=safe&x=y")
    assert 'live="5" ply="4" side="north" theme="dark" scheme="safe">' in chosen.text
    for path in ("/", "/board/oak", "/game/1", "/board/oak.svg", "/oembed", "/embed/board/zzz"):
        policy = (await asking.get(path)).headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
    assert (await asking.get("/thud-game.js")).content == bundle()


@pytest.mark.parametrize("embed", [(), ("https://a.example", "https://b.example")])
async def test_embedding_is_limited_to_configured_origins(
    serving: Serving, embed: tuple[str, ...]
) -> None:
    [(host, port)] = (await serving(web={"port": 0, "embed": embed})).web_places
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=PATIENCE) as asking:
        got = await asking.get("/embed/board/oak")
        told = await asking.get("/oembed", params={"url": f"http://{host}:{port}/board/oak"})
        linked = (await asking.get("/board/oak")).text
        theirs, foreign = [
            (await asking.get("/board/oak.thud", headers={"Origin": f"https://{each}.example"}))
            for each in ("b", "c")
        ]
    assert (got.status_code, told.status_code) == ((200, 200) if embed else (404, 404))
    assert ("oembed" in linked) is bool(embed)
    assert theirs.headers.get("access-control-allow-origin") == (embed[1] if embed else None)
    assert "access-control-allow-origin" not in foreign.headers
    assert theirs.headers["vary"] == "Origin"
    if embed:
        assert f"frame-ancestors {' '.join(embed)};" in got.headers["content-security-policy"]


async def test_oembed_response(asking: httpx.AsyncClient) -> None:
    here = str(asking.base_url).rstrip("/")
    got = await asking.get("/oembed", params={"url": f"{here}/game/12#ply=7", "maxwidth": "300"})
    assert got.headers["content-type"] == "application/json"
    assert got.headers["access-control-allow-origin"] == "*"
    told = got.json()
    title = "Battle 12 \N{EN DASH} Thud"
    assert told == {
        "version": "1.0",
        "type": "rich",
        "provider_name": "Thud",
        "provider_url": f"{here}/",
        "title": title,
        "width": 300,
        "height": 680,
        "html": f'<iframe src="{here}/embed/game/12?ply=7" title="{title}" width="300"'
        ' height="680" style="border:0;max-width:100%" loading="lazy"></iframe>',
    }


@pytest.mark.parametrize("name", ["width", "height"])
@pytest.mark.parametrize("most", [1, 150, 300, 639, 640, 10_000, 99_999])
async def test_oembed_sizes_respect_the_requested_maximum(
    asking: httpx.AsyncClient, name: str, most: int
) -> None:
    here = str(asking.base_url).rstrip("/")
    asked = {"url": f"{here}/board/oak", f"max{name}": str(most)}
    told = (await asking.get("/oembed", params=asked)).json()
    assert told[name] <= most
    assert f'{name}="{told[name]}"' in told["html"]
    assert told.get(f"thumbnail_{name}", 0) <= most
    assert ("thumbnail_url" in told) is (most >= SIZE)


@pytest.mark.parametrize("most", ["", "0", "-5", "x", "1e9", "100000000"])
async def test_oembed_ignores_invalid_sizes(asking: httpx.AsyncClient, most: str) -> None:
    here = str(asking.base_url).rstrip("/")
    asked = {"url": f"{here}/board/oak", "maxwidth": most, "maxheight": most}
    told = (await asking.get("/oembed", params=asked)).json()
    assert (told["width"], told["height"], told["thumbnail_width"]) == (480, 680, 640)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 404),
        ({"url": "https://elsewhere.example/game/12"}, 404),
        ({"url": "{here}/"}, 404),
        ({"url": "{here}/board/nowhere"}, 404),
        ({"url": "{here}/game/12.svg"}, 404),
        ({"url": "http://[::1"}, 400),
        ({"url": "{here}/game/12", "format": "xml"}, 501),
        ({f"x{each}": "1" for each in range(100)}, 404),
    ],
)
async def test_oembed_refuses_other_urls_and_formats(
    asking: httpx.AsyncClient, asked: dict[str, str], status: int
) -> None:
    here = str(asking.base_url).rstrip("/")
    named = {name: words.replace("{here}", here) for name, words in asked.items()}
    assert (await asking.get("/oembed", params=named)).status_code == status


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


@given(TEXT, TEXT, TEXT)
def test_frame_and_snippet_escape_all_text(name: str, query: str, told: str) -> None:
    """Must hold for any name of a board and any query."""

    async def find(*_: str) -> Preview:
        return Preview(told, told)

    got = ask(f"/embed/board/{name.replace('/', '') or 'x'}", routes(find), query=query)
    page = Elements()
    page.feed(got.body.decode())
    assert page.tags.count("thud-game") == page.tags.count("script") == 1
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "link", "script", "body", "thud-game",
    }  # fmt: skip
    framed = Elements()
    framed.feed(sharing.snippet(f"http://x/embed/board/{quote(name)}", query, told, 480, 600))
    assert framed.tags == ["iframe"]
    assert framed.attributes == ["src", "title", "width", "height", "style", "loading"]


@given(TEXT, TEXT)
def test_arbitrary_sharing_requests_never_raise(path: str, query: str) -> None:
    for start in ("/oembed", "/embed/", "/embed/board/", "/embed/game/", "/"):
        if f"/{(start + path).lstrip('/')}" != "/ws":
            assert ask(start + path, query=query).status_code in {200, 400, 404, 405, 501}
    assert ask("/oembed", query=f"url={path}").status_code in {400, 404, 501}
