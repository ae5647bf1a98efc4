"""Analyses: scores, losses and marks, and the commands that request and cancel analyses."""

from __future__ import annotations

import pytest

from tests.game.conftest import ply
from tests.game.halls import StoredHall, do, enter, hall_of, refusal
from thudmud.errors import InvalidValueError
from thudmud.features.analysis import commands
from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.analysis.model import (
    INACCURACY,
    Analysing,
    Analysis,
    AnalysisCancelled,
    AnalysisLookup,
    AnalysisRefusal,
    KeptAnalysisLookup,
    PendingAnalysisLookup,
    PlyMark,
    analysed,
    positions,
)
from thudmud.features.analysis.storage import keep_analysis
from thudmud.features.archive.commands import Replay, Step, Way
from thudmud.features.archive.model import Replayed
from thudmud.features.playing.moves import Adjourn, Resign, Start
from thudmud.features.playing.seats import Join
from thudmud.game.archive import BattleLookup, LookupNeededError, LookupResults
from thudmud.game.command import Asked
from thudmud.game.decisions import decide
from thudmud.game.evaluation import WIN_SCORE, Evaluation
from thudmud.game.refusals import Refusal
from thudmud.rules import DISCWORLD, KOOM_VALLEY, Game, Move, Side, Square
from thudmud.store import run_synchronously
from thudmud.values import replace

GAME = Game.start(DISCWORLD).push("dA6-B6").push("TG7-G6").push("dB6-C6")


def other(game: Game, number: int) -> Move:
    """Return a ply that was not played in the initial position, chosen by a number."""
    return next(each for each in positions(game)).legal_moves()[-1 - number]


def weighed(*scores: tuple[int, ...], game: Game = GAME) -> list[Evaluation]:
    """Return evaluations with the given scores, each with a best ply that was not played."""
    return [Evaluation(100, each, (other(game, number),)) for number, each in enumerate(scores)]


def lost(*scores: tuple[int, ...]) -> tuple[int, ...]:
    return analysed(GAME, weighed(*scores)).lost


class TestMarks:
    def test_loss_is_the_drop_in_score_for_the_mover(self) -> None:
        assert lost((0, 0), (-250, -250), (180, 180), (180, 180)) == (250, 430, 0)

    def test_loss_ignores_odd_even_score_oscillation(self) -> None:
        """The side to play last at each depth appears to be 3 dwarfs ahead (odd-even effect)."""
        up, down = (150, -150, 150, -150), (-150, 150, -150, 150)
        assert lost(up, down, up, down) == (0, 0, 0)
        assert lost(up, down[:3], up, down[:2]) == (0, 0, 0)

    def test_loss_seen_at_a_single_depth_is_ignored(self) -> None:
        assert lost((0, 0, 0), (0, -300, 0), (0, 0, 0), (0, 0, 0)) == (0, 0, 0)
        assert lost((0, 0, 0, 0), (0, -300, -300), (0, 0, 0), (0, 0, 0))[0] == 300

    def test_loss_by_a_forced_win_counts_at_any_depth(self) -> None:
        assert lost((0, 0, 0), (0, -3 * WIN_SCORE), (0, 0), (0, 0))[0] == WIN_SCORE

    def test_win_found_at_a_greater_depth_loses_nothing(self) -> None:
        assert lost((0, WIN_SCORE + 3), (0, 0, 0, WIN_SCORE + 1), (0, 0), (0, 0))[0] == 0

    def test_loss_needs_more_than_one_search_depth(self) -> None:
        assert lost((900,), (0,), (900,), (0,)) == (0, 0, 0)

    def test_best_ply_loses_nothing(self) -> None:
        found = weighed((0, 0), (-500, -500), (0, 0), (0, 0))
        found[0] = Evaluation(100, (0, 0), GAME.moves[:1])
        assert analysed(GAME, found).lost[0] == 0

    def test_mark_depends_on_the_loss(self) -> None:
        found = analysed(GAME, weighed((0, 0), (-199, -199), (1, 1), (-399, -399)))
        assert [found.mark(each) for each in (1, 2, 3)] == [
            None, PlyMark.MISTAKE, PlyMark.BLUNDER,
        ]  # fmt: skip

    def test_better_line_is_kept_only_for_a_large_loss(self) -> None:
        found = analysed(GAME, weighed((0, 0), (-49, -49), (1, 1), (1, 1)))
        assert found.lines == ((), (other(GAME, 1),), ())


