"""What players, and those who watch, are told of ratings at the end of a match."""

from __future__ import annotations

import json

import pytest

from tests.service.place import Place, Screen
from thudmud.play.people import BotLevel
from thudmud.rules import Side
from thudmud.service import Arrival
from thudmud.views import Terminal

MATCH = "3rd board"
PLIES = "a6 b7", "g7 f7", "b7 c7", "f7 e7", "c7 b7", "e7 f7"


async def play(place: Place, *, plies: int = 6, on: str = MATCH) -> None:
    for each in PLIES[:plies]:
        match = place.hall.tables[on].match
        assert match
        mover = match.dwarf if match.game.turn is Side.DWARF else match.troll
        await place.type(mover, f"move {each} on {on}")


def heard(place: Place, name: str) -> str:
    return " ".join("\n".join(place.told.get(name, [])).split())


@pytest.fixture
async def members(place: Place) -> Place:
    await place.enter("Anna", "Bert", "Carla", member=True)
    await place.type("Carla", "options width 60")
    return place


async def begin(place: Place, line: str = "seek") -> None:
    await place.type("Anna", line)
    await place.type("Bert", "accept 1")


async def test_change_of_both_ratings_is_told_to_players_and_watchers(members: Place) -> None:
    await begin(members)
    await members.type("Carla", f"observe {MATCH}")
    await play(members)
    await members.type("Anna", f"resign on {MATCH}", f"start on {MATCH}")
    assert "rating" not in heard(members, "Carla")
    await members.type("Anna", f"resign on {MATCH}")
    mine, theirs = "rating 1500 -> 1421?", "rating 1500 -> 1579?"
    assert f"Discworld, untimed: your {mine}; Bert's {theirs}." in heard(members, "Anna")
    assert f"Discworld, untimed: your {theirs}; Anna's {mine}." in heard(members, "Bert")
    assert f"Discworld, untimed: Anna's {mine}; Bert's {theirs}." in heard(members, "Carla")


async def test_first_battle_that_is_too_short_is_told_at_once_and_at_the_end(
    members: Place,
) -> None:
    await begin(members)
    await play(members, plies=5)
    await members.type("Anna", f"resign on {MATCH}")
    now = "No rating will change: the battle had fewer than 6 plies."
    assert now in heard(members, "Anna")
    await members.type("Bert", f"start on {MATCH}")
    assert "The second battle begins" in heard(members, "Bert")
    await members.type("Anna", f"resign on {MATCH}")
    assert "No rating changes: the first battle had fewer than 6 plies." in heard(members, "Anna")


async def test_casual_match_changes_no_rating(members: Place) -> None:
    await begin(members, "seek casual")
    await play(members)
    await members.type("Anna", f"resign on {MATCH}", f"start on {MATCH}", f"resign on {MATCH}")
    assert "No rating changes: the match was casual." in heard(members, "Anna")


async def test_battle_with_a_bot_tells_the_rating_against_bots(place: Place) -> None:
    place.hall.levels = [BotLevel(1, "Chalk", "Weak.")]
    place.hall.bots = {"Grog": place.hall.levels[0]}
    screen = Screen()
    await place.enter("Grog")
    terminal = Terminal(200, packages=frozenset({"thud"}))
    visit = await place.service.join(Arrival("Anna", terminal, screen))
    assert visit
    place.visits["Anna"] = visit
    await place.type("Anna", "match grog")
    assert "The first battle of a rated match begins" in heard(place, "Anna")
    await play(place)
    await place.type("Anna", f"resign on {MATCH}")
    assert "Discworld, against bots: your rating 1500 -> 1421?." in heard(place, "Anna")
    [end] = [json.loads(each.text) for each in screen.messages if each.package == "Thud.End"]
    [change] = end["ratings"]
    assert (change["player"], change["before"], change["rating"]) == ("Anna", 1500, 1421)
    assert (change["against"], end["unrated"]) == ("bots", None)


async def test_player_who_was_replaced_is_the_reason_for_no_rating(place: Place) -> None:
    place.hall.levels = [BotLevel(1, "Chalk", "Weak.")]
    place.hall.bots = {"Grog": place.hall.levels[0]}
    await place.enter("Anna", "Bert", "Grog")
    await place.type("Anna", "match grog")
    await play(place)
    await place.type("Grog", f"leave game on {MATCH}")
    await place.type("Anna", f"invite bert on {MATCH}")
    await place.type("Bert", "accept anna")
    await place.type("Anna", f"resign on {MATCH}", f"start on {MATCH}", f"resign on {MATCH}")
    assert "No rating changes: a player was replaced." in heard(place, "Bert")
