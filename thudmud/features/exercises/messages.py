"""The tutorial and the puzzles as text and as facts for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import assert_never

from thudmud.english import capitalised, join_words
from thudmud.errors import InvalidValueError
from thudmud.features.archive.commands import Stop, ViewScore
from thudmud.features.exercises.commands import Lessons, TryPuzzle, Tutorial, next_remarks
from thudmud.features.exercises.model import (
    TUTORIAL,
    BattleWaits,
    Exercise,
    ExerciseChanged,
    ExerciseLeft,
    ExerciseRefusal,
    LessonProgress,
    PuzzleProgress,
    Remark,
    Studies,
    attempt_of,
    exercise_of,
    lessons,
    puzzles,
    studies_of,
)
from thudmud.game.asides import TookOver
from thudmud.game.command import has_verb
from thudmud.game.delivery import Delivery
from thudmud.game.evaluation import Variation
from thudmud.game.hall import Hall
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.rules import Game, Move, Piece, Verb
from thudmud.views import reader, sentences
from thudmud.views.data import Data, Fact
from thudmud.views.facts import ply_fact, table_facts_in_full
from thudmud.views.reasons import danger, short_command, some
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import (
    RenderContext,
    add_facts_to,
    add_lines_to,
    facts,
    words,
)
from thudmud.views.standing import board_lines, full_board_lines, wrap_clickable
from thudmud.views.view import View
from thudmud.views.words import wrap, wrap_each

add_refusal_texts(
    {
        Refusal.NO_EXERCISE: (
            "There's nothing to stop: you aren't in a lesson, puzzle or replay."
            ' "tutorial" opens a lesson, "puzzle" a puzzle.'
        ),
        ExerciseRefusal.IN_BATTLE: (
            "You're playing against the clock at the {board}. Finish that battle first: the"
            " lessons and puzzles won't run away."
        ),
        ExerciseRefusal.NO_SUCH_LESSON: (
            'There is no lesson {number}: they go from 1 to {most}. "lessons" lists them.'
        ),
        ExerciseRefusal.NO_SUCH_PUZZLE: "There is no puzzle {number}: they go from 1 to {most}.",
        ExerciseRefusal.STEP_OPEN: (
            'Do what the lesson asks first. "look" shows it again, "hint" helps.'
        ),
        ExerciseRefusal.STEP_DONE: 'You\'ve done that. "next" goes on, "back" repeats it.',
        ExerciseRefusal.EXERCISE_OVER: 'You\'re done here. "first" starts again, "stop" leaves.',
    }
)

ABOVE = (Remark.BEGUN,)
"""Remarks above the board. All others are below it, near the input line."""

R = Remark


@words.register
def _exercised(told: ExerciseChanged, context: RenderContext, view: View) -> list[str]:
    """Render a step of an exercise: heading, plies, board and task."""
    sentences_of = remark_sentences(told, context.hall, clicks=view.display.is_drawn_by_client)
    lines = wrap_each((sentences_of[each] for each in ABOVE if each in sentences_of), view.width)
    for event, table in told.plies:
        if view.display.is_for_reader:
            facts = reader.event_sentences_for_reader(event, table, view.me)
            lines += wrap_each([*facts, reader.piece_counts(table)], view.width)
        else:
            lines += wrap(" ".join(sentences.event_sentences(event, table, view.me)), view.width)
    # Draw a new position in any style.
    if told.shows and not view.display.is_drawn_by_client:
        if not told.plies:
            lines += full_board_lines(told.exercise.table, view)
        elif not view.display.is_for_reader:
            lines += board_lines(told.exercise.table, view)
    below = [sentences_of[each] for each in told.remarks if each not in ABOVE]
    return lines + wrap_each(below, view.width)


@facts.register
def _exercised_facts(told: ExerciseChanged, context: RenderContext) -> Iterator[Fact]:
    player, exercise = told.player, told.exercise
    yield from (ply_fact(each, after) for each, after in told.plies)
    if told.shows and not told.plies:
        yield from table_facts_in_full(exercise.table, player)
    remarks = remark_sentences(told, context.hall, clicks=True)
    yield Fact("Thud.Exercise", _exercise(exercise, player, remarks), player)


@add_lines_to(TookOver)
def _carried_on(came: TookOver, context: RenderContext, view: View) -> list[str]:
    """Show the open exercise to a player who is back after losing the connection."""
    told = _reopened(came, context)
    return _exercised(told, context, view) if told else []


@add_facts_to(TookOver)
def _carried_on_facts(came: TookOver, context: RenderContext) -> Iterator[Fact]:
    if told := _reopened(came, context):
        yield from _exercised_facts(told, context)


def _reopened(came: TookOver, context: RenderContext) -> ExerciseChanged | None:
    exercise = exercise_of(context.hall.people[came.player])
    if exercise is None:
        return None
    return ExerciseChanged(
        came.player, exercise, (Remark.BEGUN, *next_remarks(exercise)), shows=True
    )


@words.register
def _left(told: ExerciseLeft, _: RenderContext, view: View) -> list[str]:
    return wrap_clickable(left(told.exercise), view)


@facts.register
def _left_facts(told: ExerciseLeft, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Exercise", _exercise(told.exercise, told.player, {}, left=True), told.player)


@words.register
def _waits(told: BattleWaits, _: RenderContext, view: View) -> list[str]:
    if told.player == view.me:
        back = f'"{Stop()}" takes you back to it'
        return wrap_clickable(f"Your battle at the {told.board} waits: {back}.", view)
    opens = f"{told.player} opens {'the tutorial' if told.exercise == TUTORIAL else 'a puzzle'}"
    return wrap(f"{opens}; your battle at the {told.board} waits.", view.width)


@words.register
def _lessons(_: Lessons, context: RenderContext, view: View) -> list[str]:
    """Render the list of lessons, marking those that are done."""
    lessons_done, _tried, solved = _numbers_done(context)
    entries = [
        f"{each.number:>2}. {each.title}{' (done)' if each.number in lessons_done else ''}"
        for each in lessons().values()
    ]
    of = f"{len(solved)} of {len(puzzles())} puzzles"
    puzzles_line = f'You have solved {of}. "{TryPuzzle()}" gives you one.'
    more = (
        f'"{Tutorial(1)}" starts the first, and so on; "{Tutorial()}" picks up where you left off.'
    )
    return [
        "The lessons of the tutorial:",
        *wrap_each(entries, view.width, "    "),
        *wrap(more, view.width),
        *wrap(puzzles_line, view.width),
    ]


@facts.register
def _lessons_facts(_: Lessons, context: RenderContext) -> Iterator[Fact]:
    lessons_done, tried, solved = _numbers_done(context)
    listed: list[Data] = [
        {"number": number, "title": lesson.title, "done": number in lessons_done}
        for number, lesson in lessons().items()
    ]
    to_solve: list[Data] = [
        {
            "number": number,
            "rules": puzzle.game.ruleset.name,
            "side": puzzle.game.turn.value,
            "tried": puzzle.key in tried,
            "solved": puzzle.key in solved,
        }
        for number, puzzle in puzzles().items()
    ]
    yield Fact("Thud.Lessons", {"lessons": listed, "puzzles": to_solve}, context.player)


def _numbers_done(context: RenderContext) -> tuple[Set[int], Set[int], Set[int]]:
    """Return the numbers of finished lessons, and the keys of tried and of solved puzzles."""
    person, stored = context.hall.people.get(context.player), context.answer
    visit = studies_of(person) if person else Studies()  # nothing is known of a stranger
    solved = {key for key, at_first in stored.tried.items() if at_first}
    return visit.lessons | stored.lessons, visit.tried | stored.tried.keys(), visit.solved | solved


def _exercise(
    exercise: Exercise, player: str, remarks: Mapping[Remark, str], *, left: bool = False
) -> Data:
    side = exercise.table.side_of(player)
    lesson = exercise if isinstance(exercise, LessonProgress) else None
    return {
        "board": exercise.table.name,
        "number": exercise.number,
        "step": lesson.step + 1 if lesson else None,
        "steps": len(lesson.lesson.steps) if lesson else None,
        "in_all": len(lessons() if lesson else puzzles()),
        "side": side.value if side else None,
        "remarks": [each.value for each in remarks],
        "over": exercise.is_over,
        "left": left,
        "title": lesson.lesson.title if lesson else None,
        "task": _task(exercise),
        "squares": _squares_named(exercise, remarks),
        "words": list(remarks.values()),
    }


_SQUARE = re.compile(r"\b[A-O](?:1[0-5]|[1-9])\b")
_SHOWN = {Remark.HINT, Remark.ANSWER, Remark.FEWER}


def _squares_named(exercise: Exercise, remarks: Mapping[Remark, str]) -> list[str]:
    """Return the squares that the task names, and the last hint."""
    shown = _SHOWN | ({Remark.WRONG} if isinstance(exercise, LessonProgress) else set())
    asked = [_task(exercise) or "", *(text for key, text in remarks.items() if key in shown)]
    return list(dict.fromkeys(_SQUARE.findall(" ".join(asked).upper())))


def remark_sentences(told: ExerciseChanged, hall: Hall, *, clicks: bool) -> Mapping[Remark, str]:
    """Return the sentences of all remarks, for a player who types or who clicks."""
    at, ways = told.exercise, ' "stop" leaves.'
    if has_verb(hall, "hint"):
        ways = ' "hint" helps, "stop" leaves.'
    if clicks:
        ways = ""  # there are buttons
    if isinstance(at, LessonProgress):
        return {each: _in_lesson(each, at, told, ways, clicks=clicks) for each in told.remarks}
    return {each: _at_puzzle(each, at, told, ways, clicks=clicks) for each in told.remarks}


def _task(exercise: Exercise) -> str | None:
    """Return the task for a player who clicks; None if there is none."""
    if isinstance(exercise, LessonProgress):
        return None if exercise.is_done else exercise.current.task(clicks=True)
    return None if exercise.is_over else _to_find(exercise)


def left(exercise: Exercise) -> str:
    """Return the sentence for a player who leaves an exercise."""
    if isinstance(exercise, LessonProgress):
        if exercise.is_over:
            return f'You leave lesson {exercise.lesson.number}. "{Lessons()}" lists them all.'
        return f'You leave the tutorial. "{Tutorial()}" picks it up again.'
    if exercise.is_over:
        return f'You leave puzzle {exercise.puzzle.number}. "{TryPuzzle()}" gives you another.'
    return f'You leave the puzzle. "{TryPuzzle()}" picks it up again.'


@add_lines_to(Table)
def _waited_for(_: Delivery, context: RenderContext, view: View) -> list[str]:
    """Remind a player in an exercise how to return to a battle where it is their turn."""
    person = context.hall.people.get(view.me or "")
    if person is None or person.private is None:
        return []
    if not context.known_table.is_turn_of(person.name):
        return []
    return [f'"{Stop()}" takes you back to it.']


# The tutorial.


def _in_lesson(
    remark: Remark, at: LessonProgress, told: ExerciseChanged, ways: str, *, clicks: bool
) -> str:
    match remark:
        case R.BEGUN:
            of = f"Lesson {at.lesson.number} of {len(lessons())}"
            return f"{of}: {at.lesson.title}.{ways}"
        case R.TASK:
            return at.current.task(clicks=clicks)
        case R.DONE:
            done = at.current if at.is_done else at.lesson.steps[at.step - 1]
            return done.confirmation(clicks=clicks)
        case R.NEXT:
            return "Press Next to go on." if clicks else '"next" goes on.'
        case R.OVER:
            return _over(at, clicks=clicks)
        case R.WRONG:
            if attempt_of(at.current.answer) is None:
                return f'Not yet: {"press" if clicks else "type"} "{at.current.answer}" first.'
            why = danger(told.advice) if told.advice else ""
            then = f" {capitalised(why)}." if why else ""
            todo = _answer_in_words(at) if clicks else at.current.advice(clicks=False)
            return f"That's a legal move, but not the one for this step.{then} {todo}"
        case R.HINT:
            return at.current.advice(clicks=clicks)
        case R.ANSWER:
            return _answer_in_words(at) if clicks else f'Type "{at.current.answer}".'
        case R.FEWER | R.COUNTED:
            raise InvalidValueError(f"{remark} is not said in a lesson")
        case _:
            assert_never(remark)


def _answer_in_words(at: LessonProgress) -> str:
    """Return what to do in the current step, for a player who clicks."""
    game, asked = at.table.game, attempt_of(at.current.answer)
    if game is None or asked is None:
        return f'Press "{at.current.answer}".'
    return _instruction(game.resolve(asked, game.turn))


def _instruction(move: Move) -> str:
    """Return a sentence that asks for a move, without commands."""
    sentence = f"{move.verb.value.capitalize()} the {move.piece.noun} from {_way(move)}"
    if move.captures and move.verb is not Verb.HURL:
        sentence += f", and capture {join_words([str(each) for each in move.captures])}"
    return f"{sentence}."


def _over(at: LessonProgress, *, clicks: bool) -> str:
    number = at.lesson.number
    after = lessons().get(number + 1)
    if clicks:
        then = f"Next is lesson {after.number}: {after.title}" if after else "Now try a puzzle"
        return f"That was {'' if after else 'the last lesson, '}lesson {number}. {then}."
    if after:
        return f'That was lesson {number}. "next" begins lesson {after.number}: {after.title}.'
    return (
        f'That was lesson {number}, the last one. "{TryPuzzle()}" gives you something to solve,'
        ' and "help thud" explains how to play with others.'
    )


# Puzzles.


def _at_puzzle(
    remark: Remark, at: PuzzleProgress, told: ExerciseChanged, ways: str, *, clicks: bool
) -> str:
    puzzle = at.puzzle
    match remark:
        case R.BEGUN:
            rules = puzzle.game.ruleset.name
            return f"Puzzle {puzzle.number}, under {rules} rules.{ways}"
        case R.TASK:
            return _to_find(at)
        case R.DONE:
            return f"That's it! {_proof(puzzle.game, told.line)}"
        case R.NEXT | R.OVER:
            ways = '"next" gives you another puzzle, "stop" leaves.'
            return "Press Next for another puzzle." if clicks else ways
        case R.FEWER:
            most = _captured(puzzle.game, puzzle.solution)
            return f"The squares are right, but you can capture {most} there. Try again."
        case R.WRONG:
            return f"{_refutation(puzzle.game, told.line)} Try again."
        case R.HINT:
            return f"Look at the {puzzle.solution.piece.noun} on {puzzle.solution.origin}."
        case R.ANSWER:
            best = puzzle.solution
            return _instruction(best) if clicks else f'Type "{short_command(best)}".'
        case R.COUNTED:
            done = "solved" if at.is_over else "not solved"
            shows = "" if clicks else f'; "{ViewScore()}" shows it'
            return f"It counts as {done} for your puzzle rating{shows}."
        case _:
            assert_never(remark)


def _to_find(at: PuzzleProgress) -> str:
    side = at.puzzle.game.turn
    return f"You play the {side.plural}. One move is far better than the rest. Find it!"


def _proof(game: Game, line: Variation) -> str:
    """Describe the gain of a puzzle's solution, with the best replies as proof."""
    best, *then = line
    if not then:
        wins = game.play(best).outcome is not None
        gain = "It wins the battle" if wins else f"It captures {_captured(game, best)}"
        return f"{gain}." if wins else f"{gain} and costs you nothing."
    gain = f"It captures {_captured(game, best)}. " if best.captures else ""
    theirs = game.turn.other
    answer = f"The {theirs.plural}' best reply is {_way(then[0])}"
    if then[0].captures:
        answer += f", capturing {_captured(game, then[0])}"
    return f"{gain}{answer}.{_continuation(game, line)}"


