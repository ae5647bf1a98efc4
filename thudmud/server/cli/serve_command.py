"""The options of `thudmud serve`. `thudmud.server.cli.serving` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.server.cli.options import later, port


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = "Listen."
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")
    parser.add_argument(
        "--host", type=_host, help="the address to listen on, instead of server.host"
    )
    parser.add_argument("--port", type=port, help="the port, instead of server.port")
    parser.set_defaults(run=later("serving"))


def _host(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("should be an address or a host's name")
    return text
