"""Lines: stored before delivery, decided again after a conflict, never half done."""

from __future__ import annotations

import asyncio

import pytest

from tests.service.place import Place, begin, finished
from tests.service.stores import SlowStore
from thudmud.game.asides import Spoke
from thudmud.game.options import Style
from thudmud.game.refusals import Refusal
from thudmud.rules import Side
from thudmud.store import NotWrittenError, battles


async def test_second_line_at_a_board_is_decided_after_the_first(
    place: Place, store: SlowStore
) -> None:
    await place.enter("Anna", "Bert")
    store.gate.clear()
    tasks = [place.submit(name, "join game as dwarf on oak board") for name in ("Anna", "Bert")]
    store.gate.set()
    _, second = await finished(*tasks)
    assert place.hall.tables["oak board"].seats == {Side.DWARF: "Anna"}
    assert second.refusal.code is Refusal.SEAT_TAKEN
    assert place.hall.people["Bert"].room is None


async def test_players_of_two_services_on_one_store_play_each_other(store: SlowStore) -> None:
    here, there = Place(store), Place(store)
    await here.open()
    await there.open()
    await here.enter("Anna")
    await there.enter("Bert")
    await here.type("Anna", "join game as dwarf on oak board")
    await there.type("Bert", "join game as troll on oak board", "start")
    await here.type("Anna", "move from f15 to f8")
    there_told = await there.type("Bert", "move from g7 to f7")
    assert there_told.startswith("You move the troll from G7 to F7. It is Anna's turn")
    await asyncio.sleep(0)
    assert here.told["Anna"][-1].startswith("Bert moves the troll from G7 to F7. It is your turn.")
    await here.type("Anna", "resign", "yes")
    await asyncio.sleep(0)
    assert here.hall.tables == there.hall.tables
    (battle,) = await store.read(battles.history, None)
    assert battle.outcome


async def test_again_repeats_the_last_command(place: Place) -> None:
    await place.enter("Anna", "Bert")
    assert "nothing to repeat yet" in await place.type("Anna", "again")
    assert (await place.type("Anna", "say hello", ".")).count("You say: hello") == 2
    assert "You say: hello" not in await place.type("Bert", "who", "again")
    assert (await place.type("Bert", "go to elm", "again")).count("already at the elm board") == 1
    assert "already at the elm board" in await place.type("Bert", "xyzzy", "again", "again.")
    await place.leave("Bert")
    await place.enter("Bert")
    assert "nothing to repeat yet" in await place.type("Bert", "again")


async def test_restarted_service_restores_the_match(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8")
    await place.type("Bert", "move from g7 to f7", "undo")
    await place.type("Anna", "undo")
    anew = Place(store)
    anew.now = store.time = 2000.0
    await anew.open()
    table = anew.hall.tables["oak board"]
    assert table.away == {Side.DWARF: 2000.0, Side.TROLL: 2000.0}
    assert table.match == place.hall.tables["oak board"].match
    await anew.enter("Anna", "Bert")
    assert "You're back at the oak board" in anew.told["Anna"][0]
    assert anew.hall.tables["oak board"].away == {}
    assert anew.plies() == 1
    assert "You move the troll" in await anew.type("Bert", "move from g7 to f7")
    assert "1 ply" not in await anew.type("Anna", "games")


async def test_old_battles_are_available_after_a_restart(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8", "resign", "yes")
    anew = Place(store)
    await anew.open()
    await anew.enter("Carla")
    assert "dF15-F8" in await anew.type("Carla", "record 1")
    assert "move 1 of 1" in await anew.type("Carla", "replay 1", "next")


async def test_player_whose_return_was_not_stored_can_play(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.leave("Anna")
    assert place.hall.tables["oak board"].away
    store.broken = True
    await place.enter("Anna")
    assert "Anna" in place.service
    store.broken = False
    assert "You move the dwarf" in await place.type("Anna", "move from f15 to f8")
    assert not place.hall.tables["oak board"].away


async def test_style_of_a_member_is_stored_before_it_is_applied(place: Place) -> None:
    await place.enter("Anna", member=True)
    assert "is full" in await place.type("Anna", "set board full on oak board")
    assert place.kept.keys() == {"Anna"}
    assert place.kept["Anna"].styles == {"oak board": Style.FULL}
    place.forgetful = True
    with pytest.raises(NotWrittenError):
        await place.type("Anna", "set board brief on oak board")
    assert place.hall.style("Anna", "oak board") is Style.FULL


async def test_line_in_flight_of_a_departed_player_still_counts(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.gate.clear()
    move = place.submit("Anna", "move from f15 to f8")
    parting = begin(place.leave("Anna"))
    store.gate.set()
    await finished(move, parting)
    assert place.plies() == 1
    assert place.hall.tables["oak board"].away
    assert "Anna" not in place.service


async def test_quit_frees_seats_except_in_a_running_match(place: Place) -> None:
    await place.sit()
    await place.type("Anna", "join game as troll on elm board")
    await place.type("Anna", "quit")
    assert "Anna" not in place.service
    assert place.hall.tables["elm board"].seats == {}
    assert place.hall.tables["oak board"].seats[Side.DWARF] == "Anna"
    assert Side.DWARF in place.hall.tables["oak board"].away


async def test_speech_at_a_board_reaches_its_players_except_those_who_ignore(place: Place) -> None:
    await place.sit()
    await place.enter("Carla")
    await place.type("Anna", "ignore bert", "go hall")
    await place.type("Carla", "go oak board")
    await place.type("Bert", "go hall")
    place.told.clear()
    for board in ("oak board", "no board"):
        speech = Spoke("Bert", board, "Hello.")
        await place.service.speak_at_board(place.visits["Bert"], speech)
    assert place.told == {"Bert": ["[oak board] You say: Hello."], "Carla": ["Bert says: Hello."]}
