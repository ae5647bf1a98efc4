"""Events and positions -> words and boards, for one viewer. Pure."""

from thudmud.text.house import House
from thudmud.text.plan import Message, Plan

__all__ = ["House", "Message", "Plan"]
