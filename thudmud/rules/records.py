"""Game records: battles as text, in the notation that Thud programs exchange.

A record is bare or has headers. A bare record is a line with the setup, then one ply a line (see
`thudmud.rules.notation`). It lacks the rules, and the outcome unless a ply ended the battle. The
side of the first ply moves first; without a ply, the rules decide. Headers add the missing facts,
one a line before the setup, in the form of chess programs (tag pairs, as in PGN)::

    [Rules "koom valley"]
    [Dwarf "Anna"]
    [Troll "Bert"]
    [Date "2026-11-22"]
    [Result "0-1"]
    [Winner "troll"]
    [Ending "resignation"]

``Result`` is the score of the dwarfs and the trolls, ``Winner`` a side or ``none`` for a draw,
``Ending`` the value of an `Ending`; all three are present if the battle has ended. ``Turn`` is the
first side to move, if no ply shows it and it differs from the ruleset's. ``Event`` and ``Round``
are the tournament and the round that the battle was played in. Other headers are ignored.

A line that begins with a semicolon is a comment on the ply above it, or on the opening: the author,
if known, and the text. No ply, setup or header begins with a semicolon, and programs that read
records may skip these lines::

    dA6-B6
    ; Anna: I should have looked at G7.

A battle with a clock has a header with the time control. Below each ply, a comment without an
author has the time taken, in minutes and seconds::

    [Clock "10+5"]

    dA6-B6
    ; time 0:07.4

A text can have several records, one after the other: a header, or another setup, after a setup
begins the next.

This module opens no files, and leaves checking plies to the ruleset.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.immutable import immutable
from thudmud.rules.game import MOST_PLIES, Game
from thudmud.rules.moves import Side
from thudmud.rules.notation import read_setup, write_setup
from thudmud.rules.refusals import IllegalMoveError
from thudmud.rules.rulesets import RULESETS, Ruleset
from thudmud.rules.scoring import Ending, Outcome, Score

_MARK = "\ufeff"  # the byte order mark that some editors write at the beginning of a file
_HEADER = re.compile(r'\[ *([A-Za-z][A-Za-z0-9_:+#=-]*) +"((?:[^"\\]|\\.)*)" *\]')
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", re.ASCII)
_PGN_DATE = re.compile(r"([0-9?]{4})\.([0-9?]{2})\.([0-9?]{2})", re.ASCII)
"""A date of PGN, in which unknown digits are question marks: ``2026.11.??``."""

_RESULT = re.compile(r"([0-9]{1,4})-([0-9]{1,4})", re.ASCII)
_NOBODY = "none"


_TIME = re.compile(r"; time (?:([0-9]{1,4}):)?([0-9]{1,2}):([0-5][0-9])\.([0-9])", re.ASCII)
_SETUP = re.compile(r"[dTR] ?\w+( *, *[dTR] ?\w+)+", re.ASCII)
"""A setup of two pieces or more. A ply has no comma."""

_COMMENT = re.compile(r";\s*(?:([^\s:]*):\s+)?(.*)")


@immutable
@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a ply. ``str(comment)`` is its line in a record.

    Attributes:
        ply: the number of the ply, from 1; 0 for the opening.
        player: the author's name, without blanks and colons; "" if unknown.
        text: the comment, on one line.

    Raises:
        InvalidValueError: the string isn't one line, or parsing the line wouldn't return the same
            name and text.
    """

    ply: int
    player: str
    text: str

    def __post_init__(self) -> None:
        read = _COMMENT.fullmatch(str(self))
        is_a_line = str(self).splitlines() == [str(self).rstrip()] and bool(self.text)
        is_read_back = read is not None and read.groups() == (self.player, self.text)
        if self.ply < 0 or not is_a_line or not is_read_back:
            raise InvalidValueError(f"invalid comment in a record: {self.text!r:.50}")

    def __str__(self) -> str:
        return f"; {self.player}: {self.text}"


class RecordError(ThudmudError, ValueError):
    """Raised for a record that can't be parsed.

    Attributes:
        line: the number of the line, from 1.
        problem: the problem with the line; just the ply, if the rules refuse it.
        refusal: the refusal of an illegal ply; None for other problems.
    """

    def __init__(self, line: int, problem: str, refusal: IllegalMoveError | None = None) -> None:
        super().__init__(line, problem, refusal)
        self.line = line
        self.problem = problem
        self.refusal = refusal

    def __str__(self) -> str:
        refusal = f": {self.refusal}" if self.refusal else ""
        return f"line {self.line}: {self.problem}{refusal}"


