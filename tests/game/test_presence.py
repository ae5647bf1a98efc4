"""Arrivals, departures and returns of players, and the events they missed."""

from __future__ import annotations

import pytest

from tests.game.conftest import LATER, NOW, ply
from tests.game.halls import StoredHall, commit, do, enter, hall_of, lose, refusal, reopened
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import Claim, End, Resign, Start
from thudmud.features.playing.queries import SetBoard
from thudmud.features.playing.seats import Join
from thudmud.features.playing.setup import SetClock, SetRules
from thudmud.features.rooms.commands import Go
from thudmud.features.talk.commands import Say
from thudmud.game.asides import CameIn, CaughtUp, Entered, Gone, WentOut
from thudmud.game.clocks import TimeControl
from thudmud.game.command import Command
from thudmud.game.decisions import decide_arrival, decide_departure
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    Absent,
    BattleEnded,
    BattleStarted,
    Joined,
    Left,
    Moved,
    Offered,
    Parting,
    Returned,
    RulesSet,
)
from thudmud.game.hall import MOST_MISSED, Decision
from thudmud.game.more import Quit
from thudmud.game.options import UNKNOWN, Style
from thudmud.game.refusals import Refusal
from thudmud.rules import Side
from thudmud.values import replace


@pytest.fixture
def hall() -> StoredHall:
    """Anna and Bert play at the oak board; Carla is in the hall."""
    hall = hall_of("Anna", "Bert", "Carla")
    begin(hall, "oak board")
    return hall


def begin(hall: StoredHall, board: str, dwarf: str = "Anna", troll: str = "Bert") -> None:
    do(hall, dwarf, Join(Side.DWARF, board))
    do(hall, troll, Join(Side.TROLL, board))
    do(hall, dwarf, Start(board))


def kinds(told: list[Delivery]) -> list[type]:
    return [type(each.event) for each in told]


def caught_up(told: list[Delivery]) -> dict[str, list[type]]:
    """Return the types of the missed events reported to a player, by board."""
    return {
        each.event.board: [type(event) for event, _ in each.event.missed]
        for each in told
        if isinstance(each.event, CaughtUp)
    }


class TestGoing:
    def test_lost_player_keeps_the_seat(self, hall: StoredHall) -> None:
        do(hall, "Carla", Go("oak board"))
        absent, gone = lose(hall, "Bert")
        assert absent.event == Absent(NOW, "Bert", Side.TROLL, Parting.LOST)
        assert set(absent.recipients) == {"Anna", "Bert", "Carla"}
        assert gone.event == Gone("Bert", "oak board", Parting.LOST, is_announced=True)
        assert gone.recipients == ("Bert",)
        assert "Bert" not in hall.people
        assert hall.tables["oak board"].seats[Side.TROLL] == "Bert"

    def test_quitting_keeps_only_the_seat_of_a_match(self, hall: StoredHall) -> None:
        do(hall, "Bert", Join(Side.TROLL, "elm table"))
        told = do(hall, "Bert", Quit())
        assert kinds(told) == [Absent, Left, Gone]
        assert hall.tables["elm table"].seats == {}
        assert hall.tables["oak board"].seats[Side.TROLL] == "Bert"

    def test_idling_out_keeps_every_seat(self, hall: StoredHall) -> None:
        do(hall, "Bert", Join(Side.TROLL, "elm table"))
        told = lose(hall, "Bert", parting=Parting.IDLE)
        assert kinds(told) == [Absent, Absent, Gone]
        assert hall.tables["elm table"].seats == {Side.TROLL: "Bert"}

    def test_departure_reaches_the_room_in_addition_to_the_table(self, hall: StoredHall) -> None:
        do(hall, "Bert", Go())
        absent, gone = lose(hall, "Bert")
        assert set(absent.recipients) == {"Anna", "Bert"}
        assert gone.event == Gone("Bert", None, Parting.LOST)
        assert set(gone.recipients) == {"Bert", "Carla"}

    def test_part_and_arrive_leave_the_hall_unchanged(self, hall: StoredHall) -> None:
        before = dict(hall.tables), dict(hall.people)
        decide_departure(hall, "Bert", Parting.LOST, NOW)
        decide_arrival(hall, "Dora", NOW, UNKNOWN, member=True)
        assert (dict(hall.tables), dict(hall.people)) == before


