"""The settings: names, defaults and limits; and reading them from `config.toml`.

Each mistake is one line, with the file, the key, and what would be right.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypedDict

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from thudmud.english import capitalised
from thudmud.errors import InvalidValueError, ThudmudError
from thudmud.features import NAMES
from thudmud.features.notifications.model import is_address
from thudmud.game.events import MADE
from thudmud.game.projections import PROJECTION, is_board_key
from thudmud.language import MAX_LINE
from thudmud.language.parsing import LONGEST_NAME, board_problem, is_name, player_problem
from thudmud.rules import DEFAULT_RULES, RULESETS
from thudmud.search.levels import LEVELS, level_called
from thudmud.server.proxies import Proxies
from thudmud.store.rows import FORMAT
from thudmud.views.refusals import refused

YEAR = 31_622_400  # seconds
_MIN_SECRET, _MAX_SECRET = 16, 256  # characters; the longest fits into the gateway's hello

_SERVICE = re.compile(r"\.?[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?|https?://\[[0-9a-f:]+\](:[0-9]+)?")

# Fields. A description says what would be right in place of a wrong value.


def _whole(default: int, low: int, high: int) -> Any:
    words = f"a whole number from {low} to {high}"
    return Field(default=default, ge=low, le=high, description=words)


def _seconds(default: float, low: float, high: float) -> Any:
    words = f"a number of seconds from {low} to {high}"
    return Field(default=float(default), ge=low, le=high, description=words)


def _file(default: str) -> Any:
    words = "the name of a file" if default else 'the name of a file, or ""'
    # No file system allows that character in a name.
    return Field(
        default=default, pattern=r"^[^\x00]+$" if default else r"^[^\x00]*$", description=words
    )


def _flag(*, default: bool) -> Any:
    return Field(default=default, description="true or false")


def _host() -> Any:
    return Field(default="127.0.0.1", min_length=1, description="an address or a host's name")


def _listed() -> Any:
    return Field(default="", max_length=60, description="at most 60 characters")


def _proxies() -> Any:
    words = 'a list of addresses, such as ["192.0.2.1", "192.0.2.0/24"]'
    return Field(default=(), strict=False, description=words)


def _section(name: str, default: _Section) -> Any:
    words = f"a section that begins with [{name}]"
    return Field(default=default, validate_default=True, description=words)


def _unfit(right: str) -> PydanticCustomError:
    """Return an error that says what would be ``right`` in place of a value."""
    return PydanticCustomError("unfit", "{right}", {"right": right})


def _clash(reason: str) -> PydanticCustomError:
    """Return an error of a value that conflicts with another one."""
    return PydanticCustomError("clash", "{reason}", {"reason": reason})


def _board_name(name: str) -> str:
    if problem := board_problem(name):
        raise _clash(problem) if is_name(name) else _unfit(problem)
    return name


def _board_key(key: str) -> str:
    if key.startswith(MADE):
        raise _unfit(f'should not begin with "{MADE}", as the keys of boards do that players open')
    if key and not (is_board_key(key) and len(key) <= LONGEST_NAME):
        raise _unfit('should be a name that the board has had, such as "oak board", or ""')
    return key


def _ruleset(name: str) -> str:
    if name not in RULESETS:
        raise _unfit(f"should be one of {', '.join(RULESETS)}")
    return name


def _level(words: object) -> str:
    """Return the name of the level with a number, or with a name in any case."""
    try:
        return level_called(str(words)).name
    except InvalidValueError:
        known = ", ".join(map(str, LEVELS))
        raise _unfit(f"should be one of {known}, by its number or its name") from None


def _secret(words: str) -> str:
    if words and not _MIN_SECRET <= len(words) <= _MAX_SECRET:
        # The secret is not repeated in the message, which many may read.
        raise _clash(f"should have {_MIN_SECRET} to {_MAX_SECRET} characters")
    return words


def _feature(name: str) -> str:
    if name not in NAMES:
        raise _unfit(f"should be one of {', '.join(NAMES)}")
    return name


def _origin(words: str) -> str:
    if not _ORIGIN.fullmatch(words):
        raise _unfit('should be as browsers send it, such as "https://example.org"')
    return words


def _origin_or_none(words: str) -> str:
    return _origin(words) if words else ""


def _origin_or_all(words: str) -> str:
    return words if words == "*" else _origin(words)


def _network(words: str) -> str:
    try:
        Proxies([words])
    except ValueError:
        raise _unfit('should be an address or a network, such as "192.0.2.0/24"') from None
    return words


def _mail_address(words: str) -> str:
    if words and not is_address(words):
        raise _unfit('should be a mail address such as "thud@example.org", or ""')
    return words


def _push_service(words: str) -> str:
    if not _SERVICE.fullmatch(words):
        raise _unfit('should be a host such as "push.example.org", or ".example.org" for all in it')
    return words


def _linked(section: _Section, known: ValidationInfo) -> _Section:
    """Require that whoever is notified can be told where the page is."""
    web = known.data.get("web")
    is_on = getattr(section, "relay", "") or getattr(section, "enabled", False)
    if is_on and web and not web.public_url:
        raise _clash("needs web.public_url, the address of the page that players are told")
    return section


def _no_twins(boards: tuple[BoardSettings, ...]) -> tuple[BoardSettings, ...]:
    names = [board.name.lower() for board in boards]
    keys = [board.key or board.name for board in boards]
    for kind, words in (("name", names), ("key", keys)):
        if twin := next((each for each in words if words.count(each) > 1), None):
            raise _clash(f'should have a {kind} of its own each, but "{twin}" comes twice')
    return boards


def _bots_of_their_own(
    bots: tuple[BotSettings, ...], known: ValidationInfo
) -> tuple[BotSettings, ...]:
    boards = known.data.get("board", ())
    words = {word for board in boards for word in board.name.lower().split()}
    names: set[str] = set()
    for bot in bots:
        if problem := player_problem(bot.name, words):
            raise _clash(
                f"should have names that players could have, but {bot.name!r}: {refused(problem)} "
                'Name bots in sections [[bot]], or have none by "bot = []" above the first section.'
            )
        if bot.name.lower() in names:
            raise _clash(f'should have a name of its own each, but "{bot.name}" comes twice')
        names.add(bot.name.lower())
    return bots


def _two_files(gateway: GatewaySettings, known: ValidationInfo) -> GatewaySettings:
    storage = known.data.get("storage")
    if storage and Path(storage.file) == Path(gateway.file):
        raise _clash(f"file should not be {gateway.file}, which is storage.file already")
    return gateway


# Sections.


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class ServerSettings(_Section):
    """The network, and limits that protect clients from each other."""

    host: str = _host()
    port: int = _whole(8483, 0, 65535)
    tls_port: int = _whole(0, 0, 65535)
    tls_certificate: str = _file("")
    tls_key: str = _file("")
    connections: int = _whole(1000, 1, 1_000_000)
    connections_reserved: int = _whole(10, 0, 1000)
    connections_per_address: int = _whole(32, 1, 1_000_000)
    accepts_per_second: int = _whole(100, 1, 100_000)
    accepts_at_once: int = _whole(400, 4, 1_000_000)
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = _proxies()
    max_line: int = _whole(MAX_LINE, 80, MAX_LINE)
    max_subnegotiation: int = _whole(4096, 64, 65_536)
    option_changes: int = _whole(100, 10, 1_000_000)
    telnet_bytes: int = _whole(8192, 1024, 1_000_000_000)
    telnet_bytes_per_second: int = _whole(50, 1, 1_000_000)
    compress: bool = _flag(default=False)
    commands_per_second: int = _whole(20, 1, 100_000)
    commands_at_once: int = _whole(200, 1, 1_000_000)
    commands_per_turn: int = _whole(8, 1, 1000)
    queue_length: int = _whole(64, 1, 100_000)
    outbox_bytes: int = _whole(262_144, 65_536, 1_073_741_824)
    workers: int = _whole(0, 0, 1000)
    shutdown_grace: float = Field(default=3.0, ge=0, le=600, description="a number from 0 to 600")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning", description='"debug", "info", "warning" or "error"'
    )
    log_file: str = _file("")

    @model_validator(mode="after")
    def _not_all_reserved(self) -> Self:
        if self.connections_reserved >= self.connections:
            raise _clash(
                f"connections_reserved ({self.connections_reserved}) should be less than "
                f"connections ({self.connections})"
            )
        return self

    @model_validator(mode="after")
    def _enough_telnet(self) -> Self:
        if self.telnet_bytes < 2 * self.max_subnegotiation:
            raise _clash(
                f"telnet_bytes ({self.telnet_bytes}) should be at least twice max_subnegotiation "
                f"({self.max_subnegotiation}), which counts in it"
            )
        return self

    @model_validator(mode="after")
    def _certified(self) -> Self:
        if self.tls_key and not self.tls_certificate:
            raise _clash("tls_key needs a certificate: tls_certificate should name its file")
        if self.tls_certificate and not self.tls_port:
            raise _clash('tls_certificate needs a port: tls_port should not be 0, or this be ""')
        if self.tls_port and not self.tls_certificate:
            raise _clash("tls_port needs a certificate: tls_certificate should name its file")
        if self.tls_port and self.tls_port == self.port:
            raise _clash(f"port and tls_port should be two ports, not {self.port} both")
        return self

    @property
    def share(self) -> int:
        """The bytes of the outbox that answers to a player's own commands may take."""
        return self.outbox_bytes // 4


