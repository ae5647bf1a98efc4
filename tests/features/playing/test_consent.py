"""Confirmation of commands that lose or drop a match, and their effect."""

from __future__ import annotations

import pytest

from tests.features.playing.test_moves import MEMBERS, PLIES
from tests.game.conftest import GO_ON, LATER, NOW, SEATED, after, events, ply, refusal, without
from thudmud.features.matchmaking.commands import No
from thudmud.features.playing.moves import Adjourn, Claim, End, Play, Resign, Start, Undo
from thudmud.features.playing.seats import Join, Leave, Practice
from thudmud.features.playing.setup import SetClock, SetRules
from thudmud.game.clocks import TimeControl
from thudmud.game.events import (
    BattleEnded,
    BattleStarted,
    Left,
    Offer,
    Offered,
    Parting,
    TournamentRound,
)
from thudmud.game.match import RATED_PLIES
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.game.tables import TableCommand
from thudmud.rules import EVERY, Attempt, Ending, Side, Square, Verb
from thudmud.values import replace

CAPTURED = ("Bert", Play(Attempt(Verb.MOVE, Square.parse("G7"), Square.parse("G6"), EVERY)))
"""By which Bert leads, if a dwarf is on F6."""


def asked(table: Table, player: str, command: TableCommand) -> dict[str, object]:
    """Return the details of the confirmation question, without the board."""
    question = command.confirmation(table, player)
    assert question
    details = dict(question.details)
    assert details.pop("board") == "oak board"
    return details


@pytest.fixture
def rated(empty: Table) -> Table:
    """Return a table with a rated match of six plies, enough for it to count."""
    return after(empty, *SEATED, ("Anna", Start()), *PLIES, members=MEMBERS)


@pytest.fixture
def second(started: Table) -> Table:
    """Return a table in the second battle of a casual match; Bert resigned the first."""
    return after(started, ("Bert", Resign()), *GO_ON)


class TestResigning:
    def test_resign_question_in_the_first_battle_shows_its_score(self, started: Table) -> None:
        assert asked(started, "Anna", Resign()) == {
            "battle": 1, "player": "Bert", "side": Side.TROLL, "score": (0, 32), "total": (),
        }  # fmt: skip
        assert asked(started, "Bert", Resign()) == {
            "battle": 1, "player": "Anna", "side": Side.DWARF, "score": (0, 32), "total": (),
        }  # fmt: skip

    def test_resign_question_in_the_second_battle_shows_the_total(self, second: Table) -> None:
        # Anna won the first 32 to 0, and plays the trolls now.
        anna, bert = (asked(second, name, Resign()) for name in ("Anna", "Bert"))
        assert (anna["battle"], anna["player"]) == (2, "Bert")
        assert (anna["score"], anna["total"]) == ((0, 32), (32, 32))
        assert (bert["score"], bert["total"]) == ((0, 32), (0, 64))

    def test_resign_question_counts_the_remaining_pieces(self, started: Table) -> None:
        table = after(started, ("Anna", ply("A6", "F6")), CAPTURED)
        assert asked(table, "Bert", Resign())["score"] == (0, 31)
        assert asked(table, "Anna", Resign())["score"] == (0, 32)

    def test_resign_question_in_koom_valley_shows_the_points_of_a_win(self, empty: Table) -> None:
        table = after(empty, ("Anna", SetRules("koom valley")), *SEATED, ("Anna", Start()))
        [end] = events(table, "Anna", Resign())
        assert isinstance(end, BattleEnded)
        score = end.outcome.score.dwarf, end.outcome.score.troll
        assert asked(table, "Anna", Resign())["score"] == score

    def test_resign_question_in_practice_names_no_battle(self, empty: Table) -> None:
        table = after(empty, ("Anna", Practice()))
        assert asked(table, "Anna", Resign())["battle"] is None

    def test_resign_before_a_battle_needs_no_confirmation(self, seated: Table) -> None:
        assert Resign().confirmation(seated, "Anna") is None


