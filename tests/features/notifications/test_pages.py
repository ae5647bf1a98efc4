"""Calendars, feeds and unsubscribe links over HTTP, as other programs request them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import httpx
import pytest
from icalendar import Calendar

from tests.features.letters.letters import post
from tests.server.plain import PATIENCE
from tests.store.test_notifications import confirmed, contact
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import ANOTHER, NotificationSettings
from thudmud.game.clocks import DAY
from thudmud.server.acceptor import Acceptor
from thudmud.server.config import Settings
from thudmud.server.pages import AT_ONCE
from thudmud.server.runtime import open_sessions
from thudmud.server.session_registry import Sessions
from thudmud.service import JoinRequest, Visit
from thudmud.store import StoreError, accounts
from thudmud.views import Terminal

PAGE = "https://thud.example.org"
SETTINGS = Settings.model_validate(
    {
        "server": {"port": 0, "shutdown_grace": 0.2},
        "web": {"port": 0, "public_url": PAGE, "forwarders": ["127.0.0.1"]},
        "storage": {"backend": "memory"},
        "bot": [],
    }
)
ATOM = {"atom": "http://www.w3.org/2005/Atom"}


class Site:
    """A server where Anna and Bert play, with an HTTP client for its pages."""

    def __init__(self, sessions: Sessions, address: str) -> None:
        self.sessions, self.store, self._address = sessions, sessions.store, address
        self.visits: dict[str, Visit] = {}

    async def ask(self, path: str, method: str = "GET", **words: object) -> httpx.Response:
        visitor = {"X-Forwarded-For": "192.0.2.1"}
        async with httpx.AsyncClient(base_url=self._address, headers=visitor) as client:
            return await client.request(method, path, **words)  # type: ignore[arg-type]

    async def type(self, *lines: str) -> None:
        for line in lines:
            name, _, words = line.partition(": ")
            if name not in self.visits:
                arrival = JoinRequest(name, Terminal(), is_member=True)
                visit = await self.sessions.service.join(arrival)
                assert visit
                self.visits[name] = visit
            await self.sessions.submit(self.visits[name], words)

    async def publish(self, *, calendar: str = "", feed: bool = False) -> str:
        """Publish Anna's calendar or feed; return the secret of her calendar."""
        chosen = await contact(self.store)
        await self.store.write(
            storage.keep_contact, "Anna", chosen._replace(calendar=calendar, feed=feed)
        )
        return (await contact(self.store)).calendar


def parsed(feed: httpx.Response) -> ET.Element:
    return ET.fromstring(feed.text)  # noqa: S314  (our own feed)


@asynccontextmanager
async def site_with(settings: Settings, folder: Path) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        server = Acceptor(settings, folder)
        await server.bind()
        sessions = await stack.enter_async_context(open_sessions(settings, folder))
        await server.start(sessions)
        stack.push_async_callback(server.stop)
        for name in ("Anna", "Bert"):
            await sessions.store.write(accounts.enrol, name, "hash")
        yield Site(sessions, server.web_links[0])


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with site_with(SETTINGS, tmp_path) as site:
        yield site


