"""The one way in: lines of text become events, are stored, are made so, and are told.

`thudmud.service.service` says what holds, and does it; `thudmud.service.nodes` where several share
a store; `thudmud.service.driving` begins what may have nothing to wait for.
"""

from thudmud.service.driving import metered, now
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
    "metered",
    "now",
]
