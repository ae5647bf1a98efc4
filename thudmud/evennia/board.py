"""The Thud board as an Evennia typeclass: its hooks, its settings, and the storage of its events.

Events are stored as rows of Evennia's table of Attributes, since a table of our own would need a
migration. The rows have a key of their own and no link to the object: ``examine`` doesn't show
them, and a copy of a board is a new board. Events are stored before anybody is sent a message.

A board updates its list of present characters in a later call of the reactor. So an error in a
board can't keep characters from moving or being saved.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from django.db.models import QuerySet
from django.db.models.signals import post_save
from django.db.transaction import atomic
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultObject
from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from evennia.typeclasses.attributes import Attribute
from evennia.utils import logger
from evennia.utils.ansi import strip_ansi
from evennia.utils.utils import delay

from thudmud.bots.workers import Question, Reply
from thudmud.english import join_words
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.evennia.host import LEFT_OUT, BoardHost, escaped, first_session, send, terminal
from thudmud.evennia.thinking import FoundAdvice, ask_worker
from thudmud.features.playing.moves import Resign
from thudmud.features.playing.queries import ViewGame
from thudmud.game.command import Command
from thudmud.game.evaluation import AdviserLookup
from thudmud.game.table import BoardSpec
from thudmud.house import BotTurn, House
from thudmud.language.parsing import player_problem
from thudmud.rules import DEFAULT_RULES, RULESETS
from thudmud.search.levels import find_level
from thudmud.views import Message
from thudmud.views.refusals import refusal_text

TYPE = "thud"
"""The type of our rows, which sets them apart from Attributes and nicks; also the prefix of their
keys."""

MOST = 100
"""The maximum number of `_NEW` rows before they are merged, which is smaller and faster to read."""

_SLACK = 0.01
"""Seconds to add to a delay, so that the deadline has certainly passed at its end."""

_NAMES, _NEW, _OLD = "names", "new", "old"
"""The kinds of rows: the names of players, the events of one command, and merged events."""


class EventRows:
    """The stored events of a board as lines of text, and the stored names of its players.

    Attributes:
        names: the names, as one text; "" for none.
        count: the number of stored events.
    """

    def __init__(self, board: Any) -> None:
        self._key = f"{TYPE}-{board.id}"
        self.names = ""
        self.count = 0
        self._new = 0

    def __bool__(self) -> bool:
        """Whether anything is stored."""
        return bool(self._rows().exists())

    def read(self) -> list[str]:
        """Load the names and events; return the events in order."""
        rows = self._rows().order_by("pk").values_list("db_category", "db_strvalue")
        kept = [(kind, text or "") for kind, text in rows]
        self.names = next((text for kind, text in kept if kind == _NAMES), "")
        lines = [line for kind, text in kept if kind != _NAMES for line in text.split("\n")]
        self.count = len(lines)
        self._new = sum(kind == _NEW for kind, _ in kept)
        return lines

    def add(self, names: str, lines: Sequence[str]) -> None:
        """Store further events and the current names, in one transaction."""
        new = self._new
        with atomic():
            if names != self.names and not self._rows(_NAMES).update(db_strvalue=names):
                self._write(_NAMES, names)
            if lines:
                new = self._merge_new_rows() if new >= MOST else new
                self._write(_NEW, "\n".join(lines))
                new += 1
        self.names, self.count, self._new = names, self.count + len(lines), new

    def remove(self) -> None:
        """Delete everything."""
        self._rows().delete()

    def _rows(self, *kinds: str) -> QuerySet[Any]:
        rows = Attribute.objects.filter(db_key=self._key, db_attrtype=TYPE)
        return rows.filter(db_category__in=kinds) if kinds else rows

    def _write(self, kind: str, text: str) -> None:
        row = Attribute(
            db_key=self._key,
            db_category=kind,
            db_model="objectdb",
            db_attrtype=TYPE,
            db_strvalue=text,
        )
        row.save()
        row.flush_from_cache(force=True)  # Evennia would cache the row forever

    def _merge_new_rows(self) -> int:
        """Merge all new rows into one old row; return the number of new rows left, 0."""
        rows = self._rows(_NEW)
        texts = list(rows.order_by("pk").values_list("db_strvalue", flat=True))
        rows.delete()
        self._write(_OLD, "\n".join(texts))
        return 0


_LOCATION = "db_location"


def connect() -> None:
    """Connect to Evennia's signals. Idempotent."""
    post_save.connect(_saved, dispatch_uid="thudmud-moved")
    SIGNAL_OBJECT_POST_PUPPET.connect(_puppeted, dispatch_uid="thudmud-puppeted")
    SIGNAL_OBJECT_POST_UNPUPPET.connect(_puppeted, dispatch_uid="thudmud-unpuppeted")


