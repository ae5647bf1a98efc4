"""The hall as text and facts: arrivals and departures, lists of boards and bots, the greeting."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from thudmud.english import capitalised, conjugate, join_words, pluralize
from thudmud.features.archive.messages import count, put_away
from thudmud.features.archive.ratings import explained, points_of
from thudmud.features.matchmaking.commands import Challenge, Invite, PlayNow, Seeks
from thudmud.features.matchmaking.messages import seek_made
from thudmud.features.options.commands import SetReader
from thudmud.features.people.commands import Who
from thudmud.features.playing.queries import SetBoard
from thudmud.features.playing.seats import Join
from thudmud.features.rooms.commands import Boards, Look, Observe, Unobserve, ViewBots, ViewNews
from thudmud.features.rooms.scenery import HALL, board_description
from thudmud.game import asides, events
from thudmud.game.archive import ListedBot
from thudmud.game.command import has_verb
from thudmud.game.delivery import Delivery
from thudmud.game.hall import Hall
from thudmud.game.more import Help
from thudmud.game.options import Style, Switch
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.rules import DEFAULT_RULES, Side
from thudmud.views import data, reader, sentences
from thudmud.views.data import Fact
from thudmud.views.facts import (
    arrival_fact,
    board_list_entry,
    departure_fact,
    observed_fact,
    options_fact,
    player_state_facts,
    presence_facts,
    table_data,
    table_facts_in_full,
)
from thudmud.views.facts import board_list_facts as listed_facts
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import (
    RenderContext,
    add_lines_to,
    added_facts,
    added_lines,
    facts,
    words,
)
from thudmud.views.standing import (
    at_table,
    board_and_status_lines,
    board_line,
    full_board_lines,
    standing_facts,
    status_lines,
    wrap_clickable,
)
from thudmud.views.view import DEFAULT_WIDTH, Display, View
from thudmud.views.words import MOST_BOARDS, pages_of, wrap, wrap_each

_REFUSALS = {
    Refusal.ALREADY_THERE: "You're already at the {board}.",
    Refusal.ALREADY_IN_HALL: "You're already in the hall.",
    Refusal.NOTHING_TO_OBSERVE: (
        'There\'s no board or player called "{words}" here. "games all" lists what\'s on.'
    ),
    Refusal.OBSERVES_OWN: (
        "You're playing at the {board}, so you see everything that happens there anyway."
    ),
    Refusal.OBSERVED_ALREADY: 'You already observe the {board}. "unobserve {board}" stops that.',
    Refusal.OBSERVES_TOO_MANY: (
        'You observe {most} boards, which is the limit: {boards:and}. "unobserve" and a name'
        " makes room."
    ),
    Refusal.OBSERVES_NOTHING: "You aren't observing any board.",
    Refusal.NOT_OBSERVED: "You aren't observing the {board}, but the {boards:and}.",
    Refusal.NOT_RUNNING: (
        'Nobody is playing battle {number} now. "games all" lists the battles under way.'
    ),
    Refusal.PLAYS_NOWHERE: '{player} isn\'t playing now. "games all" lists the battles under way.',
    Refusal.PLAYS_AT_SEVERAL: "{player} plays at several boards. Which one: {boards:or}?",
}
add_refusal_texts(_REFUSALS)


# Arrivals and departures.


def _unless_drawn(view: View, lines: list[str]) -> list[str]:
    """Return lines on who comes or goes, but none if the reader's client lists who is here."""
    return [] if view.display.is_drawn_by_client else lines


@words.register
def _entered(told: asides.Entered, context: RenderContext, view: View) -> list[str]:
    player, room, width = told.player, told.room, view.width
    lines: list[str] = []
    if room is None:
        lines = wrap(f"{conjugate(player, view.me, 'come')} into the hall.", width)
    if player != view.me:
        return _unless_drawn(view, lines)
    if room is None:
        lines += hall_seen(context, view)
        lines += put_away(view) if told.adjourned else []
    lines += _newer_news(context.hall, told, view)
    return lines + added_lines(asides.Entered, told, context, view)


