"""Texts of this package's refusals and confirmation questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thudmud.english import capitalised
from thudmud.errors import RefusedError
from thudmud.features.playing.moves import OFFERING, Start
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Leave, Practice
from thudmud.features.playing.setup import SetUpMore
from thudmud.game.refusals import Refusal
from thudmud.rules import Ending
from thudmud.views.refusals import RefusalText, add_refusal_texts, holds_both

Details = Mapping[str, Any]


def _seated_elsewhere(_: RefusedError, details: Details, __: str | None) -> str:
    board = details["board"]
    practice = f', or "{Practice(on=board)}" to play both'
    plays = f"You play the {details['side'].plural} at the {board}."
    change = 'To change sides, "leave game" first'
    return f"{plays} {change}{practice if details['may_practise'] else ''}."


def _no_hall(_: RefusedError, details: Details, __: str | None) -> str:
    bots = details["bots"]
    bot = f', and "invite {bots[0].lower()}" has a bot take the other' if bots else ""
    join = 'This server opens no boards for matches. "join" takes a seat at one of those here'
    return f'{join}{bot}. "{Practice()}" gives you both seats.'


def _clock_already(_: RefusedError, details: Details, __: str | None) -> str:
    if details["time"] is None:
        return f"The {details['board']} has no clock anyway."
    return f"The {details['board']} already has a clock of {details['time']}."


def _undo_too_far(_: RefusedError, details: Details, __: str | None) -> str:
    """Return the text for a request to take back more moves than were made."""
    moves = details["moves"]
    least = "undo" if moves == 1 else f"undo {moves}"
    return f'Only {moves} of your moves can be taken back: type "{least}".'


def _already_offered(_: RefusedError, details: Details, __: str | None) -> str:
    player, words = details["player"], OFFERING[details["offer"]](details["board"])
    return f'You\'ve already offered that. {player} agrees by typing "{words}".'


def _opponent_not_there(_: RefusedError, details: Details, __: str | None) -> str:
    players = details["players"]
    absent = f"{players:and} {'is' if len(players) == 1 else 'are'}"
    return f"You both have to be at the {details['board']}, and {absent} not there."


def _which_adjourned(refusal: RefusedError, _: Details, __: str | None) -> str:
    first = Resume(refusal.details["numbers"][0], refusal.details["words"])
    return f'Which one? "{first}" or another number; "games" lists them.'


def _over_before_it_begins(_: RefusedError, details: Details, __: str | None) -> str:
    """Explain why a battle would be over at once; perhaps suggest that the other side moves."""
    ending, side = details["ending"], details["side"]
    told = f"That battle would be over before it began: {_OVER[ending].format(side=side)}."
    begins = f' "{SetUpMore(turn=side.other)}" lets the {side.other.plural} begin.'
    return told + begins if ending is Ending.NO_MOVE else told


_OVER = {
    Ending.NO_MOVE: "the {side.plural} have no move",
    Ending.ROCK_ESCAPED: "the Rock is home",
    Ending.ROCK_CAPTURED: "three trolls stand next to the Rock",
}
"""The reason that no battle can begin from a position, by the ending it would have."""


def _seat_taken(refusal: RefusedError, details: Details, _: str | None) -> str:
    player, side, hint = details["player"], details["side"].plural, details["free"]
    if not hint and refusal.code is Refusal.SEAT_TAKEN:
        hint = "You're welcome to watch."
    plays = "both sides" if holds_both(details["seats"]) else f"the {side}"
    return f"{player} already plays {plays} at the {details['board']}. {hint}".strip()


def _match_under_way(_: RefusedError, details: Details, __: str | None) -> str:
    board = details["board"]
    if holds_both(details["seats"]):
        return f'You already play both sides at the {board}. "{Start(board)}" starts over.'
    return f'You\'re in a match at the {board}. "{Leave(board)}" gets you out of it.'


def _needs_opponent(_: RefusedError, details: Details, __: str | None) -> str:
    practice = f' "{Practice(on=details["board"])}" gives you both seats.'
    both = practice if details["may_practise"] else ""
    return f"A battle needs two players.{both} {details['free']}"


def _no_battle(refusal: RefusedError, details: Details, me: str | None) -> str:
    board, seats = details["board"], details.get("seats", ())
    here = [each.player for each in seats if each.player and each.away_since is None]
    is_over = refusal.code is Refusal.BATTLE_OVER
    hint = details["sits"]
    if me in here and len(here) == len(seats):
        hint = f'"{Start(board)}" begins {"the next" if is_over else "one"}.'
    if is_over:
        return f"The battle at the {board} is over. {hint}"
    return f"There's no battle at the {board} right now. {hint}"


_BATTLES = {1: "the first battle", 2: "the second battle", None: "the practice"}
"""Names of the battle to resign, by its number in the match; None is practice."""


def _sure_resigns(refusal: RefusedError, _: Details, __: str | None) -> str:
    """Ask for confirmation of a resignation, with the score that it would lead to."""
    details = refusal.details
    other = details["player"] or f"the {details['side'].plural}"
    mine, theirs = details["score"]
    which = f"Really resign {_BATTLES[details['battle']]} at the {details['board']}?"
    if details["battle"] is None:
        return f'{which} Type "yes".'
    ends = f"{capitalised(other)} would win it {theirs} to {mine}"
    if details["total"]:
        mine, theirs = details["total"]
        winner = "the match would be drawn" if mine == theirs else "the match"
        winner = "you the match" if mine > theirs else winner
        ends += f", and {winner} {max(mine, theirs)} to {min(mine, theirs)}"
    return f'{which} {ends}. Type "yes".'


def _sure_restarts(refusal: RefusedError, _: Details, __: str | None) -> str:
    """Ask for confirmation of a restart, with the score that it would drop."""
    details = refusal.details
    board, other, (mine, theirs) = details["board"], details["player"], details["score"]
    then = "You'd both lose that score"
    if details["loses"]:
        then = f"If {other} agrees, you give up this rated match, and it ends {mine} to {theirs}"
        return f'Really start over at the {board}? {then}. Type "yes" to ask {other}.'
    stands = _lead(mine, theirs, other)
    return f'Really start over at the {board}? {stands}. {then}. Type "yes" to ask {other}.'


def _sure_leaves(refusal: RefusedError, _: Details, __: str | None) -> str:
    """Ask for confirmation of leaving a match, with the current or the resulting score."""
    details = refusal.details
    board, other, (mine, theirs) = details["board"], details["player"], details["score"]
    if details["loses"]:
        costs = "It would be drawn" if mine == theirs else "You would win it"
        costs = "You would lose it" if theirs > mine else costs
        costs += f" {max(mine, theirs)} to {min(mine, theirs)}"
        return f'Really leave the rated match at the {board}? {costs}. Type "yes".'
    stands = _lead(mine, theirs, other)
    return f'Really leave the match at the {board}? {stands}. Type "yes".'


def _lead(mine: int, theirs: int, other: str) -> str:
    """Return the match score as a main clause without a full stop."""
    if mine == theirs:
        return f"The match stands at {mine} all"
    if mine > theirs:
        return f"You lead {mine} to {theirs}"
    return f"{other} leads {theirs} to {mine}"


_REFUSALS: dict[Refusal, RefusalText] = {
    Refusal.OTHER_PIECE: "The piece on {square} is {piece.phrase}.",
    Refusal.SEAT_IN_MATCH: (
        "A match is under way at the {board}. You can take over the seat if {player} types"
        ' "invite" and your name.'
    ),
    Refusal.NO_SEAT_FREE: "Both seats at the {board} are taken. {sits}",
    Refusal.SAME_SEAT: "You already play the {side.plural} at the {board}.",
    Refusal.NOT_PLAYING: 'You have no game going. "play" finds you one.',
    Refusal.BOARDS_TOO_MANY: (
        'You play at the {boards:and}, which is the limit. "leave game on" and a name makes room,'
        " and so does the end of a match.{free}"
    ),
    Refusal.THEIR_BOARDS_TOO_MANY: "{player} already plays at {most} boards, which is the limit.",
    Refusal.NOT_SEATED: "You aren't playing at the {board}. {sits}",
    Refusal.NOBODY_TO_AGREE: "There's nobody to agree to that. {free}",
    Refusal.HAS_BEGUN: "The battle at the {board} has already begun.",
    Refusal.WHICH_SEAT: (
        'As which side? Type "join game as dwarf on {board}" or "join game as troll on {board}".'
    ),
    Refusal.OPPONENTS_TURN: "It is {player}'s turn ({side.plural}).",
    Refusal.OVER_FOR_GOOD: "The battle at the {board} is over, so no move can be taken back.",
    Refusal.AWAY: "{player} is away, and a battle takes two.",
    Refusal.NOT_AWAY: "{player} is here, so there's nothing to claim.",
    Refusal.NOT_IDLE: (
        "{player} is here, and has another {seconds} to move before you can claim the battle."
    ),
    Refusal.NOT_PUT_OFF: (
        "{player} has another {seconds} to agree to the second battle before you can claim it."
    ),
    Refusal.ASKED_TO_BEGIN: (
        '{player} offers to begin the second battle. To agree, type "start game on {board}".'
    ),
    Refusal.TOO_SOON: "{player} may still come back. You can do that in {seconds}.",
    Refusal.NOBODY_TO_CLAIM_FROM: (
        'There\'s nobody to claim it from. "end game on {board}" ends the battle.'
    ),
    Refusal.CLOCK_RUNS: (
        "The clock does that for you: {player} loses the battle when the time is up."
    ),
    Refusal.OWN_CLOCK_RUNS: (
        "Your clock is running, so you can't adjourn without {player}. Make your move first."
    ),
    Refusal.LEAVES_CLOCK: (
        'The clock is running at the {board}, so you can\'t leave the battle. "resign" gives it'
        ' up, "adjourn" offers to play on another day.'
    ),
    Refusal.NOT_BEGUN_YET: (
        'That battle is already over. "start game on {board}" goes on to the second, "leave game on'
        ' {board}" gives up the match.'
    ),
    Refusal.NO_MATCH: "No match is under way at the {board}.",
    Refusal.UNDO_TOO_OFTEN: (
        "{most:,} moves have been taken back in this battle, which is the limit."
    ),
    Refusal.NO_PLY_YET: "You haven't moved in this battle yet, so there's nothing to take back.",
    Refusal.NOTHING_OFFERED: "There are no offers at the {board}.",
    Refusal.BOARD_IN_USE: "The {board} is in use. Any free board will do.",
    Refusal.NOTHING_ADJOURNED: "You have no adjourned match.",
    Refusal.GOES_ON_ALREADY: (
        "Your match is under way at the {boards:and}. You have none adjourned."
    ),
    Refusal.NOT_YOURS_TO_RESUME: (
        'You have no adjourned match with the number {number}. "games" lists them.'
    ),
    Refusal.RESUME_THERE: 'To resume a match, you have to be at the board: "go to {board}".',
    Refusal.RULES_SEATED_ONLY: "Only its players can choose the rules of the {board}. {sits}",
    Refusal.RULES_RUNNING: (
        "The {board} keeps the {rules} rules during a battle. You can change them after the match."
    ),
    Refusal.RULES_MID_MATCH: (
        "The {board} keeps the {rules} rules for the second battle of the match. "
        "You can change them after the match."
    ),
    Refusal.NO_PLY: 'You have no {verb} now. "moves" lists what you can do.',
    Refusal.NO_PLY_FROM: (
        'The piece on {origin} has no {verb} now. "moves {origin}" lists what it can do.'
    ),
    Refusal.ONLY_PLY: 'There is only one {verb} now: "{example}".',
    Refusal.WHERE_TO: (
        'Where to? Name the square, such as "{example}". "moves {origin}" lists all of them.'
    ),
    Refusal.WHICH_PLY: (
        'Name the square of a piece and the one it goes to, such as "{example}". "moves" lists all'
        " of them."
    ),
    Refusal.NAME_THE_CAPTURES: (
        "More than one capture fits. Name the square where the piece on {origin} ends up, and what"
        ' it captures, such as "{example}".'
    ),
    Refusal.NO_CAPTURE_THERE: (
        'The piece on {origin} has no capture on {target}. "captures" lists what can be captured.'
    ),
    Refusal.NO_HURL_ONTO: (
        'No dwarf can be hurled onto the troll on {target} now. "captures" lists what can be'
        " captured."
    ),
    Refusal.WHICH_CAPTURE: (
        'Name the square of a piece and the one it goes to, such as "{example}". "captures" lists'
        " what can be captured."
    ),
    Refusal.RULES_ALREADY: "The {board} already has the {rules} rules.",
    Refusal.CLOCK_SEATED_ONLY: "Only its players can set the clock of the {board}. {sits}",
    Refusal.CLOCK_RUNNING: (
        "The {board} keeps its clock during a battle. You can change it after the match."
    ),
    Refusal.CLOCK_MID_MATCH: (
        "Both battles of the match at the {board} have the same clock. "
        "You can change it after the match."
    ),
    Refusal.RULES_UNKNOWN: 'There are no "{words}" rules. You can choose {known:or}.',
    Refusal.SETUP_SEATED_ONLY: "Only its players can set up the position at the {board}. {sits}",
    Refusal.SETUP_RUNNING: (
        "The {board} keeps its position during a battle. "
        "You can set up another one after the match."
    ),
    Refusal.SETUP_MID_MATCH: (
        "The second battle at the {board} begins from the same position as the first. "
        "You can set up another one after the match."
    ),
    Refusal.SETUP_ALREADY: "The {board} is already set up like that.",
    Refusal.SETUP_TOO_MANY: (
        "That makes {number} {piece.noun}s, and the {rules} rules allow {most}."
    ),
    Refusal.SETUP_NEEDS_ROCK: (
        'The Rock on {square} has to stay. "setup add rock" and a square puts it elsewhere.'
    ),
    Refusal.ONE_SEAT_EACH: _seated_elsewhere,
    Refusal.NO_HALL: _no_hall,
    Refusal.CLOCK_ALREADY: _clock_already,
    Refusal.ALREADY_OFFERED: _already_offered,
    Refusal.UNDO_TOO_FAR: _undo_too_far,
    Refusal.OPPONENT_NOT_THERE: _opponent_not_there,
    Refusal.WHICH_ADJOURNED: _which_adjourned,
    Refusal.SETUP_OVER: _over_before_it_begins,
    Refusal.SEAT_TAKEN: _seat_taken,
    Refusal.SEAT_NOT_FREE: _seat_taken,
    Refusal.MATCH_UNDER_WAY: _match_under_way,
    Refusal.NEEDS_OPPONENT: _needs_opponent,
    Refusal.NO_BATTLE: _no_battle,
    Refusal.BATTLE_OVER: _no_battle,
    Refusal.SURE_RESIGNS: _sure_resigns,
    Refusal.SURE_RESTARTS: _sure_restarts,
    Refusal.SURE_LEAVES: _sure_leaves,
}
add_refusal_texts(_REFUSALS)
