"""Questions about a board, which don't change it, and the choice of a board's drawing style."""

from __future__ import annotations

from thudmud.features.options.model import StyleChosen
from thudmud.game.command import CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.options import Style
from thudmud.game.resolution import resolve_board, resolve_query_board
from thudmud.game.tables import GameCommand, require_running_game
from thudmud.rules import Piece, Side, Square
from thudmud.rules.board import LETTERS

_NAMES = {
    Piece.DWARF: "dwarfs",
    Piece.TROLL: "trolls",
    Piece.STONE: "stone",
    Piece.ROCK: "rock",
}


class Query(GameCommand):
    """Base class of questions about a board."""

    answers_in_words = True

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_answer(
            self, resolve_query_board(context.hall, context.person, self.on).name
        )


@verb("where")
class Where(Query):
    """Show the squares of all pieces of a kind; None for all pieces."""

    piece: Piece | None = None
    on: str | None = None

    def __str__(self) -> str:
        kind = f" {_NAMES[self.piece]}" if self.piece else ""
        return f"where{kind}{self._typed('on')}"


@verb(scan_row="numbered")
class ScanRow(Query):
    """Show the contents of a row. ``row`` counts from 0."""

    row: int
    on: str | None = None

    @classmethod
    def numbered(cls, row: int, on: str | None) -> ScanRow:
        return cls(row - 1, on)

    def __str__(self) -> str:
        return f"scan row {self.row + 1}{self._typed('on')}"


@verb(scan_column="lettered")
class ScanColumn(Query):
    """Show the contents of a column. ``column`` counts from 0."""

    column: int
    on: str | None = None

    @classmethod
    def lettered(cls, column: str, on: str | None) -> ScanColumn:
        return cls(LETTERS.index(column.upper()), on)

    def __str__(self) -> str:
        return f"scan column {LETTERS[self.column]}{self._typed('on')}"


@verb("around")
class Around(Query):
    """Show the piece on a square, and the nearest piece in each direction."""

    square: Square
    on: str | None = None


@verb("lines")
class Lines(Query):
    """Show the lines from which pieces can be hurled or shoved, of one side or both."""

    side: Side | None = None
    on: str | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" {self.side.plural}"
        return f"lines{side}{self._typed('on')}"


@verb("captures", all_captures="of_all", captures_of="of_side")
class Captures(Query):
    """Show the captures of a side, or of the piece on a square; None for the side to move."""

    origin: Square | None = None
    on: str | None = None
    side: Side | None = None

    def __str__(self) -> str:
        side = "" if self.side is None else f" {self.side.plural}"
        return f"captures{side}{self._typed('origin', 'on')}"

    @classmethod
    def of_side(cls, side: Side, on: str | None) -> Captures:
        return cls(None, on, side)

    @classmethod
    def of_all(cls, on: str | None) -> Captures:
        return cls(None, on)


@verb(last_move="of")
class LastMove(Query):
    """Show the last ply."""

    on: str | None = None

    @classmethod
    def of(cls, *words: str | None) -> LastMove:
        return cls(words[-1])


@verb("clock")
class ViewClock(Query):
    """Show the clock of a board: the time left, and the running side."""

    on: str | None = None
    is_question = True


PieceQuery = Where | ScanRow | ScanColumn | Around | Lines | Captures | LastMove | ViewClock


@verb("view_game")
class ViewGame(Query):
    """Show a board in full."""

    on: str | None = None
    is_question = True


@verb("view_possible")
class ViewPossible(GameCommand):
    """List the legal moves, or those of the piece on a square."""

    origin: Square | None = None
    on: str | None = None
    is_question = answers_in_words = True

    def __str__(self) -> str:
        start = "" if self.origin is None else f" from {self.origin}"
        return f"view possible{start}{self._typed('on')}"

    def decide(self, context: CommandContext) -> Decision:
        table = resolve_query_board(context.hall, context.person, self.on)
        require_running_game(table)
        return context.decide_answer(self, table.name)


@verb("set_board")
class SetBoard(GameCommand):
    """Choose the drawing style of a board for oneself."""

    style: Style
    on: str | None = None

    def decide(self, context: CommandContext) -> Decision:
        person = context.person
        board = resolve_board(context.hall, person, self.on).name
        chosen = StyleChosen(context.me, board, self.style)
        styles = {**person.styles, board: self.style}
        return Decision(context.me, board, asides=(chosen,), preferences={"styles": styles})
