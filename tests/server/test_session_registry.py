"""Admission, the end of sessions, and limits on broadcasts."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from tests.accounts.dialogues import CHEAP
from tests.server.plain import Client
from tests.service.place import Place, begin, finished, until
from tests.service.stores import SlowStore, do_instead
from thudmud.accounts.limiters import StorageQuota, TalkLimiter
from thudmud.accounts.login import JUST_BANNED
from thudmud.bots.workers import Workers
from thudmud.errors import RefusedError
from thudmud.features.moderation.model import configure_reports
from thudmud.game import hall as game_hall
from thudmud.game.clocks import TimeControl
from thudmud.game.events import TournamentEnd, TournamentEnded, TournamentKind, TournamentMade
from thudmud.game.hall import Caps, Hall
from thudmud.game.projections import HALL
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.game.table import BoardSpec
from thudmud.server.acceptor import Acceptor
from thudmud.server.bots import Bots
from thudmud.server.config import BotSettings, PlayerSettings, Settings
from thudmud.server.runtime import follow_logins, open_sessions
from thudmud.server.session_registry import LOGGED_OUT, REGISTERED, REMOVED, Sessions, make_service
from thudmud.service import Dismissal, Node, Result, Visit
from thudmud.store import Account, StoreError, accounts, new_epoch, nodes
from thudmud.telnet.screen import CloseReason
from thudmud.views import Message, Terminal

WITHOUT_ANNA = Order(bans={"anna": Sanction(Measure.BAN, "Anna")})
BANNED = "The operator of this server has banned Anna. If that's a mistake, ask the operator."


class FakeSession:
    """A session that leaves when ended, or on admission if it was ended before."""

    def __init__(
        self, sessions: Sessions, name: str, address: str = "", member: Account | None = None
    ) -> None:
        self.sessions, self.name, self.address = sessions, name, address
        self.member = member
        self.shown: list[str] = []
        self.has_ended = False
        self.visit: Visit | None = None
        self.refusal: RefusedError | None = None
        sessions.add(self)

    async def come_in(self) -> None:
        try:
            self.visit = await self.sessions.admit(self, self.name, Terminal(), self.member)
        except RefusedError as refusal:
            self.refusal = refusal
        if self.has_ended:
            await self.leave()

    async def leave(self) -> None:
        if self.visit:
            await self.sessions.service.leave(self.visit)

    def put(self, message: Message) -> None:
        self.shown.append(message.text)

    def handle_dismissal(self, why: Dismissal) -> None:
        self.has_ended = True

    def end(self, sentence: str, why: CloseReason = CloseReason.STOPPED) -> None:
        self.shown.append(sentence)
        self.has_ended = True
        begin(self.leave())


async def keep_seat(session: FakeSession) -> None:
    """Let a player sit down and leave, so that the seat is kept."""
    assert session.visit
    await session.sessions.service.submit(session.visit, "join game as dwarf on oak board")
    await session.leave()
    session.sessions.remove(session)


async def seated_guest_returns(
    sessions: Sessions, store: SlowStore
) -> tuple[FakeSession, asyncio.Future[None]]:
    """Return the new session of a guest with a seat, and its login, blocked in the store."""
    anna = FakeSession(sessions, "Anna")
    await anna.come_in()
    await keep_seat(anna)
    again = FakeSession(sessions, "Anna")
    store.hold()
    coming = begin(again.come_in())
    await store.held_up()
    return again, coming


@pytest.fixture
def store() -> SlowStore:
    return SlowStore.make()


@pytest.fixture
async def sessions(store: SlowStore) -> Sessions:
    service = make_service(store, Hall([BoardSpec("oak board")]), clock=lambda: 1000.0)
    await service.open()
    return Sessions(service)


async def test_banned_player_is_removed_while_playing(sessions: Sessions) -> None:
    anna, bert = FakeSession(sessions, "Anna"), FakeSession(sessions, "Bert")
    await anna.come_in()
    await bert.come_in()
    sessions.apply_order(WITHOUT_ANNA)
    assert anna.shown[-1] == BANNED
    assert set(sessions.service.hall.people) == {"Bert"}
    assert not bert.has_ended


async def test_title_of_a_removed_announcers_tournament_is_hidden(
    sessions: Sessions, store: SlowStore
) -> None:
    for name in ("Anna", "Bert"):
        await store.write(accounts.enrol, name, "hash")
    bert = FakeSession(sessions, "Bert", member=await store.read(accounts.find, "Bert"))
    await bert.come_in()
    for number, name in ((1, "Anna"), (2, "Bert")):
        time = TimeControl(10, 5)
        kind, title = TournamentKind.SWISS, f"Cup of {name}"
        made = TournamentMade(1.0, name, number, title, kind, "classic", time, 60.0, 5)
        over = TournamentEnded(1.0, name, number, TournamentEnd.CANCELLED)
        await store.append({HALL: (await store.version(HALL), [made, over])})
    assert bert.visit
    await store.write(accounts.erase, "Anna")
    await sessions.end_logged_out()
    for number, is_titled in ((1, False), (2, True)):
        bert.shown.clear()
        await sessions.submit(bert.visit, f"tournament {number}")
        assert bert.shown[0].startswith(f"Tournament {number}")
        assert ("Cup of" in bert.shown[0]) == is_titled


class TestLogins:
    """Sessions that end because their login was revoked."""

    async def come_in(self, sessions: Sessions, name: str = "Anna") -> FakeSession:
        account = await sessions.store.read(accounts.find, name) or await sessions.store.write(
            accounts.enrol, name, "hash"
        )
        session = FakeSession(sessions, name, member=account)
        await session.come_in()
        return session

    async def held_up(self, sessions: Sessions, store: SlowStore) -> asyncio.Future[FakeSession]:
        """Return a login of a player returning to a seat, blocked in the store."""
        await keep_seat(await self.come_in(sessions))
        store.hold()
        coming = begin(self.come_in(sessions))
        await store.held_up()
        return coming

    async def test_session_ends_when_the_password_is_changed_elsewhere(
        self, sessions: Sessions
    ) -> None:
        anna, bert = await self.come_in(sessions), await self.come_in(sessions, "Bert")
        guest = FakeSession(sessions, "Gast")
        await guest.come_in()
        await sessions.end_logged_out()
        assert not anna.has_ended
        await sessions.store.write(accounts.set_password, "Anna", "other")
        await sessions.end_logged_out()
        assert anna.shown[-1] == LOGGED_OUT
        assert not bert.has_ended
        assert not guest.has_ended
        again = await self.come_in(sessions)
        await sessions.end_logged_out()
        assert not again.has_ended

    async def test_session_that_changes_the_password_continues(self, sessions: Sessions) -> None:
        anna, epoch = await self.come_in(sessions), new_epoch()
        sessions.epochs(anna).add(epoch)
        await sessions.end_logged_out()  # the change isn't stored yet
        await sessions.store.write(accounts.set_password, "Anna", "other", epoch=epoch)
        await sessions.end_logged_out()
        sessions.epochs(anna).intersection_update({epoch})
        await sessions.end_logged_out()
        assert not anna.has_ended
        await sessions.store.write(accounts.end_logins, "Anna")
        await sessions.end_logged_out()
        assert anna.shown[-1] == LOGGED_OUT

    async def test_session_ends_on_removal_even_if_the_name_is_reregistered(
        self, sessions: Sessions
    ) -> None:
        anna, bert = await self.come_in(sessions), await self.come_in(sessions, "Bert")
        for name in ("Anna", "Bert"):
            await sessions.store.write(accounts.erase, name)
        await sessions.store.write(accounts.enrol, "Anna", "another")
        await sessions.end_logged_out()
        assert anna.shown[-1] == LOGGED_OUT
        assert bert.shown[-1] == REMOVED

    async def test_login_check_is_retried_after_a_store_error(
        self, sessions: Sessions, store: SlowStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anna, changed = await self.come_in(sessions), asyncio.Event()
        await store.write(accounts.set_password, "Anna", "other")
        read, failures = store.read, [StoreError("the database is away")]

        async def read_once_it_is_back(names: Collection[str]) -> Mapping[str, int]:
            if failures:
                raise failures.pop()
            return await read(accounts.epochs, names)

        do_instead(monkeypatch, store, accounts.epochs, read_once_it_is_back)
        following = asyncio.create_task(follow_logins(sessions, changed, pause=0.0))
        changed.set()
        await until(lambda: anna.has_ended)
        following.cancel()
        assert anna.shown[-1] == LOGGED_OUT

    async def test_login_revoked_during_admission_is_refused(
        self, sessions: Sessions, store: SlowStore
    ) -> None:
        coming = await self.held_up(sessions, store)
        await store.write(accounts.set_password, "Anna", "other")
        store.gate.set()
        await finished(coming)
        again = coming.result()
        assert again.shown[-1] == LOGGED_OUT
        assert not sessions.service.hall.people

    async def test_member_banned_during_admission_is_told(
        self, sessions: Sessions, store: SlowStore
    ) -> None:
        coming = await self.held_up(sessions, store)
        await store.write(accounts.impose_sanction, Sanction(Measure.BAN, "Anna"))
        store.gate.set()
        await finished(coming)
        assert coming.result().shown[-1] == JUST_BANNED.format("Anna")

    async def test_guest_is_refused_if_the_name_is_registered_meanwhile(
        self, sessions: Sessions, store: SlowStore
    ) -> None:
        visitor, coming = await seated_guest_returns(sessions, store)
        await store.write(accounts.enrol, "Anna", "hash")
        store.gate.set()
        await finished(coming)
        assert visitor.shown[-1] == REGISTERED
        assert not sessions.service.hall.people

    async def test_guest_replacing_a_registering_session_is_turned_out(
        self, sessions: Sessions, store: SlowStore
    ) -> None:
        owner, visitor = FakeSession(sessions, "Anna"), FakeSession(sessions, "Anna")
        await owner.come_in()
        sessions.epochs(owner).add(7)
        await visitor.come_in()
        assert owner.has_ended
        assert not visitor.has_ended
        changed = asyncio.Event()

        def tell(_: Order) -> None:
            changed.set()

        await store.watch(accounts.order, tell)
        following = asyncio.create_task(follow_logins(sessions, changed))
        await store.write(accounts.enrol, "Anna", "hash", epoch=7)
        await until(lambda: visitor.has_ended)
        following.cancel()
        assert visitor.shown[-1] == REGISTERED
        assert not sessions.service.hall.people

    async def test_guest_who_registers_stays(self, sessions: Sessions, store: SlowStore) -> None:
        guest = FakeSession(sessions, "Anna")
        await guest.come_in()
        epochs = sessions.epochs(guest)
        epochs.add(7)
        await sessions.end_logged_out()
        await store.write(accounts.enrol, "Anna", "hash", epoch=7)
        await sessions.end_logged_out()
        epochs.intersection_update({7})
        await sessions.end_logged_out()
        assert not guest.has_ended
        await store.write(accounts.erase, "Anna")
        await sessions.end_logged_out()
        assert guest.shown[-1] == REMOVED

    async def test_bot_with_a_registered_name_stays(
        self, sessions: Sessions, store: SlowStore
    ) -> None:
        sessions.service.hall.bots = {"Anna": None}
        await store.write(accounts.enrol, "Anna", "hash")
        bot = FakeSession(sessions, "Anna")
        await bot.come_in()
        await sessions.end_logged_out()
        assert not bot.has_ended


async def test_returning_player_banned_during_admission_is_refused(
    sessions: Sessions, store: SlowStore
) -> None:
    again, coming = await seated_guest_returns(sessions, store)
    sessions.apply_order(WITHOUT_ANNA)
    store.gate.set()
    await finished(coming)
    assert BANNED in again.shown
    assert again.has_ended
    assert not sessions.service.hall.people
    assert sessions.service.hall.tables["oak board"].away


async def test_ban_or_disconnect_before_admission_prevents_entry(
    sessions: Sessions, store: SlowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, read = asyncio.Event(), store.look_up

    async def look_up(lookup: Any, *, realm: str = "") -> Any:
        await gate.wait()
        return await read(lookup, realm=realm)

    monkeypatch.setattr(store, "look_up", look_up)
    anna, lost = FakeSession(sessions, "Anna"), FakeSession(sessions, "Bert")
    coming = [begin(session.come_in()) for session in (anna, lost)]
    sessions.apply_order(WITHOUT_ANNA)
    lost.has_ended = True
    gate.set()
    await finished(*coming)
    assert anna.has_ended
    assert anna.shown == [BANNED]
    assert not lost.shown
    assert not sessions.service.hall.people


async def test_bot_banned_while_rejoining_leaves_no_trace(store: SlowStore, tmp_path: Path) -> None:
    node = Node(store, "one", clock=lambda: store.time)
    await node.open()
    place = Place(store, node)
    await place.open()
    await place.enter("Anna", "Bob")
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bob", "join game as troll on oak board", "start")
    await place.leave("Bob")
    version = place.hall.tables["oak board"].version
    sessions = Sessions(place.service)
    bob = BotSettings(name="Bob", command=("bob",))
    bots = Bots([bob], sessions, tmp_path, Workers(), patience=1, pause=1)
    store.hold()
    bots.start()
    await store.held_up()
    sessions.apply_order(Order(bans={"bob": Sanction(Measure.BAN, "Bob")}))
    store.gate.set()
    await bots.close()
    await until(lambda: place.hall.tables["oak board"].version == version + 2)
    assert place.away() == {"Bob"}
    assert set(place.hall.people) == {"Anna"}
    assert [claim.name for claim in await store.read(nodes.all_claims)] == ["Anna"]


# Limits on broadcasts


class Crowd:
    """Sessions on a service with talk limits and a settable clock."""

    def __init__(
        self,
        store: SlowStore,
        talk: TalkLimiter,
        shouts: TalkLimiter | None = None,
        reports: TalkLimiter | None = None,
        quota: StorageQuota | None = None,
    ) -> None:
        self.now = 1000.0
        self.hall = Hall([BoardSpec("oak board"), BoardSpec("elm board")])
        self.service = make_service(
            store,
            self.hall,
            clock=lambda: self.now,
            talk=talk,
            shouts=shouts,
            reports=reports,
            quota=quota,
        )
        self.sessions = Sessions(self.service)

    async def enter(self, *names: str, address: str = "") -> list[FakeSession]:
        come = [FakeSession(self.sessions, name, address) for name in names]
        for session in come:
            await session.come_in()
        return come

    async def come_and_go(self, *names: str) -> list[FakeSession]:
        come = await self.enter(*names)
        for session in come:
            await session.leave()
        return come

    async def type(self, session: FakeSession, *lines: str) -> list[Result]:
        """Submit a player's lines; return their results."""
        assert session.visit
        return [await self.sessions.submit(session.visit, line) for line in lines]

    async def done(self, session: FakeSession, *lines: str) -> list[bool]:
        """Submit a player's lines; return which of them were within the limit."""
        results = await self.type(session, *lines)
        return [not each.refusal or each.refusal.code is not TOO_MUCH for each in results]

    async def attack(self, session: FakeSession, *lines: str) -> None:
        """Submit lines in a cycle, 30 a second, for 20 seconds."""
        for line in islice(cycle(lines), 600):
            self.now += 1 / 30
            await self.type(session, line)


