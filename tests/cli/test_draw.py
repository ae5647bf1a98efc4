"""`thudmud draw`: pictures of records and stored battles, and refusals."""

from __future__ import annotations

import asyncio
import sys
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.test_export_import import store_of
from tests.game.annals import CAPTURE, TROLLS, Annals
from thudmud.cli.main import main
from thudmud.pictures import SCHEMES, frame
from thudmud.rules import CLASSIC, KOOM_VALLEY, Game, Record, write_record

Shown = pytest.CaptureFixture[str]

GAME = Game.start(CLASSIC).push("dA6-B6").push("TG7-F7").push("dB6-A6")


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "game.thud"
    path.write_text(str(Record(GAME)), encoding="utf-8")
    return str(path)


def test_svg_is_printed_to_standard_output(record: str, capsys: Shown) -> None:
    assert main(["draw", record]) == 0
    assert capsys.readouterr().out == f"{frame(GAME)}\n"
    words = ["--ply", "2", "--orient", "north", "--colours", "safe dark", "--bare", "--size", "99"]
    assert main(["draw", record, *words]) == 0
    drawn = frame(
        GAME.after(2), orientation="north", colours=SCHEMES["safe dark"], coordinates=False, size=99
    )
    assert capsys.readouterr().out == f"{drawn}\n"


def test_output_format_follows_the_file_extension(
    record: str, tmp_path: Path, capsys: Shown
) -> None:
    svg, png, gif = (tmp_path / f"board.{kind}" for kind in ("svg", "PNG", "gif"))
    for path in (svg, png, gif):
        assert main(["draw", record, "-o", str(path), "--ply", "2", "--delay", "0.5"]) == 0
        size = path.stat().st_size
        assert capsys.readouterr().out == f"{path}: the battle after 2 plies, {size} bytes\n"
    assert svg.read_text("utf-8") == frame(GAME.after(2))
    assert Image.open(BytesIO(png.read_bytes())).size == (640, 640)
    moving = Image.open(BytesIO(gif.read_bytes()))
    assert (moving.format, moving.size, getattr(moving, "n_frames", 1)) == ("GIF", (480, 480), 3)
    assert moving.info["duration"] == 500


def test_bare_record_takes_its_rules_from_the_option(tmp_path: Path, capsys: Shown) -> None:
    path = tmp_path / "bare.thud"
    path.write_text(write_record(Game.start(KOOM_VALLEY)), encoding="utf-8")
    assert main(["draw", str(path), "--rules", "koom valley"]) == 0
    assert "Thud, koom valley rules, after 0 plies" in capsys.readouterr().out
    path.write_text("TJ7,dA6\ndA6-B9\n", encoding="utf-8")
    assert main(["draw", str(path), "--rules", "classic"]) == 2
    assert capsys.readouterr().err.startswith(f"thudmud: {path}: line 1: ")


def test_stored_battle_is_drawn_by_its_number(
    tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    annals = Annals()
    annals.begin()
    annals.play(CAPTURE)
    annals.end(TROLLS, count=2)
    monkeypatch.chdir(tmp_path)
    assert main(["draw", "1"]) == 2
    assert "thudmud.db: no such file" in capsys.readouterr().err

    async def store() -> None:
        await (await store_of(annals, tmp_path / "thudmud.db")).close()

    asyncio.run(store())
    assert main(["draw", "1", "-o", "one.svg"]) == 0
    assert capsys.readouterr().out.startswith(f"one.svg: the battle after {len(CAPTURE)} plies, ")
    assert "discworld rules" in Path("one.svg").read_text("utf-8")
    assert main(["draw", "2"]) == 2
    assert capsys.readouterr().err == "thudmud: no battle 2\n"
    Path("12").write_text(str(Record(GAME)), encoding="utf-8")
    assert main(["draw", "./12"]) == 0
    assert capsys.readouterr().out == f"{frame(GAME)}\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--ply", "4"], "expected a ply from 0 to 3, got 4"),
        (["--ply", "-1"], "expected a ply from 0 to 3, got -1"),
        (["-o", "board.jpg"], "board.jpg: expected a name that ends in .svg, .png or .gif"),
        (["-o", "board"], "board: expected a name that ends in .svg, .png or .gif"),
        (["--size", "-5"], "expected 1 to 2048 pixels along an edge, got -5"),
        (["--size", "-5", "-o", "x.png"], "expected 1 to 2048 pixels along an edge, got -5"),
        (["--size", "-5", "-o", "x.gif"], "expected 160 to 2048 pixels along an edge, got -5"),
        (
            ["--size", "100", "-o", "x.gif"],
            "expected 160 to 2048 pixels along an edge, got 100",
        ),
        (
            ["--size", "2100", "-o", "x.gif"],
            "expected 160 to 2048 pixels along an edge, got 2100",
        ),
        (["--size", "0"], "expected 1 to 2048 pixels along an edge, got 0"),
        (["--size", "100000", "-o", "x.png"], "expected 1 to 2048 pixels"),
        (["--delay", "0", "-o", "x.gif"], "expected a delay of 0.02 to 60 seconds, got 0"),
        (["-o", "nowhere/board.svg"], "nowhere/board.svg: no folder nowhere"),
    ],
)
def test_impossible_drawing_is_refused_in_one_line(
    record: str, words: list[str], why: str, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(record).parent
    monkeypatch.chdir(folder)
    assert main(["draw", record, *words]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.startswith(f"thudmud: {why}")) == ("", True)
    assert len(shown.err.splitlines()) == 1
    assert sorted(each.name for each in folder.iterdir()) == ["game.thud"]


def test_missing_pictures_extra_is_named(
    record: str, capsys: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for missing in ("resvg_py", "PIL"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            assert main(["draw", record, "-o", str(tmp_path / "board.gif")]) == 2
        told = capsys.readouterr().err
        assert told == (
            f"thudmud: PNG and GIF need more than the library: {missing} is missing. "
            'To add it: pip install "thudmud[pictures]"\n'
        )
    assert not (tmp_path / "board.gif").exists()
