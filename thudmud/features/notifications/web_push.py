"""Web Push (RFC 8030), by the push services of browser vendors. The only importer of pywebpush.

We use pywebpush for encryption (RFC 8291) and signature (RFC 8292) only. Its own HTTP request would
follow redirects to anywhere, and has no useful timeout.
"""

from __future__ import annotations

import errno
import json
import os
import ssl
import time
from codecs import BOM_UTF8
from contextlib import suppress
from email.utils import parsedate_to_datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid, VapidException
from py_vapid.utils import b64urlencode
from pywebpush import WebPusher, WebPushException

from thudmud.errors import StartError, system_reason
from thudmud.features.notifications.model import Browser, Kind, is_served
from thudmud.features.notifications.notifier import NeverSentError, NotSentError
from thudmud.features.notifications.settings import PushSettings
from thudmud.views.headlines import Headline

TIMEOUT = 30.0
"""Seconds that a request to a push service may take."""

_SIGNED_FOR = 43_200
"""Seconds for which a signature is valid; a day is the most (RFC 8292, section 2)."""

_GONE = {404, 410}
"""Status codes for a subscription that has ended (RFC 8030, sections 6 and 7.3)."""

_NOT_FROM_THIS_KEY = ("VapidPkHashMismatch", "public key mismatch", "do not correspond")
"""Phrases by which Apple, Mozilla and Google report a subscription made with another key, with
status 400, 401 or 403 (RFC 8292, section 4.2). Such a subscription never accepts our messages."""

_OURS = {400, 401, 403, 413}
"""Status codes for other faults on our side, such as a wrong clock of this machine."""

_REASON_READ = 1024
"""Bytes to read of a push service's error message."""

_REASON_SHOWN = 200
"""Characters to log of a push service's error message."""


class PushServices:
    """The push services; implements `notifying.Pusher`.

    Args:
        settings: the accepted services, and the file of the key.
        folder: the folder that relative file names refer to.
        page: the origin of the web page.
        context: the TLS context; by default with the system's CA bundle.
        is_dry_run: whether to use a key of the moment if there is none, instead of making a file.

    Raises:
        StartError: the key can't be made or read, or there is no contact for the push services.
    """

    def __init__(
        self,
        settings: PushSettings,
        folder: Path,
        page: str,
        context: ssl.SSLContext | None = None,
        *,
        is_dry_run: bool = False,
    ) -> None:
        self._services = settings.services
        self._vapid = _signer(folder / settings.keys, is_dry_run=is_dry_run)
        self._about = f"mailto:{settings.contact}" if settings.contact else page
        self._context = context or ssl.create_default_context()
        point = self._vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.key: str = b64urlencode(point)
        try:
            self._signed("https://example.org")
        except VapidException as error:
            raise StartError(
                "push.contact: expected a mail address, which can only be left out if"
                " web.public_url begins with https: and has no port"
            ) from error

    async def send(self, browser: Browser, told: Headline, lasts: float) -> None:
        """Send a message to a browser, see `notifying.Pusher`."""
        if not is_served(browser.endpoint, self._services):
            raise NeverSentError("its push service is no longer in push.services")
        shown = {"title": told.title, "body": told.brief, "path": told.path}
        keys = {"p256dh": browser.key, "auth": browser.auth}
        try:
            pusher = WebPusher({"endpoint": browser.endpoint, "keys": keys})
            body = pusher.encode(json.dumps(shown).encode())["body"]
        except (ValueError, WebPushException) as error:  # invalid keys
            raise NeverSentError("its keys are invalid") from error
        link = urlsplit(browser.endpoint)
        headers = {
            **self._signed(f"https://{link.netloc}"),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(int(lasts)),
            # A later message about the same board replaces one that is still queued (RFC 8030,
            # section 5.4).
            "Topic": sha256(told.path.encode()).hexdigest()[:32],
            "Urgency": "high" if told.kind == Kind.CLOCK.value else "normal",
        }
        try:
            status, why_not, later = await self._post(browser.endpoint, body, headers)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            why = type(error).__name__
            raise NotSentError(f"could not reach the push service: {why}") from error
        if status in _GONE:
            raise NeverSentError(f"the push service answered {status}")
        if status in _OURS:
            if any(each in why_not for each in _NOT_FROM_THIS_KEY):
                raise NeverSentError(f"subscribed with a key other than push.keys: {status}")
            why = f"the push service rejected this server with {status}: {_shorten_reason(why_not)}"
            raise NotSentError(why, later, is_ours=True)
        if not 200 <= status < 300:
            raise NotSentError(f"the push service answered {status}", later)

    async def _post(
        self, endpoint: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, float]:
        """Return the status, the error message, and the seconds of a Retry-After, 0 without one."""
        connector = aiohttp.TCPConnector(ssl=self._context)
        limit = aiohttp.ClientTimeout(total=TIMEOUT)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=limit) as session,
            session.post(endpoint, data=body, headers=headers, allow_redirects=False) as response,
        ):
            later = response.headers.get("Retry-After", "")
            reason = (await response.content.read(_REASON_READ)).decode("utf-8", "replace")
            return response.status, reason, retry_after_seconds(later, time.time())

    def _signed(self, audience: str) -> dict[str, str]:
        claims = {"aud": audience, "sub": self._about, "exp": int(time.time()) + _SIGNED_FOR}
        signed: dict[str, str] = self._vapid.sign(claims)
        return signed


def retry_after_seconds(retry_after: str, now: float) -> float:
    """Parse a Retry-After header (RFC 9110, section 10.2.3) into seconds to wait.

    The header is a number of seconds or a date. An invalid value counts as 0.
    """
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, until - now)


def _shorten_reason(reason: str) -> str:
    """Return an error message as a short line."""
    return " ".join(reason.split())[:_REASON_SHOWN] or "no reason given"


def _signer(path: Path, *, is_dry_run: bool) -> Vapid:
    """Return the signer with the key in a file; a missing key is generated."""
    try:
        if not path.exists():
            if is_dry_run:
                return _temporary_key(path)
            _make_key(path)
        return Vapid.from_pem(path.read_bytes().removeprefix(BOM_UTF8))
    except OSError as error:
        raise StartError(f"push.keys: {path}: {system_reason(error)}") from error
    except ValueError as error:
        raise StartError(f"push.keys: expected a private P-256 key (PEM) in {path}") from error


def _temporary_key(path: Path) -> Vapid:
    """Return a key that isn't stored, if it could be."""
    path.parent.stat()
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    vapid = Vapid()
    vapid.generate_keys()
    return vapid


def _make_key(path: Path) -> None:
    """Generate a key in a file that nobody else can read. The file appears whole or not at all."""
    vapid = Vapid()
    vapid.generate_keys()
    part = path.with_name(f"{path.name}.{os.getpid()}")
    end = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(end, "wb") as file:
            file.write(vapid.private_pem())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another server was faster: use that key
            # A hard link, unlike a rename, never replaces the key of another server.
            os.link(part, path)
    finally:
        part.unlink()
