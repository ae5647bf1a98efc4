"""The engine protocol, as `docs/engine.md` describes it: one line asks, one line answers.

A dialogue goes on until `quit`, whatever else it is asked. Pure: the pipes are elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter

from thudmud.bots.choice import MOST_TRAMPLES, choose
from thudmud.errors import ThudmudError
from thudmud.rules import (
    DEFAULT_RULES,
    RULESETS,
    Game,
    IllegalMove,
    Move,
    Ruleset,
    read_position,
    ruleset_called,
    write_position,
)

LONGEST_LINE = 65_536
"""The most characters of a line that is read."""

DEFAULT_SECONDS = 1.0
"""How long "go" thinks if it is not told how long."""

LONGEST_THOUGHT = 3600.0
MOST_LISTED = 2_000
"""How many plies are listed at most."""

MORE = "..."
"""Ends a list that leaves some plies out."""

_COMMENT = "#"
_SHARE = (
    0.7  # of the time that is given; the rest is for the ply that is being looked at, and pipes
)
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", re.ASCII)
_LONGEST_QUOTE = 40
_LONGEST_ERROR = 300


class _BadLineError(ThudmudError):
    """A line that asks for nothing that there is."""


class Dialogue:
    """The answering side of the protocol, and the battle that it is about.

    Args:
        title: what the answering program is called.
        clock: returns seconds that only ever grow.
        shuffle: puts plies in a random order.
        ruleset: what it begins with.
    """

    def __init__(
        self,
        title: str,
        clock: Callable[[], float],
        shuffle: Callable[[list[Move]], None],
        ruleset: Ruleset = DEFAULT_RULES,
    ) -> None:
        self.ended = False
        self._title = title
        self._clock, self._shuffle = clock, shuffle
        self._game = Game.start(ruleset)
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "name": self._name,
            "rules": self._rules,
            "position": self._position,
            "moves": self._moves,
            "legal": self._legal,
            "play": self._play,
            "undo": self._undo,
            "go": self._go,
            "quit": self._quit,
        }

    def answer(self, line: str) -> str | None:
        """Return the answer to a line; None to a blank one and to a comment."""
        words = line[: LONGEST_LINE + 1].split()
        if not words or words[0].startswith(_COMMENT):
            return None
        word, *rest = words
        try:
            command = self._command(word, len(line))
            return " ".join(filter(None, (word, command(rest))))
        except IllegalMove as refusal:
            from thudmud.views.refusals import refused  # noqa: PLC0415  (only a mistake needs it)

            # Columns go by the letters of records here, as everywhere in the protocol.
            return f"error {refused(refusal, name=attrgetter('record_name'))}"
        except (_BadLineError, ValueError) as wrong:
            return f"error {_printable(str(wrong))}"

    def _command(self, word: str, length: int) -> Callable[[list[str]], str]:
        if length > LONGEST_LINE:
            raise _BadLineError(f"that line is longer than {LONGEST_LINE} characters")
        if word not in self._commands:
            raise _BadLineError(
                f"there is no {_quoted(word)}; there are {', '.join(self._commands)}"
            )
        return self._commands[word]

    # The commands: each returns what stands behind its own word.

    def _name(self, words: list[str]) -> str:
        _nothing_more(words)
        return self._title

    def _rules(self, words: list[str]) -> str:
        if words:
            rules = ruleset_called(" ".join(words))
            if rules is None:
                known = ", ".join(RULESETS)
                raise _BadLineError(
                    f"there are no rules {_quoted(' '.join(words))}; there are {known}"
                )
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
                    'it is "position", "position start" or "position SETUP dwarf|troll"'
                )
        return write_position(self._game.position)

    def _moves(self, words: list[str]) -> str:
        if words:
            game = Game.start(self._game.ruleset, self._game.opening)
            for word in words:
                game = _played(game, word)
            self._game = game
        return " ".join(map(str, self._game.moves))

    def _legal(self, words: list[str]) -> str:
        _nothing_more(words)
        game = self._game
        if game.outcome:
            return ""
        moves = game.ruleset.legal_moves(game.position, MOST_TRAMPLES + 1)
        tramples: dict[object, int] = {}
        listed: list[str] = []
        for move in moves:
            if move.trample:
                tramples[move.origin] = tramples.get(move.origin, 0) + 1
            if len(listed) < MOST_LISTED and tramples.get(move.origin, 0) <= MOST_TRAMPLES:
                listed.append(str(move))
        return " ".join([*listed, MORE] if len(listed) < len(moves) else listed)

    def _play(self, words: list[str]) -> str:
        if len(words) != 1:
            raise _BadLineError('it is "play PLY", one ply at a time')
        self._game = _played(self._game, words[0])
        return str(self._game.moves[-1])

    def _undo(self, words: list[str]) -> str:
        _nothing_more(words)
        game = self._game
        self._game = game.undo()
        return str(game.moves[-1])

    def _go(self, words: list[str]) -> str:
        if len(words) > 1 or not all(map(_NUMBER.fullmatch, words)):
            raise _BadLineError('it is "go" or "go SECONDS"')
        seconds = min([float(word) for word in words] or [DEFAULT_SECONDS])
        end = self._clock() + _SHARE * min(seconds, LONGEST_THOUGHT)
        if self._game.outcome:
            raise _BadLineError("the battle is over")
        move = choose(
            self._game.ruleset, self._game.position, self._shuffle, lambda: self._clock() >= end
        )
        return str(move)

    def _quit(self, words: list[str]) -> str:
        _nothing_more(words)
        self.ended = True
        return ""


def _played(game: Game, word: str) -> Game:
    """Return a battle after a ply that is written as records write it."""
    if game.outcome:
        raise _BadLineError("the battle is over")
    return game.push(word)


def _nothing_more(words: list[str]) -> None:
    if words:
        raise _BadLineError(f"nothing follows that word, so not {_quoted(' '.join(words))}")


def _quoted(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}...")


def _printable(text: str) -> str:
    """Return a sentence as one short line of ASCII; some repeat what they were given."""
    plain = text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
    return plain if len(plain) <= _LONGEST_ERROR else f"{plain[:_LONGEST_ERROR]}..."