def _saved(instance: Any, update_fields: Any = None, **_: Any) -> None:
    if update_fields and _LOCATION in update_fields and isinstance(instance, ObjectDB):
        _notice(instance)


def _puppeted(sender: Any, **_: Any) -> None:
    _notice(sender)


def _notice(character: Any) -> None:
    """Let the boards that know a character update their lists of present characters."""
    for board in list(LOADED.values()):
        try:
            if board.pk is not None and board.is_in_use and board.host.knows(character):
                delay(0, board.look_around)
        except Exception:  # noqa: BLE001  (an error in a board must not keep the character from being saved)
            logger.log_trace(
                f"Board #{board.pk} could not handle the arrival or departure of {character}."
            )


UNREAD = "thud_unread"
"""The Attribute with the stored names and events of a board that could not be read."""

KEY = "board"
"""The key of the board in its house, which has only one."""

USED = "thud_used"
"""The NAttribute of a character with the id of the board that they used last."""

PAUSE = 1.0
"""The usual time before a bot's ply, in seconds, so that people can follow."""

_COUNTS = ("quiet_plies", "seat_grace", "idle_claim", "replay_pause")
"""The numeric settings."""

LOADED: WeakValueDictionary[int, ThudBoard] = WeakValueDictionary()
"""The boards in memory, by their ids."""


