"""The root of all exceptions of thudmud. Imports nothing of ours, so that every room may.

A host that catches `ThudmudError` catches everything that thudmud raises on purpose. Each class is
defined in the room that raises it; those raised by several rooms are defined here:

    ThudmudError
        InvalidValueError   a value that cannot be, such as two pieces on one square
        StartError          a server cannot start as it is configured
            NotYet          it may start later, when others have ended or begun
        RecordError         a game record cannot be read
        TooManyPathsError   there are too many ways to trample to look at them all
        Refused             a player's command changes nothing
            IllegalMove     the rules refuse a move
            ParseError      a line is no command
        Stumbled            the grammar makes no sense of a line beyond a column
        Unread              something has to be looked up before a command can be decided
        Misread             a stored text is no event
        TooNew              a later version of thudmud stored an event
        TranscriptError     a line of a transcript means nothing
        VariableError       a variable of a transcript is written wrongly, or has no value
        StageError          a step of a transcript cannot be played
        IncludeError        a file that a transcript includes cannot be read
        Unclear             in Evennia: no board fits what was said, or several do
        Fault               a gateway does not do what its client asks for
        StoreError          the store cannot be used
            Conflict        somebody else has stored events first
            NotWritten      what was to be stored was not, and may be later
            Uncertain       what was to be stored may have been, which is not known
            Damaged         what is stored is not what was written
            Forgotten       what was seen in the store is there no longer
            Unknown         a later version of thudmud wrote it, or another program
            InUse           another server keeps its boards there
            OtherSettings   other nodes that live go by other settings
            NameTaken       somebody has that name already
            Nobody          there is no account of that name
            TooLong         this is longer than what other nodes can be told at once
            Unfollowed      the store does not tell any more what is stored
        Elsewhere           somebody plays on another node, which does not let them go
        ConfigError         the configuration cannot be used
        ProgramError        a bot's program cannot be used any longer
            LateError       it has given no answer in time
            UnstartedError  it cannot be started, so that there is no battle
        MissingExtraError   something is not installed that an extra brings
        NotDrawnError       a picture cannot be drawn
        QueueFullError      there is no room for another picture that waits to be drawn
        ShareError          too many pictures for one address wait to be drawn
        NotSentError        a notification was not sent, and is tried again
        NeverSentError      an address, or a browser, takes no notification any more
        CommandError        a subcommand of ``thudmud`` cannot do what is asked for
        RefusedFileError    a file is no game record
            KnownError      its battle is there already
        StrangerError       there is no battle of the player to be exported

Each class explains its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any


class ThudmudError(Exception):
    """The root: whatever thudmud raises on purpose is one of these."""


class InvalidValueError(ThudmudError, ValueError):
    """A value that cannot be, such as a position with two pieces on one square.

    Values are checked when they are made, so they need no checks later.
    """


class Refused(ThudmudError):
    """A player's command is refused, and nothing has changed.

    The reason is data. ``str()`` shows programmers the code, the squares and the details.
    `thudmud.views.refusals` has the sentences for players.

    Attributes:
        code: the reason, with a stable value such as ``line_too_short``.
        squares: the squares concerned.
        details: further facts by name: squares, sides, pieces, verbs, numbers, seconds, names,
            typed text, and tuples of those.
    """

    def __init__(self, code: Enum, squares: tuple[Any, ...] = (), **details: Any) -> None:
        super().__init__(code, squares)
        self.code = code
        self.squares = squares
        self.details: Mapping[str, Any] = details

    def __str__(self) -> str:
        details = [f"{name}={_named(value)}" for name, value in self.details.items()]
        return " ".join([self.code.value, *map(str, self.squares), *details])


def _named(value: object) -> str:
    return ",".join(map(_named, value)) if isinstance(value, tuple) else str(value)


class StartError(ThudmudError):
    """A server or a gateway cannot start as it is configured.

    A port or socket that cannot be had, or a file of TLS or of the log that cannot be used;
    ``str()`` is a line for its operator.
    """


class NotYet(StartError):
    """It can be tried again later: something it needs is missing yet, or in use."""


class CommandError(ThudmudError):
    """A subcommand cannot do what is asked for; ``str()`` is a line that says why."""
