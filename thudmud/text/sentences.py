"""What happened at a board, in a sentence for one reader.

Owns the words of every table event. Must never draw a board, and never look at anything but the
event and the table as it stood right after.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from thudmud.play.commands import Adjourn, Claim, End, Join, No, Resume
from thudmud.play.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    Cleared,
    Declined,
    Joined,
    Left,
    Moved,
    Offer,
    Offered,
    OfferLapsed,
    Parting,
    Resumed,
    Returned,
    RulesSet,
    TableEvent,
    TakenBack,
)
from thudmud.play.match import Match
from thudmud.play.meaning import listed
from thudmud.play.table import Table
from thudmud.rules import Ending, Outcome, Side
from thudmud.rules.english import capitalised, counted, does, lasting
from thudmud.text.phrases import named, next_step, played, points, quiet_for, reached, turn
from thudmud.views.refusals import OFFER_WORDS, free_seat

OFFERS = {
    Offer.END: "end the battle",
    Offer.RESTART: "start over with a new match",
    Offer.ADJOURN: "adjourn the match",
    Offer.UNDO: "take the last move back",
}
"""What each offer is to do."""

LOSSES = {
    Parting.LOST: "{player} has lost the connection.",
    Parting.IDLE: "{player} has been idle for too long and is gone.",
    Parting.RESTART: "The server was down for a while.",
}
"""How somebody comes to be away without wanting it."""


TURNED = (Joined, BattleStarted, Moved, TakenBack, Resumed)
"""The events after which everybody is told whose turn it is."""


def sentence(event: TableEvent, table: Table, me: str | None) -> str:
    """Return what ``event`` reads like to ``me``. What it offers to type names the board.

    Args:
        event: what happened.
        table: the table right after it.
        me: the reader's name if the event or a seat is theirs, else None.
    """
    said = facts(event, table, me)
    if isinstance(event, TURNED) and table.running:
        said.append(turn(table, me))
    return " ".join(said)


def facts(event: TableEvent, table: Table, me: str | None) -> list[str]:
    """Return the same, a sentence or two for each fact, without whose turn it is."""
    return [capitalised(fact) for fact in _facts(event, table, me)]


def without_commands(facts: Iterable[str]) -> list[str]:
    """Return those of some facts that do not say what can be typed: commands are in quotes."""
    return [fact for fact in facts if '"' not in fact]


def _facts(event: TableEvent, table: Table, me: str | None) -> list[str]:
    """Return the facts as they stand within a sentence. What happens most often comes first."""
    match event:
        case Moved():
            return [played(event.move, event.player, me), *_quiet(table)]
        case Offered():
            return _offered(event, table, me)
        case Joined():
            return _joined(event, table, me)
        case BattleStarted():
            return [_battle_started(event, table, me)]
        case BattleEnded():
            return _battle_ended(event, table, me)
        case Left():
            return _left(event, table, me)
        case Absent():
            return _absent(event, table, me)
        case Returned():
            if event.player == me:
                return [
                    f"You are back at the {table.name}, where you play the {event.side.plural}."
                ]
            return [f"{event.player} is back at the {table.name}."]
        case Cleared():
            rules = f"by the {table.ruleset.name} rules"
            return [f"Nobody is left at the {table.name}, so it is set up anew, {rules}."]
        case RulesSet():
            sets = does(event.player, me, "set")
            return [f"{sets} the rules of the {table.name} to {event.rules}."]
        case OfferLapsed():
            return [f"The offer to {OFFERS[event.offer]} no longer stands."]
        case Declined():
            return [f"{does(event.player, me, 'decline')} the offer to {OFFERS[event.offer]}."]
        case TakenBack():
            return [_taken_back(event, table, me)]
        case Adjourned():
            return _adjourned(event, table, me)
        case Resumed():
            return _resumed(event, table, me)
        case _:
            assert_never(event)


def _joined(event: Joined, table: Table, me: str | None) -> list[str]:
    said = [
        f"{does(event.player, me, 'sit')} down at the {table.name} to play the {event.side.plural}."
    ]
    if table.match and not table.match.over and table.match.points(event.side):
        said.append(f"The seat comes with {counted(table.match.points(event.side), 'point')}.")
    if table.running:
        return said
    if table.full:
        return [*said, f"Both seats are taken: {next_step(table)}"]
    return [*said, free_seat(table.name, table.seating)]


def _left(event: Left, table: Table, me: str | None) -> list[str]:
    seat = f"the {event.side.value} seat at the {table.name}"
    if event.parting is Parting.QUIT:
        leave = "leave" if event.player == me else "leaves"
        said = [f"{does(event.player, me, 'quit')} and {leave} {seat}."]
    elif event.parting is Parting.LEFT:
        said = [f"{does(event.player, me, 'leave')} {seat}."]
    else:
        said = [f"{event.player} has been away for too long: {seat} is free."]
    if not (table.running and table.seats):
        return said
    said.append(f'The battle waits for somebody to "{Join(event.side, table.name)}".')
    alone = me in table.seats.values()
    return [*said, f'You may also "{End(table.name)}" alone.'] if alone else said


def _absent(event: Absent, table: Table, me: str | None) -> list[str]:
    seat = f"the {event.side.value} seat at the {table.name}"
    if event.parting in LOSSES:
        said = [LOSSES[event.parting].format(player=event.player)]
        said.append(f"{capitalised(seat)} is kept for {event.player}.")
    elif event.parting is Parting.LEFT:
        said = [f"{does(event.player, me, 'walk')} away; {seat} is kept."]
    else:
        said = [f"{does(event.player, me, 'leave')} for home; {seat} is kept."]
    other = table.seats.get(event.side.other)
    if not (table.under_way and other and other == me):
        return said
    ways = [Claim(table.name), Adjourn(table.name)] if table.running else [Adjourn(table.name)]
    may = "you may " + listed([f'"{way}"' for way in ways], "or")
    if table.seat_grace:
        return [*said, f"In {lasting(table.seat_grace)} {may}."]
    return [*said, f"{may}."]


def _battle_started(event: BattleStarted, table: Table, me: str | None) -> str:
    which = "The first battle of a match" if event.number == 1 else "The second battle"
    swapped = "" if event.number == 1 else ", with the seats swapped"
    return (
        f"{which} begins at the {table.name} by the {event.rules} rules{swapped}: "
        f"{does(event.dwarf, me, 'play')} the dwarfs, "
        f"{does(event.troll, me, 'play')} the trolls."
    )


def _quiet(table: Table) -> list[str]:
    """Return that one player may end the battle, when that has just become so."""
    game = table.game
    if not (game and table.quiet and game.quiet_plies == table.quiet_limit):
        return []
    may = f'either player may now say "{End(table.name)}" alone'
    return [f"Nothing was captured for {quiet_for(game)}: {may}."]


def _offered(event: Offered, table: Table, me: str | None) -> list[str]:
    said = [f"{does(event.player, me, 'offer')} to {OFFERS[event.offer]}."]
    if event.offer is Offer.UNDO:
        said = [f"{does(event.player, me, 'ask')} to take back {_last_own(table, event.player)}."]
    words = OFFER_WORDS[event.offer](table.name)
    if event.player == me:
        side = table.side_of(event.player)
        other = table.seats.get(side.other, "nobody") if side else "nobody"
        back = f'"{No(table.name)}" or the next move withdraws it'
        return [*said, f'{other} agrees by saying "{words}" too; {back}.']
    if me not in table.seats.values():
        return said
    return [*said, f'To agree, say "{words}"; "{No(table.name)}" or the next move declines it.']


def _last_own(table: Table, player: str) -> str:
    """Return the last ply of ``player``, as within a sentence."""
    game, side = table.game, table.side_of(player)
    if game is None or side is None:
        return "a move"
    move = game.moves[-1 if game.position.turn is side.other else -2]
    return f"the move from {move.origin} to {move.target}"


def _taken_back(event: TakenBack, table: Table, me: str | None) -> str:
    own, *reply = event.moves
    asker = table.seats.get(event.side, "nobody")
    said = f"{does(asker, me, 'take')} back the move from {own.origin} to {own.target}"
    if reply:
        said += f", and with it the reply from {reply[0].origin} to {reply[0].target}"
    return f"{said}."


def _adjourned(event: Adjourned, table: Table, me: str | None) -> list[str]:
    match = event.match
    said = [
        f"The match of {match.dwarf} and {match.troll} is put away, and the {table.name} is free."
    ]
    if me not in {match.dwarf, match.troll}:
        return said
    return [*said, f'When you both are at a board, "{Resume()}" goes on with it.']


def _resumed(event: Resumed, table: Table, me: str | None) -> list[str]:
    match = event.match
    said = [
        f"The match of {match.dwarf} and {match.troll} goes on at the {table.name} by the "
        f"{match.rules} rules: {does(match.dwarf, me, 'play')} the dwarfs, "
        f"{does(match.troll, me, 'play')} the trolls."
    ]
    return said if table.running else [*said, next_step(table)]


def _battle_ended(event: BattleEnded, table: Table, me: str | None) -> list[str]:
    match = table.match
    if match is None:
        return ["The battle is over."]
    scores = ", ".join(
        f"{side.plural} ({_holder(table, side, me)}) {event.outcome.score.of(side)}"
        for side in Side
    )
    said = f"The battle is over: {scores}."
    return [why_ended(event, match, me), said, verdict(event.outcome), *so_far(table, match, me)]


def why_ended(event: BattleEnded, match: Match, me: str | None) -> str:
    """Return how a battle came to its end."""
    if event.outcome.ending is Ending.RESIGNATION:
        return f"{does(event.player, me, 'resign')} the battle."
    if event.outcome.ending is Ending.CLAIM:
        away = event.troll if event.player == event.dwarf else event.dwarf
        gone = f"{does(away, me, 'have')} been away for too long"
        return f"{gone}: {does(event.player, me, 'claim')} the battle."
    return reached(event.outcome, match.game)


def _holder(table: Table, side: Side, me: str | None) -> str:
    return named(table, side, me) if side in table.seats else "seat free"


def verdict(outcome: Outcome) -> str:
    """Return who has won a battle."""
    if outcome.winner is None:
        return "It is a draw."
    lead = abs(outcome.score.dwarf - outcome.score.troll)
    return f"The {outcome.winner.plural} win by {lead}."


def so_far(table: Table, match: Match, me: str | None) -> list[str]:
    """Return how a match stands when a battle has ended, and what comes next."""
    if not match.over:
        return [f"The match so far: {points(table, match, me)}.", next_step(table)]
    lead = match.points(Side.DWARF) - match.points(Side.TROLL)
    said = f"The match is over: {points(table, match, me)}."
    if lead == 0:
        return [said, "It is a draw.", next_step(table)]
    side = Side.DWARF if lead > 0 else Side.TROLL
    player = table.seats.get(side)
    wins = does(player, me, "win") if player else f"the {side.plural} win"
    return [said, f"{wins} the match by {abs(lead)}.", next_step(table)]
