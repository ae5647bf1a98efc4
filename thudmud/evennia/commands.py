"""The Evennia commands that boards bring to a room, and the choice of the board for a line.

The commands are the verbs of a board's house, from the grammar. A room has one set of them for all
its boards: the sets of all boards are equal, and ``duplicates`` is False. The board is found from
the line; several boards may have the same name.

A MUD's own commands take precedence. The set has a low priority, and a verb that is also a command
of the MUD becomes a command of ours only with its second word (``set board``). Any line can also be
typed after ``thud``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from django.conf import settings
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command as EvenniaCommand
from evennia.utils.utils import class_from_module

from thudmud.english import ordinal
from thudmud.errors import RefusedError, ThudmudError
from thudmud.evennia.board import USED, ThudBoard
from thudmud.evennia.help_entries import PAGES_HERE
from thudmud.evennia.host import LEFT_OUT, escaped, first_session, options, send, send_to, terminal
from thudmud.features.archive.commands import ArchiveCommand, Step
from thudmud.features.archive.model import replay_of
from thudmud.features.matchmaking.commands import Agree, Decline, Invite, No, PlayNow
from thudmud.features.options.commands import OptionCommand
from thudmud.features.playing.queries import SetBoard, ViewGame
from thudmud.features.rooms.commands import Look, ViewBots
from thudmud.game.command import Command, PrivateCommand
from thudmud.game.more import Help, Syntax
from thudmud.game.refusals import Mistake, Refusal
from thudmud.game.resolution import Phrase
from thudmud.game.tables import GameCommand, TableCommand
from thudmud.language import VERBS, ParseError, second_words
from thudmud.language.vocabulary import Vocabulary
from thudmud.language.words import WORDS
from thudmud.values import replace
from thudmud.views import Message
from thudmud.views.facts import as_json, refusal_fact
from thudmud.views.help import page
from thudmud.views.messages import refusal_messages
from thudmud.views.view import Display
from thudmud.views.words import wrap

ALL = "thud"
"""The command that takes any line for a board."""

_CATEGORY = "thud board"


class BoardCommand(EvenniaCommand):  # type: ignore[misc]  # Evennia has no types
    """An Evennia command that passes the whole line to the boards."""

    locks = "cmd:all()"
    help_category = _CATEGORY
    # With "=" after the word, the line is a builder's command.
    arg_regex = r"\s+(?!\s*=)|$"

    @property
    def line(self) -> str:
        """The line, in the syntax of thudmud."""
        return f"{self.cmdstring}{self.args}"

    def func(self) -> None:
        """Carry out the line."""
        obey(self.caller, self.line)

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the command's help page, wrapped to the caller's screen."""
        return escaped("\n".join(_page(self.key, caller)), first_session(caller))


class EveryCommand(BoardCommand):
    """``thud``, after which all other commands can be typed."""

    key = ALL
    arg_regex = r"\s|$"

    @property
    def line(self) -> str:
        """The line, in the syntax of thudmud."""
        return str(self.args).strip() or "help"

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the help page about the game, and the list of all pages."""
        width = _width(caller)
        how = (
            f'Type "{ALL}" before any of the commands below if something else here has the same '
            f'name. "{ALL} help" with a topic shows its page.'
        )
        rows = [*_page(ALL, caller), "", *wrap(how, width), "", *_page("all", caller)]
        return escaped("\n".join(rows), first_session(caller))


class BoardCmdSet(CmdSet):  # type: ignore[misc]  # Evennia has no types
    """The commands that a board brings to a room."""

    key = "ThudBoardCmdSet"
    priority = -30
    duplicates = False

    def at_cmdset_creation(self) -> None:
        """Add the commands; see `command_keys`."""
        self.add(EveryCommand())
        for key in command_keys():
            self.add(BoardCommand(key=key))


def command_keys() -> Iterator[str]:
    """Yield the keys of commands: a verb, or two words if the MUD has a command of that name."""
    for verb in VERBS_HERE:
        if verb in _words_of_the_mud():
            yield from (f"{verb} {word}" for word in second_words(verb))
        else:
            yield verb


VOCABULARY = Vocabulary(without=LEFT_OUT)

VERBS_HERE = tuple(
    verb for verb in VERBS if verb not in {*VOCABULARY.without, *WORDS["_LOOK"], *WORDS["_HELP"]}
)
"""The verbs of a board. ``look`` and ``help`` are the MUD's commands."""


