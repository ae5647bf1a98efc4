"""Thud, the Discworld board game of dwarfs and trolls, played by telnet and web page.

A MUD embeds it through `House`, which takes the lines that players type and returns a `Message` for
each recipient. `thudmud.rules` has the rules alone.

A program may import what is in ``__all__`` here and in `thudmud.errors`, `thudmud.rules`,
`thudmud.pictures`, `thudmud.game`, `thudmud.script` and `thudmud.evennia`. All other modules are
internal.

Names are imported lazily, on first use (PEP 562). Python imports this module before any other of
the package, and the rules need nothing else.

Attributes:
    LEVELS: the levels of the computer player, the weakest first.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thudmud.bots.adviser import OwnAdviser
    from thudmud.bots.program import ProgramError
    from thudmud.bots.workers import Question, Reply, Workers
    from thudmud.errors import InvalidValueError, RefusedError, ThudmudError, UnknownNameError
    from thudmud.features.options.preferences import preferences_of, profile_of
    from thudmud.game.events import Parting
    from thudmud.game.options import Options, Style
    from thudmud.game.table import BoardSpec
    from thudmud.house import BoardNameError, BotTurn, House, NotCopyableError
    from thudmud.language.parsing import ParseError
    from thudmud.language.vocabulary import HostCommand, own_verb
    from thudmud.search.levels import LEVELS
    from thudmud.search.player import Player
    from thudmud.views.boards import draw
    from thudmud.views.messages import Message
    from thudmud.views.refusals import refusal_text
    from thudmud.views.registry import RenderContext, words
    from thudmud.views.view import Display, Terminal, View
    from thudmud.views.words import wrap

__all__ = [
    "LEVELS",
    "BoardNameError",
    "BoardSpec",
    "BotTurn",
    "Display",
    "HostCommand",
    "House",
    "InvalidValueError",
    "Message",
    "NotCopyableError",
    "Options",
    "OwnAdviser",
    "ParseError",
    "Parting",
    "Player",
    "ProgramError",
    "Question",
    "RefusedError",
    "RenderContext",
    "Reply",
    "Style",
    "Terminal",
    "ThudmudError",
    "UnknownNameError",
    "View",
    "Workers",
    "draw",
    "own_verb",
    "preferences_of",
    "profile_of",
    "refusal_text",
    "words",
    "wrap",
]

if not TYPE_CHECKING:  # with a visible __getattr__, mypy would accept any name
    _MODULES = {
        "BoardNameError": "thudmud.house",
        "BoardSpec": "thudmud.game.table",
        "BotTurn": "thudmud.house",
        "Display": "thudmud.views.view",
        "HostCommand": "thudmud.language.vocabulary",
        "House": "thudmud.house",
        "InvalidValueError": "thudmud.errors",
        "LEVELS": "thudmud.search.levels",
        "Message": "thudmud.views.messages",
        "NotCopyableError": "thudmud.house",
        "Options": "thudmud.game.options",
        "OwnAdviser": "thudmud.bots.adviser",
        "ParseError": "thudmud.language.parsing",
        "Parting": "thudmud.game.events",
        "Player": "thudmud.search.player",
        "ProgramError": "thudmud.bots.program",
        "Question": "thudmud.bots.workers",
        "RefusedError": "thudmud.errors",
        "RenderContext": "thudmud.views.registry",
        "Reply": "thudmud.bots.workers",
        "Style": "thudmud.game.options",
        "Terminal": "thudmud.views.view",
        "ThudmudError": "thudmud.errors",
        "UnknownNameError": "thudmud.errors",
        "View": "thudmud.views.view",
        "Workers": "thudmud.bots.workers",
        "draw": "thudmud.views.boards",
        "own_verb": "thudmud.language.vocabulary",
        "preferences_of": "thudmud.features.options.preferences",
        "profile_of": "thudmud.features.options.preferences",
        "refusal_text": "thudmud.views.refusals",
        "words": "thudmud.views.registry",
        "wrap": "thudmud.views.words",
    }

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value = getattr(import_module(_MODULES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
