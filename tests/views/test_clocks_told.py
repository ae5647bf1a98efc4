"""Clocks in texts: on boards, in messages and records, and with the bell."""

from __future__ import annotations

import pytest

from thudmud.features.playing.moves import Resign
from thudmud.game.asides import TimeShort
from thudmud.game.clocks import Clock, TimeControl
from thudmud.game.delivery import Delivery
from thudmud.game.events import ClockHeld, IdleWarned, Left, Parting
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import Side
from thudmud.store.codec import to_line
from thudmud.views import Message
from thudmud.views.messages import messages
from thudmud.views.sentences import (
    event_sentences,
    time_control_in_words,
    time_control_phrase,
    time_left,
)
from thudmud.views.view import Screens, Terminal

BOARDS = [BoardSpec("oak board"), BoardSpec("elm table")]
NAMES = ("Anna", "Bert", "Carla")
DAYS = 86_400.0


def seen(told: list[Message], name: str) -> str:
    """Return the text for a player, on one line."""
    return " ".join("\n".join(each.text for each in told if name in each.to).split())


def rung(told: list[Message]) -> set[str]:
    """Return the names of the players whose with_bell rings."""
    return {name for each in told if each.with_bell for name in each.to}


@pytest.fixture
def house() -> House:
    """Return a house in which Anna and Bert sit at the oak board and Carla watches."""
    house = House(BOARDS, opens_boards=True)
    for name in NAMES:
        house.enter(name, now=0.0)
    for line in [
        "Anna join game as dwarf on oak board",
        "Bert join game as troll on oak board",
        "Carla go to oak board",
    ]:
        say(house, line)
    return house


def say(house: House, line: str, now: float = 0.0) -> list[Message]:
    """Submit a line of the form "NAME COMMAND"."""
    name, _, typed = line.partition(" ")
    return house.obey(name, typed, now)


def begin(house: House, clock: str) -> House:
    say(house, f"Anna set clock {clock}")
    say(house, "Anna start")
    return house


def test_quit_message_explains_how_the_clock_continues(house: House) -> None:
    begin(house, "10+5")
    told = seen(say(house, "Anna quit", 4.0), "Anna")
    assert "Your clock is stopped for at most 60 seconds: you have 9:56." in told
    told = seen(say(house, "Bert quit", 5.0), "Bert")
    assert "Your clock starts after your opponent's next move: you have 10:00." in told


class TestFigures:
    @pytest.mark.parametrize(
        ("used", "figures"),
        [(0.0, "3:00:00"), (0.4, "2:59:59"), (3600.0, "2:00:00"), (10_200.0, "10:00"),
         (10_795.5, "0:04"), (20_000.0, "0:00")],
    )  # fmt: skip
    def test_minutes_left_are_shown_as_digits(self, used: float, figures: str) -> None:
        clock = Clock(TimeControl(180), 0.0, Side.DWARF, used=used)
        assert time_left(clock, Side.DWARF) == figures

    @pytest.mark.parametrize(
        ("used", "figures"),
        [(0.0, "3 days"), (1.0, "2 days 23 hours"), (2 * DAYS, "1 day"),
         (3 * DAYS - 3661, "1 hour 1 minute"), (3 * DAYS - 59, "59 seconds"),
         (4 * DAYS, "0 seconds")],
    )  # fmt: skip
    def test_days_left_are_shown_in_words(self, used: float, figures: str) -> None:
        clock = Clock(TimeControl(days=3), 0.0, Side.DWARF, used=used)
        assert time_left(clock, Side.DWARF) == figures

    @pytest.mark.parametrize(
        ("control", "short", "full"),
        [
            (TimeControl(10, 5), ", with a clock of 10+5",
             "10 minutes each, plus 5 seconds a move"),
            (TimeControl(1, 1), ", with a clock of 1+1",
             "1 minute each, plus 1 second a move"),
            (TimeControl(5), ", with a clock of 5+0", "5 minutes each for the whole battle"),
            (TimeControl(days=1), ", 1 day a move", "1 day a move"),
        ],
    )  # fmt: skip
    def test_time_control_has_a_short_and_a_full_form(
        self, control: TimeControl, short: str, full: str
    ) -> None:
        assert (time_control_phrase(control), time_control_in_words(control)) == (short, full)


