"""The one way in: lines become events, which are stored, applied and told.

`thudmud.service.service` states the invariants and puts the parts together: `lines` reads and
decides, `following` stores events and applies what is stored, `broadcasting` tells, `presence`
knows who is here, and `neighbours` hears other nodes. `nodes` states the invariants of several
nodes on one store, and `driving` runs coroutines that may have nothing to wait for.
"""

from thudmud.game.evaluation import Adviser
from thudmud.service.driving import metered, metered_now, now
from thudmud.service.interface import (
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
    "metered",
    "metered_now",
    "now",
]
