"""Commands that set up the next match at a board: ruleset, time control and opening position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from thudmud.errors import RefusedError
from thudmud.game.clocks import TimeControl
from thudmud.game.command import verb
from thudmud.game.events import PositionSet, RulesSet, TimeSet
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.game.tables import Context, Events, TableCommand, lapse_offers
from thudmud.rules import RULESETS, IllegalMoveError, Piece, Position, Reason, Ruleset, Side, Square
from thudmud.rules.checks import require_on_board
from thudmud.values import replace

_RULES = Refusal.RULES_SEATED_ONLY, Refusal.RULES_RUNNING, Refusal.RULES_MID_MATCH
_CLOCK = Refusal.CLOCK_SEATED_ONLY, Refusal.CLOCK_RUNNING, Refusal.CLOCK_MID_MATCH
_SETUP = Refusal.SETUP_SEATED_ONLY, Refusal.SETUP_RUNNING, Refusal.SETUP_MID_MATCH


def _require_between_matches(
    table: Table, player: str, codes: tuple[Refusal, Refusal, Refusal], **details: Any
) -> None:
    """Require that nobody else holds the seats, and that no match is under way.

    Args:
        table: the board.
        player: the player who wants to change it.
        codes: the refusal codes for seats held by others, a running battle, and the pause between
            the two battles of a match.
        details: further details for the refusal.

    Raises:
        RefusedError: with the code of the first condition that fails.
    """
    others_sit, is_running, is_half_played = codes
    if table.seats and table.side_of(player) is None:
        raise RefusedError(others_sit, board=table.name, seats=table.seating)
    if table.is_running:
        raise RefusedError(is_running, board=table.name, **details)
    if table.half_played:
        raise RefusedError(is_half_played, board=table.name, **details)


@verb("set_rules")
class SetRules(TableCommand):
    """Choose the ruleset of a board by its name."""

    rules: str
    on: str | None = None
    needs_seat = False

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        board, rules = table.name, table.ruleset.name
        if self.rules not in RULESETS:
            raise RefusedError(Refusal.RULES_UNKNOWN, words=self.rules, known=tuple(RULESETS))
        _require_between_matches(table, player, _RULES, rules=rules)
        if self.rules == rules:
            raise RefusedError(Refusal.RULES_ALREADY, board=board, rules=rules)
        return (
            *lapse_offers(table, player, context.now),
            RulesSet(context.now, player, self.rules),
        )


@verb("set_clock", set_clock_off="off")
class SetClock(TableCommand):
    """Choose the time control of the next match at a board; None for no clock."""

    time: TimeControl | None
    on: str | None = None
    needs_seat = False

    @classmethod
    def off(cls, *words: str | None) -> SetClock:
        return cls(None, words[-1])

    def __str__(self) -> str:
        return f"set clock {self.time or 'off'}{self._typed('on')}"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        time = self.time
        _require_between_matches(table, player, _CLOCK, time=table.time)
        if time == table.time:
            raise RefusedError(Refusal.CLOCK_ALREADY, board=table.name, time=time)
        return (*lapse_offers(table, player, context.now), TimeSet(context.now, player, time))


PlacedPieces = Iterable[tuple[Piece, Square]]
"""Pieces, each with its square."""


class Pieces(NamedTuple):
    """The squares of pieces to set up, grouped by kind.

    Attributes:
        dwarfs: squares of dwarfs.
        trolls: squares of trolls.
        middle: squares for the ruleset's Thudstone or Rock. More than one can be typed, but is
            refused.
    """

    dwarfs: tuple[Square, ...] = ()
    trolls: tuple[Square, ...] = ()
    middle: tuple[Square, ...] = ()

    @classmethod
    def of(cls, standing: PlacedPieces) -> Pieces:
        """Group placed pieces by kind."""
        pairs = list(standing)
        middle = {Piece.STONE, Piece.ROCK}
        return cls(
            *(
                tuple(square for piece, square in pairs if piece in kinds)
                for kinds in ({Piece.DWARF}, {Piece.TROLL}, middle)
            )
        )

    def __str__(self) -> str:
        """Return the squares in the syntax of commands."""
        kinds = zip(("dwarfs", "trolls", "rock"), self, strict=True)
        return " ".join(
            f"{kind} {', '.join(map(str, squares))}" for kind, squares in kinds if squares
        )


NO_PIECES = Pieces()


class SetUpCommand(TableCommand):
    """Base class of commands that change the opening position of the next match.

    If ``turn`` is None, the side to move doesn't change.
    """

    needs_seat = False

    def position(self, before: Position, rules: Ruleset) -> Position:
        """Return the changed position.

        Raises:
            RefusedError: the server doesn't accept the position.
            IllegalMoveError: the rules don't allow a piece on its square.
        """
        raise NotImplementedError

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        _require_between_matches(table, player, _SETUP)
        rules = table.ruleset
        before = table.opening or rules.initial_position
        position = self.position(before, rules)
        if position == before:
            raise RefusedError(Refusal.SETUP_ALREADY, board=table.name)
        for piece in (Piece.DWARF, Piece.TROLL):
            _require_few(piece, position.count(piece), rules)
        if over := rules.outcome(position):
            raise RefusedError(Refusal.SETUP_OVER, ending=over.ending, side=position.turn)
        opening = None if position == rules.initial_position else position
        set_up = PositionSet(context.now, player, rules.name, opening)
        return (*lapse_offers(table, player, context.now), set_up)


@verb(set_up="of")
class SetUp(SetUpCommand):
    """Set up the opening of the next match with exactly these pieces."""

    pieces: Pieces
    turn: Side | None = None
    on: str | None = None

    @classmethod
    def of(cls, standing: PlacedPieces, turn: Side | None, on: str | None) -> SetUp:
        return cls(Pieces.of(standing), turn, on)

    def __str__(self) -> str:
        return f"setup {self.pieces}{self._typed('turn', 'on')}"

    def position(self, before: Position, rules: Ruleset) -> Position:
        return _with(
            self.pieces, replace(rules.initial_position, dwarfs=0, trolls=0), rules, self.turn
        )


@verb(set_up_more="of", set_up_turn="of_turn")
class SetUpMore(SetUpCommand):
    """Add pieces to the opening of the next match, or change the side to move."""

    pieces: Pieces = NO_PIECES
    turn: Side | None = None
    on: str | None = None

    @classmethod
    def of(cls, standing: PlacedPieces, turn: Side | None, on: str | None) -> SetUpMore:
        return cls(Pieces.of(standing), turn, on)

    @classmethod
    def of_turn(cls, turn: Side, on: str | None) -> SetUpMore:
        return cls(NO_PIECES, turn, on)

    def __str__(self) -> str:
        added = f" add {self.pieces}" if any(self.pieces) else ""
        return f"setup{added}{self._typed('turn', 'on')}"

    def position(self, before: Position, rules: Ruleset) -> Position:
        return _with(self.pieces, before, rules, self.turn)


@verb("set_up_less")
class SetUpLess(SetUpCommand):
    """Remove pieces from the opening of the next match."""

    squares: tuple[Square, ...]
    turn: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        return f"setup remove {', '.join(map(str, self.squares))}{self._typed('turn', 'on')}"

    def position(self, before: Position, rules: Ruleset) -> Position:
        standing = _pieces_by_square(before)
        for square in self.squares:
            _take_off(square, standing)
        return Position.of(standing, self.turn or before.turn)


@verb("set_up_opening")
class SetUpOpening(SetUpCommand):
    """Restore the ruleset's own opening for the next match."""

    on: str | None = None
    words = "setup opening"

    def position(self, before: Position, rules: Ruleset) -> Position:
        return rules.initial_position


