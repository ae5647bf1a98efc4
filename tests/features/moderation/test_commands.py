"""Moderation commands: their effects, targets and audience, and the limits of a mute."""

from __future__ import annotations

from enum import Enum
from ipaddress import ip_address, ip_network

import pytest

from tests.game.conftest import NOW
from tests.game.halls import StoredHall, do, hall_of, refusal
from thudmud.errors import RefusedError
from thudmud.features.moderation.model import (
    Announced,
    ModerationRefusal,
    PlannedShutdown,
    Sanctioned,
    SanctionLifted,
    ShutdownAnnounced,
)
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.people import BotLevel
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Measure, Order, Sanction, network_of, network_text
from thudmud.language import parse
from thudmud.views.messages import messages
from thudmud.views.sanctions import barred
from thudmud.views.view import Screens, Terminal

MUTED = Sanction(Measure.MUTE, "Bert", "Olga", NOW - 60, NOW + 540, "of the shouting")
OVER = Sanction(Measure.MUTE, "Carla", "Olga", NOW - 60, NOW)
BANNED = Sanction(Measure.BAN, "Mallory", "Olga", NOW - 60, None, "of lies.")
FROM = Sanction(Measure.BAN, "203.0.113.0/24", "", NOW - 30, NOW + 86_400)


@pytest.fixture
def hall() -> StoredHall:
    """Return a hall with two operators, Bert, who is muted, and Carla, whose mute is over."""
    hall = hall_of("Olga", "Otto", "Bert", "Carla", "Flint")
    hall.bots = {"Flint": BotLevel(1, "Chalk", "Is easily beaten.")}
    hall.order = Order(
        frozenset({"olga", "otto", "omar"}),
        {"bert": MUTED, "carla": OVER},
        {"mallory": BANNED},
        {ip_network(FROM.whom): FROM},
    )
    hall.origins = {"Olga": "198.51.100.1", "Otto": "2001:db8:1:2::/64", "Bert": "192.0.2.7"}
    return hall


def told(hall: StoredHall, line: str) -> Delivery:
    [telling] = do(hall, "Olga", parse(line))
    return telling


def sanction(hall: StoredHall, line: str) -> Sanction:
    event = told(hall, line).event
    assert isinstance(event, Sanctioned | SanctionLifted)
    return event.sanction


def seen(hall: StoredHall, telling: Delivery) -> dict[str, str]:
    """Return the text that each recipient of a delivery reads."""
    screens = Screens()
    for name in hall.people:
        screens.fit(name, Terminal(200))
    found = messages(hall, telling, screens)
    return {name: message.text for message in found for name in message.to}


LINES = [
    "broadcast hello",
    "mute bert",
    "unmute bert",
    "mutes",
    "kick bert",
    "ban bert",
    "unban mallory",
    "bans",
    "reports",
    "close report 1",
    "shutdown now",
    "cancel shutdown",
]


