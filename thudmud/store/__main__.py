"""The check of everything as a program: ``python -m thudmud.store FILE``."""

import sys

from thudmud.store.checking import main

sys.exit(main(sys.argv[1:]))
