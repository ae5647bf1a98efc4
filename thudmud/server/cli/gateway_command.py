"""The options of `thudmud gateway`. `thudmud.server.cli.gatewaying` is what runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from thudmud.server.cli.options import later, port


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="default: ./config.toml if any")
    parser.add_argument("--port", type=port, help="the port, instead of gateway.port")
    parser.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output instead"
    )
    parser.set_defaults(run=later("gatewaying"))