TOO_MUCH = Refusal.TALK_TOO_FAST
FOREVER = 1e-9
"""A rate at which nothing is given back while a test lasts."""
PLAYERS = PlayerSettings()
MOST_HEARD = PLAYERS.chat_at_once + PLAYERS.chat_per_minute / 3
"""How often others may be told something of one player in 20 seconds, if they were quiet before."""


def by_default() -> TalkLimiter:
    return TalkLimiter(PLAYERS.chat_per_minute / 60, PLAYERS.chat_at_once, PLAYERS.chat_per_address)


@pytest.mark.parametrize(
    "lines",
    [
        ["go elm board", "go hall"],
        ["join game as dwarf on elm board", "leave game on elm board"],
        ["set rules classic on elm board", "set rules discworld on elm board"],
        ["say hi"],
        ["shout hi"],
        ["tell bob hi", "invite bob on elm board"],
    ],
    ids=lambda lines: lines[0],
)
async def test_broadcasts_are_capped_per_player(store: SlowStore, lines: list[str]) -> None:
    crowd = Crowd(store, by_default())
    await crowd.service.open()
    mallory, bob, carla = await crowd.enter("Mallory", "Bob", "Carla")
    await crowd.type(carla, "go elm board")
    crowd.now += 60  # arriving was charged as well
    version = crowd.hall.tables["elm board"].version
    for each in (bob, carla):
        each.shown.clear()
    await crowd.attack(mallory, *lines)
    told = [sum("Mallory" in line for line in each.shown) for each in (bob, carla)]
    stored = crowd.hall.tables["elm board"].version - version
    assert max(*told, stored) >= MOST_HEARD - 1
    # Sitting down includes walking to the board, the first time.
    assert max(*told, stored) <= MOST_HEARD + 1


