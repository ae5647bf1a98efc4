"""A hall made into a value that can be kept."""

from __future__ import annotations

from thudmud.play.archive import Archive
from thudmud.play.asides import Replayed
from thudmud.play.hall import Hall, Person
from thudmud.play.lines import WrittenLines
from thudmud.play.match import Match
from thudmud.play.state import (
    ArchiveState,
    HallState,
    LeftState,
    MatchState,
    MissedState,
    PersonState,
    ReplayState,
    TableState,
)
from thudmud.play.table import Table


def state_of(hall: Hall) -> HallState:
    """Return the state of a hall. Two halls of the same state are the same to everybody."""
    lines = WrittenLines()
    tables = tuple(_table(table, lines) for table in hall.tables.values())
    people = tuple(_person(person, lines) for person in hall.people.values())
    missed = tuple(
        MissedState(board, side, tuple((event, _table(table, lines)) for event, table in events))
        for (board, side), events in hall.missed.items()
    )
    games = tuple((number, lines.game(game)) for number, game in hall.games.items())
    return HallState(
        hall.boards,
        hall.quiet_plies,
        hall.seat_grace,
        hall.most_games,
        lines.all(),
        tables,
        people,
        tuple(_left(person) for person in hall.left.values()),
        missed,
        _archive(hall.archive),
        games,
    )


def _table(table: Table, lines: WrittenLines) -> TableState:
    return TableState(
        table.version,
        table.ruleset.name,
        tuple(table.seats.items()),
        tuple(table.away.items()),
        tuple(table.offers.items()),
        _match(table.match, lines) if table.match else None,
    )


def _match(match: Match, lines: WrittenLines) -> MatchState:
    return MatchState(
        lines.game(match.game),
        match.began,
        match.dwarf,
        match.troll,
        match.rated,
        match.battle,
        match.before,
    )


def _person(person: Person, lines: WrittenLines) -> PersonState:
    return PersonState(
        person.name,
        person.member,
        person.room,
        person.used,
        tuple(person.styles.items()),
        person.options,
        _replay(person.replay, lines) if person.replay else None,
    )


def _replay(replay: Replayed, lines: WrittenLines) -> ReplayState:
    return ReplayState(replay.number, lines.game(replay.game), replay.ply, replay.playing)


def _left(person: Person) -> LeftState:
    return LeftState(person.name, tuple(person.styles.items()), person.options)


def _archive(archive: Archive) -> ArchiveState:
    return ArchiveState(
        tuple(archive.battles),
        tuple(battle.number for battle in archive.ended),
        tuple(archive.boards.items()),
        tuple(archive.adjourned.items()),
        tuple(archive.former),
    )
