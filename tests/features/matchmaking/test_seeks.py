"""Seeks: the words that answer them, what ends them, and which makers are asked first."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.game.conftest import NOW, ply
from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal
from thudmud.features.exercises.commands import Tutorial
from thudmud.features.matchmaking.commands import (
    Accept,
    Challenge,
    Decline,
    No,
    PlayNow,
    Seek,
    Withdraw,
    Yes,
)
from thudmud.features.playing.moves import Adjourn, Resign, Start
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Practice
from thudmud.features.playing.setup import SetClock
from thudmud.features.rooms.commands import Go
from thudmud.game.asides import Aside
from thudmud.game.clocks import TimeControl
from thudmud.game.command import Command
from thudmud.game.events import (
    BattleStarted,
    BoardOpened,
    Event,
    HallEvent,
    Resumed,
    SeekEnd,
    SeekEnded,
    SeekMade,
)
from thudmud.game.hall import TOUCHED
from thudmud.game.people import BotLevel
from thudmud.game.refusals import Refusal
from thudmud.game.seeks import ANSWER_WITHIN, end_seeks_of_departed, expire_question
from thudmud.rules import Side

OAK = "oak board"
FAST, DAYS = TimeControl(5, 3), TimeControl(days=3)
GROG = BotLevel(2, "Slate", "Walks into most traps.")


@pytest.fixture
def hall() -> StoredHall:
    return hall_of("Anna", "Bert", "Carla", "Dora")


def happen(
    hall: StoredHall, player: str, command: Command, now: float = NOW
) -> list[Event | HallEvent]:
    """Carry out a command and return its events without the transient ones."""
    told = [each.event for each in do(hall, player, command, now)]
    return [each for each in told if not isinstance(each, Aside)]


def ends(happened: Iterable[Event | HallEvent]) -> dict[int, SeekEnd]:
    """Return the reason for each seek that ended, by seek number."""
    return {each.number: each.why for each in happened if isinstance(each, SeekEnded)}


def sit(hall: StoredHall, dwarf: str = "Anna", troll: str = "Bert") -> None:
    do(hall, dwarf, Join(Side.DWARF, OAK))
    do(hall, troll, Join(Side.TROLL, OAK))


def begin(hall: StoredHall, dwarf: str = "Anna", troll: str = "Bert") -> None:
    sit(hall, dwarf, troll)
    do(hall, dwarf, Start(OAK))


class TestYes:
    @pytest.mark.parametrize("command", [Yes(), Yes(1), Yes("anna")], ids=str)
    def test_open_seek_is_not_accepted_by_yes(self, hall: StoredHall, command: Command) -> None:
        do(hall, "Anna", Seek())
        assert refusal(hall, "Bert", command) is Refusal.SEEK_FOR_ANYBODY

    @pytest.mark.parametrize("command", [Accept(), Accept(1), Accept("anna")], ids=str)
    def test_open_seek_is_accepted_by_accept(self, hall: StoredHall, command: Command) -> None:
        do(hall, "Anna", Seek())
        happened = happen(hall, "Bert", command)
        assert ends(happened) == {1: SeekEnd.ACCEPTED}
        assert isinstance(happened[-1], BattleStarted)

    @pytest.mark.parametrize("command", [Yes(), Yes(1), Yes("anna"), Accept()], ids=str)
    def test_challenge_is_accepted_by_yes_or_accept(
        self, hall: StoredHall, command: Command
    ) -> None:
        do(hall, "Anna", Challenge("bert"))
        do(hall, "Carla", Seek())  # open to anybody
        assert ends(happen(hall, "Bert", command)) == {1: SeekEnd.ACCEPTED}

    def test_yes_without_an_offer_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Bert", Yes()) is Refusal.NOTHING_STANDS
        assert refusal(hall, "Bert", Yes("anna")) is Refusal.NOTHING_OFFERED_BY
        do(hall, "Bert", Seek())  # a player cannot accept their own seek
        assert refusal(hall, "Bert", Yes()) is Refusal.NOTHING_STANDS

    def test_rematch_is_accepted_by_yes(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", Resign(OAK))
        do(hall, "Bert", Start(OAK))
        for command in (Start(OAK), Resign(OAK), Start(OAK)):
            do(hall, "Anna", command)
        assert isinstance(happen(hall, "Bert", Yes())[-1], BattleStarted)
        match = hall.tables[OAK].match
        assert match
        assert (match.battle, match.earlier_points) == (1, (0, 0))


class TestSameSeek:
    @pytest.mark.parametrize("first", [Seek(), PlayNow()], ids=str)
    @pytest.mark.parametrize("second", [Seek(), PlayNow(), Seek(side=Side.TROLL)], ids=str)
    def test_second_seek_for_the_same_match_begins_it(
        self, hall: StoredHall, first: Command, second: Command
    ) -> None:
        do(hall, "Anna", first)
        happened = happen(hall, "Bert", second)
        assert ends(happened) == {1: SeekEnd.ACCEPTED}
        assert isinstance(happened[-1], BattleStarted)

    def test_seek_takes_up_a_player_who_plays_a_bot_meanwhile(self, hall: StoredHall) -> None:
        hall.use_bots(hall.levels, {**hall.bots, "Dora": GROG})
        do(hall, "Anna", PlayNow())
        assert isinstance(happen(hall, "Bert", Seek())[-1], BattleStarted)

    def test_seek_with_the_same_clock_begins_the_match(self, hall: StoredHall) -> None:
        do(hall, "Anna", Seek(time=FAST))
        assert isinstance(happen(hall, "Bert", Seek(time=FAST))[-1], BattleStarted)

    @pytest.mark.parametrize(
        "other", [Seek("classic"), Seek(time=FAST), Seek(side=Side.DWARF), Seek(word="tea-pot")]
    )
    def test_different_seek_waits(self, hall: StoredHall, other: Seek) -> None:
        do(hall, "Anna", Seek(side=Side.DWARF))
        assert isinstance(happen(hall, "Bert", other)[0], SeekMade)

    def test_seek_waits_if_the_other_player_has_to_be_asked(self, hall: StoredHall) -> None:
        begin(hall, "Anna", "Carla")
        do(hall, "Anna", Seek())
        assert isinstance(happen(hall, "Bert", Seek())[0], SeekMade)


class TestBusy:
    def test_player_in_the_hall_or_at_a_seat_is_not_busy(self, hall: StoredHall) -> None:
        assert not hall.is_busy("Anna", NOW)
        sit(hall)
        assert not hall.is_busy("Anna", NOW)
        assert not hall.is_busy("Zoe", NOW)

    def test_battle_between_people_keeps_both_players_busy(self, hall: StoredHall) -> None:
        begin(hall)
        later = NOW + 10 * TOUCHED
        assert [hall.is_busy(name, later) for name in ("Anna", "Bert", "Carla")] == [
            True, True, False,
        ]  # fmt: skip

    def test_players_between_two_battles_are_free(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Resign(OAK))
        assert [hall.is_busy(name, NOW) for name in ("Anna", "Bert")] == [False, False]
        assert hall.is_occupied("Bert", NOW + 10 * TOUCHED)

    def test_finished_match_leaves_its_players_free(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", ply("A6", "B6"))
        for player, command in (("Anna", Resign(OAK)), ("Bert", Start(OAK)), ("Anna", Start(OAK))):
            do(hall, player, command)
        do(hall, "Bert", ply("A6", "B6"))
        do(hall, "Bert", Resign(OAK))
        assert not hall.is_busy("Anna", NOW)
        assert hall.is_occupied("Anna", NOW + TOUCHED - 1)
        assert not hall.is_occupied("Anna", NOW + TOUCHED)

    def test_player_in_another_room_is_busy_for_a_minute_after_a_move(
        self, hall: StoredHall
    ) -> None:
        begin(hall)
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Go())
        assert hall.is_busy("Anna", NOW + TOUCHED - 1)
        assert not hall.is_busy("Anna", NOW + TOUCHED)

    def test_practice_leaves_its_player_free(self, hall: StoredHall) -> None:
        do(hall, "Anna", Practice(on=OAK))
        do(hall, "Anna", ply("A6", "B6"))
        assert not hall.is_busy("Anna", NOW)
        assert hall.is_occupied("Anna", NOW + TOUCHED - 1)
        assert not hall.is_occupied("Anna", NOW + TOUCHED)

    def test_exercise_leaves_its_player_free(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(2))
        assert not hall.is_busy("Anna", NOW)
        assert hall.is_occupied("Anna", NOW + 10 * TOUCHED)

    @pytest.mark.parametrize(("time", "is_busy"), [(None, False), (FAST, True)])
    def test_battle_with_a_bot_keeps_its_player_busy_only_with_a_clock(
        self, hall: StoredHall, time: TimeControl | None, *, is_busy: bool
    ) -> None:
        enter(hall, "Grog")
        hall.bots, hall.levels = {"Grog": GROG}, (GROG,)
        do(hall, "Anna", Challenge("grog", time=time))
        assert hall.is_busy("Anna", NOW) is is_busy

    def test_correspondence_match_leaves_its_players_free(self, hall: StoredHall) -> None:
        sit(hall)
        do(hall, "Anna", SetClock(DAYS, OAK))
        do(hall, "Anna", Start(OAK))
        do(hall, "Anna", ply("A6", "B6"))
        assert not hall.is_busy("Anna", NOW)


class TestEnds:
    def test_seeks_of_both_players_end_at_match_start(self, hall: StoredHall) -> None:
        for name, time in {"Anna": None, "Bert": FAST, "Carla": TimeControl(10)}.items():
            do(hall, name, Seek(time=time))
        sit(hall)
        assert ends(happen(hall, "Anna", Start(OAK))) == {1: SeekEnd.PLAYING, 2: SeekEnd.PLAYING}
        assert list(hall.seeks) == [3]

    def test_seeks_end_when_a_match_is_resumed(self, hall: StoredHall) -> None:
        begin(hall)
        for name in ("Anna", "Bert"):
            do(hall, name, Adjourn(OAK))
        do(hall, "Anna", Seek())
        do(hall, "Anna", Resume())
        assert list(hall.seeks) == [1]
        happened = happen(hall, "Bert", Yes())
        assert ends(happened) == {1: SeekEnd.PLAYING}
        assert any(isinstance(each, Resumed) for each in happened)

    def test_match_start_ends_challenges_made_but_not_received(self, hall: StoredHall) -> None:
        do(hall, "Anna", Challenge("dora"))
        do(hall, "Dora", Challenge("bert"))
        sit(hall)
        assert ends(happen(hall, "Anna", Start(OAK))) == {1: SeekEnd.PLAYING}

    def test_correspondence_seek_survives_a_match_start(self, hall: StoredHall) -> None:
        do(hall, "Anna", Seek(time=DAYS))
        sit(hall)
        assert ends(happen(hall, "Anna", Start(OAK))) == {}

    def test_correspondence_match_ends_no_seek(self, hall: StoredHall) -> None:
        do(hall, "Anna", Seek())
        sit(hall)
        do(hall, "Anna", SetClock(DAYS, OAK))
        assert ends(happen(hall, "Anna", Start(OAK))) == {}

    def test_practice_ends_no_seek(self, hall: StoredHall) -> None:
        do(hall, "Anna", Seek())
        assert ends(happen(hall, "Anna", Practice(on=OAK))) == {}

    def test_second_battle_ends_seeks_only_with_a_clock(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", Resign(OAK))
        do(hall, "Anna", Seek())
        do(hall, "Anna", Start(OAK))
        assert ends(happen(hall, "Bert", Start(OAK))) == {}
        timed = hall_of("Anna", "Bert")
        sit(timed)
        do(timed, "Anna", SetClock(FAST, OAK))
        do(timed, "Anna", Start(OAK))
        do(timed, "Anna", Resign(OAK))
        do(timed, "Anna", Seek())
        do(timed, "Anna", Start(OAK))
        assert ends(happen(timed, "Bert", Start(OAK))) == {1: SeekEnd.PLAYING}

    def test_stopgap_bot_game_ends_no_seek_and_has_no_clock(self, hall: StoredHall) -> None:
        enter(hall, "Grog")
        hall.bots, hall.levels = {"Grog": GROG}, (GROG,)
        happened = happen(hall, "Anna", PlayNow(time=FAST))
        seek = next(each for each in happened if isinstance(each, SeekMade))
        began = next(each for each in happened if isinstance(each, BattleStarted))
        assert (seek.time, began.time, ends(happened)) == (FAST, None, {})
        assert list(hall.seeks.values()) == [seek]

    def test_challenge_to_a_bot_ends_own_seeks(self, hall: StoredHall) -> None:
        enter(hall, "Grog")
        hall.bots, hall.levels = {"Grog": GROG}, (GROG,)
        do(hall, "Anna", Seek())
        assert ends(happen(hall, "Anna", Challenge("grog"))) == {1: SeekEnd.PLAYING}

    def test_running_clock_refuses_seeks_except_correspondence(self, hall: StoredHall) -> None:
        sit(hall)
        do(hall, "Anna", SetClock(FAST, OAK))
        do(hall, "Anna", Start(OAK))
        for command in (Seek(), Seek(time=FAST), PlayNow()):
            assert refusal(hall, "Anna", command) is Refusal.SEEK_IN_HASTE
        assert isinstance(happen(hall, "Anna", Seek(time=DAYS))[0], SeekMade)

    def test_lost_connection_ends_own_seeks_but_not_challenges_received(
        self, hall: StoredHall
    ) -> None:
        do(hall, "Anna", Seek())
        do(hall, "Bert", Challenge("anna"))
        lose(hall, "Anna")
        assert ends(end_seeks_of_departed(hall, "Anna", NOW, for_good=False).hall) == {
            1: SeekEnd.GONE
        }
        for_good = {1: SeekEnd.GONE, 2: SeekEnd.GONE}
        assert ends(end_seeks_of_departed(hall, "Anna", NOW).hall) == for_good


class TestAskedFirst:
    @pytest.fixture
    def busy(self, hall: StoredHall) -> StoredHall:
        """Return a hall in which Anna plays Bert while she seeks another opponent."""
        begin(hall)
        do(hall, "Anna", Seek("classic", Side.TROLL))
        return hall

    def test_busy_maker_is_asked_first(self, busy: StoredHall) -> None:
        [asking] = happen(busy, "Carla", Accept(1))
        assert asking == SeekMade(
            NOW,
            "Carla",
            2,
            "classic",
            Side.DWARF,
            rated=False,
            to="Anna",
            answers=1,
            until=NOW + ANSWER_WITHIN,
        )

    def test_question_reaches_only_both_players(self, busy: StoredHall) -> None:
        [told] = do(busy, "Carla", Accept(1))
        assert isinstance(told.event, SeekMade)
        assert set(told.recipients) == {"Anna", "Carla"}

    @pytest.mark.parametrize("command", [Yes(), Accept(), Yes(2), Yes("carla")], ids=str)
    def test_maker_agrees_and_the_match_ends_both_seeks(
        self, busy: StoredHall, command: Command
    ) -> None:
        do(busy, "Carla", Accept(1))
        happened = happen(busy, "Anna", command)
        assert ends(happened) == {2: SeekEnd.ACCEPTED, 1: SeekEnd.MET}
        began = happened[-1]
        assert isinstance(began, BattleStarted)
        assert (began.rules, began.dwarf, began.troll) == ("classic", "Carla", "Anna")
        assert not busy.seeks

    @pytest.mark.parametrize("command", [No(), Decline(2), Decline("carla")], ids=str)
    def test_maker_declines_and_the_seek_ends(self, busy: StoredHall, command: Command) -> None:
        do(busy, "Carla", Accept(1))
        happened = happen(busy, "Anna", command)
        assert ends(happened) == {2: SeekEnd.DECLINED, 1: SeekEnd.WITHDRAWN}

    def test_maker_times_out_and_the_seek_ends(self, busy: StoredHall) -> None:
        do(busy, "Carla", Accept(1))
        decision = expire_question(busy, busy.seeks[2], NOW + ANSWER_WITHIN)
        assert ends(decision.hall) == {2: SeekEnd.UNANSWERED, 1: SeekEnd.WITHDRAWN}

    def test_question_takes_precedence_over_other_offers(self, busy: StoredHall) -> None:
        do(busy, "Bert", Adjourn(OAK))
        do(busy, "Dora", Challenge("anna"))
        do(busy, "Carla", Accept(1))
        assert ends(happen(busy, "Anna", Yes())) == {3: SeekEnd.ACCEPTED, 1: SeekEnd.MET}

    def test_question_past_its_deadline_cannot_be_answered(self, busy: StoredHall) -> None:
        do(busy, "Carla", Accept(1))
        late = NOW + ANSWER_WITHIN + 1  # no timer has ended the question
        assert refusal(busy, "Anna", Yes(), late) is Refusal.NOTHING_STANDS

    def test_question_pending_refuses_another(self, busy: StoredHall) -> None:
        do(busy, "Carla", Accept(1))
        assert refusal(busy, "Carla", Accept(1)) is Refusal.ASKS_ALREADY
        assert refusal(busy, "Carla", PlayNow()) is Refusal.ASKS_ALREADY
        assert refusal(busy, "Dora", Accept(1)) is Refusal.ASKED_BY_OTHERS

    def test_withdrawn_seek_declines_the_question(self, busy: StoredHall) -> None:
        do(busy, "Carla", Accept(1))
        over = {1: SeekEnd.WITHDRAWN, 2: SeekEnd.DECLINED}
        assert ends(happen(busy, "Anna", Withdraw(1))) == over

    def test_play_keeps_seeking_and_skips_makers_already_asked(self, busy: StoredHall) -> None:
        [asking] = happen(busy, "Carla", PlayNow())
        assert isinstance(asking, SeekMade)
        assert (asking.answers, asking.keeps_looking) == (1, True)
        [seek] = happen(busy, "Dora", PlayNow())
        assert isinstance(seek, SeekMade)
        assert (seek.answers, seek.to) == (None, "")

    def test_busy_challenger_is_asked_first(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", Challenge("carla"))
        [asking] = happen(hall, "Carla", Yes())
        assert isinstance(asking, SeekMade)
        assert (asking.player, asking.to, asking.answers) == ("Carla", "Anna", 1)

    def test_correspondence_maker_is_neither_asked_nor_moved(self, hall: StoredHall) -> None:
        begin(hall)
        do(hall, "Anna", Seek(time=DAYS))
        happened = happen(hall, "Carla", Accept(1))
        assert ends(happened) == {1: SeekEnd.ACCEPTED}
        board = next(each for each in happened if isinstance(each, BoardOpened))
        rooms = {name: hall.people[name].room for name in ("Anna", "Carla")}
        assert rooms == {"Anna": OAK, "Carla": board.name}

    def test_idle_maker_is_not_asked(self, hall: StoredHall) -> None:
        do(hall, "Anna", Seek())
        assert isinstance(happen(hall, "Bert", Accept(1))[-1], BattleStarted)