class TestBoards:
    def test_drawn_board_shows_both_clocks(self, house: House) -> None:
        begin(house, "10+5")
        told = say(house, "Anna move a6 b6", 30.0)
        assert all("Clock: Anna 9:35, Bert 10:00" in seen(told, name) for name in NAMES)
        assert "Clock: Anna 9:35, Bert 9:30" in seen(say(house, "Carla look", 60.0), "Carla")

    @pytest.mark.parametrize("width", [20, 40, 60, 80])
    def test_clock_panel_fits_the_screen_width(self, house: House, width: int) -> None:
        say(house, f"Carla options width {width}")
        begin(house, "180+0")
        told = "\n".join(each.text for each in say(house, "Carla look", 1.5))
        assert "2:59:58" in told
        assert max(map(len, told.split("\n"))) < width

    def test_brief_style_appends_both_clocks(self, house: House) -> None:
        say(house, "Bert set board brief")
        begin(house, "2+0")
        told = seen(say(house, "Anna move a6 b6", 10.0), "Bert")
        assert told.endswith("score 32 to 32; clock: Anna 1:50, Bert 2:00.")

    def test_correspondence_board_shows_time_for_the_next_ply(self, house: House) -> None:
        begin(house, "3 days")
        say(house, "Anna move a6 b6", DAYS)
        assert "Clock: Bert 2 days 1 hour" in seen(say(house, "Anna look", 2 * DAYS - 3600), "Anna")

    def test_screen_reader_text_includes_the_clock_of_the_side_to_move(self, house: House) -> None:
        say(house, "Bert options reader on")
        begin(house, "5+0")
        told = seen(say(house, "Anna move a6 b6", 50.0), "Bert")
        assert told.endswith("Your turn. You have 5 minutes left.")
        told = seen(say(house, "Bert look", 100.0), "Bert")
        assert "Oak board, discworld rules, with a clock of 5+0." in told
        assert "Anna has 4 minutes 10 seconds left. Move 1:" in told
        assert "Your turn. You have 4 minutes 10 seconds left." in told

    def test_unclocked_board_shows_no_clock(self, house: House) -> None:
        say(house, "Anna start")
        assert "lock" not in seen(say(house, "Anna look", 50.0), "Anna")


class TestAsking:
    def test_clock_command_shows_time_left_and_whose_clock_runs(self, house: House) -> None:
        begin(house, "10+5")
        assert seen(say(house, "Anna clock", 61.0), "Anna") == (
            "Oak board: 10 minutes each, plus 5 seconds a move. "
            "You have 8 minutes 59 seconds left. Bert has 10 minutes left. Your clock is running."
        )
        assert seen(say(house, "Carla time", 61.0), "Carla").endswith("Anna's clock is running.")

    def test_clock_command_tells_when_the_clock_starts(self) -> None:
        house = House(BOARDS, opens_boards=True, first_move=30.0)
        for name in ("Anna", "Bert"):
            house.enter(name, now=0.0)
        say(house, "Anna join game as dwarf on oak board")
        say(house, "Bert join game as troll on oak board")
        begin(house, "10+5")
        told = seen(say(house, "Anna clock", 10.0), "Anna")
        assert told.endswith("Your clock starts with your first move, or in 20 seconds.")
        told = seen(say(house, "Bert clock", 10.0), "Bert")
        assert told.endswith("Anna's clock starts with the first move, or in 20 seconds.")
        assert seen(say(house, "Anna clock", 31.0), "Anna").endswith("Your clock is running.")

    def test_clock_command_explains_a_pause_for_an_absent_player(self, house: House) -> None:
        begin(house, "10+5")
        house.depart("Bert", 10.0)
        told = seen(say(house, "Anna clock", 30.0), "Anna")
        assert "You have 9 minutes 50 seconds left." in told
        still = "The clock is stopped while Bert is away, for at most another 40 seconds."
        assert told.endswith(still)
        assert seen(say(house, "Anna clock", 150.0), "Anna").endswith("Your clock is running.")

    def test_clock_command_explains_a_pause_for_an_empty_seat(self, house: House) -> None:
        begin(house, "10+5")
        left = to_line("oak board", Left(10.0, "Bert", Side.TROLL, Parting.LEFT))
        again = House(BOARDS, opens_boards=True, events=[*house.events(), left])
        again.enter("Anna", 10.0)
        told = seen(say(again, "Anna clock", 10.0), "Anna")
        assert told.endswith("is stopped while a seat is empty.")

    def test_clock_command_before_a_battle_shows_its_time_control(self, house: House) -> None:
        say(house, "Anna set clock 3 days")
        gives = "No clock is running at the oak board. {}: 3 days a move."
        assert seen(say(house, "Bert clock"), "Bert") == gives.format("First battle")
        begin(house, "1 day")
        house.obey("Anna", Resign("oak board"), 0.0)
        told = seen(say(house, "Bert clock"), "Bert")
        assert told == gives.format("Second battle").replace("3 days", "1 day")

    def test_clock_command_without_a_clock_explains_idle_claims(self, house: House) -> None:
        say(house, "Anna start")
        told = seen(say(house, "Bert clock"), "Bert")
        assert told == (
            "It is Anna's turn (dwarfs). There's no clock at the oak board: take as long as you "
            "like. If Anna doesn't move for 10 minutes, you can claim the battle by typing"
            ' "claim game on oak board".'
        )
        assert "claim" not in seen(say(house, "Carla clock"), "Carla")
        told = seen(say(house, "Carla clock on elm table"), "Carla")
        assert told.endswith('"set clock 10+5 on elm table" sets one for the next match.')


