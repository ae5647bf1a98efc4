"""Texts that introduce the bots: hall, help, lists and greeting."""

from __future__ import annotations

import re

import pytest

from tests.cases import cases
from thudmud.features.playing.moves import Resign
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.rooms.messages import greeting
from thudmud.game import BoardSpec
from thudmud.game.events import OWN_PROGRAM, Levels
from thudmud.game.people import BotLevel
from thudmud.house import House
from thudmud.language import parse
from thudmud.rules import Side
from thudmud.views.help import PAGES
from thudmud.views.view import Terminal

BOTS = ("Grog", "Mog")


def house_with(
    *people: str, width: int = 80, opens_boards: bool = False, members: bool = False
) -> House:
    """Return a house with two boards and the given people, bots among them."""
    boards = [BoardSpec("oak board"), BoardSpec("pine board")]
    house = House(boards, opens_boards=opens_boards)
    house.hall.bots = dict.fromkeys(BOTS)
    for name in people:
        house.enter(name, 0.0, Terminal(width=width), member=members)
    return house


def shown(house: House, line: str, name: str = "Anna") -> str:
    """Return the response to a player's line, with all blanks collapsed."""
    told = [message.text for message in house.obey(name, line, 0.0) if name in message.to]
    return " ".join(" ".join(told).split())


def test_hall_explains_how_to_play_with_a_bot() -> None:
    hall = shown(house_with("Grog", "Anna"), "look")
    typed = '"join game as dwarf on oak board", then "invite grog", then "start"'
    assert hall.startswith(
        f"You are in the hall. Also here: the bot Grog. To play with the bot Grog, type {typed}."
    )


def test_welcome_explains_how_to_play_with_a_bot() -> None:
    house = house_with("Grog")
    (message,) = [each for each in house.enter("Anna", 0.0) if "Anna" in each.to]
    assert "To play with the bot Grog," in message.text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_commands_of_the_hall_hint_work_in_sequence(width: int) -> None:
    house = house_with("Grog", "Anna", width=width)
    sentence = shown(house, "look").partition("To play with")[2].partition("Boards (")[0]
    sit, invite, start = re.findall('"([^"]+)"', sentence)
    assert "You sit down" in shown(house, sit)
    assert shown(house, invite).startswith("You invite Grog to play the trolls")
    house.obey("Grog", "join game as troll on oak board", 0.0)
    assert "begin a match" in shown(house, start)


def test_hall_mentions_a_bot_that_sits_at_a_board() -> None:
    house = house_with("Grog", "Anna")
    house.obey("Grog", "join game as dwarf on oak board", 0.0)
    hall = shown(house, "look")
    assert 'bot Grog, type "join game as dwarf on pine board", then "invite grog"' in hall
    assert "Also here" not in hall
    house.obey("Anna", "go to oak board", 0.0)
    assert "Also here: the bot Grog." in shown(house, "look")


def test_hall_names_several_bots() -> None:
    assert "To play with the bots Grog and Mog, type" in shown(house_with(*BOTS, "Anna"), "look")


def test_hall_without_an_empty_board_suggests_an_invitation() -> None:
    house = house_with("Grog", "Bert", "Anna")
    for board in ("oak", "pine"):
        house.obey("Bert", f"join game as dwarf on {board} board", 0.0)
    typed = '"invite grog" at a board with a free seat'
    assert f"To play with the bot Grog, type {typed}." in shown(house, "look")


def test_player_alone_at_a_board_is_told_to_invite_a_bot() -> None:
    house = house_with("Grog", "Anna")
    sat = shown(house, "join game as dwarf on oak board")
    assert '"invite" and a name asks someone to play. "invite grog" has a bot take it.' in sat
    refused = shown(house, "start")
    assert refused.startswith("A battle needs two players.")
    assert refused.endswith('"invite grog" has a bot take it.')


def test_player_with_an_opponent_is_not_told_to_invite_a_bot() -> None:
    house = house_with("Grog", "Bert", "Anna")
    house.obey("Bert", "join game as dwarf on oak board", 0.0)
    assert "invite" not in shown(house, "join game as troll on oak board")


LEVELS = (
    BotLevel(1, "Chalk", "Plays almost anything."),
    BotLevel(2, "Slate", "Walks into most traps."),
    BotLevel(3, "Marble", "Looks far."),
)


def levelled(*people: str, opens_boards: bool = False) -> House:
    """Return a house where Grog is a bot at level 2 of 3 and Mog an external program."""
    house = house_with(*people, opens_boards=opens_boards, members=True)
    house.hall.bots = {"Grog": LEVELS[1], "Mog": None}
    house.hall.levels = LEVELS
    return house


def lines_shown(house: House, line: str, name: str = "Anna") -> str:
    """Return the response to a player's line, with its line breaks."""
    messages = house.obey(name, line, 0.0)
    return "\n".join(message.text for message in messages if name in message.to)


