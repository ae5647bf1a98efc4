"""Previews of links to lessons and puzzles."""

from __future__ import annotations

from thudmud.english import capitalised
from thudmud.features.exercises.model import lessons, puzzles
from thudmud.game.feature import FeatureContext


def setup(service: FeatureContext) -> None:
    """Register the previews of lessons and puzzles with a service."""
    service.register_preview("lesson", _lesson_preview)
    service.register_preview("puzzle", _puzzle_preview)


async def _lesson_preview(words: str) -> tuple[str, str] | None:
    """Return the title of a lesson, and a sentence; None if the number is unknown."""
    number = _number(words)
    lesson = lessons().get(number)
    if lesson is None:
        return None
    of = f"Lesson {number} of {len(lessons())}"
    return (
        f"{of}: {lesson.title}",
        "The board game Thud, step by step.",
    )


async def _puzzle_preview(words: str) -> tuple[str, str] | None:
    """Return the title of a puzzle, and whose move it is; None if the number is unknown."""
    number = _number(words)
    puzzle = puzzles().get(number)
    if puzzle is None:
        return None
    side, rules = puzzle.game.turn.plural, puzzle.game.ruleset.name
    sentence = f"the {side} move, under {rules} rules. One move is far better than the rest."
    return f"Puzzle {number}", capitalised(sentence)


def _number(words: str) -> int:
    """Return the number in an address; 0, which nothing has, if it is none."""
    return int(words) if words.isascii() and words.isdecimal() else 0
