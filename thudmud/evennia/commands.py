"""The commands that boards bring to a room of an Evennia MUD, and which board a line is for.

The words that are commands come from the grammar. The boards are objects of Evennia, and several
may have the same name.

There are those verbs that the house of a board has. However many boards are in a room, there is one
set of commands: those of all boards are equal, ``duplicates`` is False, and the line says which
board is meant. A MUD's own commands come first: the set has a low priority, and a word that is a
command of the MUD's becomes one of ours only together with its second word (``set board``). All
others can be typed after ``thud``.
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

from thudmud.english import nth
from thudmud.errors import Refused, ThudmudError
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
from thudmud.game.meaning import Phrase
from thudmud.game.more import Help, Syntax
from thudmud.game.refusals import Mistake, Refusal
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
from thudmud.views.words import wrapped

ALL = "thud"
"""The command after which all others can be typed."""

_CATEGORY = "thud board"


class BoardCommand(EvenniaCommand):  # type: ignore[misc]  # Evennia has no types
    """A word that a line about a board can begin with."""

    locks = "cmd:all()"
    help_category = _CATEGORY
    # With "=" it is a command of builders.
    arg_regex = r"\s+(?!\s*=)|$"

    @property
    def line(self) -> str:
        """The line as players of thudmud type it."""
        return f"{self.cmdstring}{self.args}"

    def func(self) -> None:
        """Do what the line asks for."""
        obey(self.caller, self.line)

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the page of help about it, as wide as the reader's screen."""
        return escaped("\n".join(_page(self.key, caller)), first_session(caller))


class EveryCommand(BoardCommand):
    """``thud``, after which all other commands can be typed."""

    key = ALL
    arg_regex = r"\s|$"

    @property
    def line(self) -> str:
        """The line as players of thudmud type it."""
        return str(self.args).strip() or "help"

    def get_help(self, caller: Any, cmdset: Any) -> str:  # noqa: ARG002 (Evennia's signature)
        """Return the page about the game, and the list of all others."""
        width = _width(caller)
        how = (
            f'Type "{ALL}" and one of the commands below where something else here has the name '
            f'of the command. "{ALL} help" and a topic shows the page about it.'
        )
        rows = [*_page(ALL, caller), "", *wrapped(how, width), "", *_page(None, caller)]
        return escaped("\n".join(rows), first_session(caller))


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
    """Yield the commands: verbs, or two words where the verb is a command of this MUD."""
    for verb in VERBS_HERE:
        if verb in _words_of_the_mud():
            yield from (f"{verb} {word}" for word in second_words(verb))
        else:
            yield verb


VOCABULARY = Vocabulary(without=LEFT_OUT)

VERBS_HERE = tuple(
    verb for verb in VERBS if verb not in {*VOCABULARY.without, *WORDS["_LOOK"], *WORDS["_HELP"]}
)
"""The words that a line about a board can begin with. To look and to be helped is the MUD's."""


def boards_here(character: Any) -> list[Any]:
    """Return the boards in a character's room, in the order in which ordinals count them."""
    things = character.location.contents if character.location else []
    boards = [each for each in things if isinstance(each, ThudBoard)]
    return sorted((each for each in boards if each.access(character, "view")), key=lambda b: b.id)


def obey(character: Any, line: str) -> None:
    """Do what a character has typed, at the board that is meant."""
    try:
        command, words = _read(line)
        board = _board(character, command, words)
    except Refused as refusal:
        screen = terminal(character.sessions.all())
        display = Display.of(screen, options(character))
        for message in refusal_messages(refusal, "", display, screen):
            send(character, message)
        return
    except Unclear as unclear:
        lines = wrapped(str(unclear), _width(character))
        send(character, Message((), "\n".join(lines)))
        return
    character.nattributes.add(USED, board.id)
    board.obey(character, _without_board(command))
    if isinstance(command, OptionCommand):
        for other in boards_here(character):
            other.host.refresh_options(character)


def answer(session: Any, line: str | None) -> None:
    """Tell a program what a line of its own asks for; if there is no line, how the boards stand.

    It is told facts alone, also of a line that is no question: that does nothing.
    """
    character = session.puppet
    if line is None:
        told = [each for board in boards_here(character) for each in board.facts(character, None)]
    else:
        try:
            command, words = _read(line)
            board = _board(character, command, words)
            told = board.facts(character, str(_without_board(command)))
        except Refused as refusal:
            fact = refusal_fact(refusal, "")
            told = [Message((), as_json(fact.data), fact.package)]
        except Unclear:
            return
    for message in told:
        send_to(session, character, message)


