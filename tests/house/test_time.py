"""A house over time: departures, returns, clocks, and the events of an earlier house."""

from __future__ import annotations

import pytest

from tests.house.plays import everything, kept, told
from tests.house.test_house import BOARDS
from thudmud.game.archive import BattleLookup
from thudmud.game.events import Absent, BattleStarted, Event, Joined, Moved, Parting, Returned
from thudmud.game.options import Profile, Style
from thudmud.house import House
from thudmud.rules import Ending, Side
from thudmud.store.codec import from_line
from thudmud.views.view import Terminal

PLAYED = ["anna join game as dwarf", "bert join game as troll", "anna start", "anna move a6 b6"]
BACK_AND_FORTH = ["anna move a6 b6", "bert move g7 g6", "anna move b6 a6", "bert move g6 g7"]
LATER = 300.0


def house_of(*lines: str, seat_grace: float = LATER) -> House:
    """Return a house with Anna, Bert and Carla, after some lines for the oak board."""
    house = House(BOARDS, seat_grace=seat_grace)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0)
    for line in lines:
        say(house, line)
    return house


def say(house: House, line: str, now: float = 0.0) -> dict[str, str]:
    name, _, command = line.partition(" ")
    if command != "yes":
        command += " on oak board"
    return told(house.obey(name.capitalize(), command, now))


def happened(house: House, after: int = 0) -> list[Event]:
    """Return the events after an offset."""
    return [from_line(line)[1] for line in house.events(after)]


class TestWhatIsStored:
    def test_line_with_several_effects_reports_each_and_stores_one_event(self) -> None:
        house = house_of()
        assert house.hall.tables["oak board"].version == 0
        assert house.hall.people["Anna"].room is None
        seen = told(house.obey("Anna", "join game as dwarf on oak board", 0.0))
        assert "You sit down at the oak board" in seen["Anna"]
        assert "Anna goes to the oak board." in seen["Carla"]
        assert house.hall.tables["oak board"].version == 1
        assert happened(house) == [Joined(0.0, "Anna", Side.DWARF)]

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("hurk a6 b6", 'There is no command "hurk"'),
            ("start game on oak board", "You aren't playing at the oak board."),
            ("replay 7", "There is no battle 7."),
        ],
    )
    def test_refused_line_is_reported_to_its_sender_and_changes_nothing(
        self, line: str, says: str
    ) -> None:
        house = house_of()
        before = everything(house)
        seen = told(house.obey("Anna", line, 0.0))
        assert list(seen) == ["Anna"]
        assert says in seen["Anna"]
        assert everything(house) == before

    def test_departure_and_return_of_a_player_are_stored(self) -> None:
        house = house_of(*PLAYED)
        count = len(house.events())
        house.depart("Bert", 5.0)
        assert "Bert" not in house
        house.enter("Bert", 6.0)
        assert "Bert" in house
        assert happened(house, count) == [
            Absent(5.0, "Bert", Side.TROLL, Parting.LOST),
            Returned(6.0, "Bert", Side.TROLL),
        ]


