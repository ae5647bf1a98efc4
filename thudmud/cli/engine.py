"""`thudmud engine`: the engine protocol of `thudmud.bots`, on standard input and output."""

from __future__ import annotations

import argparse
import random
import sys
import time
from contextlib import suppress
from typing import BinaryIO

from thudmud.bots import LONGEST_LINE, Dialogue
from thudmud.version import VERSION

_WHOLE = 2**63


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Answer questions about battles, and play, for other programs. Each line on standard "
        "input is a question, and gets one line as its answer on standard output. The commands "
        "are name, rules, position, moves, legal, play, undo, go and quit; docs/engine.md "
        "describes them."
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--seed",
        type=_seed,
        metavar="N",
        help="choose the same plies each time; default: by chance",
    )


def run(options: argparse.Namespace) -> int:
    """Answer line after line until `quit`, or the end of the input."""
    chance = random.Random(options.seed)  # noqa: S311  (a game, no secret)
    dialogue = Dialogue(f"thudmud {VERSION}", time.monotonic, chance.shuffle)
    with suppress(BrokenPipeError, KeyboardInterrupt):  # nobody reads the answers any more
        _converse(dialogue, sys.stdin.buffer, sys.stdout.buffer)
        return 0
    sys.stderr.close()  # or Python would tell of the pipe again when it ends
    return 0


def _converse(dialogue: Dialogue, asked: BinaryIO, answered: BinaryIO) -> None:
    while not dialogue.ended and (line := asked.readline(LONGEST_LINE + 2)):
        if not line.endswith(b"\n"):
            _pass_over(asked)
        answer = dialogue.answer(line.decode("utf-8", "replace").rstrip("\r\n"))
        if answer is not None:
            answered.write(f"{answer}\n".encode())
            answered.flush()


def _pass_over(asked: BinaryIO) -> None:
    """Read to the end of a line that is too long."""
    while (more := asked.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
        pass


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) < _WHOLE):
        raise argparse.ArgumentTypeError(f"should be a whole number from 0, not {text!r}")
    return int(text)
