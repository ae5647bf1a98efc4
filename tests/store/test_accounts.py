"""Ownership of names, in every kind of store."""

from __future__ import annotations

import asyncio

import pytest

from tests.store.deeds import OAK, PINE, Clock, events_of, is_in_order, joined, same, started
from thudmud.game.archive import MemberLookup, SeenMember
from thudmud.game.events import BattleEnded, BattleStarted, Commented
from thudmud.game.projections import HALL
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.rules import Comment, Ending, Outcome, Score, Side
from thudmud.store import (
    KeptName,
    NameTakenError,
    NoSuchAccountError,
    Store,
    accounts,
    battles,
    nodes,
    scores,
)
from thudmud.store.accounts import ADDRESSES_KEPT
from thudmud.store.database import Database
from thudmud.values import replace

WORD, OTHER = b"1" * 32, b"2" * 32


async def ended(store: Store, board: str = OAK) -> None:
    """Let Anna win a battle against Bert."""
    version = (await store.read(Database.stream_versions)).get(board, 0)
    outcome = Outcome(Ending.AGREEMENT, Side.DWARF, Score(30, 20))
    end = BattleEnded(2.0, "Anna", outcome, 0, "Anna", "Bert", rated=True)
    await store.append({board: (version, [started(1), end])})


async def rated(store: Store) -> None:
    """Let Anna win a match against Bert whose second battle is a draw."""
    await ended(store)
    version = await store.version(OAK)
    draw = Outcome(Ending.AGREEMENT, None, Score(30, 30))
    begun = BattleStarted(2.0, "Anna", 2, "discworld", "Bert", "Anna", rated=True)
    end = BattleEnded(2.0, "Anna", draw, 0, "Bert", "Anna", rated=True, points=(50, 60))
    await store.append({OAK: (version, [begun, end])})


class TestMembers:
    async def test_account_lookup_ignores_case(self, store: Store, clock: Clock) -> None:
        account = await store.write(accounts.enrol, "Anna", "hash")
        assert await store.read(accounts.find, "aNNa") == account
        assert (account.name, account.password, account.preferences) == ("Anna", "hash", {})
        assert account.created == account.seen <= clock.now
        assert await store.read(accounts.find, "Bert") is None
        assert "hash" not in repr(account)

    async def test_name_of_a_member_or_a_ban_cannot_be_registered(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.ban, "Zoe")
        for name in ("ANNA", "zoe"):
            with pytest.raises(NameTakenError):
                await store.write(accounts.enrol, name, "other")
        assert [each.name for each in await store.read(accounts.all_accounts)] == ["Anna", "Zoe"]

    async def test_password_change_requires_the_current_login_epoch(self, store: Store) -> None:
        seen = (await store.write(accounts.enrol, "Anna", "one")).epoch
        await store.write(accounts.set_password, "anna", "two", since=seen, epoch=7)
        await store.write(accounts.set_password, "anna", "three", since=7)
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.set_password, "anna", "four", since=7)
        account = await store.read(accounts.find, "Anna")
        assert account
        assert account.password == "three"  # noqa: S105

    async def test_preferences_are_stored(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.set_preferences, "anna", {"board": ["brief", 1, None]})
        account = await store.read(accounts.find, "Anna")
        assert account
        assert account.preferences == {"board": ["brief", 1, None]}

    async def test_last_visit_is_recorded_for_members_and_guests(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.reserve_guest_name, KeptName("Gast", WORD, 5.0))
        await store.write(accounts.record_last_seen, {"anna": 77.0, "GAST": 78.0, "Nobody": 79.0})
        account = await store.read(accounts.find, "Anna")
        assert account
        assert account.seen == 77.0
        assert await store.read(accounts.find_guest, "gast") == KeptName("Gast", WORD, 78.0)
        assert await store.look_up(MemberLookup("ANNA")) == SeenMember("Anna", 77.0)
        await store.write(accounts.set_preferences, "anna", {"plan": "To win."})
        assert await store.look_up(MemberLookup("anna")) == SeenMember("Anna", 77.0, "To win.")
        assert await store.look_up(MemberLookup("gast")) is None
        assert await store.look_up(MemberLookup("Anna"), realm="mud") is None
        await store.write(accounts.ban, "Anna")
        assert await store.look_up(MemberLookup("Anna")) is None

    async def test_changes_to_an_unknown_account_are_refused(self, store: Store) -> None:
        await store.append({OAK: (0, [joined(1)])})
        await store.write(accounts.ban, "Zoe")
        for name in ("Anna", "Zoe", "Bert"):
            for change in (
                store.write(accounts.set_password, name, "x"),
                store.write(accounts.set_preferences, name, {}),
                store.write(accounts.rename, name, "New"),
                store.write(accounts.erase, name),
            ):
                with pytest.raises(NoSuchAccountError):
                    await change
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Anna"))

    async def test_guest_who_registers_keeps_their_battles(self, store: Store) -> None:
        await store.write(accounts.reserve_guest_name, KeptName("Anna", WORD, 1.0))
        await ended(store)
        await store.write(accounts.enrol, "Anna", "hash")
        assert await store.read(accounts.find_guest, "Anna") is None
        assert len(await store.read(battles.history, "Anna")) == 1


