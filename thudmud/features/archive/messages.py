"""Texts of past battles: replays, lists of matches and battles, and game records.

A replay shows a snapshot. If the battle is still running, plies after the start of the replay are
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import MappingProxyType

from thudmud.english import capitalised, pluralize, shortened
from thudmud.features.archive.commands import Games, History, Replay, ViewRecord
from thudmud.features.archive.model import CommentMade
from thudmud.features.playing.resuming import Resume
from thudmud.features.talk.messages import in_own_words, own_words
from thudmud.game.archive import (
    PAGE,
    AdjournedMatch,
    Battle,
    FoundBattle,
    HistoryPage,
    State,
    Tally,
)
from thudmud.game.days import TODAY, YESTERDAY
from thudmud.game.events import BATTLES
from thudmud.game.hall import Hall
from thudmud.game.match import Match
from thudmud.game.options import Style
from thudmud.game.refusals import Refusal
from thudmud.game.table import BoardSpec, Table
from thudmud.rules import RULESETS, Comment, Game, Side, write_record
from thudmud.values import replace
from thudmud.views import boards, data, reader, sentences
from thudmud.views.data import Data, Fact
from thudmud.views.refusals import add_refusal_texts
from thudmud.views.registry import RenderContext, added_facts, facts, words
from thudmud.views.sentences import UNKNOWN, past_ending
from thudmud.views.standing import battles, wrap_clickable
from thudmud.views.view import Display, View
from thudmud.views.words import day, pages_of, wrap, wrap_each

_REFUSALS = {
    Refusal.NO_SUCH_BATTLE: ('There is no battle {number}. "history" lists the battles.'),
    Refusal.NOT_KEPT: "The moves of battle {number} are no longer kept here.",
    Refusal.NOT_REPLAYING: 'You aren\'t replaying a battle. "replay" and a number opens one.',
    Refusal.REPLAY_AT_START: 'This is the start of battle {number}. "next" goes forward.',
    Refusal.REPLAY_AT_END: (
        'That was the last move of battle {number}. "back" and "first" go back, "stop" leaves.'
    ),
    Refusal.REPLAY_GONE_ON: 'There have been more moves since: "replay {number}" shows them.',
    Refusal.NO_COMMENTS: "This server doesn't keep comments.",
    Refusal.COMMENT_PLAYERS_ONLY: "Only those who played battle {number} here can comment on it.",
    Refusal.COMMENT_RUNNING: (
        "Battle {number} is still being played. You can comment on it when it's over."
    ),
    Refusal.COMMENT_NO_SUCH_PLY: (
        "Battle {number} has no move {ply}. The last is {plies}, and 0 is the opening."
    ),
    Refusal.COMMENT_TOO_LONG: "That's too long: a comment can have up to {most} characters.",
    Refusal.COMMENT_TOO_MANY: (
        "You've commented on {most} moves of battle {number}, which is the limit. "
        '"comment {number} {ply} none" deletes one of these comments.'
    ),
    Refusal.COMMENT_NONE: "You have no comment on move {ply} of battle {number}.",
}
add_refusal_texts(_REFUSALS)


PLAY_ON = '"play" goes on.'
STEPS = (
    '"next" and "back" go from move to move, "first" and "last" to either end; "play" goes on,'
    ' "stop" leaves.'
)


def replayed(
    battle: Battle,
    game: Game,
    then: Game,
    *,
    style: Style,
    me: str,
    display: Display,
    comments: Iterable[Comment] = (),
) -> list[str]:
    """Render a battle at one of its plies.

    Args:
        battle: the battle.
        game: the whole game, or a running game as of the start of the replay.
        then: the game at the ply to show.
        style: the reader's style for the battle's board; full if this server has no such board.
        me: the reader's name. In an imported battle a player of that name is somebody else.
        display: the reader's display.
        comments: comments on the ply to show.
    """
    name = f"replay of battle {battle.number}"
    table, width = battle_table(battle, then, name), display.width
    number, ply, plies = battle.number, len(then.moves), len(game.moves)
    if ply:
        player = battle.player(then.position.turn.other) or UNKNOWN
        mine = player if player.lower() == me.lower() and not battle.imported else None
        played = sentences.ply(then.moves[-1], player, mine)
        lines = wrap(f"Battle {number}, move {ply} of {plies}: {played}", width)
    else:
        seen = f"{pluralize(plies, 'move')} to come:"
        lines = wrap(f"Battle {number}, as it began on {day(battle.at)}. {seen}", width)
    if display.is_for_reader:
        lines += wrap(reader.piece_counts(table), width)
    elif style is Style.FULL:
        lines += boards.draw(table, display)
    else:
        lines += wrap(boards.status_line(table), width)
    for comment in comments:
        by = f"{comment.player} comments" if comment.player else "A comment"
        lines += own_words(f"{by}: {comment.text}", display)
    if ply == plies:
        lines += wrap(_end(battle, game), width)
    return lines + wrap(STEPS, width) if ply == 0 else lines


def visible_comments(
    hall: Hall, player: str, comments: Iterable[Comment], on_ply: int | None = None
) -> tuple[Comment, ...]:
    """Return the comments visible to ``player``: all except those by ignored players.

    With ``on_ply``, only the comments on that ply.
    """
    return tuple(
        each
        for each in comments
        if on_ply in {None, each.ply} and not hall.people.is_ignoring(player, each.player)
    )


def _end(battle: Battle, game: Game) -> str:
    """Return the sentence after the last ply: how the battle ended, or how to see the rest."""
    again = f'"{Replay(battle.number)}"'
    if battle.state is State.RUNNING:
        return f"Still in progress: {again} shows the latest moves."
    if battle.plies not in {None, len(game.moves)} or battle.outcome != game.outcome:
        return f"Play has gone on since: {again} shows the rest."
    return f"{capitalised(_state(battle))}."


def battle_table(battle: Battle, game: Game, name: str) -> Table:
    """Return a synthetic table, of the given name, that holds nothing but a battle's position."""
    names = {side: battle.player(side) or UNKNOWN for side in Side}
    match = Match(
        game,
        battle.id,
        names[Side.DWARF],
        names[Side.TROLL],
        battle=battle.part,
        earlier_points=battle.earlier_points,
        is_single_battle=battle.imported,
    )
    spec = BoardSpec(name, battle.rules)
    return replace(Table.set_up(spec, 0), match=match, seats=MappingProxyType(names))


