"""The notifier, which sends notifications by mail and web push. One server does so for all.

The outbox is in the store, see `thudmud.features.notifications.storage`. The notifier polls it,
sends the notifications that are still news, and deletes a row once it is sent. Delivery is at least
once: a server that is killed in between, or loses the lock to another one, leaves the row there,
and it may be sent twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from thudmud.errors import ThudmudError
from thudmud.features.notifications import storage
from thudmud.features.notifications.messages import (
    Mail,
    code_mail,
    end_link,
    mail_of,
    told_of_end,
    told_of_turn,
)
from thudmud.features.notifications.model import (
    Browser,
    Kind,
    NotificationSettings,
    Recipient,
    Waiting,
    share_of_codes,
)
from thudmud.features.options.preferences import options_of
from thudmud.game.clocks import DAY
from thudmud.game.hall import Hall
from thudmud.game.options import Options
from thudmud.store import Holder, Store, StoreError, accounts, battles
from thudmud.views.headlines import Headline, finders

PACE = 5.0
"""Seconds between two polls of the outbox."""

WAIT = 60.0
"""Seconds for which a notification waits: the member may come soon, or more may happen."""

FIRST_PAUSE, LONGEST_PAUSE = 60.0, 14_400.0
"""Seconds before the first retry, and the most before any. The pause doubles with each failure."""

GIVEN_UP_AFTER = DAY
"""Seconds of failures after which a notification is dropped."""

HELD_BACK = 300.0
"""Seconds for which a mail is postponed when the hourly limit is reached."""

_HOUR = 3_600.0

_log = logging.getLogger(__name__)


class NotSentError(ThudmudError):
    """A temporary failure to send, which is tried again.

    ``str()`` gives the reason, without addresses.

    Attributes:
        pause: the least seconds to wait, if known; else 0.
        is_ours: whether sending fails until the operator corrects something.
    """

    def __init__(self, why: str, pause: float = 0.0, *, is_ours: bool = False) -> None:
        super().__init__(why)
        self.pause, self.is_ours = pause, is_ours


class NeverSentError(ThudmudError):
    """A permanent failure: the address or the browser is gone.

    ``str()`` gives the reason, without addresses.
    """


class Mailer(Protocol):
    """Sends mails."""

    async def send(self, address: str, mail: Mail, end: str, number: int) -> None:
        """Send a mail.

        Args:
            address: the recipient's address.
            mail: the mail.
            end: the unsubscribe link.
            number: identifies the mail; the same when it is sent again.

        Raises:
            NotSentError: a temporary failure; the message may have been sent nevertheless.
            NeverSentError: the address no longer exists.
        """


class Pusher(Protocol):
    """Sends web push messages.

    Attributes:
        key: the server's public key, in base64url.
    """

    key: str

    async def send(self, browser: Browser, told: Headline, lasts: float) -> None:
        """Send a message to a browser.

        Args:
            browser: the subscription.
            told: the notification.
            lasts: seconds for which the push service keeps the message.

        Raises:
            NotSentError: a temporary failure; the message may have been sent nevertheless.
            NeverSentError: the subscription no longer exists.
        """


class NotifyPolicy(NamedTuple):
    """Limits and pace of sending, and the server's name.

    Attributes:
        gap: the least seconds between two mails to the same member.
        per_hour: the most mails within an hour, to all members together.
        name: the name of the server.
        pace: seconds between two polls of the outbox.
        wait: seconds for which a notification waits before it is sent.
    """

    gap: float = 900.0
    per_hour: int = 100
    name: str = "thudmud"
    pace: float = PACE
    wait: float = WAIT

    @property
    def codes_per_hour(self) -> int:
        """The most codes among an hour's mails. The rest is for others, so neither kind starves."""
        return share_of_codes(self.per_hour)


