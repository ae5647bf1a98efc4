"""Invariants seen from outside: from the messages that clients received, and the stored events."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from tests.simulation.clockwork import BEGINNING
from tests.simulation.players import Line, Player, Told
from thudmud.game.clocks import LONGEST_GRACE, TimeControl
from thudmud.game.events import (
    Absent,
    Adjourned,
    BattleEnded,
    BattleStarted,
    BoardOpened,
    Moved,
    Resumed,
    TakenBack,
)
from thudmud.game.projections import HALL
from thudmud.store import Entry

COMING = 10.0
"""Seconds after which a connected player has entered and receives all messages."""

ANSWER = 30.0
"""Seconds within which a line is answered, whatever fails."""

SURE = 0.5
"""Maximum difference in seconds between a server's clock and the world's."""

LATER = "hint_", "analysis_"
"""Prefixes of refusal codes that may arrive after the answer to the next line."""

MEASURE = re.compile(r"(mute|ban) (\w+) for (\d+) seconds")

KNOWN = 2.5
"""Seconds after which all servers know about a sanction."""

ROUNDED = 3.0
"""Seconds that a clock may seem to lose, as clocks are sent in whole seconds."""

Fact = Mapping[str, Any]

Stored = Mapping[str, Sequence[Entry]]
"""All events by board key."""


def wrong_with(
    everything: Sequence[Told],
    stored: Stored,
    outages: Collection[tuple[float, float]] = (),
) -> list[str]:
    """Return messages that contradict the store or each other."""
    boards = keys_of(stored)
    wrong = [
        wrong
        for told in everything
        for wrong in [
            *_not_stored(told, stored),
            *_twice(told, boards),
            *_not_told(told, stored),
            *_lost_track(told, boards),
        ]
    ]
    return [
        *wrong,
        *_seen_otherwise(everything, boards),
        *_ended_twice(stored),
        *_clocks_charged(
            everything, {name: stored.get(key, ()) for name, key in boards.items()}, outages
        ),
        *_stand_too_long(everything, {name: stored.get(key, ()) for name, key in boards.items()}),
        *_rated_otherwise(everything),
    ]


def wrong_of(players: Sequence[Player], stored: Stored) -> list[str]:
    """Return messages and events that contradict the lines typed."""
    wrong: list[str] = []
    repeating = {each.name for each in players if "again" in each.typed}
    for player in players:
        for told in player.told:
            wrong += _said_twice(told, repeating)
            wrong += _refused_yet_done(told)
            wrong += _not_heard(told)
            wrong += _from_whom_they_ignore(told)
        wrong += _denied_yet_done(player, stored)
        wrong += _away_though_here(player, stored)
        wrong += _goes_back(player, keys_of(stored))
        wrong += _by_other_hands(player, stored)
    return wrong


def wrong_of_orders(players: Sequence[Player]) -> Iterable[str]:
    """Yield messages of muted players and entries of banned ones.

    Valid only if no server or database has failed, so that all servers knew about the sanctions.
    """
    everything = [told for player in players for told in player.told]
    lines = [line for told in everything for line in told.lines]
    for told in everything:
        for line in told.lines:
            found = MEASURE.fullmatch(line.text)
            facts = told.facts[line.first : line.end]
            if found is None or line.answered == inf or any(f["type"] == "refused" for f in facts):
                continue
            since, until = line.answered + KNOWN, line.at + float(found[3]) - SURE
            lifts = f"un{found[1]} {found[2]}"
            if any(each.text == lifts and each.at > line.at for each in lines):
                continue
            if found[1] == "mute":
                yield from _said_by(found[2], players, since, until)
            else:
                yield from _came_in(found[2], players, since, until)


def _said_by(name: str, players: Iterable[Player], since: float, until: float) -> Iterable[str]:
    for player in players:
        for fact in [fact for told in player.told for fact in told.facts]:
            is_theirs = fact["type"] == "say" and fact["player"] == name
            if is_theirs and since < (at := fact["at"] - BEGINNING) and at + 1 < until:
                yield f"{name} is muted, and {player.name} was told {fact}"


def _came_in(name: str, players: Iterable[Player], since: float, until: float) -> Iterable[str]:
    for player in players:
        for told in player.told if player.name == name else ():
            if since < told.begun and told.entered < until:
                yield f"{name} is banned, and came in at {told.entered:.4f}"


def _not_stored(told: Told, stored: Stored) -> Iterable[str]:
    """Yield plies that were reported but are not stored under their version."""
    keys = keys_of(stored)
    for fact in told.facts:
        if fact["type"] != "move":
            continue
        if fact["board"] not in keys:
            continue
        entries = stored.get(keys[fact["board"]], ())
        version = fact["version"]
        event = entries[version - 1].event if 0 < version <= len(entries) else None
        if not _is(fact, event):
            yield f"{told.player} at {told.server} was told {fact}, and {event} is stored"


def _not_told(told: Told, stored: Stored) -> Iterable[str]:
    """Yield stored plies whose player was not told about them.

    Players are excused who were not connected throughout or were told that the outcome is unknown.
    """
    heard = {
        (fact["board"], fact["version"])
        for fact in told.facts
        if fact["type"] in ("move", "board", "table")
    }
    for board, key in keys_of(stored).items():
        for entry in stored.get(key, ()):
            event = entry.event
            if not isinstance(event, Moved) or event.player != told.player:
                continue
            at = event.at - BEGINNING
            was_in = max(told.begun + COMING, told.entered)  # entering may take long
            was_there = was_in < at and at + ANSWER < told.ended
            if not was_there or (board, entry.version) in heard:
                continue
            if not any(at < doubt < at + ANSWER for doubt in told.doubts):
                yield f"{told.player} at {told.server} was not told that this is stored: {entry}"


def _clocks_charged(
    everything: Iterable[Told],
    boards: Mapping[str, Sequence[Entry]],
    outages: Collection[tuple[float, float]],
) -> Iterable[str]:
    """Yield clocks that ran faster than time, or while nothing could be stored.

    Args:
        everything: the messages to all connections.
        boards: events by board name, for boards with a unique name.
        outages: intervals during which no server could store anything.
    """
    clocks: dict[tuple[str, int], dict[int, Fact]] = defaultdict(dict)
    for told in everything:
        for fact in told.facts:
            if fact["type"] in ("table", "move") and fact.get("clock") and fact["board"] in boards:
                known = clocks[fact["board"], fact["battle"]]
                clock = known.setdefault(fact["version"], fact["clock"])
                if fact["clock"]["at"] < clock["at"]:  # later ones may run on in an outage
                    known[fact["version"]] = fact["clock"]
    for (board, battle), known in clocks.items():
        for (place, before), (version, after) in pairwise(sorted(known.items())):
            if any(isinstance(each.event, TakenBack) for each in boards[board][place:version]):
                continue  # taking plies back also takes back the time added for them
            since, until = before["at"], after["at"]
            most = until - since
            if before["runs"] is None:  # at most until the next event
                stands = [each.event.at for each in boards[board][place : place + 1]]
                stands += [until, before["stands_until"] or until]
                most -= max(0.0, min(stands) - since)
            for begun, ended in outages:
                lost = min(until, ended + BEGINNING) - max(since, begun + BEGINNING)
                most -= max(0.0, lost) if before["runs"] else 0.0
            used = before["dwarf"] + before["troll"] - after["dwarf"] - after["troll"]
            if used > max(0.0, most) + ROUNDED:
                yield f"battle {battle} at the {board} took {used} s until {version}, not {most}"


def _stand_too_long(
    everything: Iterable[Told], boards: Mapping[str, Sequence[Entry]]
) -> Iterable[str]:
    """Yield clocks stopped for longer than a tenth of a player's minutes.

    If a server has disconnected a player, a clock may be stopped for the longest grace time.
    """
    for told in everything:
        for fact in told.facts:
            clock = fact.get("clock") if fact["type"] == "table" else None
            if not clock or not clock["stands_until"] or fact["board"] not in boards:
                continue
            before = [each.event for each in boards[fact["board"]][: fact["version"]]]
            was_cut_off = any(isinstance(e, Absent) and e.parting.is_by_server for e in before)
            grace = TimeControl.of(fact["time"]).grace
            most = LONGEST_GRACE if was_cut_off else grace
            seconds = clock["stands_until"] - clock["at"]
            if seconds > most + 1:  # both are sent in whole seconds
                yield f"{told.player} was told of a clock that stands for {seconds} s: {fact}"


def _rated_otherwise(everything: Iterable[Told]) -> Iterable[str]:
    """Yield ratings that do not follow from earlier ones, or were reported differently to others.

    Each match changes a rating once, so the rating after a number of matches is unique.
    """
    known: dict[tuple[str, str, str], dict[int, tuple[int, Fact]]] = defaultdict(dict)
    asked: list[tuple[tuple[str, str, str], int, int, Fact]] = []
    for told in everything:
        for fact in told.facts:
            for each in fact["ratings"] if fact["type"] == "end" else ():
                pool = each["player"], each["rules"], each["time"]
                first = known[pool].setdefault(each["matches"], (each["rating"], each))
                if first[1] != each:
                    yield f"{told.player} was told {each}, others {first[1]}"
            if fact["type"] == "finger":
                for each in fact["ratings"]:
                    if each["against"] == "people":
                        pool = fact["player"], each["rules"], each["time"]
                        asked.append((pool, each["battles"], each["rating"], each))
    for pool, changes in known.items():
        for (number, (rating, _)), (following, (_, change)) in pairwise(sorted(changes.items())):
            if following == number + 1 and change["before"] != rating:
                yield f"{pool} had {rating} after {number} matches, and then {change}"
    for pool, number, rating, told_of in asked:
        if number in known[pool] and known[pool][number][0] != rating:
            yield f"{pool} had {known[pool][number]}, and was said to have {told_of}"


def keys_of(stored: Stored) -> dict[str, str]:
    """Return the keys of boards by name.

    Names used by several boards are left out, as each board counts its own versions.
    """
    opened = [each.event for each in stored.get(HALL, ()) if isinstance(each.event, BoardOpened)]
    times = Counter(each.name for each in opened)
    return {each.name: each.key for each in opened if times[each.name] == 1}


def _is(fact: Fact, event: object) -> bool:
    match event:
        case Moved(player=player, move=move):
            same = fact["player"] == player and fact["to"] == str(move.target).upper()
            return same and not fact["taken_back"]
        case TakenBack():
            return bool(fact["taken_back"])
    return False


def _twice(told: Told, boards: Collection[str]) -> Iterable[str]:
    """Yield messages that reached a connection out of order or more than once."""
    last: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for fact in told.facts:
        if fact["type"] != "move" or fact["board"] not in boards:
            continue
        # An event that takes back several plies is sent as one fact per ply, the last ply first.
        place = fact["version"], -fact["ply"] if fact["taken_back"] else 0
        if place <= last[fact["board"]]:
            yield f"{told.player} at {told.server} was told this again, or late: {fact}"
        last[fact["board"]] = place


def _lost_track(told: Told, boards: Collection[str]) -> Iterable[str]:
    """Yield messages that are inconsistent with earlier ones on the same connection.

    Clients follow each board as docs/gmcp.md says: from a position onwards, ply by ply.
    """
    seen: dict[str, _Seen] = {}
    for fact in told.facts:
        if fact.get("board") not in boards:
            continue
        before = seen.get(fact["board"])
        match fact["type"]:
            case "board":
                now = _Seen(fact["version"], fact["battle"], fact["ply"], fact["rows"])
                if before and before.version == now.version and before != now:
                    yield f"{told.player} at {told.server} should see {before}, and was told {now}"
                seen[fact["board"]] = now
            case "move" if before:
                has = before.ply if before.battle == fact["battle"] else 0
                if has != fact["ply"] - (0 if fact["taken_back"] else 1):
                    yield f"{told.player} at {told.server} had {has} plies when told {fact}"
                if not fact["taken_back"]:
                    seen[fact["board"]] = before.after(fact)
                else:  # the position before it follows
                    del seen[fact["board"]]


def _seen_otherwise(everything: Iterable[Told], boards: Collection[str]) -> Iterable[str]:
    """Yield positions shown to one player that differ from those shown to another."""
    shown: dict[tuple[object, ...], tuple[Told, object]] = {}
    for told in everything:
        for fact in told.facts:
            if fact["type"] == "board" and fact["board"] in boards:
                place = fact["board"], fact["version"], fact["battle"]
                first, before = shown.setdefault(place, (told, fact["rows"]))
                if before != fact["rows"]:
                    yield f"{told.player} at {told.server} saw {fact}, {first.player} {before}"


class _Seen(NamedTuple):
    """A client's knowledge of a board."""

    version: int
    battle: int | None
    ply: int
    rows: Sequence[str]

    def after(self, move: Fact) -> _Seen:
        """Return the knowledge after a ply."""
        rows = [list(row) for row in self.rows]
        (across, down), (to, below) = _square(move["from"]), _square(move["to"])
        piece = rows[down][across]
        rows[down][across] = "."
        for each in move["captures"]:
            column, row = _square(each)
            rows[row][column] = "."
        rows[below][to] = piece
        made = ["".join(row) for row in rows]
        return _Seen(move["version"], move["battle"], move["ply"], made)


