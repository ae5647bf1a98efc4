"""Opening, closing and renaming boards while services run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.alarms import Alarms
from tests.service.place import BOARDS, Place, Screen, begin, finished, until
from tests.service.stores import SlowStore
from thudmud.errors import RefusedError, StartError
from thudmud.game.events import BoardOpened, Joined, Parting
from thudmud.game.hall import Hall
from thudmud.game.projections import HALL
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec
from thudmud.rules import Side
from thudmud.service import Service
from thudmud.service.boards import close_board, load_open_boards, open_board, rename_board
from thudmud.store import ConflictError, Store

NOW = 2000.0
OAK = "oak board"


def names(place: Place) -> list[str]:
    return list(place.hall.tables)


async def test_new_board_is_announced_and_playable(place: Place, store: SlowStore) -> None:
    await place.enter("Anna", "Bert")
    place.told.clear()
    await open_board(store, "pine board", "classic", NOW)
    assert names(place) == [OAK, "elm board", "pine board"]
    assert place.told["Anna"] == ["There's a new board: the pine board (classic rules)."]
    await place.type("Anna", "join game as dwarf on pine board")
    assert "troll" in await place.type("Bert", "join game as troll on pine board", "start")
    assert place.plies("pine board") == 0
    assert place.hall.tables["pine board"].ruleset.name == "classic"
    assert "pine board" in await place.type("Bert", "boards")


async def test_new_board_survives_a_restart_in_order(place: Place, store: SlowStore) -> None:
    await open_board(store, "pine board", "koom valley", NOW)
    await place.sit()
    await place.type("Anna", "leave game")
    await place.type("Anna", "join game as troll on pine board")
    anew = Place(store)
    await anew.open()
    assert names(anew) == names(place)
    assert anew.hall.tables["pine board"].seats == {Side.TROLL: "Anna"}
    assert anew.hall.tables["pine board"].ruleset.name == "koom valley"


async def test_closing_a_board_moves_its_players_to_the_hall(
    place: Place, store: SlowStore
) -> None:
    screen = Screen()
    await place.enter("Anna", "Bert")
    await place.enter("Carla", screen=screen)
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Carla", "go oak board")
    screen.messages.clear()
    place.told.clear()
    await close_board(store, "Oak Board", NOW)
    assert names(place) == ["elm board"]
    assert [person.room for person in place.hall.people.values()] == [None, None, None]
    cleared, closed, *_, hall = screen.told
    assert cleared.startswith("The oak board is closing, so it has been cleared.")
    assert closed == "The oak board is closed."
    assert "elm board" in hall
    assert "The oak board is closed." in place.told["Bert"]
    assert not place.hall.tables.seats_of("Anna")
    assert 'There is no "oak board"' in await place.type("Anna", "join game as dwarf on oak board")
    assert "elm board" in await place.type("Anna", "look")


async def test_match_at_a_closed_board_resumes_at_another(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "move from f15 to f8")
    place.told.clear()
    await close_board(store, OAK, NOW)
    assert "adjourn your match" in place.told["Bert"][0]
    await place.type("Anna", "go elm board")
    await place.type("Bert", "go elm board", "resume game")
    assert "resume your match at the elm board" in await place.type("Anna", "yes")
    assert place.plies("elm board") == 1


async def test_line_racing_with_a_closure_leaves_the_board_closed(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    store.hold()
    late = place.submit("Anna", "move from f15 to f8")
    closing = begin(close_board(store, OAK, NOW))
    for _ in range(2):
        await store.held_up()
    store.gate.set()
    await finished(late, closing)
    assert names(place) == ["elm board"]
    assert place.service.visit("Anna")


async def test_append_decided_before_a_closure_conflicts(store: SlowStore, place: Place) -> None:
    version = place.hall.tables[OAK].version
    await close_board(store, OAK, NOW)
    with pytest.raises(ConflictError):
        await store.append({OAK: (version, [Joined(NOW, "Anna", Side.DWARF)])})


async def test_closed_board_is_empty_when_configured_again(place: Place, store: SlowStore) -> None:
    await place.sit()
    await close_board(store, OAK, NOW)
    anew = Place(store)  # configured with the oak board
    await anew.open()
    for each in (place, anew):
        assert each.hall.tables[OAK].version == await store.version(OAK)
        assert not each.hall.tables[OAK].seats
    await place.type("Anna", "join game as troll on oak board")
    assert anew.hall.tables[OAK].seats == {Side.TROLL: "Anna"}


async def test_renamed_board_keeps_its_match_and_seats(place: Place, store: SlowStore) -> None:
    await place.sit()
    await place.type("Anna", "set board full on oak board", "move from f15 to f8")
    await place.leave("Bert")
    place.told.clear()
    await rename_board(store, OAK, "yew board", NOW)
    assert names(place) == ["yew board", "elm board"]
    assert place.told["Anna"] == ["The oak board is now the yew board."]
    assert "You offer" in await place.type("Anna", "end game")
    await place.enter("Bert")
    assert place.away("yew board") == set()
    assert "end the battle" in "\n".join(place.told["Bert"])
    assert "is a draw" in await place.type("Bert", "end game on yew board")
    renamed = [BoardSpec("yew board", key=OAK), *BOARDS[1:]]
    anew = Place(store, boards=renamed)
    await anew.open()
    assert anew.hall.tables["yew board"].match == place.hall.tables["yew board"].match


async def test_ply_stored_after_a_renaming_counts(place: Place, store: SlowStore) -> None:
    await place.sit()
    store.hold()
    renaming = begin(rename_board(store, OAK, "yew board", NOW))
    await store.held_up()
    late = place.submit("Anna", "move from f15 to f8")
    await store.held_up()
    store.gate.set()
    await finished(renaming, late)
    assert place.plies("yew board") == 1
    assert "You offer" in await place.type("Anna", "end game")


async def test_changed_name_in_the_configuration_renames_the_board(
    place: Place, store: SlowStore
) -> None:
    await place.sit()
    anew = Place(store, boards=[BoardSpec("yew board", key=OAK), *BOARDS[1:]])
    await anew.open()
    assert names(anew) == names(place) == ["yew board", "elm board"]
    assert anew.hall.tables["yew board"].is_full
    assert place.hall.tables.seats_of("Anna")[0].name == "yew board"


async def test_board_name_must_be_valid_and_unique(store: SlowStore, place: Place) -> None:
    with pytest.raises(RefusedError) as taken:
        await open_board(store, "Elm Board", "classic", NOW)
    assert taken.value.code is Refusal.BOARD_NAME_TAKEN
    with pytest.raises(RefusedError) as unfit:
        await open_board(store, "capturing board", "classic", NOW)
    assert unfit.value.code is Refusal.BOARD_NAME_UNFIT
    with pytest.raises(RefusedError) as none:
        await close_board(store, "yew board", NOW)
    assert none.value.code is Refusal.NO_BOARD_UP
    with pytest.raises(RefusedError) as other:
        await rename_board(store, OAK, "elm board", NOW)
    assert other.value.code is Refusal.BOARD_NAME_TAKEN
    with pytest.raises(StartError, match=r"with the key \"oak board\" instead of"):
        await Service(Hall([BoardSpec(OAK, key="oak")]), store, clock=lambda: NOW).open()
    both = [BoardSpec(OAK, key="oak"), BoardSpec("elm board", key="elm")]
    with pytest.raises(StartError) as problems:
        await Service(Hall(both), store, clock=lambda: NOW).open()
    assert [each[:32] for each in str(problems.value).splitlines()] == [
        "there is an oak board already, w",
        "there is an elm board already, w",
    ]
    assert names(place) == [OAK, "elm board"]


async def test_reused_board_name_gets_a_new_key(store: SlowStore, place: Place) -> None:
    await rename_board(store, OAK, "yew board", NOW)
    await open_board(store, OAK, "classic", NOW)
    assert [(board.name, board.key) for board in await load_open_boards(store)] == [
        ("yew board", OAK),
        ("elm board", "elm board"),
        (OAK, "oak board 2"),
    ]
    await place.sit()
    assert place.hall.tables[OAK].is_full
    assert not place.hall.tables["yew board"].seats


async def test_concurrent_opening_of_one_name_is_refused_once(store: SlowStore) -> None:
    store.hold()
    both = [begin(open_board(store, "pine board", "classic", NOW)) for _ in range(2)]
    for _ in both:
        await store.held_up()
    store.gate.set()
    opened, refused = await asyncio.gather(*both, return_exceptions=True)
    assert opened is None
    assert isinstance(refused, RefusedError)
    assert [board.name for board in await load_open_boards(store)] == ["pine board"]


async def test_start_reads_only_open_boards(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "thud.db")
    try:
        for number in range(30):
            name = f"board {'abcdefghijklmnopqrstuvwxyzABCD'[number] * 3}"
            await open_board(store, name, "classic", NOW)
            await close_board(store, name, NOW)
        await open_board(store, "pine board", "classic", NOW)
        place = Place(store, boards=BOARDS[:1])
        read: list[str] = []
        real = store.read_stream

        async def counted(stream: str, first: int = 1, most: int | None = None) -> object:
            read.append(stream)
            return await real(stream, first, most)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "read_stream", counted)
            await place.open()
        assert read == [OAK, "pine board"]
        assert names(place) == [OAK, "pine board"]
        await place.service.close()
    finally:
        await store.close()


async def test_boards_opened_and_closed_by_another_process_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "thud.db"
    store = await Store.open(path, serving=True, poll=0.01)
    other = await Store.open(path)
    try:
        place = Place(store)
        await place.open()
        await place.enter("Anna")
        await open_board(other, "pine board", "classic", NOW)
        await until(lambda: "pine board" in names(place))
        await place.type("Anna", "join game as dwarf on pine board")
        await close_board(other, "pine board", NOW)
        await until(lambda: "pine board" not in names(place))
        assert place.hall.people["Anna"].room is None
        await place.service.close()
    finally:
        await other.close()
        await store.close()


async def test_boards_of_a_gateway_client_are_not_in_the_hall(
    place: Place, store: SlowStore
) -> None:
    opened = BoardOpened(NOW, "", "mud/oak", "yew board", "classic")
    await store.append({HALL: (await store.version(HALL), [opened])})
    assert names(place) == [OAK, "elm board"]
    anew = Place(store)
    await anew.open()
    assert names(anew) == [OAK, "elm board"]


async def test_practice_is_adjourned_when_the_last_player_leaves_its_board(place: Place) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "practice on oak board", "a6 b6")
    await place.type("Bert", "go oak board")
    await place.type("Anna", "go hall")
    assert place.plies() == 1  # Bert may still be watching
    await place.type("Bert", "go hall")
    assert not place.hall.tables[OAK].seats
    assert "You adjourn your practice" in place.told["Anna"][-1]
    assert "You resume your practice" in await place.type("Anna", "go elm board", "resume")
    assert place.plies("elm board") == 1


async def test_practice_survives_a_lost_connection_but_not_quit(place: Place) -> None:
    await place.enter("Anna")
    await place.type("Anna", "practice on oak board", "a6 b6")
    await place.leave("Anna")
    assert place.plies() == 1
    await place.enter("Anna")
    await place.leave("Anna", Parting.QUIT)
    assert not place.hall.tables[OAK].seats


async def test_board_opened_for_a_practice_closes_with_it(place: Place) -> None:
    await place.enter("Anna")
    await place.type("Anna", "new board", "practice", "go hall")
    assert names(place) == [OAK, "elm board"]


async def test_practice_that_cannot_be_stored_is_adjourned_later(store: SlowStore) -> None:
    alarms = Alarms(lambda: store.time)
    place = Place(store, later=alarms)
    await place.open()
    await place.enter("Anna")
    await place.type("Anna", "practice on oak board", "a6 b6")
    store.broken = True
    await place.type("Anna", "go hall")
    assert place.plies() == 1
    store.broken = False
    alarms.ring()
    await until(lambda: not place.hall.tables[OAK].seats)