class LogSettings(_Section):
    """The format of the log; its level and its file are in [server]."""

    format: Literal["text", "json"] = Field(default="text", description='"text" or "json"')


class MetricsSettings(_Section):
    """The port for monitoring systems."""

    enabled: bool = _flag(default=False)
    host: str = _host()
    port: int = _whole(8486, 0, 65535)


class ListingSettings(_Section):
    """What MSSP tells game lists. Empty values are left out."""

    name: str = Field(
        default="thudmud", min_length=1, max_length=60, description="1 to 60 characters"
    )
    hostname: str = _listed()
    location: str = _listed()
    website: str = _listed()
    contact: str = _listed()
    created: str = Field(
        default="", pattern="^([0-9]{4})?$", description='a year such as "2026", or ""'
    )


class HallLimits(TypedDict):
    """The limits of all boards of a hall, by the names of `Hall`'s parameters."""

    quiet_plies: int
    seat_grace: float
    idle_limit: float


class GameSettings(_Section):
    """The rules of all boards."""

    quiet_plies: int = _whole(200, 0, 1_000_000)
    seat_grace: float = _seconds(300, 0, YEAR)
    idle_claim: float = _seconds(600, 0, YEAR)
    replay_pause: float = _seconds(2, 0, 60)

    @property
    def limits(self) -> HallLimits:
        """The settings that a hall is given."""
        return HallLimits(
            quiet_plies=self.quiet_plies, seat_grace=self.seat_grace, idle_limit=self.idle_claim
        )


