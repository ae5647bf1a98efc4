"""Sentences on events at boards for one reader, and phrases that they share.

A sentence depends only on the event and on the table right after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from thudmud.english import (
    capitalised,
    conjugate,
    join_words,
    pluralize,
    rounded_duration,
    two_unit_duration,
)
from thudmud.game import events
from thudmud.game.clocks import Clock, TimeControl
from thudmud.game.evaluation import WIN_SCORE
from thudmud.game.events import NO_BOTS, Offer, Parting, TableEvent
from thudmud.game.match import Match, Unrated
from thudmud.game.table import Table
from thudmud.rules import (
    MOST_PLIES,
    Ending,
    Game,
    Move,
    Outcome,
    Piece,
    Ruleset,
    Score,
    Side,
    Verb,
)
from thudmud.views.refusals import free_seat, who_sits
from thudmud.views.words import victims_phrase

TURNED = (
    events.Joined,
    events.BattleStarted,
    events.Moved,
    events.TakenBack,
    events.Resumed,
)
"""Events after which everybody gets to know the side to move."""

OFFERS = {
    Offer.END: "end the battle",
    Offer.RESTART: "start over with a new match",
    Offer.REMATCH: "play another match",
    Offer.BEGIN: "begin the battle",
    Offer.ADJOURN: "adjourn the match",
    Offer.UNDO: "take the last move back",
}
"""The action that each offer proposes."""

EVEN_SCORE = 50
"""The score in hundredths of a dwarf below which the sides count as even."""

_AGREED_BY = {
    Offer.END: "end game",
    Offer.RESTART: "start game",
    Offer.REMATCH: "start game",
    Offer.BEGIN: "start game",
    Offer.ADJOURN: "adjourn game",
    Offer.UNDO: "undo",
}
"""The command that accepts each offer, without the board."""

LOSSES = {
    Parting.LOST: "{player} has lost the connection.",
    Parting.IDLE: "{player} was idle for too long, and is disconnected.",
    Parting.CUT_OFF: "{player} has lost the connection.",
    Parting.RESTART: "The server was down for a while.",
}
"""Explanations why a player is absent involuntarily."""

ENDINGS = {
    Ending.AGREEMENT: "Both players agree to end the battle.",
    Ending.QUIET: "Nothing has been captured for {moves}.",
    Ending.DESERTION: "There is no opponent left.",
    Ending.ROCK_ESCAPED: "The Rock is home.",
    Ending.ROCK_CAPTURED: "Three trolls stand next to the Rock.",
    Ending.NO_MOVE: "The {turn} have no move left.",
    Ending.LENGTH: f"That was move {MOST_PLIES:,}, which is the limit for a battle.",
}
"""Explanations of endings that aren't one player's doing alone."""

UNKNOWN = "somebody"
"""A player of an imported battle whose name is unknown."""

PAST_ENDINGS = {
    Ending.AGREEMENT: "ended by agreement",
    Ending.QUIET: "ended for lack of captures",
    Ending.NO_MOVE: "one side had no move left",
    Ending.RESIGNATION: "{loser} resigned",
    Ending.ROCK_ESCAPED: "the Rock came home",
    Ending.ROCK_CAPTURED: "the Rock was surrounded",
    Ending.DESERTION: "ended by one player",
    Ending.CLAIM: "{loser} stopped playing",
    Ending.TIME: "{loser} ran out of time",
    Ending.LENGTH: f"ended after {MOST_PLIES:,} moves",
}
"""The endings of past battles, as parts of sentences."""


def past_ending(outcome: Outcome, rules: Ruleset | None, loser: str) -> str:
    """Return how a past battle ended, as a part of a sentence.

    Args:
        outcome: the outcome.
        rules: the ruleset; None if it is unknown.
        loser: the loser's name, if any.
    """
    if rules and (captured := rules.scoring.captured_side(outcome)):
        return f"every {captured.value} was captured"
    return PAST_ENDINGS[outcome.ending].format(loser=loser)


MOVES_LEFT = frozenset({100, 50, 10})
"""Numbers of remaining moves at which both players are warned."""

PROMPT = "> "
"""The prompt."""

SEEKING_PROMPT = '[seeking: "withdraw" ends it]> '
"""The prompt of a player who is looking for an opponent."""

PLAYS_ON = "You play on."
"""The reaction to "no" when asked whether to resign."""


def event_sentences(event: TableEvent, table: Table, me: str | None) -> list[str]:
    """Return an event as sentences. Commands in them include the board's name.

    Args:
        event: the event.
        table: the table right after it.
        me: the reader's name if the event or a seat is theirs, else None.
    """
    return list(map(capitalised, _facts(event, table, me)))


def _facts(event: TableEvent, table: Table, me: str | None) -> list[str]:
    """Return the sentences, possibly in lower case. The most frequent events come first."""
    # Long: one case for each event, where mypy checks that none is missing.
    match event:
        case events.Moved():
            return [ply(event.move, event.player, me), *_nearing_the_end(table)]
        case events.Offered():
            return _offered(event, table, me)
        case events.Joined():
            return _joined_sentences(event, table, me)
        case events.BattleStarted(player=player, dwarf=dwarf, troll=troll) if dwarf == troll:
            plays = f"under {event.rules} rules, playing both sides"
            return [f"{conjugate(player, me, 'practise')} at the {table.name} {plays}."]
        case events.BattleStarted():
            return _battle_started(event, me)
        case events.BattleEnded():
            return _battle_ended(event, table, me)
        case events.Left():
            return _left(event, table, me)
        case events.Absent():
            return _absent(event, table, me)
        case events.Returned(side=side) if table.is_practice and side.other in table.away:
            return []  # they return to both seats: one sentence, with the second event
        case events.Returned(player=player) if player == me:
            plays = "both sides" if table.is_practice else f"the {event.side.plural}"
            return [f"You're back at the {table.name}, playing {plays}."]
        case events.Returned():
            return [f"{event.player} is back at the {table.name}."]
        case events.Cleared(player="") if table.key.startswith(events.MADE):
            return [f"The {table.name} is put away."]
        case events.Cleared(player=""):
            return [f"The {table.name} is closing, so it has been cleared."]
        case events.Cleared():
            rules = f"with {table.ruleset.name} rules"
            return [f"Everyone has left the {table.name}. It is free again, {rules}."]
        case events.RulesSet():
            sets = conjugate(event.player, me, "set")
            return [f"{sets} the rules of the {table.name} to {event.rules}."]
        case events.PositionSet():
            return _position_set(event, table, me)
        case events.TimeSet():
            return [_time_set(event, table, me)]
        case events.ClockHeld():
            paused = f"was stopped for {two_unit_duration(event.seconds)}"
            return [
                f"The server was down for a while. The clock at the {table.name} {paused}.",
            ]
        case events.IdleWarned():
            return _idle_warned(event, table, me)
        case events.OfferLapsed():
            return [f"The offer to {OFFERS[event.offer]} has lapsed."]
        case events.Declined():
            return [f"{conjugate(event.player, me, 'decline')} the offer to {OFFERS[event.offer]}."]
        case events.TakenBack():
            own, *reply = event.moves
            takes = conjugate(table.seats.get(event.side, "nobody"), me, "take")
            if len(reply) > 1:
                several = f"the last {len(event.moves)} moves, from {_short_way(own)} on"
                return [f"{takes} back {several}."]
            answer = f" and the reply {_short_way(reply[0])}" if reply else ""
            return [f"{takes} back {_short_way(own)}{answer}."]
        case events.Adjourned(match=match):
            return _adjourned(match, table, me)
        case events.Resumed(match=match):
            return _resumed(match, table, me)
        case _:
            assert_never(event)


def _adjourned(match: events.SavedMatch, table: Table, me: str | None) -> list[str]:
    is_mine, is_practice = me in {match.dwarf, match.troll}, match.dwarf == match.troll
    what = f"{'your' if is_mine else 'their'} {'practice' if is_practice else 'match'}"
    free = f"The {table.name} is free again."
    told = [f"{_both_players(match.dwarf, match.troll, me, 'adjourn')} {what}.", free]
    if is_mine:
        alone = is_practice or match.levels != events.NO_BOTS
        when = "at any free board" if alone else "at a board where you both are"
        told.append(f'"resume game" {when} continues it.')
    return told


def _resumed(match: events.SavedMatch, table: Table, me: str | None) -> list[str]:
    is_mine, is_practice = me in {match.dwarf, match.troll}, match.dwarf == match.troll
    what = f"{'your' if is_mine else 'their'} {'practice' if is_practice else 'match'}"
    resume = _both_players(match.dwarf, match.troll, me, "resume")
    told = [f"{resume} {what} at the {table.name} {_terms(match.rules, match.time)}."]
    if is_practice:
        return told
    told.append(_sides(match.dwarf, match.troll, me))
    return told if table.is_running else [*told, next_step(table, me)]


def _battle_started(event: events.BattleStarted, me: str | None) -> list[str]:
    begin = _both_players(event.dwarf, event.troll, me, "begin")
    if event.number > 1:
        what = f"the second battle {_terms(event.rules, event.time)}, with the seats swapped"
    else:
        kind = "rated" if event.rated else "casual"
        what = f"a match {_terms(event.rules, event.time, kind)}"
    told = [f"{begin} {what}.", _sides(event.dwarf, event.troll, me)]
    if event.opening:
        told.append("It starts from a set-up position, so it doesn't count for scores or ratings.")
    return told


def _position_set(event: events.PositionSet, table: Table, me: str | None) -> list[str]:
    sets, position = conjugate(event.player, me, "set"), event.opening
    if position is None:
        return [f"{sets} up the {event.rules} opening at the {table.name}."]
    pieces = [pluralize(position.count(Piece.of(side)), side.value) for side in Side]
    turn = f"with the {position.turn.plural} to move first"
    told = [f"{sets} up a position at the {table.name}: {join_words(pieces)}, {turn}."]
    if me in {event.player, *table.seats.values()}:
        told.append("Battles from it don't count for scores or ratings.")
    return told


def _time_set(event: events.TimeSet, table: Table, me: str | None) -> str:
    if event.time is None:
        return f"{conjugate(event.player, me, 'remove')} the clock from the {table.name}."
    time = time_control_in_words(event.time)
    if not event.time.is_correspondence:
        time = f"{event.time}: {time}"
    return f"{conjugate(event.player, me, 'set')} the clock of the {table.name} to {time}."


def _idle_warned(event: events.IdleWarned, table: Table, me: str | None) -> list[str]:
    """Return the warning about an idle player."""
    other = table.seats[event.side.other]
    wait = rounded_duration((table.claimable_at or event.at) - event.at)
    if me == event.player:
        return [f"{other} is waiting, and can claim the battle in {wait} if you don't move."]
    told = [f"{event.player} hasn't moved for {rounded_duration(event.at - table.waiting_since)}."]
    claims = f"{other} can claim the battle"
    if me == other:
        claims = f'you can claim the battle by typing "claim game on {table.name}"'
    return [*told, f"In {wait} {claims}."]


def _nearing_the_end(table: Table) -> list[str]:
    """Return a warning if the battle has just come close to its end, or may be ended by now."""
    game = table.game
    if game is None:
        return []
    told, left = [], MOST_PLIES - len(game.moves)
    if left in MOVES_LEFT:
        told.append(f"This battle has {left} moves left: it ends after move {MOST_PLIES:,}.")
    # Practice can be ended at any time.
    if table.quiet_limit and game.quiet_plies == table.quiet_limit and not table.is_practice:
        can = f'Either player can now end the battle by typing "end game on {table.name}".'
        told += [f"Nothing has been captured for {pluralize(game.quiet_plies, 'move')}.", can]
    return told


def _offered(event: events.Offered, table: Table, me: str | None) -> list[str]:
    game, side = table.game, table.side_of(event.player)
    told = [f"{conjugate(event.player, me, 'offer')} to {OFFERS[event.offer]}."]
    if event.offer is Offer.END and game:
        told.append(_score_by_agreement(game, table, me))
    if event.offer is Offer.UNDO and game and side:
        last = game.moves[-1 if game.position.turn is side.other else -2]
        asks = f"{conjugate(event.player, me, 'ask')} to take back"
        if event.player == me:
            asks = f"you ask {table.seats.get(side.other, 'nobody')} to let you take back"
        told = [f"{asks} {_short_way(last)}."]
        if event.moves > 1:
            which = "your" if event.player == me else "their"
            told = [f"{asks} {which} last {event.moves} moves, with the replies."]
    if event.offer is Offer.REMATCH and table.match:
        match, dwarf = table.match, table.seats[Side.DWARF]
        kind = "rated" if match.began_rated and not match.tournament else "casual"
        terms = _terms(table.ruleset.name, table.time, kind)
        first = f"{'You' if dwarf == me else dwarf} would have the dwarfs first."
        told = [f"{conjugate(event.player, me, 'offer')} a rematch {terms}.", first]
    elif event.offer is Offer.BEGIN:
        what = "the second battle" if table.half_played else "a match"
        terms = _terms(table.ruleset.name, table.time)
        told = [f"{conjugate(event.player, me, 'offer')} to begin {what} {terms}."]
    elif event.offer is Offer.RESTART and table.match and table.match.is_binding:
        told.append(f"That would cost {'you' if event.player == me else 'them'} this rated match.")
    agrees, declines = f"{_AGREED_BY[event.offer]} on {table.name}", f'"no on {table.name}"'
    if table.is_running:
        declines += " or the next move"
    if event.player == me:
        told.append(f"{declines} withdraws it.")
    elif me in table.seats.values():
        told.append(f'To agree, type "{agrees}"; {declines} declines.')
    return told


def _score_by_agreement(game: Game, table: Table, me: str | None) -> str:
    """Return the score with which the battle would end now, as a sentence."""
    outcome = game.ruleset.agreed_outcome(game.position, Ending.AGREEMENT)
    winner = outcome.winner
    if winner is None:
        score = outcome.score.dwarf
        return f"As it stands, the battle would be drawn{f' {score} all' if score else ''}."
    name = table.seats.get(winner, f"the {winner.plural}")
    who = "you" if name == me else name
    mine, theirs = outcome.score.of(winner), outcome.score.of(winner.other)
    return f"As it stands, {who} would win {mine} to {theirs}."


def _joined_sentences(event: events.Joined, table: Table, me: str | None) -> list[str]:
    sits = conjugate(event.player, me, "sit")
    told = [f"{sits} down at the {table.name} to play the {event.side.plural}."]
    if table.match and not table.match.is_over and table.match.points(event.side):
        told.append(f"The seat comes with {pluralize(table.match.points(event.side), 'point')}.")
    if table.match and table.has_match_under_way and table.match.unrated_reason is Unrated.REPLACED:
        told.append("The match no longer counts for ratings.")
    if table.is_running:
        return told
    if table.is_full:
        stop = "." if table.away else ":"  # before "When" or a command
        return [*told, f"Both seats are taken{stop} {next_step(table, me)}"]
    return [*told, free_seat(table.name, table.seating, me)]


def _left(event: events.Left, table: Table, me: str | None) -> list[str]:
    seat, is_ = f"the {event.side.value} seat at the {table.name}", "is"
    if table.match and table.match.is_practice:
        if table.seats:
            return []  # they leave both seats: one sentence, with the second event
        seat, is_ = f"both seats at the {table.name}", "are"
    if event.parting is Parting.QUIT:
        leave = "leave" if event.player == me else "leaves"
        told = [f"{conjugate(event.player, me, 'quit')} and {leave} {seat}."]
    elif event.parting is Parting.LEFT:
        told = [f"{conjugate(event.player, me, 'leave')} {seat}."]
    else:
        told = [f"{event.player} has been away for too long, so {seat} {is_} free."]
    if table.is_running and table.seats:
        if table.levels.of(event.side.other) is None:
            told.append("The battle waits.")
        if me in table.seats.values():
            asks = f'"invite" and a name asks someone to take over; "end game on {table.name}"'
            told.append(f"{asks} ends it now.")
    elif table.half_played and me in table.seats.values():
        asks = '"invite" and a name asks someone to take over'
        told.append(f'{asks}; "leave game on {table.name}" ends the match.')
    return told


def _absent(event: events.Absent, table: Table, me: str | None) -> list[str]:
    seat, is_ = f"the {event.side.value} seat at the {table.name}", "is"
    if table.is_practice:
        if event.side.other not in table.away:
            return []  # they are away from both seats: one sentence, with the second event
        seat, is_ = f"both seats at the {table.name}", "are"
    if event.parting in LOSSES:
        told = [LOSSES[event.parting].format(player=event.player)]
        told.append(f"{capitalised(seat)} {is_} kept for {event.player}.")
    elif event.parting is Parting.LEFT:
        told = [f"{conjugate(event.player, me, 'walk')} away; {seat} {is_} kept."]
    else:
        told = [f"{conjugate(event.player, me, 'quit')}; {seat} {is_} kept."]
    other = table.seats.get(event.side.other)
    if not (table.has_match_under_way and me and other != event.player):
        return told
    if me == other:
        told += _while_away(table)
    elif me == event.player and event.parting is Parting.QUIT:
        told += _at_stake(event, table)
    return told


def _at_stake(event: events.Absent, table: Table) -> list[str]:
    """Warn a player who quits during a match about the consequences of staying away."""
    if table.levels != NO_BOTS or table.is_by_correspondence:
        return []
    if clock := table.clock:
        runs = "starts after your opponent's next move"
        if clock.turn is event.side:
            stopped = _stopped_for(clock.remaining_standstill)
            runs = stopped if clock.remaining_standstill else "keeps running"
        return [
            f"Your clock {runs}: you have {time_left(clock.advanced_to(event.at), event.side)}."
        ]
    if not table.is_running or table.grace is None:
        return []
    when = f"in {rounded_duration(table.grace)}" if table.grace else "now"
    return [f"Your opponent can claim the battle {when}."]


_MOMENT = 5.0
"""Seconds below which a length isn't worth a number."""


