"""What guests and spectators have again after a restart of the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.server.bots import Person
from thudmud.game.events import Parting
from thudmud.game.options import Style, Toggle
from thudmud.server.config import Settings
from thudmud.server.runtime import open_sessions
from thudmud.server.session_registry import Sessions
from thudmud.store import KeptName, LastPlace, accounts

SETTINGS = Settings.model_validate({"bot": [], "storage": {"backend": "sqlite"}})
NAMES = "Anna", "Bert", "Carla"


@asynccontextmanager
async def serving(
    folder: Path, *names: str, is_killed: bool = False
) -> AsyncIterator[tuple[Sessions, list[Person]]]:
    """Serve guests with reserved names, until the server stops or is killed."""
    async with open_sessions(SETTINGS, folder) as sessions:
        await sessions.ready()
        people = [Person(sessions, name) for name in names]
        for person in people:
            if await sessions.store.read(accounts.find_guest, person.name) is None:
                kept = KeptName(person.name, person.name.encode(), 1.0)
                await sessions.store.write(accounts.reserve_guest_name, kept)
            await person.come()
        yield sessions, people
        if not is_killed:
            sessions.close("Goodbye.")
        await sessions.places.close()


@pytest.mark.parametrize("is_killed", [False, True])
async def test_spectator_is_at_the_same_board_after_a_restart(
    tmp_path: Path, *, is_killed: bool
) -> None:
    async with serving(tmp_path, *NAMES, is_killed=is_killed) as (_, [anna, bert, carla]):
        await anna.type("match bert")
        await bert.type("yes")
        await carla.type("observe oak board", "go to ash board")
    async with serving(tmp_path, *NAMES) as (sessions, [anna, _, carla]):
        there = sessions.service.hall.people
        assert {name: there[name].room for name in NAMES} == dict.fromkeys(NAMES, "ash board")
        assert there["Carla"].observed == ("oak board",)
        await anna.sees("Carla walks to the ash board.")
        await carla.sees("You walk to the ash board.")


async def test_spectator_of_a_closed_board_is_in_the_hall(tmp_path: Path) -> None:
    async with serving(tmp_path, *NAMES) as (sessions, [_, bert, carla]):
        await bert.type("new board", "go hall")
        await carla.type("observe oak board", "go pine board")
        gone = LastPlace("(board) 99", ("elm board", "oak board"))
        await sessions.places.close()
        await sessions.store.write(accounts.set_places, {"Carla": gone})
    async with serving(tmp_path, *NAMES) as (sessions, _):
        assert sessions.service.hall.people["Carla"].room is None
        assert sessions.service.hall.people["Carla"].observed == ("oak board",)


async def test_spectator_who_leaves_comes_back_to_the_hall(tmp_path: Path) -> None:
    async with serving(tmp_path, *NAMES) as (sessions, [_, _, carla]):
        await carla.type("go to oak board")
        visit = sessions.service.visit("Carla")
        assert visit
        await sessions.service.leave(visit, Parting.LOST, at_once=True)
        await sessions.places.close()
        assert await sessions.store.read(accounts.find_place, "Carla") is None
        await carla.come()
        assert sessions.service.hall.people["Carla"].room is None


async def test_player_with_a_seat_goes_to_it_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, *NAMES) as (_, [anna, *_]):
        await anna.type("join game as dwarf on oak board", "go to pine board")
    async with serving(tmp_path, "Anna") as (sessions, _):
        assert sessions.service.hall.people["Anna"].room == "oak board"


async def test_guest_keeps_options_and_board_styles_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, "Anna") as (_, [anna]):
        await anna.type("set board brief on oak board", "options shout off", "ignore bert")
    async with serving(tmp_path, "Anna") as (sessions, _):
        person = sessions.service.hall.people["Anna"]
        assert person.styles == {"oak board": Style.BRIEF}
        assert not person.options.has(Toggle.SHOUT)
        assert person.ignored == ("Bert",)
        assert not person.is_member


async def test_freed_guest_name_has_no_preferences_and_no_place(tmp_path: Path) -> None:
    async with serving(tmp_path, "Anna") as (sessions, [anna]):
        await anna.type("set board brief on oak board", "go to oak board")
        await sessions.places.close()
        await sessions.store.write(accounts.free_guest_names, ["Anna"])
        await sessions.store.write(accounts.reserve_guest_name, KeptName("Anna", b"other", 1.0))
        assert await sessions.store.read(accounts.guest_preferences, "Anna") is None
        assert await sessions.store.read(accounts.find_place, "Anna") is None