async def test_names_from_one_address_share_a_broadcast_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(0.5, 3, 4))
    await crowd.service.open()
    [bob] = await crowd.enter("Bob", address="198.51.100.1")
    letters = "abcdefghij"
    names = [f"Mallory{one}{two}" for one in letters for two in letters]
    many = await crowd.enter(*names, address="192.0.2.1")
    assert all(each.visit for each in many)
    crowd.now += 60
    bob.shown.clear()
    for mallory in many:
        result = (await crowd.type(mallory, "say hello"))[0]
    assert len(bob.shown) == 3 * 4
    assert result.refusal
    assert result.refusal.details == {"seconds": 0.5, "is_shared": True}
    assert await crowd.done(bob, "say peace") == [True]


async def test_shouts_have_an_additional_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 9, 4), TalkLimiter(0.5, 2, 4))
    await crowd.service.open()
    anna, bob = await crowd.enter("Anna", "Bob", address="192.0.2.1")
    *done, third, said = await crowd.type(anna, "shout a", "shout b", "shout c", "say d")
    assert all(each.is_done for each in (*done, said))
    assert third.refusal
    assert third.refusal.code is Refusal.SHOUTS_TOO_FAST
    assert third.refusal.details == {"seconds": 2.0, "is_shared": False}
    assert (await crowd.type(bob, "shout e"))[0].is_done
    crowd.now += 2
    assert (await crowd.type(anna, "shout f"))[0].is_done


