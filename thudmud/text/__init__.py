"""Events and positions -> words and boards, for one viewer. Pure."""

from thudmud.text.display import Terminal
from thudmud.text.house import House
from thudmud.text.plan import Message, Plan
from thudmud.text.state import StateError

__all__ = ["House", "Message", "Plan", "StateError", "Terminal"]
