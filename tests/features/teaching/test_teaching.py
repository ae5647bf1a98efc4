"""Move help for newcomers: below the first board that awaits their move, then one reminder."""

from __future__ import annotations

import pytest

from tests.alarms import Alarms
from tests.features.hints.test_reactors import SlowAdviser
from tests.service.place import Place
from tests.service.stores import SlowStore
from thudmud.features.playing.moves import Play, Resign
from thudmud.features.teaching.reactors import REMINDER_DELAY, Teacher
from thudmud.language import parse
from thudmud.rules import RULESETS
from thudmud.service import Node
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
    """Return the explanations of how to move, without the lines above them."""
    return [text.split("\n")[-1] for text in place.told[name] if "two squares" in text]


def passes(minute: Alarms) -> None:
    """Run the reminders due after a minute, but no timers that they start."""
    for _ in minute.due:
        if (alarm := minute.take()) and alarm.at == REMINDER_DELAY:
            alarm.call()


async def test_move_help_appears_below_the_first_board_to_move(place: Place) -> None:
    await place.sit()
    assert taught(place, "Anna")[-1] == TOLD
    assert taught(place, "Bert") == []
    await place.type("Anna", "f1 f5")
    assert taught(place, "Anna") == []
    assert taught(place, "Bert")[-1] == TROLL
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
    told = TOLD.removesuffix(' "hint" suggests a move.')  # no hints against the clock
    assert taught(place, "Anna") == [told, f"It is your turn. {told}"]


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
    assert taught(place, "Anna")[-1] == TOLD


async def test_move_help_mentions_hints_only_if_available(place: Place) -> None:
    without = Place(Store.in_memory(), teaches=True)
    await without.open()
    await without.sit()
    assert taught(without, "Anna")[-1] == MOVE
    await place.enter("Anna", "Bert", member=True)  # members, whose battles are rated
    await place.type("Anna", "join game as dwarf on oak board")
    await place.type("Bert", "join game as troll on oak board", "start")
    assert taught(place, "Anna")[-1] == MOVE


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


async def test_first_explanation_says_what_the_sides_want(place: Place) -> None:
    await place.sit()
    assert place.told["Anna"][-1].split("\n") == [
        "Dwarfs and trolls hunt each other: in the end a troll counts 4, a dwarf 1.",
        "Lines of dwarfs hurl one at a troll; trolls take dwarfs next to where they go.",
        '"tutorial" teaches it step by step, and "help thud" explains it in full.',
        TOLD,
    ]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("classic", "trolls take a dwarf next to where they go."),
        ("koom valley", "Dwarfs want the Rock home on F1 to J1, trolls want three of them next"),
        ("koom valley", "Dwarfs trap a troll between two of them; trolls trample dwarfs next"),
        ("koom valley", '"help koom valley" explains the game.'),
    ],
)
async def test_aims_are_those_of_the_ruleset(place: Place, rules: str, said: str) -> None:
    await place.enter("Anna")
    await place.type("Anna", f"practice {rules} on elm board")
    assert said in place.told["Anna"][-1]
    assert all(len(line) < 80 for line in place.told["Anna"][-1].split("\n"))


async def test_aims_omit_the_tutorial_while_a_clock_runs(place: Place) -> None:
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board", "set clock 5+0")
    await place.type("Bert", "join game as troll on oak board", "start")
    assert '\n"help thud" explains the game.\n' in place.told["Anna"][-1]


MISSED = (
    'Your move to G6 captured nothing. "g7 g6 capturing all" would have taken F5 and F6. "undo" '
    "asks to take your move back."
)


def joined(place: Place, name: str) -> list[str]:
    return [" ".join(text.split()) for text in place.told[name]]


async def begin(place: Place, setup: str, rules: str = "discworld") -> None:
    """Begin a battle of Anna and Bert at the oak board, from a position with the trolls on turn."""
    await place.enter("Anna", "Bert")
    await place.type("Anna", "join game as dwarf on oak board", f"set rules {rules}")
    await place.type("Bert", "join game as troll on oak board")
    await place.type("Anna", f"setup {setup} turn trolls", "start")


async def test_missed_capture_is_told_once(place: Place) -> None:
    await begin(place, "dwarfs f5, f6, a6 trolls g7, n10")
    await place.type("Bert", "g7 g6")
    assert joined(place, "Bert")[-1] == MISSED
    assert MISSED not in joined(place, "Anna")
    place.told["Bert"] = []
    await place.type("Anna", "a6 a7")
    await place.type("Bert", "g6 g5")
    assert not any("captured nothing" in text for text in place.told["Bert"])


async def test_missed_capture_names_one_square_by_classic_rules(place: Place) -> None:
    await begin(place, "dwarfs f5, f6, a6 trolls g7, n10", "classic")
    await place.type("Bert", "g7 g6")
    assert '"g7 g6 capturing f5" would have taken F5.' in joined(place, "Bert")[-1]


@pytest.mark.parametrize("line", ["g7 g6 capturing f5", "g7 h7", "g7 g8"])
async def test_move_that_misses_no_capture_gets_no_lesson(place: Place, line: str) -> None:
    await begin(place, "dwarfs f5, f6, a6 trolls g7, n10")
    await place.type("Bert", line)
    assert place.plies("oak board") == 1
    assert not any("captured nothing" in text for text in place.told["Bert"])


async def test_experienced_player_is_not_told_of_a_missed_capture(place: Place) -> None:
    await place.sit()
    await place.type("Anna", Resign("it"), "quit")
    await place.type("Bert", "leave game", "quit")
    await begin(place, "dwarfs f5, f6, a6 trolls g7, n10")
    await place.type("Bert", "g7 g6")
    assert not any("captured nothing" in text for text in place.told["Bert"])


async def test_screen_reader_gets_each_fact_on_a_line(place: Place) -> None:
    await begin(place, "dwarfs f5, f6, a6 trolls g7, n10")
    await place.type("Bert", "options reader on", "g7 g6")
    assert place.told["Bert"][-1].split("\n") == [
        "Your move to G6 captured nothing.",
        '"g7 g6 capturing all" would have taken F5 and F6.',
        '"undo" asks to take your move back.',
    ]


async def test_newcomer_who_has_moved_on_another_node_gets_no_move_help() -> None:
    store = SlowStore.make()

    async def begin(name: str) -> Place:
        node = Node(store, name, clock=lambda: store.time)
        await node.open()
        place = Place(store, node, teaches=True)
        await place.open()
        return place

    one, two = await begin("one"), await begin("two")
    await two.enter("Bert")
    await one.enter("Anna", "Bert")  # Bert comes from the other node
    await one.type("Anna", "join game as dwarf on oak board")
    await one.type("Bert", "join game as troll on oak board", "start")
    await one.type("Anna", "f1 f5")
    await one.type("Bert", "g7 g6")
    await two.enter("Bert")
    two.told["Bert"] = []
    await one.type("Anna", "f5 f6")
    assert "F5 to F6" in two.told["Bert"][-1]
    assert taught(two, "Bert") == []
