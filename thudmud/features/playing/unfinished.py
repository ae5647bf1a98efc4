"""Plies of which only the beginning was typed, such as ``hurl`` or ``move a6``."""

from __future__ import annotations

from thudmud.errors import RefusedError
from thudmud.features.playing.captures import plainness, typed_attempt
from thudmud.features.playing.moves import Play, PlyCommand
from thudmud.game import tables
from thudmud.game.advice import MOST_TRAMPLES
from thudmud.game.command import verb
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.game.tables import Context, Events
from thudmud.rules import Attempt, Game, IllegalMoveError, Move, Piece, Reason, Side, Square, Verb

_OF_THE_PIECE = {
    Reason.OFF_BOARD,
    Reason.NO_PIECE,
    Reason.NOT_YOUR_PIECE,
    Reason.NOT_YOUR_ROCK,
    Reason.THUDSTONE_STAYS,
    Reason.NO_SUCH_VERB,
    Reason.NOT_THIS_SIDES_VERB,
}
"""Reasons against every ply of a piece by a verb, wherever it goes."""


@verb(unfinished="of")
class UnfinishedPly(PlyCommand):
    """Play the only ply that a piece has by a verb; if there are others, say what to type."""

    verb: Verb
    origin: Square | None = None
    on: str | None = None
    in_battle = True

    @classmethod
    def of(
        cls, verb: Verb, _piece: str | None, origin: Square | None, on: str | None
    ) -> UnfinishedPly:
        return cls(verb, origin, on)

    def __str__(self) -> str:
        start = "" if self.origin is None else f" from {self.origin}"
        return f"{self.verb.value}{start}{self._typed('on')}"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side, game = tables.require_seat(table, player), tables.require_running_game(table)
        tables.require_turn(table, side)
        if (move := self._hurl_onto_origin(game, side)) is not None:
            return Play(move.attempt(), self.on).decide_at_table(table, player, context)
        _require_verb(game, side, self.verb, self.origin)
        moves = _moves_by(game, side, self.verb, self.origin)
        if len(moves) == 1 and self.origin:
            attempt = _attempt(moves[0], self.verb)
            return Play(attempt, self.on).decide_at_table(table, player, context)
        raise self._refusal(moves)

    def _hurl_onto_origin(self, game: Game, side: Side) -> Move | None:
        """Return the only hurl onto the troll on the named square; None if it isn't a troll's.

        Raises:
            RefusedError: no dwarf can be hurled there, or more than one.
        """
        square = self.origin
        is_meant = self.verb is Verb.HURL and side is Side.DWARF and Verb.HURL in game.ruleset.verbs
        if square is None or not is_meant or game.position.piece_at(square) is not Piece.TROLL:
            return None
        hurls = [move for move in game.legal_moves() if move.captures == (square,)]
        if not hurls:
            raise RefusedError(Refusal.NO_HURL_ONTO, (square,), target=square)
        if len(hurls) > 1:
            example = typed_attempt(min(hurls, key=plainness).attempt())
            raise RefusedError(Refusal.WHICH_CAPTURE, (square,), example=example)
        return hurls[0]

    def _refusal(self, moves: list[Move]) -> RefusedError:
        """Return the refusal that explains what to type."""
        origin, verb = self.origin, self.verb
        if not moves and origin:
            return RefusedError(Refusal.NO_PLY_FROM, (origin,), origin=origin, verb=verb)
        if not moves:
            return RefusedError(Refusal.NO_PLY, verb=verb)
        example = typed_attempt(_attempt(min(moves, key=plainness), verb))
        if origin:
            return RefusedError(Refusal.WHERE_TO, (origin,), origin=origin, example=example)
        if len(moves) == 1:
            return RefusedError(Refusal.ONLY_PLY, verb=verb, example=example)
        code = Refusal.WHICH_PLY if verb is Verb.MOVE else Refusal.WHICH_CAPTURE
        return RefusedError(code, example=example)


def _require_verb(game: Game, side: Side, verb: Verb, origin: Square | None) -> None:
    """Raise IllegalMoveError if the piece isn't the player's, or the rules have no such verb."""
    square = origin or game.position.squares(Piece.of(side))[0]
    try:
        game.resolve(Attempt(verb, square, square), side)
    except IllegalMoveError as error:
        if error.code in _OF_THE_PIECE:
            raise


def _moves_by(game: Game, side: Side, verb: Verb, origin: Square | None) -> list[Move]:
    """Return the legal moves that can be asked for by a verb, with the origin if one is named.

    A troll that moves by one square and captures may also be shoved there, if the rules allow it.
    """
    found = []
    for move in game.ruleset.legal_moves(game.position, MOST_TRAMPLES):
        if origin in {None, move.origin}:
            is_fitting = move.verb is verb
            if verb is Verb.SHOVE and move.captures and not is_fitting:
                is_fitting = _is_legal(game, side, _attempt(move, verb))
            if is_fitting:
                found.append(move)
    return found


def _is_legal(game: Game, side: Side, attempt: Attempt) -> bool:
    try:
        game.resolve(attempt, side)
    except IllegalMoveError:
        return False
    return True


def _attempt(move: Move, verb: Verb) -> Attempt:
    return Attempt(verb, move.origin, move.target, move.captures or None)
