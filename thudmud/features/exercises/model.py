"""Exercises: the lessons of the tutorial, and puzzles, each at a board that only one player sees.

An exercise is a part of a person, and its board is their private board, an ordinary table that is
in no hall: so it is drawn and asked about as any board is, and nobody else can sit there.
`thudmud.features.exercises.commands` decides commands in an exercise, and
`thudmud.features.exercises.messages` has the words.

The lessons are read from ``tutorial/NUMBER.toml``. A lesson has a ``title`` and steps,
``[[steps]]``, which have

- ``text``: what the player reads: what there is to know and what to do. Where the two differ,
  ``type`` is added for players who type, and ``click`` for those who click on a board;
- ``answer``: a line that does it. So do lines in ``accepts``, or that begin like one there, and
  plies that meet ``wants``, see `PlyWanted`;
- ``hint``: the answer to "hint", and to a ply that does not do it;
- ``done``: what is said when it is done;
- ``reply``: the line that the other side plays then.

A step that sets up a board has ``opening = true``, or the squares of the ``dwarfs``, the ``trolls``
and perhaps the ``rock``. It also has ``rules`` and ``side`` if they change. Any other step
continues the board of the step before.
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
from thudmud.game.evaluation import Variation
from thudmud.game.events import BattleId, Moved
from thudmud.game.hall import applies
from thudmud.game.match import Match
from thudmud.game.people import Person, PersonPart, PrivateBoard
from thudmud.game.table import BoardSpec, Table
from thudmud.game.telling import Telling
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
"""The names of the boards of exercises. Both words are commands, so no board in a hall can have
these names."""

SERVER = "the server"
"""The name of the player of the other side."""


class ExerciseRefusal(Enum):
    """Reasons for refusing a command in an exercise. The values are stable, for programs."""

    IN_BATTLE = "in_battle"
    NO_SUCH_LESSON = "no_such_lesson"
    NO_SUCH_PUZZLE = "no_such_puzzle"
    STEP_OPEN = "step_open"
    STEP_DONE = "step_done"
    EXERCISE_OVER = "exercise_over"


# The tutorial.


class PlyWanted(Value):
    """Conditions on a ply. What is left out does not matter.

    Attributes:
        verb: the verb.
        piece: what moves.
        origin: where it stands.
        captures: the fewest pieces it captures.
        safe: whether the other side must be unable to capture after it.
        wins: whether it has to win the battle.
    """

    verb: Verb | None = None
    piece: Piece | None = None
    origin: Square | None = None
    captures: int = 0
    safe: bool = False
    wins: bool = False

    def is_met(self, game: Game, move: Move) -> bool:
        """Whether a ply meets the conditions."""
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
    """A position that is set up in a lesson, and the player's side."""

    ruleset: Ruleset
    position: Position
    side: Side


class LessonStep(Value):
    """One thing to do in a lesson. The attributes are explained in the module's docstring."""

    text: str
    answer: str
    hint: str
    done: str
    typed: str = ""
    clicked: str = ""
    accepts: tuple[str, ...] = ()
    wants: PlyWanted | None = None
    reply: Attempt | None = None
    scene: LessonBoard | None = None

    def task(self, *, clicks: bool) -> str:
        """Return the task, for a player who types or who clicks."""
        return " ".join(filter(None, (self.text, self.clicked if clicks else self.typed)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that do it, in canonical form."""
        return self.accepts or (self.answer,)

    def is_line(self, line: str) -> bool:
        """Whether a line that is no ply does it, in canonical form."""
        asked = line.lower()
        return any(asked == each or asked.startswith(f"{each} ") for each in self.lines)

    def is_ply(self, game: Game, move: Move) -> bool:
        """Whether a ply does it."""
        if self.wants:
            return self.wants.is_met(game, move)
        attempts = [attempt for line in self.lines if (attempt := attempt_of(line))]
        return any(game.resolve(each, game.turn) == move for each in attempts)


class Lesson(Value):
    """A lesson: its number, from 1, what it is about, and its steps."""

    number: int
    title: str
    steps: tuple[LessonStep, ...]


_PLY = re.compile(r"(move|hurl|shove) ([a-o]\d+) ([a-o]\d+)(?: capturing (.+))?")


def attempt_of(line: str) -> Attempt | None:
    """Return the ply that a line of a lesson asks for, such as ``move e8 f8 capturing g7, g9``.

    None if it asks for no ply. Only the shortest form is understood.
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
    """Return the lessons by number. They are read when first asked for."""
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
                accepts=tuple(each.get("accepts", ())),
                wants=_wanted(wants) if wants else None,
                reply=attempt_of(each["reply"]) if "reply" in each else None,
                scene=scene,
            )
        )
    if not steps or steps[0].scene is None:
        raise InvalidValueError(f"lesson {number} does not begin with a board")
    return Lesson(number, data["title"], tuple(steps))