class PlayerSettings(_Section):
    """The limits of all players."""

    guest_grace: float = _seconds(86_400, 0, YEAR)
    addresses_kept: int = _whole(90, 0, 36_500)
    names_per_hour: int = _whole(60, 1, 1_000_000)
    login_limit: float = _seconds(300, 0, YEAR)
    idle_warning: float = _seconds(3_300, 0, YEAR)
    idle_limit: float = _seconds(3_600, 0, YEAR)
    chat_per_minute: int = _whole(30, 1, 100_000)
    chat_at_once: int = _whole(15, 1, 100_000)
    chat_per_address: int = _whole(4, 1, 100_000)
    shouts_per_minute: int = _whole(2, 1, 100_000)
    shouts_at_once: int = _whole(3, 1, 100_000)
    messages: int = _whole(100, 0, 1_000)
    messages_from_one: int = _whole(20, 1, 1_000)
    reports: int = _whole(5, 0, 1_000)
    seeks: int = _whole(3, 1, 1_000)
    seeks_per_address: int = _whole(9, 1, 100_000)
    boards: int = _whole(3, 1, 1_000)
    boards_per_address: int = _whole(9, 1, 100_000)
    analyses_per_address: int = _whole(2, 1, 100_000)
    stored_per_hour: int = _whole(30_000, 100, 1_000_000_000)
    new_boards_for_members: bool = _flag(default=False)
    news: str = _file("")

    @model_validator(mode="after")
    def _warned_before_it_is_over(self) -> Self:
        warning, limit = self.idle_warning, self.idle_limit
        if warning and limit and warning >= limit:
            raise _clash(
                f"idle_limit ({limit}) should be more than idle_warning ({warning}), "
                "unless either is 0"
            )
        return self


