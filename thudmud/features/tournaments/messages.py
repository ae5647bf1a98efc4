"""Texts and facts about tournaments: events, standings, crosstables and matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil
from typing import Any

from thudmud.english import (
    capitalised,
    conjugate,
    join_words,
    ordinal,
    pluralize,
    rounded_duration,
    typed_duration,
)
from thudmud.errors import InvalidValueError
from thudmud.features.archive.commands import Games
from thudmud.features.people.messages import finger_fields
from thudmud.features.playing.moves import Start
from thudmud.features.tournaments.commands import (
    Enter,
    LeaveTournament,
    ResumeTournament,
    Tournaments,
    ViewTournament,
)
from thudmud.features.tournaments.model import (
    OpenMatch,
    PastTournament,
    PastTournaments,
    Tournament,
    TournamentRefusal,
    TournamentRegister,
    TournamentState,
    rest_in,
    second_battle_due,
)
from thudmud.features.tournaments.pairing import Pairing, advancing_player, field_size
from thudmud.features.tournaments.standings import Placing, course, standings
from thudmud.game import events
from thudmud.game.archive import PAGE, Fingered
from thudmud.game.clocks import DAY
from thudmud.game.days import TODAY, TOMORROW
from thudmud.game.events import TournamentEnd, TournamentKind, TournamentLeaving
from thudmud.game.hall import Hall
from thudmud.views.data import Data, Fact
from thudmud.views.headlines import WIDTH, Headline, LookUp, board_path, finders
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, add_lines_to, facts, words
from thudmud.views.sentences import time_control_phrase
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import Display, View
from thudmud.views.words import columns, day, pages_of, time_of_day, wrap, wrap_each

add_refusal_texts(
    {
        TournamentRefusal.NO_TOURNAMENTS: "There are no tournaments here.",
        TournamentRefusal.NO_SUCH_TOURNAMENT: (
            'There\'s no tournament {number}. "tournaments" lists them all.'
        ),
        TournamentRefusal.TOURNAMENT_OVER: (
            'Tournament {number} is over. "tournament {number}" shows how it ended.'
        ),
        TournamentRefusal.TOURNAMENTS_TOO_MANY: (
            "There are already {most} tournaments, which is the limit. You can announce yours"
            " when one is over."
        ),
        TournamentRefusal.TOURNAMENTS_BY_DAYS_TOO_MANY: (
            "There are already {most} correspondence tournaments, which is the limit. You can"
            " announce one with a faster clock, or yours when one of those is over."
        ),
        TournamentRefusal.TOURNAMENT_OF_YOURS: (
            "You've already announced tournament {number}. You can announce another one when"
            ' it\'s over. "cancel tournament {number}" ends it now.'
        ),
        TournamentRefusal.TOURNAMENTS_BY_MEMBERS: (
            'Only members can announce tournaments. "register" makes you one. "tournaments"'
            " lists those you can enter."
        ),
        TournamentRefusal.TOURNAMENTS_BY_OPERATORS: (
            'Only operators can announce tournaments here. "tournaments" lists those you can enter.'
        ),
        TournamentRefusal.TOURNAMENT_HAS_NO_ROUNDS: (
            "The number of rounds in such a tournament depends on its players: leave it out."
        ),
        TournamentRefusal.TOURNAMENT_HAS_NO_LENGTH: (
            'Only an arena lasts for a set time: leave out "for" and the time.'
        ),
        TournamentRefusal.TOURNAMENT_HAS_NO_LIMIT: (
            "Only correspondence rounds, with a clock such as 3 days, have a time limit: leave out"
            ' "rounds of" and the time.'
        ),
        TournamentRefusal.TOURNAMENT_ROUNDS: (
            "A Swiss can have 1 to {most} rounds. If you don't say how many, the number of players"
            " decides: {usual} for 5 to 32 players."
        ),
        TournamentRefusal.TOURNAMENT_TOO_LONG: "An arena lasts at most {seconds}.",
        TournamentRefusal.TOURNAMENT_TITLE_TOO_LONG: "A title has at most {most} characters.",
        TournamentRefusal.TOURNAMENT_IN_THE_PAST: (
            'That time has passed. Times are in UTC here; "starts in 10 minutes" works anywhere.'
        ),
        TournamentRefusal.TOURNAMENT_TOO_LATE: (
            "You can announce a tournament at most {seconds} ahead."
        ),
        TournamentRefusal.ARENA_BY_DAYS: (
            "An arena needs a fast clock, such as 5+3. A Swiss can have one in days."
        ),
        TournamentRefusal.TOURNAMENT_BEGUN: (
            'Tournament {number} has begun, so it\'s too late to enter. "tournament {number}"'
            " shows it."
        ),
        TournamentRefusal.TOURNAMENT_FULL: (
            "Tournament {number} has {most} players, which is the limit."
        ),
        TournamentRefusal.TOURNAMENT_FOR_MEMBERS: (
            'Tournament {number} takes days, so it\'s for members only. "register" makes you one.'
        ),
        TournamentRefusal.IN_TOURNAMENT_ALREADY: "{who_is} already in tournament {number}.",
        TournamentRefusal.LEFT_TOURNAMENT: (
            "{player} has left tournament {number}, and can't come back."
        ),
        TournamentRefusal.REMOVED_FROM_TOURNAMENT: (
            "{player} has taken you out of tournament {number}, so you can't enter it again."
            ' "tournaments" lists the others.'
        ),
        TournamentRefusal.NOT_IN_TOURNAMENT: "{who_is} not in tournament {number}.",
        TournamentRefusal.ENTERS_BOTS_ONLY: "{player} isn't a bot: people enter by themselves.",
        TournamentRefusal.NOT_YOUR_TOURNAMENT: (
            "{player} announced tournament {number}. Only they and the operators can do that."
        ),
        TournamentRefusal.TOURNAMENT_PAUSED: (
            'Tournament {number} is already paused. "resume tournament {number}" resumes it.'
        ),
        TournamentRefusal.TOURNAMENT_NOT_PAUSED: "Tournament {number} isn't paused.",
    }
)


INDENT = "    "

_KINDS = {
    TournamentKind.ROUND_ROBIN: "a round robin",
    TournamentKind.DOUBLE_ROUND_ROBIN: "a double round robin",
    TournamentKind.SWISS: "a Swiss",
    TournamentKind.KNOCK_OUT: "a knock-out",
    TournamentKind.ARENA: "an arena",
}

_MOST_MATCHES = 10
"""The most matches of a round that are listed one by one."""

_MOST_NAMED = 5
"""The most absent entrants that are named."""

_NARROW = 60
"""The width in columns below which tie-breaks are left out."""


# Phrases.


def titled(tournament: Tournament) -> str:
    """Return a tournament's name within a sentence: ``tournament 3 (Thursday)``.

    The title follows the number, since a player's own words must not begin a sentence.
    """
    title = tournament.made.title
    return f"tournament {tournament.number}{f' ({title})' if title else ''}"


def starting(at: float, now: float) -> str:
    """Format the time of a start: ``today at 20:00 UTC, in 3 hours``."""
    if at <= now:
        return "now"
    known = {now // DAY: TODAY, now // DAY + 1: TOMORROW}
    on = known.get(at // DAY) or f"on {day(at)}"
    return f"{on} at {time_of_day(at)} UTC, in {rounded_duration(at - now)}"


def terms(made: events.TournamentMade) -> str:
    """Format the terms of a tournament, such as ``a Swiss of 5 rounds under classic rules``."""
    how = _KINDS[made.kind]
    if made.rounds:
        how += f" of {pluralize(made.rounds, 'round')}"
    elif made.kind is TournamentKind.ARENA:
        how += f" of {typed_duration(made.seconds)}"
    limit = ""
    if made.seconds and made.kind is not TournamentKind.ARENA:
        limit = f", {typed_duration(made.seconds)} for each round"
    rated = "" if made.rated else ", casual"
    return f"{how} under {made.rules} rules{time_control_phrase(made.time)}{limit}{rated}"


def _round(tournament: Tournament, number: int | None = None) -> str:
    """Return the words for a round, by default the last: ``round 2 of 5``."""
    number, in_all = number or len(tournament.rounds), tournament.rounds_in_all
    return f"round {number} of {in_all}" if in_all and in_all >= number else f"round {number}"


def _shortened(tournament: Tournament) -> str:
    """Return a sentence about rounds that can't be held; "" if all announced rounds can."""
    asked, in_all = tournament.made.rounds, tournament.rounds_in_all
    if in_all is None or not 0 < in_all < asked:
        return ""
    players = pluralize(field_size(tournament.entrants), "player")
    return (
        f"With {players} it has {pluralize(in_all, 'round')}, not {asked}, so nobody meets twice."
    )


