"""Tournaments in every kind of store: running ones load at start, others on request."""

from __future__ import annotations

from tests.store.conftest import Opening
from tests.store.deeds import is_in_order
from thudmud import BoardSpec, House
from thudmud.features.tournaments.model import (
    TournamentLookup,
    TournamentRegister,
    TournamentsLookup,
    folded,
)
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleScore,
    BattleStarted,
    PairingBegun,
    PairingScored,
    RoundPaired,
    TournamentEnd,
    TournamentEnded,
    TournamentEntered,
    TournamentEvent,
    TournamentKind,
    TournamentLeaving,
    TournamentLeft,
    TournamentMade,
    TournamentPaused,
    TournamentRound,
)
from thudmud.game.projections import HALL
from thudmud.store import Store, accounts, battles, hall, persons
from thudmud.values import replace

TIME = TimeControl(10, 5)


def made(number: int, title: str = "") -> TournamentMade:
    return TournamentMade(
        1.0, "Anna", number, title, TournamentKind.SWISS, "classic", TIME, 60.0, 5, 0
    )


FIRST: list[TournamentEvent] = [
    made(1, "Thursday"),
    *(TournamentEntered(1.0, name, 1, rating) for name, rating in (("Anna", 1600), ("Bert", None))),
    TournamentEntered(1.0, "Carla", 1, None, is_member=True),
    TournamentLeft(1.0, "Carla", 1, TournamentLeaving.WITHDRAWN),
    RoundPaired(1.0, "", 1, 1, ("Anna", "Bert")),
    PairingBegun(1.0, "", 1, 1, 0, "Anna", "Bert", "(board) 9"),
    PairingScored(1.0, "", 1, 1, 0, "Anna", "Bert", (BattleScore(32, 8, 40),), is_over=False),
    PairingScored(
        1.0, "", 1, 1, 0, "Anna", "Bert", (BattleScore(32, 8, 40), BattleScore(4, 12, 7))
    ),
]
END = TournamentEnded(1.0, "", 1, TournamentEnd.OVER, ("Anna", "Bert"), (1, 2))


async def known(store: Store) -> TournamentRegister:
    """Return the tournaments that a starting server loads."""
    [part] = [each for each in await store.read(hall.parts) if isinstance(each, TournamentRegister)]
    return part


async def append(store: Store, *happened: TournamentEvent) -> list[TournamentEvent]:
    """Append to the hall's stream and return the stored events with their times."""
    before = await store.version(HALL)
    await store.append({HALL: (before, happened)})
    stored = await store.read_stream(HALL, before + 1)
    return [each.event for each in stored if isinstance(each.event, TournamentEvent)]


async def test_erasing_an_organizer_removes_only_their_titles(opening: Opening) -> None:
    store = await opening()
    for name in ("Anna", "Bert"):
        await store.write(accounts.enrol, name, "hash")
    others = replace(made(2, "Bert's"), player="Bert")
    stored = await append(store, *FIRST, END, others, made(3, "Anna was here"))
    await store.write(accounts.erase, "Anna")
    (past,), _ = await store.look_up(TournamentsLookup())
    assert (past.number, past.title) == (1, "")
    under_way = (await known(store)).going_on
    assert [each.made.title for each in under_way] == ["Bert's", ""]
    assert replace(under_way[1].made, player="Anna", title="Anna was here") == stored[-1]
    await is_in_order(store)


async def test_running_tournaments_are_loaded_at_start(opening: Opening) -> None:
    store = await opening()
    first = folded(await append(store, *FIRST))
    second = folded(await append(store, made(2), TournamentPaused(1.0, "Anna", 2)))
    assert (await known(store)).going_on == [first, second]
    assert (await known(store)).last == 2
    assert [each.player for each in first.entrants] == ["Anna", "Bert"]
    assert first.rounds[0][0].battle_points("Anna") == 16


async def test_finished_tournaments_are_read_on_request(opening: Opening) -> None:
    store = await opening()
    happened = await append(store, *FIRST, END)
    assert (await known(store)).going_on == []
    assert (await known(store)).last == 1
    assert await store.look_up(TournamentLookup(1)) == folded(happened)
    for number in (2, 10**30):
        assert await store.look_up(TournamentLookup(number)) is None
    past = await store.look_up(TournamentsLookup())
    assert past.in_all == 1
    [one] = past.tournaments
    assert (one.number, one.title, one.winner, one.entrants) == (1, "Thursday", "Anna", 2)
    assert one.why is TournamentEnd.OVER
    assert (await store.look_up(TournamentsLookup(2))).tournaments == ()


async def test_battle_names_its_tournament_and_round(opening: Opening) -> None:
    store = await opening()
    await append(store, *FIRST)
    of = TournamentRound(1, 1)
    began = BattleStarted(1.0, "", 1, "classic", "Anna", "Bert", time=TIME, tournament=of)
    await store.append({"(board) 9": (0, [began])})
    [battle] = await store.read(battles.history, "Anna")
    assert (battle.tournament, battle.event, battle.round) == (of, "Thursday", "1")


async def test_personal_data_includes_tournament_places(opening: Opening) -> None:
    store = await opening()
    await append(store, *FIRST, END)
    about = await store.read(persons.personal_data, "Bert")
    assert about["tournament_place"] == [{"tournament": 1, "place": 2}]


async def test_erased_player_is_anonymous_in_tournaments(opening: Opening) -> None:
    store = await opening()
    await append(store, *FIRST, END)
    await store.write(accounts.enrol, "Bert", "hash")
    await store.write(accounts.erase, "Bert")
    found = await store.look_up(TournamentLookup(1))
    assert found
    assert found.end
    names = {each.player for each in found.entrants} | {*found.end.players}
    assert names == {"Anna", *(each for each in names if each.startswith("(erased"))}


async def test_tournament_rows_pass_the_check() -> None:
    store = Store.in_memory()
    await append(store, *FIRST, END)
    await append(store, made(2))
    assert await store.check() is None
    await store.close()


def test_withdrawn_player_is_named_but_not_listed_as_active() -> None:
    left = TournamentLeft(4.0, "Bert", 1, TournamentLeaving.WITHDRAWN)
    register = TournamentRegister([folded([*FIRST, left])])
    assert {*register.protected_players()} == {"Anna", "Bert"}
    assert {*register.players()} == {"Anna"}


def test_hall_without_tournaments_ignores_stored_ones() -> None:
    for without, told in (((), True), (("tournaments",), False)):
        house = House([BoardSpec("oak board")], without=without)
        house.hall.resume_from(1, parts=[TournamentRegister([folded([made(1)])], 1)])
        lines = [each.text for each in house.enter("Carl", 2.0) if not each.package]
        lines += [each.text for each in house.obey("Carl", "finger carl", 2.0)]
        assert ("ournament" in " ".join(lines)) is told
