"""Pictures as PNG and GIF: likeness to the drawings, and refusals."""

from __future__ import annotations

import re
import sys
from io import BytesIO

import pytest
from PIL import Image, ImageChops

from thudmud.errors import InvalidValueError
from thudmud.pictures import SCHEMES, MissingExtraError, frame, gif, png, svg
from thudmud.rules import DISCWORLD, KOOM_VALLEY, RULESETS, Game, Position, Ruleset, Side


def pixels(image: bytes, at: int = 0) -> Image.Image:
    opened = Image.open(BytesIO(image))
    opened.seek(at)
    return opened.convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> int:
    """Return the largest difference between two pixels."""
    bands = ImageChops.difference(one, other).getextrema()
    return max(int(high) for _, high in bands)  # type: ignore[misc]


def battle(rules: Ruleset, plies: int = 12) -> Game:
    """Return a battle in which both sides capture whenever possible."""
    game = Game.start(rules)
    for _ in range(plies):
        game = game.play(max(game.legal_moves(), key=lambda move: (len(move.captures), str(move))))
    return game


def test_png_has_its_size_and_colours() -> None:
    image = pixels(png(svg(DISCWORLD.initial_position, colours=SCHEMES["vivid"]), 320))
    assert image.size == (320, 320)
    assert image.getpixel((160, 300)) == (0x0A, 0x54, 0x0A)
    sized = png(svg(DISCWORLD.initial_position, size=100), 320)
    assert pixels(sized).size == (320, 320)


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
@pytest.mark.parametrize("orientation", ["south", "north"])
def test_gif_frames_match_the_drawings_of_each_ply(rules: Ruleset, orientation: str) -> None:
    game = battle(rules)
    assert any(move.captures for move in game.moves)
    how = {"orientation": orientation, "colours": SCHEMES["safe dark"]}
    moving = gif(game, 320, 0.5, **how)  # type: ignore[arg-type]
    opened = Image.open(BytesIO(moving))
    assert (opened.size, getattr(opened, "n_frames", 1)) == ((320, 320), 1 + len(game.moves))
    for ply in range(1 + len(game.moves)):
        opened.seek(ply)
        drawn = pixels(png(frame(game, ply, **how), 320))  # type: ignore[arg-type]
        assert difference(opened.convert("RGB"), drawn) < 64  # of 128 colours
        is_last = ply == len(game.moves)
        assert opened.info["duration"] == (3000 if is_last else 500)
        assert opened.info["loop"] == 0


def test_gif_of_a_battle_without_plies_has_one_frame() -> None:
    opened = Image.open(BytesIO(gif(Game.start(KOOM_VALLEY), 170, coordinates=False)))
    assert (opened.size, getattr(opened, "n_frames", 1)) == ((160, 160), 1)


def test_gif_keeps_a_frame_for_every_ply_of_a_repetition() -> None:
    """Pillow merges identical frames; the tint of the last ply keeps ours distinct."""
    troll = ["TG7-G6", "TG6-G7"]
    game = Game.start(DISCWORLD)
    for there in ("dA6-B6", troll[0], "dB6-A6", troll[1], "dA6-B6"):
        game = game.push(there)
    opened = Image.open(BytesIO(gif(game, 160, 1)))
    assert getattr(opened, "n_frames", 1) == 6


@pytest.mark.parametrize("size", [0, 100, 4000])
def test_invalid_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidValueError, match="pixels along an edge"):
        gif(Game.start(DISCWORLD), size)
    if size != 100:
        with pytest.raises(InvalidValueError, match="pixels along an edge"):
            png(svg(DISCWORLD.initial_position), size)


@pytest.mark.parametrize("delay", [0, 0.01, 61, float("nan"), float("inf")])
def test_invalid_delay_is_refused(delay: float) -> None:
    with pytest.raises(InvalidValueError, match=re.escape("0.02 to 60 seconds")):
        gif(Game.start(DISCWORLD), delay=delay)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL"])
def test_missing_extra_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    nobody = Position(0, 0, 0, 0, Side.DWARF)
    with pytest.raises(MissingExtraError, match=re.escape('pip install "thudmud[pictures]"')):
        png(svg(nobody)) if missing == "resvg_py" else gif(Game.start(DISCWORLD))
