"""Programs that play: the protocol that they speak, and a player of our own."""

from thudmud.bots.choice import choose
from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue", "choose"]
