"""Commands: frozen values that lines of text are parsed into, and that decide what they do.

Each decides in a `Scene`, which it does not change.

The commands themselves are in the features. ``@verb`` makes a class a command and names the grammar
rules by which it is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeVar

from thudmud.english import length
from thudmud.errors import InvalidValueError
from thudmud.game.archive import Found
from thudmud.game.asides import Aside, CameIn, WentOut, aside
from thudmud.game.hall import Decision, Hall, applies
from thudmud.game.people import Person
from thudmud.game.telling import Telling
from thudmud.values import Value, defaults_of

_TYPED: Mapping[str, Callable[[Any], str]] = {
    "level": "level {}".format,
    "on": "on {}".format,
    "opponent": "with {}".format,
    "page": "page {}".format,
    "rated": lambda _: "unrated",
    "seconds": lambda seconds: f"for {length(seconds)}",
    "sender": "from {}".format,
    "side": lambda side: f"as {side.value}",
    "turn": lambda side: f"turn {side.plural}",
    "why": "because {}".format,
}
"""How fields with these names are typed. All other fields are typed as they are."""


def _plainly(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)


class Command(Value):
    """What a line asks for.

    Its fields are the parts of its grammar rule, in order; parts left out of the line have the
    default. ``str()`` is its canonical form, which parses to an equal command.

    Attributes:
        words: the first words of the canonical form; by default the name of the rule.
        typed: the fields in the canonical form, in order; by default all.
        is_question: whether a player's program may ask it: it changes nothing, and its answer has
            facts.
        speaks: whether others read the player's own words. Muted players may not give it.
        asks_adviser: whether it may need an `AdviserLookup`.
        rate_limit: the name of a limit on how often players may give it, besides that on talk; ""
            for none.
    """

    words: ClassVar[str] = ""
    typed: ClassVar[tuple[str, ...]] = ()
    is_question: ClassVar[bool] = False
    speaks: ClassVar[bool] = False
    asks_adviser: ClassVar[bool] = False
    rate_limit: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.words}{self._typed(*self.typed or self.__struct_fields__)}"

    def _typed(self, *names: str) -> str:
        """Return some fields as they are typed, each after a blank, leaving out defaults."""
        defaults, text = defaults_of(type(self)), ""
        for name in names:
            value = getattr(self, name)
            if name not in defaults or value != defaults[name]:
                text += f" {_TYPED.get(name, _plainly)(value)}"
        return text

    def decide(self, scene: Scene) -> Decision:
        """Return the decision that carries it out. Nothing has changed yet.

        By default it is a question whose answer needs nothing looked up.

        Raises:
            Refused: a table or the hall does not allow it.
            IllegalMove: the rules of the game do not allow it.
            Unread: something has to be looked up first.
        """
        return scene.answer(self)

    def is_spoken(self) -> bool:
        """Whether others read the player's own words by it; see `speaks`."""
        return self.speaks

    def answered(self, person: Person, answer: Any) -> None:
        """Note what the answer changes for the player who asked, if anything."""


class Scene(NamedTuple):
    """What a command is decided from. Deciding changes nothing in it.

    Attributes:
        hall: the hall as it stands.
        person: the player who typed the command.
        now: the time, in seconds since the epoch.
        found: what has been looked up for this decision.
        me: the player's name.
    """

    hall: Hall
    person: Person
    now: float
    found: Found
    me: str

    def tell(self, *asides: Aside, **preferences: Any) -> Decision:
        """Return a decision that tells asides, and stores nothing but changed preferences."""
        return Decision(self.me, asides=asides, preferences=preferences)

    def answer(self, question: Command, board: str | None = None, answer: Any = None) -> Decision:
        """Return the decision that answers a question, with what was looked up for it."""
        return Decision(self.me, board, asides=(Asked(self.me, question, board, answer),))


@aside
class Asked(Aside):
    """A player asked a question. The answer is for them alone.

    ``answer`` is what was looked up for it: from the store, or from an adviser.
    """

    question: Command
    board: str | None = None
    answer: Any = None


@applies(Asked)
def _apply_asked(asked: Asked, hall: Hall) -> Telling:
    person = hall.people[asked.player]
    asked.question.answered(person, asked.answer)
    table = hall.board_seen(asked.player, asked.board) if asked.board else None
    return Telling(asked, (asked.player,), table)


def walk(person: Person, to: str | None, *, sits: bool = False) -> tuple[WentOut, CameIn]:
    """Return the asides of a player who walks to a room, perhaps to take a seat there."""
    return WentOut(person.name, person.room, to), CameIn(person.name, to, sits)


def put_aside(person: Person) -> tuple[Aside, ...]:
    """Return the aside of a player who leaves their private board; nothing if they have none."""
    return (person.private.left,) if person.private else ()


class PrivateCommand(Command):
    """A command about what only the player sees: a replay, or a private board."""


VERBS: dict[str, Callable[..., Command]] = {}
"""By the name of a grammar rule: what makes a command of its parts."""

COMMANDS: list[type[Command]] = []
"""All classes of commands."""


def has_verb(hall: Hall, rule: str) -> bool:
    """Whether players have a verb, by the name of its grammar rule, which is its first word."""
    return rule in VERBS and rule not in hall.left_out


def questions(hall: Hall) -> tuple[str, ...]:
    """Return how the lines begin that a player's program may ask."""
    begin = {each.words for each in COMMANDS if each.is_question}
    return tuple(sorted(each for each in begin if each.split()[0] not in hall.left_out))


class ValueTerminal(NamedTuple):
    """A terminal of the grammar that stands for a value, and that only one feature has.

    Attributes:
        read: makes the value of what was typed; raises InvalidValueError if it is none.
        mistake: the code for what does not look like one; None if there is no special one.
    """

    read: Callable[[str], Any] = str
    mistake: Enum | None = None


TERMINALS: dict[str, ValueTerminal] = {}
"""Those of features, by name."""

PARTS: dict[str, Callable[..., Any]] = {}
"""By the name of a rule that is a part of commands of one feature: what makes its value."""

CommandT = TypeVar("CommandT", bound=Command)


def verb(*rules: str, **makers: str) -> Callable[[type[CommandT]], type[CommandT]]:
    """Return a decorator that registers a class of commands with its grammar rules.

    Args:
        rules: grammar rules whose parts are the fields, in order.
        makers: other grammar rules, each with the class method that makes a command of its parts.

    Raises:
        InvalidValueError: one of the rules makes another command already.
    """

    def make(kind: type[CommandT]) -> type[CommandT]:
        if not kind.words:
            kind.words = next(iter((*rules, *makers))).replace("_", " ")
        known = dict.fromkeys(rules, kind) | {
            rule: getattr(kind, maker) for rule, maker in makers.items()
        }
        if twice := known.keys() & VERBS:
            raise InvalidValueError(f"more than one verb is made by {', '.join(twice)}")
        VERBS.update(known)
        COMMANDS.append(kind)
        return kind

    return make
