"""Events and positions -> words and boards, for one viewer. Pure."""

from thudmud.text.house import House, Message

__all__ = ["House", "Message"]
