"""What a client is sent: values, and the lines of JSON that they are written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from thudmud.gateway.faults import FATAL, Fault
from thudmud.text import Message

VERSION = 1
"""The version of the protocol."""

Data = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """What has come of a request.

    Attributes:
        number: of the request.
        data: what it asked for, if that was done.
        fault: why it was not.
    """

    number: int
    data: Data = field(default_factory=dict)
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that players at a board are told.

    Attributes:
        board: the board's own name for its client.
        message: what is told to whom.
        number: of the request that has brought it about; None if no request has.
    """

    board: str
    message: Message
    number: int | None


Reply = Answer | Happened
"""What is numbered, and sent until it is acknowledged."""


def written(reply: Reply, seq: int) -> bytes:
    """Return a reply as its line."""
    match reply:
        case Answer(number, data, None):
            return line({"type": "answer", "seq": seq, "id": number, "ok": True, **data})
        case Answer(number, _, Fault(code=code, text=text)):
            told = {"ok": False, "code": code.value, "text": text}
            return line({"type": "answer", "seq": seq, "id": number, **told})
        case Happened(board, message, number):
            to = {"seq": seq, "id": number, "board": board, "to": list(message.to)}
            if not message.package:
                return line({"type": "tell", **to, "text": message.text})
            data = json.loads(message.text)
            return line({"type": "data", **to, "package": message.package, "data": data})
    raise TypeError(f"no reply: {reply}")


def error(fault: Fault) -> bytes:
    """Return the line that tells of what belongs to no request."""
    return line(
        {
            "type": "error",
            "id": fault.number,
            "code": fault.code.value,
            "text": fault.text,
            "fatal": fault.code in FATAL,
        }
    )


def line(data: Data) -> bytes:
    """Return an object as a line, in ASCII."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"
