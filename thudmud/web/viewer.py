"""Bundler of the battle viewer: one JavaScript file, ``thud-game.js``, for use in any page.

The bundle wraps each of the page's modules in a function of its own, and includes the pieces and
the styles. ``python -m thudmud.web.viewer`` prints it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from thudmud.web.bundler import bundle_modules
from thudmud.web.styles import with_plain_colours

NAME = "thud-game.js"

_PAGE = Path(__file__).parent / "page"
_LAST = "viewer.js"
_ROOT = re.compile(r":root \{.*?\n\}\n", re.DOTALL)


def bundle() -> bytes:
    """Return the bundled viewer as JavaScript source."""
    modules = bundle_modules(_LAST, _read)
    arguments = ", ".join(json.dumps(each) for each in (_read("pieces.svg"), _style()))
    head = "// <thud-game>: battles of Thud in any page. MIT licence.\n"
    # In a block, so that no name gets into the page.
    return f"{head}{{\n{modules}define({arguments});\n}}\n".encode()


def _read(name: str) -> str:
    return (_PAGE / name).read_text("utf-8")


def _style() -> str:
    """Return the style sheet, scoped to the custom element by ``:host``."""
    theme = _ROOT.search(_read("page.css"))
    whole = (theme[0] if theme else "") + _read("schemes.css")
    whole = re.sub(r"\[data-scheme=(.*?)\]", r":host([scheme=\1])", whole.replace(":root", ":host"))
    return with_plain_colours(whole) + _read("board.css") + _read("viewer.css")


if __name__ == "__main__":
    sys.stdout.buffer.write(bundle())