class ThudBoard(DefaultObject):  # type: ignore[misc]  # Evennia has no types
    """A Thud board, as a piece of furniture for a room.

    An Attribute overrides the setting of the same name for one object, if it is set before the
    board is first used.
    """

    rules = DEFAULT_RULES.name
    """The board's ruleset. Players may choose another one for a match."""

    quiet_plies = 200
    """The plies without a capture after which one player may end a battle; 0 for never."""

    seat_grace = 300.0
    """The seconds of absence after which a player's opponent need not wait any longer."""

    idle_claim = 600.0
    """The seconds without a ply after which an untimed battle may be claimed; 0 for never."""

    replay_pause = 2.0
    """The seconds between the plies of a replay."""

    bot = "Grog"
    """The name of the bot that players can invite; "" for none."""

    bot_level = "Granite"
    """The bot's default level."""

    # Evennia's hooks.

    def at_object_creation(self) -> None:
        """Add the command set, and forbid picking the board up."""
        self.cmdset.add_default("thudmud.evennia.commands.BoardCmdSet", persistent=True)
        self.locks.add("get:false()")
        LOADED[self.id] = self

    def at_init(self) -> None:
        """Register the board for notifications about characters that come and go."""
        super().at_init()
        if self.id:
            LOADED[self.id] = self

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Update the present characters: those at the new location."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.is_in_use:
            self.look_around()

    def at_object_delete(self) -> bool:
        """Notify the board's players, and delete the stored events."""
        if not super().at_object_delete():
            return False
        self.look_around()
        for character in self._recipients():
            name = self.name_in_text
            sentence = f"The {name} is taken away, and the games on it with it."
            send(character, Message((), sentence))
        LOADED.pop(self.id, None)
        EventRows(self).remove()
        self.ndb.thud_host, self.ndb.thud_used = None, False
        return True

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """Draw the board by the looker's options."""
        if not looker:
            return ""
        heading = f"|c{self.get_display_name(looker, **kwargs)}|n"
        problems = self._problems() if self.access(looker, "examine") else []  # builders may
        notes = [escaped(note, first_session(looker)) for note in problems]
        parts = [heading, self.db.desc, self._drawing_for(looker), *notes]
        return "\n".join(part for part in parts if part)

    # Used by the commands and signals.

    @property
    def name_in_text(self) -> str:
        """The name of the board, without Evennia's colour markup."""
        return " ".join(strip_ansi(self.key).split()) or "board"

    @property
    def names(self) -> list[str]:
        """The name and aliases of the board."""
        return [self.name_in_text, *self.aliases.all()]

    @property
    def is_in_use(self) -> bool:
        """Whether anybody has ever used the board."""
        if self.ndb.thud_used is None:
            self.ndb.thud_used = bool(EventRows(self))
        return bool(self.ndb.thud_used)

    @property
    def host(self) -> BoardHost:
        """The host of the board, loaded from the stored events on first use.

        A new one replaces the host if the board was renamed, or its settings changed before the
        first ply.
        """
        host: BoardHost | None = self.ndb.thud_host
        if host is None or self._has_new_settings(host):
            host = self.ndb.thud_host = self._load_host()
        elif host.table.name != self.name_in_text:
            now = time.time()
            before, host = host, self._load_host(now)  # so that clocks run on
            host.take_over(before, now)
            self.ndb.thud_host = host
        return host

    def look_around(self) -> None:
        """Update the present characters, and send the resulting messages."""
        if self.pk is None:
            return
        host = self.host
        self._store_and_send(host, host.set_present(self._present(), time.time()))

    def obey(self, character: Any, command: Command) -> None:
        """Carry out a present character's command, and send the resulting messages.

        A command that needs advice is carried out once the advice is there.
        """
        self.look_around()
        host = self.host
        if command.asks_adviser:
            sought = host.lookup_needed(character, command, time.time())
            if sought is not None:
                self._request_advice(character, command, sought)
                return
        self._store_and_send(host, host.obey(character, command, time.time()))
        self._play_later(character)

    def facts(self, character: Any, line: str | None) -> list[Message]:
        """Return facts for a character's client program.

        Args:
            character: the character.
            line: the program's query; None for the complete state.
        """
        self.look_around()
        return self.host.facts(character, line, time.time())

    # Internals.

    def _store_and_send(self, host: BoardHost, messages: Iterable[Message]) -> None:
        """Store new events, then send messages, and schedule bots' plies and deadlines."""
        self._store_events(host)
        for character, message in host.address_messages(messages):
            send(character, message)
        asked = self.ndb.thud_asked = self.ndb.thud_asked or set()
        for turn in host.house.bot_turns:
            if turn not in asked:  # a turn is listed until the bot has played
                asked.add(turn)
                task = turn.task
                question = Question(str(self.id), task.game, task.level, seed=task.battle)
                ask_worker(question, partial(self._schedule_bot_ply, turn))
        due = host.house.due
        if due is not None and due != self.ndb.thud_due:
            self.ndb.thud_due = due
            delay(max(0.0, due - time.time()) + _SLACK, self._pass_time, due)

    def _schedule_bot_ply(self, turn: BotTurn, reply: Reply | None) -> None:
        """Schedule a bot's reply, after the pause in which people see the ply before."""
        if self.pk is None:
            return
        due = turn.task.since + self.host.house.pause_before_bot(turn, PAUSE)
        delay(max(0.0, due - time.time()), self._play_bot, turn, reply)

    def _play_bot(self, turn: BotTurn, reply: Reply | None) -> None:
        if self.pk is None:
            return
        self.look_around()
        self.ndb.thud_asked.discard(turn)
        host, now = self.host, time.time()
        if reply:  # otherwise the worker has failed, and the bot resigns
            told = host.house.play_bot(turn, reply.ply, now, reply.score)
        else:
            told = host.house.obey(turn.bot, Resign(turn.task.board), now)
        self._store_and_send(host, told)

    def _request_advice(self, character: Any, command: Command, sought: AdviserLookup[Any]) -> None:
        """Request the advice that a command needs, and carry out the command afterwards.

        A character waits for one answer of a kind at a time; further requests are ignored.
        """
        if text := self.host.waiting_message(terminal(character.sessions.all()), sought):
            send(character, Message((), text))
        waiting = self.ndb.thud_waiting = self.ndb.thud_waiting or set()
        if (who := (character.id, type(sought))) not in waiting:
            waiting.add(who)
            ask_worker(sought, partial(self._obey_with_advice, character, command, sought))

    def _obey_with_advice(
        self,
        character: Any,
        command: Command,
        sought: AdviserLookup[Any],
        answer: Any,
    ) -> None:
        if self.pk is None:
            return
        self.ndb.thud_waiting = (self.ndb.thud_waiting or set()) - {(character.id, type(sought))}
        self.look_around()
        host = self.host
        host.advice.found = answer or {}  # decided again, the command finds its advice there
        self._store_and_send(host, host.obey(character, command, time.time()))
        host.advice.found = {}

    def _pass_time(self, due: float) -> None:
        """Handle the events due at ``due``, unless the next deadline has changed since."""
        if self.pk is not None and self.ndb.thud_due == due:
            self.ndb.thud_due = None
            self.look_around()
            host = self.host
            self._store_and_send(host, host.house.pass_time(time.time()))

    def _store_events(self, host: BoardHost) -> None:
        kept = self.ndb.thud_kept
        names = json.dumps(host.kept_names) if host.table.version else ""
        if names == kept.names and host.table.version == kept.count:
            return
        try:
            kept.add(names, host.house.events(kept.count))
        except Exception:
            # Events that can't be stored have not happened: reload from the stored ones.
            self.ndb.thud_host = None
            raise

    def _load_host(self, left: float | None = None) -> BoardHost:
        """Load a host from the stored events; begin anew if they can't be read.

        Args:
            left: the time until which clocks ran, as for `House`; None for the last event's time.
        """
        kept, advice = EventRows(self), FoundAdvice()
        lines = kept.read()
        try:
            names = json.loads(kept.names or "{}")
            known = {int(number): str(name) for number, name in names.items()}
            house = self._house(lines, advice, left)
        except (ThudmudError, TypeError, ValueError, LookupError, AttributeError) as error:
            logger.log_err(f"{self.name_in_text} #{self.id} starts anew: {error}")
            self.attributes.add(UNREAD, "\n".join([kept.names, *lines]))
            kept.remove()
            kept, known, house = EventRows(self), {}, self._house([], advice)
        self.ndb.thud_kept, self.ndb.thud_used = kept, True
        return BoardHost(house, str(self.id), known, advice)

    def _house(self, lines: Iterable[str], advice: FoundAdvice, left: float | None = None) -> House:
        spec = BoardSpec(self.name_in_text, self._rules(), key=KEY)
        grace = self._number("seat_grace")
        plies = int(self._number("quiet_plies"))
        idle = self._number("idle_claim")
        return House(
            [spec],
            plies,
            grace,
            lines,
            idle_limit=idle,
            replays_at_once=False,
            any_names=True,
            left=left,
            adviser=advice,
            without=LEFT_OUT,
            bots=self._bots(),
        )

    def _bots(self) -> dict[str, str]:
        name, level = (
            getattr(ThudBoard, key) if self._bot_problem(key) else self._setting(key)
            for key in ("bot", "bot_level")
        )
        return {name: find_level(str(level)).name} if name else {}

    def _bot_problem(self, key: str) -> str | None:
        """Return the problem with one of the bot's two settings; None if it is valid."""
        said = self._setting(key)
        try:
            if key == "bot_level":
                find_level(str(said))
            elif said != "" and (problem := player_problem(str(said))):
                return refusal_text(problem)
        except InvalidValueError as error:
            return str(error)
        return None

    def _rules(self) -> str:
        rules = self._setting("rules")
        return rules if _is_ruleset(rules) else ThudBoard.rules

    def _has_new_settings(self, host: BoardHost) -> bool:
        """Whether the rules or bot were changed before anything happened at the board."""
        if host.table.version:
            return False
        is_other = host.table.ruleset.name != self._rules()
        return is_other or host.bots != self._bots()

    def _number(self, name: str) -> float:
        number = self._setting(name)
        return float(number if _is_count(number) else getattr(ThudBoard, name))

    def _problems(self) -> list[str]:
        """Return the problems with the settings, as sentences for builders."""
        found = []
        rules = self._setting("rules")
        if not _is_ruleset(rules):
            names = join_words([f'"{name}"' for name in RULESETS], "or")
            found.append(f'"rules": expected {names}, got {rules!r}; using {self._rules()}.')
        problems = {name: self._bot_problem(name) for name in ("bot", "bot_level")}
        found += [f'"{name}": {problem}' for name, problem in problems.items() if problem]
        for name in _COUNTS:
            number = self._setting(name)
            if not _is_count(number):
                kept = getattr(ThudBoard, name)
                found.append(f'"{name}": expected 0 or more, got {number!r}; using {kept:g}.')
        return found

    def _setting(self, name: str) -> Any:
        """Return a setting: the value of the Attribute, or else of the class."""
        return self.attributes.get(name, default=getattr(self, name))

    def _present(self) -> dict[int, Any]:
        """Return the connected characters in the room, by their ids."""
        if self.location is None:
            return {}
        here = self.location.contents_get(exclude=self)
        return {each.id: each for each in here if each.sessions.count()}

    def _recipients(self) -> list[Any]:
        """Return all present characters, and all with a seat, wherever they are."""
        present = self._present()
        seated = [number for number in self.host.names if self.host.has_seat(number)]
        away = ObjectDB.objects.filter(id__in=[each for each in seated if each not in present])
        return [*present.values(), *away]

    def _drawing_for(self, looker: Any) -> str:
        session = first_session(looker)
        if looker.id not in self._present():
            return escaped(
                self.host.draw_for_absent(terminal([session] if session else [])), session
            )
        self.look_around()
        looker.nattributes.add(USED, self.id)
        host = self.host
        messages = list(host.address_messages(host.obey(looker, ViewGame(), time.time())))
        for _, message in messages:
            if message.package:
                send(looker, message)
        texts = [message.text for _, message in messages if not message.package]
        return escaped("\n".join(texts), session)

    def _play_later(self, character: Any) -> None:
        person = self.host.person(character)
        if person and self.host.house.is_replaying(person.name):
            delay(self._number("replay_pause"), self._play_on, character)

    def _play_on(self, character: Any) -> None:
        """Show a character the next ply of a replay, and schedule the following one."""
        if self.pk is None:
            return
        self.look_around()
        host = self.host
        person = host.person(character)
        if person:
            self._store_and_send(host, host.house.next_replay_messages(person.name))
            self._play_later(character)


def _is_ruleset(value: object) -> bool:
    return isinstance(value, str) and value in RULESETS


def _is_count(value: object) -> bool:
    return type(value) in {int, float} and value >= 0  # type: ignore[operator]  # true is none


connect()
