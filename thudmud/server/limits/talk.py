"""How much one player may say, emote and tell, and invite.

Owns what counts as talk, and what who talks too much is told. Pure: the time comes in as an
argument. Must never look at what is said.
"""

from __future__ import annotations

from thudmud.play.commands import Command, Emote, Invite, Say, Tell
from thudmud.rules.english import lasting
from thudmud.server.limits.buckets import Buckets

_MINUTE = 60.0
_SPEECH = Say | Emote | Tell | Invite


class Talk:
    """Counts what each player says, also when they leave and come back.

    Args:
        per_minute: lines in the long run.
        at_once: lines at once, after a quiet while.
    """

    def __init__(self, per_minute: float, at_once: float) -> None:
        self._buckets = Buckets(per_minute / _MINUTE, at_once)

    def problem(self, name: str, command: Command, now: float) -> str | None:
        """Return what is to be told instead of obeying a command; None if that may be done."""
        if not isinstance(command, _SPEECH):
            return None
        wait = self._buckets.of(name.lower()).take(now)
        if not wait:
            return None
        return f"That was not passed on: you can say something again in {lasting(wait)}."
