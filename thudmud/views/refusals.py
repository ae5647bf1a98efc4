"""The texts of refusals by tables, the hall, the rules and the parser.

A refusal is data: a code, squares and details. Each code has its text here, or in the messages of a
feature, see `add_refusal_texts`. Most texts are templates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from thudmud.english import (
    capitalised,
    conjugate,
    join_words,
    pluralize,
    rounded_duration,
    shortened,
)
from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game.clocks import MOST_DAYS, MOST_INCREMENT, MOST_MINUTES
from thudmud.game.command import VERBS
from thudmud.game.options import HEIGHTS, WIDTHS
from thudmud.game.refusals import Mistake, NameProblem, Refusal
from thudmud.game.resolution import Phrase
from thudmud.game.table import Seat
from thudmud.rules import Attempt, Reason, RecordError, Side, Square, Verb
from thudmud.views.words import MOST_BOARDS, because, sentences_without, wrap

if TYPE_CHECKING:
    from thudmud.language import ParseError

RefusalText = str | Callable[[RefusedError, Mapping[str, Any], str | None], str]
"""A template; or a function of the refusal, its details in words, and the reader's name, if known.
``{boards:or}`` joins a list with "or"; without a word, lists get commas. ``{sits}`` names the
players at the board, ``{free}`` explains how to take its free seat."""

_TEXTS: dict[Enum, RefusalText] = {
    Reason.GAME_OVER: "This battle is over.",
    Reason.NOT_YOUR_TURN: "It is the {side.plural}' turn.",
    Reason.OFF_BOARD: "{square} is off the board; that row goes from {first} to {last}.",
    Reason.NO_PIECE: "Nothing stands on {square}.",
    Reason.THUDSTONE_STAYS: "The Thudstone on {square} never moves.",
    Reason.NOT_YOUR_ROCK: "Only the dwarfs move the Rock on {square}.",
    Reason.NO_SUCH_VERB: "There is no {verb} in {rules.title}; you can {verbs:or}.",
    Reason.NOT_THIS_SIDES_VERB: "The {side.plural} can't {verb}; they can {verbs:or}.",
    Reason.SAME_SQUARE: "The piece on {square} has to move to another square.",
    Reason.NOT_STRAIGHT: "{target} isn't in a straight line with {origin}.",
    Reason.BLOCKED: ("The way from {origin} to {target} is blocked at {square} by {piece.phrase}."),
    Reason.TARGET_TAKEN: "{target} is occupied by {piece.phrase}; choose an empty square.",
    Reason.MUST_SHOVE: (
        "Only a shove goes from {origin} to {target}, and has to capture one or more of {choices}."
    ),
    Reason.NOT_IN_FRONT: (
        "You can {verb} only the front {piece.noun} of a line, here the one on {front}."
    ),
    Reason.SHOVE_NEEDS_LINE: (
        "A shove needs a line of {shortest} trolls; there is none straight behind {origin}."
    ),
    Reason.NAMED_TWICE: "{square} is named twice; once is enough.",
    Reason.NO_ENEMY_THERE: "There is no {piece.noun} on {square} to capture.",
    Reason.CAPTURE_NOT_ADJACENT: (
        "{square} isn't next to {target}, where the {piece.noun} would end up."
    ),
    Reason.NO_DWARF_ADJACENT: ("A move to {target} captures nothing: no dwarf is next to it."),
    Reason.MOVE_CAPTURES: (
        "A dwarf that moves captures nothing; a hurl captures the troll it lands on."
    ),
    Reason.HURL_TO_CAPTURE: (
        "A move to {target} captures nothing: dwarfs capture by being hurled."
    ),
    Reason.HURL_CAPTURES: "A hurl captures the troll it lands on, here {target}, and nothing else.",
    Reason.SHOVE_CAPTURES_NOTHING: ("A shove has to capture, and no dwarf is next to {target}."),
    Reason.CAPTURE_UNSAID: (
        'A shove has to capture; add "capturing" and one or more of {choices}, or "all".'
    ),
    Reason.NOT_TRAPPED: "The troll on {square} isn't trapped: no dwarf is behind it on {behind}.",
    Reason.NOT_TRAPPED_AT_EDGE: (
        "The troll on {square} can't be trapped from {target}: the board ends behind it."
    ),
    Reason.NO_TROLL_TRAPPED: ("A move to {target} captures nothing: no troll is trapped there."),
    Reason.ROCK_NOT_ESCORTED: (
        "The Rock moves from next to a dwarf to next to a dwarf; none is next to {square}."
    ),
    Reason.ROCK_CAPTURES: 'The Rock captures nothing; leave "capturing" out.',
    Reason.ROCK_TAKES_NO_PART: (
        "A move to {target} captures nothing: the Rock takes no part in captures."
    ),
    Reason.MUST_TRAMPLE: ('Only a trample goes from {origin} to {target}; add "capturing {path}".'),
    Reason.TRAMPLE_NOT_NEXT: "{square} isn't next to {at}, where the trample has got to.",
    Reason.TRAMPLE_NO_LANDING: (
        "{square} can't be trampled from {at}: {landing} beyond it isn't empty."
    ),
    Reason.TRAMPLE_AT_EDGE: "{square} can't be trampled from {at}: the board ends beyond it.",
    Reason.TRAMPLE_ENDS_ELSEWHERE: "That trample ends on {end}, not on {target}.",
    Reason.NO_TRAMPLE: "A move to {target} captures nothing: no trample ends there.",
    Reason.TRAMPLES_TOO_MANY: (
        "There are too many ways to trample to {target} to try them all; name the dwarfs in the "
        'order trampled, such as "capturing {path}".'
    ),
    Reason.TRAMPLE_AMBIGUOUS: (
        "More than one trample fits; name the dwarfs in order, such as "
        '"capturing {one}" or "capturing {other}".'
    ),
    Mistake.EMPTY_LINE: 'Type a command; "help" lists them.',
    Mistake.LINE_TOO_LONG: "That line is too long: the limit is {most:,} characters.",
    Mistake.BLANK_IN_NUMBER: 'There is a space inside a number: "{typed}".',
    Mistake.NO_SUCH_COLUMN: "There is no column {letter}: columns go from A to O.",
    Mistake.NO_SUCH_ROW: "There is no row {row}: rows go from 1 to 15.",
    Mistake.POSITIONS_TOGETHER: "Put a space between {one} and {other}.",
    Mistake.NUMBERS_BEGIN_WITH_1: "Numbers start at 1 here.",
    Mistake.NUMBER_TOO_LONG: "That number is too long: the limit is {most} digits.",
    Mistake.NO_BATTLE_NUMBER: 'Which battle? Add its number: "history" lists them.',
    Mistake.NO_TOURNAMENT_NUMBER: (
        'Which tournament? Add its number: "tournaments" lists them. To go to a board, type "go to"'
        " and its name."
    ),
    Mistake.PAUSE_FOR_ADJOURN: (
        'To finish your match another day, type "adjourn". "pause tournament" and its number pauses'
        " a tournament."
    ),
    Mistake.NO_SUCH_DAY: "A day is written like 2026-11-20: the year, the month and the day.",
    Mistake.NO_SUCH_TIME_OF_DAY: "A time of day is written like 20:00, from 0:00 to 23:59.",
    Mistake.ROW_FOR_COLUMN: '{row} is a row: type "scan row {row}".',
    Mistake.MOVES_FOR_MOVE: 'To make a move, begin with "move"; "moves" lists the legal ones.',
    Mistake.WHERE_WITH_FILLERS: 'Type just "where" and "dwarfs", "trolls", "stone" or "rock".',
    Mistake.WHERE_FINDS_PIECES: (
        '"where" finds dwarfs, trolls, the stone or the rock; to find a player, type "look".'
    ),
    Mistake.AGREE_BY_THE_SAME: 'To agree to an offer, type "accept".',
    Mistake.PLAY_FOR_JOIN: (
        '"play" by itself finds an opponent. To challenge somebody, type "match" and the name; to'
        ' sit down at a board, "join game as dwarf" or "join game as troll".'
    ),
    Mistake.NO_DIRECTIONS: (
        'There are no directions here. "boards" lists the boards; "go to" and a name takes you to'
        ' one, "go hall" back. In a replay, type "next" or "back".'
    ),
    Mistake.NOTHING_TO_CARRY: (
        'There is nothing to carry here. "look" shows what is around you, "games" lists your'
        " matches."
    ),
    Mistake.CAPTURE_BY_A_MOVE: (
        'To capture, type the move: dwarfs are hurled onto a troll, as in "hurl f1 f6", and trolls'
        ' add what they capture, as in "g7 f7 capturing f6". "captures" lists what can be captured.'
    ),
    Mistake.NO_ABORTING: (
        'No battle is called off here. If you\'re in one, "draw" offers to end it as it stands,'
        ' "start game" to begin again, "adjourn" to finish it another day; "resign" gives it up.'
        ' "withdraw" ends a seek.'
    ),
    Mistake.NO_MORE_TIME: (
        'Nobody can be given more time during a battle. "adjourn" offers to finish it another day;'
        ' "set clock" sets the clock before a match.'
    ),
    Mistake.SEATS_SWAP_THEMSELVES: (
        'You swap seats after the first battle of a match: then "start game" begins the second. To'
        ' choose your side, type "match", a name and "as dwarf" or "as troll".'
    ),
    Mistake.NO_PASSING: (
        'Nobody may pass. "moves" lists what you can do; to end the battle as it stands, type'
        ' "draw". In a lesson or a replay, "next" goes on.'
    ),
    Mistake.NOT_CHESS: 'There is nothing like that in Thud: "help thud" explains the game.',
    Mistake.SAY_IT: 'To speak, type "say" first: "say {word}".',
    Mistake.SAY_OR_SHOUT: (
        '"say" and your words speak to those around you, "shout" to everybody on the server, "tell"'
        " and a name to one player."
    ),
    Mistake.NOTHING_ABOUT_THE_SERVER: (
        'You\'re connected. "who" shows who is here, "news" what is new, and "clock" the time left'
        " in a battle."
    ),
    Mistake.STYLES_OF_BOARDS: (
        '"set board brief" shows a board as one line, "set board full" draws it; "options" lists'
        " the rest."
    ),
    Mistake.NO_CLEARING: 'Only your own program can clear the screen. "look" shows where you are.',
    Mistake.LOGGED_IN_ALREADY: (
        'You\'re in already. To come in under another name, type "quit" first.'
    ),
    Mistake.RATED_IS_A_TERM: (
        'A match is rated if you\'re both registered, unless you add "unrated": "match", a name and'
        ' "unrated". "help ratings" explains it.'
    ),
    Mistake.EMOTE_FOR_SOCIAL: (
        'Only the name of a player can follow. To do it in your own words, type "emote" and what'
        ' you do: "emote grins broadly".'
    ),
    Mistake.CLOCK_WRITTEN_OTHERWISE: (
        'A clock is written as minutes and seconds, such as "10+5", or as days, such as "3 days".'
    ),
    Mistake.NO_SUCH_CLOCK: (
        f"A clock has 1 to {MOST_MINUTES} minutes, plus 0 to {MOST_INCREMENT} seconds a move; or 1"
        f" to {MOST_DAYS} days a move."
    ),
    Mistake.MATCH_FOR_INVITE: (
        "An invitation is to a board, which has its own rules and clock. To choose them, type"
        ' "{typed}".'
    ),
    Mistake.REST_IS_ASKED_FOR: (
        'Type "{verb}" by itself: you\'ll be asked for the rest, and it stays hidden.'
    ),
    Mistake.NO_SUCH_WIDTH: "A screen can be {least} to {most} columns wide.",
    Mistake.NO_SUCH_HEIGHT: (
        'A screen can be {least} to {most} rows high; "options rows off" lets texts run on.'
    ),
    Mistake.NOT_SIX_DIGITS: 'Write # and six digits, 0 to 9 and a to f, such as "#ff8800".',
    Mistake.NO_SUCH_COLOUR_NUMBER: "Colour numbers go from 0 to 255.",
    Mistake.BRIGHT_ALONE: 'After "bright" comes {colours:or}.',
    Mistake.NO_SUCH_COLOUR: (
        'That isn\'t a colour. Name {colours:or}, with or without "bright"; or give a number from 0'
        " to 255, or #rrggbb."
    ),
    Mistake.NO_I_IN_RECORDS: (
        "A setup text has the letters of game records, which skip the I: J is the column after H."
        ' To use the letters of the board, type "setup dwarfs" and squares.'
    ),
    Mistake.NO_I_IN_PLIES: (
        "Game records have no column I: J is the column after H. To use the letters of the board,"
        ' type "move" and two squares.'
    ),
    Mistake.SET_FOR_OPTIONS: 'That is an option: type "{option}".',
    Refusal.NO_SUCH_ORDINAL: 'There is no "{words}", only {boards:and}.',
    Refusal.WHICH_BOARD: 'Which one do you mean by "{words}": {boards:or}?',
    Refusal.NO_BOARD_UP: 'There is no "{words}". The boards are: {boards:and}.',
    Refusal.BOARD_NAME_TAKEN: "There is already a board called {board}.",
    Refusal.BOARD_NAME_UNFIT: (
        '"{words}" can\'t be the name of a board: use at most 30 letters and single spaces, and no'
        " words that commands use."
    ),
    Refusal.SAY_WHICH: 'Which board? Add "on" and its name: {boards:or}.',
    Refusal.NOTHING_USED: (
        '"it" means the board that you used last, and you haven\'t used one yet. The boards are:'
        " {boards:and}."
    ),
    Refusal.NO_SUCH_PLAYER: ('There is no player called "{words}" here. "who" lists the players.'),
    Refusal.WHICH_PLAYER: 'Which player do you mean by "{words}": {players:or}?',
    Refusal.AWAY_FROM: "{player} is away from the {boards:and}.",
    Refusal.NOT_HERE: (
        "{player} isn't here, and was last seen {seconds} ago. To leave them a message, type"
        ' "message", the name and the text.'
    ),
    Refusal.TALK_TOO_FAST: (
        "Not so fast: others have just heard a lot from {whom}. You can go on in {seconds}."
    ),
    Refusal.REPORTS_TOO_FAST: (
        "The operators have just had a lot of reports from {whom}. You can make another in"
        " {seconds}."
    ),
    Refusal.NO_ACCOUNTS: "Names can't be registered here.",
    Refusal.NOTHING_TO_REPEAT: "There is nothing to repeat yet.",
    Refusal.NO_QUESTION: (
        "Programs can only send read-only commands that are answered by facts: {questions:or}."
    ),
    Refusal.OPERATORS_ONLY: 'Only operators can do that. "ignore" hides what a player says.',
    Refusal.STORED_TOO_MUCH: (
        "There has been a great deal of play from your internet address within the hour. Battles"
        " with others go on, and you can begin something new in {seconds}."
    ),
    Refusal.TOO_MUCH_FROM_ADDRESS: (
        "Players who share your internet address have {most} {what} between them, which is the"
        " limit. If you're a club or a class, the operators can raise it."
    ),
    Refusal.IN_TOURNAMENT: (
        "The match at the {board} is part of tournament {number}, so it has to be played to the"
        ' end. "resign" gives up a battle.'
    ),
    Refusal.QUESTION_PASSED: (
        'Things have changed since you were asked, so nothing was done. Type "{line}" again if you'
        " still want that."
    ),
    NameProblem.ASKS_FOR_HELP: (
        'Choose any name of {least} to {most} letters first; then "help" explains the rest.'
    ),
    NameProblem.NO_NAME: (
        "A name is {least} to {most} letters from A to Z, without accents, digits or spaces."
    ),
}


def _reserved_name(_: RefusedError, details: Mapping[str, Any], __: str | None) -> str:
    """Return the text for a name that is a command, or otherwise reserved."""
    word = details["words"]
    if word.lower() in {"guest", "guests"}:
        return "There's no need for a guest login: just give any name."
    if word.lower() in VERBS:
        return f'"{word}" is a command. What name would you like to play under?'
    return f'"{word}" is reserved. Please choose another name.'


_TEXTS[NameProblem.HAS_A_MEANING] = _reserved_name


class _Several(tuple[str, ...]):
    """A list of words. Its format specification is the conjunction."""

    __slots__ = ()

    def __format__(self, conjunction: str) -> str:
        return join_words(self, conjunction) if conjunction else ", ".join(self)


_OF_THE_HALL = {
    Refusal.NO_BOARD_HERE,
    Refusal.NO_SUCH_ORDINAL,
    Refusal.WHICH_BOARD,
    Refusal.SAY_WHICH,
    Refusal.NOTHING_USED,
}
"""Codes whose details list the boards of the hall, possibly a long list."""


def _shorten_boards(boards: Sequence[str]) -> Sequence[str]:
    """Shorten a long list of boards, ending it with how to see the rest."""
    if (more := len(boards) - MOST_BOARDS) <= 0:
        return boards
    return (*boards[:MOST_BOARDS], f'{more} more ("boards" lists all)')


ASKED_BY_DIALOG = frozenset({Refusal.SURE_RESIGNS, Refusal.SURE_RESTARTS, Refusal.SURE_LEAVES})
"""Requests for confirmation. Clients that draw boards get these as facts alone, and ask."""


def add_refusal_texts(texts: Mapping[Any, RefusalText]) -> None:
    """Register the texts of a feature's refusal codes."""
    _TEXTS.update(texts)


