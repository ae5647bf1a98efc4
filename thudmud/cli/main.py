"""The command line: `thudmud` and its subcommands.

Each subcommand has a module in `thudmud.cli`. Its ``declare`` adds the options to a parser. Its
``run`` carries out the subcommand and returns the exit status: 0 for success, 2 for an unusable
command line, configuration or file. Only the module of the current subcommand is imported, so that
small subcommands start quickly.

A closed pipe (`thudmud script FILE | head`) and Ctrl-C are not reported as errors. The exit status
is then that of a program killed by SIGPIPE or SIGINT. If standard output is unusable, the server
runs nevertheless, and `thudmud health` answers by its exit status.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Container, Sequence
from importlib import import_module

from thudmud.cli.output import guard_streams, has_terminal, report_failure
from thudmud.version import VERSION, install_hint

SUBCOMMANDS = {
    "serve": ("serve", "run the game server", "--port 9618"),
    "config": ("config", "write a configuration to start from, or check one", "config.toml"),
    "health": ("health", "check whether the server is running and can store events", ""),
    "doctor": ("doctor", "check what a server needs of this machine", "--config config.toml"),
    "gateway": ("gateway", "provide boards to other MUDs", "--config config.toml"),
    "board": ("board", "list, open, close and rename the boards in the hall", "list"),
    "user": ("user", "list and change players' accounts", "list"),
    "store": ("store", "check, copy or shrink the store", "check"),
    "export": ("export", "write past battles to files", "--player Anna --to records"),
    "import": ("import_", "read battles from files", "game.thud"),
    "perft": ("perft", "count the sequences of a number of legal plies (perft)", "2"),
    "replay": ("replay", "check a game record and draw its last position", "game.thud"),
    "draw": ("draw", "draw a battle as SVG, PNG or animated GIF", "game.thud -o board.png"),
    "script": ("script", "play transcripts and compare the output", "game.thud-script"),
    "engine": ("engine", "answer other programs' questions about battles, and play", "--level 3"),
    "match": (
        "match",
        "let two programs play each other, and find the stronger one",
        "'python3 bot.py' thudmud:3 --games 40",
    ),
    "bot": (
        "bot",
        "let a program play on a server, over the network",
        "--connect thud.example.org --name Pebble ./pebble",
    ),
    "play": ("play", "play against the computer in this terminal", "--level 3 --as trolls"),
    "completion": ("completion", "print a script that completes this command in a shell", "bash"),
    "manual": ("manual", "print the manual page of this command", ""),
}
"""Module, one line of help, and the arguments of an example, by subcommand."""


SERVER_NEEDS = frozenset(
    {"argon2", "h11", "pydantic", "pydantic_core", "telnetlib3", "websockets", "werkzeug"}
)
"""Modules installed by the extra "server"."""

POSIX_ONLY = {"doctor", "gateway", "serve"}
"""Subcommands that can't run on Windows. Those that open a store in a file can't, either."""

# Exit statuses as in shells: 128 plus the number of the signal, SIGPIPE or SIGINT.
_NOBODY_READS, _INTERRUPTED = 128 + 13, 128 + 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return the exit status.

    Args:
        arguments: the arguments; None for those of this process, which also prepares the process:
            its standard streams, garbage collection and handling of SIGHUP.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}):
        words.insert(0, "serve")
    if words[0] in POSIX_ONLY and not hasattr(signal, "SIGHUP"):
        print(f'"thudmud {words[0]}" takes POSIX, so not Windows', file=sys.stderr)
        return 2
    output = guard_streams() if arguments is None else None
    if arguments is None and words[0] == "serve":
        _outlive_hangups()
    try:
        try:
            if arguments is None:
                gc.disable()  # imports create little garbage, and collections would slow them down
            options = new_parser(words[:1]).parse_args(words)
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
    except SystemExit as end:  # argparse has printed help or an error
        if output and isinstance(end.code, int):
            end.code = report_failure(output, end.code)
        raise
    except BrokenPipeError:
        # Python flushes standard output once more at exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _NOBODY_READS
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SERVER_NEEDS:
            raise
        _report_missing_extra(words[0], error.name)
        return 2


def _report_missing_extra(subcommand: str, module: str | None) -> None:
    """Print which installation a subcommand needs, and the module that is missing."""
    print(
        f'"thudmud {subcommand}" needs more than the library: {module} is missing.',
        install_hint("server"),
        file=sys.stderr,
    )


def _outlive_hangups() -> None:
    """Ignore SIGHUP until the server has a handler: an early reload mustn't end the process.

    No reload is lost, because the server has yet to read its configuration. Nothing is changed if
    SIGHUP is already ignored (nohup), or if there is a terminal, whose closing ends the server.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL and not has_terminal():
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def new_parser(wanted: Container[str] = SUBCOMMANDS) -> argparse.ArgumentParser:
    """Return a parser of all subcommands, but with the options of only the wanted ones."""
    parser = argparse.ArgumentParser(
        prog="thudmud",
        description="A server for the board game Thud, over telnet and on the web.",
        epilog='Without a subcommand, runs "serve". Example: thudmud play',
    )
    parser.add_argument("--version", action="version", version=f"thudmud {VERSION}")
    subparsers = parser.add_subparsers(metavar="SUBCOMMAND")
    for name, (module, words, example) in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=words,
            description=f"{words[0].upper()}{words[1:]}.",
            epilog=f"Example: thudmud {name} {example}".rstrip(),
        )
        if name in wanted:
            import_module(f"thudmud.cli.{module}").declare(subparser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