def _points(points: float) -> str:
    return f"{points:g}"


def _tournament_after_event(context: RenderContext, number: int) -> Tournament:
    """Return the tournament of an event, in its state after the event."""
    return context.hall.part(TournamentRegister).known[number]


# Events.


@words.register
def _render_tournament_made(
    made: events.TournamentMade, context: RenderContext, view: View
) -> list[str]:
    tournament = _tournament_after_event(context, made.number)
    who = capitalised(conjugate(made.player, view.me, "announce"))
    what = f"{who} {titled(tournament)}: {terms(made)}."
    starts = f"It starts {starting(made.starts, context.at)}."
    plays = "lets you play, too" if made.player == view.me else "lets you play"
    return wrap_clickable(f'{what} {starts} "{Enter(made.number)}" {plays}.', view)


@words.register
def _entered(entered: events.TournamentEntered, context: RenderContext, view: View) -> list[str]:
    tournament = _tournament_after_event(context, entered.number)
    name = titled(tournament)
    if entered.player != view.me:
        return wrap(f"{entered.player} enters {name}.", view.width)
    others = len(tournament.playing) - 1
    others_told = f"with {pluralize(others, 'other')}" if others else "the first so far"
    told = [f"You're in {name}, {others_told}."]
    if tournament.rounds:
        told.append("You'll be paired in the next round.")
    else:
        told.append(f"It starts {starting(tournament.made.starts, context.at)}.")
    if tournament.is_by_days:
        told.append(f'"{Games()}" will list your matches.')
    else:
        told.append("You'll be taken to your board if you're here.")
    told.append(f'"{LeaveTournament(entered.number)}" takes you out.')
    return wrap_clickable(" ".join(told), view)


