"""Texts and facts about matchmaking: seeks, invitations and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from thudmud.english import capitalised, conjugate, join_words, rounded_duration
from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import (
    Accept,
    AcceptWord,
    Decline,
    No,
    PlayNow,
    Seeks,
    Withdraw,
    Yes,
)
from thudmud.features.matchmaking.model import InvitationDeclined
from thudmud.features.playing.seats import Join
from thudmud.game.asides import Entered, Gone, Invited
from thudmud.game.events import SeekEnd, SeekEnded, SeekMade
from thudmud.game.refusals import Refusal
from thudmud.values import replace
from thudmud.views.data import Fact
from thudmud.views.facts import declined_fact, seek_data, seek_facts
from thudmud.views.refusals import RefusalText, add_refusal_texts
from thudmud.views.registry import RenderContext, add_facts_to, facts, words
from thudmud.views.sentences import time_control_phrase
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import View
from thudmud.views.words import wrap, wrap_each


def _which_offer(_: RefusedError, details: Mapping[str, Any], __: str | None) -> str:
    offers = zip(details["lines"], details["players"], strict=True)
    ways = join_words([f'"{line}" ({player})' for line, player in offers], "or")
    return f"You have more than one offer. Type {ways}."


_REFUSALS: dict[Refusal, RefusalText] = {
    Refusal.INVITE_SELF: 'That\'s you. "join game as {side.value} on {board}" takes a seat.',
    Refusal.NO_INVITATIONS: (
        '{player} isn\'t taking invitations just now. "play" asks everybody else.'
    ),
    Refusal.PLAYS_THERE: "{player} already plays the {side.plural} at the {board}.",
    Refusal.PLAYS_AT_NO_LEVEL: (
        '{player} has no levels to choose from, so leave "level" out. "bots" lists those that do.'
    ),
    Refusal.NO_BOTS: (
        'There are no bots here, so there are no levels. "play" by itself finds a human opponent.'
    ),
    Refusal.NO_SUCH_LEVEL: 'There is no level "{words}". The levels are {levels:and}.',
    Refusal.NEW_BOARDS_FOR_MEMBERS: (
        'Only registered players can open boards here: "register" keeps your name. "play" and'
        ' "match" work for everybody.'
    ),
    Refusal.BOARD_FOR_PLAYER: (
        'There is no player called "{words}", but a board. To sit down there, type'
        ' "join game as dwarf on {words}" or "join game as troll on {words}".'
    ),
    Refusal.MATCH_SELF: 'That\'s you. "play" finds somebody else.',
    Refusal.RATED_FOR_MEMBERS: (
        'You\'re a guest, and only registered players have ratings. Leave "rated" out to play a'
        ' casual match, or type "register" first.'
    ),
    Refusal.ASKED_ALREADY: (
        'You\'ve already challenged {player}. Type "withdraw {number}" to cancel.'
    ),
    Refusal.SEEKING_ALREADY: (
        'You\'re already looking for an opponent. Type "withdraw {number}" to cancel.'
    ),
    Refusal.SEEK_IN_HASTE: (
        "Your clock is running at the {board}: finish that battle before you look for another"
        " opponent."
    ),
    Refusal.ASKS_ALREADY: "You've already asked {player}. They have another {seconds} to answer.",
    Refusal.ASKED_BY_OTHERS: (
        "{player} is playing, and somebody else has just asked them. Try again in {seconds}."
    ),
    Refusal.SEEKS_TOO_MANY: 'Open seeks: {most}, which is the limit. "withdraw" cancels them.',
    Refusal.SEEKS_FROM_ADDRESS: (
        "Players who share your internet address have {most} seeks beyond one each, which is the"
        ' limit. "withdraw" cancels yours.'
    ),
    Refusal.BOARDS_FROM_ADDRESS: (
        "Players who share your internet address have {most} boards beyond one each, which is the"
        " limit. To make room, leave the {boards:or}, or finish the match there.{free}"
    ),
    Refusal.NOTHING_SOUGHT: (
        "You aren't looking for a match, so there's nothing to withdraw."
        ' "seeks" lists the players who are.'
    ),
    Refusal.NOT_YOUR_SEEK: "Seek {number} isn't yours. Yours: {numbers:and}.",
    Refusal.NO_SUCH_SEEK: 'Seek {number} is gone. "seeks" lists the open ones.',
    Refusal.NO_SUCH_WORD: (
        'Nobody waits for the word "{word}". The challenge may have been accepted or withdrawn.'
    ),
    Refusal.WORD_TAKEN: 'The word "{word}" is in use. Choose another one.',
    Refusal.OWN_SEEK: 'Seek {number} is your own. Type "withdraw {number}" to cancel it.',
    Refusal.SEEKER_AWAY: "{player} is away just now. Try again when they are back.",
    Refusal.NOT_ASKED_YOU: "Seek {number} is open to anybody, so you don't need to decline it.",
    Refusal.NOTHING_STANDS: (
        'There is nothing to say yes or no to. "seeks" lists the players who want a match.'
    ),
    Refusal.SEEK_FOR_ANYBODY: (
        "There is nothing to say yes or no to. {player} is looking for an opponent, though:"
        ' "accept {number}" begins a match.'
    ),
    Refusal.NOTHING_OFFERED_BY: (
        '{player} hasn\'t offered you anything. "seeks" lists the players who want a match.'
    ),
    Refusal.WHICH_OFFER: _which_offer,
}
add_refusal_texts(_REFUSALS)


_YES_OR_NO = f' Type "{Yes()}" or "{No()}".'
"""How to answer a question."""


@words.register
def _invited(asked: Invited, _: RenderContext, view: View) -> list[str]:
    player, to, board, side = asked.player, asked.to, asked.board, asked.side
    if asked.battle is not None:
        asks = conjugate(player, view.me, "ask")
        whom = "you" if to == view.me else to
        told = f"{asks} {whom} to resume battle {asked.battle} at the {board}."
        return wrap_clickable(f"{told}{_YES_OR_NO if to == view.me else ''}", view)
    if to == view.me:
        seat = f"play the {side.plural} at the {board}"
        sits = f'To accept, type "{Join(side, board)}".'
        return wrap_clickable(f"{player} invites you to {seat}. {sits}", view)
    how = "" if asked.level is None else f", at level {asked.level}"
    invites = conjugate(player, view.me, "invite")
    return wrap(f"{invites} {to} to play the {side.plural} at the {board}{how}.", view.width)


@facts.register
def _invited_facts(asked: Invited, _: RenderContext) -> Iterator[Fact]:
    known = {"board": asked.board, "side": asked.side.value, "player": asked.player}
    yield Fact(
        "Thud.Invite", {**known, "to": asked.to, "level": asked.level, "battle": asked.battle}
    )


@words.register
def _turned_down(told: InvitationDeclined, _: RenderContext, view: View) -> list[str]:
    declines = conjugate(told.player, view.me, "decline")
    what = "sit down" if told.battle is None else f"resume battle {told.battle}"
    return wrap(f"{declines} to {what} at the {told.board}.", view.width)


@facts.register
def _turned_down_facts(told: InvitationDeclined, _: RenderContext) -> Iterator[Fact]:
    yield declined_fact(told.board, told.player, told.to)


@words.register
def _playing_now(_: PlayNow, context: RenderContext, view: View) -> list[str]:
    waits = "Meanwhile, here's a bot to play."
    if table := context.table:
        waits = f"Meanwhile, you can play on against the bot at the {table.name}."
    return wrap(waits, view.width)


@words.register
def _seek_made(seek: SeekMade, _: RenderContext, view: View) -> list[str]:
    if seek.word and view.display.is_drawn_by_client:
        return []  # it shows the link
    return wrap_clickable(seek_made(seek, view.me), view)


@facts.register
def _seek_made_facts(seek: SeekMade, _: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Seek", seek_data(seek))


def seek_made(seek: SeekMade, me: str | None) -> str:
    """Return a sentence about a seek, with the commands to answer."""
    if seek.answers is not None:
        return _asks_now(seek, me)
    wants = _wants(seek, me)
    if seek.word:
        typed = f'"{AcceptWord(seek.word)}"'
        return f'{wants}. Whoever types {typed} plays you; "{Withdraw(seek.number)}" cancels it.'
    if seek.player == me:
        return f'{wants}. Type "{Withdraw(seek.number)}" to cancel.'
    if seek.to:
        answers = f'"{Accept(seek.number)}" or "{Decline(seek.number)}"'
        return f"{wants}. To answer, type {answers}."
    return f'{wants}. "{Accept(seek.number)}" starts it.'


def _asks_now(seek: SeekMade, me: str | None) -> str:
    """Return the question to a busy seeker, or the confirmation for the asking player."""
    within = rounded_duration((seek.until or seek.at) - seek.at)
    if me == seek.to:
        match = _match_wanted(seek, me)
        return f"{seek.player} wants to play you now: {match}.{_YES_OR_NO} You have {within}."
    asked = f"{seek.to} is in a battle just now, and has been asked whether to begin yours instead"
    return f"{asked}. You'll know within {within}."


def _wants(seek: SeekMade, me: str | None) -> str:
    """Return a clause about a seek or challenge: the players and the match."""
    what = _match_wanted(seek, me)
    if seek.to and not seek.word:
        whom = "you" if seek.to == me else seek.to
        return f"{capitalised(conjugate(seek.player, me, 'challenge'))} {whom} to {what}"
    who = "You're" if seek.player == me else f"{seek.player} is"
    if seek.word:
        return f'{who} waiting for somebody with the word "{seek.word}": {what}'
    return f"{who} looking for {what}"


def terms_of(seek: SeekMade) -> str:
    """Return the words for the match of a seek, to anybody who may accept it, as a guest or not."""
    return _match_wanted(seek, None)


def _match_wanted(seek: SeekMade, me: str | None) -> str:
    """Return the words for a match, ``a casual match under classic rules``, and a side."""
    first = ""
    if seek.side and seek.player == me:
        first = f"; you play the {seek.side.plural} first"
    elif seek.side:
        first = f"; you would play the {seek.side.other.plural} first"
    rules = f"under {seek.rules} rules{time_control_phrase(seek.time)}"
    if seek.rated and me is None:
        return f"a match {rules}, rated unless you're a guest{first}"
    return f"a {'rated' if seek.rated else 'casual'} match {rules}{first}"


@add_facts_to(Entered)
def _seeks_of_arrival(told: Entered, context: RenderContext) -> Iterator[Fact]:
    """Yield the arriving player's seeks that are still open, as after a restart of the server."""
    for seek in context.hall.seeks.values():
        if seek.player == told.player and not seek.to:
            yield Fact("Thud.Seek", seek_data(seek))