def refusal_codes() -> Collection[str]:
    """Return the codes of all refusals, those of loaded features included."""
    return {str(code.value) for code in (*Reason, *Refusal, *Mistake, *_TEXTS)}


def refusal_text(
    refusal: RefusedError,
    me: str | None = None,
    *,
    name: Callable[[Square], str] = str,
    left_out: frozenset[str] = frozenset(),
    clicks: bool = False,
) -> str:
    """Return the text of a refusal.

    Args:
        refusal: the refusal.
        me: the reader's name, if known.
        name: returns the name of a square; game records use other letters.
        left_out: verbs that must not be suggested, see `Hall.left_out`.
        clicks: whether to put the player's own words in curly quotes, so that straight ones have
            only what could be typed, see `thudmud.views.words.without_commands`.
    """
    text = _TEXTS.get(refusal.code)
    if left_out and isinstance(text, str):
        text = " ".join(sentences_without(text, left_out))
    if text is None and isinstance(refusal.code, Mistake):
        sentence = _mistake(refusal.code, refusal.details)
    else:
        details: dict[str, Any] = {
            key: _detail_in_words(value, name) for key, value in refusal.details.items()
        }
        if "player" in details:
            details["who_is"] = _who_is(details, me)
        if "words" in details:
            details["words"] = shortened(str(details["words"]))
        if refusal.code in _OF_THE_HALL:
            details["boards"] = _Several(_shorten_boards(refusal.details["boards"]))
        if "free" in details:
            details["free"] = _free_board(details["free"])
        if details.get("seconds") is not None:
            details["seconds"] = rounded_duration(details["seconds"])
        if "is_shared" in details:
            details["whom"] = "your address" if details["is_shared"] else "you"
        if seats := details.get("seats"):
            board = details["board"]
            details |= {"sits": who_sits(board, seats, me), "free": free_seat(board, seats, me)}
        if isinstance(text, str):
            sentence = text.format(**details)
        else:
            sentence = text(refusal, details, me) if text else _composed(refusal, details)
        sentence = _requoted(sentence, details) if clicks else sentence
    meant = refusal.details.get("suggestion")
    return f'{sentence} Did you mean "{meant}"?' if meant else sentence


