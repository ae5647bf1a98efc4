"""Bots: the engine protocol, worker processes, and a bot's behaviour at a table.

The protocol imports only the rules until a ply is requested, so an engine starts quickly. The rest
of a bot's behaviour is in `thudmud.bots.opponent`.
"""

from thudmud.bots.dialogue import LONGEST_LINE, Dialogue

__all__ = ["LONGEST_LINE", "Dialogue"]
