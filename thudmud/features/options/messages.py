"""Options as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from thudmud.english import join_words
from thudmud.errors import InvalidValueError
from thudmud.features.options.commands import (
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetRows,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
    ShowOptions,
    ShowScheme,
)
from thudmud.features.options.model import OptionChosen, StyleChosen
from thudmud.game.options import (
    HEIGHTS,
    WIDTHS,
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    SetOption,
    Size,
    Style,
    Switch,
    Toggle,
)
from thudmud.values import replace
from thudmud.views.boards import GridLayout, layout_for
from thudmud.views.colours import colour_of, wrap_phrases
from thudmud.views.data import Fact
from thudmud.views.facts import options_fact, player_state_facts
from thudmud.views.registry import RenderContext, facts, words
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import LARGE_FROM, PALETTE, SIXTEEN, TRUE_COLOUR, Display, View
from thudmud.views.words import wrap, wrap_each

_INDENT = "    "
_COLOURS = {0: "off", SIXTEEN: "16 colours", PALETTE: "256 colours", TRUE_COLOUR: "true colour"}
_BOTTOM_ROWS = {Orient.SOUTH: "row 15", Orient.NORTH: "row 1"}
_SCHEMES = {
    Scheme.PLAIN: "few and clear",
    Scheme.VIVID: "with their own background",
    Scheme.DIM: "for a dark room",
    Scheme.SAFE: "for the colour-blind",
}
_STYLES = {Style.FULL: "the whole board after every move", Style.BRIEF: "a line or two a move"}
_ELEMENTS = {
    Element.DWARF: "the dwarfs",
    Element.TROLL: "the trolls",
    Element.STONE: "the Thudstone",
    Element.ROCK: "the Rock",
    Element.SQUARES: "the squares",
    Element.LAST_MOVE: "the last move",
    Element.CAPTURED: "the captures",
    Element.COORDINATES: "the coordinates",
    Element.TURN: "the side to move",
}
_CHOSEN: Mapping[type[SetOption], Mapping[Enum, str]] = {
    SetCharset: {
        Charset.AUTO: "Boards are drawn in UTF-8 if your client supports it, otherwise in ASCII.",
        Charset.ASCII: "You'll see nothing but ASCII from now on.",
        Charset.UTF_8: "Boards are now drawn in UTF-8.",
    },
    SetColour: {
        Switch.AUTO: "Boards are in colour if your client supports it.",
        Switch.ON: "Boards are now in colour.",
        Switch.OFF: "Boards are no longer in colour.",
    },
    SetSize: {
        Size.AUTO: (
            "Boards are drawn large if your client reports a window of at least "
            f"{LARGE_FROM[0]} columns and {LARGE_FROM[1]} rows."
        ),
        Size.SMALL: "Boards are now drawn small.",
        Size.LARGE: (
            f"Boards are now drawn large, which takes {GridLayout.LARGE.value + 1} columns"
            f" and about {LARGE_FROM[1]} rows."
        ),
    },
    SetReader: {
        Switch.AUTO: "Boards are described in words if your client reports a screen reader.",
        Switch.ON: 'Boards are now described in words. "help reader" lists what you can ask.',
        Switch.OFF: "Boards are now drawn.",
    },
}

_TOGGLED = {
    Toggle.MACHINE: (
        "Machine-readable lines now follow each event.",
        "Machine-readable lines no longer follow each event.",
    ),
    Toggle.PROMPT: (
        "The prompt is on.",
        f'The prompt is off. "{SetToggle(Toggle.PROMPT, value=True)}" brings it back.',
    ),
    Toggle.BELL: (
        "The bell now rings at your turn, when a game of yours begins, and when time is short.",
        "The bell no longer rings.",
    ),
    Toggle.SEEKS: (
        "You now hear about seeks and free seats wherever you are.",
        "You now hear about seeks and free seats only in the hall.",
    ),
    Toggle.KIBITZ: (
        "You now hear kibitzing.",
        "You no longer hear kibitzing.",
    ),
    Toggle.WHISPER: (
        "You now hear whispers at the boards you watch.",
        "You no longer hear whispers at the boards you watch.",
    ),
    Toggle.WATCHERS: (
        "You now hear what your watchers say while you play.",
        "You no longer hear what your watchers say while you play.",
    ),
    Toggle.SHOUT: (
        "You now hear shouts.",
        "You no longer hear shouts, and can't shout either.",
    ),
    Toggle.TIMES: (
        "What others say now begins with the time, in UTC.",
        "What others say no longer begins with the time.",
    ),
    Toggle.INVITATIONS: (
        "Others can now invite you to a match or a seat.",
        "Nobody can invite you to a match or a seat now.",
    ),
    Toggle.RESULTS: (
        "You now hear other players' results in the hall.",
        "You no longer hear other players' results in the hall.",
    ),
}
"""Sentences for a toggle that is switched on, and off."""

_ABOUT = {
    Toggle.MACHINE: "machine-readable lines",
    Toggle.PROMPT: "the sign where you type",
    Toggle.BELL: "at your turn, and when you're running short of time",
    Toggle.SEEKS: "players looking for an opponent, even outside the hall",
    Toggle.KIBITZ: "talk about a battle, for everyone at the board",
    Toggle.WHISPER: "talk about a battle, for watchers only",
    Toggle.WATCHERS: "what your watchers say while you play",
    Toggle.SHOUT: "messages to everyone",
    Toggle.TIMES: "the time before what others say",
    Toggle.INVITATIONS: "to matches and seats",
    Toggle.RESULTS: "of matches and tournaments, in the hall",
}
"""Explanations of the toggles in the list of options."""


def choice_text(choice: SetOption, options: Options) -> str:
    """Return the sentence that confirms a choice. `options` are the options after it."""
    off = f' Colours are off: "{SetColour(Switch.ON)}" turns them on.'
    but = off if options.colour is Switch.OFF else ""
    if told := _CHOSEN.get(type(choice)):
        return told[choice.value]
    match choice:
        case SetWidth(None):
            return "Lines are as wide as your client reports, or 80 columns."
        case SetWidth(width):
            return f"Lines now fit {width} columns."
        case SetRows(None):
            return "Long texts stop when your screen is full, if your client reports its height."
        case SetRows(0):
            return "Long texts no longer stop when your screen is full."
        case SetRows(rows):
            return f"Long texts now stop after {rows} rows."
        case SetOrient(value):
            return f"Boards now have {_BOTTOM_ROWS[value]} ({value.value}) at the bottom."
        case SetToggle(toggle, value):
            return _TOGGLED[toggle][0 if value else 1]
        case SetScheme(value):
            return f"Boards now use the {value.value} colours, {_SCHEMES[value]}.{but}"
        case SetElement(element, None):
            return f"The scheme sets the colour of {_ELEMENTS[element]} again.{but}"
        case SetElement(element, colour) if colour == Colour():
            return f"No colour for {_ELEMENTS[element]} from now on.{but}"
        case SetElement(element, colour):
            return f"The colour of {_ELEMENTS[element]} is now {colour}.{but}"
    raise InvalidValueError(f"unexpected choice: {choice!r}")


@words.register
def _render_option_chosen(chosen: OptionChosen, _: RenderContext, view: View) -> list[str]:
    return wrap_clickable(choice_text(chosen.choice, chosen.options), view)


@facts.register
def _chosen_facts(chosen: OptionChosen, context: RenderContext) -> Iterable[Fact]:
    if chosen.choice == SetToggle(Toggle.MACHINE, value=True):
        return player_state_facts(context.hall, chosen.player)
    return [options_fact(context.hall, chosen.player)]


@words.register
def _style_chosen(chosen: StyleChosen, _: RenderContext, view: View) -> list[str]:
    how = f"{chosen.style.value}: {_STYLES[chosen.style]}"
    return wrap(f"From now on the {chosen.board} is {how}, for you alone.", view.width)


@words.register
def _options(_: ShowOptions, context: RenderContext, view: View) -> list[str]:
    return options_listed(context.hall.people[context.player].options, view.display)


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
    scheme = options.scheme.value + (f"; your own colours for {own}" if options.elements else "")
    reader = _switched(options.reader, "on" if display.is_for_reader else "off")
    entries = {
        f"charset: {charset}": _choices("options charset", Charset),
        f"colour: {colour}": _choices("options colour", Switch),
        f"scheme: {scheme}": (
            f'{_choices("options colour scheme", Scheme)}; "{ShowScheme()}" lists all colours'
        ),
        f"width: {width}": f'"{SetWidth(None)}", or a number from {WIDTHS[0]} to {WIDTHS[-1]}',
        **_rows_entry(options),
        f"orient: {bottom.value} ({_BOTTOM_ROWS[bottom]} at the bottom)": (
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
    lines = wrap("Your options, and how to change them:", display.width)
    for now, typed in entries.items():
        lines += wrap(f"  {now}", display.width, _INDENT)
        lines += wrap(f"{_INDENT}{typed}", display.width, _INDENT * 2)
    return lines + wrap('"help options" explains them all.', display.width)


def _rows_entry(options: Options) -> dict[str, str]:
    value = "off" if options.rows == 0 else options.rows or "auto"
    words = _choices("options rows", (Switch.AUTO, Switch.OFF))
    numbers = f"a number from {HEIGHTS[0]} to {HEIGHTS[-1]}"
    return {f"rows: {value} (where long texts stop)": f"{words}, or {numbers}"}


def _switched(value: Switch, here: str) -> str:
    """Return the value of a switch; for auto, with its effect on this display."""
    return f"auto, which is {here} here" if value is Switch.AUTO else value.value


def _choices(command: str, values: Iterable[Charset | Switch | Orient | Size | Scheme]) -> str:
    """Return the words to type to set an option."""
    quoted = (f'"{each.value}"' for each in values)
    return f'"{command}" and {join_words(quoted, "or")}'


@words.register
def _scheme(_: ShowScheme, context: RenderContext, view: View) -> list[str]:
    """Render the elements of a board in their colours, and the colour schemes."""
    options, display = context.hall.people[context.player].options, view.display
    width = display.width
    # The display has no scheme or elements if its colours are off, so take the player's own.
    chosen = replace(display, scheme=options.scheme, elements=options.elements)
    named = replace(chosen, colours=display.colours or SIXTEEN)
    own = dict(options.elements)
    lines = wrap(f'The colours of a board, in the scheme "{options.scheme.value}":', width)
    for element in Element:
        mine = " (your own)" if element in own else ""
        looks = f": {colour_of(element, named)}{mine}"
        phrases = [("  ", None), (element.value, element), (looks, None)]
        lines += wrap_phrases(phrases, width, _INDENT, chosen)
    ready = "; ".join(f"{each.value}, {told}" for each, told in _SCHEMES.items())
    return lines + wrap_each(
        [
            *_why_uncoloured(options, display),
            f'"{ShowScheme()} dwarf bold red" colours the dwarfs, and so on.',
            'A colour is a name such as "green" or "bright blue", a number from 0 to 255, or a '
            'code such as "#ff8800". Put "bold" before it, or "on" and a background colour after '
            'it. "none" means no colour, "default" the one of the scheme.',
            f'Ready-made schemes: {ready}. "{SetScheme(Scheme.SAFE)}" chooses one.',
        ],
        width,
    )


def _why_uncoloured(options: Options, display: Display) -> list[str]:
    """Return a sentence on why colours are off; empty if they are on."""
    on = f'"{SetColour(Switch.ON)}"'
    if display.colours:
        return []
    if options.colour is Switch.OFF:
        return [f"Colours are off: {on} turns them on."]
    if display.is_for_reader:
        return [f"Colours are left out for your screen reader: {on} shows them anyway."]
    return [f"Your client doesn't report any colours: {on} shows 16 anyway."]
