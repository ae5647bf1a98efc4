"""Facts in lines of text, for a program whose client has nothing but text.

Owns what such a line looks like, and that no other line looks like one; `docs/machine.md` tells
it. Must never know what happened, nor who reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from thudmud.text.facts import Data, Fact

TAG = "@thud"
"""What a line for a program begins with, in column one."""


def dumped(data: Data) -> str:
    """Return data as JSON: one line, and nothing in it but printable ASCII."""
    return json.dumps(data, separators=(",", ":")).replace("\x7f", "\\u007f")


def line(fact: Fact) -> str:
    """Return a fact as one line, however wide the screen is."""
    kind = fact.package.rpartition(".")[2].lower()
    return f"{TAG} {dumped({'type': kind, **fact.data})}"


def set_apart(lines: Iterable[str]) -> list[str]:
    """Return lines of text so that none is taken for a fact: players can say what they like."""
    return [f" {each}" if each.startswith(TAG) else each for each in lines]
