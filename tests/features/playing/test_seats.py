"""One player at both seats of a board."""

from __future__ import annotations

import pytest

from tests.game.conftest import GRACE, LATER, NOW, after, events, ply, refusal, without
from tests.game.halls import StoredHall, do, enter, hall_of, lose, reopened
from tests.game.halls import refusal as refused_in_hall
from thudmud.errors import InvalidValueError
from thudmud.features.matchmaking.commands import Invite, No
from thudmud.features.playing.moves import Adjourn, Claim, End, Resign, Start, Undo
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import SetRules
from thudmud.features.rooms.commands import Go
from thudmud.game.archive import HistoryLookup, ScoreLookup, StandingsLookup
from thudmud.game.asides import CaughtUp
from thudmud.game.decisions import is_limited
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Left,
    Moved,
    Parting,
    Resumed,
    Returned,
    SavedMatch,
    TakenBack,
)
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table, require_applicable
from thudmud.game.tables import Context, leave_server, resume
from thudmud.rules import CLASSIC, KOOM_VALLEY, Ending, IllegalMoveError, Reason, Side

BEGUN = BattleStarted(NOW, "Anna", 1, "discworld", "Anna", "Anna")
PLIES = [
    ply("A6", "B6"),
    ply("G7", "G6"),
    ply("B6", "C6"),
    ply("G6", "G7"),
    ply("C6", "D6"),
    ply("G7", "G6"),
]


@pytest.fixture
def practice(empty: Table) -> Table:
    return after(empty, ("Anna", Practice()))


class TestSittingDown:
    def test_practice_takes_both_seats_and_starts_a_battle(
        self, empty: Table, practice: Table
    ) -> None:
        assert events(empty, "Anna", Practice()) == [BEGUN]
        assert dict(practice.seats) == dict.fromkeys(Side, "Anna")
        assert practice.is_running
        assert practice.is_practice
        assert practice.sides_of("Anna") == tuple(Side)
        assert practice.sides_of("Bert") == ()

    @pytest.mark.parametrize("side", Side)
    def test_practice_from_a_seat_takes_the_other_one_too(self, empty: Table, side: Side) -> None:
        alone = after(empty, ("Anna", Join(side)))
        assert events(alone, "Anna", Practice()) == [BEGUN]

    def test_practice_uses_named_then_set_then_board_rules(self, empty: Table) -> None:
        assert game_rules(after(empty, ("Anna", Practice("classic")))) == CLASSIC.name
        chosen = after(empty, ("Anna", Join(Side.TROLL)), ("Anna", SetRules("classic")))
        assert game_rules(after(chosen, ("Anna", Practice()))) == CLASSIC.name
        left = after(empty, ("Anna", Practice("classic")), ("Anna", Leave()))
        assert game_rules(after(left, ("Bert", Practice()))) == "discworld"

    def test_practice_at_an_occupied_board_is_refused(self, seated: Table, started: Table) -> None:
        for table in (seated, started):
            assert refusal(table, "Carla", Practice()) is Refusal.BOARD_IN_USE
        assert refusal(seated, "Anna", Practice()) is Refusal.BOARD_IN_USE
        alone = after(seated, ("Bert", Leave()))
        assert refusal(alone, "Carla", Practice()) is Refusal.BOARD_IN_USE

    def test_practice_during_a_match_is_refused(
        self, started: Table, first_over: Table, practice: Table
    ) -> None:
        for table in (started, first_over):
            assert refusal(table, "Anna", Practice()) is Refusal.MATCH_UNDER_WAY
            left = after(table, ("Bert", Leave()))
            assert refusal(left, "Anna", Practice()) is Refusal.MATCH_UNDER_WAY
        assert refusal(practice, "Anna", Practice("classic")) is Refusal.MATCH_UNDER_WAY

    def test_practice_after_a_finished_match_is_allowed(
        self, match_over: Table, practice: Table
    ) -> None:
        alone = after(match_over, ("Bert", Leave()))
        assert events(alone, "Anna", Practice()) == [BEGUN]
        over = after(practice, ("Anna", End()))
        assert game_rules(after(over, ("Anna", Practice("koom valley")))) == KOOM_VALLEY.name

    def test_practice_replaces_players_absent_past_the_grace_period(
        self, seated: Table, started: Table, practice: Table
    ) -> None:
        gone = without(seated, "Bert")
        assert refusal(gone, "Anna", Practice()) is Refusal.BOARD_IN_USE
        left, *begun = events(gone, "Anna", Practice(), LATER)
        assert left == Left(LATER, "Bert", Side.TROLL, Parting.LOST)
        assert [type(each) for each in begun] == [BattleStarted]
        for table, players in ((started, ("Anna", "Bert")), (practice, ("Anna",))):
            gone = without(table, *players)
            assert table.match
            put_away, begins = events(gone, "Carla", Practice(), LATER)
            assert put_away == Adjourned(LATER, "Carla", table.match.saved())
            assert isinstance(begins, BattleStarted)

    def test_practice_keeps_both_seats_from_others(self, practice: Table) -> None:
        for side in Side:
            assert refusal(practice, "Bert", Join(side)) is Refusal.SEAT_TAKEN
            assert refusal(practice, "Anna", Join(side)) is Refusal.SAME_SEAT

    def test_stored_practice_start_at_an_occupied_table_is_invalid(
        self, empty: Table, started: Table, practice: Table, seated: Table
    ) -> None:
        require_applicable(empty, BEGUN)
        require_applicable(practice, BEGUN)
        for table in (started, seated, after(started, ("Bert", Leave()))):
            with pytest.raises(InvalidValueError, match="the seats"):
                require_applicable(table, BEGUN)