def _square(name: str) -> tuple[int, int]:
    return ord(name[0]) - ord("A"), int(name[1:]) - 1


def _said_twice(told: Told, repeating: Collection[str]) -> Iterable[str]:
    """Yield utterances delivered more than once, except for players who repeat themselves."""
    said = Counter(
        (fact["kind"], fact["player"], fact["text"], fact["at"])
        for fact in told.facts
        if fact["type"] == "say" and any(map(str.isdigit, fact["text"]))
        if fact["player"] not in repeating
    )
    for what, times in said.items():
        if times > 1:
            yield f"{told.player} at {told.server} was told {times} times: {what}"


def _from_whom_they_ignore(told: Told) -> Iterable[str]:
    """Yield utterances delivered to a player who ignores the speaker."""
    since: dict[str, float] = {}
    for line in told.lines:
        word, _, name = line.text.partition(" ")
        facts = told.facts[line.first : line.end]
        if word == "unignore":
            since.pop(name, None)
        elif (
            word == "ignore"
            and _is_obeyed(line, told)
            and not any(line.at <= at <= line.answered for at in told.doubts)
            and not any(each["type"] == "refused" for each in facts)
        ):
            since.setdefault(name, line.answered)
        for fact in facts:
            if fact["type"] == "say" and since.get(fact["player"], inf) < line.at:
                yield f"{told.player} at {told.server} ignores them, and was told {fact}"


