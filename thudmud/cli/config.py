"""`thudmud config`: write an initial configuration that explains every setting."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from thudmud.cli.common import write_whole
from thudmud.cli.configured import reports_errors
from thudmud.errors import CommandError, system_reason
from thudmud.server.config import default_config_text


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write a configuration to start from: every setting with its default and an explanation."
    )
    words = "a file that doesn't exist yet; default: standard output"
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
            raise CommandError(f"{options.file} already exists; not overwritten")
        write_whole(options.file, default_config_text().encode())
    except OSError as error:
        raise CommandError(f"cannot write {options.file}: {system_reason(error)}") from error
    print(f"Wrote {options.file}. To use it: thudmud serve --config {options.file}")
    return 0