@words.register
def _left(left: events.TournamentLeft, context: RenderContext, view: View) -> list[str]:
    name, is_mine = titled(_tournament_after_event(context, left.number)), left.player == view.me
    match left.why:
        case TournamentLeaving.WITHDRAWN:
            told = f"{capitalised(conjugate(left.player, view.me, 'leave'))} {name}."
        case TournamentLeaving.REMOVED:
            who = "You are" if is_mine else f"{left.player} is"
            told = f"{who} taken out of {name}."
            if left.by:
                whom = "you" if is_mine else left.player
                told = f"{capitalised(conjugate(left.by, view.me, 'take'))} {whom} out of {name}."
        case TournamentLeaving.ABSENT:
            have, are = ("You have", "are") if is_mine else (f"{left.player} has", "is")
            told = f"{have} missed two matches in a row, and {are} out of {name}."
    return wrap(told, view.width)


@words.register
def _paired(paired: events.RoundPaired, context: RenderContext, view: View) -> list[str]:
    return _round_begins(paired, context, view) + _are_out(paired, context, view)


def _are_out(paired: events.RoundPaired, context: RenderContext, view: View) -> list[str]:
    """Return the lines about entrants who missed the start; none if nobody did."""
    missing, tournament = paired.missing, _tournament_after_event(context, paired.number)
    if not missing:
        return []
    if view.me in missing:
        told = f"You weren't here when {titled(tournament)} started, so you're out."
        if tournament.kind.allows_late_entry:
            told += f' "{Enter(paired.number)}" lets you back in.'
        return wrap_clickable(told, view)
    names = list(missing)
    if len(names) > _MOST_NAMED:
        names = [*names[:_MOST_NAMED], pluralize(len(names) - _MOST_NAMED, "other")]
    are = "is" if len(missing) == 1 else "are"
    return wrap(f"{join_words(names)} missed the start, and {are} out.", view.width)


def _round_begins(paired: events.RoundPaired, context: RenderContext, view: View) -> list[str]:
    tournament = _tournament_after_event(context, paired.number)
    name, number = titled(tournament), paired.round
    heading = capitalised(
        name if tournament.is_arena else f"{_round(tournament, number)} of {name}"
    )
    shortened = f" {_shortened(tournament)}".rstrip() if number == 1 else ""
    for first, second in paired.pairs:
        if view.me == first and not second:
            return wrap(
                f"{heading}: you have a bye, which counts as a win.{shortened}",
                view.width,
            )
        if view.me in {first, second}:
            other, side = (second, "dwarfs") if view.me == first else (first, "trolls")
            told = f"{heading}: you play {other}, and have the {side} first.{shortened}"
            if tournament.is_by_days:
                told += f' Play when it suits you: "{Games()}" lists your matches.'
            elif context.hall.is_at_own_live_board(view.me):
                told += (
                    f' You stay here while your clock is running: "{Games()}" lists your matches.'
                )
            return wrap_clickable(told, view)
    if tournament.is_arena:
        return []
    count = sum(bool(second) for _, second in paired.pairs)
    shows = f'"{ViewTournament(paired.number)}" shows {"it" if count == 1 else "them"}.'
    begins = f"{heading} begins, with {pluralize(count, 'match')}.{shortened}"
    return wrap_clickable(f"{begins} {shows}", view)


@words.register
def _render_pairing_scored(
    scored: events.PairingScored, context: RenderContext, view: View
) -> list[str]:
    tournament, hall = _tournament_after_event(context, scored.number), context.hall
    is_mine = view.me in {scored.first, scored.second}
    if not (is_mine or (scored.is_over and view.display.shows_results)):
        return []
    if not scored.is_over:
        starts = "starts it" if view.display.is_drawn_by_client else f'types "{Start()}"'
        begins = f"when you or your opponent {starts}"
        if rest := rest_in(tournament, hall):
            begins = f"in {rounded_duration(rest)}, or {begins}"
        return wrap(f"The second battle begins {begins}.", view.width)
    told = f"{capitalised(titled(tournament))}: {_result(scored, view.me)}."
    return wrap(f"{told} {_tie_broken(scored, tournament, view.me)}".rstrip(), view.width)


