"""The terms that players agreed to hold even if something changes before the answer."""

from __future__ import annotations

import pytest

from tests.service.place import Place, finished, refused
from tests.service.stores import SlowStore
from thudmud.game.events import Offer
from thudmud.game.match import Match
from thudmud.game.refusals import Refusal
from thudmud.rules import Side

BOARD = "ash board"
PLIES = ("a6 b6", "g7 f7", "b6 a6", "f7 g7", "a6 b6", "g7 f7")


@pytest.fixture
async def members(place: Place) -> Place:
    await place.enter("Anna", "Bert", member=True)
    return place


def match_of(place: Place, board: str = BOARD) -> Match:
    match = place.hall.tables[board].match
    assert match
    return match


async def begin(place: Place, line: str = "match bert") -> None:
    await place.type("Anna", line)
    await place.type("Bert", "yes")


async def play(place: Place, plies: int) -> None:
    """Play the first plies of a battle."""
    for ply in PLIES[:plies]:
        match = match_of(place)
        mover = match.dwarf if match.game.turn is Side.DWARF else match.troll
        await place.type(mover, f"move {ply} on {BOARD}")


EXCHANGE = (
    "move from f1 to f6",
    "move from g7 to g6 capturing f6",
    "move from g1 to g5",
    "move from h7 to h6",
    "hurl from g5 to g6",
)
"""Plies after which the dwarfs lead and the next ply makes the battle count."""


async def test_leave_is_confirmed_again_when_it_now_loses_the_match(members: Place) -> None:
    await begin(members)
    match = match_of(members)
    for place, ply in enumerate(EXCHANGE):
        await members.type((match.dwarf, match.troll)[place % 2], f"{ply} on {BOARD}")
    asked = await members.submit(match.dwarf, "leave")
    assert asked.refusal
    assert not asked.refusal.details["loses"]
    await members.type(match.troll, "move from i7 to j7")
    again = await members.submit(match.dwarf, "yes")
    assert again.refusal
    assert again.refusal.details["loses"]
    assert match_of(members).is_running
    await members.type(match.dwarf, "yes")
    assert match_of(members).is_over


async def test_leave_decided_again_after_a_ply_needs_confirmation(
    members: Place, store: SlowStore
) -> None:
    await begin(members)
    await play(members, 5)
    match = match_of(members)
    store.hold()
    ply = members.submit(match.troll, "move g7 f7")
    await store.held_up()
    leaving = members.submit(match.dwarf, "leave")
    store.gate.set()
    _, left = await finished(ply, leaving)
    assert left.refusal
    assert left.refusal.code is Refusal.SURE_LEAVES
    assert left.refusal.details["loses"]
    assert match_of(members).is_running


@pytest.mark.parametrize(("line", "rated"), [("match bert casual", False), ("match bert", True)])
async def test_rematch_keeps_the_terms(members: Place, line: str, rated: bool) -> None:  # noqa: FBT001 (of a parameter)
    await begin(members, line)
    await play(members, 6)
    await members.type("Anna", "resign", "yes", "start")
    await members.type("Bert", "start")
    await members.type("Anna", "resign", "yes")
    members.told["Bert"] = []
    await members.type("Anna", "rematch")
    kind = "rated" if rated else "casual"
    terms = f"Anna offers a rematch (discworld rules, {kind})."
    assert terms in " ".join(members.told["Bert"]).replace("\n", " ")
    await members.type("Bert", "yes")
    assert match_of(members).rated is rated


@pytest.mark.parametrize("line", ["set clock 1+0", "set rules koom valley", "setup remove a6"])
async def test_rematch_offer_ends_when_the_terms_change(members: Place, line: str) -> None:
    await begin(members)
    await members.type("Anna", "resign", "yes", "start")
    await members.type("Bert", "start")
    await members.type("Anna", "resign", "yes", "rematch")
    assert Offer.REMATCH in members.hall.tables[BOARD].offers
    await members.type("Bert", line)
    assert not members.hall.tables[BOARD].offers


async def test_player_on_a_running_clock_cannot_accept_another_match(members: Place) -> None:
    await members.enter("Carla", member=True)
    await begin(members, "match bert 5+0")
    await members.type("Carla", "match anna", "seek")
    assert await refused(members, "Anna", "yes") is Refusal.SEEK_IN_HASTE
    assert await refused(members, "Anna", "accept 2") is Refusal.SEEK_IN_HASTE
    assert members.hall.people["Anna"].room == BOARD


async def test_clocked_second_battle_put_off_by_an_absent_player_is_claimed(
    members: Place,
) -> None:
    await begin(members, "match bert 5+0")
    await members.type("Anna", "resign", "yes", "go to hall")
    await members.type("Bert", "start")
    assert not match_of(members).is_running
    assert Offer.BEGIN in members.hall.tables[BOARD].offers
    members.now += 120
    assert await refused(members, "Bert", "claim") is Refusal.NOT_PUT_OFF
    assert not match_of(members).is_running
    members.now += members.hall.tables[BOARD].idle_limit - 120
    await members.type("Bert", "claim")
    assert match_of(members).is_over
