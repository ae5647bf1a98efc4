"""What the plugin of Evennia's web client tells the MUD, for ``INPUT_FUNC_MODULES``."""

from __future__ import annotations

from typing import Any

from thudmud.evennia.commands import answer
from thudmud.evennia.host import PANEL


def thud(session: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ARG001 (Evennia's signature)
    """Take note that a client shows boards; tell it how they stand, or what its line asks for."""
    flags = {PANEL: True}
    session.protocol_flags.update(flags)
    session.sessionhandler.session_portal_partial_sync({session.sessid: {"protocol_flags": flags}})
    if session.puppet:
        answer(session, str(args[0]) if args else None)
