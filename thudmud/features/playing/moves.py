"""Commands of a battle: moves, endings, and offers that need both players' consent."""

from __future__ import annotations

from collections.abc import Mapping

from thudmud.errors import RefusedError
from thudmud.features.playing.captures import resolve_capture
from thudmud.game import events, tables
from thudmud.game.command import CommandContext, verb
from thudmud.game.events import Offer
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_move_board
from thudmud.game.seeks import end_seeks_of_players
from thudmud.game.table import Table
from thudmud.game.tables import BattleCommand, Context, Events, TableCommand
from thudmud.rules import (
    Attempt,
    Ending,
    Every,
    Game,
    IllegalMoveError,
    Move,
    Reason,
    Side,
    Square,
    Verb,
    read_ply,
)
from thudmud.values import replace

_Captures = tuple[Square, ...] | Every | None


class PlyCommand(TableCommand):
    """Base class of commands that play a ply."""

    def resolve_table(self, context: CommandContext) -> Table:
        return resolve_move_board(context.hall, context.person, self.on, context.now)


@verb(
    play="of",
    play_turned="with_board_last",
    move="of_move",
    move_turned="of_move_with_board_last",
    hurl_by_sign="of_hurl",
)
class Play(PlyCommand):
    """Play a ply by ``move``, ``shove`` or ``hurl``."""

    attempt: Attempt
    on: str | None = None
    in_battle = True

    @classmethod
    def of(
        cls,
        verb: Verb,
        _piece: str | None,
        origin: Square,
        target: Square,
        on: str | None,
        captures: _Captures,
    ) -> Play:
        return cls(Attempt(verb, origin, target, captures), on)

    @classmethod
    def with_board_last(
        cls,
        verb: Verb,
        _piece: str | None,
        origin: Square,
        target: Square,
        captures: _Captures,
        on: str,
    ) -> Play:
        return cls.of(verb, None, origin, target, on, captures)

    @classmethod
    def of_move(cls, origin: Square, target: Square, on: str | None, captures: _Captures) -> Play:
        return cls(Attempt(Verb.MOVE, origin, target, captures), on)

    @classmethod
    def of_move_with_board_last(
        cls, origin: Square, target: Square, captures: _Captures, on: str
    ) -> Play:
        return cls.of_move(origin, target, on, captures)

    @classmethod
    def of_hurl(cls, origin: Square, target: Square, on: str | None) -> Play:
        return cls(Attempt(Verb.HURL, origin, target), on)

    def __str__(self) -> str:
        way, capturing, captures = str(self.attempt).partition(" capturing ")
        return f"{way}{self._typed('on')}{capturing}{captures}"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side, game = tables.require_seat(table, player), tables.require_running_game(table)
        tables.require_turn(table, side)
        try:
            move = game.resolve(self.attempt, side)
        except IllegalMoveError as error:
            if self._is_capture_by_sign(error):
                move = resolve_capture(game, self.attempt.origin, self.attempt.target)
            else:
                move = game.resolve(self._with_only_capture(error), side)
        after = game.play(move)
        moved = events.Moved(context.now, player, side, move, len(after.moves))
        over: Events = ()
        if after.outcome:
            over = (tables.end_battle(table, after, player, after.outcome, context.now),)
        if not table.offers:
            return (moved, *over)
        return (*tables.lapse_offers(table, player, context.now), moved, *over)

    def _is_capture_by_sign(self, error: IllegalMoveError) -> bool:
        """Whether the sign for a capture, as in ``g7xf7``, was typed for a piece that isn't hurled.

        The sign reads as a hurl, since that is how dwarfs capture.
        """
        codes = {Reason.NO_SUCH_VERB, Reason.NOT_THIS_SIDES_VERB}
        return self.attempt.verb is Verb.HURL and error.code in codes

    def _with_only_capture(self, error: IllegalMoveError) -> Attempt:
        """Return a shove that left its capture out with the only one; raise any other error."""
        choices = error.details.get("choices", ())
        is_unsaid = error.code is Reason.CAPTURE_UNSAID and self.attempt.captures is None
        if not is_unsaid or len(choices) != 1:
            raise error
        return replace(self.attempt, captures=choices)


