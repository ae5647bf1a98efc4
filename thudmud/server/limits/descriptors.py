"""How many files this process may have open: each connection takes one.

Owns what is asked of the system, and the warning if that is not to be had.
"""

from __future__ import annotations

import logging
import resource

_OTHERS = 100  # files that are open besides, those of connections that are shown out among them

_log = logging.getLogger(__name__)


def ask_for(connections: int) -> None:
    """Raise the limit of this process, as far as may be, so that so many can be connected."""
    wanted = connections + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    granted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        granted = soft
    if granted < wanted:
        _log.warning(
            "too few open files",
            extra={"allowed": granted, "needed": wanted, "setting": "server.connections"},
        )
