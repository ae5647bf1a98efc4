"""What a command is: a frozen value that a line of text parses into, and that decides what it does.

The commands themselves are in `thudmud.verbs`, a module for each family. ``@verb`` makes a class
one, and says by which rules of the grammar it is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from thudmud.english import length
from thudmud.errors import InvalidValueError
from thudmud.values import value

if TYPE_CHECKING:
    from thudmud.play.hall import Decision, Hall
    from thudmud.play.people import Person
    from thudmud.play.scene import Scene


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
"""How fields of some names are typed; all others as they are."""


def _plainly(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)


@value
class Command:
    """What a line asks for.

    Its fields are what its rule of the grammar hands over, in this order; what the line leaves out
    is the default. ``str()`` of it is its canonical form, which parses back to an equal one.

    Attributes:
        words: the words that the canonical form begins with; by default the name of the rule.
        typed: the fields that the canonical form has, in its order; by default all of them.
        is_question: whether a player's program may ask it though nobody has typed it: it changes
            nothing, and its answer holds facts.
        is_choice: whether a member chooses something by asking, which is kept, see `chosen`.
        speaks: whether others will read the player's own words. Who is muted may not.
    """

    words: ClassVar[str] = ""
    typed: ClassVar[tuple[str, ...]] = ()
    is_question: ClassVar[bool] = False
    is_choice: ClassVar[bool] = False
    speaks: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"{self.words}{self._typed(*self.typed or self.__match_args__)}"

    def _typed(self, *names: str) -> str:
        """Return some fields as they are typed, each behind a blank; nothing of a default."""
        known, text = self.__dataclass_fields__, ""
        for name in names:
            value = getattr(self, name)
            if value != known[name].default:
                text += f" {_TYPED.get(name, _plainly)(value)}"
        return text

    def decide(self, scene: Scene) -> Decision:
        """Return what it brings about. Nothing has changed yet.

        By default it is a question, for which nothing has to be looked up.

        Raises:
            Refused: a table or the hall does not allow it.
            IllegalMove: the rules of the game do not allow it.
            Unread: something has to be looked up first.
        """
        return scene.answer(self)

    def chosen(self, hall: Hall, person: Person) -> Person:
        """Return whoever asked, a member, as they are to be kept once it is answered."""
        return person

    def answered(self, hall: Hall, person: Person, answer: Any) -> None:
        """Note what the answer to a question changes for whoever asked; mostly that is nothing."""


VERBS: dict[str, Callable[..., Command]] = {}
"""By the name of a rule of the grammar, what makes a command of the parts that it matched."""

COMMANDS: list[type[Command]] = []
"""All that there are."""

CommandT = TypeVar("CommandT", bound=Command)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def verb(*rules: str, **makers: str) -> Callable[[type[CommandT]], type[CommandT]]:
    """Return a decorator that makes a class a command: a frozen dataclass, made by grammar rules.

    Args:
        rules: the rules whose parts are its fields, in order.
        makers: for other rules, by name, the class method that makes a command of their parts.

    Raises:
        InvalidValueError: one of the rules makes another command already.
    """

    def make(kind: type[CommandT]) -> type[CommandT]:
        if not kind.words:
            kind.words = next(iter((*rules, *makers))).replace("_", " ")
        made = value(kind)
        made.is_choice = made.chosen is not Command.chosen
        known = dict.fromkeys(rules, made) | {
            rule: getattr(made, maker) for rule, maker in makers.items()
        }
        if twice := known.keys() & VERBS:
            raise InvalidValueError(f"more than one verb is made by {', '.join(twice)}")
        VERBS.update(known)
        COMMANDS.append(made)
        return made

    return make
