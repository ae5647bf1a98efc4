"""Programs that play: the protocol that they speak, a player of our own, and an opponent's mind.

The protocol and the player need the rules alone, so a program that speaks it starts at once; the
mind is `thudmud.bots.opponent`, and needs what people do with them, too.
"""

from thudmud.bots.choice import choose
from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue", "choose"]
