"""Programs that play: the engine protocol, a player of our own, and how a bot behaves at a table.

The protocol and our player need only the rules, so a program that uses them starts at once. What a
bot does besides playing is in `thudmud.bots.opponent`.
"""

from thudmud.bots.choice import choose
from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue", "choose"]
