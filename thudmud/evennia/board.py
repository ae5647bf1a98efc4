"""A Thud board as an object of Evennia: its hooks, its Attributes, and how its events are stored.

Events are stored as Attributes, because any other table would have to be set up first. They
have a key of their own and no link to the object: to examine a board does not show them, and a copy
of a board is a new board.
Nobody is told what has not been stored.

A board looks who is present once Evennia has done what it is doing: whatever goes wrong with a
board, characters come, go and are saved.
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
from thudmud.english import listed
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.evennia.host import LEFT_OUT, BoardHost, escaped, first_session, send, terminal
from thudmud.evennia.thinking import FoundAdvice, find_out
from thudmud.features.playing.moves import Resign
from thudmud.features.playing.queries import ViewGame
from thudmud.game.command import Command
from thudmud.game.evaluation import AdviserLookup
from thudmud.game.table import BoardSpec
from thudmud.house import BotTurn, House
from thudmud.language.parsing import player_problem
from thudmud.rules import DEFAULT_RULES, RULESETS
from thudmud.search.levels import level_called
from thudmud.views import Message
from thudmud.views.refusals import refused

TYPE = "thud"
"""The type of the rows, by which they differ from Attributes and nicks. Their key begins so."""

MOST = 100
"""How many new rows there may be. Then they become one, which is smaller and is read faster."""

_SLACK = 0.01
"""Seconds more until something is due, so that it is by then."""

_NAMES, _NEW, _OLD = "names", "new", "old"
"""The kinds of rows: the names of players; the events of one command; those of many."""


class KeptEvents:
    """The stored events of a board, as lines of text, and the names of its players.

    Attributes:
        names: the names, as a text; "" if there are none.
        count: how many events are stored.
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
        """Return the events, in their order."""
        rows = self._rows().order_by("pk").values_list("db_category", "db_strvalue")
        kept = [(kind, text or "") for kind, text in rows]
        self.names = next((text for kind, text in kept if kind == _NAMES), "")
        lines = [line for kind, text in kept if kind != _NAMES for line in text.split("\n")]
        self.count = len(lines)
        self._new = sum(kind == _NEW for kind, _ in kept)
        return lines

    def add(self, names: str, lines: Sequence[str]) -> None:
        """Store further events, and the names as they are now: all of it or nothing."""
        new = self._new
        with atomic():
            if names != self.names and not self._rows(_NAMES).update(db_strvalue=names):
                self._write(_NAMES, names)
            if lines:
                new = self._make_one() if new >= MOST else new
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
        row.flush_from_cache(force=True)  # Evennia would keep it in memory for good

    def _make_one(self) -> int:
        """Make one old row of all new ones; return how many new ones there are then."""
        rows = self._rows(_NEW)
        texts = list(rows.order_by("pk").values_list("db_strvalue", flat=True))
        rows.delete()
        self._write(_OLD, "\n".join(texts))
        return 0


_LOCATION = "db_location"


def connect() -> None:
    """Follow Evennia's signals. Doing so twice changes nothing."""
    post_save.connect(_saved, dispatch_uid="thudmud-moved")
    SIGNAL_OBJECT_POST_PUPPET.connect(_puppeted, dispatch_uid="thudmud-puppeted")
    SIGNAL_OBJECT_POST_UNPUPPET.connect(_puppeted, dispatch_uid="thudmud-unpuppeted")


def _saved(instance: Any, update_fields: Any = None, **_: Any) -> None:
    if update_fields and _LOCATION in update_fields and isinstance(instance, ObjectDB):
        _notice(instance)


def _puppeted(sender: Any, **_: Any) -> None:
    _notice(sender)


def _notice(character: Any) -> None:
    """Have the boards that know a character look who is present."""
    for board in list(LOADED.values()):
        try:
            if board.pk is not None and board.in_use and board.host.knows(character):
                delay(0, board.look_around)
        except Exception:  # noqa: BLE001  (whatever is wrong with a board, the character is saved)
            logger.log_trace(f"Board #{board.pk} did not notice {character}.")


