"""The server benchmark: rows, targets, comparison and its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import server
from benchmarks.load import games, processes
from benchmarks.load.busy import Pains
from benchmarks.load.table import COLUMNS, Row, compared, from_text, markdown, plain, to_text
from benchmarks.server import Extent, notes, rows

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
LAST_RELEASE = ROOT / "benchmarks" / "last_release.json"
TINY = Extent(
    Pains(1, 0.02),
    talkers=(2,),
    steady=5,
    watchers=3,
    connections=4,
    tables=(1, 2),
    accounts=(1, 2),
    plies=(2, 4),
    games=2,
    clocks=2,
)


@pytest.mark.slow
def test_benchmark_table_has_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WAIT", 0.1)
    monkeypatch.setattr(games, "TALKERS", 3)
    measured = list(rows(TINY))
    titles = [row.title for row in measured]
    for talkers in ("2 players",):
        for words in ("say", "a line that cannot be read", "a move that is refused", "look"):
            for way in ("ping-pong", "pipelined"):
                assert any(
                    each.startswith(words) and each.endswith(f"; {talkers}, {way}")
                    for each in titles
                ), (words, talkers, way)
    for words in (
        "a legal move, told to two in full style; 2 tables, ping-pong",
        "delay at 100 says a second, 99th percentile",
        "a move told to 3 who look on, brief style: to the last",
        "a say on another's screen, 200 a second, 99th percentile; 2 games of bots",
        "memory of an idle session",
        "connections accepted and greeted",
        "first prompt of a silent client",
        "start, until it is ready",
        "say at one of 2 tables, beside one of 1 tables",
        "a move after 4 plies, beside after 2 plies",
        "look with 2 accounts, beside with 1 accounts",
    ):
        assert words in titles
    assert all(row.values[0] for row in measured if row.unit != "KiB")
    assert "chat_per_minute" in " ".join(notes(TINY, "asyncio's own"))
    assert {kind_of(each) for each in titles} == {kind_of(row[0]) for row in published()}


def kind_of(title: str) -> str:
    """Return the title of a row without its numbers."""
    return re.sub(r"[\d,]*\d", "N", title).replace("players", "player").replace("tables", "table")


def published() -> list[list[str]]:
    """Return the rows of the published run on the page."""
    pages = PAGE.read_text("utf-8").split("\n## ")
    runs = [
        line
        for part in pages[1:]
        if part.startswith(("A run", "With uvloop"))
        for line in part.splitlines()
    ]
    lines = (line for line in runs if line.startswith("| "))
    return [cells for line in lines if (cells := line[2:-2].split(" | "))[0] not in {"", "---"}]


def test_page_marks_missed_targets() -> None:
    rows = [row for row in published() if row[-1].strip()]
    assert len(rows) > 20
    for *_, ratio, cpu, wanted in rows:
        found = [float(each.split()[0]) for each in (ratio, cpu) if each.strip()]
        sign, size = wanted.split()[:2]
        best = max(found) if sign == ">=" else min(found)
        if best == float(size):  # rounded: may have been on either side
            continue
        is_wanted = best > float(size) if sign == ">=" else best < float(size)
        assert is_wanted is not wanted.endswith("!"), (ratio, cpu, wanted)


def test_missed_target_is_marked_in_the_row() -> None:
    slow = Row("a say", "a second", (10, 100, 1000), ratio=0.1, cpu=0.2, least=0.5)
    assert not slow.is_wanted
    assert slow.cells == (
        "a say", "10.00", "100", "1,000", "a second", "0.10", "0.20", ">= 0.5 !",
    )  # fmt: skip
    large = Row("memory", "KiB", (30, 20), ratio=10, most=12, what=" more")
    assert large.is_wanted
    assert large.cells[5:] == ("10.00 more", "", "<= 12 more")


def test_row_cells_match_the_columns() -> None:
    row = Row("a say", "a second", (10, 100, 1000), ratio=0.1, least=0.5)
    assert len(plain(row.cells)) == len(plain(COLUMNS))
    assert markdown(row.cells).count("|") == len(COLUMNS) + 1


@pytest.mark.parametrize(
    ("ratio", "words", "status"), [(0.1, [], 0), (0.1, ["--strict"], 1), (0.5, ["--strict"], 0)]
)
def test_missed_target_fails_only_with_strict(
    ratio: float,
    words: list[str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [Row("a say", "a second", (10, 100), ratio=ratio, least=0.5)]
    monkeypatch.setattr(server, "rows", lambda _: iter(found))
    monkeypatch.setattr(server, "raise_file_limit", lambda: 0)
    assert server.main(words) == status
    assert (">= 0.5 !" in capsys.readouterr().out) == (ratio < 0.5)


def test_comparison_reports_regressions_above_a_fifth() -> None:
    before = [
        Row("a say", "a second", (10, 100), ratio=0.5, cpu=0.5),
        Row("a look", "a second", (10, 100), ratio=0.5),
        Row("a move", "a second", (10, 100), ratio=0.5, cpu=0.5),
        Row("told to many", "ms", (20, None, 14), ratio=0.7, least=0.8),
        Row("delay", "ms", (2, 4), ratio=0.5, most=3),
        Row("by WebSocket", "ms", (2,), ratio=1.0, cpu=1.0),
        Row("memory of a session", "KiB", (26, 24), ratio=2.0, what=" more"),
        Row("a gone one", "a second", (1,), ratio=1.0),
    ]
    now = [
        Row("a say", "a second", (1, 10), ratio=0.9, cpu=0.39),
        Row("a look", "a second", (10, 100), ratio=0.39),
        Row("a move", "a second", (1, 100), ratio=0.1, cpu=0.41),
        Row("told to many", "ms", (20, None, 14), ratio=0.5, least=0.8),
        Row("delay", "ms", (2, 4), ratio=0.7, most=3),
        Row("by WebSocket", "ms", (2,), ratio=9.0, cpu=1.1),
        Row("memory of a session", "KiB", (33, 24), ratio=2.0, what=" more"),
        Row("a new one", "a second", (1,), ratio=1.0),
    ]
    assert compared(now, from_text(to_text(before))) == (
        [
            "a say: ratio by CPU fell from 0.50 to 0.39.",
            "a look: ratio fell from 0.50 to 0.39.",
            "told to many: ratio fell from 0.70 to 0.50.",
            "delay: ratio rose from 0.50 to 0.70.",
            "memory of a session: KiB rose from 26.00 to 33.00.",
        ],
        ["a new one: not measured before.", "a gone one: no longer measured."],
    )
    assert compared(before, before) == ([], [])


def test_rows_without_a_ratio_are_not_compared() -> None:
    before = [
        Row("messages", "a second", (100,)),
        Row("late", "ms", (5,), ratio=0.3, what=" ms more"),
    ]
    now = [Row("messages", "a second", (1,)), Row("late", "ms", (50,), ratio=9, what=" ms more")]
    assert compared(now, before) == ([], [])


@pytest.mark.parametrize(("ratio", "status"), [(0.5, 0), (0.1, 1)])
def test_saved_table_is_compared_with_the_new_one(
    ratio: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [Row("a say", "a second", (10, 100), ratio=0.5)]
    monkeypatch.setattr(server, "rows", lambda _: iter(found))
    monkeypatch.setattr(server, "raise_file_limit", lambda: 0)
    kept = str(tmp_path / "table.json")
    assert server.main(["--save", kept]) == 0
    found[:] = [Row("a say", "a second", (10, 100), ratio=ratio)]
    assert server.main(["--against", kept]) == status
    assert ("a say: ratio fell from 0.50 to 0.10." in capsys.readouterr().out) == bool(status)


def test_last_release_table_has_the_rows_of_a_quick_run() -> None:
    titles = [row.title for row in from_text(LAST_RELEASE.read_text("utf-8"))]
    assert {kind_of(each) for each in titles} == {kind_of(row[0]) for row in published()}


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize(("words", "loop"), [([], "uvloop's"), (["--no-uvloop"], "asyncio's own")])
def test_benchmark_reports_its_event_loop(
    words: list[str],
    loop: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    loaded = []

    def look(_: Extent) -> Iterator[Row]:
        with processes.thudmud(tmp_path, 1) as running:
            loaded.append("/uvloop/" in Path(f"/proc/{running.pid}/maps").read_text())
        return iter([])

    monkeypatch.setattr(server, "rows", look)
    monkeypatch.setattr(server, "raise_file_limit", lambda: 0)
    server.main(words)
    assert f"thudmud ran on {loop} event loop" in " ".join(capsys.readouterr().out.split())
    assert loaded == [not words]
