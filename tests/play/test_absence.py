"""Who is away, and what the others may do about it."""

from __future__ import annotations

import pytest

from tests.play.conftest import (
    FIRST_OVER,
    GRACE,
    LATER,
    NOW,
    STARTED,
    after,
    events,
    ply,
    refusal,
    without,
)
from thudmud.errors import Refused
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleEnded,
    Cleared,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Returned,
)
from thudmud.play.refusals import Refusal
from thudmud.play.table import BoardSpec, Seat, Table
from thudmud.rules import Ending, Side
from thudmud.verbs.moves import Adjourn, Claim, End, Resign, Start, Undo
from thudmud.verbs.seats import Join, Leave
from thudmud.verbs.setup import SetRules
from thudmud.verbs.tables import TableCommand, come_back, vanish

SOON = LATER - 1

ON_PURPOSE = pytest.mark.parametrize("parting", [Parting.LEFT, Parting.QUIT])


class TestVanishing:
    @pytest.mark.parametrize("parting", [Parting.LOST, Parting.IDLE, Parting.RESTART])
    def test_a_seat_is_kept_for_whoever_did_not_mean_to_go(
        self, empty: Table, match_over: Table, parting: Parting
    ) -> None:
        alone = after(empty, ("Anna", Join(Side.DWARF)))
        absent = (Absent(NOW, "Anna", Side.DWARF, parting),)
        assert vanish(alone, "Anna", parting, NOW) == absent
        over = (Absent(NOW, "Anna", Side.TROLL, parting),)
        assert vanish(match_over, "Anna", parting, NOW) == over

    @ON_PURPOSE
    def test_going_on_purpose_keeps_a_seat_in_a_match_under_way(
        self, started: Table, first_over: Table, parting: Parting
    ) -> None:
        for table in (started, first_over):
            gone = vanish(table, "Bert", parting, NOW)
            assert gone == (Absent(NOW, "Bert", Side.TROLL, parting),)

    @ON_PURPOSE
    def test_going_on_purpose_gives_up_any_other_seat(
        self, seated: Table, match_over: Table, parting: Parting
    ) -> None:
        left = (Left(NOW, "Bert", Side.TROLL, parting),)
        assert vanish(seated, "Bert", parting, NOW) == left
        left = (Left(NOW, "Bert", Side.DWARF, parting),)
        assert vanish(match_over, "Bert", parting, NOW) == left

    @ON_PURPOSE
    def test_the_last_to_go_on_purpose_clears_the_board(
        self, match_over: Table, parting: Parting
    ) -> None:
        table = after(match_over, ("Anna", Leave()))
        assert vanish(table, "Bert", parting, NOW)[1:] == (Cleared(NOW, "Bert"),)

    def test_nobody_goes_away_twice(self, started: Table) -> None:
        assert vanish(without(started, "Bert"), "Bert", Parting.LOST, LATER) == ()

    def test_without_a_seat_there_is_nothing_to_keep(self, started: Table) -> None:
        with pytest.raises(Refused):
            vanish(started, "Carla", Parting.LOST, NOW)

    def test_since_when_is_remembered(self, started: Table) -> None:
        table = without(started, "Bert", now=50.0)
        assert table.away == {Side.TROLL: 50.0}
        assert table.seats == started.seats
        assert not table.long_away(Side.TROLL, 50.0 + GRACE - 0.1)
        assert table.long_away(Side.TROLL, 50.0 + GRACE)
        assert not table.long_away(Side.DWARF, 1e9)

    def test_who_is_away_is_told(self, started: Table) -> None:
        assert without(started, "Bert").seating == (
            Seat(Side.DWARF, "Anna"),
            Seat(Side.TROLL, "Bert", NOW),
        )


class TestReturning:
    def test_who_was_away_is_back(self, started: Table) -> None:
        table = without(started, "Bert")
        (back,) = come_back(table, "Bert", 9.0)
        assert back == Returned(9.0, "Bert", Side.TROLL)
        assert table.apply(back).away == {}

    def test_nobody_else_is(self, started: Table) -> None:
        for player in ("Anna", "Bert", "Carla"):
            assert come_back(started, player, 9.0) == ()
        assert come_back(without(started, "Bert"), "Anna", 9.0) == ()

    def test_whoever_does_something_is_back(self, started: Table) -> None:
        back, moved = events(without(started, "Anna"), "Anna", ply("A6", "B6"))
        assert back == Returned(NOW, "Anna", Side.DWARF)
        assert isinstance(moved, Moved)

    def test_the_absence_begins_anew(self, started: Table) -> None:
        table = without(started, "Bert")
        table = table.apply(Returned(100.0, "Bert", Side.TROLL))
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.NOT_AWAY
        table = without(table, "Bert", now=200.0)
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.TOO_SOON


