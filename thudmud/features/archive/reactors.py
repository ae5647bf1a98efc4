"""Autoplay of replays."""

from __future__ import annotations

from functools import partial
from typing import cast

from thudmud.features.archive.commands import Step, Way
from thudmud.features.archive.messages import PLAY_ON
from thudmud.features.archive.model import Replayed, replay_of, show_replay
from thudmud.game.archive import NOTHING_FOUND, PlayerScore, ScoreLookup
from thudmud.game.asides import Gone, TookOver
from thudmud.game.command import CommandContext
from thudmud.game.feature import AppliedEvent, FeatureContext
from thudmud.game.hall import Hall
from thudmud.values import replace

PLIES_AT_ONCE = 20
"""The maximum number of plies that a single line shows, if there is no pause between plies."""

_Left = Gone | TookOver


def setup(service: FeatureContext) -> None:
    """Subscribe to replays, and show their next plies at once or after a pause."""

    def schedule_next_ply(applied: AppliedEvent) -> None:
        """Show or schedule the next ply, if autoplay is on."""
        name, pause = cast("Replayed", applied.event).player, service.replay_pause
        service.scheduler.cancel(("replay", name))
        if not is_replaying(service.hall, name):
            return
        if pause == 0:
            play_at_once(name, applied.cause)
        elif pause:
            service.scheduler.schedule(
                ("replay", name), service.clock() + pause, lambda: play_next(name)
            )

    def play_at_once(name: str, cause: object) -> None:
        """Show a batch of plies and stop, since all other players wait meanwhile."""
        for _ in range(1, PLIES_AT_ONCE):
            play_on(service, name, cause)
        if is_replaying(service.hall, name):
            stop_playing(service.hall, name)
            service.say(name, PLAY_ON, cause)

    def play_next(name: str) -> None:
        if name in service.local_players():
            play_on(service, name)

    def pause(name: str) -> None:
        """Stop autoplay at the current ply, if the next is scheduled."""
        if service.scheduler.cancel(("replay", name)):
            stop_playing(service.hall, name)

    def left(applied: AppliedEvent) -> None:
        """Stop autoplay for a player who has left or reconnected."""
        service.scheduler.cancel(("replay", cast("_Left", applied.event).player))

    service.register_preview("player", partial(_preview_player, service))
    service.bus.subscribe(Replayed, schedule_next_ply)
    service.bus.subscribe((Gone, TookOver), left)
    service.on_blank_line(pause)


async def _preview_player(service: FeatureContext, name: str) -> tuple[str, str] | None:
    """Return a player's name and results for a link; None for an unknown player."""
    score = await service.look_up(ScoreLookup(name))
    if score is None and name not in service.hall.people:
        return None
    score = score or PlayerScore(name)
    won, drawn, lost = score.people.in_all
    return score.name, f"Battles against people: {won} won, {drawn} drawn, {lost} lost."


def is_replaying(hall: Hall, name: str) -> bool:
    """Whether a player's replay is in autoplay."""
    person = hall.people.get(name)
    return bool(person and (seen := replay_of(person)) and seen.is_autoplaying)


def play_on(service: FeatureContext, name: str, cause: object = None) -> None:
    """Show the next ply of a replay in autoplay."""
    hall = service.hall
    if is_replaying(hall, name):
        context = CommandContext(hall, hall.people[name], service.clock(), NOTHING_FOUND, name)
        for aside in Step(Way.PLAY).decide(context).asides:
            service.tell(aside, cause)


def stop_playing(hall: Hall, name: str) -> None:
    """Stop the autoplay of a player's replay at its current ply."""
    person = hall.people.get(name)
    if person and (seen := replay_of(person)):
        show_replay(person, replace(seen, is_autoplaying=False))