def sliding(*steps: int) -> Analysis:
    """Return the analysis of a battle whose score changes by one of `steps` with each ply."""
    there, game, score = ("dA6-B6", "TG7-G6", "dB6-A6", "TG6-G7"), Game.start(DISCWORLD), 0
    scores = [(0, 0)]
    for number, step in enumerate(steps):
        game, score = game.push(there[number % 4]), score + step
        scores.append((score, score))
    return analysed(game, weighed(*scores, game=game))


def marks(analysis: Analysis) -> dict[int, str]:
    numbers = range(1, len(analysis.lost) + 1)
    return {number: mark.value for number in numbers if (mark := analysis.mark(number))}


class TestSlides:
    def test_gradual_loss_of_eight_dwarfs_is_marked_in_full(self) -> None:
        found = sliding(*[-50, 0] * 7, -80, 0, *[-50, 0] * 7, -20, 0)
        assert found.scores[-1] == -800
        assert set(marks(found).values()) == {"?!"}
        assert sum(map(found.cost, marks(found))) >= 600  # the rest is below the threshold
        assert 15 in marks(found)  # the largest loss of its slide

    def test_slide_is_marked_at_its_largest_loss_with_the_total(self) -> None:
        found = sliding(-60, 0, -100, 0, -60, 0, 0, 0)
        assert marks(found) == {3: "?!"}
        assert INACCURACY <= found.slide(3) <= 220
        assert found.lines[2]

    def test_compensated_loss_is_not_an_inaccuracy(self) -> None:
        assert marks(sliding(*[-90, 90] * 10)) == {}
        assert marks(sliding(-90, 0, -90, 180, -90, 0, -90, 180)) == {}

    def test_alternating_swings_are_not_inaccuracies(self) -> None:
        assert marks(sliding(*[-180, 180] * 10)) == {}

    def test_slides_of_both_sides_are_separate(self) -> None:
        found = sliding(*[-60, 0] * 5, *[0, 60] * 5)
        assert {ply % 2 for ply in marks(found)} == {0, 1}
        assert all(mark == "?!" for mark in marks(found).values())

    def test_mistake_is_not_also_counted_as_a_slide(self) -> None:
        assert marks(sliding(0, 0, 0, 0, -350, 0, 0, 0, 0, 0)) == {5: "?"}

    def test_decisive_loss_is_not_a_slide(self) -> None:
        found = sliding(-150, 0, -WIN_SCORE, 0, 0, 0)
        assert "?!" not in marks(found).values()

    def test_analysis_without_slides_has_no_inaccuracies(self) -> None:
        old = Analysis(100, (0, -100, -100), (100, 0), ((), ()))
        assert marks(old) == {}
        with pytest.raises(InvalidValueError):
            replace(old, slides=(1,))


