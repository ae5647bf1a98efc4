"""Negotiation of one connection's telnet options, and of the client's capabilities.

Options are negotiated by the Q method of RFC 1143: pending requests are remembered, so that an
answer is never taken for a request, and nothing loops.

A client that hasn't answered yet is sent only one request, for its window size: clients without
telnet show the bytes as junk. SGA and LINEMODE are never agreed to, since each would take a client
out of line mode. ECHO (RFC 857) is offered only to hide typing: we say that we echo, and don't.

BINARY (RFC 856) is requested for the client's output. Without it, clients that descend from BSD's
telnet look at seven bits of each typed byte, and treat some bytes of UTF-8 as control characters:
an "Ä" contains a Ctrl-D. We don't use BINARY ourselves. Our text arrives intact without it, and
with it such clients wouldn't return the cursor after a line feed of their local echo.
"""

from __future__ import annotations

from collections import defaultdict
from enum import Enum

from telnetlib3 import telopt

from thudmud.telnet import gmcp, mssp
from thudmud.telnet.capabilities import Capabilities, find_utf8, is_utf8, variables_in
from thudmud.telnet.interface import Receiver, TelnetPolicy, TerminalChanged

# ruff: noqa: FBT001, FBT003  (True and False are what the two ends say to each other)


_OURS = {telopt.DO: True, telopt.DONT: False}
"""A client's commands about an option on our side."""
_THEIRS = {telopt.WILL: True, telopt.WONT: False}
"""A client's commands about an option on its own side."""
_SAID_OF_OURS = {True: telopt.WILL, False: telopt.WONT}
_SAID_OF_THEIRS = {True: telopt.DO, False: telopt.DONT}

_ASKED = (telopt.TTYPE, telopt.BINARY)
_OFFERED = (telopt.CHARSET, telopt.EOR, telopt.GMCP, telopt.MSSP)
_WELCOME = {telopt.NAWS, telopt.TTYPE, telopt.CHARSET, telopt.NEW_ENVIRON, telopt.BINARY}
"""The options that we let a client use."""

_WE_ASK_FOR_TYPE = telopt.TTYPE + telopt.SEND
_WE_ASK_FOR_UTF_8 = telopt.CHARSET + telopt.REQUEST + b";UTF-8"
# Named variables only, and never USER: players give their names themselves.
_WE_ASK_FOR_VARIABLES = (
    telopt.NEW_ENVIRON
    + telopt.SEND
    + b"".join(telopt.VAR + name for name in (b"CLIENT_NAME", b"CHARSET", b"MTTS"))
)


