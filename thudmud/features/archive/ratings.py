"""Results and ratings as text and facts: scores, rating curves, standings and rating changes.

A provisional rating is marked with "?", as on chess servers; screen readers get the word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from thudmud.english import capitalised, join_words, ordinal, pluralize, rules_title, shortened
from thudmud.features.archive import curves
from thudmud.features.archive.commands import Replay, ViewScore, ViewStandings
from thudmud.features.archive.messages import count
from thudmud.game import archive
from thudmud.game.asides import ResultTold
from thudmud.game.clocks import TimeClass
from thudmud.game.delivery import Delivery
from thudmud.game.events import NO_BOTS, OWN_PROGRAM, BattleEnded
from thudmud.game.hall import Hall, guest_players, unrated_reason
from thudmud.game.match import RATED_PLIES, Match, Unrated
from thudmud.game.more import Help
from thudmud.game.people import BotLevel
from thudmud.game.projections import LAST, MOST_OF_LAST
from thudmud.rules import Side
from thudmud.views import data
from thudmud.views.data import Fact
from thudmud.views.registry import RenderContext, add_lines_to, facts, words
from thudmud.views.view import Display, View
from thudmud.views.words import wrap

INDENT = "    "

PROVISIONALLY = f'A rating with a ? is provisional: see "{Help("ratings")}".'


@words.register
def _score(asked: ViewScore, context: RenderContext, view: View) -> list[str]:
    hall, me = context.hall, context.player
    name = hall.people.names.get((asked.player or me).lower())
    who, is_here = name or asked.player or me, name is not None
    return score(context.answer, who, me, hall.levels, view.display, is_here=is_here)


@facts.register
def _score_facts(asked: ViewScore, context: RenderContext) -> Iterator[Fact]:
    player = context.player
    yield Fact("Thud.Score", data.results_data(context.answer, asked.player or player), player)


def score(
    found: archive.PlayerScore | None,
    player: str,
    me: str,
    levels: Iterable[BotLevel],
    display: Display,
    *,
    is_here: bool,
) -> list[str]:
    """Render a player's results and ratings.

    Results against people and against bots are separate. A bot's own results are listed by level.

    Args:
        found: the player's results; None if they have finished no battle.
        player: the player's name.
        me: the reader's name.
        levels: the levels of bots, for their names.
        display: the reader's display.
        is_here: whether the player is online.
    """
    width = display.width
    if found is None:
        who = capitalised(shortened(player))
        if not is_here:
            return wrap(f"Nobody called {who} has finished a battle here.", width)
        have = "You haven't" if player == me else f"{who} hasn't"
        return wrap(f"{have} finished a battle here yet.", width)
    names = {level.number: f", at level {level}" for level in levels} | {OWN_PROGRAM: ""}
    lines = []
    if found.people != archive.Performance():
        lines += _fared(found.name, found.people, "match", display, found.curves)
    fared = [(", against bots", found.bots)]
    fared += [
        (names.get(level, f", at level {level}"), each) for level, each in found.levels.items()
    ]
    for role, each in fared:
        if each != archive.Performance():
            lines += _fared(f"{found.name}{role}", each, "battle", display)
    if found.puzzles:
        rating = _rating(found.puzzles, "puzzle", display)
        lines += wrap(f"{found.name}, at puzzles: rating {rating}.", width)
    if found.tournaments:
        places = (
            f"{ordinal(each.place)} of {each.entrants} in {each.name}" for each in found.tournaments
        )
        lines += wrap(f"{found.name}, in tournaments: {'; '.join(places)}.", width)
    ratings = [found.puzzles, *found.people.ratings.values(), *found.bots.ratings.values()]
    ratings += [each for level in found.levels.values() for each in level.ratings.values()]
    return lines + explained(ratings, display)


def _fared(
    who: str,
    fared: archive.Performance,
    noun: str,
    display: Display,
    points: Mapping[archive.Pool, Sequence[int]] | None = None,
) -> list[str]:
    """Render the results in one role.

    Args:
        who: the player and the role.
        fared: the results.
        noun: the unit that ratings are based on, such as "match".
        display: the reader's display.
        points: the history of each rating, for its curve.
    """
    width = display.width
    lines = wrap(f"{who}:" if fared.ratings else f"{who}: no rating yet.", width)
    played = [*(rules for rules, _ in fared.battles), *(pool.rules for pool in fared.ratings)]
    for rules in dict.fromkeys(played):
        matches = fared.matches.get(rules)
        counts = [f"matches {count(matches)}"] if matches else []
        counts += [
            f"as {side.plural} {count(fared.battles[rules, side])}"
            for side in Side
            if (rules, side) in fared.battles
        ]
        told = f": {'; '.join(counts)}." if counts else ":"
        lines += wrap(f"  {rules_title(rules)}{told}", width, INDENT)
        for pool in (archive.Pool(rules, time) for time in TimeClass):
            if rating := fared.ratings.get(pool):
                pace = f"{pool.time.value}, " if noun == "match" else ""
                told = capitalised(f"{pace}rating {_rating(rating, noun, display)}.")
                lines += wrap(f"{INDENT}{told}", width, INDENT * 2)
                lines += _course((points or {}).get(pool, ()), display)
    return lines


_ROWS = 3
"""The height of a curve, in rows."""

_MARGIN = 12
"""Columns to the left of a curve."""


def _course(points: Sequence[int], display: Display) -> list[str]:
    """Render the history of a rating as a curve, or in words; empty if it is flat or too short."""
    matches, most, least = len(points) - 1, max(points, default=0), min(points, default=0)
    if matches < 2 or most == least:
        return []
    if display.is_for_reader:
        over = f"Over the last {matches} matches it went from {points[0]} to {points[-1]}"
        told = f"{INDENT}{over}; the highest was {most}, the lowest {least}."
        return wrap(told, display.width, INDENT * 2)
    across, up = curves.parts(display)
    group = -(-len(points) // (across * (display.width - 1 - _MARGIN)))
    last = points[::-1][::group][::-1]  # the last of each group, to include the latest rating
    levels = _ROWS * up - 1
    heights = [1 + round(levels * (each - least) / (most - least)) for each in last]
    labels = {0: most, _ROWS - 1: least}
    return [
        f"{labels.get(row, ''):>{_MARGIN - 2}} |{drawn}".rstrip()
        for row, drawn in enumerate(curves.rows(heights, _ROWS, display))
    ]


@words.register
def _standings(_: ViewStandings, context: RenderContext, view: View) -> list[str]:
    return standings(context.answer, view.display)


@facts.register
def _standings_facts(_: ViewStandings, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Standings", data.standings_data(context.answer), context.player)


def standings(ranking: archive.Ranking, display: Display) -> list[str]:
    """Render the standings, the best player first, with the reader's own rating."""
    width, mine = display.width, ranking.mine
    said = "nobody is ranked yet."
    if ranking.in_all:
        said = "best first, by rating minus twice the give or take:"
    lines = wrap(f"{rules_title(str(ranking.pool))}: {said}", width)
    for place, name, rating in ranking.players:
        text = f"{place:>3}. {name}: {_rating(rating, 'match', display)}"
        lines += wrap(text, width, "     ")
    if ranking.in_all > archive.PAGE:
        lines += wrap(f"There are {ranking.in_all} in all.", width)
    if mine and mine.is_provisional:
        own = f"Yours is provisional: {_rating(mine, 'match', display)}."
        lines += wrap(f"{own} You'll be ranked after {archive.PROVISIONAL} matches.", width)
    elif not ranking.in_all:
        after = f"You'll be ranked after {archive.PROVISIONAL} rated matches"
        lines += wrap(f'{after}: "{Help("ratings")}" explains how.', width)
    others = [
        f'"{ViewStandings(pool.rules, pool.time)}" ({number})' for pool, number in ranking.others
    ]
    if others:
        lines += wrap(f"Other standings: {join_words(others)}.", width)
    return lines