@add_facts_to(Gone)
def _seeks_of_departure(told: Gone, context: RenderContext) -> Iterator[Fact]:
    """Yield the end of a player's seeks for now, as their server has died; they may come back."""
    for seek in context.hall.seeks.values() if told.parting.is_by_server else ():
        if seek.player == told.player and not seek.to:
            known = {"seek": seek.number, "why": SeekEnd.GONE.value, "player": told.player}
            yield Fact("Thud.Settled", known)


@words.register
def _seek_ended(ended: SeekEnded, _: RenderContext, view: View) -> list[str]:
    return wrap_clickable(_why_ended(ended, view.me), view)


@facts.register
def _seek_ended_facts(ended: SeekEnded, _: RenderContext) -> Iterator[Fact]:
    known = {"seek": ended.number, "why": ended.why.value, "player": ended.player}
    yield Fact("Thud.Settled", known)


def _why_ended(ended: SeekEnded, me: str | None) -> str:
    """Return why a seek ended, for the players concerned; "" for others."""
    seeker, player = ended.seeker, ended.player
    match ended.why:
        case SeekEnd.ACCEPTED if me == seeker != player:
            return f"{player} accepts. Your match begins!"
        case SeekEnd.ACCEPTED if me == player:
            return f"You accept {seeker}'s challenge. Your match begins!"
        case SeekEnd.UNANSWERED if me == seeker:
            return f"{ended.to} hasn't answered."
        case SeekEnd.UNANSWERED if me == ended.to:
            again = f'"{PlayNow()}" looks for an opponent again'
            return f"You didn't answer {seeker}, so you play on. {again}."
        case SeekEnd.PLAYING if me == seeker and not ended.to:
            return "You are no longer looking for another match."
        case SeekEnd.DECLINED if me == seeker:
            return f"{player} declines."
        case SeekEnd.DECLINED if me == player:
            return f"You decline. {seeker} has been told."
        case SeekEnd.WITHDRAWN | SeekEnd.GONE | SeekEnd.PLAYING if me == seeker == ended.to:
            return "Your challenge is withdrawn."
        case SeekEnd.WITHDRAWN | SeekEnd.GONE | SeekEnd.PLAYING if me == seeker and ended.to:
            return f"Your challenge to {ended.to} is withdrawn."
        case SeekEnd.WITHDRAWN | SeekEnd.GONE if me == seeker:
            return "You are no longer looking for that match."
        case SeekEnd.WITHDRAWN | SeekEnd.GONE | SeekEnd.PLAYING if me == ended.to:
            return f"{seeker}'s challenge is withdrawn."
    return ""


