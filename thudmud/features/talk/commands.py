"""Commands for talking to a room, to one player, and about a battle."""

from __future__ import annotations

from collections.abc import Callable

from thudmud.english import shortened
from thudmud.errors import RefusedError
from thudmud.features.talk.model import DeafNotice, DeafNoticeShown, LastTeller
from thudmud.features.talk.socials import SOCIALS
from thudmud.game.asides import Emoted, Spoke, Told
from thudmud.game.command import Command, CommandContext, has_verb, verb
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Toggle
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import (
    match_one_by_prefix,
    resolve_player_here,
    resolve_watched_board,
    split_board,
)


@verb("say", good_game="of_good_game")
class Say(Command):
    """Speak to everybody in the room."""

    text: str
    speaks = True

    @classmethod
    def of_good_game(cls) -> Say:
        return cls("Good game!")

    def decide(self, context: CommandContext) -> Decision:
        return _aloud(context, Spoke, self.text)


@verb("emote")
class Emote(Command):
    """Emote: show everybody in the room one's name followed by the text."""

    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        return _aloud(context, Emoted, self.text)


@verb("social")
class Social(Command):
    """Emote by one of the words of `SOCIALS`, perhaps at a player who is here."""

    social: str
    player: str | None = None
    speaks = True

    def __str__(self) -> str:
        return f"{self.social}{self._typed('player')}"

    def decide(self, context: CommandContext) -> Decision:
        deed = SOCIALS[self.social]
        if self.player is None:
            return _aloud(context, Emoted, deed.alone)
        to = self._resolve_player(context, self.player)
        if to == context.me:
            raise RefusedError(Refusal.SOCIAL_TO_SELF, social=self.social)
        return _aloud(context, Emoted, f"{deed.to} {to}", to=to)

    def _resolve_player(self, context: CommandContext, words: str) -> str:
        """Resolve a name to a player who would see it: in the room, or seated at its board."""
        hall, room = context.hall, context.person.room
        seated = hall.tables[room].seats.values() if room else ()
        near = [*hall.people_in(room), *(each for each in seated if each in hall.people)]
        try:
            return match_one_by_prefix(words, dict.fromkeys(near), Refusal.NO_SUCH_PLAYER)
        except RefusedError as refusal:
            if refusal.code is not Refusal.NO_SUCH_PLAYER:
                raise
        deed = SOCIALS[self.social].alone
        raise RefusedError(Refusal.SOCIAL_TO_NOBODY, words=words, deed=deed)


def _aloud(
    context: CommandContext, kind: Callable[..., Spoke | Emoted], text: str, **details: str
) -> Decision:
    """Decide to speak or emote in the player's room.

    During a battle that is rated or has a clock, observers' talk reaches its players only if they
    have chosen to receive it.
    """
    hall, person, me = context.hall, context.person, context.me
    table = hall.tables[person.room] if person.room else None
    if table is None or me in table.seats.values() or not table.is_serious:
        return Decision(me, asides=(kind(me, person.room, text, **details),))
    aside = kind(me, person.room, text, Toggle.WATCHERS, **details)
    if DeafNoticeShown not in person.parts:
        for player in table.seats.values():
            if player in hall.people and not hall.hears(player, Toggle.WATCHERS, table):
                return Decision(me, asides=(aside, DeafNotice(me, table.name)))
    return Decision(me, asides=(aside,))


@verb("shout")
class Shout(Command):
    """Speak to everybody who has not turned shouts off."""

    text: str
    speaks = True
    rate_limit = "shouts"

    def decide(self, context: CommandContext) -> Decision:
        if not context.person.options.has(Toggle.SHOUT):
            raise RefusedError(Refusal.SHOUTS_OFF)
        return context.decide_asides(Spoke(context.me, None, self.text, Toggle.SHOUT))


@verb("kibitz")
class Kibitz(Command):
    """Speak to the players and observers of a board; the text may end in "on" and the board."""

    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        return _about_battle(context, self.text, Toggle.KIBITZ)


@verb("whisper")
class Whisper(Command):
    """Speak to the observers of a board only; the text may end in "on" and the board."""

    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        # In other places a whisper is for one player.
        word, _, rest = self.text.partition(" ")
        to = context.hall.people.names.get(word.rstrip(",:").lower())
        if to and to != context.me and rest and has_verb(context.hall, "tell"):
            typed = f"tell {to.lower()} {shortened(rest)}"
            raise RefusedError(Refusal.WHISPER_FOR_TELL, player=to, typed=typed)
        return _about_battle(context, self.text, Toggle.WHISPER)


def _about_battle(context: CommandContext, text: str, talk: Toggle) -> Decision:
    """Decide to kibitz or whisper about a battle.

    As on FICS, players of the battle can kibitz and whisper, too. Their whispers reach the
    observers but not the opponent. Players never receive whispers, so nobody can help them that
    way.
    """
    text, words = split_board(context.hall, text)
    table = resolve_watched_board(context.hall, context.person, words)
    spoke = Spoke(context.me, table.name, text, talk)
    return Decision(context.me, table.name if words else None, asides=(spoke,))


@verb("tell")
class Tell(Command):
    """Speak to one player."""

    player: str
    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        to = resolve_player_here(context, self.player)
        if to == context.me:
            raise RefusedError(Refusal.TELL_SELF)
        require_not_ignored(context.hall, to, context.me)
        return context.decide_asides(Told(context.me, to, self.text))


@verb("reply")
class Respond(Command):
    """Tell something to the player who was the last to tell one something."""

    text: str
    speaks = True

    def decide(self, context: CommandContext) -> Decision:
        to = context.person.part(LastTeller).name
        if to is None:
            raise RefusedError(Refusal.NOBODY_TO_REPLY_TO)
        return Tell(to, self.text).decide(context)


def require_not_ignored(hall: Hall, to: str, player: str) -> None:
    """Raise RefusedError if `to` ignores `player`."""
    if hall.people.is_ignoring(to, player):
        raise RefusedError(Refusal.NOT_LISTENING, player=to)
