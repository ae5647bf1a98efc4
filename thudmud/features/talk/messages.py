"""Talk as text and as facts for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from thudmud.english import capitalised, conjugate
from thudmud.features.talk.model import DeafNotice
from thudmud.features.talk.socials import is_gesture
from thudmud.game.asides import Aside, Emoted, Spoke, Told, TookOver
from thudmud.game.options import Toggle
from thudmud.game.refusals import Refusal
from thudmud.views.data import Data, Fact
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, add_facts_to, facts, words
from thudmud.views.view import Display, View
from thudmud.views.words import plain, time_of_day, wrap

_REFUSALS = {
    Refusal.TELL_SELF: 'That\'s you. To speak to the room, type "say".',
    Refusal.SOCIAL_TO_SELF: 'That\'s you. "{social}" alone is for everybody around you.',
    Refusal.SOCIAL_TO_NOBODY: (
        'Nobody around you is called "{words}". To do it in your own words, type "emote {deed}" and'
        " the rest."
    ),
    Refusal.NOBODY_TO_REPLY_TO: (
        'Nobody has told you anything yet. "say" speaks to the room, "tell" and a name to one'
        " player."
    ),
    Refusal.WHISPER_FOR_TELL: (
        'Everybody who watches hears a whisper. To tell only {player}, type "{typed}". If it is for'
        " everybody, begin with another word."
    ),
    Refusal.NOT_LISTENING: "{player} isn't taking messages from you.",
    Refusal.SHOUTS_OFF: (
        "You've turned shouts off, so you can't shout either. \"options shout on\" turns both back"
        " on."
    ),
    Refusal.SHOUTS_TOO_FAST: (
        "That wasn't shouted: everybody has just heard shouts from {whom}. You can shout again in"
        " {seconds}."
    ),
    Refusal.NOT_WATCHING: (
        'You aren\'t watching the {board}. To talk about it, type "observe {board}" or go there'
        " first."
    ),
    Refusal.WATCHING_NOTHING: (
        'You aren\'t watching any board. Type "observe" and the name of one first.'
    ),
}
add_refusal_texts(_REFUSALS)


_SAID = {None, Toggle.WATCHERS}

_JOINS = ("'s ", ", ")
"""Prefixes of emotes that follow the name without a blank."""


@words.register
def _spoke(aside: Spoke, context: RenderContext, view: View) -> list[str]:
    verb = "say" if aside.talk in _SAID else aside.verb
    return in_own_words(f"{conjugate(aside.player, view.me, verb)}: {aside.text}", context, view)


@words.register
def _emoted(aside: Emoted, context: RenderContext, view: View) -> list[str]:
    if is_gesture(aside.text):
        text = aside.text
        if aside.to is not None and aside.to == view.me:
            text = f"{text.removesuffix(aside.to)}you"
        stop = "" if text.endswith((".", "!", "?")) else "."
        return in_own_words(f"{capitalised(aside.player)} {text}{stop}", context, view)
    blank = "" if aside.text.startswith(_JOINS) else " "
    mark = "Emote:" if view.display.is_for_reader else "*"
    return in_own_words(f"{mark} {capitalised(aside.player)}{blank}{aside.text}", context, view)


@words.register
def _render_tell(aside: Told, context: RenderContext, view: View) -> list[str]:
    whom = "you" if aside.to == view.me else aside.to
    said = f"{conjugate(aside.player, view.me, 'tell')} {whom}: {aside.text}"
    lines = in_own_words(said, context, view)
    if aside.player == view.me and aside.to in context.hall.bots:
        lines += wrap(f"{aside.to} is a bot, and not much of a talker.", view.width)
    return lines


def in_own_words(text: str, context: RenderContext, view: View) -> list[str]:
    """Return a message by a player as lines that can't be mistaken for the server's own.

    Unlike `own_words` it adds the board's name and the time where the reader needs them.
    """
    if text[:1].islower():
        text = capitalised(text)
    if context.table and view.is_elsewhere:
        text = f"[{context.table.name}] {text}"
    if view.display.shows_times and context.player != view.me:
        text = f"{time_of_day(context.at)} {text}"
    return own_words(text, view.display)


def own_words(text: str, display: Display) -> list[str]:
    """Return a player's text as lines that can't be mistaken for the server's own.

    Continuation lines are indented, or marked for a screen reader.
    """
    if display.is_ascii_only:
        text = plain(text)  # before wrapping: it may get longer
    # Screen readers don't read indentation aloud.
    indent = "more: " if display.is_for_reader else "    "
    # If the client broke the line, a player's words could begin one like the server's own.
    return wrap(text, min(display.width, display.screen_width), indent, glued=False)


@words.register
def _players_deaf(_: DeafNotice, __: RenderContext, view: View) -> list[str]:
    deaf = 'The players can\'t hear you while they play. "kibitz" reaches them, too.'
    return wrap(deaf, view.width)


@facts.register
def _talk_facts(aside: Spoke | Emoted | Told, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Say", {**_talk_data(aside), "at": int(context.at)})


def _talk_data(aside: Spoke | Emoted | Told) -> Data:
    room, to = (None, aside.to) if isinstance(aside, Told) else (aside.room, None)
    known = {"room": room, "player": aside.player, "kind": aside.verb, "text": aside.text}
    return {**known, "to": to}


@add_facts_to(TookOver)
def _heard_facts(took: TookOver, context: RenderContext) -> Iterator[Fact]:
    """Yield what a player who goes on from another connection has heard during this visit."""
    if heard := context.hall.talk_heard(took.player):
        yield said_fact(heard)


def said_fact(heard: Iterable[Aside]) -> Fact:
    """Return the fact about what a player has heard before."""
    lines = [_talk_data(each) for each in heard if isinstance(each, Spoke | Emoted | Told)]
    return Fact("Thud.Said", {"lines": lines})