class TestBack:
    def test_returning_player_is_shown_missed_moves_and_the_board(self) -> None:
        house = house_of(*PLAYED)
        house.depart("Anna", 0.0)
        say(house, "bert move g7 g6")
        seen = told(house.enter("Anna", 1.0))
        assert seen["Anna"].startswith(
            "You're back at the oak board, playing the dwarfs.\n"
            "What happened at the oak board while you were away:\n"
            "Bert moves the troll from G7 to G6.\n"
            "    A B C"
        )
        assert seen["Anna"].endswith("It is your turn.\nAlso here: Bert.")
        assert seen["Bert"] == "Anna is back at the oak board."

    def test_returning_player_sees_board_names_on_missed_events_elsewhere(self) -> None:
        house = house_of(*PLAYED)
        for name, side in (("Anna", "troll"), ("Bert", "dwarf")):
            house.obey(name, f"join game as {side} on elm table", 0.0)
        house.obey("Bert", "start on elm table", 0.0)
        house.depart("Bert", 0.0)
        house.obey("Anna", "end game on elm table", 0.0)
        house.obey("Anna", "end game on oak board", 0.0)
        seen = told(house.enter("Bert", 1.0))["Bert"]
        assert "\n[oak board] It is your turn. Anna offers to end the battle." in seen
        assert seen.count("Anna offers to end the battle.") == 2

    def test_returning_player_sees_the_board_once(self) -> None:
        house = house_of(*PLAYED)
        house.depart("Anna", 0.0)
        say(house, "bert move g7 g6")
        assert told(house.enter("Anna", 0.0))["Anna"].count("\n 1 ") == 1

    def test_returning_player_sees_the_board_in_the_chosen_style(self) -> None:
        house = house_of(*PLAYED, "anna set board brief")
        house.depart("Anna", 0.0)
        assert "A B C D E" not in told(house.enter("Anna", 0.0))["Anna"]

    def test_returning_player_is_reminded_of_an_adjourned_match(self) -> None:
        house = house_of(*PLAYED)
        house.depart("Anna", 0.0)
        say(house, "bert adjourn game", LATER)
        seen = told(house.enter("Anna", 0.0))["Anna"]
        assert 'You have an adjourned match: "games" shows how to resume it.' in seen
        assert "put away" not in told(house.enter("Dora", 0.0))["Dora"]


class TestTakingOver:
    def test_takeover_at_a_board_shows_the_board_and_turn(self) -> None:
        house = house_of(*PLAYED)
        (message,) = house.take_over("Bert", Terminal(40), 1.0)
        assert message.to == ("Bert",)
        assert message.text.startswith("You carry on from here.\n    A B C")
        assert message.text.endswith("It is your turn.\nAlso here: Anna.")
        assert max(map(len, message.text.split("\n"))) < 40

    def test_takeover_in_the_hall_lists_the_people_there(self) -> None:
        house = house_of()
        (message,) = house.take_over("Anna", Terminal(), 1.0)
        assert message.text.startswith("You carry on from here.\nAlso here: Bert and Carla.")

    def test_takeover_is_announced_to_the_player_alone(self) -> None:
        messages = house_of().take_over("Anna", Terminal(), 1.0)
        assert [message.to for message in messages] == [("Anna",)]


class TestPartings:
    @pytest.mark.parametrize(
        ("parting", "says"),
        [
            (Parting.LOST, "Bert has lost the connection. The troll seat at the oak board is kept"),
            (
                Parting.IDLE,
                "Bert was idle for too long, and is disconnected. The troll seat at the",
            ),
            (Parting.QUIT, "Bert quits; the troll seat at the oak board is kept."),
            (Parting.RESTART, "The server was down for a while. The troll seat at the oak board"),
        ],
    )
    def test_departure_of_a_seated_player_explains_the_kept_seat(
        self, parting: Parting, says: str
    ) -> None:
        house = house_of(*PLAYED)
        seen = told(house.depart("Bert", 0.0, parting))
        assert says in seen["Anna"].replace("\n", " ")
        can = "In 5 minutes you can claim the battle or adjourn the match by typing"
        assert f'{can} "claim game on oak board"' in seen["Anna"].replace("\n", " ")
        assert "Carla" not in seen

    def test_departure_between_battles_lets_the_opponent_claim_the_second(self) -> None:
        house = house_of(*PLAYED, "bert resign", "bert yes", seat_grace=0.0)
        seen = told(house.depart("Bert", 0.0))["Anna"].replace("\n", " ")
        can = "You can claim the battle or adjourn the match by typing"
        may = f'{can} "claim game on oak board" or "adjourn game on oak board".'
        assert seen.endswith(f"is kept for Bert. {may}")
        assert (
            told(house.obey("Anna", "look", 0.0))["Anna"]
            .replace("\n", " ")
            .endswith(
                "You play the dwarfs and Bert plays the trolls (away). When Bert is back, "
                '"start game on oak board" offers the second battle, with the seats swapped.'
            )
        )
        assert "The match is over" in say(house, "anna claim")["Anna"].replace("\n", " ")

    def test_departure_after_the_match_offers_no_claim(self) -> None:
        house = house_of(
            *PLAYED,
            "bert resign",
            "bert yes",
            "anna start",
            "bert start",
            "bert resign",
            "bert yes",
        )
        seen = told(house.depart("Bert", 0.0))["Anna"].replace("\n", " ")
        assert seen.endswith("is kept for Bert.")

    @pytest.mark.parametrize(
        ("parting", "says"),
        [
            (Parting.LOST, "Carla has lost the connection."),
            (Parting.IDLE, "Carla was idle for too long, and is disconnected."),
            (Parting.QUIT, "Carla quits."),
        ],
    )
    def test_departure_from_the_hall_is_announced_with_its_reason(
        self, parting: Parting, says: str
    ) -> None:
        house = house_of()
        seen = told(house.depart("Carla", 0.0, parting))
        assert seen["Anna"] == says