def _stopped_for(seconds: float) -> str:
    """Return how long a clock is stopped, as the end of a sentence."""
    if seconds < _MOMENT:
        return "is stopped for a moment"
    return f"is stopped for at most {rounded_duration(seconds)}"


def _while_away(table: Table) -> list[str]:
    """Return the options of an absent player's opponent."""
    clock, grace = table.clock, table.grace
    if clock or grace is None:
        if clock is None or table.is_by_correspondence:
            return []  # by correspondence there is nothing to wait for
        stopped = _stopped_for(clock.remaining_standstill)
        return [f"The clock {stopped if clock.remaining_standstill else 'keeps running'}."]
    types = f'"claim game on {table.name}" or "adjourn game on {table.name}"'
    can = f"you can claim the battle or adjourn the match by typing {types}"
    return [f"In {rounded_duration(grace)} {can}." if grace else f"{can}."]


def _battle_ended(event: events.BattleEnded, table: Table, me: str | None) -> list[str]:
    if table.match is None:
        return ["The battle is over."]
    return [_why_ended(event, table, table.match, me), *_outcome(event.outcome, table, me)]


def _why_ended(event: events.BattleEnded, table: Table, match: Match, me: str | None) -> str:
    """Return the reason why a battle ended, as a sentence."""
    ending, winner = event.outcome.ending, event.outcome.winner
    if ending is Ending.RESIGNATION and match.is_practice and winner:
        return f"{conjugate(event.player, me, 'resign')} for the {winner.other.plural}."
    if ending is Ending.RESIGNATION:
        return f"{conjugate(event.player, me, 'resign')}."
    if ending is Ending.DESERTION and match.is_practice:
        return f"{conjugate(event.player, me, 'end')} the battle."
    if ending is Ending.TIME:
        whose = "your" if event.player == me else f"{event.player}'s"
        return f"{whose} time is up, which counts as resigning."
    if ending is Ending.CLAIM:
        loser = Side.TROLL if event.player == event.dwarf else Side.DWARF
        name = event.dwarf if loser is Side.DWARF else event.troll
        late = (
            f"{conjugate(name, me, 'have')} {'been away' if loser in table.away else 'not moved'}"
        )
        return f"{late} for too long: {conjugate(event.player, me, 'claim')} the battle."
    moves, side = pluralize(match.game.quiet_plies, "move"), match.game.position.turn
    if ending is Ending.NO_MOVE and not match.game.position.bits(Piece.of(side)):
        return f"Every {side.value} has been captured."
    return ENDINGS[ending].format(moves=moves, turn=side.plural)