def _tie_broken(scored: events.PairingScored, tournament: Tournament, me: str | None) -> str:
    """Return a sentence about who advances from a level match of a knock-out, and why."""
    pairing = tournament.rounds[scored.round - 1][scored.index]
    if tournament.kind is not TournamentKind.KNOCK_OUT or not pairing.is_level:
        return ""
    winner = str(advancing_player(pairing, tournament.entrants))
    loser = str(pairing.opponent(winner))
    is_final = len(tournament.rounds[-1]) == 1
    done = f"{conjugate(winner, me, 'win')} it" if is_final else conjugate(winner, me, "advance")
    is_quicker = pairing.shortest_win(winner) < pairing.shortest_win(loser)
    why = "having won a battle in fewer moves" if is_quicker else "as the higher seed"
    return f"{capitalised(done)}, {why}."


def _result(scored: events.PairingScored, me: str | None) -> str:
    """Return the result of a match, as a clause."""
    first, second = scored.first, scored.second
    mine, other = (second, first) if me == second else (first, second)
    subject = "you" if mine == me else mine
    match scored.absent:
        case (True, True):
            return f"neither {subject} nor {other} turned up, so both lose the match"
        case (True, False) | (False, True):
            absent, winner = (first, second) if scored.absent[0] else (second, first)
            come = "you did" if absent == me else f"{absent} did"
            wins = conjugate(winner, me, "win")
            return f"{come}n't turn up, so {wins} the match"
    own = sum(each.first for each in scored.battles)
    theirs = sum(each.second for each in scored.battles)
    if mine != first:
        own, theirs = theirs, own
    if own == theirs:
        return f"{conjugate(mine, me, 'draw')} with {other}, {own} to {theirs}"
    if own < theirs and mine == me:
        return f"you lose to {other}, {own} to {theirs}"
    if own < theirs:
        mine, other, own, theirs = other, mine, theirs, own
    return f"{conjugate(mine, me, 'beat')} {other}, {own} to {theirs}"


@words.register
def _paused(paused: events.TournamentPaused, context: RenderContext, view: View) -> list[str]:
    name = titled(_tournament_after_event(context, paused.number))
    operator = capitalised(conjugate(paused.player, view.me, "pause"))
    told = f"{operator} {name}: no new matches begin."
    how = "resumes it"
    if paused.until is not None:
        told += f" It resumes in {rounded_duration(paused.until - context.at)} at the latest."
        how = "resumes it sooner"
    if paused.player == view.me:
        told += f' "{ResumeTournament(paused.number)}" {how}.'
    return wrap_clickable(told, view)


@words.register
def _continued(
    gone_on: events.TournamentContinued, context: RenderContext, view: View
) -> list[str]:
    name = titled(_tournament_after_event(context, gone_on.number))
    return wrap(f"{capitalised(name)} resumes.", view.width)


@words.register
def _render_tournament_ended(
    ended: events.TournamentEnded, context: RenderContext, view: View
) -> list[str]:
    tournament = _tournament_after_event(context, ended.number)
    name = capitalised(titled(tournament))
    match ended.why:
        case TournamentEnd.CANCELLED:
            who = capitalised(conjugate(ended.player, view.me, "cancel"))
            told = f"{who} {titled(tournament)}."
            told += " Matches already under way continue." if tournament.open else ""
        case TournamentEnd.TOO_FEW:
            told = f"{name} is called off: too few players turned up."
        case TournamentEnd.OVER if not (view.me or view.display.shows_results):
            return []
        case TournamentEnd.OVER:
            places = dict(zip(ended.players, ended.places, strict=True))
            told = f"{name} is over! {podium(ended.players[:3], places)}."
            if view.me in places and view.me not in ended.players[:3]:
                told += f" You are {ordinal(places[view.me])}."
            told += f' "{ViewTournament(ended.number)}" shows the final standings.'
    return wrap_clickable(told, view)


def podium(players: Sequence[str], places: Mapping[str, int]) -> str:
    """Return a clause about the first three players, some of whom may share a place."""
    groups = [(each, [*names]) for each, names in groupby(players, key=places.__getitem__)]
    if len(groups) == len(players):
        first, *others = players
        rest = [f"{each} {ordinal(places[each])}" for each in others]
        return join_words([f"{first} is {ordinal(places[first])}", *rest])
    return ", and ".join(
        f"{join_words(names)} share {ordinal(place)} place"
        if len(names) > 1
        else f"{names[0]} is {ordinal(place)}"
        for place, names in groups
    )


# Questions.


@words.register
def _tournaments(asked: Tournaments, context: RenderContext, view: View) -> list[str]:
    found: PastTournaments = context.answer
    hall, width, me = context.hall, view.width, context.player
    going_on = hall.part(TournamentRegister).going_on
    pages = pages_of(found.in_all, PAGE)
    if asked.page > pages:
        last = Tournaments(pages)
        return wrap(f'There\'s no page {asked.page}. "{last}" shows the earliest.', width)
    lines: list[str] = []
    if asked.page == 1:
        lines = _going_on(going_on, me, context.at, width)
    if found.tournaments:
        lines += wrap("Past tournaments, the latest first:", width)
        lines += wrap_each((f"  {_past(each)}." for each in found.tournaments), width, INDENT)
    if asked.page < pages:
        lines += wrap(f'"{Tournaments(asked.page + 1)}" shows earlier ones.', width)
    numbers = [each.number for each in going_on] + [each.number for each in found.tournaments]
    if numbers:
        lines += wrap(f'"{ViewTournament(numbers[0])}" shows the first of these.', width)
    return lines