def _refutation(game: Game, line: Variation) -> str:
    """Describe the gain of a wrong move at a puzzle, and the refutation."""
    tried, *then = line
    gain = f"That captures {_captured(game, tried) if tried.captures else 'nothing'}"
    if not then:
        return f"{gain}. There is a better move."
    answer = f"the {game.turn.other.plural} answer {_way(then[0])}"
    if then[0].captures:
        answer += f" and capture {_captured(game, then[0])}"
    elif tried.captures:
        answer += " and lose nothing more"
    return f"{gain}, {'but' if tried.captures else 'and'} {answer}.{_continuation(game, line)}"


def _continuation(game: Game, line: Variation) -> str:
    """Describe a variation from its third move on, and its total gain."""
    clauses = []
    for number, move in enumerate(line[2:]):
        who = "they" if number % 2 else "you"
        goes = f"capture {_captured(game, move)} with" if move.captures else "play"
        clauses.append(f"{who} {goes} {_way(move)}")
    end = game.play_all(line)
    if end.outcome and game.ruleset.goals:
        clauses.append("that wins the battle" if end.outcome.winner is game.turn else "you lose")
        return f" {capitalised(join_words(clauses))}."
    if not clauses:
        return ""
    won, lost = (sum(len(move.captures) for move in line[place::2]) for place in (0, 1))
    mine, theirs = Piece.of(game.turn), Piece.of(game.turn.other)
    gain = some(won, theirs) if won else "nothing"
    loss = some(lost, mine) if lost else "nothing"
    return f" {capitalised(join_words(clauses))}: in all, you win {gain} and lose {loss}."


def _captured(game: Game, move: Move) -> str:
    """Return the number and kind of pieces that a move captures, in words."""
    side = move.piece.side or game.turn
    return some(len(move.captures), Piece.of(side.other))


def _way(move: Move) -> str:
    return f"{move.origin} to {move.target}"