class TournamentSettings(_Section):
    """The limits of tournaments."""

    most: int = _whole(5, 0, 1_000)
    players: int = _whole(128, 2, 512)
    players_per_address: int = _whole(16, 1, 512)
    by: Literal["everybody", "members", "operators"] = Field(
        default="members", description='"everybody", "members" or "operators"'
    )
    grace: float = _seconds(300, 1, 86_400)
    rest: float = _seconds(60, 0, 86_400)


class FeatureSettings(_Section):
    """Which features are switched off."""

    off: tuple[Annotated[str, AfterValidator(_feature)], ...] = Field(
        default=(), strict=False, description='a list of features, such as ["tv"], or []'
    )


class StorageSettings(_Section):
    """Where data is stored."""

    backend: Literal["sqlite", "postgresql", "memory"] = Field(
        default="sqlite", description='"sqlite", "postgresql" or "memory"'
    )
    file: str = _file("thudmud.db")
    dsn: str = Field(default="", repr=False, description="how to connect to a database")
    standby: bool = _flag(default=False)

    @model_validator(mode="after")
    def _can_be_connected_to(self) -> Self:
        if self.backend == "postgresql" and not self.dsn:
            raise _clash(
                'dsn should say how to connect to the database, such as "host=/run/postgresql'
                ' dbname=thudmud"'
            )
        if self.standby and self.backend != "postgresql":
            raise _clash('standby needs the backend "postgresql"')
        return self


class GatewaySettings(_Section):
    """The gateway, which other MUDs connect to."""

    host: str = _host()
    port: int = _whole(8484, 0, 65535)
    socket: str = _file("")
    secret: Annotated[str, AfterValidator(_secret)] = Field(
        default="", description='a text of 16 to 256 characters, or ""'
    )
    file: str = _file("gateway.db")
    clients: int = _whole(16, 1, 1000)
    boards: int = _whole(1000, 1, 1_000_000)
    max_line: int = _whole(8192, 2048, 1_048_576)
    outbox_bytes: int = _whole(1_048_576, 65_536, 1_073_741_824)
    heartbeat: float = _seconds(30, 1, 3600)
    resume_grace: float = _seconds(600, 0, 86_400)


