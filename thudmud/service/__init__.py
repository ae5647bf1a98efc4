"""The one way in: lines of text become events, are stored, are made so, and are told.

`thudmud.service.service` says what holds, and makes the parts that do it: `lines` reads and
decides, `following` stores and takes what is stored, `broadcasting` tells, `presence` has who is
here, and `neighbours` what other nodes tell. `nodes` says what holds where several share a store,
and `driving` begins what may have nothing to wait for.
"""

from thudmud.service.driving import metered_now, now
from thudmud.service.interface import (
    Adviser,
    Arrival,
    Dismissal,
    Onlooker,
    Outbox,
    Result,
    Unfollowed,
    Visit,
    Watcher,
)
from thudmud.service.lines import Policy
from thudmud.service.nodes import Elsewhere, Node
from thudmud.service.service import Service

__all__ = [
    "Adviser",
    "Arrival",
    "Dismissal",
    "Elsewhere",
    "Node",
    "Onlooker",
    "Outbox",
    "Policy",
    "Result",
    "Service",
    "Unfollowed",
    "Visit",
    "Watcher",
    "metered_now",
    "now",
]
