"""Configuration: the schema of all settings, and the parser of `config.toml`.

Each problem is reported in one line with the file, the line, the key, and the expected value.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypedDict, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from thudmud.english import capitalised
from thudmud.errors import InvalidValueError, ThudmudError, system_reason
from thudmud.features import NAMES, modules
from thudmud.game.events import MADE
from thudmud.game.projections import PROJECTION, is_board_key
from thudmud.language import MAX_LINE
from thudmud.language.cleaning import clean
from thudmud.language.parsing import LONGEST_NAME, board_problem, is_name, player_problem
from thudmud.rules import DEFAULT_RULES, RULESETS
from thudmud.search.levels import LEVELS, find_level
from thudmud.server.proxies import Proxies
from thudmud.server.sockets import ALL_ADDRESSES, WILDCARDS
from thudmud.settings import (
    Section,
    conflict_error,
    duration,
    file_name,
    flag,
    invalid_value_error,
    section_of,
    whole,
)
from thudmud.store.rows import FORMAT
from thudmud.views.refusals import refusal_text

YEAR = 31_622_400  # seconds
_MIN_SECRET, _MAX_SECRET = 16, 256  # characters; the maximum fits into the gateway's hello

_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?|https?://\[[0-9a-f:]+\](:[0-9]+)?")

# Fields. The description completes the error message for a wrong value: it names the valid ones.


def _as_list(hosts: object) -> object:
    return (hosts,) if hosts and isinstance(hosts, str) else hosts


def host_name(host: str) -> str:
    """Return a host as it is set, but ``*``, which some programs use, as `ALL_ADDRESSES`."""
    return ALL_ADDRESSES if host == "*" else host


_Hosts = Annotated[
    tuple[Annotated[str, Field(min_length=1), AfterValidator(host_name)], ...],
    BeforeValidator(_as_list),
]


def _host() -> Any:
    words = 'an address, a host name, or a list of them, such as ["192.0.2.1", "2001:db8::1"]'
    return Field(default=("127.0.0.1",), strict=False, min_length=1, description=words)


def _remark() -> Any:
    return Field(default="", max_length=120, description="at most 120 characters")


def _listing_field() -> Any:
    return Field(default="", max_length=60, description="at most 60 characters")


def _proxies() -> Any:
    words = 'a list of addresses, such as ["192.0.2.1", "192.0.2.0/24"]'
    return Field(default=(), strict=False, description=words)


def _board_name(name: str) -> str:
    if problem := board_problem(name):
        raise conflict_error(problem) if is_name(name) else invalid_value_error(problem)
    return name


def _board_key(key: str) -> str:
    if key.startswith(MADE):
        raise invalid_value_error(
            f'should not begin with "{MADE}", which is reserved for boards that players open'
        )
    if key and not (is_board_key(key) and len(key) <= LONGEST_NAME):
        raise invalid_value_error('expected the name of a board, such as "oak board", or ""')
    return key


def _one_line(text: str) -> str:
    if clean(text) != text:
        raise invalid_value_error("expected one line of text, with single blanks between the words")
    return text


def _ruleset(name: str) -> str:
    if name not in RULESETS:
        raise invalid_value_error(f"expected one of {', '.join(RULESETS)}")
    return name


def _level(words: object) -> str:
    """Convert the number of a level, or its case-insensitive name, to its name."""
    try:
        return find_level(str(words)).name
    except InvalidValueError:
        known = ", ".join(map(str, LEVELS))
        raise invalid_value_error(f"expected one of {known}, by number or name") from None


def _secret(words: str) -> str:
    if words and not _MIN_SECRET <= len(words) <= _MAX_SECRET:
        # The message is widely readable, so it does not quote the secret.
        raise conflict_error(f"expected {_MIN_SECRET} to {_MAX_SECRET} characters")
    return words


def _feature(name: str) -> str:
    if name not in NAMES:
        raise invalid_value_error(f"expected one of {', '.join(NAMES)}")
    return name


def _origin(words: str) -> str:
    if not _ORIGIN.fullmatch(words):
        raise invalid_value_error(
            'expected an origin as browsers send it, such as "https://example.org"'
        )
    return words


def _origin_or_none(words: str) -> str:
    return _origin(words) if words else ""


def _origin_or_all(words: str) -> str:
    return words if words == "*" else _origin(words)


def _network(words: str) -> str:
    try:
        Proxies([words])
    except ValueError:
        raise invalid_value_error(
            'expected an address or a network, such as "192.0.2.0/24"'
        ) from None
    return words


def _require_distinct_boards(boards: tuple[BoardSettings, ...]) -> tuple[BoardSettings, ...]:
    names = [board.name.lower() for board in boards]
    keys = [board.key or board.name for board in boards]
    for kind, words in (("name", names), ("key", keys)):
        if twin := next((each for each in words if words.count(each) > 1), None):
            raise conflict_error(f'each needs its own {kind}, but "{twin}" occurs twice')
    return boards


def _require_distinct_bots(
    bots: tuple[BotSettings, ...], known: ValidationInfo
) -> tuple[BotSettings, ...]:
    boards = known.data.get("board", ())
    words = {word for board in boards for word in board.name.lower().split()}
    names: set[str] = set()
    for bot in bots:
        if problem := player_problem(bot.name, words):
            raise conflict_error(
                f"{bot.name!r} is not a valid name for a bot: {refusal_text(problem)} Name the "
                'bots in sections [[bot]], or write "bot = []" above the first section for none.'
            )
        if bot.name.lower() in names:
            raise conflict_error(f'each needs its own name, but "{bot.name}" occurs twice')
        names.add(bot.name.lower())
    return bots


def _require_own_gateway_file(gateway: GatewaySettings, known: ValidationInfo) -> GatewaySettings:
    storage = known.data.get("storage")
    if storage and Path(storage.file) == Path(gateway.file):
        raise conflict_error(f"file: {gateway.file} is already used by storage.file")
    return gateway


_Listening = TypeVar("_Listening", "WebSettings", "MetricsSettings")


def _require_own_port(section: _Listening, known: ValidationInfo) -> _Listening:
    """Refuse a port that an earlier section has at the same address."""
    if not section.enabled or (isinstance(section, WebSettings) and section.may_move):
        return section
    name = "web" if isinstance(section, WebSettings) else "metrics"
    for of, key in (("server", "port"), ("server", "tls_port"), ("web", "port")):
        if of not in known.data:
            continue
        other: ServerSettings | WebSettings = known.data[of]
        if isinstance(other, WebSettings) and not other.enabled:
            continue
        hosts = {*other.host, *section.host}
        is_shared = hosts & WILDCARDS or len(hosts) < len(other.host) + len(section.host)
        if section.port and section.port == getattr(other, key) and is_shared:
            raise conflict_error(
                f"port {section.port} is already used by {of}.{key}; give {name}.port another"
            )
    return section


# Sections.


class ServerSettings(Section):
    """The network, and the limits that protect clients from each other."""

    host: _Hosts = _host()
    port: int = whole(8483, 0, 65535)
    tls_port: int = whole(0, 0, 65535)
    tls_certificate: str = file_name("")
    tls_key: str = file_name("")
    connections: int = whole(1000, 1, 1_000_000)
    connections_reserved: int = whole(10, 0, 1000)
    connections_per_address: int = whole(32, 1, 1_000_000)
    accepts_per_second: int = whole(100, 1, 100_000)
    accepts_at_once: int = whole(400, 4, 1_000_000)
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = _proxies()
    max_line: int = whole(MAX_LINE, 80, MAX_LINE)
    max_subnegotiation: int = whole(4096, 64, 65_536)
    option_changes: int = whole(100, 10, 1_000_000)
    telnet_bytes: int = whole(8192, 1024, 1_000_000_000)
    telnet_bytes_per_second: int = whole(50, 1, 1_000_000)
    compress: bool = flag(default=False)
    commands_per_second: int = whole(20, 1, 100_000)
    commands_at_once: int = whole(200, 1, 1_000_000)
    commands_per_turn: int = whole(8, 1, 1000)
    queue_length: int = whole(64, 1, 100_000)
    outbox_bytes: int = whole(262_144, 65_536, 1_073_741_824)
    workers: int = whole(0, 0, 1000)
    shutdown_grace: float = Field(default=3.0, ge=0, le=600, description="a number from 0 to 600")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning", description='"debug", "info", "warning" or "error"'
    )
    log_file: str = file_name("")

    @model_validator(mode="after")
    def _not_all_reserved(self) -> Self:
        if self.connections_reserved >= self.connections:
            raise conflict_error(
                f"connections_reserved ({self.connections_reserved}) should be less than "
                f"connections ({self.connections})"
            )
        return self

    @model_validator(mode="after")
    def _enough_telnet(self) -> Self:
        if self.telnet_bytes < 2 * self.max_subnegotiation:
            raise conflict_error(
                f"telnet_bytes ({self.telnet_bytes}) should be at least twice max_subnegotiation "
                f"({self.max_subnegotiation}), which counts towards it"
            )
        return self

    @model_validator(mode="after")
    def _certified(self) -> Self:
        if self.tls_key and not self.tls_certificate:
            raise conflict_error("tls_key needs a certificate: set tls_certificate to its file")
        if self.tls_certificate and not self.tls_port:
            raise conflict_error('tls_certificate needs a port: set tls_port, or set this to ""')
        if self.tls_port and not self.tls_certificate:
            raise conflict_error("tls_port needs a certificate: set tls_certificate to its file")
        if self.tls_port and self.tls_port == self.port:
            raise conflict_error(f"port and tls_port should differ, but both are {self.port}")
        return self

    @property
    def share(self) -> int:
        """The part of the outbox, in bytes, for responses to a player's own commands."""
        return self.outbox_bytes // 4


