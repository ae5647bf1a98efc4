"""The state of a hall as a value, to be kept and to be gone on with.

It holds the facts that a hall is made of, and nothing that follows from them. What is in an order
is a tuple: who keeps it may mix the keys of a mapping. `thudmud.play.saving` makes the state of a
hall, `thudmud.play.restoring` a hall of the state.
"""

from __future__ import annotations

from dataclasses import dataclass

from thudmud.play.archive import Battle
from thudmud.play.commands import Style
from thudmud.play.events import BattleId, Offer, SavedMatch, TableEvent
from thudmud.play.options import Options
from thudmud.play.table import BoardSpec
from thudmud.rules import Move, Outcome, Side

Styles = tuple[tuple[str, Style], ...]


@dataclass(frozen=True, slots=True)
class LineState:
    """The plies of a battle, which other battles may have begun with as well.

    Attributes:
        rules: the ruleset's name.
        moves: the plies; none if there is a record.
        record: the battle as a game record, if it did not begin as the rules have it.
    """

    rules: str
    moves: tuple[Move, ...] = ()
    record: str | None = None


@dataclass(frozen=True, slots=True)
class GameState:
    """A battle: the first ``plies`` of the ``line`` with that index, and how it has ended."""

    line: int
    plies: int
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class MatchState:
    """A match on a board, see `thudmud.play.match.Match`."""

    game: GameState
    began: BattleId
    dwarf: str
    troll: str
    rated: bool
    battle: int
    before: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableState:
    """A board, see `thudmud.play.table.Table`; ``rules`` is what the next match is played by."""

    version: int
    rules: str
    seats: tuple[tuple[Side, str], ...]
    away: tuple[tuple[Side, float], ...]
    offers: tuple[tuple[Offer, Side], ...]
    match: MatchState | None


@dataclass(frozen=True, slots=True)
class ReplayState:
    """A battle that somebody sees again."""

    number: int
    game: GameState
    ply: int
    playing: bool


@dataclass(frozen=True, slots=True)
class PersonState:
    """Somebody who is here, see `thudmud.play.hall.Person`."""

    name: str
    member: bool
    room: str | None
    used: str | None
    styles: Styles
    options: Options
    replay: ReplayState | None


@dataclass(frozen=True, slots=True)
class LeftState:
    """Somebody who is gone and has a seat: how they want to see things when they are back."""

    name: str
    styles: Styles
    options: Options


@dataclass(frozen=True, slots=True)
class MissedState:
    """What happened at a board while somebody who has a seat there was away."""

    board: str
    side: Side
    events: tuple[tuple[TableEvent, TableState], ...]


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """The battles that were played, as `thudmud.play.archive.Archive` takes them."""

    battles: tuple[Battle, ...]
    ended: tuple[int, ...]
    boards: tuple[tuple[str, int], ...]
    adjourned: tuple[tuple[int, SavedMatch], ...]
    former: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class HallState:
    """All of a hall; ``tables`` are in the order of ``boards``, ``games`` are by number."""

    boards: tuple[BoardSpec, ...]
    quiet_plies: int
    seat_grace: float
    most_games: int
    lines: tuple[LineState, ...]
    tables: tuple[TableState, ...]
    people: tuple[PersonState, ...]
    left: tuple[LeftState, ...]
    missed: tuple[MissedState, ...]
    archive: ArchiveState
    games: tuple[tuple[int, GameState], ...]