class TestTold:
    def test_departure_message_states_how_long_the_clock_pauses(self, house: House) -> None:
        begin(house, "10+5")
        told = seen(house.depart("Bert", 10.0), "Anna")
        assert told.endswith("The clock is stopped for at most 60 seconds.")
        house.enter("Bert", 200.0)
        assert seen(house.depart("Bert", 300.0), "Anna").endswith("The clock keeps running.")

    def test_departure_in_a_1_0_battle_pauses_the_clock_for_six_seconds(self, house: House) -> None:
        begin(house, "1+0")
        told = seen(house.depart("Anna", 10.0), "Bert")
        assert told.endswith("The clock is stopped for at most 6 seconds.")
        assert seen(say(house, "Bert clock", 20.0), "Bert").endswith("Anna's clock is running.")
        house.enter("Anna", 115.0)
        assert "Anna's time is up" in seen(say(house, "Anna move a6 b6", 115.0), "Bert")

    def test_departure_in_correspondence_keeps_the_seat(self, house: House) -> None:
        begin(house, "1 day")
        told = seen(house.depart("Bert", 10.0), "Anna")
        assert told.endswith("The troll seat at the oak board is kept for Bert.")

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("Anna", "Your time is up, which counts as resigning."),
            ("Bert", "Anna's time is up, which counts as resigning."),
            ("Carla", "Anna's time is up, which counts as resigning."),
        ],
    )
    def test_time_out_counts_as_resignation_and_is_announced(
        self, house: House, name: str, told: str
    ) -> None:
        begin(house, "2+0")
        assert told in seen(say(house, "Bert end", 121.0), name)
        assert "ran out of time" in seen(say(house, "Carla history all", 121.0), "Carla")

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("Anna", "Bert is waiting, and can claim the battle in 60 seconds if you don't"
             " move."),
            ("Bert", "Anna hasn't moved for 10 minutes. In 60 seconds you can claim the battle by"
             ' typing "claim game on oak board".'),
            ("Carla", "Anna hasn't moved for 10 minutes. In 60 seconds Bert can claim the"
             " battle."),
        ],
    )  # fmt: skip
    def test_idle_warning_is_worded_for_each_recipient(
        self, house: House, name: str, told: str
    ) -> None:
        say(house, "Anna start")
        assert seen(say(house, "Bert claim", 600.0), name) == told
        won = seen(say(house, "Bert claim", 660.0), "Carla")
        assert won.startswith("Anna has not moved for too long: Bert claims the battle.")

    def test_absence_since_the_previous_battle_allows_a_claim(self, house: House) -> None:
        for line in ("Anna start", "Anna resign on it"):
            say(house, line)
        house.depart("Anna", 10.0)
        told = seen(say(house, "Bert claim", 310.0), "Bert")
        assert "Anna has been away for too long: you claim the battle." in told

    def test_outage_message_states_how_long_the_clock_paused(self, house: House) -> None:
        table = begin(house, "10+5").hall.tables["oak board"]
        held = ClockHeld(100.0, "", 95.5)
        assert " ".join(event_sentences(held, table.apply(held), None)) == (
            "The server was down for a while. The clock at the oak board was stopped for 1"
            " minute 35 seconds."
        )

    @pytest.mark.parametrize("reader", ["on", "off"])
    def test_low_time_warning_is_prefixed_with_the_board_elsewhere(
        self, house: House, reader: str
    ) -> None:
        say(house, f"Anna options reader {reader}")
        begin(house, "10+5")
        short = TimeShort("Anna", "oak board", 30.0)
        assert seen(told(house, short), "Anna") == "You have less than 30 seconds left."
        say(house, "Anna go to elm table")
        away = seen(told(house, short), "Anna")
        assert away.replace("At the oak board:", "[oak board]") == (
            "[oak board] You have less than 30 seconds left."
        )

    def test_return_summary_includes_turn_and_time_at_other_boards(self, house: House) -> None:
        begin(house, "3 days")
        say(house, "Bert go to elm table")
        say(house, "Bert join game as dwarf")
        say(house, "Carla join game as troll on elm table")
        say(house, "Carla set clock 1 day")
        say(house, "Carla start")
        house.depart("Bert", 10.0)
        told = seen(house.enter("Bert", DAYS / 2), "Bert")
        assert "Clock: Bert 12 hours" in told
        assert told.endswith(
            "[oak board] It is Anna's turn (dwarfs). Anna has 2 days 12 hours left."
        )
        assert "the dwarfs' turn, 2 days 12 hours left." in seen(
            say(house, "Bert games", DAYS / 2), "Bert"
        )

    def test_player_at_several_boards_is_told_which_clock_runs(self, house: House) -> None:
        begin(house, "10+5")
        say(house, "Anna move a6 b6", 5.0)
        play = "You're also playing at the oak board."
        say(house, "Carla new board", 5.0)
        went = seen(say(house, "Anna join game as dwarf on 3rd board", 6.0), "Anna")
        assert f"{play} Your opponent's clock is running there." in went
        went = seen(say(house, "Bert join game as dwarf on elm table", 6.0), "Bert")
        assert f"{play} Your clock is running there." in went
        for line in ("Carla join game as troll on elm table", "Carla start"):
            say(house, line, 7.0)
        assert (
            "You're also playing at the oak board and elm table. Your clock is running at the oak "
            "board. The match at the elm table is paused until you come back."
        ) in seen(say(house, "Bert join game as troll on 3rd board", 8.0), "Bert")

    def test_match_elsewhere_with_a_paused_clock_is_called_paused(self, house: House) -> None:
        begin(house, "10+5")
        house.depart("Bert", 5.0)
        went = seen(say(house, "Anna join game as dwarf on elm table", 6.0), "Anna")
        assert (
            "You're also playing at the oak board. The match there is paused until you come back."
            in went
        )