def _line(text: str) -> str:
    """Return a text of several lines as one line."""
    return " ".join(text.split())


def _scene(data: Mapping[str, Any], before: LessonBoard | None) -> LessonBoard | None:
    """Return the board that a step sets up, if any; what it leaves out is as before."""
    if not data.keys() & {"opening", "dwarfs", "trolls"}:
        return None
    ruleset = RULESETS[data["rules"]] if "rules" in data else _known(before).ruleset
    side = Side(data["side"]) if "side" in data else _known(before).side
    if data.get("opening"):
        return LessonBoard(ruleset, ruleset.opening, side)
    pieces = dict.fromkeys(ruleset.opening.squares(Piece.STONE), Piece.STONE)
    pieces |= dict.fromkeys(_squares(data.get("dwarfs", "")), Piece.DWARF)
    pieces |= dict.fromkeys(_squares(data.get("trolls", "")), Piece.TROLL)
    pieces |= dict.fromkeys(_squares(data.get("rock", "")), Piece.ROCK)
    return LessonBoard(ruleset, Position.of(pieces, side), side)


def _known(scene: LessonBoard | None) -> LessonBoard:
    if scene is None:
        raise InvalidValueError("the first board of a lesson has rules and a side")
    return scene


def _wanted(data: Mapping[str, Any]) -> PlyWanted:
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
        number: its number, from 1, easy ones first.
        key: what tries at it are stored under. It depends on the position alone, so that a puzzle
            keeps its results if its number changes.
        game: the position, as a battle that begins with it.
        line: the solution, and the moves that prove it.
        difficulty: how hard it is; only good for comparing puzzles.
        tries: by origin and target, the records of a tempting move and what spoils it.
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

    def goes_like(self, move: Move) -> bool:
        """Whether a move goes where the solution does."""
        best = self.solution
        return (move.origin, move.target) == (best.origin, best.target)

    def is_solved_by(self, move: Move) -> bool:
        """Whether a move goes where the solution does and captures as many pieces."""
        return self.goes_like(move) and len(move.captures) >= len(self.solution.captures)

    def refuted(self, move: Move) -> Variation:
        """Return a move that is no solution, and what spoils it, as far as that is known."""
        game = self.game.play(move)
        known = self.tries.get((move.origin, move.target))
        if known is None:
            answer = _profitable_capture(game)
            return (move, answer) if answer else (move,)
        for record in known[1:]:
            try:
                game = game.push(record)
            except ThudmudError:  # the player captured less than the move that was foreseen
                break
        return game.moves


_PRICES = {Side.DWARF: 1, Side.TROLL: 4}
"""What a piece of each side counts, for an exchange."""


_MOST_ANSWERS = 12