class WebSettings(_Section):
    """The web page, and other WebSocket clients."""

    enabled: bool = _flag(default=True)
    host: str = _host()
    port: int = _whole(8485, 0, 65535)
    tls_certificate: str = _file("")
    tls_key: str = _file("")
    public_url: Annotated[str, AfterValidator(_origin_or_none)] = Field(
        default="", description='an address such as "https://example.org", or ""'
    )
    origins: tuple[Annotated[str, AfterValidator(_origin)], ...] = Field(
        default=(), strict=False, description='a list of origins, such as ["https://example.org"]'
    )
    embed: tuple[Annotated[str, AfterValidator(_origin_or_all)], ...] = Field(
        default=("*",),
        strict=False,
        description='a list of origins, such as ["https://example.org"], or ["*"]',
    )
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = _proxies()
    forwarders: tuple[Annotated[str, AfterValidator(_network)], ...] = _proxies()
    max_frame: int = _whole(8192, 1024, 1_048_576)
    frames_per_second: int = _whole(50, 1, 100_000)
    frames_at_once: int = _whole(200, 10, 1_000_000)
    requests_per_second: int = _whole(100, 1, 100_000)
    requests_at_once: int = _whole(1200, 10, 1_000_000)
    patience: float = _seconds(30, 1, 3600)
    ping: float = _seconds(30, 1, 3600)

    @property
    def may_move(self) -> bool:
        """Whether another port would do: nobody has chosen this one, nor put a proxy before it."""
        is_chosen = "port" in self.model_fields_set
        return not (is_chosen or self.public_url or self.proxies or self.forwarders)

    @model_validator(mode="after")
    def _chosen(self) -> Self:
        # A whole config.toml has the default port, too, which is nobody's choice.
        if self.port == type(self).model_fields["port"].default:
            self.model_fields_set.discard("port")
        return self

    @model_validator(mode="after")
    def _certified(self) -> Self:
        if self.tls_key and not self.tls_certificate:
            raise _clash("tls_key needs a certificate: tls_certificate should name its file")
        return self


class MailSettings(_Section):
    """The relay that mails go to."""

    relay: str = Field(default="", description='the name of a host, or ""')
    port: int = _whole(587, 1, 65535)
    tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description='"starttls", "tls" or "none"'
    )
    certificates: str = _file("")
    user: str = Field(default="", description='a name, or ""')
    password_file: str = _file("")
    sender: Annotated[str, AfterValidator(_mail_address)] = Field(
        default="", description='a mail address such as "thud@example.org", or ""'
    )
    minutes: int = _whole(15, 0, 1440)
    per_hour: int = _whole(100, 1, 1_000_000)
    established_only: bool = _flag(default=True)

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if self.relay and not self.sender:
            raise _clash(
                'sender should be the mail address that mails come from, if relay is not ""'
            )
        if self.user and not self.password_file:
            raise _clash("user needs a password: password_file should name its file")
        if self.user and self.tls == "none":
            raise _clash("user needs TLS, or everybody on the way could read the password")
        return self


class PushSettings(_Section):
    """Notifications in browsers."""

    enabled: bool = _flag(default=False)
    keys: str = _file("push.pem")
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


class BoardSettings(_Section):
    """One board in the hall."""

    name: Annotated[str, AfterValidator(_board_name)] = Field(
        description='a name of letters, such as "oak board"'
    )
    rules: Annotated[str, AfterValidator(_ruleset)] = Field(
        default=DEFAULT_RULES.name, description=f"one of {', '.join(RULESETS)}"
    )
    style: Literal["full", "brief"] = Field(default="full", description='"full" or "brief"')
    key: Annotated[str, AfterValidator(_board_key)] = Field(
        default="", description='a name that the board has had, such as "oak board", or ""'
    )


class BotSettings(_Section):
    """One bot."""

    name: Annotated[str, AfterValidator(capitalised)] = Field(
        description='a name that a player could have, such as "Grog"'
    )
    level: Annotated[str, BeforeValidator(_level)] = Field(default="Granite", description="a level")
    command: tuple[str, ...] = Field(
        default=(), strict=False, description='a list of words, such as ["thudmud", "engine"]'
    )
    seconds: float = _seconds(5, 0.1, 3600)
    pause: float = _seconds(1, 0, 60)
    restarts: int = _whole(3, 0, 1000)


