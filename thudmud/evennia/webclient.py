"""Paths for the settings of a MUD, so that Evennia's web client draws boards.

Evennia serves the files: the board of our own web page, and a plugin that puts the board into a
panel. Neither Evennia nor Django is imported here, since settings are read before they are ready.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

STATIC = [
    ("thud", str(_HERE.parent / "web" / "page")),
    ("thud/evennia", str(_HERE / "static")),
]
"""The entries for ``STATICFILES_DIRS``."""

TEMPLATES = str(_HERE / "templates")
"""The first entry for ``DIRS`` in ``TEMPLATES``: our template extends the MUD's or Evennia's."""