async def test_reports_are_limited_per_address(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(1, 99, 4), reports=TalkLimiter(1 / 360, 10, 1))
    configure_reports(crowd.hall, 5)
    await crowd.service.open()
    [bob] = await crowd.enter("Bob", address="198.51.100.1")
    names = ("Mala", "Malb", "Malc")
    results = []
    for session in await crowd.enter(*names, address="192.0.2.1"):
        results += await crowd.type(session, *["report bob Rude."] * 5)
    assert [each.is_done for each in results] == [True] * 10 + [False] * 5
    refusal = results[-1].refusal
    assert refusal
    assert (refusal.code, refusal.details["seconds"]) == (Refusal.REPORTS_TOO_FAST, 360.0)
    assert (await crowd.type(bob, "report mala Rude."))[0].is_done


async def test_address_over_its_storage_quota_may_only_finish_games(
    store: SlowStore,
) -> None:
    quota = StorageQuota(3600)
    crowd = Crowd(store, TalkLimiter(1, 999, 4), quota=quota)
    crowd.hall.caps = Caps(boards=9)
    await crowd.service.open()
    [bob] = await crowd.enter("Bob", address="198.51.100.1")
    mala, malb = await crowd.enter("Mala", "Malb", address="192.0.2.1")
    await crowd.type(bob, "join game as troll on oak board")
    await crowd.type(mala, "join game as dwarf on oak board", "start")
    await crowd.type(malb, "practice on elm board", "move from a6 to b6")
    quota.charge("192.0.2.1", 3600, crowd.now)

    for line in ("new board", "seek", "move from g7 to f7 on elm board", "undo on elm board"):
        [result] = await crowd.type(malb, line)
        assert result.refusal, line
        assert result.refusal.code is Refusal.STORED_TOO_MUCH, line
        assert result.refusal.details["seconds"] > 60
    [done] = await crowd.type(mala, "move from a6 to b6 on oak board")
    assert done.is_done
    results = await crowd.type(bob, "move from g7 to f7", "undo", "new board", "go oak board")
    assert all(each.is_done for each in results)
    results = await crowd.type(mala, "undo on oak board", "end", "resign", "yes")
    assert [each.refusal and each.refusal.code for each in results] == [
        Refusal.STORED_TOO_MUCH, None, Refusal.SURE_RESIGNS, None,
    ]  # fmt: skip
    await crowd.type(bob, "start on oak board")
    results = await crowd.type(mala, "start on oak board", "adjourn on oak board")
    assert all(each.is_done for each in results)  # the second battle belongs to the match
    results = await crowd.type(malb, "end game on elm board", "leave game on elm board", "quit")
    assert [each.refusal for each in results] == [None] * 3

    crowd.now += 3600
    assert (await crowd.type(mala, "seek"))[0].is_done
    assert quota.full == set()