@verb("ply")
class PlayRecorded(PlyCommand):
    """Play a ply given in record notation, such as ``TG7-F7xE7``; the verb is inferred."""

    ply: str
    on: str | None = None
    in_battle = True

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        game = tables.require_running_game(table)
        tables.require_turn(table, tables.require_seat(table, player))
        return self.to_play(game).decide_at_table(table, player, context)

    def to_play(self, game: Game) -> Play:
        """Convert the recorded ply to the command that a player would type.

        Raises:
            IllegalMoveError: the ply is illegal.
            RefusedError: the square of origin holds another kind of piece.
        """
        try:
            return Play(read_ply(self.ply, game.ruleset, game.position).attempt(), self.on)
        except IllegalMoveError:
            raise
        except ValueError:
            square = Square.from_record(self.ply[1:].partition("-")[0])
            piece = game.position.piece_at(square)
            raise RefusedError(Refusal.OTHER_PIECE, (square,), square=square, piece=piece) from None


@verb("end")
class End(BattleCommand):
    """Offer to end the battle, or accept the opponent's offer."""

    words = "end game"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side, game = tables.require_seat(table, player), tables.require_running_game(table)
        if table.offers.get(Offer.END) is side.other:
            ending = Ending.AGREEMENT
        elif not table.is_full or table.is_practice:
            ending = Ending.DESERTION
        elif table.is_quiet:
            ending = Ending.QUIET
        else:
            return tables.offer(table, player, Offer.END, context.now)
        outcome = game.ruleset.agreed_outcome(game.position, ending)
        return (tables.end_battle(table, game, player, outcome, context.now),)


@verb("begin")
class Start(BattleCommand):
    """Begin the next battle.

    During a battle it offers to start over, between the battles of a match to play on, and after a
    match a rematch; or it accepts that offer.
    """

    words = "start game"
    needs_confirmation = True

    def decide(self, context: CommandContext) -> Decision:
        tables.require_playing(context, self.on)
        table, hall = self.resolve_table(context), context.hall
        here = frozenset(hall.people_in(table.name))
        inputs = Context(context.now, hall.people.members, here=here, first_move=hall.first_move)
        decided = tables.decide(table, context.me, self, inputs)
        return end_seeks_of_players(
            hall, tables.table_decision(context, table, decided), context.now
        )

    def confirmation(self, table: Table, player: str) -> RefusedError | None:
        match, side = table.match, tables.require_seat(table, player)
        if match is None or table.is_practice or not match.is_running:
            return None
        if Offer.RESTART in table.offers:
            return None
        if not match.needs_confirmation_to_drop(side):
            return None
        return RefusedError(
            Refusal.SURE_RESTARTS,
            board=table.name,
            player=table.seats.get(side.other),
            score=score_if_dropped(table, side),
            loses=match.is_binding,
        )

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = tables.require_seat(table, player)
        if not table.is_full:
            raise RefusedError(
                Refusal.NEEDS_OPPONENT,
                board=table.name,
                seats=table.seating,
                may_practise=not table.has_match_under_way,
            )
        if side.other in table.away and not table.is_by_correspondence:
            raise RefusedError(Refusal.AWAY, player=table.seats[side.other])
        match = table.match
        is_second = match is not None and match.is_running and match.battle == events.BATTLES
        if match and is_second and not match.game.moves and not table.offers:
            # Both players are prompted to begin, and the opponent was a moment faster.
            raise RefusedError(Refusal.HAS_BEGUN, board=table.name)
        asked = _required_offer(table, side, context)
        if asked is Offer.RESTART and match and match.tournament:
            raise tables.tournament_match_refusal(table, match.tournament)
        if asked and table.offers.get(asked) is not side.other:
            return tables.offer(table, player, asked, context.now)
        lost: Events = ()
        if asked is Offer.RESTART and match and match.is_binding:
            lost = forfeit_match(table, side.other, context)
        return (*lost, battle_begun(tables.fold_events(table, lost), player, context))


