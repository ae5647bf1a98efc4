"""The seal of a journal's file: the sum of its bytes, as they were when it was last closed.

Owns the small file beside the journal that holds it. A file that fits its seal need not be checked
any further, which saves most of the time that a journal with many battles takes to open. One that
does not fit is no worse for it: whoever was killed had no time to seal it. Must never be trusted
while there is a write-ahead log.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from zlib import crc32

from thudmud.storage.files import beside, has_log

SUFFIX = "-seal"
_CHUNK = 1 << 20  # bytes


def set_seal(path: Path) -> None:
    """Seal a journal's file, if nobody has it open any more; do nothing if that cannot be done."""
    seal = beside(path, SUFFIX)
    try:
        seal.unlink(missing_ok=True)
        if not has_log(path):
            seal.write_text(_sum(path), encoding="ascii")  # half of one would do no harm
    except OSError:
        with suppress(OSError):
            seal.unlink(missing_ok=True)


def is_sealed(path: Path) -> bool:
    """Return whether a journal's file is to the byte as it was when it was sealed."""
    try:
        seal = beside(path, SUFFIX).read_bytes()
        return not has_log(path) and seal == _sum(path).encode()
    except OSError:
        return False


def _sum(path: Path) -> str:
    """Return how many bytes a file has, and their CRC-32."""
    size = crc = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            size, crc = size + len(chunk), crc32(chunk, crc)
    return f"{size} {crc:08x}\n"
