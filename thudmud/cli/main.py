"""The command line: `thudmud` and its subcommands.

Each subcommand has a module in `thudmud.cli`: ``declare`` adds its options to a parser, and ``run``
does what they say and returns the exit status: 0 for success, 2 for a command line, a configuration
or a file that cannot be used. Only one of these modules is loaded, so that the small ones start at
once.

Whoever reads what is printed may stop (`thudmud script FILE | head`), and Ctrl-C ends everything:
neither is an error to tell of. The status is then that of a program which the signal has ended.
Where nothing can be printed at all, a server serves, and `thudmud health` tells by its status.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from thudmud.cli.output import guard_streams, has_terminal, report_failure
from thudmud.version import VERSION

SUBCOMMANDS = {
    "serve": ("serve", "run the server that people play on"),
    "config": ("config", "write a configuration to start from"),
    "health": ("health", "tell whether the server is running and can store what happens"),
    "gateway": ("gateway", "give other MUDs boards"),
    "board": ("board", "list, open, close and rename the boards in the hall"),
    "user": ("user", "list and change the accounts of players"),
    "store": ("store", "check what is stored, copy it, or make it smaller"),
    "export": ("export", "write past battles to files"),
    "import": ("import_", "read battles from files"),
    "perft": ("perft", "count the distinct outcomes of a number of plies"),
    "replay": ("replay", "check a game record and draw the board that it ends with"),
    "draw": ("draw", "draw a battle as SVG, PNG or animated GIF"),
    "script": ("script", "play transcripts and compare what is seen"),
    "engine": ("engine", "answer questions about battles, and play, for other programs"),
    "match": ("match", "let two programs play against each other, and tell which is stronger"),
    "play": ("play", "play against the computer, in this terminal"),
}
"""For each subcommand its module, and a line of help."""


SERVER_NEEDS = frozenset(
    {"argon2", "h11", "pydantic", "pydantic_core", "telnetlib3", "websockets", "werkzeug"}
)
"""The modules that the extra "server" brings."""

_NOBODY_READS, _INTERRUPTED = 128 + 13, 128 + 2  # as shells have it: 128 and the signal's number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default this process's; return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}):
        words.insert(0, "serve")
    output = guard_streams() if arguments is None else None
    if arguments is None and words[0] == "serve":
        _outlive_hangups()
    try:
        try:
            if arguments is None:
                gc.disable()  # what is loaded stays, and to look for garbage in it takes long
            options = _parser(words[0]).parse_args(words)
            if arguments is None:
                gc.freeze()
                gc.enable()
            run: Callable[[argparse.Namespace], int] = options.run
            if output:
                output.is_needed = getattr(options, "is_output_needed", True)
            status = run(options)
        finally:
            sys.stdout.flush()
        return report_failure(output, status) if output else status
    except SystemExit as end:  # argparse has printed help, or what is wrong with the options
        if output and isinstance(end.code, int):
            end.code = report_failure(output, end.code)
        raise
    except BrokenPipeError:
        # Python would try to print the rest once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NOBODY_READS
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SERVER_NEEDS:
            raise
        print(
            f'"thudmud {words[0]}" needs more than the library: pip install "thudmud[server]"',
            f"brings it ({error.name} is missing).",
            file=sys.stderr,
        )
        return 2


def _outlive_hangups() -> None:
    """Let SIGHUP do nothing until the server handles it: a reload would read what is read then.

    Where it is ignored already, or a terminal was closed, that is left as it is.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL and not has_terminal():
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def _parser(wanted: str) -> argparse.ArgumentParser:
    """Return a parser that knows the options of one subcommand, the one that is wanted."""
    parser = argparse.ArgumentParser(
        prog="thudmud",
        description="A server on which people play Thud, by telnet and on a web page.",
        epilog='Without a subcommand, "serve" is run.',
    )
    parser.add_argument("--version", action="version", version=VERSION)
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    for name, (module, words) in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}."
        )
        if name == wanted:
            import_module(f"thudmud.cli.{module}").declare(subparser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