def _refused_yet_done(told: Told) -> Iterable[str]:
    """Yield lines that were refused and yet carried out on the same connection."""
    for line in told.lines:
        if line.answered == inf:
            continue
        facts = told.facts[line.first : line.end]
        done = [
            each
            for each in facts
            if _is_ply_of(each, told.player) and _goes_to(line.text, each["to"])
        ]
        if done and any(
            each["type"] == "refused" and not each["code"].startswith(LATER) for each in facts
        ):
            yield f"{told.player} at {told.server} was refused {line.text!r}, which was done"
        if len(done) > 1:
            yield f"{told.player} at {told.server} has done more than {line.text!r}: {done}"


def _denied_yet_done(player: Player, stored: Stored) -> Iterable[str]:
    """Yield stored plies that were reported as failed.

    A line typed on a later connection may have had the effect intended by an earlier one.
    """
    if not any(told.denied for told in player.told):
        return
    for entry in (each for entries in stored.values() for each in entries):
        event = entry.event
        if not isinstance(event, Moved) or event.player != player.name:
            continue
        at = event.at - BEGINNING
        asked = [
            (line, told)
            for told in player.told
            for line in told.lines
            if line.at - SURE < at < line.answered and _asks_for(line.text, event)
        ]
        if asked and all(_is_denied(line, told) for line, told in asked):
            yield f"{player.name} was told that {asked[0][0].text!r} has changed nothing: {entry}"