class LogSettings(Section):
    """The log format; the level and the file are in [server]."""

    format: Literal["text", "json"] = Field(default="text", description='"text" or "json"')


class MetricsSettings(Section):
    """The endpoint for monitoring systems."""

    enabled: bool = flag(default=False)
    host: _Hosts = _host()
    port: int = whole(8486, 0, 65535)


class ListingSettings(Section):
    """The description for game lists, sent by MSSP without empty values."""

    name: str = Field(
        default="thudmud", min_length=1, max_length=60, description="1 to 60 characters"
    )
    hostname: str = _listing_field()
    location: str = _listing_field()
    website: str = _listing_field()
    contact: str = _listing_field()
    created: str = Field(
        default="", pattern="^([0-9]{4})?$", description='a year such as "2026", or ""'
    )


class HallLimits(TypedDict):
    """Keyword arguments of `Hall` for the limits of all boards."""

    quiet_plies: int
    seat_grace: float
    idle_limit: float
    first_move: float


class GameSettings(Section):
    """The rules and time limits of all boards."""

    quiet_plies: int = whole(200, 0, 1_000_000)
    seat_grace: float = duration(300, 0, YEAR)
    idle_claim: float = duration(600, 0, YEAR)
    first_move: float = duration(30, 0, 600)
    replay_pause: float = duration(2, 0, 60)

    @property
    def limits(self) -> HallLimits:
        """The limits as keyword arguments of `Hall`."""
        return HallLimits(
            quiet_plies=self.quiet_plies,
            seat_grace=self.seat_grace,
            idle_limit=self.idle_claim,
            first_move=self.first_move,
        )


