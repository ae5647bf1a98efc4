"""Lessons, puzzles, and a player's progress in them.

Each exercise has a board that only one player sees. It is the player's `PrivateBoard`: an ordinary
table that belongs to no hall. Like any board it can be drawn and asked about, but nobody else can
sit there. `thudmud.features.exercises.commands` decides commands in an exercise, and
`thudmud.features.exercises.messages` renders it.

A lesson is a file, ``tutorial/NUMBER.toml``, with a ``title`` and a list of ``[[steps]]``. A step
has

- ``text``: the explanation and the task. ``type`` is appended for players who type, and ``click``
  for players who click on a board;
- ``answer``: the expected line. If ``accepts`` is given, its lines complete the step instead, or
  lines that begin like them. If ``wants`` is given, so do plies that meet it, see `PlyWanted`;
- ``hint``: the answer to "hint". If the answer is a ply, it is appended for players who type;
- ``done``: the remark when the step is done; ``done_type`` is appended for players who type;
- ``reply``: the ply that the other side then plays.

A step sets up a board if it has ``opening = true``, or squares of ``dwarfs`` or ``trolls``, perhaps
with a ``rock``. Its ``rules`` and ``side`` default to those of the board before. Any other step
continues on the current board.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import Enum
from functools import cache
from heapq import nlargest
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.game.advice import MOST_TRAMPLES, Advice
from thudmud.game.archive import Lookup, Rating
from thudmud.game.asides import Aside, ToAnother, aside
from thudmud.game.delivery import Delivery
from thudmud.game.evaluation import Variation
from thudmud.game.events import BattleId, Moved
from thudmud.game.hall import applies
from thudmud.game.match import Match
from thudmud.game.people import Person, PersonPart, PrivateBoard
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import (
    EVERY,
    RULESETS,
    Attempt,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
    Verb,
    read_position,
)
from thudmud.values import Value, replace

if TYPE_CHECKING:
    from thudmud.game.hall import Hall

TUTORIAL, PUZZLE = "tutorial", "puzzle"
"""Names of the boards of exercises. Both words are commands, so no board of a hall can have
them."""

TUTOR = "the tutor"
"""The name of the opponent in exercises."""


class ExerciseRefusal(Enum):
    """Codes of refusals in exercises. The values are stable, for programs."""

    IN_BATTLE = "in_battle"
    NO_SUCH_LESSON = "no_such_lesson"
    NO_SUCH_PUZZLE = "no_such_puzzle"
    STEP_OPEN = "step_open"
    STEP_DONE = "step_done"
    EXERCISE_OVER = "exercise_over"


# The tutorial.


class PlyWanted(Value):
    """Conditions on a ply; defaults impose none.

    Attributes:
        verb: the required verb.
        piece: the kind of piece to move.
        origin: the square of origin.
        captures: the minimum number of captured pieces.
        safe: whether the opponent must have no capture afterwards.
        wins: whether the ply must win the battle.
    """

    verb: Verb | None = None
    piece: Piece | None = None
    origin: Square | None = None
    captures: int = 0
    safe: bool = False
    wins: bool = False

    def is_met(self, game: Game, move: Move) -> bool:
        """Whether a ply meets all the conditions."""
        if self.verb not in {None, move.verb} or self.piece not in {None, move.piece}:
            return False
        if self.origin not in {None, move.origin} or len(move.captures) < self.captures:
            return False
        after = game.play(move)
        if self.wins and not (after.outcome and after.outcome.winner is game.turn):
            return False
        answers = after.ruleset.legal_moves(after.position, MOST_TRAMPLES) if self.safe else ()
        return not any(each.captures for each in answers)


class LessonBoard(Value):
    """A position that a lesson sets up, and the player's side."""

    ruleset: Ruleset
    position: Position
    side: Side


