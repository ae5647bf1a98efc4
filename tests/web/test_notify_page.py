"""The notification switch, push messages, and what the service worker keeps.

Headless Chromium has no push service and shows no notifications, so the subscription and
`showNotification` are faked. Everything else is real, including the push to the service worker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import CDPSession, Worker, expect

from tests.ports import free_ports
from tests.web.conftest import Player, Served, Visit
from tests.web.test_page import violations

MORE = """
[web]
public_url = "http://127.0.0.1:{port}"

[push]
enabled = true
contact = "you@example.org"
services = ["push.example.org"]
"""

SUBSCRIBED = f"""(() => {{
  let made = null;
  const keys = {{ p256dh: "{"k" * 87}", auth: "{"a" * 22}" }};
  const endpoint = "https://push.example.org/send/1?a=b";
  Object.assign(PushManager.prototype, {{
    async subscribe({{ applicationServerKey, userVisibleOnly }}) {{
      if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("no such key");
      return made = {{
        toJSON: () => ({{ endpoint, keys }}),
        async unsubscribe() {{ made = null; return true; }},
      }};
    }},
    async getSubscription() {{ return made; }},
  }});
}})()"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with free_ports() as find:
        port, folder = find(), tmp_path_factory.mktemp("notify")
        with Served(folder, port, {"oak": "discworld"}, MORE.format(port=port)) as served:
            yield served


def member(server: Served, visit: Visit, name: str, script: str = "") -> Player:
    """Log in and register in a browser with permission for notifications."""
    player = visit(server=server, service_workers="allow")
    player.page.context.grant_permissions(["notifications"], origin=server.address)
    player.page.add_init_script(script)
    player.page.reload()
    player.come_in(name).register()
    return player.hears("is yours now")


def settings(anna: Player) -> Player:
    anna.page.get_by_role("button", name="Settings").click()
    expect(anna.page.locator("#notify")).to_be_visible()
    return anna


def test_notification_switch_subscribes_and_unsubscribes(server: Served, visit: Visit) -> None:
    anna = member(server, visit, "Anna", SUBSCRIBED)
    assert anna.page.locator("link[rel=manifest]").get_attribute("href") == "/thud.webmanifest"
    switch = settings(anna).page.get_by_label("Notify me in this browser when it is my turn")
    expect(switch).not_to_be_checked()
    assert not violations(anna, "settings")
    switch.click()
    expect(anna.page.locator("#notify-said")).to_have_text("Notifications are on in this browser.")
    anna.page.keyboard.press("Escape")
    anna.hears("This browser will notify you from now on, even while the page is closed.")
    expect(anna.page.locator("#log")).not_to_contain_text("push.example.org")
    anna.type("notify").hears("browsers: 1 browser")
    switch = settings(anna).page.get_by_label("Notify me in this browser when it is my turn")
    expect(switch).to_be_checked()
    switch.click()
    expect(anna.page.locator("#notify-said")).to_have_text("Notifications are off in this browser.")


def test_unsupported_browser_explains_the_failure(server: Served, visit: Visit) -> None:
    anna = settings(member(server, visit, "Bert"))
    switch = anna.page.get_by_label("Notify me in this browser when it is my turn")
    switch.click()
    said = anna.page.locator("#notify-said")
    expect(said).to_have_text(re.compile("^Notifications failed: "))
    expect(switch).not_to_be_checked()
    anna.errors.clear()  # Chromium also warns about incognito mode


def test_guest_has_no_notification_switch(server: Served, visit: Visit) -> None:
    anna = visit(server=server, service_workers="allow").come_in("Gast")
    anna.page.get_by_role("button", name="Settings").click()
    expect(anna.page.get_by_role("heading", name="Settings")).to_be_visible()
    expect(anna.page.locator("#notify")).to_have_count(0)