class PlayerSettings(Section):
    """The limits on what players may do, and how long their data is kept."""

    guest_grace: float = duration(86_400, 0, YEAR)
    addresses_kept: int = whole(90, 0, 36_500)
    names_per_hour: int = whole(60, 1, 1_000_000)
    login_limit: float = duration(300, 0, YEAR)
    return_within: float = duration(5, 0, 60)
    idle_warning: float = duration(3_300, 0, YEAR)
    idle_limit: float = duration(3_600, 0, YEAR)
    chat_per_minute: int = whole(30, 1, 100_000)
    chat_at_once: int = whole(15, 1, 100_000)
    chat_per_address: int = whole(4, 1, 100_000)
    shouts_per_minute: int = whole(2, 1, 100_000)
    shouts_at_once: int = whole(3, 1, 100_000)
    messages: int = whole(100, 0, 1_000)
    messages_from_one: int = whole(20, 1, 1_000)
    reports: int = whole(5, 0, 1_000)
    seeks: int = whole(3, 1, 1_000)
    seeks_per_address: int = whole(9, 1, 100_000)
    boards: int = whole(3, 1, 1_000)
    boards_per_address: int = whole(9, 1, 100_000)
    analyses_per_address: int = whole(2, 1, 100_000)
    stored_per_hour: int = whole(30_000, 100, 1_000_000_000)
    new_boards_for_members: bool = flag(default=False)
    news: str = file_name("")

    @model_validator(mode="after")
    def _warned_before_it_is_over(self) -> Self:
        warning, limit = self.idle_warning, self.idle_limit
        if warning and limit and warning >= limit:
            raise conflict_error(
                f"idle_limit ({limit}) should be more than idle_warning ({warning}), "
                "unless either is 0"
            )
        return self


