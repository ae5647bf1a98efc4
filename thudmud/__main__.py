"""Runs the command line as ``python -m thudmud``."""

from __future__ import annotations

import sys

from thudmud.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