class TestTheBattleGoesOn:
    def test_one_may_move_while_the_other_is_away(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", ply("A6", "B6")))
        assert table.game is not None
        assert len(table.game.moves) == 1
        assert table.away == {Side.TROLL: NOW}

    def test_an_offer_waits_for_who_is_away(self, started: Table) -> None:
        table = without(after(started, ("Bert", End())), "Bert")
        (ended,) = events(table, "Anna", End())
        assert isinstance(ended, BattleEnded)
        table = after(without(started, "Bert"), ("Anna", End()))
        assert table.offers == {Offer.END: Side.DWARF}
        back, ended = events(table, "Bert", End())
        assert back == Returned(NOW, "Bert", Side.TROLL)
        assert isinstance(ended, BattleEnded)

    def test_a_seat_kept_is_no_seat_free(self, started: Table) -> None:
        table = without(started, "Bert")
        assert events(table, "Anna", End(), 1e9) == [Offered(1e9, "Anna", Offer.END)]

    def test_a_battle_begins_with_both(self, seated: Table, first_over: Table) -> None:
        for table in (seated, first_over):
            assert refusal(without(table, "Bert"), "Anna", Start()) is Refusal.AWAY

    def test_nor_does_it_begin_anew(self, started: Table) -> None:
        assert refusal(without(started, "Bert"), "Anna", Start()) is Refusal.AWAY


class TestClaiming:
    def test_a_battle_is_claimed(self, started: Table) -> None:
        (ended,) = events(without(started, "Bert"), "Anna", Claim(), LATER)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.CLAIM
        assert ended.outcome.winner is Side.DWARF
        (resigned,) = events(started, "Bert", Resign())
        assert isinstance(resigned, BattleEnded)
        assert ended.outcome.score == resigned.outcome.score
        assert (ended.dwarf, ended.troll) == ("Anna", "Bert")

    def test_the_one_who_claims_need_not_be_to_move(self, started: Table) -> None:
        table = without(after(started, ("Anna", ply("A6", "B6"))), "Bert")
        assert not after(table, ("Anna", Claim()), now=LATER).running
        table = without(started, "Anna")
        (ended,) = events(table, "Bert", Claim(), LATER)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.winner is Side.TROLL

    def test_the_match_goes_on(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", Claim()), now=LATER)
        assert table.half_played
        assert table.away == {Side.TROLL: NOW}
        assert table.match is not None
        assert table.match.points(Side.TROLL) == 0

    def test_not_too_soon(self, started: Table) -> None:
        table = without(started, "Bert")
        assert refusal(table, "Anna", Claim(), SOON) is Refusal.TOO_SOON
        with pytest.raises(Refused, match="player=Bert seconds="):
            events(table, "Anna", Claim(), NOW + 60)

    def test_not_from_somebody_who_is_here(self, started: Table) -> None:
        assert refusal(started, "Anna", Claim(), LATER) is Refusal.NOT_AWAY

    def test_not_from_a_free_seat(self, started: Table) -> None:
        table = after(started, ("Bert", Leave()))
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.NOBODY_TO_CLAIM_FROM

    def test_not_without_a_battle(
        self, seated: Table, first_over: Table, match_over: Table
    ) -> None:
        for table, reason in [
            (seated, Refusal.NO_BATTLE),
            (match_over, Refusal.BATTLE_OVER),
            (after(first_over, ("Bert", Leave())), Refusal.BATTLE_OVER),
        ]:
            away = without(table, "Bert") if table.full else table
            assert refusal(away, "Anna", Claim(), LATER) is reason

    def test_not_by_somebody_else(self, started: Table) -> None:
        assert refusal(without(started, "Bert"), "Carla", Claim(), LATER) is Refusal.NOT_SEATED

    def test_at_once_without_grace(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 200, 0.0), *STARTED)
        assert not after(without(table, "Bert"), ("Anna", Claim())).running


class TestWhoGetsASeat:
    JOIN = Join(Side.TROLL)

    def test_not_one_whose_holder_may_come_back(self, seated: Table, started: Table) -> None:
        for table in (seated, started):
            assert refusal(without(table, "Bert"), "Carla", self.JOIN, SOON) is Refusal.SEAT_TAKEN

    def test_one_whose_holder_has_been_away_for_long(self, seated: Table) -> None:
        table = without(seated, "Bert")
        assert events(table, "Carla", self.JOIN, LATER) == [
            Left(LATER, "Bert", Side.TROLL, Parting.LOST),
            Joined(LATER, "Carla", Side.TROLL),
        ]
        joined = after(table, ("Carla", self.JOIN), now=LATER)
        assert joined.seats == {Side.DWARF: "Anna", Side.TROLL: "Carla"}
        assert joined.away == {}

    def test_one_at_a_match_that_is_over(self, match_over: Table) -> None:
        table = without(match_over, "Anna")
        assert after(table, ("Carla", self.JOIN), now=LATER).seats[Side.TROLL] == "Carla"

    def test_one_at_a_board_where_nobody_is_left(self, match_over: Table) -> None:
        table = without(after(match_over, ("Bert", Leave())), "Anna")
        assert events(table, "Carla", self.JOIN, LATER) == [
            Left(LATER, "Anna", Side.TROLL, Parting.LOST),
            Cleared(LATER, "Anna"),
            Joined(LATER, "Carla", Side.TROLL),
        ]

    def test_one_who_sat_alone_at_a_new_board(self, empty: Table) -> None:
        table = without(after(empty, ("Anna", self.JOIN)), "Anna")
        assert after(table, ("Carla", self.JOIN), now=LATER).seats == {Side.TROLL: "Carla"}

    def test_none_of_a_match_under_way(self, started: Table, first_over: Table) -> None:
        for table in (started, first_over):
            away = without(table, "Bert")
            assert refusal(away, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN

    def test_none_if_only_one_of_two_has_been_away_for_long(self, started: Table) -> None:
        table = without(without(started, "Bert"), "Anna", now=NOW + 1)
        assert refusal(table, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN
        assert after(table, ("Carla", self.JOIN), now=LATER + 1).match is None

    @pytest.mark.parametrize("deeds", [STARTED, FIRST_OVER], ids=["battle", "between"])
    @pytest.mark.parametrize("side", Side)
    def test_a_match_that_both_have_left_is_put_away(
        self, empty: Table, deeds: list[tuple[str, TableCommand]], side: Side
    ) -> None:
        table = without(after(empty, *deeds), "Anna", "Bert")
        adjourned, joined = events(table, "Carla", Join(side), LATER)
        assert isinstance(adjourned, Adjourned)
        assert table.match is not None
        assert adjourned.match == table.match.saved()
        assert adjourned.player == "Carla"
        assert joined == Joined(LATER, "Carla", side)
        table = table.apply(adjourned).apply(joined)
        assert (table.match, table.seats, table.away) == (None, {side: "Carla"}, {})

    def test_who_is_back_keeps_the_seat(self, started: Table) -> None:
        table = without(started, "Anna", "Bert")
        table = table.apply(Returned(LATER, "Anna", Side.DWARF))
        assert refusal(table, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN

    def test_a_free_seat_is_free_whoever_is_away(self, started: Table) -> None:
        table = without(after(started, ("Anna", Leave())), "Bert")
        assert events(table, "Carla", Join(Side.DWARF)) == [Joined(NOW, "Carla", Side.DWARF)]


class TestLeavingAndAbsence:
    def test_who_leaves_lapses_what_was_offered(self, seated: Table, started: Table) -> None:
        table = without(after(started, ("Anna", End())), "Bert")
        assert events(table, "Anna", Leave())[0] == OfferLapsed(NOW, "Anna", Offer.END)

    def test_the_other_is_still_away(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", Leave()))
        assert table.away == {Side.TROLL: NOW}
        assert table.seats == {Side.TROLL: "Bert"}

    def test_nothing_of_an_absence_is_left_with_a_new_match(self, seated: Table) -> None:
        table = without(seated, "Bert").apply(Returned(NOW, "Bert", Side.TROLL))
        assert after(table, ("Anna", Start())).away == {}

    def test_rules_may_be_set_meanwhile(self, seated: Table) -> None:
        table = after(without(seated, "Bert"), ("Anna", SetRules("classic")))
        assert table.away == {Side.TROLL: NOW}


def test_adjourning_alone(started: Table, first_over: Table) -> None:
    for table in (started, first_over):
        away = without(table, "Bert")
        assert refusal(away, "Anna", Adjourn(), SOON) is Refusal.TOO_SOON
        (adjourned,) = events(away, "Anna", Adjourn(), LATER)
        assert isinstance(adjourned, Adjourned)


def test_a_ply_may_be_asked_back_from_who_is_away(started: Table) -> None:
    table = after(started, ("Anna", ply("A6", "B6")))
    assert after(without(table, "Bert"), ("Anna", Undo())).offers == {Offer.UNDO: Side.DWARF}
