"""What happened at a board, in a sentence for one reader; and the phrases that sentences share.

A sentence is made of the event and of the table as it stood right after, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from thudmud.english import capitalised, counted, does, lasting, listed
from thudmud.play.archive import Battle, State
from thudmud.play.commands import Adjourn, Claim, End, Join, No, Resume, Start
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
from thudmud.play.table import Table
from thudmud.rules import Ending, Game, Move, Outcome, Piece, Side, Verb
from thudmud.rules.board import Direction
from thudmud.views.boards import GridLayout, grid
from thudmud.views.refusals import OFFER_WORDS, free_seat, who_sits
from thudmud.views.view import Display
from thudmud.views.words import day

ENDINGS = {
    Ending.AGREEMENT: "Both players agree to end the battle.",
    Ending.QUIET: "Nothing was captured for {plies}.",
    Ending.DESERTION: "There is nobody to play on against.",
    Ending.ROCK_ESCAPED: "The Rock is home.",
    Ending.ROCK_CAPTURED: "Three trolls stand next to the Rock.",
}

COMPASS = {
    "north": Direction(0, -1),
    "northeast": Direction(1, -1),
    "east": Direction(1, 0),
    "southeast": Direction(1, 1),
    "south": Direction(0, 1),
    "southwest": Direction(-1, 1),
    "west": Direction(-1, 0),
    "northwest": Direction(-1, -1),
}
"""The directions by name, clockwise; north is towards row 1, whichever way a board is drawn."""


def game_at(table: Table) -> Game:
    """Return the battle on the board; before the first, one as it would begin."""
    return table.game or Game.start(table.ruleset)


def turn(table: Table, me: str | None) -> str:
    """Return whose turn it is; nothing when no battle is being played."""
    if not table.running or table.game is None:
        return ""
    side = table.game.position.turn
    player = table.seats.get(side)
    if player is None:
        return f"It is the {side.plural}' turn; their seat is free."
    if player == me:
        return "It is your turn."
    away = f"; {player} is away" if side in table.away else ""
    return f"It is {player}'s turn ({side.plural}){away}."


def waiting(table: Table, me: str | None) -> str:
    """Return what could be done at a table where no battle is being played."""
    sits = who_sits(table.name, table.seating, me)
    return f"{sits} {next_step(table)}" if table.full else sits


def next_step(table: Table) -> str:
    """Return how to go on when a battle is over or none has begun."""
    if not table.full:
        return free_seat(table.name, table.seating)
    battle = "battle"
    if table.match:
        battle = "second battle, with the seats swapped" if table.half_played else "next match"
    begins = f'"{Start(table.name)}" begins the {battle}.'
    away = [table.seats[side] for side in table.away]
    if not away:
        return begins
    return f"When {listed(away)} {'is' if len(away) == 1 else 'are'} back, {begins}"


def points(table: Table, match: Match, me: str | None) -> str:
    """Return the points of the match so far by name, such as "you 31, Bert 24"."""
    return ", ".join(f"{named(table, side, me)} {match.points(side)}" for side in Side)


def played(move: Move, who: str, me: str | None) -> str:
    """Return the ply ``move`` of the player ``who``, as "You hurl the dwarf from F1 to F6, ..."."""
    verb, way = does(who, me, move.verb.value), f"from {move.origin} to {move.target}"
    if move.trample:
        victims = _victims(move, Piece.DWARF)
        return f"{does(who, me, 'send')} the troll {way}, trampling {victims}."
    start = f"{verb} the {move.piece.noun} {way}"
    if move.verb is Verb.HURL:
        return f"{start}, felling the troll."
    if not move.captures:
        return f"{start}."
    prey = Piece.TROLL if move.piece is Piece.DWARF else Piece.DWARF
    return f"{start}, capturing {_victims(move, prey)}."


def _victims(move: Move, prey: Piece) -> str:
    noun = prey.noun + ("s" if len(move.captures) > 1 else "")
    return f"the {noun} at {listed(move.captures)}"


def last_ply(table: Table, me: str | None) -> str:
    """Return the last ply of the battle on the board, with its number, as a sentence."""
    match = table.match
    if match is None:
        return "No battle has begun."
    moves = match.game.moves
    if not moves:
        return "No ply has been played yet."
    who = match.troll if match.game.position.turn is Side.DWARF else match.dwarf
    return f"Ply {len(moves)}: {played(moves[-1], who, me)}"


def named(table: Table, side: Side, me: str | None) -> str:
    """Return who plays ``side``, as within a sentence."""
    player = table.seats.get(side, "the free seat")
    return "you" if player == me else player


def quiet_for(game: Game) -> str:
    """Return for how long nothing has been captured."""
    return counted(game.quiet_plies, "ply")


def reached(outcome: Outcome, game: Game) -> str:
    """Return how the battle ``game`` came to its ``outcome``; not for one that was resigned."""
    if outcome.ending is Ending.NO_MOVE:
        return f"The {game.position.turn.plural} have no move."
    return ENDINGS[outcome.ending].format(plies=quiet_for(game))


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
        case Cleared(player=""):
            return [f"the {table.name} is cleared."]
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


UNKNOWN = "somebody"

KEPT_ENDINGS = {
    Ending.AGREEMENT: "ended by agreement",
    Ending.QUIET: "ended for want of captures",
    Ending.NO_MOVE: "ended without a move left",
    Ending.RESIGNATION: "{loser} resigned",
    Ending.ROCK_ESCAPED: "the Rock came home",
    Ending.ROCK_CAPTURED: "the Rock was surrounded",
    Ending.DESERTION: "ended alone",
    Ending.CLAIM: "claimed, {loser} being away",
}

STATES = {
    State.RUNNING: "still running",
    State.ADJOURNED: "adjourned",
    State.UNFINISHED: "never finished",
    State.ENDED: "its end is not known",
}
"""What is said of a battle without an outcome."""


def entry(battle: Battle) -> str:
    """Return what a list says of a battle."""
    plies = [] if battle.plies is None else [counted(battle.plies, "ply")]
    facts = [battle.rules, *plies, end(battle), *(["imported"] if battle.imported else [])]
    return f"{day(battle.at)}: {sides(battle)}; {', '.join(facts)}"


def sides(battle: Battle) -> str:
    """Return who played what, with the score if there is one: "Anna (dwarfs) 31, ..."."""
    return ", ".join(f"{_who(battle, side)} ({side.plural}){_count(battle, side)}" for side in Side)


def end(battle: Battle) -> str:
    """Return how a battle ended, or how far it has come, as a part of a sentence."""
    if battle.outcome is None:
        return STATES[battle.state]
    return KEPT_ENDINGS[battle.outcome.ending].format(loser=_loser(battle, battle.outcome))


def _who(battle: Battle, side: Side) -> str:
    return battle.player(side) or UNKNOWN


def _count(battle: Battle, side: Side) -> str:
    return f" {battle.outcome.score.of(side)}" if battle.outcome else ""


def _loser(battle: Battle, outcome: Outcome) -> str:
    winner = outcome.winner
    return _who(battle, winner.other) if winner else UNKNOWN


def summary(game: Game) -> list[str]:
    """Return the board of ``game``, the score, and how it ended or whose turn it is."""
    last = game.moves[-1] if game.moves else None
    plies = counted(len(game.moves), "ply")
    score = game.score
    return [
        *(row.rstrip() for row in grid(game.position, last, Display(), GridLayout.SPACED)),
        f"{capitalised(game.ruleset.name)} rules, {plies}",
        f"Score: dwarfs {score.dwarf}, trolls {score.troll}; {_lead(game)}.",
        _end(game),
    ]


def _lead(game: Game) -> str:
    difference = game.score.dwarf - game.score.troll
    if difference == 0:
        return "even"
    side = Side.DWARF if difference > 0 else Side.TROLL
    return f"the {side.plural} {'win' if game.outcome else 'lead'} by {abs(difference)}"


def _end(game: Game) -> str:
    if game.outcome is None:
        return f"The {game.position.turn.plural} are to move."
    return f"{_reached(game.outcome, game)} The battle is over."


def _reached(outcome: Outcome, game: Game) -> str:
    if outcome.winner:
        winner, loser = outcome.winner.plural, outcome.winner.other.plural
        if outcome.ending is Ending.RESIGNATION:
            return f"The {loser} have resigned."
        if outcome.ending is Ending.CLAIM:
            return f"The {winner} have claimed it, the {loser} being away."
    return reached(outcome, game)