def _requoted(sentence: str, details: Mapping[str, Any]) -> str:
    """Put the player's own words into curly quotes."""
    for said in filter(None, map(details.get, ("words", "word", "rules"))):
        sentence = sentence.replace(f'"{said}"', f"“{said}”")
    return sentence


def record_error_text(error: RecordError) -> str:
    """Return the text of an error in a game record, with squares in record notation."""
    if error.refusal is None:
        return str(error)
    why = refusal_text(error.refusal, name=attrgetter("record_name"))
    return f"line {error.line}: {error.problem}: {why}"


def _detail_in_words(value: object, name: Callable[[Square], str]) -> object:
    """Convert squares and lists in a detail to words."""
    if isinstance(value, Square):
        return name(value)
    if isinstance(value, tuple) and not any(isinstance(each, Seat) for each in value):
        return _Several(str(_detail_in_words(each, name)) for each in value)
    return value


def _by_the_rules(code: Reason, details: Mapping[str, Any]) -> str:
    """Return the text of a rule's reason without a template."""
    match code:
        case Reason.NOT_YOUR_PIECE:
            piece, side = capitalised(details["piece"].phrase), details["side"].plural
            return f"{piece} stands on {details['square']}; it is the {side}' turn."
        case Reason.TOO_FAR:
            piece = capitalised(details["piece"].phrase)
            reach = pluralize(details["reach"], "square")
            return f"{piece} moves at most {reach}; {details['target']} is {details['far']} away."
        case Reason.MOVE_ONTO_TROLL:
            return _move_onto_troll(**details)
        case Reason.LINE_TOO_SHORT:
            length, target, far = details["length"], details["target"], details["far"]
            line, reach = pluralize(length, details["piece"].noun), pluralize(length, "square")
            return (
                f"The line of {line} can be {_PARTICIPLES[details['verb']]} at most {reach};"
                f" {target} is {far} away."
            )
        case Reason.LANDS_ON_NO_TROLL:
            holds = f"holds {details['piece'].phrase}" if details["piece"] else "is empty"
            return f"A hurled dwarf has to land on a troll; {details['target']} {holds}."
        case Reason.TOO_MANY_CAPTURES:
            most, choices = pluralize(details["most"], "dwarf"), details["choices"]
            instead = f", or {details['instead']} there instead" if details["instead"] else ""
            return f"A move captures at most {most} here; choose among {choices}{instead}."
        case _:
            raise InvalidValueError(f"no text for {code}")


