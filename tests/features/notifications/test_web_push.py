"""Web push to browsers through services that accept, reject, postpone or don't answer."""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
import stat
import time
from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path

import pytest
import trustme

from tests.features.letters.test_reactors import Clock
from tests.features.notifications.test_service import made
from tests.server.pushes import Device, PushService, pushing
from tests.service.place import Place
from thudmud.errors import StartError
from thudmud.features.notifications import storage
from thudmud.features.notifications import web_push as sending
from thudmud.features.notifications.model import NotificationSettings, Ways
from thudmud.features.notifications.notifier import (
    Notifier,
    NotifyPolicy,
)
from thudmud.features.notifications.serving import NotificationServing, outside
from thudmud.features.notifications.settings import PushSettings
from thudmud.features.notifications.web_push import PushServices
from thudmud.game.clocks import DAY
from thudmud.server.config import Settings
from thudmud.store import Store, persons

MINUTE = 60.0
AUTHORITY = trustme.CA()
PAGE = "https://thud.example.org"
POLICY = NotifyPolicy(wait=MINUTE)


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


class Pushed:
    """A match between Bert and Anna, who is offline and gets notifications in two browsers."""

    def __init__(self, place: Place, clock: Clock, notifier: Notifier) -> None:
        self.place, self.clock, self.notifier = place, clock, notifier

    async def after(self, seconds: float) -> None:
        self.clock.now += seconds
        self.place.now = self.clock.now
        await self.notifier.look(mails=False)

    async def browsers(self) -> int:
        return len(
            (await self.place.service.store.read(persons.personal_data, "Anna")).get("browser", [])
        )


@pytest.fixture
def service() -> PushService:
    return PushService(Device("/one"), Device("/two"))


@pytest.fixture
async def pushed(service: PushService, tmp_path: Path) -> AsyncIterator[Pushed]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    clock = Clock()
    place = await made(Store.in_memory(clock=clock))
    async with pushing(service, context):
        host = service.address.removeprefix("https://")
        settings = PushSettings(enabled=True, services=(host,))
        pusher = PushServices(settings, tmp_path, PAGE, trusting())
        place.hall.part(NotificationSettings).ways = Ways(
            push=pusher.key, services=(host,), page=PAGE
        )
        notifier = Notifier(place.hall, place.service.store, None, pusher, POLICY)
        for device in service.devices.values():
            browser = device.browser(service.address)
            told = await place.type("Anna", f"notify browser {' '.join(browser)}")
            assert told.startswith("This browser will notify you")
        await place.type("Anna", "join game as dwarf on oak board", "set clock 3 days")
        await place.type("Bert", "join game as troll on oak board", "start")
        await place.type("Anna", "move a6 b6")
        await place.leave("Anna")
        yield Pushed(place, clock, notifier)


async def test_move_is_pushed_to_each_browser(pushed: Pushed, service: PushService) -> None:
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert sorted(path for path, _, _ in service.taken) == ["/one", "/two"]
    for _, headers, message in service.taken:
        assert message == {
            "title": "Your turn against Bert",
            "body": "Move 2: Bert moves the troll from G7 to F7.",
            "path": "/board/oak%20board",
        }
        assert headers["TTL"] == "86400"
        assert headers["Urgency"] == "normal"
        assert len(headers["Topic"]) == 32
        assert (
            f"k={pushed.place.hall.part(NotificationSettings).ways.push}"
            in headers["Authorization"]
        )
    await pushed.after(DAY)
    assert len(service.taken) == 2
    await pushed.after(1.75 * DAY)
    assert {message["title"] for _, _, message in service.taken[2:]} == {
        "6 hours left against Bert"
    }
    assert {headers["Urgency"] for _, headers, _ in service.taken[2:]} == {"high"}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, ""),
        (410, ""),
        (400, '{"reason":"VapidPkHashMismatch"}'),
        (401, '{"code":401,"errno":109,"message":"VAPID public key mismatch"}'),
        (
            403,
            "the VAPID credentials in the authorization header do not correspond to the credentials"
            " used to create the subscriptions.\n",
        ),
    ],
)
async def test_expired_subscription_is_dropped(
    pushed: Pushed, service: PushService, status: int, reason: str
) -> None:
    service.status, service.reason = status, reason
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert await pushed.browsers() == 0
    assert pushed.place.hall.part(NotificationSettings).members == frozenset()


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, '{"reason":"BadJwtToken"}'),
        (403, '{"reason":"ExpiredJwtToken"}'),
        (401, '{"code":401,"errno":109,"message":"Request did not validate missing auth header"}'),
        (403, ""),
        (401, "x" * 100_000),
        (403, "\xff\xfe"),
        (400, '{"reason":"BadWebPushTopic"}'),
        (413, ""),
    ],
)
async def test_rejected_request_keeps_the_browser_and_logs_an_error(
    pushed: Pushed,
    service: PushService,
    caplog: pytest.LogCaptureFixture,
    status: int,
    reason: str,
) -> None:
    service.status, service.reason = status, reason
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert await pushed.browsers() == 2
    assert {line.levelno for line in caplog.records} == {logging.ERROR}
    assert {vars(line)["why"].partition(":")[0] for line in caplog.records} == {
        f"the push service rejected this server with {status}"
    }
    service.status = 201
    await pushed.after(MINUTE)
    assert len(service.taken) == 4


