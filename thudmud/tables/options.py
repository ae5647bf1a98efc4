"""What a choice makes of somebody's options.

Owns that alone. Must never know how anything is drawn.
"""

from __future__ import annotations

from dataclasses import replace

from thudmud.commands.options import (
    Options,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOption,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
)


def after(options: Options, choice: SetOption) -> Options:
    """Return the options that hold after a choice."""
    match choice:
        case SetCharset(value):
            return replace(options, charset=value)
        case SetColour(value):
            return replace(options, colour=value)
        case SetWidth(value):
            return replace(options, width=value)
        case SetOrient(value):
            return replace(options, orient=value)
        case SetReader(value):
            return replace(options, reader=value)
        case SetMachine(value):
            return replace(options, machine=value)
        case SetScheme(value):
            return replace(options, scheme=value, elements=())
        case SetElement(element, colour):
            others = {own: value for own, value in options.elements if own is not element}
            chosen = others if colour is None else others | {element: colour}
            ordered = sorted(chosen.items(), key=lambda each: each[0].value)
            return replace(options, elements=tuple(ordered))
