"""A player's options in words: lists of what holds, how to change it, and what was chosen."""

from __future__ import annotations

from dataclasses import replace

from thudmud.english import listed as enumerated
from thudmud.play.options import (
    WIDTHS,
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    SetCharset,
    SetColour,
    SetElement,
    SetMachine,
    SetOption,
    SetOrient,
    SetReader,
    SetScheme,
    SetWidth,
    ShowScheme,
    Switch,
)
from thudmud.views.colours import colour_of, flowed
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Display
from thudmud.views.words import wrapped

_INDENT = "    "
_AMOUNTS = {0: "off", SIXTEEN: "16 colours", PALETTE: "256 colours", TRUE_COLOUR: "true colour"}
_ROWS = {Orient.SOUTH: "row 15", Orient.NORTH: "row 1"}
_OF_SCHEMES = {
    Scheme.PLAIN: "few and clear",
    Scheme.VIVID: "on a ground of its own",
    Scheme.DIM: "for a dark room",
    Scheme.SAFE: "for the colour-blind",
}


def listed(options: Options, display: Display) -> list[str]:
    """Return every option: what holds, what that comes to here, and the words that change it."""
    colours = _AMOUNTS[display.colours]
    entries = [
        (f"charset: {_charset(options, display)}", _words("options charset", Charset)),
        (f"colour: {_coloured(options, colours)}", _words("options colour", Switch)),
        (
            f"scheme: {_scheme(options)}",
            f'{_words("options colour scheme", Scheme)}; "{ShowScheme()}" lists all colours',
        ),
        (f"width: {_width(options, display)}", _widths()),
        (
            f"orient: {options.orient.value}, {_ROWS[options.orient]} at the bottom",
            _words("options orient", Orient),
        ),
        (f"reader: {_now(options.reader, _on(display.reader))}", _words("options reader", Switch)),
        (
            f"machine: {_on(options.machine)}",
            f'"{SetMachine(value=True)}" or "{SetMachine(value=False)}"',
        ),
    ]
    lines = wrapped("How you are shown things, and the words that change it:", display.width)
    for now, words in entries:
        lines += wrapped(f"  {now}", display.width, _INDENT)
        lines += wrapped(f"{_INDENT}{words}", display.width, _INDENT * 2)
    return lines


def scheme(options: Options, display: Display) -> list[str]:
    """Return the elements of a board, each in its colour, and the ready schemes."""
    width = display.width
    # A display without colours has forgotten which were chosen.
    chosen = replace(display, scheme=options.scheme, elements=options.elements)
    named = replace(chosen, colours=display.colours or SIXTEEN)
    own = dict(options.elements)
    lines = wrapped(f'The colours of a board, from the scheme "{options.scheme.value}":', width)
    for element in Element:
        mine = " (your own)" if element in own else ""
        words = f": {colour_of(element, named)}{mine}"
        phrases = [("  ", None), (element.value, element), (words, None)]
        lines += flowed(phrases, width, _INDENT, chosen)
    for note in (_without(options, display), *_ways(), _ready()):
        lines += wrapped(note, width)
    return lines


def said(choice: SetOption, options: Options) -> str:
    """Return what is said to somebody who has made a choice, after which ``options`` hold."""
    match choice:
        case SetCharset(value):
            return _OF_CHARSETS[value]
        case SetWidth(None):
            return "Lines are as wide as your client says, or 80 columns."
        case SetWidth(width):
            return f"Lines fit {width} columns from now on."
        case SetOrient(value):
            return f"Boards have the {value.value}, {_ROWS[value]}, at the bottom from now on."
        case SetReader(value):
            return _OF_READERS[value]
        case SetMachine(value):
            return f"Lines for programs {'follow' if value else 'no longer follow'} each event."
    return _said_of_colour(choice, options)


