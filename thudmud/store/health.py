"""Whether a server runs on a file and can store events, as seen by another process.

A server writes every few seconds that it runs: that goes through its event loop, its thread and the
disk. The modification time of the witness shows when something was last stored. It is compared with
the system's time, on which both depend; the nodes' own times may differ.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from thudmud.store.files import HEAD, beside, connect, errors_translated, require_ours

_PATIENCE = 5.0  # seconds to wait for other processes that write


def last_stored(path: Path) -> float | None:
    """Return how many seconds ago something was last stored; None if no server runs on the file.

    Raises:
        StoreError: the file cannot be read.
    """
    with errors_translated(path):
        require_ours(path)
        with closing(connect(path, _PATIENCE, reading=True)) as connection:
            # A node that has ended, or was found dead, has no lease left.
            [(alive,)] = connection.execute("select count(*) from node where until > seen")
        stored = beside(path, HEAD).stat().st_mtime
    return max(0.0, time.time() - stored) if alive else None