@immutable
@dataclass(frozen=True, slots=True)
class Record:
    """A battle and the other facts of a record. ``str(record)`` is the record with its headers.

    Attributes:
        game: the battle.
        dwarf: the player of the dwarfs; "" if unknown.
        troll: the player of the trolls; "" if unknown.
        date: the day, as ``2026-11-22``; "" if unknown.
        comments: the comments on plies, in order.
        clock: the time control, as ``10+5`` or ``3 days``; "" if unknown.
        spent: the seconds taken by each ply; empty if unknown.
        event: the tournament's name; "" outside tournaments.
        round: the tournament's round; "" outside tournaments.

    Raises:
        InvalidValueError: a name, the clock, the event or the round isn't one line, the date has
            another form, or a comment or a time belongs to no ply.
    """

    game: Game
    dwarf: str = ""
    troll: str = ""
    date: str = ""
    comments: tuple[Comment, ...] = ()
    clock: str = ""
    spent: tuple[float, ...] = ()
    event: str = ""
    round: str = ""

    def __post_init__(self) -> None:
        _require_annotations(self.game, self.comments, self.spent)
        for name in (self.dwarf, self.troll, self.clock, self.event, self.round):
            if name and not name.isprintable():
                raise InvalidValueError(f"expected one printable line, got {name!r}")
        if self.date and not _DATE.fullmatch(self.date):
            raise InvalidValueError(f"expected a date such as 2026-11-22, got {self.date!r}")

    def __str__(self) -> str:
        outcome = self.game.outcome
        headers = {
            "Event": self.event,
            "Round": self.round,
            "Rules": self.game.ruleset.name,
            "Dwarf": self.dwarf,
            "Troll": self.troll,
            "Date": self.date,
            "Clock": self.clock,
        }
        if outcome is not None:
            headers["Result"] = f"{outcome.score.dwarf}-{outcome.score.troll}"
            headers["Winner"] = _NOBODY if outcome.winner is None else outcome.winner.value
            headers["Ending"] = outcome.ending.value
        lines = [f'[{name} "{_escaped(value)}"]' for name, value in headers.items() if value]
        return "\n".join([*lines, write_record(self.game, self.comments, self.spent)])


def _require_annotations(game: Game, comments: Sequence[Comment], spent: Sequence[float]) -> None:
    """Raise InvalidValueError unless all comments and times belong to plies of the battle."""
    numbers, plies = [each.ply for each in comments], len(game.moves)
    if numbers != sorted(numbers) or max(numbers, default=0) > plies:
        raise InvalidValueError(f"expected comments on plies 0 to {plies} in order, got {numbers}")
    if spent and (len(spent) != plies or min(spent) < 0):
        raise InvalidValueError(f"expected {plies} non-negative times, got {len(spent)}")


def write_record(game: Game, comments: Iterable[Comment] = (), spent: Iterable[float] = ()) -> str:
    """Return the bare record of a battle: its setup, the plies with their times, and the comments.

    A header has the side to move, if the battle has no plies and doesn't begin with the side that
    the ruleset says.

    Raises:
        InvalidValueError: a comment is on a ply that the battle doesn't have, or some plies have no
            time.
    """
    comments, spent = tuple(comments), tuple(spent)
    _require_annotations(game, comments, spent)
    first = game.initial_position.turn
    untold = first is not game.ruleset.initial_position.turn and not game.moves
    headers = [f'[Turn "{first.value}"]'] if untold else []
    lines = [[write_setup(game.initial_position)], *([str(move)] for move in game.moves)]
    for ply, seconds in enumerate(spent, 1):
        lines[ply].append(f"; time {_format_seconds(seconds)}")
    for comment in comments:
        lines[comment.ply].append(str(comment))
    return "\n".join([*headers, *chain.from_iterable(lines), ""])


def _format_seconds(seconds: float) -> str:
    """Format seconds as ``0:07.4``, or ``1:00:07.4``."""
    minutes, tenths = divmod(round(10 * seconds), 600)
    hours, minutes = divmod(minutes, 60)
    rest = f"{tenths // 10:02}.{tenths % 10}"
    return f"{hours}:{minutes:02}:{rest}" if hours else f"{minutes}:{rest}"


