"""`thudmud config`: write an initial configuration that explains every setting, or check one."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from thudmud.cli.common import refuse, write_whole
from thudmud.cli.configured import reports_errors
from thudmud.errors import CommandError, system_reason
from thudmud.server.config import (
    DEFAULT,
    Settings,
    config_folder,
    default_config_text,
    load_settings,
)
from thudmud.server.preflight import find_problems

CHECK = "check"
SERVED = "Ports in use, presumably by the server that runs now:"


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Write a configuration to start from: every setting with its default and an explanation. "
        'With "check", try an existing one instead: say whatever "thudmud serve" would refuse, '
        "such as a wrong value, a port in use or an unusable certificate. The exit status is then "
        "0 if a server could start, and 2 if not. A server that is running isn't disturbed."
    )
    parser.usage = f"{parser.prog} [-h] [FILE]\n       {parser.prog} check [FILE]"
    words = (
        'a file that doesn\'t exist yet, by default standard output; after "check", an existing '
        f"file, by default {DEFAULT}"
    )
    parser.add_argument("words", nargs="*", metavar="FILE", help=words)
    parser.set_defaults(run=run, refuse_line=parser.error)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Write the configuration to a new file or to standard output, or check one."""
    words = options.words
    is_check = words[:1] == [CHECK]
    files = [Path(each) for each in (words[1:] if is_check else words)]
    if len(files) > 1:
        options.refuse_line(f"expected one file, got {len(files)}")
    if is_check:
        path = files[0] if files else DEFAULT
        return check(load_settings(path), path)
    if not files:
        sys.stdout.write(default_config_text())
        return 0
    file = files[0]
    try:
        if file.exists():
            raise CommandError(
                f"{file} already exists; not overwritten. To check it: thudmud config check {file}"
            )
        write_whole(file, default_config_text().encode())
    except OSError as error:
        raise CommandError(f"cannot write {file}: {system_reason(error)}") from error
    print(f"Wrote {file}. To use it: thudmud serve --config {file}")
    return 0


def check(settings: Settings, path: Path | None) -> int:
    """Print the reasons why a server couldn't start with these settings; return the exit status.

    Args:
        settings: all settings.
        path: their file; None for the defaults.
    """
    found = asyncio.run(find_problems(settings, config_folder(path)))
    if found.problems:
        return refuse(*(f"{path}: {each}" if path else each for each in found.problems))
    remark = f" {SERVED} {', '.join(map(str, found.served))}." if found.served else ""
    print(f"{path or 'The default configuration'} is in order.{remark}")
    return 0