class TestMails:
    async def test_unsubscribe_link_asks_on_get_and_ends_mails_on_post(self, site: Site) -> None:
        await confirmed(site.store)
        await post(site.store, "Anna", "Bert", "Ho!")
        [mail] = await site.store.read(storage.due, mails=True)
        link = f"/mail/{mail.secret}"
        for method in ("GET", "HEAD"):
            asked = await site.ask(link, method)
            assert asked.status_code == 200
            assert asked.headers["Cache-Control"] == "no-store"
            assert "form-action 'self'" in asked.headers["Content-Security-Policy"]
            assert ('<form method="post">' in asked.text) is (method == "GET")
        assert (await contact(site.store)).address
        ended = await site.ask(link, "POST", content=b"List-Unsubscribe=One-Click")
        assert "No more emails" in ended.text
        assert not (await contact(site.store)).address
        assert (await site.ask(link, "POST")).status_code == 200  # ended already

    @pytest.mark.parametrize("method", ["GET", "POST"])
    async def test_unknown_unsubscribe_link_is_not_found(self, site: Site, method: str) -> None:
        assert (await site.ask(f"/mail/{'x' * 22}", method)).status_code == 404

    async def test_post_body_arriving_late_is_awaited(self, site: Site) -> None:
        host, port = site._address.removeprefix("http://").strip("/").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = (
            f"POST /mail/{'x' * 22} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n"
            "Content-Length: 26\r\n\r\n"
        )
        writer.write(head.encode())
        await asyncio.sleep(0)
        writer.write(b"List-Unsubscribe=One-Click")
        assert (await reader.readline()).startswith(b"HTTP/1.1 404")
        writer.close()

    async def test_expect_100_continue_is_answered_without_the_body(self, site: Site) -> None:
        host, port = site._address.removeprefix("http://").strip("/").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = (
            f"POST /mail/{'x' * 22} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n"
            "Content-Length: 26\r\nExpect: 100-Continue\r\n\r\n"
        )
        writer.write(head.encode())
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readline()).startswith(b"HTTP/1.1 404")
            assert b"\r\nConnection: close\r\n" in await reader.read()
        writer.close()

    async def test_unsupported_method_is_refused_with_an_allow_header(self, site: Site) -> None:
        refused = await site.ask(f"/mail/{'x' * 22}", "PUT")
        assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD, POST")

    async def test_post_to_other_pages_is_refused(self, site: Site) -> None:
        for path in ("/", "/feed/Anna.atom", f"/calendar/{'x' * 22}.ics"):
            assert (await site.ask(path, "POST", content=b"a=b")).status_code == 405


