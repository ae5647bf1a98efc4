"""Thud, the Discworld board game of dwarfs and trolls, played by telnet.

For a MUD that wants its own boards: a `House` is told who types which line, and returns the
`Message` for each player. The rules alone are in `thudmud.rules`.

Names are loaded when first used (PEP 562): Python imports this module before any other of thudmud,
and the rules need nothing else.
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

if not TYPE_CHECKING:  # or a name that is not here would be no mistake to mypy
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