@add_lines_to(BattleEnded)
def _add_rating_changes(delivery: Delivery, context: RenderContext, view: View) -> list[str]:
    """Add rating changes and the replay command to the lines about the end of a battle."""
    event, match = cast("BattleEnded", delivery.event), context.known_table.match
    told = changed(event, match, delivery.changes, view, context.hall)
    if match and match.number:
        told.append(f'"{Replay(match.number)}" shows this battle again.')
    return told


def changed(
    event: BattleEnded,
    match: Match | None,
    changes: Sequence[archive.RatingChange],
    view: View,
    hall: Hall,
) -> list[str]:
    """Return a sentence on the rating changes of a battle or finished match, or why there are none.

    Args:
        event: the end of the battle.
        match: the match right after it.
        changes: the rating changes.
        view: the reader's view.
        hall: the hall.

    Returns:
        At most one sentence. Empty in practice, and in an unfinished match that can still count.
    """
    me, display = view.me, view.display
    if why := unrated_reason(event, match, changes, hall):
        will = "changes" if event.points or event.levels != NO_BOTS else "will change"
        return [f"No rating {will}: {_reason(why, event, hall, me)}."]
    if not changes:
        return []
    own_first = sorted(changes, key=lambda change: change.player != me)
    told = "; ".join([_change(each, me, display) for each in own_first])
    if event.levels != NO_BOTS:
        return [f"{rules_title(changes[0].pool.rules)}, against bots: {told}."]
    for player in (event.dwarf, event.troll):
        if player != changes[0].player and len(changes) == 1:
            stays = "yours" if player == me else f"{player}'s"
            whose = "yours" if changes[0].player == me else f"{changes[0].player}'s"
            told += f"; {stays} stays the same, since {whose} is provisional"
    return [f"{rules_title(str(changes[0].pool))}: {told}."]


