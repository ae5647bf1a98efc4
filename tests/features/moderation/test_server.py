"""Moderation on a server: stored and logged sanctions, ended sessions, shutdown, reports."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

import pytest

from tests.alarms import Alarms
from tests.features.moderation.reports import reports
from tests.server.test_session_registry import FakeSession
from tests.service.place import Place, Screen, until
from tests.service.stores import SlowStore, do_instead
from thudmud.features.moderation.model import configure_reports
from thudmud.game.hall import Hall
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.game.table import BoardSpec
from thudmud.server.session_registry import NEW_OPERATOR, NEW_OPERATOR_ALONE, Sessions, make_service
from thudmud.service import Dismissal, Node, Visit
from thudmud.service.scheduler import TimerScheduler
from thudmud.store import StoreError, accounts
from thudmud.views import Terminal

OAK = BoardSpec("oak board")


class Game:
    """A server's sessions, with ways to enter players and type lines for them."""

    def __init__(self, store: SlowStore, without: Collection[str] = ()) -> None:
        self.store = store
        hall = Hall([OAK])
        configure_reports(hall, 5)
        service = make_service(store, hall, clock=lambda: store.time, without=without)
        self.sessions = Sessions(service, "ops@example.net")
        self.service, self.hall = service, service.hall

    async def open(self) -> None:
        await self.service.open()
        self.sessions.apply_order(await self.store.watch(accounts.order, self.sessions.apply_order))

    async def enter(self, name: str, address: str = "", *, member: bool = False) -> FakeSession:
        session = FakeSession(self.sessions, name, address)
        account = await self.store.write(accounts.enrol, name, "hash") if member else None
        session.visit = await self.sessions.admit(session, name, Terminal(200), account)
        return session

    async def type(self, session: FakeSession, line: str) -> str:
        """Submit a line and return the text the player is shown."""
        assert session.visit
        session.shown.clear()
        await self.service.submit(session.visit, line)
        return "\n".join(session.shown)


@pytest.fixture
async def game() -> Game:
    game = Game(SlowStore.make())
    await game.open()
    return game


@pytest.fixture
async def olga(game: Game) -> FakeSession:
    olga = await game.enter("Olga", "198.51.100.1", member=True)
    await game.store.write(accounts.set_operator, "Olga", is_one=True)
    return olga


async def test_operator_rights_change_at_once(game: Game, olga: FakeSession) -> None:
    assert olga.shown[-1] == NEW_OPERATOR
    assert "Nobody is banned." in await game.type(olga, "bans")
    await game.store.write(accounts.set_operator, "Olga", is_one=False)
    assert game.hall.order == Order()
    assert "Only operators can do that." in await game.type(olga, "bans")