class TestCalendar:
    async def test_calendar_lists_deadlines_of_its_owners_moves(self, site: Site) -> None:
        secret = await site.publish(calendar=ANOTHER)
        await site.type("Anna: join oak board as dwarf", "Anna: set clock 3 days")
        await site.type("Bert: join oak board as troll", "Bert: start", "Anna: move a6 b6")
        link = f"/calendar/{secret}.ics"
        assert Calendar.from_ical((await site.ask(link)).text).events == []
        await site.type("Bert: move g7 f7")
        asked = await site.ask(link)
        assert asked.headers["Content-Type"] == "text/calendar; charset=utf-8"
        assert asked.headers["Cache-Control"] == "private, max-age=300"
        assert max(map(len, asked.content.split(b"\r\n"))) <= 75
        [event] = Calendar.from_ical(asked.text).events
        table = site.sessions.service.hall.tables["oak board"]
        assert table.clock
        due = cast("datetime", event.start).timestamp()
        assert due == int(table.clock.deadline)
        assert due == pytest.approx(table.clock.at + 3 * DAY, abs=2)
        assert event["SUMMARY"] == "Thud: your move against Bert"
        assert "Move 2: Bert moves the troll from G7 to F7." in str(event["DESCRIPTION"])
        assert event["URL"] == f"{PAGE}/board/oak%20board"
        again = await site.ask(link, headers={"If-None-Match": asked.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")

    async def test_deadline_keeps_its_uid_through_offers_and_undo(self, site: Site) -> None:
        link = f"/calendar/{await site.publish(calendar=ANOTHER)}.ics"

        async def event() -> tuple[str, int]:
            [found] = Calendar.from_ical((await site.ask(link)).text).events
            return str(found["UID"]), int(str(found["SEQUENCE"]))

        await site.type("Anna: join oak board as dwarf", "Anna: set clock 3 days")
        await site.type("Bert: join oak board as troll", "Bert: start")
        first = await event()
        await site.type("Anna: end game on oak board", "Bert: no on oak board")
        offered = await event()
        await site.type("Anna: move a6 b6", "Anna: undo", "Bert: undo on oak board")
        undone = await event()
        assert first[0] == offered[0] == undone[0] == "oak-board-1-0@thud.example.org"
        assert first[1] < offered[1] < undone[1]
        await site.type("Anna: move a6 b6", "Bert: move g7 f7")
        assert (await event())[0] != first[0]

    async def test_calendar_without_events_has_a_timezone_component(self, site: Site) -> None:
        asked = await site.ask(f"/calendar/{await site.publish(calendar=ANOTHER)}.ics")
        found = Calendar.from_ical(asked.text)
        [zone] = found.subcomponents
        assert (zone.name, zone["TZID"], found.events) == ("VTIMEZONE", "UTC", [])
        [standard] = zone.subcomponents
        assert {"DTSTART", "TZOFFSETFROM", "TZOFFSETTO"} <= set(standard)

    async def test_calendar_has_a_secret_address_that_can_be_replaced(self, site: Site) -> None:
        assert (await site.ask("/calendar/Anna.ics")).status_code == 404
        first = await site.publish(calendar=ANOTHER)
        second = await site.publish(calendar=ANOTHER)
        assert (await site.ask(f"/calendar/{first}.ics")).status_code == 404
        assert (await site.ask(f"/calendar/{second}.ics", "HEAD")).status_code == 200
        await site.publish()
        assert (await site.ask(f"/calendar/{second}.ics")).status_code == 404


class TestFeed:
    async def test_feed_lists_finished_battles(self, site: Site) -> None:
        await site.publish(feed=True)
        await site.type("Anna: join oak board as dwarf", "Bert: join oak board as troll")
        await site.type("Anna: start", "Anna: move a6 b6", "Bert: resign on oak board", "Bert: yes")
        await site.type(
            "Bert: start", "Anna: start", "Bert: leave oak board", "Bert: leave oak board"
        )
        await site.type("Anna: practice on pine board", "Anna: resign on pine board", "Anna: yes")
        asked = await site.ask("/feed/anna.atom")
        assert asked.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
        assert asked.headers["Cache-Control"] == "public, max-age=300"
        feed = parsed(asked)
        assert feed.findtext("atom:id", "", ATOM) == f"{PAGE}/feed/Anna.atom"
        assert feed.findtext("atom:author/atom:name", "", ATOM) == "Anna"
        entries = feed.findall("atom:entry", ATOM)
        assert entries[-1].findtext("atom:id", "", ATOM) == f"{PAGE}/game/1"
        assert entries[-1].findtext("atom:title", "", ATOM) == "Anna against Bert"
        assert "Bert resigned" in entries[-1].findtext("atom:summary", "", ATOM)
        assert not any("practice" in each.findtext("atom:summary", "", ATOM) for each in entries)
        assert feed.findtext("atom:updated", "", ATOM) == entries[0].findtext(
            "atom:updated", "", ATOM
        )
        await site.store.write(accounts.erase, "Bert")
        assert "erased" not in (await site.ask("/feed/Anna.atom")).text
        again = await site.ask("/feed/Anna.atom")
        tag = {"If-None-Match": again.headers["ETag"]}
        assert (await site.ask("/feed/Anna.atom", headers=tag)).status_code == 304

    async def test_feed_exists_only_if_published(self, site: Site) -> None:
        for name in ("Anna", "Nobody"):
            assert (await site.ask(f"/feed/{name}.atom")).status_code == 404
        await site.publish(feed=True)
        empty = parsed(await site.ask("/feed/Anna.atom"))
        assert empty.findall("atom:entry", ATOM) == []


class TestLimits:
    async def test_request_limit_applies_to_each_address_separately(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = {"X-Forwarded-For": "203.0.113.7"}
        for _ in range(AT_ONCE):
            assert (await site.ask("/feed/Anna.atom", headers=here)).status_code == 404
        refused = await site.ask("/feed/Anna.atom", headers=here)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 30
        there = {"X-Forwarded-For": "203.0.113.8"}
        assert (await site.ask("/feed/Anna.atom", headers=there)).status_code == 404

    async def test_store_failure_answers_503_with_retry_after(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise StoreError("The database is away.")

        monkeypatch.setattr(storage, "feed_of", fail)
        broken = await site.ask("/feed/Anna.atom")
        assert (broken.status_code, broken.headers["Retry-After"]) == (503, "60")


async def test_notifications_off_accept_settings_but_serve_no_pages(
    tmp_path: Path,
) -> None:
    mail = {"relay": "relay.invalid", "sender": "thud@example.org"}
    off = {"features": {"off": ["notifications"]}, "mail": mail, "push": {"enabled": True}}
    settings = Settings.model_validate(SETTINGS.model_dump() | off)
    async with site_with(settings, tmp_path) as site:
        await confirmed(site.store)
        calendar = await site.publish(calendar=ANOTHER, feed=True)
        for path in (f"/calendar/{calendar}.ics", "/feed/Anna.atom", f"/mail/{'x' * 22}"):
            assert (await site.ask(path)).status_code == 404
        assert site.sessions.service.hall.part(NotificationSettings).ways.are_none
    assert not (tmp_path / "push.pem").exists()