@words.register
def _seeks(_: Seeks, context: RenderContext, view: View) -> list[str]:
    """Return the list of the seeks that the player may accept, or has made."""
    hall, player, width = context.hall, context.player, view.width
    here = [each for each in hall.seeks.values() if each.player in hall.people]
    stands = [each for each in here if each.to in {"", player}]
    stands += [each for each in hall.seeks.values() if each.player == player != each.to != ""]
    if not stands:
        has_bot = any(hall.bots[each] for each in hall.bots_here())
        until = ", and a bot to play meanwhile" if has_bot else ""
        typed = f'"{PlayNow()}" finds you an opponent{until}.'
        return wrap(f"Nobody is looking for a match just now. {typed}", width)
    stands.sort(key=attrgetter("number"))
    if player not in hall.people.members:
        stands = [replace(each, rated=False) for each in stands]  # guests' matches are casual
    entries = (f"{each.number:>3}. {_wants(each, player)}." for each in stands)
    lines = wrap_each(entries, width, "     ")
    others = [each.number for each in stands if each.player != player]
    if others:
        lines += wrap(f'"{Accept(others[0])}" accepts the first of them.', width)
    if any(each.player == player for each in stands):
        lines += wrap(f'"{Withdraw()}" cancels yours.', width)
    return lines


@facts.register
def _seeks_facts(_: Seeks, context: RenderContext) -> Iterator[Fact]:
    yield from seek_facts(context.hall, context.player)