def _going_on(going_on: Sequence[Tournament], me: str, now: float, width: int) -> list[str]:
    """Return the lines about tournaments that aren't over."""
    if not going_on:
        how = '"help tournaments" explains how to announce one.'
        return wrap(f"No tournaments are on just now. {how}", width)
    entries = (f"  {_entry(each, me, now)}." for each in going_on)
    lines = ["Tournaments:", *wrap_each(entries, width, INDENT)]
    can = [each for each in going_on if not each.rounds and me not in each.playing]
    if can:
        lines += wrap(f'"{Enter(can[0].number)}" lets you play.', width)
    return lines


def _entry(tournament: Tournament, me: str, now: float) -> str:
    """Return the list entry of a tournament that isn't over."""
    made = tournament.made
    players = pluralize(len(tournament.playing), "player")
    mine = ", including you" if me in tournament.playing else ""
    which = _numbered(made.number, made.title)
    return f"{which}: {terms(made)}; {_stands(tournament, now)}; {players}{mine}"


def _numbered(number: int, title: str) -> str:
    """Return the number and title of a tournament, for a list."""
    return f"{number} ({title})" if title else str(number)


def _stands(tournament: Tournament, now: float) -> str:
    """Return the state of a tournament, as a clause."""
    match tournament.state:
        case TournamentState.OPEN:
            return f"it starts {starting(tournament.made.starts, now)}"
        case TournamentState.PAUSED:
            left = tournament.resumes and rounded_duration(tournament.resumes - now)
            return f"it is paused, for {left} at most" if left else "it is paused"
        case TournamentState.RUNNING if tournament.ends is not None:
            left = tournament.ends - now
            return f"{rounded_duration(left)} to go" if left > 0 else "the last matches are on"
        case TournamentState.RUNNING if tournament.open:
            return f"{_round(tournament)} is under way"
        case TournamentState.RUNNING:
            return f"{_round(tournament)} is over"
        case TournamentState.OVER:
            return "it is over"
        case TournamentState.CANCELLED:
            return "it was cancelled"
    raise InvalidValueError(f"unexpected state of {tournament.name}: {tournament.state}")


def _past(past: PastTournament) -> str:
    how = f"{_KINDS[past.kind]} under {past.rules} rules, {past.time}, on {day(past.ended)}"
    match past.why:
        case TournamentEnd.OVER:
            end = f"{pluralize(past.entrants, 'player')}, won by {past.winner}"
        case TournamentEnd.CANCELLED:
            end = "cancelled"
        case TournamentEnd.TOO_FEW:
            end = "too few players"
    return f"{_numbered(past.number, past.title)}: {how}; {end}"


@words.register
def _tournament(asked: ViewTournament, context: RenderContext, view: View) -> list[str]:
    tournament: Tournament = context.answer
    hall, me, width = context.hall, context.player, view.width
    made = tournament.made
    what = f"{capitalised(titled(tournament))}: {terms(made)}, announced by {made.player}."
    lines = wrap(f"{what} {_progress(tournament, hall, context.at)}", width)
    placings = standings(tournament.kind, tournament.entrants, tournament.rounds)
    pages = pages_of(len(placings), PAGE)
    if asked.page > pages:
        last = ViewTournament(made.number, pages)
        return wrap(f'There\'s no page {asked.page}. "{last}" shows the last players.', width)
    if not tournament.rounds:
        return lines + _entrants(tournament, me, width)
    shown = placings[(asked.page - 1) * PAGE : asked.page * PAGE]
    shown = (*shown, *(each for each in placings if each.player == me and each not in shown))
    if view.display.is_for_reader:
        entries = (_placing_sentence(each, tournament, me) for each in shown)
        lines += wrap_each(entries, width)
    else:
        lines += table(tournament, placings, shown, view.display)
    if asked.page < pages:
        lines += wrap(f'"{ViewTournament(made.number, asked.page + 1)}" shows more.', width)
    return lines + _matches(tournament, hall, width)


def _progress(tournament: Tournament, hall: Hall, now: float) -> str:
    """Return sentences about the state of a tournament, and its next round."""
    if tournament.end and tournament.end.why is TournamentEnd.TOO_FEW:
        return "It was called off: too few players turned up."
    stands = f"{capitalised(_stands(tournament, now))}. {_shortened(tournament)}".strip()
    if tournament.state is not TournamentState.RUNNING or tournament.is_arena:
        return stands
    if tournament.open:
        over = sum(each.is_over for each in tournament.rounds[-1])
        return f"{stands} {over} of {pluralize(len(tournament.rounds[-1]), 'match')} done."
    left = rounded_duration(max(1.0, tournament.changed + rest_in(tournament, hall) - now))
    in_all = tournament.rounds_in_all
    if in_all and len(tournament.rounds) >= in_all:
        return stands
    return f"{stands} The next one begins in {left}."