class TestScores:
    def test_initial_score_equals_the_lead(self) -> None:
        found = analysed(GAME, weighed((-2200, -2200), (-2300, -2200), (-2200,), (-2000,)))
        assert found.scores == (0, -50, 0, 200)

    def test_initial_score_of_a_set_up_position_equals_the_lead(self) -> None:
        one_dwarf = GAME.initial_position.dwarfs & -GAME.initial_position.dwarfs
        game = Game.start(DISCWORLD, replace(GAME.initial_position, dwarfs=one_dwarf))
        game = game.play(game.legal_moves()[0])
        assert analysed(game, weighed((70, 70), (90, 90), game=game)).scores == (-3100, -3080)

    def test_score_of_a_won_position_is_capped_at_a_win(self) -> None:
        found = analysed(GAME, weighed((-500, -500), (0, -WIN_SCORE - 2), (0,), (3 * WIN_SCORE,)))
        assert found.scores == (0, -WIN_SCORE, 500, WIN_SCORE)

    def test_final_score_of_an_ended_battle_equals_the_lead(self) -> None:
        dwarf, troll = Square.parse("A6").bit, Square.parse("B6").bit
        game = Game.start(DISCWORLD, replace(GAME.initial_position, dwarfs=dwarf, trolls=troll))
        over = game.push("dA6-B6xB6")
        assert over.outcome
        assert len(list(positions(over))) == 1
        found = analysed(over, weighed((300, 300), game=over))
        assert (found.scores, found.lost) == ((-300, 100), (0,))

    def test_final_position_of_a_resigned_battle_is_evaluated(self) -> None:
        assert len(list(positions(GAME.resign(Side.TROLL)))) == 4
        assert all(each.outcome is None for each in positions(GAME.resign(Side.TROLL)))

    def test_final_score_of_a_battle_won_by_a_goal_is_a_win(self) -> None:
        rock, dwarf, troll = (Square.parse(each).bit for each in ("F2", "E2", "H12"))
        opening = replace(KOOM_VALLEY.initial_position, rock=rock, dwarfs=dwarf, trolls=troll)
        game = Game.start(KOOM_VALLEY, opening).push("RF2-F1")
        assert game.outcome
        assert analysed(game, weighed((300, 300), game=game)).scores == (0, WIN_SCORE)

    def test_inconsistent_lengths_are_rejected(self) -> None:
        with pytest.raises(InvalidValueError):
            Analysis(100, (0, 0), (0, 0), ((), ()))
        with pytest.raises(InvalidValueError):
            Evaluation(100, (), GAME.moves)
        with pytest.raises(InvalidValueError):
            Evaluation(100, (0,), ())


