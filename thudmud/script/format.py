"""The format of transcripts, told to those who write them.

Owns these words, and nothing else: what they say is done by the other modules.
"""

from __future__ import annotations

FORMAT = """\
A transcript is text, line by line:

    # A comment, kept as it is; so are empty lines.
    # First of all the server's configuration, beside the transcript, if it
    # has one of its own:
    @config FILE
    # Anna comes in, as anyone does at their first line:
    Anna+
    # She types a line, and sees one; Bert sees one, with a wildcard.
    Anna> join game as dwarf on oak board
    Anna| You walk to the oak board.
    Bert~ Anna * to the oak board.
    # She types another. Bert sees it, and may see any number of lines more.
    Anna> say Hello!
    Anna| You say: Hello!
    Bert...
    # Her connection is lost.
    Anna-

What stands behind > is typed. What stands behind | is seen, exactly; behind ~
it is a line with wildcards, where * stands for any characters; ... is any
number of lines. What is seen stands right below the step that brought it
about, the lines of one player in their order. A step with expectations is
told whole: who is not named must see nothing. A step without any is not
compared, until --update fills it in. Empty lines are never compared, so none
are written. Names have 2 to 20 letters, the first a capital.
"""
"""The format of a plain transcript."""

MORE = """\
More, for those who test with it:

    # A variable, and what it stands for, unless --set gives it a value.
    @set greeting hello, everybody
    # Its value is typed, or seen. Where * stands in a wildcard, a variable
    # can take what is seen there.
    Anna> say ${greeting}
    Anna~ You say: ${first=*}, everybody
    Bert| Anna says: ${first}, everybody
    # The steps of another file, which is looked for beside this one.
    @include FILE
    # Anna waits, for 5 seconds at most, until she sees a line that fits.
    Anna? 5s It is your turn*

    # Several servers, named before the first step, each with a configuration
    # if it has one. A player stays on the server where they first come in:
    # the first one, if none is named.
    @server north
    @server south FILE
    Anna+ north
    Bert+ south

Names of variables have letters, digits and _, and are set or captured above
the line that uses them; $${ is written where ${ itself is meant. What is used
in a value is filled in where the @set stands.

A wait is over at once if the player has seen such a line since they last did
something, or since the last step that was compared. So a transcript with
waits can also be played in a house without a server, where nothing takes
time. The step above a wait has no expectations of its own as a rule: those
below the wait are then compared with all that both have shown. If the time
is up, the transcript ends there.

A file that is only included is best given another ending than .thud-script.
@config and @server stand in the transcript that is played. With --connect,
every server that it names needs an address: --connect north=HOST:PORT.
"""
"""The format of what goes beyond that."""
