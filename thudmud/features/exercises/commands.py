"""Commands of exercises, and the handling of other commands during one.

An exercise is private: it consists of asides, and no board of the hall is involved. Commands that
name no other board apply to the exercise.

The player's running battle waits meanwhile, so exercises are refused while a clock runs. Acting in
a battle leaves the exercise, and so does the beginning of the player's next battle. An opponent's
actions leave it open: otherwise a ply meant for the exercise could be played in the battle.
"""

from __future__ import annotations

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.archive.commands import Step, Stop, Way
from thudmud.features.exercises import model as exercises
from thudmud.features.exercises.model import (
    BattleWaits,
    ExerciseChanged,
    ExerciseRefusal,
    Remark,
    StudiesLookup,
    StudyRecord,
    exercise_of,
    studies_of,
)
from thudmud.features.options.commands import OptionCommand
from thudmud.features.playing.moves import End, Play, PlayRecorded, Resign, Undo
from thudmud.features.playing.queries import LastMove, Query
from thudmud.features.playing.seats import Leave
from thudmud.features.rooms.commands import Look
from thudmud.game.advice import Advice, Merit, build_advice
from thudmud.game.archive import MIDDLE, LookupResults
from thudmud.game.command import (
    Asked,
    Command,
    CommandContext,
    PrivateCommand,
    close_private_board,
    verb,
)
from thudmud.game.events import HallEvent, LessonDone, Moved, PuzzleTried
from thudmud.game.hall import Decision, Hall
from thudmud.game.hooks import private_deciders
from thudmud.game.more import Help
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import is_private_board_phrase
from thudmud.game.table import Table
from thudmud.game.tables import GameCommand, require_running_game
from thudmud.rules import Game, IllegalMoveError, Move, Reason
from thudmud.values import replace

R = Remark


@private_deciders.append
def _decide_privately(context: CommandContext, command: Command) -> Decision | None:
    return _decide_in_exercise(context, command) or _advance_lesson(context, command)


def _decide_in_exercise(context: CommandContext, command: Command) -> Decision | None:
    """Decide a command as an action in the player's exercise.

    Returns:
        The decision; None if the command is not about the exercise, or is a question, which is
        answered as at any board.

    Raises:
        RefusedError: the command can't be carried out in an exercise.
        LookupNeededError: the player's record of puzzles has to be looked up first.
    """
    # Long: one case for each command.
    hall, person, now, found = context.hall, context.person, context.now, context.found
    exercise = exercise_of(person)
    if exercise is None:
        return None
    if (
        isinstance(command, GameCommand)
        and not isinstance(command, Query)
        and not is_private_board_phrase(person, command.on)
    ):
        return None
    match command:
        case Play():
            told = _play(person.name, exercise, command, now)
        case PlayRecorded():
            told = _play(
                person.name, exercise, command.to_play(require_running_game(exercise.table)), now
            )
        case Command(words="hint"):
            told = _hint(person.name, exercise)
        case Step(Way.NEXT):
            told = _go_to_next(person, exercise, found)
        case Step(Way.BACK):
            told = _go_back(person, exercise)
        case Step(Way.FIRST):
            told = _restart(person, exercise)
        case Step(Way.LAST):
            board = exercise.table.name
            return Decision(person.name, board, asides=(Asked(person.name, LastMove(), board),))
        case Stop():
            return _leave_exercise(context)
        case Leave() | End() | Resign():
            done = _complete_line_step(person.name, exercise, command)
            if done is None:
                return _leave_exercise(context)
            told = done
        case Undo():
            raise RefusedError(Refusal.NO_PLY_YET, board=exercise.table.name)
        case Look(None):
            board = exercise.table.name
            shown = Asked(person.name, command, board)
            asked = _complete_line_step(person.name, exercise, command) or _repeat_task(
                person.name, exercise
            )
            then = _decide_and_record(hall, person, asked, found, now)
            return replace(then, asides=(shown, *then.asides))
        case _:
            return None
    return _decide_and_record(hall, person, told, found, now)


def _advance_lesson(context: CommandContext, command: Command) -> Decision | None:
    """Decide a command that a lesson may ask for, and advance the lesson if it just did.

    Returns:
        The command's own decision, extended by the lesson's progress; None if lessons never ask for
        such a command.

    Raises:
        LookupNeededError: the player's record of lessons has to be looked up first.
    """
    person = context.person
    exercise = exercise_of(person)
    if not isinstance(exercise, exercises.LessonProgress):
        return None
    if not isinstance(command, GameCommand | Help | OptionCommand):
        return None
    if not is_private_board_phrase(person, getattr(command, "on", None)):
        return None
    # Decide the command as usual. If it stores events, it can't be a step of a lesson.
    decision = command.decide(context)
    told = None if decision.events else _complete_line_step(person.name, exercise, command)
    if told is None:
        return decision
    then = _decide_and_record(context.hall, person, told, context.found, context.now)
    asides = (*decision.asides, *then.asides)
    return replace(then, asides=asides, preferences=decision.preferences)