def _pieces_by_square(position: Position) -> dict[Square, Piece]:
    return {square: piece for piece in Piece for square in position.squares(piece)}


def _with(pieces: Pieces, before: Position, rules: Ruleset, turn: Side | None) -> Position:
    """Return the position with pieces added, and the middle piece moved to its square, if given."""
    standing = _pieces_by_square(before)
    dwarfs, trolls, middle = pieces
    named = (*dwarfs, *trolls, *middle)
    require_on_board(named)
    for square in named:
        if named.count(square) > 1:
            raise IllegalMoveError(Reason.NAMED_TWICE, (square,), square=square)
    if middle:
        _move_middle(middle, standing, rules)
    for piece, squares in ((Piece.DWARF, dwarfs), (Piece.TROLL, trolls)):
        for square in squares:
            _put(piece, square, standing)
    return Position.of(standing, turn or before.turn)


def _put(piece: Piece, square: Square, standing: dict[Square, Piece]) -> None:
    if taken := standing.get(square):
        raise IllegalMoveError(Reason.TARGET_TAKEN, (square,), target=square, piece=taken)
    standing[square] = piece


def _take_off(square: Square, standing: dict[Square, Piece]) -> None:
    match standing.pop(square, None):
        case None:
            raise IllegalMoveError(Reason.NO_PIECE, (square,), square=square)
        case Piece.STONE:
            raise IllegalMoveError(Reason.THUDSTONE_STAYS, (square,), square=square)
        case Piece.ROCK:
            raise RefusedError(Refusal.SETUP_NEEDS_ROCK, (square,), square=square)


def _move_middle(
    squares: tuple[Square, ...], standing: dict[Square, Piece], rules: Ruleset
) -> None:
    """Move the Rock to the named square; for the immovable Thudstone, only check its square."""
    _require_few(Piece.ROCK, len(squares), rules)
    (square,) = squares
    for home, piece in list(standing.items()):
        if piece is Piece.STONE and square is not home:
            raise IllegalMoveError(Reason.THUDSTONE_STAYS, (home,), square=home)
        if piece.side is None:
            del standing[home]
            _put(piece, square, standing)


def _require_few(piece: Piece, number: int, rules: Ruleset) -> None:
    """Refuse more pieces of a kind than the ruleset's opening has.

    The middle piece is always passed as `Piece.ROCK`, so that limit includes a Thudstone.
    """
    most = rules.initial_position.count(piece)
    if piece is Piece.ROCK:
        most += rules.initial_position.count(Piece.STONE)
    if number > most:
        raise RefusedError(
            Refusal.SETUP_TOO_MANY, piece=piece, number=number, most=most, rules=rules.name
        )
