"""Options as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from thudmud.english import join_words
from thudmud.features.options.commands import (
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
    ShowOptions,
    ShowScheme,
)
from thudmud.features.options.model import OptionChosen, StyleChosen
from thudmud.game.options import (
    WIDTHS,
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
from thudmud.views.boards import GridLayout, layout_for
from thudmud.views.colours import colour_of, wrap_phrases
from thudmud.views.data import Fact
from thudmud.views.facts import options_fact, player_state_facts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.view import LARGE_FROM, PALETTE, SIXTEEN, TRUE_COLOUR, Display, View
from thudmud.views.words import wrap, wrap_each

_INDENT = "    "
_COLOURS = {0: "off", SIXTEEN: "16 colours", PALETTE: "256 colours", TRUE_COLOUR: "true colour"}
_BOTTOM_ROWS = {Orient.SOUTH: "row 15", Orient.NORTH: "row 1"}
_SCHEMES = {
    Scheme.PLAIN: "few and clear",
    Scheme.VIVID: "on a ground of its own",
    Scheme.DIM: "for a dark room",
    Scheme.SAFE: "for the colour-blind",
}
_ELEMENTS = {
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
_CHOSEN: Mapping[type[SetOption], Mapping[Enum, str]] = {
    SetCharset: {
        Charset.AUTO: "Boards are drawn in UTF-8 if your client agrees to it, else in ASCII.",
        Charset.ASCII: "You are shown nothing but ASCII from now on.",
        Charset.UTF_8: "Boards are drawn in UTF-8 from now on.",
    },
    SetColour: {
        Switch.AUTO: "Boards are in colour if your client says that it has any.",
        Switch.ON: "Boards are in colour from now on.",
        Switch.OFF: "Boards are without colour from now on.",
    },
    SetSize: {
        Size.AUTO: (
            "Boards are drawn large if your client says that its window has "
            f"{LARGE_FROM[0]} columns and {LARGE_FROM[1]} rows."
        ),
        Size.SMALL: "Boards are drawn small from now on.",
        Size.LARGE: (
            f"Boards are drawn large from now on; that takes {GridLayout.LARGE.value + 1} columns"
            f" and about {LARGE_FROM[1]} rows."
        ),
    },
    SetReader: {
        Switch.AUTO: "Boards are told in words if your client says that it reads aloud.",
        Switch.ON: 'Boards are told in words from now on; "help reader" tells what you can ask.',
        Switch.OFF: "Boards are drawn from now on.",
    },
}

_TOGGLED = {
    Toggle.MACHINE: (
        "Lines for programs follow each event.",
        "Lines for programs no longer follow each event.",
    ),
    Toggle.PROMPT: (
        "There is a prompt from now on.",
        f'There is no prompt from now on. "{SetToggle(Toggle.PROMPT, value=True)}" brings it back.',
    ),
    Toggle.BELL: (
        "Your bell rings at your turn, when a game of yours begins, and when your time runs short.",
        "No bell rings for you from now on.",
    ),
    Toggle.SEEKS: (
        "You are told of seeks and free seats wherever you are from now on.",
        "You are told of seeks and free seats only in the hall from now on.",
    ),
    Toggle.KIBITZ: (
        "You hear what is kibitzed from now on.",
        "You do not hear what is kibitzed from now on.",
    ),
    Toggle.WHISPER: (
        "You hear what is whispered where you watch from now on.",
        "You do not hear what is whispered where you watch from now on.",
    ),
    Toggle.WATCHERS: (
        "While you play, you hear what those say who watch, from now on.",
        "While you play, you do not hear what those say who watch, from now on.",
    ),
    Toggle.SHOUT: (
        "You hear what is shouted from now on.",
        "You do not hear what is shouted from now on, and cannot shout.",
    ),
    Toggle.TIMES: (
        "The time, in UTC, stands before what others say from now on.",
        "No time stands before what others say from now on.",
    ),
    Toggle.INVITATIONS: (
        "Others can ask you to a match or a seat from now on.",
        "Nobody can ask you to a match or a seat from now on.",
    ),
    Toggle.RESULTS: (
        "In the hall you hear other players' results from now on.",
        "In the hall you no longer hear other players' results.",
    ),
}
"""Sentences for a toggle that is switched on, and off."""

_ABOUT = {
    Toggle.MACHINE: "lines for programs",
    Toggle.PROMPT: "the sign that asks for a line",
    Toggle.BELL: "at your turn, and when your time runs short",
    Toggle.SEEKS: "who looks for an opponent, also outside the hall",
    Toggle.KIBITZ: "talk about a battle, to all at the board",
    Toggle.WHISPER: "talk about a battle, to those who watch",
    Toggle.WATCHERS: "what those say who watch you play",
    Toggle.SHOUT: "what is said to everybody",
    Toggle.TIMES: "before what others say",
    Toggle.INVITATIONS: "to matches and seats",
    Toggle.RESULTS: "of rated matches and tournaments, in the hall",
}
"""Explanations of the toggles in the list of options."""


def choice_text(choice: SetOption, options: Options) -> str:
    """Return the sentence that confirms a choice. `options` are the options after it."""
    off = f' Colours are off: "{SetColour(Switch.ON)}" shows them.'
    but = off if options.colour is Switch.OFF else ""
    if told := _CHOSEN.get(type(choice)):
        return told[choice.value]
    match choice:
        case SetWidth(None):
            return "Lines are as wide as your client says, or 80 columns."
        case SetWidth(width):
            return f"Lines fit {width} columns from now on."
        case SetOrient(value):
            return (
                f"Boards have the {value.value}, {_BOTTOM_ROWS[value]}, at the bottom from now on."
            )
        case SetToggle(toggle, value):
            return _TOGGLED[toggle][0 if value else 1]
        case SetScheme(value):
            return f"Boards are in the {value.value} scheme, {_SCHEMES[value]}.{but}"
        case SetElement(element, None):
            return f"The colour of {_ELEMENTS[element]} is that of the scheme again.{but}"
        case SetElement(element, colour) if colour == Colour():
            return f"No colour for {_ELEMENTS[element]} from now on.{but}"
        case SetElement(element, colour):
            return f"The colour of {_ELEMENTS[element]} is {colour} from now on.{but}"
    raise TypeError(f"there are no words for {choice}")


@words.register
def _render_option_chosen(chosen: OptionChosen, _: RenderContext, view: View) -> list[str]:
    return wrap(choice_text(chosen.choice, chosen.options), view.width)


@facts.register
def _chosen_facts(chosen: OptionChosen, occasion: RenderContext) -> Iterable[Fact]:
    if chosen.choice == SetToggle(Toggle.MACHINE, value=True):
        return player_state_facts(occasion.hall, chosen.player)
    return [options_fact(occasion.hall, chosen.player)]


@words.register
def _style_chosen(chosen: StyleChosen, _: RenderContext, view: View) -> list[str]:
    style = f"in {chosen.style.value} style from now on"
    return wrap(f"You are shown the {chosen.board} {style}.", view.width)


@words.register
def _options(_: ShowOptions, occasion: RenderContext, view: View) -> list[str]:
    return options_listed(occasion.hall.people[occasion.player].options, view.display)


def options_listed(options: Options, display: Display) -> list[str]:
    """Render the list of options: values, effects on this display, and commands for changes."""
    charset, width, bottom = options.charset.value, f"{options.width} columns", options.orient
    if options.charset is Charset.AUTO:
        charset = f"auto, with boards in {'UTF-8' if display.uses_utf8 else 'ASCII'} here"
    if options.width is None:
        width = f"auto, which is {display.width} columns here"
    colour = _switched(options.colour, _COLOURS[display.colours])
    if options.colour is Switch.ON:
        colour = f"on, {_COLOURS[display.colours]}"
    size = options.size.value
    here = "large" if layout_for(display) is GridLayout.LARGE else "small"
    if size != here:
        size += f", with {here} boards here"
    own = join_words(element.value for element, _ in options.elements)
    scheme = options.scheme.value + (f"; your own for {own}" if options.elements else "")
    reader = _switched(options.reader, "on" if display.is_for_reader else "off")
    entries = {
        f"charset: {charset}": _choices("options charset", Charset),
        f"colour: {colour}": _choices("options colour", Switch),
        f"scheme: {scheme}": (
            f'{_choices("options colour scheme", Scheme)}; "{ShowScheme()}" lists all colours'
        ),
        f"width: {width}": f'"{SetWidth(None)}", or a number from {WIDTHS[0]} to {WIDTHS[-1]}',
        f"orient: {bottom.value}, {_BOTTOM_ROWS[bottom]} at the bottom": (
            _choices("options orient", Orient)
        ),
        f"size: {size}": _choices("options size", Size),
        f"reader: {reader}": _choices("options reader", Switch),
    } | {
        f"{toggle.value}: {'on' if options.has(toggle) else 'off'} ({_ABOUT[toggle]})": (
            f'"{SetToggle(toggle, value=True)}" or "{SetToggle(toggle, value=False)}"'
        )
        for toggle in Toggle
    }
    lines = wrap("How you are shown things, and the words that change it:", display.width)
    for now, typed in entries.items():
        lines += wrap(f"  {now}", display.width, _INDENT)
        lines += wrap(f"{_INDENT}{typed}", display.width, _INDENT * 2)
    return lines + wrap('"help options" tells more of each.', display.width)


def _switched(value: Switch, here: str) -> str:
    """Return the value of a switch; for auto, with its effect on this display."""
    return f"auto, which is {here} here" if value is Switch.AUTO else value.value


def _choices(command: str, values: type[Charset | Switch | Orient | Size | Scheme]) -> str:
    """Return the words to type to set an option."""
    quoted = (f'"{each.value}"' for each in values)
    return f'"{command}" and {join_words(quoted, "or")}'


@words.register
def _scheme(_: ShowScheme, occasion: RenderContext, view: View) -> list[str]:
    """Render the elements of a board in their colours, and the colour schemes."""
    options, display = occasion.hall.people[occasion.player].options, view.display
    width = display.width
    # The display has no scheme or elements if its colours are off, so take the player's own.
    chosen = replace(display, scheme=options.scheme, elements=options.elements)
    named = replace(chosen, colours=display.colours or SIXTEEN)
    own = dict(options.elements)
    lines = wrap(f'The colours of a board, from the scheme "{options.scheme.value}":', width)
    for element in Element:
        mine = " (your own)" if element in own else ""
        looks = f": {colour_of(element, named)}{mine}"
        phrases = [("  ", None), (element.value, element), (looks, None)]
        lines += wrap_phrases(phrases, width, _INDENT, chosen)
    ready = "; ".join(f"{each.value}, {told}" for each, told in _SCHEMES.items())
    return lines + wrap_each(
        [
            *_why_uncoloured(options, display),
            f'"{ShowScheme()} dwarf bold red" colours the dwarfs, and so on for each of them.',
            'A colour is a name, such as "green" or "bright blue", a number from 0 to 255, or six '
            'digits such as "#ff8800"; with "bold" before it, or "on" and another colour behind '
            'it. "none" is no colour, "default" the one of the scheme.',
            f'Ready schemes: {ready}. "{SetScheme(Scheme.SAFE)}" chooses one.',
        ],
        width,
    )


def _why_uncoloured(options: Options, display: Display) -> list[str]:
    """Return a sentence on why colours are off; empty if they are on."""
    on = f'"{SetColour(Switch.ON)}" shows them'
    if display.colours:
        return []
    if options.colour is Switch.OFF:
        return [f"Colours are off; {on}."]
    if display.is_for_reader:
        return [f"Colours are left out for your screen reader; {on} all the same."]
    return [f"Your client does not say that it has colours; {on} all the same, 16 of them."]
