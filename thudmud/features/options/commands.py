"""Commands that list and set a player's options."""

from __future__ import annotations

from thudmud.features.options.model import OptionChosen
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.options import (
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    SetOption,
    Size,
    Switch,
    Toggle,
)
from thudmud.values import replace


class OptionCommand(Command):
    """Base class of commands about options."""


@verb("show_options")
class ShowOptions(OptionCommand):
    """List the player's options."""

    words = "options"


@verb("show_scheme")
class ShowScheme(OptionCommand):
    """List the elements of a board and their colours."""

    words = "options colour special thud"


class Choice(SetOption, OptionCommand):
    """Base class of commands that set an option.

    The option is the field of `Options` named by the last word of ``words``; subclasses override
    `apply_to` for anything else.
    """

    def decide(self, context: CommandContext) -> Decision:
        options = self.apply_to(context.person.options)
        chosen = OptionChosen(context.me, self, options)
        return context.decide_asides(chosen, options=options)

    def apply_to(self, options: Options) -> Options:
        return replace(options, **{self.words.split()[-1]: self.value})


@verb("set_charset")
class SetCharset(Choice):
    """Choose the character set of boards."""

    value: Charset
    words = "options charset"


@verb("set_colour")
class SetColour(Choice):
    """Choose whether to use colours."""

    value: Switch
    words = "options colour"


@verb(set_width="of")
class SetWidth(Choice):
    """Set the width of the screen, in columns; None leaves it to the client."""

    value: int | None
    words = "options width"

    @classmethod
    def of(cls, columns: int | str) -> SetWidth:
        return cls(columns if isinstance(columns, int) else None)

    def __str__(self) -> str:
        return f"options width {'auto' if self.value is None else self.value}"


@verb(set_rows="of")
class SetRows(Choice):
    """Set the height of the screen, in rows; None leaves it to the client, 0 never stops a text."""

    value: int | None
    words = "options rows"

    @classmethod
    def of(cls, rows: int | str) -> SetRows:
        if isinstance(rows, int):
            return cls(rows)
        return cls(0 if rows.lower() == "off" else None)

    def __str__(self) -> str:
        value = "auto" if self.value is None else self.value or "off"
        return f"options rows {value}"


@verb("set_orient")
class SetOrient(Choice):
    """Choose the side of the board to show at the bottom."""

    value: Orient
    words = "options orient"


@verb("flip")
class Flip(OptionCommand):
    """Turn the board: show the other side of it at the bottom."""

    def decide(self, context: CommandContext) -> Decision:
        is_south = context.person.options.orient is Orient.SOUTH
        return SetOrient(Orient.NORTH if is_south else Orient.SOUTH).decide(context)


@verb("set_size")
class SetSize(Choice):
    """Choose the size of boards."""

    value: Size
    words = "options size"


@verb("set_reader")
class SetReader(Choice):
    """Choose whether to describe boards for a screen reader."""

    value: Switch
    words = "options reader"


@verb(set_toggle="of", set_machine="machine")
class SetToggle(Choice):
    """Switch an option on or off."""

    toggle: Toggle
    value: bool

    @property
    def subject(self) -> object:
        return self.toggle

    @classmethod
    def of(cls, toggle: Toggle, value: Switch) -> SetToggle:
        return cls(toggle, value is Switch.ON)

    @classmethod
    def machine(cls, value: Switch) -> SetToggle:
        return cls(Toggle.MACHINE, value is Switch.ON)

    def __str__(self) -> str:
        word = "set" if self.toggle is Toggle.MACHINE else "options"
        return f"{word} {self.toggle.value} {'on' if self.value else 'off'}"

    def apply_to(self, options: Options) -> Options:
        others = options.on - {self.toggle}
        return replace(options, on=others | {self.toggle} if self.value else others)


@verb("set_scheme")
class SetScheme(Choice):
    """Choose a colour scheme. This drops the player's own colours."""

    value: Scheme
    words = "options colour scheme"

    def apply_to(self, options: Options) -> Options:
        return replace(options, scheme=self.value, elements=())


@verb("set_element")
class SetElement(Choice):
    """Choose the colour of an element; None ("default") restores the scheme's."""

    element: Element
    value: Colour | None

    @property
    def subject(self) -> object:
        return self.element

    def __str__(self) -> str:
        colour = "default" if self.value is None else self.value
        return f"options colour special thud {self.element.value} {colour}"

    def apply_to(self, options: Options) -> Options:
        chosen = {own: value for own, value in options.elements if own is not self.element}
        if self.value is not None:
            chosen[self.element] = self.value
        ordered = sorted(chosen.items(), key=lambda each: each[0].value)
        return replace(options, elements=tuple(ordered))
