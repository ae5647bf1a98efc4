"""The service, the one way in: lines become events, which are stored, applied and delivered.

`thudmud.service.service` states the invariants and assembles the parts:

- `lines` parses and decides, `event_applier` stores and applies events, `broadcasting` delivers.
- `presence` lets players in and out; `onlookers` are visitors without a name.
- `nodes` states the invariants of several nodes on one store; `peer_nodes` applies their asides.
- `boards` opens and closes boards, `janitor` and `clock_timers` store events that are due.
- `bus` and `scheduler` call handlers and timers; `coroutines` has eager coroutines and keyed locks.
- `interface` has the types that front ends share with the service.
"""

from thudmud.game.evaluation import Adviser
from thudmud.service.coroutines import await_in_steps, metered_step, run_eagerly
from thudmud.service.interface import (
    Dismissal,
    JoinRequest,
    Onlooker,
    Outbox,
    OutcomeUnknownError,
    Result,
    Visit,
    Watcher,
)
from thudmud.service.lines import Policy
from thudmud.service.nodes import Node, PlaysElsewhereError
from thudmud.service.service import Service

__all__ = [
    "Adviser",
    "Dismissal",
    "JoinRequest",
    "Node",
    "Onlooker",
    "Outbox",
    "OutcomeUnknownError",
    "PlaysElsewhereError",
    "Policy",
    "Result",
    "Service",
    "Visit",
    "Watcher",
    "await_in_steps",
    "metered_step",
    "run_eagerly",
]
