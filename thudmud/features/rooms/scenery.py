"""Descriptions of the hall and its boards."""

from __future__ import annotations

from thudmud.game.hall import Hall

HALL = (
    "The beams are low, the hearth is long, and the tables, wood and stone alike, are sticky with"
    " beer."
)

MATERIALS = {
    "oak": "The oak is dark with age, and the rings of a thousand mugs overlap along its edge.",
    "pine": "The pine still smells of resin. A very small troll is carved into one corner.",
    "marble": "The marble is white, and cold to the elbows. A chip in the rim recalls a draw.",
    "basalt": "The basalt came out of a river, worn smooth. So is the bench in front of it.",
    "ash": "The ash has a straight grain and a long scorch mark. Nobody mentions the scorch mark.",
    "birch": "The birch peels a little. Old scores have been kept on the bark.",
    "slate": "The slate used to be a piece of the roof. It rains in where the roof used to be.",
    "flint": "The flint strikes sparks if a troll is put down too hard. A bucket stands ready.",
    "beech": "The beech is scrubbed so often that the squares were redrawn twice, once crookedly.",
    "granite": "The granite took eight people to carry in. It is not going out again.",
    "yew": "The yew was meant to be a bow. It still leans a little to one side.",
    "sandstone": "The sandstone wears away with every battle. A broom belongs to it.",
    "alder": "The alder likes the damp, and in here it gets plenty, mostly beer.",
    "limestone": "The limestone has a fossil snail in it, which belongs to neither side.",
    "larch": "The larch creaks when anybody thinks for too long.",
    "quartz": "The quartz glitters in the candlelight, and both sides squint.",
    "walnut": "The walnut is polished like a mirror. Both players can see who is losing.",
    "obsidian": "The obsidian is black glass with sharp corners. Watch your sleeves.",
    "maple": "The maple is sticky. It might be syrup, but it is probably beer.",
    "chalk": "The chalk leaves white dust on every cuff, so everybody can see who has played.",
    "hornbeam": "The hornbeam is so hard that the squares are painted on. The carver gave up.",
    "gneiss": "The gneiss is striped, which helps with the rows and not at all with the columns.",
    "cedar": "The cedar keeps moths away. It has no effect on dwarfs.",
    "shale": "The shale splits if it is thumped. Please thump the wall instead.",
    "sycamore": "The sycamore has a knot in the middle, just where the Thudstone belongs.",
    "onyx": "The onyx is banded in black and cream, like a good stout.",
    "poplar": "The poplar is light enough to take outside, and has been left there twice.",
    "alabaster": "The alabaster glows if a lamp is put under it. Somebody has put a lamp under it.",
    "chestnut": "The chestnut has soaked up so much beer that it counts as a regular.",
    "porphyry": "The porphyry is dark red with pale spots. It is said to have been white once.",
    "cork": "The cork is quiet: even a hurled dwarf lands without a sound.",
    "pumice": "The pumice floats. This was found out when the cellar flooded.",
    "ebony": "The ebony is so black that captured dwarfs are found by touch.",
    "serpentine": "The serpentine is green and slippery. Nobody leans on this table.",
    "spruce": "The spruce has been sanded so often that it is mostly varnish.",
    "schist": "The schist glitters. The joke about its name has been made.",
    "driftwood": "The driftwood came down the river in a flood, squares and all.",
    "brick": "The brick was part of a wall once, and still stands up to anything.",
}
"""What is told of a board whose name ends in one of these words and the noun."""


def board_description(hall: Hall, board: str) -> str:
    """Return the description of a board in a hall; "" if it has none.

    Halls of other games, which open no boards for matches, describe their boards themselves.
    """
    if own := hall.tables.descriptions.get(board):
        return own
    words = board.lower().split()[:-1]
    return MATERIALS.get(words[-1], "") if words and hall.opens_boards else ""
