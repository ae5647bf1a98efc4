"""Move help for newcomers: below the first board that awaits their move, then one reminder."""

from __future__ import annotations

import pytest

from tests.alarms import Alarms
from tests.features.hints.test_reactors import SlowAdviser
from tests.service.place import Place
from thudmud.features.playing.moves import Play, Resign
from thudmud.features.teaching.reactors import REMINDER_DELAY, Teacher
from thudmud.language import parse
from thudmud.rules import RULESETS
from thudmud.store import Store

MOVE = 'Move by typing two squares: "f1 f2".'
TOLD = f'{MOVE} "hint" suggests a move.'
TROLL = 'Move by typing two squares: "g7 g6". "hint" suggests a move.'
AGAIN = f'It is your turn. {TOLD} "tutorial" teaches you the game while the battle waits.'


@pytest.fixture
def minute() -> Alarms:
    return Alarms()


@pytest.fixture
async def place(minute: Alarms) -> Place:
    place = Place(Store.in_memory(), adviser=SlowAdviser(), later=minute, teaches=True)
    await place.open()
    return place


def taught(place: Place, name: str) -> list[str]:
    return [text for text in place.told[name] if "two squares" in text]


def passes(minute: Alarms) -> None:
    """Run the reminders due after a minute, but no timers that they start."""
    for _ in minute.due:
        if (alarm := minute.take()) and alarm.at == REMINDER_DELAY:
            alarm.call()


async def test_move_help_appears_below_the_first_board_to_move(place: Place) -> None:
    await place.sit()
    assert place.told["Anna"][-1] == TOLD
    assert taught(place, "Bert") == []
    await place.type("Anna", "f1 f5")
    assert taught(place, "Anna") == []
    assert place.told["Bert"][-1] == TROLL
    await place.type("Bert", "g7 g6", "undo")
    await place.type("Anna", "undo", "f5 f6")
    assert taught(place, "Anna") == taught(place, "Bert") == []


async def test_move_help_is_repeated_once_after_an_idle_minute(
    place: Place, minute: Alarms
) -> None:
    await place.sit()
    await place.type("Anna", "look", "say Hm.")
    for told in ([AGAIN], []):
        place.told["Anna"] = []
        passes(minute)
        assert taught(place, "Anna") == told


@pytest.mark.parametrize("line", ["f1 f5", "tutorial", Resign(), "quit"])
async def test_reminder_is_dropped_after_another_action(
    place: Place, minute: Alarms, line: str
) -> None:
    await place.sit()
    await place.type("Anna", line)
    place.told["Anna"] = []
    passes(minute)
    assert taught(place, "Anna") == []


async def test_reminder_omits_the_tutorial_while_a_clock_runs(place: Place, minute: Alarms) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board", "set clock 5+0")
    await place.type("Bert", "join game as troll on oak board", "start")
    passes(minute)
    assert taught(place, "Anna") == [TOLD, f"It is your turn. {TOLD}"]


async def test_experienced_player_gets_no_move_help(place: Place) -> None:
    await place.sit()
    await place.type("Anna", Resign("it"), "quit")
    await place.enter("Anna", "Carla")
    await place.type("Anna", "join game as dwarf on elm board")
    await place.type("Carla", "join game as troll on elm board", "start")
    assert taught(place, "Anna") == []
    await place.type("Anna", "f1 f5")
    assert taught(place, "Carla") == [TROLL]


async def test_move_help_is_repeated_on_return_to_the_board(place: Place) -> None:
    await place.sit()
    await place.leave("Anna")
    place.told["Anna"] = []
    await place.enter("Anna")
    assert place.told["Anna"][-1] == TOLD


async def test_move_help_mentions_hints_only_if_available(place: Place) -> None:
    without = Place(Store.in_memory(), teaches=True)
    await without.open()
    await without.sit()
    assert without.told["Anna"][-1] == MOVE
    await place.enter("Anna", "Bert", member=True)  # members, whose battles are rated
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    assert place.told["Anna"][-1] == MOVE


@pytest.mark.parametrize("rules", RULESETS)
async def test_suggested_move_is_playable(place: Place, rules: str) -> None:
    await place.enter("Anna")
    await place.type("Anna", f"practice {rules} on elm board", "go hall", "look at elm board")
    await place.leave("Anna")
    await place.enter("Anna")
    await place.type("Anna", f"practice {rules} on elm board")
    (told,) = taught(place, "Anna")
    line = told.split('"')[1]
    assert isinstance(parse(line), Play)
    await place.type("Anna", line)
    assert place.plies("elm board") == 1


async def test_returning_player_who_has_moved_gets_no_help(place: Place) -> None:
    await place.sit()
    await place.type("Anna", "f1 f5")
    await place.type("Bert", "g7 g6")
    await place.leave("Anna")
    place.told["Anna"] = []
    await place.enter("Anna")
    assert not taught(place, "Anna")


async def test_reminder_survives_a_change_of_connection(place: Place, minute: Alarms) -> None:
    await place.sit()
    await place.enter("Anna")  # as when a page is reloaded
    place.told["Anna"] = []
    passes(minute)
    assert taught(place, "Anna") == [AGAIN]


async def test_failure_in_teaching_does_not_stop_the_game(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(Teacher, "_teach", fail)
    await place.sit()
    assert place.hall.tables["oak board"].is_running
    assert "an event handler failed" in caplog.messages
    assert "You move" in await place.type("Anna", "f1 f5")