async def test_local_players_and_bots_have_no_storage_quota(store: SlowStore) -> None:
    quota = StorageQuota(2)
    crowd = Crowd(store, TalkLimiter(1, 999, 4), quota=quota)
    await crowd.service.open()
    for session in (*await crowd.enter("Anna", address="127.0.0.1"), *await crowd.enter("Bob")):
        results = await crowd.type(session, "practice on oak board", "move from a6 to b6", "leave")
        assert all(each.is_done for each in results)


async def test_offers_are_limited_but_answers_are_not(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 5, 4))
    await crowd.service.open()
    anna, bob = await crowd.enter("Anna", "Bob")
    await crowd.type(anna, "join game as dwarf on oak board", "start")
    await crowd.type(bob, "join game as troll on oak board", "say a", "say b", "say c")
    assert await crowd.done(bob, "start", "say d") == [False, False]
    assert await crowd.done(anna, "start", "undo") == [True, True]
    await crowd.type(anna, "move f15 f8")
    assert await crowd.done(anna, "undo", "end", "adjourn") == [True, True, False]
    # Bob's budget is used up, but he can answer all offers.
    assert await crowd.done(bob, "no", "move g7 f7", "say e") == [True, True, False]
    assert await crowd.done(anna, "move f8 g8", "adjourn", "resign", "yes", "quit") == [
        True, False, True, True, True,
    ]  # fmt: skip
    assert await crowd.done(bob, "quit") == [True]
    assert not crowd.hall.people


