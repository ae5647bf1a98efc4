"""Programs that play: the protocol that they speak, a player of our own, and an opponent's mind."""

from thudmud.bots.choice import choose
from thudmud.bots.dialogue import LONGEST_LINE, Dialogue
from thudmud.bots.opponent import Invitation, Opponent, Task

__all__ = ["LONGEST_LINE", "Dialogue", "Invitation", "Opponent", "Task", "choose"]