def _entrants(tournament: Tournament, me: str, width: int) -> list[str]:
    """Return the lines about the entrants of a tournament that hasn't begun."""
    names = tournament.playing
    if not names:
        lines = wrap("Nobody has entered yet.", width)
    else:
        lines = wrap(f"{pluralize(len(names), 'player')} so far: {join_words(names)}.", width)
    if me in names:
        return lines + wrap(f'"{LeaveTournament(tournament.number)}" takes you out.', width)
    if tournament.end:
        return lines
    return lines + wrap(f'"{Enter(tournament.number)}" lets you play.', width)


def _matches(tournament: Tournament, hall: Hall, width: int) -> list[str]:
    """Return the lines about the matches under way."""
    playing = list(tournament.open.values())
    if not playing or tournament.end:
        return []
    lines = ["Now playing:"]
    entries = (f"  {_open(each, hall)}." for each in playing[:_MOST_MATCHES])
    lines += wrap_each(entries, width, INDENT)
    if more := len(playing) - _MOST_MATCHES:
        lines += wrap(f"  And {more} more.", width) if more > 0 else []
    return lines


def _open(match: OpenMatch, hall: Hall) -> str:
    """Return the players of an open match, their board, and the result of its first battle."""
    table = hall.tables.with_key(match.key) if match.key else None
    both = f"{match.first} and {match.second}"
    if table is None:
        return f"{both} soon"
    first = "".join(f", {each.first} to {each.second} after battle 1" for each in match.battles)
    return f"{both} at the {table.name}{first}"


# The crosstable.


