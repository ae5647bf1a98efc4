"""The version of thudmud, defined only here, and how to add to an installation."""

import sys

VERSION = "0.1.0"


def install_hint(extra: str) -> str:
    """Return how to install an extra, for operators, as a sentence without a full stop.

    Nothing can be added to ``thudmud.pyz``, the server in a single file.
    """
    if sys.argv and sys.argv[0].endswith(".pyz"):
        return f'thudmud.pyz can\'t contain it: install the wheel with the extra "{extra}" instead'
    return f'To add it: pip install "thudmud[{extra}]"'
