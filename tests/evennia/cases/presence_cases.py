"""Who is about a board, who is away, and what stays of it all."""

from __future__ import annotations

import json
from unittest.mock import patch

from tests.evennia.cases.furnished import Furnished
from thudmud.evennia.board import STATE, ThudBoard


class Company(Furnished):
    def test_who_sits_and_who_is_about_is_told_of_a_ply(self) -> None:
        self.begin()
        self.type(self.char1, "move from A6 to B6")
        assert "Char moves the dwarf from A6 to B6. It is your turn." in self.heard(self.char2)

    def test_who_does_not_play_is_shown_one_line_until_they_look(self) -> None:
        self.type(self.char1, "join game as dwarf")
        assert "Oak board: dwarfs 32" not in self.heard(self.char2)
        assert "A B C" not in self.heard(self.char2)
        assert "Char sits down" in self.heard(self.char2)
        self.type(self.char2, "view game")
        self.type(self.char1, "set rules classic")
        assert "A B C" in self.heard(self.char2)

    def test_a_seat_is_given_up_by_leaving_the_room_before_a_match(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.char1.location = self.room2
        self.wait()
        assert "You leave the dwarf seat" in self.heard(self.char1)
        assert "Char leaves the dwarf seat" in self.heard(self.char2)
        assert "You sit down" in self.type(self.char2, "join game as dwarf")

    def test_a_seat_is_kept_in_a_match(self) -> None:
        self.begin()
        self.char1.location = self.room2
        self.sent.clear()
        self.wait()
        assert "Char walks away; the dwarf seat at the oak board is kept." in self.heard(
            self.char2
        ).replace("\n", " ")
        self.type(self.char2, "end game on oak")
        self.sent.clear()
        self.char1.location = self.room1
        self.wait()
        assert "Char is back" in self.heard(self.char2)
        assert "Char2 offers to end the battle." in self.heard(self.char1)
        assert "A B C" in self.heard(self.char1)
        assert "You move the dwarf" in self.type(self.char1, "move from A6 to B6")

    def test_who_is_not_played_any_more_is_away(self) -> None:
        self.begin()
        self.sent.clear()
        self.account2.unpuppet_object(self.session2)
        self.wait()
        assert "Char2 has lost the connection." in self.heard(self.char1)
        self.sent.clear()
        self.puppet(self.account2, self.session2, self.char2)
        self.wait()
        assert "Char2 is back" in self.heard(self.char1)
        assert "A B C" in self.heard(self.char2)

    def test_two_of_one_name_are_two(self) -> None:
        self.char2.key = "Char"
        self.type(self.char1, "join game as dwarf")
        self.type(self.char2, "join game as troll")
        assert f"Char #{self.char2.id}" in self.heard(self.char1)
        assert "To change sides" in self.type(self.char1, "join game as troll")

    def test_a_new_name_does_not_cost_the_seat(self) -> None:
        self.begin()
        self.char1.key = "Charlotte"
        self.restart()
        assert "You move the dwarf" in self.type(self.char1, "move from A6 to B6")

    def test_a_player_who_is_destroyed_is_away(self) -> None:
        self.begin()
        self.sent.clear()
        self.char2.delete()
        self.wait()
        assert "is kept" in self.heard(self.char1)
        assert self.board.host.table.away


class Storage(Furnished):
    def test_a_battle_goes_on_after_a_reload(self) -> None:
        self.begin()
        self.type(self.char1, "move from A6 to B6")
        self.restart()
        seen = self.type(self.char2, "move from G7 to G6")
        assert "You move the troll from G7 to G6." in seen
        assert "Char2 moves the troll" in self.heard(self.char1)
        assert "have been away" not in self.heard(self.char1)

    def test_who_did_not_come_back_from_a_restart_is_away(self) -> None:
        self.begin()
        self.restart()
        self.char2.sessions.clear()
        seen = self.type(self.char1, "view game")
        assert "The server was down for a while." in seen
        assert self.board.host.table.away

    def test_all_is_in_one_attribute_of_json(self) -> None:
        self.begin()
        assert [each.key for each in self.board.attributes.all()] == [STATE]
        state = json.loads(self.board.attributes.get(STATE))
        assert state["names"] == {str(self.char1.id): "Char", str(self.char2.id): "Char2"}

    def test_what_cannot_be_read_is_set_aside(self) -> None:
        for stored in ("{", "[]", '{"house": {}, "names": {}}', "{}", 7):
            self.board.attributes.add(STATE, stored)
            self.restart()
            assert "No battle has begun" in self.type(self.char1, "view game")
            assert self.board.attributes.get(f"{STATE}_unread") == stored

    def test_what_cannot_be_stored_has_not_happened(self) -> None:
        self.begin()
        with patch.object(self.board.attributes, "add", side_effect=OSError("the disk is full")):
            self.type(self.char1, "move from A6 to B6")
        assert "moves" not in self.heard(self.char2)
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_a_board_that_is_renamed_keeps_its_battle(self) -> None:
        self.begin()
        self.type(self.char1, "set board brief")
        self.play("move from A6 to B6", "move from G7 to F7")
        self.board.key = "elm board"
        seen = self.type(self.char1, "move from B6 to C6 on elm board")
        assert "You move" in seen
        assert "Elm board: dwarfs" in seen
        assert "oak" not in self.type(self.char1, "games").lower()

    def test_a_builder_may_call_it_what_no_house_would(self) -> None:
        odd = self.furniture("Ye 2nd Thud-Table")
        assert odd.host.table.name == "Ye 2nd Thud-Table"
        assert "discworld rules" in self.type(self.char1, "look Thud-Table")

    def test_rules_come_from_the_class_or_from_an_attribute(self) -> None:
        stony = self.furniture("stony board", attributes=[("rules", "koom valley")])
        assert "koom valley rules" in self.type(self.char1, "look stony board")
        assert stony.host.table.ruleset.name == "koom valley"
        self.furniture("odd board", attributes=[("rules", "chess")])
        assert f"{ThudBoard.rules} rules" in self.type(self.char1, "look odd board")


class Deletion(Furnished):
    def test_those_who_play_are_told_and_nothing_breaks(self) -> None:
        self.begin()
        self.sent.clear()
        assert self.board.delete()
        self.wait()
        for character in (self.char1, self.char2):
            assert "The oak board is taken away" in self.heard(character)
        assert "not available" in self.type(self.char1, "move from A6 to B6")
        self.char1.location = self.room2
        self.wait()

    def test_who_has_a_seat_is_told_elsewhere_too(self) -> None:
        self.begin()
        self.char1.location = self.room2
        self.wait()
        self.sent.clear()
        self.board.delete()
        assert "is taken away" in self.heard(self.char1)

    def test_a_replay_ends_with_its_board(self) -> None:
        self.begin()
        self.play("resign game")
        self.type(self.char1, "replay 1")
        self.type(self.char1, "play")
        self.board.delete()
        self.wait()

    def test_another_board_takes_no_notice(self) -> None:
        self.furniture("pine board")
        self.begin()
        self.board.delete()
        assert "You sit down at the pine board" in self.type(self.char1, "join game as dwarf")


class Failure(Furnished):
    def test_a_board_that_fails_stops_nobody_and_no_other_board(self) -> None:
        self.begin()
        self.furniture("pine board")
        self.type(self.char1, "join game as dwarf on pine")
        self.board.key = "ash board"
        self.sent.clear()
        with (
            patch("thudmud.evennia.host.renamed", side_effect=ValueError("no such hall")),
            patch("thudmud.evennia.following.logger.log_trace") as logged,
        ):
            self.char1.location = self.room2
        self.wait()
        assert self.char1.location == self.room2
        assert f"#{self.board.id}" in logged.call_args.args[0]
        assert "Char leaves the dwarf seat at the pine board" in self.heard(self.char2)
