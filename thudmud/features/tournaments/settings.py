"""The section [tournaments] of the configuration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from thudmud.settings import Section, duration, whole


class TournamentSettings(Section):
    """The limits of tournaments."""

    most: int = whole(5, 0, 1_000)
    players: int = whole(128, 2, 512)
    players_per_address: int = whole(16, 1, 512)
    by: Literal["everybody", "members", "operators"] = Field(
        default="members", description='"everybody", "members" or "operators"'
    )
    grace: float = duration(300, 1, 86_400)
    rest: float = duration(60, 0, 86_400)


SECTIONS: dict[str, tuple[Any, Section]] = {
    "tournaments": (TournamentSettings, TournamentSettings())
}
