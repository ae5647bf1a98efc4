"""Text of the option list, and legibility of the colour schemes."""

from __future__ import annotations

import pytest

from thudmud.features.options.messages import options_listed
from thudmud.game.options import Charset, Colour, Element, Options, Scheme
from thudmud.views.colours import PALETTE_RGB, colour_of, nearest
from thudmud.views.view import PALETTE, TRUE_COLOUR, Display


@pytest.mark.parametrize(
    ("charset", "utf8", "said"),
    [
        (Charset.AUTO, False, "  charset: auto, with boards in ASCII here"),
        (Charset.AUTO, True, "  charset: auto, with boards in UTF-8 here"),
        (Charset.ASCII, False, "  charset: ascii"),
        (Charset.UTF_8, True, "  charset: utf-8"),
    ],
)
def test_automatic_charset_applies_to_boards_only(
    charset: Charset, *, utf8: bool, said: str
) -> None:
    assert said in options_listed(Options(charset=charset), Display(80, uses_utf8=utf8))


def brightness(red: int, green: int, blue: int) -> float:
    """Return the relative luminance of a colour as defined by WCAG."""
    parts = (part / 255 for part in (red, green, blue))
    linear = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colours", [PALETTE, TRUE_COLOUR])
def test_safe_scheme_coordinates_have_contrast_on_black_and_white(colours: int) -> None:
    colour = colour_of(Element.COORDINATES, Display(80, colours=colours, scheme=Scheme.SAFE))
    assert colour == Colour(colour.foreground)
    assert colour.foreground is not None
    shade = nearest(colour.foreground, colours)
    light = brightness(*(shade if isinstance(shade, tuple) else PALETTE_RGB[shade]))
    assert (light + 0.05) / 0.05 >= 4.5
    assert 1.05 / (light + 0.05) >= 3