class Negotiation:
    """The negotiation of all options of one connection. It implements `Client`.

    Args:
        session: the session, which gets `TerminalChanged` items.
        policy: the limits and offers.
    """

    def __init__(self, session: Receiver, policy: TelnetPolicy) -> None:
        self._session, self._policy = session, policy
        self._budget = policy.option_changes
        self.is_hidden = False
        self._ours: defaultdict[bytes, QMethod] = defaultdict(QMethod)
        self._theirs: defaultdict[bytes, QMethod] = defaultdict(QMethod)
        self._client = Capabilities()
        self._reported = self._client.terminal
        self._packages = gmcp.Packages(
            session,
            self._client,
            lambda package: frame_subnegotiation(telopt.GMCP + package),
            policy.gui,
        )
        self._offers_made = False
        self._wants_no_marks = False
        self._awaits_type = self._awaits_charset = False

    def begin(self) -> None:
        """Request the window size: the only 3 bytes that a client without telnet shows as junk."""
        self._ask(telopt.NAWS)

    # For the session.

    def hide(self) -> None:
        """Ask the client to hide typing, until `reveal`."""
        self._offer(telopt.ECHO)

    def reveal(self) -> None:
        """Ask the client to show typing again."""
        self.is_hidden = False
        if self._ours[telopt.ECHO].want(False):
            self._send_command(telopt.WONT, telopt.ECHO)

    def data(self, package: str, text: str) -> None:
        """Send a GMCP package with JSON data, if the client supports GMCP."""
        if self._ours[telopt.GMCP].is_agreed:
            self._packages.send(package, text)

    # The client's commands.

    def handle_command(self, command: bytes, option: bytes) -> None:
        """Handle a DO, DONT, WILL or WONT."""
        if command in _OURS:
            self._handle_our_option(option, _OURS[command])
        else:
            self._handle_their_option(option, _THEIRS[command])
        self._make_offers()

    def handle_subnegotiation(self, whole: bytes) -> None:
        """Handle a sub-negotiation, an option and its payload; ignore an invalid one.

        An option that isn't agreed on is ignored, too.
        """
        option, payload = whole[:1], whole[1:]
        match option:
            case telopt.NAWS:
                self._handle_size(payload)
            case telopt.TTYPE:
                self._handle_type(payload)
            case telopt.NEW_ENVIRON:
                self._handle_variables(payload)
            case telopt.CHARSET:
                self._handle_charset(payload)
            case telopt.GMCP if self._ours[telopt.GMCP].is_agreed:
                self._packages.receive_package(payload)
        self._report()
        self._make_offers()

    def _handle_our_option(self, option: bytes, wanted: bool) -> None:
        ours = self._ours[option]
        if not self._can_afford(ours, wanted):
            return
        before = ours.is_agreed
        # A request for ECHO is refused: clients hide typing while it is agreed.
        answer = ours.receive(wanted, welcome=self._is_offered(option))
        if answer is not None:
            self._send_command(_SAID_OF_OURS[answer], option)
        # SGA is refused, too, but the request shows that the client wants no GA after prompts.
        if option == telopt.SGA:
            self._wants_no_marks = wanted
        if option in {telopt.SGA, telopt.EOR}:
            self._end_prompts()
        elif ours.is_agreed is not before:
            self._apply_our_option(option, ours.is_agreed)

    def _handle_their_option(self, option: bytes, wanted: bool) -> None:
        theirs = self._theirs[option]
        if not self._can_afford(theirs, wanted):
            return
        before = theirs.is_agreed
        answer = theirs.receive(wanted, welcome=option in _WELCOME)
        if answer is not None:
            self._send_command(_SAID_OF_THEIRS[answer], option)
        if theirs.is_agreed and not before:
            if option == telopt.TTYPE:
                self._awaits_type = True
                self._send_subnegotiation(_WE_ASK_FOR_TYPE)
            elif option == telopt.NEW_ENVIRON:
                self._send_subnegotiation(_WE_ASK_FOR_VARIABLES)

    def _apply_our_option(self, option: bytes, agreed: bool) -> None:
        if option == telopt.ECHO:
            self.is_hidden = agreed
        elif option == telopt.CHARSET and agreed:
            self._awaits_charset = True
            self._send_subnegotiation(_WE_ASK_FOR_UTF_8)
        elif option == telopt.MSSP and agreed:
            self._send_subnegotiation(telopt.MSSP + mssp.packed(self._policy.status()))
        elif option == telopt.GMCP and not agreed:
            self._client.packages = frozenset()
            self._report()
        elif option == telopt.MCCP2_COMPRESS:
            if agreed:
                self._session.screen.compress(frame_subnegotiation(telopt.MCCP2_COMPRESS))
            else:
                self._session.screen.decompress()

    def _end_prompts(self) -> None:
        """Choose the mark at the end of prompts: EOR, GA or none.

        Once one prompt has ended with a mark, all have to. A client that refuses EOR still supports
        GA, which RFC 854 requires wherever SGA isn't agreed on. But a client that asks for SGA
        wants no GA.
        """
        eor = self._ours[telopt.EOR]
        if eor.is_agreed:
            self._session.screen.end_prompts(telopt.IAC + telopt.CMD_EOR)
        elif eor.is_asked or self._wants_no_marks or not self._offers_made:
            self._session.screen.end_prompts(b"")
        else:
            self._session.screen.end_prompts(telopt.IAC + telopt.GA)

    # Sub-negotiations.

    def _handle_size(self, payload: bytes) -> None:
        theirs = self._theirs[telopt.NAWS]
        if len(payload) == 4 and (theirs.is_agreed or theirs.is_asked):
            columns, rows = (int.from_bytes(each, "big") for each in (payload[:2], payload[2:]))
            self._client.set_size(columns, rows)

    def _handle_type(self, payload: bytes) -> None:
        if payload[:1] != telopt.IS or not self._awaits_type:
            return
        # The last type has the MTTS bits, which tell whether the client supports NEW-ENVIRON.
        self._awaits_type = self._client.add_type(payload[1:].decode("ascii", "replace"))
        if self._awaits_type:
            self._send_subnegotiation(_WE_ASK_FOR_TYPE)
        elif self._client.has_variables:
            self._ask(telopt.NEW_ENVIRON)

    def _handle_variables(self, payload: bytes) -> None:
        if payload[:1] in {telopt.IS, telopt.INFO} and self._theirs[telopt.NEW_ENVIRON].is_agreed:
            self._client.set_variables(variables_in(payload[1:]))

    def _handle_charset(self, payload: bytes) -> None:
        kind, rest = payload[:1], payload[1:]
        if kind == telopt.REQUEST and self._theirs[telopt.CHARSET].is_agreed and self._budget:
            self._budget -= 1
            self._answer_charset(rest)
        elif self._awaits_charset and kind in {telopt.ACCEPTED, telopt.REJECTED}:
            self._awaits_charset = False
            accepted = kind == telopt.ACCEPTED and is_utf8(rest.decode("ascii", "replace"))
            self._client.utf8 = accepted

    def _answer_charset(self, offer: bytes) -> None:
        """Answer a client's request; refuse it while our own is pending (RFC 2066)."""
        name = find_utf8(offer)
        if name and not self._awaits_charset:
            self._client.utf8 = True
            self._send_subnegotiation(telopt.CHARSET + telopt.ACCEPTED + name)
        else:
            self._send_subnegotiation(telopt.CHARSET + telopt.REJECTED)

    # Our commands.

    def _make_offers(self) -> None:
        """Request and offer all options once: the client has just shown that it speaks telnet."""
        if self._offers_made:
            return
        self._offers_made = True
        for option in _ASKED:
            self._ask(option)
        for option in _OFFERED:
            self._offer(option)
        if self._policy.can_compress:
            self._offer(telopt.MCCP2_COMPRESS)

    def _is_offered(self, option: bytes) -> bool:
        compressed = option == telopt.MCCP2_COMPRESS and self._policy.can_compress
        return option in _OFFERED or compressed

    def _can_afford(self, agreement: QMethod, wanted: bool) -> bool:
        """Charge a client's request to the budget; return False if that is exhausted.

        Answers to our own requests are free.
        """
        if not agreement.is_request(wanted):
            return True
        affords = self._budget > 0
        self._budget -= affords
        return affords

    def _offer(self, option: bytes) -> None:
        if self._ours[option].want(True):
            self._send_command(telopt.WILL, option)

    def _ask(self, option: bytes) -> None:
        if self._theirs[option].want(True):
            self._send_command(telopt.DO, option)

    def _send_command(self, command: bytes, option: bytes) -> None:
        self._session.screen.command(telopt.IAC + command + option)

    def _send_subnegotiation(self, payload: bytes) -> None:
        self._session.screen.command(frame_subnegotiation(payload))

    def _report(self) -> None:
        if self._client.terminal != self._reported:
            self._reported = self._client.terminal
            self._session.items_received([TerminalChanged(self._reported)])


