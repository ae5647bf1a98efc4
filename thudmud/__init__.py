"""Thud, the Discworld board game of dwarfs and trolls, played by telnet.

What a MUD needs that wants boards of its own: a `House` that is told who types which line, and
answers with the `Message` that each player is to be shown. The rules alone are in `thudmud.rules`.
"""

from thudmud.play.commands import Style
from thudmud.play.events import Parting
from thudmud.play.options import Options
from thudmud.play.table import BoardSpec
from thudmud.text import House, Message, StateError, Terminal

__all__ = [
    "BoardSpec",
    "House",
    "Message",
    "Options",
    "Parting",
    "StateError",
    "Style",
    "Terminal",
]