class Settings(_Section):
    """All settings, as the sections of `config.toml`."""

    server: ServerSettings = _section("server", ServerSettings())
    log: LogSettings = _section("log", LogSettings())
    listing: ListingSettings = _section("listing", ListingSettings())
    game: GameSettings = _section("game", GameSettings())
    players: PlayerSettings = _section("players", PlayerSettings())
    tournaments: TournamentSettings = _section("tournaments", TournamentSettings())
    features: FeatureSettings = _section("features", FeatureSettings())
    storage: StorageSettings = _section("storage", StorageSettings())
    web: WebSettings = _section("web", WebSettings())
    mail: Annotated[MailSettings, AfterValidator(_linked)] = _section("mail", MailSettings())
    push: Annotated[PushSettings, AfterValidator(_linked)] = _section("push", PushSettings())
    metrics: MetricsSettings = _section("metrics", MetricsSettings())
    gateway: Annotated[GatewaySettings, AfterValidator(_two_files)] = _section(
        "gateway", GatewaySettings()
    )
    board: Annotated[tuple[BoardSettings, ...], AfterValidator(_no_twins)] = Field(
        default=(
            BoardSettings(name="oak board"),
            BoardSettings(name="pine board", style="brief"),
            BoardSettings(name="marble board", rules="classic"),
            BoardSettings(name="basalt board", rules="koom valley"),
        ),
        # TOML has lists, and no tuples.
        strict=False,
        min_length=1,
        description="at least one section that begins with [[board]]",
    )
    bot: Annotated[tuple[BotSettings, ...], AfterValidator(_bots_of_their_own)] = Field(
        default=(
            BotSettings(name="Grog"),
            BotSettings(name="Tunk", level="Chalk"),
            BotSettings(name="Harl", level="Flint"),
            BotSettings(name="Skarn", level="Diamond"),
        ),
        validate_default=True,  # a board may have the name of a default bot
        strict=False,
        description="sections that begin with [[bot]], or [] for none",
    )


_SECTIONS: Mapping[str, Mapping[str, FieldInfo]] = {
    "": Settings.model_fields,
    "board": BoardSettings.model_fields,
    "bot": BotSettings.model_fields,
} | {
    name: type(field.default).model_fields
    for name, field in Settings.model_fields.items()
    if isinstance(field.default, _Section)
}
_MAX_VALUE = 40  # characters of a wrong value that a message repeats

# Changes.

NEEDS_RESTART = {
    "server.host",
    "server.port",
    "server.tls_port",
    "server.connections",
    "server.connections_reserved",
    "server.workers",
    "web.enabled",
    "web.host",
    "web.port",
    "players.guest_grace",
    *("game", "features", "storage", "mail", "push", "metrics", "board", "bot"),
}
"""What a running server cannot change: keys, or whole sections."""


def changes(before: Settings, after: Settings) -> tuple[list[str], list[str]]:
    """Return the changed keys that a running server can apply, and those that it cannot.

    The section of the gateway, which is another program, is ignored.
    """
    live, others = list[str](), list[str]()
    for section in Settings.model_fields.keys() - {"gateway"}:
        old, new = getattr(before, section), getattr(after, section)
        if section in NEEDS_RESTART:
            if old != new:
                others.append(section)
            continue
        for key in type(new).model_fields:
            if getattr(old, key) != getattr(new, key):
                name = f"{section}.{key}"
                is_fixed = name in NEEDS_RESTART or _turns_tls(key, old, new)
                (others if is_fixed else live).append(name)
    return sorted(live), sorted(others)


def common_settings(settings: Settings) -> dict[str, str]:
    """Return the settings that all servers on one database must share, as texts by name.

    They are `[game]`, the boards, the bots, and the format of stored data. The path of a bot's
    program may differ between machines.
    """
    told = {"the format of what is stored": f"{FORMAT}.{PROJECTION}"}
    told |= {f"game.{key}": str(value) for key, value in settings.game.model_dump().items()}
    told |= {f"the {each.name}": _values(each, {"name"}) for each in settings.board}
    for bot in settings.bot:
        player = "a program" if bot.command else bot.level
        told[f"the bot {bot.name}"] = f"{player}, {_values(bot, {'name', 'command', 'level'})}"
    return told


