"""The server's side of notifications: the notifier, and the pages of published texts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thudmud.errors import StartError
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import NotificationSettings, Ways
from thudmud.features.notifications.reactors import follow_members
from thudmud.game.feature import FeatureContext, Figure, PageRoute
from thudmud.language import clean
from thudmud.store import Holder, Lock
from thudmud.version import install_hint

if TYPE_CHECKING:
    from thudmud.features.notifications.notifier import Mailer, Pusher
    from thudmud.features.notifications.smtp import Relay
    from thudmud.features.notifications.web_push import PushServices

_FIGURES = {
    "waiting": "Notifications in the outbox, by how they are sent.",
    "failing": "Notifications in the outbox whose sending has failed so far.",
}
"""The help texts of the figures for monitoring systems."""


class NotificationServing:
    """Notifications on a server; implements `thudmud.game.feature.Serving`.

    Args:
        settings: all settings of the server.
        folder: the folder that relative file names refer to.
        is_dry_run: whether to make no files.

    Raises:
        StartError: a package is missing, or a file can't be used.
    """

    def __init__(self, settings: Any, folder: Path, *, is_dry_run: bool = False) -> None:
        self._mail, self._name = settings.mail, clean(settings.listing.name)
        self._ways, self._mailer, self._pusher = outside(settings, folder, is_dry_run=is_dry_run)

    @property
    def common(self) -> Mapping[str, str]:
        """Settings that must be equal on all servers with the same database, as texts by name.

        Any server may store a notification, and any other may have to send it.
        """
        told = {"mail.relay": "used"} if self._ways.has_mail else {}
        return told | ({"the key in push.keys": self._ways.push} if self._ways.push else {})

    async def begin(
        self,
        service: FeatureContext,
        lock: Callable[[Lock], Awaitable[asyncio.Queue[Holder]]],
    ) -> Coroutine[None, None, None] | None:
        """Configure a service's notifications; return the notifier's coroutine, if any."""
        self._service, mail = service, self._mail
        notified = service.hall.part(NotificationSettings)
        notified.configure(self._ways, mail.per_hour, established_only=mail.established_only)
        if not (self._mailer or self._pusher):
            return None
        holders = await lock(Lock.NOTIFYING)
        await follow_members(service)
        # Imported late: few servers need it.
        from thudmud.features.notifications.notifier import (  # noqa: PLC0415
            Notifier,
            NotifyPolicy,
        )

        notifier = Notifier(
            service.hall,
            service.store,
            self._mailer,
            self._pusher,
            NotifyPolicy(60.0 * self._mail.minutes, self._mail.per_hour, self._name),
            is_alive=lambda: service.is_alive,
        )
        return notifier.follow(holders)

    async def measure(self) -> Sequence[Figure]:
        """Return the number of waiting notifications, and of those that could not be sent yet."""
        ways = {"mail": self._mailer, "browser": self._pusher}
        if not any(ways.values()):
            return []
        counts = await self._service.store.read(storage.count_waiting)
        return [
            Figure(f"notifications_{state}", _FIGURES[state], {"way": way}, number)
            for way, count in counts.items()
            if ways[way]
            for state, number in count._asdict().items()
        ]

    @property
    def pages(self) -> Sequence[PageRoute]:
        """The routes of calendars, feeds and the unsubscribe page."""
        from thudmud.features.notifications import pages  # noqa: PLC0415  (not needed at the start)

        return pages.routes(self._service.hall, self._service.store)


serve = NotificationServing


def outside(
    settings: Any, folder: Path, *, is_dry_run: bool = False
) -> tuple[Ways, Mailer | None, Pusher | None]:
    """Return the ways of notification, the mailer and the pusher, as configured.

    Args:
        settings: all settings of the server.
        folder: the folder that relative file names refer to.
        is_dry_run: whether to make no files.

    Raises:
        StartError: a package is missing, or a file can't be used.
    """
    mailer = make_relay(settings, folder) if settings.mail.relay else None
    pusher = make_pusher(settings, folder, is_dry_run=is_dry_run) if settings.push.enabled else None
    page = settings.web.public_url
    key = pusher.key if pusher else ""
    services = settings.push.services if pusher else ()
    return Ways(mailer is not None, key, services, page), mailer, pusher


def make_relay(settings: Any, folder: Path) -> Relay:
    """Return the configured mail relay.

    Raises:
        StartError: a package is missing, or a file can't be used.
    """
    try:
        from thudmud.features.notifications.smtp import Relay  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise StartError(f"mail.relay needs more packages. {install_hint('notify')}") from error
    return Relay(settings.mail, folder, clean(settings.listing.name))


def make_pusher(settings: Any, folder: Path, *, is_dry_run: bool = False) -> PushServices:
    """Return the configured push services, with the server's key.

    Raises:
        StartError: a package is missing, or the key can't be made or read.
    """
    try:
        from thudmud.features.notifications.web_push import PushServices  # noqa: PLC0415  (the same)
    except ImportError as error:
        raise StartError(f"push.enabled needs more packages. {install_hint('notify')}") from error
    return PushServices(settings.push, folder, settings.web.public_url, is_dry_run=is_dry_run)