def _outcome(outcome: Outcome, table: Table, me: str | None) -> list[str]:
    """Return the result of a battle, the score of the match, and the next step."""
    match = table.match
    won = _battle_result(outcome, table, me)
    if match is None:
        return [won]
    # A tournament continues automatically, and its own message says so.
    then = [] if match.tournament else [next_step(table, me)]
    if match.is_practice:
        return [won, *then]
    if not match.is_over:
        return [won, f"Match score: {match_points(table, match, me)}.", *then]
    told = [won, f"The match is over: {match_points(table, match, me)}."]
    lead = match.points(Side.DWARF) - match.points(Side.TROLL)
    if lead == 0:
        return [*told, "The match is a draw.", *then]
    wins, mark = _winner(Side.DWARF if lead > 0 else Side.TROLL, table, me)
    return [*told, f"{wins} the match by {abs(lead)}{mark}", *then]


def _battle_result(outcome: Outcome, table: Table, me: str | None) -> str:
    """Return the result of a battle, the winner's score first."""
    score = outcome.score
    if outcome.winner is None:
        return f"The battle is a draw, {score.dwarf} to {score.troll}."
    if table.is_practice:
        wins, mark = f"the {outcome.winner.plural} win", "."
    else:
        wins, mark = _winner(outcome.winner, table, me)
    figures = f"{score.of(outcome.winner)} to {score.of(outcome.winner.other)}"
    return f"{wins} the battle, {figures}{mark}"