@facts.register
def _entered_facts(told: asides.Entered, context: RenderContext) -> Iterator[Fact]:
    hall, player = context.hall, told.player
    if told.room is None:
        yield arrival_fact(hall, player, None)
        yield from presence_facts(hall, player)
        yield options_fact(hall, player)
        yield from listed_facts(hall, player)
    yield from added_facts(told, context)


@words.register
def _took_over(told: asides.TookOver, context: RenderContext, view: View) -> list[str]:
    player = told.player
    lines = wrap(f"{conjugate(player, view.me, 'carry')} on from here.", view.width)
    if player != view.me:
        return lines
    if table := context.table:
        lines += board_seen(context.hall, player, table, view)
    else:
        lines += hall_seen(context, view)
    return lines + added_lines(asides.TookOver, told, context, view)


@facts.register
def _took_over_facts(told: asides.TookOver, context: RenderContext) -> Iterator[Fact]:
    yield from player_state_facts(context.hall, told.player)
    yield from added_facts(told, context)


@words.register
def _render_gone(told: asides.Gone, _: RenderContext, view: View) -> list[str]:
    player = told.player
    if player != view.me and view.display.is_drawn_by_client:
        return []
    if told.parting in {events.Parting.LOST, events.Parting.CUT_OFF}:
        return wrap(f"{player} has lost the connection.", view.width)
    if told.parting is events.Parting.IDLE:
        return wrap(f"{player} was idle for too long, and is disconnected.", view.width)
    if told.parting is events.Parting.LEFT:  # in a MUD, to another of its rooms
        return [] if player == view.me else wrap(f"{player} walks away.", view.width)
    return wrap("Goodbye!" if player == view.me else f"{player} quits.", view.width)


@facts.register
def _gone_facts(told: asides.Gone, context: RenderContext) -> Iterator[Fact]:
    if not told.is_announced:
        yield departure_fact(told.player, told.room, is_gone=True)
    yield from added_facts(told, context)


@words.register
def _went_out(told: asides.WentOut, _: RenderContext, view: View) -> list[str]:
    if told.is_silent:
        return []
    goes = conjugate(told.player, view.me, "go")
    return _unless_drawn(view, wrap(f"{goes} to the {told.to or 'hall'}.", view.width))


@facts.register
def _went_out_facts(told: asides.WentOut, _: RenderContext) -> Iterator[Fact]:
    yield departure_fact(told.player, told.room, told.to)


@words.register
def _came_in(told: asides.CameIn, context: RenderContext, view: View) -> list[str]:
    hall, player, room, width = context.hall, told.player, told.room, view.width
    walks = conjugate(player, view.me, "walk")
    lines = wrap(f"{walks} to the {room or 'hall'}.", width)
    if player != view.me:
        return _unless_drawn(view, lines)
    if room is None:
        return lines + hall_seen(context, view)
    if told.takes_seat:  # the event of taking the seat shows the board
        here = _people_here(hall, player, room, width)
        return lines + here + _elsewhere(hall, player, room, width)
    return lines + board_seen(hall, player, context.known_table, view)


@facts.register
def _came_in_facts(told: asides.CameIn, context: RenderContext) -> Iterator[Fact]:
    hall, player = context.hall, told.player
    yield arrival_fact(hall, player, told.room)
    yield from presence_facts(hall, player)
    if told.room is None:
        yield from listed_facts(hall, player)
    elif not told.takes_seat:
        yield from table_facts_in_full(context.known_table, player)


