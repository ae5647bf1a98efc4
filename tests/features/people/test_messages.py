"""Text and packets about players: `who`, `finger`, idle times, timestamps and operators."""

from __future__ import annotations

from typing import Any

from thudmud.game.options import Profile
from thudmud.game.sanctions import Order
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views import Terminal

NOON = 1_767_268_800.0
"""12:00 UTC."""
BOARDS = [BoardSpec("oak board"), BoardSpec("pine board")]


def house_of(*names: str, **given: object) -> House:
    house = House(BOARDS)
    for name in names:
        house.enter(name, NOON, **given)  # type: ignore[arg-type]
    return house


def told(house: House, name: str, line: str, now: float = NOON) -> str:
    messages = house.obey(name, line, now)
    return "\n".join(each.text for each in messages if name in each.to and not each.package)


def data(house: House, name: str, line: str, package: str, now: float = NOON) -> dict[str, object]:
    [found] = [each.data for each in house.obey(name, line, now) if each.package == package]
    return dict(found)


def test_idle_time_is_shown_from_two_minutes() -> None:
    house = house_of("Anna", "Bert")
    assert "idle" not in told(house, "Anna", "who", NOON + 119)
    assert "Bert is in the hall and has been idle for 5 minutes" in told(
        house, "Anna", "who", NOON + 350
    )
    assert "Anna (you) is in the hall\n" in told(house, "Anna", "who", NOON + 350) + "\n"
    assert "idle for 3 hours" in told(house, "Anna", "finger bert", NOON + 3 * 3600)
    told(house, "Bert", "dance", NOON + 3 * 3600)  # an unknown command ends idleness, too
    assert "idle" not in told(house, "Anna", "finger bert", NOON + 3 * 3600 + 60)


def test_bots_are_never_idle() -> None:
    house = house_of("Anna", "Grog")
    house.hall.bots = {"Grog": None}
    assert "idle" not in told(house, "Anna", "who", NOON + 3600)


