"""What a command brings about at a table, or why it does not: seats, turns, agreements and claims.

Nothing changes here: a decision is events that have not happened yet.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from thudmud.errors import Refused
from thudmud.play.asides import Invited
from thudmud.play.commands import (
    Adjourn,
    Claim,
    End,
    Join,
    Leave,
    No,
    Play,
    Practice,
    Resign,
    SetClock,
    SetRules,
    SetUp,
    SetUpCommand,
    SetUpLess,
    SetUpMore,
    SetUpOpening,
    Start,
    Undo,
)
from thudmud.play.events import (
    BATTLES,
    NO_BOTS,
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    ClockHeld,
    Declined,
    IdleWarned,
    Joined,
    Left,
    Levels,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    PositionSet,
    Resumed,
    Returned,
    RulesSet,
    SavedMatch,
    TableEvent,
    TakenBack,
    TimeSet,
)
from thudmud.play.match import RATED_PLIES, Match
from thudmud.play.refusals import Refusal
from thudmud.play.table import NOBODY_AWAY, Table
from thudmud.rules import (
    RULESETS,
    Ending,
    Game,
    IllegalMove,
    Move,
    Outcome,
    Piece,
    Position,
    Reason,
    Ruleset,
    Side,
    Square,
)
from thudmud.rules.checks import require_on_board

Events = tuple[TableEvent, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a decision needs to know beyond the table.

    Attributes:
        now: the time, in seconds since the epoch.
        members: the names of those here who have accounts.
        askers: the names of those who have asked the player to the board.
    """

    now: float
    members: Container[str] = frozenset()
    askers: Container[str] = frozenset()


TableCommand = (
    Join
    | Practice
    | Leave
    | Start
    | End
    | Resign
    | SetRules
    | SetUpCommand
    | SetClock
    | Play
    | Undo
    | No
    | Claim
    | Adjourn
)


def decide(table: Table, player: str, command: TableCommand, context: Context) -> Events:
    """Return what ``command`` brings about at ``table``.

    Args:
        table: the table as it stands.
        player: the name of who asks. Who asks is here, even if the table does not know it yet.
        command: what is asked for; its ``on`` is not looked at.
        context: when, and what else matters.

    Raises:
        Refused: the table does not allow it.
        IllegalMove: the rules of the game do not allow it.
    """
    back = come_back(table, player, context.now)
    standing = folded(table, back)
    if fallen := flag_fallen(standing, context.now):
        back, standing = (*back, *fallen), folded(standing, fallen)
        if isinstance(command, _IN_BATTLE):
            return back  # the battle was over before the command came
    return (*back, *_decide(command, standing, player, context))


_IN_BATTLE = Play | Undo | No | End | Resign | Claim | Adjourn | Start
"""Commands that were about a battle which has just been lost by time."""


def resume(table: Table, player: str, saved: SavedMatch, context: Context) -> Events:
    """Return what goes on with a match that was put away, at ``table``.

    Raises:
        Refused: somebody else sits there, or another match is under way.
    """
    freed = _freed_for({saved.dwarf, saved.troll}, table, player, context)
    return (*freed, Resumed(context.now, player, saved))


def folded(table: Table, events: Events) -> Table:
    """Return the table after ``events``."""
    for event in events:
        table = table.apply(event)
    return table


def _decide(command: TableCommand, table: Table, player: str, context: Context) -> Events:
    match command:
        case Play():
            return _play(command, table, player, context)
        case No():
            return _no(table, player, context)
        case Undo():
            return _undo(table, player, context)
        case End():
            return _end(table, player, context)
        case Start():
            return _start(table, player, context)
        case Join():
            return _join(command, table, player, context)
        case Practice():
            return _practice(command, table, player, context)
        case Leave():
            return _leave(table, player, context)
        case Resign():
            return _resign(table, player, context)
        case Claim():
            return _claim(table, player, context)
        case Adjourn():
            return _adjourn(table, player, context)
        case SetRules():
            return _set_rules(command, table, player, context)
        case SetClock():
            return _set_clock(command, table, player, context)
        case SetUp() | SetUpMore() | SetUpLess() | SetUpOpening():
            return _set_up(command, table, player, context)
        case _:
            assert_never(command)