async def test_agreeing_to_restart_counts_as_an_answer(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 4, 4))
    await crowd.service.open()
    anna, bob = await crowd.enter("Anna", "Bob")
    await crowd.type(anna, "join game as dwarf on oak board")
    await crowd.type(bob, "join game as troll on oak board", "say a", "say b")
    assert await crowd.done(anna, "start", "start") == [True, True]
    assert await crowd.done(bob, "say c", "start") == [False, True]
    assert await crowd.done(bob, "resign", "yes", "start") == [True, True, False]


async def test_unheard_commands_do_not_count_against_the_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 1, 4))
    await crowd.service.open()
    [anna] = await crowd.enter("Anna")
    lines = ["look", "who", "boards", "help", "set board full on oak board", "options width 60"]
    lines += ["tell nobody hello", "leave game on oak board", "go hall", "say", "games", "join"]
    assert all(await crowd.done(anna, *lines * 3))
    assert await crowd.done(anna, "say hello") == [False]


async def test_typical_first_commands_stay_within_the_limit(store: SlowStore) -> None:
    crowd = Crowd(store, by_default())
    await crowd.service.open()
    [anna] = await crowd.enter("Anna")
    lines = ["say good evening", "go oak board", "join as dwarf", "leave", "join as troll"]
    lines += ["set rules classic", "set rules discworld", "leave", "go hall", "go elm board"]
    lines += ["join as dwarf", "say who plays?", "emote waits"]
    assert all(await crowd.done(anna, *lines))


async def test_ipv6_network_counts_as_one_address(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 99, 4))
    crowd.hall.caps = Caps(seeks_per_address=1)
    await crowd.service.open()
    [anna] = await crowd.enter("Anna", address="2001:db8::1")
    [bob] = await crowd.enter("Bob", address="2001:db8::2")
    [carla] = await crowd.enter("Carla", address="2001:db8:0:1::1")
    results = [
        (await crowd.type(each, f"seek {minutes}+0", f"seek classic {minutes}+0"))[-1].is_done
        for minutes, each in enumerate((anna, bob, carla), 5)
    ]
    assert results == [True, False, True]


async def test_redecided_command_counts_once(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 2, 4))
    await crowd.service.open()
    anna, bob = await crowd.enter("Anna", "Bob")
    store.hold()
    first = begin(crowd.done(anna, "join game as dwarf on oak board"))
    await store.held_up()
    second = begin(crowd.done(bob, "join game as troll on oak board"))
    store.gate.set()
    assert await finished(first, second) == [[True], [True]]
    assert len(crowd.hall.tables["oak board"].seats) == 2


async def test_arrivals_and_departures_are_limited_per_name(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(0.5, 3, 4))
    await crowd.service.open()
    [bob] = await crowd.enter("Bob")
    bob.shown.clear()
    for _ in range(20):
        [mallory] = await crowd.come_and_go("Mallory")
        assert mallory.visit
    heard = len(bob.shown)
    assert heard == 2 * 3
    crowd.now += 2.0
    await crowd.come_and_go("mallory")
    assert len(bob.shown) == heard + 2