class Notifier:
    """Sends notifications while this server holds the lock for it.

    Args:
        hall: the boards, and the people here, on all servers.
        store: the store with the outbox.
        mailer: sends mails; None for none.
        pusher: sends web push messages; None for none.
        policy: limits and pace.
        is_alive: whether this server may still act.
    """

    def __init__(
        self,
        hall: Hall,
        store: Store,
        mailer: Mailer | None,
        pusher: Pusher | None,
        policy: NotifyPolicy,
        *,
        is_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        self._hall, self._store, self._policy = hall, store, policy
        self._mailer, self._pusher, self._is_alive = mailer, pusher, is_alive
        self._mailed: tuple[deque[float], deque[float]] = deque(), deque()
        """The times of the mails of the last hour: codes, and the rest."""
        self._full: set[str] = set()
        """The kinds of mails at their limit, so that each is logged once."""
        self._done: dict[int, bool] = {}
        """Notifications sent, but not yet deleted from the outbox, by number; whether by mail."""

    async def follow(self, holders: asyncio.Queue[Holder]) -> None:
        """Send while this server holds the lock; cancel sending when the lock is lost."""
        sending: list[asyncio.Task[None]] = []
        try:
            while True:
                is_ours = await holders.get() is Holder.OURS
                if not is_ours:
                    sending = await _cancel_and_wait(sending)
                elif not sending:
                    ways = self._keep(mails=True), self._keep(mails=False)
                    sending = [asyncio.create_task(each) for each in ways]
        finally:
            await _cancel_and_wait(sending)

    async def _keep(self, *, mails: bool) -> None:
        """Send mails, or push messages, in an endless loop; each kind has its own."""
        while not _is_to_end():
            try:
                if self._is_alive():
                    await self.look(mails=mails)
            except StoreError as error:
                _log.error("could not read or update the queued notifications: %s", error)
            except Exception:  # noqa: BLE001  (a bug with one must not stop the others)
                _log.exception("could not send notifications")
            await asyncio.sleep(self._policy.pace)

    async def look(self, *, mails: bool) -> None:
        """Send the notifications that are due.

        Raises:
            StoreError: the outbox can't be read; or a notification was sent, and can't be deleted.
        """
        waiting = await self._store.read(storage.due, mails=mails)
        # Codes first: they expire within an hour.
        for recipient in sorted(waiting, key=lambda each: not each.code):
            if _is_to_end() or not self._is_alive():
                return
            done = [each for each in recipient.waiting if each.number in self._done]
            if done:  # sent before, but not deleted
                await self._note_sent(recipient._replace(waiting=tuple(done)))
                continue
            await self._tell(recipient)

    async def _tell(self, recipient: Recipient) -> None:
        """Send, postpone or drop a recipient's notifications."""
        now = self._store.clock()
        is_mail = not recipient.way
        way = self._mailer if is_mail else self._pusher
        is_banned = self._hall.order is not None and self._hall.order.ban(recipient.player, now)
        if way is None or is_banned or not (recipient.address or recipient.browser):
            await self._store.write(storage.delete_sent, recipient)
        elif recipient.code:
            if not self._has_room(now, for_code=True):
                await self._store.write(storage.put_off, recipient, now + HELD_BACK)
                return
            ways = self._hall.part(NotificationSettings).ways
            mail = code_mail(
                recipient.player, recipient.code, ways, recipient.secret, self._policy.name
            )
            await self._send(recipient, mail, now)
        elif told := await self._still_news(recipient, now):
            recipient = recipient._replace(waiting=tuple(each for each, _ in told))
            until = self._until(recipient, now)
            if until > now:
                await self._store.write(storage.put_off, recipient, until)
            elif is_mail and not self._has_room(now, for_code=False):
                await self._store.write(storage.put_off, recipient, now + HELD_BACK)
            else:
                await self._send(recipient, _once(each for _, each in told), now)

    def _until(self, recipient: Recipient, now: float) -> float:
        """Return when to notify a member: now, or later."""
        until = recipient.waiting[0].at + self._policy.wait
        if recipient.player in self._hall.people:  # here, but idle: they may look soon
            until = max(until, now + self._policy.wait)
        if recipient.mailed is not None and not recipient.way:
            until = max(until, recipient.mailed + self._policy.gap)
        return recipient.quiet.until(max(until, now)) if recipient.quiet else max(until, now)

    def _has_room(self, now: float, *, for_code: bool) -> bool:
        """Whether the hourly limit allows another mail, with a code or with notifications."""
        for mailed in self._mailed:
            while mailed and mailed[0] <= now - _HOUR:
                mailed.popleft()
        codes, others = map(len, self._mailed)
        policy = self._policy
        if for_code:
            kind, sent, most = "codes", codes, policy.codes_per_hour
        else:
            most = max(1, policy.per_hour - policy.codes_per_hour)
            kind, sent = "notifications", others
        is_full = sent >= most or codes + others >= policy.per_hour
        if not is_full:
            self._full.discard(kind)
        elif kind not in self._full:
            self._full.add(kind)
            _log.warning(
                "reached the hourly limit, holding mails back", extra={"kind": kind, "sent": sent}
            )
        return not is_full

    async def _send(
        self, recipient: Recipient, what: Mail | Sequence[Headline], now: float
    ) -> None:
        """Send notifications, and record the result."""
        try:
            if recipient.browser and self._pusher and not isinstance(what, Mail):
                for each in what:
                    await self._pusher.send(recipient.browser, each, DAY)
            elif self._mailer:
                ways, secret = self._hall.part(NotificationSettings).ways, recipient.secret
                if not isinstance(what, Mail):
                    what = mail_of(recipient.player, what, ways, secret, self._policy.name)
                number = recipient.waiting[-1].number
                await self._mailer.send(recipient.address, what, end_link(ways, secret), number)
                self._mailed[not recipient.code].append(now)  # codes at 0, the rest at 1
        except NotSentError as error:
            await self._failed(recipient, error, now)
        except NeverSentError as error:
            _log.warning("could not notify a player: %s", error, extra={"player": recipient.player})
            await self._store.write(storage.refuse, recipient)
        else:
            self._done |= dict.fromkeys(
                (each.number for each in recipient.waiting), not recipient.way
            )
            await self._note_sent(recipient)

    async def _note_sent(self, recipient: Recipient) -> None:
        numbers = [each.number for each in recipient.waiting]
        mailed = self._done.get(numbers[0], False) and not recipient.code
        await self._store.write(storage.delete_sent, recipient, mailed=mailed)
        for each in numbers:
            self._done.pop(each, None)

    async def _failed(self, recipient: Recipient, error: NotSentError, now: float) -> None:
        """Schedule a retry; drop notifications that have failed for too long."""
        about = {"player": recipient.player, "why": str(error)}
        old = [
            each
            for each in recipient.waiting
            if each.failing is not None and now - each.failing >= GIVEN_UP_AFTER
        ]
        if old:
            _log.error("gave up on notifications", extra={**about, "number": len(old)})
            await self._store.write(storage.delete_sent, recipient._replace(waiting=tuple(old)))
        rest = tuple(each for each in recipient.waiting if each not in old)
        if rest:
            tries = max(each.tries for each in rest)
            pause = min(FIRST_PAUSE * 2**tries, LONGEST_PAUSE)
            level = logging.ERROR if error.is_ours else logging.WARNING
            level = logging.INFO if tries else level  # only the first failure is prominent
            _log.log(
                level,
                "could not notify a player, will retry",
                extra={**about, "tries": tries + 1},
            )
            until = now + max(pause, min(error.pause, LONGEST_PAUSE))
            left = recipient._replace(waiting=rest)
            await self._store.write(storage.put_off, left, until, failed=True)

    # Dropping stale notifications.

    async def _still_news(self, recipient: Recipient, now: float) -> list[tuple[Waiting, Headline]]:
        """Return the notifications that are still news, with their texts; drop the others.

        Warnings about the clock are postponed if the clock has gained time since.
        """
        person = self._hall.people.get(recipient.player)
        options: Options | None = None
        told: list[tuple[Waiting, Headline]] = []
        old: list[Waiting] = []
        for each in recipient.waiting:
            if person and person.last_active > each.at:
                old.append(each)
                continue
            if options is None:
                options = await self._options(recipient.player)
            if (short := self._short_at(each)) and short > now:
                await self._store.write(storage.put_off, recipient._replace(waiting=(each,)), short)
            elif (news := await self._current_headline(each, now, options)) is None:
                old.append(each)
            else:
                told.append((each, news))
        if old:
            await self._store.write(storage.delete_sent, recipient._replace(waiting=tuple(old)))
        return told

    async def _options(self, player: str) -> Options:
        account = await self._store.read(accounts.find, player)
        return options_of(account.preferences) if account else Options()

    def _short_at(self, waiting: Waiting) -> float | None:
        """Return when to send a warning about a member's clock; None for other notifications."""
        table = self._hall.tables.with_key(waiting.board)
        if waiting.kind is not Kind.CLOCK or table is None or table.clock is None:
            return None
        return table.clock.deadline - table.clock.control.short

    async def _current_headline(
        self, waiting: Waiting, now: float, options: Options
    ) -> Headline | None:
        """Return the text of a notification; None if it is no longer news."""
        player = waiting.player
        match waiting.kind:
            case Kind.TURN | Kind.CLOCK:
                table = self._hall.tables.with_key(waiting.board)
                if table is None or not table.is_turn_of(player):
                    return None
                return told_of_turn(waiting.kind, table, player, now, options)
            case Kind.END:
                battle = await self._store.read(battles.battle, waiting.subject)
                return told_of_end(battle) if battle and battle.outcome else None
            case Kind():
                find = finders.get(waiting.kind.value)
                look_up = self._store.look_up
                return await find(self._hall, look_up, player, waiting.subject) if find else None
        return None


def _once(told: Iterable[Headline]) -> list[Headline]:
    """Return headlines without duplicates: a warning about the clock replaces the turn's."""
    ordered = sorted(told, key=lambda each: each.kind == Kind.CLOCK.value)
    return list({(each.path, each.kind == Kind.ROUND.value): each for each in ordered}.values())


def _is_to_end() -> bool:
    """Whether the current task was cancelled, even if the cancellation was swallowed.

    Python 3.11's `asyncio.wait_for`, which aiosmtplib uses, swallows a cancellation if the answer
    comes at the same moment.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _cancel_and_wait(sending: list[asyncio.Task[None]]) -> list[asyncio.Task[None]]:
    """Cancel the sending tasks and wait for their end; return an empty list."""
    for task in sending:
        task.cancel()
    if sending:
        await asyncio.wait(sending)
    return []
