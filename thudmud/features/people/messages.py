"""People as text and as facts: players online, activities, profiles, following and ignoring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from thudmud.english import join_words, pluralize, rounded_duration
from thudmud.features.archive.ratings import explained, points_of
from thudmud.features.people.commands import (
    Finger,
    Follow,
    FollowChosen,
    Ignore,
    IgnoreChosen,
    Plan,
    PlanChosen,
    Unfollow,
    Unignore,
    Who,
)
from thudmud.features.talk.messages import own_words
from thudmud.game.archive import PAGE, Fingered, Performance, PlayerScore, Pool, Rating
from thudmud.game.asides import FollowedBegan, FollowedCame
from thudmud.game.hall import Hall
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.values import replace
from thudmud.views import data
from thudmud.views.data import Data, Fact
from thudmud.views.facts import person_data
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, added_lines, facts, words
from thudmud.views.standing import wrap_clickable
from thudmud.views.view import Display, View
from thudmud.views.words import pages_of, wrap, wrap_each

_REFUSALS = {
    Refusal.IGNORE_SELF: "That's you. You can only ignore others.",
    Refusal.IGNORED_ALREADY: (
        'You already ignore {player}. "unignore {player}" lets you hear them again.'
    ),
    Refusal.IGNORES_TOO_MANY: (
        'You ignore {most} players, which is the limit. "unignore" and a name makes room.'
    ),
    Refusal.NOT_IGNORED: 'You don\'t ignore "{words}". "ignore" lists everyone you do.',
    Refusal.FOLLOW_SELF: "That's you. You can only follow others.",
    Refusal.FOLLOWED_ALREADY: 'You already follow {player}. "unfollow {player}" stops that.',
    Refusal.FOLLOWS_TOO_MANY: (
        'You follow {most} players, which is the limit. "unfollow" and a name makes room.'
    ),
    Refusal.NOT_FOLLOWED: 'You don\'t follow "{words}". "follow" lists everyone you do.',
    Refusal.PLANS_FOR_MEMBERS: ('Plans are for registered players. "register" makes you one.'),
    Refusal.PLAN_TOO_LONG: "That's too long: a plan has at most {most} characters.",
}
add_refusal_texts(_REFUSALS)


MINUTE = 60.0

_IDLE_FROM = 2 * MINUTE
"""Idle time from which it is mentioned, in seconds. Activity is recorded only every half minute."""

finger_fields: list[Callable[[Hall, str], Mapping[str, Any]]] = []
"""Functions that return further fields of the fact ``Thud.Finger`` for a player's name."""


@words.register
def _who(asked: Who, context: RenderContext, view: View) -> list[str]:
    """Render a page of the people and bots online, with their rooms and battles."""
    hall, width = context.hall, view.width
    names, programs = list(hall.people), hall.bots_here()
    people = pluralize(len(names) - len(programs), "player")
    also = f" and {pluralize(len(programs), 'bot')}" if programs else ""
    heading = f"{people}{also} connected"
    if asked.player:
        names = hall.people.names_starting_with(asked.player)
        heading = pluralize(len(names), "matching player")
    pages = pages_of(len(names), PAGE)
    if asked.page > pages:
        last = replace(asked, page=pages)
        return wrap(f'There\'s no page {asked.page}. "{last}" shows the last players.', width)
    shown = names[(asked.page - 1) * PAGE : asked.page * PAGE]
    entries = (f"  {_person(hall, name, context.player, context.at)}" for name in shown)
    lines = [*wrap(f"{heading}:", width), *wrap_each(entries, width, "    ")]
    if pages > 1:
        more = f"Page {asked.page} of {pages}."
        if asked.page < pages:
            more += f' "{replace(asked, page=asked.page + 1)}" shows more.'
        lines += wrap(more, width)
    if programs and not asked.player:
        verb = "match" if hall.opens_boards else "invite"
        typed = f'To play a bot, type "{verb}" and its name.'
        lines += wrap(f'{typed} "bots" shows how well each plays.', width)
    return lines