async def test_mute_is_logged_and_ends_in_time(
    game: Game, olga: FakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bert = await game.enter("Bert", "192.0.2.7")
    assert "You mute Bert" in await game.type(olga, "mute bert for 10 minutes because of that")
    assert "Olga has muted you for 10 minutes, because of that." in bert.shown[-1]
    assert "You are muted" in await game.type(bert, "say hi")
    record = next(each for each in caplog.records if each.message == "mute")
    logged = {key: vars(record)[key] for key in ("operator", "whom", "until", "why")}
    assert logged == {
        "operator": "Olga", "whom": "Bert", "until": "1970-01-01 00:26 UTC", "why": "of that",
    }  # fmt: skip
    game.store.time += 600
    assert "You say: hi" in await game.type(bert, "say hi")
    assert "not muted" in await game.type(olga, "unmute bert")


async def test_mute_that_cannot_be_stored_has_no_effect(
    game: Game, olga: FakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise StoreError("The disk is full.")

    bert = await game.enter("Bert")
    do_instead(monkeypatch, game.store, accounts.impose_sanction, fail)
    with pytest.raises(StoreError):
        await game.type(olga, "mute bert")
    assert "You say: hi" in await game.type(bert, "say hi")


async def test_kicked_player_keeps_the_seat_and_may_return(game: Game, olga: FakeSession) -> None:
    bert = await game.enter("Bert")
    await game.type(bert, "join game as dwarf on oak board")
    assert "You kick Bert" in await game.type(olga, "kick bert because of that")
    assert "Olga has ended your connection, because of that." in bert.shown[-1]
    assert bert.has_ended
    assert "Bert" not in game.service
    assert game.hall.tables["oak board"].seats.values()
    again = await game.enter("Bert")
    assert again.visit
    assert not game.hall.tables["oak board"].away


@pytest.mark.parametrize("whom", ["bert", "192.0.2.0/24", "192.0.2.7"])
async def test_ban_disconnects_its_target_at_once(game: Game, olga: FakeSession, whom: str) -> None:
    bert, carla = await game.enter("Bert", "192.0.2.7"), await game.enter("Carla", "192.0.3.7")
    asks = FakeSession(game.sessions, "", "192.0.2.7")  # not logged in yet
    assert "You ban" in await game.type(olga, f"ban {whom} for 2 days because of that")
    assert "of this server has banned" in bert.shown[-1]
    assert "because of that. If that's a mistake, write to ops@example.net." in bert.shown[-1]
    assert bert.has_ended
    assert not carla.has_ended
    assert asks.has_ended == (whom != "bert")
    again = await game.enter("Bert", "192.0.2.7")
    assert (again.visit, again.has_ended) == (None, True)
    await game.type(olga, f"unban {whom}")
    assert (await game.enter("Bert", "192.0.2.7")).visit


async def test_broadcast_is_exempt_from_the_talk_quota(game: Game, olga: FakeSession) -> None:
    bert = await game.enter("Bert")
    for number in range(100):
        assert "You tell everybody" in await game.type(olga, f"broadcast {number}")
    assert bert.shown[-1] == "Olga, an operator, tells everybody: 99"


async def test_sanctions_hold_with_the_moderation_feature_off() -> None:
    game = Game(SlowStore.make(), without=["moderation"])
    await game.open()
    olga = await game.enter("Olga", member=True)
    bert, carla = await game.enter("Bert", "192.0.2.7"), await game.enter("Carla")
    await game.store.write(accounts.set_operator, "Olga", is_one=True)
    assert olga.shown[-1] == NEW_OPERATOR_ALONE
    assert "no command" in await game.type(olga, "ban bert")
    assert "Keeping order" not in await game.type(olga, "help")
    await game.store.write(accounts.ban, "192.0.2.7")
    assert "of this server has banned 192.0.2.7" in bert.shown[-1]
    assert bert.has_ended
    await game.store.write(accounts.impose_sanction, Sanction(Measure.MUTE, "Carla"))
    assert "You are muted" in await game.type(carla, "say hi")


# Shutdown.


async def test_shutdown_countdown_is_announced_as_it_runs_out(
    game: Game, olga: FakeSession
) -> None:
    alarms, ended = Alarms(), list[str]()
    scheduler = TimerScheduler(lambda: game.store.time, alarms)
    game.service.scheduler = scheduler
    game.service.server_stopper = ended.append
    bert = await game.enter("Bert")
    await game.type(olga, "shutdown in 10 minutes because of an update")
    assert alarms.due == [300.0, 480.0, 540.0, 570.0, 590.0, 600.0]
    await game.type(olga, "shutdown in 1 minute because of an update")
    assert alarms.due == [30.0, 50.0, 60.0]
    game.store.time += 15
    late = await game.enter("Carla")
    assert late.shown[-1].startswith(
        "The server is shutting down in 45 seconds, because of an update."
    )
    bert.shown.clear()
    alarms.ring()
    assert [each.partition(",")[0] for each in bert.shown] == [
        "The server is shutting down in 30 seconds",
        "The server is shutting down in 10 seconds",
    ]
    assert ended == ["an operator"]


async def test_shutdown_cancelled_stops_its_countdown(game: Game, olga: FakeSession) -> None:
    alarms = Alarms()
    scheduler = TimerScheduler(lambda: game.store.time, alarms)
    game.service.scheduler = scheduler
    await game.type(olga, "shutdown in 1 minute")
    assert "Shutdown cancelled." in await game.type(olga, "cancel shutdown")
    assert not alarms.due
    late = await game.enter("Carla")
    assert "shutting down" not in "\n".join(late.shown)
    assert "No shutdown is planned" in await game.type(olga, "cancel shutdown")


# Several nodes.


async def test_broadcast_and_kick_reach_players_of_other_nodes() -> None:
    store = SlowStore.make()
    places, screens = [], []
    for name in ("one", "two"):
        node = Node(store, name, clock=lambda: store.time)
        await node.open()
        place = Place(store, node)
        await place.open()
        place.hall.order = Order(frozenset({"olga"}))
        places.append(place)
        screens.append(Screen())
    one, two = places
    await one.enter("Olga", screen=screens[0])
    await two.enter("Bert", screen=screens[1])
    await until(lambda: "Bert" in one.service)
    await one.type("Olga", "broadcast hello")
    assert two.told["Bert"][-1] == "Olga, an operator, tells everybody: hello"
    await one.type("Olga", "shutdown in 10 minutes")  # of her node only
    assert "is shutting down" in one.told["Olga"][-1]
    assert two.told["Bert"][-1] == "Olga, an operator, tells everybody: hello"
    await one.type("Olga", "kick bert because of that")
    await until(lambda: "Bert" not in one.service)
    assert screens[1].why is Dismissal.KICKED
    assert "Olga has ended your connection, because of that." in two.told["Bert"][-1]
    refused = await one.service.submit(visit(one, "Olga"), "kick bert")
    assert refused.refusal
    assert refused.refusal.code is Refusal.NO_SUCH_PLAYER
    one.service.stop()
    await asyncio.sleep(0)


def visit(place: Place, name: str) -> Visit:
    found = place.service.visit(name)
    assert found
    return found


# Reports.


async def test_reports_are_listed_and_closed_by_operators(game: Game, olga: FakeSession) -> None:
    otto = await game.enter("Otto", member=True)
    await game.store.write(accounts.set_operator, "Otto", is_one=True)
    bert, carla = await game.enter("Bert"), await game.enter("Carla")
    assert await game.type(olga, "reports") == "There are no open reports."
    await game.type(bert, "say Fool!")
    assert "operators will see" in await game.type(carla, "report bert He is rude.")
    told = 'Carla reports Bert: "He is rude." ("reports" lists the open ones.)'
    assert (olga.shown[-1], otto.shown[-1]) == (told, told)
    assert "reports" not in bert.shown[-1]
    game.store.time += 60
    await game.type(carla, "report bert Again.")
    listed = await game.type(olga, "reports")
    assert listed.split("\n") == [
        "2 reports:",
        "  2. 1970-01-01 00:17 UTC, Carla about Bert: Again.",
        "    heard from Bert: say: Fool!",
        "  1. 1970-01-01 00:16 UTC, Carla about Bert: He is rude.",
        "    heard from Bert: say: Fool!",
        '"close report 2" closes the first once you\'ve dealt with it.',
    ]
    assert await game.type(olga, "close report 2") == "You close report 2."
    assert otto.shown[-1] == "Olga closes report 2."
    assert "There is no open report 2" in await game.type(otto, "close report 2")
    assert (await game.type(olga, "reports")).startswith("1 report:")
    assert "no page 2" in await game.type(olga, "reports page 2")
    assert "Only operators" in await game.type(bert, "reports")


async def test_reports_about_or_by_a_player_are_closed_together(
    game: Game, olga: FakeSession
) -> None:
    otto = await game.enter("Otto", member=True)
    await game.store.write(accounts.set_operator, "Otto", is_one=True)
    bert, carla = await game.enter("Bert"), await game.enter("Carla")
    assert await game.type(olga, "close all reports") == "There are no open reports."
    for _ in range(4):
        await game.type(carla, "report bert Rude.")
    for _ in range(5):
        await game.type(bert, "report carla Rude.")
    await game.type(carla, "report otto Rude.")
    nobody = 'There is no such open report with the name "zoe". "reports" lists the open ones.'
    assert await game.type(olga, "close reports about zoe") == nobody
    assert nobody.replace("zoe", "olga") == await game.type(olga, "close reports from olga")
    assert await game.type(olga, "close reports about bert") == "You close 4 reports about Bert."
    assert otto.shown[-1] == "Olga closes 4 reports about Bert."
    assert await game.type(otto, "close reports from Bert") == "You close 5 reports from Bert."
    [left] = await reports(game.store)
    assert (left.by, left.about) == ("Carla", "Otto")
    assert await game.type(olga, "close all reports") == "You close 1 report."
    assert await reports(game.store) == []
    assert "Only operators" in await game.type(bert, "close all reports")


async def test_list_of_many_reports_explains_how_to_close_all_by_a_player(
    game: Game, olga: FakeSession
) -> None:
    for name in ("Anna", "Bert", "Carla"):
        session = await game.enter(name)
        for _ in range(5):
            await game.type(session, "report olga Rude.")
    told = await game.type(olga, "reports")
    assert '"close report 15" closes the first once you\'ve dealt with' in " ".join(told.split())
    assert told.endswith('"close reports from carla" all by Carla.')
