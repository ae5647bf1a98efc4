"""`thudmud store check`: whether all that is stored is as it was written."""

from __future__ import annotations

import argparse

from thudmud.server import config_file
from thudmud.server.cli.options import CommandError, refuse
from thudmud.server.cli.store_file import store_file
from thudmud.store import checking


def run(options: argparse.Namespace) -> int:
    """Check the file that is named, or else the one of the configuration; say what was found."""
    if options.file and (options.gateway or options.config):
        return refuse("either FILE is checked, or what the configuration names: say one of them")
    try:
        file = options.file or store_file(options.config, gateway=options.gateway)
    except config_file.ConfigError as error:
        return refuse(*error.problems)
    except CommandError as error:
        return refuse(error)
    return checking.run(file)