@pytest.mark.parametrize(
    ("status", "later", "wait"), [(429, "600", 600), (500, "", 60), (307, "", 60)]
)
async def test_failing_push_service_is_retried_after_a_pause(
    pushed: Pushed, service: PushService, status: int, later: str, wait: int
) -> None:
    service.status, service.later = status, later
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert len(service.taken) == 2  # redirects are not followed
    service.status, service.later = 201, ""
    await pushed.after(wait - 1)
    assert len(service.taken) == 2
    await pushed.after(1)
    assert len(service.taken) == 4
    assert await pushed.browsers() == 2


async def test_push_service_is_retried_after_its_retry_after_date(
    pushed: Pushed, service: PushService
) -> None:
    service.status, service.later = 503, formatdate(time.time() + 600, usegmt=True)
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    service.status, service.later = 201, ""
    await pushed.after(300)
    assert len(service.taken) == 2
    await pushed.after(300)
    assert len(service.taken) == 4


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        ("", 0.0),
        ("120", 120.0),
        ("9" * 400, math.inf),
        ("Thu, 01 Jan 1970 00:20:00 GMT", 200.0),
        ("Thu, 01 Jan 1970 00:10:00 GMT", 0.0),
        ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", 0.0),
        ("-1", 0.0),
        ("1e9", 0.0),
        ("soon", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(retry_after: str, pause: float) -> None:
    assert sending.retry_after_seconds(retry_after, 1000.0) == pause


async def test_slow_push_service_is_retried(
    pushed: Pushed, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.hold = asyncio.Event()
    await pushed.place.type("Bert", "move g7 f7")
    with monkeypatch.context() as patch:
        patch.setattr(sending, "TIMEOUT", 0.05)
        await pushed.after(MINUTE)
    service.hold.set()
    await pushed.after(MINUTE)
    assert await pushed.browsers() == 2
    assert await pushed.place.service.store.read(storage.due, mails=False) == []


async def test_push_service_with_an_untrusted_certificate_gets_nothing(
    pushed: Pushed, service: PushService
) -> None:
    pushed.notifier._pusher._context = ssl.create_default_context()  # type: ignore[union-attr]
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert (service.taken, await pushed.browsers()) == ([], 2)


async def test_push_service_missing_from_the_settings_gets_nothing(
    pushed: Pushed, service: PushService
) -> None:
    pushed.notifier._pusher._services = ("push.example.org",)  # type: ignore[union-attr]
    await pushed.place.type("Bert", "move g7 f7")
    await pushed.after(MINUTE)
    assert (service.taken, await pushed.browsers()) == ([], 0)


async def test_subscription_with_invalid_keys_is_dropped(
    pushed: Pushed, service: PushService
) -> None:
    await pushed.place.enter("Carla", member=True)
    await pushed.place.type("Carla", f"notify browser {service.address}/one {'A' * 87} {'a' * 22}")
    await pushed.place.leave("Carla")
    await pushed.place.type("Bert", "message carla Ho!")
    await pushed.after(MINUTE)
    assert service.taken == []
    assert "Carla" not in pushed.place.hall.part(NotificationSettings).members


def test_push_key_is_created_once_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    first = PushServices(PushSettings(), tmp_path, PAGE)
    [path] = tmp_path.iterdir()
    assert path.name == "push.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PushServices(PushSettings(), tmp_path, PAGE).key == first.key
    assert len(first.key) == 87
    path.write_bytes(BOM_UTF8 + path.read_bytes())
    assert PushServices(PushSettings(), tmp_path, PAGE).key == first.key
    path.write_text("nonsense")
    with pytest.raises(StartError, match=r"push.keys: expected a private .* in .*push.pem"):
        PushServices(PushSettings(), tmp_path, PAGE)
    path.unlink()
    path.mkdir()
    with pytest.raises(StartError, match=r"push.keys: "):
        PushServices(PushSettings(), tmp_path, PAGE)
    with pytest.raises(StartError, match=r"push.keys: "):
        PushServices(PushSettings(keys="none/push.pem"), tmp_path, PAGE)


def test_push_contact_is_required_without_an_https_page(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"push.contact"):
        PushServices(PushSettings(), tmp_path, "http://127.0.0.1:8485")
    settings = PushSettings(contact="you@example.org")
    assert PushServices(settings, tmp_path, "http://127.0.0.1:8485").key


def test_settings_determine_the_notification_channels(tmp_path: Path) -> None:
    ways, mailer, pusher = outside(Settings(), tmp_path)
    assert (ways, mailer, pusher) == (Ways(), None, None)
    assert NotificationServing(Settings(), tmp_path).common == {}
    settings = Settings.model_validate(
        {
            "web": {"public_url": PAGE},
            "mail": {"relay": "localhost", "sender": "thud@example.org"},
            "push": {"enabled": True, "services": ["push.example.org"]},
        }
    )
    ways, mailer, pusher = outside(settings, tmp_path)
    assert mailer
    assert pusher
    assert ways == Ways(has_mail=True, push=pusher.key, services=("push.example.org",), page=PAGE)
    common = NotificationServing(settings, tmp_path).common
    assert common == {"mail.relay": "used", "the key in push.keys": pusher.key}


def test_missing_packages_are_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = {"public_url": PAGE}
    mail = {"relay": "localhost", "sender": "thud@example.org"}
    for module in ("smtp", "web_push"):
        monkeypatch.setitem(
            __import__("sys").modules, f"thudmud.features.notifications.{module}", None
        )
    for section, values in (("mail", mail), ("push", {"enabled": True})):
        settings = Settings.model_validate({"web": page, section: values})
        with pytest.raises(StartError, match=rf'{section}\..*pip install "thudmud\[notify\]"'):
            outside(settings, tmp_path)