def boards_here(character: Any) -> list[Any]:
    """Return the boards that a character can see in their room, in the order of ordinals."""
    things = character.location.contents if character.location else []
    boards = [each for each in things if isinstance(each, ThudBoard)]
    return sorted((each for each in boards if each.access(character, "view")), key=lambda b: b.id)


def obey(character: Any, line: str) -> None:
    """Carry out a character's line at the board in question, or explain the refusal."""
    try:
        command, words = _read(line)
        board = _board(character, command, words)
    except RefusedError as refusal:
        screen = terminal(character.sessions.all())
        display = Display.of(screen, options(character))
        for message in refusal_messages(refusal, "", display, screen):
            send(character, message)
        return
    except UnclearBoardError as unclear:
        lines = wrap(str(unclear), _width(character))
        send(character, Message((), "\n".join(lines)))
        return
    character.nattributes.add(USED, board.id)
    board.obey(character, _without_board(command))
    if isinstance(command, OptionCommand):
        for other in boards_here(character):
            other.host.refresh_options(character)


def answer(session: Any, line: str | None) -> None:
    """Send facts to a client program. Lines other than queries have no effect.

    Args:
        session: the session of the client.
        line: the program's query; None for the complete state of all boards in the room.
    """
    character = session.puppet
    if line is None:
        told = [each for board in boards_here(character) for each in board.facts(character, None)]
    else:
        try:
            command, words = _read(line)
            board = _board(character, command, words)
            told = board.facts(character, str(_without_board(command)))
        except RefusedError as refusal:
            fact = refusal_fact(refusal, "")
            told = [Message((), as_json(fact.data), fact.package)]
        except UnclearBoardError:
            return
    for message in told:
        send_to(session, character, message)


def _read(line: str) -> tuple[Command, str | None]:
    """Parse a line.

    Returns:
        The command, and the words for a board if the command has no field for them, else None.

    Raises:
        ParseError: the line isn't a command.
        UnclearBoardError: the line begins with a command of the MUD.
    """
    try:
        return VOCABULARY.parse(line), None
    except ParseError as error:
        if error.code is Mistake.UNKNOWN_COMMAND and error.word in _words_of_the_mud():
            raise UnclearBoardError(
                f'"{error.word}" is a command of this MUD. Type it without "{ALL}".'
            ) from None
        beginning, _, words = line.rpartition(" on ")
        with suppress(ParseError):
            command = VOCABULARY.parse(beginning)
            if isinstance(command, _UNNAMED):
                return command, words
        raise


_UNNAMED = (ArchiveCommand, PrivateCommand, Agree, Decline)
"""Commands without a field for a board, since they need none on a server."""


def _board(character: Any, command: Command, words: str | None) -> Any:
    """Find the board for a command.

    The board at which the character has a private board or watches a replay takes precedence for
    the commands about these.

    Raises:
        RefusedError: no board matches, or more than one.
        UnclearBoardError: there is no board in the room.
    """
    boards = boards_here(character)
    people = [(each, each.host.person(character)) for each in boards]
    at = next((each for each, person in people if person and person.private), None)
    if at and isinstance(command, PrivateCommand) and words is None:
        return at
    # A line that names no board is for the private board, unless that could be a mistake: the
    # character has a seat at another board, whose battle the line may be meant for.
    is_unsaid = isinstance(command, GameCommand) and command.on is None
    if at and is_unsaid and all(each is at for each in _with_seat(character, boards)):
        return at
    replaying = next((each for each, person in people if person and replay_of(person)), None)
    if replaying and (isinstance(command, Step) or command == PlayNow()):
        return replaying
    match command:
        case Look():
            words = command.at
        case Help() | Syntax() | OptionCommand() | ViewBots() | PlayNow():
            boards = boards[:1]
        case Agree() | Decline() | No(on=None):
            boards = [each for each in boards if each.host.is_asked(character)] or boards
        case GameCommand() | Invite():
            words = command.on
    changes = isinstance(command, TableCommand | Invite | SetBoard)
    changes = changes or (isinstance(command, GameCommand) and command.asks_adviser)
    return _resolve_board(character, boards, words, prefers_used=not changes)


class UnclearBoardError(ThudmudError):
    """Raised for a line that isn't for any board in the room; ``str()`` is the message."""