class LessonStep(Value):
    """One task of a lesson. The module docstring explains the fields."""

    text: str
    answer: str
    hint: str
    done: str
    typed: str = ""
    clicked: str = ""
    done_typed: str = ""
    accepts: tuple[str, ...] = ()
    wants: PlyWanted | None = None
    reply: Attempt | None = None
    scene: LessonBoard | None = None

    def task(self, *, clicks: bool) -> str:
        """Return the text of the task, for a player who types or who clicks."""
        return " ".join(filter(None, (self.text, self.clicked if clicks else self.typed)))

    def confirmation(self, *, clicks: bool) -> str:
        """Return the remark when the step is done, for a player who types or who clicks."""
        return self.done if clicks else " ".join(filter(None, (self.done, self.done_typed)))

    def advice(self, *, clicks: bool) -> str:
        """Return the hint, with the expected ply for a player who types."""
        if clicks or attempt_of(self.answer) is None:
            return self.hint
        return f'{self.hint.removesuffix(".")}: "{self.answer}".'

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that complete the step, in canonical form."""
        return self.accepts or (self.answer,)

    def is_line(self, line: str) -> bool:
        """Whether a line in canonical form, other than a ply, completes the step."""
        asked = line.lower()
        return any(asked == each or asked.startswith(f"{each} ") for each in self.lines)

    def is_ply(self, game: Game, move: Move) -> bool:
        """Whether a ply completes the step."""
        if self.wants:
            return self.wants.is_met(game, move)
        attempts = [attempt for line in self.lines if (attempt := attempt_of(line))]
        return any(game.resolve(each, game.turn) == move for each in attempts)


class Lesson(Value):
    """A lesson of the tutorial. Numbers count from 1."""

    number: int
    title: str
    steps: tuple[LessonStep, ...]


_PLY = re.compile(r"(move|hurl|shove) ([a-o]\d+) ([a-o]\d+)(?: capturing (.+))?")


def attempt_of(line: str) -> Attempt | None:
    """Parse a lesson's line such as ``move e8 f8 capturing g7, g9``.

    Only the shortest form of a ply is understood; None for anything else.
    """
    found = _PLY.fullmatch(line)
    if found is None:
        return None
    verb, origin, target, said = found.groups()
    captures = None if said is None else EVERY if said == "all" else _squares(said, ", ")
    return Attempt(Verb(verb), Square.parse(origin), Square.parse(target), captures)


def _squares(text: str, between: str = " ") -> tuple[Square, ...]:
    return tuple(map(Square.parse, text.split(between))) if text else ()


@cache
def lessons() -> Mapping[int, Lesson]:
    """Return the lessons by number, read from the package's files on first use."""
    files = (resources.files("thudmud.features.exercises") / "tutorial").iterdir()
    texts = {
        int(file.name.removesuffix(".toml")): file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(".toml")
    }
    known = {number: _lesson(number, tomllib.loads(texts[number])) for number in sorted(texts)}
    return MappingProxyType(known)


def _lesson(number: int, data: Mapping[str, Any]) -> Lesson:
    steps: list[LessonStep] = []
    before: LessonBoard | None = None
    for each in data["steps"]:
        scene = _scene(each, before)
        before = scene or before
        wants = each.get("wants")
        steps.append(
            LessonStep(
                text=_line(each.get("text", "")),
                answer=each["answer"],
                hint=_line(each["hint"]),
                done=_line(each["done"]),
                typed=_line(each.get("type", "")),
                clicked=_line(each.get("click", "")),
                done_typed=_line(each.get("done_type", "")),
                accepts=tuple(each.get("accepts", ())),
                wants=_parse_ply_wanted(wants) if wants else None,
                reply=attempt_of(each["reply"]) if "reply" in each else None,
                scene=scene,
            )
        )
    if not steps or steps[0].scene is None:
        raise InvalidValueError(f"expected a board in the first step of lesson {number}, got none")
    return Lesson(number, data["title"], tuple(steps))


def _line(text: str) -> str:
    """Join the lines of a string, collapsing whitespace."""
    return " ".join(text.split())


def _scene(data: Mapping[str, Any], before: LessonBoard | None) -> LessonBoard | None:
    """Return the board that a step sets up, if any. Rules and side default to those of `before`."""
    if not data.keys() & {"opening", "dwarfs", "trolls"}:
        return None
    ruleset = RULESETS[data["rules"]] if "rules" in data else _require_board(before).ruleset
    side = Side(data["side"]) if "side" in data else _require_board(before).side
    if data.get("opening"):
        return LessonBoard(ruleset, ruleset.initial_position, side)
    pieces = dict.fromkeys(ruleset.initial_position.squares(Piece.STONE), Piece.STONE)
    pieces |= dict.fromkeys(_squares(data.get("dwarfs", "")), Piece.DWARF)
    pieces |= dict.fromkeys(_squares(data.get("trolls", "")), Piece.TROLL)
    pieces |= dict.fromkeys(_squares(data.get("rock", "")), Piece.ROCK)
    return LessonBoard(ruleset, Position.of(pieces, side), side)