def frame_subnegotiation(payload: bytes) -> bytes:
    """Frame an option and its payload as a sub-negotiation, with IAC escaped."""
    escaped = payload.replace(telopt.IAC, telopt.IAC + telopt.IAC)
    return telopt.IAC + telopt.SB + escaped + telopt.IAC + telopt.SE


# The Q method.


class QState(Enum):
    """The state of an option at one end, by the names of RFC 1143, section 7."""

    NO = "no"
    YES = "yes"
    WANTNO = "asked to end it"
    WANTNO_OPPOSITE = "asked to end it, but wants it again"
    WANTYES = "asked for it"
    WANTYES_OPPOSITE = "asked for it, but no longer wants it"


_WANTED: dict[QState, tuple[QState, bool]] = {
    QState.NO: (QState.WANTYES, True),
    QState.WANTNO: (QState.WANTNO_OPPOSITE, False),
    QState.WANTYES_OPPOSITE: (QState.WANTYES, False),
}
"""The next state when we want to enable an option, and whether to say so. Other states stay."""

_UNWANTED: dict[QState, tuple[QState, bool]] = {
    QState.YES: (QState.WANTNO, True),
    QState.WANTYES: (QState.WANTYES_OPPOSITE, False),
    QState.WANTNO_OPPOSITE: (QState.WANTNO, False),
}

_ANSWERED: dict[tuple[QState, bool], tuple[QState, bool | None]] = {
    (QState.WANTYES, True): (QState.YES, None),
    (QState.WANTYES, False): (QState.NO, None),
    (QState.WANTYES_OPPOSITE, True): (QState.WANTNO, False),
    (QState.WANTYES_OPPOSITE, False): (QState.NO, None),
    (QState.WANTNO, False): (QState.NO, None),
    (QState.WANTNO_OPPOSITE, False): (QState.WANTYES, True),
    # The other end answers our DONT or WONT with WILL or DO, which the protocol forbids.
    (QState.WANTNO, True): (QState.NO, None),
    (QState.WANTNO_OPPOSITE, True): (QState.YES, None),
}
"""The next state after the other end's answer, and our reply to it; None for no reply."""


class QMethod:
    """One option at one end, as a state machine (RFC 1143). True enables it, False disables it."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = QState.NO

    @property
    def is_agreed(self) -> bool:
        """Whether the option is enabled."""
        return self.state is QState.YES

    @property
    def is_asked(self) -> bool:
        """Whether our request to enable the option is pending, and not withdrawn."""
        return self.state is QState.WANTYES

    def want(self, wanted: bool) -> bool:
        """Decide to enable or disable the option; return whether to send the command now."""
        changes = _WANTED if wanted else _UNWANTED
        self.state, tell = changes.get(self.state, (self.state, False))
        return tell

    def is_request(self, heard: bool) -> bool:
        """Return whether a command is a request for a change, not an answer to ours."""
        return self.state is (QState.NO if heard else QState.YES)

    def receive(self, heard: bool, *, welcome: bool) -> bool | None:
        """Handle a command of the other end, and return our reply; None for no reply.

        Args:
            heard: whether the command is to enable the option.
            welcome: whether to agree to a request for the option.
        """
        if self.is_request(heard):
            agreed = heard and welcome
            self.state = QState.YES if agreed else QState.NO
            return agreed
        self.state, answer = _ANSWERED.get((self.state, heard), (self.state, None))
        return answer