def _winner(side: Side, table: Table, me: str | None) -> tuple[str, str]:
    """Return the winner with the verb, and the punctuation: an exclamation mark for the reader."""
    player = table.seats.get(side)
    wins = conjugate(player, me, "win") if player else f"the {side.plural} win"
    return wins, "!" if player and player == me else "."


def next_step(table: Table, me: str | None) -> str:
    """Return a sentence on how the reader can continue after a battle, or begin the first."""
    if not table.is_full:
        return free_seat(table.name, table.seating, me)
    begins = "begins the battle"
    if table.half_played:
        begins = "offers" if table.needs_consent_to_go_on else "begins"
        begins = f"{begins} the second battle, with the seats swapped"
    elif table.is_practice and table.match:
        begins = "begins the next battle"
    elif table.match:
        begins = "begins the next match" if table.levels != events.NO_BOTS else "offers a rematch"
    begins = f'"start game on {table.name}" {begins}.'
    if me is not None and me not in table.seats.values():
        begins = f"For the players, {begins}"
    away = {table.seats[side] for side in table.away}
    if not away or table.is_by_correspondence:
        return begins
    return f"When {join_words(away)} {'is' if len(away) == 1 else 'are'} back, {begins}"


# Plies and players.


def ply(move: Move, player: str, me: str | None) -> str:
    """Return a ply as a sentence, such as "Anna hurls the dwarf from F1 to F6, ..."."""
    if move.is_trample:
        sends = f"{conjugate(player, me, 'send')} the troll {_way(move)}"
        return f"{sends}, trampling {victims_phrase(move, Piece.DWARF)}."
    way = f"the {move.piece.noun} from {move.origin.name} to {move.target.name}"
    moves = f"{conjugate(player, me, move.verb.word)} {way}"
    if move.verb is Verb.HURL:
        return f"{moves}, felling the troll."
    if not move.captures:
        return f"{moves}."
    prey = Piece.TROLL if move.piece is Piece.DWARF else Piece.DWARF
    return f"{moves}, capturing {victims_phrase(move, prey)}."