def _is_ply_of(fact: Fact, player: str) -> bool:
    return fact["type"] == "move" and fact["player"] == player and not fact["taken_back"]


def _not_heard(told: Told) -> Iterable[str]:
    """Yield utterances that were neither refused nor echoed to the speaker."""
    for line in told.lines:
        word, _, text = line.text.partition(" ")
        if line.answered == inf or word not in ("say", "emote", "shout") or not text:
            continue
        facts = told.facts[line.first : line.end]
        if not any(each["type"] in ("say", "refused") for each in facts) and not any(
            line.at <= at <= line.at + ANSWER for at in (*told.doubts, *told.denied)
        ):
            yield f"{told.player} at {told.server} was not answered in full: {line.text!r}"


def _goes_back(player: Player, boards: Collection[str]) -> Iterable[str]:
    """Yield first messages on a later connection that are older than the player's knowledge."""
    versions = sorted(
        (time, place, fact["board"], fact["version"])
        for place, told in enumerate(player.told)
        for fact, time in zip(told.facts, told.times, strict=True)
        if fact["type"] in ("table", "board", "move") and fact["board"] in boards
    )
    known: dict[tuple[str, int], int] = {}
    seen: set[tuple[str, int]] = set()
    for time, place, board, version in versions:
        is_first = (board, place) not in seen
        is_theirs = all(each.entered > time for each in player.told[place + 1 :])
        newest = max(known.get((board, each), 0) for each in range(place + 1))
        if is_first and is_theirs and version < newest:
            yield f"{player.name} is told {board} of {version} at {time:.4f}, not {newest}"
        seen.add((board, place))
        known[board, place] = max(known.get((board, place), 0), version)