def _composed(refusal: RefusedError, details: Mapping[str, Any]) -> str:
    """Return the text of a code without a template."""
    match refusal.code:
        case Reason():
            return _by_the_rules(refusal.code, details)
        case Refusal.NO_BOARD_HERE:
            words, boards = refusal.details["words"], refusal.details["boards"]
            hint = _intended_board(words, boards)
            there = f"{details['boards']:and}"
            return f'There is no "{details["words"]}" here.{hint} The boards are: {there}.'
        case Refusal.MUTED:
            ends = f" for another {details['seconds']}" if details["seconds"] else ""
            return f"You are muted{ends}{because(details['why'])}. You can still play."
        case _:
            raise InvalidValueError(f"no text for {refusal}")


def _who_is(details: Mapping[str, Any], me: str | None) -> str:
    return "You are" if details["player"] == me else f"{details['player']} is"


def _move_onto_troll(origin: Square, target: Square, *, is_in_reach: bool) -> str:
    hurl = Attempt(Verb.HURL, origin, target)
    capture = f'type "{hurl}"' if is_in_reach else "hurl a dwarf at it"
    return f"A dwarf moves to empty squares only; to capture the troll on {target}, {capture}."


_PARTICIPLES = {Verb.HURL: "hurled", Verb.SHOVE: "shoved"}


