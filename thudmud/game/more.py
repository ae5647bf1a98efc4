"""Help, accounts, quitting, and repeating the last command."""

from __future__ import annotations

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.hall import Decision
from thudmud.game.refusals import Refusal


@verb("help")
class Help(Command):
    """Read a help page; the contents if ``topic`` is None."""

    topic: str | None = None


@verb("syntax")
class Syntax(Command):
    """See the patterns of a command; of all of them if ``topic`` is None."""

    topic: str | None = None


class ForAccounts(Command):
    """A command that front ends with accounts handle before `decide`, which refuses it."""

    def decide(self, context: CommandContext) -> Decision:
        raise RefusedError(Refusal.NO_ACCOUNTS)


@verb("register")
class Register(ForAccounts):
    """Register one's name, with a password."""


@verb("password")
class Password(ForAccounts):
    """Change one's password."""


@verb("logout_everywhere")
class LogoutEverywhere(ForAccounts):
    """End all of one's logins but this one."""


@verb("again")
class Again(Command):
    """Repeat the last command. The service decides that command instead, if there is one."""

    def decide(self, context: CommandContext) -> Decision:
        raise RefusedError(Refusal.NOTHING_TO_REPEAT)


@verb("quit")
class Quit(Command):
    """Leave the server, see `thudmud.game.decisions.decide_departure`."""

    def decide(self, context: CommandContext) -> Decision:
        raise InvalidValueError("Quit is handled by the service, which needs several decisions")
