"""The event bus: order, errors, and when the queue is drained."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from thudmud.game.events import BattleEnded, Joined, Left, Parting
from thudmud.game.feature import AppliedEvent
from thudmud.rules import Side
from thudmud.service.bus import EventBus
from thudmud.service.coroutines import KeyedLock

JOINED = AppliedEvent(Joined(0.0, "Anna", Side.DWARF), None, None, is_ours=True)
LEFT = AppliedEvent(Left(0.0, "Anna", Side.DWARF, Parting.LEFT), None, None, is_ours=True)


def publish(bus: EventBus, applied: AppliedEvent) -> None:
    """Queue an event as `Broadcaster.carry_out` does."""
    for handler in bus.handlers.get(type(applied.event), ()):
        bus.defer(partial(handler, applied))


@pytest.fixture
def bus() -> EventBus:
    return EventBus()


def test_handlers_run_in_the_order_of_events_and_of_subscription(bus: EventBus) -> None:
    seen: list[str] = []
    bus.subscribe(
        (Joined, Left), lambda applied: seen.append(f"first {type(applied.event).__name__}")
    )
    bus.subscribe(Joined, lambda _: seen.append("second Joined"))
    bus.subscribe(BattleEnded, lambda _: seen.append("another"))
    publish(bus, JOINED)
    publish(bus, LEFT)
    assert seen == []
    bus.dispatch()
    assert seen == ["first Joined", "second Joined", "first Left"]


def test_event_of_a_line_is_handled_at_the_end_of_that_line(bus: EventBus) -> None:
    seen: list[AppliedEvent] = []
    bus.subscribe(Joined, seen.append)
    assert bus.names.try_acquire("Anna")
    assert bus.names.try_acquire("Carla")
    publish(bus, JOINED)
    bus.dispatch("Anna")
    assert seen == []
    bus.names.release("Anna")
    assert seen == [JOINED]
    publish(bus, JOINED)
    bus.dispatch()  # as a timer does after its append
    assert seen == [JOINED, JOINED]


def test_event_published_by_a_handler_is_queued(bus: EventBus) -> None:
    seen: list[str] = []

    def joined(_: AppliedEvent) -> None:
        seen.append("joined")
        publish(bus, LEFT)
        bus.dispatch()
        seen.append("joined is done")

    bus.subscribe(Joined, joined)
    bus.subscribe(Left, lambda _: seen.append("left"))
    publish(bus, JOINED)
    bus.dispatch()
    assert seen == ["joined", "joined is done", "left"]


def test_failing_handler_is_logged_and_others_still_run(
    bus: EventBus, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[AppliedEvent] = []

    def fail(_: AppliedEvent) -> None:
        raise RuntimeError("a mistake")

    bus.subscribe(Joined, fail)
    bus.subscribe(Joined, seen.append)
    publish(bus, JOINED)
    bus.dispatch()
    assert seen == [JOINED]
    assert caplog.messages == ["an event handler failed"]


def test_interrupted_bus_continues_with_the_next_event(bus: EventBus) -> None:
    seen: list[AppliedEvent] = []

    def interrupted(_: AppliedEvent) -> None:
        raise KeyboardInterrupt

    bus.subscribe(Left, interrupted)
    bus.subscribe(Joined, seen.append)
    publish(bus, LEFT)
    with pytest.raises(KeyboardInterrupt):
        bus.dispatch()
    publish(bus, JOINED)
    bus.dispatch()
    assert seen == [JOINED]


async def test_locks_are_all_released_when_the_last_waiter_is_cancelled() -> None:
    """The waiter is cancelled at the moment the lock is handed to it."""
    turns = KeyedLock()
    assert turns.try_acquire("Anna")
    waits = asyncio.create_task(turns.acquire("Anna"))
    await asyncio.sleep(0)
    idle = asyncio.create_task(turns.wait_idle())
    await asyncio.sleep(0)
    turns.release("Anna")
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    async with asyncio.timeout(60):
        await idle
