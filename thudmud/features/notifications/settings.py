"""The sections [mail] and [push] of the configuration."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from thudmud.features.notifications.model import is_address
from thudmud.settings import Section, conflict_error, file_name, flag, invalid_value_error, whole

_SERVICE = re.compile(r"\.?[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?")


def _mail_address(words: str) -> str:
    if words and not is_address(words):
        raise invalid_value_error('should be a mail address such as "thud@example.org", or ""')
    return words


def _push_service(words: str) -> str:
    if not _SERVICE.fullmatch(words):
        raise invalid_value_error(
            'should be a host such as "push.example.org", or ".example.org" for all in it'
        )
    return words


def _linked(section: Section, known: ValidationInfo) -> Section:
    """Require web.public_url, since notifications contain links to the page."""
    web = known.data.get("web")
    is_on = getattr(section, "relay", "") or getattr(section, "enabled", False)
    if is_on and web and not web.public_url:
        raise conflict_error("needs web.public_url, the public address of the web page")
    return section


class MailSettings(Section):
    """The mail relay."""

    needs_restart = True

    relay: str = Field(default="", description='the name of a host, or ""')
    port: int = whole(587, 1, 65535)
    tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description='"starttls", "tls" or "none"'
    )
    certificates: str = file_name("")
    user: str = Field(default="", description='a name, or ""')
    password_file: str = file_name("")
    sender: Annotated[str, AfterValidator(_mail_address)] = Field(
        default="", description='a mail address such as "thud@example.org", or ""'
    )
    minutes: int = whole(15, 0, 1440)
    per_hour: int = whole(100, 1, 1_000_000)
    established_only: bool = flag(default=True)

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if self.relay and not self.sender:
            raise conflict_error(
                'sender should be the address that mail comes from, unless relay is ""'
            )
        if self.user and not self.password_file:
            raise conflict_error("user needs a password: password_file should name its file")
        if self.user and self.tls == "none":
            raise conflict_error("user needs TLS: otherwise the password is sent in clear text")
        return self


class PushSettings(Section):
    """Web push notifications."""

    needs_restart = True

    enabled: bool = flag(default=False)
    keys: str = file_name("push.pem")
    contact: Annotated[str, AfterValidator(_mail_address)] = Field(
        default="", description='a mail address such as "you@example.org", or ""'
    )
    services: tuple[Annotated[str, AfterValidator(_push_service)], ...] = Field(
        default=(
            "fcm.googleapis.com",
            "updates.push.services.mozilla.com",
            ".notify.windows.com",
            ".push.apple.com",
        ),
        strict=False,
        description='a list of hosts, such as ["push.example.org", ".example.net"]',
    )


SECTIONS: dict[str, tuple[Any, Section]] = {
    "mail": (Annotated[MailSettings, AfterValidator(_linked)], MailSettings()),
    "push": (Annotated[PushSettings, AfterValidator(_linked)], PushSettings()),
}
