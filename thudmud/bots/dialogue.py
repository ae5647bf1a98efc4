"""Engine side of the engine protocol (`docs/engine.md`): one line of answer per line of input.

This module does no I/O. The search is imported on first use, so that an engine starts quickly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from thudmud.errors import ThudmudError
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Game,
    IllegalMoveError,
    find_ruleset,
    perft,
    read_position,
    write_position,
)

if TYPE_CHECKING:
    from thudmud.search.levels import Level
    from thudmud.search.player import Player
    from thudmud.search.search import Limit, SearchResult

LONGEST_LINE = 65_536
"""Maximum length of a line, in characters."""

DEFAULT_SECONDS = 1.0
"""Thinking time in seconds if neither a limit nor a level is set."""

LONGEST_THOUGHT = 3600.0
SILENT = 1.0
"""Seconds without a comment after which "# thinking" is sent, if "info" is on."""

DEEPEST_COUNT = 20
"""Maximum depth of "perft"; far lower depths already take longer than anybody waits."""

MORE = "..."
"""Marks the end of an incomplete list."""

_COMMENT = "#"
_OFF, _ON = "off", "on"
_SHARE = 0.7  # of the time limit; the rest is a reserve for ending the search and for pipes
_SECONDS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)
_LONGEST_QUOTE = 40
_LONGEST_ERROR = 300


class _BadLineError(ThudmudError):
    """An invalid command line."""


class Dialogue:
    """Engine side of a dialogue, with the state of its battle.

    Args:
        title: name of the engine.
        clock: monotonic clock, in seconds.
        seed: seed of random choices.
        is_stopped: returns whether to answer at once; polled during a search.
        tell: called with comments during a search.

    Attributes:
        ended: whether "quit" has been answered.
    """

    def __init__(
        self,
        title: str,
        clock: Callable[[], float],
        seed: int = 0,
        *,
        is_stopped: Callable[[], bool] = lambda: False,
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.ended = False
        self._clock, self._seed = clock, seed
        self._is_stopped, self._tell = is_stopped, tell
        self._game = Game.start(DEFAULT_RULES)
        self._level: Level | None = None
        self._informs = False
        self._players: dict[Level | None, Player] = {}
        """Players of the current rules by level; they keep their search results between plies."""
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "name": _without_arguments(lambda: title),
            "capabilities": _without_arguments(self._capabilities),
            "rules": self._rules,
            "position": self._position,
            "moves": self._moves,
            "legal": _without_arguments(self._legal),
            "play": self._play,
            "ply": self._play,
            "undo": _without_arguments(self._undo),
            "score": _without_arguments(self._score),
            "result": _without_arguments(self._result),
            "perft": self._perft,
            "level": self._set_level,
            "seed": self._set_seed,
            "go": self._go,
            "worth": self._worth,
            "line": self._line,
            "info": self._info,
            "stop": _without_arguments(str),
            "quit": _without_arguments(self._quit),
        }

    def answer(self, line: str) -> str | None:
        """Return the answer to a line; None for a blank line or a comment."""
        words = line[: LONGEST_LINE + 1].split()
        if not words or words[0].startswith(_COMMENT):
            return None
        word, *rest = words
        try:
            command = self._command(word, len(line))
            return " ".join(filter(None, (word, command(rest))))
        except IllegalMoveError as refusal:
            from thudmud.views.refusals import refusal_text  # noqa: PLC0415  (for refusals alone)

            # The protocol names columns by the letters of records, unlike the game itself.
            return f"error {refusal_text(refusal, name=attrgetter('record_name'))}"
        except (_BadLineError, ValueError) as wrong:
            return f"error {_printable(str(wrong))}"

    def _command(self, word: str, length: int) -> Callable[[list[str]], str]:
        if length > LONGEST_LINE:
            raise _BadLineError(f"line longer than {LONGEST_LINE} characters")
        if word not in self._commands:
            raise _BadLineError(
                f"unknown word {_quoted(word)}; expected one of {', '.join(self._commands)}"
            )
        return self._commands[word]

    # Commands: they return the answer without its first word, which `answer` adds.

    def _capabilities(self) -> str:
        from thudmud.search.levels import LEVELS  # noqa: PLC0415

        known = {
            "words": self._commands,
            "rules": [name.replace(" ", "-") for name in RULESETS],
            "levels": [level.name for level in LEVELS],
        }
        return " ".join(f"{kind}={','.join(names)}" for kind, names in known.items())

    def _rules(self, words: list[str]) -> str:
        if words:
            rules = find_ruleset(" ".join(words))
            if rules is None:
                known = ", ".join(RULESETS)
                raise _BadLineError(
                    f"unknown rules {_quoted(' '.join(words))}; expected one of {known}"
                )
            if rules != self._game.ruleset:
                self._players.clear()
            self._game = Game.start(rules)
        return self._game.ruleset.name

    def _position(self, words: list[str]) -> str:
        rules = self._game.ruleset
        match words:
            case []:
                pass
            case ["start"]:
                self._game = Game.start(rules)
            case [_, "dwarf" | "troll"]:
                self._game = Game.start(rules, read_position(" ".join(words), rules))
            case _:
                raise _BadLineError(
                    'usage: "position", "position start" or "position SETUP dwarf|troll"'
                )
        return write_position(self._game.position)

    def _moves(self, words: list[str]) -> str:
        if words:
            game = Game.start(self._game.ruleset, self._game.initial_position)
            for word in words:
                game = _push_ply(game, word)
            self._game = game
        return " ".join(map(str, self._game.moves))

    def _legal(self) -> str:
        listed, has_more = self._game.listed_moves()
        return " ".join([*map(str, listed), *([MORE] if has_more else [])])

    def _play(self, words: list[str]) -> str:
        if len(words) != 1:
            raise _BadLineError('usage: "play PLY", with one ply')
        self._game = _push_ply(self._game, words[0])
        return str(self._game.moves[-1])

    def _undo(self) -> str:
        game = self._game
        self._game = game.undo()
        return str(game.moves[-1])

    def _score(self) -> str:
        score = self._game.score
        return f"{score.dwarf}-{score.troll}"

    def _result(self) -> str:
        outcome = self._game.outcome
        if outcome is None:
            return "open"
        winner = outcome.winner.value if outcome.winner else "none"
        return f"{winner} {outcome.score.dwarf}-{outcome.score.troll} {outcome.ending.value}"

    def _perft(self, words: list[str]) -> str:
        if len(words) != 1 or not _COUNT.fullmatch(words[0]) or int(words[0]) > DEEPEST_COUNT:
            raise _BadLineError(f'usage: "perft N", with N from 0 to {DEEPEST_COUNT}')

        def look() -> None:
            if self._is_stopped():
                raise _BadLineError("stopped before everything was counted")

        return str(perft(self._game.ruleset, self._game.position, int(words[0]), look))

    def _set_level(self, words: list[str]) -> str:
        if words == [_OFF]:
            self._level = None
        elif words:
            from thudmud.search.levels import find_level  # noqa: PLC0415  (as above)

            self._level = find_level(" ".join(words))
        return str(self._level or _OFF)

    def _set_seed(self, words: list[str]) -> str:
        match words:
            case []:
                pass
            case [number] if _COUNT.fullmatch(number):
                if int(number) != self._seed:
                    # Only players with deliberate errors depend on the seed. The others keep their
                    # search results.
                    self._players = {
                        level: player
                        for level, player in self._players.items()
                        if level is None or not level.is_fallible
                    }
                self._seed = int(number)
            case _:
                raise _BadLineError('usage: "seed" or "seed N", with at most nine digits')
        return str(self._seed)

    def _go(self, words: list[str]) -> str:
        return str(self._search("go", words, self._level).move)

    def _worth(self, words: list[str]) -> str:
        return _format_score(self._search("worth", words).score)

    def _line(self, words: list[str]) -> str:
        return " ".join(map(str, self._search("line", words).principal_variation))

    def _search(self, word: str, words: list[str], level: Level | None = None) -> SearchResult:
        """Search the current position within the limits given by the words of a command."""
        from thudmud.search.player import Player  # noqa: PLC0415

        limit, game = self._limit(word, words, level), self._game
        if game.outcome:
            raise _BadLineError("the battle is over")
        if level not in self._players:
            self._players[level] = Player(game.ruleset, level, self._seed)
        if not self._informs:
            return self._players[level].think(game, limit)
        last: SearchResult | None = None
        said = self._clock()

        def report(thought: SearchResult) -> None:
            nonlocal last, said
            last, said = thought, self._clock()
            self._report(thought)

        def is_late() -> bool:
            nonlocal last, said
            if self._clock() >= said + SILENT:
                last, said = None, self._clock()
                self._tell("# thinking")
            return limit.should_stop()

        thought = self._players[level].think(game, replace(limit, should_stop=is_late), report)
        if thought != last:  # the last iteration was incomplete, so it was not reported
            self._report(thought)
        return thought

    def _limit(self, word: str, words: list[str], level: Level | None) -> Limit:
        from thudmud.search.search import Limit  # noqa: PLC0415

        most: dict[str, int] = {"nodes": level.nodes} if level else {}
        seconds = None if level else DEFAULT_SECONDS
        match words:
            case []:
                pass
            case ["nodes" | "depth" as what, number] if _COUNT.fullmatch(number):
                most[what], seconds = int(number), None
            case [number] if _SECONDS.fullmatch(number):
                seconds = min(float(number), LONGEST_THOUGHT)
            case _:
                forms = [f'"{word}{rest}"' for rest in ("", " SECONDS", " nodes N")]
                raise _BadLineError(f'usage: {", ".join(forms)} or "{word} depth N"')
        if seconds is None:
            return Limit(**most, should_stop=self._is_stopped)
        end = self._clock() + _SHARE * seconds
        return Limit(**most, should_stop=lambda: self._clock() >= end or self._is_stopped())

    def _report(self, thought: SearchResult) -> None:
        score, line = _format_score(thought.score), " ".join(map(str, thought.principal_variation))
        self._tell(f"# depth {thought.depth} nodes {thought.nodes} worth {score} line {line}")

    def _info(self, words: list[str]) -> str:
        match words:
            case []:
                pass
            case ["on" | "off" as switch]:
                self._informs = switch == _ON
            case _:
                raise _BadLineError('usage: "info", "info on" or "info off"')
        return _ON if self._informs else _OFF

    def _quit(self) -> str:
        self.ended = True
        return ""


def _format_score(score: int) -> str:
    """Format a value in hundredths of a dwarf as dwarfs."""
    return f"{score / 100:+.2f}"


def _push_ply(game: Game, word: str) -> Game:
    """Return a battle after one more ply, given in the notation of records."""
    if game.outcome:
        raise _BadLineError("the battle is over")
    return game.push(word)


def _without_arguments(command: Callable[[], str]) -> Callable[[list[str]], str]:
    """Wrap a command without arguments, so that it rejects further words."""

    def answer(words: list[str]) -> str:
        if words:
            raise _BadLineError(f"expected no arguments, got {_quoted(' '.join(words))}")
        return command()

    return answer


def _quoted(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}...")


def _printable(text: str) -> str:
    """Return an error message as one short line of ASCII, because it may quote its input."""
    plain = text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
    return plain if len(plain) <= _LONGEST_ERROR else f"{plain[:_LONGEST_ERROR]}..."