class TestComing:
    def test_newcomer_arrives_in_the_hall(self) -> None:
        hall = hall_of("Anna")
        (entered,) = enter(hall, "Bert", styles={"oak board": Style.BRIEF}, member=True)
        styles = (("oak board", Style.BRIEF),)
        assert entered.event == Entered("Bert", is_member=True, styles=styles, active=NOW)
        assert entered.recipients == ("Anna", "Bert")
        assert [name for name in hall.people if name in hall.people.members] == ["Bert"]
        assert hall.style("Bert", "oak board") is Style.BRIEF

    def test_returning_player_arrives_at_the_kept_seat(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        entered, back, news = enter(hall, "Bert", 20.0)
        assert entered.event == Entered("Bert", "oak board", active=20.0)
        assert entered.recipients == ("Bert",)
        assert back.event == Returned(20.0, "Bert", Side.TROLL)
        assert set(back.recipients) == {"Anna", "Bert"}
        assert news.event == CaughtUp("Bert", "oak board")
        assert news.recipients == ("Bert",)
        assert hall.people["Bert"].room == "oak board"
        assert hall.tables["oak board"].away == {}

    def test_returning_player_arrives_where_it_is_their_turn(self, hall: StoredHall) -> None:
        begin(hall, "elm table", "Bert", "Anna")
        do(hall, "Bert", Join(Side.DWARF, "pine board"))
        lose(hall, "Bert")
        told = enter(hall, "Bert")
        assert hall.people["Bert"].room == "elm table"
        assert kinds(told).count(Returned) == 3
        assert list(caught_up(told)) == ["elm table", "oak board", "pine board"]

    def test_returning_player_arrives_where_they_played(self, hall: StoredHall) -> None:
        begin(hall, "elm table", "Bert", "Anna")
        do(hall, "Bert", Go("oak board"))
        lose(hall, "Bert")
        enter(hall, "Bert", NOW + 6)
        assert hall.people["Bert"].room == "oak board"

    def test_player_away_for_long_arrives_where_it_is_their_turn(self, hall: StoredHall) -> None:
        begin(hall, "elm table", "Bert", "Anna")
        do(hall, "Bert", Go("oak board"))
        lose(hall, "Bert")
        enter(hall, "Bert", NOW + 7200)
        assert hall.people["Bert"].room == "elm table"

    def test_returning_player_arrives_where_the_clock_runs(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.TROLL, "pine board"))
        do(hall, "Bert", Join(Side.DWARF, "pine board"))
        do(hall, "Bert", SetClock(TimeControl(5), "pine board"))
        do(hall, "Bert", Start("pine board"))
        do(hall, "Anna", Start("pine board"))
        do(hall, "Bert", replace(ply("A6", "B6"), on="pine board"))
        do(hall, "Anna", replace(ply("H7", "H6"), on="pine board"))
        do(hall, "Bert", Go())
        lose(hall, "Bert")
        enter(hall, "Bert", NOW + 6)
        assert hall.people["Bert"].room == "pine board"

    def test_returning_player_without_a_seat_arrives_in_the_hall(self, hall: StoredHall) -> None:
        do(hall, "Anna", Resign())
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        do(hall, "Anna", Resign())
        lose(hall, "Bert")
        do(hall, "Carla", Join(Side.DWARF, "oak board"), LATER)
        (entered,) = enter(hall, "Bert", LATER)
        assert entered.event == Entered("Bert", active=LATER)

    def test_seated_player_never_marked_away_arrives_at_the_seat(self) -> None:
        """As after a crash, when seats are restored before absences are marked."""
        again = hall_of()
        began = BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert")
        again.restore("oak board", 0, [(began, 1)])
        assert kinds(enter(again, "Anna")) == [Entered, CaughtUp]
        assert again.people["Anna"].room == "oak board"


