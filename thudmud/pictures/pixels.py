"""Rasterizes drawings: pictures as PNG, and battles as animated GIF.

resvg draws and Pillow encodes GIFs; both come with the extra ``pictures``. Fonts aren't searched
for, since `thudmud.pictures.drawing` needs none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING

from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.pictures.drawing import (
    EXTENT,
    Orientation,
    corner,
    draw,
    require_look,
    start_of,
    tints_of,
)
from thudmud.pictures.pieces import SCHEME, Colours
from thudmud.rules import SQUARES, Game, Piece, Position, Square
from thudmud.version import install_hint

if TYPE_CHECKING:
    from PIL import Image

SIZE = 640
"""The default width and height of a PNG, in pixels."""
GIF_SIZE = 480
"""The default width and height of a GIF, in pixels."""
DELAY = 0.8
"""The default duration of each frame of a GIF, in seconds."""
PAUSE = 3.0
"""The minimum duration of the last frame, before the animation repeats, in seconds."""
_SHORTEST, _LONGEST = 0.02, 60.0  # browsers replace shorter durations by 0.1 seconds
_COLOURS = 128
_STEP = 160

_Look = tuple[Piece | None, str | None]
"""The piece on a square, and the square's tint."""
_EMPTY: _Look = None, None
"""The look of an empty square without a tint."""


@cache
def can_draw_pixels() -> bool:
    """Whether the extra ``pictures`` is installed, which `png` and `gif` need."""
    return all(find_spec(name) for name in ("resvg_py", "PIL"))


class MissingExtraError(ThudmudError, ImportError):
    """Raised by `png` and `gif` if the extra ``pictures`` isn't installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"PNG and GIF need more than the library: {missing} is missing. "
            f"{install_hint('pictures')}",
            name=missing,
        )


def png(svg: str, size: int = SIZE) -> bytes:
    """Rasterize a drawing to PNG.

    Args:
        svg: the drawing, as `thudmud.pictures.svg` returns it.
        size: the width and height in pixels.

    Raises:
        MissingExtraError: the extra ``pictures`` isn't installed.
        InvalidValueError: the size is out of range.
    """
    require_look("south", size, SCHEME)
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name)) from error
    return bytes(svg_to_bytes(svg_string=svg, width=size, height=size, skip_system_fonts=True))


def gif(
    game: Game,
    size: int = GIF_SIZE,
    delay: float = DELAY,
    *,
    orientation: Orientation = "south",
    colours: Colours = SCHEME,
    coordinates: bool = True,
) -> bytes:
    """Draw a battle as an animated GIF with one frame per position, which repeats forever.

    Args:
        game: the battle.
        size: the width and height in pixels, at least 160; rounded down to a multiple of 160, so
            that squares are aligned with pixels.
        delay: the duration of each frame, in seconds.
        orientation: as for `thudmud.pictures.svg`.
        colours: as for `thudmud.pictures.svg`.
        coordinates: as for `thudmud.pictures.svg`.

    Raises:
        MissingExtraError: the extra ``pictures`` isn't installed.
        InvalidValueError: the size or delay is out of range, or an argument is invalid for `svg`.
    """
    require_look(orientation, size, colours, least=_STEP)
    size -= size % _STEP
    if not _SHORTEST <= delay <= _LONGEST:
        limits = f"{_SHORTEST:g} to {_LONGEST:g} seconds"
        raise InvalidValueError(f"expected a delay of {limits}, got {delay:g}")
    try:
        import PIL  # noqa: F401, PLC0415  (an extra)
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name)) from error
    is_flipped = orientation == "north"
    # A square has one of a few looks: a piece, or none, on a tint, or none. resvg draws a sheet for
    # each look, with all squares alike, and the frames are assembled from these sheets. That takes
    # a hundredth of the time of drawing each frame.
    positions = list(_looks(game))
    drawings = {
        (piece, tint): draw(
            {piece: SQUARES} if piece else {},
            {tint: SQUARES} if tint else {},
            is_flipped=is_flipped,
            size=size,
            colours=colours,
            coordinates=coordinates,
        )
        for piece, tint in dict.fromkeys([_EMPTY, *chain.from_iterable(positions)])
    }
    sheets = _sheets(drawings, size)
    unit, start = size / EXTENT, start_of(coordinates=coordinates)
    boxes = [_box(square, unit, start, is_flipped=is_flipped) for square in SQUARES]
    return _encode(list(_frames(positions, sheets, boxes)), delay)


def _sheets(drawings: Mapping[_Look, str], size: int) -> dict[_Look, Image.Image]:
    """Rasterize the drawings of all looks, with one palette.

    With a palette of its own for each frame, colours would flicker.
    """
    from PIL import Image  # noqa: PLC0415  (an extra)

    sheets = {
        look: Image.open(BytesIO(png(drawing, size))).convert("RGB")
        for look, drawing in drawings.items()
    }
    every = Image.new("RGB", (size, size * len(sheets)))
    for at, sheet in enumerate(sheets.values()):
        every.paste(sheet, (0, size * at))
    palette = every.quantize(_COLOURS, dither=Image.Dither.NONE)
    return {
        look: sheet.quantize(palette=palette, dither=Image.Dither.NONE)
        for look, sheet in sheets.items()
    }


def _frames(
    positions: Iterable[tuple[_Look, ...]],
    sheets: Mapping[_Look, Image.Image],
    boxes: Sequence[tuple[int, int, int, int]],
) -> Iterator[Image.Image]:
    """Yield a frame per position, each with the squares redrawn that have changed."""
    before = (_EMPTY,) * len(boxes)
    shown = sheets[_EMPTY].copy()
    for looks in positions:
        for box, look, had in zip(boxes, looks, before, strict=True):
            if look != had:
                shown.paste(sheets[look].crop(box), box)
        before = looks
        yield shown.copy()


def _encode(frames: Sequence[Image.Image], delay: float) -> bytes:
    """Return an animated GIF of the frames."""
    written = BytesIO()
    frames[0].save(
        written,
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=[*[round(1000 * delay)] * (len(frames) - 1), round(1000 * max(delay, PAUSE))],
        loop=0,
        optimize=False,
    )
    return written.getvalue()


def _looks(game: Game) -> Iterator[tuple[_Look, ...]]:
    """Yield the looks of all squares: in the initial position, and after each ply."""
    position: Position = game.initial_position
    for last in (None, *game.moves):
        if last:
            position = position.after(last)
        tints = {square: tint for tint, squares in tints_of(last).items() for square in squares}
        yield tuple((position.piece_at(square), tints.get(square)) for square in SQUARES)


def _box(
    square: Square, unit: float, start: float, *, is_flipped: bool
) -> tuple[int, int, int, int]:
    """Return the box of a square in pixels: left, top, right, bottom."""
    x, y = (each - start for each in corner(square, is_flipped))
    return (round(x * unit), round(y * unit), round((x + 1) * unit), round((y + 1) * unit))
