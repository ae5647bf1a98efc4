"""Commands for talking to a room, to one player, and about a battle."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.talk.model import DeafNotice, DeafNoticeShown
from thudmud.game.asides import Emoted, Spoke, Told
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.hall import Decision, Hall
from thudmud.game.meaning import resolve_player_here, resolve_watched_board, split_board
from thudmud.game.options import Toggle
from thudmud.game.refusals import Refusal


@verb("say")
class Say(Command):
    """Speak to everybody in the room."""

    text: str
    speaks = True

    def decide(self, scene: CommandContext) -> Decision:
        return _aloud(scene, Spoke, self.text)


@verb("emote")
class Emote(Command):
    """Emote: show everybody in the room one's name followed by the text."""

    text: str
    speaks = True

    def decide(self, scene: CommandContext) -> Decision:
        return _aloud(scene, Emoted, self.text)


def _aloud(scene: CommandContext, kind: type[Spoke | Emoted], text: str) -> Decision:
    """Decide to speak or emote in the player's room.

    During a battle, observers' talk reaches its players only if they have chosen to receive it.
    """
    hall, person, me = scene.hall, scene.person, scene.me
    table = hall.tables[person.room] if person.room else None
    if table is None or not table.is_running or me in table.seats.values():
        return scene.decide_asides(kind(me, person.room, text))
    aside = kind(me, person.room, text, Toggle.WATCHERS)
    if DeafNoticeShown not in person.parts:
        for player in table.seats.values():
            if player in hall.people and not hall.hears(player, Toggle.WATCHERS, table):
                return scene.decide_asides(aside, DeafNotice(me, table.name))
    return scene.decide_asides(aside)


@verb("shout")
class Shout(Command):
    """Speak to everybody who has not turned shouts off."""

    text: str
    speaks = True
    rate_limit = "shouts"

    def decide(self, scene: CommandContext) -> Decision:
        if not scene.person.options.has(Toggle.SHOUT):
            raise RefusedError(Refusal.SHOUTS_OFF)
        return scene.decide_asides(Spoke(scene.me, None, self.text, Toggle.SHOUT))


@verb("kibitz")
class Kibitz(Command):
    """Speak to the players and observers of a board; the text may end in "on" and the board."""

    text: str
    speaks = True

    def decide(self, scene: CommandContext) -> Decision:
        return _about_battle(scene, self.text, Toggle.KIBITZ)


@verb("whisper")
class Whisper(Command):
    """Speak to the observers of a board only; the text may end in "on" and the board."""

    text: str
    speaks = True

    def decide(self, scene: CommandContext) -> Decision:
        return _about_battle(scene, self.text, Toggle.WHISPER)


def _about_battle(scene: CommandContext, text: str, talk: Toggle) -> Decision:
    """Decide to kibitz or whisper about a battle.

    As on FICS, players of the battle can kibitz and whisper, too. Their whispers reach the
    observers but not the opponent. Players never receive whispers, so nobody can help them that
    way.
    """
    text, words = split_board(scene.hall, text)
    table = resolve_watched_board(scene.hall, scene.person, words)
    spoke = Spoke(scene.me, table.name, text, talk)
    return Decision(scene.me, table.name if words else None, asides=(spoke,))


@verb("tell")
class Tell(Command):
    """Speak to one player."""

    player: str
    text: str
    speaks = True

    def decide(self, scene: CommandContext) -> Decision:
        to = resolve_player_here(scene, self.player)
        if to == scene.me:
            raise RefusedError(Refusal.TELL_SELF)
        require_not_ignored(scene.hall, to, scene.me)
        return scene.decide_asides(Told(scene.me, to, self.text))


def require_not_ignored(hall: Hall, to: str, player: str) -> None:
    """Raise RefusedError if `to` ignores `player`."""
    if hall.people.is_ignoring(to, player):
        raise RefusedError(Refusal.NOT_LISTENING, player=to)
