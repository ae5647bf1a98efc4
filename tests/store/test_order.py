"""Operators, mutes and bans in the store: their duration, their names, and erasure."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.store.deeds import Clock, is_in_order
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.store import KeptName, NoSuchAccountError, Store, accounts
from thudmud.store.checking import check_file
from thudmud.values import replace

HOUR = 3600.0
NETWORK = "203.0.113.0/24"


def mute(whom: str, until: float | None = None, *, by: str = "", why: str = "") -> Sanction:
    return Sanction(Measure.MUTE, whom, by, 0.0, until, why)


def ban(whom: str, until: float | None = None, *, by: str = "", why: str = "") -> Sanction:
    return Sanction(Measure.BAN, whom, by, 0.0, until, why)


@pytest.fixture
async def order(store: Store) -> Store:
    """Return a store with two members, one of them the operator Olga."""
    for name in ("Olga", "Bert"):
        await store.write(accounts.enrol, name, "hash")
    await store.write(accounts.set_operator, "olga", is_one=True)
    return store


class TestOperators:
    async def test_operators_are_reported_to_moderation_watchers(self, order: Store) -> None:
        told: list[Order] = []
        assert (await order.watch(accounts.order, told.append)).operators == {"olga"}
        account = await order.read(accounts.find, "Olga")
        assert account
        assert account.is_operator
        await order.write(accounts.rename, "Olga", "Helga")
        await order.write(accounts.set_operator, "Helga", is_one=False)
        assert [each.operators for each in told] == [{"helga"}, frozenset()]
        assert not any(each.is_operator for each in await order.read(accounts.all_accounts))

    async def test_operators_must_be_members(self, order: Store) -> None:
        with pytest.raises(NoSuchAccountError):
            await order.write(accounts.set_operator, "Zoe", is_one=True)

    async def test_operator_rights_are_not_inherited_with_a_name(self, order: Store) -> None:
        await order.write(accounts.erase, "Olga")
        await order.write(accounts.enrol, "Olga", "other")
        assert (await order.watch(accounts.order)).operators == frozenset()


class TestMeasures:
    async def test_sanctions_are_reported_to_watchers_and_lifted(
        self, order: Store, clock: Clock
    ) -> None:
        told: list[Order] = []
        await order.watch(accounts.order, told.append)
        began, until = clock.now, clock.now + HOUR
        await order.write(accounts.impose_sanction, mute("bert", until, by="Olga", why="of that"))
        await order.write(accounts.impose_sanction, ban(NETWORK, by="Olga"))
        [found], [network] = told[-1].mutes.values(), told[-1].networks.values()
        assert began < found.since < network.since
        assert replace(found, since=0.0) == mute("Bert", until, by="Olga", why="of that")
        assert replace(network, since=0.0) == ban(NETWORK, by="Olga")
        assert set(told[-1].networks) == {ip_network(NETWORK)}
        # Replaces the earlier one.
        await order.write(accounts.impose_sanction, mute("Bert", until + HOUR))
        assert (await order.watch(accounts.order)).mutes["bert"].until == until + HOUR
        await order.write(accounts.lift_sanction, mute("BERT"))
        await order.write(accounts.lift_sanction, ban(NETWORK))
        assert told[-1] == Order(frozenset({"olga"}))
        for gone in (mute("Bert"), ban(NETWORK), ban("Bert")):
            with pytest.raises(NoSuchAccountError):
                await order.write(accounts.lift_sanction, gone)

    async def test_sanctions_survive_a_restart(self, path: Path, clock: Clock) -> None:
        store = await Store.open(path, clock=clock)
        await store.write(accounts.impose_sanction, mute("Bert", clock.now + HOUR, why="of that"))
        await store.write(accounts.impose_sanction, ban("Zoe", clock.now + HOUR))
        await store.write(accounts.impose_sanction, ban(NETWORK))
        before = await store.watch(accounts.order)
        await store.close()
        check_file(path)
        again = await Store.open(path, clock=clock)
        assert await again.watch(accounts.order) == before
        await again.close()

    async def test_name_bans_expire(self, order: Store, clock: Clock) -> None:
        kept = KeptName("Gast", b"1" * 32, 5.0)
        await order.write(accounts.reserve_guest_name, kept)
        for name in ("Bert", "Gast", "Zoe"):
            await order.write(accounts.impose_sanction, ban(name, clock.now + HOUR))
        assert set((await order.watch(accounts.order)).bans) == {"bert", "gast", "zoe"}
        found = await order.read(accounts.find, "Bert")
        assert found
        assert found.banned
        assert await order.read(accounts.find, "Zoe")
        clock.now += HOUR
        assert (await order.watch(accounts.order)).bans == {}
        found = await order.read(accounts.find, "Bert")
        assert found
        assert not found.banned
        assert await order.read(accounts.find, "Zoe") is None
        assert await order.read(accounts.find, "Gast") is None
        assert await order.write(accounts.reserve_guest_name, kept, kept)
        assert [each.name for each in await order.read(accounts.all_accounts)] == ["Bert", "Olga"]
        assert (await order.write(accounts.enrol, "Zoe", "hash")).name == "Zoe"
        await order.write(accounts.impose_sanction, mute("Bert"))  # deletes expired sanctions
        assert [each.banned for each in await order.read(accounts.all_accounts)] == [False] * 3
        await is_in_order(order)

    async def test_guest_name_stays_reserved_until_the_ban_is_lifted(self, order: Store) -> None:
        await order.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
        await order.write(accounts.ban, "Gast")
        await order.write(accounts.free_guest_names, ["Gast"])
        account = await order.read(accounts.find, "Gast")
        assert account
        assert account.banned
        await order.write(accounts.lift_sanction, Sanction(Measure.BAN, "Gast"))
        await order.write(accounts.free_guest_names, ["Gast"])
        assert await order.read(accounts.find_guest, "Gast") is None

    async def test_mute_ends_with_the_guest_name(self, order: Store) -> None:
        await order.write(accounts.reserve_guest_name, KeptName("Gast", b"1" * 32, 5.0))
        await order.write(accounts.impose_sanction, mute("Gast"))
        await order.write(accounts.free_guest_names, ["Gast"])
        assert (await order.watch(accounts.order)).mutes == {}

    async def test_sanctions_follow_a_rename(self, order: Store) -> None:
        await order.write(accounts.impose_sanction, mute("Bert", by="Olga"))
        await order.write(accounts.impose_sanction, ban("Bert", by="Olga"))
        await order.write(accounts.rename, "Bert", "Bertram")
        await order.write(accounts.rename, "Olga", "Helga")
        found = await order.watch(accounts.order)
        assert {each.by for each in (*found.mutes.values(), *found.bans.values())} == {"Helga"}
        assert (set(found.mutes), set(found.bans)) == ({"bertram"}, {"bertram"})


class TestErasing:
    async def test_erasing_a_player_removes_mutes_and_names(
        self, order: Store, clock: Clock
    ) -> None:
        until = clock.now + HOUR
        await order.write(accounts.impose_sanction, mute("Bert", by="Olga", why="Bert shouts"))
        await order.write(accounts.impose_sanction, ban("Bert", until, by="Olga", why="Bert lies"))
        await order.write(accounts.impose_sanction, ban(NETWORK, by="Olga", why="of spam"))
        await order.write(accounts.erase, "Bert")
        found = await order.watch(accounts.order)
        assert found.mutes == {}
        assert replace(found.bans["bert"], since=0.0) == ban("Bert", until)
        await order.write(accounts.erase, "Olga")
        found = await order.watch(accounts.order)
        assert found.operators == frozenset()
        assert (found.networks[ip_network(NETWORK)].by, "Olga" in repr(found)) == ("", False)
        await is_in_order(order)