class TestSittingDown:
    def test_sitting_down_opposite_an_absent_player_explains_the_start(self) -> None:
        house = house_of("anna join game as dwarf")
        house.depart("Anna", 0.0, Parting.LOST)
        [*_, said] = house.obey("Bert", "join oak", 0.0)
        assert " ".join(said.text.split()).startswith(
            "You sit down at the oak board to play the trolls. Both seats are taken. When Anna is"
            ' back, "start game on oak board" begins the battle.'
        )


class TestWaiting:
    def test_player_is_waiting_during_the_opponents_turn(self) -> None:
        house = house_of(*PLAYED)
        assert house.is_waiting("Anna")
        assert not house.is_waiting("Bert")
        assert not house.is_waiting("Carla")
        say(house, "bert move g7 g6")
        assert not house.is_waiting("Anna")

    def test_player_without_a_battle_is_not_waiting(self) -> None:
        house = house_of(*PLAYED[:2])
        assert not house.is_waiting("Anna")
        house = house_of(*PLAYED, "bert resign", "bert yes")
        assert not house.is_waiting("Anna")

    def test_player_with_a_turn_at_any_board_is_not_waiting(self) -> None:
        house = house_of(*PLAYED)
        house.obey("Anna", "join game as dwarf on elm table", 0.0)
        assert house.is_waiting("Anna")
        house.obey("Bert", "join game as troll on elm table", 0.0)
        house.obey("Bert", "start on elm table", 0.0)
        assert not house.is_waiting("Anna")


class TestSpelling:
    @pytest.mark.parametrize("lines", [PLAYED, (*PLAYED, "anna adjourn", "bert adjourn")])
    def test_name_with_a_seat_or_match_keeps_its_spelling(self, lines: tuple[str, ...]) -> None:
        house = house_of(*lines)
        house.depart("Anna", 0.0)
        before = everything(house), house.people
        with pytest.raises(ValueError, match="Anna has a seat or a match here"):
            house.enter("anna", 1.0)
        assert (everything(house), house.people) == before
        assert house.enter("Anna", 1.0)

    def test_name_without_a_seat_or_match_can_be_respelled(self) -> None:
        house = house_of(*PLAYED, "anna leave", "bert leave")
        house.depart("Anna", 0.0)
        assert house.enter("anna", 1.0)

    def test_namesakes_that_differ_in_case_both_reach_their_seats(self) -> None:
        house = house_of(*PLAYED)
        house.depart("Anna", 0.0)
        house.depart("Bert", 0.0)
        lines = [line.replace('"Bert"', '"anna"') for line in house.events()]
        again = House(BOARDS, events=lines)
        assert again.enter("anna", 1.0)
        again.depart("anna", 2.0)
        assert again.enter("Anna", 3.0)


