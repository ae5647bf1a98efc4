"""The version of thudmud, defined only here, and how to add to an installation."""

import sys

VERSION = "0.1.0"


def installation_of(extra: str) -> str:
    """Return how to install an extra, as the rest of a sentence for operators.

    Nothing can be added to ``thudmud.pyz``, the server in a single file.
    """
    if sys.argv and sys.argv[0].endswith(".pyz"):
        return f'thudmud.pyz can\'t contain it; install the wheel with the extra "{extra}" instead'
    return f'pip install "thudmud[{extra}]" installs it'