def who_sits(board: str, seats: Sequence[Seat], me: str | None) -> str:
    """Return sentences on the players at a board, and on how the reader can take a free seat."""
    plays = [
        f"{conjugate(seat.player, me, 'play')} the {seat.side.plural}"
        f"{'' if seat.away_since is None else ' (away)'}"
        for seat in seats
        if seat.player is not None
    ]
    if holds_both(seats):
        away = "" if seats[0].away_since is None else " (away)"
        return f"{capitalised(conjugate(str(seats[0].player), me, 'play'))} both sides{away}."
    if not plays:
        joins = (f'"join game as {side.value} on {board}"' for side in Side)
        return f"Both seats are free: {' or '.join(joins)}."
    return f"{capitalised(' and '.join(plays))}. {free_seat(board, seats, me)}".strip()


def holds_both(seats: Sequence[Seat]) -> bool:
    """Whether a single player has all seats of a board."""
    return len({seat.player for seat in seats}) == 1 and seats[0].player is not None


def free_seat(board: str, seats: Sequence[Seat], me: str | None) -> str:
    """Return a sentence on how the first free seat can be taken; "" if none is free."""
    for seat in seats:
        if seat.player is None:
            break
    else:
        return ""
    name, sits = f"The {seat.side.value} seat", [each.player for each in seats if each.player]
    if me in sits:
        if seat.reserved_for:
            return f'{name} is empty: "invite" and a name asks someone to take over.'
        return f'{name} is free: "invite" and a name asks someone to play.'
    if seat.reserved_for not in {None, me}:
        return f"{name} is empty: {join_words(sits)} can invite you to it."
    return f'{name} is free: "join game as {seat.side.value} on {board}".'