class TestNeeds:
    def test_seated_player_is_needed(self) -> None:
        house = house_of(*PLAYED)
        house.depart("Anna", 0.0)
        assert house.is_name_needed("Anna")
        assert house.is_name_needed("aNNA")
        assert not house.is_name_needed("Ann")
        assert not house.is_name_needed("Carla")

    def test_player_of_an_adjourned_match_is_needed(self) -> None:
        house = house_of(*PLAYED, "anna adjourn", "bert adjourn")
        assert house.hall.tables["oak board"].seats == {}
        for name in ("Anna", "Bert"):
            house.depart(name, 0.0)
            assert house.is_name_needed(name.lower())

    def test_player_who_left_the_board_is_not_needed(self) -> None:
        house = house_of(*PLAYED, "anna leave", "bert leave")
        assert not house.is_name_needed("Anna")


class TestWhatWasBefore:
    def test_settle_after_a_restart_marks_missing_players_as_away(self) -> None:
        again = kept(house_of(*PLAYED))
        again.enter("Bert", 9.0)
        count = len(again.events())
        seen = told(again.mark_absent_players(9.0))["Bert"].replace("\n", " ")
        assert happened(again, count) == [Absent(9.0, "Anna", Side.DWARF, Parting.RESTART)]
        assert seen.startswith(
            "The server was down for a while. The dwarf seat at the oak board is"
        )
        assert again.mark_absent_players(10.0) == []

    def test_battle_from_before_a_restart_can_be_replayed(self) -> None:
        again = kept(house_of(*PLAYED, "bert resign", "bert yes"))
        found = again.look_up(BattleLookup(1))
        assert found
        battle = found.battle
        assert (battle.number, battle.source.board, battle.source.version) == (1, "oak board", 3)
        assert battle.outcome
        assert battle.outcome.ending is Ending.RESIGNATION
        again.enter("Dora", 0.0)
        assert "1 move to come:" in told(again.obey("Dora", "replay 1", 0.0))["Dora"]

    def test_replay_of_a_running_battle_points_to_later_plies(self) -> None:
        house = house_of(*PLAYED)
        seen = told(house.obey("Carla", "replay 1", 1.0))
        assert list(seen) == ["Carla"]
        assert "1 move to come:" in seen["Carla"]
        say(house, "bert move g7 g6")
        assert "Anna moves the dwarf from A6" in told(house.obey("Carla", "next", 2.0))["Carla"]
        end = told(house.obey("Carla", "next", 2.0))["Carla"].replace("\n", " ")
        assert end == 'There have been more moves since: "replay 1" shows them.'


def showing(*lines: str) -> House:
    """Return a house in which Carla replays a battle one ply at a time."""
    house = House(BOARDS, replays_at_once=False)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0)
    for line in lines:
        say(house, line)
    house.obey("Carla", "replay 1", 0.0)
    return house


class TestPlaying:
    def test_play_shows_ply_after_ply(self) -> None:
        house = showing(*PLAYED, "bert move g7 g6")
        assert "move 1 of 2" in told(house.obey("Carla", "play", 0.0))["Carla"]
        assert house.is_replaying("Carla")
        assert not house.is_replaying("Anna")
        assert "move 2 of 2" in told(house.next_replay_messages("Carla"))["Carla"]
        assert not house.is_replaying("Carla")

    def test_play_can_be_stopped_and_continued_by_hand(self) -> None:
        house = showing(*PLAYED, "bert move g7 g6")
        house.obey("Carla", "play", 0.0)
        house.stop_replay("Carla")
        assert not house.is_replaying("Carla")
        assert house.next_replay_messages("Carla") == []
        assert "move 2 of 2" in told(house.obey("Carla", "next", 0.0))["Carla"]

    def test_play_shows_twenty_plies_a_line_when_replaying_at_once(self) -> None:
        house = house_of(*PLAYED[:-1], *(line for _ in range(12) for line in BACK_AND_FORTH))
        game, plies = house.game("oak board"), 48
        assert game
        assert len(game.moves) == plies
        house.obey("Carla", "replay 1", 0.0)
        shown: list[str] = []
        for first, last in ((1, 20), (21, 40), (41, 48)):
            lines = [each.text for each in house.obey("Carla", "play", 0.0)]
            assert (lines[-1] == '"play" goes on.') is (last < plies)
            assert not house.is_replaying("Carla")
            seen = [
                int(each.split("move ")[1].split(" of ")[0]) for each in lines if ", move " in each
            ]
            assert seen == list(range(first, last + 1))
            shown += lines
        assert house.next_replay_messages("Carla") == house.next_replay_messages("Dora") == []

    def test_replay_of_an_absent_player_is_inactive(self) -> None:
        house = house_of()
        house.stop_replay("Dora")
        assert not house.is_replaying("Dora")