def game_rules(table: Table) -> str:
    assert table.game
    return table.game.ruleset.name


class TestPlayingBothSides:
    def test_practice_player_moves_both_sides_in_turn(self, practice: Table) -> None:
        assert practice.side_of("Anna") is Side.DWARF
        table = after(practice, ("Anna", PLIES[0]))
        assert table.side_of("Anna") is Side.TROLL
        (moved,) = events(table, "Anna", PLIES[1])
        assert isinstance(moved, Moved)
        assert (moved.player, moved.side, moved.ply) == ("Anna", Side.TROLL, 2)

    def test_practice_player_cannot_move_out_of_turn(self, practice: Table) -> None:
        with pytest.raises(IllegalMoveError) as refused:
            events(practice, "Anna", PLIES[1])
        assert refused.value.code is Reason.NOT_YOUR_PIECE

    def test_practice_undo_needs_no_agreement(self, practice: Table) -> None:
        assert refusal(practice, "Anna", Undo()) is Refusal.NO_PLY_YET
        table = after(practice, *(("Anna", each) for each in PLIES[:2]))
        assert table.game
        one, two = table.game.moves
        assert events(table, "Anna", Undo()) == [TakenBack(NOW, "Anna", Side.TROLL, (two,))]
        table = after(table, ("Anna", Undo()))
        assert events(table, "Anna", Undo()) == [TakenBack(NOW, "Anna", Side.DWARF, (one,))]
        table = after(table, ("Anna", Undo()))
        assert table.game
        assert table.game == practice.game

    def test_practice_end_restart_and_adjourn_need_no_agreement(self, practice: Table) -> None:
        assert refusal(practice, "Anna", No()) is Refusal.NOTHING_OFFERED
        assert events(practice, "Anna", Start()) == [BEGUN]
        (ended,) = events(practice, "Anna", End())
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.DESERTION
        assert practice.match
        saved = practice.match.saved()
        assert events(practice, "Anna", Adjourn()) == [Adjourned(NOW, "Anna", saved)]

    def test_practice_resign_loses_for_the_side_to_move(self, practice: Table) -> None:
        for table, winner in (
            (practice, Side.TROLL),
            (after(practice, ("Anna", PLIES[0])), Side.DWARF),
        ):
            (ended,) = events(table, "Anna", Resign())
            assert isinstance(ended, BattleEnded)
            assert ended.outcome.winner is winner

    def test_practice_claim_is_refused(self, practice: Table) -> None:
        assert refusal(practice, "Anna", Claim()) is Refusal.NOBODY_TO_CLAIM_FROM

    def test_practice_is_a_single_battle(self, practice: Table) -> None:
        table = after(practice, ("Anna", End()))
        assert table.match
        assert table.match.is_over
        assert not table.half_played
        assert events(table, "Anna", Start()) == [BEGUN]

    def test_practice_is_never_rated(self, empty: Table) -> None:
        members = {"Anna"}
        table = after(empty, ("Anna", Practice()), members=members)
        for begun in (table, after(table, ("Anna", Start()), members=members)):
            played = after(begun, *(("Anna", each) for each in PLIES), members=members)
            *_, ended = events(played, "Anna", Resign(), members=members)
            assert isinstance(ended, BattleEnded)
            assert not ended.rated


class TestSeats:
    def test_practice_leave_gives_up_both_seats(self, practice: Table) -> None:
        assert events(practice, "Anna", Leave()) == [
            Left(NOW, "Anna", Side.DWARF, Parting.LEFT),
            Left(NOW, "Anna", Side.TROLL, Parting.LEFT),
            Cleared(NOW, "Anna"),
        ]
        assert not after(practice, ("Anna", Leave())).seats

    def test_practice_keeps_both_seats_during_an_absence(self, practice: Table) -> None:
        hall = hall_of("Anna", "Bert")
        do(hall, "Anna", Practice(on="oak board"))
        lost = [told.event for told in lose(hall, "Anna")]
        assert lost[:2] == [Absent(NOW, "Anna", side, Parting.LOST) for side in Side]
        assert set(hall.tables["oak board"].away) == set(Side)
        back = [told.event for told in enter(hall, "Anna")]
        assert back[1:3] == [Returned(NOW, "Anna", side) for side in Side]
        assert back[3:] == [CaughtUp("Anna", "oak board")]
        assert not hall.tables["oak board"].away
        assert without(practice, "Anna").side_of("Anna") is Side.DWARF

    def test_quitting_practice_after_the_battle_frees_both_seats(self, practice: Table) -> None:
        over = after(practice, ("Anna", End()))
        assert not without(over, "Anna", parting=Parting.QUIT).seats

    def test_quitting_practice_in_mid_battle_adjourns_it(self, practice: Table) -> None:
        played = after(practice, ("Anna", PLIES[0]))
        (put_away,) = leave_server(played, "Anna", Parting.QUIT, NOW)
        assert isinstance(put_away, Adjourned)
        assert len(put_away.match.moves) == 1
        assert not without(played, "Anna", parting=Parting.QUIT).seats

    def test_quitting_practice_before_the_first_ply_clears_it(self, practice: Table) -> None:
        assert Cleared(NOW, "Anna") in leave_server(practice, "Anna", Parting.QUIT, NOW)
        assert not without(practice, "Anna", parting=Parting.QUIT).seats

    def test_practice_seats_are_free_after_the_grace_period(self, practice: Table) -> None:
        over = without(after(practice, ("Anna", End())), "Anna")
        assert refusal(over, "Bert", Join(Side.TROLL)) is Refusal.SEAT_TAKEN
        table = after(over, ("Bert", Join(Side.TROLL)), now=LATER)
        assert dict(table.seats) == {Side.TROLL: "Bert"}