UNREAD = "thud_unread"
"""The Attribute that holds what was stored of a board and could not be read."""

KEY = "board"
"""The key of the board in its house, which has no other."""

USED = "thud_used"
"""The NAttribute of a character that holds the id of the board that they used last."""

PAUSE = 1.0
"""After how many seconds a bot plays at the earliest, so that people can follow."""

_COUNTS = ("quiet_plies", "seat_grace", "idle_claim", "replay_pause")
"""The settings that are numbers."""

LOADED: WeakValueDictionary[int, ThudBoard] = WeakValueDictionary()
"""The boards that are in memory, by their ids."""


class ThudBoard(DefaultObject):  # type: ignore[misc]  # Evennia has no types
    """A board to play Thud on: a piece of furniture, for a room.

    An Attribute of the same name changes one of the settings below for one object, if it is set
    before anybody uses the board.
    """

    rules = DEFAULT_RULES.name
    """The ruleset of the board. Players may choose another for a match."""

    quiet_plies = 200
    """After how many plies without a capture one player may end a battle alone; 0 for never."""

    seat_grace = 300.0
    """How many seconds a player may be away before the other need not wait."""

    idle_claim = 600.0
    """How many seconds a player may take for a ply without a clock before the other may claim the
    battle; 0 for any time."""

    replay_pause = 2.0
    """How many seconds pass between the plies of a replay."""

    bot = "Grog"
    """The name of the bot that players can invite; "" for none."""

    bot_level = "Granite"
    """The level at which it plays if it is asked for no other."""

    # Hooks of Evennia.

    def at_object_creation(self) -> None:
        """Give the board its commands, and let nobody carry it away."""
        self.cmdset.add_default("thudmud.evennia.commands.BoardCmdSet", persistent=True)
        self.locks.add("get:false()")
        LOADED[self.id] = self

    def at_init(self) -> None:
        """Put the board among those that notice who comes and goes."""
        super().at_init()
        if self.id:
            LOADED[self.id] = self

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Take note of who is present where the board is now."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.in_use:
            self.look_around()

    def at_object_delete(self) -> bool:
        """Tell those who play here that it is over."""
        if not super().at_object_delete():
            return False
        self.look_around()
        for character in self._concerned():
            name = self.name_in_text
            sentence = f"The {name} is taken away, and so is what was played on it."
            send(character, Message((), sentence))
        LOADED.pop(self.id, None)
        KeptEvents(self).remove()
        self.ndb.thud_host, self.ndb.thud_used = None, False
        return True

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """Return the board as it stands, as the looker wants to see it."""
        if not looker:
            return ""
        heading = f"|c{self.get_display_name(looker, **kwargs)}|n"
        problems = self._problems() if self.access(looker, "examine") else []  # builders may
        notes = [escaped(note, first_session(looker)) for note in problems]
        parts = [heading, self.db.desc, self._seen_by(looker), *notes]
        return "\n".join(part for part in parts if part)

    # What the commands and the signals use.

    @property
    def name_in_text(self) -> str:
        """What the board is called, without Evennia's colours."""
        return " ".join(strip_ansi(self.key).split()) or "board"

    @property
    def names(self) -> list[str]:
        """All names of the board."""
        return [self.name_in_text, *self.aliases.all()]

    @property
    def in_use(self) -> bool:
        """Whether anybody has ever used the board."""
        if self.ndb.thud_used is None:
            self.ndb.thud_used = bool(KeptEvents(self))
        return bool(self.ndb.thud_used)

    @property
    def host(self) -> BoardHost:
        """What lets characters play on the board."""
        host: BoardHost | None = self.ndb.thud_host
        if host is None or self._is_set_anew(host):
            host = self.ndb.thud_host = self._opened()
        elif host.table.name != self.name_in_text:
            now = time.time()
            before, host = host, self._opened(now)  # clocks run on
            host.take_over(before, now)
            self.ndb.thud_host = host
        return host

    def look_around(self) -> None:
        """Take note of who is present now, and tell them what comes of that."""
        if self.pk is None:
            return
        host = self.host
        self._keep_and_tell(host, host.set_present(self._present(), time.time()))

    def obey(self, character: Any, command: Command) -> None:
        """Do what a character who is present asks for, and tell everybody."""
        self.look_around()
        host = self.host
        if command.asks_adviser:
            sought = host.to_find_out(character, command, time.time())
            if sought is not None:
                self._seek(character, command, sought)
                return
        self._keep_and_tell(host, host.obey(character, command, time.time()))
        self._play_later(character)

    def facts(self, character: Any, line: str | None) -> list[Message]:
        """Return what a program of a character asks for, or how all stands if the line is None."""
        self.look_around()
        return self.host.facts(character, line, time.time())

    # How that is done.

    def _keep_and_tell(self, host: BoardHost, messages: Iterable[Message]) -> None:
        """Store what has happened, then tell it."""
        self._keep(host)
        for character, message in host.addressed(messages):
            send(character, message)
        asked = self.ndb.thud_asked = self.ndb.thud_asked or set()
        for turn in host.house.bot_turns:
            if turn not in asked:
                asked.add(turn)
                task = turn.task
                question = Question(str(self.id), task.game, task.level, seed=task.battle)
                find_out(question, partial(self._choose, turn))
        due = host.house.due
        if due is not None and due != self.ndb.thud_due:
            self.ndb.thud_due = due
            delay(max(0.0, due - time.time()) + _SLACK, self._pass_time, due)

    def _choose(self, turn: BotTurn, reply: Reply | None) -> None:
        """Let a bot play what was found, once people have seen what was played before."""
        pause = turn.task.since + PAUSE - time.time()
        delay(max(0.0, pause), self._play_bot, turn, reply)

    def _play_bot(self, turn: BotTurn, reply: Reply | None) -> None:
        if self.pk is None:
            return
        self.look_around()
        self.ndb.thud_asked.discard(turn)
        host, now = self.host, time.time()
        if reply:
            told = host.house.play_bot(turn, reply.ply, now, reply.worth)
        else:
            told = host.house.obey(turn.bot, Resign(turn.task.board), now)
        self._keep_and_tell(host, told)

    def _seek(self, character: Any, command: Command, sought: AdviserLookup[Any]) -> None:
        """Have found out what a character asks for, one thing at a time, and then tell it."""
        if text := self.host.put_off(terminal(character.sessions.all()), sought):
            send(character, Message((), text))
        waiting = self.ndb.thud_waiting = self.ndb.thud_waiting or set()
        if (who := (character.id, type(sought))) not in waiting:
            waiting.add(who)
            find_out(sought, partial(self._found, character, command, sought))

    def _found(
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
        host.advice.found = answer or {}
        self._keep_and_tell(host, host.obey(character, command, time.time()))
        host.advice.found = {}

    def _pass_time(self, due: float) -> None:
        """See to what is due at a time, unless something else has come to be since."""
        if self.pk is not None and self.ndb.thud_due == due:
            self.ndb.thud_due = None
            self.look_around()
            host = self.host
            self._keep_and_tell(host, host.house.pass_time(time.time()))

    def _keep(self, host: BoardHost) -> None:
        kept = self.ndb.thud_kept
        names = json.dumps(host.kept_names) if host.table.version else ""
        if names == kept.names and host.table.version == kept.count:
            return
        try:
            kept.add(names, host.house.events(kept.count))
        except Exception:
            # What cannot be stored has not happened: go on from what is.
            self.ndb.thud_host = None
            raise

    def _opened(self, left: float | None = None) -> BoardHost:
        """Return a host of the board as it was stored, where people could play until then."""
        kept, advice = KeptEvents(self), FoundAdvice()
        lines = kept.read()
        try:
            names = json.loads(kept.names or "{}")
            known = {int(number): str(name) for number, name in names.items()}
            house = self._house(lines, advice, left)
        except (ThudmudError, TypeError, ValueError, LookupError, AttributeError) as error:
            logger.log_err(f"{self.name_in_text} #{self.id} begins anew: {error}")
            self.attributes.add(UNREAD, "\n".join([kept.names, *lines]))
            kept.remove()
            kept, known, house = KeptEvents(self), {}, self._house([], advice)
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
        return {name: level_called(str(level)).name} if name else {}

    def _bot_problem(self, key: str) -> str | None:
        """Return why one of the two settings of the bot cannot be, if so."""
        said = self._setting(key)
        try:
            if key == "bot_level":
                level_called(str(said))
            elif said != "" and (problem := player_problem(str(said))):
                return refused(problem)
        except InvalidValueError as error:
            return str(error)
        return None

    def _rules(self) -> str:
        rules = self._setting("rules")
        return rules if _is_ruleset(rules) else ThudBoard.rules

    def _is_set_anew(self, host: BoardHost) -> bool:
        """Whether a builder has chosen other rules, and nobody has played yet."""
        if host.table.version:
            return False
        is_other = host.table.ruleset.name != self._rules()
        return is_other or host.bots != self._bots()

    def _number(self, name: str) -> float:
        number = self._setting(name)
        return float(number if _is_count(number) else getattr(ThudBoard, name))

    def _problems(self) -> list[str]:
        """Return what is wrong with the settings, as sentences for builders."""
        found = []
        rules = self._setting("rules")
        if not _is_ruleset(rules):
            names = listed([f'"{name}"' for name in RULESETS], "or")
            found.append(f'"rules" should be {names}, not {rules!r}; it is {self._rules()} now.')
        problems = {name: self._bot_problem(name) for name in ("bot", "bot_level")}
        found += [f'"{name}": {problem}' for name, problem in problems.items() if problem]
        for name in _COUNTS:
            number = self._setting(name)
            if not _is_count(number):
                kept = getattr(ThudBoard, name)
                found.append(f'"{name}" should be 0 or more, not {number!r}; it is {kept:g} now.')
        return found

    def _setting(self, name: str) -> Any:
        """Return a setting: the Attribute's value, or else the class's."""
        return self.attributes.get(name, default=getattr(self, name))

    def _present(self) -> dict[int, Any]:
        """Return the characters in the room that are connected, by their ids."""
        if self.location is None:
            return {}
        here = self.location.contents_get(exclude=self)
        return {each.id: each for each in here if each.sessions.count()}

    def _concerned(self) -> list[Any]:
        """Return the characters who are present, and those who have a seat, wherever they are."""
        present = self._present()
        seated = [number for number in self.host.names if self.host.sits(number)]
        away = ObjectDB.objects.filter(id__in=[each for each in seated if each not in present])
        return [*present.values(), *away]

    def _seen_by(self, looker: Any) -> str:
        session = first_session(looker)
        if looker.id not in self._present():
            return escaped(
                self.host.seen_from_afar(terminal([session] if session else [])), session
            )
        self.look_around()
        looker.nattributes.add(USED, self.id)
        host = self.host
        messages = list(host.addressed(host.obey(looker, ViewGame(), time.time())))
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
        """Show a character the next ply of a replay."""
        if self.pk is None:
            return
        self.look_around()
        host = self.host
        person = host.person(character)
        if person:
            self._keep_and_tell(host, host.house.play_on(person.name))
            self._play_later(character)


def _is_ruleset(value: object) -> bool:
    return isinstance(value, str) and value in RULESETS


def _is_count(value: object) -> bool:
    return type(value) in {int, float} and value >= 0  # type: ignore[operator]  # true is none


connect()
