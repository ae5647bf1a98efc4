"""All pages of help as entries of Evennia's help system, for MUDs that want them there.

To have them, add "thudmud.evennia.help_entries" to ``FILE_HELP_ENTRY_MODULES`` in the settings of
the MUD. Near a board, ``help move`` and the like work without.
"""

from __future__ import annotations

from thudmud.evennia.host import LEFT_OUT
from thudmud.views.help import Page, pages_without

PAGES_HERE = pages_without(frozenset(LEFT_OUT))
"""The pages about what there is at a board in a MUD."""

_WIDTH = 79
"""The width that Evennia assumes: entries are the same for all readers."""

_GAME = "thud"
"""The page that explains the game, and the first word of the names of all others."""

_CATEGORY = "Board games"
"""Not "Thud": `help thud` would list the category."""


def _entry(page: Page, key: str) -> dict[str, object]:
    text = "\n".join(page.rows(_WIDTH)).replace("|", "||").replace("{{", "{{{{")
    return {"key": key, "category": _CATEGORY, "text": text}


HELP_ENTRY_DICTS = [
    _entry(page, _GAME if page.topic == _GAME else f"{_GAME} {page.topic}")
    for page in PAGES_HERE.values()
]
# As all other topics are asked for; no list shows it.
HELP_ENTRY_DICTS.append(
    _entry(PAGES_HERE[_GAME], f"{_GAME} {_GAME}") | {"locks": "view:false();read:all()"}
)