def _practice(command: Practice, table: Table, player: str, context: Context) -> Events:
    if table.under_way and table.side_of(player):
        raise Refused(Refusal.MATCH_UNDER_WAY, board=table.name, seats=table.seating)
    freed = _freed_for({player}, table, player, context)
    standing = folded(table, freed)
    rules = command.rules or standing.ruleset.name
    opening = standing.opening if rules == standing.ruleset.name else None
    began = BattleStarted(context.now, player, 1, rules, player, player, opening=opening)
    return (*freed, began)


def _leave(table: Table, player: str, context: Context) -> Events:
    match = table.match
    if match and table.under_way and match.between_members and table.full:
        seat(table, player)
        raise Refused(Refusal.LEAVES_RATED, board=table.name)
    return part(table, player, Parting.LEFT, context.now)


def _join(command: Join, table: Table, player: str, context: Context) -> Events:
    mine, side = table.side_of(player), command.side
    if mine and side in {None, *table.sides_of(player)}:
        raise Refused(Refusal.SAME_SEAT, board=table.name, side=side or mine)
    if mine:
        may_practise = not table.under_way and len(table.seats) == 1
        raise Refused(Refusal.ONE_SEAT_EACH, board=table.name, side=mine, may_practise=may_practise)
    if side is None:
        side, *others = _free_seats(table, player, player, context)
        if others:
            raise Refused(Refusal.WHICH_SEAT, board=table.name)
    freed = made_free(table, side, player, context)
    if freed is None:
        raise Refused(
            Refusal.SEAT_TAKEN,
            board=table.name,
            player=table.seats.get(side),
            side=side,
            seats=table.seating,
        )
    left = folded(table, freed)
    other, match = left.seats.get(side.other), left.match
    is_theirs = match is not None and player in {match.dwarf, match.troll}
    if left.under_way and other and not is_theirs and other not in context.askers:
        raise Refused(Refusal.SEAT_IN_MATCH, board=table.name, player=other, side=side)
    return (*freed, Joined(context.now, player, side, command.level))