def _require_board(scene: LessonBoard | None) -> LessonBoard:
    if scene is None:
        raise InvalidValueError(
            "expected rules and a side with the first board of a lesson, got none"
        )
    return scene


def _parse_ply_wanted(data: Mapping[str, Any]) -> PlyWanted:
    known = dict(data)
    for key, kind in (("verb", Verb), ("origin", Square.parse)):
        if key in known:
            known[key] = kind(known[key])
    if "piece" in known:
        known["piece"] = Piece[known["piece"].upper()]
    return PlyWanted(**known)


# Puzzles.


class Puzzle(Value):
    """A position in which one move is far better than all others.

    Attributes:
        number: its number, from 1, in order of difficulty.
        key: the key of stored results, a hash of ruleset and position. Results survive a
            renumbering.
        game: a battle that begins in the position.
        line: the solution, followed by the moves that prove it.
        difficulty: a measure without unit, good only for comparing puzzles.
        tries: records of a tempting move and its refutation, by origin and target.
    """

    number: int
    key: int
    game: Game
    line: Variation
    difficulty: int
    tries: Mapping[tuple[Square, Square], tuple[str, ...]]

    @property
    def solution(self) -> Move:
        """The best move."""
        return self.line[0]

    def has_solution_squares(self, move: Move) -> bool:
        """Whether a move has the solution's origin and target."""
        best = self.solution
        return (move.origin, move.target) == (best.origin, best.target)

    def is_solved_by(self, move: Move) -> bool:
        """Whether a move goes like the solution, and captures at least as many pieces."""
        return self.has_solution_squares(move) and len(move.captures) >= len(self.solution.captures)

    def refuted(self, move: Move) -> Variation:
        """Return a wrong move with its refutation, if one is known.

        Moves that the file doesn't list are answered by the most profitable capture, if any.
        """
        game = self.game.play(move)
        known = self.tries.get((move.origin, move.target))
        if known is None:
            answer = _profitable_capture(game)
            return (move, answer) if answer else (move,)
        for record in known[1:]:
            try:
                game = game.push(record)
            except ThudmudError:  # the player captured less than the listed move
                break
        return game.moves


_PRICES = {Side.DWARF: 1, Side.TROLL: 4}
"""The value of a piece in an exchange."""


_MOST_ANSWERS = 12


def _profitable_capture(game: Game) -> Move | None:
    """Return the capture with the largest net gain, or None if no capture gains.

    A static look two plies deep: the gain is reduced by the opponent's largest capture in reply.
    Only the `_MOST_ANSWERS` largest captures are examined.
    """
    side, best, most = game.turn, None, 0
    moves = game.ruleset.legal_moves(game.position, MOST_TRAMPLES)
    for move in nlargest(_MOST_ANSWERS, moves, key=lambda move: len(move.captures)):
        won = len(move.captures) * _PRICES[side.other]
        if won > most:
            won -= _most_captured(game.play(move)) * _PRICES[side]
        if won > most:
            best, most = move, won
    return best


def _most_captured(game: Game) -> int:
    """Return the size of the largest capture available to the side to move."""
    if game.outcome:
        return 0
    moves = game.ruleset.legal_moves(game.position, MOST_TRAMPLES)
    return max((len(move.captures) for move in moves), default=0)


@cache
def puzzles() -> Mapping[int, Puzzle]:
    """Return the puzzles by number, read from the package's file on first use.

    A puzzle's number is its line in the file. A line has the ruleset, position, difficulty,
    solution with its proof, and tempting moves with their refutations. ``tests/search/puzzles.py``
    writes them.
    """
    file = resources.files("thudmud.features.exercises") / "puzzles.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return MappingProxyType({n: read_puzzle(n, line) for n, line in enumerate(lines, 1)})