FOUND = analysed(GAME, weighed((0, 0), (-250, -250), (0, 0), (0, 0)))


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall with a battle of three plies between Anna and Bert at the oak board."""
    hall = hall_of("Anna", "Bert", "Carla")
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    do(hall, "Anna", Start("oak board"))
    for player, command in [
        ("Anna", ply("A6", "B6")), ("Bert", ply("G7", "G6")), ("Anna", ply("B6", "C6")),
    ]:  # fmt: skip
        do(hall, player, command)
    return hall


def end(hall: StoredHall) -> None:
    do(hall, "Bert", Resign())


def keep_found(hall: StoredHall, found: Analysis) -> None:
    began = hall.battles[0].id
    run_synchronously(hall.store.write(lambda database: keep_analysis(database, began, found)))


def keep(hall: StoredHall) -> None:
    keep_found(hall, FOUND)


class TestWhoIsGivenOne:
    def test_stored_analysis_is_shown(self, hall: StoredHall) -> None:
        end(hall)
        keep(hall)
        (told,) = do(hall, "Carla", Analyse(1))
        assert isinstance(told.event, Asked)
        assert told.event.answer == (hall.battles[0], hall.game(1), FOUND)
        assert told.recipients == ("Carla",)

    def test_missing_analysis_is_requested(self, hall: StoredHall) -> None:
        end(hall)
        battle, game = hall.battles[0], hall.game(1)
        found = LookupResults({BattleLookup(1): hall.found(BattleLookup(1))})
        found.store(KeptAnalysisLookup(battle.id, 3), None)
        with pytest.raises(LookupNeededError) as unread:
            decide(hall, "Carla", Analyse(1), 0, found)
        assert unread.value.lookup == AnalysisLookup(battle, game)
        found.store(AnalysisLookup(battle, game), FOUND)
        ((aside,),) = [each.asides for each in decide(hall, "Carla", Analyse(1), 0, found)]
        assert isinstance(aside, Asked)
        assert aside.answer == (battle, game, FOUND)

    def test_running_or_adjourned_battle_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Carla", Analyse(1)) is AnalysisRefusal.NOT_OVER
        do(hall, "Anna", Adjourn())
        do(hall, "Bert", Adjourn())
        assert refusal(hall, "Carla", Analyse(1)) is AnalysisRefusal.NOT_OVER

    def test_missing_or_empty_battle_is_refused(self, hall: StoredHall) -> None:
        end(hall)
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        do(hall, "Anna", Resign())
        assert refusal(hall, "Carla", Analyse(2)) is AnalysisRefusal.TOO_SHORT
        assert refusal(hall, "Carla", Analyse(3)) is Refusal.NO_SUCH_BATTLE
        assert refusal(hall, "Carla", Analyse()) is AnalysisRefusal.ANALYSE_WHICH

    def test_overlong_battle_is_refused(
        self, hall: StoredHall, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(commands, "LONGEST", 2)
        end(hall)
        assert refusal(hall, "Carla", Analyse(1)) is AnalysisRefusal.TOO_LONG_TO_ANALYSE

    def test_player_in_a_rated_battle_gets_no_analysis(self) -> None:
        hall = hall_of("Carla")
        enter(hall, "Anna", member=True)
        enter(hall, "Bert", member=True)
        for board in ("oak board", "pine board"):
            do(hall, "Anna", Join(Side.DWARF, board))
            do(hall, "Bert", Join(Side.TROLL, board))
            do(hall, "Anna", Start(board))
        do(hall, "Anna", replace(ply("A6", "B6"), on="oak board"))
        do(hall, "Bert", replace(ply("G7", "G6"), on="oak board"))
        do(hall, "Anna", Resign("oak board"))
        found = analysed(hall.game(1), weighed((0, 0), (0, 0), (0, 0), game=hall.game(1)))
        keep_found(hall, found)
        assert refusal(hall, "Anna", Analyse(1)) is AnalysisRefusal.NO_ANALYSES_RATED
        (told,) = do(hall, "Anna", Replay(1))
        assert isinstance(told.event, Replayed)
        assert told.event.annotation is None
        (told,) = do(hall, "Carla", Replay(1))
        assert isinstance(told.event, Replayed)
        assert told.event.annotation == found
        do(hall, "Anna", Resign("pine board"))
        assert do(hall, "Anna", Analyse(1))

    def test_analyse_in_a_replay_defaults_to_its_battle(self, hall: StoredHall) -> None:
        end(hall)
        do(hall, "Carla", Replay(1))
        keep(hall)
        do(hall, "Carla", Analyse())
        (told,) = do(hall, "Carla", Step(Way.NEXT))
        assert isinstance(told.event, Replayed)
        assert (told.event.ply, told.event.annotation) == (1, FOUND)

    def test_analyse_elsewhere_defaults_to_the_last_battle_that_is_over(
        self, hall: StoredHall
    ) -> None:
        assert refusal(hall, "Anna", Analyse()) is AnalysisRefusal.ANALYSE_WHICH
        end(hall)
        keep(hall)
        do(hall, "Anna", Start())
        do(hall, "Bert", Start())
        (told,) = do(hall, "Anna", Analyse())
        assert isinstance(told.event, Asked)
        assert told.event.question == Analyse(1)
        assert refusal(hall, "Carla", Analyse()) is AnalysisRefusal.ANALYSE_WHICH

    def test_replay_during_a_rated_battle_hides_the_analysis(self, hall: StoredHall) -> None:
        end(hall)
        keep(hall)
        (told,) = do(hall, "Carla", Replay(1))
        assert isinstance(told.event, Replayed)
        assert told.event.annotation
        enter(hall, "Dora", member=True)
        hall.people["Carla"].is_member = True
        do(hall, "Carla", Join(Side.DWARF, "pine board"))
        do(hall, "Dora", Join(Side.TROLL, "pine board"))
        do(hall, "Carla", Start("pine board"))
        (told,) = do(hall, "Carla", Step(Way.NEXT))
        assert isinstance(told.event, Replayed)
        assert told.event.annotation is None

    def test_cancel_ends_the_pending_analysis(self, hall: StoredHall) -> None:
        with pytest.raises(LookupNeededError) as unread:
            decide(hall, "Carla", CancelAnalysis(), 0)
        assert unread.value.lookup == PendingAnalysisLookup("Carla")
        progress = Analysing("Carla", hall.battles[0], 2, 3)
        found = LookupResults({PendingAnalysisLookup("Carla"): progress})
        (decision,) = decide(hall, "Carla", CancelAnalysis(), 0, found)
        assert decision.asides == (AnalysisCancelled("Carla", progress),)
