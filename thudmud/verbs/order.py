"""What operators bring about to keep order, and what those may not do who are muted. Pure."""

from __future__ import annotations

from ipaddress import ip_network
from typing import assert_never

from thudmud.english import capitalised
from thudmud.errors import Refused
from thudmud.play.archive import Found, MemberLookup
from thudmud.play.asides import Announced, Asked, Lifted, ReportClosed, Sanctioned, ShutdownTold
from thudmud.play.commands import (
    Ban,
    Bans,
    Broadcast,
    CancelShutdown,
    CloseReport,
    Kick,
    Mute,
    Mutes,
    OperatorCommand,
    Reports,
    StopServer,
    Unban,
    Unmute,
)
from thudmud.play.events import LONGEST_NAME
from thudmud.play.hall import Decision, Hall, Person
from thudmud.play.letters import ReportsLookup
from thudmud.play.meaning import player_meant
from thudmud.play.order import (
    WIDEST,
    Measure,
    Network,
    Order,
    Sanction,
    network_of,
    network_text,
)
from thudmud.play.refusals import Refusal

_OURSELVES = ip_network("127.0.0.0/8"), ip_network("::1/128")
"""From where this machine speaks to itself; a proxy that stands on it does, too."""


def require_heard(hall: Hall, player: str, now: float) -> None:
    """Refuse what a player who is muted would say."""
    if hall.order and (mute := hall.order.mute(player, now)):
        seconds = None if mute.until is None else mute.until - now
        raise Refused(Refusal.MUTED, seconds=seconds, why=mute.why)


def decide(
    command: OperatorCommand, hall: Hall, person: Person, now: float, found: Found
) -> Decision:
    """Return what an operator's command brings about.

    Raises:
        Refused: who types it is no operator; or that cannot be done, or not to them.
        Unread: it has to be looked up first who is meant.
    """
    order, me = _require_operator(hall, person), person.name
    match command:
        case Broadcast(text):
            return Decision(me, asides=(Announced(me, text),))
        case Mute(words, seconds, why):
            whom = _player(hall, words, found)
            _require_fair(hall, order, me, whom)
            return _impose(Sanction(Measure.MUTE, whom, me, now, _until(seconds, now), why))
        case Kick(words, why):
            whom = player_meant(hall, words)
            _require_fair(hall, order, me, whom)
            return _impose(Sanction(Measure.KICK, whom, me, now, None, why))
        case Ban(words, seconds, why):
            whom = _banned(hall, order, me, words, found)
            return _impose(Sanction(Measure.BAN, whom, me, now, _until(seconds, now), why))
        case Unmute(words):
            mute = _one(order.all_mutes(now), words)
            if mute is None:
                raise Refused(Refusal.NOT_MUTED, words=_as_shown(hall, words, found))
            return Decision(me, asides=(Lifted(me, mute),))
        case Unban(words):
            network = network_of(words)
            ban = _one(order.all_bans(now), network_text(network) if network else words)
            if ban is None:
                raise Refused(Refusal.NOT_BANNED, words=_as_shown(hall, words, found))
            return Decision(me, asides=(Lifted(me, ban),))
        case Reports():
            return Decision(me, asides=(Asked(me, command, answer=found[ReportsLookup()]),))
        case CloseReport(number):
            if all(each.number != number for each in found[ReportsLookup()]):
                raise Refused(Refusal.NO_SUCH_REPORT, number=number)
            return Decision(me, asides=(ReportClosed(me, number),))
        case Mutes() | Bans():
            return Decision(me, asides=(Asked(me, command),))
        case StopServer(seconds, why):
            return Decision(me, asides=(ShutdownTold(me, now + seconds, seconds, why),))
        case CancelShutdown():
            if hall.shutdown is None:
                raise Refused(Refusal.NO_SHUTDOWN)
            return Decision(me, asides=(ShutdownTold(me, now, None),))
        case _:
            assert_never(command)


def _require_operator(hall: Hall, person: Person) -> Order:
    if hall.order is None:
        raise Refused(Refusal.NO_OPERATORS)
    if not hall.is_operator(person.name):
        raise Refused(Refusal.OPERATORS_ONLY)
    return hall.order


def _until(seconds: int | None, now: float) -> float | None:
    return None if seconds is None else now + seconds


def _impose(sanction: Sanction) -> Decision:
    return Decision(sanction.by, asides=(Sanctioned(sanction.by, sanction),))


def _require_fair(hall: Hall, order: Order, me: str, whom: str) -> None:
    """Refuse a measure against oneself, another operator, or a program of the server's."""
    if whom.lower() == me.lower():
        raise Refused(Refusal.SANCTION_SELF)
    if whom.lower() in order.operators:
        raise Refused(Refusal.SANCTION_OPERATOR, player=whom)
    if whom.lower() in map(str.lower, hall.bots):
        raise Refused(Refusal.SANCTION_BOT, player=whom)


def _player(hall: Hall, words: str, found: Found) -> str:
    """Return the name of a player who is here, or has an account."""
    try:
        return player_meant(hall, words)
    except Refused as refusal:
        known = found[MemberLookup(words)] if refusal.code is Refusal.NO_SUCH_PLAYER else None
        if known is None:
            raise
        return str(known.name)


def _as_shown(hall: Hall, words: str, found: Found) -> str:
    """Return the name of a player as it is shown, if the words are one that is known."""
    if words.lower() in hall.names or not words.isalpha():
        return hall.names.get(words.lower(), words)
    known = found[MemberLookup(words)]
    return str(known.name) if known else words


def _banned(hall: Hall, order: Order, me: str, words: str, found: Found) -> str:
    """Return whom a ban is to keep out: a name, which need be nobody's yet, or a network."""
    if network := network_of(words):
        _require_sensible(hall, me, network)
        return network_text(network)
    if not words.isalpha():
        raise Refused(Refusal.NO_SUCH_NETWORK, words=words)
    try:
        whom = _player(hall, words, found)
    except Refused as refusal:
        if refusal.code is not Refusal.NO_SUCH_PLAYER or len(words) > LONGEST_NAME:
            raise
        whom = capitalised(words.lower())
    _require_fair(hall, order, me, whom)
    return whom


def _require_sensible(hall: Hall, me: str, network: Network) -> None:
    """Refuse to ban very many, this machine itself, or where an operator comes from."""
    if network.prefixlen < WIDEST[network.version]:
        widest = f"/{WIDEST[network.version]}"
        raise Refused(Refusal.NETWORK_TOO_WIDE, network=str(network), widest=widest)
    if network.is_unspecified or any(
        each.version == network.version and each.overlaps(network) for each in _OURSELVES
    ):
        raise Refused(Refusal.NETWORK_LOCAL, network=network_text(network))
    for name, origin in hall.origins.items():
        where = network_of(origin) if hall.is_operator(name) else None
        if where and where.version == network.version and where.overlaps(network):
            if name == me:
                raise Refused(Refusal.SANCTION_SELF)
            raise Refused(Refusal.SANCTION_OPERATOR, player=name)


def _one(sanctions: list[Sanction], whom: str) -> Sanction | None:
    """Return the one that is against somebody, named in any case."""
    return next((each for each in sanctions if each.whom.lower() == whom.lower()), None)
