"""Made-up names for guests who don't choose one: three syllables that can be spoken."""

from __future__ import annotations

import secrets

_FIRST = "bal bor bram dag dor dun fal gar gor hal har kar kel lor mar mor nor ral ror sal sten tal"
_LAST = (
    "bin dan dar den din dor gan gar gil kin lan lin mar min mund nar nor ran rik rin stan van var"
    " vin wen win"
)
_VOWELS = "aeiou"


def make_up_name() -> str:
    """Return a random name, such as ``Doralin``; there are more than 2,500."""
    first, last = secrets.choice(_FIRST.split()), secrets.choice(_LAST.split())
    return f"{first.capitalize()}{secrets.choice(_VOWELS)}{last}"