def read_puzzle(number: int, line: str) -> Puzzle:
    """Parse a line of the puzzle file."""
    rules, position, difficulty, proof, tempting = line.split("; ")
    ruleset = RULESETS[rules]
    game = then = Game.start(ruleset, read_position(position, ruleset))
    for record in proof.split(" "):
        then = then.push(record)
    tries: dict[tuple[Square, Square], tuple[str, ...]] = {}
    for each in tempting.split(", "):
        records = tuple(each.split(" "))
        origin, target, *_ = re.split("[-x]", records[0][1:])
        tries[Square.from_record(origin), Square.from_record(target)] = records
    key = 1 + crc32(f"{rules}; {position}".encode())
    return Puzzle(number, key, game, then.moves, int(difficulty), MappingProxyType(tries))


# Progress.


class LessonProgress(Value):
    """A player's progress in a lesson.

    Attributes:
        table: the current board.
        lesson: the lesson.
        step: the index of the current step, from 0.
        is_done: whether the step is done, and the player has to say "next".
        hints: the number of hints given in this step.
    """

    table: Table
    lesson: Lesson
    step: int = 0
    is_done: bool = False
    hints: int = 0

    @property
    def number(self) -> int:
        """The number of the lesson."""
        return self.lesson.number

    @property
    def current(self) -> LessonStep:
        """The current step."""
        return self.lesson.steps[self.step]

    @property
    def next_step(self) -> LessonStep | None:
        """The next step; None after the last."""
        rest = self.lesson.steps[self.step + 1 :]
        return rest[0] if rest else None

    @property
    def is_over(self) -> bool:
        """Whether the last step is done."""
        return self.is_done and self.next_step is None


class PuzzleProgress(Value):
    """A player's progress at a puzzle.

    Attributes:
        table: the board, unchanged until the puzzle is solved.
        puzzle: the puzzle.
        tries: the number of plies tried.
        hints: the number of hints given.
        is_over: whether the puzzle is solved.
    """

    table: Table
    puzzle: Puzzle
    tries: int = 0
    hints: int = 0
    is_over: bool = False

    @property
    def number(self) -> int:
        """The number of the puzzle."""
        return self.puzzle.number


Exercise = LessonProgress | PuzzleProgress


class Studies(Value):
    """A player's exercises in this visit.

    Attributes:
        lessons: numbers of the completed lessons.
        lesson: the latest lesson, with its progress.
        puzzle: the latest puzzle, with its progress.
        tried: keys of the puzzles tried.
        solved: keys of the puzzles solved, at any try.
    """

    lessons: frozenset[int] = frozenset()
    lesson: LessonProgress | None = None
    puzzle: PuzzleProgress | None = None
    tried: frozenset[int] = frozenset()
    solved: frozenset[int] = frozenset()

    @property
    def version(self) -> int:
        """The version for the next board. Programs rely on versions that only grow."""
        last = [each.table.version for each in (self.lesson, self.puzzle) if each]
        return max(last, default=-1) + 1

    def after(self, exercise: Exercise) -> Studies:
        """Return the studies updated by the new state of an exercise."""
        if isinstance(exercise, PuzzleProgress):
            this = {exercise.puzzle.key}
            tried = self.tried | (this if exercise.tries or exercise.hints else set())
            solved = self.solved | (this if exercise.is_over else set())
            return replace(self, puzzle=exercise, tried=tried, solved=solved)
        done = {exercise.lesson.number} if exercise.is_over else set()
        return replace(self, lesson=exercise, lessons=self.lessons | done)


NOTHING_DONE = Studies()


class ExerciseState(PersonPart):
    """A player's open exercise, if any, and progress in all exercises."""

    exercise: Exercise | None = None
    studies: Studies = NOTHING_DONE


def exercise_of(person: Person) -> Exercise | None:
    """Return the lesson or puzzle that a player has open; None if there is none."""
    return person.part(ExerciseState).exercise


def studies_of(person: Person) -> Studies:
    """Return a player's progress in all exercises of this visit."""
    return person.part(ExerciseState).studies


def set_up(name: str, player: str, side: Side, game: Game, version: int) -> Table:
    """Return an exercise's board, seating the player on `side` and the server on the other."""
    seats = {side: player, side.other: TUTOR}
    dwarf, troll = seats[Side.DWARF], seats[Side.TROLL]
    match = Match(game, BattleId(name, 1), dwarf, troll, is_single_battle=True)
    table = Table.set_up(BoardSpec(name, game.ruleset.name), 0)
    return replace(table, match=match, seats=MappingProxyType(seats), version=version)