class TestRenaming:
    async def test_renaming_carries_over_battles_ratings_and_claims(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(nodes.renew_lease, "node")
        await store.write(nodes.claim, "Anna", "node", "s1")
        await rated(store)
        before = await store.read(scores.score, "Anna", curves=True)
        await store.write(accounts.set_preferences, "Anna", {"plan": "To win."})
        await store.write(accounts.rename, "Anna", "Hanna")
        assert await store.read(accounts.find, "Anna") is None
        assert (await store.read(accounts.find, "HANNA")) is not None
        member = await store.look_up(MemberLookup("Hanna"))
        assert member
        assert member.plan == "To win."
        _, battle = await store.read(battles.history, "hanna")
        assert (battle.dwarf, battle.troll) == ("Hanna", "Bert")
        score = await store.read(scores.score, "Hanna", curves=True)
        assert before
        assert score
        assert before.curves
        assert score == replace(before, name="Hanna")
        changes = (await store.read_stream(OAK))[-1].changes
        assert {each.player for each in changes} == {"Hanna", "Bert"}
        (claim,) = await store.read(nodes.all_claims)
        assert claim.name == "Hanna"
        events = [entry.event for entry in await store.read_stream(OAK)]
        assert {event.player for event in events} == {"Hanna"}  # type: ignore[union-attr]
        assert await store.read(scores.score, "Anna") is None
        await is_in_order(store)

    async def test_name_in_use_cannot_be_chosen(self, store: Store) -> None:
        for name in ("Anna", "Bert"):
            await store.write(accounts.enrol, name, "hash")
        await store.write(accounts.reserve_guest_name, KeptName("Gast", WORD, 1.0))
        await store.write(nodes.renew_lease, "node")
        await store.write(nodes.claim, "Here", "node", "s1")
        for name in ("bert", "gast", "here"):
            with pytest.raises(NameTakenError):
                await store.write(accounts.rename, "Anna", name)
        await store.write(accounts.rename, "Anna", "ANNA")
        assert [each.name for each in await store.read(accounts.all_accounts)] == ["ANNA", "Bert"]

    async def test_battles_of_the_previous_owner_of_a_name_stay_theirs(self, store: Store) -> None:
        await ended(store)
        await store.write(accounts.enrol, "Carla", "hash")
        await store.write(accounts.rename, "Carla", "Anna")
        assert await store.read(battles.history, "Anna") == []
        (battle,) = await store.read(battles.history, "Bert")
        assert battle.dwarf == "Anna"


class TestErasing:
    async def test_erasing_an_account_removes_its_comments(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await ended(store)
        said = [
            Commented(3.0, "Anna", OAK, 1, 0, "a first thought"),
            Commented(3.0, "Bert", OAK, 1, 0, "another"),
            Commented(3.0, "Anna", OAK, 1, 0, "a second thought"),
        ]
        await store.append({HALL: (0, said)})
        await store.write(accounts.erase, "Anna")
        assert await store.read(battles.comments, 1) == (Comment(0, "Bert", "another"),)
        assert "thought" not in repr(await store.read_stream(HALL))
        assert await store.version(HALL) == 3
        await is_in_order(store)

    async def test_erasing_an_account_keeps_its_battles_without_the_name(
        self, store: Store
    ) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await ended(store)
        await store.write(accounts.erase, "anna")
        assert await store.read(accounts.find, "Anna") is None
        assert await store.look_up(MemberLookup("Anna")) is None
        assert await store.read(battles.history, "Anna") == []
        (battle,) = await store.read(battles.history, "Bert")
        assert "Anna" not in repr(battle)
        assert "Anna" not in repr(await store.read_stream(OAK))
        await is_in_order(store)

    async def test_erased_name_can_be_registered_again(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await ended(store)
        await store.write(accounts.erase, "Anna")
        await store.write(accounts.enrol, "Anna", "other")
        assert await store.read(scores.score, "Anna") is None
        await ended(store, PINE)
        assert len(await store.read(battles.history, "Anna")) == 1
        assert len(await store.read(battles.history, "Bert")) == 2

    async def test_erasing_an_account_keeps_its_ban(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.ban, "Anna")
        await store.write(accounts.erase, "Anna")
        assert set((await store.watch(accounts.order)).bans) == {"anna"}

    async def test_moderation_watcher_hears_of_renamed_and_erased_accounts(
        self, store: Store
    ) -> None:
        """A player who may be online has lost their account or changed their name."""
        told: list[Order] = []
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.ban, "Zoe")
        await store.watch(accounts.order, told.append)
        await store.write(accounts.rename, "Anna", "Hanna")
        await store.write(accounts.erase, "Hanna")
        assert [set(each.bans) for each in told] == [{"zoe"}] * 2


class TestBans:
    async def test_moderation_watcher_hears_of_each_ban_change(self, store: Store) -> None:
        told: list[Order] = []
        await store.write(accounts.enrol, "Anna", "hash")
        assert await store.watch(accounts.order, told.append) == Order()
        await store.write(accounts.ban, "ANNA")
        await store.write(accounts.ban, "Zoe")
        await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "anna"))
        assert [set(each.bans) for each in told] == [{"anna"}, {"anna", "zoe"}, {"zoe"}]
        await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Zoe"))
        assert await store.watch(accounts.order) == Order()
        account = await store.read(accounts.find, "Anna")
        assert account
        assert account.password == "hash"  # noqa: S105
        assert await store.read(accounts.find, "Zoe") is None
        assert (await store.write(accounts.enrol, "Zoe", "x")).name == "Zoe"

    async def test_guest_keeps_their_name_through_a_ban(self, store: Store) -> None:
        kept = KeptName("Gast", WORD, 5.0)
        await store.write(accounts.reserve_guest_name, kept)
        for _ in range(2):
            await store.write(accounts.ban, "gast")
        account = await store.read(accounts.find, "Gast")
        assert account
        assert (account.password, account.banned) == ("", True)
        assert not await store.write(accounts.reserve_guest_name, kept, kept)
        with pytest.raises(NameTakenError):
            await store.write(accounts.enrol, "Gast", "hash")
        await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "GAST"))
        assert await store.read(accounts.find, "Gast") is None
        found = await store.read(accounts.find_guest, "Gast")
        assert found
        assert found.word == WORD
        with pytest.raises(NoSuchAccountError):
            await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Gast"))


