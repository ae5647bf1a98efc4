"""A battle that is seen again, as it stood after one of its plies.

Owns what a player is shown of it. Must never know how they go on from there.

Who replays a battle sees it as it stood when they asked for it: a battle that is still played is
not shown going on.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from thudmud.play.battles import Battle, State
from thudmud.play.commands import Replay, Style
from thudmud.play.match import Match
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import Game, Side
from thudmud.rules.english import capitalised, counted
from thudmud.text import battles, board, reader
from thudmud.text.dates import day
from thudmud.text.display import Display
from thudmud.text.phrases import played
from thudmud.text.words import wrapped

WAYS = '"next" and "back" go from ply to ply, "first" and "last" to either end; "play" goes on.'


def replayed(
    battle: Battle, game: Game, then: Game, *, style: Style, me: str, display: Display
) -> list[str]:
    """Return a battle as it stood after some of its plies.

    Args:
        battle: what is known of it.
        game: the whole of it, or as much as had been played when the replay began.
        then: the same battle as it stood after those plies.
        style: how the board is shown: as who sees it is shown the board that it was played at. A
            battle of no board that stands here, as those that were imported, is shown in full.
        me: who sees it. In an imported battle nobody is: names of elsewhere are only names.
        display: how their screen shows everything.
    """
    table, ply = _table(battle, then), len(then.moves)
    width = display.width
    lines = wrapped(_said(battle, game, ply, me), width)
    if display.reader:
        lines += wrapped(reader.counts(table), width)
    elif style is Style.FULL:
        lines += board.full(table, display)
    else:
        lines += wrapped(board.status(table), width)
    if ply == len(game.moves):
        lines += wrapped(_end(battle, game), width)
    return lines + wrapped(WAYS, width) if ply == 0 else lines


def _said(battle: Battle, game: Game, ply: int, me: str) -> str:
    number, plies = battle.number, len(game.moves)
    if ply == 0:
        return f"Battle {number}, as it began on {day(battle.at)}. {counted(plies, 'ply')} to see:"
    move = game.moves[ply - 1]
    mover = Side.TROLL if (ply % 2 == 0) is (game.opening.turn is Side.DWARF) else Side.DWARF
    who = battle.player(mover) or battles.UNKNOWN
    mine = who if who.lower() == me.lower() and not battle.imported else None
    return f"Battle {number}, ply {ply} of {plies}: {played(move, who, mine)}"


def _end(battle: Battle, game: Game) -> str:
    """Return what comes after the last ply that is shown: the end, or where to see more."""
    again = f'"{Replay(battle.number)}"'
    if battle.state is State.RUNNING:
        return f"Still running; {again} shows how far it has come."
    if battle.plies not in {None, len(game.moves)} or battle.outcome != game.outcome:
        return f"Play has gone on since; {again} shows it."
    return f"{capitalised(battles.end(battle))}."


def _table(battle: Battle, game: Game) -> Table:
    """Return a board on which nothing but the battle has been."""
    names = {side: battle.player(side) or battles.UNKNOWN for side in Side}
    match = Match(
        game,
        battle.id,
        names[Side.DWARF],
        names[Side.TROLL],
        battle=battle.part,
        before=battle.before,
        single=battle.imported,
    )
    spec = BoardSpec(f"replay of battle {battle.number}", battle.rules)
    return replace(Table.set_up(spec, 0), match=match, seats=MappingProxyType(names))