async def test_return_to_a_seat_is_delayed_by_the_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(0.5, 3, 4))
    await crowd.service.open()
    [mallory, bob] = await crowd.enter("Mallory", "Bob", address="192.0.2.1")
    await crowd.done(mallory, "join game as dwarf on oak board")
    await crowd.done(bob, "join game as troll on oak board", "start game on oak board")
    await crowd.done(mallory, "start game on oak board")
    crowd.now += 60
    for _ in range(3):
        await crowd.done(mallory, "quit")
        [mallory] = await crowd.enter("Mallory", address="192.0.2.1")
    assert not mallory.refusal
    await crowd.done(mallory, "quit")
    [mallory] = await crowd.enter("Mallory", address="192.0.2.1")
    assert mallory.refusal
    assert mallory.refusal.details == {"seconds": 2.0, "is_shared": False}
    await crowd.done(bob, "quit")
    [bob] = await crowd.enter("Bob", address="192.0.2.1")
    assert bob.visit  # others from the same address don't block a return to a seat


async def test_takeover_does_not_count_against_the_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 2, 4))
    await crowd.service.open()
    for _ in range(5):
        [anna] = await crowd.enter("Anna")
    assert await crowd.done(anna, "say hello", "say hello") == [True, False]


@pytest.mark.parametrize(
    ("addresses", "heard"),
    [
        (["192.0.2.1"], 4 * 5),
        (["2001:db8::1", "2001:db8::2:3"], 4 * 5),
        (["192.0.2.1", "192.0.2.2"], 2 * 4 * 5),
        (["127.0.0.1"], 30 * 5),
    ],
    ids=["one address", "one network", "two addresses", "this machine"],
)
async def test_thirty_names_from_one_address_share_the_limit_of_four(
    store: SlowStore, addresses: list[str], heard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_hall, "CROWD", 1 + 30)  # every arrival is announced to Bob
    crowd = Crowd(store, TalkLimiter(FOREVER, 5, 4))
    await crowd.service.open()
    [bob] = await crowd.enter("Bob", address="198.51.100.1")
    names = [f"Mallory{chr(ord('a') + number)}" for number in range(30)]
    said = 0
    for name, address in zip(names, cycle(addresses), strict=False):
        [mallory] = await crowd.enter(name, address=address)
        assert mallory.visit
        said += (not mallory.visit.is_hushed) + sum(await crowd.done(mallory, *["say hi"] * 10))
    assert said == heard
    assert sum("Mallory" in line for line in bob.shown) == heard
    assert await crowd.done(bob, "say is anybody here?") == [True]


async def test_bots_have_no_talk_limit(store: SlowStore) -> None:
    crowd = Crowd(store, TalkLimiter(FOREVER, 1, 4))
    await crowd.service.open()
    crowd.hall.bots = {"Grog": None}
    [grog] = await crowd.enter("Grog")
    assert all(await crowd.done(grog, *["say hi"] * 10))


async def test_talk_beyond_the_limit_is_refused_and_not_delivered(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0, "shutdown_grace": 0.2},
            "web": {"enabled": False},
            "players": {"chat_at_once": 4, "chat_per_minute": 1},
            "storage": {"backend": "memory"},
        }
    )
    server = Acceptor(settings, hasher=CHEAP)
    [(host, port)] = await server.bind()
    async with open_sessions(settings, tmp_path) as sessions:
        await server.start(sessions)
        anna, bob = [Client(*await asyncio.open_connection(host, port)) for _ in range(2)]
        for client, name in ((anna, "Anna"), (bob, "Bob")):
            await client.until(b"name? ")
            await client.login(name)
        await anna.send(b"say one\r\nemote waves\r\ntell bob two\r\nsay three\r\nwho\r\n")
        told = (await anna.fence()).decode()
        assert " ".join(told.split()).count("others have just heard a lot from you") == 1
        await bob.send(b"say four\r\n")
        heard = (await bob.fence()).decode()
        assert "one" in heard
        assert "two" in heard
        assert "three" not in heard
        assert "four" in heard
        await anna.send(b"quit\r\n")
        await anna.rest()
        again = Client(*await asyncio.open_connection(host, port))
        await again.until(b"name? ")
        shown = await again.login("Anna")
        assert b"Bob" in shown  # she is admitted and sees who is here; the others aren't told
        assert b"comes into" not in await bob.fence()
        await again.send(b"quit\r\n")
        assert b"Goodbye" in await again.rest()
        assert b"Anna" not in await bob.fence()
        for client in (anna, bob, again):
            await client.close()
        await server.stop()