def _require_no_live_clock(context: CommandContext) -> None:
    """Require that the player has no running clock in a battle."""
    for table in context.hall.tables.seats_of(context.me):
        if table.has_live_clock:
            raise RefusedError(ExerciseRefusal.IN_BATTLE, board=table.name)


@verb("tutorial")
class Tutorial(PrivateCommand):
    """Open a lesson of the tutorial by its number, or the next one.

    A lesson that the player left half-way is picked up. At the lesson, its number starts it again.
    """

    lesson: int | None = None

    def decide(self, context: CommandContext) -> Decision:
        _require_no_live_clock(context)
        person, known, number = context.person, exercises.lessons(), self.lesson
        last = studies_of(person).lesson
        is_left = exercise_of(person) is not last
        if last and not last.is_over and (number is None or (is_left and number == last.number)):
            begun = ExerciseChanged(person.name, last, (R.BEGUN, *next_remarks(last)), shows=True)
            return _open_exercise(context, begun)
        if number is None:
            done = studies_of(person).lessons | _study_record(person, context.found).lessons
            left = [each for each in known if each not in done]
            if not left:
                return Lessons().decide(context)
            number = left[0]
        if number not in known:
            raise RefusedError(ExerciseRefusal.NO_SUCH_LESSON, number=number, most=len(known))
        return _open_exercise(context, _begin_lesson(person, known[number]))


@verb("lessons")
class Lessons(PrivateCommand):
    """List the lessons, marking completed ones, and count the puzzles that are solved."""

    is_question = is_public = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(self, answer=_study_record(context.person, context.found))


@verb("puzzle")
class TryPuzzle(PrivateCommand):
    """Open a puzzle by its number, or one that suits the player's rating."""

    number: int | None = None

    def decide(self, context: CommandContext) -> Decision:
        _require_no_live_clock(context)
        person, known, number = context.person, exercises.puzzles(), self.number
        last = studies_of(person).puzzle
        if number is None and last and not last.is_over:
            return _open_exercise(
                context, ExerciseChanged(person.name, last, (R.BEGUN, R.TASK), shows=True)
            )
        if number is None:
            number = _choose_puzzle(person, context.found)
        if number not in known:
            raise RefusedError(ExerciseRefusal.NO_SUCH_PUZZLE, number=number, most=len(known))
        return _open_exercise(context, _open_puzzle(person, known[number]))


def _open_exercise(context: CommandContext, begun: ExerciseChanged) -> Decision:
    """Decide to open an exercise, and notify opponents that their battles wait."""
    decision = _exercise_decision(begun)
    if context.person.private:
        return decision
    waits = []
    for table in context.hall.tables.seats_of(context.me):
        if table.is_running:
            others = (each for each in table.seats.values() if each != context.me)
            at = begun.exercise.table.name
            waits.append(BattleWaits(context.me, next(others, ""), table.name, at))
    return replace(decision, asides=(*waits, *decision.asides))


def _leave_exercise(context: CommandContext) -> Decision:
    """Decide to leave an exercise, and show the player's waiting battle."""
    person, room = context.person, context.person.room
    table = context.hall.table_in(room)
    if table is None or not (table.is_running and table.side_of(context.me)):
        return context.decide_asides(*close_private_board(person))
    seen = context.decide_answer(Look(), room)
    return replace(seen, asides=(*close_private_board(person), *seen.asides))


# Lessons.


def _begin_lesson(person: Person, lesson: exercises.Lesson) -> ExerciseChanged:
    return _open_lesson_at(person, lesson, 0, (R.BEGUN, R.TASK))


def _open_lesson_at(
    person: Person, lesson: exercises.Lesson, step: int, remarks: tuple[Remark, ...] = (R.TASK,)
) -> ExerciseChanged:
    """Open a lesson at a step that sets up a board."""
    at = exercises.at_step(person.name, lesson, step, studies_of(person).version)
    return ExerciseChanged(person.name, at, remarks, shows=True)


def _exercise_decision(told: ExerciseChanged) -> Decision:
    return Decision(told.player, told.exercise.table.name, asides=(told,))