def table(
    tournament: Tournament,
    placings: Sequence[Placing],
    shown: Sequence[Placing],
    display: Display,
) -> list[str]:
    """Return the lines of the standings, with results against each player or round by round.

    Lines are shorter than the screen width; results that don't fit continue below.

    Args:
        tournament: the tournament.
        placings: all rows of the standings.
        shown: the rows to show.
        display: the reader's screen.
    """
    width, is_wide = display.width, display.width >= _NARROW
    tie_break = _tie_break(tournament.kind)
    rank, numbers = len(str(len(placings))), _numbers(placings)
    longest = max(columns(each.player) for each in shown)
    name = min(longest, 20 if is_wide else 12)
    has_cells = not tournament.is_arena
    rows = [_row(each, tournament, placings) for each in shown] if has_cells else [[]] * len(shown)
    cell = max((len(each) for row in rows for each in row), default=0) + (
        0 if tournament.kind.is_round_robin else 1
    )
    head = [f"{'':{rank}}  {'':{name}} {'pts':>4}"]
    if is_wide:
        head[0] += f" {'+/-':>5}" + (f" {tie_break:>5}" if tie_break else "")
    margin = len(head[0]) + 1
    fits = max(1, (width - 1 - margin) // max(1, cell))
    titles = _column_titles(max(map(len, rows)), cell)
    lines = [f"{head[0]} {_cells(titles[:fits], cell)}".rstrip()]
    for each, cells in zip(shown, rows, strict=True):
        who = f"{numbers[each.player]:>{rank}}. {_fitting(each.player, name)}"
        text = f"{who} {_points(each.points):>4}"
        if is_wide:
            text += f" {each.battle_points:>+5}"
            text += f" {_points(each.tie_break):>5}" if tie_break else ""
        lines.append(f"{text} {_cells(cells[:fits], cell)}".rstrip())
        lines += [
            " " * margin + _cells(cells[start : start + fits], cell)
            for start in range(fits, len(cells), fits)
        ]
    return lines + wrap(_legend(tournament, is_wide=is_wide), width)


def _column_titles(count: int, width: int) -> list[str]:
    """Return the numbers of the columns; their last digits if the width is too small for all."""
    numbers = range(1, count + 1)
    if width >= len(str(count)):
        return [str(each) for each in numbers]
    return [str(each % 10) for each in numbers]


def _numbers(placings: Iterable[Placing]) -> dict[str, int]:
    """Return the row numbers by player, by which results refer to opponents."""
    return {each.player: number for number, each in enumerate(placings, 1)}


def _fitting(name: str, width: int) -> str:
    return name[: width - 1] + "~" if len(name) > width else f"{name:{width}}"


def _cells(cells: Iterable[str], width: int) -> str:
    return "".join(f"{each:>{width}}" for each in cells).rstrip()


def _tie_break(kind: TournamentKind) -> str:
    """Return the heading of the tie-break; "" for none."""
    if kind.is_round_robin:
        return "SB"
    return "Buch" if kind is TournamentKind.SWISS else ""


def _legend(tournament: Tournament, *, is_wide: bool) -> str:
    """Return the legend of the signs and headings."""
    told = ""
    if not tournament.is_arena:
        number = "" if tournament.kind.is_round_robin else "; the number is the opponent's"
        told = f"+ won, = drawn, - lost, * playing{number}."
    if is_wide:
        told += " +/- is the margin in all battles"
        tie_break = _TIE_BREAKS.get(_tie_break(tournament.kind))
        told += f", {_tie_break(tournament.kind)} {tie_break}." if tie_break else "."
    return told.strip()


_TIE_BREAKS = {
    "SB": "the points of opponents beaten, plus half those of opponents drawn with",
    "Buch": "the points of all opponents",
}
"""The meanings of the headings of tie-breaks."""


def _row(placing: Placing, tournament: Tournament, placings: Sequence[Placing]) -> list[str]:
    """Return a player's results: one for each opponent by place, or one for each round."""
    rounds, player = tournament.rounds, placing.player
    if tournament.kind.is_round_robin:
        cycles = 2 if tournament.kind is TournamentKind.DOUBLE_ROUND_ROBIN else 1
        met: dict[str, str] = {}
        for pairing in course(player, rounds):
            if pairing and (other := pairing.opponent(player)):
                met[other] = met.get(other, "") + _mark(pairing, player)
        return [
            "x" * cycles if each.player == player else met.get(each.player, "").ljust(cycles, ".")
            for each in placings
        ]
    numbers, row = _numbers(placings), list[str]()
    for pairing in course(player, rounds):
        if pairing is None:
            row.append(".")
        elif pairing.second is None:
            row.append("bye")
        else:
            row.append(f"{numbers[str(pairing.opponent(player))]}{_mark(pairing, player)}")
    return row


def _mark(pairing: Pairing, player: str) -> str:
    if not pairing.is_over:
        return "*"
    return {1.0: "+", 0.5: "=", 0.0: "-"}[pairing.match_points(player)]


def _placing_sentence(placing: Placing, tournament: Tournament, me: str) -> str:
    """Return a player's row of the standings as a sentence, for screen readers."""
    player = placing.player
    who = f"{player} (you)" if player == me else player
    results = [
        _in_words(each, player)
        for each in course(player, tournament.rounds)
        if each and not (tournament.is_arena and each.is_over)
    ]
    course_told = f": {', '.join(results)}" if results else ""
    left = ", left" if placing.has_left else ""
    points = counted_points(placing.points)
    ahead = placing.battle_points
    tied = f", {abs(ahead)} {'ahead' if ahead > 0 else 'behind'} in battles" if ahead else ""
    return f"{placing.place}. {who}, {points}{tied}{left}{course_told}."


def counted_points(points: float) -> str:
    """Return match points in words: ``1 point``, ``2 and a half points``, ``half a point``."""
    whole, half = divmod(points, 1)
    if not half:
        return pluralize(int(whole), "point")
    return f"{int(whole)} and a half points" if whole else "half a point"


def _in_words(pairing: Pairing, player: str) -> str:
    """Return a player's result in a round, in words."""
    other = pairing.opponent(player)
    if other is None:
        return "a bye"
    if not pairing.is_over:
        return f"plays {other}"
    absent = pairing.result.absent if pairing.result else ()
    if other in absent and player not in absent:
        return f"won as {other} didn't turn up"
    if player in absent:
        return f"didn't turn up against {other}"
    told = {1.0: "beat", 0.5: "drew with", 0.0: "lost to"}[pairing.match_points(player)]
    return f"{told} {other}"


@add_lines_to(Hall)
def _announced(hall: Hall, context: RenderContext, view: View) -> list[str]:
    """Return lines about tournaments that a reader in the hall can enter."""
    if "tournaments" in hall.left_out:
        return []
    player, now = context.player, context.at
    going_on = hall.part(TournamentRegister).going_on
    can = [
        each
        for each in going_on
        if each.state is TournamentState.OPEN and player not in each.playing
    ]
    told = [
        f"{capitalised(titled(each))} starts {starting(each.made.starts, now)}:"
        f' "{Enter(each.number)}" lets you play.'
        for each in can[:2]
    ]
    if len(going_on) == 1 and not told:
        told = [f'"{ViewTournament(going_on[0].number)}" shows how {titled(going_on[0])} is going.']
    elif len(going_on) > len(told):
        told.append(f'There are {len(going_on)} tournaments: "{Tournaments()}" lists them.')
    return [line for each in told for line in wrap_clickable(each, view)]


@add_lines_to(Fingered)
def _entered_by(found: Fingered, context: RenderContext, view: View) -> list[str]:
    """Return the line about the tournaments in which a player takes part."""
    entered = context.hall.part(TournamentRegister).of(found.name)
    if not entered or "tournaments" in context.hall.left_out:
        return []
    who = "You are" if found.name == context.player else f"{found.name} is"
    return wrap(f"{who} in {join_words(titled(each) for each in entered)}.", view.width)


# Facts.


def _fingered(hall: Hall, name: str) -> Mapping[str, Any]:
    if "tournaments" in hall.left_out:
        return {}
    return {"tournaments": [each.number for each in hall.part(TournamentRegister).of(name)]}


finger_fields.append(_fingered)


@facts.register
def _changed(event: events.TournamentEvent, context: RenderContext) -> Iterator[Fact]:
    if tournament := context.hall.part(TournamentRegister).known.get(event.number):
        yield Fact("Thud.Tournament", tournament_data(tournament))
        if isinstance(event, events.TournamentEntered | events.TournamentLeft):
            yield Fact("Thud.Crosstable", crosstable_data(tournament, context.hall), event.player)


@facts.register
def _tournaments_facts(_: Tournaments, context: RenderContext) -> Iterator[Fact]:
    for tournament in context.hall.part(TournamentRegister).known.values():
        if not tournament.end:
            yield Fact("Thud.Tournament", tournament_data(tournament), context.player)
    found: PastTournaments = context.answer
    for past in found.tournaments:
        yield Fact("Thud.Tournament", _past_data(past), context.player)


@facts.register
def _tournament_facts(_: ViewTournament, context: RenderContext) -> Iterator[Fact]:
    tournament: Tournament = context.answer
    yield Fact("Thud.Tournament", tournament_data(tournament), context.player)
    yield Fact("Thud.Crosstable", crosstable_data(tournament, context.hall), context.player)


def tournament_data(tournament: Tournament) -> Data:
    """Return the facts about a tournament, without its matches."""
    made, end = tournament.made, tournament.end
    return {
        "tournament": made.number,
        "title": made.title or None,
        "kind": made.kind.value,
        "rules": made.rules,
        "time": str(made.time),
        "rated": made.rated,
        "player": made.player,
        "starts": ceil(made.starts),
        "ends": None if tournament.ends is None else ceil(tournament.ends),
        "state": tournament.state.value,
        "round": len(tournament.rounds),
        "rounds": tournament.rounds_in_all,
        "open": len(tournament.open),
        "entrants": len(tournament.playing) if not end else len(tournament.entrants),
        "winner": end.players[0] if end and end.places.count(1) == 1 else None,
        "ended": int(end.at) if end else None,
    }


def _past_data(past: PastTournament) -> Data:
    state = TournamentState.OVER if past.why is TournamentEnd.OVER else TournamentState.CANCELLED
    return {
        "tournament": past.number,
        "title": past.title or None,
        "kind": past.kind.value,
        "rules": past.rules,
        "time": past.time,
        "rated": None,
        "player": None,
        "starts": None,
        "ends": None,
        "state": state.value,
        "round": None,
        "rounds": None,
        "open": 0,
        "entrants": past.entrants,
        "winner": past.winner or None,
        "ended": int(past.ended),
    }


def crosstable_data(tournament: Tournament, hall: Hall) -> Data:
    """Return the facts about a tournament's standings and matches."""
    placings = standings(tournament.kind, tournament.entrants, tournament.rounds)
    return {
        "tournament": tournament.number,
        "players": [_placing_data(each, tournament) for each in placings],
        "matches": [
            _match_data(pairing, tournament, (number, index), hall)
            for number, pairings in enumerate(tournament.rounds, 1)
            for index, pairing in enumerate(pairings)
        ],
    }


def _placing_data(placing: Placing, tournament: Tournament) -> Data:
    entry = tournament.entries.get(placing.player)
    return {
        "place": placing.place,
        "player": placing.player,
        "rating": entry.rating if entry else None,
        "points": float(placing.points),
        "battle_points": placing.battle_points,
        "tie_break": float(placing.tie_break),
        "left": placing.has_left,
    }


def _match_data(
    pairing: Pairing, tournament: Tournament, place: tuple[int, int], hall: Hall
) -> Data:
    match = tournament.open.get(place)
    board = hall.tables.with_key(match.key) if match and match.key else None
    known = pairing.result or match
    due = second_battle_due(board, tournament, hall) if board else None
    return {
        "round": place[0],
        "first": pairing.first,
        "second": pairing.second,
        "over": pairing.is_over,
        "board": board.name if board else None,
        "scores": [[each.first, each.second] for each in known.battles] if known else [],
        "battles": list(known.numbers) if known else [],
        "next_at": None if due is None else ceil(due),
        "absent": list(pairing.result.absent) if pairing.result else [],
    }


async def _headline(hall: Hall, _: LookUp, player: str, number: int) -> Headline | None:
    """Return the notification about a round, with the board if the match has begun."""
    tournament = hall.part(TournamentRegister).known.get(number)
    match = tournament and tournament.match_of(player)
    if not (tournament and match):
        return None
    table = hall.tables.with_key(match.key)
    other = match.second if player == match.first else match.first
    title = f"Round {match.round} of {tournament.name}"
    where = f" at the {table.name}" if table else ""
    brief = f"{title} has begun: you play {other}{where}."
    days = "" if tournament.is_by_days else " Come soon: if you're late, you lose the match."
    lines = wrap(f"{brief}{days}", WIDTH)
    path = board_path(table.name) if table else "/"
    return Headline("round", title, brief, tuple(lines), path)


finders["round"] = _headline
