"""What browsers show, by their makers' push services (RFC 8030). The only importer of pywebpush.

Of pywebpush is what is hard: the encryption (RFC 8291) and the signature (RFC 8292). Its own
request would follow redirections to anywhere, and wait for hours.
"""

from __future__ import annotations

import json
import os
import ssl
import time
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

from thudmud.errors import StartError
from thudmud.features.notifications.model import Browser, Kind, is_served
from thudmud.features.notifications.notifying import NeverSentError, NotSentError
from thudmud.features.notifications.settings import PushSettings
from thudmud.views.headlines import Headline

TIMEOUT = 30.0
"""Seconds that a push service may take."""

_SIGNED_FOR = 43_200
"""Seconds for which a signature holds; a day is the most (RFC 8292, section 2)."""

_GONE = {404, 410}
"""What push services answer when a browser wants nothing more (RFC 8030, sections 6 and 7.3)."""

_NOT_FROM_THIS_KEY = ("VapidPkHashMismatch", "public key mismatch", "do not correspond")
"""How Apple, Mozilla and Google say that a browser was subscribed with another key, with 400, 401
and 403 (RFC 8292, section 4.2). It never takes anything from ours."""

_OURS = {400, 401, 403, 413}
"""What they answer else to what we have got wrong, such as the time of this machine's clock."""

_REASON_READ = 1024
"""Bytes that are read of why a push service refuses something."""

_REASON_SHOWN = 200
"""Characters of that which are logged."""


class PushServices:
    """The push services; `notifying.Pusher`.

    Args:
        settings: which there are, and where the key is.
        folder: the folder of files whose names are relative.
        page: where the page is.
        context: what certificates are checked with; by default what the system trusts.

    Raises:
        StartError: the key cannot be made or read, or nobody is named to write to.
    """

    def __init__(
        self,
        settings: PushSettings,
        folder: Path,
        page: str,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._services = settings.services
        self._vapid = _signer(folder / settings.keys)
        self._about = f"mailto:{settings.contact}" if settings.contact else page
        self._context = context or ssl.create_default_context()
        point = self._vapid.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.key: str = b64urlencode(point)
        try:
            self._signed("https://example.org")
        except VapidException as error:
            raise StartError(
                "push.contact: it should be a mail address, unless web.public_url begins with"
                " https: and has no port"
            ) from error

    async def send(self, browser: Browser, told: Headline, lasts: float) -> None:
        """Send something to a browser, see `notifying.Pusher`."""
        if not is_served(browser.endpoint, self._services):
            raise NeverSentError("its push service is not in push.services any more")
        shown = {"title": told.title, "body": told.brief, "path": told.path}
        keys = {"p256dh": browser.key, "auth": browser.auth}
        try:
            pusher = WebPusher({"endpoint": browser.endpoint, "keys": keys})
            body = pusher.encode(json.dumps(shown).encode())["body"]
        except (ValueError, WebPushException) as error:  # these are no keys
            raise NeverSentError("its keys cannot be used") from error
        link = urlsplit(browser.endpoint)
        headers = {
            **self._signed(f"https://{link.netloc}"),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(int(lasts)),
            # What is told later of the same board takes the place of what has not come yet.
            "Topic": sha256(told.path.encode()).hexdigest()[:32],
            "Urgency": "high" if told.kind == Kind.CLOCK.value else "normal",
        }
        try:
            status, why_not, later = await self._post(browser.endpoint, body, headers)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            why = type(error).__name__
            raise NotSentError(f"the push service cannot be reached: {why}") from error
        if status in _GONE:
            raise NeverSentError(f"the push service answers {status}")
        if status in _OURS:
            if any(each in why_not for each in _NOT_FROM_THIS_KEY):
                raise NeverSentError(f"it was subscribed with another key than push.keys: {status}")
            why = f"the push service rejects this server, {status}: {_shown(why_not)}"
            raise NotSentError(why, later, is_ours=True)
        if not 200 <= status < 300:
            raise NotSentError(f"the push service answers {status}", later)

    async def _post(
        self, endpoint: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, float]:
        """Return the status, the reason, and after how many seconds to try again, if told."""
        connector = aiohttp.TCPConnector(ssl=self._context)
        limit = aiohttp.ClientTimeout(total=TIMEOUT)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=limit) as session,
            session.post(endpoint, data=body, headers=headers, allow_redirects=False) as response,
        ):
            later = response.headers.get("Retry-After", "")
            reason = (await response.content.read(_REASON_READ)).decode("utf-8", "replace")
            return response.status, reason, pause_in(later, time.time())

    def _signed(self, audience: str) -> dict[str, str]:
        claims = {"aud": audience, "sub": self._about, "exp": int(time.time()) + _SIGNED_FOR}
        signed: dict[str, str] = self._vapid.sign(claims)
        return signed


def pause_in(retry_after: str, now: float) -> float:
    """Return for how many seconds to wait by a Retry-After: a number, or the date of an end.

    See RFC 9110, section 10.2.3. What is neither counts for nothing.
    """
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, until - now)


def _shown(reason: str) -> str:
    """Return why something was refused, on a short line."""
    return " ".join(reason.split())[:_REASON_SHOWN] or "no reason is given"


def _signer(path: Path) -> Vapid:
    """Return what signs with the key in a file, which is made if it is missing."""
    try:
        if not path.exists():
            _make_key(path)
        return Vapid.from_pem(path.read_bytes())
    except OSError as error:
        raise StartError(f"push.keys: {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise StartError(f"push.keys: {path} is no key that was made for this") from error


def _make_key(path: Path) -> None:
    """Make a key in a file that nobody else can read, whole or not at all."""
    vapid = Vapid()
    vapid.generate_keys()
    part = path.with_name(f"{path.name}.{os.getpid()}")
    end = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(end, "wb") as file:
            file.write(vapid.private_pem())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another server was quicker
            os.link(part, path)
    finally:
        part.unlink()