def _free_board(board: str | None) -> str:
    """Return a space and a sentence on how to sit down at a free board; "" without a board."""
    return f' The {board} is free: "join game as dwarf on {board}".' if board else ""


def _intended_board(said: str, boards: Iterable[str]) -> str:
    """Return a space and a suggestion for words that match no board; "" if there is none."""
    from thudmud.language import near_miss  # noqa: PLC0415  (it brings all of lark along)

    words = {word for board in boards for word in board.lower().split()} | {
        "capturing",
        "level",
        "hall",
        "game",
    }
    for word in Phrase.parse(said).words:
        meant = near_miss(word, words)
        if meant and meant != word:
            return f' Did you mean "{meant}"?'
    return ""


# Parse errors.

_GAP = "..."
_LONGEST_QUOTE = 30


def explain(error: ParseError, width: int, *, pointing: bool = True) -> list[str]:
    """Explain a parse error in rows of fewer than `width` columns (20 or more).

    The first rows are the line, or part of a long one, and a caret below the unexpected word. Then
    come the words understood, those expected, and a suggestion. A line of one word is quoted in the
    sentence, so that it isn't repeated, and an empty one gets no caret either.

    Args:
        error: the parse error.
        width: the width of the screen, in columns.
        pointing: whether to show the caret; it is useless to a screen reader.
    """
    is_whole = error.word == error.line
    echo = _echo(error, width) if pointing and not is_whole else []
    return echo + wrap(refusal_text(error), width, private=True)


