"""The growth benchmark: exponents, saved points, its page and pictures; and the flame graphs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import flames, growth
from benchmarks.growth import MEASUREMENTS, Extent, within
from benchmarks.load.curves import (
    TITLES,
    Point,
    curves,
    exponent,
    exponents,
    from_text,
    merged,
    to_table,
    to_text,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SAVED = ROOT / "benchmarks" / "growth.json"
PICTURES = [DOCS / "growth.svg", *sorted(DOCS.glob("flames/*.svg"))]

TINY = Extent(
    {
        "connections": (2, 4),
        "hall": (2, 4),
        "boards": (1, 2),
        "watchers": (1, 2),
        "battles": (40, 80),
        "members": (2, 4),
        "nodes": (1, 2),
    },
    seconds=0.25,
    tables=2,
)


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_exponent_of_a_power_law_is_its_power(power: float) -> None:
    assert exponent([(size, 3 * size**power) for size in (1, 10, 200)]) == pytest.approx(power)


def test_exponents_cover_all_sizes_and_the_two_largest() -> None:
    values = {1: 1.0, 10: 1.0, 100: 1.0, 1000: 10.0}
    points = [Point("hall", "a line", size, cpu) for size, cpu in values.items()]
    whole, last = exponents(points, "cpu") or (0, 0)
    assert 0 < whole < last == pytest.approx(1)
    assert exponents(points, "late") is None
    assert exponents(points[:1], "cpu") is None


def test_repeated_measurement_replaces_its_saved_points() -> None:
    before = [Point("hall", "a line", 1, 1.0), Point("members", "a move", 1, 2.0)]
    now = [Point("hall", "a line", 2, 3.0)]
    assert merged(now, before) == [before[1], now[0]]


def test_saved_points_are_read_back() -> None:
    points = [Point("hall", "a line", 1, 1.5, half=2.0), Point("members", "a move", 1, 2.0)]
    assert from_text(to_text("a machine", points)) == ("a machine", points)


def test_sizes_are_limited_by_the_open_files() -> None:
    sizes = within(growth.FULL, 20_000).sizes
    assert sizes["connections"][-1] == 19_800
    assert sizes["boards"][-1] == 9_900
    assert sizes["members"] == growth.FULL.sizes["members"]


def test_growth_page_has_the_table_of_the_saved_points() -> None:
    _, points = from_text(SAVED.read_text("utf-8"))
    assert {each.name for each in points} == set(TITLES)
    assert "\n".join(to_table(points)) in (DOCS / "growth.md").read_text("utf-8")


def test_growth_picture_shows_the_exponents_of_the_saved_points() -> None:
    _, points = from_text(SAVED.read_text("utf-8"))
    picture = (DOCS / "growth.svg").read_text("utf-8")
    shown = re.findall(r"CPU, ms: n\^(-?\d+\.\d+)", picture)
    wanted = [exponents(curve, "cpu") or (0, 0) for curve in curves(points)]
    assert list(map(float, shown)) == [round(whole, 2) for whole, _ in wanted]


def test_pictures_are_small_and_without_scripts_or_local_paths() -> None:
    assert len(PICTURES) == 3
    for path in PICTURES:
        picture = path.read_text("utf-8")
        assert len(picture) < 150_000, path
        assert not re.search(r"<script|onload|/(work|root|tmp|home)\b", picture), path


def test_flame_graph_has_labels_instead_of_a_script() -> None:
    frame = (
        "<g><title>{0} (thudmud/a.py:1) (1,234 samples, {1}%)</title>"
        '<rect x="0%" y="1" width="{1}%"/><text x="0%" y="2"></text></g>'
    )
    recorded = (
        '<svg onload="init(evt)"><script type="a"><![CDATA[b]]></script>'
        '<text id="title" x="1">py-spy --output /tmp/a.svg</text><text id="search">Search</text>'
        + frame.format("whole", "100")
        + frame.format("&lt;lambda&gt;", "1.5")
        + frame.format("narrow", "0.1")
    )
    assert re.findall(r">([^<>]+)</text>", flames.with_labels(recorded, "A say")) == [
        "A say",
        "whole (thudmud/a.py:1)",
    ]
    assert "script" not in flames.with_labels(recorded, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", TITLES)
def test_growth_measurement_yields_points_of_each_size(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting in ("TALK_PACE", "MOVE_PACE", "REST", "SETTLED"):
        monkeypatch.setattr(growth, setting, 0.2)
    monkeypatch.setattr(growth, "TIMES", 4)
    monkeypatch.setattr(growth, "STARTS", 2)
    points = list(MEASUREMENTS[name](tmp_path / name, TINY))
    assert {each.size for each in points} == set(TINY.sizes[name])
    assert {each.name for each in points} == {name}
    assert len(to_table(points)) > 4
