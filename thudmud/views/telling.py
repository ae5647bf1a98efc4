"""The lines that one reader gets of one thing that happened, or as an answer.

Which sentence, board and status line go together depends on the reader's style, and on whether they
are at the board.
"""

from __future__ import annotations

from typing import cast

from thudmud.play import asides, events
from thudmud.play.analysis import AnalysedBattle
from thudmud.play.archive import (
    AdjournedMatches,
    BotList,
    FoundBattle,
    HistoryPage,
    PlayerScore,
    Ranking,
    StudyRecord,
)
from thudmud.play.hall import Hall
from thudmud.play.hints import Advice
from thudmud.play.letters import LettersPage, Report
from thudmud.play.options import Style
from thudmud.play.table import Table
from thudmud.play.telling import Telling
from thudmud.verbs.archive import (
    Analyse,
    Games,
    History,
    Replay,
    ViewRecord,
    ViewScore,
    ViewStandings,
)
from thudmud.verbs.exercises import Lessons
from thudmud.verbs.letters import Letters
from thudmud.verbs.matchmaking import PlayNow, Seeks
from thudmud.verbs.more import Help, Syntax
from thudmud.verbs.options import ShowOptions, ShowScheme
from thudmud.verbs.order import Bans, Mutes, Reports
from thudmud.verbs.queries import Hint, Query, ViewGame, ViewPossible
from thudmud.verbs.rooms import Boards, Look, Observe, Unobserve, ViewBots, ViewNews
from thudmud.views import (
    analysis,
    archive,
    boards,
    exercises,
    hints,
    legal,
    letters,
    options,
    order,
    ratings,
    reader,
    rooms,
    sentences,
)
from thudmud.views.help import page, syntax
from thudmud.views.registry import words_of
from thudmud.views.view import Display, View
from thudmud.views.words import time_of_day, wrapped, wrapped_each

SPEECH = asides.Spoke | asides.Emoted | asides.Told | asides.CommentMade | asides.Announced
"""What is in a player's own words."""

DRAWN = (
    events.BattleStarted,
    events.Moved,
    events.PositionSet,
    events.Resumed,
    events.RulesSet,
    events.TakenBack,
)
"""The events after which there is another position to see."""


def tell(hall: Hall, telling: Telling, view: View) -> list[str]:
    """Return the lines that a reader with ``view`` is told."""
    event, table = telling.event, telling.table
    if (lines := words_of(hall, telling, view)) is not None:
        return lines
    if isinstance(event, asides.Asked):
        return _answer(hall, event, table, view, telling.at)
    if isinstance(event, asides.Aside):
        return _aside(hall, event, table, view, telling.at)
    if isinstance(event, events.HallEvent):
        return wrapped(rooms.hall_event_text(event, table, view.me), view.width)
    if table is None:
        raise ValueError(f"{event} happened at no table")
    told = _happened(hall, telling, event, table, view)
    sits = isinstance(event, events.Joined) and event.player == view.me
    if not view.display.reader:
        return told + shown(table, view) if sits or isinstance(event, DRAWN) else told
    left = []
    if sits:
        left = reader.stands(table, view.me, view.style)
    elif isinstance(event, DRAWN):
        left = reader.left_by(event, table, view.me, view.style)
    if isinstance(event, sentences.TURNED):
        left += reader.turn(table, view.me)
    return told + wrapped_each(left, view.width)


# What happened at a table.


def _happened(
    hall: Hall, telling: Telling, event: events.TableEvent, table: Table, view: View
) -> list[str]:
    """Return what happened at a table, without the board."""
    hints = []
    if isinstance(event, events.BattleEnded):
        hints = ratings.told(event, telling.changes, view.me, view.display)
    if isinstance(event, events.BattleEnded) and table.match and table.match.number:
        hints += [f'"{Replay(table.match.number)}" shows this battle again.']
        if table.match.over and view.away and view.me is None:  # so they observe it
            hints.append(f'You observe it still; "{Unobserve(table.name)}" ends that.')
    is_alone = isinstance(event, events.Joined) and not table.full and not table.running
    if is_alone and event.player == view.me:
        hints = rooms.seat_for_a_bot(hall)
    if view.display.reader:
        facts = reader.happened(event, table, view.me)
    else:
        facts = [sentences.event_text(event, table, view.me)]
    facts = [each for each in facts if each]
    if not facts:
        return []  # what comes next tells it
    return _at_table([*facts, *hints], table, view)