ROUND = ("f1 to f2", "g7 to f7", "f2 to f1", "f7 to g7", "f1 to f2", "g7 to f7")


def fought(house: House, loser: str, bot: str = "Grog", level: int | None = None) -> None:
    """Let Anna and a bot play a match in which one of them resigns after six plies and leaves."""
    house.obey("Anna", "join game as dwarf on oak board", 0.0)
    house.obey(bot, Join(Side.TROLL, "oak board", level), 0.0)
    house.obey("Anna", "start", 0.0)
    for ply, player in zip(ROUND, ("Anna", bot) * 3, strict=True):
        house.obey(player, f"move from {ply}", 0.0)
    for command in (Resign("oak board"), Leave("oak board"), "go to hall"):
        house.obey(loser, command, 0.0)
    for command in ("leave game", "go to hall"):
        house.obey(bot if loser == "Anna" else "Anna", command, 0.0)


def test_bot_list_shows_levels() -> None:
    house = levelled("Mog", "Grog", "Anna")
    assert shown(house, "bots") == (
        "2 bots to play with, and their results against people: Grog, level 2 Slate: no rating; no"
        " battle yet. Walks into most traps. Mog: no rating; no battle yet. To play one, type"
        ' "invite grog" at a board with a free seat. "invite grog level 3" picks another level:'
        ' 1 Chalk, 2 Slate or 3 Marble. "look at grog" tells you more.'
    )


def test_bot_list_suggests_match_when_boards_open_on_demand() -> None:
    house = levelled("Grog", "Anna", opens_boards=True)
    told = shown(house, "bots")
    assert 'To play one, type "match grog". "match grog level 3" picks another level' in told
    assert 'To play a bot, type "match" and its name.' in shown(house, "who")
    assert "You and Grog begin a match" in shown(house, "match grog level 3")


def test_bot_list_shows_ratings_and_results() -> None:
    house = levelled("Grog", "Mog", "Anna")
    for loser in ("Grog", "Anna", "Anna"):
        fought(house, loser)
    fought(house, "Grog", level=3)
    fought(house, "Mog", "Mog")
    assert "\n".join(lines_shown(house, "bots").split("\n")[:4]) == (
        """\
2 bots to play with, and their results against people:
  Grog, level 2 Slate: rating 1583?, give or take 227; 4 won, 0 drawn, 2 lost.
    Walks into most traps.
  Mog: rating 1416?, give or take 241; 0 won, 0 drawn, 2 lost."""
    )


def test_bot_list_has_one_row_per_bot_on_a_narrow_screen() -> None:
    house = levelled("Grog", "Mog", "Anna")
    house.set_terminal("Anna", Terminal(width=40))
    fought(house, "Anna")
    lines = lines_shown(house, "bots").split("\n")
    assert lines[:6] == [
        "2 bots here; level, rating (give or",
        "take), won/drawn/lost against people:",
        "  Grog 2: 1579? (242), 2/0/0",
        "  Mog: no rating, 0/0/0",
        "The ratings are for discworld rules.",
        "A rating with a ? is provisional: see",
    ]
    house.obey("Anna", "options reader on", 0.0)
    assert "Grog, level 2 Slate: rating 1579, provisional, give or take 242; 2 won, 0" in shown(
        house, "bots"
    )


def test_battle_between_bots_changes_only_their_ratings() -> None:
    house = levelled("Grog", "Mog", "Anna")
    house.obey("Grog", "join game as dwarf on oak board", 0.0)
    house.obey("Mog", "join game as troll on oak board", 0.0)
    house.obey("Mog", "start", 0.0)
    for ply, player in zip(ROUND, ("Grog", "Mog") * 3, strict=True):
        house.obey(player, f"move from {ply}", 0.0)
    house.obey("Mog", Resign("oak board"), 0.0)
    listed = shown(house, "bots")
    assert "Grog, level 2 Slate: rating 1579?, give or take 242; no battle yet." in listed
    assert "Mog: rating 1421?, give or take 242; no battle yet." in listed


def test_score_lists_battles_against_bots_separately() -> None:
    house = levelled("Grog", "Mog", "Anna")
    fought(house, "Grog")
    fought(house, "Anna", level=3)
    fought(house, "Mog", "Mog")
    fought(house, "Anna", "Mog")
    assert lines_shown(house, "score") == (
        """\
Anna, against bots:
  Discworld: matches 2 won, 0 drawn, 2 lost; as dwarfs 2 won, 0 drawn, 2 lost;
    as trolls 2 won, 0 drawn, 2 lost.
    Rating 1486?, give or take 222 (4 battles).
A rating with a ? is provisional: see "help ratings"."""
    )
    assert lines_shown(house, "score grog") == (
        """\
Grog, at level 2 Slate:
  Discworld: matches 0 won, 0 drawn, 1 lost; as dwarfs 0 won, 0 drawn, 1 lost;
    as trolls 0 won, 0 drawn, 1 lost.
    Rating 1421?, give or take 242 (1 battle).
Grog, at level 3 Marble:
  Discworld: matches 1 won, 0 drawn, 0 lost; as dwarfs 1 won, 0 drawn, 0 lost;
    as trolls 1 won, 0 drawn, 0 lost.
    Rating 1588?, give or take 242 (1 battle).
A rating with a ? is provisional: see "help ratings"."""
    )
    assert lines_shown(house, "score mog").startswith("Mog:\n  Discworld: matches ")
    assert shown(house, "standings").startswith("Discworld, untimed: nobody is ranked yet.")


