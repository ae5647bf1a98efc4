"""What an Evennia session can show, and how our texts and facts are sent through Evennia.

What the flags of a session mean to us, and the escaping of all that Evennia would take for its own
markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings

from thudmud.play.options import WIDTHS
from thudmud.text import Message
from thudmud.text.display import DEFAULT_WIDTH, PACKAGE, PALETTE, SIXTEEN, TRUE_COLOUR, Terminal

_DEPTHS = (("TRUECOLOR", TRUE_COLOUR), ("XTERM256", PALETTE), ("ANSI", SIXTEEN))


def terminal(sessions: Iterable[Any]) -> Terminal:
    """Return what every one of a character's sessions can show; the plainest if there are none."""
    each = [session.protocol_flags for session in sessions]
    return Terminal(
        width=min(map(_width, each), default=DEFAULT_WIDTH),
        utf8=bool(each) and all(flags.get("UTF-8") for flags in each),
        colours=min(map(_colours, each), default=0),
        reader=any(flags.get("SCREENREADER") for flags in each),
        packages=frozenset({PACKAGE}),
    )


def send(character: Any, message: Message) -> None:
    """Send a message of ours to all sessions of a character."""
    for session in character.sessions.all():
        if not message.package:
            text = (escaped(message.text, session), {"type": "thud"})
            character.msg(text=text, session=session)
        elif takes_data(session):
            # Evennia makes "Thud.Move" of it again.
            name = message.package.lower().replace(".", "_")
            character.msg(session=session, **{name: ((), json.loads(message.text))})


def takes_data(session: Any) -> bool:
    """Whether a client speaks GMCP; the web client would show what it does not know."""
    telnet = str(session.protocol_key).startswith("telnet")
    return telnet and bool(session.protocol_flags.get("OOB"))


def escaped(text: str, session: Any = None) -> str:
    """Return text so that Evennia shows it as it stands, colours included.

    Evennia takes ``|`` and ``{{`` for markup of its own, and twice so for screen readers.
    """
    flags = session.protocol_flags if session else {}
    if flags.get("RAW"):
        return text
    for _ in range(2 if flags.get("SCREENREADER") else 1):
        # Links are looked for once "||" is "|" again: what would begin one is kept apart.
        text = text.replace("|", "||").replace("||l", "|||nl").replace("{{", "{{{{")
        # Of a text that ends with "||" Evennia would show an "n" behind it.
        text = f"{text}|n" if text.endswith("|") else text
    if settings.FUNCPARSER_PARSE_OUTGOING_MESSAGES_ENABLED:
        text = text.replace("\\", "\\\\").replace("$", "\\$")
    return text


def first_session(character: Any) -> Any:
    """Return a session of somebody, for texts that Evennia itself sends to all of them."""
    sessions: Sequence[Any] = character.sessions.all() if hasattr(character, "sessions") else ()
    return sessions[0] if sessions else None


def _width(flags: Any) -> int:
    told = flags.get("SCREENWIDTH") or {}
    width = next(iter(told.values()), DEFAULT_WIDTH)
    return min(max(int(width), WIDTHS[0]), WIDTHS[-1])


def _colours(flags: Any) -> int:
    if flags.get("NOCOLOR"):
        return 0
    return next((depth for flag, depth in _DEPTHS if flags.get(flag)), 0)
