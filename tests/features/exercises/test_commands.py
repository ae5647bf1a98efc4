"""Tutorial and puzzle commands: effects, recipients, running battles and ratings."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import pytest

from tests.game.conftest import ply
from tests.game.halls import StoredHall, do, enter, hall_of, refusal
from tests.search.puzzles import tempting
from thudmud.errors import RefusedError
from thudmud.features.archive.commands import Replay, Step, Stop, Way
from thudmud.features.archive.model import replay_of
from thudmud.features.exercises.commands import Lessons, TryPuzzle, Tutorial
from thudmud.features.exercises.model import (
    BattleWaits,
    Exercise,
    ExerciseChanged,
    ExerciseLeft,
    ExerciseRefusal,
    LessonProgress,
    LessonStep,
    Puzzle,
    PuzzleProgress,
    Remark,
    StudiesLookup,
    StudyRecord,
    attempt_of,
    exercise_of,
    lessons,
    puzzles,
    read_puzzle,
    studies_of,
)
from thudmud.features.hints.commands import Hint
from thudmud.features.playing.moves import Play, Start, Undo
from thudmud.features.playing.queries import SetBoard, ViewGame, Where
from thudmud.features.playing.seats import Join, Leave
from thudmud.features.rooms.commands import Go, Look
from thudmud.game.archive import PROVISIONAL
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.events import PuzzleTried
from thudmud.game.hall import Hall
from thudmud.game.options import Style
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.language import parse
from thudmud.rules import RULESETS, Game, IllegalMoveError, Move, Piece, Reason, Side, Verb
from thudmud.values import replace

ONE, LATER = puzzles()[1], puzzles()[9]
SHOVED = next(
    each
    for each in puzzles().values()
    if each.game.turn is Side.TROLL and each.solution.verb is Verb.MOVE and each.solution.captures
)


@pytest.fixture
def hall() -> StoredHall:
    return hall_of("Anna", "Bert")


def exercise(hall: Hall, player: str = "Anna") -> Exercise:
    found = exercise_of(hall.people[player])
    assert found
    return found


def in_lesson(hall: Hall, player: str = "Anna") -> LessonProgress:
    found = exercise(hall, player)
    assert isinstance(found, LessonProgress)
    return found


def at_puzzle(hall: StoredHall) -> PuzzleProgress:
    found = exercise(hall)
    assert isinstance(found, PuzzleProgress)
    return found


def remarks(told: list[Delivery]) -> tuple[Remark, ...]:
    return tuple(
        remark
        for telling in told
        if isinstance(telling.event, ExerciseChanged)
        for remark in telling.event.remarks
    )


def game(at: Exercise) -> Game:
    assert at.table.game
    return at.table.game


def played(move: Move) -> Play:
    return Play(move.attempt())


class Situation(NamedTuple):
    """A lesson step that expects a ply, with the game at that point."""

    lesson: int
    number: int
    step: LessonStep
    game: Game


def situations() -> list[Situation]:
    """Return the lesson steps that expect a ply, reached by giving each step its own answer."""
    hall, found = hall_of("Anna"), []
    for number in lessons():
        do(hall, "Anna", Tutorial(number))
        while not in_lesson(hall).is_over:
            at = in_lesson(hall)
            if at.is_done:
                do(hall, "Anna", Step(Way.NEXT))
                continue
            if attempt_of(at.current.answer):
                found.append(Situation(number, at.step, at.current, game(at)))
            do(hall, "Anna", parse(at.current.answer))
            assert in_lesson(hall) != at, at.current.answer
    return found


SITUATIONS = situations()
BY_NUMBER = [f"{each.lesson}.{each.number}" for each in SITUATIONS]


class TestLessons:
    def test_lessons_cover_both_sides_and_all_rulesets(self) -> None:
        assert list(lessons()) == [1, 2, 3, 4, 5, 6, 7]
        scenes = [step.scene for each in lessons().values() for step in each.steps if step.scene]
        assert {scene.side for scene in scenes} == set(Side)
        assert {scene.ruleset.name for scene in scenes} == set(RULESETS)

    @pytest.mark.parametrize("situation", SITUATIONS, ids=BY_NUMBER)
    def test_lesson_answer_parses_as_typed_input(self, situation: Situation) -> None:
        asked = parse(situation.step.answer)
        assert isinstance(asked, Play)
        before = situation.game
        move = before.resolve(asked.attempt, before.turn)
        assert situation.step.is_ply(before, move)
        hint = situation.step.advice(clicks=False)
        assert f'"{situation.step.answer}"' in hint or situation.step.wants

    @pytest.mark.parametrize("situation", SITUATIONS, ids=BY_NUMBER)
    def test_lesson_reply_is_legal_after_any_correct_ply(self, situation: Situation) -> None:
        step, before = situation.step, situation.game
        done = [move for move in before.legal_moves() if step.is_ply(before, move)]
        assert done
        for move in done:
            after = before.play(move)
            assert step.reply is None or after.resolve(step.reply, after.turn)

    @pytest.mark.parametrize("situation", SITUATIONS, ids=BY_NUMBER)
    def test_wrong_ply_in_a_lesson_gets_a_remark_and_changes_nothing(
        self, hall: StoredHall, situation: Situation
    ) -> None:
        to_step(hall, situation)
        before, step = in_lesson(hall), situation.step
        others = [
            move for move in game(before).legal_moves() if not step.is_ply(game(before), move)
        ]
        for move in others[:: max(1, len(others) // 8)]:
            told = do(hall, "Anna", played(move))
            assert remarks(told) == (Remark.WRONG,)
            assert in_lesson(hall) == before

    def test_illegal_ply_in_a_lesson_is_refused_with_the_reason(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(3))
        with pytest.raises(IllegalMoveError) as refused:
            do(hall, "Anna", ply("E7", "E9"))
        assert refused.value.code is Reason.TOO_FAR

    def test_server_replies_immediately_in_a_lesson(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(4))
        (told,) = do(hall, "Anna", ply("N11", "N6"))
        assert isinstance(told.event, ExerciseChanged)
        players = [event.player for event, _ in told.event.plies]
        assert players == ["Anna", "the tutor"]
        assert remarks([told]) == (Remark.DONE, Remark.TASK)
        assert game(in_lesson(hall)).turn is Side.DWARF

    def test_requested_query_is_answered_and_completes_the_step(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(7))
        answer, then = do(hall, "Anna", parse("around g7"))
        assert isinstance(answer.event, Asked)
        assert answer.table == in_lesson(hall).table
        assert remarks([then]) == (Remark.DONE, Remark.TASK)

    def test_unrelated_query_leaves_the_step_open(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(7))
        (answer,) = do(hall, "Anna", Where(Piece.TROLL))
        assert isinstance(answer.event, Asked)
        assert in_lesson(hall).step == 0

    def test_second_hint_in_a_lesson_reveals_the_answer(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(1))
        assert remarks(do(hall, "Anna", Hint())) == (Remark.HINT,)
        assert remarks(do(hall, "Anna", Hint())) == (Remark.ANSWER,)

    def test_look_repeats_the_task(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(2))
        board, task = do(hall, "Anna", Look())
        assert board.table == in_lesson(hall).table
        assert remarks([task]) == (Remark.TASK,)

    def test_lesson_navigation(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(2))
        assert refusal(hall, "Anna", Step(Way.NEXT)) is ExerciseRefusal.STEP_OPEN
        do(hall, "Anna", ply("C5", "C11"))
        assert refusal(hall, "Anna", ply("K10", "K9")) is ExerciseRefusal.STEP_DONE
        do(hall, "Anna", Step(Way.NEXT))
        assert in_lesson(hall).step == 1
        do(hall, "Anna", Step(Way.BACK))
        assert in_lesson(hall).step == 0
        do(hall, "Anna", Step(Way.BACK))
        assert in_lesson(hall).step == 0
        do(hall, "Anna", Step(Way.FIRST))
        assert (in_lesson(hall).step, in_lesson(hall).is_done) == (0, False)

    def test_completed_lesson_is_recorded(self, hall: StoredHall) -> None:
        do_lesson(hall, 1)
        assert studies_of(hall.people["Anna"]).lessons == {1}
        do(hall, "Anna", Step(Way.NEXT))
        assert in_lesson(hall).number == 2
        (listed,) = do(hall, "Anna", Lessons())
        assert listed.event == Asked("Anna", Lessons(), answer=StudyRecord())

    def test_tutorial_resumes_or_continues_with_the_next_lesson(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial())
        do(hall, "Anna", parse("a6 b6"))
        was = in_lesson(hall)
        do(hall, "Anna", Stop())
        assert exercise_of(hall.people["Anna"]) is None
        do(hall, "Anna", Tutorial())
        assert in_lesson(hall) == was
        do_lesson(hall, 1)
        do(hall, "Anna", Tutorial())
        assert (in_lesson(hall).number, in_lesson(hall).step) == (2, 0)

    def test_tutorial_lists_lessons_when_all_are_done(self, hall: StoredHall) -> None:
        for number in lessons():
            do_lesson(hall, number)
        assert refusal(hall, "Anna", Step(Way.NEXT)) is ExerciseRefusal.EXERCISE_OVER
        (listed,) = do(hall, "Anna", Tutorial())
        assert listed.event == Asked("Anna", Lessons(), answer=StudyRecord())

    def test_unknown_number_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Anna", Tutorial(8)) is ExerciseRefusal.NO_SUCH_LESSON


def do_lesson(hall: StoredHall, number: int) -> None:
    do(hall, "Anna", Tutorial(number))
    while not in_lesson(hall).is_over:
        at = in_lesson(hall)
        do(hall, "Anna", Step(Way.NEXT) if at.is_done else parse(at.current.answer))


def to_step(hall: StoredHall, situation: Situation) -> None:
    do(hall, "Anna", Tutorial(situation.lesson))
    while in_lesson(hall).step < situation.number:
        at = in_lesson(hall)
        do(hall, "Anna", Step(Way.NEXT) if at.is_done else parse(at.current.answer))


class TestWhomItConcerns:
    def test_exercise_messages_go_to_their_player_only(self, hall: StoredHall) -> None:
        told = do(hall, "Anna", Tutorial(2)) + do(hall, "Anna", ply("C5", "C11"))
        told += do(hall, "Anna", Stop())
        assert {telling.recipients for telling in told} == {("Anna",)}

    def test_exercise_uses_no_board_and_stores_nothing(self, hall: StoredHall) -> None:
        boards = dict(hall.tables)
        for line in ("tutorial 4", "move n11 n6", "undo tutorial", "puzzle 1", "view game"):
            if not line.startswith("undo"):
                [decision] = hall.decided("Anna", parse(line), 7.0)
                assert not decision.events
                assert not decision.hall
                hall.commit(decision)
        assert hall.tables == boards

    def test_command_without_a_board_refers_to_the_exercise(self, hall: StoredHall) -> None:
        do(hall, "Anna", Go("oak board"))
        do(hall, "Anna", Tutorial(2))
        for words in (None, "tutorial", "the tutorial", "it"):
            (told,) = do(hall, "Anna", ViewGame(words))
            assert told.table == in_lesson(hall).table
        for words in ("oak board", "it"):
            (told,) = do(hall, "Anna", ViewGame(words))
            assert told.table == hall.tables["oak board"]

    def test_exercise_has_its_own_board_style(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(2))
        do(hall, "Anna", SetBoard(Style.BRIEF))
        assert hall.style("Anna", "tutorial") is Style.BRIEF
        assert hall.style("Anna", "oak board") is Style.FULL

    def test_undo_in_a_lesson_is_refused(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(4))
        do(hall, "Anna", ply("N11", "N6"))
        assert refusal(hall, "Anna", Undo()) is Refusal.NO_PLY_YET

    def test_stop_without_an_exercise_is_refused(self, hall: StoredHall) -> None:
        assert refusal(hall, "Anna", Stop()) is Refusal.NO_EXERCISE

    def test_pronoun_no_longer_refers_to_a_closed_exercise(self, hall: StoredHall) -> None:
        do(hall, "Anna", Tutorial(2))
        do(hall, "Anna", ViewGame())
        do(hall, "Anna", Leave())
        assert exercise_of(hall.people["Anna"]) is None
        assert refusal(hall, "Anna", ViewGame("it")) is Refusal.NOTHING_USED


class TestBattles:
    @pytest.mark.parametrize("command", [Tutorial(), TryPuzzle(1)])
    def test_unclocked_battle_waits_and_both_players_are_notified(
        self, hall: StoredHall, command: Tutorial | TryPuzzle
    ) -> None:
        start(hall)
        waits, exercised = do(hall, "Anna", command)
        name = exercise(hall).table.name
        assert waits.event == BattleWaits("Anna", "Bert", "oak board", name)
        assert waits.recipients == ("Anna", "Bert")
        assert exercised.recipients == ("Anna",)
        assert len(do(hall, "Anna", TryPuzzle(2))) == 1  # the opponent has already been notified
        left, seen = do(hall, "Anna", Stop())
        assert isinstance(left.event, ExerciseLeft)
        assert seen.event == Asked("Anna", Look(), "oak board")

    def test_exercise_is_refused_while_a_clock_runs(self, hall: StoredHall) -> None:
        start(hall, "5+0")
        for command in (Tutorial(), TryPuzzle()):
            assert refusal(hall, "Anna", command) is ExerciseRefusal.IN_BATTLE
        do(hall, "Anna", parse("resign"))
        do(hall, "Anna", Tutorial())
        assert in_lesson(hall).number == 1

    def test_exercise_is_allowed_in_a_correspondence_battle(self, hall: StoredHall) -> None:
        start(hall, "3 days")
        do(hall, "Anna", Tutorial())
        assert in_lesson(hall).number == 1

    def test_opponent_activity_leaves_the_exercise_open(self, hall: StoredHall) -> None:
        start(hall)
        do(hall, "Bert", Tutorial())
        do(hall, "Anna", ply("A6", "B6"))
        do(hall, "Anna", parse("end game"))
        assert in_lesson(hall, "Bert").number == 1

    def test_ply_at_a_named_board_leaves_the_exercise(self, hall: StoredHall) -> None:
        start(hall)
        do(hall, "Anna", Tutorial())
        left, moved = do(hall, "Anna", parse("a6 b6 on oak board"))
        assert isinstance(left.event, ExerciseLeft)
        assert moved.table
        assert moved.table.game
        assert exercise_of(hall.people["Anna"]) is None

    def test_exercise_during_practice_notifies_no_opponent(self, hall: StoredHall) -> None:
        do(hall, "Anna", parse("practice on oak board"))
        waits, _ = do(hall, "Anna", Tutorial())
        assert waits.event == BattleWaits("Anna", "", "oak board", "tutorial")
        do(hall, "Anna", Stop())
        do(hall, "Anna", Go())
        waits, _ = do(hall, "Anna", Tutorial())
        (left,) = do(hall, "Anna", Stop())  # in the hall there is no board to redraw
        assert isinstance(left.event, ExerciseLeft)

    def test_battle_start_closes_exercises_of_both_players(self, hall: StoredHall) -> None:
        do(hall, "Anna", Join(Side.DWARF, "oak board"))
        do(hall, "Bert", Join(Side.TROLL, "oak board"))
        do(hall, "Anna", Tutorial(2))
        was = in_lesson(hall)
        left, _ = do(hall, "Bert", Start())
        assert left.event == ExerciseLeft("Anna", was)
        assert left.recipients == ("Anna",)
        do(hall, "Anna", ply("A6", "B6"))
        assert hall.tables["oak board"].game
        assert len(hall.tables["oak board"].game.moves) == 1

    @pytest.mark.parametrize("command", [Go("oak board"), Join(Side.DWARF, "oak board"), Replay(1)])
    def test_leaving_an_exercise_by_another_command_is_announced(
        self, hall: StoredHall, command: Go | Join | Replay
    ) -> None:
        start(hall)
        do(hall, "Bert", parse("resign"))
        do(hall, "Anna", Leave())
        do(hall, "Anna", Go())
        do(hall, "Anna", Tutorial(2))
        was = in_lesson(hall)
        first, *_ = do(hall, "Anna", command)
        assert first.event == ExerciseLeft("Anna", was)
        assert exercise_of(hall.people["Anna"]) is None

    def test_exercise_ends_a_replay(self, hall: StoredHall) -> None:
        start(hall)
        do(hall, "Bert", parse("resign"))
        do(hall, "Anna", Replay(1))
        do(hall, "Anna", Tutorial(2))
        assert replay_of(hall.people["Anna"]) is None
        assert refusal(hall, "Anna", Step(Way.NEXT)) is ExerciseRefusal.STEP_OPEN


def start(hall: StoredHall, clock: str = "off") -> None:
    do(hall, "Anna", Join(Side.DWARF, "oak board"))
    do(hall, "Bert", Join(Side.TROLL, "oak board"))
    if clock != "off":
        do(hall, "Anna", parse(f"set clock {clock}"))
    do(hall, "Anna", Start())


class TestPuzzles:
    @pytest.mark.parametrize("puzzle", puzzles().values(), ids=lambda each: str(each.number))
    def test_puzzle_solution_solves_the_puzzle(self, hall: StoredHall, puzzle: Puzzle) -> None:
        do(hall, "Anna", TryPuzzle(puzzle.number))
        told = do(hall, "Anna", played(puzzle.solution))
        assert remarks(told) == (Remark.DONE, Remark.OVER)
        assert at_puzzle(hall).is_over

    def test_puzzle_solution_includes_the_proof_line(self, hall: StoredHall) -> None:
        do(hall, "Anna", TryPuzzle(1))
        (told,) = do(hall, "Anna", played(ONE.solution))
        assert isinstance(told.event, ExerciseChanged)
        assert told.event.line == ONE.line

    @pytest.mark.parametrize("puzzle", puzzles().values(), ids=lambda each: str(each.number))
    def test_tempting_try_is_answered_with_its_refutation(
        self, hall: StoredHall, puzzle: Puzzle
    ) -> None:
        do(hall, "Anna", TryPuzzle(puzzle.number))
        before = at_puzzle(hall)
        for move in tempting(puzzle.game, puzzle.solution)[:3]:
            (told,) = do(hall, "Anna", played(move))
            assert isinstance(told.event, ExerciseChanged)
            assert told.event.remarks == (Remark.WRONG,)
            assert not told.event.plies
            tried, reply, *more = told.event.line
            assert tried == move
            assert reply in game(before).play(move).legal_moves()
            assert reply.captures or not more  # a lone quiet reply saves a piece
            assert at_puzzle(hall).table == before.table

    def test_unforeseen_try_is_refuted_by_at_most_one_capture(self) -> None:
        for move in ONE.game.legal_moves():
            if not ONE.has_solution_squares(move) and (move.origin, move.target) not in ONE.tries:
                tried, *replies = ONE.refuted(move)
                assert tried == move
                assert all(each.captures for each in replies)
                assert len(replies) <= 1

    def test_try_with_fewer_captures_is_refuted(self) -> None:
        for puzzle in puzzles().values():
            for move in puzzle.game.legal_moves():
                if (
                    puzzle.has_solution_squares(move)
                    or (move.origin, move.target) not in puzzle.tries
                ):
                    continue
                fewer = replace(move, captures=move.captures[:1])
                if fewer in puzzle.game.legal_moves():
                    assert puzzle.refuted(fewer)[0] == fewer

    def test_solution_with_fewer_captures_gets_its_own_remark(self, hall: StoredHall) -> None:
        do(hall, "Anna", TryPuzzle(SHOVED.number))
        solution = SHOVED.solution
        told = do(hall, "Anna", ply(str(solution.origin), str(solution.target)))
        assert remarks(told) == (Remark.FEWER,)

    def test_puzzle_hints_repeat_the_answer(self, hall: StoredHall) -> None:
        do(hall, "Anna", TryPuzzle(1))
        told = [remarks(do(hall, "Anna", Hint())) for _ in range(3)]
        assert told == [(Remark.HINT,), (Remark.ANSWER,), (Remark.ANSWER,)]

    def test_next_after_a_solved_puzzle_opens_another(self, hall: StoredHall) -> None:
        do(hall, "Anna", TryPuzzle(1))
        do(hall, "Anna", played(ONE.solution))
        assert refusal(hall, "Anna", played(ONE.solution)) is ExerciseRefusal.EXERCISE_OVER
        do(hall, "Anna", Step(Way.NEXT))
        assert at_puzzle(hall).number != 1

    def test_puzzle_command_returns_to_the_unsolved_puzzle(self, hall: StoredHall) -> None:
        do(hall, "Anna", TryPuzzle(3))
        do(hall, "Anna", Stop())
        do(hall, "Anna", TryPuzzle())
        assert at_puzzle(hall).number == 3

    def test_guest_gets_each_puzzle_once_before_repeats(self, hall: StoredHall) -> None:
        numbers = []
        for _ in puzzles():
            do(hall, "Anna", TryPuzzle())
            numbers.append(at_puzzle(hall).number)
            do(hall, "Anna", played(at_puzzle(hall).puzzle.solution))
        assert sorted(numbers) == list(puzzles())
        do(hall, "Anna", TryPuzzle())
        assert at_puzzle(hall).number in puzzles()

    def test_unknown_number_is_refused(self, hall: StoredHall) -> None:
        assert (
            refusal(hall, "Anna", TryPuzzle(len(puzzles()) + 1)) is ExerciseRefusal.NO_SUCH_PUZZLE
        )


class TestRatings:
    @pytest.fixture
    def house(self) -> House:
        house = House([BoardSpec("oak board")])
        for name in ("Anna", "Bert", "Carla"):
            house.enter(name, 1.0, member=name != "Carla")
        return house

    def known(self, house: House, player: str = "Anna") -> StudyRecord:
        return house.look_up(StudiesLookup(player))

    def solve(self, house: House, puzzle: Puzzle = ONE, player: str = "Anna") -> None:
        house.obey(player, TryPuzzle(puzzle.number), 2.0)
        house.obey(player, played(puzzle.solution), 2.0)

    def fail(self, house: House, puzzle: Puzzle = ONE, player: str = "Anna") -> None:
        wrong = next(
            move for move in puzzle.game.legal_moves() if not puzzle.has_solution_squares(move)
        )
        house.obey(player, TryPuzzle(puzzle.number), 2.0)
        house.obey(player, played(wrong), 2.0)

    def test_solved_puzzle_raises_the_rating(self, house: House) -> None:
        self.solve(house)
        known = self.known(house)
        assert known.tried == {ONE.key: True}
        assert known.rating
        assert known.rating.points > 1500 > known.difficulties[ONE.key].points

    def test_failed_puzzle_lowers_the_rating(self, house: House) -> None:
        self.fail(house)
        known = self.known(house)
        assert known.tried == {ONE.key: False}
        assert known.rating
        assert known.rating.points < 1500 < known.difficulties[ONE.key].points

    def test_hint_counts_as_a_failed_try(self, house: House) -> None:
        house.obey("Anna", TryPuzzle(1), 2.0)
        house.obey("Anna", Hint(), 2.0)
        house.obey("Anna", played(ONE.solution), 2.0)
        assert self.known(house).tried == {ONE.key: False}

    def test_repeated_try_does_not_change_the_rating(self, house: House) -> None:
        self.fail(house)
        before = self.known(house)
        self.solve(house)
        house.obey("Anna", Step(Way.FIRST), 2.0)
        self.solve(house)
        assert self.known(house) == before

    def test_repeated_try_after_reconnecting_does_not_count(self, house: House) -> None:
        self.fail(house)
        before = self.known(house)
        house.depart("Anna", 3.0)
        house.enter("Anna", 4.0, member=True)
        self.solve(house)
        assert self.known(house) == before

    def test_puzzle_ratings_are_per_player(self, house: House) -> None:
        self.solve(house)
        self.fail(house, player="Bert")
        mine, others = self.known(house).rating, self.known(house, "Bert").rating
        assert mine
        assert others
        assert mine.points > others.points

    def test_guest_has_no_puzzle_rating(self, house: House) -> None:
        self.solve(house, player="Carla")
        assert self.known(house, "Carla") == StudyRecord()

    def test_next_puzzle_matches_the_player_rating(self, house: House) -> None:
        self.fail(house, LATER, "Bert")  # raises the difficulty of this puzzle
        for number in range(1, PROVISIONAL):
            self.solve(house, puzzles()[number])
            assert self.next_number(house) == number + 1
        self.solve(house, puzzles()[PROVISIONAL])
        assert self.next_number(house) == LATER.number

    def next_number(self, house: House) -> int:
        house.obey("Anna", TryPuzzle(), 2.0)
        at = exercise_of(house.hall.people["Anna"])
        assert at
        return at.number

    def test_results_survive_a_change_of_puzzle_number(self, house: House) -> None:
        self.solve(house)
        line = (
            (files("thudmud.features.exercises") / "puzzles.txt")
            .read_text(encoding="utf-8")
            .split("\n")[0]
        )
        assert read_puzzle(17, line).key in self.known(house).tried

    def test_puzzles_do_not_affect_the_standings(self, house: House) -> None:
        self.solve(house)
        [message] = house.obey("Anna", "standings", 3.0)
        assert message.text.startswith("Discworld, untimed: nobody is ranked yet.")

    def test_completed_lessons_are_stored_for_members_only(self, house: House) -> None:
        for name in ("Anna", "Carla"):
            for number in (1, 2):
                house.obey(name, Tutorial(number), 2.0)
                while not (at := in_lesson(house.hall, name)).is_over:
                    house.obey(name, "next" if at.is_done else at.current.answer, 2.0)
            house.depart(name, 3.0)
            house.enter(name, 4.0, member=name != "Carla")
            house.obey(name, Tutorial(), 5.0)
        assert self.known(house).lessons == {1, 2}
        assert [in_lesson(house.hall, name).number for name in ("Anna", "Carla")] == [3, 1]
        [listed] = house.obey("Anna", Lessons(), 6.0)
        assert listed.text.count("(done)") == 2


def test_puzzle_number_zero_is_invalid() -> None:
    with pytest.raises(ValueError, match="invalid lesson or puzzle number"):
        PuzzleTried(1.0, "Anna", 0, solved=True)


def test_new_member_has_no_completed_lessons(hall: StoredHall) -> None:
    enter(hall, "Dora", member=True)
    assert not studies_of(hall.people["Dora"]).lessons
    with pytest.raises(RefusedError):
        do(hall, "Dora", Stop())
