"""The words that show that a guest's name is theirs, such as `basalt-lantern-fox`.

Owns how such a word is made, read and kept. Must never know whose it is.
"""

from __future__ import annotations

import hashlib
import re
import secrets

_PARTS = """
acorn alder amber apple apron arrow ash aspen attic badger basalt basil basin basket beacon bean
bear beaver bell berry birch bison bobbin bottle bramble brass brick bridge broom bucket buckle
butter button cabin cactus camel candle canoe canyon carrot castle cellar chalk cherry cinder
clay clock clover cobalt cobble copper cotton cradle crane crater cricket crow crystal dagger
daisy dale damson desert dingo dolphin donkey dove dragon drum eagle ebony eel elbow elder elk
ember falcon fennel fern ferry fiddle fig finch flint flute fog fossil fox frost garden garlic
garnet geyser ginger glacier goat gold gorse grape gravel grove gull hammer harp hazel hedge
hemlock heron hickory hinge holly honey hornet iris iron ivory ivy jackal jade jasper juniper
kestrel kettle kiln kitten koala ladder lantern larch lark lava lemon lentil lichen lilac lily
linen lizard lobster locust lotus magpie mallet mango mantle marble marsh meadow melon mercury
mill mint mirror mole moss moth muffin mustard nectar needle nettle nickel nutmeg oak oat oboe
olive onion onyx opal orchard orchid osprey otter owl oyster panda paper parrot pebble pepper
pewter pigeon pillow plum pocket pony poplar poppy possum prism puffin pumpkin quail quarry
quill quince rabbit radish reed ribbon robin rocket rooster ruby saddle saffron sage salmon salt
sandal satin scarf shale shell silver slate sleet snail sorrel spade sparrow spoon spruce squid
sugar sulphur swan table tallow teapot thicket thistle thyme tiger timber tin toad topaz trumpet
tulip tundra tunnel turnip velvet violet walrus weasel willow window wolf wren yew zebra zinc
zither
""".split()  # noqa: SIM905  (two hundred quotes and commas would tell nobody more)
_COUNT = 3  # parts of a word: 24 bits, for a name that is kept for a day or so
_BETWEEN = re.compile(r"[\s,.-]+")


def made_up() -> str:
    """Return a new word."""
    return "-".join(secrets.choice(_PARTS) for _ in range(_COUNT))


def stored(word: str) -> bytes:
    """Return what to keep of a word, as it was typed: capitals, blanks and dashes do not matter.

    Such words do not last, and guesses at them are slowed down: a quick hash will do.
    """
    parts = _BETWEEN.split(word.lower().strip())
    return hashlib.sha256("-".join(part for part in parts if part).encode()).digest()


def is_same(word: str, kept: bytes) -> bool:
    """Whether ``kept`` is what is kept of this word."""
    return secrets.compare_digest(stored(word), kept)