def _required_offer(table: Table, side: Side, context: Context) -> Offer | None:
    """Return the offer that both must accept before a battle begins; None if none is needed.

    Bots always agree. Without consent, nobody's clock is started while they are away from the
    board.
    """
    match = table.match
    if table.is_practice:
        return None
    if match and match.is_running:
        return Offer.RESTART
    if table.levels != events.NO_BOTS:
        return None
    if match and match.is_over:
        return Offer.REMATCH
    if match:
        return Offer.BEGIN if table.needs_consent_to_go_on else None
    is_by_days = table.time is None or table.time.is_correspondence
    is_here = context.here is None or table.seats[side.other] in context.here
    return None if is_by_days or is_here else Offer.BEGIN


def score_if_dropped(table: Table, side: Side) -> tuple[int, int]:
    """Return the match score, own points first, if the player of `side` dropped the match now.

    A match that isn't binding has no forfeit: its current score is returned.
    """
    match = table.match
    if match is None:
        return 0, 0
    if not match.is_binding:
        return match.projected_points(side), match.projected_points(side.other)
    # Time doesn't matter.
    lost = tables.fold_events(table, forfeit_match(table, side, Context(table.waiting_since)))
    last = lost.side_of(table.seats[side])
    if lost.match is None or last is None:
        return 0, 0
    return lost.match.points(last), lost.match.points(last.other)


def battle_begun(table: Table, player: str, context: Context) -> events.BattleStarted:
    """Return the event that begins the next battle, either the second of a match or a new match.

    In the second battle the players swap sides.
    """
    rules, opening, levels = table.ruleset.name, table.opening, table.levels
    dwarf, troll = table.seats[Side.DWARF], table.seats[Side.TROLL]
    match, number, of = table.match, 1, None
    people = [table.seats[side] for side in Side if levels.of(side) is None]
    are_members = all(each in context.members for each in people)
    rated = opening is None and dwarf != troll and are_members
    if match and table.half_played:
        of = match.tournament
        rated = match.rated  # rate both battles or neither, even if a member is away by now
        number, dwarf, troll = events.BATTLES, troll, dwarf
        levels = events.Levels(levels.troll, levels.dwarf)
    elif match:  # same terms; but players entered for the tournament's matches only
        rated = rated and match.began_rated and not match.tournament
    time = table.time if dwarf != troll else None
    terms = context.now, player, number, rules, dwarf, troll, rated, levels, opening
    return events.BattleStarted(*terms, tournament=of).with_time(time, context.first_move)


@verb("resign")
class Resign(BattleCommand):
    """Resign the battle."""

    words = "resign game"
    needs_confirmation = True

    def confirmation(self, table: Table, player: str) -> RefusedError | None:
        match, side = table.match, tables.require_seat(table, player)
        if match is None:
            return None
        score = match.game.ruleset.resigned_outcome(match.game.position, side).score
        mine, theirs = score.of(side), score.of(side.other)
        of_both = match.points(side) + mine, match.points(side.other) + theirs
        return RefusedError(
            Refusal.SURE_RESIGNS,
            board=table.name,
            battle=None if table.is_practice else match.battle,
            player=table.seats.get(side.other),
            side=side.other,
            score=(mine, theirs),
            total=of_both if match.battle > 1 else (),
        )

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = tables.require_seat(table, player)
        if table.half_played:
            raise RefusedError(Refusal.NOT_BEGUN_YET, board=table.name, seats=table.seating)
        return (_resign_battle(table, player, side, context),)


