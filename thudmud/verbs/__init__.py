"""What players can say, a module for each family of verbs: what each means, and what it decides.

Pure: nothing here changes anything. `thudmud.verbs.decisions.decide` says what a command would
bring about.

Attributes:
    VERBS: what makes a command of what a rule of the grammar hands over, by the rule's name.
"""

from thudmud.play.command import VERBS
from thudmud.verbs import (
    archive,
    exercises,
    letters,
    matchmaking,
    more,
    moves,
    options,
    order,
    people,
    queries,
    resuming,
    rooms,
    seats,
    setup,
    talk,
)

__all__ = [
    "VERBS", "archive", "exercises", "letters", "matchmaking", "more", "moves", "options", "order",
    "people", "queries", "resuming", "rooms", "seats", "setup", "talk",
]  # fmt: skip