@pytest.mark.parametrize("line", LINES)
def test_moderation_command_is_limited_to_operators(hall: StoredHall, line: str) -> None:
    assert refusal(hall, "Bert", parse(line)) is Refusal.OPERATORS_ONLY
    hall.order = None
    assert refusal(hall, "Olga", parse(line)) is ModerationRefusal.NO_OPERATORS


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("mute olga", ModerationRefusal.SANCTION_SELF),
        ("kick olga", ModerationRefusal.SANCTION_SELF),
        ("ban OLGA", ModerationRefusal.SANCTION_SELF),
        ("mute otto", ModerationRefusal.SANCTION_OPERATOR),
        ("kick otto", ModerationRefusal.SANCTION_OPERATOR),
        ("ban omar", ModerationRefusal.SANCTION_OPERATOR),
        ("kick flint", ModerationRefusal.SANCTION_BOT),
        ("ban flint", ModerationRefusal.SANCTION_BOT),
        ("kick zoe", Refusal.NO_SUCH_PLAYER),
        ("mute zoe", Refusal.NO_SUCH_PLAYER),
        ("unmute carla", ModerationRefusal.NOT_MUTED),
        ("unban bert", ModerationRefusal.NOT_BANNED),
        ("unban 203.0.113.7", ModerationRefusal.NOT_BANNED),
        ("ban 203.0.113.300", ModerationRefusal.NO_SUCH_NETWORK),
        ("ban 203.0.113.0/33", ModerationRefusal.NO_SUCH_NETWORK),
        ("ban bert2", ModerationRefusal.NO_SUCH_NETWORK),
        (f"ban {'x' * 200}", Refusal.NO_SUCH_PLAYER),
        ("ban 0.0.0.0/0", ModerationRefusal.NETWORK_TOO_WIDE),
        ("ban ::/0", ModerationRefusal.NETWORK_TOO_WIDE),
        ("ban ::ffff:0:0/96", ModerationRefusal.NETWORK_TOO_WIDE),
        ("ban 10.0.0.0/7", ModerationRefusal.NETWORK_TOO_WIDE),
        ("ban 127.0.0.1", ModerationRefusal.NETWORK_LOCAL),
        ("ban ::1", ModerationRefusal.NETWORK_LOCAL),
        ("ban 198.51.100.1", ModerationRefusal.SANCTION_SELF),
        ("ban 198.0.0.0/8", ModerationRefusal.SANCTION_SELF),
        ("ban 2001:db8::/32", ModerationRefusal.SANCTION_OPERATOR),
        ("ban 2001:db8:1:2::5", ModerationRefusal.SANCTION_OPERATOR),
        ("cancel shutdown", ModerationRefusal.NO_SHUTDOWN),
    ],
)
def test_moderation_command_with_a_wrong_target_is_refused(
    hall: StoredHall, line: str, code: Enum
) -> None:
    assert refusal(hall, "Olga", parse(line)) is code


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "mute carla for 2 hours because of this",
            Sanction(Measure.MUTE, "Carla", "Olga", NOW, NOW + 7200, "of this"),
        ),
        ("kick ber", Sanction(Measure.KICK, "Bert", "Olga", NOW)),
        ("ban BERT for a week", Sanction(Measure.BAN, "Bert", "Olga", NOW, NOW + 604_800)),
        ("ban zoe", Sanction(Measure.BAN, "Zoe", "Olga", NOW)),
        ("ban 192.0.2.9/24", Sanction(Measure.BAN, "192.0.2.0/24", "Olga", NOW)),
        ("ban 192.0.2.9", Sanction(Measure.BAN, "192.0.2.9", "Olga", NOW)),
        ("ban ::ffff:192.0.2.9", Sanction(Measure.BAN, "192.0.2.9", "Olga", NOW)),
        ("ban 2001:DB8:1:3::/64", Sanction(Measure.BAN, "2001:db8:1:3::/64", "Olga", NOW)),
        ("unmute bert", MUTED),
        ("unban mallory", BANNED),
        ("unban 203.0.113.0/24", FROM),
    ],
)
def test_moderation_command_records_a_sanction(
    hall: StoredHall, line: str, expected: Sanction
) -> None:
    assert sanction(hall, line) == expected


def test_sanction_is_announced_to_operators_and_its_target(hall: StoredHall) -> None:
    assert seen(hall, told(hall, "mute carla for 10 minutes because of that.")) == {
        "Olga": "You mute Carla for 10 minutes, because of that.",
        "Otto": "Olga mutes Carla for 10 minutes, because of that.",
        "Carla": "Olga has muted you for 10 minutes, because of that. Nobody can hear you,"
        " but you can play on.",
    }
    assert seen(hall, told(hall, "unmute bert")) == {
        "Olga": "You unmute Bert.",
        "Otto": "Olga unmutes Bert.",
        "Bert": "Olga has unmuted you: others can hear you again.",
    }
    assert seen(hall, told(hall, "kick carla because you shout")) == {
        "Olga": "You kick Carla, because you shout.",
        "Otto": "Olga kicks Carla, because you shout.",
        "Carla": "Olga has ended your connection, because you shout. You can come back.",
    }
    # A banned player is told only when the connection ends.
    assert seen(hall, told(hall, "ban carla")) == {
        "Olga": "You ban Carla.",
        "Otto": "Olga bans Carla.",
    }


def test_broadcast_reaches_players_who_ignore_the_operator(hall: StoredHall) -> None:
    do(hall, "Bert", parse("ignore olga"))
    do(hall, "Carla", parse("go to oak board"))
    telling = told(hall, "broadcast The tournament begins.")
    assert telling.event == Announced("Olga", "The tournament begins.")
    words = seen(hall, telling)
    assert words.pop("Olga") == "You tell everybody: The tournament begins."
    assert set(words) == {"Otto", "Bert", "Carla", "Flint"}
    assert set(words.values()) == {"Olga, an operator, tells everybody: The tournament begins."}


@pytest.mark.parametrize(
    "line", ["say hi", "emote waves", "tell carla hi", "kibitz hi", "whisper hi", "comment 1 2 hi"]
)
def test_muted_player_cannot_talk(hall: StoredHall, line: str) -> None:
    with pytest.raises(RefusedError) as refused:
        hall.decided("Bert", parse(line), NOW)
    assert refused.value.code is Refusal.MUTED
    assert refused.value.details == {"seconds": 540.0, "why": "of the shouting"}


