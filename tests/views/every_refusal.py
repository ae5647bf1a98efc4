"""At least one refusal of each code, with those of the optional features."""

from __future__ import annotations

from collections.abc import Iterator

from tests.features.analysis.test_messages import REFUSALS as ANALYSIS
from tests.features.explorer.test_messages import REFUSALS as EXPLORER
from tests.features.letters.test_messages import REFUSALS as LETTERS
from tests.features.moderation.test_messages import REFUSALS as MODERATION
from tests.features.notifications.test_messages import MISTAKES, NOTIFIED
from tests.features.variations.test_messages import REFUSALS as VARIATIONS
from tests.views.test_refusals import all_refusals, misread
from thudmud.errors import RefusedError
from thudmud.features.exercises.model import ExerciseRefusal
from thudmud.features.hints.model import HintRefusal
from thudmud.features.tv.model import TvRefusal

EXERCISES = [
    RefusedError(ExerciseRefusal.IN_BATTLE, board="oak board"),
    RefusedError(ExerciseRefusal.NO_SUCH_LESSON, number=7, most=6),
    RefusedError(ExerciseRefusal.NO_SUCH_PUZZLE, number=99, most=40),
    RefusedError(ExerciseRefusal.STEP_OPEN),
    RefusedError(ExerciseRefusal.STEP_DONE),
    RefusedError(ExerciseRefusal.EXERCISE_OVER, board="tutorial"),
]


def every_refusal() -> Iterator[RefusedError]:
    """Yield at least one refusal of each code."""
    yield from all_refusals()
    for table in (ANALYSIS, EXPLORER, LETTERS, MODERATION, NOTIFIED, VARIATIONS):
        yield from (refusal for refusal, _ in table)
    yield from (misread(line) for line, _ in MISTAKES)
    yield from (RefusedError(code, board="oak board") for code in HintRefusal)
    yield from (RefusedError(TvRefusal.TV_IS_OFF), *EXERCISES)
