"""Replays as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterator

from thudmud.features.archive.commands import Replay
from thudmud.features.archive.messages import comment_data, replayed, visible_comments
from thudmud.features.archive.model import Replayed, ReplayLeft, replay_of
from thudmud.features.playing.queries import Query
from thudmud.game.clocks import DAY, seconds_left_after_plies
from thudmud.rules import Side
from thudmud.views.data import Data, Fact, game_data
from thudmud.views.registry import RenderContext, add_lines_to, added_lines, facts, words
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import View
from thudmud.views.words import wrap


@words.register
def _replayed(seen: Replayed, context: RenderContext, view: View) -> list[str]:
    hall, player, battle, game = context.hall, seen.player, seen.battle, seen.game
    return replayed(
        battle,
        game,
        seen.then or game.after(seen.ply),
        style=hall.style(player, hall.tables.name_for_key(battle.id.board)),
        me=player,
        display=view.display,
        comments=visible_comments(hall, player, seen.comments, seen.ply),
    ) + added_lines(Replayed, seen, context, view)


@facts.register
def _replayed_facts(seen: Replayed, context: RenderContext) -> Iterator[Fact]:
    player = seen.player
    yield Fact("Thud.Replay", replayed_data(seen), player)
    for comment in visible_comments(context.hall, player, seen.comments, seen.ply):
        yield Fact("Thud.Comment", comment_data(seen.battle.number, comment), player)


@add_lines_to(Query)
def _not_in_the_replay(_: Query, context: RenderContext, view: View) -> list[str]:
    """Name the board that an answer is about, for a player with an open replay."""
    if not replay_of(context.hall.people[context.player]):
        return []
    return wrap(f"At the {context.known_table.name}, not in the replay:", view.width)


@words.register
def _replay_left(told: ReplayLeft, _: RenderContext, view: View) -> list[str]:
    number, ply = told.replay.battle.number, told.replay.ply
    again = f'"{Replay(number, ply)}" picks it up there.'
    return wrap_clickable(f"You leave the replay of battle {number} at move {ply}. {again}", view)


def replayed_data(aside: Replayed) -> Data:
    """Return a battle at one of its plies as data for programs."""
    then = aside.then or aside.game.after(aside.ply)
    scores = aside.annotation.scores if aside.annotation else ()
    return {
        "battle": aside.battle.number,
        **game_data(then),
        "plies": len(aside.game.moves),
        "dwarf": aside.battle.dwarf or None,
        "troll": aside.battle.troll or None,
        "playing": aside.is_autoplaying,
        "worth": scores[aside.ply] if scores else None,
        "clock": _clock(aside),
    }


def _clock(aside: Replayed) -> Data | None:
    """Return the seconds that each side has left at the current ply; None without a clock."""
    control = aside.battle.time
    if control is None or len(aside.spent) < len(aside.game.moves):
        return None
    first, given = aside.game.initial_position.turn, 60 * control.minutes or DAY * control.days
    left = [given, given, *seconds_left_after_plies(control, aside.spent[: aside.ply])]
    sides = (first, first.other) if aside.ply % 2 == 0 else (first.other, first)
    latest = dict(zip(sides, left[-2:], strict=True))
    return {side.value: int(latest[side]) for side in Side}