class FeatureSettings(Section):
    """The features that are switched off."""

    off: tuple[Annotated[str, AfterValidator(_feature)], ...] = Field(
        default=(), strict=False, description='a list of features, such as ["tv"], or []'
    )


class StorageSettings(Section):
    """The storage backend and its location."""

    backend: Literal["sqlite", "postgresql", "memory"] = Field(
        default="sqlite", description='"sqlite", "postgresql" or "memory"'
    )
    file: str = file_name("thudmud.db")
    dsn: str = Field(default="", repr=False, description="a connection string for the database")
    standby: bool = flag(default=False)

    @model_validator(mode="after")
    def _can_be_connected_to(self) -> Self:
        if self.backend == "postgresql" and not self.dsn:
            raise conflict_error(
                'set dsn to the connection string of the database, such as "host=/run/postgresql '
                'dbname=thudmud"'
            )
        if self.standby and self.backend != "postgresql":
            raise conflict_error('standby needs backend = "postgresql"')
        return self


class GatewaySettings(Section):
    """The gateway, to which other MUDs connect."""

    host: _Hosts = _host()
    port: int = whole(8484, 0, 65535)
    socket: str = file_name("")
    secret: Annotated[str, AfterValidator(_secret)] = Field(
        default="", description='16 to 256 characters, or ""'
    )
    file: str = file_name("gateway.db")
    clients: int = whole(16, 1, 1000)
    boards: int = whole(1000, 1, 1_000_000)
    max_line: int = whole(8192, 2048, 1_048_576)
    outbox_bytes: int = whole(1_048_576, 65_536, 1_073_741_824)
    heartbeat: float = duration(30, 1, 3600)
    resume_grace: float = duration(600, 0, 86_400)


class WebSettings(Section):
    """The web page, and other WebSocket clients."""

    enabled: bool = flag(default=True)
    host: _Hosts = _host()
    port: int = whole(8485, 0, 65535)
    tls_certificate: str = file_name("")
    tls_key: str = file_name("")
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
    max_frame: int = whole(8192, 1024, 1_048_576)
    frames_per_second: int = whole(50, 1, 100_000)
    frames_at_once: int = whole(200, 10, 1_000_000)
    requests_per_second: int = whole(100, 1, 100_000)
    requests_at_once: int = whole(1200, 10, 1_000_000)
    patience: float = duration(30, 1, 3600)
    ping: float = duration(30, 1, 3600)

    @property
    def may_move(self) -> bool:
        """Whether another port is acceptable: this one is the default, and not behind a proxy."""
        is_chosen = "port" in self.model_fields_set
        return not (is_chosen or self.public_url or self.proxies or self.forwarders)

    @model_validator(mode="after")
    def _ignore_default_port(self) -> Self:
        # A complete config.toml repeats the default port, which is not an explicit choice.
        if self.port == type(self).model_fields["port"].default:
            self.model_fields_set.discard("port")
        return self

    @model_validator(mode="after")
    def _certified(self) -> Self:
        if self.tls_key and not self.tls_certificate:
            raise conflict_error("tls_key needs a certificate: set tls_certificate to its file")
        return self


