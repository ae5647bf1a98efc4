"""The root of all exceptions of thudmud. Imports nothing of ours, so every package may import it.

A host that catches `ThudmudError` catches everything that thudmud raises on purpose. Each class is
defined in the package that raises it; those that several packages raise are defined here:

    ThudmudError
        InvalidValueError           an invalid value, such as two pieces on one square
            UnknownNameError        no player or board has that name
        StartError                  a server can't start with its configuration
            NotYetError             it may start later, when others have ended or begun
        BindError                   a port of an address can't be bound
        RecordError                 a malformed game record
        TooManyPathsError           too many ways to trample to try them all
        RefusedError                a player's command was refused and changed nothing
            IllegalMoveError        a move against the rules
            ParseError              a line that isn't a command
            BoardNameError          a House can't open, close or rename a board of that name
        UnexpectedTokenError        a line that the grammar can't read beyond a column
        LookupNeededError           a command needs stored data before it can be decided
        MalformedTextError          a stored text that isn't an event
        NewerSchemaError            an event stored by a later version of thudmud
        TranscriptError             a malformed line of a transcript
        VariableError               a malformed variable of a transcript, or one without a value
        StageError                  a step of a transcript that can't be played
        IncludeError                a file that a transcript includes can't be read
        UnclearBoardError           in Evennia: no board matches, or several do
        RequestError                a gateway's client asks for something invalid
        StoreError                  the store can't be used
            ConflictError           another writer has stored events first
            NotWrittenError         nothing was stored; it may be tried again
            UncertainError          unknown whether it was stored
            DamagedStoreError       the stored data is damaged
            OutdatedStoreError      another version wrote it: a server has to upgrade it
            HistoryLostError        stored events that were seen are gone
            UnknownFormatError      written by a later version of thudmud, or another program
            StoreInUseError         another server uses the store
            OtherSettingsError      live nodes have other settings
            NameTakenError          the name belongs to another player
            NoSuchAccountError      no account has that name
            NoteTooLongError        longer than a note to other nodes can be
            OutcomeUnknownError     the store no longer delivers its events
        PlaysElsewhereError         the player is on another node, which doesn't let them go
        NotCopyableError            a House can't be copied or pickled
        ConfigError                 an invalid configuration
        ProgramError                a bot's program can no longer be used
            LateError               it has not answered in time
            UnstartedError          it can't be started, so there is no battle
        MissingExtraError           a package that an extra installs is missing
        NotDrawnError               a picture can't be drawn
        QueueFullError              too many pictures wait to be drawn
        ShareError                  too many pictures for one address wait to be drawn
        PreviewUnavailableError     a link's preview can't be read from the store
        NotSentError                a notification wasn't sent, and will be tried again
        NeverSentError              an address or a browser refuses notifications for good
        CommandError                a subcommand of ``thudmud`` failed
        RefusedFileError            a file that isn't a game record
            KnownError              its battle was imported before
        StrangerError               the player has no battles to export

Each class explains its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

__all__ = [
    "CommandError",
    "InvalidValueError",
    "NotYetError",
    "RefusedError",
    "StartError",
    "ThudmudError",
    "UnknownNameError",
]


class ThudmudError(Exception):
    """The root: whatever thudmud raises on purpose is one of these."""


class InvalidValueError(ThudmudError, ValueError):
    """A value that cannot be, such as a position with two pieces on one square.

    Values are checked when they are made, so they need no checks later.
    """


class UnknownNameError(InvalidValueError, KeyError):
    """No player who is here, or no board, has that name.

    It is a ValueError, like other wrong arguments, and a KeyError, like a missing key of a dict.
    """

    __str__ = Exception.__str__  # KeyError's own shows the repr, for keys that aren't sentences


class RefusedError(ThudmudError):
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
        details = [f"{name}={_format_detail(value)}" for name, value in self.details.items()]
        return " ".join([self.code.value, *map(str, self.squares), *details])


def _format_detail(value: object) -> str:
    return ",".join(map(_format_detail, value)) if isinstance(value, tuple) else str(value)


class StartError(ThudmudError):
    """A server or a gateway cannot start with its configuration.

    For example, a port is taken, or a certificate or log file can't be opened. ``str()`` is a line
    for the operator.
    """


class NotYetError(StartError):
    """It can be tried again later: something it needs is missing yet, or in use."""


class CommandError(ThudmudError):
    """A subcommand failed; ``str()`` is a line that says why."""


def system_reason(error: OSError) -> str:
    """Return the reason of a system error, worded for operators: the same for any missing file."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or str(error)
