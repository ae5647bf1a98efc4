"""Commands: frozen values, parsed from a player's line, that compute their own decision.

A command reads the hall through a `CommandContext` and returns a `Decision`; deciding changes no
state. The concrete commands are defined in the features. The decorator ``@verb`` registers a
command class under the grammar rules that produce it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeVar

from thudmud.english import typed_duration
from thudmud.errors import InvalidValueError
from thudmud.game.archive import LookupResults
from thudmud.game.asides import Aside, CameIn, WentOut, aside
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Decision, Hall, applies
from thudmud.game.people import Person
from thudmud.values import Value, defaults_of

_TYPED: Mapping[str, Callable[[Any], str]] = {
    "level": "level {}".format,
    "on": "on {}".format,
    "opponent": "with {}".format,
    "page": "page {}".format,
    "rated": lambda is_rated: "rated" if is_rated else "unrated",
    "seconds": lambda seconds: f"for {typed_duration(seconds)}",
    "sender": "from {}".format,
    "side": lambda side: f"as {side.value}",
    "turn": lambda side: f"turn {side.plural}",
    "why": "because {}".format,
    "word": "by word {}".format,
}
"""Formatters for the canonical form, by field name. Other fields are written as plain text."""


def _plainly(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)


class Command(Value):
    """A parsed line: the request of one player.

    The fields are the parts of the grammar rule, in order; an omitted part has its default value.
    ``str()`` returns the canonical form, which parses to an equal command.

    Attributes:
        words: the first words of the canonical form; by default the name of the rule.
        typed: the fields in the canonical form, in order; by default all.
        is_question: whether client programs may send it as a query: it changes nothing, and its
            answer has facts.
        answers_in_words: whether client programs may ask for its answer in words, without facts.
        is_public: whether strangers' programs may send it as a query: its answer doesn't depend on
            the player who asks, but for what they have done.
        speaks: whether it shows the player's own words to others. Muted players can't use it.
        asks_adviser: whether it may need an `AdviserLookup`.
        rate_limit: the name of a rate limit that applies in addition to the limit on talk; "" for
            none.
    """

    words: ClassVar[str] = ""
    typed: ClassVar[tuple[str, ...]] = ()
    is_question: ClassVar[bool] = False
    answers_in_words: ClassVar[bool] = False
    is_public: ClassVar[bool] = False
    speaks: ClassVar[bool] = False
    asks_adviser: ClassVar[bool] = False
    rate_limit: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.words}{self._typed(*self.typed or self.__struct_fields__)}"

    def _typed(self, *names: str) -> str:
        """Format the named fields, each with a leading space; omit default values."""
        defaults, text = defaults_of(type(self)), ""
        for name in names:
            value = getattr(self, name)
            if name not in defaults or value != defaults[name]:
                text += f" {_TYPED.get(name, _plainly)(value)}"
        return text

    def decide(self, context: CommandContext) -> Decision:
        """Compute the decision that carries out the command, without changing any state.

        The default suits a question that needs no lookup.

        Raises:
            RefusedError: a table or the hall does not allow the command.
            IllegalMoveError: the rules of the game do not allow the move.
            LookupNeededError: a lookup has to be answered first.
        """
        return context.decide_answer(self)

    def is_spoken(self) -> bool:
        """Whether this command shows the player's own words to others; by default `speaks`."""
        return self.speaks

    def apply_answer(self, person: Person, answer: Any) -> None:
        """Update the state of the player who asked, if the answer changes any."""


class CommandContext(Value):
    """The read-only context in which a command is decided.

    Attributes:
        hall: the current state of the hall.
        person: the player who typed the command.
        now: the current time, in seconds since the epoch.
        found: the answers to lookups for this decision.
        me: the player's name.
    """

    hall: Hall
    person: Person
    now: float
    found: LookupResults
    me: str

    def decide_asides(self, *asides: Aside, **preferences: Any) -> Decision:
        """Build a decision that delivers asides and stores nothing except preferences."""
        return Decision(self.me, asides=asides, preferences=preferences)

    def decide_answer(
        self, question: Command, board: str | None = None, answer: Any = None
    ) -> Decision:
        """Build the decision that answers a question, given the result of its lookup."""
        return Decision(self.me, board, asides=(Asked(self.me, question, board, answer),))


@aside
class Asked(Aside):
    """A player asked a question; only that player receives the answer.

    ``answer`` is the result of the question's lookup, from the store or from an adviser.
    """

    question: Command
    board: str | None = None
    answer: Any = None


@applies(Asked)
def _apply_asked(asked: Asked, hall: Hall) -> Delivery:
    person = hall.people[asked.player]
    asked.question.apply_answer(person, asked.answer)
    table = hall.visible_table(asked.player, asked.board) if asked.board else None
    return Delivery(asked, (asked.player,), table)


def walk_asides(person: Person, to: str | None, *, sits: bool = False) -> tuple[WentOut, CameIn]:
    """Build the asides for a player's walk to a room; ``sits``: to take a seat there."""
    return WentOut(person.name, person.room, to), CameIn(person.name, to, sits)


def close_private_board(person: Person) -> tuple[Aside, ...]:
    """Build the aside that closes a player's private board; an empty tuple without one."""
    return (person.private.left,) if person.private else ()


class PrivateCommand(Command):
    """A command about a replay or a private board, which only the player sees."""


VERBS: dict[str, Callable[..., Command]] = {}
"""Factories of commands, by grammar rule; called with the parts of the rule."""

COMMANDS: list[type[Command]] = []
"""All registered command classes, in the order of registration."""


def has_verb(hall: Hall, rule: str) -> bool:
    """Whether a verb exists and is enabled; ``rule`` is both its grammar rule and first word."""
    return rule in VERBS and rule not in hall.left_out


def query_words(hall: Hall) -> tuple[str, ...]:
    """Return the first words of all enabled queries for client programs, sorted."""
    begin = {each.words for each in COMMANDS if each.is_question}
    return tuple(sorted(each for each in begin if each.split()[0] not in hall.left_out))


class ValueTerminal(NamedTuple):
    """A grammar terminal that stands for a value and belongs to a single feature.

    Attributes:
        read: converts the typed text to the value; raises InvalidValueError for invalid text.
        mistake: the error code for text that doesn't match; None for the general one.
    """

    read: Callable[[str], Any] = str
    mistake: Enum | None = None


TERMINALS: dict[str, ValueTerminal] = {}
"""The value terminals that features define, by name."""

PARTS: dict[str, Callable[..., Any]] = {}
"""Factories of values, by grammar rule, for rules that are parts of one feature's commands."""

CommandT = TypeVar("CommandT", bound=Command)


def verb(*rules: str, **makers: str) -> Callable[[type[CommandT]], type[CommandT]]:
    """Return a decorator that registers a command class under its grammar rules.

    Args:
        rules: grammar rules whose parts are the fields, in order.
        makers: other grammar rules, each with the name of the class method that builds the command
            from the rule's parts.

    Raises:
        InvalidValueError: one of the rules is registered already.
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
