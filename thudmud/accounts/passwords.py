"""Passwords, hashed by argon2id, and the resume words of guests, such as `basalt-lantern-fox`.

Hashing takes time and memory by design: it is done off the event loop, and not often at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

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


Hasher = PasswordHasher
"""What hashes passwords, for whoever chooses how."""

LENGTHS = range(8, 129)
"""How many characters a password may have."""

_AT_ONCE = 2
_T = TypeVar("_T")


def password_problem(password: str, name: str) -> str | None:
    """Return why this cannot be the password of a name, as a sentence, or None if it can."""
    length = len(unicodedata.normalize("NFC", password))
    if length < LENGTHS.start:
        return f"A password has at least {LENGTHS.start} characters."
    if length >= LENGTHS.stop:
        return f"A password has at most {LENGTHS.stop - 1} characters."
    if password.strip().lower() == name.lower():
        return "Your name is the first thing that somebody else would try as your password."
    return None


class Passwords:
    """Hashes passwords, and compares them with hashes.

    Args:
        hasher: how; by default what argon2-cffi advises.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._workers = ThreadPoolExecutor(_AT_ONCE, "passwords")

    async def hashed(self, password: str) -> str:
        """Return what to store of a password."""
        return await self._run(lambda: self._hasher.hash(_prepared(password)))

    async def fits(self, password: str, stored: str) -> bool:
        """Whether ``stored`` was made of this password; never, if it is no hash at all."""

        def compare() -> bool:
            try:
                return self._hasher.verify(stored, _prepared(password))
            except (VerificationError, InvalidHashError):
                return False

        # One that cannot be a password costs nobody's time.
        return len(password) < 4 * LENGTHS.stop and await self._run(compare)

    def is_outdated(self, stored: str) -> bool:
        """Whether the same password would be stored with other parameters today."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Begin no more work."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def _run(self, job: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._workers, job)


def _prepared(password: str) -> bytes:
    """Return a password so that it is the same from every keyboard (after RFC 8265, OpaqueString).

    The characters of a line have been cleaned already; here those that can be composed are.
    """
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
