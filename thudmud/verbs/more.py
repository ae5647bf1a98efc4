"""Help, accounts, the end of a visit, and what was typed last once more."""

from __future__ import annotations

from thudmud.errors import Refused
from thudmud.play.command import Command, verb
from thudmud.play.hall import Decision
from thudmud.play.refusals import Refusal
from thudmud.play.scene import Scene


@verb("help")
class Help(Command):
    """Read a help page; the contents if ``topic`` is None."""

    topic: str | None = None


@verb("syntax")
class Syntax(Command):
    """See the patterns of a command; of all of them if ``topic`` is None."""

    topic: str | None = None


class ForAccounts(Command):
    """What is never decided here: whoever keeps accounts carries it out before."""

    __slots__ = ()

    def decide(self, scene: Scene) -> Decision:
        raise Refused(Refusal.NO_ACCOUNTS)


@verb("register")
class Register(ForAccounts):
    """Keep one's name, by a password."""


@verb("password")
class Password(ForAccounts):
    """Change one's password."""


@verb("again")
class Again(Command):
    """Do once more what one did last: the service decides that instead, if there is anything."""

    def decide(self, scene: Scene) -> Decision:
        raise Refused(Refusal.NOTHING_TO_REPEAT)


@verb("quit")
class Quit(Command):
    """Leave the server, see `thudmud.verbs.decisions.part`."""

    def decide(self, scene: Scene) -> Decision:
        raise ValueError("to quit is more than one decision")