class TestPuttingAway:
    def test_practice_is_resumed_at_any_free_board(self, practice: Table) -> None:
        played = after(practice, ("Anna", PLIES[0]))
        saved = put_away(played)
        pine = Table.set_up(BoardSpec("pine board", "classic"), 200, GRACE)
        context = Context(LATER)
        assert resume(pine, "Anna", saved, context) == (Resumed(LATER, "Anna", saved),)
        table = pine.apply(Resumed(LATER, "Anna", saved))
        assert table.is_practice
        assert table.game == played.game
        assert table.match == played.match

    def test_practice_is_resumed_without_an_opponent(self) -> None:
        hall = hall_of("Anna", "Bert")
        do(hall, "Anna", Practice(on="oak board"))
        do(hall, "Anna", Adjourn())
        do(hall, "Anna", Join(Side.DWARF, "pine board"))
        do(hall, "Anna", Resume())
        assert hall.tables["pine board"].is_practice
        assert not hall.away("Anna")

    def test_practice_is_resumed_if_the_match_lacks_its_opponent(self) -> None:
        hall = hall_of("Anna", "Bert")
        for player, command in (
            ("Anna", Join(Side.DWARF, "oak board")),
            ("Bert", Join(Side.TROLL, "oak board")),
            ("Anna", Start()),
            ("Anna", Adjourn()),
            ("Bert", Adjourn()),
            ("Anna", Practice()),
            ("Anna", Adjourn()),
        ):
            do(hall, player, command)
        assert refused_in_hall(hall, "Anna", Resume()) is Refusal.WHICH_ADJOURNED
        lose(hall, "Bert")
        do(hall, "Anna", Resume())
        assert hall.tables["oak board"].is_practice


def put_away(table: Table) -> SavedMatch:
    (adjourned,) = events(table, "Anna", Adjourn())
    assert isinstance(adjourned, Adjourned)
    return adjourned.match


class TestInAHall:
    def test_practice_at_a_board_moves_its_player_there(self) -> None:
        hall = hall_of("Anna")
        do(hall, "Anna", Practice(on="oak board"))
        assert hall.people["Anna"].room == "oak board"
        assert hall.tables.seats_of("Anna") == [hall.tables["oak board"]]
        assert refused_in_hall(hall, "Anna", Invite("anna")) is Refusal.INVITE_SELF

    def test_practice_is_stored_but_counts_for_no_score(self) -> None:
        hall = StoredHall()
        enter(hall, "Anna", member=True)
        do(hall, "Anna", Practice(on="oak board"))
        for each in PLIES:
            do(hall, "Anna", each)
        do(hall, "Anna", Resign())
        assert hall.found(ScoreLookup("Anna")) is None
        assert hall.found(StandingsLookup("Anna")).in_all == 0
        (battle,) = hall.found(HistoryLookup("Anna")).battles
        assert battle.is_practice
        assert (battle.players, battle.rated) == (("Anna", "Anna"), False)

    def test_practice_survives_a_restart(self) -> None:
        hall = hall_of("Anna")
        do(hall, "Anna", Practice(on="oak board"))
        do(hall, "Anna", PLIES[0])
        assert reopened(hall).tables == hall.tables

    def test_practice_counts_towards_talk_limits_with_spectators(self) -> None:
        hall = hall_of("Anna", "Bert")
        (begun,) = hall.decided("Anna", Practice(on="oak board"), NOW)
        assert is_limited(hall, begun)
        hall.commit(begun)
        (moved,) = hall.decided("Anna", PLIES[0], NOW)
        assert not is_limited(hall, moved)
        (again,) = hall.decided("Anna", Start(), NOW)
        assert is_limited(hall, again)
        do(hall, "Bert", Practice(on="pine board"))
        assert not is_limited(hall, moved)
        do(hall, "Bert", Go("oak board"))
        assert is_limited(hall, moved)