class TestLeaving:
    def test_leaving_a_casual_match_early_needs_no_confirmation(self, started: Table) -> None:
        for player in ("Anna", "Bert"):
            assert Leave().confirmation(started, player) is None
        assert Leave().confirmation(after(started, *PLIES[:-1]), "Anna") is None

    def test_leaving_a_casual_match_after_six_plies_needs_confirmation(
        self, started: Table
    ) -> None:
        table = after(started, *PLIES)
        assert len(PLIES) == RATED_PLIES
        assert asked(table, "Anna", Leave()) == {
            "player": "Bert", "score": (32, 32), "loses": False,
        }  # fmt: skip
        assert events(table, "Anna", Leave()) == [Left(NOW, "Anna", Side.DWARF, Parting.LEFT)]

    def test_leaving_a_casual_match_while_ahead_needs_confirmation(self, started: Table) -> None:
        captured = after(started, ("Anna", ply("A6", "F6")), CAPTURED)
        assert Leave().confirmation(captured, "Anna") is None
        assert asked(captured, "Bert", Leave())["score"] == (32, 31)

    def test_leaving_a_casual_match_between_battles_needs_confirmation(
        self, started: Table
    ) -> None:
        half_played = after(started, ("Bert", Resign()))
        assert asked(half_played, "Bert", Leave()) == {
            "player": "Anna", "score": (0, 32), "loses": False,
        }  # fmt: skip
        left = Left(NOW, "Bert", Side.TROLL, Parting.LEFT)
        assert events(half_played, "Bert", Leave()) == [left]

    def test_leaving_a_rated_match_loses_both_battles(self, rated: Table) -> None:
        assert asked(rated, "Bert", Leave()) == {
            "player": "Anna", "score": (0, 64), "loses": True,
        }  # fmt: skip
        first, started, second, left = events(rated, "Bert", Leave(), members=MEMBERS)
        assert isinstance(first, BattleEnded)
        assert isinstance(started, BattleStarted)
        assert isinstance(second, BattleEnded)
        assert (first.plies, first.rated, first.points) == (RATED_PLIES, True, None)
        assert first.outcome.ending is second.outcome.ending is Ending.RESIGNATION
        assert (started.number, started.dwarf, started.troll) == (2, "Bert", "Anna")
        assert (second.plies, second.rated, second.points) == (0, True, (0, 64))
        assert left == Left(NOW, "Bert", Side.DWARF, Parting.LEFT)

    def test_leaving_a_rated_match_in_its_second_battle_loses_only_that(self, rated: Table) -> None:
        second = after(rated, ("Bert", Resign()), *GO_ON, members=MEMBERS)
        assert asked(second, "Anna", Leave())["score"] == (32, 32)
        end, left = events(second, "Anna", Leave(), members=MEMBERS)
        assert isinstance(end, BattleEnded)
        assert (end.dwarf, end.troll) == ("Bert", "Anna")
        assert (end.rated, end.points) == (True, (32, 32))
        assert left == Left(NOW, "Anna", Side.TROLL, Parting.LEFT)

    def test_leaving_a_rated_match_before_it_counts_loses_nothing(self, empty: Table) -> None:
        table = after(empty, *SEATED, ("Anna", Start()), *PLIES[:-1], members=MEMBERS)
        assert Leave().confirmation(table, "Anna") is None
        left = Left(NOW, "Anna", Side.DWARF, Parting.LEFT)
        assert events(table, "Anna", Leave(), members=MEMBERS) == [left]

    def test_leaving_a_finished_match_needs_no_confirmation(self, match_over: Table) -> None:
        assert Leave().confirmation(match_over, "Anna") is None

    def test_leaving_practice_or_a_deserted_match_needs_no_confirmation(
        self, empty: Table, started: Table
    ) -> None:
        assert Leave().confirmation(after(empty, ("Anna", Practice())), "Anna") is None
        alone = after(started, *PLIES, ("Bert", Leave()))
        assert Leave().confirmation(alone, "Anna") is None


