"""The server, with bots that begin their battles at once: ``python -m benchmarks.load.eager``."""

from __future__ import annotations

import sys

from thudmud.bots import opponent
from thudmud.cli.main import main

opponent.START_AFTER = 0.0  # the server is only loaded when it is to run

if __name__ == "__main__":
    sys.exit(main())