def _start(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    if not table.full:
        raise Refused(
            Refusal.NEEDS_OPPONENT,
            board=table.name,
            seats=table.seating,
            may_practise=not table.under_way,
        )
    dwarf, troll, levels = table.seats[Side.DWARF], table.seats[Side.TROLL], table.levels
    if side.other in table.away and not table.by_correspondence:
        raise Refused(Refusal.AWAY, player=table.seats[side.other])
    match = table.match
    is_second = match is not None and match.running and match.battle == BATTLES
    if match and is_second and not match.game.moves and not table.offers:
        # Both were told to begin it: the other has, a moment ago.
        raise Refused(Refusal.HAS_BEGUN, board=table.name)
    needs_word = table.running and not table.is_practice
    if needs_word and table.offers.get(Offer.RESTART) is not side.other:
        return _offer(table, player, Offer.RESTART, context.now)
    rules, opening = table.ruleset.name, table.opening
    # Nobody is wronged by who plays bots under many names, so guests may as well.
    both_members = dwarf in context.members and troll in context.members
    rated = opening is None and dwarf != troll and (levels != NO_BOTS or both_members)
    number = 1
    if table.match and table.half_played:
        rated = rated and table.match.rated  # both battles count, or neither
        number, dwarf, troll, levels = BATTLES, troll, dwarf, Levels(levels.troll, levels.dwarf)
    time = table.time if dwarf != troll else None
    began = BattleStarted(context.now, player, number, rules, dwarf, troll, rated, levels, opening)
    return (replace(began, time=time),)


def _end(table: Table, player: str, context: Context) -> Events:
    side, game = seat(table, player), battle(table)
    if table.offers.get(Offer.END) is side.other:
        ending = Ending.AGREEMENT
    elif not table.full or table.is_practice:
        ending = Ending.DESERTION
    elif table.quiet:
        ending = Ending.QUIET
    else:
        return _offer(table, player, Offer.END, context.now)
    outcome = game.ruleset.by_agreement(game.position, ending)
    return (_ended(table, game, player, outcome, context.now),)


def _resign(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    if table.half_played and table.full:
        return _forfeited(table, player, side, Ending.RESIGNATION, context)
    game = battle(table)
    outcome = game.ruleset.resignation(game.position, side)
    return (_ended(table, game, player, outcome, context.now),)


def _forfeited(table: Table, player: str, side: Side, ending: Ending, context: Context) -> Events:
    """Return that a side gives up the second battle of a match before it has begun."""
    (started,) = _start(replace(table, away=NOBODY_AWAY), player, context)
    begun = table.apply(started)
    game = battle(begun)
    outcome = game.ruleset.resignation(game.position, side.other)  # the seats are swapped
    ended = _ended(begun, game, player, replace(outcome, ending=ending), context.now)
    return started, ended


def _claim(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    if table.half_played and table.full:
        require_long_gone(table, side.other, context)
        return _forfeited(table, player, side.other, Ending.CLAIM, context)
    game = battle(table)
    if not table.full or table.is_practice:
        raise Refused(Refusal.NOBODY_TO_CLAIM_FROM, board=table.name)
    if table.clock:
        raise Refused(Refusal.CLOCK_RUNS, player=table.seats[side.other])
    if game.turn is side.other and _is_waited_for(table):
        first = table.idle_since + table.idle_limit
        if table.warned is None and context.now >= first:
            return _warned(table, context.now)  # where nothing else tells the time
        claim_at = table.claim_at or first
        if context.now < claim_at:
            seconds = claim_at - context.now
            raise Refused(Refusal.NOT_IDLE, player=table.seats[side.other], seconds=seconds)
    else:
        require_long_gone(table, side.other, context)
    outcome = game.ruleset.resignation(game.position, side.other)
    claimed = replace(outcome, ending=Ending.CLAIM)
    return (_ended(table, game, player, claimed, context.now),)


def _adjourn(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    if table.match is None or table.match.over:
        raise Refused(Refusal.NO_MATCH, board=table.name)
    if not table.full:
        raise Refused(Refusal.NOBODY_TO_AGREE, board=table.name, seats=table.seating)
    if table.offers.get(Offer.ADJOURN) is not side.other and not table.is_practice:
        if side.other not in table.away:
            return _offer(table, player, Offer.ADJOURN, context.now)
        require_long_gone(table, side.other, context)
    return (Adjourned(context.now, player, table.match.saved(context.now)),)


def _undo(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    if table.match and not table.running:
        raise Refused(Refusal.OVER_FOR_GOOD, board=table.name)
    game = battle(table)
    if not table.full:
        raise Refused(Refusal.NOBODY_TO_AGREE, board=table.name, seats=table.seating)
    agreed = table.is_practice or table.offers.get(Offer.UNDO) is side.other
    taken = _last_own(game, side.other if agreed else side)
    if not taken:
        raise Refused(Refusal.NO_PLY_YET, board=table.name)
    if not agreed:
        return _offer(table, player, Offer.UNDO, context.now)
    others = [
        event for event in lapsed(table, player, context.now) if event.offer is not Offer.UNDO
    ]
    return (*others, TakenBack(context.now, player, side.other, taken))


def _no(table: Table, player: str, context: Context) -> Events:
    side = seat(table, player)
    offered = [offer for offer, by in table.offers.items() if by is side.other]
    if offered:
        return tuple(Declined(context.now, player, offer) for offer in offered)
    # What stands is the player's own, and is taken back.
    withdrawn = lapsed(table, player, context.now)
    if not withdrawn:
        raise Refused(Refusal.NOTHING_OFFERED, board=table.name)
    return withdrawn


def _play(command: Play, table: Table, player: str, context: Context) -> Events:
    side, game = seat(table, player), battle(table)
    require_turn(table, side)
    move = game.resolve(command.attempt, side)
    after = game.play(move)
    moved = Moved(context.now, player, side, move, len(after.moves))
    ended: Events = ()
    if after.outcome:
        ended = (_ended(table, after, player, after.outcome, context.now),)
    return (*lapsed(table, player, context.now), moved, *ended)


def _set_rules(command: SetRules, table: Table, player: str, context: Context) -> Events:
    board, rules = table.name, table.ruleset.name
    if command.rules not in RULESETS:
        raise Refused(Refusal.RULES_UNKNOWN, words=command.rules, known=tuple(RULESETS))
    if table.seats and table.side_of(player) is None:
        raise Refused(Refusal.RULES_SEATED_ONLY, board=board, seats=table.seating)
    if table.running:
        raise Refused(Refusal.RULES_RUNNING, board=board, rules=rules)
    if table.half_played:
        raise Refused(Refusal.RULES_MID_MATCH, board=board, rules=rules)
    if command.rules == rules:
        raise Refused(Refusal.RULES_ALREADY, board=board, rules=rules)
    return (RulesSet(context.now, player, command.rules),)


def _set_clock(command: SetClock, table: Table, player: str, context: Context) -> Events:
    board, time = table.name, command.time
    if table.seats and table.side_of(player) is None:
        raise Refused(Refusal.CLOCK_SEATED_ONLY, board=board, seats=table.seating)
    if table.running:
        raise Refused(Refusal.CLOCK_RUNNING, board=board, time=table.time)
    if table.half_played:
        raise Refused(Refusal.CLOCK_MID_MATCH, board=board, time=table.time)
    if time == table.time:
        raise Refused(Refusal.CLOCK_ALREADY, board=board, time=time)
    return (TimeSet(context.now, player, time),)


def _set_up(command: SetUpCommand, table: Table, player: str, context: Context) -> Events:
    board, rules = table.name, table.ruleset
    if table.seats and table.side_of(player) is None:
        raise Refused(Refusal.SETUP_SEATED_ONLY, board=board, seats=table.seating)
    if table.running:
        raise Refused(Refusal.SETUP_RUNNING, board=board)
    if table.half_played:
        raise Refused(Refusal.SETUP_MID_MATCH, board=board)
    before = table.opening or rules.opening
    position = _set_up_position(command, before, rules)
    if position == before:
        raise Refused(Refusal.SETUP_ALREADY, board=board)
    for piece in (Piece.DWARF, Piece.TROLL):
        _require_few(piece, position.count(piece), rules)
    if over := rules.outcome(position):
        raise Refused(Refusal.SETUP_OVER, ending=over.ending, side=position.turn)
    opening = None if position == rules.opening else position
    return (PositionSet(context.now, player, rules.name, opening),)


def _set_up_position(command: SetUpCommand, before: Position, rules: Ruleset) -> Position:
    """Return the position that a command makes of the one ``before``.

    Raises:
        Refused: the squares will not do.
        IllegalMove: the squares will not do, and the rules of the game have a reason for that.
    """
    if isinstance(command, SetUpOpening):
        return rules.opening
    if isinstance(command, SetUp):
        before = replace(rules.opening, dwarfs=0, trolls=0)
    standing = {square: piece for piece in Piece for square in before.squares(piece)}
    if isinstance(command, SetUpLess):
        for square in command.squares:
            _take_off(square, standing)
        return Position.of(standing, command.turn or before.turn)
    dwarfs, trolls, middle = command.pieces
    named = (*dwarfs, *trolls, *middle)
    require_on_board(named)
    for square in named:
        if named.count(square) > 1:
            raise IllegalMove(Reason.NAMED_TWICE, (square,), square=square)
    if middle:
        _move_middle(middle, standing, rules)
    for piece, squares in ((Piece.DWARF, dwarfs), (Piece.TROLL, trolls)):
        for square in squares:
            _put(piece, square, standing)
    return Position.of(standing, command.turn or before.turn)


def _put(piece: Piece, square: Square, standing: dict[Square, Piece]) -> None:
    if taken := standing.get(square):
        raise IllegalMove(Reason.TARGET_TAKEN, (square,), target=square, piece=taken)
    standing[square] = piece


def _take_off(square: Square, standing: dict[Square, Piece]) -> None:
    match standing.pop(square, None):
        case None:
            raise IllegalMove(Reason.NO_PIECE, (square,), square=square)
        case Piece.STONE:
            raise IllegalMove(Reason.THUDSTONE_STAYS, (square,), square=square)
        case Piece.ROCK:
            raise Refused(Refusal.SETUP_NEEDS_ROCK, (square,), square=square)


def _move_middle(
    squares: tuple[Square, ...], standing: dict[Square, Piece], rules: Ruleset
) -> None:
    """Put the Rock onto the one square that is named for it; the Thudstone has to be there."""
    _require_few(Piece.ROCK, len(squares), rules)
    (square,) = squares
    for home, piece in list(standing.items()):
        if piece is Piece.STONE and square is not home:
            raise IllegalMove(Reason.THUDSTONE_STAYS, (home,), square=home)
        if piece.side is None:
            del standing[home]
            _put(piece, square, standing)


def _require_few(piece: Piece, number: int, rules: Ruleset) -> None:
    """Refuse more pieces than a battle by the rules begins with; a Thudstone will do for a Rock."""
    most = rules.opening.count(piece)
    if piece is Piece.ROCK:
        most += rules.opening.count(Piece.STONE)
    if number > most:
        raise Refused(
            Refusal.SETUP_TOO_MANY, piece=piece, number=number, most=most, rules=rules.name
        )


def _ended(table: Table, game: Game, player: str, outcome: Outcome, now: float) -> BattleEnded:
    """Return the end of the battle at ``table``, which has come to ``game``."""
    if table.match is None:
        raise ValueError(f"no battle to end at the {table.name}")
    match: Match = table.match.with_game(replace(game, outcome=outcome), table.match.clock)
    plies = len(game.moves)
    points = (match.points(Side.DWARF), match.points(Side.TROLL)) if match.over else None
    # A second battle may be given up before it has begun: then what was played before it counts.
    is_second = match.battle == BATTLES and match.levels == NO_BOTS
    rated = match.rated and (plies >= RATED_PLIES or is_second)
    players = match.dwarf, match.troll
    return BattleEnded(now, player, outcome, plies, *players, rated, points, match.levels)


# Time: what happens at a table if nobody does anything.


def due(table: Table) -> float | None:
    """Return when `overdue` is to be asked next if nothing happens before; None for never."""
    if table.clock:
        return table.clock.deadline
    is_due = table.warned is None and _is_waited_for(table)
    return table.idle_since + table.idle_limit - table.idle_warning if is_due else None


def overdue(table: Table, now: float) -> Events:
    """Return what the time has brought about at a table: a flag falls, or somebody is warned."""
    if table.clock:
        return flag_fallen(table, now)
    moment = due(table)
    return () if moment is None or now < moment else _warned(table, now)


def flag_fallen(table: Table, now: float) -> tuple[BattleEnded, ...]:
    """Return that the side whose turn it is has lost by time, if it has none left."""
    clock, match = table.clock, table.match
    if match is None or clock is None or now < clock.deadline:
        return ()
    game = match.game
    outcome = game.ruleset.resignation(game.position, game.turn)
    loser = match.dwarf if game.turn is Side.DWARF else match.troll
    return (_ended(table, game, loser, replace(outcome, ending=Ending.TIME), now),)


def held(table: Table, interruptions: Iterable[tuple[float, float]], now: float) -> Events:
    """Return that the clock has stood still while no server was there to play on.

    Args:
        table: the table as it stands.
        interruptions: since when there was none, and until when.
        now: the time, in seconds since the epoch.
    """
    if table.clock is None:
        return ()
    at = table.clock.at
    seconds = sum(max(0.0, until - max(since, at)) for since, until in interruptions)
    return (ClockHeld(now, "", seconds),) if seconds else ()


def _is_waited_for(table: Table) -> bool:
    """Whether one player waits for a ply of another, both are people, and no clock runs."""
    if not (table.running and table.full and table.idle_limit) or table.clock:
        return False
    return not table.away and not table.is_practice and table.levels == NO_BOTS


def _warned(table: Table, now: float) -> Events:
    """Return that both are told that the battle may soon be claimed from who does not move."""
    side = battle(table).turn
    return (IdleWarned(now, table.seats[side], side),)


def _last_own(game: Game, side: Side) -> tuple[Move, ...]:
    """Return the last ply of ``side`` and what followed it; nothing if it has not moved yet."""
    plies = 1 if game.position.turn is side.other else 2
    return game.moves[-plies:] if len(game.moves) >= plies else ()


def _offer(table: Table, player: str, offer: Offer, now: float) -> Events:
    side = seat(table, player)
    if table.offers.get(offer) is side:
        other = table.seats[side.other]
        raise Refused(Refusal.ALREADY_OFFERED, board=table.name, player=other, offer=offer)
    return (Offered(now, player, offer),)


# Seats: who sits where, who is away, and when a seat may be had by somebody else.


def part(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return what happens when ``player`` gives the seat at ``table`` up.

    Raises:
        Refused: ``player`` has no seat here.
    """
    seat(table, player)
    left = tuple(Left(now, player, side, parting) for side in table.sides_of(player))
    if len(left) < len(table.seats):
        # An offer is made to a person: it goes with either of the two.
        return (*lapsed(table, player, now), *left)
    return left if table.is_new else (*left, Cleared(now, player))


def closed(table: Table, player: str, now: float) -> Events:
    """Return what happens before a board is closed: whatever stood on it is put away or cleared.

    There is always an event, so that whoever decides something else at that version is refused.
    """
    fallen = flag_fallen(table, now)
    standing = folded(table, fallen)
    if standing.match and standing.under_way:
        return (*fallen, Adjourned(now, player, standing.match.saved(now)))
    return (*fallen, Cleared(now, player))


def vanish(table: Table, player: str, parting: Parting, now: float) -> Events:
    """Return what happens when ``player``, who has a seat at ``table``, is gone.

    The seat is kept for them, unless they left on purpose and nobody waits for them: there is no
    match under way, it is practice, or one with a bot in which nothing was played.
    """
    if fallen := flag_fallen(table, now):
        return (*fallen, *vanish(folded(table, fallen), player, parting, now))
    if parting in {Parting.LEFT, Parting.QUIT}:
        is_empty = table.match and table.match.battle == 1 and not table.match.game.moves
        if not table.under_way or (is_empty and table.levels != NO_BOTS):
            return part(table, player, parting, now)
        if table.is_practice:
            return deserted(table, player, now)
    seat(table, player)
    here = [side for side in table.sides_of(player) if side not in table.away]
    return tuple(Absent(now, player, side, parting) for side in here)


def tidied(table: Table, now: float) -> Events:
    """Return what happens once players have been away for so long that nobody need wait.

    Their seats are free for others; a match that nobody can go on with is put away.
    """
    events: Events = ()
    for side in table.seats:
        events += made_free(folded(table, events), side, "", Context(now)) or ()
    return events


def deserted(table: Table, player: str, now: float) -> Events:
    """Return what happens to a practice whose player has gone elsewhere: its board is free again.

    It is put away for them, if it is not over and a ply was played.
    """
    if table.match and table.under_way and table.match.game.moves:
        return (Adjourned(now, player, table.match.saved()),)
    return part(table, player, Parting.LEFT, now)


def come_back(table: Table, player: str, now: float) -> Events:
    """Return what happens at ``table`` when ``player`` is here again, if they were away."""
    away = [side for side in table.sides_of(player) if side in table.away]
    return tuple(Returned(now, player, side) for side in away)


def made_free(table: Table, side: Side, player: str, context: Context) -> Events | None:
    """Return what makes a seat free for ``player``; None if it has to be left to its holder.

    Nobody gets a seat in a match under way: if all who sit at it have been gone for long, it is put
    away for another day.
    """
    holder = table.seats.get(side)
    if holder is None or holder == player:
        return ()
    if table.match and table.under_way:
        if all(table.long_away(each, context.now) for each in table.seats):
            return (Adjourned(context.now, player, table.match.saved(context.now)),)
        return None
    if table.long_away(side, context.now):
        return part(table, holder, Parting.LOST, context.now)
    return None


def _freed_for(players: Container[str], table: Table, player: str, context: Context) -> Events:
    """Return what makes both seats free, or leaves them to some players, one of whom asks for that.

    Raises:
        Refused: somebody else sits there, or a match is under way.
    """
    freed: Events = ()
    for side in Side:
        standing = folded(table, freed)
        if standing.seats.get(side) in players and not standing.under_way:
            continue
        gone = made_free(standing, side, player, context)
        if gone is None:
            raise Refused(Refusal.BOARD_IN_USE, board=table.name)
        freed += gone
    if folded(table, freed).under_way:
        raise Refused(Refusal.BOARD_IN_USE, board=table.name)
    return freed


def require_long_gone(table: Table, side: Side, context: Context) -> None:
    """Refuse if whoever has a seat is here, or has not been away for long enough."""
    holder, since = table.seats[side], table.away.get(side)
    if table.clock and (since is None or table.grace is None):
        raise Refused(Refusal.CLOCK_RUNS, player=holder)
    if since is None or table.grace is None:
        raise Refused(Refusal.NOT_AWAY, player=holder)
    wait = since + table.grace - context.now
    if wait > 0:
        raise Refused(Refusal.TOO_SOON, player=holder, seconds=wait)


def seat(table: Table, player: str) -> Side:
    """Return the side that ``player`` plays; of both, the one whose turn it is.

    Raises:
        Refused: they play none.
    """
    side = table.side_of(player)
    if side is None:
        raise Refused(Refusal.NOT_SEATED, board=table.name, seats=table.seating)
    return side


def battle(table: Table) -> Game:
    """Return the battle that is being played.

    Raises:
        Refused: there is none.
    """
    match = table.match
    if match and match.running:
        return match.game
    code = Refusal.BATTLE_OVER if match else Refusal.NO_BATTLE
    raise Refused(code, board=table.name, seats=table.seating)


def require_turn(table: Table, side: Side) -> None:
    """Raise Refused if it is not a side's turn in the battle that is being played."""
    other = side.other
    if table.game and table.game.turn is other:
        if player := table.seats.get(other):
            raise Refused(Refusal.OPPONENTS_TURN, player=player, side=other)
        raise IllegalMove(Reason.NOT_YOUR_TURN, side=other)


def lapsed(table: Table, player: str, now: float) -> tuple[OfferLapsed, ...]:
    """Return that the offers that stand lapse, since ``player`` does something else."""
    return tuple(OfferLapsed(now, player, offer) for offer in table.offers)


def invited(
    table: Table,
    player: str,
    to: str,
    side: Side | None,
    context: Context,
    *,
    level: int | None = None,
) -> Invited:
    """Return the invitation of a player by another.

    Args:
        table: where.
        player: who asks.
        to: who is asked.
        side: the seat; None for a free one.
        context: when, and what else matters.
        level: how well a bot is to play there; None for as it always does.

    Raises:
        Refused: there is no such seat for whoever is asked.
    """
    if to == player:
        raise Refused(Refusal.INVITE_SELF, board=table.name, side=side or Side.DWARF)
    theirs = table.side_of(to)
    if theirs:
        raise Refused(Refusal.PLAYS_THERE, board=table.name, player=to, side=theirs)
    seat = _free_seat(table, player, to, side, context)
    return Invited(player, to, table.name, seat, level)


def _free_seats(table: Table, player: str, to: str, context: Context) -> list[Side]:
    """Return the seats that somebody can have, asked by a player, whose own is none of them.

    Raises:
        Refused: there is none.
    """
    free = [
        each
        for each in Side
        if table.seats.get(each) != player and made_free(table, each, to, context) is not None
    ]
    if not free:
        raise Refused(Refusal.NO_SEAT_FREE, board=table.name, seats=table.seating)
    return free


def _free_seat(table: Table, player: str, to: str, side: Side | None, context: Context) -> Side:
    if side is None:
        return _free_seats(table, player, to, context)[0]
    if side in table.sides_of(player):
        raise Refused(Refusal.SAME_SEAT, board=table.name, side=side)
    if made_free(table, side, to, context) is None:
        raise Refused(
            Refusal.SEAT_NOT_FREE,
            board=table.name,
            player=table.seats[side],
            side=side,
            seats=table.seating,
        )
    return side
