from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.house.plays import told
from thudmud.features.rooms.messages import greeting
from thudmud.game.options import Profile, Style, Switch
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language import KEYWORDS
from thudmud.views.view import Terminal

BOARDS = [BoardSpec("oak board"), BoardSpec("elm table", "koom valley", Style.BRIEF)]


def house_of(*names: str, width: int = 80) -> House:
    house = House(BOARDS)
    for name in names:
        house.enter(name, 0.0, Terminal(width))
    return house


@pytest.mark.parametrize("name", ["Al", "anna", "McBert", "A" * 20])
def test_valid_names_are_accepted(name: str) -> None:
    assert House(BOARDS).name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "2 to 20 letters"),
        ("A", "2 to 20 letters"),
        ("help", "Choose any name"),
        ("Oak", "is reserved"),
        ("Second", "is reserved"),
        ("Myself", "is reserved"),
        ("A" * 21, "2 to 20 letters"),
        ("Anna Bert", "2 to 20 letters"),
        ("Anna1", "2 to 20 letters"),
        ("Änne", "2 to 20 letters"),
        ("Troll", "is reserved"),
        ("you", "is reserved"),
    ],
)
def test_invalid_names_are_refused_with_the_reason(name: str, problem: str) -> None:
    assert problem in str(House(BOARDS).name_problem(name))


def test_keywords_are_never_valid_names() -> None:
    house = House(BOARDS)
    assert [word for word in KEYWORDS if house.name_problem(word) is None] == []


def test_readers_with_equal_views_share_one_message() -> None:
    house = house_of("Anna", "Bert", "Carla", "Dora")
    for name in ("Anna", "Bert", "Carla", "Dora"):
        house.obey(name, "go to oak board", 0.0)
    house.obey("Anna", "join game as dwarf", 0.0)
    house.obey("Bert", "join game as troll", 0.0)
    house.obey("Bert", "start", 0.0)
    groups = [message.to for message in house.obey("Anna", "move a6 b6", 0.0)]
    assert groups == [("Anna",), ("Bert",), ("Carla", "Dora")]


def test_screen_width_is_per_player_and_adjustable() -> None:
    house = house_of("Anna", width=40)
    assert max(map(len, told(house.obey("Anna", "look", 0.0))["Anna"].split("\n"))) < 40
    house.set_terminal("Anna", Terminal(80))
    assert max(map(len, told(house.obey("Anna", "look", 0.0))["Anna"].split("\n"))) > 40


def test_quit_says_goodbye_and_removes_the_player() -> None:
    house = house_of("Anna")
    assert "Anna" in house
    assert told(house.obey("Anna", "quit", 0.0)) == {"Anna": "Goodbye!"}
    assert "Anna" not in house


def test_blank_line_does_nothing() -> None:
    assert house_of("Anna").obey("Anna", " \t", 0.0) == []


def test_pronoun_refers_to_the_board_of_a_refused_command() -> None:
    house = house_of("Anna")
    house.obey("Anna", "move a6 b6 on oak board", 0.0)
    assert (
        "You aren't playing at the oak board." in told(house.obey("Anna", "end on it", 0.0))["Anna"]
    )
    house.obey("Anna", "go table", 0.0)
    house.obey("Anna", "look at oak board", 0.0)
    house.obey("Anna", "go to table", 0.0)
    assert told(house.obey("Anna", "go to it", 0.0)) == {"Anna": "You're already at the elm table."}


SAT = "anna join dwarf, bert join troll"


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        ("bert go", "both seats free; 1 watching"),
        ("anna join dwarf", "Anna (dwarfs); troll seat free"),
        (SAT, "Anna (dwarfs) and Bert (trolls); no battle begun"),
        (
            f"{SAT}, anna start, anna move a6 b6",
            "Anna (dwarfs) and Bert (trolls); battle 1, 1 move played, trolls to move",
        ),
        (
            f"{SAT}, anna start, bert leave",
            "Anna (dwarfs); battle 1, 0 moves played, dwarfs to move; troll seat empty; 1 watching",
        ),
        (
            f"{SAT}, anna start, bert resign, bert yes, bert leave, bert yes",
            "Anna (dwarfs); between the battles of a match; troll seat empty; 1 watching",
        ),
        (
            f"{SAT}, anna start, bert resign, bert yes, anna start, bert start, bert resign,"
            " bert yes",
            "Bert (dwarfs) and Anna (trolls); match over",
        ),
    ],
)
def test_boards_lists_seats_battle_and_spectators(lines: str, state: str) -> None:
    house = house_of("Anna", "Bert", "Carla", width=200)
    for line in lines.split(", "):
        name, _, command = line.partition(" ")
        words = command.replace("join", "join game as")
        words += "" if command == "yes" else " on oak board"
        house.obey(name.capitalize(), words.replace("go on", "go to"), 0.0)
    first = told(house.obey("Carla", "boards", 0.0))["Carla"].split("\n")[0]
    assert first == f" 1. oak board (discworld rules): {state}"


CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that a terminal would obey; only the line feed is allowed."""

COMMANDS = st.sampled_from(
    [
        "join game as dwarf", "join game as troll", "start", "end game", "resign", "yes",
        "leave game",
        "move a6 b6", "move g7 f7 capturing all", "set board brief", "set rules classic", "quit",
        "go hall", "go oak", "look", "who", "boards", "view possible", "view game", "say hello",
        "tell anna hello", "emote waves", "help", "syntax", "help move", "hurl a6 b6", "look at it",
        "undo", "take back", "no", "claim", "adjourn", "resume", "resume game 1", "games",
        "history",
        "history bert page 2", "replay 1", "next", "back", "first", "last", "play", "record 1",
        "score", "score carla", "standings", "register", "password",
    ]
)  # fmt: skip
OBJECTS = st.sampled_from(["", " on oak board", " on table", " on it", " on board 2", " on chair"])
LINES = st.one_of(st.text(max_size=60), st.builds("{}{}".format, COMMANDS, OBJECTS), st.none())
"""``None`` stands for a lost connection."""


@examples(100)
@given(
    st.lists(st.tuples(st.sampled_from(["Anna", "Bert", "Carla"]), LINES), max_size=40),
    st.integers(20, 200),
    st.sampled_from([0.0, 300.0]),
)
def test_arbitrary_lines_yield_only_printable_messages(
    lines: list[tuple[str, str | None]], width: int, seat_grace: float
) -> None:
    house = House(BOARDS, seat_grace=seat_grace)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0, Terminal(width))
    for now, (name, line) in enumerate(lines):
        messages = [] if name in house else house.enter(name, now, Terminal(width))
        messages += house.depart(name, now) if line is None else house.obey(name, line, now)
        for message in messages:
            assert message.to
            assert message.text
            assert not CONTROLS.search(message.text)


def test_ascii_charset_transliterates_and_fits_the_width() -> None:
    house = house_of("Anna", "Bert", width=40)
    house.obey("Anna", "options charset ascii", 0.0)
    said = "say \u00c4rger\u2026 \u2603 " + "\u2026" * 30
    messages = house.obey("Bert", said, 0.0)
    lines = told(messages)["Anna"].split("\n")
    assert lines == ["Bert says: Arger... ? " + "." * 17, *["    " + "." * 35] * 2, "    ..."]
    assert max(map(len, lines)) < 40
    assert "\u00c4rger" in told(messages)["Bert"]
    assert told(house.obey("Anna", "\u00e9\u00e9", 0.0))["Anna"].isascii()
    assert told(house.obey("Anna", "look at \u00e9\u00e9", 0.0))["Anna"].isascii()


def test_greeting_fits_80_columns_and_names_a_working_command() -> None:
    assert max(map(len, greeting((), 0).split("\n"))) < 80
    (reader,) = re.findall(r'"(options .*?)"', greeting((), 0))
    house = house_of("Anna")
    house.obey("Anna", reader, 0.0)
    assert house.hall.people["Anna"].options.reader is Switch.ON


def test_speech_of_an_ignored_player_is_sent_in_no_form() -> None:
    house = House(BOARDS)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0, Terminal(packages=frozenset({"thud"})))
    house.obey("Anna", "set machine on", 0.0)
    house.obey("Anna", "ignore bert", 0.0)
    for line in ("say hello", ":waves", "tell anna hello", "invite anna on oak board", "go hall"):
        sent = house.obey("Bert", line, 0.0)
        assert not [message for message in sent if "Anna" in message.to], line
    sent = house.obey("Bert", "say hello", 0.0)
    assert {message.package for message in sent if "Carla" in message.to} == {"", "Thud.Say"}


def test_profile_with_ignored_names_is_applied_on_entry() -> None:
    house = House(BOARDS)
    house.enter("Bert", 0.0)
    told_of = house.enter("Anna", 0.0, profile=Profile(ignored=("bert",)))
    assert told_of
    assert house.hall.people["Anna"].ignored == ("bert",)
    [answer] = house.obey("Bert", "tell anna hello", 0.0)
    assert (answer.to, answer.text) == (("Bert",), "Anna isn't taking messages from you.")