def _profitable_capture(game: Game) -> Move | None:
    """Return the capture that wins most, less what can be captured after it; None if none wins.

    Only the largest captures are considered.
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
    """Return the most pieces that the side to move can capture with a move."""
    if game.outcome:
        return 0
    moves = game.ruleset.legal_moves(game.position, MOST_TRAMPLES)
    return max((len(move.captures) for move in moves), default=0)


@cache
def puzzles() -> Mapping[int, Puzzle]:
    """Return the puzzles by number, which is the line of the file. They are read once.

    A line has the rules, the position, the difficulty, the solution with the moves that prove it,
    and tempting moves, each with the moves that spoil it. ``tests/search/puzzles.py`` makes them.
    """
    file = resources.files("thudmud.features.exercises") / "puzzles.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return MappingProxyType({n: read_puzzle(n, line) for n, line in enumerate(lines, 1)})


def read_puzzle(number: int, line: str) -> Puzzle:
    """Return the puzzle on a line of the file."""
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


# The state of an exercise.


class InLesson(Value):
    """Where a player is in a lesson.

    Attributes:
        table: the board, as it stands.
        lesson: which one.
        step: which of its steps, from 0.
        is_done: whether that step is done, and waits for "next".
        hints: how many hints the player had for the step.
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
    def following(self) -> LessonStep | None:
        """The next step; None after the last."""
        rest = self.lesson.steps[self.step + 1 :]
        return rest[0] if rest else None

    @property
    def is_over(self) -> bool:
        """Whether the lesson is done."""
        return self.is_done and self.following is None