def _values(section: _Section, without: set[str]) -> str:
    values = section.model_dump(exclude=without, exclude_defaults=True)
    return ", ".join(f"{key} {value}" for key, value in values.items()) or "with the defaults"


def _turns_tls(key: str, old: _Section, new: _Section) -> bool:
    """Return whether a change turns TLS on or off, rather than replacing a certificate."""
    certificates = [getattr(each, "tls_certificate", "") for each in (old, new)]
    return key in {"tls_certificate", "tls_key"} and not all(certificates)


def with_changes(before: Settings, after: Settings, names: Iterable[str]) -> Settings:
    """Return settings with the values of some keys taken from others."""
    sections: dict[str, dict[str, object]] = {}
    for name in names:
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = getattr(getattr(after, section), key)
    changed = {
        section: getattr(before, section).model_copy(update=keys)
        for section, keys in sections.items()
    }
    return before.model_copy(update=changed)


# Reading.

DEFAULT = Path("config.toml")
"""The file that is read if none is named and it exists."""


def shipped() -> str:
    """Return the text of the installed `config.toml`, which explains every setting."""
    installed = resources.files("thudmud") / "config.toml"
    checkout = Path(__file__).parents[2] / "config.toml"
    return (installed if installed.is_file() else checkout).read_text(encoding="utf-8")


class ConfigError(ThudmudError):
    """The configuration cannot be used; the problems are a line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def load_settings(path: Path | None) -> Settings:
    """Return the settings in a file; the defaults if ``path`` is None.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or holds anything that cannot be used.
    """
    return Settings() if path is None else check(_read(path), str(path))


def named_or_default(path: Path | None) -> Path | None:
    """Return the file to read: ``path``, or else `DEFAULT` if it exists."""
    return path or (DEFAULT if DEFAULT.exists() else None)


def config_folder(path: Path | None) -> Path:
    """Return the folder that file names in the configuration are relative to."""
    return path.parent if path else Path()


def check(values: Mapping[str, Any], source: str) -> Settings:
    """Return the settings with given values, by section and key; messages name their source.

    Raises:
        ConfigError: a value cannot be used.
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems = [f"{source}: {line}" for line in _complaints(error.errors())]
        raise ConfigError(problems) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        reason = f"is not valid TOML: {error}"
    except UnicodeDecodeError:
        reason = "is not a text in UTF-8"
    except (ValueError, RecursionError):  # thousands of digits or brackets
        reason = "holds a value that is too large to read"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    raise ConfigError([f"{path}: {reason}"])


def _complaints(errors: Sequence[ErrorDetails]) -> Iterator[str]:
    places = [error["loc"] for error in errors]
    for error in errors:
        place = error["loc"]
        # A list with mistakes in it also counts as too short; the mistakes say enough.
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places):
            yield f"{_named(place)}: {_told(error)}"


def _told(error: ErrorDetails) -> str:
    place = error["loc"]
    *outer, key = (step for step in place if isinstance(step, str))
    siblings = _SECTIONS[outer[0] if outer else ""]
    if error["type"] == "extra_forbidden" and outer and key in _SECTIONS[""]:
        return f'is no setting of a section; "{key}" belongs above the first section'
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, siblings, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(siblings)}"
        return f"there is no such setting; {hint}"
    right = siblings[key].description if place[-1] == key or outer else "a section"
    if error["type"] == "missing":
        return f"is missing; it should be {right}"
    if error["type"] == "clash":
        return error["msg"]
    wanted = error["msg"] if error["type"] == "unfit" else f"should be {right}"
    return f"{wanted}, not {_shown(error['input'])}"


def _named(place: tuple[int | str, ...]) -> str:
    """Return the name of a key: `server.port`, or `board 2, rules` for the second board's."""
    name = ""
    for step in place:
        if isinstance(step, int):
            name += f" {step + 1}"
        else:
            name += (", " if name[-1:].isdigit() else "." if name else "") + _printable(step)
    return name


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _printable(key: str) -> str:
    return key if key.isascii() and key.isprintable() else json.dumps(key)
