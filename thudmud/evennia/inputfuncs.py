"""The input function for our plugin of Evennia's web client, for ``INPUT_FUNC_MODULES``."""

from __future__ import annotations

from typing import Any

from thudmud.evennia.commands import answer
from thudmud.evennia.host import PANEL


def thud(session: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ARG001 (Evennia's signature)
    """Handle a message from the plugin: mark the session, and answer with facts.

    The first argument is the client's query; without one, the answer has all boards in the room.
    """
    flags = {PANEL: True}
    session.protocol_flags.update(flags)
    session.sessionhandler.session_portal_partial_sync({session.sessid: {"protocol_flags": flags}})
    if session.puppet:
        answer(session, str(args[0]) if args else None)