def test_bot_level_is_shown_by_who_and_look() -> None:
    house = levelled("Grog", "Mog", "Anna")
    house.obey("Grog", Join(Side.DWARF, "oak board", 3), 0.0)
    house.obey("Grog", Join(Side.DWARF, "pine board"), 0.0)
    seats = "plays the dwarfs at the oak board (level 3) and plays the dwarfs at the pine board"
    assert f"Grog (a bot) {seats} Mog" in shown(house, "who")
    assert shown(house, "look at grog").endswith(
        f"{seats}. Slate, level 2 of 3: Walks into most traps. No rating yet."
    )
    assert shown(house, "look at mog") == (
        "Mog (a bot) is in the hall. An external program chooses its moves. No rating yet."
    )


def test_bot_takes_its_seat_at_the_requested_level() -> None:
    house = levelled("Grog", "Mog", "Anna")
    assert shown(house, "invite grog level 3 on oak board").endswith("at level 3.")
    house.obey("Grog", Join(Side.DWARF, "oak board", 3), 0.0)
    house.obey("Grog", Join(Side.DWARF, "pine board"), 0.0)
    house.obey("Mog", Join(Side.TROLL, "pine board", 3), 0.0)
    house.obey("Anna", Join(Side.TROLL, "oak board", 3), 0.0)
    tables = house.hall.tables
    assert tables["oak board"].levels == Levels(dwarf=3, troll=None)
    assert tables["pine board"].levels == Levels(dwarf=2, troll=OWN_PROGRAM)


def test_bot_list_without_bots_says_so() -> None:
    assert shown(levelled("Anna"), "bots") == "There are no bots here."


LINES = ("look", "join game as dwarf on oak board", "start", "help thud", "help start", "help join")


@pytest.mark.parametrize("people", [("Anna",), ("Bert", "Anna")])
def test_texts_on_a_server_without_bots_mention_none(people: tuple[str, ...]) -> None:
    """A configured bot counts only while it is connected."""
    house = house_with(*people)
    for line in LINES:
        told = shown(house, line)
        assert not re.search(r"\bbots?\b", told)
        assert "{" not in told.replace("{dwarf|troll}", "")
        assert "Grog" not in told


@pytest.mark.parametrize("topic", ["thud", "start", "join", "invite", "bots", "bot"])
def test_help_pages_name_the_bot_that_is_present(topic: str) -> None:
    told = shown(house_with("Mog", "Anna"), f"help {topic}")
    assert '"invite mog"' in told
    assert "Grog" not in told


@cases("topic", PAGES)
def test_help_pages_are_complete_with_and_without_a_bot(topic: str) -> None:
    for bot in ("Grog", None):
        page = PAGES[topic].with_bot(bot)
        for line in page.examples:
            parse(line)
        text = "\n".join(PAGES[topic].rows(40, bot))
        assert "bot}" not in text.lower()
        assert "\n\n\n" not in text
    assert "{bot}" in "".join("".join(block) for block in PAGES["thud"].blocks)


def test_tell_to_a_bot_adds_that_it_does_not_answer() -> None:
    house = house_with("Grog", "Anna", "Bert")
    assert shown(house, "tell grog hi") == (
        "You tell Grog: hi Grog is a bot, and not much of a talker."
    )
    assert shown(house, "tell bert hi") == "You tell Bert: hi"


def test_greeting_mentions_bots() -> None:
    told = " ".join(greeting(BOTS, 3).split())
    assert "dwarfs and trolls. 3 players and 2 bots are here. Choose a name, and then" in told
    assert 'type "play": you play a bot at once, and a person as soon as one comes along.' in told


def test_greeting_fits_a_screen_of_80_columns() -> None:
    first, *_ = lines = greeting(BOTS, 1000).split("\n")
    assert first == "Welcome to thudmud, where people play Thud, the board game of dwarfs and"
    assert len(lines) == 5
    assert max(map(len, lines)) < 80


def test_greeting_without_bots_counts_the_players() -> None:
    for players, here in ((0, "You are the first one here"), (1, "1 player is here")):
        told = " ".join(greeting((), players).split())
        assert f'dwarfs and trolls. {here}. Choose a name, and then type "play". ' in told
        assert "bot" not in told