def read_record(
    text: str, ruleset: Ruleset | None = None, *, default: Ruleset | None = None
) -> Record:
    """Parse the only record of a text; the rules check every ply.

    Blank lines, and a byte order mark at the beginning, are skipped. The battle has ended if its
    last ply or a header says so. Dates are read as in PGN, too: ``2026.11.22`` is ``2026-11-22``,
    and a date with question marks is unknown.

    Args:
        text: the record, with or without headers.
        ruleset: the rules, which the headers must not contradict; None to take them from the
            headers.
        default: the rules if neither ``ruleset`` nor a header names any.

    Raises:
        RecordError: a line is wrong, or there are several records, which `read_records` reads.
    """
    first, *others = _split_records(text)
    if others:
        raise RecordError(
            others[0][0][0],
            f"expected one record, got {1 + len(others)}, of which the second begins here",
        )
    return _read_lines(first, ruleset, default)


def read_records(
    text: str, ruleset: Ruleset | None = None, *, default: Ruleset | None = None
) -> Iterator[Record]:
    """Yield each record of a text with several, read as by `read_record`.

    A record is read when it is asked for, so those before a wrong line can be used. A blank text
    has no records.

    Args:
        text: the records, one after the other.
        ruleset: the rules of all, which the headers must not contradict; None to take them from the
            headers.
        default: the rules of records for which neither ``ruleset`` nor a header names any.

    Raises:
        RecordError: a line is wrong; its number counts from the beginning of the text.
    """
    for lines in _split_records(text):
        if lines:
            yield _read_lines(lines, ruleset, default)


_Lines = list[tuple[int, str]]
"""Lines that aren't blank, each with its number."""


def _split_records(text: str) -> list[_Lines]:
    """Return the lines of each record; of one without lines for a blank text."""
    records: list[_Lines] = [[]]
    has_setup = False
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip().removeprefix(_MARK).strip()  # of each file, where files were joined
        if not line:
            continue
        is_header = line.startswith("[")
        if has_setup and (is_header or _SETUP.fullmatch(line)):
            records.append([])
            has_setup = False
        has_setup = has_setup or not (is_header or line.startswith(";"))
        records[-1].append((number, line))
    return records


def _read_lines(lines: _Lines, ruleset: Ruleset | None, default: Ruleset | None) -> Record:
    """Return the record of its lines."""
    start = lines[0][0] if lines else 1
    lines, comments, spent = _split_comments(lines)
    headers: dict[str, tuple[int, str]] = {}
    while lines and lines[0][1].startswith("["):
        number, line = lines.pop(0)
        header = _HEADER.fullmatch(line)
        if header is None:
            raise RecordError(number, f'expected a header such as [Rules "classic"], got {line}')
        headers[header[1].capitalize()] = number, re.sub(r"\\(.)", r"\1", header[2])
    if not lines:
        raise RecordError(start, "missing setup line, such as dF1,dG1,...,RH8")
    rules = _ruleset(headers, ruleset, default, lines[0][0])
    game = _with_outcome(_replay(lines, rules, headers), headers)
    times = tuple(spent[ply] for ply in sorted(spent)) if len(spent) == len(game.moves) else ()
    record = Record(game, comments=comments, spent=times)
    for name in ("Dwarf", "Troll", "Date", "Clock", "Event", "Round"):
        number, told = headers.get(name, (0, ""))
        if told.strip("?.-"):  # some programs write ? or ????.??.?? for an unknown value
            known: dict[str, Any] = {name.lower(): _iso_day(told) if name == "Date" else told}
            try:
                record = replace(record, **known)
            except InvalidValueError as error:
                raise RecordError(number, str(error)) from None
    return record


def _iso_day(date: str) -> str:
    """Return a date of PGN as ISO 8601 writes it; "" if it isn't known to the day."""
    found = _PGN_DATE.fullmatch(date)
    if found is None:
        return date
    return "" if "?" in date else "-".join(found.groups())


def _split_comments(lines: _Lines) -> tuple[_Lines, tuple[Comment, ...], dict[int, float]]:
    """Separate a record's comments from its other lines.

    Returns:
        The other lines, the comments, and the seconds taken by plies, by number.
    """
    rest: _Lines = []
    comments, spent = [], {}
    ply = 0
    for number, line in lines:
        comment = _COMMENT.fullmatch(line)
        if time := _TIME.fullmatch(line):
            hours, minutes, seconds, tenths = (int(each or 0) for each in time.groups())
            if ply > 1:  # `ply` counts the setup line, and the opening took no time
                spent[ply - 1] = (36_000 * hours + 600 * minutes + 10 * seconds + tenths) / 10
        elif comment is None:
            rest.append((number, line))
            ply += not line.startswith("[")
        elif comment[2]:
            comments.append(Comment(max(0, ply - 1), comment[1] or "", comment[2]))
    return rest, tuple(comments), spent


