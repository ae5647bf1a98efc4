"""`thudmud match`: engine matches with Elo estimate, confidence interval and SPRT.

A match is two battles from the same opening, with the sides swapped. Each battle starts two new
processes and ends them afterwards. The workers are only asyncio tasks that wait for them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import shlex
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from textwrap import fill
from typing import Any

from msgspec.structs import asdict

from thudmud.bots.dialogue import LONGEST_THOUGHT
from thudmud.bots.program import ENGINE, STARTING
from thudmud.bots.referee import (
    Contender,
    Forfeit,
    Terms,
    UnstartedError,
    Verdict,
    play_battle,
    random_opening,
    read_opening,
)
from thudmud.bots.strength import BOUND, Results, elo_difference
from thudmud.cli.common import refuse
from thudmud.cli.engine import level, seed
from thudmud.cli.records import ruleset_named
from thudmud.errors import CommandError, system_reason
from thudmud.rules import DEFAULT_RULES, RULESETS, Game, Side
from thudmud.values import Value

OWN = "thudmud"
"""Name of the built-in engine on the command line; a colon and a level may follow."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""

_BATTLES = 2  # minimum number of battles before a program that always fails ends the run
_SECONDS = 1.0
_LENIENT = 10  # by the clock, times the limit of CPU seconds
_PATIENCE = 60.0  # seconds for a ply if nodes are the limit
_HANGING = 300.0  # seconds for an answer by the clock if CPU seconds are the limit, at least
_NAMED = re.compile(r"(?P<name>[^\s=/'\"]+)=(?P<command>.*)", re.DOTALL)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    # Long: one table of arguments, without branches.
    parser.description = (
        "Let two programs play each other: for each opening, two battles with the sides swapped "
        "make a match. A program that plays an illegal ply, exceeds its time or fails loses the "
        "battle; one that cannot be started, or fails in each battle, ends the run. "
        "docs/engine.md describes the protocol and the results."
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "bots",
        nargs=2,
        type=_bot,
        metavar="BOT",
        help=f'a command, in quotes; "{OWN}:LEVEL" for a level of our own player; or "{OWN}". '
        "Start with NAME= to name it in reports",
    )
    rules = ", ".join(RULESETS)
    parser.add_argument("--rules", type=ruleset_named, default=DEFAULT_RULES, metavar="NAME",
        help=f"one of {rules}; default: {DEFAULT_RULES}")  # fmt: skip
    parser.add_argument("--games", type=_even, default=20, metavar="N",
        help="the number of battles, two for each match; default: 20")  # fmt: skip
    parser.add_argument("--seconds", type=_seconds, metavar="S",
        help=f"seconds a ply; default: {_SECONDS:g}, or with --nodes {_PATIENCE:g}")  # fmt: skip
    parser.add_argument("--cpu", action="store_true",
        help="limit CPU seconds; the clock only has to stop a program that hangs")  # fmt: skip
    parser.add_argument("--nodes", type=_count, metavar="N",
        help="positions for each ply; the seconds are then only an upper limit")  # fmt: skip
    parser.add_argument("--openings", type=Path, metavar="FILE",
        help="openings, one a line: plies, or a setup and the side to move")  # fmt: skip
    parser.add_argument("--random", type=_whole, default=4, metavar="N",
        help="number of random plies to begin with, without --openings; default: 4")  # fmt: skip
    parser.add_argument("--seed", type=seed, default=1, metavar="N",
        help="the seed of all random choices; default: 1")  # fmt: skip
    parser.add_argument("--quiet", type=_count, default=60, metavar="N",
        help="end a battle after this many plies without a capture; default: 60")  # fmt: skip
    parser.add_argument("--plies", type=_count, default=220, metavar="N",
        help="end a battle after this many plies regardless; default: 220")  # fmt: skip
    parser.add_argument("--workers", type=_count, default=1, metavar="N",
        help="the number of battles played at the same time; default: 1")  # fmt: skip
    parser.add_argument("--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"),
        help="stop once the first program is clearly nearer to one of these")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FILE",
        help="append each battle as a line of JSON, after those already there")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(options: argparse.Namespace) -> int:
    """Play the battles and print a summary, which includes resumed ones."""
    if options.sprt and not options.sprt[0] < options.sprt[1]:
        lower, upper = options.sprt
        return refuse(f"--sprt: expected the lower value first, got {lower:g} {upper:g}")
    try:
        contest = _Contest(options)
        contest.resume()
    except CommandError as error:
        return refuse(error)
    try:
        asyncio.run(contest.play())
    except (asyncio.CancelledError, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    except CommandError as error:
        return refuse(error)
    else:
        status = 0
    print(json.dumps(contest.summary()) if options.json else "\n".join(contest.report()))
    return status


class BotSpec(Value):
    """One of the two programs.

    Attributes:
        name: name in reports: the given one, or else the typed command.
        typed: the argument as typed, in one line.
        command: program and arguments to run.
        is_own: whether it is the built-in engine, which takes a seed.
    """

    name: str
    typed: str
    command: tuple[str, ...]
    is_own: bool = False


class Played(Value):
    """A finished battle, as written to the results file.

    Pairs hold the values of bot 1 and bot 2, except for `score`.

    Attributes:
        match: number of the match, from 1.
        battle: number of the battle within the match, 1 or 2.
        dwarfs: the bot with the dwarfs, 1 or 2.
        score: points of the dwarfs and of the trolls.
        ending: a value of `thudmud.rules.Ending` or of `Forfeit`.
        faulty: the bot that forfeited, 1 or 2; 0 for neither.
        why: explanation of the forfeit.
        plies: all plies, including the opening's.
        thought: number of plies that each bot was asked for.
        seconds: total thinking time of each bot, by the wall clock.
        cpu: CPU seconds of each bot; None if unknown.
    """

    match: int
    battle: int
    dwarfs: int
    score: tuple[int, int]
    ending: str
    faulty: int
    why: str
    plies: tuple[str, ...]
    thought: tuple[int, int]
    seconds: tuple[float, float]
    cpu: tuple[float | None, float | None]

    @classmethod
    def read(cls, data: object) -> Played:
        """Validate a battle decoded from a line of JSON.

        Raises:
            ValueError: the data is not a battle.
        """
        if not isinstance(data, dict) or data.keys() != _FIELDS.keys():
            raise ValueError("expected the fields of a battle")
        return cls(**{name: _field(data[name], *form) for name, form in _FIELDS.items()})

    def points(self, bot: int) -> int:
        """Return the points of a bot, 1 or 2."""
        return self.score[0 if self.dwarfs == bot else 1]


_ANY = -1
_FIELDS: dict[str, tuple[int, tuple[type, ...]]] = {
    "match": (0, (int,)),
    "battle": (0, (int,)),
    "dwarfs": (0, (int,)),
    "score": (2, (int,)),
    "ending": (0, (str,)),
    "faulty": (0, (int,)),
    "why": (0, (str,)),
    "plies": (_ANY, (str,)),
    "thought": (2, (int,)),
    "seconds": (2, (int, float)),
    "cpu": (2, (int, float, type(None))),
}
"""Schema of a battle in JSON: number of elements, or 0 for a scalar, and their types."""


def _field(data: object, length: int, kinds: tuple[type, ...]) -> Any:
    elements = data if isinstance(data, list) else [data]
    is_right = isinstance(data, list) is bool(length) and length in {0, _ANY, len(elements)}
    if not is_right or any(type(each) not in kinds for each in elements):
        raise ValueError(f"expected a field of a battle, got {data!r:.40}")
    return tuple(elements) if length else data


class _Contest:
    """All matches of a run, including those of the run that it resumes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._bots: list[BotSpec] = options.bots
        self._rules, self._games, self._workers = options.rules, options.games, options.workers
        self._seed, self._sprt, self._out = options.seed, options.sprt, options.out
        limit, most = f"nodes {options.nodes}", options.seconds or _PATIENCE
        if options.nodes is None:
            most = options.seconds or _SECONDS
            limit = f"{most:g}"
        self._clock = ("--cpu",) if options.cpu else ()
        cpu, self._patience = None, STARTING
        if options.cpu:  # a busy machine can hold up any answer
            cpu, most = most, max(_HANGING, _LENIENT * most)
            self._patience = most
        self._terms = Terms(limit, most, options.quiet, options.plies, cpu)
        self._openings = _openings(options)
        self._played: dict[tuple[int, int], Played] = {}
        self._old: set[str] = set()
        """Bots, as typed, whose programs don't understand "capabilities"."""
        self._what = {
            "bots": [bot.typed for bot in self._bots],
            "rules": self._rules.name,
            "seed": self._seed,
            "openings": str(options.openings) if options.openings else options.random,
            **asdict(self._terms),
        }

    def resume(self) -> None:
        """Read the battles that the results file already holds.

        Raises:
            CommandError: the file cannot be read, or holds something else.
        """
        if self._out is None:
            return
        try:
            # Don't read from a device, which may block for ever.
            data = self._out.read_bytes() if self._out.is_file() else b""
            whole, _, torn = data.rpartition(b"\n")
            what, *battles = [json.loads(line) for line in whole.splitlines()] or [self._what]
            found = [Played.read(each) for each in battles]
            self._require_own(what, torn.decode(), is_first=not whole)
        except OSError as error:
            raise CommandError(f"{self._out}: {system_reason(error)}") from error
        except ValueError as error:
            wrong = "contains something other than battles; not overwritten"
            raise CommandError(f"{self._out}: {wrong}") from error
        if what != self._what:
            raise CommandError(f"{self._out}: its battles were played with other settings: {what}")
        self._played = {(each.match, each.battle): each for each in found}
        if torn:  # the previous run was stopped in the middle of a line
            os.truncate(self._out, len(data) - len(torn))
        if not whole:
            self._write(self._what)

    def _require_own(self, what: object, torn: str, *, is_first: bool) -> None:
        """Raise `ValueError` unless a file looks like the results of a match.

        Args:
            what: the decoded first line.
            torn: incomplete text after the last whole line.
            is_first: whether the incomplete text is the first line.
        """
        if not isinstance(what, dict) or what.keys() != self._what.keys():
            raise ValueError("the first line doesn't have the settings of a match")
        begun = json.dumps(self._what) if is_first else '{"match": '
        if not (begun.startswith(torn) or (torn.startswith(begun) and not is_first)):
            raise ValueError("the last line isn't the beginning of a result")

    async def play(self) -> None:
        """Play the remaining battles, until an interruption or the end of the sequential test."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task  # noqa: S101  (a coroutine of `asyncio.run` has a task)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
        left = (each for each in self._numbers() if each not in self._played)
        workers = [asyncio.create_task(self._work(left)) for _ in range(self._workers)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.wait(workers)  # cancelled workers still end their programs

    async def _work(self, left: Iterator[tuple[int, int]]) -> None:
        while not self._is_decided() and (numbers := next(left, None)):
            self._note(await self._battle(*numbers))

    async def _battle(self, match: int, battle: int) -> Played:
        opening = self._openings(match)
        bots = self._bots if battle == 1 else self._bots[::-1]
        contenders = {
            side: Contender(
                bot.name,
                self._command(bot, match),
                is_modern=bot.typed not in self._old,
                patience=self._patience,
            )
            for side, bot in zip(Side, bots, strict=True)
        }
        try:
            verdict = await play_battle(opening, contenders, self._terms)
        except UnstartedError as error:
            raise CommandError(str(error)) from error
        self._old |= {
            bot.typed
            for bot, contender in zip(bots, contenders.values(), strict=True)
            if not contender.is_modern
        }
        return _written(verdict, match, battle, opening)

    def _command(self, bot: BotSpec, match: int) -> tuple[str, ...]:
        if not bot.is_own:
            return bot.command
        return (*bot.command, *self._clock, "--seed", str(self._seed + match))

    def _numbers(self) -> Iterator[tuple[int, int]]:
        for match in range(1, self._games // 2 + 1):
            yield match, 1
            yield match, 2

    def _note(self, played: Played) -> None:
        self._played[played.match, played.battle] = played
        self._write(asdict(played))
        dwarfs, trolls = (self._bots[0 if played.dwarfs == each else 1].name for each in (1, 2))
        tally = self._tally()
        fault = f" of {self._bots[played.faulty - 1].name} ({played.why})" if played.faulty else ""
        told = (
            f"match {played.match}, battle {played.battle}: {dwarfs} (dwarfs) {played.score[0]}, "
            f"{trolls} (trolls) {played.score[1]}; {played.ending}{fault}, "
            f"{len(played.plies)} plies; matches {tally.won}:{tally.lost}, {tally.drawn} drawn"
        )
        if sys.stderr.isatty():
            width = max(20, shutil.get_terminal_size().columns - 1)
            told = fill(told, width, subsequent_indent="  ", break_on_hyphens=False)
        print(told, file=sys.stderr)
        self._require_a_contest()

    def _require_a_contest(self) -> None:
        """Raise `CommandError` if a program has failed in all battles, which proves nothing."""
        for number, bot in enumerate(self._bots, 1):
            failures = [
                each.why
                for each in self._played.values()
                if each.faulty == number and each.ending == Forfeit.FAILED.value
            ]
            if len(failures) == len(self._played) >= _BATTLES:
                raise CommandError(f"{bot.name} failed in each battle: {failures[-1]}")

    def _write(self, fields: dict[str, Any]) -> None:
        if self._out is None:
            return
        try:
            with self._out.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(fields)}\n")
        except FileNotFoundError as error:
            raise CommandError(f"{self._out}: no folder {self._out.parent}") from error
        except OSError as error:
            raise CommandError(f"{self._out}: {system_reason(error)}") from error

    # Results.

    def _matches(self) -> list[tuple[Played, Played]]:
        return [
            (first, self._played[match, 2])
            for (match, battle), first in sorted(self._played.items())
            if battle == 1 and (match, 2) in self._played
        ]

    def _tally(self) -> Results:
        results = Counter(
            (ours > theirs) - (ours < theirs)
            for ours, theirs in (
                [sum(battle.points(bot) for battle in match) for bot in (1, 2)]
                for match in self._matches()
            )
        )
        return Results(results[1], results[0], results[-1])

    def _ratio(self) -> float:
        return self._tally().likelihood_ratio(*self._sprt)

    def _is_decided(self) -> bool:
        return bool(self._sprt) and abs(self._ratio()) >= BOUND

    def summary(self) -> dict[str, Any]:
        """Return the results as data for JSON."""
        tally, played = self._tally(), list(self._played.values())
        low, high = tally.interval
        found: dict[str, Any] = {
            "rules": self._rules.name,
            "limit": self._terms.limit,
            "battles": len(played),
            "matches": {"won": tally.won, "drawn": tally.drawn, "lost": tally.lost},
            "elo": _finite(elo_difference(tally.share)),
            "elo_from": _finite(elo_difference(low)),
            "elo_to": _finite(elo_difference(high)),
            "endings": dict(Counter(each.ending for each in played)),
            "bots": [self._bot_results(bot, played) for bot in (1, 2)],
        }
        if self._sprt:
            ratio = self._ratio()
            accepted = None if abs(ratio) < BOUND else self._sprt[ratio > 0]
            found["sprt"] = {"elo": self._sprt, "llr": round(ratio, 3), "accepted": accepted}
        return found

    def _bot_results(self, bot: int, played: Sequence[Played]) -> dict[str, Any]:
        """Return the results of one bot, 1 or 2."""
        at = bot - 1
        faults = Counter(each.ending for each in played if each.faulty == bot)
        thought = sum(each.thought[at] for each in played)
        # The CPU time of a program that has ended by itself is unknown; leave its plies out too.
        known = [(used, each.thought[at]) for each in played if (used := each.cpu[at]) is not None]
        used, asked = (sum(each) for each in zip(*known, strict=True)) if known else (0.0, 0)
        return {
            "name": self._bots[at].name,
            "points": sum(each.points(bot) for each in played),
            **_margin_statistics("as_dwarfs", self._margins(bot, played, as_dwarfs=True)),
            **_margin_statistics("as_trolls", self._margins(bot, played, as_dwarfs=False)),
            "illegal_plies": faults[Forfeit.ILLEGAL.value],
            "time_outs": faults[Forfeit.LATE.value],
            "failures": faults[Forfeit.FAILED.value],
            "plies": thought,
            "seconds_a_ply": _ratio(sum(each.seconds[at] for each in played), thought),
            "cpu_seconds_a_ply": _ratio(used, asked),
        }  # fmt: skip

    @staticmethod
    def _margins(bot: int, played: Iterable[Played], *, as_dwarfs: bool) -> list[int]:
        """Return a bot's margins in the battles that were not forfeited."""
        return [
            2 * each.points(bot) - sum(each.score)
            for each in played
            if not each.faulty and (each.dwarfs == bot) is as_dwarfs
        ]

    def report(self) -> Iterator[str]:
        """Yield the results as lines of text."""
        found = self.summary()
        matches, bots = found["matches"], found["bots"]
        yield f"{bots[0]['name']} against {bots[1]['name']}"
        yield f"{found['rules']} rules, go {found['limit']}, {found['battles']} battles"
        yield f"matches won {matches['won']}, drawn {matches['drawn']}, lost {matches['lost']}"
        shares = self._tally().share, *self._tally().interval
        yield "Elo {:+.0f} (95%: {:+.0f} to {:+.0f})".format(*map(elo_difference, shares))
        if "sprt" in found:
            test = found["sprt"]
            said = "open" if test["accepted"] is None else f"accepted Elo {test['accepted']:g}"
            yield f"SPRT {test['elo'][0]:g} against {test['elo'][1]:g}: LLR {test['llr']}, {said}"
        for name, words in _TOLD.items():
            values = ["unknown" if bot[name] is None else f"{bot[name]:g}" for bot in bots]
            yield f"{words:<18}{values[0]:>10}{values[1]:>10}"
        yield "endings: " + ", ".join(f"{ending} {n}" for ending, n in found["endings"].items())


_TOLD = {
    "points": "points",
    "margin_as_dwarfs": "margin as dwarfs",
    "error_as_dwarfs": "standard error",
    "margin_as_trolls": "margin as trolls",
    "error_as_trolls": "standard error",
    "illegal_plies": "illegal plies",
    "time_outs": "time-outs",
    "failures": "failures",
    "plies": "plies",
    "seconds_a_ply": "seconds a ply",
    "cpu_seconds_a_ply": "CPU seconds a ply",
}


def _written(verdict: Verdict, match: int, battle: int, opening: Game) -> Played:
    bots = (Side.DWARF, Side.TROLL) if battle == 1 else (Side.TROLL, Side.DWARF)
    game, first = verdict.game, len(opening.moves)
    sides = [opening.turn if ply % 2 == 0 else opening.turn.other
             for ply in range(len(game.moves) - first + (verdict.faulty is not None))]  # fmt: skip
    thought = tuple(sides.count(side) for side in bots)
    seconds = tuple(round(verdict.seconds[side], 3) for side in bots)
    cpu = tuple(verdict.cpu[side] for side in bots)
    return Played(
        match,
        battle,
        dwarfs=battle,
        score=(verdict.score.dwarf, verdict.score.troll),
        ending=verdict.ending,
        faulty=bots.index(verdict.faulty) + 1 if verdict.faulty else 0,
        why=verdict.why,
        plies=tuple(map(str, game.moves)),
        thought=(thought[0], thought[1]),
        seconds=(seconds[0], seconds[1]),
        cpu=(cpu[0], cpu[1]),
    )


def _openings(options: argparse.Namespace) -> Callable[[int], Game]:
    """Return a function that maps a match number to the opening of that match."""
    path, rules = options.openings, options.rules
    if path is None:
        return lambda match: random_opening(rules, options.random, f"{options.seed} {match}")
    openings = []
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {system_reason(error)}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not UTF-8 text") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                openings.append(read_opening(line, rules))
            except ValueError as error:
                raise CommandError(f"{path}: line {number}: {error}") from error
    if not openings:
        raise CommandError(f"{path}: contains no opening")
    return lambda match: openings[(match - 1) % len(openings)]


def _bot(text: str) -> BotSpec:
    typed = " ".join(text.split())
    named = _NAMED.fullmatch(text.strip())
    if named:
        text = named["command"]
    name = named["name"] if named else typed
    own, colon, number = text.partition(":")
    if own == OWN:
        words = ("--level", str(level(number).number)) if colon else ()
        return BotSpec(name, typed, (*ENGINE, *words), is_own=True)
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"cannot parse the command {text!r}: {error}") from error
    if not command:
        raise argparse.ArgumentTypeError("expected a command, got an empty one")
    return BotSpec(name, typed, tuple(command))


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not (number := _whole(text)):
        raise argparse.ArgumentTypeError(f"expected at least 1, got {text}")
    return number


def _even(text: str) -> int:
    if (number := _count(text)) % 2:
        raise argparse.ArgumentTypeError(
            f"expected an even number, got {text}: a match is two battles"
        )
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.01 <= number <= LONGEST_THOUGHT:
        right = f"expected a number from 0.01 to {LONGEST_THOUGHT:g}, got {text!r}"
        raise argparse.ArgumentTypeError(right)
    return number


def _margin_statistics(side: str, margins: Sequence[int]) -> dict[str, float | None]:
    """Return the mean of margins and its standard error, each None if undefined."""
    many = len(margins) > 1
    return {
        f"margin_{side}": round(mean(margins), 2) if margins else None,
        f"error_{side}": round(stdev(margins) / math.sqrt(len(margins)), 2) if many else None,
    }


def _ratio(amount: float, number: int) -> float | None:
    return round(amount / number, 4) if number else None


def _finite(number: float) -> float | None:
    return round(number, 1) if math.isfinite(number) else None
