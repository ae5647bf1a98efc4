"""Presence at a board, absence, and stored state."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from evennia.typeclasses.attributes import Attribute
from evennia.utils import create

from tests.evennia.cases.furnished import Furnished
from thudmud.evennia.board import TYPE, UNREAD, EventRows, ThudBoard


def rows_of(board: Any) -> Any:
    """Return the database rows of a board."""
    return Attribute.objects.filter(db_key=f"{TYPE}-{board.id}").order_by("pk")


class Company(Furnished):
    def test_ply_is_announced_to_the_opponent(self) -> None:
        self.begin()
        self.type(self.char1, "move from A6 to B6")
        assert "Char moves the dwarf from A6 to B6. It is your turn." in self.heard(self.char2)

    def test_bystander_sees_single_lines_until_looking(self) -> None:
        self.type(self.char1, "join game as dwarf")
        assert "Oak board: dwarfs 32" not in self.heard(self.char2)
        assert "A B C" not in self.heard(self.char2)
        assert "Char sits down" in self.heard(self.char2)
        self.type(self.char2, "view game")
        self.type(self.char1, "set rules classic")
        assert "A B C" in self.heard(self.char2)

    def test_seat_is_given_up_on_leaving_before_a_match(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.char1.location = self.room2
        self.wait()
        assert "You leave the dwarf seat" in self.heard(self.char1)
        assert "Char leaves the dwarf seat" in self.heard(self.char2)
        assert "You sit down" in self.type(self.char2, "join game as dwarf")

    def test_seat_is_kept_on_leaving_during_a_match(self) -> None:
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

    def test_unpuppeted_player_is_away(self) -> None:
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

    def test_players_with_the_same_name_are_distinct(self) -> None:
        self.char2.key = "Char"
        self.type(self.char1, "join game as dwarf")
        self.type(self.char2, "join game as troll")
        assert f"Char #{self.char2.id}" in self.heard(self.char1)
        assert "To change sides" in self.type(self.char1, "join game as troll")

    def test_player_names_never_collide(self) -> None:
        third = create.create_object(self.character_typeclass, key="char", location=self.room1)
        self.char2.key = f"Char #{third.id}"
        self.begin()
        self.account.unpuppet_object(self.session)
        self.puppet(self.account, self.session, third)
        seen = self.type(third, "start game").replace("\n", " ")
        assert "Char plays the dwarfs" in seen
        self.type(third, "join game as dwarf")
        assert "You move the dwarf" not in self.type(third, "move from A6 to B6")
        assert set(self.board.host.table.seats.values()) == {"Char", f"Char #{third.id}"}

    def test_bystander_comes_and_goes_silently(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.type(self.char2, "view game")
        self.sent.clear()
        for room in (self.room2, self.room1):
            self.char2.location = room
            self.wait()
        self.account2.unpuppet_object(self.session2)
        self.wait()
        # Text from the MUD itself is untyped or has another type.
        texts = [sent["text"] for _, sent in self.sent if "text" in sent]
        assert [text for text in texts if {"type": "thud"} in list(text)] == []

    def test_renamed_player_keeps_the_seat(self) -> None:
        self.begin()
        self.char1.key = "Charlotte"
        self.restart()
        assert "You move the dwarf" in self.type(self.char1, "move from A6 to B6")

    def test_deleted_player_is_away(self) -> None:
        self.begin()
        self.sent.clear()
        self.char2.delete()
        self.wait()
        assert "is kept" in self.heard(self.char1)
        assert self.board.host.table.away


class Storage(Furnished):
    def test_battle_continues_after_a_reload(self) -> None:
        self.begin()
        self.type(self.char1, "move from A6 to B6")
        self.restart()
        seen = self.type(self.char2, "move from G7 to G6")
        assert "You move the troll from G7 to G6." in seen
        assert "Char2 moves the troll" in self.heard(self.char1)
        assert "have been away" not in self.heard(self.char1)

    def test_player_missing_after_a_restart_is_away(self) -> None:
        self.begin()
        self.restart()
        self.char2.sessions.clear()
        seen = self.type(self.char1, "view game")
        assert "The server was down for a while." in seen
        assert self.board.host.table.away

    def test_player_returns_silently_after_a_reload(self) -> None:
        self.begin()
        self.restart()
        before = self.board.host.table.version
        self.sent.clear()
        self.board.look_around()
        assert self.board.host.table.version == before
        assert self.heard(self.char1) == self.heard(self.char2) == ""
        assert not self.board.host.table.away

    def test_seated_player_missing_after_a_restart_is_away(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.restart()
        self.char1.sessions.clear()
        self.type(self.char2, "join game as troll")
        table = self.board.host.table
        assert [table.seats[side] for side in table.away] == ["Char"]

    def test_looking_at_a_board_stores_nothing(self) -> None:
        self.type(self.char1, "look oak board")
        assert not rows_of(self.board)
        self.restart()
        assert not self.board.is_in_use

    def test_board_attributes_contain_no_game_state(self) -> None:
        self.begin()
        assert not self.board.attributes.all()
        seen = self.type(self.char1, "examine oak board")
        assert "ThudBoard" in seen
        for told in ("moved", "joined", "thud["):
            assert told not in seen

    def test_ply_appends_one_row_and_changes_no_other(self) -> None:
        self.begin()
        for player, ply in (
            (self.char1, "move from A6 to B6"),
            (self.char2, "move from G7 to G6"),
            (self.char1, "move from B6 to A6"),
        ):
            before = list(rows_of(self.board).values_list("pk", "db_strvalue"))
            self.type(player, ply)
            *others, (_, text) = rows_of(self.board).values_list("pk", "db_strvalue")
            assert others == before
            assert "\n" not in text

    def test_rows_are_compacted_without_changing_the_battle(self) -> None:
        with patch("thudmud.evennia.board.MOST", 4):
            self.begin()
            for _ in range(3):
                self.play("move from A6 to B6", "move from G7 to G6")
                self.play("move from B6 to A6", "move from G6 to G7")
                self.restart()
        assert len(rows_of(self.board)) <= 9
        assert self.board.host.table.version == 15
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_unreadable_rows_are_set_aside(self) -> None:
        events = ("{", "", '[1,"board",["flew",1]]', '[9,"board",[]]')
        names = ("{", "[]", '{"Anna": 1}')
        for kind, text in [("new", each) for each in events] + [("names", each) for each in names]:
            self.begin()
            row = rows_of(self.board).filter(db_category=kind).last()
            rows_of(self.board).filter(pk=row.pk).update(db_strvalue=text)
            self.restart()
            with patch("thudmud.evennia.board.logger.log_err") as logged:
                seen = self.type(self.char1, "view game")
            assert "No battle has begun" in seen, (kind, text, seen)
            assert f"#{self.board.id} starts anew" in logged.call_args.args[0]
            assert text in self.board.attributes.get(UNREAD)
            assert not rows_of(self.board)
        # Later events are stored again.
        self.begin()
        self.restart()
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_event_that_cannot_be_stored_has_no_effect(self) -> None:
        self.begin()
        for method in ("save", "flush_from_cache"):  # failures before and after writing
            before = list(rows_of(self.board).values_list())
            with patch.object(Attribute, method, side_effect=OSError("the disk is full")):
                self.type(self.char1, "move from A6 to B6")
            assert "moves" not in self.heard(self.char2)
            assert list(rows_of(self.board).values_list()) == before
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_temporarily_unreadable_rows_are_left_alone(self) -> None:
        self.begin()
        self.restart()
        with patch.object(EventRows, "read", side_effect=OSError("the disk is gone")):
            self.type(self.char1, "view game")
        assert not self.board.attributes.has(UNREAD)
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_match_is_adjourned_and_resumed(self) -> None:
        self.begin()
        self.type(self.char1, "move from A6 to B6")
        self.play("adjourn game", "adjourn game")
        self.restart()
        assert "1" in self.type(self.char1, "games")
        self.type(self.char1, "resume 1")
        self.type(self.char2, "resume 1")
        self.restart()
        assert "You move the troll" in self.type(self.char2, "move from G7 to G6")

    def test_renamed_player_keeps_the_adjourned_match(self) -> None:
        self.begin()
        self.play("move from A6 to B6", "adjourn game", "adjourn game")
        self.char1.location = self.room2
        self.wait()
        self.char1.key = "Charlotte"
        self.restart()
        self.char1.location = self.room1
        self.wait()
        assert "Char2" in self.type(self.char1, "games")

    def test_old_battles_can_be_replayed(self) -> None:
        self.begin()
        self.play("move from A6 to B6", "move from G7 to G6", "resign game")
        self.type(self.char1, "yes")
        self.restart()
        assert "Char2" in self.type(self.char1, "history")
        assert "dA6-B6" in self.type(self.char1, "record 1")
        self.type(self.char1, "replay 1")
        assert "G7" in self.type(self.char1, "last")

    def test_board_style_survives_a_reload_and_a_renaming(self) -> None:
        self.begin()
        self.type(self.char1, "set board brief")
        self.restart()
        assert "A B C" not in self.type(self.char1, "move from A6 to B6")
        self.board.key = "elm board"
        self.type(self.char2, "move from G7 to G6")
        assert "Elm board: dwarfs" in self.heard(self.char1)
        assert "A B C" not in self.heard(self.char1)

    def test_bystander_can_choose_the_brief_style(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.type(self.char2, "set board brief")
        self.restart()
        assert "A B C" in self.type(self.char1, "set rules classic")
        self.type(self.char2, "games")
        assert "A B C" in self.type(self.char1, "set rules discworld")
        assert "rules" in self.heard(self.char2)
        assert "A B C" not in self.heard(self.char2)

    def test_boards_with_the_same_name_are_distinct(self) -> None:
        other = self.furniture("oak board")
        self.play("join game as dwarf on 1st oak board", "join game as dwarf on 2nd oak board")
        for board, player in ((self.board, "Char"), (other, "Char2")):
            board.nattributes.clear()
            assert list(board.host.table.seats.values()) == [player]

    def test_copied_board_starts_afresh_with_its_rules(self) -> None:
        self.board.attributes.add("rules", "classic")
        self.begin()
        copy = self.board.copy("elm board")
        assert copy.host.table.version == 0
        assert copy.host.table.ruleset.name == "classic"
        assert "You sit down at the elm board" in self.type(self.char1, "join game as dwarf on elm")
        assert self.board.host.table.has_match_under_way

    def test_renamed_board_keeps_its_battle(self) -> None:
        self.begin()
        self.type(self.char1, "set board brief")
        self.play("move from A6 to B6", "move from G7 to F7")
        self.board.key = "elm board"
        seen = self.type(self.char1, "move from B6 to C6 on elm board")
        assert "You move" in seen
        assert "Elm board: dwarfs" in seen
        assert "oak" not in self.type(self.char1, "games").lower()
        assert not self.board.host.table.away
        # A player who leaves right after that is still noticed.
        self.board.key = "ash board"
        self.sent.clear()
        self.char1.location = self.room2
        self.wait()
        assert "Char walks away" in self.heard(self.char2)

    def test_replay_continues_at_a_renamed_board(self) -> None:
        self.begin()
        self.play("move from A6 to B6", "move from G7 to G6", "resign game")
        self.type(self.char1, "yes")
        self.type(self.char1, "replay 1")
        self.board.key = "elm board"
        assert "A6 to B6" in self.type(self.char1, "next")
        assert "G7 to G6" in self.type(self.char1, "next")

    def test_board_name_may_be_unusual(self) -> None:
        odd = self.furniture("Ye 2nd Thud-Table")
        assert odd.host.table.name == "Ye 2nd Thud-Table"
        assert "discworld rules" in self.type(self.char1, "look Thud-Table")

    def test_invalid_setting_is_shown_only_to_builders(self) -> None:
        self.board.attributes.add("rules", "chess")
        self.board.attributes.add("seat_grace", "long")
        seen = self.type(self.char1, "look oak board")
        assert '"rules": expected "discworld", "classic" or "koom valley", got \'chess\'' in seen
        assert "\"seat_grace\": expected 0 or more, got 'long'; using 300." in seen
        self.char2.permissions.clear()
        self.account2.permissions.clear()
        assert "should be" not in self.type(self.char2, "look oak board")

    def test_rules_are_set_by_class_or_attribute(self) -> None:
        stony = self.furniture("stony board", attributes=[("rules", "koom valley")])
        assert "koom valley rules" in self.type(self.char1, "look stony board")
        assert stony.host.table.ruleset.name == "koom valley"
        self.furniture("odd board", attributes=[("rules", "chess")])
        assert f"{ThudBoard.rules} rules" in self.type(self.char1, "look odd board")

    def test_idle_limit_is_set_by_an_attribute(self) -> None:
        patient = self.furniture("patient board", attributes=[("idle_claim", 30)])
        assert patient.host.table.idle_limit == 30.0
        assert self.board.host.table.idle_limit == ThudBoard.idle_claim

    def test_timer_events_are_sent_without_a_command(self) -> None:
        self.furniture("hasty board", attributes=[("idle_claim", 0.0001)])
        self.play(
            "join game as dwarf on hasty", "join game as troll on hasty", "start game on hasty"
        )
        self.sent.clear()
        self.wait()
        assert "is waiting, and can claim" in self.heard(self.char1)


class Deletion(Furnished):
    def test_deletion_of_a_board_is_announced_to_its_players(self) -> None:
        self.begin()
        self.sent.clear()
        assert self.board.delete()
        self.wait()
        for character in (self.char1, self.char2):
            assert "The oak board is taken away" in self.heard(character)
        assert "not available" in self.type(self.char1, "move from A6 to B6")
        self.char1.location = self.room2
        self.wait()

    def test_deletion_of_a_board_reaches_an_absent_player(self) -> None:
        self.begin()
        self.char1.location = self.room2
        self.wait()
        self.sent.clear()
        self.board.delete()
        assert "is taken away" in self.heard(self.char1)

    def test_deletion_of_a_board_removes_all_rows(self) -> None:
        self.begin()
        before = Attribute.objects.filter(db_attrtype=TYPE).count()
        assert before > 2
        self.char1.location = self.room2  # not yet stored
        self.board.delete()
        self.wait()
        assert Attribute.objects.filter(db_attrtype=TYPE).count() == 0

    def test_vetoed_deletion_keeps_the_battle(self) -> None:
        self.begin()
        with patch.object(ThudBoard, "at_object_delete", return_value=False):
            assert not self.board.delete()
        self.restart()
        assert "You move" in self.type(self.char1, "move from A6 to B6")

    def test_replay_ends_when_its_board_is_deleted(self) -> None:
        self.begin()
        self.type(self.char1, "resign game")
        self.type(self.char1, "yes")
        self.type(self.char1, "replay 1")
        self.type(self.char1, "play")
        self.board.delete()
        self.wait()

    def test_deletion_of_a_board_leaves_others_alone(self) -> None:
        self.furniture("pine board")
        self.begin()
        self.board.delete()
        assert "You sit down at the pine board" in self.type(self.char1, "join game as dwarf")


class Failure(Furnished):
    def test_failing_board_affects_neither_movement_nor_other_boards(self) -> None:
        self.begin()
        self.furniture("pine board")
        self.type(self.char1, "join game as dwarf on pine")
        self.board.key = "ash board"
        self.sent.clear()
        with (
            patch.object(EventRows, "read", side_effect=OSError("the disk is gone")),
            patch("thudmud.evennia.board.logger.log_trace") as logged,
        ):
            self.char1.location = self.room2
        self.wait()
        assert self.char1.location == self.room2
        assert f"#{self.board.id}" in logged.call_args.args[0]
        assert "Char leaves the dwarf seat at the pine board" in self.heard(self.char2)
