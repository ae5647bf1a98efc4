"""Socials: emotes that need one word, such as ``smile`` and ``smile at anna``.

The words are those of the terminal ``SMILE`` of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Deed(NamedTuple):
    """The texts of a social, which follow the name of the player.

    Attributes:
        alone: the text for the whole room.
        to: the text for a single player, whose name follows.
    """

    alone: str
    to: str


SOCIALS: Mapping[str, Deed] = MappingProxyType({
    "applaud": Deed("applauds", "applauds"),
    "blink": Deed("blinks", "blinks at"),
    "blush": Deed("blushes", "blushes and looks at"),
    "bow": Deed("bows", "bows to"),
    "cheer": Deed("cheers", "cheers for"),
    "chuckle": Deed("chuckles", "chuckles at"),
    "clap": Deed("claps", "claps for"),
    "cough": Deed("coughs", "coughs and looks at"),
    "curtsy": Deed("curtsies", "curtsies to"),
    "frown": Deed("frowns", "frowns at"),
    "gasp": Deed("gasps", "gasps at"),
    "giggle": Deed("giggles", "giggles at"),
    "glare": Deed("glares", "glares at"),
    "grin": Deed("grins", "grins at"),
    "groan": Deed("groans", "groans at"),
    "hug": Deed("hugs everybody", "hugs"),
    "laugh": Deed("laughs", "laughs with"),
    "nod": Deed("nods", "nods to"),
    "poke": Deed("pokes the table", "pokes"),
    "ponder": Deed("ponders", "ponders and looks at"),
    "salute": Deed("salutes", "salutes"),
    "shrug": Deed("shrugs", "shrugs at"),
    "sigh": Deed("sighs", "sighs at"),
    "smile": Deed("smiles", "smiles at"),
    "thank": Deed("thanks everybody", "thanks"),
    "wave": Deed("waves", "waves to"),
    "whistle": Deed("whistles", "whistles at"),
    "wince": Deed("winces", "winces at"),
    "wink": Deed("winks", "winks at"),
    "yawn": Deed("yawns", "yawns at"),
})  # fmt: skip
"""The texts of all socials, by word."""

_GESTURES = frozenset(deed.alone.split()[0] for deed in SOCIALS.values())

_ONE_SENTENCE = re.compile("([a-z]++)[A-Za-z', -]*+[.!?]?", re.ASCII)


def is_gesture(text: str) -> bool:
    """Whether an emote is a single sentence that begins like a social, such as "smiles broadly".

    No sentence of the server begins like that, so such an emote needs no mark.
    """
    found = _ONE_SENTENCE.fullmatch(text)
    return found is not None and found[1] in _GESTURES