def at_step(player: str, lesson: Lesson, step: int, version: int) -> LessonProgress:
    """Open a lesson at a step that sets up a board; `version` becomes the board's version."""
    scene = lesson.steps[step].scene
    if scene is None:
        raise InvalidValueError(
            f"expected a step with a board, got step {step} of lesson {lesson.number}"
        )
    game = Game.start(scene.ruleset, scene.position)
    return LessonProgress(set_up(TUTORIAL, player, scene.side, game, version), lesson, step)


def open_puzzle(player: str, puzzle: Puzzle, version: int) -> PuzzleProgress:
    """Return a new attempt at a puzzle; ``version`` becomes the version of its board."""
    return PuzzleProgress(set_up(PUZZLE, player, puzzle.game.turn, puzzle.game, version), puzzle)


class StudyRecord(NamedTuple):
    """A member's stored results in exercises, and the ratings of all puzzles.

    Attributes:
        lessons: numbers of the completed lessons.
        tried: whether the first try solved the puzzle, by the key of each puzzle tried.
        rating: the player's puzzle rating; None if they have tried none.
        difficulties: ratings of all puzzles that anybody has tried, by key.
    """

    lessons: frozenset[int] = frozenset()
    tried: Mapping[int, bool] = MappingProxyType({})
    rating: Rating | None = None
    difficulties: Mapping[int, Rating] = MappingProxyType({})


class StudiesLookup(Lookup[StudyRecord]):
    """Lookup of a player's results in exercises. The name's case doesn't matter."""

    player: str


class Remark(Enum):
    """Kinds of sentences in an exercise. The values are stable, for programs."""

    BEGUN = "begun"
    """Names the lesson or puzzle."""
    TASK = "task"
    """Sets the task."""
    DONE = "done"
    """Confirms that the task is done."""
    NEXT = "next"
    """Asks the player to say when to go on."""
    OVER = "over"
    """Suggests what to do after a finished lesson or solved puzzle."""
    WRONG = "wrong"
    """Comments on a legal ply that doesn't do the task."""
    FEWER = "fewer"
    """Comments on a ply to the right square that could capture more."""
    HINT = "hint"
    """Gives a hint."""
    ANSWER = "answer"
    """Gives the solution."""
    COUNTED = "counted"
    """Confirms that the first try at a puzzle counts for the rating."""


@aside
class ExerciseChanged(Aside):
    """A player's exercise has a new state.

    Attributes:
        player: the player.
        exercise: the new state.
        remarks: kinds of sentences to say, in order.
        plies: plies played by the player and then the server, each with the table after it.
        shows: whether to draw the board.
        advice: reasons for and against the ply tried in a lesson.
        line: the ply played or tried at a puzzle, followed by its continuation.
    """

    exercise: Exercise
    remarks: tuple[Remark, ...]
    plies: tuple[tuple[Moved, Table], ...] = ()
    shows: bool = False
    advice: Advice | None = None
    line: Variation = ()


@applies(ExerciseChanged)
def _apply_exercised(exercised: ExerciseChanged, hall: Hall) -> Delivery:
    person = hall.people[exercised.player]
    if person.private is None:
        hall.rooms.update(person)
    left = ExerciseLeft(exercised.player, exercised.exercise)
    person.private = PrivateBoard(exercised.exercise.table, left)
    person.interrupt()
    person.keep(ExerciseState(exercised.exercise, studies_of(person).after(exercised.exercise)))
    return Delivery(exercised, (exercised.player,), exercised.exercise.table)


@aside
class ExerciseLeft(Aside):
    """A player left an exercise, whose state is kept for later."""

    exercise: Exercise


@applies(ExerciseLeft)
def _apply_exercise_left(left: ExerciseLeft, hall: Hall) -> Delivery:
    person = hall.people[left.player]
    person.private = None
    person.keep(ExerciseState(None, studies_of(person)))
    hall.rooms.update(person)
    return Delivery(left, (left.player,))


@aside
class BattleWaits(ToAnother):
    """A player opened an exercise during a battle, so the opponent (``to``) has to wait.

    ``to`` is "" if the battle is practice. ``exercise`` is the name of the exercise's board.
    """

    board: str
    exercise: str
