"""Which options of telnet are used on one connection, and what a client tells by them.

Options are agreed on by the Q method of RFC 1143: what has been asked and not answered yet is
remembered, so that an answer is never taken for a request, and nothing loops.

Nothing but our wish to know the width is sent to a client that has not answered yet. SGA, LINEMODE
and BINARY are never agreed to: each would take a client out of line mode. ECHO (RFC 857) is offered
only while what is typed is to be hidden: we say that we echo, and do not. MCCP2 is one zlib stream
of all that a client is sent.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from enum import Enum

from telnetlib3 import telopt

from thudmud.telnet import gmcp, mssp
from thudmud.telnet.capabilities import Capabilities, is_utf8, utf8_in, variables_in
from thudmud.telnet.interface import Credentials, Fitted, Mark, Receiver, TelnetPolicy


class Standing(Enum):
    """What one end knows of an option. The names are those of RFC 1143, section 7."""

    NO = "no"
    YES = "yes"
    WANTNO = "asked to end it"
    WANTNO_OPPOSITE = "asked to end it, and wants it again by now"
    WANTYES = "asked for it"
    WANTYES_OPPOSITE = "asked for it, and wants it no more by now"


_WANTED: dict[Standing, tuple[Standing, bool]] = {
    Standing.NO: (Standing.WANTYES, True),
    Standing.WANTNO: (Standing.WANTNO_OPPOSITE, False),
    Standing.WANTYES_OPPOSITE: (Standing.WANTYES, False),
}
"""What wanting it comes to, and whether that is to be sent; nothing changes at any other."""

_UNWANTED: dict[Standing, tuple[Standing, bool]] = {
    Standing.YES: (Standing.WANTNO, True),
    Standing.WANTYES: (Standing.WANTYES_OPPOSITE, False),
    Standing.WANTNO_OPPOSITE: (Standing.WANTNO, False),
}

_ANSWERED: dict[tuple[Standing, bool], tuple[Standing, bool | None]] = {
    (Standing.WANTYES, True): (Standing.YES, None),
    (Standing.WANTYES, False): (Standing.NO, None),
    (Standing.WANTYES_OPPOSITE, True): (Standing.WANTNO, False),
    (Standing.WANTYES_OPPOSITE, False): (Standing.NO, None),
    (Standing.WANTNO, False): (Standing.NO, None),
    (Standing.WANTNO_OPPOSITE, False): (Standing.WANTYES, True),
    # The other end answers "end it" with "yes", which it may not.
    (Standing.WANTNO, True): (Standing.NO, None),
    (Standing.WANTNO_OPPOSITE, True): (Standing.YES, None),
}
"""What an answer comes to, and what is sent back."""


class Agreement:
    """One option, used by one end.

    What is sent and heard is True for "use it", False for "do not".
    """

    __slots__ = ("standing",)

    def __init__(self) -> None:
        self.standing = Standing.NO

    @property
    def is_agreed(self) -> bool:
        """Whether it is in use."""
        return self.standing is Standing.YES

    @property
    def is_asked(self) -> bool:
        """Whether it has been asked for, and neither answered nor taken back."""
        return self.standing is Standing.WANTYES

    def want(self, wanted: bool) -> bool:  # noqa: FBT001  (what is said to the other end)
        """Want it, or want it no more; return whether to tell the other end now."""
        changes = _WANTED if wanted else _UNWANTED
        self.standing, tell = changes.get(self.standing, (self.standing, False))
        return tell

    def is_request(self, heard: bool) -> bool:  # noqa: FBT001  (what the other end says)
        """Whether hearing that would be a wish of the other end, not an answer, and no news."""
        return self.standing is (Standing.NO if heard else Standing.YES)

    def hear(self, heard: bool, *, welcome: bool) -> bool | None:  # noqa: FBT001  (the same)
        """Take what the other end says; return what to answer, None for nothing.

        Args:
            heard: what it says.
            welcome: whether we agree to use the option, if it asks for that.
        """
        if self.is_request(heard):
            agreed = heard and welcome
            self.standing = Standing.YES if agreed else Standing.NO
            return agreed
        self.standing, answer = _ANSWERED.get((self.standing, heard), (self.standing, None))
        return answer


_WINDOW, _EFFORT = 12, 5
"""A board is less than 1 KiB. These cost 32 KiB for each connection that is compressed, where
zlib's own defaults cost 256 KiB (zlib's manual: 2 ** (window + 2) + 2 ** (effort + 9))."""


class Compressor:
    """Compresses bytes, so that all that is put in can be read at the other end at once."""

    def __init__(self) -> None:
        self._zlib = zlib.compressobj(wbits=_WINDOW, memLevel=_EFFORT)

    def packed(self, data: bytes) -> bytes:
        """Return what to send for these bytes."""
        return self._zlib.compress(data) + self._zlib.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        """Return what to send at the end."""
        return self._zlib.flush(zlib.Z_FINISH)


_OURS = {telopt.DO: True, telopt.DONT: False}
"""What the other end says of an option that we would use."""
_THEIRS = {telopt.WILL: True, telopt.WONT: False}
_SAID_OF_OURS = {True: telopt.WILL, False: telopt.WONT}
_SAID_OF_THEIRS = {True: telopt.DO, False: telopt.DONT}

_OFFERED = (telopt.CHARSET, telopt.EOR, telopt.GMCP, telopt.MSSP)
_WELCOME = {telopt.NAWS, telopt.TTYPE, telopt.CHARSET, telopt.NEW_ENVIRON}
"""What a client may use, if it wants to."""

_WE_ASK_FOR_TYPE = telopt.TTYPE + telopt.SEND
_WE_ASK_FOR_UTF_8 = telopt.CHARSET + telopt.REQUEST + b";UTF-8"
# Never for all variables, nor for USER: who somebody is they say themselves.
_WE_ASK_FOR_VARIABLES = (
    telopt.NEW_ENVIRON
    + telopt.SEND
    + b"".join(telopt.VAR + name for name in (b"CLIENT_NAME", b"CHARSET", b"MTTS"))
)


class Negotiation:
    """All options of one connection; an `items.Client`.

    Args:
        session: where answers and news go.
        policy: what holds for all connections.
    """

    def __init__(self, session: Receiver, policy: TelnetPolicy) -> None:
        self._session, self._policy = session, policy
        self._budget = policy.option_changes
        self._ours: defaultdict[bytes, Agreement] = defaultdict(Agreement)
        self._theirs: defaultdict[bytes, Agreement] = defaultdict(Agreement)
        self._client = Capabilities()
        self._told = self._client.terminal
        self._spoken = False
        self._wants_no_marks = False
        self._awaits_type = self._awaits_charset = False

    def begin(self) -> None:
        """Ask for the width, which shows a client without telnet 3 bytes of junk."""
        self._ask(telopt.NAWS)

    # What the session asks for.

    @property
    def is_hidden(self) -> bool:
        """Whether the client does not show what is typed, not even the end of a line."""
        return self._ours[telopt.ECHO].is_agreed

    def hide(self) -> None:
        """Ask the client not to show what is typed, until `reveal`."""
        self._offer(telopt.ECHO)

    def reveal(self) -> None:
        """Let the client show what is typed."""
        if self._ours[telopt.ECHO].want(False):  # noqa: FBT003  (what is said)
            self._say(telopt.WONT, telopt.ECHO)

    def data(self, package: str, text: str) -> None:
        """Send a package, its data as JSON, if the client takes any."""
        if self._ours[telopt.GMCP].is_agreed:
            self._session.screen.command(gmcp.framed(package, text))

    # What the client says.

    def hear(self, command: bytes, option: bytes) -> None:
        """Take a DO, DONT, WILL or WONT."""
        if command in _OURS:
            self._hear_of_ours(option, _OURS[command])
        else:
            self._hear_of_theirs(option, _THEIRS[command])
        self._speak()

    def hear_more(self, option: bytes, payload: bytes) -> None:
        """Take a sub-negotiation; one that was not agreed on, or makes no sense, does nothing."""
        match option:
            case telopt.NAWS:
                self._hear_width(payload)
            case telopt.TTYPE:
                self._hear_type(payload)
            case telopt.NEW_ENVIRON:
                self._hear_variables(payload)
            case telopt.CHARSET:
                self._hear_charset(payload)
            case telopt.GMCP:
                self._hear_package(payload)
        self._tell()
        self._speak()

    def _hear_of_ours(self, option: bytes, wanted: bool) -> None:  # noqa: FBT001  (what is said)
        ours = self._ours[option]
        if not self._affords(ours, wanted):
            return
        before = ours.is_agreed
        answer = ours.hear(wanted, welcome=self._is_offered(option))
        if answer is not None:
            self._say(_SAID_OF_OURS[answer], option)
        if option == telopt.SGA:
            self._wants_no_marks = wanted
        if option in {telopt.SGA, telopt.EOR}:
            self._end_prompts()
        elif ours.is_agreed is not before:
            self._ours_changed(option, ours.is_agreed)

    def _hear_of_theirs(self, option: bytes, wanted: bool) -> None:  # noqa: FBT001  (the same)
        theirs = self._theirs[option]
        if not self._affords(theirs, wanted):
            return
        before = theirs.is_agreed
        answer = theirs.hear(wanted, welcome=option in _WELCOME)
        if answer is not None:
            self._say(_SAID_OF_THEIRS[answer], option)
        if theirs.is_agreed and not before:
            if option == telopt.TTYPE:
                self._awaits_type = True
                self._say_more(_WE_ASK_FOR_TYPE)
            elif option == telopt.NEW_ENVIRON:
                self._say_more(_WE_ASK_FOR_VARIABLES)

    def _ours_changed(self, option: bytes, agreed: bool) -> None:  # noqa: FBT001  (the same)
        if option == telopt.CHARSET and agreed:
            self._awaits_charset = True
            self._say_more(_WE_ASK_FOR_UTF_8)
        elif option == telopt.MSSP and agreed:
            self._session.screen.command(mssp.in_telnet(self._policy.status()))
        elif option == telopt.GMCP and not agreed:
            self._client.packages = frozenset()
            self._tell()
        elif option == telopt.MCCP2_COMPRESS:
            if agreed:
                self._session.screen.compress(_framed(telopt.MCCP2_COMPRESS))
            else:
                self._session.screen.decompress()

    def _end_prompts(self) -> None:
        """Settle what marks the end of a prompt. Where one ends with a mark, all that follow do.

        A client that refuses EOR still knows GA, which RFC 854 wants wherever SGA is not agreed on;
        but one that asks for SGA does not want to see it.
        """
        eor = self._ours[telopt.EOR]
        if eor.is_agreed:
            self._session.screen.end_prompts(telopt.IAC + telopt.CMD_EOR)
        elif eor.is_asked or self._wants_no_marks or not self._spoken:
            self._session.screen.end_prompts(b"")
        else:
            self._session.screen.end_prompts(telopt.IAC + telopt.GA)

    # Sub-negotiations.

    def _hear_width(self, payload: bytes) -> None:
        theirs = self._theirs[telopt.NAWS]
        if len(payload) == 4 and (theirs.is_agreed or theirs.is_asked):
            self._client.is_wide(int.from_bytes(payload[:2], "big"))

    def _hear_type(self, payload: bytes) -> None:
        if payload[:1] != telopt.IS or not self._awaits_type:
            return
        self._awaits_type = self._client.is_called(payload[1:].decode("ascii", "replace"))
        if self._awaits_type:
            self._say_more(_WE_ASK_FOR_TYPE)
        elif self._client.has_variables:
            self._ask(telopt.NEW_ENVIRON)

    def _hear_variables(self, payload: bytes) -> None:
        if payload[:1] in {telopt.IS, telopt.INFO} and self._theirs[telopt.NEW_ENVIRON].is_agreed:
            self._client.has_set(variables_in(payload[1:]))

    def _hear_charset(self, payload: bytes) -> None:
        kind, rest = payload[:1], payload[1:]
        if kind == telopt.REQUEST and self._theirs[telopt.CHARSET].is_agreed and self._budget:
            self._budget -= 1
            self._answer_charset(rest)
        elif self._awaits_charset and kind in {telopt.ACCEPTED, telopt.REJECTED}:
            self._awaits_charset = False
            accepted = kind == telopt.ACCEPTED and is_utf8(rest.decode("ascii", "replace"))
            self._client.agrees_to(utf8=accepted)

    def _answer_charset(self, offer: bytes) -> None:
        """Answer a client's own request, in the middle of ours with a refusal (RFC 2066)."""
        name = utf8_in(offer)
        if name and not self._awaits_charset:
            self._client.agrees_to(utf8=True)
            self._say_more(telopt.CHARSET + telopt.ACCEPTED + name)
        else:
            self._say_more(telopt.CHARSET + telopt.REJECTED)

    def _hear_package(self, payload: bytes) -> None:
        heard = gmcp.read(payload) if self._ours[telopt.GMCP].is_agreed else None
        match heard:
            case ("core.ping", _):
                self._session.received([Mark(gmcp.framed(gmcp.PING))])
            case ("core.supports.set" | "core.supports.add" | "core.supports.remove" as name, data):
                before = self._client.packages
                action = name.rpartition(".")[2]
                self._client.packages = gmcp.supported(before, action, data)
                if "char.login" in self._client.packages - before:
                    self.data(gmcp.LOGIN, gmcp.PASSWORDS)
            case ("char.login" | "char.login.credentials", data):
                if found := gmcp.credentials(data):
                    self._session.received([Credentials(*found)])
            case _:
                pass  # Core.Hello is only polite; others may know more than we do

    # What is sent.

    def _speak(self) -> None:
        """Offer everything to a client that has just shown that it speaks telnet."""
        if self._spoken:
            return
        self._spoken = True
        self._ask(telopt.TTYPE)
        for option in _OFFERED:
            self._offer(option)
        if self._policy.compress:
            self._offer(telopt.MCCP2_COMPRESS)

    def _is_offered(self, option: bytes) -> bool:
        compressed = option == telopt.MCCP2_COMPRESS and self._policy.compress
        return option in _OFFERED or compressed

    def _affords(self, agreement: Agreement, wanted: bool) -> bool:  # noqa: FBT001  (the same)
        """Whether to listen; what answers a wish of ours is always listened to."""
        if not agreement.is_request(wanted):
            return True
        affords = self._budget > 0
        self._budget -= affords
        return affords

    def _offer(self, option: bytes) -> None:
        if self._ours[option].want(True):  # noqa: FBT003  (what is said)
            self._say(telopt.WILL, option)

    def _ask(self, option: bytes) -> None:
        if self._theirs[option].want(True):  # noqa: FBT003  (what is said)
            self._say(telopt.DO, option)

    def _say(self, command: bytes, option: bytes) -> None:
        self._session.screen.command(telopt.IAC + command + option)

    def _say_more(self, payload: bytes) -> None:
        self._session.screen.command(_framed(payload))

    def _tell(self) -> None:
        if self._client.terminal != self._told:
            self._told = self._client.terminal
            self._session.received([Fitted(self._told)])


def _framed(payload: bytes) -> bytes:
    escaped = payload.replace(telopt.IAC, telopt.IAC + telopt.IAC)
    return telopt.IAC + telopt.SB + escaped + telopt.IAC + telopt.SE