_Headers = Mapping[str, tuple[int, str]]
"""The line number and text of each header, by name."""


def _ruleset(
    headers: _Headers, told: Ruleset | None, default: Ruleset | None, setup: int
) -> Ruleset:
    """Return the rules of a record: from its headers, as given, or the default."""
    number, name = headers.get("Rules", (setup, ""))
    if not name:
        known = told or default
        if known is None:
            raise RecordError(setup, 'missing header with the rules, such as [Rules "classic"]')
        return known
    named = RULESETS.get(name.lower())
    if named is None:
        raise RecordError(number, f"unknown rules {name!r}; expected one of {', '.join(RULESETS)}")
    if told is not None and told is not named:
        raise RecordError(number, f"expected {told.name} rules, got {named.name} rules")
    return named


def _replay(lines: _Lines, ruleset: Ruleset, headers: _Headers) -> Game:
    """Return the battle of a setup and its plies."""
    (first, setup), *plies = lines
    if len(plies) > MOST_PLIES:
        number, _ = plies[MOST_PLIES]
        raise RecordError(number, f"expected at most {MOST_PLIES:,} plies, got {len(plies):,}")
    turn = _SIDES.get(headers.get("Turn", (0, ""))[1], ruleset.initial_position.turn)
    if plies:
        turn = Side.TROLL if plies[0][1].startswith("T") else Side.DWARF
    try:
        game = Game.start(ruleset, read_setup(setup, ruleset, turn))
    except ValueError as error:
        raise RecordError(first, str(error)) from None
    for number, line in plies:
        try:
            game = game.push(line)
        except IllegalMoveError as refusal:
            raise RecordError(number, line, refusal) from None
        except ValueError as error:
            raise RecordError(number, str(error)) from None
    return game


def _with_outcome(game: Game, headers: _Headers) -> Game:
    """Return the battle with the outcome of its headers, if they have one."""
    if "Ending" not in headers:
        return game
    number, ending = headers["Ending"]
    result = _RESULT.fullmatch(headers.get("Result", (0, ""))[1])
    winner = headers.get("Winner", (0, ""))[1]
    sides = {_NOBODY: None} | _SIDES
    if ending not in _ENDINGS:
        raise RecordError(
            number, f"unknown ending {ending!r}; expected one of {', '.join(_ENDINGS)}"
        )
    if result is None or winner not in sides:
        needed = '[Result "32-28"] and [Winner "dwarf"]'
        raise RecordError(number, f"missing headers for the ending, such as {needed}")
    score = Score(int(result[1]), int(result[2]))
    outcome = Outcome(_ENDINGS[ending], sides[winner], score)
    if game.outcome is not None and game.outcome != outcome:
        raise RecordError(number, "the outcome in the headers contradicts the plies")
    right = game.outcome or reported_outcome(game, outcome.ending, outcome.winner)
    if right is None:
        raise RecordError(
            number, f"the plies don't end the battle by {ending} with winner {winner}"
        )
    if right != outcome:
        expected = _NOBODY if right.winner is None else right.winner.value
        counted = f"{right.score.dwarf}-{right.score.troll}, winner {expected}"
        given = f"{score.dwarf}-{score.troll}, winner {winner}"
        raise RecordError(number, f"expected the result {counted} under these rules, got {given}")
    return replace(game, outcome=outcome)


def reported_outcome(game: Game, ending: Ending, winner: Side | None) -> Outcome | None:
    """Return the outcome of a battle that ended without a final ply, scored by its rules.

    Args:
        game: the battle after its plies.
        ending: how the battle ended.
        winner: the winner; only needed if the other side gave the battle up.

    Returns:
        The outcome; None if such an ending takes a ply, or if the winner is missing.
    """
    match ending:
        case Ending.AGREEMENT | Ending.QUIET | Ending.DESERTION:
            return game.ruleset.agreed_outcome(game.position, ending)
        case Ending.RESIGNATION | Ending.CLAIM | Ending.TIME if winner is not None:
            given_up = game.ruleset.resigned_outcome(game.position, winner.other)
            return replace(given_up, ending=ending)
    return None


_ENDINGS = {ending.value: ending for ending in Ending}
_SIDES = {side.value: side for side in Side}


def _escaped(text: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", text)
