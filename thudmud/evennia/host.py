"""Maps Evennia's characters to the people of a house: screens, preferences and messages.

A `BoardHost` returns messages and events, which the board sends and stores. Texts are escaped, so
that Evennia finds no markup of its own in them. Unknown preferences are ignored, since another
version may have written them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from evennia.utils.ansi import strip_ansi

from thudmud.errors import RefusedError
from thudmud.evennia.thinking import FoundAdvice
from thudmud.features.matchmaking.commands import No, Yes
from thudmud.features.options.preferences import options_of, preferences_of, styles_of
from thudmud.game.archive import LookupNeededError, LookupResults
from thudmud.game.command import Command
from thudmud.game.decisions import decide
from thudmud.game.evaluation import AdviserLookup
from thudmud.game.events import Parting
from thudmud.game.options import WIDTHS, Options, Profile, Style
from thudmud.game.people import Person
from thudmud.game.table import Table
from thudmud.house import House
from thudmud.language.words import WORDS, first_terminals
from thudmud.views import Message
from thudmud.views.colours import PALETTE_RGB
from thudmud.views.messages import fit_lines
from thudmud.views.registry import RenderContext, words
from thudmud.views.standing import full_board_lines, status_lines
from thudmud.views.view import (
    DEFAULT_WIDTH,
    PACKAGE,
    PALETTE,
    SIXTEEN,
    TRUE_COLOUR,
    Display,
    Terminal,
    View,
)

_OF_ROOMS = (
    first_terminals("room_command")
    | first_terminals("operator_command")
    | first_terminals("tournament_command")
)
_OF_BOARDS = {"_LOOK", "_BOTS", "_INVITE", "_HELP", "_SYNTAX", "_STOP", "_RESUME"}

LEFT_OUT = (
    *(word for name in WORDS if name in _OF_ROOMS - _OF_BOARDS for word in WORDS[name]),
    *("match", "new", "seek", "seeks"),  # no boards are opened for matches
    *WORDS.get("_NOTIFY", ()),  # a feature that may be left out
)
"""The verbs and features that a board in a MUD doesn't have, since the MUD has its own."""

_DEPTHS = (("TRUECOLOR", TRUE_COLOUR), ("XTERM256", PALETTE), ("ANSI", SIXTEEN))


def terminal(sessions: Iterable[Any]) -> Terminal:
    """Return the common capabilities of a character's sessions; the plainest without sessions."""
    each = [session.protocol_flags for session in sessions]
    return Terminal(
        width=min(map(_width, each), default=DEFAULT_WIDTH),
        supports_utf8=bool(each) and all(flags.get("UTF-8") for flags in each),
        colours=min(map(_colours, each), default=0),
        has_reader=any(flags.get("SCREENREADER") for flags in each),
        packages=frozenset({PACKAGE}),
        height=min(map(_height, each), default=0),
    )


def send(character: Any, message: Message) -> None:
    """Send a message to all sessions of a character."""
    for session in character.sessions.all():
        send_to(session, character, message)


def send_to(session: Any, character: Any, message: Message) -> None:
    """Send a message to one session of a character, unless the client can't handle data."""
    if not message.package:
        bell = "\a" if message.with_bell and _is_telnet(session) else ""
        text = (bell + escaped(message.text, session), {"type": "thud"})
        character.msg(text=text, session=session)
        return
    flags, data = session.protocol_flags, json.loads(message.text)
    if _is_telnet(session) and flags.get("OOB"):
        # Evennia converts "thud_move" back to "Thud.Move".
        name = message.package.lower().replace(".", "_")
        character.msg(session=session, **{name: ((), data)})
    elif flags.get(PANEL):
        character.msg(session=session, thud=((message.package, data), {}))


PANEL = "THUD"
"""The flag of a session whose web client has our plugin. Other web clients would show data as
errors."""


def _is_telnet(session: Any) -> bool:
    return str(session.protocol_key).startswith("telnet")


def escaped(text: str, session: Any = None) -> str:
    """Escape a string so that Evennia shows it unchanged, including ANSI colours.

    Evennia parses ``|`` and ``{{`` as markup, and parses strings for screen readers twice.
    """
    flags = session.protocol_flags if session else {}
    if flags.get("RAW"):
        return text
    if session and not _is_telnet(session):
        text = _SGR.sub(_split_sgr, text)
    for _ in range(2 if flags.get("SCREENREADER") else 1):
        # Evennia looks for links after "||" has become "|". An "|n" in between hides a "|l", with
        # which a link would begin.
        text = text.replace("|", "||").replace("||l", "|||nl").replace("{{", "{{{{")
        # Evennia would show an "n" after a string that ends in "||".
        text = f"{text}|n" if text.endswith("|") else text
    if settings.FUNCPARSER_PARSE_OUTGOING_MESSAGES_ENABLED:
        text = text.replace("\\", "\\\\").replace("$", "\\$")
    return text


