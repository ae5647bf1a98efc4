"""Pictures of positions: as SVG, which needs nothing else, as PNG, and of battles as animated GIF.

`svg` draws a position as the web page does; `frame` is the same for a battle after one of its
plies. `png` and `gif` turn such drawings into pixels; that takes the extra ``pictures``.

Attributes:
    SCHEMES: the colours of each scheme, in light surroundings and in dark ones.
    SCHEME: the colours that are used where nothing is said about them.
"""

from functools import partial

from thudmud.pictures.drawing import NOTEBOOK, frame, svg
from thudmud.pictures.pieces import SCHEME, SCHEMES, icon
from thudmud.pictures.pixels import MissingExtraError, gif, png
from thudmud.rules import Game, Position
from thudmud.rules.position import PICTURES

PICTURES[Game], PICTURES[Position] = partial(frame, size=NOTEBOOK), partial(svg, size=NOTEBOOK)

__all__ = ["SCHEME", "SCHEMES", "MissingExtraError", "frame", "gif", "icon", "png", "svg"]
