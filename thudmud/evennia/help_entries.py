"""All pages of help as entries of Evennia's help system, for MUDs that want them there.

Such a MUD has ``FILE_HELP_ENTRY_MODULES += ["thudmud.evennia.help_entries"]`` in its settings.

Nothing is imported that needs a running MUD. Near a board, ``help move`` and the like are there
without it.
"""

from __future__ import annotations

from thudmud.views.help import PAGES, Page

_WIDTH = 79
"""Evennia's own width, unless a client tells another: entries are not made for one reader."""

_GAME = "thud"
"""The page that tells the game, and what the names of all others begin with."""


def _entry(page: Page) -> dict[str, object]:
    named = page.topic == _GAME
    return {
        "key": _GAME if named else f"{_GAME} {page.topic}",
        "category": "Thud",
        "text": "\n".join(page.rows(_WIDTH)).replace("|", "||").replace("{{", "{{{{"),
    }


HELP_ENTRY_DICTS = [_entry(page) for page in PAGES.values()]