class TestGuests:
    async def test_guest_name_is_reserved_for_the_holder_of_the_resume_word(
        self, store: Store
    ) -> None:
        kept = KeptName("Gast", WORD, 5.0)
        assert await store.write(accounts.reserve_guest_name, kept)
        assert await store.read(accounts.find_guest, "GAST") == kept
        assert not await store.write(accounts.reserve_guest_name, KeptName("gast", OTHER, 6.0))
        assert await store.write(accounts.reserve_guest_name, KeptName("Gast", WORD, 6.0), kept)
        assert not await store.write(accounts.reserve_guest_name, KeptName("Anna", WORD, 1.0), kept)
        await store.write(accounts.enrol, "Anna", "hash")
        assert not await store.write(accounts.reserve_guest_name, KeptName("anna", WORD, 1.0))
        assert "111" not in repr(kept)

    async def test_racing_claims_of_a_guest_name_have_one_winner(self, store: Store) -> None:
        racers = [KeptName("Gast", bytes([number] * 32), 5.0) for number in range(10)]
        got = await asyncio.gather(
            *(store.write(accounts.reserve_guest_name, each) for each in racers)
        )
        assert sum(got) == 1
        assert await store.read(accounts.find_guest, "Gast") == racers[got.index(True)]

    async def test_guest_names_unused_for_long_are_deleted(self, store: Store) -> None:
        for number, name in enumerate(("Zoe", "Anna", "Bert")):
            await store.write(accounts.reserve_guest_name, KeptName(name, WORD, float(number)))
        assert await store.read(accounts.guests, 2.0) == ["Anna", "Zoe"]
        await store.write(accounts.free_guest_names, ["Anna", "bert", "Nobody"], 2.0)
        assert await store.read(accounts.guests) == ["Bert", "Zoe"]

    @pytest.mark.parametrize("how", ["forgotten", "another word"])
    async def test_guest_name_reused_is_a_different_player(self, store: Store, how: str) -> None:
        kept = KeptName("Anna", WORD, 1.0)
        await store.write(accounts.reserve_guest_name, kept)
        await ended(store)
        if how == "forgotten":
            await store.write(accounts.free_guest_names, ["Anna"])
        else:
            assert await store.write(
                accounts.reserve_guest_name, KeptName("Anna", OTHER, 2.0), kept
            )
        assert await store.read(battles.history, "Anna") == []
        (battle,) = await store.read(battles.history, "Bert")
        assert battle.dwarf == "Anna"
        await ended(store, PINE)
        assert [each.number for each in await store.read(battles.history, "Anna")] == [2]
        await is_in_order(store)


