"""Thud, the Discworld board game of dwarfs and trolls, played by telnet and web page.

A MUD embeds it through `House`, which takes the lines that players type and returns a `Message` for
each recipient. `thudmud.rules` has the rules alone.

Names are imported lazily, on first use (PEP 562). Python imports this module before any other of
the package, and the rules need nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.game.events import Parting
    from thudmud.game.options import Options, Style
    from thudmud.game.table import BoardSpec
    from thudmud.house import House
    from thudmud.views.messages import Message
    from thudmud.views.view import Terminal

__all__ = [
    "BoardSpec",
    "House",
    "Message",
    "Options",
    "Parting",
    "Style",
    "Terminal",
]

if not TYPE_CHECKING:  # with a visible __getattr__, mypy would accept any name
    _MODULES = {
        "BoardSpec": "thudmud.game.table",
        "House": "thudmud.house",
        "Message": "thudmud.views.messages",
        "Options": "thudmud.game.options",
        "Parting": "thudmud.game.events",
        "Style": "thudmud.game.options",
        "Terminal": "thudmud.views.view",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value = getattr(import_module(_MODULES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
