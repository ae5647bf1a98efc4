"""Before there is a name: who wants something else than to come in, and clients that log in.

Owns what is answered instead of taking a line for a name, and a login by the client itself, which
answers the questions of the desk. Must never know who has which password.
"""

from __future__ import annotations

from thudmud.server.login import NAME_PROMPT
from thudmud.server.members.membership import PASSWORD_PROMPT
from thudmud.server.prompter import Prompter
from thudmud.server.telnet import gmcp, mssp, strangers
from thudmud.server.telnet.items import Client, Credentials
from thudmud.server.telnet.policy import TelnetPolicy
from thudmud.server.telnet.screen import Screen, encode


class Doorstep:
    """What happens on one connection while it is asked for a name.

    Args:
        screen: where crawlers are answered.
        prompter: asks for the name.
        client: is told whether its login has gone well.
        policy: what holds for all connections.
    """

    def __init__(
        self, screen: Screen, prompter: Prompter, client: Client, policy: TelnetPolicy
    ) -> None:
        self._screen, self._prompter, self._client = screen, prompter, client
        self._policy = policy
        self._logging_in = False

    def answers(self, line: str) -> bool:
        """Answer a crawler, which asks for no name; return whether it was one."""
        if line != mssp.REQUEST or not self._prompter.asks(NAME_PROMPT):
            return False
        self._screen.show(encode(mssp.in_text(self._policy.status())))
        self._prompter.prompt()
        return True

    def is_lost(self, line: str) -> bool:
        """Whether somebody has come here by a mistake, whom no answer can help in."""
        return self._prompter.asks(NAME_PROMPT) and strangers.is_http(line)

    def log_in(self, credentials: Credentials) -> None:
        """Let the client answer the two questions, if the first of them is being asked."""
        if self._prompter.asks(NAME_PROMPT):
            self._logging_in = True
            self._prompter.answer_ahead(
                credentials.name, PASSWORD_PROMPT, credentials.password, self._fail
            )

    def entered(self) -> None:
        """Note that there is a name now."""
        if self._logging_in:
            self._client.data(gmcp.LOGIN_RESULT, gmcp.SUCCESS)

    def _fail(self) -> None:
        self._logging_in = False
        self._client.data(gmcp.LOGIN_RESULT, gmcp.FAILURE)
