"""The little grammar that sentences need."""

from __future__ import annotations

import pytest

from tests.cases import cases
from thudmud.english import lasting, length, length_of


@cases(
    ("seconds", "told"),
    [
        (0, "1 second"), (1.2, "2 seconds"), (60, "60 seconds"), (89.5, "90 seconds"),
        (104, "110 seconds"), (117, "2 minutes"), (120, "2 minutes"), (121, "2 minutes"),
        (127, "3 minutes"), (600.01, "10 minutes"), (6_000, "100 minutes"), (7_100, "2 hours"),
        (86_400, "24 hours"), (172_000, "2 days"), (604_800, "7 days"), (1_209_600, "2 weeks"),
        (1_209_500, "2 weeks"), (1_300_000, "15 days"), (34_560_000, "400 days"),
    ],
)  # fmt: skip
def test_how_long_something_lasts(seconds: float, told: str) -> None:
    assert lasting(seconds) == told


@pytest.mark.parametrize(
    ("words", "seconds", "exactly"),
    [
        ("an hour", 3_600, "1 hour"), ("A Min", 60, "1 minute"), ("90 secs", 90, "90 seconds"),
        ("117s", 117, "117 seconds"), ("2 hrs", 7_200, "2 hours"), ("14d", 1_209_600, "2 weeks"),
        ("1 wk", 604_800, "1 week"), ("100 min", 6_000, "100 minutes"),
    ],
)  # fmt: skip
def test_lengths_as_they_are_typed(words: str, seconds: int, exactly: str) -> None:
    assert length_of(words) == seconds
    assert length(seconds) == exactly
    assert length_of(exactly) == seconds


@pytest.mark.parametrize("words", ["", "2", "minutes", "2 fortnights", "-2 hours", "2 hours more"])
def test_what_is_no_length(words: str) -> None:
    with pytest.raises(ValueError, match="no length of time"):
        length_of(words)
