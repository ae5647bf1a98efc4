"""Stores members' choices, notifications with their events, and what members have seen."""

from __future__ import annotations

import logging
import math
from functools import partial
from typing import cast

from thudmud.errors import RefusedError
from thudmud.features.notifications import storage
from thudmud.features.notifications.model import (
    BrowserAdded,
    CodeAsked,
    CodeTyped,
    NotificationSettings,
    NotifyChosen,
    NotifyRefusal,
    notices,
    round_notices,
)
from thudmud.game.asides import Active, Aside, Entered, Gone, TookOver
from thudmud.game.events import Parting
from thudmud.game.feature import AppliedEvent, FeatureContext
from thudmud.game.hall import Decision
from thudmud.game.table import Table
from thudmud.store import StoreError
from thudmud.store.database import Work

_log = logging.getLogger(__name__)


def setup(service: FeatureContext) -> None:
    """Register the handlers that store choices, and drop notifications that were seen."""
    # Long: short handlers that share the state of the registration.
    hall, store = service.hall, service.store
    active: dict[str, float] = {}
    """When each member on this node last typed something."""

    async def code_asked(asked: CodeAsked) -> None:
        most = hall.part(NotificationSettings).codes_per_hour
        await store.write(storage.ask_code, asked.player, asked.address, asked.network, most)

    async def code_typed(typed: CodeTyped) -> None:
        left = await store.write(storage.confirm, typed.player, typed.code)
        if left is not None:
            raise RefusedError(
                NotifyRefusal.CODE_WRONG if left else NotifyRefusal.NO_CODE, left=left
            )

    async def browser_added(added: BrowserAdded) -> None:
        await store.write(storage.add_browser, added.player, added.browser)

    async def store_choice(choice: NotifyChosen) -> None:
        await store.write(storage.keep_contact, choice.player, choice.contact)

    service.register_aside_store(CodeAsked, code_asked)
    service.register_aside_store(CodeTyped, code_typed)
    service.register_aside_store(BrowserAdded, browser_added)
    service.register_aside_store(NotifyChosen, store_choice)

    def player_of(applied: AppliedEvent) -> str:
        return cast("Aside", applied.event).player

    def came(applied: AppliedEvent) -> None:
        """Drop all notifications of a member who enters: they see for themselves."""
        was_active(applied)
        person = hall.people.get(player_of(applied))
        if applied.is_ours and person and person.is_member:
            note_seen(person.name, math.inf)

    def was_active(applied: AppliedEvent) -> None:
        person = hall.people.get(player_of(applied))
        if applied.is_ours and person:
            active[person.name] = person.last_active

    def went(applied: AppliedEvent) -> None:
        """Drop the notifications that a leaving member has seen.

        After a lost link, these are only the ones up to the last input.
        """
        gone = cast("Gone", applied.event)
        since = active.pop(gone.player, None)
        if applied.is_ours and since is not None:
            note_seen(gone.player, math.inf if gone.parting is Parting.QUIT else since)

    def note_seen(name: str, until: float) -> None:
        if name in hall.part(NotificationSettings).members:
            service.spawn(store_seen(name, until))

    async def store_seen(name: str, until: float) -> None:
        try:
            await store.write(storage.came, name, until)
        except StoreError as error:  # harmless: they are notified of something they have seen
            _log.error("could not store the time of a visit: %s", error, extra={"player": name})

    service.bus.subscribe((Entered, TookOver), came)
    service.bus.subscribe(Active, was_active)
    service.bus.subscribe(Gone, went)


async def follow_members(service: FeatureContext) -> None:
    """Watch the members who get notifications, and store notifications along with events.

    Raises:
        StoreError: the members can't be read.
    """
    hall, notified = service.hall, service.hall.part(NotificationSettings)

    def find_news(table: Table | None, decision: Decision) -> Work | None:
        if not notified.members:
            return None
        if table is None:
            news = round_notices(decision.hall, notified.members)
        else:
            player = decision.player
            news = notices(table, decision.events, player, notified.members, hall.people)
        return partial(storage.post_news, news=news) if news else None

    notified.follow(await service.store.watch(storage.notified, notified.follow))
    service.register_transaction_work(find_news)
