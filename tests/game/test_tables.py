"""Decisions of a table: seats, starts, offers, setup, absences and claims."""

from __future__ import annotations

from enum import Enum

import pytest

from tests.game.conftest import (
    FIRST_OVER,
    GO_ON,
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
from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.playing.moves import Adjourn, Claim, End, Resign, Start, Undo
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import (
    Pieces,
    SetRules,
    SetUp,
    SetUpLess,
    SetUpMore,
    SetUpOpening,
)
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    PositionSet,
    Resumed,
    Returned,
    RulesSet,
)
from thudmud.game.match import fold_game
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Seat, Table, require_applicable
from thudmud.game.tables import (
    Context,
    TableCommand,
    come_back,
    decide,
    leave_seat,
    leave_server,
    require_running_game,
)
from thudmud.rules import (
    CLASSIC,
    DISCWORLD,
    Ending,
    IllegalMoveError,
    Piece,
    Reason,
    Side,
    Square,
    read_position,
)
from thudmud.values import replace

A1, A6, B5, F7, G1, G7, H8 = map(Square.parse, ("A1", "A6", "B5", "F7", "G1", "G7", "H8"))


class TestSeats:
    def test_join_takes_a_free_seat(self, empty: Table) -> None:
        assert events(empty, "Anna", Join(Side.TROLL)) == [Joined(7.0, "Anna", Side.TROLL)]
        assert after(empty, ("Anna", Join(Side.TROLL))).seats == {Side.TROLL: "Anna"}

    def test_join_of_a_taken_seat_is_refused(self, seated: Table) -> None:
        assert refusal(seated, "Carla", Join(Side.DWARF)) is Refusal.SEAT_TAKEN

    def test_join_of_a_second_seat_is_refused(self, empty: Table) -> None:
        table = after(empty, ("Anna", Join(Side.DWARF)))
        assert refusal(table, "Anna", Join(Side.DWARF)) is Refusal.SAME_SEAT
        assert refusal(table, "Anna", Join(Side.TROLL)) is Refusal.ONE_SEAT_EACH

    def test_join_defaults_to_the_only_free_seat(self, empty: Table, seated: Table) -> None:
        assert refusal(empty, "Anna", Join()) is Refusal.WHICH_SEAT
        table = after(empty, ("Anna", Join(Side.TROLL)))
        assert events(table, "Bert", Join()) == [Joined(7.0, "Bert", Side.DWARF)]
        assert refusal(table, "Anna", Join()) is Refusal.SAME_SEAT
        assert refusal(seated, "Carla", Join()) is Refusal.NO_SEAT_FREE

    def test_leave_gives_up_the_seat(self, seated: Table) -> None:
        left = Left(7.0, "Anna", Side.DWARF, Parting.LEFT)
        assert events(seated, "Anna", Leave()) == [left]
        assert after(seated, ("Anna", Leave())).seats == {Side.TROLL: "Bert"}

    def test_leave_of_the_last_player_clears_the_board(self, started: Table) -> None:
        table = after(started, ("Anna", Leave()))
        assert table.is_running
        assert events(table, "Bert", Leave())[1:] == [Cleared(7.0, "Bert")]
        assert after(table, ("Bert", Leave())).match is None

    def test_finished_match_stays_until_the_last_player_leaves(self, match_over: Table) -> None:
        table = after(match_over, ("Anna", Leave()))
        assert table.match == match_over.match
        assert after(table, ("Bert", Leave())).match is None

    def test_newcomer_continues_the_match_of_the_seat(self, first_over: Table) -> None:
        table = after(first_over, ("Anna", Leave()), ("Carla", Join(Side.DWARF)))
        assert table.match is not None
        assert table.match.points(Side.DWARF) == 32
        begun = after(table, ("Bert", Start()), ("Carla", Start()))
        assert begun.seats[Side.TROLL] == "Carla"

    def test_departure_of_a_player_records_the_reason(self, started: Table) -> None:
        assert leave_seat(started, "Bert", Parting.QUIT, 7.0) == (
            Left(7.0, "Bert", Side.TROLL, Parting.QUIT),
        )

    @pytest.mark.parametrize(
        "command", [Leave(), Start(), End(), Resign(), ply("A6", "B6")], ids=str
    )
    def test_spectators_are_refused(self, started: Table, command: TableCommand) -> None:
        assert refusal(started, "Carla", command) is Refusal.NOT_SEATED


