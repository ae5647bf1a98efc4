"""Rendering of events and positions as text, boards and facts for one reader. Pure.

Names are loaded on first use, see `thudmud`: drawing a board needs no parser.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.views.messages import Message
    from thudmud.views.view import Terminal

__all__ = ["Message", "Terminal"]

if not TYPE_CHECKING:  # otherwise mypy would accept any name
    _MODULES = {
        "Message": "thudmud.views.messages",
        "Terminal": "thudmud.views.view",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value = getattr(import_module(_MODULES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
