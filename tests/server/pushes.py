"""A fake Web Push service, and browsers that decrypt its messages."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import http_ece
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid

from thudmud.features.notifications.model import Browser


def in_base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


class Device:
    """A subscribed browser, which holds the private key for its messages."""

    def __init__(self, path: str) -> None:
        self._key, self._secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.path = path

    def browser(self, address: str) -> Browser:
        """Return its subscription at the push service with this address."""
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return Browser(f"{address}{self.path}", in_base64(point), in_base64(self._secret))

    def read(self, body: bytes) -> Any:
        plain = http_ece.decrypt(body, private_key=self._key, auth_secret=self._secret)
        return json.loads(plain)


class PushService:
    """A push service that records messages.

    Attributes:
        address: its base URL.
        status: the HTTP status of its answers, 201 by default.
        hold: an event to wait for before answering, if any.
        later: the seconds in its Retry-After header.
        taken: the messages received: device, headers and text.
    """

    def __init__(self, *devices: Device) -> None:
        self.devices = {each.path: each for each in devices}
        self.address = ""
        self.status, self.later = 201, ""
        self.hold: asyncio.Event | None = None
        self.reason = ""
        self.taken: list[tuple[str, dict[str, str], Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        authorization = request.headers["Authorization"]
        assert Vapid.verify(authorization)
        assert request.headers["Content-Encoding"] == "aes128gcm"
        message = self.devices[request.path].read(await request.read())
        self.taken.append((request.path, dict(request.headers), message))
        headers = {"Retry-After": self.later} if self.later else {}
        if self.status == 307:
            headers["Location"] = f"{self.address}/elsewhere"
        return web.Response(status=self.status, text=self.reason, headers=headers)


@asynccontextmanager
async def pushing(service: PushService, context: ssl.SSLContext) -> AsyncIterator[None]:
    """Run a push service on a free port."""
    app = web.Application()

    async def answer(request: web.Request) -> web.Response:
        if service.hold:
            await service.hold.wait()
        return await service.answer(request)

    app.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    port = runner.addresses[0][1]
    service.address = f"https://127.0.0.1:{port}"
    try:
        yield
    finally:
        await runner.cleanup()