class TestStarting:
    def test_start_without_an_opponent_is_refused(self, empty: Table) -> None:
        table = after(empty, ("Anna", Join(Side.DWARF)))
        assert refusal(table, "Anna", Start()) is Refusal.NEEDS_OPPONENT

    def test_start_by_either_player_begins_the_first_battle(self, seated: Table) -> None:
        expected = BattleStarted(7.0, "Bert", 1, "discworld", "Anna", "Bert")
        assert events(seated, "Bert", Start()) == [expected]
        table = after(seated, ("Bert", Start()))
        assert table.is_running
        assert table.game is not None
        assert table.game.position == DISCWORLD.initial_position

    def test_second_battle_swaps_the_seats(self, first_over: Table) -> None:
        offered = after(first_over, ("Bert", Start()))
        expected = BattleStarted(7.0, "Anna", 2, "discworld", "Bert", "Anna")
        assert events(offered, "Anna", Start()) == [expected]
        table = after(offered, ("Anna", Start()))
        assert table.seats == {Side.DWARF: "Bert", Side.TROLL: "Anna"}
        assert table.match is not None
        assert table.match.battle == 2
        assert table.match.earlier_points == (32, 32)

    def test_rematch_between_people_needs_both(self, match_over: Table) -> None:
        assert events(match_over, "Anna", Start()) == [Offered(7.0, "Anna", Offer.REMATCH)]
        table = after(match_over, ("Anna", Start()))
        assert refusal(table, "Anna", Start()) is Refusal.ALREADY_OFFERED
        table = after(table, ("Bert", Start()))
        assert table.match is not None
        assert (table.match.battle, table.match.earlier_points) == (1, (0, 0))
        assert table.seats == match_over.seats

    def test_restart_needs_both(self, started: Table) -> None:
        assert events(started, "Anna", Start()) == [Offered(7.0, "Anna", Offer.RESTART)]
        table = after(started, ("Anna", ply("A6", "B6")), ("Anna", Start()))
        assert refusal(table, "Anna", Start()) is Refusal.ALREADY_OFFERED
        table = after(table, ("Bert", Start()))
        assert table.game is not None
        assert table.game.moves == ()
        assert table.offers == {}


class TestEnding:
    def test_end_by_agreement_needs_both_players(self, started: Table) -> None:
        assert events(started, "Bert", End()) == [Offered(7.0, "Bert", Offer.END)]
        table = after(started, ("Bert", End()))
        assert refusal(table, "Bert", End()) is Refusal.ALREADY_OFFERED
        (ended,) = events(table, "Anna", End())
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.AGREEMENT
        assert not after(table, ("Anna", End())).is_running

    def test_ply_withdraws_offers(self, started: Table) -> None:
        table = after(started, ("Anna", End()), ("Bert", Start()))
        *lapsed, moved = events(table, "Anna", ply("A6", "B6"))
        assert isinstance(moved, Moved)
        assert lapsed == [
            OfferLapsed(7.0, "Anna", Offer.END),
            OfferLapsed(7.0, "Anna", Offer.RESTART),
        ]
        table = after(table, ("Anna", ply("A6", "B6")))
        assert events(table, "Bert", End()) == [Offered(7.0, "Bert", Offer.END)]

    def test_leave_withdraws_offers(self, started: Table) -> None:
        offered = after(started, ("Anna", End()))
        assert events(offered, "Bert", Leave()) == [
            OfferLapsed(7.0, "Bert", Offer.END),
            Left(7.0, "Bert", Side.TROLL, Parting.LEFT),
        ]
        table = after(started, ("Anna", End()), ("Anna", Leave()), ("Carla", Join(Side.DWARF)))
        assert events(table, "Bert", End()) == [Offered(7.0, "Bert", Offer.END)]

    def test_resignation_ends_the_battle_at_once(self, started: Table) -> None:
        (ended,) = events(started, "Anna", Resign())
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.RESIGNATION
        assert ended.outcome.winner is Side.TROLL
        assert (ended.outcome.score.dwarf, ended.outcome.score.troll) == (0, 32)

    def test_deserted_player_can_end_the_battle_alone(self, started: Table) -> None:
        (ended,) = events(after(started, ("Anna", Leave())), "Bert", End())
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.DESERTION

    def test_quiet_battle_can_be_ended_by_one_player(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 2), *STARTED)
        table = after(table, ("Anna", ply("A6", "B6")))
        assert events(table, "Bert", End()) == [Offered(7.0, "Bert", Offer.END)]
        table = after(table, ("Bert", ply("G7", "F7")))
        (ended,) = events(table, "Bert", End())
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.QUIET

    def test_quiet_limit_of_zero_disables_it(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 0), *STARTED)
        assert events(table, "Bert", End()) == [Offered(7.0, "Bert", Offer.END)]

    @pytest.mark.parametrize("command", [End(), Resign(), ply("A6", "B6")], ids=str)
    def test_commands_without_a_running_battle_are_refused(
        self, seated: Table, match_over: Table, command: TableCommand
    ) -> None:
        assert refusal(seated, "Anna", command) is Refusal.NO_BATTLE
        assert refusal(match_over, "Anna", command) is Refusal.BATTLE_OVER

    def test_refusal_without_a_battle_names_the_seated_players(
        self, seated: Table, match_over: Table
    ) -> None:
        for table in (seated, match_over):
            with pytest.raises(RefusedError) as refused:
                require_running_game(table)
            assert refused.value.details == {"board": "oak board", "seats": table.seating}