def _said_of_colour(choice: SetColour | SetScheme | SetElement, options: Options) -> str:
    unseen = f' Colours are off: "{SetColour(Switch.ON)}" shows them.'
    but = unseen if options.colour is Switch.OFF else ""
    match choice:
        case SetColour(value):
            return _OF_COLOURS[value]
        case SetScheme(value):
            return f"Boards are in the {value.value} scheme, {_OF_SCHEMES[value]}.{but}"
        case SetElement(element, None):
            return f"The colour of {_THE[element]} is that of the scheme again.{but}"
        case SetElement(element, colour):
            if colour == Colour():
                return f"No colour for {_THE[element]} from now on.{but}"
            return f"The colour of {_THE[element]} is {colour} from now on.{but}"


_OF_CHARSETS = {
    Charset.AUTO: "Boards are drawn in UTF-8 if your client agrees to it, else in ASCII.",
    Charset.ASCII: "You are shown nothing but ASCII from now on.",
    Charset.UTF_8: "Boards are drawn in UTF-8 from now on.",
}
_OF_COLOURS = {
    Switch.AUTO: "Boards are in colour if your client says that it has any.",
    Switch.ON: "Boards are in colour from now on.",
    Switch.OFF: "Boards are without colour from now on.",
}
_OF_READERS = {
    Switch.AUTO: "Boards are told in words if your client says that it reads aloud.",
    Switch.ON: 'Boards are told in words from now on; "help reader" tells what you can ask.',
    Switch.OFF: "Boards are drawn from now on.",
}
_THE = {
    Element.DWARF: "the dwarfs",
    Element.TROLL: "the trolls",
    Element.STONE: "the Thudstone",
    Element.ROCK: "the Rock",
    Element.SQUARES: "the squares",
    Element.LAST_MOVE: "the last move",
    Element.CAPTURED: "what was captured",
    Element.COORDINATES: "the coordinates",
    Element.TURN: "whose turn it is",
}


def _now(value: Switch, here: str) -> str:
    """Return what an option is set to, and for auto, what that comes to."""
    return f"auto, which is {here} here" if value.value == "auto" else value.value


def _charset(options: Options, display: Display) -> str:
    boards = f", with boards in {'UTF-8' if display.utf8 else 'ASCII'} here"
    return f"{options.charset.value}{boards if options.charset is Charset.AUTO else ''}"


def _coloured(options: Options, here: str) -> str:
    return f"on, {here}" if options.colour is Switch.ON else _now(options.colour, here)


def _scheme(options: Options) -> str:
    own = [element.value for element, _ in options.elements]
    return f"{options.scheme.value}{f'; your own for {enumerated(own)}' if own else ''}"


def _width(options: Options, display: Display) -> str:
    if options.width is None:
        return f"auto, which is {display.width} columns here"
    return f"{options.width} columns"


def _widths() -> str:
    return f'"{SetWidth(None)}", or a number from {WIDTHS[0]} to {WIDTHS[-1]}'


def _on(value: bool) -> str:  # noqa: FBT001  # what is on or off is all there is to know
    return "on" if value else "off"


def _words(command: str, values: type[Charset | Switch | Orient | Scheme]) -> str:
    """Return what is typed to set an option."""
    *first, last = (f'"{value.value}"' for value in values)
    return f'"{command}" and {", ".join(first)} or {last}'


def _without(options: Options, display: Display) -> str:
    """Return why there are no colours, if there are none."""
    if display.colours:
        return ""
    on = f'"{SetColour(Switch.ON)}" shows them'
    if options.colour is Switch.OFF:
        return f"Colours are off; {on}."
    if display.reader:
        return f"Colours are left out for your screen reader; {on} all the same."
    return f"Your client does not say that it has colours; {on} all the same, 16 of them."


def _ways() -> list[str]:
    return [
        f'"{ShowScheme()} dwarf bold red" colours the dwarfs, and so on for each of them.',
        'A colour is a name, such as "green" or "bright blue", a number from 0 to 255, or six '
        'digits such as "#ff8800"; with "bold" before it, or "on" and another colour behind it. '
        '"none" is no colour, "default" the one of the scheme.',
    ]


def _ready() -> str:
    ready = "; ".join(f"{each.value}, {words}" for each, words in _OF_SCHEMES.items())
    return f'Ready schemes: {ready}. "{SetScheme(Scheme.SAFE)}" chooses one.'
