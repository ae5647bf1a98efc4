"""The check of a store as a program, ``python -m thudmud.store FILE``, started by a running server.

Without a file, a PostgreSQL database is checked. Its connection string is read from standard input,
because every user of the machine can see the arguments of a process.
"""

import sys
from pathlib import Path

from thudmud.store.checking import run

sys.exit(run(Path(sys.argv[1]), held=True) if sys.argv[1:] else run(None, sys.stdin.read()))
