"""Replays in words and as facts."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.features.analysis import messages as analysis
from thudmud.features.archive.commands import Replay
from thudmud.features.archive.messages import comment_data, heard, replayed
from thudmud.features.archive.model import Replayed, ReplayLeft
from thudmud.views import data
from thudmud.views.data import Fact
from thudmud.views.registry import Occasion, facts, words
from thudmud.views.view import View
from thudmud.views.words import wrapped


@words.register
def _replayed(seen: Replayed, occasion: Occasion, view: View) -> list[str]:
    hall, player, battle, game = occasion.hall, seen.player, seen.battle, seen.game
    lines = replayed(
        battle,
        game,
        seen.then or game.after(seen.ply),
        style=hall.style(player, hall.tables.called(battle.id.board)),
        me=player,
        display=view.display,
        comments=heard(hall, player, seen.comments, seen.ply),
    )
    if seen.analysis:
        lines += wrapped(analysis.of_ply(seen.analysis, game, seen.ply), view.width)
    return lines


@facts.register
def _replayed_facts(seen: Replayed, occasion: Occasion) -> Iterator[Fact]:
    player = seen.player
    yield Fact("Thud.Replay", data.replayed(seen), player)
    for comment in heard(occasion.hall, player, seen.comments, seen.ply):
        yield Fact("Thud.Comment", comment_data(seen.battle.number, comment), player)


@words.register
def _replay_left(told: ReplayLeft, _: Occasion, view: View) -> list[str]:
    number, ply = told.replay.battle.number, told.replay.ply
    again = f'"{Replay(number, ply)}" opens it there again.'
    return wrapped(f"You leave the replay of battle {number} at ply {ply}. {again}", view.width)
