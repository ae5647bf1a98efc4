"""`thudmud play`: a game against the computer in the terminal, as on a server."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from textwrap import fill

from thudmud import features
from thudmud.bots.adviser import OwnAdviser
from thudmud.bots.opponent import Task
from thudmud.cli.common import refuse
from thudmud.cli.engine import any_seed, level, seed
from thudmud.cli.records import ruleset_named
from thudmud.features.matchmaking.commands import Invite
from thudmud.features.playing.moves import Start
from thudmud.features.playing.seats import Join
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.rules import DEFAULT_RULES, RULESETS, Side
from thudmud.search.levels import LEVELS, Level
from thudmud.search.player import Player
from thudmud.views import Message
from thudmud.views.view import PALETTE, SIXTEEN, TRUE_COLOUR, Terminal

BOARD = "oak board"
PROMPT = "> "
INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""

_LEFT_OUT = (
    *({"letters", "moderation", "notifications", "tournaments", "tv"} & {*features.NAMES}),
    *("finger", "follow", "ignore", "kibitz", "match", "news", "observe", "plan"),
    *("seek", "seeks", "shout", "tell", "unfollow", "unignore", "whisper", "who", "withdraw"),
    *("logout", "password", "register"),
)
"""Features and verbs that need other people, or an account on a server."""

_EASY = LEVELS[2]
_NEVER = float("inf")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        'Play against the computer. Type "help" for the commands, which are those of a server, '
        'and "quit" to leave. A match is two battles: after the first, "start" begins the '
        "second, with the sides swapped."
    )
    parser.set_defaults(run=run)
    levels = ", ".join(map(str, LEVELS))
    parser.add_argument("--level", type=level, default=_EASY, metavar="N",
        help=f"the computer's level: {levels}; default: {_EASY.number}")  # fmt: skip
    parser.add_argument("--as", type=_side, default=Side.DWARF, dest="side", metavar="SIDE",
        help="your side in the first battle, dwarfs or trolls; default: dwarfs")  # fmt: skip
    parser.add_argument("--rules", type=ruleset_named, default=DEFAULT_RULES, metavar="NAME",
        help=f"one of {', '.join(RULESETS)}; default: {DEFAULT_RULES}")  # fmt: skip
    parser.add_argument("--name", default="Visitor", help="your name; default: Visitor")
    parser.add_argument("--seed", type=seed, metavar="N",
        help="let the computer make the same choices each time; default: random")  # fmt: skip


def _side(text: str) -> Side:
    """Parse a side by its singular, plural or their beginning; an option type for argparse."""
    for side in Side:
        if text and any(word.startswith(text.lower()) for word in _WORDS[side]):
            return side
    raise argparse.ArgumentTypeError(f"expected dwarfs or trolls, got {text!r}")


_WORDS = {Side.DWARF: ("dwarfs", "dwarves"), Side.TROLL: ("trolls",)}


def run(options: argparse.Namespace) -> int:
    """Play until the player leaves."""
    number = any_seed() if options.seed is None else options.seed
    evening = _Evening(options.name, options.level, options.rules.name, number)
    if problem := evening.name_problem():
        return refuse(f"--name: {problem}")
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    if _is_terminal():
        with suppress(ImportError):  # enables line editing; not available on every system
            import readline  # noqa: F401, PLC0415
    try:
        evening.begin(options.side)
        while evening.is_in_house:
            line = _read_line()
            if line is None:
                break
            evening.type(line)
    except KeyboardInterrupt:
        print()
        return INTERRUPTED
    return 0


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _read_line() -> str | None:
    """Read the next line; return None at the end of the input."""
    if not _is_terminal():
        return sys.stdin.readline() or None
    try:
        return input(PROMPT)
    except EOFError:
        print()
        return None


def _terminal() -> Terminal:
    """Detect the capabilities of the terminal from the environment."""
    colours = 0
    name = os.environ.get("TERM", "dumb")
    if sys.stdout.isatty() and name != "dumb" and not os.environ.get("NO_COLOR"):
        is_true = os.environ.get("COLORTERM") in {"truecolor", "24bit"}
        colours = TRUE_COLOUR if is_true else PALETTE if "256color" in name else SIXTEEN
    width, height = shutil.get_terminal_size()
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return Terminal(width, utf8, colours, height=height).nearest()


def _print_wrapped(text: str) -> None:
    """Print a message of the subcommand itself, wrapped to the terminal."""
    print(fill(text, _terminal().width - 1), flush=True)


class _Evening:
    """A house with one board, where the player meets the computer."""

    def __init__(self, name: str, strength: Level, rules: str, number: int) -> None:
        self._name, self._bot = name, strength.name
        self._level, self._seed = strength, number
        self._house = House(
            [BoardSpec(BOARD, rules)],
            seat_grace=_NEVER,
            adviser=OwnAdviser(),
            teaches=True,
            bots={self._bot: strength.name},
            without=_LEFT_OUT,
        )
        self._minds: dict[tuple[str, int], Player] = {}
        """The computer's players, by name of the ruleset and number of the level."""

    @property
    def is_in_house(self) -> bool:
        """Whether the player is still in the house."""
        return self._name in self._house

    def name_problem(self) -> str | None:
        """Return the problem with the player's name; None if it is valid."""
        if self._name.lower() == self._bot.lower():
            return f"{self._bot} is the computer's name at that level"
        return self._house.name_problem(self._name)

    def begin(self, side: Side) -> None:
        """Seat the player on a side and the computer on the other, and start the battle."""
        now = time.time()
        house, name = self._house, self._name
        house.enter(name, now, _terminal(), room=BOARD)
        house.obey(self._bot, Join(side.other, BOARD), now)
        house.obey(name, Join(side, BOARD), now)
        _print_wrapped(
            f'Your opponent is {self._bot}. {self._level.sentence} "help" lists the commands, '
            '"help thud" explains the game, and "quit" ends it.'
        )
        self._show(house.obey(name, Start(BOARD), now))
        self._answer()

    def type(self, line: str) -> None:
        """Execute a line typed by the player, and then the computer's turns."""
        was_seated = self._has_seat
        self._house.set_terminal(self._name, _terminal())
        told = self._house.obey(self._name, line.strip(), time.time())
        # Show only the last message about quitting, the goodbye: a game in a terminal isn't kept.
        self._show(told if self.is_in_house else told[-1:])
        self._answer()
        if self.is_in_house and was_seated and not self._has_seat:
            bot = self._bot.lower()
            _print_wrapped(
                f'For another match, type "{Join(Side.DWARF)}", "{Invite(bot)}" and "start". With '
                f'"{Invite(bot, level="2")}" {self._bot} plays at level 2 of {len(LEVELS)}.'
            )

    @property
    def _has_seat(self) -> bool:
        """Whether the computer has a seat."""
        return bool(self._house.hall.tables.seats_of(self._bot))

    def _answer(self) -> None:
        """Play the computer's turns until the player is to move."""
        while self.is_in_house and (turns := self._house.bot_turns):
            thought = self._mind(turns[0].task).think(turns[0].task.game)
            ply, now = str(thought.move), time.time()
            self._show(self._house.play_bot(turns[0], ply, now, thought.score))

    def _mind(self, task: Task) -> Player:
        """Return the computer's player for a battle, created on first use."""
        rules, number = task.game.ruleset, task.level or self._level.number
        if (rules.name, number) not in self._minds:
            self._minds[rules.name, number] = Player(rules, LEVELS[number - 1], self._seed)
        return self._minds[rules.name, number]

    def _show(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if self._name in message.to and not message.package:
                print("\a" * message.with_bell + message.text, flush=True)
