"""The commands of the boards in a room, for Evennia, and which board a line goes to.

Which words are commands is known from the grammar: there is no list of them here. The boards are
objects of Evennia, and several may have one name.

However many boards there are in a room, there is one set of commands: the sets of all boards are
equal, ``duplicates`` is False, and the board is found from the line. A MUD's own commands come
first: the set has a low priority, and a word that the MUD has for itself is a command of ours only
together with the word behind it (``set board``). All others can be had behind ``thud``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from django.conf import settings
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command as EvenniaCommand
from evennia.utils.utils import class_from_module

from thudmud.english import listed
from thudmud.errors import Refused, ThudmudError
from thudmud.evennia.board import USED, ThudBoard
from thudmud.evennia.host import escaped, first_session, options, send, terminal
from thudmud.language import BOARD_VERBS, parse, second_words
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
from thudmud.play.meaning import Phrase
from thudmud.play.options import OptionCommand
from thudmud.play.refusals import Refusal
from thudmud.views import Message
from thudmud.views.help import contents, page
from thudmud.views.messages import refusal_messages
from thudmud.views.view import Display
from thudmud.views.words import wrapped

_NUMBERED = re.compile(r"(?P<number>[0-9]{1,6})-(?P<name>.+)|(?P<name2>.+)-(?P<number2>[0-9]{1,6})")
"""How Evennia itself lets people tell things of one name apart."""

Holds = Callable[[Any], bool]


class Unclear(ThudmudError):
    """A command is for no board, in a way that only Evennia knows; ``str()`` is the sentence."""


def board_meant(
    boards: Sequence[Any], words: str | None, *, used: Any, sits_at: Holds, sayable: bool = True
) -> Any:
    """Return the board that is meant.

    Args:
        boards: those that are about, in their order.
        words: what the player called it, if anything.
        used: the one that they have used last, if it is one of them.
        sits_at: whether they have a seat at a board.
        sayable: whether their command has a place for the name of a board.

    Raises:
        Refused: none or more than one fits.
        Unclear: there is none, or a command without a place for its name could be for several.
    """
    if not boards:
        raise Unclear("There is no board here.")
    if words is None:
        return _unsaid(boards, used, sits_at, sayable=sayable)
    if words.lower() == "it":
        if used is None:
            raise Refused(Refusal.NOTHING_USED, boards=_labels(boards))
        return used
    return _named(boards, words, sits_at)


def label(board: Any, boards: Sequence[Any]) -> str:
    """Return what a board can be called so that no other is meant."""
    name = board.name_in_text
    same = [each for each in boards if each.name_in_text.lower() == name.lower()]
    if len(same) == 1:
        return str(name)
    fitting = [each for each in boards if _fits(Phrase.parse(name), each)]
    return f"{_ordinal(fitting.index(board) + 1)} {name}"


def _unsaid(boards: Sequence[Any], used: Any, sits_at: Holds, *, sayable: bool) -> Any:
    if not sayable and used is not None:
        return used
    if len(boards) == 1:
        return boards[0]
    seated = [board for board in boards if sits_at(board)]
    if len(seated) == 1:
        return seated[0]
    if not sayable:
        either = listed(_labels(boards), "or")
        raise Unclear(f"Which board? Use one of them first, as by looking at it: {either}.")
    raise Refused(Refusal.SAY_WHICH, boards=_labels(seated or boards, among=boards))


def _named(boards: Sequence[Any], words: str, sits_at: Holds) -> Any:
    phrase = _phrase(words)
    exact = [board for board in boards if _is_called(phrase, board)]
    fitting = [board for board in boards if _fits(phrase, board)]
    if exact and phrase.ordinal is None:
        fitting = exact
    if not fitting:
        raise Refused(Refusal.NO_BOARD_HERE, words=words, boards=_labels(boards))
    places = [str(place) for place in range(len(fitting))]
    picked = phrase.pick(places)
    if picked is not None:
        return fitting[int(picked)]
    seated = [board for board in fitting if sits_at(board)]
    if phrase.ordinal is None and len(seated) == 1:
        return seated[0]
    code = Refusal.WHICH_BOARD if phrase.ordinal is None else Refusal.NO_SUCH_ORDINAL
    raise Refused(code, words=words, boards=_labels(fitting, among=boards))


def _phrase(words: str) -> Phrase:
    found = _NUMBERED.fullmatch(words)
    if found:
        number, name = found["number"] or found["number2"], found["name"] or found["name2"]
        return Phrase.parse(f"{number} {name}")
    return Phrase.parse(words)


def _fits(phrase: Phrase, board: Any) -> bool:
    return any(phrase.fits(name) for name in board.names)


def _is_called(phrase: Phrase, board: Any) -> bool:
    return any(tuple(name.lower().split()) == phrase.words for name in board.names)


def _labels(boards: Sequence[Any], among: Sequence[Any] | None = None) -> tuple[str, ...]:
    return tuple(label(board, among or boards) for board in boards)


def _ordinal(number: int) -> str:
    teens = number % 100 in range(11, 14)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


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
    except Refused as refusal:
        screen = terminal(character.sessions.all())
        display = Display.of(screen, options(character))
        for message in refusal_messages(refusal, "", display, {"": screen}):
            send(character, message)
        return
    except Unclear as unclear:
        lines = wrapped(str(unclear), _width(character))
        send(character, Message((), "\n".join(lines)))
        return
    character.nattributes.add(USED, board.id)
    board.obey(character, _without_board(command))
    if isinstance(command, OptionCommand):
        for other in boards_about(character):
            other.heed(character)


def _board(character: Any, command: Command) -> Any:
    """Return the board that a command is for.

    Raises:
        Refused: none or more than one fits.
        Unclear: it is for none, or for one that it has no place for the name of.
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


def _width(character: Any) -> int:
    return terminal(character.sessions.all()).width


@cache
def _words_of_the_mud() -> frozenset[str]:
    """Return the words that the MUD's own commands are called by, their signs left out."""
    paths = (settings.CMDSET_CHARACTER, settings.CMDSET_ACCOUNT, settings.CMDSET_SESSION)
    commands = [each for path in paths for each in class_from_module(path)().commands]
    names = [name for each in commands for name in (each.key, *each.aliases)]
    return frozenset(name.lstrip(settings.CMD_IGNORE_PREFIXES) or name for name in names)