_SGR = re.compile(r"\x1b\[([0-9;]+)m")
_SGR_CODE = re.compile(r"[34]8;(?:5;\d+|2;\d+;\d+;\d+)|\d+")
_BRIGHT = {
    str(base + 60 + shade): ";".join(map(str, (base + 8, 2, *PALETTE_RGB[8 + shade])))
    for base in (30, 40)
    for shade in range(8)
}


def _split_sgr(sequence: re.Match[str]) -> str:
    """Split an SGR sequence into one per attribute, as required by Evennia's text2html."""
    codes = _SGR_CODE.findall(sequence[1])
    return "".join(f"\x1b[{_BRIGHT.get(code, code)}m" for code in codes)


def first_session(character: Any) -> Any:
    """Return a session of a character, to escape strings that Evennia sends to all sessions.

    Web sessions are preferred, since any terminal can show what the web client can.
    """
    sessions: Sequence[Any] = character.sessions.all() if hasattr(character, "sessions") else ()
    return next(iter(sorted(sessions, key=_is_telnet)), None)


def _width(flags: Any) -> int:
    told = flags.get("SCREENWIDTH") or {}
    width = next(iter(told.values()), DEFAULT_WIDTH)
    return min(max(int(width), WIDTHS[0]), WIDTHS[-1])


def _height(flags: Any) -> int:
    told = flags.get("SCREENHEIGHT") or {}
    return max(int(next(iter(told.values()), 0)), 0)


def _colours(flags: Any) -> int:
    if flags.get("NOCOLOR"):
        return 0
    return next((depth for flag, depth in _DEPTHS if flags.get(flag)), 0)


_ATTRIBUTE = "thud_preferences"


def options(character: Any) -> Options:
    """Return a character's options."""
    return options_of(_stored_preferences(character))


def styles(character: Any) -> dict[str, Style]:
    """Return a character's styles by the ids of boards."""
    return styles_of(_stored_preferences(character))


def keep(character: Any, options: Options, styles: dict[str, Style]) -> None:
    """Store options and styles in an Attribute of the character."""
    character.attributes.add(_ATTRIBUTE, json.dumps(preferences_of(styles, options)))


def _stored_preferences(character: Any) -> dict[str, Any]:
    try:
        preferences = json.loads(character.attributes.get(_ATTRIBUTE, default="{}"))
    except (TypeError, ValueError):
        return {}
    return preferences if isinstance(preferences, dict) else {}


_LONGEST_NAME = 60