@words.register
def _caught_up(told: asides.CaughtUp, context: RenderContext, view: View) -> list[str]:
    """Render the events that a player missed at a table, and the current state."""
    table = context.known_table
    # The state below mentions open offers, so their events are left out here.
    told_below = {
        event.offer: event
        for event, _ in told.missed
        if isinstance(event, events.Offered) and event.offer in table.offers
    }
    missed: list[str] = []
    for event, after in told.missed:
        if event in told_below.values():
            continue
        # Skip sentences that suggest a command in quotes: it no longer applies.
        if view.display.is_for_reader:
            missed += [
                each
                for each in reader.event_sentences_for_reader(event, after, view.me)
                if '"' not in each
            ]
        else:
            seen = sentences.event_sentences(event, after, view.me)
            missed.append(" ".join(each for each in seen if '"' not in each))
    lines = wrap_each(filter(None, missed), view.width)
    if lines:
        lines = wrap(f"What happened at the {table.name} while you were away:", view.width) + lines
    if view.is_elsewhere:
        return lines + at_table(standing_facts(table, view), table, view)
    return lines + board_seen(context.hall, told.player, table, view)


@facts.register
def _caught_up_facts(told: asides.CaughtUp, context: RenderContext) -> Iterator[Fact]:
    hall, player, table = context.hall, told.player, context.known_table
    if hall.people[player].room == table.name:
        yield from presence_facts(hall, player)
        yield options_fact(hall, player)
    yield from table_facts_in_full(table, player)


# The hall and its boards.


@words.register
def _look(asked: Look, context: RenderContext, view: View) -> list[str]:
    hall, player, table = context.hall, context.player, context.table
    if table is None:
        return [*wrap(_in_hall(hall), view.width), *hall_seen(context, view)]
    here = _people_here(hall, player, table.name, view.width) if asked.at is None else []
    lines = full_board_lines(table, view) + status_lines(table, view)
    if asked.at is not None or not table.is_running:  # "look" alone also redraws a battle
        lines = wrap(board_description(hall, table.name), view.width) + lines
    if _is_brief_by_default(hall, player, table, view):
        lines += wrap(
            f'You see this board in brief: "{SetBoard(Style.FULL)}" shows all of it after every'
            " move.",
            view.width,
        )
    return lines + here


def _is_brief_by_default(hall: Hall, player: str, table: Table, view: View) -> bool:
    """Whether a player sees only a line of a board without having chosen that."""
    if view.style is not Style.BRIEF or view.display.is_drawn_by_client:
        return False
    return table.name not in hall.people[player].styles


@add_lines_to(events.Joined)
def _seat_at_brief_board(_: Delivery, context: RenderContext, view: View) -> list[str]:
    """Tell a newcomer how to see a brief board."""
    table, player = context.known_table, context.player
    if player != view.me or not _is_brief_by_default(context.hall, player, table, view):
        return []
    full = f'"{SetBoard(Style.FULL)}" shows all of it after every move.'
    if has_verb(context.hall, "look"):
        full = f'"look" shows all of it, and "{SetBoard(Style.FULL)}" does so after every move.'
    return [f"This board is brief, with a line or two a move: {full}"]


def _in_hall(hall: Hall) -> str:
    return f"You are in the hall. {HALL}" if hall.opens_boards else "You are in the hall."


@facts.register
def _look_facts(asked: Look, context: RenderContext) -> Iterator[Fact]:
    hall, player, table = context.hall, context.player, context.table
    if asked.at is None:
        yield from presence_facts(hall, player)
    if table:
        yield from table_facts_in_full(table, player)
    elif asked.at is None:
        yield from listed_facts(hall, player)


def board_seen(hall: Hall, player: str, table: Table, view: View) -> list[str]:
    """Render a board for a player who arrives: its state and the people there."""
    return board_and_status_lines(table, view) + _people_here(hall, player, table.name, view.width)


