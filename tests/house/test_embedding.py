"""A house embedded in another MUD: presence, names, boards and rejected calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.house.plays import BEGUN, do, everything, house_of, kept, seated, told
from thudmud import BoardSpec, House, Message, Options, Parting, Style, Terminal
from thudmud.errors import ThudmudError
from thudmud.game.delivery import Delivery
from thudmud.game.events import Joined
from thudmud.game.options import Orient, Profile
from thudmud.language import parse
from thudmud.rules import Side
from thudmud.values import replace

EVERYTHING = Terminal(packages=frozenset({"Thud"}))


def furniture() -> House:
    """Return a house with a single board, like furniture in a room of a MUD."""
    return House([BoardSpec("oak board", style=Style.BRIEF)])


class TestComingIn:
    def test_entering_at_a_board_shows_it_to_the_newcomer_alone(self) -> None:
        house = furniture()
        first = told(house.enter("Anna", 1.0, room="oak board"))
        assert first["Anna"].startswith("Oak board: dwarfs 32 (seat free)")
        second = told(house.enter("Bert", 1.0, room="oak board"))
        assert list(second) == ["Bert"]
        assert second["Bert"].endswith("Also here: Anna.")
        assert house.people == ("Anna", "Bert")

    @pytest.mark.parametrize("line", ["look", "join game as dwarf", "move a6 b6", "who"])
    def test_parsed_command_has_the_effect_of_its_line(self, line: str) -> None:
        house, other = furniture(), furniture()
        for each in (house, other):
            each.enter("Anna", 1.0, room="oak board")
        assert house.obey("Anna", parse(line), 2.0) == other.obey("Anna", line, 2.0)
        assert everything(house) == everything(other)

    def test_pronoun_refers_to_the_board_entered_at(self) -> None:
        house = furniture()
        house.enter("Anna", 1.0, room="oak board")
        house.obey("Anna", "join game as dwarf on it", 1.0)
        assert seated(house, "oak board") == ("Anna",)

    def test_entering_at_a_board_sends_a_board_packet(self) -> None:
        messages = furniture().enter("Anna", 1.0, EVERYTHING, room="oak board")
        packages = {message.package: message.data for message in messages if message.package}
        assert packages["Thud.Board"]["board"] == "oak board"

    def test_player_seated_elsewhere_stays_at_the_entered_board(self) -> None:
        house = house_of()
        for now, (name, line) in enumerate(BEGUN):
            do(house, name, line, now)
        house.depart("Bert", 9.0)
        seen = told(house.enter("Bert", 10.0, room="elm table"))
        assert "Bert is back at the oak board." in seen["Anna"]
        assert "Elm table" in seen["Bert"]
        assert house.hall.people["Bert"].room == "elm table"

    def test_quiet_entry_shows_nothing_but_lets_the_player_sit_down(self) -> None:
        house = furniture()
        assert house.enter("Anna", 1.0, room="oak board", quiet=True) == []
        assert "You sit down" in told(house.obey("Anna", "join game as dwarf", 2.0))["Anna"]
        assert house.enter("Bert", 3.0, room="oak board", quiet=True) == []
        house.depart("Anna", 4.0)
        back = told(house.enter("Anna", 5.0, room="oak board", quiet=True))
        assert back["Anna"].startswith("You're back at the oak board, playing the dwarfs.")
        assert back["Bert"] == "Anna is back at the oak board."

    def test_watcher_gets_events_instead_of_messages(self) -> None:
        house = House([BoardSpec("oak board")])
        happened: list[Delivery] = []
        house.enter("Grog", 1.0, room="oak board", watcher=happened.append)
        house.enter("Anna", 1.0, room="oak board")
        happened.clear()
        messages = house.obey("Anna", "join game as dwarf", 2.0)
        assert [telling.event for telling in happened] == [Joined(2.0, "Anna", Side.DWARF)]
        assert {name for message in messages for name in message.to} == {"Anna"}
        assert house.obey("Grog", "join game as elf", 3.0)[0].to == ("Grog",)

    def test_entering_without_a_room_leads_to_the_hall(self) -> None:
        assert 'Boards ("go to"' in told(furniture().enter("Anna", 1.0))["Anna"]

    def test_profile_on_entry_sets_membership_options_and_styles(self) -> None:
        house = furniture()
        options = Options(orient=Orient.NORTH)
        styles = {"oak board": Style.FULL}
        house.enter(
            "Anna",
            1.0,
            member=True,
            room="oak board",
            profile=Profile(styles=styles, options=options),
        )
        assert house.hall.people["Anna"].is_member
        assert "orient: north" in told(house.obey("Anna", "options", 1.0))["Anna"]
        rows = [
            line.split()[0] for line in told(house.obey("Anna", "look", 1.0))["Anna"].split("\n")
        ]
        assert rows.index("15") < rows.index("1")

    @pytest.mark.parametrize("name", ["Sir Samuel", "Änne", "Jean-Luc", "R2", "X" * 80])
    def test_names_foreign_to_the_game_can_play(self, name: str) -> None:
        house = furniture()
        house.enter(name, 1.0, room="oak board")
        assert "You sit down" in told(house.obey(name, "join game as dwarf", 1.0))[name]
        assert seated(kept(house), "oak board") == (name,)

    @pytest.mark.parametrize(
        "name", ["", " ", "An\nna", "Anna\x1b[31m", " Anna", "X" * 81, "\u202e"]
    )
    def test_names_blank_or_unprintable_or_too_long_are_rejected(self, name: str) -> None:
        with pytest.raises(ValueError, match="expected a name of 1 to 80"):
            furniture().enter(name, 1.0)

    @pytest.mark.parametrize("name", ["Anna", "anna", "ANNA"])
    def test_entering_twice_is_rejected_whatever_the_case_of_the_name(self, name: str) -> None:
        house = furniture()
        house.enter("Anna", 1.0)
        before = everything(house), house.people
        with pytest.raises(ValueError, match="Anna is already here"):
            house.enter(name, 1.0)
        assert (everything(house), house.people) == before

    def test_entering_at_an_unknown_board_is_rejected(self) -> None:
        with pytest.raises(ValueError, match="unknown board elm table"):
            furniture().enter("Anna", 1.0, room="elm table")

    @pytest.mark.parametrize("board", ["oak board", "Oak board", "OAK BOARD"])
    def test_board_names_are_case_insensitive(self, board: str) -> None:
        house = furniture()
        styles = {board: Style.FULL}
        came = house.enter("Anna", 1.0, room=board, profile=Profile(styles=styles))
        as_ever = furniture().enter(
            "Anna", 1.0, room="oak board", profile=Profile(styles={"oak board": Style.FULL})
        )
        assert came == as_ever
        house.obey("Anna", "join game as dwarf", 2.0)
        assert seated(house, "oak board") == ("Anna",)
        assert house.game(board) is None


class TestSettingUp:
    @pytest.mark.parametrize("rules", ["koom valley", "Koom Valley", "KOOM VALLEY"])
    def test_rule_names_are_case_insensitive(self, rules: str) -> None:
        assert BoardSpec("elm table", rules) == BoardSpec("elm table", "koom valley")

    @pytest.mark.parametrize("rules", ["chess", "", "classic "])
    def test_unknown_rules_are_rejected(self, rules: str) -> None:
        known = "expected one of discworld, classic, koom valley"
        self.refused(f"unknown rules {rules!r}; {known}", lambda: BoardSpec("elm", rules))

    def test_house_without_a_board_is_rejected(self) -> None:
        self.refused("expected at least one board", lambda: House([]))

    def test_duplicate_board_names_are_rejected(self) -> None:
        boards = [BoardSpec("oak board"), BoardSpec("pine board"), BoardSpec("Oak Board")]
        words = "two boards are called 'oak board'; each needs its own name"
        self.refused(words, lambda: House(boards))

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("", "should be at most 30 letters and single spaces"),
            ("board 2", "should be at most 30 letters and single spaces"),
            ("oak  board", "should be at most 30 letters and single spaces"),
            ("x" * 31, "should be at most 30 letters and single spaces"),
            ("last board", 'should not contain "last", which is a word in commands'),
            ("hall", 'should not contain "hall", which is a word in commands'),
        ],
    )
    def test_untypable_board_names_are_rejected(self, name: str, problem: str) -> None:
        words = f"board {name!r}: the name {problem}"
        self.refused(words, lambda: House([BoardSpec("oak board"), BoardSpec(name)]))

    def test_line_of_bytes_is_rejected(self) -> None:
        house = furniture()
        house.enter("Anna", 1.0)
        line: Any = b"look"
        before = everything(house), house.people
        self.refused(
            "expected a line of type str, got bytes", lambda: house.obey("Anna", line, 1.0)
        )
        assert (everything(house), house.people) == before

    def test_board_renamed_under_its_key_keeps_its_table(self) -> None:
        house = House([BoardSpec("oak board", key="b")])
        for now, (name, line) in enumerate(BEGUN):
            if name not in house:
                house.enter(name, now)
            house.obey(name, line, now)
        again = House([BoardSpec("elm board", key="b")], events=house.events())
        assert list(again.hall.tables) == ["elm board"]
        table, before = again.hall.tables["elm board"], house.hall.tables["oak board"]
        assert replace(table, name="oak board") == before
        again.enter("Anna", 9.0)
        assert "oak" not in str([each.text for each in again.obey("Anna", "look", 9.0)])

    @pytest.mark.parametrize("key", ["hall", "(match) oak board 1", "client/oak", "oak\n"])
    def test_reserved_board_keys_are_rejected(self, key: str) -> None:
        words = f"{key!r} is not a valid key for 1 board"
        self.refused(words, lambda: House([BoardSpec("oak board", key=key)]))

    def test_duplicate_board_keys_are_rejected(self) -> None:
        boards = [BoardSpec("oak board"), BoardSpec("elm table", key="oak board")]
        self.refused("'oak board' is not a valid key for 2 boards", lambda: House(boards))

    def refused(self, words: str, act: Callable[[], object]) -> None:
        with pytest.raises(ThudmudError, match=f"^{re.escape(words)}$") as refusal:
            act()
        assert isinstance(refusal.value, ValueError)


class TestGoing:
    def test_lost_player_gets_no_message_and_keeps_the_seat(self) -> None:
        house = house_of()
        for now, (name, line) in enumerate(BEGUN):
            do(house, name, line, now)
        messages = house.depart("Bert", 9.0)
        assert "Bert has lost the connection." in told(messages)["Anna"]
        assert [message for message in messages if "Bert" in message.to] == []
        assert seated(house, "oak board") == ("Anna", "Bert")

    @pytest.mark.parametrize("parting", [Parting.QUIT, Parting.IDLE])
    def test_player_who_quits_or_idles_out_gets_a_message(self, parting: Parting) -> None:
        house = furniture()
        house.enter("Anna", 1.0)
        assert "Anna" in told(house.depart("Anna", 1.0, parting))
        assert house.people == ()

    def test_absent_player_can_neither_depart_nor_obey(self) -> None:
        house = furniture()
        with pytest.raises(ValueError, match="Anna is not here"):
            house.depart("Anna", 1.0)
        with pytest.raises(ValueError, match="Anna is not here"):
            house.obey("Anna", "look", 1.0)

    @pytest.mark.parametrize("now", [float("nan"), float("inf"), -1.0, 1_800_000_000_000.0])
    def test_times_other_than_seconds_since_the_epoch_are_rejected(self, now: float) -> None:
        house = furniture()
        house.enter("Anna", 1.0)
        before = everything(house), house.people
        with pytest.raises(ValueError, match="expected a time in seconds since the epoch"):
            house.enter("Bert", now)
        with pytest.raises(ValueError, match="expected a time in seconds since the epoch"):
            house.obey("Anna", "join game as dwarf on oak board", now)
        with pytest.raises(ValueError, match="expected a time in seconds since the epoch"):
            house.depart("Anna", now)
        assert (everything(house), house.people) == before


class TestLookingOn:
    def test_house_exposes_the_game_of_a_board(self) -> None:
        house = house_of()
        assert house.game("oak board") is None
        for now, (name, line) in enumerate([*BEGUN, ("Anna", "move a6 b6 on oak board")]):
            do(house, name, line, now)
        game = house.game("oak board")
        assert game
        assert game.position.turn is Side.TROLL
        with pytest.raises(KeyError):
            house.game("pine board")

    def test_message_has_data_only_with_a_package(self) -> None:
        assert Message(("Anna",), "Hello.").data is None
        assert Message(("Anna",), '{"ply": 1}', "Thud.Move").data == {"ply": 1}


class TestTerminals:
    @pytest.mark.parametrize(
        ("told", "taken"),
        [
            (Terminal(0), Terminal(80)),
            (Terminal(3), Terminal(20)),
            (Terminal(100_000), Terminal(500)),
            (EVERYTHING, Terminal(packages=frozenset({"thud"}))),
        ],
    )
    def test_width_unknown_or_extreme_becomes_a_supported_one(
        self, told: Terminal, taken: Terminal
    ) -> None:
        house, other = furniture(), furniture()
        house.enter("Anna", 1.0, told)
        other.enter("Anna", 1.0, taken)
        told_everything = "look", "options", "move a6 a7 on oak board"
        for line in told_everything:
            assert house.obey("Anna", line, 2.0) == other.obey("Anna", line, 2.0)
