"""The grammar's meaning: a cleaned line -> a command, or the column where Lark stumbled.

Each rule of the grammar has an attribute of `_Builder` by its name, which makes a command of what
the rule matched; so has each terminal that stands for a value. This module is loaded when the first
line is read: it brings all of Lark along, and is the only one to use it but for making its tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, cast

from lark import Lark, Token, Transformer, UnexpectedInput, UnexpectedToken, v_args

from thudmud.english import length_of
from thudmud.language.words import END_OF_LINE, FLAGS, STOPS, TABLES, WORDS, Stumbled, spoken
from thudmud.play import commands, options
from thudmud.play.clocks import TimeClass, TimeControl
from thudmud.play.command import VERBS, Command
from thudmud.play.days import day_begins
from thudmud.play.options import SHADES, Colour, Element, Shade, Switch, Toggle
from thudmud.rules import EVERY, Attempt, Every, Piece, Side, Square, Verb, ruleset_called
from thudmud.rules.board import LETTERS

_REASON = re.compile("because (?!of(?![^ ,]))", re.ASCII | re.IGNORECASE)
"""How a sentence goes on that gives a reason, which may be said by itself."""


def _square(position: Token) -> Square:
    return Square.parse(position.replace(" ", ""))


def _unstopped(words: Token) -> str:
    """Return a name without the full stop that may end its line; it is in no name."""
    return words.rstrip(STOPS) or str(words)


def _shade(words: Token) -> Shade:
    text = words.lower()
    if text in SHADES:
        return SHADES.index(text)
    if text in {"grey", "gray"}:
        return SHADES.index("bright black")
    if text.startswith("#"):
        red, green, blue = bytes.fromhex(text[1:])
        return red, green, blue
    return int(text)


def _side(token: Token | None) -> Side | None:
    return None if token is None else Side[token.type]


_Captures = tuple[Square, ...] | Every
_Terms = tuple[str | None, TimeControl | None]
_NO_TERMS: _Terms = None, None


@v_args(inline=True)
class _Builder(Transformer[Token, Command]):
    """Builds the commands while the line is read."""

    # Terminals. Those that are not here come as tokens, whose type is the name of a member of an
    # enumeration.
    POSITION = ORIGIN = staticmethod(_square)
    SHADE = staticmethod(_shade)
    ROW = COLUMNS = NUMBER = int
    COLUMN = SPEECH = DEED = TOPIC = RULESET = str
    OBJECT = PLACE = PLAYER = WHOSE = LEVEL = staticmethod(_unstopped)
    WHOSE_BY_RULES = str
    BANNED = staticmethod(_unstopped)
    CLOCK = TimeControl.of
    LENGTH = staticmethod(length_of)

    # What several commands have.
    on = piece = because = str

    def capturing(self, *squares: Square) -> _Captures:
        return squares

    def capturing_all(self, _: Token) -> _Captures:
        return EVERY

    def capturing_none(self) -> _Captures:
        return ()

    # Games and boards.
    leave = commands.Leave
    end = commands.End
    begin = commands.Start
    resign = commands.Resign
    undo = commands.Undo
    no = commands.No
    claim = commands.Claim
    adjourn = commands.Adjourn
    resume = commands.Resume
    set_rules = commands.SetRules
    set_clock = commands.SetClock
    practice = commands.Practice
    view_game = commands.ViewGame
    view_possible = commands.ViewPossible

    # A position of one's own.
    set_up = commands.SetUp
    set_up_less = commands.SetUpLess
    set_up_opening = commands.SetUpOpening

    def set_up_more(self, pieces: commands.Pieces, turn: Side | None, on: str | None) -> Command:
        return commands.SetUpMore(pieces, turn, on)

    def set_up_turn(self, turn: Side, on: str | None) -> Command:
        return commands.SetUpMore(commands.Pieces(), turn, on)

    def setup_squares(self, *words: Token | Square) -> commands.Pieces:
        standing: list[tuple[Piece, Square]] = []
        piece = Piece.DWARF
        for word in words:
            if isinstance(word, Square):
                standing.append((piece, word))
            else:
                piece = Piece[word.type]
        return commands.Pieces.of(standing)

    def setup_text(self, *words: Token) -> commands.Pieces:
        """Return the pieces of a setup as records have it; R stands for the Thudstone, too."""
        marks = {piece.mark.lower(): piece for piece in (Piece.DWARF, Piece.TROLL, Piece.ROCK)}
        return commands.Pieces.of(
            (marks[word[0].lower()], Square.from_record(word[1:].strip().upper())) for word in words
        )

    def setup_removed(self, *squares: Square) -> tuple[Square, ...]:
        return squares

    def setup_turn(self, _: Token | None, side: Token) -> Side:
        return Side[side.type]

    setup_first = setup_turn

    def join(self, side: Token, on: str | None) -> Command:
        return commands.Join(_side(side), on)

    def join_at(self, on: str | None, side: Token | None) -> Command:
        return commands.Join(_side(side), on)

    def set_clock_off(self, *words: Token | str | None) -> Command:
        return commands.SetClock(None, words[-1])

    def set_board(self, style: Token, on: str | None) -> Command:
        return commands.SetBoard(commands.Style[style.type], on)

    def play(
        self,
        verb: Token,
        _: str | None,
        origin: Square,
        target: Square,
        on: str | None,
        captures: _Captures | None,
    ) -> Command:
        return commands.Play(Attempt(Verb[verb.type], origin, target, captures), on)

    def play_turned(
        self,
        verb: Token,
        _: str | None,
        origin: Square,
        target: Square,
        captures: _Captures,
        on: str,
    ) -> Command:
        return commands.Play(Attempt(Verb[verb.type], origin, target, captures), on)

    def move(
        self, origin: Square, target: Square, on: str | None, captures: _Captures | None
    ) -> Command:
        return commands.Play(Attempt(Verb.MOVE, origin, target, captures), on)

    def move_turned(self, origin: Square, target: Square, captures: _Captures, on: str) -> Command:
        return commands.Play(Attempt(Verb.MOVE, origin, target, captures), on)

    # Queries.
    around = commands.Around
    captures = commands.Captures
    clock = commands.ViewClock
    hint = commands.Hint
    tutorial = commands.Tutorial
    lessons = commands.Lessons
    puzzle = commands.TryPuzzle

    def stop(self, *_: Token | None) -> Command:
        return commands.Stop()

    def where(self, piece: Token, on: str | None) -> Command:
        return commands.Where(Piece[piece.type], on)

    def scan_row(self, row: int, on: str | None) -> Command:
        return commands.ScanRow(row - 1, on)

    def scan_column(self, column: str, on: str | None) -> Command:
        return commands.ScanColumn(LETTERS.index(column.upper()), on)

    def lines(self, side: Token | None, on: str | None) -> Command:
        return commands.Lines(_side(side), on)

    def last_move(self, *words: Token | str | None) -> Command:
        return commands.LastMove(words[-1])

    # Who plays with whom.
    seeks = commands.Seeks
    accept = commands.Accept
    decline = commands.Decline
    withdraw = commands.Withdraw
    new_board = commands.NewBoard

    def terms(self, rules: str | None, time: TimeControl | None) -> _Terms:
        return rules, time

    def terms_turned(self, time: TimeControl, rules: str | None) -> _Terms:
        return rules, time

    def seek(self, terms: _Terms | None, side: Token | None, unrated: Token | None) -> Command:
        rules, time = terms or _NO_TERMS
        return commands.Seek(rules, _side(side), unrated is None, time)

    def challenge(
        self,
        player: str,
        terms: _Terms | None,
        side: Token | None,
        unrated: Token | None,
        level: str | None,
    ) -> Command:
        rules, time = terms or _NO_TERMS
        return commands.Challenge(player, rules, _side(side), unrated is None, level, time)

    def play_now(self, terms: _Terms | None, side: Token | None) -> Command:
        rules, time = terms or _NO_TERMS
        return commands.PlayNow(rules, _side(side), time)

    # What was played.
    record = commands.ViewRecord
    score = commands.ViewScore
    analyse = commands.Analyse
    cancel_analysis = commands.CancelAnalysis

    def games(self, everybodys: Token | None) -> Command:
        return commands.Games(everybodys is not None)

    def comment(self, place: Token | None, text: Token) -> Command:
        number, ply = map(int, place.split(" ")) if place else (None, None)
        return commands.MakeComment("" if text.lower() == "none" else str(text), number, ply)

    def history(
        self,
        player: str | None,
        opponent: str | None,
        rules: str | None,
        day: str | None,
        page: int | None,
    ) -> Command:
        return commands.History(player, page or 1, opponent, rules, day)

    def history_by_rules(
        self, whose: str, opponent: str | None, day: str | None, page: int | None
    ) -> Command:
        if rules := ruleset_called(whose):
            return commands.History(None, page or 1, opponent, rules.name, day)
        player, _, by = whose.partition(" ")
        return commands.History(player, page or 1, opponent, by, day)

    def day(self, word: Token) -> str:
        return word.lower()

    def standings(self, rules: str | None, time: TimeClass | None) -> Command:
        return commands.ViewStandings(rules, time)

    def standings_turned(self, time: TimeClass, rules: str) -> Command:
        return commands.ViewStandings(rules, time)

    def time_class(self, word: Token) -> TimeClass:
        return TimeClass[word.type]

    def replay(self, number: int, ply: int | None) -> Command:
        return commands.Replay(number, ply or 0)

    def step(self, way: Token, plies: int | None = None) -> Command:
        return commands.Step(commands.Way[way.type], plies or 1)

    # Options.
    show_options = options.ShowOptions
    set_colour = options.SetColour
    show_scheme = options.ShowScheme
    set_element = options.SetElement
    set_reader = options.SetReader

    def set_charset(self, value: Token) -> Command:
        return options.SetCharset(options.Charset[value.type])

    def set_scheme(self, value: Token) -> Command:
        return options.SetScheme(options.Scheme[value.type])

    def set_width(self, columns: int | Token) -> Command:
        return options.SetWidth(columns if isinstance(columns, int) else None)

    def set_orient(self, value: Token) -> Command:
        return options.SetOrient(options.Orient[value.type])

    def set_size(self, value: Token) -> Command:
        return options.SetSize(options.Size[value.type])

    def set_toggle(self, toggle: Toggle, value: Switch) -> Command:
        return options.SetToggle(toggle, value is Switch.ON)

    def set_machine(self, value: Switch) -> Command:
        return options.SetToggle(Toggle.MACHINE, value is Switch.ON)

    def option_switch(self, value: Token) -> Switch:
        return Switch(spoken(value.type))

    option_whether = option_switch

    def option_toggle(self, value: Token) -> Toggle:
        return Toggle(spoken(value.type))

    def option_element(self, *words: Token) -> Element:
        return Element.LAST_MOVE if words[0].type == "LAST" else Element[words[0].type]

    def option_colour(self, *parts: Token | Shade | Colour | None) -> Colour:
        foreground, background, bold = None, None, False
        for part in parts:
            if isinstance(part, Colour):
                background = part.background
            elif isinstance(part, Token):
                bold = True
            elif part is not None:
                foreground = part
        return Colour(foreground, background, bold)

    def option_ground(self, shade: Shade) -> Colour:
        return Colour(background=shade)

    option_plain = Colour

    def option_default(self, _: Token) -> None:
        return None

    # Rooms and people.
    look = commands.Look
    go = go_hall = commands.Go
    boards = commands.Boards
    bots = commands.ViewBots
    news = commands.ViewNews
    say = commands.Say
    emote = commands.Emote
    tell = commands.Tell
    message = commands.SendLetter
    shout = commands.Shout
    kibitz = commands.Kibitz
    whisper = commands.Whisper
    observe = commands.Observe
    unobserve = commands.Unobserve
    help = commands.Help
    syntax = commands.Syntax
    register = commands.Register
    password = commands.Password
    again = commands.Again
    quit = commands.Quit

    def report(self, player: str, text: str) -> Command:
        return commands.FileReport(player, _REASON.sub("", text))

    # What operators do.
    broadcast = commands.Broadcast
    unmute = commands.Unmute
    mutes = commands.Mutes
    unban = commands.Unban
    cancel_shutdown = commands.CancelShutdown
    close_report = commands.CloseReport

    def mute(self, player: str, seconds: int | None, why: str | None) -> Command:
        return commands.Mute(player, seconds, why or "")

    def kick(self, player: str, why: str | None) -> Command:
        return commands.Kick(player, why or "")

    def ban(self, whom: str, seconds: int | None, why: str | None) -> Command:
        return commands.Ban(whom, seconds, why or "")

    def bans(self, page: int | None) -> Command:
        return commands.Bans(page or 1)

    def reports(self, page: int | None) -> Command:
        return commands.Reports(page or 1)

    def shutdown(self, seconds: int, why: str | None) -> Command:
        return commands.StopServer(seconds, why or "")

    def shutdown_now(self, why: str | None) -> Command:
        return commands.StopServer(0, why or "")

    def messages(self, sender: str | None, page: int | None) -> Command:
        return commands.Letters(sender, page or 1)

    def forget(self, number: int) -> Command:
        return commands.ForgetLetters(number)

    def forget_messages(self, sender: str | None) -> Command:
        return commands.ForgetLetters(None, sender)

    def invite(self, player: str, side: Token | None, level: str | None, on: str | None) -> Command:
        return commands.Invite(player, _side(side), on, level)

    def invite_turned(self, player: str, side: Token | None, on: str, level: str) -> Command:
        return self.invite(player, side, level, on)


def _maker(kind: type[Command]) -> Callable[..., Command]:
    """Return what makes a command of what its rule hands over: the default of what is left out."""
    defaults = [None if each.default is MISSING else each.default for each in fields(kind)]
    if not any(defaults):
        return kind

    def make(*words: Any) -> Command:
        pairs = zip(words, defaults, strict=False)
        return kind(*[default if word is None else word for word, default in pairs])

    return make


_VERBS = v_args(inline=True)(
    type("_Verbs", (_Builder,), {rule: staticmethod(_maker(kind)) for rule, kind in VERBS.items()})
)

_WHATEVER = "[^ ].*"
"""The pattern of a terminal that takes all that is left of a line."""

_SAMPLE = "these words"


def read(line: str) -> Command:
    """Return the command that a cleaned line asks for.

    Raises:
        Stumbled: it asks for none.
    """
    try:
        return cast("Command", _LARK.parse(line))
    except UnexpectedInput as error:
        raise Stumbled(_column(line, error)) from None


def _column(line: str, error: UnexpectedInput) -> int:
    at_end = isinstance(error, UnexpectedToken) and error.token.type == END_OF_LINE
    if at_end or error.pos_in_stream is None:
        return len(line)  # Lark gives the end the place of the last word
    return error.pos_in_stream


def read_any_words(line: str) -> Command | None:
    """Return what `read` does of a verb that takes any words; None for every other line.

    To ask Lark each time what comes of such words takes as long as all the rest.
    """
    verb, _, words = line.partition(" ")
    if words and verb.lower() in _SPELLINGS and (made := _of_any_words(verb)) is not None:
        return made(words)
    return None


def following(beginning: str) -> frozenset[str]:
    """Return the terminals that may follow the beginning of a line.

    Raises:
        Stumbled: no line can begin like that.
    """
    reading = _LARK.parse_interactive(beginning)
    try:
        reading.exhaust_lexer()
    except UnexpectedInput as error:
        raise Stumbled(_column(beginning, error)) from None
    return frozenset(reading.accepts())


@lru_cache(maxsize=256)
def _of_any_words(verb: str) -> Callable[[str], Command] | None:
    """Return what makes a command of a verb and any words behind it, if the grammar has one such.

    That is so if nothing may follow the verb but one terminal that takes whatever comes, and the
    command holds what it has taken and nothing else.
    """
    try:
        terminals = following(verb) - {END_OF_LINE}
    except Stumbled:
        return None
    if [TABLES.terminals[name] for name in terminals] != [_WHATEVER]:
        return None
    found = _LARK.parse(f"{verb} {_SAMPLE}")
    made = cast("Callable[[str], Command]", type(found))
    return made if found == made(_SAMPLE) else None


def _ruleset(words: Token) -> Token:
    """Return the name of the ruleset that the words are.

    Raises:
        UnexpectedToken: there is none. If a name is followed by more words, these are unexpected.
    """
    if rules := ruleset_called(words):
        return words.update(value=rules.name)
    name, _, _ = words.rpartition(" ")
    while name and not ruleset_called(name):
        name, _, _ = name.rpartition(" ")
    beginning = len(name) + 1 if name else 0
    place = (words.start_pos or 0) + beginning
    rest = Token(words.type, words[beginning:], place)
    raise UnexpectedToken(rest, {words.type})  # type: ignore[no-untyped-call]  # Lark's own


def _whose(words: Token) -> Token:
    """Return a player alone as they are, and what names a ruleset, too, as ``WHOSE_BY_RULES``.

    Raises:
        UnexpectedToken: there is more behind, and it is not the ruleset of a player's battles.
    """
    player, _, rest = words.partition(" ")
    if rest and not ruleset_called(words):
        behind = Token("RULESET", rest, (words.start_pos or 0) + len(player) + 1)
        if ruleset_called(player):
            raise UnexpectedToken(behind, set())  # type: ignore[no-untyped-call]  # Lark's own
        return words.update("WHOSE_BY_RULES", f"{player} {_ruleset(behind)}")
    return words.update("WHOSE_BY_RULES") if ruleset_called(words) else words


def _day(word: Token) -> Token:
    """Return a day; raises UnexpectedToken if there is none such."""
    if day_begins(word) is None:
        raise UnexpectedToken(word, {"DAY"})  # type: ignore[no-untyped-call]  # Lark's own
    return word


_LARK = Lark._load_from_dict(  # type: ignore[no-untyped-call]  # noqa: SLF001  (`Lark.load` takes no transformer)
    *TABLES.lark,
    transformer=_VERBS(),
    g_regex_flags=FLAGS,
    lexer_callbacks={"RULESET": _ruleset, "WHOSE": _whose, "DAY": _day},
)

_SPELLINGS = frozenset(word for words in WORDS.values() for word in words)
