"""Refusals: their codes, their only recipient, and their form as data for programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.place import Place, Screen
from thudmud.errors import RefusedError
from thudmud.game.refusals import Mistake, Refusal
from thudmud.rules import Reason
from thudmud.views import Terminal

PROGRAM = Terminal(packages=frozenset({"thud"}))


async def refused(place: Place, name: str, line: str) -> RefusedError:
    """Return the refusal of a line of ``name``."""
    result = await place.submit(name, line)
    assert not result.is_done
    assert result.refusal
    return result.refusal


async def told(place: Place, name: str, line: str) -> dict[str, Any]:
    """Return the refusal of a line as the data that ``name``'s program gets."""
    screen = Screen()
    place.visits[name].outbox = screen
    place.service.set_terminal(name, PROGRAM)
    others = set(place.hall.people) - {name}
    before = {other: len(place.told.get(other, [])) for other in others}
    await refused(place, name, line)
    text, data = screen.messages
    assert (text.to, text.package) == ((name,), "")
    assert (data.to, data.package) == ((name,), "Thud.Refused")
    assert {other: len(place.told.get(other, [])) for other in others} == before
    fact: dict[str, Any] = data.data
    assert list(fact) == ["code", "squares", "board", "details"]
    return fact


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("dance", Mistake.UNKNOWN_COMMAND),
        ("move a6 to", Mistake.MISSING_WORD),
        ("move a6", Refusal.WHERE_TO),
        ("scan row 16", Mistake.NO_SUCH_ROW),
        ("go to chair", Refusal.NO_BOARD_HERE),
        ("resign on elm board", Refusal.NOT_SEATED),
        ("join game as troll", Refusal.ONE_SEAT_EACH),
        ("move h8 h7", Reason.THUDSTONE_STAYS),
        ("replay 9", Refusal.NO_SUCH_BATTLE),
    ],
)
async def test_refused_line_has_a_code(place: Place, line: str, code: Refusal) -> None:
    await place.sit()
    assert (await refused(place, "Anna", line)).code is code
    assert place.plies() == 0


async def test_blank_line_is_not_refused(place: Place) -> None:
    await place.enter("Anna")
    assert (await place.submit("Anna", " ")).refusal is None


async def test_refusal_packet_names_squares_and_board(place: Place) -> None:
    await place.sit()
    assert await told(place, "Anna", "hurl f1 to f2") == {
        "code": "lands_on_no_troll",
        "squares": ["F2"],
        "board": "oak board",
        "details": {"target": "F2", "piece": None},
    }


async def test_parse_error_packet_has_its_details(place: Place) -> None:
    await place.enter("Anna", "Bert")
    assert await told(place, "Anna", "join  game as trol") == {
        "code": "unexpected_word",
        "squares": [],
        "board": None,
        "details": {
            "line": "join game as trol",
            "column": 13,
            "word": "trol",
            "expected": ["dwarf", "troll"],
            "suggestion": "troll",
            "more": 0,
        },
    }


@pytest.mark.parametrize(
    ("line", "board"),
    [
        ("resign on elm board", "elm board"),  # named in the details
        ("join game as dwarf on elm", "elm board"),
        ("claim", "oak board"),  # the board where Anna plays
        ("move a6 b6 on chair", None),
        ("replay 9", None),
        ("tell dora hello", None),
    ],
)
async def test_refusal_packet_names_the_intended_board(
    place: Place, line: str, board: str | None
) -> None:
    await place.sit()
    await place.enter("Carla")
    await place.type("Carla", "join game as dwarf on elm board")
    assert (await told(place, "Anna", line))["board"] == board


async def test_text_client_gets_a_refusal_as_a_machine_line(place: Place) -> None:
    await place.sit()
    await place.type("Anna", "set machine on")
    text, tag, fact = (await place.type("Anna", "replay 9")).partition("\n@thud ")
    assert text
    assert tag
    assert json.loads(fact)["code"] == "no_such_battle"
    assert list(json.loads(fact)) == ["type", "code", "squares", "board", "details"]


async def test_client_without_the_package_gets_a_refusal_as_text_only(place: Place) -> None:
    await place.enter("Anna")
    place.service.set_terminal("Anna", Terminal(packages=frozenset({"thud.move"})))
    await place.type("Anna", "dance")
    assert len(place.told["Anna"]) == 1
