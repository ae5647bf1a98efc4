"""Reasons for and against a ply, in words."""

from __future__ import annotations

from thudmud.english import pluralize
from thudmud.game.advice import Advice, Because, Merit
from thudmud.rules import Attempt, Ending, Move, Piece, Verb
from thudmud.values import replace
from thudmud.views.words import victims_phrase

_CLAUSES = {
    Merit.WINS: "it wins the battle",
    Merit.STOPS: "it keeps the {theirs.plural} from winning next",
    Merit.CAPTURES: "it captures {their_pieces}",
    Merit.SAVES: "it saves {saved}",
    Merit.WINS_NEXT: "it threatens to win next",
    Merit.THREATENS: "it threatens {threat}",
    Merit.NEARS: "it brings you closer to winning",
    Merit.BLOCKS: "it keeps the {theirs.plural} from getting closer to winning",
    Merit.GATHERS: "it brings the {mine.value} next to {beside}",
}
_OF_GOALS: dict[tuple[Merit, Ending | None], str] = {
    (Merit.NEARS, Ending.ROCK_ESCAPED): "it brings the Rock closer to home",
    (Merit.NEARS, Ending.ROCK_CAPTURED): "it brings another troll next to the Rock",
    (Merit.BLOCKS, Ending.ROCK_ESCAPED): "it bars the Rock's way home",
    (Merit.BLOCKS, Ending.ROCK_CAPTURED): "it keeps trolls away from the Rock",
}
"""Wordings for reasons about a particular goal."""

_NAMED = 2
"""The maximum number of pieces to name by their squares."""

_ANSWERS = (Merit.SAFE, Merit.LOSES, Merit.REGAINS)
"""Reasons about the opponent's reply."""


def because(advice: Advice) -> str:
    """Return the reasons for and against a ply, as part of a sentence."""
    first, *others = clauses(advice)
    why = ", and ".join([first, *(each.removeprefix("it ") for each in others)])
    against = danger(advice)
    return f"{why}, but {against}" if against else why


def shortest_attempt(move: Move) -> Attempt:
    """Return the shortest command that plays a move."""
    attempt = move.attempt()
    if move.verb is Verb.HURL or not move.captures:
        return replace(attempt, captures=None)
    return attempt


def short_command(move: Move, board: str | None = None) -> str:
    """Return the shortest line that a player can type to play a move: ``o10 g2``.

    Args:
        move: the move.
        board: the board to name; None for the one where the player is.
    """
    attempt = shortest_attempt(move)
    verb = "" if attempt.verb is Verb.MOVE else f"{attempt.verb.value} "
    _, capturing, captures = str(attempt).partition(" capturing ")
    on = f" on {board}" if board else ""
    squares = f"{verb}{attempt.origin} {attempt.target}".lower()
    return f"{squares}{on}{capturing}{captures.lower()}"


def clauses(advice: Advice) -> list[str]:
    """Return the main reasons for a ply as clauses, such as ``it costs you nothing``.

    There is one if the ply also has a disadvantage, else up to two.
    """
    return merits_of(advice) or ["no other move seems better"]


def merits_of(advice: Advice) -> list[str]:
    """Return the same clauses; none if nothing in particular speaks for the ply."""
    merits = [each.merit for each in advice.reasons]
    told = [_clause(each, advice) for each in advice.reasons if each.merit not in _ANSWERS]
    if Merit.SAFE in merits and Merit.CAPTURES in merits:
        told.insert(merits.index(Merit.CAPTURES) + 1, "it costs you nothing")
    elif Merit.SAFE in merits:
        told.append(f"it keeps all your {advice.side.plural} safe")
    return told[: 1 if Merit.LOSES in merits else 2]


def danger(advice: Advice, adverb: str = "then") -> str:
    """Return the danger of a ply as a clause; "" if there is none.

    Args:
        advice: the ply and its reasons.
        adverb: when the danger exists: ``then``, or ``now`` if the ply has been played.
    """
    known = {each.merit: each for each in advice.reasons}
    if Merit.LOSES not in known:
        return ""
    own, others = (Piece.of(side) for side in (advice.side, advice.side.other))
    loss = known[Merit.LOSES]
    adverb = "still" if Merit.SAVES in known else adverb
    loses = f"the {others.noun}s can {adverb} capture {_victims(loss, own)}"
    if Merit.REGAINS in known:
        return f"{loses}, and you {some(known[Merit.REGAINS].number, others)} after that"
    return loses


def _clause(because: Because, advice: Advice) -> str:
    """Return a reason for a ply as a clause."""
    mine, theirs = advice.side, advice.side.other
    if told := _OF_GOALS.get((because.merit, because.goal)):
        return told
    return _CLAUSES[because.merit].format(
        mine=mine,
        theirs=theirs,
        saved=_victims(because, Piece.of(mine)),
        threat=_threat(because, Piece.of(theirs)),
        their_pieces=some(because.number, Piece.of(theirs)),
        beside="another" if because.number == 1 else f"{because.number} others",
    )


def _threat(because: Because, theirs: Piece) -> str:
    """Return what a ply threatens: the pieces, and the hurl that would capture one."""
    capture, victims = because.capture, _victims(because, theirs)
    if capture and capture.verb is Verb.HURL:
        return f"to hurl {capture.origin} at {victims}"
    return victims if capture and because.number <= _NAMED else f"to capture {victims}"


def _victims(because: Because, piece: Piece) -> str:
    """Return the pieces that a reason is about: by their squares if they are few, else by number.

    Of a capture that is only made smaller, nobody can say which pieces are saved.
    """
    capture, number = because.capture, because.number
    if capture is None or len(capture.captures) != number:
        return some(number, piece)
    if number > _NAMED:
        return f"{some(number, piece)} by {capture.origin} to {capture.target}"
    return victims_phrase(capture, piece)


def some(number: int, piece: Piece) -> str:
    """Return a number of pieces in words."""
    return piece.phrase if number == 1 else pluralize(number, piece.noun)