@pytest.fixture
def worker(server: Served, visit: Visit) -> tuple[Player, Worker, CDPSession, str]:
    """Return a page, its service worker, and a session and registration for pushes."""
    anna = visit("/nothing.txt", server=server, service_workers="allow")
    anna.errors.clear()  # of the missing page
    session = anna.page.context.new_cdp_session(anna.page)
    known: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: known.extend(each["registrationId"] for each in event["registrations"]),
    )
    with anna.page.context.expect_event("serviceworker") as begun:
        anna.page.goto(server.address)
    anna.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    session.send("ServiceWorker.enable")
    while not known:
        anna.page.evaluate("true")  # lets events be dispatched
    return anna, begun.value, session, known[0]


def test_push_message_is_shown_as_a_notification(
    worker: tuple[Player, Worker, CDPSession, str], server: Served
) -> None:
    _, running, session, registration = worker
    running.evaluate(
        """() => {
          self.shown = [];
          self.registration.showNotification = async (...words) => { self.shown.push(words); };
        }"""
    )
    data = '{"title": "Your turn against Bert", "body": "Move 2.", "path": "/board/oak%20board"}'
    push = {"origin": server.address, "registrationId": registration, "data": data}
    session.send("ServiceWorker.deliverPushMessage", push)
    shown: list[object] = []
    while not shown:
        shown = running.evaluate("() => self.shown")
    path = "/board/oak%20board"
    options = {"body": "Move 2.", "tag": path, "icon": "/icon.svg", "data": path}
    assert shown == [["Your turn against Bert", options]]


def test_offline_page_is_shown_without_a_network(
    worker: tuple[Player, Worker, CDPSession, str], server: Served
) -> None:
    anna, *_ = worker
    anna.loses_server = True
    anna.page.context.set_offline(True)
    anna.page.goto(f"{server.address}/board/oak")
    expect(anna.page.get_by_role("heading", name="No network")).to_be_visible()
    expect(anna.page.locator("body")).to_contain_text("Nothing is lost")
    anna.page.context.set_offline(False)
    anna.page.get_by_role("link", name="Try again").click()
    expect(anna.page.locator("body")).to_have_attribute("data-view", "welcome")
    expect(anna.page.locator("#link")).to_have_text("")
    anna.errors = [each for each in anna.errors if "INTERNET_DISCONNECTED" not in each]


def test_start_page_is_shown_without_a_round_trip(
    worker: tuple[Player, Worker, CDPSession, str], server: Served
) -> None:
    anna, *_ = worker
    anna.loses_server = True
    anna.page.context.set_offline(True)
    anna.page.reload()
    expect(anna.page.get_by_label("Your name")).to_be_visible()
    expect(anna.page.locator("#link")).to_contain_text("Connection lost")
    anna.page.context.set_offline(False)
    expect(anna.page.locator("#link")).to_have_text("")
    anna.errors = [each for each in anna.errors if "INTERNET_DISCONNECTED" not in each]


OUTDATE = """async () => {
    const pages = await caches.open("thud");
    const page = await pages.match("/");
    const text = (await page.text()).replace("Somebody is", "Old: somebody is");
    const headers = new Headers(page.headers);
    headers.set("ETag", "old");
    headers.delete("Content-Encoding");
    await pages.put("/", new Response(text, { headers }));
}"""
"""Puts the start page of an older version into the service worker's cache."""
OLD = "Old: somebody"


def test_newer_start_page_is_loaded_at_once(
    worker: tuple[Player, Worker, CDPSession, str],
) -> None:
    anna, *_ = worker
    anna.page.evaluate(OUTDATE)
    anna.page.reload()
    expect(anna.page.locator(".lead")).not_to_contain_text(OLD)
    assert anna.page.evaluate("Object.keys(sessionStorage).length") == 1


def test_newer_start_page_is_announced_to_somebody_who_types(
    worker: tuple[Player, Worker, CDPSession, str],
) -> None:
    anna, running, *_ = worker
    anna.page.get_by_label("Your name").click()  # so that the page has been used
    running.evaluate(
        """async () => {
          for (const page of await self.clients.matchAll()) page.postMessage({ newer: "2" });
        }"""
    )
    expect(anna.page.locator("#toast")).to_contain_text("newer version")
    expect(anna.page.locator("#status")).to_contain_text("newer version")
