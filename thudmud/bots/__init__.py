"""Programs that play: the engine protocol, workers, and how a bot behaves at a table.

The protocol needs only the rules until it is asked what to play, so a program that speaks it starts
at once. What a bot does besides playing is in `thudmud.bots.opponent`.
"""

from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue"]
