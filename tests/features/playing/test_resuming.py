"""Resuming an adjourned match, at any board where both players are present."""

from __future__ import annotations

import pytest

from tests.game.conftest import GO_ON, GRACE, LATER, NOW, SEATED, after, events, ply, without
from tests.game.halls import StoredHall, do, enter, hall_of, lose, refusal, reopened
from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import Accept, Decline, Invite, No, Yes
from thudmud.features.matchmaking.model import InvitationDeclined
from thudmud.features.people.commands import Ignore
from thudmud.features.playing.moves import Adjourn, End, Resign, Start
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import SetRules
from thudmud.features.rooms.commands import Go
from thudmud.game.archive import State
from thudmud.game.asides import Invited
from thudmud.game.command import Command
from thudmud.game.delivery import Delivery
from thudmud.game.events import (
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Left,
    Parting,
    Resumed,
    SavedMatch,
)
from thudmud.game.match import Match
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.game.tables import Context, resume
from thudmud.rules import Side
from thudmud.store import ConflictError, run_synchronously
from thudmud.values import replace

PINE = Table.set_up(BoardSpec("pine board"), 100, GRACE)


def goes_on(table: Table, saved: SavedMatch, now: float = NOW) -> Table:
    for event in resume(table, "Anna", saved, Context(now)):
        table = table.apply(event)
    return table


@pytest.fixture
def match(started: Table) -> Match:
    """Return a match after one ply."""
    table = after(started, ("Anna", ply("A6", "B6")))
    assert table.match
    return table.match


