"""The server with bots that start at once: ``python -m benchmarks.load.eager``."""

from __future__ import annotations

import sys

from thudmud.bots import opponent
from thudmud.cli.main import main

opponent.START_AFTER = 0.0  # before cli.main imports the server

if __name__ == "__main__":
    sys.exit(main())
