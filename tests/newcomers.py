"""The lines of the transcript of a whole match that only newcomers are told."""

from __future__ import annotations

import re

TAUGHT = re.compile(
    r"^\w+\| (?:Move by typing two squares: |Dwarfs and trolls hunt|Lines of dwarfs hurl"
    r'|"tutorial" teaches it|Your move to \w+ captured nothing|and D13\. "undo" asks|"undo" asks'
    r").*\n",
    re.MULTILINE,
)
"""Matches each of them, with its end of line."""
