"""Who comes to boards and goes from them, as Evennia's signals tell.

Boards are only made to look who is about, once Evennia is done with what it is doing. A board that
fails stops nobody.
"""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_save
from evennia.objects.models import ObjectDB
from evennia.server.signals import SIGNAL_OBJECT_POST_PUPPET, SIGNAL_OBJECT_POST_UNPUPPET
from evennia.utils import logger
from evennia.utils.utils import delay

from thudmud.evennia.board import LOADED

_LOCATION = "db_location"


def connect() -> None:
    """Follow the signals from now on; doing so twice is doing so once."""
    post_save.connect(_saved, dispatch_uid="thudmud-moved")
    SIGNAL_OBJECT_POST_PUPPET.connect(_puppeted, dispatch_uid="thudmud-puppeted")
    SIGNAL_OBJECT_POST_UNPUPPET.connect(_puppeted, dispatch_uid="thudmud-unpuppeted")


def _saved(instance: Any, update_fields: Any = None, **_: Any) -> None:
    if update_fields and _LOCATION in update_fields and isinstance(instance, ObjectDB):
        _notice(instance)


def _puppeted(sender: Any, **_: Any) -> None:
    _notice(sender)


def _notice(character: Any) -> None:
    """Have those boards look who is about to which somebody matters."""
    for board in list(LOADED.values()):
        try:
            if board.pk is not None and board.in_use and board.host.knows(character):
                delay(0, board.meet)
        except Exception:  # noqa: BLE001  (whatever is wrong with a board, others go on saving)
            logger.log_trace(f"Board #{board.pk} took no notice of {character}.")