@facts.register
def _who_facts(asked: Who, context: RenderContext) -> Iterator[Fact]:
    hall = context.hall
    people = [
        _presence(hall, name, context.at)
        for name in hall.people.names_starting_with(asked.player or "")
    ]
    yield Fact("Thud.Who", {"people": people}, context.player)


@words.register
def _fingered(_: Finger, context: RenderContext, view: View) -> list[str]:
    """Render a player's profile."""
    hall, player, found = context.hall, context.player, context.answer
    display, name, width = view.display, found.name, view.width
    lines = wrap(f"{_whole(hall, found, player, context.at)}.", width)
    lines += added_lines(Person, name, context, view)
    if usual := hall.bots.get(name):
        plays = f"{usual.name}, level {usual.number} of {len(hall.levels)}: {usual.sentence}"
        lines += wrap(plays, width)
    elif name in hall.bots:
        lines += wrap("An external program chooses its moves.", width)
    if rated := _ratings_of(hall, found):
        told = (
            f"{_kind(hall, name, role, pool)} {points_of(rating, display)}"
            for role, pool, rating in rated
        )
        lines += wrap(f"Ratings: {'; '.join(told)}.", width)
        lines += explained((rating for *_, rating in rated), display)
    else:
        lines += wrap("No rating yet.", width)
    lines += added_lines(Fingered, found, context, view)
    return lines + _plan(hall, found, player, display)


@facts.register
def _finger_facts(_: Finger | Plan, context: RenderContext) -> Iterator[Fact]:
    hall, found = context.hall, context.answer
    name, member, is_here = found.name, found.member, found.name in hall.people
    absent = {
        "player": name,
        "member": member is not None,
        "bot": False,
        "operator": hall.is_operator(name),
        "room": None,
        "idle": None,
        "plays": [table.name for table in hall.tables.seats_of(name)],
    }
    known = {
        **(_presence(hall, name, context.at) if is_here else absent),
        "here": is_here,
        "seen": int(member.at) if member and not is_here else None,
        "watches": _watched(hall, name) if is_here else [],
        "ratings": [
            {
                "against": role,
                "rules": pool.rules if pool else None,
                "time": pool.time.value if pool else None,
                **data.rating_data(rating),
            }
            for role, pool, rating in _ratings_of(hall, found)
        ],
        "plan": _plan_of(hall, found) or None,
    }
    for fields in finger_fields:
        known |= fields(hall, name)
    yield Fact("Thud.Finger", known, context.player)


def _presence(hall: Hall, name: str, now: float) -> Data:
    """Return the presence of a player online as data: identity, room, idle time and boards."""
    return {
        **person_data(hall, name),
        "room": hall.people[name].room,
        "idle": _idle_for(hall, name, now),
        "plays": [table.name for table in hall.tables.seats_of(name)],
    }


def _ratings_of(hall: Hall, found: Fingered) -> list[tuple[str, Pool | None, Rating]]:
    """Return all ratings of a player, with their role: ``people``, ``bots`` or ``puzzles``."""
    score = found.score or PlayerScore(found.name)
    level = hall.level(found.name)
    roles = {"people": score.people, "bots": score.bots}
    if level is not None:
        roles = {"people": score.levels.get(level, Performance())}
    rated: list[tuple[str, Pool | None, Rating]] = [
        (role, pool, rating)
        for role, fared in roles.items()
        for pool, rating in fared.ratings.items()
    ]
    return rated + ([("puzzles", None, score.puzzles)] if score.puzzles else [])


def _kind(hall: Hall, name: str, role: str, pool: Pool | None) -> str:
    """Return a phrase for the role and pool of a rating."""
    if pool is None:
        return role
    if role == "bots":
        return f"{pool.rules} against bots"
    return pool.rules if name in hall.bots else f"{pool.rules} {pool.time.value}"


