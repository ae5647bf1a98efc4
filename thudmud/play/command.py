"""What a command is: a frozen value that a line of text parses into, and that decides what it does.

The commands themselves are in `thudmud.verbs`, a module for each family. ``@verb`` makes a class
one, and says by which rules of the grammar it is typed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

from thudmud.errors import InvalidValueError

if TYPE_CHECKING:
    from thudmud.play.hall import Decision, Hall, Person
    from thudmud.play.scene import Scene


_BEHIND = {"page": "page ", "on": "on "}
"""The words behind which some fields are typed, by the fields' names."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a line asks for.

    Its fields are what its rule of the grammar hands over, in this order; what the line leaves out
    is the default. ``str()`` of it is its canonical form, which parses back to an equal one.

    Attributes:
        words: how that begins; by default the name of the rule.
        is_question: whether a player's program may ask it though nobody has typed it: it changes
            nothing, and its answer holds facts.
        speaks: whether others will read the player's own words. Who is muted may not.
    """

    words: ClassVar[str] = ""
    is_question: ClassVar[bool] = False
    speaks: ClassVar[bool] = False

    def __str__(self) -> str:
        words = [self.words]
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                words.append(f"{_BEHIND.get(each.name, '')}{value}")
        return " ".join(words)

    def decide(self, scene: Scene) -> Decision:
        """Return what it brings about. Nothing has changed yet.

        Raises:
            Refused: a table or the hall does not allow it.
            IllegalMove: the rules of the game do not allow it.
            Unread: something has to be looked up first.
        """
        raise NotImplementedError

    def answered(self, hall: Hall, person: Person, answer: Any) -> None:
        """Note in the hall what a question changes for who has asked it; most change nothing."""


VERBS: dict[str, type[Command]] = {}
"""The command that each rule of the grammar makes, by the rule's name."""

CommandT = TypeVar("CommandT", bound=Command)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def verb(*rules: str) -> Callable[[type[CommandT]], type[CommandT]]:
    """Return what makes a class a command: a frozen dataclass that rules of the grammar make.

    Raises:
        InvalidValueError: a rule makes another command.
    """

    def make(kind: type[CommandT]) -> type[CommandT]:
        if not kind.words:
            kind.words = rules[0].replace("_", " ")
        made = dataclass(frozen=True, slots=True)(kind)
        for rule in rules:
            if rule in VERBS:
                raise InvalidValueError(f"the rule {rule} makes {VERBS[rule].__name__}")
            VERBS[rule] = made
        return made

    return make
