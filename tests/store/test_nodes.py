"""Live nodes, the players they host, and notes, in every kind of store."""

from __future__ import annotations

from functools import partial

import pytest

from tests.store.deeds import OAK, Clock, joined
from thudmud.game.events import Interrupted
from thudmud.game.projections import HALL
from thudmud.store import NotWrittenError, PlayerClaim, Store, nodes
from thudmud.store.accounts import enrol
from thudmud.store.codec import Form
from thudmud.store.database import Database, Work
from thudmud.store.files import InMemory


async def interruptions(store: Store) -> list[Interrupted]:
    events = [entry.event for entry in await store.read_stream(HALL)]
    return [event for event in events if isinstance(event, Interrupted)]


class TestLeases:
    async def test_node_lives_while_it_renews_its_lease(self, store: Store, clock: Clock) -> None:
        assert not await store.write(nodes.renew_lease, "one", 50)
        assert await store.write(nodes.renew_lease, "one", 50)
        assert not await store.write(nodes.renew_lease, "two", 50)
        await store.write(nodes.claim, "Anna", "one", "s1", "hall")
        assert await store.write(nodes.reap, "two") == []
        beat = clock.now
        clock.now += 40
        await store.write(nodes.renew_lease, "two", 50)
        clock.now += 40
        [claim] = await store.write(nodes.reap, "two")
        assert claim == PlayerClaim("", "Anna", "one", "s1", "hall", claim.seen)
        assert claim.seen == pytest.approx(beat, abs=10)
        assert await store.read(nodes.all_claims) == [PlayerClaim("", "Anna", "two", "s1", "hall")]
        assert await store.write(nodes.reap, "two") == []
        assert not await store.write(nodes.renew_lease, "one", 50), "it was taken for dead"

    async def test_expired_claims_of_the_reaping_node_are_reaped_too(
        self, store: Store, clock: Clock
    ) -> None:
        await store.write(nodes.renew_lease, "one", 10)
        await store.write(nodes.claim, "Anna", "one", "s1")
        clock.now += 20
        await store.write(nodes.renew_lease, "two", 10)
        await store.write(nodes.reap, "two")
        clock.now += 20
        await store.write(nodes.renew_lease, "three", 10)
        assert [claim.node for claim in await store.write(nodes.reap, "three")] == ["two"]

    async def test_leaving_node_releases_its_claims(self, store: Store) -> None:
        await store.write(nodes.renew_lease, "one")
        await store.write(nodes.claim, "Anna", "one", "s1")
        await store.write(nodes.remove_node, "one")
        assert await store.read(nodes.all_claims) == []
        assert not await store.write(nodes.renew_lease, "one")

    async def test_node_with_an_expired_lease_cannot_claim(
        self, store: Store, clock: Clock
    ) -> None:
        with pytest.raises(NotWrittenError, match="lease"):
            await store.write(nodes.claim, "Anna", "one", "s1")
        await store.write(nodes.renew_lease, "one", 10)
        clock.now += 20
        with pytest.raises(NotWrittenError, match="lease"):
            await store.write(nodes.claim, "Anna", "one", "s1")
        assert await store.read(nodes.all_claims) == []


def test_cluster_time_comes_from_live_nodes_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a fail-over the server's clock may be wrong, and starting nodes write as well."""
    works: list[Work] = [
        partial(enrol, name="Anna", password=""),
        partial(nodes.renew_lease, node="one"),
    ]
    now = 1000.0
    database = Database(InMemory(), lambda: now)
    database.write([partial(nodes.renew_lease, node="one")])
    monkeypatch.setattr(database.backend, "now", lambda: 5000.0)

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds
        database.write([works.pop(0)])

    monkeypatch.setattr(nodes, "sleep", pause)
    monkeypatch.setattr(nodes, "monotonic", lambda: now)
    assert nodes.time_of_nodes(database) == now
    assert not works