@words.register
def _own_plan(_: Plan, context: RenderContext, view: View) -> list[str]:
    """Render the player's own plan, or how to write one."""
    how = 'You have no plan. If your name is registered, "plan" and some words about you makes one.'
    plan = _plan(context.hall, context.answer, context.player, view.display)
    return plan or wrap(how, view.width)


@words.register
def _plan_chosen(chosen: PlanChosen, _: RenderContext, view: View) -> list[str]:
    kept = f'Plan saved. "{Finger()}" shows it with the rest of your profile.'
    return wrap(kept if chosen.plan else "Plan deleted.", view.width)


def _plan(hall: Hall, found: Fingered, player: str, display: Display) -> list[str]:
    whose, text = "Your" if found.name == player else f"{found.name}'s", _plan_of(hall, found)
    return own_words(f"{whose} plan: {text}", display) if text else []


def _plan_of(hall: Hall, found: Fingered) -> str:
    """Return a player's plan, from memory if they are online, else from the account."""
    if person := hall.people.get(found.name):
        return person.plan
    return found.member.plan if found.member else ""


@words.register
def _render_followed(_: Follow, context: RenderContext, view: View) -> list[str]:
    """Render the list of players that a player follows."""
    hall, player, now, width = context.hall, context.player, context.at, view.width
    names = hall.people[player].followed
    if not names:
        nobody = f'You follow nobody. "{Follow()}" and a name lets you know when they come in.'
        return wrap(nobody, width)
    spelt = [hall.people.names.get(name.lower(), name) for name in names]
    entries = (
        f"  {_person(hall, name, player, now)}" if name in hall.people else f"  {name} isn't here"
        for name in spelt
    )
    return [
        *wrap("You follow:", width),
        *wrap_each(entries, width, "    "),
        *wrap('"unfollow" and a name removes one.', width),
    ]


@facts.register
def _followed_facts(_: Follow | FollowChosen, context: RenderContext) -> Iterator[Fact]:
    player = context.player
    yield Fact("Thud.Follow", {"players": list(context.hall.people[player].followed)}, player)


@words.register
def _follow_chosen(chosen: FollowChosen, _: RenderContext, view: View) -> list[str]:
    other = chosen.other
    if other not in chosen.followed:
        return wrap(f"You no longer follow {other}.", view.width)
    told = f"You'll hear when {other} comes in or begins a match."
    ends = f'"{Unfollow(other.lower())}" stops that.{_absent(chosen)}'
    return wrap_clickable(f"{told} {ends}", view)


def _absent(chosen: FollowChosen | IgnoreChosen) -> str:
    return "" if chosen.is_here else f" Nobody called {chosen.other} is here right now."


@words.register
def _followed_came(came: FollowedCame, _: RenderContext, view: View) -> list[str]:
    return wrap(f"{came.player} has come in.", view.width)


@facts.register
def _followed_came_facts(came: FollowedCame, _: RenderContext) -> Iterator[Fact]:
    known = {"what": "came", "players": [came.player], "board": came.room}
    yield Fact("Thud.Followed", known)


@words.register
def _followed_began(began: FollowedBegan, _: RenderContext, view: View) -> list[str]:
    begin = "resume a match" if began.resumed else "begin a match"
    who = f"{began.dwarf} and {began.troll}"
    return wrap_clickable(f'{who} {begin}. To watch, type "observe {began.board}".', view)


@facts.register
def _followed_began_facts(began: FollowedBegan, _: RenderContext) -> Iterator[Fact]:
    what, players = "resumed" if began.resumed else "began", [began.dwarf, began.troll]
    yield Fact("Thud.Followed", {"what": what, "players": players, "board": began.board})


@words.register
def _ignored(_: Ignore, context: RenderContext, view: View) -> list[str]:
    """Render the list of players that a player ignores."""
    if names := context.hall.people[context.player].ignored:
        told = f'You ignore {join_words(names)}. "unignore" and a name lets you hear one again.'
    else:
        told = 'You ignore nobody. "ignore" and a name silences a player.'
    return wrap(told, view.width)


