"""The mistakes that everybody makes about games, numbers and battles.

Owns the sentences for them. Must never know the grammar; `thudmud.commands.place` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thudmud.commands.near import near_miss
from thudmud.commands.place import Finding, Place, is_sound

_ROWS = range(1, 16)
_NAMED_POSITION = re.compile(r"([A-Z]) ?([0-9]{1,4})(?![0-9A-Z_])", re.ASCII | re.IGNORECASE)
_GLUED_POSITIONS = re.compile(
    r"([A-O][0-9]{1,2})[-x>;/]{0,2}([A-O][0-9]{1,2})", re.ASCII | re.IGNORECASE
)
_ENDS_IN_POSITION = re.compile(r"[A-O] ?[0-9]{1,2}$", re.ASCII | re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,4}(?=[ ,]|$)")
_MEANT_NUMBER = re.compile(r"#?0*([0-9]*)[.#]?", re.ASCII)
_MEANT_ROW = re.compile("-?0*([0-9]{0,3})[0-9]*", re.ASCII)
_LETTER = re.compile("[A-Z]", re.ASCII)
_FILLERS = {"is", "are", "the"}
_LONGEST_NUMBER = 9
_AGREEING = {"yes", "y", "yeah", "ok", "okay", "agree", "agreed", "accept", "accepted"}
_HIDDEN = {"register", "password"}


def _split_number(place: Place) -> Finding:
    """``A1 5``: a blank between the digits of a row."""
    position = _ENDS_IN_POSITION.search(place.before)
    digits = _DIGITS.match(place.rest)
    if position is None or digits is None:
        return None
    meant = position[0].upper().replace(" ", "") + digits[0]
    sentence = f'There is a blank inside a number: "{position[0]} {digits[0]}".'
    return sentence, meant if int(meant[1:]) in _ROWS else None


def _no_such_position(place: Place) -> Finding:
    """``I16``, ``Z3``: what looks like a position but lies outside the grid."""
    named = _NAMED_POSITION.match(place.rest)
    if named is None or "POSITION" not in place.terminals:
        return None
    if named[1].upper() > "O":
        return f"There is no column {named[1].upper()}: columns go from A to O.", None
    if int(named[2]) not in _ROWS:
        return f"There is no row {named[2]}: rows go from 1 to 15.", None
    return None


def _glued_positions(place: Place) -> Finding:
    """``a6b6``, ``a6-b6``: two positions in one word."""
    glued = _GLUED_POSITIONS.fullmatch(place.whole_word)
    if glued is None or not (
        "POSITION" in place.terminals or _ENDS_IN_POSITION.search(place.before)
    ):
        return None
    return f"Write {glued[1].upper()} and {glued[2].upper()} apart from each other.", None


def _captures_nothing(place: Place) -> Finding:
    """A shove that does not say what it captures."""
    if (
        place.rest
        or not place.before.lower().startswith("shove ")
        or "_CAPTURING" not in place.terminals
    ):
        return None
    return 'A shove has to capture: add "capturing" and positions such as D8, E8, or "all".', None


def _no_such_number(place: Place) -> Finding:
    """``#12``, ``012``, ``0``, ``12345678901``: what is a number, but not as we write them."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or place.word in {"", "#"} or "NUMBER" not in place.terminals:
        return None
    if not digits[1]:
        return "Numbers begin with 1 here.", None
    if len(digits[1]) > _LONGEST_NUMBER:
        return f"That number is too long: numbers have at most {_LONGEST_NUMBER} digits.", None
    return None, digits[1]


def _no_number(place: Place) -> Finding:
    """``replay``, ``record anna``: a battle that is not said by its number."""
    if place.before.lower() not in {"replay", "record"}:
        return None
    return 'Say which battle, by its number: "history" lists them.', None


def _no_such_row_or_column(place: Place) -> Finding:
    """``scan row 16``, ``scan column p``: what is outside the grid, or the other of the two."""
    word = place.word.upper()
    row, column = _MEANT_ROW.fullmatch(word), _LETTER.fullmatch(word)
    if not word:
        return None
    if "ROW" in place.terminals and row is not None:
        if int(row[1] or 0) in _ROWS:
            return None, row[1]
        return f"There is no row {word[:4]}: rows go from 1 to 15.", None
    if "COLUMN" in place.terminals and column is not None:
        return f"There is no column {word}: columns go from A to O.", None
    if "ROW" in place.terminals and column is not None and word <= "O":
        return f'{word} is a column: type "scan column {word.lower()}".', None
    if "COLUMN" in place.terminals and row is not None and int(row[1] or 0) in _ROWS:
        return f'{row[1]} is a row: type "scan row {row[1]}".', None
    return None


def _moves_of_a_move(place: Place) -> Finding:
    """``moves a6 b6``: the list is asked for, and a move is meant."""
    first, _, rest = place.line.partition(" ")
    if first.lower() != "moves" or not is_sound(f"move {rest}"):
        return None
    return 'To play a move, begin with "move"; "moves" lists what can be played.', None


def _where_is_a_player(place: Place) -> Finding:
    """``where anna``: it finds pieces; and ``where are the trolls`` needs no more words."""
    word = place.word
    if place.before.lower() != "where" or not word.isalpha() or near_miss(word, place.spellings):
        return None
    if word.lower() in _FILLERS:
        return 'Say just "where", and "dwarfs", "trolls", "stone" or "rock".', None
    return '"where" finds dwarfs, trolls, the stone or the rock; to find a player, "look".', None


def _page_without_a_word(place: Place) -> Finding:
    """``history 2``."""
    digits = _MEANT_NUMBER.fullmatch(place.word)
    if digits is None or not digits[1] or "_PAGE" not in place.terminals:
        return None
    return None, f"page {digits[1]}"


def _agreeing(place: Place) -> Finding:
    """``yes``: it might answer several offers, so it answers none."""
    if place.column or place.word.lower().rstrip(".!") not in _AGREEING:
        return None
    return 'To agree to an offer say the same: "undo", "end", "start" or "adjourn".', None


def _playing(place: Place) -> Finding:
    """``play dwarf``: the word is about a replay, and others use it for sitting down."""
    if place.before.lower() != "play":
        return None
    return 'To take a seat, type "join game as dwarf" or "join game as troll".', None


def _said_openly(place: Place) -> Finding:
    """``register swordfish``: a password in the line itself."""
    verb = place.before.lower()
    if verb not in _HIDDEN:
        return None
    return f'Type "{verb}" by itself: you are asked for the rest, and it is not shown.', None


SLIPS: tuple[Callable[[Place], Finding], ...] = (
    _split_number,
    _no_such_position,
    _glued_positions,
    _captures_nothing,
    _no_such_number,
    _no_number,
    _no_such_row_or_column,
    _moves_of_a_move,
    _where_is_a_player,
    _page_without_a_word,
    _agreeing,
    _playing,
    _said_openly,
)
