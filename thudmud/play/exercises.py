"""Exercises: lessons of the tutorial and puzzles, each at a board that one person alone sees.

An exercise is a value on a person. Its board is a table like any other, but it stands in no hall:
so it is drawn, asked about and refused by what there is for boards, and nobody else can sit there.
What a command brings about in one, `thudmud.verbs.exercises` says; the words are made in
`thudmud.views.exercises`.

The lessons are read from ``tutorial/*.toml``, a file for each by its number. A lesson has a
``title`` and steps, ``[[steps]]``, which hold

- ``text``: what there is to know, and what is to be done, for the player to read; behind it, where
  they differ, ``type`` for who types, and ``click`` for who has a board to click on;
- ``answer``: a line that does it. Other lines do it as well if they are in ``accepts``, or begin
  like one there; and so do plies that are as ``wants`` says, see `PlyWanted`;
- ``hint``: what is told to who asks for one, or has played something else;
- ``done``: what is told when it is done;
- ``reply``: what the other side plays then, as a line.

A step that sets up a board has ``opening = true``, or the squares of the ``dwarfs``, the ``trolls``
and, if there is one, the ``rock``; then also ``rules`` and ``side`` if they are not what they were
before. Every other step goes on where the one before has ended.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from thudmud.errors import InvalidValueError
from thudmud.play.events import BattleId
from thudmud.play.hints import MOST_TRAMPLES
from thudmud.play.match import Match
from thudmud.play.table import BoardSpec, Table
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
from thudmud.values import value

TUTORIAL, PUZZLE = "tutorial", "puzzle"
"""What the boards of exercises are called. Both words are commands, so that no board in a hall can
have one of them for its name."""

SERVER = "the server"
"""Who plays the other side."""


# The tutorial.


@value
class PlyWanted:
    """What a ply has to be like; what is left out does not matter.

    Attributes:
        verb: how it is asked for.
        piece: what moves.
        origin: where it stands.
        captures: how many pieces it captures at least.
        safe: whether the other side can capture nothing after it.
        wins: whether it wins the battle.
    """

    verb: Verb | None = None
    piece: Piece | None = None
    origin: Square | None = None
    captures: int = 0
    safe: bool = False
    wins: bool = False

    def is_met(self, game: Game, move: Move) -> bool:
        """Whether a ply is like that."""
        if self.verb not in {None, move.verb} or self.piece not in {None, move.piece}:
            return False
        if self.origin not in {None, move.origin} or len(move.captures) < self.captures:
            return False
        after = game.play(move)
        if self.wins and not (after.outcome and after.outcome.winner is game.turn):
            return False
        answers = after.ruleset.legal_moves(after.position, MOST_TRAMPLES) if self.safe else ()
        return not any(each.captures for each in answers)


@value
class LessonBoard:
    """A board that is set up for a lesson, and the side that the player has at it."""

    ruleset: Ruleset
    position: Position
    side: Side


@value
class LessonStep:
    """One thing to do in a lesson; the attributes are as the module tells them."""

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
        """Return what is to be done, for who types or for who clicks."""
        return " ".join(filter(None, (self.text, self.clicked if clicks else self.typed)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that do it."""
        return self.accepts or (self.answer,)

    def is_line(self, line: str) -> bool:
        """Whether a line that is no ply, in its canonical form, does it."""
        asked = line.lower()
        return any(asked == each or asked.startswith(f"{each} ") for each in self.lines)

    def is_ply(self, game: Game, move: Move) -> bool:
        """Whether a ply does it."""
        if self.wants:
            return self.wants.is_met(game, move)
        attempts = [attempt for line in self.lines if (attempt := attempt_of(line))]
        return any(game.resolve(each, game.turn) == move for each in attempts)


@value
class Lesson:
    """A lesson: its number, from 1, what it is about, and its steps."""

    number: int
    title: str
    steps: tuple[LessonStep, ...]


_PLY = re.compile(r"(move|hurl|shove) ([a-o]\d+) ([a-o]\d+)(?: capturing (.+))?")