def test_muted_player_can_play(hall: StoredHall) -> None:
    do(hall, "Bert", parse("join game as dwarf on oak board"))
    do(hall, "Carla", parse("say hi"))  # her mute is over


def test_lists_and_look_show_sanctions_to_operators_only(hall: StoredHall) -> None:
    for line, rows in {
        "mutes": "1 muted player:\n  Bert until 1970-01-01 00:09 UTC, by Olga, because of "
        "the shouting.",
        "bans": "2 bans:\n"
        "  203.0.113.0/24 until 1970-01-02 00:00 UTC.\n"
        "  Mallory, by Olga, because of lies.",
        "bans page 2": "There is no page 2 of bans.",
        "look bert": "Bert (a guest) is in the hall.\n"
        "They come from 192.0.2.7. They are muted until 1970-01-01 00:09 UTC, because of the"
        " shouting.\nNo rating yet.",
    }.items():
        telling = told(hall, line)
        assert isinstance(telling.event, Asked)
        assert seen(hall, telling.stamp(NOW)) == {"Olga": rows}
    [telling] = do(hall, "Bert", parse("look carla"))
    assert seen(hall, telling) == {"Bert": "Carla (a guest) is in the hall.\nNo rating yet."}
    [telling] = do(hall, "Bert", parse("look olga"))
    assert seen(hall, telling) == {"Bert": "Olga (an operator) is in the hall.\nNo rating yet."}


def test_list_of_many_bans_is_paged(hall: StoredHall) -> None:
    bans = {f"x{n}": Sanction(Measure.BAN, f"X{n:02}", since=float(n)) for n in range(45)}
    hall.order = Order(frozenset({"olga"}), bans=bans)
    pages = [seen(hall, told(hall, f"bans page {n}").stamp(NOW))["Olga"] for n in (1, 2, 3)]
    rows = [page.split("\n") for page in pages]
    assert [len(each) for each in rows] == [22, 22, 6]
    assert rows[0][1] == "  X44."
    assert rows[1][-1] == '"bans page 3" shows more.'
    hall.order = Order(frozenset({"olga"}))
    assert seen(hall, told(hall, "bans").stamp(NOW)) == {"Olga": "Nobody is banned."}
    assert seen(hall, told(hall, "mutes").stamp(NOW)) == {"Olga": "Nobody is muted."}


def test_shutdown_is_announced_and_cancelled(hall: StoredHall) -> None:
    telling = told(hall, "shutdown in 10 minutes because of an update")
    assert telling.event == ShutdownAnnounced("Olga", NOW + 600, 600, "of an update")
    assert hall.part(PlannedShutdown).told == telling.event
    assert set(seen(hall, telling).values()) == {
        "The server is shutting down in 10 minutes, because of an update. All seats and matches"
        " are kept."
    }
    telling = told(hall, "cancel shutdown")
    assert set(seen(hall, telling)) == set(hall.people)
    assert seen(hall, telling)["Bert"] == "Shutdown cancelled."
    assert hall.part(PlannedShutdown).told is None
    assert seen(hall, told(hall, "shutdown now"))["Bert"].startswith(
        "The server is shutting down now."
    )


def test_network_ban_matches_its_addresses_until_it_ends() -> None:
    order = Order(networks={ip_network("2001:db8::/32"): FROM})
    assert order.ban_from(ip_address("2001:db8::1"), NOW) == FROM
    assert order.ban_from(ip_address("2001:db9::1"), NOW) is None
    assert order.ban_from(ip_address("203.0.113.7"), NOW) is None
    assert order.ban_from(ip_address("2001:db8::1"), NOW + 86_400) is None
    assert order.ban_from(None, NOW) is None
    assert network_text(ip_network("192.0.2.1/32")) == "192.0.2.1"
    assert network_of("anna") is None


def test_ban_message_gives_the_reason_and_a_contact() -> None:
    assert barred(BANNED) == (
        "The operator of this server has banned Mallory, because of lies. If that's a mistake,"
        " ask the operator."
    )
    assert barred(FROM, "ops@example.net") == (
        "The operator of this server has banned 203.0.113.0/24 (your network) until"
        " 1970-01-02 00:00 UTC. If that's a mistake, write to ops@example.net."
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("unmute carla", "Carla"),
        ("unban BERT", "Bert"),
        ("unmute zoe", "zoe"),
        ("unban 192.0.2.8", "192.0.2.8"),
    ],
)
def test_refusal_to_lift_a_missing_sanction_names_its_target(
    hall: StoredHall, line: str, words: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        hall.decided("Olga", parse(line), NOW)
    assert refused.value.details["words"] == words