class TestPlaying:
    def test_ply_is_played(self, started: Table) -> None:
        (moved,) = events(started, "Anna", ply("A6", "B6"))
        assert isinstance(moved, Moved)
        assert (moved.player, moved.side, moved.ply) == ("Anna", Side.DWARF, 1)
        table = after(started, ("Anna", ply("A6", "B6")))
        assert table.game is not None
        assert table.game.moves == (moved.move,)

    def test_illegal_ply_is_refused(self, started: Table) -> None:
        with pytest.raises(IllegalMoveError) as refused:
            events(started, "Anna", ply("A6", "A5"))
        assert refused.value.code is Reason.OFF_BOARD

    def test_ply_out_of_turn_is_refused_with_the_player_to_move(self, started: Table) -> None:
        with pytest.raises(RefusedError) as refused:
            events(started, "Bert", ply("G7", "G6"))
        assert refused.value.code is Refusal.OPPONENTS_TURN
        assert refused.value.details == {"player": "Anna", "side": Side.DWARF}

    def test_match_points_add_up_over_both_battles(self, match_over: Table) -> None:
        # Anna had the dwarfs in the first battle, and resigned the second as the trolls.
        assert match_over.match is not None
        assert match_over.match.is_over
        assert match_over.seats == {Side.DWARF: "Bert", Side.TROLL: "Anna"}
        assert match_over.match.points(Side.DWARF) == 64
        assert match_over.match.points(Side.TROLL) == 32


class TestRules:
    def test_rules_are_set_before_a_match(self, empty: Table, seated: Table) -> None:
        assert events(empty, "Carla", SetRules("classic")) == [RulesSet(7.0, "Carla", "classic")]
        table = after(seated, ("Anna", SetRules("classic")), ("Anna", Start()))
        assert table.game is not None
        assert table.game.ruleset is CLASSIC

    def test_rules_are_set_between_matches(self, match_over: Table) -> None:
        assert after(match_over, ("Anna", SetRules("koom valley"))).match is None

    def test_rules_cannot_be_set_during_a_match(self, started: Table, first_over: Table) -> None:
        command = SetRules("classic")
        assert refusal(started, "Anna", command) is Refusal.RULES_RUNNING
        assert refusal(first_over, "Anna", command) is Refusal.RULES_MID_MATCH

    def test_rules_cannot_be_set_by_spectators(self, seated: Table) -> None:
        assert refusal(seated, "Carla", SetRules("classic")) is Refusal.RULES_SEATED_ONLY

    def test_rules_can_be_set_by_a_player_alone(self, empty: Table) -> None:
        table = after(empty, ("Anna", Join(Side.DWARF)))
        assert refusal(table, "Carla", SetRules("classic")) is Refusal.RULES_SEATED_ONLY
        assert after(table, ("Anna", SetRules("classic"))).ruleset is CLASSIC

    def test_rules_are_reset_when_the_last_player_leaves(self, empty: Table) -> None:
        table = after(empty, ("Anna", Join(Side.DWARF)), ("Anna", SetRules("classic")))
        left = events(table, "Anna", Leave())
        assert left[1:] == [Cleared(7.0, "Anna")]
        assert after(table, ("Anna", Leave())).ruleset is DISCWORLD

    def test_rules_unchanged_or_unknown_are_refused(self, empty: Table) -> None:
        assert refusal(empty, "Anna", SetRules("discworld")) is Refusal.RULES_ALREADY
        assert refusal(empty, "Anna", SetRules("chess")) is Refusal.RULES_UNKNOWN


