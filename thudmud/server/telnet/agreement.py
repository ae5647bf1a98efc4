"""Whether an option of telnet is in use, by the Q method of RFC 1143.

Owns the two ends' agreement on one option, for one of the ends that may use it: what has been asked
and not answered yet, so that an answer is never taken for a request, and nothing loops. Must never
know which option it is, nor a byte of it.
"""

from __future__ import annotations

from enum import Enum


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
