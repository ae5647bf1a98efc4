"""Time controls, clocks, fallen flags and idle limits at a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.features.playing.test_moves import PLIES
from tests.game.conftest import GO_ON, GRACE, NOW, SEATED, after, events, ply, refusal, without
from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.playing.moves import Adjourn, Claim, Resign, Start, Undo
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import SetClock
from thudmud.game.clocks import (
    DAY,
    LONGEST_GRACE,
    Clock,
    TimeClass,
    TimeControl,
    time_class,
)
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    ClockHeld,
    IdleWarned,
    Joined,
    Left,
    Moved,
    Parting,
    Resumed,
)
from thudmud.game.match import Match
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import (
    come_back,
    end_on_time,
    fold_events,
    free_abandoned_seats,
    leave_seat,
    leave_server,
    next_due_time,
    overdue_events,
    prepare_closing,
    stop_clock_for_outage,
)
from thudmud.rules import Ending, Side
from thudmud.values import replace

FAST = TimeControl(1, 5)
GRACE_FAST = 6.0
MEMBERS = frozenset({"Anna", "Bert"})
IDLE, WARNING = 600.0, 60.0


@pytest.fixture
def timed(empty: Table) -> Table:
    """A table at 1+5 with Anna (the dwarfs) to move."""
    return after(empty, ("Anna", SetClock(FAST)), *SEATED, ("Anna", Start()), members=MEMBERS)


@pytest.fixture
def by_mail(empty: Table) -> Table:
    clock = SetClock(TimeControl(days=3))
    return after(empty, ("Anna", clock), *SEATED, ("Anna", Start()), members=MEMBERS)


def clock(table: Table) -> Clock:
    assert table.match
    assert table.match.clock
    return table.match.clock


def away_for(table: Table, player: str, since: float, seconds: float) -> Table:
    """Return the table after an absence of a player."""
    table = without(table, player, now=since)
    return table.apply(come_back(table, player, since + seconds)[0])


def got_up(table: Table, player: str, now: float) -> Table:
    """Return the table after a player gave up the seat, which is allowed against a bot."""
    return fold_events(table, leave_seat(table, player, Parting.LEFT, now))


def left(table: Table) -> tuple[float, float]:
    return clock(table).seconds_left(Side.DWARF), clock(table).seconds_left(Side.TROLL)


class TestTimeControl:
    @pytest.mark.parametrize(
        ("text", "control", "shown"),
        [
            ("10+5", TimeControl(10, 5), "10+5"),
            ("1 + 0", TimeControl(1), "1+0"),
            ("3 days", TimeControl(days=3), "3 days"),
            ("1day", TimeControl(days=1), "1 day"),
        ],
    )
    def test_time_control_text_round_trips(
        self, text: str, control: TimeControl, shown: str
    ) -> None:
        assert TimeControl.of(text) == control
        assert str(control) == shown
        assert TimeControl.of(shown) == control

    @pytest.mark.parametrize(
        "text", ["", "10", "0+5", "181+0", "10+181", "0 days", "15 days", "x", "-1+5", "9999+0"]
    )
    def test_time_control_out_of_range_is_rejected(self, text: str) -> None:
        with pytest.raises(InvalidValueError):
            TimeControl.of(text)

    def test_time_control_cannot_combine_days_and_minutes(self) -> None:
        with pytest.raises(InvalidValueError):
            TimeControl(10, 0, 3)

    @pytest.mark.parametrize(
        ("control", "name"),
        [
            (None, TimeClass.UNTIMED),
            (TimeControl(9, 0), TimeClass.BLITZ),
            (TimeControl(10, 0), TimeClass.RAPID),
            (TimeControl(5, 5), TimeClass.RAPID),
            (TimeControl(15, 15), TimeClass.LONG),
            (TimeControl(days=1), TimeClass.CORRESPONDENCE),
        ],
    )
    def test_time_class_depends_on_the_total_time(
        self, control: TimeControl | None, name: TimeClass
    ) -> None:
        assert time_class(control) is name


class TestClock:
    def test_clock_runs_for_the_side_to_move(self, timed: Table) -> None:
        table = after(timed, ("Anna", ply("A6", "B6")), now=NOW + 10)
        assert left(table) == (60 - 10 + 5, 60)
        table = after(table, ("Bert", ply("G7", "G6")), now=NOW + 30)
        assert left(table) == (55, 60 - 20 + 5)
        assert clock(table).advanced_to(NOW + 33).seconds_left(Side.DWARF) == 52

    def test_clock_in_days_is_reset_at_each_ply(self, by_mail: Table) -> None:
        table = after(by_mail, ("Anna", ply("A6", "B6")), now=NOW + 2 * DAY)
        assert left(table) == (3 * DAY, 3 * DAY)
        assert clock(table).deadline == NOW + 5 * DAY

    def test_clock_starts_with_the_trolls_when_they_move_first(self) -> None:
        start = Clock(FAST, NOW, Side.TROLL)
        after_one = start.pressed(NOW + 7)
        assert (after_one.seconds_left(Side.TROLL), after_one.seconds_left(Side.DWARF)) == (58, 60)

    @given(st.lists(st.floats(0, 50), max_size=12), st.integers(1, 12), st.floats(0, 50))
    def test_takeback_restores_the_time(
        self, thought: list[float], plies: int, used: float
    ) -> None:
        before = [Clock(FAST, NOW, Side.DWARF)]
        for seconds in thought:
            before.append(before[-1].pressed(before[-1].at + seconds))
        plies = min(plies, len(thought))
        back, then = before[-1].taken_back(plies, before[-1].at + used), before[-plies - 1]
        if plies:
            assert back.turn is then.turn
            for side in Side:
                assert back.seconds_left(side) == pytest.approx(then.seconds_left(side))

    @pytest.mark.parametrize(
        ("control", "seconds"),
        [
            (TimeControl(1), 6),
            (TimeControl(1, 180), 6),
            (TimeControl(10, 5), 60),
            (TimeControl(20), 120),
            (TimeControl(180), LONGEST_GRACE),
            (TimeControl(days=3), 0),
        ],
    )
    def test_grace_is_a_tenth_of_the_minutes_up_to_two_minutes(
        self, control: TimeControl, seconds: float
    ) -> None:
        assert control.grace == seconds

    def test_grace_is_shared_by_all_absences_of_a_side_in_a_battle(self, timed: Table) -> None:
        table = away_for(timed, "Anna", NOW + 10, 4)
        assert left(table) == (50, 60)
        table = away_for(table, "Anna", NOW + 20, 4)
        assert left(table) == (50 - 6 - 2, 60)
        table = away_for(table, "Anna", NOW + 30, 4)
        assert left(table) == (42 - 6 - 4, 60)

    def test_grace_is_counted_by_side(self, timed: Table) -> None:
        table = away_for(timed, "Anna", NOW, 10)
        assert left(table) == (60 - 4, 60)
        table = without(table, "Bert", now=NOW + 10)
        assert clock(table).remaining_standstill == GRACE_FAST
        assert clock(table).deadline == NOW + 10 + 56 + GRACE_FAST

    def test_grace_of_both_sides_runs_in_parallel_while_both_are_away(self, timed: Table) -> None:
        table = away_for(timed, "Bert", NOW, 2)
        table = without(table, "Anna", "Bert", now=NOW + 2)
        assert clock(table).remaining_standstill == GRACE_FAST
        table = table.apply(come_back(table, "Anna", NOW + 2 + GRACE_FAST)[0])
        assert clock(table).remaining_standstill == 0
        assert left(table) == (60, 60)

    def test_grace_is_not_used_while_the_other_seat_is_free(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetClock(FAST)), *SEATED, ("Anna", Start()))  # not rated
        table = without(table, "Bert", now=NOW + 10)
        table = got_up(table, "Anna", NOW + 12)
        table = after(table, ("Anna", Join(Side.DWARF)), now=NOW + 500)
        assert clock(table).remaining_standstill == GRACE_FAST - 2

    def test_grace_is_renewed_in_the_second_battle(self, timed: Table) -> None:
        table = away_for(timed, "Anna", NOW, 10)
        table = after(table, ("Anna", Resign()), *GO_ON, now=NOW + 40, members=MEMBERS)
        assert clock(without(table, "Anna", now=NOW + 50)).remaining_standstill == GRACE_FAST

    def test_grace_used_before_an_adjournment_stays_used(self, timed: Table) -> None:
        table = after(away_for(timed, "Anna", NOW, 4), ("Anna", Adjourn()), now=NOW + 20)
        away = events(table, "Bert", Adjourn(), NOW + 25)[-1]
        assert isinstance(away, Adjourned)
        again = Table.set_up(BoardSpec("pine board")).apply(Resumed(NOW + 9000, "Anna", away.match))
        assert clock(without(again, "Anna", now=NOW + 9000)).remaining_standstill == GRACE_FAST - 4

    def test_grace_after_a_server_failure_is_the_longest(self, timed: Table) -> None:
        table = timed
        for name in ("Anna", "Bert"):
            for event in leave_server(table, name, Parting.RESTART, NOW + 10):
                table = table.apply(event)
        assert clock(table).deadline == NOW + 10 + 50 + LONGEST_GRACE
        table = table.apply(come_back(table, "Anna", NOW + 70)[0])
        assert left(table)[0] == 50
        table = table.apply(come_back(table, "Bert", NOW + 100)[0])
        table = without(table, "Anna", now=NOW + 100)  # her own grace is unused
        assert clock(table).remaining_standstill == GRACE_FAST
        for event in leave_server(table, "Bert", Parting.RESTART, NOW + 106):
            table = table.apply(event)
        assert clock(table).remaining_standstill == LONGEST_GRACE - 90

    def test_clock_of_a_correspondence_battle_runs_while_both_are_away(
        self, by_mail: Table
    ) -> None:
        table = without(by_mail, "Anna", "Bert", now=NOW + 10)
        assert clock(table).deadline == NOW + 3 * DAY

    def test_clock_is_held_for_outages_of_the_server(self, timed: Table) -> None:
        gone = [(NOW - 50.0, NOW - 40.0), (NOW + 30.0, NOW + 500.0), (NOW + 510.0, NOW + 520.0)]
        (event,) = stop_clock_for_outage(timed, gone, NOW + 525)
        assert event == ClockHeld(NOW + 525, "", 480.0)
        assert left(timed.apply(event)) == (60 - 45, 60)

    def test_clock_is_held_once_for_an_outage(self, timed: Table) -> None:
        gone = [(NOW + 30.0, NOW + 500.0)]
        table = timed.apply(stop_clock_for_outage(timed, gone, NOW + 500)[0])
        assert stop_clock_for_outage(table, gone, NOW + 505) == ()

    def test_clock_that_is_not_running_is_not_held(self, started: Table, timed: Table) -> None:
        assert stop_clock_for_outage(started, [(NOW, NOW + 100)], NOW + 100) == ()
        assert (
            stop_clock_for_outage(after(timed, ("Anna", Resign())), [(NOW, NOW + 100)], NOW + 100)
            == ()
        )

    def test_clock_is_adjourned_and_resumed_with_its_match(self, timed: Table) -> None:
        played = after(timed, ("Anna", ply("A6", "B6")), now=NOW + 10)
        away = events(
            after(played, ("Anna", Adjourn()), now=NOW + 20), "Bert", Adjourn(), NOW + 25
        )[-1]
        assert isinstance(away, Adjourned)
        again = Table.set_up(BoardSpec("pine board")).apply(Resumed(NOW + 9000, "Anna", away.match))
        assert left(again) == (55, 45)
        assert again.time == FAST
        assert clock(again).deadline == NOW + 9000 + 45
        back = after(again, ("Anna", Undo()), ("Bert", Undo()), now=NOW + 9001)
        assert left(back) == (60, 60)

    def test_match_resumed_between_battles_ignores_the_table_before(self, timed: Table) -> None:
        ended = after(timed, ("Anna", Resign()))
        away = events(after(ended, ("Anna", Adjourn())), "Bert", Adjourn(), NOW + 25)[-1]
        assert isinstance(away, Adjourned)
        goes_on = Resumed(NOW + 9000, "Anna", away.match)
        over = after(ended, *GO_ON, ("Anna", Resign()), now=NOW + 40, members=MEMBERS)
        new = Table.set_up(BoardSpec(over.name, key=over.key))
        assert replace(over.apply(goes_on), version=1) == new.apply(goes_on)

    def test_clock_is_reset_for_each_battle(self, timed: Table) -> None:
        table = after(timed, ("Anna", Resign()), *GO_ON, now=NOW + 40, members=MEMBERS)
        assert left(table) == (60, 60)
        assert table.match
        assert table.match.battle == 2

    def test_clock_starts_with_the_first_move_of_each_side(self, empty: Table) -> None:
        clocks = after(empty, ("Anna", SetClock(FAST)), *SEATED)
        begun = BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert")
        table = clocks.apply(begun.with_time(FAST, first_move=30.0))
        assert clock(table).advanced_to(NOW + 30).seconds_left(Side.DWARF) == 60
        assert clock(table).advanced_to(NOW + 31).seconds_left(Side.DWARF) == 59
        table = after(table, PLIES[0], now=NOW + 20)
        assert left(table) == (65, 60)
        assert next_due_time(table) == NOW + 20 + 30 + 60
        table = after(table, PLIES[1], now=NOW + 60)
        assert left(table) == (65, 55)  # 10 seconds, and 5 for the move
        assert clock(table).advanced_to(NOW + 70).seconds_left(Side.DWARF) == 55

    def test_first_move_after_an_undo_has_its_time_again(self, empty: Table) -> None:
        begun = BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert")
        table = after(empty, *SEATED).apply(begun.with_time(FAST, first_move=30.0))
        table = after(table, PLIES[0], ("Anna", Undo()), ("Bert", Undo()), now=NOW + 40)
        assert left(table) == (60, 60)
        assert clock(table).until_start == 30

    def test_correspondence_clock_starts_at_once(self) -> None:
        begun = BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Bert")
        assert begun.with_time(TimeControl(days=3), first_move=30.0).first_move == 0

    def test_practice_has_no_clock(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetClock(FAST)), ("Anna", Practice()))
        assert table.clock is None
        assert table.time is None  # reset for the next match, like rules and setup


class TestFlags:
    def test_fallen_flag_ends_the_battle_scored_as_a_resignation(self, timed: Table) -> None:
        assert next_due_time(timed) == NOW + 60
        assert overdue_events(timed, NOW + 59.9) == ()
        (ended,) = overdue_events(timed, NOW + 60)
        assert isinstance(ended, BattleEnded)
        (resigned,) = events(timed, "Anna", Resign())
        assert isinstance(resigned, BattleEnded)
        assert ended.player == "Anna"
        assert ended.outcome.ending is Ending.TIME
        assert (ended.outcome.winner, ended.outcome.score) == (
            resigned.outcome.winner,
            resigned.outcome.score,
        )
        assert overdue_events(timed.apply(ended), NOW + 1000) == ()

    @pytest.mark.parametrize("player", ["Anna", "Bert"])
    def test_command_after_the_flag_fell_only_ends_the_battle(
        self, timed: Table, player: str
    ) -> None:
        for command in (ply("A6", "B6"), Resign(), Undo(), Adjourn()):
            (ended,) = events(timed, player, command, NOW + 61)
            assert isinstance(ended, BattleEnded)
            assert (ended.player, ended.outcome.ending) == ("Anna", Ending.TIME)

    def test_ply_just_before_the_flag_falls_is_played(self, timed: Table) -> None:
        (moved,) = events(timed, "Anna", ply("A6", "B6"), NOW + 59.999)
        assert isinstance(moved, Moved)

    def test_flag_of_an_absent_player_falls_after_the_grace(self, timed: Table) -> None:
        table = without(timed, "Anna", now=NOW)
        assert end_on_time(table, NOW + 60 + GRACE_FAST - 1) == ()
        (ended,) = end_on_time(table, NOW + 60 + GRACE_FAST)
        assert ended.player == "Anna"

    def test_flag_does_not_fall_while_a_seat_is_free(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetClock(FAST)), *SEATED, ("Anna", Start()))  # not rated
        table = got_up(table, "Bert", NOW + 20)
        assert (next_due_time(table), end_on_time(table, NOW + 10_000)) == (None, ())
        table = after(table, ("Bert", Join(Side.TROLL)), now=NOW + 10_000)
        assert left(table) == (40, 60)
        assert next_due_time(table) == NOW + 10_000 + 40

    def test_clock_stays_held_at_a_free_seat_whatever_the_other_does(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetClock(FAST)), *SEATED, ("Anna", Start()))
        table = got_up(table, "Bert", NOW + 20)
        for event in leave_server(table, "Anna", Parting.LOST, NOW + 30):
            table = table.apply(event)
        for event in come_back(table, "Anna", NOW + 50):
            table = table.apply(event)
        assert left(table) == (40, 60)
        (moved,) = events(table, "Anna", ply("A6", "B6"), NOW + 70)
        assert left(table.apply(moved)) == (40 + FAST.increment, 60)

    def test_match_cannot_be_adjourned_alone_on_ones_own_clock(self, timed: Table) -> None:
        """Otherwise a player about to lose on time could escape from an absent opponent."""
        table = without(timed, "Bert", now=NOW - GRACE)
        assert refusal(table, "Anna", Adjourn(), NOW + 59) is Refusal.OWN_CLOCK_RUNS
        table = after(timed, ("Anna", ply("A6", "B6")))
        table = without(table, "Bert", now=NOW - GRACE)
        assert isinstance(events(table, "Anna", Adjourn(), NOW + 1)[-1], Adjourned)

    def test_flag_of_a_player_who_quits_too_late_has_fallen(self, timed: Table) -> None:
        ended, absent = leave_server(timed, "Anna", Parting.QUIT, NOW + 61)
        assert isinstance(ended, BattleEnded)
        assert isinstance(absent, Absent)
        assert isinstance(prepare_closing(timed, "", NOW + 61)[0], BattleEnded)

    def test_ply_stored_late_leaves_at_least_the_increment(self, timed: Table) -> None:
        (moved,) = events(timed, "Anna", ply("A6", "B6"), NOW + 58)
        table = timed.apply(replace(moved, at=NOW + 90))
        assert left(table)[0] == FAST.increment

    def test_unrelated_command_after_the_flag_fell_is_still_decided(self, timed: Table) -> None:
        with pytest.raises(RefusedError):
            events(timed, "Carla", Join(Side.DWARF), NOW + 61)
        (ended,) = events(timed, "Bert", Start(), NOW + 61)
        assert isinstance(ended, BattleEnded)


class TestSetting:
    def test_clock_is_set_before_the_start(self, seated: Table) -> None:
        table = after(seated, ("Bert", SetClock(FAST)))
        assert table.time == FAST
        (started,) = events(table, "Anna", Start())
        assert isinstance(started, BattleStarted)
        assert started.time == FAST
        assert after(table, ("Anna", SetClock(None))).time is None

    def test_clock_cannot_be_set_during_a_match(
        self, started: Table, timed: Table, first_over: Table
    ) -> None:
        assert refusal(started, "Anna", SetClock(FAST)) is Refusal.CLOCK_RUNNING
        assert refusal(timed, "Anna", SetClock(None)) is Refusal.CLOCK_RUNNING
        assert refusal(first_over, "Anna", SetClock(FAST)) is Refusal.CLOCK_MID_MATCH

    def test_clock_cannot_be_set_by_spectators(self, seated: Table) -> None:
        assert refusal(seated, "Carla", SetClock(FAST)) is Refusal.CLOCK_SEATED_ONLY

    def test_clock_cannot_be_set_to_its_current_value(self, seated: Table, empty: Table) -> None:
        assert refusal(seated, "Anna", SetClock(None)) is Refusal.CLOCK_ALREADY
        table = after(seated, ("Anna", SetClock(FAST)))
        assert refusal(table, "Anna", SetClock(FAST)) is Refusal.CLOCK_ALREADY


class TestIdle:
    def test_idle_warning_precedes_the_claim_of_a_battle(self, started: Table) -> None:
        assert next_due_time(started) == NOW + IDLE - WARNING
        assert refusal(started, "Bert", Claim(), NOW + 1) is Refusal.NOT_IDLE
        (warned,) = overdue_events(started, NOW + IDLE - WARNING)
        assert warned == IdleWarned(NOW + IDLE - WARNING, "Anna", Side.DWARF)
        table = started.apply(warned)
        assert next_due_time(table) is None
        assert refusal(table, "Bert", Claim(), NOW + IDLE - 1) is Refusal.NOT_IDLE
        (ended,) = events(table, "Bert", Claim(), NOW + IDLE)
        assert isinstance(ended, BattleEnded)
        assert (ended.outcome.ending, ended.outcome.winner) == (Ending.CLAIM, Side.TROLL)

    def test_idle_claim_without_a_timer_warns_first(self, started: Table) -> None:
        late = NOW + 2 * IDLE
        assert events(started, "Bert", Claim(), late) == [IdleWarned(late, "Anna", Side.DWARF)]
        table = after(started, ("Bert", Claim()), now=late)
        assert refusal(table, "Bert", Claim(), late + WARNING - 1) is Refusal.NOT_IDLE
        (ended,) = events(table, "Bert", Claim(), late + WARNING)
        assert isinstance(ended, BattleEnded)

    def test_idle_warning_is_cleared_by_a_ply(self, started: Table) -> None:
        table = started.apply(overdue_events(started, NOW + IDLE)[0])
        table = after(table, ("Anna", ply("A6", "B6")), now=NOW + IDLE)
        assert table.warned_at is None
        assert next_due_time(table) == NOW + 2 * IDLE - WARNING

    def test_idle_player_cannot_claim_in_their_own_turn(self, started: Table) -> None:
        table = started.apply(overdue_events(started, NOW + IDLE)[0])
        assert refusal(table, "Anna", Claim(), NOW + IDLE) is Refusal.NOT_AWAY

    def test_idle_limit_is_extended_only_by_the_time_away(self, started: Table) -> None:
        table = without(started, "Anna", now=NOW + 100)
        assert next_due_time(table) is None
        table = table.apply(come_back(table, "Anna", NOW + 150)[0])
        assert next_due_time(table) == NOW + 50 + IDLE - WARNING

    def test_idle_limit_extension_by_absences_is_bounded(self, started: Table) -> None:
        table, now = started, NOW
        for _ in range(20):
            table = without(table, "Anna", now=now + 50)
            table = table.apply(come_back(table, "Anna", now + 100)[0])
            now += 100
        assert next_due_time(table) == NOW + LONGEST_GRACE + IDLE - WARNING
        table = without(table, "Bert", now=now)
        table = table.apply(come_back(table, "Bert", now + 50)[0])
        assert next_due_time(table) == NOW + LONGEST_GRACE + IDLE - WARNING

    def test_idle_claim_with_a_running_clock_is_refused(self, timed: Table) -> None:
        assert refusal(timed, "Bert", Claim(), NOW + 50) is Refusal.CLOCK_RUNS
        away = without(timed, "Anna", now=NOW - GRACE)
        assert refusal(away, "Bert", Claim(), NOW + 50) is Refusal.CLOCK_RUNS

    def test_idle_bots_and_lone_players_are_not_warned(self, empty: Table, started: Table) -> None:
        for side, other in ((Side.DWARF, 1), (Side.TROLL, 0)):  # bot to move, then player to move
            table = empty.apply(Joined(NOW, "Grog", side, 3))
            player, join = SEATED[other]
            assert next_due_time(after(table, (player, join), (player, Start()))) is None
        assert next_due_time(after(started, ("Bert", Leave()))) is None

    def test_idle_limit_of_zero_disables_the_warning(self) -> None:
        table = Table.set_up(BoardSpec("oak board"), 200, GRACE, 0.0)
        assert next_due_time(after(table, *SEATED, ("Anna", Start()))) is None


class TestCorrespondence:
    def test_correspondence_seats_are_kept_while_the_clock_runs(self, by_mail: Table) -> None:
        table = without(by_mail, "Anna", "Bert")
        later = NOW + 2.9 * DAY
        assert free_abandoned_seats(table, later) == ()
        assert refusal(table, "Bert", Claim(), later) is Refusal.CLOCK_RUNS
        assert refusal(table, "Bert", Adjourn(), later) is Refusal.CLOCK_RUNS

    def test_correspondence_battle_starts_while_the_opponent_is_away(self, by_mail: Table) -> None:
        table = without(after(by_mail, ("Bert", Resign())), "Anna")
        started = events(table, "Bert", Start())[-1]
        assert isinstance(started, BattleStarted)
        assert started.number == 2

    def test_correspondence_match_abandoned_for_two_weeks_is_adjourned(
        self, by_mail: Table
    ) -> None:
        table = without(after(by_mail, ("Bert", Resign())), "Anna", "Bert")
        assert free_abandoned_seats(table, NOW + 13 * DAY) == ()
        (away,) = free_abandoned_seats(table, NOW + 15 * DAY)
        assert isinstance(away, Adjourned)


class TestForfeits:
    def test_leaving_between_battles_forfeits_a_rated_second(self, timed: Table) -> None:
        half_played = after(timed, *PLIES, ("Anna", Resign()), members=MEMBERS)
        started, ended, left = events(half_played, "Bert", Leave(), members=MEMBERS)
        assert isinstance(started, BattleStarted)
        assert isinstance(ended, BattleEnded)
        assert (started.number, ended.plies) == (2, 0)
        assert ended.outcome.winner is half_played.side_of("Bert")  # seats are swapped
        assert ended.points
        assert left == Left(NOW, "Bert", Side.DWARF, Parting.LEFT)
        table = after(half_played, ("Bert", Leave()), members=MEMBERS)
        assert isinstance(table.match, Match)
        assert table.match.is_over

    def test_second_battle_can_be_claimed_from_an_absent_player(self, first_over: Table) -> None:
        table = without(first_over, "Bert")
        assert refusal(table, "Anna", Claim(), NOW + GRACE - 1) is Refusal.TOO_SOON
        _, ended = events(table, "Anna", Claim(), NOW + GRACE)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.CLAIM
        assert ended.outcome.winner is first_over.side_of("Bert")

    @pytest.mark.parametrize("control", [FAST, TimeControl(days=3)])
    def test_leaving_an_unrated_match_with_a_running_clock_is_refused(
        self, empty: Table, control: TimeControl
    ) -> None:
        table = after(empty, ("Anna", SetClock(control)), *SEATED, ("Anna", Start()))  # not rated
        assert refusal(table, "Anna", Leave()) is Refusal.LEAVES_CLOCK
        assert refusal(table, "Bert", Leave()) is Refusal.LEAVES_CLOCK
        over = after(table, ("Bert", Resign()))
        assert after(over, ("Bert", Leave())).side_of("Bert") is None

    def test_leaving_a_rated_match_forfeits_it_once_it_counts(self, timed: Table) -> None:
        assert refusal(timed, "Anna", Leave()) is Refusal.LEAVES_CLOCK
        assert refusal(after(timed, *PLIES[:-1]), "Anna", Leave()) is Refusal.LEAVES_CLOCK
        table = after(timed, *PLIES, ("Anna", Leave()), members=MEMBERS)
        assert table.side_of("Anna") is None
        assert isinstance(table.match, Match)
        assert (table.match.is_over, table.clock) == (True, None)

    def test_leaving_after_a_short_battle_gives_up_only_the_seat(self, timed: Table) -> None:
        over = after(timed, *PLIES[:-1], ("Anna", Resign()))
        assert events(over, "Anna", Leave()) == [Left(NOW, "Anna", Side.DWARF, Parting.LEFT)]