class TestStartingOver:
    def test_restart_early_needs_no_confirmation(self, started: Table) -> None:
        assert Start().confirmation(started, "Anna") is None
        assert Start().confirmation(after(started, *PLIES[:-1]), "Anna") is None

    def test_restart_after_six_plies_needs_confirmation(self, started: Table) -> None:
        assert asked(after(started, *PLIES), "Bert", Start()) == {
            "player": "Anna", "score": (32, 32), "loses": False,
        }  # fmt: skip

    def test_restart_while_ahead_needs_confirmation(self, started: Table) -> None:
        captured = after(started, ("Anna", ply("A6", "F6")), CAPTURED)
        assert Start().confirmation(captured, "Anna") is None
        assert asked(captured, "Bert", Start())["score"] == (32, 31)

    def test_restart_in_the_second_battle_needs_confirmation(self, second: Table) -> None:
        assert asked(second, "Bert", Start())["score"] == (32, 64)

    def test_restart_question_warns_of_losing_a_rated_match(self, rated: Table) -> None:
        assert asked(rated, "Bert", Start()) == {
            "player": "Anna", "score": (0, 64), "loses": True,
        }  # fmt: skip

    def test_restart_by_agreement_needs_no_confirmation(self, rated: Table) -> None:
        assert Start().confirmation(after(rated, ("Bert", Start())), "Anna") is None

    @pytest.mark.parametrize("other", [End(), Adjourn(), Undo()], ids=str)
    def test_restart_with_other_offers_pending_needs_confirmation(
        self, rated: Table, other: TableCommand
    ) -> None:
        assert asked(after(rated, ("Anna", other)), "Bert", Start())["loses"]

    def test_restart_between_battles_or_matches_needs_no_confirmation(
        self, first_over: Table, match_over: Table
    ) -> None:
        assert Start().confirmation(first_over, "Anna") is None
        assert Start().confirmation(match_over, "Anna") is None

    def test_restart_of_a_rated_match_is_lost_by_its_proposer(self, rated: Table) -> None:
        offered = after(rated, ("Bert", Start()), members=MEMBERS)
        assert offered.is_running
        first, _, second, began = events(offered, "Anna", Start(), members=MEMBERS)
        assert isinstance(first, BattleEnded)
        assert isinstance(second, BattleEnded)
        assert isinstance(began, BattleStarted)
        assert (first.outcome.winner, first.rated) == (Side.DWARF, True)
        assert (second.rated, second.points) == (True, (0, 64))
        assert (second.dwarf, second.troll) == ("Bert", "Anna")
        assert (began.number, began.dwarf, began.troll) == (1, "Bert", "Anna")
        assert began.rated

    def test_restart_of_a_casual_match_drops_it_without_a_result(self, started: Table) -> None:
        offered = after(started, *PLIES, ("Bert", Start()))
        [began] = events(offered, "Anna", Start())
        assert isinstance(began, BattleStarted)
        assert (began.number, began.dwarf, began.troll) == (1, "Anna", "Bert")


class TestSecondBattles:
    @pytest.mark.parametrize("player", ["Anna", "Bert"])
    def test_second_battle_needs_both_players(self, first_over: Table, player: str) -> None:
        assert events(first_over, player, Start()) == [Offered(NOW, player, Offer.BEGIN)]
        offered = after(first_over, (player, Start()))
        assert not offered.is_running
        assert refusal(offered, player, Start()) is Refusal.ALREADY_OFFERED

    def test_start_of_both_at_once_begins_the_second_battle_once(self, first_over: Table) -> None:
        begun = after(first_over, *GO_ON)
        assert begun.match
        assert (begun.match.battle, begun.offers) == (2, {})
        assert refusal(begun, "Bert", Start()) is Refusal.HAS_BEGUN

    def test_declined_or_withdrawn_second_battle_stays_to_be_played(
        self, first_over: Table
    ) -> None:
        for player in ("Anna", "Bert"):
            declined = after(first_over, ("Anna", Start()), (player, No()))
            assert (declined.half_played, declined.offers) == (True, {})
            assert events(declined, "Anna", Start()) == [Offered(NOW, "Anna", Offer.BEGIN)]

    def test_second_battle_by_correspondence_begins_at_once(self, empty: Table) -> None:
        days = ("Anna", SetClock(TimeControl(days=3)))
        table = after(empty, days, *SEATED, ("Anna", Start()), ("Bert", Resign()))
        [began] = events(table, "Anna", Start())
        assert isinstance(began, BattleStarted)

    def test_second_battle_of_a_tournament_begins_at_once(self, first_over: Table) -> None:
        assert first_over.match
        match = replace(first_over.match, tournament=TournamentRound(1, 1))
        [began] = events(replace(first_over, match=match), "Anna", Start())
        assert isinstance(began, BattleStarted)

    def test_second_battle_with_a_bot_begins_at_once(self, empty: Table) -> None:
        table = after(empty, SEATED[0], ("Bert", Join(Side.TROLL, level=3)), ("Anna", Start()))
        [began] = events(after(table, ("Anna", Resign())), "Anna", Start())
        assert isinstance(began, BattleStarted)

    @pytest.mark.parametrize("answer", [None, "declined"])
    def test_second_battle_put_off_for_ten_minutes_can_be_claimed(
        self, first_over: Table, answer: str | None
    ) -> None:
        asked = after(first_over, ("Anna", Start()))
        if answer:
            asked = after(asked, ("Bert", No()), now=NOW + 1)
        at = NOW + asked.idle_limit
        assert refusal(asked, "Anna", Claim(), at - 1) is Refusal.NOT_PUT_OFF
        assert refusal(asked, "Bert", Claim(), at + 1) in {
            Refusal.NOT_AWAY, Refusal.ASKED_TO_BEGIN,
        }  # fmt: skip
        started, ended = events(asked, "Anna", Claim(), at)
        assert isinstance(started, BattleStarted)
        assert isinstance(ended, BattleEnded)
        assert ended.outcome.ending is Ending.CLAIM
        assert ended.outcome.winner is Side.TROLL  # hers in the second

    def test_second_battle_cannot_be_claimed_unasked(self, first_over: Table) -> None:
        late = NOW + 10 * first_over.idle_limit
        assert refusal(first_over, "Anna", Claim(), late) is Refusal.NOT_AWAY

    def test_withdrawn_offer_of_the_second_battle_claims_nothing(self, first_over: Table) -> None:
        late = NOW + 10 * first_over.idle_limit
        withdrawn = after(first_over, ("Anna", Start()), ("Anna", No()))
        assert refusal(withdrawn, "Anna", Claim(), late) is Refusal.NOT_AWAY
        offered = after(first_over, ("Anna", Start()), ("Bert", No()), ("Bert", Start()))
        assert refusal(offered, "Anna", Claim(), late) is Refusal.ASKED_TO_BEGIN