def _echo(error: ParseError, width: int) -> list[str]:
    line, column = _cells(error.line), len(_cells(error.line[: error.column]))
    before, after = "", ""
    if len(line) + len("^") >= width:
        room = width - 1 - 2 * len(_GAP)
        # Show a window of a long line, with the word at fault near its middle if possible.
        start = max(0, min(column - room // 2, len(line) + len("^") - room))
        before = _GAP if start else ""
        after = _GAP if start + room < len(line) else ""
        # A character two columns wide may be cut in half at either end; put a blank in its place.
        halved = line[start + room : start + room + 1] == [""]
        line, column = [*line[start : start + room]], column - start
        line[0] = line[0] or " "
        line[-1] = " " if halved else line[-1]
    underlined = max(1, min(len(_cells(error.word)), len(line) - column))
    return [before + "".join(line) + after, " " * (len(before) + column) + "^" * underlined]


def _cells(text: str) -> Sequence[str]:
    """Split a string into columns. A character two columns wide is followed by an empty cell."""
    if text.isascii() and text.isprintable():
        return text
    import wcwidth  # noqa: PLC0415  (not needed for ASCII text)

    cells: list[str] = []
    for character in wcwidth.iter_graphemes(text):
        cells += [character, *[""] * (wcwidth.width(character) - 1)]
    return cells


_KINDS = {
    "<position>": "a position such as A6",
    "<object>": "the name of a board",
    "<player>": "the name of a player",
    "<level>": "the number or the name of a level",
    "<number>": "a number such as 12",
    "<day>": "a day such as 2026-11-20",
    "<ply>": "the numbers of a battle and a move such as 12 34",
    "<row>": "a row such as 5",
    "<column>": "a column such as F",
    "<clock>": "a clock such as 10+5",
    "<time>": "a time such as 10 minutes, 2 hours or a week",
    "<rounds>": "a number of rounds such as 5 rounds",
    "<title>": 'a title in quotes such as "Thursday"',
    "<hour>": "a time of the day such as 20:00",
    "<word>": "a word of 4 to 40 letters and digits",
    "<address>": "an address such as 203.0.113.7",
    "<mail>": "a mail address",
    "<code>": "the code of six digits",
    "<hours>": "hours such as 22 to 7",
    "<url>": "a URL",
    "<key>": "a key",
    "<network>": "a network such as 203.0.113.0/24",
    "<width>": f"a number from {WIDTHS[0]} to {WIDTHS[-1]}",
    "<height>": f"a number from {HEIGHTS[0]} to {HEIGHTS[-1]}",
    "<colour>": "a colour such as red",
    "<piece>": "a piece and its square such as dA6",
    "<record>": "a move as game records have it, such as dA6-B6",
    "<text>": "what you want to say",
    "<deed>": "what you do",
    ",": "a comma",
    "<end>": "the end of the line",
}
"""Descriptions of expected tokens other than words."""


def _mistake(code: Mistake, details: Mapping[str, Any]) -> str:
    """Return the text of a mistake without a template."""
    word = _quote(details["word"])
    match code:
        case Mistake.UNKNOWN_COMMAND:
            known = ' "help" lists the commands, "syntax" shows how to type them.'
            return f"There is no command {word}." + ("" if details["suggestion"] else known)
        case Mistake.UNEXPECTED_WORD | Mistake.MISSING_WORD:
            understood = _quote_end(details["line"][: details["column"]].strip())
            expected = join_words(
                (_KINDS.get(each, f'"{each}"') for each in details["expected"]), "or"
            )
            if code is Mistake.MISSING_WORD:
                return f"After {understood} something is missing: {expected}."
            return f"After {understood} comes {expected}, not {word}."
        case Mistake.AS_IN_RECORDS:
            letters = ", and their columns skip the letter I" if details["is_lettered"] else ""
            return f'Game records are written like that{letters}. Here, type "{details["typed"]}".'
        case Mistake.COLUMN_FOR_ROW:
            letter = details["letter"]
            return f'{letter} is a column: type "scan column {letter.lower()}".'
        case _:
            raise InvalidValueError(f"no text for {code}")


def _quote(word: str) -> str:
    return f'"{word}"' if len(word) <= _LONGEST_QUOTE else f'"{word[:_LONGEST_QUOTE]}{_GAP}"'


def _quote_end(text: str) -> str:
    """Quote the last words of a string, or all of a short one."""
    if len(text) <= _LONGEST_QUOTE:
        return f'"{text}"'
    _, _, words = text[-_LONGEST_QUOTE:].partition(" ")
    return f'"{_GAP} {words or text[-_LONGEST_QUOTE:]}"'
