"""`thudmud completion`: print a script that completes the command line in a shell.

The script is generated from the parsers by shtab, and is complete in itself: pressing Tab starts no
Python.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.cli.common import refuse
from thudmud.cli.main import new_parser
from thudmud.version import install_hint

SHELLS = ("bash", "zsh", "fish")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Print a script that completes subcommands, options and files when you press Tab. For "
        'bash: eval "$(thudmud completion bash)", or save the output as '
        "~/.local/share/bash-completion/completions/thudmud. docs/tools.md has the other shells. "
        'This needs the extra "completion".'
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script for a shell."""
    try:
        import shtab  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError:
        return refuse(f"completion needs shtab. {install_hint('completion')}")
    parser = new_parser()
    _complete_files(parser, shtab.FILE)
    print(shtab.complete(parser, options.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser, completer: object) -> None:
    """Have the arguments that are paths completed by the names of files."""
    for action in parser._actions:  # noqa: SLF001  (as shtab does, which has no public way)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  (as above)
            for subparser in action.choices.values():
                _complete_files(subparser, completer)
        elif action.type is Path:
            action.complete = completer  # type: ignore[attr-defined]
