"""Web clients: players who connect by WebSocket and resume with just their word."""

from __future__ import annotations

import json
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from tests.simulation.network import Wire
from tests.simulation.players import Link
from thudmud.accounts.login import NAME_PROMPT
from thudmud.web.frames import SUBPROTOCOL

PLACE = parse_uri("ws://world/ws")
PING = b"Core.Ping"
"""The request for a mark, and the mark itself."""


class PageLink(Link):
    """The connection of a player on the web page, who receives facts as packages."""

    FIRST = "look"

    def _open(self) -> Wire | None:
        wire = self.server.browse("192.0.2.2", self._heard)
        self._socket = ClientProtocol(PLACE, subprotocols=[Subprotocol(SUBPROTOCOL)])
        self._supports_sent, self._asks_by_word = False, bool(self.player.word)
        if wire:
            self._socket.send_request(self._socket.connect())
            self._flush(wire)
        return wire

    def _send(self, wire: Wire, line: str, *, marked: bool) -> None:
        self._socket.send_binary(line.encode())
        if marked:
            self._socket.send_text(PING)
        self._flush(wire)

    def _heard(self, data: bytes) -> None:
        if self.is_over:
            return
        if data:
            self._socket.receive_data(data)
        for event in self._socket.events_received():
            if isinstance(event, Frame):
                self._take(event)
        if self.wire and not self.is_over:
            if data and self._socket.state in (State.CONNECTING, State.OPEN):
                self._flush(self.wire)  # replies to pings
            else:
                self._lost()

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.BINARY:
                self._read_all(bytes(frame.data))
            case Opcode.TEXT:
                package, _, text = bytes(frame.data).decode().partition(" ")
                self.world.note(f"  {self.name} is told: {package} {text}")
                self._take_package(package, json.loads(text) if text else None)

    def _take_package(self, package: str, told: Any) -> None:
        match package:
            case "Core.Ping":
                self._marked()
            case "Thud.Word":
                self.player.word = told["word"]
            case "Char.Login.Result" if not told["success"]:
                self._asks_by_word = False
            case _ if package.startswith("Thud.") and isinstance(told, dict):
                kind = package.rpartition(".")[2].lower()
                self.told.facts.append({"type": kind, **told})
                self.told.times.append(self.world.now)

    def _asked(self, prompt: str) -> None:
        if self._asks_by_word and prompt.endswith(NAME_PROMPT):
            self.world.later(0.1, self._come_back)
        else:
            super()._asked(prompt)

    def _come_back(self) -> None:
        if self.wire and not self.is_over:
            given = json.dumps({"account": self.player.name, "password": self.player.word})
            self._after_prompt = False  # here a new line begins the answer
            self._expect_mark()
            self._socket.send_text(f"Char.Login.Credentials {given}".encode())
            self._socket.send_text(PING)
            self._flush(self.wire)

    def _flush(self, wire: Wire) -> None:
        if self._socket.state is not State.CONNECTING and not self._supports_sent:
            self._supports_sent = True
            self._socket.send_text(b'Core.Supports.Set ["Thud 1", "Char.Login 1"]')
        for data in self._socket.data_to_send():
            if data:
                wire.send(data)