def test_player_list_is_paginated() -> None:
    names = [f"Pl{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(45)]
    house = house_of(*names)
    page = told(house, names[0], "who")
    assert page.startswith("45 players connected:\n")
    assert page.endswith('\nPage 1 of 3. "who page 2" shows more.')
    assert len(page.split("\n")) == 22
    last = told(house, names[0], "who page 3")
    assert names[44] in last
    assert last.endswith("\nPage 3 of 3.")
    assert told(house, names[0], "who page 4") == (
        'There\'s no page 4. "who page 3" shows the last players.'
    )
    assert told(house, names[0], "who plb page 1").startswith("19 matching players:\n")


def test_player_list_filtered_by_name_prefix() -> None:
    house = house_of("Anna", "Bert", "Bea")
    assert told(house, "Anna", "who be") == (
        "2 matching players:\n  Bert is in the hall\n  Bea is in the hall"
    )
    assert told(house, "Anna", "who carla") == (
        'There is no player called "carla" here. "who" lists the players.'
    )


def test_finger_shows_everything_about_a_player() -> None:
    house = house_of("Anna", member=True)
    house.enter("Bert", NOON)
    told(house, "Anna", "plan To beat Bert, one day.")
    told(house, "Anna", "practice on oak board")
    told(house, "Anna", "observe pine board")
    assert told(house, "Bert", "finger anna") == (
        "Anna (a member) plays both sides at the oak board and observes the pine board.\n"
        "No rating yet.\n"
        "Anna's plan: To beat Bert, one day."
    )
    assert told(house, "Bert", "look at anna") == told(house, "Bert", "finger an")
    assert told(house, "Anna", "finger").startswith("Anna (you, a member) plays ")
    assert told(house, "Anna", "plan") == "Your plan: To beat Bert, one day."
    told(house, "Anna", "plan -")
    assert "plan" not in told(house, "Bert", "finger anna")
    assert told(house, "Bert", "finger") == "Bert (you, a guest) is in the hall.\nNo rating yet."


def test_boards_with_the_same_side_are_listed_together() -> None:
    house = house_of("Anna", "Bert")
    for board in ("oak", "pine"):
        told(house, "Bert", f"join game as troll on {board} board")
    told(house, "Bert", "go hall")
    assert told(house, "Anna", "who bert").endswith(
        "  Bert is in the hall and plays the trolls at the oak board and pine board"
    )


def test_finger_of_a_player_away_from_a_seat() -> None:
    house = house_of("Anna", "Bert")
    told(house, "Bert", "practice on oak board")
    house.depart("Bert", NOON)
    assert told(house, "Anna", "finger bert").startswith(
        "Bert (a guest) isn't here, but plays both sides at the oak board."
    )


def test_plan_cannot_imitate_a_server_line() -> None:
    house = house_of("Anna", member=True)
    told(house, "Anna", f"plan {'x' * 90} Anna says: hello")
    shown = told(house, "Anna", "finger").split("\n")
    assert all(line.startswith("    ") for line in shown[3:])


def test_talk_is_timestamped_on_request() -> None:
    house = house_of("Anna", "Bert", "Carla")
    told(house, "Anna", "options times on")
    house.obey("Carla", "options reader on", NOON)
    house.obey("Carla", "options times on", NOON)
    for line, heard in (
        ("say Lunch?", "Bert says: Lunch?"),
        ("emote dances.", "* Bert dances."),
        ("tell anna Lunch?", "Bert tells you: Lunch?"),
    ):
        messages = house.obey("Bert", line, NOON + 61)
        assert [each.text for each in messages if "Anna" in each.to] == [f"12:01 {heard}"]
        assert not [each for each in messages if "Bert" in each.to and "12:01" in each.text]
    messages = house.obey("Bert", "emote dances.", NOON + 61)
    assert "12:01 Emote: Bert dances." in [each.text for each in messages if "Carla" in each.to]
    assert told(house, "Anna", "say No.", NOON) == "You say: No."


def test_people_packets() -> None:
    house = House(BOARDS)
    house.enter("Anna", NOON, Terminal(packages=frozenset({"thud"})))
    house.enter("Bert", NOON, member=True, profile=Profile(plan="To win.", followed=("Anna",)))
    house.obey("Bert", "practice on oak board", NOON)
    bert = {
        "player": "Bert",
        "member": True,
        "bot": False,
        "operator": False,
        "room": "oak board",
        "idle": 2,
        "plays": ["oak board"],
    }
    who = data(house, "Anna", "who bert", "Thud.Who", NOON + 150)
    assert who == {"people": [bert]}
    fingered = data(house, "Anna", "finger bert", "Thud.Finger", NOON + 150)
    assert fingered.items() >= bert.items()
    assert (fingered["here"], fingered["watches"], fingered["plan"]) == (True, [], "To win.")
    said = house.obey("Bert", "go hall", NOON) + house.obey("Bert", "say Hello.", NOON)
    assert [each.data["at"] for each in said if each.package == "Thud.Say"] == [int(NOON)]
    assert data(house, "Anna", "follow bert", "Thud.Follow") == {"players": ["Bert"]}
    house.depart("Bert", NOON)
    house.obey("Anna", "go pine board", NOON)
    came = [each.data for each in house.enter("Bert", NOON) if each.package == "Thud.Followed"]
    assert came == [{"what": "came", "players": ["Bert"], "board": None}]


def test_operators_are_marked_in_every_people_packet() -> None:
    house = House(BOARDS)
    house.hall.order = Order(frozenset({"bert", "carl"}))
    house.enter("Anna", NOON, Terminal(packages=frozenset({"thud"})))
    came = house.enter("Bert", NOON, member=True)
    [met] = [each.data for each in came if each.package == "Thud.Came" and "Anna" in each.to]
    assert met["operator"] is True
    told = house.obey("Anna", "look", NOON)
    facts = {each.package: each.data for each in told if "Anna" in each.to}
    assert facts["Thud.Me"]["operator"] is False
    who: dict[str, Any] = data(house, "Anna", "who", "Thud.Who")
    for people in (who["people"], facts["Thud.Here"]["people"]):
        marked = {each["player"]: each["operator"] for each in people}
        assert marked == {"Anna": False, "Bert": True}
    assert data(house, "Anna", "finger bert", "Thud.Finger")["operator"] is True