# Lists.


STATES = {
    State.RUNNING: "in progress",
    State.ADJOURNED: "adjourned",
    State.UNFINISHED: "never finished",
    State.ENDED: "result unknown",
}
"""Descriptions of battles without an outcome, by their state."""


def entry(battle: Battle) -> str:
    """Return a battle's entry in a list."""
    facts = [battle.rules, _state(battle)]
    if battle.plies is not None:
        facts.insert(1, pluralize(battle.plies, "move"))
    if battle.time:
        facts.insert(1, str(battle.time))
    if battle.has_custom_opening:
        facts.append("from a custom position")
    if battle.imported:
        facts.append("imported")
    if battle.tournament:
        facts.append(f"round {battle.round} of {battle.event}")
    score = battle.outcome.score if battle.outcome else None
    sides = [
        f"{battle.player(side) or UNKNOWN} ({side.plural}){f' {score.of(side)}' if score else ''}"
        for side in Side
    ]
    if battle.is_practice:
        sides = [f"{battle.dwarf} (practice)"]
        sides += [f"{side.plural} {score.of(side)}" for side in Side if score]
    return f"{day(battle.at)}: {', '.join(sides)}; {', '.join(facts)}"


def players(battle: Battle) -> str:
    """Return the names of a battle's players as a short phrase."""
    if battle.is_practice:
        return f"{battle.dwarf}, both sides"
    return " against ".join(battle.player(side) or UNKNOWN for side in Side)


def _state(battle: Battle) -> str:
    """Return the ending of a battle, or its state, as a phrase."""
    outcome = battle.outcome
    if outcome is None:
        return STATES[battle.state]
    loser = battle.player(outcome.winner.other) if outcome.winner else ""
    if battle.is_practice and outcome.winner:
        loser = f"the {outcome.winner.other.plural}"
    return past_ending(outcome, RULESETS.get(battle.rules), loser or UNKNOWN)


INDENT = "    "