class BoardSettings(Section):
    """A board in the hall."""

    name: Annotated[str, AfterValidator(_board_name)] = Field(
        description='a name made of letters, such as "oak board"'
    )
    rules: Annotated[str, AfterValidator(_ruleset)] = Field(
        default=DEFAULT_RULES.name, description=f"one of {', '.join(RULESETS)}"
    )
    style: Literal["full", "brief"] = Field(default="full", description='"full" or "brief"')
    key: Annotated[str, AfterValidator(_board_key)] = Field(
        default="", description='the name of a board, such as "oak board", or ""'
    )
    description: Annotated[str, AfterValidator(_one_line)] = Field(
        default="", max_length=300, description="at most 300 characters"
    )


class BotSettings(Section):
    """A bot: its name, and its level or program."""

    name: Annotated[str, AfterValidator(capitalised)] = Field(
        description='a name that a player could have, such as "Grog"'
    )
    level: Annotated[str, BeforeValidator(_level)] = Field(default="Granite", description="a level")
    command: tuple[str, ...] = Field(
        default=(), strict=False, description='a list of words, such as ["thudmud", "engine"]'
    )
    seconds: float = duration(5, 0.1, 3600)
    pause: float = duration(1, 0, 60)
    restarts: int = whole(3, 0, 1000)
    hello: Annotated[str, AfterValidator(_one_line)] = _remark()
    goodbye: Annotated[str, AfterValidator(_one_line)] = _remark()


FEATURE_SECTIONS: dict[str, tuple[Any, Section]] = {
    name: section for module in modules("settings") for name, section in module.SECTIONS.items()
}
"""The settings sections of features by name, each with the field's type and default.

Sections of disabled features stay valid, so that an operator can enable them again.
"""


class PortSetting(NamedTuple):
    """A port that a server listens on.

    Attributes:
        setting: its key, such as ``server.port``.
        hosts: the addresses and host names.
        port: the number; 0 for any free port.
        has_tls: whether connections begin with TLS.
    """

    setting: str
    hosts: tuple[str, ...]
    port: int
    has_tls: bool = False


