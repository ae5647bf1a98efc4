"""All help pages as entries for Evennia's help system. Optional.

To use them, add "thudmud.evennia.help_entries" to ``FILE_HELP_ENTRY_MODULES`` in the settings of
the MUD. Near a board, ``help move`` and the like work without it.
"""

from __future__ import annotations

from thudmud.evennia.host import LEFT_OUT
from thudmud.views.help import Page, pages_without

PAGES_HERE = pages_without(frozenset(LEFT_OUT))
"""The help pages that apply to a board in a MUD."""

_WIDTH = 79
"""The width that Evennia assumes, since entries are the same for all readers."""

_GAME = "thud"
"""The topic of the main page, and the first word of the keys of all other entries."""

_CATEGORY = "Board games"
"""The category can't be "Thud": ``help thud`` would list it instead of the page."""


def _entry(page: Page, key: str) -> dict[str, object]:
    text = "\n".join(page.rows(_WIDTH)).replace("|", "||").replace("{{", "{{{{")
    return {"key": key, "category": _CATEGORY, "text": text}


HELP_ENTRY_DICTS = [
    _entry(page, _GAME if page.topic == _GAME else f"{_GAME} {page.topic}")
    for page in PAGES_HERE.values()
]
# An alias with the prefix of all other topics, hidden from lists.
HELP_ENTRY_DICTS.append(
    _entry(PAGES_HERE[_GAME], f"{_GAME} {_GAME}") | {"locks": "view:false();read:all()"}
)