class TestAddresses:
    async def test_addresses_of_a_player_are_limited_to_the_latest(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.reserve_guest_name, KeptName("Gast", WORD, 5.0))
        for number in range(30):
            await store.write(
                accounts.record_last_seen, {}, [("ANNA", f"192.0.2.{number}"), ("Gast", "::/64")]
            )
        last = [f"192.0.2.{number}" for number in range(29, 29 - ADDRESSES_KEPT, -1)]
        assert await store.read(accounts.addresses, "anna") == last
        await store.write(
            accounts.record_last_seen,
            {},
            [("Anna", last[5]), ("Nobody", "192.0.2.1"), ("Anna", last[5])],
        )
        assert await store.read(accounts.addresses, "Anna") == [last.pop(5), *last]
        assert await store.read(accounts.addresses, "gast") == ["::/64"]
        assert await store.read(accounts.addresses, "Nobody") == []
        await is_in_order(store)

    async def test_addresses_follow_a_rename(self, store: Store) -> None:
        await store.write(accounts.reserve_guest_name, KeptName("Anna", WORD, 5.0))
        await store.write(accounts.record_last_seen, {}, [("Anna", "192.0.2.1")])
        await store.write(accounts.enrol, "Anna", "hash")
        await store.write(accounts.rename, "Anna", "Hanna")
        assert await store.read(accounts.addresses, "Anna") == []
        assert await store.read(accounts.addresses, "Hanna") == ["192.0.2.1"]
        await store.write(accounts.ban, "Hanna")
        await store.write(accounts.lift_sanction, Sanction(Measure.BAN, "Hanna"))
        assert await store.read(accounts.addresses, "Hanna") == ["192.0.2.1"]

    @pytest.mark.parametrize("how", ["erased", "forgotten", "another word"])
    async def test_addresses_are_not_inherited_with_a_reused_name(
        self, store: Store, how: str
    ) -> None:
        kept = KeptName("Anna", WORD, 1.0)
        await store.write(accounts.reserve_guest_name, kept)
        await store.write(accounts.record_last_seen, {}, [("Anna", "192.0.2.1")])
        if how == "erased":
            await store.write(accounts.enrol, "Anna", "hash")
            await store.write(accounts.erase, "Anna")
        elif how == "forgotten":
            await store.write(accounts.free_guest_names, ["Anna"])
        else:
            await store.write(accounts.reserve_guest_name, KeptName("Anna", OTHER, 2.0), kept)
        await store.write(accounts.enrol, "Anna", "hash")
        assert await store.read(accounts.addresses, "Anna") == []
        await is_in_order(store)


class TestRealms:
    async def test_name_in_two_realms_denotes_two_players(self, store: Store) -> None:
        for board in (OAK, "tower/oak", "mill/oak"):
            await ended(store, board)
        for number, realm in enumerate(("", "tower", "mill"), 1):
            assert [
                each.number for each in await store.read(battles.history, "Anna", realm=realm)
            ] == [number]
            assert await store.read(scores.score, "Anna", realm=realm)
            assert [
                each.number for each in await store.read(battles.history, None, realm=realm)
            ] == [number]
            assert await store.read(battles.battle, number, realm=realm)
            assert await store.read(battles.battle, number % 3 + 1, realm=realm) is None

    async def test_rename_leaves_other_realms_alone(self, store: Store) -> None:
        await store.write(accounts.enrol, "Anna", "hash")
        await ended(store)
        await store.append({"tower/oak": (0, [joined(1)])})
        await store.write(accounts.rename, "Anna", "Hanna")
        assert events_of(await store.read_stream("tower/oak")) == same(joined(1))


async def test_name_takes_its_latest_spelling(store: Store) -> None:
    await store.append({OAK: (0, [joined(1, "bert")])})
    await store.append({OAK: (1, [joined(2, "Bert")])})
    assert events_of(await store.read_stream(OAK)) == same(joined(1, "Bert"), joined(2, "Bert"))
