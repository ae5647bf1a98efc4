"""The check of everything as a program: ``python -m thudmud.store FILE``."""

import sys
from pathlib import Path

from thudmud.store.checking import run

sys.exit(run(Path(sys.argv[1])))
