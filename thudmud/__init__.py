"""Thud, the Discworld board game of dwarfs and trolls, played by telnet.

What an embedder needs: a `House` of boards that is told who types which line, and answers with the
`Message` that each player is to be shown. The rules alone are in `thudmud.engine`.
"""

from thudmud.tables import BoardSpec
from thudmud.text import House, Message

__all__ = ["BoardSpec", "House", "Message"]
