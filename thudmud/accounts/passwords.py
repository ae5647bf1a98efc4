"""Passwords, hashed with Argon2id (RFC 9106), and resume words.

A resume word is a random passphrase for guests, such as `basalt-lantern-fox-otter-plum`.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import re
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

Hasher = PasswordHasher
"""The class of password hashers, for callers that choose its parameters."""

LENGTHS = range(8, 129)
"""The lengths that a password may have, in characters."""

_THREADS = 2  # each hash takes 64 MiB
_T = TypeVar("_T")


def password_problem(password: str, name: str) -> str | None:
    """Return why a password is not allowed, as a sentence; None if it is allowed."""
    length = len(unicodedata.normalize("NFC", password))
    if length < LENGTHS.start:
        return f"A password needs at least {LENGTHS.start} characters."
    if length >= LENGTHS.stop:
        return f"A password can have at most {LENGTHS.stop - 1} characters."
    if password.strip().lower() == name.lower():
        return "Your name is the first password that anybody would try."
    return None


class Passwords:
    """Hashes and verifies passwords, in a pool of two threads.

    Argon2 is slow and takes much memory by design, so only a few jobs run at once and the others
    wait. The limits on connections and guesses bound the queue. The default hasher has the
    parameters of argon2-cffi (RFC 9106, section 4, the second recommended option) but a single
    lane: with four, two hashes would occupy eight threads beside the one that answers players.

    Args:
        hasher: the hasher; None for the default.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher(parallelism=1)
        self._workers = ThreadPoolExecutor(_THREADS, "passwords")
        self._free = _THREADS
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []
        """A heap of waiting jobs: whether it has low priority, its number, and its future."""
        self._numbers = itertools.count()

    async def hash_password(self, password: str) -> str:
        """Hash a password."""
        return await self._run(lambda: self._hasher.hash(_normalize_password(password)))

    async def is_correct(self, password: str, stored: str, *, first: bool = True) -> bool:
        """Verify a password against a stored hash; an invalid hash fits no password.

        Args:
            password: the password, as typed.
            stored: the hash.
            first: whether the job has priority over waiting jobs without it.
        """

        def compare() -> bool:
            try:
                return self._hasher.verify(stored, _normalize_password(password))
            except (VerificationError, InvalidHashError):
                return False

        # Hashing would take time even for a password that is far too long.
        return len(password) < 4 * LENGTHS.stop and await self._run(compare, first=first)

    def is_outdated(self, stored: str) -> bool:
        """Return whether a hash was made with other parameters than the hasher's."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Shut the threads down."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def _run(self, job: Callable[[], _T], *, first: bool = True) -> _T:
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        heappush(self._waiting, (not first, next(self._numbers), turn))
        self._begin_some()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # a thread was assigned just before
                self._end_one()
            raise
        # A cancelled caller doesn't stop the thread, which is free only when the job is done.
        work = loop.run_in_executor(self._workers, job)
        work.add_done_callback(self._end_one)
        return await asyncio.shield(work)

    def _begin_some(self) -> None:
        while self._free and self._waiting:
            *_, turn = heappop(self._waiting)
            if not turn.done():
                self._free -= 1
                turn.set_result(None)

    def _end_one(self, _work: object = None) -> None:
        self._free += 1
        self._begin_some()


def _normalize_password(password: str) -> bytes:
    """Normalize a password to NFC, so that the keyboard it was typed on makes no difference.

    This follows the OpaqueString profile of RFC 8265. The line splitter has already dropped
    unprintable characters.
    """
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


# Resume words.

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
_COUNT = 5  # parts of a word: 40 bits; `thudmud.accounts.guesses` computes how strong that is
_BETWEEN = re.compile(r"[\s,.-]+")


def new_word() -> str:
    """Generate a random resume word."""
    return "-".join(secrets.choice(_PARTS) for _ in range(_COUNT))


def normalize_word(word: str) -> str:
    """Normalize a typed resume word: lower case, with hyphens between its parts."""
    return "-".join(part for part in _BETWEEN.split(word.lower().strip()) if part)


def word_hash(word: str) -> bytes:
    """Return the SHA-256 hash of a typed resume word.

    A fast hash is good enough: these words are random and short-lived, and guesses are throttled.
    """
    return hashlib.sha256(normalize_word(word).encode()).digest()


def is_same_word(word: str, kept: bytes) -> bool:
    """Return whether a typed resume word has the hash ``kept``, in constant time."""
    return secrets.compare_digest(word_hash(word), kept)