@verb("claim")
class Claim(BattleCommand):
    """Claim the battle from an opponent who has been away or idle for too long."""

    words = "claim game"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = tables.require_seat(table, player)
        if table.half_played and table.is_full:
            _require_second_battle_put_off(table, side, context)
            return _lose_second_battle(table, player, side.other, Ending.CLAIM, context)
        game = tables.require_running_game(table)
        if not table.is_full or table.is_practice:
            raise RefusedError(Refusal.NOBODY_TO_CLAIM_FROM, board=table.name)
        if table.clock:
            raise RefusedError(Refusal.CLOCK_RUNS, player=table.seats[side.other])
        first = table.idle_since + table.idle_limit
        is_away, is_turn = side.other in table.away, game.turn is side.other
        # An absent player on move also has the idle limit, but never longer than a present one.
        comes_and_goes = is_away and is_turn and context.now >= first
        if table.is_long_away(side.other, context.now):
            pass
        elif is_turn and tables.may_idle(table) and (comes_and_goes or not is_away):
            if table.warned_at is None and context.now >= first:
                # Without an event loop no timer warns.
                return tables.warn_idle_player(table, context.now)
            claim_at = table.claimable_at or first
            if context.now < claim_at:
                seconds = claim_at - context.now
                code = Refusal.TOO_SOON if is_away else Refusal.NOT_IDLE
                raise RefusedError(code, player=table.seats[side.other], seconds=seconds)
        else:
            tables.require_long_absence(table, side.other, context)
        outcome = game.ruleset.resigned_outcome(game.position, side.other)
        claimed = replace(outcome, ending=Ending.CLAIM)
        return (tables.end_battle(table, game, player, claimed, context.now),)


def _require_second_battle_put_off(table: Table, side: Side, context: Context) -> None:
    """Refuse a claim between two battles unless the opponent of `side` is away or puts it off.

    Without the latter, a player who is behind could put off the second battle for ever.
    """
    if table.offers.get(Offer.BEGIN) is side.other:
        player = table.seats[side.other]
        raise RefusedError(Refusal.ASKED_TO_BEGIN, board=table.name, player=player)
    asked_at = table.asked_to_begin.get(side)
    if side.other in table.away or asked_at is None or not table.idle_limit:
        if not tables.is_chronically_absent(table, side.other, context.now):
            tables.require_long_absence(table, side.other, context)
        return
    wait = asked_at + table.idle_limit - context.now
    if wait > 0:
        player = table.seats[side.other]
        raise RefusedError(Refusal.NOT_PUT_OFF, player=player, seconds=wait)


def _resign_battle(table: Table, player: str, side: Side, context: Context) -> events.BattleEnded:
    """Return the event that ends the running battle by the resignation of `side`."""
    game = tables.require_running_game(table)
    outcome = game.ruleset.resigned_outcome(game.position, side)
    return tables.end_battle(table, game, player, outcome, context.now)


def forfeit_match(table: Table, side: Side, context: Context) -> Events:
    """Return the events by which `side` forfeits all that remains of the match."""
    player = table.seats[side]
    lost: Events = (_resign_battle(table, player, side, context),) if table.is_running else ()
    table = tables.fold_events(table, lost)
    if table.half_played:
        lost = (*lost, *_lose_second_battle(table, player, side, Ending.RESIGNATION, context))
    return lost


def _lose_second_battle(
    table: Table, player: str, side: Side, ending: Ending, context: Context
) -> Events:
    """Return the events that begin the second battle of a match and end it as a loss for `side`.

    Args:
        table: the board, between the two battles.
        player: the player who caused this.
        side: the loser's side in the first battle.
        ending: the ending to record.
        context: the time and the members present.
    """
    started = battle_begun(table, player, context)
    begun = table.apply(started)
    game = tables.require_running_game(begun)
    outcome = game.ruleset.resigned_outcome(game.position, side.other)  # the seats are swapped
    over = tables.end_battle(begun, game, player, replace(outcome, ending=ending), context.now)
    return started, over


