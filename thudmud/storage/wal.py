"""SQLite's write-ahead log, looked at before SQLite does.

Owns what is known of that file's format. Must never change the file.

When a process has been killed, what it has stored last is only in the log. SQLite takes from it
what comes before the first mistake and forgets the rest, without a word: it cannot tell a
transaction that was never finished from damage. Often that can be told: nothing is written behind
a transaction before that is safely on the disk, so there is damage if two or more transactions
were finished behind a mistake. (One may be there: a disk that loses its power writes in any order.)

The format: https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

from pathlib import Path
from struct import Struct, unpack
from time import sleep

_HEADER = Struct(">8I")
"""Magic number, version, size of a page, sequence number, two salts, two sums."""

_FRAME = Struct(">6I")
"""Page, size of the file if a transaction ends here, the header's two salts, two sums."""

_MAGIC = 0x377F0682
"""The last bit tells the order of bytes in the sums: 1 for the most significant first."""

_PAUSE = 0.1
"""How many seconds a writer is given to finish what looks like damage."""

Sums = tuple[int, int]


def has_lost_something(path: Path) -> bool:
    """Return whether a log holds transactions that SQLite would pass over.

    Another process may be writing to it: damage is what stays.

    Raises:
        OSError: the log cannot be read.
    """
    if not _is_damaged(path):
        return False
    sleep(_PAUSE)
    return _is_damaged(path)


def _is_damaged(path: Path) -> bool:
    try:
        log = path.read_bytes()
    except FileNotFoundError:
        return False
    if len(log) <= _HEADER.size:
        return False
    magic, _, size, _, *salts, first, second = _HEADER.unpack_from(log)
    order = ">" if magic & 1 else "<"
    sums = _sum((0, 0), log[: _HEADER.size - 8], order)
    if magic & ~1 != _MAGIC or sums != (first, second):
        return True
    return _ends_after_a_mistake(log, size, salts, sums, order) > 1


def _ends_after_a_mistake(log: bytes, size: int, salts: list[int], sums: Sums, order: str) -> int:
    """Return how many transactions end at or behind the first frame that is not as it was written.

    Frames with other salts are left from earlier; they were overwritten up to there.
    """
    ends, right = 0, True
    length = _FRAME.size + size
    for start in range(_HEADER.size, len(log) - length + 1, length):
        _, is_end, *found, first, second = _FRAME.unpack_from(log, start)
        if right:
            sums = _sum(sums, log[start : start + 8], order)
            sums = _sum(sums, log[start + _FRAME.size : start + length], order)
            right = found == salts and sums == (first, second)
        if not right and found == salts and is_end:
            ends += 1
    return ends


def _sum(sums: Sums, data: bytes, order: str) -> Sums:
    """Return sums that go on for some data, a multiple of 8 bytes."""
    first, second = sums
    words = unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
