"""What players read of the battles that were played.

Owns the lists of matches and battles, the scores and the standings, and how a record is shown.
Must never find anything out: it is all in the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thudmud.play.archive import Archive, Battle
from thudmud.play.commands import Games, History, Replay, Resume
from thudmud.play.events import BATTLES, SavedMatch
from thudmud.play.match import RATED_PLIES, Match
from thudmud.play.meaning import shortened
from thudmud.play.standings import Rating, Standings, Tallies, Tally
from thudmud.play.table import Table
from thudmud.rules import Game, Side, write_record
from thudmud.rules.english import capitalised, counted
from thudmud.text.battles import entry
from thudmud.text.dates import day
from thudmud.text.words import wrapped

PAGE = 20
"""Battles on a page of the history, and players in the standings."""
INDENT = "    "
BEHIND = "Ratings are still being worked out; look again in a moment."


def games(tables: Iterable[Table], archive: Archive, me: str, width: int) -> list[str]:
    """Return the matches of ``me`` that go on, and those that were put away."""
    running = [
        _running(table, table.match, side)
        for table in tables
        if table.match and not table.match.over and (side := table.side_of(me))
    ]
    adjourned = [
        _adjourned(archive, number, match, me)
        for number, match in archive.adjourned.items()
        if me in (match.dwarf, match.troll)
    ]
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


def put_away(archive: Archive, me: str, width: int) -> list[str]:
    """Return where ``me`` finds the matches that were put away; nothing if there are none."""
    if not any(me in (match.dwarf, match.troll) for match in archive.adjourned.values()):
        return []
    return wrapped(f'You have a match put away for another day: "{Games()}" tells more.', width)


def history(archive: Archive, asked: History, me: str, width: int) -> list[str]:
    """Return a page of the battles that ``asked`` is about, the last one first."""
    battles = archive.battles if asked.player is None else archive.of(asked.player)
    if not battles:
        return wrapped(_no_battles(asked.player, me), width)
    pages = -(-len(battles) // PAGE)
    if asked.page > pages:
        last = History(asked.player, pages)
        return wrapped(
            f'There is no page {asked.page}. "{last}" shows the earliest battles.', width
        )
    start = len(battles) - (asked.page - 1) * PAGE
    shown = [battles[index] for index in range(start - 1, max(start - 1 - PAGE, -1), -1)]
    numbers = len(str(shown[0].number))
    lines = wrapped(f"{_whose(asked.player, me, battles)}, the last one first:", width)
    for battle in shown:
        said = f"{battle.number:>{numbers}}. {entry(battle)}"
        lines += wrapped(said, width, " " * (numbers + 2))
    return lines + wrapped(_more(asked, pages, shown[0]), width)


def record(battle: Battle, game: Game, width: int) -> list[str]:
    """Return a battle in record notation. Its first line is longer than a screen: it may be copied.

    Nothing is wrapped but the heading.
    """
    heading = wrapped(f"Battle {battle.number}, {entry(battle)}:", width)
    return [*heading, *write_record(game).splitlines()]


def score(standings: Standings, player: str, me: str, width: int) -> list[str]:
    """Return what a player has won and lost, and the rating."""
    found = standings.score(player)
    mine = player.lower() == me.lower()
    if found is None:
        who = "You have" if mine else f"{capitalised(shortened(player))} has"
        return wrapped(f"{who} ended no battle here yet.", width)
    lines = wrapped(_rating_line(found.name, standings), width)
    for rules in dict.fromkeys(rules for rules, _ in found.battles):
        lines += wrapped(
            f"  {capitalised(rules)}: {'; '.join(_by_rules(found, rules))}.", width, INDENT
        )
    return lines


def standings(ranks: Standings, me: str, width: int) -> list[str]:
    """Return the players who have a rating, the best first, and where ``me`` is among them."""
    behind = wrapped(BEHIND, width) if ranks.behind else []
    ranked = list(enumerate(ranks.ranked().items(), 1))
    if not ranked:
        none = (
            "Nobody has a rating yet: it takes a battle between two registered players, "
            f"of {RATED_PLIES} plies or more."
        )
        return behind or wrapped(none, width)
    lines = wrapped("Players, ranked by their rating less twice the give or take:", width)
    for place, (name, rating) in ranked:
        if place <= PAGE or name.lower() == me.lower():
            said = f"{place:>3}. {name}: {_told(rating)}"
            lines += wrapped(said, width, "     ")
    if len(ranked) > PAGE:
        lines += wrapped(f"There are {len(ranked)} in all.", width)
    return lines + behind


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


def _adjourned(archive: Archive, number: int, match: SavedMatch, me: str) -> str:
    side = Side.DWARF if match.dwarf == me else Side.TROLL
    other = match.troll if side is Side.DWARF else match.dwarf
    state = counted(len(match.moves), "ply") if match.outcome is None else "which is over"
    battle = archive.battle(number)
    begun = f", begun on {day(battle.at)}" if battle else ""
    return (
        f"{match.rules.capitalize()}, {side.plural} against {other}; battle {match.battle} of "
        f'{BATTLES}, {state}{begun}: "{Resume(number)}"'
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
    name = next(name for name in reversed(spelt) if name.lower() == player.lower())
    return f"The battles of {name}"


def _more(asked: History, pages: int, first: Battle) -> str:
    see = f'"{Replay(first.number)}" shows the first of these again.'
    if pages == 1:
        return see
    page = f"Page {asked.page} of {pages}."
    if asked.page == pages:
        return f"{page} {see}"
    return f'{page} "{History(asked.player, asked.page + 1)}" shows earlier ones. {see}'


def _rating_line(name: str, ranks: Standings) -> str:
    rating = ranks.rating(name)
    said = f"{name}: {f'rating {_told(rating)}' if rating else 'no rating yet'}."
    return f"{said} {BEHIND}" if ranks.behind else said


def _told(rating: Rating) -> str:
    battles = counted(rating.battles, "battle")
    return f"{rating.points}, give or take {rating.uncertainty} ({battles})"


def _by_rules(found: Tallies, rules: str) -> list[str]:
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