def next_remarks(exercise: exercises.Exercise) -> tuple[Remark, ...]:
    """Return the remarks that say what to do next."""
    if exercise.is_over:
        return (R.OVER,)
    return (
        (R.NEXT,)
        if isinstance(exercise, exercises.LessonProgress) and exercise.is_done
        else (R.TASK,)
    )


def _repeat_task(player: str, exercise: exercises.Exercise) -> ExerciseChanged:
    return ExerciseChanged(player, exercise, next_remarks(exercise))


def _complete_line_step(
    player: str, exercise: exercises.Exercise, command: Command
) -> ExerciseChanged | None:
    """Advance the lesson if its current step asks for this command; otherwise return None."""
    if not isinstance(exercise, exercises.LessonProgress) or exercise.is_done:
        return None
    line, _, _ = str(command).partition(" on ")
    return _complete_step(player, exercise) if exercise.current.is_line(line) else None


def _complete_step(
    player: str, before: exercises.LessonProgress, table: Table | None = None
) -> ExerciseChanged:
    """Mark the current step as done, and advance unless the next step sets up a new board.

    The player says "next" before a new board, so that they can look at the old one.
    """
    table = table or before.table
    if before.next_step is None or before.next_step.scene:
        done = replace(before, table=table, is_done=True)
        return ExerciseChanged(player, done, (R.DONE, *next_remarks(done)))
    then = replace(before, table=table, step=before.step + 1, hints=0)
    return ExerciseChanged(player, then, (R.DONE, R.TASK))


# Actions in an exercise.


def _play(player: str, exercise: exercises.Exercise, command: Play, now: float) -> ExerciseChanged:
    game = _game_at(exercise.table)
    if exercise.is_over:
        raise RefusedError(ExerciseRefusal.EXERCISE_OVER, board=exercise.table.name)
    if isinstance(exercise, exercises.LessonProgress) and exercise.is_done:
        raise RefusedError(ExerciseRefusal.STEP_DONE)
    side = exercise.table.side_of(player)
    if side is None or game.turn is not side:
        raise IllegalMoveError(Reason.NOT_YOUR_TURN, side=game.turn)
    move = game.resolve(command.attempt, side)
    if isinstance(exercise, exercises.PuzzleProgress):
        return _try_puzzle(player, exercise, move, now)
    if not exercise.current.is_ply(game, move):
        return ExerciseChanged(
            player, exercise, (R.WRONG,), advice=_objection_to(game, move, exercise.current)
        )
    plies = [_apply_ply(exercise.table, player, move, now)]
    reply = exercise.current.reply
    if reply:
        _, then = plies[0]
        answer = _game_at(then).resolve(reply, side.other)
        plies.append(_apply_ply(then, then.seats[side.other], answer, now))
    told = _complete_step(player, exercise, plies[-1][1])
    return replace(told, plies=tuple(plies), shows=True)


def _objection_to(game: Game, move: Move, step: exercises.LessonStep) -> Advice | None:
    """Return advice against a ply, if it loses more pieces than the expected ply."""
    why, asked = build_advice(game, (move,)), exercises.attempt_of(step.answer)
    best = build_advice(game, (game.resolve(asked, game.turn),)) if asked else None
    return why if best is None or _pieces_lost(why) > _pieces_lost(best) else None


def _pieces_lost(advice: Advice) -> int:
    return sum(each.number for each in advice.reasons if each.merit is Merit.LOSES)


def _apply_ply(table: Table, player: str, move: Move, now: float) -> tuple[Moved, Table]:
    """Apply a ply to a table; return the event and the resulting table."""
    game = _game_at(table)
    event = Moved(now, player, game.turn, move, len(game.moves) + 1)
    return event, table.apply(event)


def _game_at(table: Table) -> Game:
    if table.game is None:
        raise InvalidValueError(f"there is no battle at the {table.name}")
    return table.game


def _hint(player: str, exercise: exercises.Exercise) -> ExerciseChanged:
    if exercise.is_over or (isinstance(exercise, exercises.LessonProgress) and exercise.is_done):
        return _repeat_task(player, exercise)
    then = replace(exercise, hints=exercise.hints + 1)
    return ExerciseChanged(player, then, (R.ANSWER if exercise.hints else R.HINT,))


def _go_to_next(
    person: Person, exercise: exercises.Exercise, found: LookupResults
) -> ExerciseChanged:
    if isinstance(exercise, exercises.PuzzleProgress):
        return _open_puzzle(person, exercises.puzzles()[_choose_puzzle(person, found)])
    if not exercise.is_done:
        raise RefusedError(ExerciseRefusal.STEP_OPEN)
    if exercise.next_step:
        return _open_lesson_at(person, exercise.lesson, exercise.step + 1)
    after = exercises.lessons().get(exercise.lesson.number + 1)
    if after is None:
        raise RefusedError(ExerciseRefusal.EXERCISE_OVER, board=exercise.table.name)
    return _begin_lesson(person, after)