def last_ply(table: Table, me: str | None) -> str:
    """Return the last ply of the board's battle and its number, as a sentence."""
    match = table.match
    if match is None:
        return "No battle has begun."
    moves = match.game.moves
    if not moves:
        return "No move has been played yet."
    player = match.troll if match.game.position.turn is Side.DWARF else match.dwarf
    return f"Move {len(moves)}: {ply(moves[-1], player, me)}"


def _way(move: Move) -> str:
    return f"from {move.origin} to {move.target}"


def _short_way(move: Move) -> str:
    return f"{move.origin} to {move.target}"


def _sides(dwarf: str, troll: str, me: str | None) -> str:
    """Return the sides of two players, as a sentence; a player needs only their own."""
    if me in {dwarf, troll}:
        return f"You have the {'dwarfs' if me == dwarf else 'trolls'}."
    return f"{dwarf} has the dwarfs, {troll} the trolls."


def _both_players(dwarf: str, troll: str, me: str | None, verb: str) -> str:
    """Return both players with a verb, the reader first: "you and Bert begin"."""
    if dwarf == troll:
        return conjugate(dwarf, me, verb)
    first, second = ("you", dwarf) if me == troll else ("you" if me == dwarf else dwarf, troll)
    return f"{first} and {second} {verb}"