SOME = SetUp(Pieces((A6, B5), (G7,)), Side.TROLL)
POSITION = read_position("dA6,dB5,TG7,RH8 troll", DISCWORLD)


def refused(table: Table, command: TableCommand) -> Enum:
    """Return the code with which the table or the rules refuse Anna's command."""
    with pytest.raises(RefusedError) as caught:
        events(table, "Anna", command)
    return caught.value.code


class TestSetUp:
    def test_set_up_position_opens_the_next_match(self, seated: Table) -> None:
        assert events(seated, "Anna", SOME) == [PositionSet(7.0, "Anna", "discworld", POSITION)]
        table = after(seated, ("Anna", SOME), ("Anna", Start()))
        assert table.game is not None
        assert table.game.initial_position == table.game.position == POSITION

    def test_set_up_position_opens_the_second_battle_too(self, seated: Table) -> None:
        table = after(seated, ("Anna", SOME), ("Anna", Start()), ("Bert", Resign()))
        [began] = events(after(table, ("Anna", Start())), "Bert", Start())
        assert isinstance(began, BattleStarted)
        assert (began.number, began.opening) == (2, POSITION)
        table = table.apply(began)
        assert table.game is not None
        assert table.game.position == POSITION

    def test_setup_makes_the_match_unrated(self, seated: Table) -> None:
        members = Context(7.0, {"Anna", "Bert"})
        [rated] = decide(seated, "Anna", Start(), members)
        [unrated] = decide(after(seated, ("Anna", SOME)), "Anna", Start(), members)
        assert isinstance(rated, BattleStarted)
        assert isinstance(unrated, BattleStarted)
        assert (rated.rated, unrated.rated) == (True, False)

    def test_setup_is_practised_under_its_own_rules_only(self, empty: Table) -> None:
        table = after(empty, ("Anna", SOME))
        for rules, opening in ((None, POSITION), ("discworld", POSITION), ("classic", None)):
            [began] = events(table, "Anna", Practice(rules))
            assert isinstance(began, BattleStarted)
            assert began.opening == opening
            require_applicable(table, began)

    def test_setup_is_kept_with_an_adjourned_match(self, seated: Table, empty: Table) -> None:
        table = after(seated, ("Anna", SOME), ("Anna", Start()))
        table = after(table, ("Bert", ply("G7", "F7")), ("Anna", Adjourn()))
        [away] = events(table, "Bert", Adjourn())
        assert isinstance(away, Adjourned)
        again = empty.apply(Resumed(8.0, "Anna", away.match))
        assert again.match is not None
        assert table.match is not None
        assert again.match.game == table.match.game
        assert again.opening == POSITION
        assert fold_game([Resumed(8.0, "Anna", away.match)]) == table.match.game

    def test_setup_stays_for_rematches_until_reset_to_the_opening(self, seated: Table) -> None:
        table = after(seated, ("Anna", SOME), ("Anna", Start()), ("Bert", Resign()))
        table = after(table, *GO_ON, ("Bert", Resign()))
        began = events(after(table, ("Anna", Start())), "Bert", Start())[-1]
        assert isinstance(began, BattleStarted)
        assert (began.number, began.opening) == (1, POSITION)
        assert events(table, "Anna", SetUpOpening()) == [
            PositionSet(7.0, "Anna", "discworld", None)
        ]
        table = after(table, ("Anna", SetUpOpening()))
        assert (table.match, table.opening) == (None, None)

    def test_setup_is_dropped_with_other_rules_or_the_last_player(self, seated: Table) -> None:
        assert after(seated, ("Anna", SOME), ("Anna", SetRules("classic"))).opening is None
        table = after(seated, ("Anna", SOME), ("Bert", Leave()), ("Anna", Leave()))
        assert (table.opening, table.is_new) == (None, True)

    def test_setup_can_be_changed_in_steps(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetUpLess((A6, G7))))
        assert table.opening is not None
        assert (table.opening.count(Piece.DWARF), table.opening.count(Piece.TROLL)) == (31, 7)
        table = after(table, ("Anna", SetUpMore(Pieces(trolls=(G7,)), Side.TROLL)))
        assert table.opening is not None
        assert table.opening.piece_at(G7) is Piece.TROLL
        assert table.opening.turn is Side.TROLL
        table = after(table, ("Anna", SetUpMore(turn=Side.DWARF)))
        table = after(table, ("Anna", SetUpMore(Pieces(dwarfs=(A6,)))))
        assert table.opening is None

    def test_setup_places_the_rock(self, empty: Table) -> None:
        koom = after(empty, ("Anna", SetRules("koom valley")))
        table = after(koom, ("Anna", SetUp(Pieces((A6,), (G7,)))))
        assert table.opening is not None
        assert table.opening.piece_at(H8) is Piece.ROCK
        table = after(table, ("Anna", SetUpMore(Pieces(middle=(B5,)))))
        assert table.opening is not None
        assert table.opening.squares(Piece.ROCK) == (B5,)
        assert refused(table, SetUpLess((B5,))) is Refusal.SETUP_NEEDS_ROCK
        assert refused(koom, SetUp(Pieces((A6,), (G7,), (G1,)))) is Refusal.SETUP_OVER

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            (SetUp(Pieces((A1,))), Reason.OFF_BOARD),
            (SetUp(Pieces((A6, A6))), Reason.NAMED_TWICE),
            (SetUp(Pieces((A6,), (A6,))), Reason.NAMED_TWICE),
            (SetUp(Pieces((H8,), (G7,))), Reason.TARGET_TAKEN),
            (SetUp(Pieces((A6,), (G7,), (G1,))), Reason.THUDSTONE_STAYS),
            (SetUp(Pieces((A6,), (G7,), (H8, G1))), Refusal.SETUP_TOO_MANY),
            (SetUpMore(Pieces(trolls=(B5,))), Reason.TARGET_TAKEN),
            (SetUpMore(Pieces(trolls=(F7,))), Refusal.SETUP_TOO_MANY),
            (SetUpLess((H8,)), Reason.THUDSTONE_STAYS),
            (SetUpLess((F7,)), Reason.NO_PIECE),
            (SetUp(Pieces((), (G7,))), Refusal.SETUP_OVER),
            (SetUpOpening(), Refusal.SETUP_ALREADY),
            (SetUpMore(turn=Side.DWARF), Refusal.SETUP_ALREADY),
        ],
        ids=str,
    )
    def test_setup_that_is_invalid_is_refused(
        self, empty: Table, command: TableCommand, code: Enum
    ) -> None:
        assert refused(empty, command) is code

    def test_setup_is_reserved_to_the_players_between_matches(
        self, seated: Table, started: Table, first_over: Table, match_over: Table
    ) -> None:
        assert refusal(seated, "Carla", SOME) is Refusal.SETUP_SEATED_ONLY
        assert refusal(started, "Anna", SOME) is Refusal.SETUP_RUNNING
        assert refusal(first_over, "Anna", SOME) is Refusal.SETUP_MID_MATCH
        assert after(match_over, ("Anna", SOME)).match is None