def test_members_play_rated_battles_in_their_own_style() -> None:
    house = House(BOARDS)
    house.enter("Anna", 0.0, member=True, profile=Profile(styles={"oak board": Style.BRIEF}))
    house.enter("Bert", 0.0, member=True)
    for line in PLAYED[:3]:
        say(house, line)
    started = happened(house)[-1]
    assert isinstance(started, BattleStarted)
    assert started.rated
    assert house.hall.style("Anna", "oak board") is Style.BRIEF


class TestClocks:
    BEGUN = (
        "anna join game as dwarf",
        "anna set clock 1+0",
        "bert join game as troll",
        "anna start",
    )

    def remade(self, *, left: float | None = None) -> House:
        """Return a house replayed from one in which a battle at 1+0 began at time 0."""
        return House(BOARDS, events=house_of(*self.BEGUN).events(), left=left)

    def test_clocks_stand_still_between_two_houses(self) -> None:
        again = self.remade()
        again.enter("Anna", 3600.0)
        again.enter("Bert", 3600.0)
        again.mark_absent_players(3600.0)
        say(again, "anna move a6 b6", 3659.0)
        assert isinstance(happened(again)[-1], Moved)

    def test_clocks_are_held_once_after_a_restart(self) -> None:
        again = self.remade()
        again.enter("Anna", 3600.0)
        again.enter("Bert", 3600.0)
        again.mark_absent_players(3600.0)
        again.mark_absent_players(3650.0)
        say(again, "anna move a6 b6", 3661.0)
        game = again.game("oak board")
        assert game
        assert game.outcome
        assert game.outcome.ending is Ending.TIME

    def test_clocks_run_on_after_a_restart_without_a_gap(self) -> None:
        again = self.remade(left=50.0)
        again.enter("Anna", 50.0)
        again.enter("Bert", 50.0)
        say(again, "anna move a6 b6", 61.0)
        game = again.game("oak board")
        assert game
        assert game.outcome
        assert game.outcome.ending is Ending.TIME


def test_idle_limit_of_a_house_applies_to_its_tables() -> None:
    house = House(BOARDS, idle_limit=10.0)
    assert house.hall.tables["oak board"].idle_limit == 10.0


def test_pass_time_ends_a_battle_when_the_flag_falls() -> None:
    house = house_of(*TestClocks.BEGUN)
    assert house.due == 60.0
    assert house.pass_time(59.0) == []
    seen = told(house.pass_time(60.0))
    assert "your time is up" in seen["Anna"].lower()
    assert "You win the battle" in seen["Bert"]
    assert house.due is None
    assert house.pass_time(1000.0) == []


def test_challenge_to_a_busy_player_lapses_after_twenty_seconds() -> None:
    house = House(BOARDS, opens_boards=True)
    for name in ("Anna", "Bert", "Carla"):
        house.enter(name, 0.0)
    for name, line in (("Anna", "match bert"), ("Bert", "yes"), ("Anna", "seek")):
        house.obey(name, line, 0.0)
    house.obey("Carla", "accept 1", 10.0)
    assert house.due == 30.0
    assert house.pass_time(29.0) == []
    ended = told(house.pass_time(30.0))
    assert ended["Carla"] == "Anna hasn't answered."
    assert ended["Anna"].startswith("You didn't answer Carla, so you play on.")
    assert house.hall.seeks == {}
    assert house.due is None or house.due > 30.0
