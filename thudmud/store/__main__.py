"""The check of everything as a program: ``python -m thudmud.store FILE``, for who has that open.

Without a file it is of a database of PostgreSQL. How to connect to that is read from the standard
input, since everybody can see the words of a command.
"""

import sys
from pathlib import Path

from thudmud.store.checking import run

sys.exit(run(Path(sys.argv[1]), held=True) if sys.argv[1:] else run(None, sys.stdin.read()))