@words.register
def _ignore_chosen(chosen: IgnoreChosen, _: RenderContext, view: View) -> list[str]:
    other = chosen.other
    if other not in chosen.ignored:
        return wrap(f"You hear {other} again.", view.width)
    back = f'"{Unignore(other.lower())}" lets you hear them again.{_absent(chosen)}'
    return wrap_clickable(f"You no longer hear {other}. {back}", view)


def _idle_for(hall: Hall, name: str, now: float) -> int | None:
    """Return the idle time of a player online, in whole minutes; None for a bot."""
    if name in hall.bots:
        return None
    return max(0, int((now - hall.people[name].last_active) // MINUTE))


def _watched(hall: Hall, name: str) -> list[str]:
    """Return the boards that a player online watches, in their room or from elsewhere."""
    person = hall.people[name]
    boards = dict.fromkeys((*([person.room] if person.room else ()), *person.observed))
    return [board for board in boards if not hall.tables[board].side_of(name)]


def _whole(hall: Hall, found: Fingered, player: str, now: float) -> str:
    """Return a clause with a player's role, and their current activity or last visit."""
    name, person = found.name, hall.people.get(found.name)
    is_member = person.is_member if person else found.member is not None
    role = "a bot" if name in hall.bots else "a member" if is_member else "a guest"
    role = "an operator" if hall.is_operator(name) else role
    title = f"{name} ({'you, ' if name == player else ''}{role})"
    if person:
        return f"{title} {_doing(hall, name, now)}"
    seen = (
        f"was last here {rounded_duration(max(0.0, now - found.member.at))} ago"
        if found.member
        else ""
    )
    plays = join_words(_playing(hall, name))
    here = join_words(filter(None, ["isn't here", seen]))
    return f"{title} {here}{f', but {plays}' if plays else ''}"


def _person(hall: Hall, name: str, player: str, now: float) -> str:
    mine = " (you)" if name == player else " (a bot)" if name in hall.bots else ""
    mine = mine or (" (an operator)" if hall.is_operator(name) else "")
    return f"{name}{mine} {_doing(hall, name, now)}"


def _doing(hall: Hall, name: str, now: float) -> str:
    """Return the current activity of a player online: room, battles, observed boards, idle time."""
    person = hall.people[name]
    facts = _playing(hall, name)
    boards = [table.name for table in hall.tables.seats_of(name)]
    # A bot's room only shows where it was invited last.
    if boards != [person.room] and not (boards and name in hall.bots):
        facts.insert(0, f"is at the {person.room}" if person.room else "is in the hall")
    if elsewhere := [board for board in _watched(hall, name) if board != person.room]:
        facts.append(f"observes the {join_words(elsewhere)}")
    idle = _idle_for(hall, name, now)
    if idle and idle * MINUTE >= _IDLE_FROM:
        facts.append(f"has been idle for {rounded_duration(idle * MINUTE)}")
    return join_words(facts) if len(facts) > 1 else facts[0]


def _playing(hall: Hall, name: str) -> list[str]:
    """Return clauses on a player's battles, one for all boards with the same side and level."""
    boards: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for table in hall.tables.seats_of(name):
        boards[_part(hall, table, name)].append(table.name)
    return [
        f"plays {part} at the {at[0] if len(at) == 1 else join_words(at)}{level}"
        for (part, level), at in boards.items()
    ]


def _part(hall: Hall, table: Table, name: str) -> tuple[str, str]:
    """Return the side that a seated player has at a table, and the level."""
    side = table.side_of(name)
    if side is None or table.is_practice:
        return "both sides", ""
    return f"the {side.plural}", _level(table.levels.of(side), hall, name)


def _level(level: int | None, hall: Hall, name: str) -> str:
    """Return a bot's level in brackets if it isn't its usual one, else ""."""
    return f" (level {level})" if level and level != hall.level(name) else ""