class TestAtATable:
    def test_resumed_match_is_unchanged(self, match: Match) -> None:
        saved = match.saved()
        assert resume(PINE, "Bert", saved, Context(NOW)) == (Resumed(NOW, "Bert", saved),)
        table = goes_on(PINE, saved)
        assert table.match == match
        assert table.seats == {Side.DWARF: "Anna", Side.TROLL: "Bert"}
        assert (table.offers, table.away, table.is_running) == ({}, {}, True)
        assert after(table, ("Bert", ply("G7", "G6"))).is_running

    def test_resumed_match_keeps_its_own_rules(self, match: Match) -> None:
        table = after(PINE, ("Carla", SetRules("classic")))
        resumed = goes_on(table, match.saved())
        assert resumed.ruleset.name == "discworld"
        cleared = after(resumed, ("Anna", Leave()), ("Bert", Leave()))
        assert cleared.ruleset is PINE.own_rules

    def test_resumed_match_between_battles_continues_with_the_second(
        self, first_over: Table
    ) -> None:
        assert first_over.match
        table = goes_on(PINE, first_over.match.saved())
        assert table.half_played
        (started,) = events(after(table, ("Anna", Start())), "Bert", Start())
        assert isinstance(started, BattleStarted)
        assert (started.number, started.dwarf, started.troll) == (2, "Bert", "Anna")
        table = after(table, *GO_ON)
        assert table.match
        assert table.match.earlier_points == (32, 32)
        assert table.match.battle_id == ("pine board", 3)

    def test_resume_accepts_a_board_where_its_players_sit(self, match: Match) -> None:
        saved = match.saved()
        swapped = after(PINE, ("Bert", Join(Side.DWARF)), ("Anna", Join(Side.TROLL)))
        for table in (after(PINE, *SEATED), swapped, after(PINE, SEATED[1])):
            assert goes_on(table, saved).seats == {Side.DWARF: "Anna", Side.TROLL: "Bert"}

    def test_resume_accepts_a_board_with_their_finished_match(
        self, match: Match, match_over: Table
    ) -> None:
        assert goes_on(match_over, match.saved()).match == match

    def test_resume_refuses_a_board_with_another_player(self, match: Match) -> None:
        table = after(PINE, ("Carla", Join(Side.DWARF)))
        with pytest.raises(RefusedError, match=r"^board_in_use board=pine board$"):
            goes_on(table, match.saved())

    def test_resume_refuses_a_board_with_a_match_under_way(
        self, match: Match, started: Table, first_over: Table
    ) -> None:
        for table in (started, first_over, after(started, ("Bert", Leave()))):
            with pytest.raises(RefusedError, match="board_in_use"):
                goes_on(table, match.saved())

    def test_resume_evicts_a_player_absent_past_the_grace_period(self, match: Match) -> None:
        table = without(after(PINE, ("Carla", Join(Side.DWARF))), "Carla")
        with pytest.raises(RefusedError, match="board_in_use"):
            goes_on(table, match.saved(), LATER - 1)
        left, resumed = resume(table, "Anna", match.saved(), Context(LATER))
        assert left == Left(LATER, "Carla", Side.DWARF, Parting.LOST)
        assert isinstance(resumed, Resumed)

    def test_resume_evicts_two_players_absent_past_the_grace_period(
        self, match: Match, match_over: Table
    ) -> None:
        others = replace(match.saved(), dwarf="Dora", troll="Emil")
        table = without(match_over, "Anna", "Bert")
        freed = resume(table, "Dora", others, Context(LATER))
        assert [type(event) for event in freed] == [Left, Left, Cleared, Resumed]

    def test_resume_adjourns_a_match_both_players_have_left(
        self, match: Match, started: Table
    ) -> None:
        others = replace(match.saved(), dwarf="Dora", troll="Emil")
        table = without(started, "Anna", "Bert")
        adjourned, resumed = resume(table, "Dora", others, Context(LATER))
        assert isinstance(adjourned, Adjourned)
        assert started.match
        assert adjourned.match == started.match.saved()
        assert resumed == Resumed(LATER, "Dora", others)


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall in which Anna and Bert have adjourned a match in battle 1."""
    hall = hall_of("Anna", "Bert", "Carla")
    begin(hall, "oak board")
    do(hall, "Anna", ply("A6", "B6"))
    put_away(hall)
    return hall


def begin(hall: StoredHall, board: str, dwarf: str = "Anna", troll: str = "Bert") -> None:
    do(hall, dwarf, Join(Side.DWARF, board))
    do(hall, troll, Join(Side.TROLL, board))
    do(hall, dwarf, Start(board))


def put_away(hall: StoredHall, board: str | None = None, *players: str) -> None:
    for player in players or ("Anna", "Bert"):
        do(hall, player, Adjourn(board))


def go_on(
    hall: StoredHall, player: str, other: str, number: int | None = None, now: float = NOW
) -> list[Delivery]:
    """Resume a match: one player asks, the other agrees."""
    (asked,) = do(hall, player, Resume(number), now)
    assert isinstance(asked.event, Invited)
    assert (asked.event.player, asked.event.to) == (player, other)
    return do(hall, other, Yes(), now)


class TestInTheHall:
    def test_resume_at_the_same_board_continues_the_match(self, hall: StoredHall) -> None:
        assert hall.battles[0].state is State.ADJOURNED
        told = go_on(hall, "Anna", "Bert")
        assert isinstance(told[-1].event, Resumed)
        assert set(told[-1].recipients) == {"Anna", "Bert"}
        assert hall.tables["oak board"].is_running
        assert [battle.state for battle in hall.battles] == [State.RUNNING]
        assert hall.away() == {}

    def test_resume_at_another_board_moves_the_match(self, hall: StoredHall) -> None:
        for player in ("Anna", "Bert"):
            do(hall, player, Go("elm table"))
        go_on(hall, "Bert", "Anna")
        assert hall.tables["oak board"].match is None
        table = hall.tables["elm table"]
        assert table.ruleset.name == "discworld"
        do(hall, "Bert", ply("G7", "G6"))
        assert len(hall.game(1).moves) == 2
        told = do(hall, "Bert", Resign())
        assert isinstance(told[-1].event, BattleEnded)
        assert [battle.state for battle in hall.battles] == [State.ENDED]
        do(hall, "Bert", Start())
        do(hall, "Anna", Start())
        assert [battle.part for battle in hall.battles] == [1, 2]
        assert hall.battles[1].earlier_points == (0, 32)

    def test_resume_of_a_running_match_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Carla", Resume(None, "oak")) is Refusal.NOTHING_ADJOURNED
        go_on(hall, "Anna", "Bert")
        assert refusal(hall, "Anna", Resume()) is Refusal.GOES_ON_ALREADY

    def test_resume_needs_both_players_at_the_board(self, hall: StoredHall) -> None:
        do(hall, "Bert", Go())
        assert refusal(hall, "Bert", Resume(None, "oak")) is Refusal.RESUME_THERE
        with pytest.raises(
            RefusedError, match=r"^opponent_not_there board=oak board players=Bert$"
        ):
            hall.decided("Anna", Resume(), NOW)
        lose(hall, "Bert")
        assert refusal(hall, "Anna", Resume()) is Refusal.OPPONENT_NOT_THERE

    def test_resume_at_an_occupied_board_is_refused(self, hall: StoredHall) -> None:
        do(hall, "Carla", Join(Side.DWARF, "oak board"))
        assert refusal(hall, "Anna", Resume()) is Refusal.BOARD_IN_USE

    def test_resume_by_number_finds_an_own_match(self, hall: StoredHall) -> None:
        assert refusal(hall, "Anna", Resume(2)) is Refusal.NOT_YOURS_TO_RESUME
        assert refusal(hall, "Carla", Resume(1, "oak")) is Refusal.NOTHING_ADJOURNED
        go_on(hall, "Anna", "Bert", 1)
        assert hall.tables["oak board"].is_running

    def test_resume_by_number_of_another_players_match_is_refused(self, hall: StoredHall) -> None:
        begin(hall, "pine board", "Carla", "Bert")
        put_away(hall, "pine board", "Carla", "Bert")
        assert refusal(hall, "Anna", Resume(2)) is Refusal.NOT_YOURS_TO_RESUME

    def test_resume_of_several_with_one_opponent_needs_a_number(self, hall: StoredHall) -> None:
        begin(hall, "oak board")
        put_away(hall)
        with pytest.raises(RefusedError, match=r"which_adjourned .*numbers=1,2"):
            hall.decided("Anna", Resume(), NOW)
        go_on(hall, "Anna", "Bert", 2)
        assert list(hall.away()) == [1]

    def test_resume_of_several_picks_the_opponent_present(self, hall: StoredHall) -> None:
        do(hall, "Bert", Go())
        begin(hall, "oak board", "Carla", "Anna")
        put_away(hall, None, "Carla", "Anna")
        go_on(hall, "Anna", "Carla")
        assert hall.tables["oak board"].seats == {Side.DWARF: "Carla", Side.TROLL: "Anna"}
        do(hall, "Carla", End())
        do(hall, "Anna", End())
        do(hall, "Carla", Go())
        with pytest.raises(RefusedError, match=r"opponent_not_there .*players=Bert$"):
            hall.decided("Anna", Resume(), NOW)

    def test_resume_without_an_opponent_present_names_them_all(self, hall: StoredHall) -> None:
        do(hall, "Bert", Go())
        begin(hall, "oak board", "Carla", "Anna")
        put_away(hall, None, "Carla", "Anna")
        do(hall, "Carla", Go())
        with pytest.raises(RefusedError, match=r"opponent_not_there .*players=Bert,Carla$"):
            hall.decided("Anna", Resume(), NOW)

    def test_resume_between_battles_can_start_the_second(self) -> None:
        hall = hall_of("Anna", "Bert")
        begin(hall, "oak board")
        do(hall, "Anna", Resign())
        put_away(hall)
        assert hall.battles[0].state is State.ENDED
        assert hall.battles[0].outcome is not None
        go_on(hall, "Anna", "Bert")
        do(hall, "Bert", Start())
        do(hall, "Anna", Start())
        assert hall.tables["oak board"].seats == {Side.DWARF: "Bert", Side.TROLL: "Anna"}
        assert [battle.number for battle in hall.battles] == [1, 2]

    def test_join_at_a_deserted_board_adjourns_its_match(self, hall: StoredHall) -> None:
        begin(hall, "pine board")
        lose(hall, "Anna")
        lose(hall, "Bert")
        told = do(hall, "Carla", Join(Side.DWARF, "pine board"), LATER)
        assert [type(each.event).__name__ for each in told] == [
            "WentOut",
            "CameIn",
            "Adjourned",
            "Joined",
        ]
        assert list(hall.away()) == [1, 2]
        for player in ("Anna", "Bert"):
            enter(hall, player, LATER)
            assert hall.people[player].room is None
            do(hall, player, Go("oak board"))
        go_on(hall, "Bert", "Anna", 2, LATER)
        assert hall.tables["oak board"].match

    def test_resume_after_a_restart_restores_the_match(self, hall: StoredHall) -> None:
        """The hall is rebuilt from its stored events."""
        again, saved = reopened(hall, "Anna", "Bert"), hall.away()[1]
        assert again.tables["oak board"] == hall.tables["oak board"]
        for player in ("Anna", "Bert"):
            do(again, player, Go("pine board"))
        go_on(again, "Anna", "Bert")
        assert again.tables["pine board"].match == Match.restored(saved, 1)
        assert again.battles[0].state is State.RUNNING

    def test_simultaneous_resumes_at_two_boards_commit_once(self, hall: StoredHall) -> None:
        do(hall, "Bert", Resume())
        (at_oak,) = hall.decided("Anna", Resume(), NOW)
        for player in ("Anna", "Bert"):
            do(hall, player, Go("pine board"))
        do(hall, "Anna", Resume())
        (at_pine,) = hall.decided("Bert", Resume(), NOW)
        hall.commit(at_pine)
        with pytest.raises(ConflictError):
            hall.commit(at_oak)
        assert hall.tables["oak board"].match is None
        assert hall.tables["pine board"].is_running
        assert refusal(hall, "Anna", Resume()) is Refusal.GOES_ON_ALREADY


class TestAsking:
    """A match between people resumes only with the other player's agreement."""

    ASKS = Invited("Anna", "Bert", "oak board", Side.TROLL, battle=1)

    def test_question_reaches_only_both_players_and_resumes_nothing(self, hall: StoredHall) -> None:
        assert do(hall, "Anna", Resume()) == [Delivery(self.ASKS, ("Anna", "Bert"))]
        assert hall.tables["oak board"].match is None
        assert list(hall.away()) == [1]

    @pytest.mark.parametrize(
        "command", [Yes(), Accept(), Yes("anna"), Resume(), Resume(1)], ids=str
    )
    def test_agreement_resumes_the_match(self, hall: StoredHall, command: Command) -> None:
        do(hall, "Anna", Resume())
        [told] = do(hall, "Bert", command)
        assert isinstance(told.event, Resumed)
        assert hall.tables["oak board"].is_running
        assert not hall.people["Bert"].invitations

    @pytest.mark.parametrize("command", [No(), Decline("anna")], ids=str)
    def test_refusal_names_the_battle_and_resumes_nothing(
        self, hall: StoredHall, command: Command
    ) -> None:
        do(hall, "Anna", Resume())
        declined = InvitationDeclined("Bert", "Anna", "oak board", 1)
        assert do(hall, "Bert", command) == [Delivery(declined, ("Bert", "Anna"))]
        assert refusal(hall, "Bert", Yes()) is Refusal.NOTHING_STANDS
        assert list(hall.away()) == [1]

    def test_question_repeated_by_its_asker_is_no_agreement(self, hall: StoredHall) -> None:
        do(hall, "Anna", Resume())
        [told] = do(hall, "Anna", Resume())
        assert told.event == self.ASKS

    def test_question_about_another_battle_is_no_agreement(self, hall: StoredHall) -> None:
        begin(hall, "oak board")
        put_away(hall)
        do(hall, "Anna", Resume(1))
        [told] = do(hall, "Bert", Resume(2))
        assert told.event == Invited("Bert", "Anna", "oak board", Side.DWARF, battle=2)

    def test_question_at_another_board_is_no_agreement(self, hall: StoredHall) -> None:
        do(hall, "Anna", Resume())
        for player in ("Anna", "Bert"):
            do(hall, player, Go("pine board"))
        [told] = do(hall, "Bert", Resume())
        assert told.event == Invited("Bert", "Anna", "pine board", Side.DWARF, battle=1)

    def test_invitation_to_a_seat_is_no_agreement(self, hall: StoredHall) -> None:
        do(hall, "Bert", Invite("anna", None, "oak board"))
        [told] = do(hall, "Anna", Resume())
        assert told.event == self.ASKS

    def test_question_cannot_be_answered_once_a_match_is_under_way(self, hall: StoredHall) -> None:
        do(hall, "Anna", Resume())
        begin(hall, "oak board", "Carla", "Bert")
        assert refusal(hall, "Bert", Yes()) is Refusal.NOTHING_STANDS

    def test_player_who_ignores_the_other_is_not_asked(self, hall: StoredHall) -> None:
        do(hall, "Bert", Ignore("anna"))
        assert refusal(hall, "Anna", Resume()) is Refusal.NOT_LISTENING

    def test_practice_resumes_without_a_question(self, hall: StoredHall) -> None:
        do(hall, "Anna", Practice(on="pine board"))
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", Adjourn())
        do(hall, "Anna", Resume(2))
        assert hall.tables["pine board"].is_practice

    def test_match_with_a_bot_resumes_without_a_question(self, hall: StoredHall) -> None:
        hall.bots = {"Bert": None}
        do(hall, "Anna", Resume())
        assert hall.tables["oak board"].is_running


@pytest.mark.parametrize(
    "command", [Adjourn("oak board"), Resume(None, "oak board"), Resume(3, "oak board")], ids=str
)
def test_refused_decision_changes_nothing(hall: StoredHall, command: Command) -> None:
    before = dict(hall.tables), hall.away(), run_synchronously(hall.store.position())
    with pytest.raises(RefusedError):
        hall.decided("Carla", command, NOW)
    assert (dict(hall.tables), hall.away(), run_synchronously(hall.store.position())) == before