MOST_TAKEN_BACK = 1_000
"""The maximum number of plies taken back in a battle. Without it a short battle could collect an
unlimited number of events, all of which are read whenever the battle is looked up."""


@verb(undo="of")
class Undo(BattleCommand):
    """Ask to take back one's last plies, or accept the opponent's request.

    ``moves``: the number of one's own plies; 1 also accepts a request for any number.
    """

    moves: int = 1
    typed = "moves", "on"

    @classmethod
    def of(cls, moves: int | None, on: str | None) -> Undo:
        return cls(on, moves or 1)

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = tables.require_seat(table, player)
        if table.match and not table.is_running:
            raise RefusedError(Refusal.OVER_FOR_GOOD, board=table.name)
        game = tables.require_running_game(table)
        if not table.is_full:
            raise RefusedError(Refusal.NOBODY_TO_AGREE, board=table.name, seats=table.seating)
        moves, agreed = self.moves, table.is_practice
        if table.offers.get(Offer.UNDO) is side.other and moves in {1, table.undo_moves}:
            moves, agreed = table.undo_moves, True
        taken = _plies_to_take_back(game, side.other if agreed else side, moves)
        if not taken:
            raise RefusedError(Refusal.NO_PLY_YET, board=table.name)
        if len(taken) < 2 * moves - 1:
            made = (len(taken) + 1) // 2
            raise RefusedError(Refusal.UNDO_TOO_FAR, board=table.name, moves=made)
        if table.taken_back + len(taken[2:]) >= MOST_TAKEN_BACK:
            raise RefusedError(Refusal.UNDO_TOO_OFTEN, board=table.name, most=MOST_TAKEN_BACK)
        if not agreed:
            return tables.offer(table, player, Offer.UNDO, context.now, moves)
        others = [
            event
            for event in tables.lapse_offers(table, player, context.now)
            if event.offer is not Offer.UNDO
        ]
        return (*others, events.TakenBack(context.now, player, side.other, taken))


def _plies_to_take_back(game: Game, side: Side, moves: int) -> tuple[Move, ...]:
    """Return the last plies of `side` and the replies, as many as there are.

    Args:
        game: the battle.
        side: the side whose plies count.
        moves: the number of its plies.

    Returns:
        The plies, of which the first is by `side`; empty if `side` has not moved yet.
    """
    last = 1 if game.position.turn is side.other else 2
    played = len(game.moves) - last
    if played < 0:
        return ()
    return game.moves[-min(last + 2 * (moves - 1), last + played // 2 * 2) :]


@verb("adjourn")
class Adjourn(BattleCommand):
    """Offer to adjourn the match, or accept the offer."""

    words = "adjourn game"

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = tables.require_seat(table, player)
        if table.match is None or table.match.is_over:
            raise RefusedError(Refusal.NO_MATCH, board=table.name)
        if table.match.tournament:
            raise tables.tournament_match_refusal(table, table.match.tournament)
        if not table.is_full:
            raise RefusedError(Refusal.NOBODY_TO_AGREE, board=table.name, seats=table.seating)
        if table.offers.get(Offer.ADJOURN) is not side.other and not table.is_practice:
            if side.other not in table.away:
                return tables.offer(table, player, Offer.ADJOURN, context.now)
            if table.has_live_clock and table.clock and table.clock.turn is side:
                raise RefusedError(Refusal.OWN_CLOCK_RUNS, player=table.seats[side.other])
            tables.require_long_absence(table, side.other, context)
        return (events.Adjourned(context.now, player, table.match.saved(context.now)),)


OFFERING: Mapping[Offer, type[End | Start | Adjourn | Undo]] = {
    Offer.END: End,
    Offer.RESTART: Start,
    Offer.REMATCH: Start,
    Offer.BEGIN: Start,
    Offer.ADJOURN: Adjourn,
    Offer.UNDO: Undo,
}
"""The command that makes each offer, and also accepts it."""
