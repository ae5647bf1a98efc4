"""Sanctions in words."""

from __future__ import annotations

from thudmud.game.sanctions import Sanction
from thudmud.views.words import because, minute


def until(sanction: Sanction) -> str:
    """Return the end of a sanction as part of a sentence; "" if it has none."""
    return "" if sanction.until is None else f" until {minute(sanction.until)}"


def barred(ban: Sanction, contact: str = "") -> str:
    """Return the text for a banned player, including whom to contact.

    Args:
        ban: the ban of the player's name or network.
        contact: the operator's mail address; "" if unknown.
    """
    where = "" if ban.whom.isalpha() else " (your network)"
    ask = f"write to {contact}" if contact else "ask the operator"
    ended = f"{until(ban)}{because(ban.why)}"
    banned = f"The operator of this server has banned {ban.whom}{where}{ended}."
    return f"{banned} If that's a mistake, {ask}."