def _read(line: str) -> tuple[Command, str | None]:
    """Return the command that a line is, and the board that it names if the command has no place.

    Raises:
        ParseError: it is none.
        Unclear: it is a command of the MUD's own.
    """
    try:
        return VOCABULARY.parse(line), None
    except ParseError as error:
        if error.code is Mistake.UNKNOWN_COMMAND and error.word in _words_of_the_mud():
            raise Unclear(
                f'"{error.word}" is a command of this MUD: type it without "{ALL}".'
            ) from None
        beginning, _, words = line.rpartition(" on ")
        with suppress(ParseError):
            command = VOCABULARY.parse(beginning)
            if isinstance(command, _UNNAMED):
                return command, words
        raise


_UNNAMED = (ArchiveCommand, PrivateCommand, Agree, Decline)
"""Commands without a place for the name of a board: on a server none is needed."""


def _board(character: Any, command: Command, words: str | None) -> Any:
    """Return the board that a command is for.

    Raises:
        Refused: none or more than one fits.
        Unclear: there is none.
    """
    boards = boards_here(character)
    people = [(each, each.host.person(character)) for each in boards]
    at = next((each for each, person in people if person and person.private), None)
    if at and isinstance(command, PrivateCommand) and words is None:
        return at
    # A line without a board is about the private one, unless that could harm a battle elsewhere.
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
    return _meant(character, boards, words, prefers_used=not changes)


class Unclear(ThudmudError):
    """What was typed is for no board that is here; ``str()`` is the sentence that says so."""


def _meant(character: Any, boards: Sequence[Any], words: str | None, *, prefers_used: bool) -> Any:
    """Return the board that a character means.

    If no words name one, the board that they used or looked at last is meant where that is
    preferred.
    """
    if not boards:
        raise Unclear("There is no board here.")
    used = next((each for each in boards if each.id == character.nattributes.get(USED)), None)
    if words is not None and words.lower() == "it":
        if used is None:
            raise Refused(Refusal.NOTHING_USED, boards=_labels(boards))
        return used
    if words is not None:
        return _named(character, boards, words)
    if prefers_used and used is not None:
        return used
    if len(boards) == 1:
        return boards[0]
    seated = _with_seat(character, boards)
    if len(seated) == 1:
        return seated[0]
    raise Refused(Refusal.SAY_WHICH, boards=_labels(seated or boards, among=boards))


def _named(character: Any, boards: Sequence[Any], words: str) -> Any:
    """Return the board that is called so; of several the one at which the character has a seat."""
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
    if phrase.ordinal is None and len(seated := _with_seat(character, fitting)) == 1:
        return seated[0]
    code = Refusal.WHICH_BOARD if phrase.ordinal is None else Refusal.NO_SUCH_ORDINAL
    raise Refused(code, words=words, boards=_labels(fitting, among=boards))


def _with_seat(character: Any, boards: Sequence[Any]) -> list[Any]:
    """Return the boards at which a character has a seat. What is stored of each has to be read."""
    return [board for board in boards if board.host.sits(character.id)]


def _label(board: Any, boards: Sequence[Any]) -> str:
    """Return a name by which this board is meant and no other."""
    name = board.name_in_text
    same = [each for each in boards if each.name_in_text.lower() == name.lower()]
    if len(same) == 1:
        return str(name)
    fitting = [each for each in boards if _fits(Phrase.parse(name), each)]
    return f"{nth(fitting.index(board) + 1)} {name}"


_NUMBERED = re.compile(r"(?P<number>[0-9]{1,6})-(?P<name>.+)|(?P<name2>.+)-(?P<number2>[0-9]{1,6})")
"""How Evennia itself lets people tell things of one name apart."""


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
    return tuple(_label(board, among or boards) for board in boards)


def _without_board(command: Command) -> Command:
    """Return a command as it is typed where there is only one board."""
    if isinstance(command, Look):
        return ViewGame()
    said: Any = command
    return replace(said, on=None) if getattr(said, "on", None) else command


def _page(topic: str | None, character: Any) -> list[str]:
    """Return a page of help, or the list of all, of what there is at the boards here."""
    halls = [each.host.house.hall for each in boards_here(character)]
    bot = next((name for hall in halls for name in hall.bots), None)
    display = Display.of(terminal(character.sessions.all()), options(character))
    utf8 = display.utf8 and not display.reader
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