def test_version_counts_every_event(empty: Table, match_over: Table) -> None:
    assert empty.version == 0
    assert match_over.version == 8


def test_decide_leaves_the_table_unchanged(started: Table) -> None:
    before = replace(started)
    events(started, "Anna", ply("A6", "B6"))
    assert started == before


def test_inconsistent_event_is_rejected(empty: Table) -> None:
    with pytest.raises(
        InvalidValueError, match="inconsistent events at the oak board: there is no match"
    ):
        empty.apply(BattleStarted(0.0, "Anna", 2, "classic", "Anna", "Bert"))


def test_offer_of_a_player_without_a_seat_is_ignored(empty: Table) -> None:
    assert not empty.apply(Offered(0.0, "Anna", Offer.END)).offers


SOON = LATER - 1

ON_PURPOSE = pytest.mark.parametrize("parting", [Parting.LEFT, Parting.QUIT])


class TestVanishing:
    @pytest.mark.parametrize("parting", [Parting.LOST, Parting.IDLE, Parting.RESTART])
    def test_involuntary_departure_keeps_the_seat(
        self, empty: Table, match_over: Table, parting: Parting
    ) -> None:
        alone = after(empty, ("Anna", Join(Side.DWARF)))
        absent = (Absent(NOW, "Anna", Side.DWARF, parting),)
        assert leave_server(alone, "Anna", parting, NOW) == absent
        over = (Absent(NOW, "Anna", Side.TROLL, parting),)
        assert leave_server(match_over, "Anna", parting, NOW) == over

    @ON_PURPOSE
    def test_voluntary_departure_keeps_the_seat_of_a_match_under_way(
        self, started: Table, first_over: Table, parting: Parting
    ) -> None:
        for table in (started, first_over):
            gone = leave_server(table, "Bert", parting, NOW)
            assert gone == (Absent(NOW, "Bert", Side.TROLL, parting),)

    @ON_PURPOSE
    def test_voluntary_departure_gives_up_any_other_seat(
        self, seated: Table, match_over: Table, parting: Parting
    ) -> None:
        left = (Left(NOW, "Bert", Side.TROLL, parting),)
        assert leave_server(seated, "Bert", parting, NOW) == left
        left = (Left(NOW, "Bert", Side.DWARF, parting),)
        assert leave_server(match_over, "Bert", parting, NOW) == left

    @ON_PURPOSE
    def test_voluntary_departure_of_the_last_player_clears_the_board(
        self, match_over: Table, parting: Parting
    ) -> None:
        table = after(match_over, ("Anna", Leave()))
        assert leave_server(table, "Bert", parting, NOW)[1:] == (Cleared(NOW, "Bert"),)

    def test_departure_of_an_absent_player_changes_nothing(self, started: Table) -> None:
        assert leave_server(without(started, "Bert"), "Bert", Parting.LOST, LATER) == ()

    def test_departure_without_a_seat_is_refused(self, started: Table) -> None:
        with pytest.raises(RefusedError):
            leave_server(started, "Carla", Parting.LOST, NOW)

    def test_absence_start_is_recorded(self, started: Table) -> None:
        table = without(started, "Bert", now=50.0)
        assert table.away == {Side.TROLL: 50.0}
        assert table.seats == started.seats
        assert not table.is_long_away(Side.TROLL, 50.0 + GRACE - 0.1)
        assert table.is_long_away(Side.TROLL, 50.0 + GRACE)
        assert not table.is_long_away(Side.DWARF, 1e9)

    def test_absence_is_part_of_the_seating(self, started: Table) -> None:
        assert without(started, "Bert").seating == (
            Seat(Side.DWARF, "Anna"),
            Seat(Side.TROLL, "Bert", NOW),
        )


