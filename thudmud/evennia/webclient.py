"""What the settings of a MUD name, so that Evennia's web client draws boards.

Evennia serves the files: the board of our own web page, and beside it a plugin that puts it into a
panel. Nothing of Evennia or Django is imported here, for settings are read before either is ready.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

STATIC = [
    ("thud", str(_HERE.parent / "web" / "page")),
    ("thud/evennia", str(_HERE / "static")),
]
"""For ``STATICFILES_DIRS``."""

TEMPLATES = str(_HERE / "templates")
"""For the ``DIRS`` of ``TEMPLATES``, in front: what a MUD or Evennia has there is added to."""