def test_cluster_time_includes_the_time_spent_reading_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = Database(InMemory(), lambda: 1000.0)
    now, read = 1000.0, database.table.rows
    monkeypatch.setattr(database.backend, "now", lambda: now)
    monkeypatch.setattr(nodes, "monotonic", lambda: now)

    def rows(*asked: object) -> object:
        nonlocal now
        now += 0.3
        return read(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(database.table, "rows", rows)
    assert nodes.time_of_nodes(database) == now > 1000.0


class TestClaims:
    async def test_claim_held_by_a_live_node_is_refused_to_others(self, store: Store) -> None:
        await store.write(nodes.renew_lease, "one", 1000)
        await store.write(nodes.renew_lease, "two", 1000)
        assert await store.write(nodes.claim, "Anna", "one", "s1", "hall") is None
        owner = PlayerClaim("", "Anna", "one", "s1", "hall")
        assert await store.write(nodes.claim, "ANNA", "two", "s2") == owner
        await store.write(nodes.release, "Anna", "two")
        assert await store.read(nodes.all_claims) == [owner]
        await store.write(nodes.release, "anna", "one")
        assert await store.write(nodes.claim, "Anna", "two", "s2") is None
        assert await store.read(nodes.all_claims) == [PlayerClaim("", "Anna", "two", "s2", "")]

    async def test_claim_owner_is_found_by_realm(self, store: Store) -> None:
        await store.write(nodes.renew_lease, "one", 1000)
        assert await store.read(nodes.owner, "Anna") is None
        await store.write(nodes.claim, "Anna", "one", "s1", realm="tower")
        assert await store.read(nodes.owner, "anna", realm="tower") == "one"
        assert await store.read(nodes.owner, "Anna") is None
        await store.write(nodes.release, "Anna", "one", realm="tower")
        assert await store.read(nodes.owner, "Anna", realm="tower") is None

    async def test_claim_can_be_updated_by_its_own_node(self, store: Store) -> None:
        await store.write(nodes.renew_lease, "one")
        await store.write(nodes.claim, "Anna", "one", "s1", "hall")
        assert await store.write(nodes.claim, "Anna", "one", "s2", "oak board") is None
        assert await store.read(nodes.all_claims) == [
            PlayerClaim("", "Anna", "one", "s2", "oak board")
        ]

    async def test_claim_of_a_dead_node_can_be_taken_over(self, store: Store, clock: Clock) -> None:
        await store.write(nodes.renew_lease, "one", 10)
        await store.write(nodes.claim, "Anna", "one", "s1")
        beat = clock.now
        clock.now += 20
        await store.write(nodes.renew_lease, "two", 10)
        claim = await store.write(nodes.claim, "Anna", "two", "s2")
        assert claim
        assert claim == PlayerClaim("", "Anna", "one", "s1", "", claim.seen)
        assert claim.seen == pytest.approx(beat, abs=10)
        assert await store.write(nodes.claim, "Anna", "two", "s2") is None
        assert await store.write(nodes.reap, "two") == []

    async def test_claims_of_one_name_in_two_realms_are_separate(self, store: Store) -> None:
        await store.write(nodes.renew_lease, "one", 1000)
        await store.write(nodes.renew_lease, "two", 1000)
        assert await store.write(nodes.claim, "Anna", "one", "s1") is None
        assert await store.write(nodes.claim, "Anna", "two", "s2", realm="tower") is None
        assert [(each.realm, each.node) for each in await store.read(nodes.all_claims)] == [
            ("", "one"),
            ("tower", "two"),
        ]


class TestInterruptions:
    async def test_first_start_records_no_interruption(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)])})
        await store.write(nodes.renew_lease, "one")
        assert await interruptions(store) == []

    async def test_interruption_spans_the_time_without_a_live_node(
        self, store: Store, clock: Clock
    ) -> None:
        await store.write(nodes.renew_lease, "one", 10)
        await store.append({OAK: (0, [joined(1)])})
        (last,) = await store.read_stream(OAK)
        clock.now += 500
        await store.write(nodes.renew_lease, "two", 10)
        (gap,) = await interruptions(store)
        assert gap.since == last.event.at
        assert gap.at > gap.since + 500
        await store.write(nodes.renew_lease, "two", 10)
        await store.write(nodes.renew_lease, "three", 10)
        assert len(await interruptions(store)) == 1

    async def test_interruption_begins_when_the_last_node_leaves(
        self, store: Store, clock: Clock
    ) -> None:
        await store.write(nodes.renew_lease, "one", 1000)
        clock.now += 100
        await store.write(nodes.remove_node, "one")
        left = clock.now
        await store.write(nodes.renew_lease, "one", 1000)
        (gap,) = await interruptions(store)
        assert gap.since >= left


def text() -> Form:
    return Form(str)


async def test_notes_are_published_but_not_stored(store: Store) -> None:
    heard: list[object] = []
    deaf = store.subscribe_notes(heard.append, text)
    await store.publish_note("hello", text)
    deaf()
    await store.publish_note("goodbye", text)
    assert heard == ["hello"]
    assert await store.position() == 0