def _go_back(person: Person, exercise: exercises.Exercise) -> ExerciseChanged:
    """Return to the last step that set up a board; from its start, to the board before."""
    if isinstance(exercise, exercises.PuzzleProgress):
        return _restart(person, exercise)
    scenes = [n for n, each in enumerate(exercise.lesson.steps) if each.scene]
    begun = max(n for n in scenes if n <= exercise.step)
    if exercise.step == begun and not exercise.is_done:
        begun = max((n for n in scenes if n < begun), default=0)
    return _open_lesson_at(person, exercise.lesson, begun)


def _restart(person: Person, exercise: exercises.Exercise) -> ExerciseChanged:
    if isinstance(exercise, exercises.LessonProgress):
        return _begin_lesson(person, exercise.lesson)
    return _open_puzzle(person, exercise.puzzle)


# Puzzles.


def _open_puzzle(person: Person, puzzle: exercises.Puzzle) -> ExerciseChanged:
    at = exercises.open_puzzle(person.name, puzzle, studies_of(person).version)
    return ExerciseChanged(person.name, at, (R.BEGUN, R.TASK), shows=True)


def _choose_puzzle(person: Person, found: LookupResults) -> int:
    """Choose a puzzle for a player, and return its number.

    Untried puzzles come first, then unsolved ones, then the number after the latest. Within these,
    a player with a settled rating gets the puzzle with the nearest rating. Others get the first,
    since the file goes from easy to hard.
    """
    known, puzzles = _study_record(person, found), exercises.puzzles()
    last, rating = studies_of(person).puzzle, known.rating
    tried = {*known.tried, *studies_of(person).tried}
    solved = {key for key, done in known.tried.items() if done} | studies_of(person).solved

    def distance(puzzle: exercises.Puzzle) -> int:
        if rating is None or rating.is_provisional:
            return 0
        hard = known.difficulties.get(puzzle.key)
        return abs((hard.points if hard else MIDDLE) - rating.points)

    for passed in (tried, solved):
        if left := [each for each in puzzles.values() if each.key not in passed]:
            return min(left, key=distance).number
    return 1 + (last.number if last else 0) % len(puzzles)


def _study_record(person: Person, found: LookupResults) -> StudyRecord:
    """Return the stored record of a member's lessons and puzzles; guests have an empty one."""
    return found[StudiesLookup(person.name)] if person.is_member else StudyRecord()


def _try_puzzle(
    player: str, exercise: exercises.PuzzleProgress, move: Move, now: float
) -> ExerciseChanged:
    puzzle = exercise.puzzle
    tried = replace(exercise, tries=exercise.tries + 1)
    if puzzle.is_solved_by(move):
        ply = _apply_ply(exercise.table, player, move, now)
        solved = replace(tried, table=ply[1], is_over=True)
        return ExerciseChanged(
            player, solved, (R.DONE, R.OVER), (ply,), shows=True, line=puzzle.line
        )
    if puzzle.has_solution_squares(move):
        return ExerciseChanged(player, tried, (R.FEWER,))
    return ExerciseChanged(player, tried, (R.WRONG,), line=puzzle.refuted(move))


def _decide_and_record(
    hall: Hall, person: Person, told: ExerciseChanged, found: LookupResults, now: float
) -> Decision:
    """Return the decision for a step, storing a member's finished lesson or first try at a puzzle.

    A hint counts as a try. Each lesson and puzzle is stored only once for each member, so that
    nobody can fill the disk.
    """
    at, decision = told.exercise, _exercise_decision(told)
    is_first = at.is_over if isinstance(at, exercises.LessonProgress) else at.tries + at.hints == 1
    if not is_first or not person.is_member or hall.version is None:
        return decision
    event: HallEvent = LessonDone(now, person.name, at.number)
    if isinstance(at, exercises.LessonProgress):
        if at.number in studies_of(person).lessons | _study_record(person, found).lessons:
            return decision
    elif at.puzzle.key in _study_record(person, found).tried:
        return decision
    else:
        event = PuzzleTried(now, person.name, at.puzzle.key, at.is_over)
        rest = (R.OVER,) if at.is_over else ()
        remarks = (*(each for each in told.remarks if each not in rest), R.COUNTED, *rest)
        decision = _exercise_decision(replace(told, remarks=remarks))
    return replace(decision, hall=(event,), hall_version=hall.version)