def _terms(rules: str, control: TimeControl | None, kind: str = "") -> str:
    """Return the terms of a match in parentheses: "(discworld rules, casual, 10+5)"."""
    time = ""
    if control is not None:
        time = f"{control} a move" if control.is_correspondence else str(control)
    return f"({', '.join(filter(None, [f'{rules} rules', kind, time]))})"


def player_or_description(table: Table, side: Side, me: str | None = None, free: str = "") -> str:
    """Return the player of a side: "you", a name, or `free`, by default a short description."""
    player = table.seats.get(side)
    if player is None:
        return free or ("nobody" if table.reserved_for(side) else "seat free")
    return "you" if player == me else player


# Time.


def time_control_phrase(control: TimeControl | None) -> str:
    """Return a time control as part of a sentence; "" for none."""
    if control is None:
        return ""
    return f", {control} a move" if control.is_correspondence else f", with a clock of {control}"


def time_control_in_words(control: TimeControl) -> str:
    """Return a time control in full words."""
    if control.is_correspondence:
        return f"{control} a move"
    minutes = f"{pluralize(control.minutes, 'minute')} each"
    if not control.increment:
        return f"{minutes} for the whole battle"
    return f"{minutes}, plus {pluralize(control.increment, 'second')} a move"


def time_left(clock: Clock, side: Side) -> str:
    """Return the time a side has left, such as ``4:10``, ``1:04:10`` or ``2 days 3 hours``."""
    seconds = int(clock.seconds_left(side))
    if clock.control.is_correspondence:
        return two_unit_duration(seconds)
    hours, minutes = divmod(seconds // 60, 60)
    figures = f"{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"
    return f"{hours}:{figures}" if hours else figures


def times_left(table: Table) -> str:
    """Return the time each player has left, as "Anna 4:10, Bert 3:55"; "" without a clock."""
    clock = table.match.clock if table.match else None
    if clock is None:
        return ""
    sides = timed_sides(clock)
    return ", ".join(
        f"{player_or_description(table, side)} {time_left(clock, side)}" for side in sides
    )


def timed_sides(clock: Clock) -> Iterable[Side]:
    """Return the sides whose time is shown; in correspondence only the side to move."""
    return [clock.turn] if clock.control.is_correspondence else Side


def has_left(table: Table, clock: Clock, side: Side, me: str | None) -> str:
    """Return the time that a player has left, as a sentence."""
    player = table.seats.get(side, f"whoever plays the {side.plural}")
    has = capitalised(conjugate(player, me, "have"))
    return f"{has} {two_unit_duration(clock.seconds_left(side))} left."


# The state of a board.


def game_at(table: Table) -> Game:
    """Return the battle on a board; before the first, the game as it would begin."""
    return table.game or Game.start(table.ruleset, table.opening)


def heading(table: Table) -> str:
    """Return the name of a board and its rules."""
    rules = table.game.ruleset if table.game else table.ruleset
    return f"{capitalised(table.name)}, {rules.name} rules"


def progress(table: Table) -> str:
    """Return the progress of a board's battle, without a full stop."""
    match = table.match
    if match is None and table.opening:
        return f"A position is set up, with the {table.opening.turn.plural} to move first"
    if match is None:
        return "No battle has begun"
    if match.is_practice:
        which = "Practice"
    elif match.is_single_battle:
        which = "A single battle"
    else:
        which = f"Battle {match.battle} of {events.BATTLES}"
    over = "" if match.is_running else " is over"
    return f"{which}{over}, {pluralize(len(match.game.moves), 'move')}"


def rated_suffix(table: Table) -> str:
    """Return ", rated" if the board's match counts for ratings, else ""."""
    return ", rated" if table.match and table.match.rated else ""


def left_and_lost(table: Table, side: Side) -> tuple[int, int]:
    """Return the numbers of remaining and of captured pieces of a side."""
    game, piece = game_at(table), Piece.of(side)
    left = game.position.count(piece)
    return left, game.initial_position.count(piece) - left


def score_phrase(score: Score) -> str:
    """Return a score in words, without a full stop."""
    return f"Score: dwarfs {score.dwarf}, trolls {score.troll}"


def ahead_clause(score: int, win: str = "can force a win") -> str:
    """Return which side an evaluation favours, and by how much, as a clause.

    Args:
        score: in hundredths of a dwarf; negative scores favour the trolls.
        win: what a side is said to do whose score is that of a won battle.
    """
    side = Side.DWARF if score > 0 else Side.TROLL
    if abs(score) < EVEN_SCORE:
        return "the sides are even"
    if abs(score) >= WIN_SCORE:
        return f"the {side.plural} {win}"
    return f"the {side.plural} are ahead by {points_phrase(score)}"


def points_phrase(score: int) -> str:
    """Return the size of a score in points, with one decimal place."""
    return f"{abs(score) / 100:.1f}"


def match_points(table: Table, match: Match, me: str | None = None) -> str:
    """Return the points of the match so far by name, such as "you 31, Bert 24"."""
    names = {side: player_or_description(table, side, me, f"the {side.plural}") for side in Side}
    return ", ".join(f"{name} {match.points(side)}" for side, name in names.items())


def is_turn_of(table: Table, me: str | None) -> bool:
    """Whether the reader is to move, and plays against somebody."""
    if me is None or not table.is_running or table.game is None or table.is_practice:
        return False
    return table.seats.get(table.game.position.turn) == me


def turn_sentence(table: Table, me: str | None) -> str:
    """Return the side to move as a sentence; "" without a running battle."""
    if not table.is_running or table.game is None:
        return ""
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return f"It is the {side.plural}' turn; their seat is empty."
    if player == me:
        return f"It is your turn ({side.plural})." if table.is_practice else "It is your turn."
    away = f"; {player} is away" if side in table.away else ""
    return f"It is {player}'s turn ({side.plural}){away}."


def idle_board_sentences(table: Table, me: str | None) -> str:
    """Return sentences on the options at a table without a running battle."""
    sits = who_sits(table.name, table.seating, me)
    return f"{sits} {next_step(table, me)}" if table.is_full else sits
