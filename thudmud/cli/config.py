"""`thudmud config`: write an initial configuration that explains every setting."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from thudmud.cli.common import write_whole
from thudmud.cli.configured import reports_errors
from thudmud.errors import CommandError
from thudmud.server.config import default_config_text


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write a configuration to start from: every setting, explained, with its default."
    )
    words = "a file that does not exist yet; default: standard output"
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help=words)
    parser.set_defaults(run=run)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Write the configuration to a new file or to standard output."""
    if options.file is None:
        sys.stdout.write(default_config_text())
        return 0
    try:
        if options.file.exists():
            raise CommandError(f"{options.file} exists already, and is left as it is")
        write_whole(options.file, default_config_text().encode())
    except OSError as error:
        raise CommandError(f"{options.file} cannot be written: {error.strerror}") from error
    print(f"{options.file} is written; thudmud serve --config {options.file} uses it.")
    return 0
