"""What everybody sees before they are asked for a name."""

from __future__ import annotations

from collections.abc import Collection

from thudmud.play.commands import Invite
from thudmud.text.words import wrapped

GREETING = (
    "Welcome to thudmud, where people\n"
    "play Thud, the board game of dwarfs\n"
    "and trolls. Come in with a name of\n"
    'your own; then "help" tells the rest.\n'
    "With a screen reader, say\n"
    '"options reader on", now or later.'
)
NARROWEST = 40
"""How many columns the greeting fits."""


def greeting(bots: Collection[str]) -> str:
    """Return the lines of the greeting, which tell of one of the bots, if there are any."""
    bot = min(bots, default=None)
    if bot is None:
        return GREETING
    alone = f'Nobody to play with? Take a seat at a board, and type "{Invite(bot.lower())}".'
    return "\n".join([GREETING, *wrapped(alone, NARROWEST)])
