"""The commands of the boards in a room, for Evennia, and which board a line goes to.

Which words are commands is known from the grammar: there is no list of them here.

However many boards there are in a room, there is one set of commands: the sets of all boards are
equal, ``duplicates`` is False, and the board is found from the line. A MUD's own commands come
first: the set has a low priority, and a word that the MUD has for itself is a command of ours only
together with the word behind it (``set board``). All others can be had behind ``thud``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command as EvenniaCommand
from evennia.utils.utils import class_from_module

from thudmud.evennia.board import USED, ThudBoard
from thudmud.evennia.meaning import Unclear, board_meant
from thudmud.evennia.screens import escaped, first_session, send, terminal
from thudmud.language import BOARD_VERBS, ParseError, parse, second_words
from thudmud.play.commands import (
    ArchiveCommand,
    Command,
    Help,
    Look,
    RoomCommand,
    Step,
    Syntax,
    ViewGame,
)
from thudmud.play.options import OptionCommand
from thudmud.text import Message
from thudmud.text.help import contents, page
from thudmud.text.words import wrapped
from thudmud.views.refusals import explain

ALL = "thud"
"""The command behind which all of ours can be typed."""

_CATEGORY = "thud board"


class BoardCommand(EvenniaCommand):  # type: ignore[misc]  # Evennia has no types
    """One of the words that a line about a board can begin with."""

    locks = "cmd:all()"
    help_category = _CATEGORY
    # What is to be set to something is a builder's.
    arg_regex = r"\s+(?!\s*=)|$"

    @property
    def line(self) -> str:
        """What is asked for, as thudmud is typed."""
        return f"{self.cmdstring}{self.args}"

    def func(self) -> None:
        """Do it."""
        obey(self.caller, self.line)

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the page about it, as wide as the reader's screen."""
        return escaped("\n".join(page(self.key, _width(caller))), first_session(caller))


class EveryCommand(BoardCommand):
    """The command behind which all of ours can be typed."""

    key = ALL
    arg_regex = r"\s|$"

    @property
    def line(self) -> str:
        """What is asked for, as thudmud is typed."""
        return str(self.args).strip() or "help"

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the list of all pages."""
        width = _width(caller)
        how = (
            f'"{ALL}" and one of the commands below does the same as the command alone, wherever '
            f'something else here has its name. "{ALL} help" and a topic tells of it.'
        )
        return escaped(
            "\n".join([*wrapped(how, width), "", *contents(width)]), first_session(caller)
        )


class BoardCmdSet(CmdSet):  # type: ignore[misc]  # Evennia has no types
    """The commands that a board brings to a room."""

    key = "ThudBoardCmdSet"
    priority = -30
    duplicates = False

    def at_cmdset_creation(self) -> None:
        """Make a command of each word that the MUD has no command for."""
        self.add(EveryCommand())
        for key in keys():
            self.add(BoardCommand(key=key))


def keys() -> Iterator[str]:
    """Yield what lines of ours begin with, in words that are free in this MUD."""
    for verb in BOARD_VERBS:
        if verb in _words_of_the_mud():
            yield from (f"{verb} {word}" for word in second_words(verb))
        else:
            yield verb


def boards_about(character: Any) -> list[Any]:
    """Return the boards where somebody is, in the order in which they are counted."""
    things = character.location.contents if character.location else []
    boards = [each for each in things if isinstance(each, ThudBoard)]
    return sorted((each for each in boards if each.access(character, "view")), key=lambda b: b.id)


def obey(character: Any, line: str) -> None:
    """Do what somebody's line asks for, at the board that it means."""
    try:
        command = parse(line)
        board = _board(character, command)
    except ParseError as error:
        screen = terminal(character.sessions.all())
        _tell(character, explain(error, screen.width, pointing=not screen.reader))
        return
    except Unclear as unclear:
        _tell(character, wrapped(str(unclear), _width(character)))
        return
    character.nattributes.add(USED, board.id)
    board.obey(character, _without_board(command))
    if isinstance(command, OptionCommand):
        for other in boards_about(character):
            other.heed(character)


def _board(character: Any, command: Command) -> Any:
    """Return the board that a command is for.

    Raises:
        Unclear: there is none, or it could be more than one.
    """
    boards = boards_about(character)
    if isinstance(command, Look):
        words, sayable = command.at, True
    elif isinstance(command, Help | Syntax | OptionCommand):
        return _meant(character, boards[:1], None, sayable=False)
    elif isinstance(command, RoomCommand):
        raise Unclear(f'That is no command about a board: type it without "{ALL}".')
    elif isinstance(command, ArchiveCommand):
        people = [(each, each.host.person(character)) for each in boards]
        replaying = [each for each, person in people if person and person.replay]
        if isinstance(command, Step) and replaying:
            return replaying[0]
        words, sayable = None, False
    else:
        words, sayable = command.on, True
    return _meant(character, boards, words, sayable=sayable)


def _meant(character: Any, boards: list[Any], words: str | None, *, sayable: bool) -> Any:
    used = next((each for each in boards if each.id == character.nattributes.get(USED)), None)
    return board_meant(
        boards,
        words,
        used=used,
        sits_at=lambda board: bool(board.host.sits(character.id)),
        sayable=sayable,
    )


def _without_board(command: Command) -> Command:
    """Return a command as it is given at the only board of a house."""
    if isinstance(command, Look):
        return ViewGame()
    said: Any = command
    return replace(said, on=None) if getattr(command, "on", None) else command


def _tell(character: Any, lines: list[str]) -> None:
    send(character, Message((), "\n".join(lines)))


def _width(character: Any) -> int:
    return terminal(character.sessions.all()).width


@cache
def _words_of_the_mud() -> frozenset[str]:
    """Return the words that the MUD's own commands are called by, their signs left out."""
    paths = (settings.CMDSET_CHARACTER, settings.CMDSET_ACCOUNT, settings.CMDSET_SESSION)
    commands = [each for path in paths for each in class_from_module(path)().commands]
    names = [name for each in commands for name in (each.key, *each.aliases)]
    return frozenset(name.lstrip(settings.CMD_IGNORE_PREFIXES) or name for name in names)