def _at_table(facts: list[str], table: Table, view: View) -> list[str]:
    """Return facts as lines, which name the table to those who are elsewhere.

    A screen reader gets each fact on a line of its own, everybody else one paragraph.
    """
    if view.display.reader:
        return wrapped_each([f"At the {table.name}:", *facts] if view.away else facts, view.width)
    paragraph = " ".join(facts)
    return wrapped(f"[{table.name}] {paragraph}" if view.away else paragraph, view.width)


# What happened round about.


def _aside(
    hall: Hall, aside: asides.Aside, table: Table | None, view: View, at: float
) -> list[str]:
    text = rooms.aside_text(aside, view.me)
    if isinstance(aside, SPEECH):
        return _spoken(aside, text, table, view, at)
    told = wrapped(text, view.width)
    match aside:
        case asides.CaughtUp() if table:
            return _caught_up(hall, aside, table, view)
        case asides.TimeShort() if table:
            return _at_table([text], table, view)
        case asides.Replayed(player, battle, game, ply, then=then):
            then = then or game.after(ply)
            style = hall.style(player, hall.called(battle.id.board))
            shown = archive.replayed(
                battle,
                game,
                then,
                style=style,
                me=player,
                display=view.display,
                comments=archive.heard(hall, player, aside.comments, ply),
            )
            if aside.analysis:
                shown += wrapped(analysis.of_ply(aside.analysis, game, ply), view.width)
            return shown
        case asides.ObserveChosen() if table:
            return told + _stands(table, view)
        case asides.Exercised():
            return _exercised(aside, view)
        case asides.ExerciseLeft(exercise=exercise):
            return wrapped(exercises.left(exercise), view.width)
        case asides.Entered(player, room) if player == view.me:
            seen = [] if room else rooms.hall_seen(hall, player, view.width)
            if aside.adjourned and not room:
                seen += archive.put_away(view.width)
            news = rooms.newer_news(hall, aside, view.width)
            return told + seen + news + letters.waiting(aside.letters, view.width)
        case asides.TookOver(player) if player == view.me:
            seen = _board_seen(hall, player, table, view) if table else []
            seen = seen or rooms.hall_seen(hall, player, view.width)
            return told + seen + letters.waiting(aside.letters, view.width)
        case asides.CameIn(player, None) if player == view.me:
            return told + rooms.hall_seen(hall, player, view.width)
        case asides.CameIn(player, room, sits=True) if player == view.me:
            # The board is shown with the seat taken, a moment later.
            here = rooms.people_here(hall, player, room, view.width)
            return told + here + rooms.elsewhere(hall, player, room, view.width)
        case asides.CameIn(player) if table and player == view.me:
            return told + _board_seen(hall, player, table, view)
    return told


def _exercised(aside: asides.Exercised, view: View) -> list[str]:
    """Return what happens in an exercise: its heading, the plies, the board, and what to do."""
    said = exercises.said(aside)
    lines = wrapped_each((said[each] for each in exercises.ABOVE if each in said), view.width)
    for event, table in aside.plies:
        if view.display.reader:
            facts = reader.happened(event, table, view.me)
            lines += wrapped_each([*facts, reader.counts(table)], view.width)
        else:
            lines += wrapped(" ".join(sentences.event_sentences(event, table, view.me)), view.width)
    # What is set up has to be seen, whatever the style.
    if aside.shows and not aside.plies:
        lines += drawn(aside.exercise.table, view)
    elif aside.shows and not view.display.reader:
        lines += shown(aside.exercise.table, view)
    below = [said[each] for each in aside.remarks if each not in exercises.ABOVE]
    return lines + wrapped_each(below, view.width)