class AtPuzzle(Value):
    """Where a player is in a puzzle.

    Attributes:
        table: the board, which does not change until the puzzle is solved.
        puzzle: which one.
        tries: how many plies they have tried.
        hints: how many hints they had.
        is_over: whether the player solved it.
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


Exercise = InLesson | AtPuzzle


class Studies(Value):
    """Which exercises a player has done, and where they were last.

    Attributes:
        lessons: the numbers of the lessons that they have done.
        lesson: the latest lesson, as it stood.
        puzzle: the latest puzzle, as it stood.
        tried: the keys of the puzzles they have tried in this visit.
        solved: the keys of those they solved, at any try.
    """

    lessons: frozenset[int] = frozenset()
    lesson: InLesson | None = None
    puzzle: AtPuzzle | None = None
    tried: frozenset[int] = frozenset()
    solved: frozenset[int] = frozenset()

    @property
    def version(self) -> int:
        """The version of the next board: programs rely on growing versions."""
        last = [each.table.version for each in (self.lesson, self.puzzle) if each]
        return max(last, default=-1) + 1

    def after(self, exercise: Exercise) -> Studies:
        """Return the studies with the new state of an exercise."""
        if isinstance(exercise, AtPuzzle):
            this = {exercise.puzzle.key}
            tried = self.tried | (this if exercise.tries or exercise.hints else set())
            solved = self.solved | (this if exercise.is_over else set())
            return replace(self, puzzle=exercise, tried=tried, solved=solved)
        done = {exercise.lesson.number} if exercise.is_over else set()
        return replace(self, lesson=exercise, lessons=self.lessons | done)


NOTHING_DONE = Studies()


class ExerciseState(PersonPart):
    """The exercise that a player is at, if any, and what they have done."""

    exercise: Exercise | None = None
    studies: Studies = NOTHING_DONE


def exercise_of(person: Person) -> Exercise | None:
    """Return the lesson or puzzle that a player is at."""
    return person.part(ExerciseState).exercise


def studies_of(person: Person) -> Studies:
    """Return which lessons and puzzles a player has done."""
    return person.part(ExerciseState).studies


def set_up(name: str, player: str, side: Side, game: Game, version: int) -> Table:
    """Return the board of an exercise, with the player at one side and the server at the other."""
    seats = {side: player, side.other: SERVER}
    dwarf, troll = seats[Side.DWARF], seats[Side.TROLL]
    match = Match(game, BattleId(name, 1), dwarf, troll, single=True)
    table = Table.set_up(BoardSpec(name, game.ruleset.name), 0)
    return replace(table, match=match, seats=MappingProxyType(seats), version=version)


def at_step(player: str, lesson: Lesson, step: int, version: int) -> InLesson:
    """Return a lesson at a step that sets up a board, with the version of the board."""
    scene = lesson.steps[step].scene
    if scene is None:
        raise InvalidValueError(f"step {step} of lesson {lesson.number} sets up no board")
    game = Game.start(scene.ruleset, scene.position)
    return InLesson(set_up(TUTORIAL, player, scene.side, game, version), lesson, step)


def at_puzzle(player: str, puzzle: Puzzle, version: int) -> AtPuzzle:
    """Return a puzzle as it begins, with the version of its board."""
    return AtPuzzle(set_up(PUZZLE, player, puzzle.game.turn, puzzle.game, version), puzzle)


class StudyRecord(NamedTuple):
    """What a player has done of the lessons and puzzles, and how hard the puzzles are.

    Attributes:
        lessons: the numbers of the lessons that they have done.
        tried: by the key of each puzzle tried, whether the first try solved it.
        rating: their rating at puzzles; None if they have tried none.
        difficulties: the ratings of the puzzles that anybody has tried, by their keys.
    """

    lessons: frozenset[int] = frozenset()
    tried: Mapping[int, bool] = MappingProxyType({})
    rating: Rating | None = None
    difficulties: Mapping[int, Rating] = MappingProxyType({})


class StudiesLookup(Lookup[StudyRecord]):
    """What a player, named in any case, has done of the lessons and puzzles."""

    player: str


class Remark(Enum):
    """A kind of sentence in an exercise. The values are stable, for programs."""

    BEGUN = "begun"
    """Names the lesson or puzzle."""
    TASK = "task"
    """Says what to do."""
    DONE = "done"
    """Says that it is done."""
    NEXT = "next"
    """Asks the player to say when to go on."""
    OVER = "over"
    """The lesson is finished or the puzzle solved; suggests what comes next."""
    WRONG = "wrong"
    """The ply is legal, but not what is asked for."""
    FEWER = "fewer"
    """The ply goes to the right square, but could capture more."""
    HINT = "hint"
    """A hint."""
    ANSWER = "answer"
    """The solution."""
    COUNTED = "counted"
    """The result counts for the rating, as the first try at a puzzle."""


@aside
class Exercised(Aside):
    """A player is told something in an exercise, and ``exercise`` is its new state.

    Attributes:
        player: whose exercise it is.
        exercise: its state from now on.
        remarks: the kinds of sentences to say, in order.
        plies: the plies played, by the player and then by the server, each with the table after it.
        shows: whether the board is shown.
        advice: reasons for and against the ply that was tried in a lesson.
        line: the move that was played or tried at a puzzle, and how it would go on.
    """

    exercise: Exercise
    remarks: tuple[Remark, ...]
    plies: tuple[tuple[Moved, Table], ...] = ()
    shows: bool = False
    advice: Advice | None = None
    line: Variation = ()


@applies(Exercised)
def _apply_exercised(exercised: Exercised, hall: Hall) -> Telling:
    person = hall.people[exercised.player]
    if person.private is None:
        hall.rooms.changed(person)
    left = ExerciseLeft(exercised.player, exercised.exercise)
    person.private = PrivateBoard(exercised.exercise.table, left)
    person.interrupt()
    person.keep(ExerciseState(exercised.exercise, studies_of(person).after(exercised.exercise)))
    return Telling(exercised, (exercised.player,), exercised.exercise.table)


@aside
class ExerciseLeft(Aside):
    """A player left an exercise, which may wait for them."""

    exercise: Exercise


@applies(ExerciseLeft)
def _apply_exercise_left(left: ExerciseLeft, hall: Hall) -> Telling:
    person = hall.people[left.player]
    person.private = None
    person.keep(ExerciseState(None, studies_of(person)))
    hall.rooms.changed(person)
    return Telling(left, (left.player,))


@aside
class BattleWaits(ToAnother):
    """A player opened an exercise during a battle, which waits. ``to`` is the opponent.

    ``to`` is "" in practice. ``exercise`` is the name of the exercise's board.
    """

    board: str
    exercise: str
