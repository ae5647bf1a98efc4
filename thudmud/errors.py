"""The root of all exceptions of thudmud. Imports nothing, so that every room may import it.

Whoever embeds thudmud catches `ThudmudError` and has caught everything that it raises on purpose.
An exception is defined in the room that raises it; what each is, and what can be told from it,
stands there.
"""

from __future__ import annotations


class ThudmudError(Exception):
    """The root: whatever thudmud raises on purpose is one of these."""


class InvalidValueError(ThudmudError, ValueError):
    """A value that cannot be, such as a position with two pieces on one square.

    Values are checked when they are made, so whoever holds one need not ask again.
    """
