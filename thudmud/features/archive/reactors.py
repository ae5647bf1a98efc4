"""Replays that go on by themselves, ply after ply."""

from __future__ import annotations

from dataclasses import replace

from thudmud.features.archive import messages as archive
from thudmud.features.archive.commands import Step, Way
from thudmud.features.archive.model import replay_of, show_replay
from thudmud.game.decisions import decide
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.interface import Base

PLIES_AT_ONCE = 20
"""How many plies one line shows without pauses."""


class Replays:
    """Shows the next plies of replays, at once or after pauses.

    Args:
        base: what the parts of a service share.
        pause: seconds between two plies. With 0 several are shown at once; with None the front end
            calls `play_on`.
        broadcaster: tells them.
    """

    def __init__(self, base: Base, pause: float | None, broadcaster: Broadcaster) -> None:
        self._hall, self._clock, self._pause = base.hall, base.clock, pause
        self._broadcaster = broadcaster
        self._scheduler = base.scheduler

    def is_replaying(self, name: str) -> bool:
        """Whether a player's replay goes on by itself."""
        person = self._hall.people.get(name)
        return bool(person and (seen := replay_of(person)) and seen.playing)

    def play_on(self, name: str, cause: object = None) -> None:
        """Show the next ply of such a replay."""
        if self.is_replaying(name):
            self._broadcaster.carry_out(decide(self._hall, name, Step(Way.PLAY), 0)[0], cause)

    def stop_playing(self, name: str) -> None:
        """Stop at the ply that is shown."""
        person = self._hall.people.get(name)
        if person and (seen := replay_of(person)):
            show_replay(person, replace(seen, playing=False))

    def go_on(self, name: str, cause: object = None) -> None:
        """Show the next plies, if a player has asked for that: at once, or later."""
        self._scheduler.cancel(("replay", name))
        if self._pause == 0:
            self._play_at_once(name, cause)
        elif self._pause and self.is_replaying(name):
            at = self._clock() + self._pause
            self._scheduler.at(("replay", name), at, lambda: self._next(name))

    def _play_at_once(self, name: str, cause: object) -> None:
        """Show several plies and stop, since everybody else waits meanwhile."""
        for _ in range(1, PLIES_AT_ONCE):
            self.play_on(name, cause)
        if self.is_replaying(name):
            self.stop_playing(name)
            self._broadcaster.say(name, archive.PLAY_ON, cause)

    def _next(self, name: str) -> None:
        self.play_on(name)  # unless a ply of their own battle ended the replay meanwhile
        self.go_on(name)

    def pause(self, name: str) -> None:
        """Stop at the ply that is shown, if the next would come by itself."""
        if self._scheduler.cancel(("replay", name)):
            self.stop_playing(name)

    def end(self, name: str) -> None:
        """End the replay of a player who leaves."""
        self._scheduler.cancel(("replay", name))