@words.register
def _comment_made(made: CommentMade, context: RenderContext, view: View) -> list[str]:
    on = f"comment on move {made.ply} of battle {made.battle}"
    told = f"{made.player} comments on move {made.ply} of battle {made.battle}: {made.text}"
    if made.player == view.me:
        kept = f'is saved: "{ViewRecord(made.battle)}" shows it.'
        told = f"Your {on} {kept if made.text else 'is deleted.'}"
    return in_own_words(told, context, view)


@facts.register
def _comment_made_facts(made: CommentMade, _: RenderContext) -> Iterator[Fact]:
    known = {"battle": made.battle, "ply": made.ply, "player": made.player}
    yield Fact("Thud.Comment", {**known, "text": made.text or None})


@words.register
def _games(asked: Games, context: RenderContext, view: View) -> list[str]:
    hall = context.hall
    if asked.includes_everybody:
        return battles(hall, view.width)
    tables = (each.as_of(context.at) for each in hall.tables.values())
    return games(tables, context.answer, context.player, view.width)


@facts.register
def _games_facts(asked: Games, context: RenderContext) -> Iterator[Fact]:
    if not asked.includes_everybody:
        yield Fact("Thud.Games", data.adjourned_data(context.answer), context.player)


def games(
    tables: Iterable[Table], away: tuple[AdjournedMatch, ...], me: str, width: int
) -> list[str]:
    """List the running and the adjourned matches of `me`."""
    running = [
        _running(table, table.match, side)
        for table in tables
        if table.match and not table.match.is_over and (side := table.side_of(me))
    ]
    adjourned = [_adjourned(each, me) for each in away]
    if not running and not adjourned:
        return wrap(
            'You have no matches in progress or adjourned. "history" lists your past battles.',
            width,
        )
    lines = []
    for heading, entries in (("Your matches:", running), ("Adjourned matches:", adjourned)):
        if entries:
            lines += [heading, *wrap_each((f"  {each}." for each in entries), width, INDENT)]
    return lines


def _running(table: Table, match: Match, side: Side) -> str:
    other = table.seats.get(side.other)
    against = f"against {other}" if other else "without an opponent"
    which = f"{side.plural} {against}; battle {match.battle} of {match.battles}"
    board = f"{capitalised(table.name)}: {'practice' if match.is_practice else which}"
    if not match.is_running:
        return f"{board} is over"
    turn = match.game.position.turn
    is_mine = turn is side and not match.is_practice
    whose = "your turn" if is_mine else f"the {turn.plural}' turn"
    left = f", {sentences.time_left(match.clock, turn)} left" if match.clock else ""
    return f"{board}, {pluralize(len(match.game.moves), 'move')}, {whose}{left}"


def _adjourned(away: AdjournedMatch, me: str) -> str:
    battle, match = away
    side = Side.DWARF if match.dwarf == me else Side.TROLL
    other = match.troll if side is Side.DWARF else match.dwarf
    state = pluralize(len(match.moves), "move") if match.outcome is None else "which is over"
    which = f"{side.plural} against {other}; battle {match.battle} of {BATTLES}"
    which = "practice" if battle.is_practice else which
    begun = f'begun on {day(battle.at)}: "{Resume(battle.number)}"'
    return f"{match.rules.capitalize()}, {which}, {state}, {begun}"


def put_away(view: View) -> list[str]:
    """Tell a player about an adjourned match, and how to find it."""
    told = f'You have an adjourned match: "{Games()}" shows how to resume it.'
    return wrap_clickable(told, view)


@words.register
def _history(asked: History, context: RenderContext, view: View) -> list[str]:
    return history(context.answer, asked, context.player, view.width)


@facts.register
def _history_facts(asked: History, context: RenderContext) -> Iterator[Fact]:
    known = data.history_data(context.answer, asked.page)
    yield Fact("Thud.History", {"player": asked.player, **known}, context.player)


