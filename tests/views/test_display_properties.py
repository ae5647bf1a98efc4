"""Properties of the display that hold for every position, screen and set of options."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.language.generated import colours
from tests.views.positions import table_with
from thudmud.game.options import (
    WIDTHS,
    Charset,
    Element,
    Options,
    Orient,
    Profile,
    Scheme,
    Size,
    Style,
    Switch,
)
from thudmud.game.table import BoardSpec, Table
from thudmud.house import House
from thudmud.rules import RULESETS, Game, Move, Side, Verb
from thudmud.values import replace
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Terminal
from thudmud.views.words import columns

DWARFS, TROLLS, WATCHER = "Wolfeschlegelsteinha", "Vogelsangbergerdorff", "Al"
"""Names of maximum and minimum length."""
PLIES = 80
ASKED = [
    "look",
    "view game",
    "where dwarfs",
    "where trolls",
    "where stone",
    "where rock",
    "scan row 8",
    "scan column h",
    "around h7",
    "around a1",
    "lines",
    "captures",
    "captures g7",
    "moves",
    "moves h8",
    "last move",
    "boards",
    "who",
    "help reader",
    "scan row 99",
    "go to oak board",
]
SGR = re.compile("\x1b\\[[0-9;]*m")
GRID = re.compile(
    r"[.dTXR+*] [.dTXR+*] [.dTXR+*]|[.dTXR]{4}|\[[dTR]\]|\^|[|]   [|]|--- ---|[^\x00-\x7f]"
)
"""A part of a drawn board, in ASCII or not, or a caret below a mistake."""

displays = st.builds(
    Options,
    charset=st.sampled_from(Charset),
    colour=st.sampled_from(Switch),
    width=st.none() | st.sampled_from(WIDTHS),
    orient=st.sampled_from(Orient),
    size=st.sampled_from(Size),
    reader=st.sampled_from(Switch),
    scheme=st.sampled_from(Scheme),
    elements=st.dictionaries(st.sampled_from(Element), colours, max_size=3).map(
        lambda chosen: tuple(chosen.items())
    ),
)
terminals = st.builds(
    Terminal,
    width=st.sampled_from(WIDTHS),
    supports_utf8=st.booleans(),
    colours=st.sampled_from([0, SIXTEEN, PALETTE, TRUE_COLOUR]),
    has_reader=st.booleans(),
    height=st.sampled_from([0, 24, 60]),
)


@lru_cache(maxsize=16)
def played(rules: str, seed: int) -> tuple[Game, ...]:
    """Return a random battle after each of its plies; it prefers captures."""
    random = Random(seed)  # noqa: S311 (games to try, no secrets)
    games = [Game.start(RULESETS[rules])]
    while len(games) <= PLIES and games[-1].outcome is None:
        moves = games[-1].legal_moves()
        captures = [move for move in moves if move.captures]
        chosen = captures if captures and random.random() < 0.3 else moves
        games.append(games[-1].play(random.choice(chosen)))
    return tuple(games)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a board with a battle after a random number of plies."""
    games = played(draw(st.sampled_from(list(RULESETS))), draw(st.integers(0, 3)))
    table = table_with(draw(st.sampled_from(games)))
    match = table.match
    assert match
    match = replace(match, dwarf=DWARFS, troll=TROLLS)
    return replace(table, match=match, seats={Side.DWARF: DWARFS, Side.TROLL: TROLLS})


def typed(move: Move) -> str:
    """Return the command that plays a move."""
    said = "" if move.verb is Verb.HURL else ", ".join(map(str, move.captures)) or "none"
    return f"{move.verb.value} {move.origin} to {move.target}" + (
        f" capturing {said}" if said else ""
    )


def shown(table: Table, terminal: Terminal, options: Options, style: Style) -> list[str]:
    """Return all lines shown to players and watchers, for queries and events."""
    house = House([BoardSpec("oak board", style=style), BoardSpec("elm table", "classic")])
    for name in (DWARFS, TROLLS, WATCHER):
        house.enter(name, 0.0, terminal, profile=Profile(options=options))
        house.obey(name, "go to oak board", 0.0)
    house.hall.put("oak board", table)
    game = table.game
    assert game
    mover, other = (DWARFS, TROLLS) if game.position.turn is Side.DWARF else (TROLLS, DWARFS)
    lines = [(WATCHER, line) for line in ASKED]
    if game.outcome is None:
        lines += [(mover, typed(game.legal_moves()[-1])), (other, "end game"), (mover, "no")]
        lines += [(mover, "undo"), (other, "undo"), (mover, "resign on it"), (mover, "start game")]
        lines += [(WATCHER, "replay 1"), (WATCHER, "last"), (WATCHER, "history")]
    told = [message for who, line in lines for message in house.obey(who, line, 0.0)]
    return [line for message in told for line in message.text.split("\n")]


@examples(30)
@given(tables(), terminals, displays, st.sampled_from(Style))
def test_output_fits_the_screen_and_does_not_depend_on_colour(
    table: Table, terminal: Terminal, options: Options, style: Style
) -> None:
    lines = shown(table, terminal, options, style)
    bare = [SGR.sub("", line) for line in lines]
    assert all(columns(line) < (options.width or terminal.width) for line in bare)
    assert not any("\x1b" in line for line in bare)
    if options.charset is Charset.ASCII:
        assert "".join(bare).isascii()
    reader = options.reader is Switch.ON or (options.reader is Switch.AUTO and terminal.has_reader)
    if reader:
        assert not [line for line in bare if GRID.search(line)]
    on = options.colour is Switch.ON or (options.colour is Switch.AUTO and terminal.colours)
    if options.colour is Switch.OFF or not on or (reader and options.colour is Switch.AUTO):
        assert lines == bare
    else:
        assert bare == shown(table, terminal, replace(options, colour=Switch.OFF), style)