def _spoken(aside: SPEECH, text: str, table: Table | None, view: View, at: float) -> list[str]:
    """Return what is in a player's own words as lines, none of which could be one of ours."""
    display = view.display
    if isinstance(aside, asides.Emoted):
        text = f"{'Emote:' if display.reader else '*'} {text}"
    if table and view.away:
        text = f"[{table.name}] {text}"
    if display.times and aside.player != view.me:
        text = f"{time_of_day(at)} {text}"
    return archive.own_words(text, display)


def _board_seen(hall: Hall, player: str, table: Table, view: View) -> list[str]:
    """Return what somebody sees who comes to a board: how it stands, and who is there."""
    here = rooms.people_here(hall, player, table.name, view.width)
    return _stands(table, view) + here


def _stands(table: Table, view: View) -> list[str]:
    return shown(table, view) + standing(table, view)


def _caught_up(hall: Hall, aside: asides.CaughtUp, table: Table, view: View) -> list[str]:
    """Return what somebody has missed at a table, and how it stands."""
    # An offer that still stands is told below, with how things stand.
    told_below = {
        event.offer: event
        for event, _ in aside.missed
        if isinstance(event, events.Offered) and event.offer in table.offers
    }
    missed: list[str] = []
    for event, after in aside.missed:
        if event in told_below.values():
            continue
        # What could be typed right after it, which is in quotes, no longer can.
        if view.display.reader:
            missed += [each for each in reader.happened(event, after, view.me) if '"' not in each]
        else:
            told = sentences.event_sentences(event, after, view.me)
            missed.append(" ".join(each for each in told if '"' not in each))
    lines = wrapped_each(filter(None, missed), view.width)
    if lines:
        lines = wrapped(f"What has happened at the {table.name} meanwhile:", view.width) + lines
    if view.away:
        return lines + _at_table(_standing(table, view), table, view)
    return lines + _board_seen(hall, aside.player, table, view)


# How a board stands.


def drawn(table: Table, view: View) -> list[str]:
    """Return all there is to see on a board, whatever style the reader has chosen."""
    if view.display.reader:
        return wrapped_each(reader.position(table, view.me), view.width)
    return boards.draw(table, view.display)


def shown(table: Table, view: View) -> list[str]:
    """Return the board in the reader's style."""
    if view.display.reader:
        return wrapped_each(reader.stands(table, view.me, view.style), view.width)
    if view.style is Style.FULL:
        return boards.draw(table, view.display)
    return wrapped(boards.status_line(table), view.width)


def standing(table: Table, view: View) -> list[str]:
    """Return whose turn it is, or what could be done where nothing goes on; and what is offered."""
    return wrapped_each(_standing(table, view), view.width)


def _standing(table: Table, view: View) -> list[str]:
    facts = [sentences.waiting(table, view.me)]
    if table.match and table.match.single and not table.running:
        facts = ["The battle is over."]
    elif table.running and view.display.reader:
        facts = reader.turn(table, view.me)
    elif table.running:
        facts = [sentences.turn(table, view.me)]
        if view.away and table.clock:  # and no board is drawn
            facts.append(sentences.has_left(table, table.clock, table.clock.turn, view.me))
    for offer, side in table.offers.items():
        offered = events.Offered(0, table.seats[side], offer)
        told = sentences.event_sentences(offered, table, view.me)
        facts += told if view.display.reader else [" ".join(told)]
    return facts


# What answers a question.


