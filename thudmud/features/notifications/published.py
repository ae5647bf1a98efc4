"""A member's calendar (iCalendar, RFC 5545) and feed (Atom, RFC 4287), as texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from thudmud.features.archive.messages import entry, players
from thudmud.features.notifications.messages import feed_link
from thudmud.game.archive import Battle, name_or_empty
from thudmud.game.table import Table
from thudmud.version import VERSION
from thudmud.views import sentences
from thudmud.views.headlines import board_path
from thudmud.views.words import moment

_LONGEST = 75
"""The longest line of a calendar, in bytes (RFC 5545, section 3.1)."""

_UTC = (
    "BEGIN:VTIMEZONE",
    "TZID:UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
)
"""An invisible component for a calendar without events, since one is required (RFC 5545, section
3.6)."""

_ATOM = "http://www.w3.org/2005/Atom"


def calendar(player: str, tables: Iterable[Table], page: str) -> str:
    """Return the calendar of a player's deadlines at correspondence boards.

    Args:
        player: the player.
        tables: the boards at which the player sits.
        page: the origin of the web page, such as ``https://example.org``.
    """
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:-//thudmud//{VERSION}//EN",
        "METHOD:PUBLISH",
        f"X-WR-CALNAME:Thud: {player}",
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    ]
    events: list[str] = []
    for table in sorted(tables, key=lambda table: table.name):
        events += _deadline(player, table, page)
    lines += [*(events or _UTC), "END:VCALENDAR"]
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _deadline(player: str, table: Table, page: str) -> Iterator[str]:
    """Yield the lines of the event for a player's deadline at a board, if there is one."""
    clock, game = table.clock, table.game
    if not (clock and game and table.is_by_correspondence):
        return
    if table.seats.get(game.turn) != player or table.is_practice:
        return
    host = page.partition("://")[2].partition(":")[0]
    others = [name for name in table.seats.values() if name != player]
    summary = f"Thud: your move against {others[0]}" if others else "Thud: your move"
    yield "BEGIN:VEVENT"
    # The UID depends on the ply alone: offers and takebacks update the event, and don't add
    # another.
    board = re.sub("[^A-Za-z0-9]+", "-", table.key)
    battle = (table.match and table.match.number) or 0
    yield f"UID:{board}-{battle}-{len(game.moves)}@{host}"
    yield f"SEQUENCE:{table.version}"
    yield f"DTSTAMP:{_stamp(table.waiting_since)}"
    yield f"DTSTART:{_stamp(clock.deadline)}"
    yield f"SUMMARY:{_escaped(summary)}"
    yield f"DESCRIPTION:{_escaped(f'At the {table.name}. {sentences.last_ply(table, player)}')}"
    yield f"URL:{page}{board_path(table.name)}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _stamp(at: float) -> str:
    return re.sub("[-:]", "", moment(at))


def _escaped(text: str) -> str:
    for sign in "\\;,":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "\\n")


def _folded(line: str) -> str:
    """Return a line of a calendar, folded if it is too long (RFC 5545, section 3.1)."""
    data, pieces = line.encode(), list[str]()
    while data:
        size = _LONGEST if not pieces else _LONGEST - 1  # continuation lines begin with a blank
        piece = data[:size].decode(errors="ignore")  # drops a character that is cut in the middle
        pieces.append(piece)
        data = data[len(piece.encode()) :]
    return "\r\n ".join(pieces)


def feed(player: str, ended: Sequence[tuple[Battle, float]], page: str) -> str:
    """Return the feed of a player's ended battles.

    Args:
        player: the player.
        ended: the battles, latest first, with the time at which each ended.
        page: the origin of the web page, such as ``https://example.org``.
    """
    ET.register_namespace("", _ATOM)
    root = ET.Element(f"{{{_ATOM}}}feed")
    own = feed_link(page, player)
    _add(root, "id", own)
    _add(root, "title", f"{player}'s battles")
    _add(root, "updated", moment(max((at for _, at in ended), default=0.0)))
    _add(root, "link", rel="self", href=own)
    _add(root, "link", href=f"{page}/")
    author = _add(root, "author")
    _add(author, "name", player)
    for each, at in ended:
        dwarf, troll = map(name_or_empty, each.players)
        battle = each._replace(dwarf=dwarf, troll=troll)
        told, link = _add(root, "entry"), f"{page}/game/{battle.number}"
        _add(told, "id", link)
        _add(told, "title", players(battle))
        _add(told, "updated", moment(at))
        _add(told, "link", href=link)
        _add(told, "summary", f"{entry(battle)}.")
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    added = ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    added.text = text
    return added