class TestRematches:
    @pytest.mark.parametrize("player", ["Anna", "Bert"])
    def test_rematch_offer_by_either_player_starts_nothing(
        self, match_over: Table, player: str
    ) -> None:
        assert events(match_over, player, Start()) == [Offered(NOW, player, Offer.REMATCH)]
        assert not after(match_over, (player, Start())).is_running

    def test_accepted_rematch_starts_from_the_same_seats(self, match_over: Table) -> None:
        [began] = events(after(match_over, ("Anna", Start())), "Bert", Start())
        assert isinstance(began, BattleStarted)
        assert (began.number, began.dwarf, began.troll) == (1, "Bert", "Anna")
        table = after(match_over, ("Anna", Start()), ("Bert", Start()))
        assert table.match
        assert (table.match.earlier_points, table.offers) == ((0, 0), {})

    def test_declined_rematch_leaves_the_match_over(self, match_over: Table) -> None:
        declined = after(match_over, ("Anna", Start()), ("Bert", No()))
        assert declined.offers == {}
        assert declined.match == match_over.match
        assert events(declined, "Bert", Start()) == [Offered(NOW, "Bert", Offer.REMATCH)]

    def test_rematch_offer_lapses_when_its_maker_leaves(self, match_over: Table) -> None:
        left = after(match_over, ("Anna", Start()), ("Anna", Leave()))
        assert left.offers == {}

    def test_rematch_with_an_absent_player_is_refused(self, match_over: Table) -> None:
        gone = without(match_over, "Bert")
        assert refusal(gone, "Anna", Start(), LATER) is Refusal.AWAY

    def test_rematch_of_members_is_rated(self, rated: Table) -> None:
        over = after(rated, ("Bert", Resign()), *GO_ON, ("Anna", Resign()), members=MEMBERS)
        [began] = events(after(over, ("Anna", Start())), "Bert", Start(), members=MEMBERS)
        assert isinstance(began, BattleStarted)
        assert began.rated

    def test_rematch_with_a_bot_starts_at_once(self, empty: Table) -> None:
        table = after(empty, SEATED[0], ("Bert", Join(Side.TROLL, level=3)), ("Anna", Start()))
        over = after(table, ("Anna", Resign()), ("Anna", Start()), ("Anna", Resign()))
        [began] = events(over, "Anna", Start())
        assert isinstance(began, BattleStarted)
        assert (began.number, began.levels) == (1, over.levels)
