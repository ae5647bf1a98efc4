"""What players read of the battles that were played.

Owns the lists of matches and battles, the scores and the standings, and how a record is shown.
Must never find anything out: it has been looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thudmud.play.battles import Battle
from thudmud.play.commands import Games, History, Replay, Resume
from thudmud.play.events import BATTLES
from thudmud.play.lookups import PAGE, AdjournedMatch, FoundBattle, HistoryPage, Ranking
from thudmud.play.match import RATED_PLIES, Match
from thudmud.play.meaning import shortened
from thudmud.play.standings import Count, PlayerScore, Rating
from thudmud.play.table import Table
from thudmud.rules import Side, write_record
from thudmud.rules.english import capitalised, counted
from thudmud.text.battles import entry
from thudmud.text.dates import day
from thudmud.text.words import wrapped

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


def _counts(tally: Count) -> str:
    return f"{tally.won} won, {tally.drawn} drawn, {tally.lost} lost"
