"""The attack benchmark and its page, and the hour-long benchmark."""

from __future__ import annotations

import math
import sys
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import attacks, hour
from benchmarks.assaults import pictures
from benchmarks.attacks import MEMBERS_BACK, markdown, measures, rows
from benchmarks.hour import Minute, growths, minutes
from benchmarks.load.attack import COLUMNS, Extent, Row
from benchmarks.load.attackers import Sent
from benchmarks.load.siege import Delays, Figure, Harm

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
TINY = Extent(seconds=0.3, noise=0.3, patience=0.2, crowd=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "figures"),
    [
        ("from her own address", ["she is back after", "she is told to wait or sent away"]),
        (
            MEMBERS_BACK,
            [
                "the last is back after",
                "told to wait or sent away",
                "argon2 alone, one after the other",
            ],
        ),
        ("wrong secrets", ["another is welcomed after", "log"]),
        ("a bot prints", []),
        (
            "GIFs of one address",
            [f"of 5 times another's {kind} is refused" for kind in ("PNG", "record", "GIF")],
        ),
        (
            "30 open the page",
            ["answers other than 200 for a visitor, at most", "the last has everything after"],
        ),
        (
            "60 files a second",
            [f"of 16 turned away by {way}" for way in ("the page", "telnet")],
        ),
        ("mail: codes", ["mails to that mailbox", "another member's code comes after"]),
        ("messages of 5 strangers", ["strangers' messages kept", "a friend's refused"]),
        (
            "60 reports",
            ["reports kept", "an operator is told", "all that the operator sees"],
        ),
        (
            "9 practice boards",
            ["plies sent", "events stored", "that is", "then told to wait"],
        ),
        ("metrics: 400", ["descriptors taken", "log"]),
    ],
)
def test_attack_row_has_its_figures(
    words: str, figures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "PLIES", 100)  # drawing each GIF takes as long as its battle
    [row] = rows(TINY, words)
    assert words in row.title
    assert [each.what for each in row.figures] == figures
    if row.harm:
        assert row.harm.control.median > 0 < row.harm.cpu


def test_page_has_a_row_for_each_attack() -> None:
    titles = {title for title, _ in measures(attacks.FULL)}
    lines = PAGE.read_text("utf-8").splitlines()
    shown = {line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")}
    assert titles <= shown


def harm(high: float, calm: float) -> Harm:
    delays, control = Delays(1, high), Delays(1, 10)
    return Harm(Sent(3, 0, 2048), delays, control, cpu=1, calm=calm, most=1024, left=0)


@pytest.mark.parametrize(
    ("high", "calm", "value", "is_wanted"),
    [
        (60, 1, 5, True),
        (61, 1, 5, False),
        (60, 1.1, 5, False),
        (60, math.inf, 5, False),
        (60, 1, 6, False),
        (60, 1, math.inf, False),
    ],
)
def test_missed_target_is_marked(
    *, high: float, calm: float, value: float, is_wanted: bool
) -> None:
    row = Row("a flood", harm(high, calm), [Figure("she is back after", value, "s", 5)])
    assert row.is_wanted is is_wanted
    assert len(row.cells) == len(COLUMNS)
    assert ("!" in markdown(row.cells)) is not is_wanted


def test_delays_account_for_coordinated_omission() -> None:
    assert Delays.of([0.01] * 99 + [1.0]).high > 900


def test_strict_option_fails_on_missed_targets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attacks, "rows", lambda *_: iter([Row("a flood", harm(61, 1))]))
    assert [attacks.main(words) for words in ([], ["--strict"])] == [0, 1]
    assert "61.00 !" in capsys.readouterr().out


@pytest.mark.slow
def test_hour_benchmark_measures_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hour, "MINUTE", 0.1)
    with closing(minutes(tmp_path, sys.maxsize, speed=20, pairs=2)) as found:
        first = next(found)
        last = next(each for each in found if each.done > first.done)
    assert last.memory > 0


def test_memory_growth_figures() -> None:
    found = [Minute(memory, 0, 0) for memory in (10, 20, 30, 35, 36, 37, 38)]
    assert growths(found) == (20, 2)