def told(house: House, event: TimeShort | IdleWarned) -> list[Message]:
    """Return the messages for an event that no command causes."""
    screens = Screens()
    for name in NAMES:
        screens.fit(name, Terminal())
    table = house.hall.tables["oak board"]
    return messages(house.hall, Delivery(event, (event.player,), table, at=0.0), screens)


class TestRecords:
    def test_record_of_a_running_battle_has_the_time_of_each_ply(self, house: House) -> None:
        begin(house, "10+5")
        say(house, "Anna move a6 b6", 7.44)
        say(house, "Bert move g7 f7", 20.0)
        lines = "\n".join(each.text for each in say(house, "Carla record 1", 21.0)).split("\n")
        assert lines[-4:] == ["dA6-B6", "; time 0:07.4", "TG7-F7", "; time 0:12.6"]
        assert lines[0].endswith("discworld, 10+5, in")
        say(house, "Anna undo", 25.0)
        say(house, "Bert undo", 30.0)
        say(house, "Anna move b6 c6", 31.0)  # plies taken back leave no times in the record
        say(house, "Anna move a6 c6", 40.0)
        lines = "\n".join(each.text for each in say(house, "Carla record 1", 50.0)).split("\n")
        assert lines[-2:] == ["dA6-C6", "; time 0:10.0"]


class TestBells:
    @pytest.fixture(autouse=True)
    def all_want_bells(self, house: House) -> None:
        for name in NAMES:
            say(house, f"{name} options bell on")

    def test_bell_rings_for_the_opponent_at_the_start(self, house: House) -> None:
        assert rung(say(house, "Bert start")) == {"Anna"}

    def test_bell_rings_for_the_player_whose_turn_begins(self, house: House) -> None:
        begin(house, "10+5")
        assert rung(say(house, "Anna move a6 b6")) == {"Bert"}
        assert rung(say(house, "Bert move g7 f7")) == {"Anna"}
        assert rung(say(house, "Anna say Hm.")) == set()
        assert rung(say(house, "Bert undo")) == set()
        assert rung(say(house, "Anna undo")) == {"Bert"}
        say(house, "Bert options bell off")
        assert rung(say(house, "Bert move g7 f7")) == {"Anna"}
        assert rung(say(house, "Anna move b6 a6")) == set()

    def test_bell_rings_when_time_runs_short(self, house: House) -> None:
        begin(house, "10+5")
        assert rung(told(house, TimeShort("Anna", "oak board", 30.0))) == {"Anna"}

    def test_bell_rings_with_an_idle_warning(self, house: House) -> None:
        say(house, "Anna start")
        assert rung(say(house, "Bert claim", 600.0)) == {"Anna"}

    def test_bell_is_silent_when_the_option_is_off(self, house: House) -> None:
        for name in NAMES:
            say(house, f"{name} options bell off")
        assert rung(begun := say(house, "Bert start")) == set()
        assert begun