class BoardHost:
    """Lets characters play in a house with one board.

    Args:
        house: the house.
        board: the id of the board, the key of characters' styles.
        names: the names of characters already known at the board, by the characters' ids.
        advice: the adviser of the house.

    Attributes:
        names: the names of all known characters, by their ids.
    """

    def __init__(
        self, house: House, board: str, names: Mapping[int, str], advice: FoundAdvice
    ) -> None:
        self.house, self.advice = house, advice
        self.names = dict(names)
        self._board = board
        self._characters: dict[int, Any] = {}
        """The present characters by their ids, and those who left but still get a message."""

    @property
    def table(self) -> Table:
        """The current state of the board."""
        return next(iter(self.house.hall.tables.values()))

    @property
    def kept_names(self) -> dict[int, str]:
        """The names to store: of characters with a seat or adjourned match here, by their ids."""
        return {
            number: name for number, name in self.names.items() if self.house.is_name_needed(name)
        }

    def knows(self, character: Any) -> bool:
        """Whether a character is present, or has a seat or an adjourned match here."""
        return character.id in self.names

    def has_seat(self, number: int) -> bool:
        """Whether the character with an id has a seat."""
        name = self.names.get(number)
        return name is not None and self.table.side_of(name) is not None

    @property
    def bots(self) -> dict[str, str]:
        """The names of the levels of the house's bots, by the bots' names."""
        known = self.house.hall.bots.items()
        return {name: level.name for name, level in known if level}

    def is_asked(self, character: Any) -> bool:
        """Whether a character has an invitation, an offer or a question to answer."""
        person = self.person(character)
        if person is None:
            return False
        side = self.table.side_of(person.name)
        offered = side and any(by is not side for by in self.table.offers.values())
        return bool(person.invitations or offered or self.house.is_asked(person.name))

    def lookup_needed(
        self, character: Any, command: Command, now: float
    ) -> AdviserLookup[Any] | None:
        """Return the advice that a command needs before it can be carried out; None for none.

        The command is decided on trial, and lookups of other kinds are answered by the house.
        """
        person, found = self.person(character), LookupResults()
        while person:
            try:
                decide(self.house.hall, person.name, command, now, found)
            except LookupNeededError as unread:
                if isinstance(unread.lookup, AdviserLookup):
                    return unread.lookup
                found.store(unread.lookup, self.house.look_up(unread.lookup))
            except RefusedError:
                break
            else:
                break
        return None

    def person(self, character: Any) -> Person | None:
        """Return a character's person in the house; None if the character isn't present."""
        return self.house.hall.people.get(self.names.get(character.id, ""))

    def set_present(self, characters: Mapping[int, Any], now: float) -> list[Message]:
        """Update the present characters; return the resulting messages.

        A character who was present and no longer is has left if still connected, and otherwise lost
        the connection.

        Args:
            characters: the present characters by their ids.
            now: the time.
        """
        told = []
        for number, character in self._characters.items():
            if number not in characters and self.names[number] in self.house:
                walked = character.pk is not None and character.sessions.count()
                parting = Parting.LEFT if walked else Parting.LOST
                told += self.house.depart(self.names[number], now, parting)
        for character in characters.values():
            person = self.person(character)
            if person:
                self.house.set_terminal(person.name, terminal(character.sessions.all()))
            else:
                told += self._enter(character, now)
        return told + self.house.mark_absent_players(now)

    def take_over(self, before: BoardHost, now: float) -> None:
        """Take over the people of the host before a change of the board's name."""
        self.names = dict(before.names)
        for character in before._characters.values():
            was = before.person(character)
            if was:
                self._enter(character, now)
                person = self.house.hall.people[was.name]
                person.parts, person.private = was.parts, was.private
                if not was.styles:
                    person.styles.clear()
                self.house.hall.rooms.update(person)

    def obey(self, character: Any, command: Command, now: float) -> list[Message]:
        """Carry out a character's command; return the resulting messages.

        Options and styles that the command changes are stored with the character. A character who
        isn't present gets no messages.
        """
        person = self.person(character)
        if not person:
            return []
        chosen = styles(character)
        if self._board not in chosen:
            person.styles.clear()  # the first use ends the brief style of onlookers
            self.house.hall.rooms.update(person)
        before = person.options, dict(person.styles)
        self.house.stop_replay(person.name)
        # The house asks for confirmation, and accepts answers, only when given a line of text.
        is_typed = isinstance(command, Yes | No) or getattr(command, "needs_confirmation", False)
        told = self.house.obey(person.name, str(command) if is_typed else command, now)
        if (person.options, person.styles) != before:
            if person.styles:
                chosen[self._board] = person.styles[self.table.name]
            keep(character, person.options, chosen)
        return told

    def facts(self, character: Any, line: str | None, now: float) -> list[Message]:
        """Return facts for a present character's program; all of them if the line is None."""
        person = self.person(character)
        if not person:
            return []
        house, name = self.house, person.name
        return house.current_facts(name) if line is None else house.ask(name, line, now)

    def refresh_options(self, character: Any) -> None:
        """Apply a character's stored options to their person in the house."""
        person = self.person(character)
        if person:
            person.options = options(character)
            self.house.hall.rooms.update(person)

    def draw_for_absent(self, screen: Terminal) -> str:
        """Draw the board for somebody who isn't present."""
        view = View(None, Style.FULL, Display.of(screen, Options()))
        rows = full_board_lines(self.table, view) + status_lines(self.table, view)
        return "\n".join(fit_lines(rows, view.display))

    def waiting_message(self, screen: Terminal, sought: AdviserLookup[Any]) -> str:
        """Return the message for a wait for advice; "" for advice that takes only a moment."""
        if type(sought) not in words.registry:
            return ""
        view = View(None, Style.FULL, Display.of(screen, Options()))
        return "\n".join(words(sought, RenderContext(self.house.hall, None, 0.0, ""), view))

    def address_messages(self, messages: Iterable[Message]) -> Iterator[tuple[Any, Message]]:
        """Yield each recipient with the message, and forget characters who have left.

        Those who have only just left still get their messages.
        """
        to = {self.names[number]: each for number, each in self._characters.items()}
        self._forget()
        for message in messages:
            yield from ((to[name], message) for name in message.to if name in to)

    def _enter(self, character: Any, now: float) -> list[Message]:
        """Let a character in; return the messages, which only a return to a seat causes.

        A character without a seat or a chosen style sees the board in brief until they use it.
        """
        name = self.names[character.id] = self._name(character)
        self._characters[character.id] = character
        unchosen = None if self.has_seat(character.id) else Style.BRIEF
        style = styles(character).get(self._board, unchosen)
        return self.house.enter(
            name,
            now,
            terminal(character.sessions.all()),
            room=self.table.name,
            member=True,
            quiet=True,
            profile=Profile(
                styles={self.table.name: style} if style else {}, options=options(character)
            ),
        )

    def _name(self, character: Any) -> str:
        """Return the character's name at this board, followed by the id if the name is taken."""
        kept = self.names.get(character.id)
        if kept is not None:
            return kept
        shown = "".join(filter(str.isprintable, strip_ansi(character.key)))
        name = " ".join(shown.split())[:_LONGEST_NAME].strip() or "somebody"
        others = {known.lower() for known in (*self.names.values(), *self.bots)}
        while name.lower() in others:
            name = f"{name} #{character.id}"
        return name

    def _forget(self) -> None:
        """Forget absent characters, and their names unless they have a seat or match here."""
        self._characters = {
            number: character
            for number, character in self._characters.items()
            if self.names[number] in self.house
        }
        self.names = {
            number: name
            for number, name in self.names.items()
            if number in self._characters or self.house.is_name_needed(name)
        }
