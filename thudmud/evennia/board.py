"""A Thud board as an object of Evennia: its Attributes, hooks and events, and who is about it.

Events are Attributes, since a MUD has no other place that need not be set up first, but of a type
of their own: whoever examines a board is not shown them, and whoever copies one has a new board.
Nobody is told what has not been stored.

Boards look who is about once Evennia is done with what it is doing. One that fails stops nobody.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
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

from thudmud.errors import ThudmudError
from thudmud.evennia.host import BoardHost, BoardHouse, escaped, first_session, send, terminal
from thudmud.play.commands import Command, ViewGame
from thudmud.play.table import BoardSpec
from thudmud.rules import DEFAULT_RULES, RULESETS
from thudmud.views import Message

TYPE = "thud"
"""What tells these rows from Attributes and nicks."""

MOST = 100
"""How many rows there are before they are made one, which takes less room and is read sooner."""

_NAMES, _NEW, _OLD = "names", "new", "old"
"""The kinds of rows: what is known of players; what was stored at once; and many of these."""


class KeptEvents:
    """The events of a board, as lines of text, and what is known of those who play there.

    Args:
        board: the object.

    Attributes:
        names: what is kept as known of the players; "" if nothing is.
        count: how many events are kept.
    """

    def __init__(self, board: Any) -> None:
        self._board = board
        self.names = ""
        self.count = 0
        self._new = 0

    def __bool__(self) -> bool:
        """Whether anything is kept."""
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
        """Keep what has happened besides, and what is known of the players now: all or nothing."""
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
        """Keep nothing any more."""
        self._rows().delete()

    def _rows(self, *kinds: str) -> QuerySet[Any]:
        rows = self._board.db_attributes.filter(db_attrtype=TYPE)
        return rows.filter(db_category__in=kinds) if kinds else rows

    def _write(self, kind: str, text: str) -> None:
        row = Attribute(
            db_key=TYPE,
            db_category=kind,
            db_model="objectdb",
            db_attrtype=TYPE,
            db_strvalue=text,
        )
        row.save()
        self._board.db_attributes.add(row)
        row.flush_from_cache(force=True)  # Evennia would keep it in memory for good

    def _make_one(self) -> int:
        """Make one row of those that are new; return how many there are then."""
        rows = self._rows(_NEW)
        texts = list(rows.order_by("pk").values_list("db_strvalue", flat=True))
        rows.delete()
        self._write(_OLD, "\n".join(texts))
        return 0


_LOCATION = "db_location"


def connect() -> None:
    """Follow the signals from now on; doing so twice is doing so once."""
    post_save.connect(_saved, dispatch_uid="thudmud-moved")
    SIGNAL_OBJECT_POST_PUPPET.connect(_puppeted, dispatch_uid="thudmud-puppeted")
    SIGNAL_OBJECT_POST_UNPUPPET.connect(_puppeted, dispatch_uid="thudmud-unpuppeted")


def _saved(instance: Any, update_fields: Any = None, **_: Any) -> None:
    if update_fields and _LOCATION in update_fields and isinstance(instance, ObjectDB):
        _notice(instance)


def _puppeted(sender: Any, **_: Any) -> None:
    _notice(sender)


def _notice(character: Any) -> None:
    """Have those boards look who is about to which somebody matters."""
    for board in list(LOADED.values()):
        try:
            if board.pk is not None and board.in_use and board.host.knows(character):
                delay(0, board.meet)
        except Exception:  # noqa: BLE001  (whatever is wrong with a board, others go on saving)
            logger.log_trace(f"Board #{board.pk} took no notice of {character}.")


UNREAD = "thud_unread"
"""The Attribute in which is set aside what was kept of a board and cannot be read."""

KEY = "board"
"""What the events of any board are stored under: each has a house of its own."""

USED = "thud_used"
"""What is noted of a character while the MUD runs: the id of the board that they used last."""

LOADED: WeakValueDictionary[int, ThudBoard] = WeakValueDictionary()
"""The boards that are in memory, by their ids."""


class ThudBoard(DefaultObject):  # type: ignore[misc]  # Evennia has no types
    """A board to play Thud on: a piece of furniture, for a room.

    What the class says can be said of one object by an Attribute of the same name, before anybody
    uses it.
    """

    rules = DEFAULT_RULES.name
    """The board's own ruleset: players may choose another for a match."""

    quiet_plies = 200
    """After how many plies without a capture one player may end a battle alone; 0 for never."""

    seat_grace = 300.0
    """How many seconds a player may be away before the other need not wait."""

    replay_pause = 2.0
    """How many seconds there are between the plies that "play" shows."""

    # Hooks of Evennia.

    def at_object_creation(self) -> None:
        """Give the board its commands, and let nobody carry it away."""
        self.cmdset.add_default("thudmud.evennia.commands.BoardCmdSet", persistent=True)
        self.locks.add("get:false()")
        LOADED[self.id] = self

    def at_init(self) -> None:
        """Take note that the board is in memory, so that it learns who comes and goes."""
        super().at_init()
        if self.id:
            LOADED[self.id] = self

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Leave those behind who are no longer about."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.in_use:
            self.meet()

    def at_object_delete(self) -> bool:
        """Tell those who play here that it is over."""
        if not super().at_object_delete():
            return False
        self.meet()
        for character in self._concerned():
            name = self.name_in_text
            sentence = f"The {name} is taken away, and so is what was played on it."
            send(character, Message((), sentence))
        LOADED.pop(self.id, None)
        KeptEvents(self).remove()
        self.ndb.thud_host, self.ndb.thud_used = None, False
        return True

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """Return the board as it stands, as somebody is shown it."""
        if not looker:
            return ""
        heading = f"|c{self.get_display_name(looker, **kwargs)}|n"
        parts = [heading, self.db.desc, self._seen_by(looker)]
        return "\n".join(part for part in parts if part)

    # What our commands and signals ask for.

    @property
    def name_in_text(self) -> str:
        """What the board is called, without Evennia's colours."""
        return " ".join(strip_ansi(self.key).split()) or "board"

    @property
    def names(self) -> list[str]:
        """All that the board is called."""
        return [self.name_in_text, *self.aliases.all()]

    @property
    def in_use(self) -> bool:
        """Whether anything has ever been done here."""
        if self.ndb.thud_used is None:
            self.ndb.thud_used = bool(KeptEvents(self))
        return bool(self.ndb.thud_used)

    @property
    def host(self) -> BoardHost:
        """What lets those about the board play on it."""
        host: BoardHost | None = self.ndb.thud_host
        if host is None or self._is_set_anew(host):
            host = self.ndb.thud_host = self._opened()
        elif host.table.name != self.name_in_text:
            before, host = host, self._opened()
            host.follow(before, time.time())
            self.ndb.thud_host = host
        return host

    def meet(self) -> None:
        """Take note of who is about now, and tell them what comes of that."""
        if self.pk is None:
            return
        host = self.host
        self._settle(host, host.meet(self._about(), time.time()))

    def obey(self, character: Any, command: Command) -> None:
        """Do what somebody who is about asks for, and tell everybody."""
        self.meet()
        host = self.host
        self._settle(host, host.obey(character, command, time.time()))
        self._play_later(character)

    def heed(self, character: Any) -> None:
        """Show things to somebody as they have chosen at another board."""
        self.host.heed(character)

    # How that is done.

    def _settle(self, host: BoardHost, messages: Iterable[Message]) -> None:
        """Keep what has happened, then tell it."""
        self._keep(host)
        for character, message in host.addressed(messages):
            send(character, message)

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

    def _opened(self) -> BoardHost:
        """Return a host of the board, with what was kept of it."""
        kept = KeptEvents(self)
        lines = kept.read()
        try:
            names = json.loads(kept.names or "{}")
            known = {int(number): str(name) for number, name in names.items()}
            house = self._house(lines)
        except (ThudmudError, TypeError, ValueError, LookupError, AttributeError) as error:
            logger.log_err(f"{self.name_in_text} #{self.id} begins anew: {error}")
            self.attributes.add(UNREAD, "\n".join([kept.names, *lines]))
            kept.remove()
            kept, known, house = KeptEvents(self), {}, self._house([])
        self.ndb.thud_kept, self.ndb.thud_used = kept, True
        return BoardHost(house, str(self.id), known)

    def _house(self, lines: Iterable[str]) -> BoardHouse:
        spec = BoardSpec(self.name_in_text, self._rules(), key=KEY)
        grace = self._number("seat_grace")
        plies = int(self._number("quiet_plies"))
        return BoardHouse([spec], plies, grace, lines, replays_at_once=False)

    def _rules(self) -> str:
        rules = self._said("rules")
        if rules in RULESETS:
            return str(rules)
        logger.log_err(f"{self.name_in_text} #{self.id}: there are no {rules!r} rules")
        return ThudBoard.rules

    def _is_set_anew(self, host: BoardHost) -> bool:
        """Whether a builder has chosen other rules for a board that nobody has used."""
        table = host.table
        return not table.version and table.ruleset.name != self._rules()

    def _number(self, name: str) -> float:
        number = self._said(name)
        if isinstance(number, int | float) and number >= 0:
            return float(number)
        logger.log_err(f"{self.name_in_text} #{self.id}: {name} cannot be {number!r}")
        return float(getattr(ThudBoard, name))

    def _said(self, name: str) -> Any:
        """Return what an Attribute says, or else the class."""
        return self.attributes.get(name, default=getattr(self, name))

    def _about(self) -> dict[int, Any]:
        """Return the characters at the board that somebody plays, by their ids."""
        if self.location is None:
            return {}
        about = self.location.contents_get(exclude=self)
        return {each.id: each for each in about if each.sessions.count()}

    def _concerned(self) -> list[Any]:
        """Return those who are about, and those who have a seat, wherever they are."""
        about = self._about()
        seated = [number for number in self.host.names if self.host.sits(number)]
        away = ObjectDB.objects.filter(id__in=[each for each in seated if each not in about])
        return [*about.values(), *away]

    def _seen_by(self, looker: Any) -> str:
        session = first_session(looker)
        if looker.id not in self._about():
            return escaped(
                self.host.seen_from_afar(terminal([session] if session else [])), session
            )
        self.meet()
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
        if person and self.host.house.is_playing(person.name):
            delay(self._number("replay_pause"), self._play_on, character)

    def _play_on(self, character: Any) -> None:
        """Show somebody the next ply of a replay."""
        if self.pk is None:
            return
        self.meet()
        host = self.host
        person = host.person(character)
        if person:
            self._settle(host, host.house.play_on(person.name))
            self._play_later(character)