def _answer(
    hall: Hall, asked: asides.Asked, table: Table | None, view: View, now: float
) -> list[str]:
    """Return what answers a question, as lines."""
    if table and isinstance(asked.question, Query | ViewPossible):
        replay = hall.people[asked.player].replay
        heading = f"At the {table.name}, not in the replay:" if replay else ""
        told = _of_pieces(asked.question, asked.player, table, view.display)
        return wrapped(heading, view.width) + told
    match asked.question:
        case Boards():
            return rooms.boards(hall, view.width)
        case PlayNow() if table:
            waits = f"You have a game with a bot at the {table.name} until somebody comes."
            return wrapped(waits, view.width)
        case PlayNow():
            return wrapped("A bot plays with you until somebody comes.", view.width)
        case Seeks():
            return rooms.seeks(hall, asked.player, view.width)
        case Games(everybodys=True):
            return rooms.battles(hall, view.width)
        case ViewNews():
            return rooms.news(hall, view.width)
        case ViewBots() if isinstance(asked.answer, BotList):
            return rooms.bots_listed(hall, asked.answer, view.display)
        case Lessons():
            done = hall.people[asked.player].studies.lessons
            if isinstance(asked.answer, StudyRecord):
                done |= asked.answer.lessons
            return exercises.listed_lessons(done, view.width)
        case Observe():
            return rooms.observed(hall, asked.player, view.width)
        case Reports() as reports if isinstance(asked.answer, tuple):
            return order.reports(cast("tuple[Report, ...]", asked.answer), reports, view.width)
        case Mutes():
            return order.mutes(hall, now, view.width)
        case Bans() as bans:
            return order.bans(hall, bans, now, view.width)
        case Games() | History() | ViewRecord() | ViewStandings() | ViewScore():
            return _looked_up(hall, asked, view.display, now)
        case ShowOptions():
            return options.options_listed(hall.people[asked.player].options, view.display)
        case ShowScheme():
            return options.scheme_listed(hall.people[asked.player].options, view.display)
        case Letters() as question if isinstance(asked.answer, LettersPage):
            return letters.listed(asked.answer, question, view.display, now)
        case Help(topic):
            bot = next(iter(rooms.bots(hall)), None)
            return page(topic, view.width, bot, keeps_order=hall.is_operator(asked.player))
        case Syntax(verb):
            return syntax(verb, view.width, keeps_order=hall.is_operator(asked.player))
        case Analyse() if isinstance(asked.answer, AnalysedBattle):
            return analysis.told(asked.answer, view.display)
        case Hint() if table and isinstance(asked.answer, Advice):
            return hints.told(table, asked.answer, view)
        case Look(None) if table:
            here = rooms.people_here(hall, asked.player, table.name, view.width)
            return drawn(table, view) + standing(table, view) + here
        case Look() | ViewGame() if table:
            return drawn(table, view) + standing(table, view)
    return rooms.hall_seen(hall, asked.player, view.width)


def _of_pieces(
    question: Query | ViewPossible, me: str, table: Table, display: Display
) -> list[str]:
    """Return what somebody asks of the pieces on a board; all moves only of whose turn it is."""
    if isinstance(question, Query):
        return reader.answered(table, question, me, display)
    game, origin, heading = sentences.game_at(table), question.origin, ""
    side = game.position.turn
    if origin is None and side is not table.side_of(me):
        heading = f"{sentences.turn(table, me)} The {side.plural}' moves:"
    moves = legal.moves_by_piece(game, origin, display.width, legal.range_word(display))
    return wrapped(heading, display.width) + moves


def _looked_up(hall: Hall, asked: asides.Asked, display: Display, now: float) -> list[str]:
    """Return what was looked up for a question."""
    me, width = asked.player, display.width
    match asked.question, asked.answer:
        case ViewRecord(), FoundBattle() as found:
            return archive.record(found, archive.heard(hall, me, found.comments), width)
        case History() as history, HistoryPage() as page_found:
            return archive.history(page_found, history, me, width)
        case ViewStandings(), Ranking() as ranking:
            return ratings.standings(ranking, display)
        case ViewScore(player), (PlayerScore() | None) as score:
            name = hall.names.get((player or me).lower())
            asked_for, levels = name or player or me, hall.levels
            return ratings.score(score, asked_for, me, levels, display, is_here=name is not None)
        case Games(), AdjournedMatches(matches):
            tables = (each.as_of(now) for each in hall.tables.values())
            return archive.games(tables, matches, me, width)
    raise ValueError(f"{asked.answer} does not answer {asked.question}")
