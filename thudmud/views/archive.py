"""Lists of matches and battles, scores, standings, records; and a battle seen again, ply by ply.

Who replays a battle sees it as it stood when they asked for it: a battle that is still played is
not shown going on. All of it has been looked up before it comes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from thudmud.english import capitalised, counted, shortened
from thudmud.play.archive import (
    PAGE,
    AdjournedMatch,
    Battle,
    FoundBattle,
    HistoryPage,
    PlayerScore,
    Ranking,
    Rating,
    State,
    Tally,
)
from thudmud.play.commands import Games, History, Replay, Resume, Style
from thudmud.play.events import BATTLES
from thudmud.play.match import RATED_PLIES, Match
from thudmud.play.table import BoardSpec, Table
from thudmud.rules import Game, Side, write_record
from thudmud.views import boards, reader, sentences
from thudmud.views.sentences import entry, played
from thudmud.views.view import Display
from thudmud.views.words import day, wrapped

WAYS = '"next" and "back" go from ply to ply, "first" and "last" to either end; "play" goes on.'


def replayed(
    battle: Battle, game: Game, then: Game, *, style: Style, me: str, display: Display
) -> list[str]:
    """Return a battle as it stood after some of its plies.

    Args:
        battle: what is known of it.
        game: the whole of it, or as much as had been played when the replay began.
        then: the same battle as it stood after those plies.
        style: how the board is shown: as who sees it is shown the board that it was played at. A
            battle of no board that stands here, as those that were imported, is shown in full.
        me: who sees it. In an imported battle nobody is: names of elsewhere are only names.
        display: how their screen shows everything.
    """
    table, ply = _table(battle, then), len(then.moves)
    width = display.width
    lines = wrapped(_said(battle, game, ply, me), width)
    if display.reader:
        lines += wrapped(reader.counts(table), width)
    elif style is Style.FULL:
        lines += boards.full(table, display)
    else:
        lines += wrapped(boards.status(table), width)
    if ply == len(game.moves):
        lines += wrapped(_end(battle, game), width)
    return lines + wrapped(WAYS, width) if ply == 0 else lines


def _said(battle: Battle, game: Game, ply: int, me: str) -> str:
    number, plies = battle.number, len(game.moves)
    if ply == 0:
        return f"Battle {number}, as it began on {day(battle.at)}. {counted(plies, 'ply')} to see:"
    move = game.moves[ply - 1]
    mover = Side.TROLL if (ply % 2 == 0) is (game.opening.turn is Side.DWARF) else Side.DWARF
    who = battle.player(mover) or sentences.UNKNOWN
    mine = who if who.lower() == me.lower() and not battle.imported else None
    return f"Battle {number}, ply {ply} of {plies}: {played(move, who, mine)}"


def _end(battle: Battle, game: Game) -> str:
    """Return what comes after the last ply that is shown: the end, or where to see more."""
    again = f'"{Replay(battle.number)}"'
    if battle.state is State.RUNNING:
        return f"Still running; {again} shows how far it has come."
    if battle.plies not in {None, len(game.moves)} or battle.outcome != game.outcome:
        return f"Play has gone on since; {again} shows it."
    return f"{capitalised(sentences.end(battle))}."


def _table(battle: Battle, game: Game) -> Table:
    """Return a board on which nothing but the battle has been."""
    names = {side: battle.player(side) or sentences.UNKNOWN for side in Side}
    match = Match(
        game,
        battle.id,
        names[Side.DWARF],
        names[Side.TROLL],
        battle=battle.part,
        before=battle.before,
        single=battle.imported,
    )
    spec = BoardSpec(f"replay of battle {battle.number}", battle.rules)
    return replace(Table.set_up(spec, 0), match=match, seats=MappingProxyType(names))


INDENT = "    "


def games(
    tables: Iterable[Table], away: Iterable[AdjournedMatch], me: str, width: int
) -> list[str]:
    """Return the matches of ``me`` that go on, and those that were put away."""
    running = [
        _running(table, table.match, side)
        for table in tables
        if table.match and not table.match.over and (side := table.side_of(me))
    ]
    adjourned = [_adjourned(each, me) for each in away]
    if not running and not adjourned:
        return wrapped(
            'You have no match under way, here or put away. "history" lists what was played.', width
        )
    lines = []
    if running:
        lines += ["Your matches:", *_listed(running, width)]
    if adjourned:
        lines += ["Put away for another day:", *_listed(adjourned, width)]
    return lines


def put_away(width: int) -> list[str]:
    """Return where somebody finds the matches that were put away."""
    return wrapped(f'You have a match put away for another day: "{Games()}" tells more.', width)


def history(found: HistoryPage, asked: History, me: str, width: int) -> list[str]:
    """Return a page of the battles that ``asked`` is about, the last one first."""
    if not found.in_all:
        return wrapped(_no_battles(asked.player, me), width)
    pages = -(-found.in_all // PAGE)
    if asked.page > pages:
        last = History(asked.player, pages)
        return wrapped(
            f'There is no page {asked.page}. "{last}" shows the earliest battles.', width
        )
    shown = found.battles
    numbers = len(str(shown[0].number))
    lines = wrapped(f"{_whose(asked.player, me, shown)}, the last one first:", width)
    for battle in shown:
        said = f"{battle.number:>{numbers}}. {entry(battle)}"
        lines += wrapped(said, width, " " * (numbers + 2))
    return lines + wrapped(_more(asked, pages, shown[0]), width)


def record(found: FoundBattle, width: int) -> list[str]:
    """Return a battle in record notation. Its first line is longer than a screen: it may be copied.

    Nothing is wrapped but the heading.
    """
    battle, game = found
    heading = wrapped(f"Battle {battle.number}, {entry(battle)}:", width)
    return [*heading, *(write_record(game).splitlines() if game else ())]


def score(found: PlayerScore | None, player: str, me: str, width: int) -> list[str]:
    """Return what a player has won and lost, and the rating."""
    if found is None:
        mine = player.lower() == me.lower()
        who = "You have" if mine else f"{capitalised(shortened(player))} has"
        return wrapped(f"{who} ended no battle here yet.", width)
    rating = f"rating {_told(found.rating)}" if found.rating else "no rating yet"
    lines = wrapped(f"{found.name}: {rating}.", width)
    for rules in dict.fromkeys(rules for rules, _ in found.battles):
        lines += wrapped(
            f"  {capitalised(rules)}: {'; '.join(_by_rules(found, rules))}.", width, INDENT
        )
    return lines


def standings(ranking: Ranking, width: int) -> list[str]:
    """Return the players who have a rating, the best first, and where who asks is among them."""
    if not ranking.in_all:
        return wrapped(
            "Nobody has a rating yet: it takes a battle between two registered players, "
            f"of {RATED_PLIES} plies or more.",
            width,
        )
    lines = wrapped("Players, ranked by their rating less twice the give or take:", width)
    for place, player in ranking.players:
        if player.rating:
            said = f"{place:>3}. {player.name}: {_told(player.rating)}"
            lines += wrapped(said, width, "     ")
    if ranking.in_all > PAGE:
        lines += wrapped(f"There are {ranking.in_all} in all.", width)
    return lines


def _running(table: Table, match: Match, side: Side) -> str:
    other = table.seats.get(side.other)
    against = f"against {other}" if other else "with nobody against you"
    board = (
        f"{capitalised(table.name)}: {side.plural} {against}; battle {match.battle} of {BATTLES}"
    )
    if not match.running:
        return f"{board} is over"
    turn = match.game.position.turn
    whose = "your turn" if turn is side else f"the {turn.plural}' turn"
    return f"{board}, {counted(len(match.game.moves), 'ply')}, {whose}"


def _adjourned(away: AdjournedMatch, me: str) -> str:
    battle, match = away
    side = Side.DWARF if match.dwarf == me else Side.TROLL
    other = match.troll if side is Side.DWARF else match.dwarf
    state = counted(len(match.moves), "ply") if match.outcome is None else "which is over"
    return (
        f"{match.rules.capitalize()}, {side.plural} against {other}; battle {match.battle} of "
        f'{BATTLES}, {state}, begun on {day(battle.at)}: "{Resume(battle.number)}"'
    )


def _listed(entries: Iterable[str], width: int) -> list[str]:
    return [line for each in entries for line in wrapped(f"  {each}.", width, INDENT)]


def _no_battles(player: str | None, me: str) -> str:
    if player is None:
        return "No battle has been played here yet."
    whose = "yours" if player.lower() == me.lower() else capitalised(shortened(player))
    return f"No battle of {whose} is known here."


def _whose(player: str | None, me: str, battles: Sequence[Battle]) -> str:
    if player is None:
        return "The battles that were played"
    if player.lower() == me.lower():
        return "Your battles"
    spelt = [name for each in battles for name in (each.dwarf, each.troll)]
    name = next((name for name in spelt if name.lower() == player.lower()), player)
    return f"The battles of {name}"


def _more(asked: History, pages: int, first: Battle) -> str:
    see = f'"{Replay(first.number)}" shows the first of these again.'
    if pages == 1:
        return see
    page = f"Page {asked.page} of {pages}."
    if asked.page == pages:
        return f"{page} {see}"
    return f'{page} "{History(asked.player, asked.page + 1)}" shows earlier ones. {see}'


def _told(rating: Rating) -> str:
    battles = counted(rating.battles, "battle")
    return f"{rating.points}, give or take {rating.uncertainty} ({battles})"


def _by_rules(found: PlayerScore, rules: str) -> list[str]:
    """Return what was won and lost by a ruleset: matches first, then battles by side."""
    matches = found.matches.get(rules)
    battles = [
        f"as {side.plural} {_counts(tally)}"
        for side in Side
        if (tally := found.battles.get((rules, side)))
    ]
    return [*([f"matches {_counts(matches)}"] if matches else []), *battles]


def _counts(tally: Tally) -> str:
    return f"{tally.won} won, {tally.drawn} drawn, {tally.lost} lost"