def _away_though_here(player: Player, stored: Stored) -> Iterable[str]:
    """Yield recorded absences of players who were there before and were answered afterwards."""
    absences = [
        each for entries in stored.values() for each in entries if isinstance(each.event, Absent)
    ]
    for entry in absences:
        at = entry.event.at - BEGINNING
        if (
            isinstance(entry.event, Absent)
            and entry.event.player == player.name
            and any(
                told.entered < at - SURE
                and any(line.at > at + SURE and _is_obeyed(line, told) for line in told.lines)
                for told in player.told
            )
        ):
            yield f"{player.name} was there, and is noted as away: {entry}"


def _is_obeyed(line: Line, told: Told) -> bool:
    """Whether a line was answered by a server that was able to store events."""
    return line.answered < inf and not _is_denied(line, told)


def _is_denied(line: Line, told: Told) -> bool:
    """Whether a line was reported as failed."""
    return any(line.at <= at <= line.answered for at in told.denied)


def _by_other_hands(player: Player, stored: Stored) -> Iterable[str]:
    """Yield stored plies that their player had not typed on the current connection.

    Once a later connection has entered, lines typed on an earlier one have no effect.
    """
    typed = [(line, place) for place, told in enumerate(player.told) for line in told.lines]
    for entries in stored.values():
        for entry in entries:
            event = entry.event
            if not isinstance(event, Moved) or event.player != player.name:
                continue
            at = event.at - BEGINNING
            later = {
                place
                for place, told in enumerate(player.told)
                if any(each.entered < at - SURE for each in player.told[place + 1 :])
            }
            if not any(
                line.at < at + SURE and place not in later and _asks_for(line.text, event)
                for line, place in typed
            ):
                yield f"{player.name} has not typed this there then: {entry}"


def _asks_for(line: str, event: Moved) -> bool:
    return line == "again" or _goes_to(line, str(event.move.target))


def _goes_to(line: str, square: str) -> bool:
    return f" to {square} ".lower() in f"{line} ".lower()


def _ended_twice(stored: Stored) -> Iterable[str]:
    """Yield battles that ended more than once."""
    for key, entries in stored.items():
        running = False
        for entry in entries:
            match entry.event:
                case BattleStarted() | Resumed():
                    running = True
                case Adjourned():
                    running = False
                case BattleEnded():
                    if not running:
                        yield f"a battle at {key} has ended that was not being played: {entry}"
                    running = False


def counted(stored: Stored) -> Counter[str]:
    """Return the number of events by kind."""
    return Counter(type(each.event).__name__ for entries in stored.values() for each in entries)