class TestWhatWasMissed:
    def test_missed_events_are_caught_up_in_order(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", End())
        assert caught_up(enter(hall, "Bert")) == {"oak board": [Moved, Offered]}

    def test_missed_events_come_with_the_table_of_their_time(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Anna", ply("A6", "B6"))
        moved = hall.tables["oak board"]
        do(hall, "Anna", End())
        offered = hall.tables["oak board"]
        news = enter(hall, "Bert")[-1].event
        assert isinstance(news, CaughtUp)
        assert [table for _, table in news.missed] == [moved, offered]

    def test_missed_events_are_delivered_once(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Anna", ply("A6", "B6"))
        enter(hall, "Bert")
        lose(hall, "Bert")
        assert caught_up(enter(hall, "Bert")) == {"oak board": []}

    def test_missed_events_include_a_claim(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Anna", Claim(), LATER)
        assert caught_up(enter(hall, "Bert", LATER)) == {"oak board": [BattleEnded]}

    def test_missed_events_of_two_absent_players_are_separate(self, hall: StoredHall) -> None:
        do(hall, "Carla", Go("oak board"))
        lose(hall, "Bert")
        lose(hall, "Anna")
        assert caught_up(enter(hall, "Anna")) == {"oak board": []}
        assert caught_up(enter(hall, "Bert")) == {"oak board": [Returned]}

    def test_missed_events_include_joins_and_rules(self) -> None:
        hall = hall_of("Anna", "Bert")
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        lose(hall, "Anna")
        do(hall, "Bert", Join(Side.TROLL, "oak board"))
        do(hall, "Bert", SetRules("classic"))
        assert caught_up(enter(hall, "Anna")) == {"oak board": [Joined, RulesSet]}

    def test_missed_events_exclude_talk(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Anna", Say("hello"))
        assert caught_up(enter(hall, "Bert")) == {"oak board": []}

    def test_missed_events_are_limited_to_the_latest(self, hall: StoredHall) -> None:
        lose(hall, "Bert")
        do(hall, "Carla", Go("oak board"))
        for number in range(MOST_MISSED):
            lose(hall, "Anna", NOW + number)
            enter(hall, "Anna", NOW + number)
        do(hall, "Anna", ply("A6", "B6"))
        missed = caught_up(enter(hall, "Bert"))["oak board"]
        assert len(missed) == MOST_MISSED
        assert missed[-1] is Moved

    def test_missed_events_survive_a_restart(self, hall: StoredHall) -> None:
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        lose(hall, "Bert")
        do(hall, "Anna", ply("A6", "B6"))
        again = reopened(hall)
        assert again.tables["oak board"] == hall.tables["oak board"]
        assert caught_up(enter(again, "Bert")) == {"oak board": [Moved]}


class TestStylesKept:
    def test_style_of_a_seated_player_is_kept_over_an_absence(self, hall: StoredHall) -> None:
        do(hall, "Bert", SetBoard(Style.BRIEF))
        do(hall, "Bert", SetBoard(Style.FULL, "pine board"))
        lose(hall, "Bert")
        enter(hall, "Bert")
        assert hall.style("Bert", "oak board") is Style.BRIEF
        assert hall.style("Bert", "pine board") is Style.FULL

    def test_style_of_an_account_takes_precedence(self, hall: StoredHall) -> None:
        do(hall, "Bert", SetBoard(Style.BRIEF))
        lose(hall, "Bert")
        enter(hall, "Bert", styles={"oak board": Style.FULL}, member=True)
        assert hall.style("Bert", "oak board") is Style.FULL

    def test_style_is_not_kept_for_a_namesake(self, hall: StoredHall) -> None:
        do(hall, "Carla", SetBoard(Style.BRIEF, "oak board"))
        lose(hall, "Carla")
        enter(hall, "Carla")
        assert hall.style("Carla", "oak board") is Style.FULL


@pytest.mark.parametrize("command", [Start(), No()], ids=str)
def test_refused_command_does_not_end_an_opponents_absence(
    hall: StoredHall, command: Command
) -> None:
    lose(hall, "Bert")
    assert refusal(hall, "Anna", command) in {Refusal.AWAY, Refusal.NOTHING_OFFERED}
    assert hall.tables["oak board"].away == {Side.TROLL: NOW}


def test_departure_from_a_closed_board_is_announced_to_nobody(
    hall: StoredHall,
) -> None:
    walk = WentOut("Bert", "4th board", None), CameIn("Bert", None)
    went, came = commit(hall, [Decision("Bert", asides=walk)])
    assert not went.recipients
    assert "Bert" in came.recipients
