"""Drawings of positions as SVG and PNG, and of battles as animated GIF.

`svg` draws a position in the style of the web page, and `frame` a battle after one of its plies.
`png` and `gif` rasterize such drawings, for which the extra ``pictures`` must be installed.

Attributes:
    SCHEMES: the colour schemes by name, each with a light and a dark variant.
    SCHEME: the default colours.
"""

from functools import partial

from thudmud.pictures.drawing import NOTEBOOK, frame, svg
from thudmud.pictures.pieces import SCHEME, SCHEMES, icon
from thudmud.pictures.pixels import MissingExtraError, gif, png
from thudmud.rules import Game, Position
from thudmud.rules.position import PICTURES

PICTURES[Game], PICTURES[Position] = partial(frame, size=NOTEBOOK), partial(svg, size=NOTEBOOK)

__all__ = ["SCHEME", "SCHEMES", "MissingExtraError", "frame", "gif", "icon", "png", "svg"]