@words.register
def _boards(asked: Boards, context: RenderContext, view: View) -> list[str]:
    """Render the boards of the hall and a page of those that players opened."""
    hall, page, width = context.hall, asked.page, view.width
    matches = len(hall.tables.made)
    pages = pages_of(matches, _MATCHES)
    if page > pages:
        return wrap(f'There\'s no page {page}. "{Boards(pages)}" shows the last one.', width)
    entries = [
        *(_standing_entries(hall) if page == 1 else ()),
        *_match_entries(hall, (page - 1) * _MATCHES, _MATCHES),
    ]
    lines = wrap_each(entries, width, "    ")
    if (more := matches - page * _MATCHES) > 0:
        lines += wrap(f'{pluralize(more, "more match")}: "{Boards(page + 1)}".', width)
    return lines


@facts.register
def _boards_facts(_: Boards, context: RenderContext) -> Iterable[Fact]:
    return listed_facts(context.hall, context.player)


@words.register
def _board_listed(_: asides.BoardListed, __: RenderContext, ___: View) -> list[str]:
    return []  # for programs only


@facts.register
def _board_listed_facts(_: asides.BoardListed, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Listed", board_list_entry(context.known_table))


@words.register
def _render_board_opened(
    opened: events.BoardOpened, context: RenderContext, view: View
) -> list[str]:
    board, rules = context.known_table.name, opened.rules
    if opened.key.startswith(events.MADE):
        return []  # whoever arrives there sees it
    if not opened.player:
        return wrap(f"There's a new board: the {board} ({rules} rules).", view.width)
    opens = capitalised(conjugate(opened.player, view.me, "open"))
    return wrap(f"{opens} a board: the {board} ({rules} rules).", view.width)


@facts.register
def _opened_facts(_: events.BoardOpened, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Table", table_data(context.known_table))


@words.register
def _render_board_closed(
    closed: events.BoardClosed, context: RenderContext, view: View
) -> list[str]:
    board = context.known_table.name
    if closed.key.startswith(events.MADE):
        return []
    if not closed.player:
        return wrap(f"The {board} is closed.", view.width)
    return wrap(
        f"{capitalised(conjugate(closed.player, view.me, 'close'))} the {board}.", view.width
    )


@facts.register
def _closed_facts(_: events.BoardClosed, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Closed", {"board": context.known_table.name})


@words.register
def _renamed(renamed: events.BoardRenamed, context: RenderContext, view: View) -> list[str]:
    board = context.known_table.name
    return wrap(f"The {board} is now the {renamed.name}.", view.width)


@facts.register
def _renamed_facts(renamed: events.BoardRenamed, context: RenderContext) -> Iterator[Fact]:
    yield Fact("Thud.Renamed", {"board": context.known_table.name, "name": renamed.name})


def hall_seen(context: RenderContext, view: View) -> list[str]:
    """Render the hall for a player: the people there, ways to play, and the boards.

    A client that draws boards lists them, too, so that they aren't repeated at each visit. It has
    buttons to play.
    """
    hall, player, width = context.hall, context.player, view.width
    is_drawn = view.display.is_drawn_by_client
    lines = [
        *_people_here(hall, player, None, width),
        *([] if is_drawn else _ways_to_play(hall, width)),
        *_who_waits(hall, player, view),
        *added_lines(Hall, hall, context, view),
    ]
    if is_drawn:
        return lines
    entries = [*islice(_standing_entries(hall), MOST_BOARDS)]
    entries += _match_entries(hall, 0, MOST_BOARDS - len(entries))
    lines += [
        *wrap(f"Boards{_how_to_go(hall)}:", width),
        *wrap_each(entries, width, "    "),
    ]
    if more := len(hall.tables) - len(entries):
        lines += wrap(f'And {pluralize(more, "more board")}: "{Boards()}" lists them.', width)
    return lines


def _how_to_go(hall: Hall) -> str:
    return ' ("go to" and a name takes you to one)' if has_verb(hall, "go") else ""


_MATCHES = 10
"""The number of boards opened by players on a page of the list of boards."""

_MOST_SEEKS = 2
"""The maximum number of seeks to list in the hall; more are only counted."""

_MOST_PEOPLE = 12
"""The maximum number of people to name in a room."""


def _who_waits(hall: Hall, player: str, view: View) -> list[str]:
    """List the seeks that are open to anybody, except the player's own."""
    theirs = [each for each in hall.seeks.values() if each.player in hall.people]
    open_seeks = [each for each in theirs if not each.to and each.player != player]
    if len(open_seeks) > _MOST_SEEKS:
        return wrap_clickable(
            f'There are {len(open_seeks)} open seeks: "{Seeks()}" lists them.', view
        )
    return [line for each in open_seeks for line in wrap_clickable(seek_made(each, player), view)]


def _newer_news(hall: Hall, entered: asides.Entered, view: View) -> list[str]:
    """Announce news that a returning member has not read yet."""
    if not (entered.is_member and hall.edition) or entered.news in {None, hall.edition}:
        return []
    return wrap_clickable(f'There\'s news: "{ViewNews()}" shows it.', view)


@words.register
def _bots(_: ViewBots, context: RenderContext, view: View) -> list[str]:
    """Render the list of bots, the weakest first, with their results against people."""
    hall, display = context.hall, view.display
    found: list[ListedBot] = context.answer
    width, in_all = display.width, pluralize(len(found), "bot")
    if not found:
        return wrap("There are no bots here.", width)
    heading = f"{in_all} to play with, and their results against people:"
    rows = [f"  {_bot(hall, bot, display)}" for bot in found]
    if not display.is_for_reader and max(map(len, rows)) >= width:
        heading = f"{in_all} here; level, rating (give or take), won/drawn/lost against people:"
        rows = [f"  {_short_bot(bot, display)}" for bot in found]
    else:
        rows = [
            line
            for row, bot in zip(rows, found, strict=True)
            for line in (row, *_character(hall, bot))
        ]
    ratings = [bot.rating for bot in found]
    by = f"The ratings are for {DEFAULT_RULES.name} rules." if any(ratings) else ""
    weakest = found[0].name
    how = f'To play one, type "{_inviting(weakest)}" at a board with a free seat.'
    asks: type[Challenge | Invite] = Invite
    if hall.opens_boards:
        how, asks = f'To play one, type "{Challenge(weakest.lower())}".', Challenge
    if hall.bots[weakest]:
        typed = asks(weakest.lower(), level=str(hall.levels[-1].number))
        known = join_words(hall.levels, "or")
        how += f' "{typed}" picks another level: {known}.'
    if has_verb(hall, "look"):
        how += f' "{Look(weakest.lower())}" tells you more.'
    return [
        *wrap(heading, width),
        *wrap_each(rows, width, "    "),
        *wrap(by, width),
        *explained(ratings, display),
        *wrap(how, width),
    ]


@facts.register
def _bots_facts(_: ViewBots, context: RenderContext) -> Iterator[Fact]:
    bots = [
        {
            "bot": bot.name,
            "level": bot.level or None,
            **data.rating_data(bot.rating),
            **data.tally_data(bot.fared),
        }
        for bot in context.answer
    ]
    levels = [
        {"level": each.number, "name": each.name, "plays": each.sentence}
        for each in context.hall.levels
    ]
    yield Fact("Thud.Bots", {"bots": bots, "levels": levels}, context.player)


def _bot(hall: Hall, bot: ListedBot, display: Display) -> str:
    """Return the entry of a bot in the list."""
    rating, level, tally = bot.rating, hall.bots[bot.name], bot.fared.in_all
    title = f"{bot.name}, level {level}" if level else bot.name
    good = "no rating"
    if rating:
        good = f"rating {points_of(rating, display)}, give or take {rating.uncertainty}"
    return f"{title}: {good}; {count(tally) if any(tally) else 'no battle yet'}."


def _character(hall: Hall, bot: ListedBot) -> list[str]:
    """Return a line on how a bot plays; none for an external program."""
    level = hall.bots[bot.name]
    return [f"    {level.sentence}"] if level else []


def _short_bot(bot: ListedBot, display: Display) -> str:
    """Return the entry of a bot for a narrow screen."""
    rating = bot.rating
    title = f"{bot.name} {bot.level}" if bot.level else bot.name
    good = f"{points_of(rating, display)} ({rating.uncertainty})" if rating else "no rating"
    return f"{title}: {good}, {'/'.join(map(str, bot.fared.in_all))}"


@add_lines_to(events.BattleEnded)
def _observed_still(_: Delivery, context: RenderContext, view: View) -> list[str]:
    """Remind an observer how to stop observing, after a match at a board that stays open."""
    table, match = context.known_table, context.known_table.match
    observes = view.is_elsewhere and view.me is None
    if not (observes and match and match.number and match.is_over) or context.hall.is_idle(table):
        return []
    return [f'You\'re still observing it: "{Unobserve(table.name)}" stops that.']


@add_lines_to(events.Joined)
def _seat_free(_: Delivery, context: RenderContext, view: View) -> list[str]:
    """Suggest a bot to a player who sits down alone."""
    table = context.known_table
    if table.is_full or table.is_running or context.player != view.me:
        return []
    return seat_for_a_bot(context.hall)


def seat_for_a_bot(hall: Hall) -> list[str]:
    """Return a sentence on seating a bot; empty without bots."""
    return [f'"{_inviting(bot)}" has a bot take it.' for bot in hall.bots_here()[:1]]


def _ways_to_play(hall: Hall, width: int) -> list[str]:
    """Return lines on how to start playing; none if there are neither bots nor new boards."""
    names = hall.bots_here()
    if hall.opens_boards:
        how = f'To play, type "{PlayNow()}".'
        if names:
            how += f' "{Challenge(names[0].lower())}" plays a bot of your choice.'
        return wrap(how, width)
    if not names:
        return []
    free = next((table.name for table in hall.tables.values() if not table.seats), None)
    typed = f'"{_inviting(names[0])}" at a board with a free seat'
    if free:
        typed = f'"{Join(Side.DWARF, free)}", then "{_inviting(names[0])}", then "start"'
    who = f"the bot{'s' if len(names) > 1 else ''} {join_words(names)}"
    return wrap(f"To play with {who}, type {typed}.", width)


def _inviting(bot: str) -> str:
    return str(Invite(bot.lower()))


def _standing_entries(hall: Hall) -> Iterator[str]:
    """Yield an entry for each board that players did not open, with its number."""
    made = {*hall.tables.made.values()}
    stays = (table for name, table in hall.tables.items() if name not in made)
    return (f"{n:>2}. {board_line(hall, table)}" for n, table in enumerate(stays, 1))


def _match_entries(hall: Hall, first: int, most: int) -> list[str]:
    """Return entries for boards that players opened, with their numbers.

    Args:
        hall: the hall.
        first: how many of these boards to skip.
        most: the maximum number of entries.
    """
    boards = sorted(hall.tables.made.items())[first : first + most]
    return [f"{n:>2}. {board_line(hall, hall.tables[board])}" for n, board in boards]


def _people_here(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """Name the other people in a room; empty if there are none."""
    occupants = hall.rooms.occupants(room)
    names, members = occupants.names, occupants.members
    bots = members.intersection(hall.bots) - {player}
    programs = sorted(bots, key=lambda bot: hall.people[bot].number)
    people = list[str]()
    for name in names:
        if name != player and name not in hall.bots:
            people.append(name)
            if len(people) == _MOST_PEOPLE:
                break  # there may be thousands
    if more := len(names) - (player in members) - len(programs) - len(people):
        people.append(f'{pluralize(more, "other")} ("{Who()}" lists them all)')
    here = [join_words(people)] if people else []
    if programs:
        here.append(f"the {'bot' if len(programs) == 1 else 'bots'} {join_words(programs)}")
    return wrap(f"Also here: {', and '.join(here)}.", width) if here else []


def _elsewhere(hall: Hall, player: str, room: str | None, width: int) -> list[str]:
    """List the other boards where an arriving player is in a match, and the state of the clocks."""
    others = [
        each
        for each in hall.tables.seats_of(player)
        if each.has_match_under_way and each.name != room
    ]
    if not others:
        return []
    mine, theirs, waiting = list[str](), list[str](), list[str]()
    for table in others:
        clock = table.clock
        if clock is None or clock.remaining_standstill:
            waiting.append(table.name)
        else:
            (mine if table.seats[clock.turn] == player else theirs).append(table.name)
    names = join_words(each.name for each in others)

    def at(boards: list[str]) -> str:
        return "there" if len(boards) == len(others) else f"at the {join_words(boards)}"

    told = [f"You're also playing at the {names}."]
    told += [f"Your clock is running {at(mine)}."] if mine else []
    told += [f"Your opponent's clock is running {at(theirs)}."] if theirs else []
    if waiting:
        match, is_ = ("match", "is") if len(waiting) == 1 else ("matches", "are")
        told.append(f"The {match} {at(waiting)} {is_} paused until you come back.")
    return wrap(" ".join(told), width)


# Observing and the news.


@words.register
def _observe_chosen(chosen: asides.ObserveChosen, context: RenderContext, view: View) -> list[str]:
    board = chosen.board
    if board not in chosen.observed:
        return wrap(f"You no longer observe the {board}.", view.width)
    ends = f'"{Unobserve(board)}" stops that.'
    lines = wrap_clickable(f"You now observe the {board}. {ends}", view)
    return lines + board_and_status_lines(context.known_table, view)


@facts.register
def _observe_chosen_facts(chosen: asides.ObserveChosen, context: RenderContext) -> Iterator[Fact]:
    yield observed_fact(context.hall, chosen.player)
    if context.table:
        yield from table_facts_in_full(context.table, chosen.player)


@words.register
def _observed(_: Observe, context: RenderContext, view: View) -> list[str]:
    """Render the list of boards that a player observes."""
    hall, width = context.hall, view.width
    boards = hall.people[context.player].observed
    if not boards:
        how = f'To watch one, type "{Observe()}" and the name of a board or a player.'
        return wrap(f"You aren't observing any board. {how}", width)
    entries = (f"  {board_line(hall, hall.tables[board])}" for board in boards)
    ends = f'"{Unobserve()}" and a name removes one of these, "{Unobserve()}" alone all.'
    return [
        *wrap("You observe:", width),
        *wrap_each(entries, width, "    "),
        *wrap(ends, width),
    ]


@facts.register
def _observed_facts(_: Observe, context: RenderContext) -> Iterator[Fact]:
    yield observed_fact(context.hall, context.player)


@words.register
def _news(_: ViewNews, context: RenderContext, view: View) -> list[str]:
    """Render the operator's news."""
    lines = context.hall.news or ["There is no news."]
    return [row for line in lines for row in wrap(line, view.width) or [""]]


def greeting(bots: Collection[str], players: int) -> str:
    """Return the greeting for a new connection: the number of people online, and first commands.

    It has the default width, since it is sent before the client can report its own.

    Args:
        bots: names of the bots.
        players: the number of people online.
    """
    here = [pluralize(players, "player")] if players else []
    if bots:
        here.append(pluralize(len(bots), "bot"))
    told = f"{join_words(here)} {'is' if len(bots) + players == 1 else 'are'} here"
    alone = ": you play a bot at once, and a person as soon as one comes along" if bots else ""
    text = (
        "Welcome to thudmud, where people play Thud, the board game of dwarfs and trolls."
        f" {told if here else 'You are the first one here'}. Choose a name, and then type"
        f' "{PlayNow()}"{alone}. "{Help()}" explains the rest. If you use a screen reader, type'
        f' "{SetReader(Switch.ON)}", now or later.'
    )
    return "\n".join(wrap(text, DEFAULT_WIDTH))
