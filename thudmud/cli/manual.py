"""`thudmud manual`: print the manual page of the command, generated from its parsers.

The page is in the roff format of man(7). The attributes of argparse's actions are documented as the
arguments of ``add_argument``, but the list of a parser's actions isn't.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from thudmud.cli.main import SUBCOMMANDS, new_parser
from thudmud.version import VERSION


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Print the manual page of this command with all its subcommands, in the format of man: "
        '"thudmud manual | man -l -" shows it, and saved as ~/.local/share/man/man1/thudmud.1 it '
        'is shown by "man thudmud".'
    )
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Print the page."""
    print("\n".join(manual_page(new_parser())))
    return 0


def manual_page(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of the manual page for a parser and its subparsers."""
    yield f'.TH {parser.prog.upper()} 1 "" "thudmud {VERSION}" "User Commands"'
    yield from (".SH NAME", rf"{_text(parser.prog)} \- play and serve the board game Thud")
    yield from (".SH SYNOPSIS", f".B {_text(parser.prog)}", r"\fISUBCOMMAND\fR ...")
    yield from (".SH DESCRIPTION", *_paragraphs(parser))
    yield from (".SH OPTIONS", *_arguments(parser))
    yield ".SH SUBCOMMANDS"
    for name, subparser in _subparsers(parser).items():
        yield from _section(subparser, f"{subparser.prog} - {SUBCOMMANDS[name][1]}")
    yield ".SH FILES"
    yield from (".TP", ".I config.toml", 'The configuration; "thudmud config" writes one.')
    yield ".SH EXIT STATUS"
    yield "0 for success, 2 for an unusable command line, configuration or file, and 75 if trying"
    yield "again later may help; other values are explained with their subcommands."


def _section(parser: argparse.ArgumentParser, heading: str) -> Iterator[str]:
    """Yield the lines about a subcommand, and about its own subcommands."""
    yield f".SS {_text(heading)}"
    vars(parser).update(color=False)  # for Python 3.14, in a terminal
    yield from (".PP", ".B " + _text(" ".join(parser.format_usage().split()[1:])), ".PP")
    yield from _paragraphs(parser)
    yield from _arguments(parser)
    for action in _subparsers(parser).values():
        yield from _section(action, action.prog)


def _paragraphs(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the description and the example of a parser."""
    is_raw = parser.formatter_class is argparse.RawDescriptionHelpFormatter
    yield from (".nf",) if is_raw else ()
    yield from map(_text, (parser.description or "").splitlines())
    yield from (".fi",) if is_raw else ()
    yield from (".PP", _text(parser.epilog or ""))


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the arguments of a parser with their help, apart from --help."""
    for action in _actions(parser):
        if isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)):  # noqa: SLF001
            continue
        values = "" if action.nargs == 0 else f"\\fI{_text(_placeholder(action))}\\fR"
        names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
        yield ".TP"
        yield " ".join(filter(None, (names, values)))
        yield _text((action.help or "") % {**vars(action), "prog": parser.prog})


def _placeholder(action: argparse.Action) -> str:
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    if action.metavar is None and action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.metavar or action.dest.upper()


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands by name."""
    for action in _actions(parser):
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  (see above)
            return dict(action.choices)
    return {}


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001  (there is no public list)


def _text(line: str) -> str:
    """Escape a line of text."""
    escaped = line.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