class Settings(Section):
    """All settings, by section of `config.toml`."""

    server: ServerSettings = section_of("server", ServerSettings())
    log: LogSettings = section_of("log", LogSettings())
    listing: ListingSettings = section_of("listing", ListingSettings())
    game: GameSettings = section_of("game", GameSettings())
    players: PlayerSettings = section_of("players", PlayerSettings())
    features: FeatureSettings = section_of("features", FeatureSettings())
    storage: StorageSettings = section_of("storage", StorageSettings())
    web: Annotated[WebSettings, AfterValidator(_require_own_port)] = section_of(
        "web", WebSettings()
    )
    for _name, (_kind, _default) in FEATURE_SECTIONS.items():
        __annotations__[_name], locals()[_name] = _kind, section_of(_name, _default)
        del _name, _kind, _default
    metrics: Annotated[MetricsSettings, AfterValidator(_require_own_port)] = section_of(
        "metrics", MetricsSettings()
    )
    gateway: Annotated[GatewaySettings, AfterValidator(_require_own_gateway_file)] = section_of(
        "gateway", GatewaySettings()
    )
    board: Annotated[tuple[BoardSettings, ...], AfterValidator(_require_distinct_boards)] = Field(
        default=(
            BoardSettings(name="oak board"),
            BoardSettings(name="pine board", style="brief"),
            BoardSettings(name="marble board", rules="classic"),
            BoardSettings(name="basalt board", rules="koom valley"),
        ),
        # TOML has lists but no tuples.
        strict=False,
        min_length=1,
        description="at least one section [[board]]",
    )
    bot: Annotated[tuple[BotSettings, ...], AfterValidator(_require_distinct_bots)] = Field(
        default=(
            BotSettings(
                name="Grog",
                hello="Sit down. The bench usually holds.",
                goodbye="That was a good game. I'll be under the table, in the shade.",
            ),
            BotSettings(
                name="Tunk",
                level="Chalk",
                hello="Hello! Which ones are mine again?",
                goodbye="Did I win? Tell me when you know.",
            ),
            BotSettings(
                name="Harl",
                level="Flint",
                hello="Take your time. My beer is full.",
                goodbye="Well played, one of us. My beer is empty.",
            ),
            BotSettings(
                name="Skarn",
                level="Diamond",
                hello="I'll be gentle. I've read about it.",
                goodbye="I learnt something today, and I'll deny it.",
            ),
        ),
        validate_default=True,  # a board may have the name of a default bot
        strict=False,
        description="sections [[bot]], or [] for none",
    )

    @property
    def ports(self) -> list[PortSetting]:
        """The ports that a server listens on."""
        server, web, metrics = self.server, self.web, self.metrics
        ports = [PortSetting("server.port", server.host, server.port)]
        if server.tls_port:
            ports.append(PortSetting("server.tls_port", server.host, server.tls_port, has_tls=True))
        if web.enabled:
            has_tls = bool(web.tls_certificate)
            ports.append(PortSetting("web.port", web.host, web.port, has_tls))
        if metrics.enabled:
            ports.append(PortSetting("metrics.port", metrics.host, metrics.port))
        return ports


_SECTIONS: Mapping[str, Mapping[str, FieldInfo]] = {
    "": Settings.model_fields,
    "board": BoardSettings.model_fields,
    "bot": BotSettings.model_fields,
} | {
    name: type(field.default).model_fields
    for name, field in Settings.model_fields.items()
    if isinstance(field.default, Section)
}
_MAX_VALUE = 40  # characters of a wrong value to quote in a message

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
    *("game", "features", "storage", "metrics", "board", "bot"),
    *(name for name, (_, section) in FEATURE_SECTIONS.items() if section.needs_restart),
}
"""Keys and whole sections that need a restart to change."""


def changed_keys(before: Settings, after: Settings) -> tuple[list[str], list[str]]:
    """Return the changed keys that a running server can apply, and those that need a restart.

    The [gateway] section is ignored: the gateway is another program.
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
                is_fixed = name in NEEDS_RESTART or _is_tls_switched(key, old, new)
                (others if is_fixed else live).append(name)
    return sorted(live), sorted(others)


def common_settings(settings: Settings) -> dict[str, str]:
    """Return the settings that all servers on one database must share, as text by name.

    These are [game], the boards, the bots, and the storage format. A bot's program may have
    different paths on different machines.
    """
    told = {"the format of what is stored": f"{FORMAT}.{PROJECTION}"}
    told |= {f"game.{key}": str(value) for key, value in settings.game.model_dump().items()}
    told |= {f"the {each.name}": _values(each, {"name"}) for each in settings.board}
    for bot in settings.bot:
        player = "a program" if bot.command else bot.level
        told[f"the bot {bot.name}"] = f"{player}, {_values(bot, {'name', 'command', 'level'})}"
    return told


def _values(section: Section, without: set[str]) -> str:
    values = section.model_dump(exclude=without, exclude_defaults=True)
    return ", ".join(f"{key} {value}" for key, value in values.items()) or "with the defaults"


def _is_tls_switched(key: str, old: Section, new: Section) -> bool:
    """Return whether a change turns TLS on or off, as opposed to replacing a certificate."""
    certificates = [getattr(each, "tls_certificate", "") for each in (old, new)]
    return key in {"tls_certificate", "tls_key"} and not all(certificates)


def with_changes(before: Settings, after: Settings, names: Iterable[str]) -> Settings:
    """Return a copy of ``before`` with some keys' values replaced by those of ``after``."""
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
"""The file to read by default, if it exists."""