def attempt_of(line: str) -> Attempt | None:
    """Return the ply that a line of a lesson asks for, as ``move e8 f8 capturing g7, g9`` does.

    It is None if the line asks for no ply. Only the shortest form is known here.
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
    """Return the lessons by their numbers. They are read when somebody first asks for one."""
    files = (resources.files("thudmud.play") / "tutorial").iterdir()
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
    """Return a text of several lines as one."""
    return " ".join(text.split())


def _scene(data: Mapping[str, Any], before: LessonBoard | None) -> LessonBoard | None:
    """Return the board that a step sets up, if it does; what it does not say is as before."""
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


@value
class Puzzle:
    """A position in which one ply is much better than all others.

    Attributes:
        number: by which players ask for it, from 1.
        game: the position, as a battle that begins with it.
        solution: the ply.
    """

    number: int
    game: Game
    solution: Move

    def goes_like(self, move: Move) -> bool:
        """Whether a ply goes where the solution does."""
        best = self.solution
        return (move.origin, move.target) == (best.origin, best.target)

    def is_solved_by(self, move: Move) -> bool:
        """Whether a ply goes where the solution does, and captures as many."""
        return self.goes_like(move) and len(move.captures) >= len(self.solution.captures)


@cache
def puzzles() -> Mapping[int, Puzzle]:
    """Return the puzzles by their numbers, which are the lines of the file; read once."""
    file = resources.files("thudmud.play") / "puzzles.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return MappingProxyType({n: _puzzle(n, line) for n, line in enumerate(lines, 1)})


def _puzzle(number: int, line: str) -> Puzzle:
    rules, position, solution = line.split("; ")
    ruleset = RULESETS[rules]
    game = Game.start(ruleset, read_position(position, ruleset))
    return Puzzle(number, game, game.push(solution).moves[-1])


# What somebody is at.


@value
class InLesson:
    """Where somebody is in a lesson.

    Attributes:
        table: the board, as it stands.
        lesson: which one.
        step: which of its steps, from 0.
        is_done: whether that is done, and the player is to say when to go on.
        hints: how many hints they had for it.
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
        """The step that they are at."""
        return self.lesson.steps[self.step]

    @property
    def following(self) -> LessonStep | None:
        """The step after that; None if it is the last."""
        rest = self.lesson.steps[self.step + 1 :]
        return rest[0] if rest else None

    @property
    def is_over(self) -> bool:
        """Whether the lesson is done."""
        return self.is_done and self.following is None


@value
class AtPuzzle:
    """How far somebody is with a puzzle.

    Attributes:
        table: the board, which stays as it is until the puzzle is solved.
        puzzle: which one.
        tries: how many plies they have tried.
        hints: how many hints they had.
        is_over: whether they have solved it.
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


@value
class Studies:
    """What somebody has done of the exercises, and where they were last.

    Attributes:
        lessons: the numbers of the lessons that they have done.
        lesson: the last lesson that they were at.
        puzzle: the last puzzle that they were at.
        tried: the numbers of the puzzles that they have tried since they came in.
        solved: the numbers of those that they have solved, at whichever try.
    """

    lessons: frozenset[int] = frozenset()
    lesson: InLesson | None = None
    puzzle: AtPuzzle | None = None
    tried: frozenset[int] = frozenset()
    solved: frozenset[int] = frozenset()

    @property
    def version(self) -> int:
        """The version at which the next board is set up: programs trust that it only ever grows."""
        last = [each.table.version for each in (self.lesson, self.puzzle) if each]
        return max(last, default=-1) + 1

    def after(self, exercise: Exercise) -> Studies:
        """Return them once an exercise has come so far."""
        if isinstance(exercise, AtPuzzle):
            this = {exercise.number}
            tried = self.tried | (this if exercise.tries or exercise.hints else set())
            solved = self.solved | (this if exercise.is_over else set())
            return replace(self, puzzle=exercise, tried=tried, solved=solved)
        done = {exercise.lesson.number} if exercise.is_over else set()
        return replace(self, lesson=exercise, lessons=self.lessons | done)


NOTHING_DONE = Studies()


def set_up(name: str, player: str, side: Side, game: Game, version: int) -> Table:
    """Return the board of an exercise, at which a player has a side and the server the other."""
    seats = {side: player, side.other: SERVER}
    dwarf, troll = seats[Side.DWARF], seats[Side.TROLL]
    match = Match(game, BattleId(name, 1), dwarf, troll, single=True)
    table = Table.set_up(BoardSpec(name, game.ruleset.name), 0)
    return replace(table, match=match, seats=MappingProxyType(seats), version=version)


def at_step(player: str, lesson: Lesson, step: int, version: int) -> InLesson:
    """Return a lesson at a step that sets up a board, which is at some version."""
    scene = lesson.steps[step].scene
    if scene is None:
        raise InvalidValueError(f"step {step} of lesson {lesson.number} sets up no board")
    game = Game.start(scene.ruleset, scene.position)
    return InLesson(set_up(TUTORIAL, player, scene.side, game, version), lesson, step)


def at_puzzle(player: str, puzzle: Puzzle, version: int) -> AtPuzzle:
    """Return a puzzle as it is when somebody comes to it, its board at some version."""
    return AtPuzzle(set_up(PUZZLE, player, puzzle.game.turn, puzzle.game, version), puzzle)
