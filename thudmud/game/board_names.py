"""Names of boards that are opened for matches: a material, such as "ash board".

When all materials are in use, an adjective tells the next boards apart: "worn ash board". The names
are numbered, so that every node lists a board under the same number.
"""

from __future__ import annotations

_MATERIALS = (
    "ash birch slate flint beech granite yew sandstone alder limestone larch quartz walnut obsidian"
    " maple chalk hornbeam gneiss cedar shale sycamore onyx poplar alabaster chestnut porphyry cork"
    " pumice ebony serpentine spruce schist driftwood brick"
)

MATERIALS = tuple(_MATERIALS.split())
"""The materials, in the order of use. Few of these words are also names of people."""

ADJECTIVES = ("worn", "dark", "pale", "low", "tall", "broad", "plain", "sturdy")
"""The adjectives, in the order of use."""


def board_name(index: int) -> str:
    """Return the name with an index, from 0."""
    rest, place = divmod(index, len(MATERIALS))
    words = [MATERIALS[place], "board"]
    while rest:
        rest, place = divmod(rest - 1, len(ADJECTIVES))
        words.insert(0, ADJECTIVES[place])
    return " ".join(words)


def board_index(name: str) -> int | None:
    """Return the index of a name from `board_name`, ignoring case; None for any other name."""
    match name.lower().split():
        case [*adjectives, material, "board"] if material in MATERIALS:
            rest = 0
            for each in adjectives:
                if each not in ADJECTIVES:
                    return None
                rest = rest * len(ADJECTIVES) + ADJECTIVES.index(each) + 1
            return rest * len(MATERIALS) + MATERIALS.index(material)
    return None