class TestReturning:
    def test_return_ends_the_absence(self, started: Table) -> None:
        table = without(started, "Bert")
        (back,) = come_back(table, "Bert", 9.0)
        assert back == Returned(9.0, "Bert", Side.TROLL)
        assert table.apply(back).away == {}

    def test_return_of_a_player_not_away_changes_nothing(self, started: Table) -> None:
        for player in ("Anna", "Bert", "Carla"):
            assert come_back(started, player, 9.0) == ()
        assert come_back(without(started, "Bert"), "Anna", 9.0) == ()

    def test_return_is_implied_by_a_command(self, started: Table) -> None:
        back, moved = events(without(started, "Anna"), "Anna", ply("A6", "B6"))
        assert back == Returned(NOW, "Anna", Side.DWARF)
        assert isinstance(moved, Moved)

    def test_absence_after_a_return_starts_anew(self, started: Table) -> None:
        table = without(started, "Bert")
        table = table.apply(Returned(100.0, "Bert", Side.TROLL))
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.NOT_AWAY
        table = without(table, "Bert", now=200.0)
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.TOO_SOON


class TestTheBattleGoesOn:
    def test_move_is_allowed_while_the_opponent_is_away(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", ply("A6", "B6")))
        assert table.game is not None
        assert len(table.game.moves) == 1
        assert table.away == {Side.TROLL: NOW}

    def test_offers_stay_open_while_a_player_is_away(self, started: Table) -> None:
        table = without(after(started, ("Bert", End())), "Bert")
        (ended,) = events(table, "Anna", End())
        assert isinstance(ended, BattleEnded)
        table = after(without(started, "Bert"), ("Anna", End()))
        assert table.offers == {Offer.END: Side.DWARF}
        back, ended = events(table, "Bert", End())
        assert back == Returned(NOW, "Bert", Side.TROLL)
        assert isinstance(ended, BattleEnded)

    def test_seat_of_an_absent_player_does_not_count_as_deserted(self, started: Table) -> None:
        table = without(started, "Bert")
        assert events(table, "Anna", End(), 1e9) == [Offered(1e9, "Anna", Offer.END)]

    def test_start_while_the_opponent_is_away_is_refused(
        self, seated: Table, first_over: Table
    ) -> None:
        for table in (seated, first_over):
            assert refusal(without(table, "Bert"), "Anna", Start()) is Refusal.AWAY

    def test_restart_while_the_opponent_is_away_is_refused(self, started: Table) -> None:
        assert refusal(without(started, "Bert"), "Anna", Start()) is Refusal.AWAY


class TestClaiming:
    def test_claim_wins_the_battle_scored_as_a_resignation(self, started: Table) -> None:
        (ended,) = events(without(started, "Bert"), "Anna", Claim(), LATER)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.CLAIM
        assert ended.outcome.winner is Side.DWARF
        (resigned,) = events(started, "Bert", Resign())
        assert isinstance(resigned, BattleEnded)
        assert ended.outcome.score == resigned.outcome.score
        assert (ended.dwarf, ended.troll) == ("Anna", "Bert")

    def test_claim_is_possible_in_either_sides_turn(self, started: Table) -> None:
        table = without(after(started, ("Anna", ply("A6", "B6"))), "Bert")
        assert not after(table, ("Anna", Claim()), now=LATER).is_running
        table = without(started, "Anna")
        (ended,) = events(table, "Bert", Claim(), LATER)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.winner is Side.TROLL

    def test_claim_of_the_first_battle_continues_the_match(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", Claim()), now=LATER)
        assert table.half_played
        assert table.away == {Side.TROLL: NOW}
        assert table.match is not None
        assert table.match.points(Side.TROLL) == 0

    def test_claim_before_the_grace_has_passed_is_refused(self, started: Table) -> None:
        table = without(started, "Bert")
        assert refusal(table, "Anna", Claim(), SOON) is Refusal.TOO_SOON
        with pytest.raises(RefusedError, match="player=Bert seconds="):
            events(table, "Anna", Claim(), NOW + 60)

    def test_claim_from_a_present_player_is_refused(self, started: Table) -> None:
        assert refusal(started, "Anna", Claim(), LATER) is Refusal.NOT_AWAY

    def test_claim_from_a_free_seat_is_refused(self, started: Table) -> None:
        table = after(started, ("Bert", Leave()))
        assert refusal(table, "Anna", Claim(), LATER) is Refusal.NOBODY_TO_CLAIM_FROM

    def test_claim_without_a_running_battle_is_refused(
        self, seated: Table, first_over: Table, match_over: Table
    ) -> None:
        for table, reason in [
            (seated, Refusal.NO_BATTLE),
            (match_over, Refusal.BATTLE_OVER),
            (after(first_over, ("Bert", Leave())), Refusal.BATTLE_OVER),
        ]:
            away = without(table, "Bert") if table.is_full else table
            assert refusal(away, "Anna", Claim(), LATER) is reason

    def test_claim_by_a_spectator_is_refused(self, started: Table) -> None:
        assert refusal(without(started, "Bert"), "Carla", Claim(), LATER) is Refusal.NOT_SEATED

    def test_claim_without_grace_succeeds_at_once(self) -> None:
        table = after(Table.set_up(BoardSpec("oak board"), 200, 0.0), *STARTED)
        assert not after(without(table, "Bert"), ("Anna", Claim())).is_running


class TestWhoGetsASeat:
    JOIN = Join(Side.TROLL)

    def test_join_of_a_seat_within_its_grace_is_refused(
        self, seated: Table, started: Table
    ) -> None:
        for table in (seated, started):
            assert refusal(without(table, "Bert"), "Carla", self.JOIN, SOON) is Refusal.SEAT_TAKEN

    def test_join_replaces_a_player_away_for_long(self, seated: Table) -> None:
        table = without(seated, "Bert")
        assert events(table, "Carla", self.JOIN, LATER) == [
            Left(LATER, "Bert", Side.TROLL, Parting.LOST),
            Joined(LATER, "Carla", Side.TROLL),
        ]
        joined = after(table, ("Carla", self.JOIN), now=LATER)
        assert joined.seats == {Side.DWARF: "Anna", Side.TROLL: "Carla"}
        assert joined.away == {}

    def test_join_replaces_an_absent_player_of_a_finished_match(self, match_over: Table) -> None:
        table = without(match_over, "Anna")
        assert after(table, ("Carla", self.JOIN), now=LATER).seats[Side.TROLL] == "Carla"

    def test_join_at_an_abandoned_board_clears_it(self, match_over: Table) -> None:
        table = without(after(match_over, ("Bert", Leave())), "Anna")
        assert events(table, "Carla", self.JOIN, LATER) == [
            Left(LATER, "Anna", Side.TROLL, Parting.LOST),
            Cleared(LATER, "Anna"),
            Joined(LATER, "Carla", Side.TROLL),
        ]

    def test_join_replaces_a_lone_absent_player_at_a_new_board(self, empty: Table) -> None:
        table = without(after(empty, ("Anna", self.JOIN)), "Anna")
        assert after(table, ("Carla", self.JOIN), now=LATER).seats == {Side.TROLL: "Carla"}

    def test_join_of_a_kept_seat_in_a_match_under_way_is_refused(
        self, started: Table, first_over: Table
    ) -> None:
        for table in (started, first_over):
            away = without(table, "Bert")
            assert refusal(away, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN

    def test_join_waits_until_both_players_are_away_for_long(self, started: Table) -> None:
        table = without(without(started, "Bert"), "Anna", now=NOW + 1)
        assert refusal(table, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN
        assert after(table, ("Carla", self.JOIN), now=LATER + 1).match is None

    @pytest.mark.parametrize("deeds", [STARTED, FIRST_OVER], ids=["battle", "between"])
    @pytest.mark.parametrize("side", Side)
    def test_join_adjourns_a_match_both_players_have_left(
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

    def test_join_of_a_returned_players_seat_is_refused(self, started: Table) -> None:
        table = without(started, "Anna", "Bert")
        table = table.apply(Returned(LATER, "Anna", Side.DWARF))
        assert refusal(table, "Carla", self.JOIN, LATER) is Refusal.SEAT_TAKEN

    def test_join_takes_a_free_seat_opposite_an_absent_player(self, started: Table) -> None:
        table = without(after(started, ("Anna", Leave())), "Bert")
        assert events(table, "Carla", Join(Side.DWARF)) == [Joined(NOW, "Carla", Side.DWARF)]


class TestLeavingAndAbsence:
    def test_leave_lapses_offers_to_an_absent_player(self, seated: Table, started: Table) -> None:
        table = without(after(started, ("Anna", End())), "Bert")
        assert events(table, "Anna", Leave())[0] == OfferLapsed(NOW, "Anna", Offer.END)

    def test_leave_keeps_the_absence_of_the_opponent(self, started: Table) -> None:
        table = after(without(started, "Bert"), ("Anna", Leave()))
        assert table.away == {Side.TROLL: NOW}
        assert table.seats == {Side.TROLL: "Bert"}

    def test_absence_that_has_ended_leaves_no_trace_in_a_new_match(self, seated: Table) -> None:
        table = without(seated, "Bert").apply(Returned(NOW, "Bert", Side.TROLL))
        assert after(table, ("Anna", Start())).away == {}

    def test_rules_can_be_set_while_the_opponent_is_away(self, seated: Table) -> None:
        table = after(without(seated, "Bert"), ("Anna", SetRules("classic")))
        assert table.away == {Side.TROLL: NOW}


def test_adjourn_alone_needs_a_long_absence_of_the_opponent(
    started: Table, first_over: Table
) -> None:
    for table in (started, first_over):
        away = without(table, "Bert")
        assert refusal(away, "Anna", Adjourn(), SOON) is Refusal.TOO_SOON
        (adjourned,) = events(away, "Anna", Adjourn(), LATER)
        assert isinstance(adjourned, Adjourned)


def test_takeback_can_be_offered_to_an_absent_player(started: Table) -> None:
    table = after(started, ("Anna", ply("A6", "B6")))
    assert after(without(table, "Bert"), ("Anna", Undo())).offers == {Offer.UNDO: Side.DWARF}