def history(found: HistoryPage, asked: History, me: str, width: int) -> list[str]:
    """Render a page of the battle list, the latest battle first.

    Args:
        found: the page, and the number of all matching battles.
        asked: the command, with its filters.
        me: the reader's name.
        width: the width of the screen, in columns.
    """
    player, battles = asked.player, found.battles
    is_own = player is not None and player.lower() == me.lower()
    which = _which(asked, battles, me)
    if not found.in_all:
        if asked == History(page=asked.page, includes_everybody=True):
            return wrap("No battles have been played here yet.", width)
        if asked == History(player, asked.page) and is_own:
            none = "You haven't played a battle yet. \"history all\" lists everybody's."
            return wrap(none, width)
        whose = "of yours" if is_own else f"of {_spelt(player, battles)}" if player else ""
        return wrap(f"Found no battles {' '.join(filter(None, (whose, which)))}.", width)
    pages = pages_of(found.in_all, PAGE)
    if is_own:
        asked = replace(asked, player=None)
    if asked.page > pages:
        last = replace(asked, page=pages)
        return wrap(f'There is no page {asked.page}. "{last}" shows the earliest battles.', width)
    heading = "The battles" if which else "All battles"
    if player is not None:
        heading = "Your battles" if is_own else f"The battles of {_spelt(player, battles)}"
    heading = " ".join(filter(None, (heading, which)))
    more = f'"{Replay(battles[0].number)}" replays the first of these.'
    if asked.page < pages:
        more = f'"{replace(asked, page=asked.page + 1)}" shows earlier ones. {more}'
    if pages > 1:
        more = f"Page {asked.page} of {pages}. {more}"
    numbers = len(str(battles[0].number))
    entries = (f"{battle.number:>{numbers}}. {entry(battle)}" for battle in battles)
    return [
        *wrap(f"{heading}, newest first:", width),
        *wrap_each(entries, width, " " * (numbers + 2)),
        *wrap(more, width),
    ]


def _which(asked: History, battles: Iterable[Battle], me: str) -> str:
    """Return the filters of a battle list as a phrase."""
    opponent, day = asked.opponent, asked.day
    words = []
    if opponent is not None:
        words.append(
            f"with {'you' if opponent.lower() == me.lower() else _spelt(opponent, battles)}"
        )
    if asked.rules is not None:
        words.append(f"under {asked.rules} rules")
    if day is not None:
        words.append(day if day in {TODAY, YESTERDAY} else f"on {day}")
    return " ".join(words)


def _spelt(player: str, battles: Iterable[Battle]) -> str:
    """Return a typed name in the spelling of the listed battles, or else capitalised."""
    spelt = (name for battle in battles for name in battle.players)
    known = (name for name in spelt if name.lower() == player.lower())
    return next(known, capitalised(shortened(player)))


@words.register
def _record(_: ViewRecord, context: RenderContext, view: View) -> list[str]:
    found: FoundBattle = context.answer.known
    comments = visible_comments(context.hall, context.player, found.comments)
    return record(found, comments, view.width)


@facts.register
def _record_facts(asked: ViewRecord, context: RenderContext) -> Iterable[Fact]:
    found: FoundBattle = context.answer.known
    comments = visible_comments(context.hall, context.player, found.comments)
    yield from recorded(found._replace(comments=comments), context.player)
    yield from added_facts(asked, context)


def recorded(found: FoundBattle, player: str) -> list[Fact]:
    """Return the facts of a battle with all its plies and comments."""
    comments = [comment_data(found.battle.number, each) for each in found.comments]
    record = Fact("Thud.Record", data.RecordedBattle(found), player)
    return [record, *(Fact("Thud.Comment", each, player) for each in comments)]


def comment_data(battle: int, comment: Comment) -> Data:
    """Return a comment on a ply as data for programs."""
    return {
        "battle": battle,
        "ply": comment.ply,
        "player": comment.player or None,
        "text": comment.text,
    }


def record(found: FoundBattle, comments: tuple[Comment, ...], width: int) -> list[str]:
    """Render a battle in record notation, for copying.

    Only the heading is wrapped. The first line of a record is wider than a screen.
    """
    battle, game = found.battle, found.game
    heading = wrap(f"Battle {battle.number}, {entry(battle)}.", width)
    if game is None:
        return heading
    letters = wrap('Its columns skip the letter I: see "help notation".', width)
    return [*heading, *letters, *_plies(game, comments, found.spent)]


@lru_cache(maxsize=64)
def _plies(game: Game, comments: tuple[Comment, ...], spent: tuple[float, ...]) -> tuple[str, ...]:
    """Return the lines of a game record; cached, since a record may be requested by many."""
    return tuple(write_record(game, comments, spent).splitlines())


def count(tally: Tally) -> str:
    """Return a tally as a phrase."""
    return f"{tally.won} won, {tally.drawn} drawn, {tally.lost} lost"