def default_config_text() -> str:
    """Return the text of the installed `config.toml`, which explains every setting."""
    installed = resources.files("thudmud") / "config.toml"
    checkout = Path(__file__).parents[2] / "config.toml"
    return (installed if installed.is_file() else checkout).read_text(encoding="utf-8")


class ConfigError(ThudmudError):
    """Raised for an unusable configuration; holds one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def load_settings(path: Path | None) -> Settings:
    """Read the settings from a file, or return the defaults if ``path`` is None.

    Raises:
        ConfigError: the file can't be read, isn't TOML, or contains an invalid setting.
    """
    if path is None:
        return Settings()
    text = _read(path)
    return validate_settings(_parse(text, path), str(path), text)


def named_or_default(path: Path | None) -> Path | None:
    """Return the file to read: ``path``, or else `DEFAULT` if it exists."""
    return path or (DEFAULT if DEFAULT.exists() else None)


def config_folder(path: Path | None) -> Path:
    """Return the base folder of relative file names in the configuration."""
    return path.parent if path else Path()


def validate_settings(values: Mapping[str, Any], source: str, text: str = "") -> Settings:
    """Validate values by section and key, and return them as settings.

    Args:
        values: the parsed file.
        source: the name of the values' origin, for error messages.
        text: the text of the file, to name lines in error messages.

    Raises:
        ConfigError: a value is invalid.
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        from thudmud.server.toml_lines import find_lines  # noqa: PLC0415  (only for mistakes)

        errors = _own_errors(error.errors())
        numbers = find_lines(text, [each["loc"] for each in errors])
        raise ConfigError(
            [
                f"{source}{f', line {number}' if number else ''}: {_error_line(each)}"
                for each, number in zip(errors, numbers, strict=True)
            ]
        ) from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = f"is not valid TOML: {error}"
    except (ValueError, RecursionError):  # thousands of digits, or of nested brackets
        reason = "contains a value that is too large to read"
    raise ConfigError([f"{path}: {reason}"])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "is not UTF-8 text"
    except ValueError:
        reason = "is not the name of a file"
    except FileNotFoundError as error:
        reason = system_reason(error)
    except OSError as error:
        reason = f"cannot be read: {system_reason(error)}"
    raise ConfigError([f"{path}: {reason}"])


def _own_errors(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out errors of lists with invalid items, which Pydantic also reports as too short."""
    places = [error["loc"] for error in errors]
    return [
        error
        for error, place in zip(errors, places, strict=True)
        if not any(len(other) > len(place) and other[: len(place)] == place for other in places)
    ]


def _error_line(error: ErrorDetails) -> str:
    return f"{_key_name(error['loc'])}: {_describe_error(error)}"


def _describe_error(error: ErrorDetails) -> str:
    place = error["loc"]
    *outer, key = (step for step in place if isinstance(step, str))
    siblings = _SECTIONS[outer[0] if outer else ""]
    if error["type"] == "extra_forbidden" and outer and key in _SECTIONS[""]:
        return f'not a setting of this section; "{key}" belongs above the first section'
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, siblings, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"expected one of {', '.join(siblings)}"
        return f"unknown setting; {hint}"
    right = siblings[key].description if place[-1] == key or outer else "a section"
    if error["type"] == "missing":
        return f"missing; expected {right}"
    if error["type"] == "clash":
        return error["msg"]
    wanted = error["msg"] if error["type"] == "unfit" else f"expected {right}"
    return f"{wanted}, got {_format_value(error['input'])}"


def _key_name(place: tuple[int | str, ...]) -> str:
    """Return the name of a key: `server.port`, or `board 2, rules` for the second board's."""
    name = ""
    for step in place:
        if isinstance(step, int):
            name += f" {step + 1}"
        else:
            name += (", " if name[-1:].isdigit() else "." if name else "") + _printable(step)
    return name


def _format_value(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _printable(key: str) -> str:
    return key if key.isascii() and key.isprintable() else json.dumps(key)
