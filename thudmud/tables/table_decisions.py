"""What a command brings about at a table, or why it does not.

Owns who may do what at a board: turns, agreements and claims. Must never change anything: a
decision is events that have not happened yet.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from thudmud.commands.model import (
    Adjourn,
    Claim,
    End,
    Join,
    Leave,
    No,
    Play,
    Resign,
    SetRules,
    Start,
    Undo,
)
from thudmud.rules import RULESETS, Ending, Game, Move, Outcome, Side
from thudmud.tables.events import (
    Adjourned,
    BattleEnded,
    BattleStarted,
    Declined,
    Joined,
    Moved,
    Offer,
    Offered,
    Parting,
    Resumed,
    RulesSet,
    TakenBack,
)
from thudmud.tables.match import BATTLES, RATED_PLIES, Match
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.saved import SavedMatch
from thudmud.tables.seating import (
    Events,
    Occasion,
    battle,
    come_back,
    free_seat,
    lapsed,
    made_free,
    part,
    require_long_gone,
    seat,
    who_sits,
)
from thudmud.tables.table import Table

TableCommand = (
    Join | Leave | Start | End | Resign | SetRules | Play | Undo | No | Claim | Adjourn
)  # fmt: skip

OFFER_WORDS = {Offer.END: End, Offer.RESTART: Start, Offer.ADJOURN: Adjourn, Offer.UNDO: Undo}
"""The command that makes each offer, and agrees to it."""


def decide(table: Table, player: str, command: TableCommand, occasion: Occasion) -> Events:
    """Return what ``command`` brings about at ``table``.

    Args:
        table: the table as it stands.
        player: the name of who asks. Who asks is here, even if the table does not know it yet.
        command: what is asked for; its ``on`` is not looked at.
        occasion: when, and what else matters.

    Raises:
        Refused: the table does not allow it.
        IllegalMove: the rules of the game do not allow it.
    """
    back = come_back(table, player, occasion.now)
    return (*back, *_decide(command, folded(table, back), player, occasion))


def resume(table: Table, player: str, saved: SavedMatch, occasion: Occasion) -> Events:
    """Return what goes on with a match that was put away, at ``table``.

    Raises:
        Refused: somebody else sits there, or another match is under way.
    """
    freed: Events = ()
    for side in Side:
        standing = folded(table, freed)
        if standing.seats.get(side) in {saved.dwarf, saved.troll} and not standing.under_way:
            continue
        gone = made_free(standing, side, player, occasion)
        if gone is None:
            raise Refused(Refusal.BOARD_IN_USE, board=table.name)
        freed += gone
    if folded(table, freed).under_way:
        raise Refused(Refusal.BOARD_IN_USE, board=table.name)
    return (*freed, Resumed(occasion.now, player, saved))


def folded(table: Table, events: Events) -> Table:
    """Return the table after ``events``."""
    for event in events:
        table = table.apply(event)
    return table


@singledispatch
def _decide(command: object, table: Table, player: str, occasion: Occasion) -> Events:  # noqa: ARG001 (the signature that the cases share)
    raise TypeError(f"a table knows nothing of {type(command).__name__}")


@_decide.register
def _(command: Join, table: Table, player: str, occasion: Occasion) -> Events:
    mine, holder = table.side_of(player), table.seats.get(command.side)
    if holder == player:
        raise Refused(Refusal.SAME_SEAT, board=table.name, side=command.side.plural)
    if mine:
        raise Refused(Refusal.ONE_SEAT_EACH, board=table.name, side=mine.plural)
    freed = made_free(table, command.side, player, occasion)
    if freed is None:
        hint = "You are welcome to watch." if table.full else free_seat(table)
        side = command.side.plural
        raise Refused(Refusal.SEAT_TAKEN, board=table.name, holder=holder, side=side, hint=hint)
    return (*freed, Joined(occasion.now, player, command.side))


@_decide.register
def _(_command: Leave, table: Table, player: str, occasion: Occasion) -> Events:
    return part(table, player, Parting.LEFT, occasion.now)


@_decide.register
def _(_command: Start, table: Table, player: str, occasion: Occasion) -> Events:
    side = seat(table, player)
    if not table.full:
        raise Refused(Refusal.NEEDS_OPPONENT, seats=free_seat(table))
    dwarf, troll = table.seats[Side.DWARF], table.seats[Side.TROLL]
    if side.other in table.away:
        raise Refused(Refusal.AWAY, other=table.seats[side.other])
    if table.running and table.offers.get(Offer.RESTART) is not side.other:
        return _offer(table, player, Offer.RESTART, occasion.now)
    rated = dwarf in occasion.members and troll in occasion.members
    rules = table.ruleset.name
    if table.half_played:
        return (BattleStarted(occasion.now, player, BATTLES, rules, troll, dwarf, rated),)
    return (BattleStarted(occasion.now, player, 1, rules, dwarf, troll, rated),)


@_decide.register
def _(_command: End, table: Table, player: str, occasion: Occasion) -> Events:
    side, game = seat(table, player), battle(table, player)
    if table.offers.get(Offer.END) is side.other:
        ending = Ending.AGREEMENT
    elif not table.full:
        ending = Ending.DESERTION
    elif table.quiet:
        ending = Ending.QUIET
    else:
        return _offer(table, player, Offer.END, occasion.now)
    outcome = game.ruleset.by_agreement(game.position, ending)
    return (_ended(table, game, player, outcome, occasion.now),)


@_decide.register
def _(_command: Resign, table: Table, player: str, occasion: Occasion) -> Events:
    side, game = seat(table, player), battle(table, player)
    outcome = game.ruleset.resignation(game.position, side)
    return (_ended(table, game, player, outcome, occasion.now),)


@_decide.register
def _(_command: Claim, table: Table, player: str, occasion: Occasion) -> Events:
    side = seat(table, player)
    if table.half_played and table.full:
        raise Refused(Refusal.NOTHING_TO_CLAIM, words=Adjourn(table.name))
    game = battle(table, player)
    if not table.full:
        raise Refused(Refusal.NOBODY_TO_CLAIM_FROM, words=End(table.name))
    require_long_gone(table, side.other, occasion)
    outcome = game.ruleset.resignation(game.position, side.other)
    claimed = replace(outcome, ending=Ending.CLAIM)
    return (_ended(table, game, player, claimed, occasion.now),)


@_decide.register
def _(_command: Adjourn, table: Table, player: str, occasion: Occasion) -> Events:
    side = seat(table, player)
    if table.match is None or table.match.over:
        raise Refused(Refusal.NO_MATCH, board=table.name)
    if not table.full:
        raise Refused(Refusal.NOBODY_TO_AGREE, seats=free_seat(table))
    if table.offers.get(Offer.ADJOURN) is not side.other:
        if side.other not in table.away:
            return _offer(table, player, Offer.ADJOURN, occasion.now)
        require_long_gone(table, side.other, occasion)
    return (Adjourned(occasion.now, player, table.match.saved()),)


@_decide.register
def _(_command: Undo, table: Table, player: str, occasion: Occasion) -> Events:
    side = seat(table, player)
    if table.match and not table.running:
        raise Refused(Refusal.OVER_FOR_GOOD, board=table.name)
    game = battle(table, player)
    if not table.full:
        raise Refused(Refusal.NOBODY_TO_AGREE, seats=free_seat(table))
    if table.offers.get(Offer.UNDO) is not side.other:
        if not _last_own(game, side):
            raise Refused(Refusal.NO_PLY_YET)
        return _offer(table, player, Offer.UNDO, occasion.now)
    others = [
        event for event in lapsed(table, player, occasion.now) if event.offer is not Offer.UNDO
    ]
    return (*others, TakenBack(occasion.now, player, side.other, _last_own(game, side.other)))


@_decide.register
def _(_command: No, table: Table, player: str, occasion: Occasion) -> Events:
    side = seat(table, player)
    offered = [offer for offer, by in table.offers.items() if by is side.other]
    if offered:
        return tuple(Declined(occasion.now, player, offer) for offer in offered)
    # What stands is the player's own, and is taken back.
    withdrawn = lapsed(table, player, occasion.now)
    if not withdrawn:
        raise Refused(Refusal.NOTHING_OFFERED, board=table.name)
    return withdrawn


@_decide.register
def _(command: Play, table: Table, player: str, occasion: Occasion) -> Events:
    side, game = seat(table, player), battle(table, player)
    other = table.seats.get(side.other)
    if other and game.position.turn is not side:
        raise Refused(Refusal.NOT_YOUR_TURN, other=other, side=side.other.plural)
    move = game.resolve(command.attempt, side)
    after = game.play(move)
    moved = Moved(occasion.now, player, side, move, len(after.moves))
    ended: Events = ()
    if after.outcome:
        ended = (_ended(table, after, player, after.outcome, occasion.now),)
    return (*lapsed(table, player, occasion.now), moved, *ended)


@_decide.register
def _(command: SetRules, table: Table, player: str, occasion: Occasion) -> Events:
    board, rules = table.name, table.ruleset.name
    if command.rules not in RULESETS:
        known = ", ".join(RULESETS)
        raise Refused(Refusal.RULES_UNKNOWN, words=command.rules, known=known)
    if table.seats and table.side_of(player) is None:
        raise Refused(Refusal.RULES_SEATED_ONLY, board=board, seats=who_sits(table, player))
    if table.running:
        raise Refused(Refusal.RULES_RUNNING, board=board, rules=rules)
    if table.half_played:
        raise Refused(Refusal.RULES_MID_MATCH, board=board, rules=rules)
    if command.rules == rules:
        raise Refused(Refusal.RULES_ALREADY, board=board, rules=rules)
    return (RulesSet(occasion.now, player, command.rules),)


def _ended(table: Table, game: Game, player: str, outcome: Outcome, now: float) -> BattleEnded:
    """Return the end of the battle at ``table``, which has come to ``game``."""
    if table.match is None:
        raise ValueError(f"no battle to end at the {table.name}")
    match: Match = table.match.with_game(replace(game, outcome=outcome))
    plies = len(game.moves)
    points = (match.points(Side.DWARF), match.points(Side.TROLL)) if match.over else None
    rated = match.rated and plies >= RATED_PLIES
    return BattleEnded(now, player, outcome, plies, match.dwarf, match.troll, rated, points)


def _last_own(game: Game, side: Side) -> tuple[Move, ...]:
    """Return the last ply of ``side`` and what followed it; nothing if it has not moved yet."""
    plies = 1 if game.position.turn is side.other else 2
    return game.moves[-plies:] if len(game.moves) >= plies else ()


def _offer(table: Table, player: str, offer: Offer, now: float) -> Events:
    side = seat(table, player)
    if table.offers.get(offer) is side:
        other = table.seats[side.other]
        raise Refused(Refusal.ALREADY_OFFERED, other=other, words=OFFER_WORDS[offer](table.name))
    return (Offered(now, player, offer),)
