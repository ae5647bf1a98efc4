"""Checks of the mail relay and the push key, for ``thudmud doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thudmud.errors import StartError
from thudmud.features.notifications.notifier import NotSentError
from thudmud.features.notifications.serving import make_pusher, make_relay
from thudmud.game.feature import CheckResult, Severity

_PATIENCE = 8.0
"""Seconds that the relay may take to answer."""


async def diagnose(settings: Any, folder: Path) -> Sequence[CheckResult]:
    """Check the relay and the push key, without sending or changing anything."""
    results: list[CheckResult] = []
    if settings.mail.relay:
        results.append(await _diagnose_relay(settings, folder))
    if settings.push.enabled:
        results.append(_diagnose_push(settings, folder))
    return results


async def _diagnose_relay(settings: Any, folder: Path) -> CheckResult:
    """Connect to the mail relay, and log in if a user is configured."""
    place = f"{settings.mail.relay}, port {settings.mail.port}"
    try:
        await make_relay(settings, folder).check(_PATIENCE)
    except StartError as error:
        return CheckResult(Severity.ERROR, "mail", str(error), "Correct that setting.")
    except NotSentError as error:
        remedy = "See that the relay runs, and check the section [mail]. Mails wait meanwhile."
        return CheckResult(Severity.ERROR, "mail", f"the relay {place} fails: {error}", remedy)
    how = {"none": "without TLS", "starttls": "with STARTTLS", "tls": "with TLS"}[settings.mail.tls]
    return CheckResult(Severity.OK, "mail", f"the relay {place} answers {how}; no mail was sent")


def _diagnose_push(settings: Any, folder: Path) -> CheckResult:
    """Read the key for push messages, if there is one yet."""
    path = folder / settings.push.keys
    if not path.exists():
        text = f"there is no key in {path} yet; the server makes one at its next start"
        remedy = "If there was one, restore it: with another, members have to switch them on again."
        return CheckResult(Severity.WARNING, "push", text, remedy)
    try:
        make_pusher(settings, folder)
        others_can_read = path.stat().st_mode & 0o077
    except StartError as error:
        return CheckResult(Severity.ERROR, "push", str(error), "Restore the key, or correct that.")
    if others_can_read:
        text, remedy = f"other users can read the key {path}", f"chmod 600 {path}"
        return CheckResult(Severity.WARNING, "push", text, remedy)
    return CheckResult(Severity.OK, "push", f"the key {path} can be used")