def _change(change: archive.RatingChange, me: str | None, display: Display) -> str:
    """Return a rating change as a phrase, such as ``your rating 1500 -> 1579?``."""
    whose = "your" if change.player == me else f"{change.player}'s"
    after = points_of(change.after, display)
    if display.is_for_reader:
        return f"{whose} rating goes from {change.before} to {after}"
    return f"{whose} rating {change.before} -> {after}"


def _reason(why: Unrated, event: BattleEnded, hall: Hall, me: str | None) -> str:
    """Return the reason why no rating changes, as a clause."""
    match why:
        case Unrated.GUEST:
            guests = sorted(guest_players(event, hall), key=lambda each: each != me)
            names = join_words("you" if each == me else each for each in guests)
            are = "is" if len(guests) == 1 and guests[0] != me else "are"
            return f"{names} {are} {'a guest' if len(guests) == 1 else 'guests'}"
        case Unrated.TOO_SHORT:
            is_this = event.plies < RATED_PLIES and (event.levels != NO_BOTS or not event.points)
            return f"the {'' if is_this else 'first '}battle had fewer than {RATED_PLIES} moves"
        case Unrated.REPLACED:
            return "a player was replaced"
        case Unrated.SET_UP:
            return "the position was set up"
        case Unrated.TOO_OFTEN:
            most = f"{MOST_OF_LAST} of {LAST} rated matches in a row"
            return f"no more than {most} can be against the same player"
        case Unrated.CASUAL:
            return f"the {'match' if event.levels == NO_BOTS else 'battle'} was casual"


@words.register
def _result_told(told: ResultTold, _: RenderContext, view: View) -> list[str]:
    """Render the result of a match between other players: winner, points and new ratings."""
    ended, points = told.ended, told.ended.points or (0, 0)
    first, second = ended.dwarf, ended.troll
    if points[0] < points[1]:
        first, second = second, first
    verb = f"{first} and {second} draw" if points[0] == points[1] else f"{first} beats {second}"
    rated = "in a rated match " if told.rated else ""
    result = f"{verb} {max(points)} to {min(points)} {rated}at the {told.board}"
    ratings = {each.player: points_of(each.after, view.display) for each in told.changes}
    known = [f"{name} {ratings[name]}" for name in (first, second) if name in ratings]
    return wrap(f"{result}{': ' if known else ''}{'; '.join(known)}.", view.width)


@facts.register
def _result_told_facts(told: ResultTold, _: RenderContext) -> Iterator[Fact]:
    ended = told.ended
    points = dict(zip(Side, ended.points or (0, 0), strict=True))
    lead = points[Side.DWARF] - points[Side.TROLL]
    known = {
        "board": told.board,
        "battle": told.battle,
        "dwarf": ended.dwarf,
        "troll": ended.troll,
        "points": {side.value: points[side] for side in Side},
        "winner": None if lead == 0 else (Side.DWARF if lead > 0 else Side.TROLL).value,
        "rated": told.rated,
        "at": int(ended.at),
        "ratings": [data.rating_change_data(each) for each in told.changes],
    }
    yield Fact("Thud.Result", known)


def explained(ratings: Iterable[archive.Rating | None], display: Display) -> list[str]:
    """Return the legend of the question mark, if one of the ratings is provisional."""
    is_marked = any(each and each.is_provisional for each in ratings) and not display.is_for_reader
    return wrap(PROVISIONALLY, display.width) if is_marked else []


def points_of(rating: archive.Rating, display: Display) -> str:
    """Return the points of a rating, marked if it is provisional."""
    if not rating.is_provisional:
        return str(rating.points)
    return f"{rating.points}, provisional" if display.is_for_reader else f"{rating.points}?"


def _rating(rating: archive.Rating, noun: str, display: Display) -> str:
    results = pluralize(rating.results, noun)
    return f"{points_of(rating, display)}, give or take {rating.uncertainty} ({results})"