def _resolve_board(
    character: Any, boards: Sequence[Any], words: str | None, *, prefers_used: bool
) -> Any:
    """Find a board by words, or else by the character's last use, the room or their seats.

    Args:
        character: the character.
        boards: the boards to choose from.
        words: the words for the board; None without any.
        prefers_used: whether the board that the character used last takes precedence over the only
            one at which they have a seat.

    Raises:
        RefusedError: no board matches, or more than one.
        UnclearBoardError: ``boards`` is empty.
    """
    if not boards:
        raise UnclearBoardError("There is no board here.")
    used = next((each for each in boards if each.id == character.nattributes.get(USED)), None)
    if words is not None and words.lower() == "it":
        if used is None:
            raise RefusedError(Refusal.NOTHING_USED, boards=_labels(boards))
        return used
    if words is not None:
        return _resolve_by_name(character, boards, words)
    if prefers_used and used is not None:
        return used
    if len(boards) == 1:
        return boards[0]
    seated = _with_seat(character, boards)
    if len(seated) == 1:
        return seated[0]
    raise RefusedError(Refusal.SAY_WHICH, boards=_labels(seated or boards, among=boards))


def _resolve_by_name(character: Any, boards: Sequence[Any], words: str) -> Any:
    """Find a board by its name; of several, the one at which the character has a seat."""
    phrase = _phrase(words)
    exact = [board for board in boards if _is_called(phrase, board)]
    fitting = [board for board in boards if _is_match(phrase, board)]
    if exact and phrase.ordinal is None:
        fitting = exact
    if not fitting:
        raise RefusedError(Refusal.NO_BOARD_HERE, words=words, boards=_labels(boards))
    places = [str(place) for place in range(len(fitting))]
    picked = phrase.pick(places)
    if picked is not None:
        return fitting[int(picked)]
    if phrase.ordinal is None and len(seated := _with_seat(character, fitting)) == 1:
        return seated[0]
    code = Refusal.WHICH_BOARD if phrase.ordinal is None else Refusal.NO_SUCH_ORDINAL
    raise RefusedError(code, words=words, boards=_labels(fitting, among=boards))


def _with_seat(character: Any, boards: Sequence[Any]) -> list[Any]:
    """Return the boards at which a character has a seat. This loads the stored boards."""
    return [board for board in boards if board.host.has_seat(character.id)]


def _label(board: Any, boards: Sequence[Any]) -> str:
    """Return a name that is unique among the boards, with an ordinal if necessary."""
    name = board.name_in_text
    same = [each for each in boards if each.name_in_text.lower() == name.lower()]
    if len(same) == 1:
        return str(name)
    fitting = [each for each in boards if _is_match(Phrase.parse(name), each)]
    return f"{ordinal(fitting.index(board) + 1)} {name}"


_NUMBERED = re.compile(r"(?P<number>[0-9]{1,6})-(?P<name>.+)|(?P<name2>.+)-(?P<number2>[0-9]{1,6})")
"""Evennia's own notation for one of several objects with the same name."""


def _phrase(words: str) -> Phrase:
    found = _NUMBERED.fullmatch(words)
    if found:
        number, name = found["number"] or found["number2"], found["name"] or found["name2"]
        return Phrase.parse(f"{number} {name}")
    return Phrase.parse(words)


def _is_match(phrase: Phrase, board: Any) -> bool:
    return any(phrase.is_subsequence_of(name) for name in board.names)


def _is_called(phrase: Phrase, board: Any) -> bool:
    return any(tuple(name.lower().split()) == phrase.words for name in board.names)


def _labels(boards: Sequence[Any], among: Sequence[Any] | None = None) -> tuple[str, ...]:
    return tuple(_label(board, among or boards) for board in boards)


def _without_board(command: Command) -> Command:
    """Return a command without the board, for a house with only one."""
    if isinstance(command, Look):
        return ViewGame()
    said: Any = command
    return replace(said, on=None) if getattr(said, "on", None) else command


def _page(topic: str | None, character: Any) -> list[str]:
    """Return the lines of a help page; the list of all pages if the topic is None."""
    halls = [each.host.house.hall for each in boards_here(character)]
    bot = next((name for hall in halls for name in hall.bots), None)
    display = Display.of(terminal(character.sessions.all()), options(character))
    utf8 = display.uses_utf8 and not display.is_for_reader
    return page(topic, display.width, bot, pages=PAGES_HERE, utf8=utf8)


def _width(character: Any) -> int:
    return terminal(character.sessions.all()).width


@cache
def _words_of_the_mud() -> frozenset[str]:
    """Return the names of the MUD's own commands, without prefixes such as "@"."""
    paths = (settings.CMDSET_CHARACTER, settings.CMDSET_ACCOUNT, settings.CMDSET_SESSION)
    commands = [each for path in paths for each in class_from_module(path)().commands]
    names = [name for each in commands for name in (each.key, *each.aliases)]
    return frozenset(name.lstrip(settings.CMD_IGNORE_PREFIXES) or name for name in names)
