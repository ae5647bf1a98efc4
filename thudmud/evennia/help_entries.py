"""All pages of help as entries of Evennia's help system, for MUDs that want them there.

To have them, add "thudmud.evennia.help_entries" to ``FILE_HELP_ENTRY_MODULES`` in the settings of
the MUD. Near a board, ``help move`` and the like work without.
"""

from __future__ import annotations

from thudmud.views.help import PAGES, Page

_WIDTH = 79
"""The width that Evennia assumes: entries are the same for all readers."""

_GAME = "thud"
"""The page that explains the game, and the first word of the names of all others."""


def _entry(page: Page) -> dict[str, object]:
    named = page.topic == _GAME
    return {
        "key": _GAME if named else f"{_GAME} {page.topic}",
        "category": "Thud",
        "text": "\n".join(page.rows(_WIDTH)).replace("|", "||").replace("{{", "{{{{"),
    }


HELP_ENTRY_DICTS = [_entry(page) for page in PAGES.values()]
