"""Programs that play: the engine protocol, workers, and how a bot behaves at a table.

The protocol needs only the rules until it is asked for a ply, so a program that speaks it starts at
once. Everything else that a bot does is in `thudmud.bots.opponent`.
"""

from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue"]
