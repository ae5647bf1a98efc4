"""Facts: data for programs, sent as GMCP messages (package ``Thud``) or as machine lines.

`docs/gmcp-reference.md` and `docs/machine.md` describe them. A fact has the same form for all
readers. New fields go at the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum
from functools import lru_cache
from math import ceil

import msgspec

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.game import events
from thudmud.game.archive import (
    FoundBattle,
    RatingChange,
)
from thudmud.game.clocks import TimeControl
from thudmud.game.hall import Hall, unrated_reason
from thudmud.game.table import Seat, Table
from thudmud.language import ParseError
from thudmud.language.caching import cache_by_hash
from thudmud.rules import (
    Game,
    Piece,
    Ruleset,
    Side,
    Square,
    write_position,
)
from thudmud.views import data
from thudmud.views.colours import as_hex
from thudmud.views.data import Data, Fact, RecordedBattle
from thudmud.views.sentences import game_at

_PRESENCE = (events.Returned, events.Absent)

DRAWN = (
    events.BattleStarted,
    events.Moved,
    events.PositionSet,
    events.Resumed,
    events.RulesSet,
    events.TakenBack,
)
"""Events that lead to a new position to draw."""


STATE_FACTS: list[Callable[[Hall, str], Iterable[Fact]]] = []
"""Functions of features that add facts about the current state, for a program that connects."""


def state_facts(
    facts: Callable[[Hall, str], Iterable[Fact]],
) -> Callable[[Hall, str], Iterable[Fact]]:
    """Register a function from the hall and a player's name to facts about the current state."""
    STATE_FACTS.append(facts)
    return facts


def player_state_facts(hall: Hall, player: str) -> list[Fact]:
    """Return the current state for a player: their room, seats, observed boards and options."""
    room = hall.people[player].room
    known = [*presence_facts(hall, player), options_fact(hall, player)]
    known += (fact for facts in STATE_FACTS for fact in facts(hall, player))
    if hall.people[player].observed:
        known.append(observed_fact(hall, player))
    seats = [table for table in hall.tables.seats_of(player) if table.name != room]
    others = {room, *(table.name for table in seats)}
    observed = hall.people[player].observed
    seats += [hall.tables[board] for board in observed if board not in others]
    if room is None:
        boards = [Fact("Thud.Board", board_data(table), player) for table in seats]
        return [*known, *board_list_facts(hall, player), *boards]
    tables = [hall.tables[room], *seats]
    known += personal_seek_facts(hall, player)
    return [*known, *(fact for table in tables for fact in table_facts_in_full(table, player))]


def room_state_facts(hall: Hall, room: str | None, name: str) -> list[Fact]:
    """Return the current state of a room for an onlooker."""
    known = (
        board_list_facts(hall, name)
        if room is None
        else table_facts_in_full(hall.tables[room], name)
    )
    return [occupants_fact(hall, room, name), *known]


def refusal_fact(
    refusal: RefusedError, player: str, board: str | None = None, text: str | None = None
) -> Fact:
    """Return the fact of a refusal.

    Args:
        refusal: the refusal.
        player: the player, who is the only recipient.
        board: the name of the board concerned, if known.
        text: the refusal in words, for clients that show it themselves.
    """
    details = {key: _plain(each) for key, each in refusal.details.items() if key != "board"}
    if isinstance(refusal, ParseError):
        nearest = _nearest(refusal.word.lower(), refusal.expected)
        more = len(refusal.expected) - len(nearest)
        details |= {"expected": list(nearest), "more": more}
    known = {
        "code": refusal.code.value,
        "squares": _plain(refusal.squares),
        "board": refusal.details.get("board", board),
        "details": details,
    }
    if text is not None:
        known["text"] = text
    return Fact("Thud.Refused", known, player)


MOST_EXPECTED = 12
"""The maximum number of expected words in the fact of a parse error."""


@cache_by_hash(1024)
def _nearest(word: str, expected: tuple[str, ...]) -> tuple[str, ...]:
    """Choose the expected words to report: kinds such as ``<player>``, then the most similar."""
    if len(expected) <= MOST_EXPECTED:
        return expected
    alike = SequenceMatcher(b=word)

    def distance(candidate: str) -> tuple[bool, float]:
        alike.set_seq1(candidate)
        return not candidate.startswith("<"), -alike.ratio()

    return tuple(sorted(expected, key=distance)[:MOST_EXPECTED])


def table_facts(
    hall: Hall, event: events.TableEvent, table: Table, changes: Iterable[RatingChange]
) -> Iterator[Fact]:
    """Yield the facts of an event at a table. `table` is its state right after the event."""
    # Return to a seat is also arrival in the room, and absence is departure.
    person = hall.people.get(event.player) if isinstance(event, _PRESENCE) else None
    if person and person.room == table.name:
        if isinstance(event, events.Returned):
            yield arrival_fact(hall, event.player, table.name)
        else:
            yield departure_fact(event.player, table.name, is_gone=True)
    match event:
        case events.Moved():
            yield ply_fact(event, table)
            return
        case events.TakenBack():
            yield from _taken_back(event, table)
        case events.BattleEnded():
            yield _battle_ended_fact(hall, event, table, [*changes])
        case events.Declined():
            yield from _offer_declined(event, table)
    yield Fact("Thud.Table", table_data(table))
    if isinstance(event, (*DRAWN, events.Adjourned, events.Cleared)):
        yield Fact("Thud.Board", board_data(table))
    elif isinstance(event, events.Joined):
        yield Fact("Thud.Board", board_data(table), event.player)


def presence_facts(hall: Hall, player: str) -> list[Fact]:
    """Return a player's own data, and the people in the same room."""
    room = hall.people[player].room
    me = Fact("Thud.Me", {**person_data(hall, player), "room": room}, player)
    return [me, occupants_fact(hall, room, player)]


def occupants_fact(hall: Hall, room: str | None, player: str) -> Fact:
    """Return the people in a room."""
    people = [person_data(hall, name) for name in hall.people_in(room)]
    return Fact("Thud.Here", {"room": room, "people": people}, player)


def arrival_fact(hall: Hall, player: str, room: str | None) -> Fact:
    """Return the arrival of a player in a room."""
    return Fact("Thud.Came", {"room": room, **person_data(hall, player)})


def departure_fact(
    player: str, room: str | None, to: str | None = None, *, is_gone: bool = False
) -> Fact:
    """Return the departure of a player from a room, or from the server."""
    return Fact("Thud.Went", {"room": room, "player": player, "to": to, "gone": is_gone})


def board_list_facts(hall: Hall, player: str) -> list[Fact]:
    """Return the boards in the list of boards, and the seeks."""
    tables = [Fact("Thud.Table", table_data(table), player) for table in hall.tables.values()]
    return [*tables, *seek_facts(hall, player)]


def seek_facts(hall: Hall, player: str) -> list[Fact]:
    """Return the seeks that a player can accept, or has made."""
    return _seek_facts(hall, player, {"", player})


def personal_seek_facts(hall: Hall, player: str) -> list[Fact]:
    """Return the seeks that a player has made, and the challenges to them."""
    return _seek_facts(hall, player, {player})


def _seek_facts(hall: Hall, player: str, addressees: Collection[str]) -> list[Fact]:
    return [
        Fact("Thud.Seek", seek_data(seek), player)
        for seek in hall.seeks.values()
        if seek.player in hall.people and (seek.to in addressees or seek.player == player)
    ]


def table_facts_in_full(table: Table, player: str) -> list[Fact]:
    """Return the facts about a table and its position, for one player."""
    return [
        Fact("Thud.Table", table_data(table), player),
        Fact("Thud.Board", board_data(table), player),
    ]


# Data of single facts.


def table_data(table: Table) -> Data:
    """Return a table without its position."""
    match = table.match
    of = match.tournament if match else None
    return {
        **board_reference(table),
        "rules": (table.game.ruleset if table.game else table.ruleset).name,
        "part": match.battle if match else None,
        "running": table.is_running,
        "over": bool(match and match.is_over),
        "seats": _plain(table.seating),
        "points": {side.value: match.points(side) if match else 0 for side in Side},
        "offers": [
            {
                "offer": offer.value,
                "side": side.value,
                "moves": table.undo_moves if offer is events.Offer.UNDO else None,
            }
            for offer, side in table.offers.items()
        ],
        "time": str(table.time) if table.time else None,
        "clock": _clock(table),
        "claim_at": None if table.claimable_at is None else int(table.claimable_at),
        "rated": match.rated if match else None,
        "tournament": of.number if of else None,
        "round": of.round if of else None,
    }


def board_list_entry(table: Table) -> Data:
    """Return a board's entry in the list of boards."""
    known = table_data(table)
    keys = ("board", "version", "battle", "rules", "running", "time")
    seats = {side.value: table.seats.get(side) for side in Side}
    kept_for = next((name for side in Side if (name := table.reserved_for(side))), None)
    more = {"rated": known["rated"], "kept_for": kept_for}
    return {**{key: known[key] for key in keys}, **seats, **more}


def board_data(table: Table) -> Data:
    """Return the position of a table."""
    game = game_at(table)
    return {
        **board_reference(table),
        **data.game_data(game),
        "turn": data.side_to_move(game) if table.game else None,
        "opening": write_position(table.opening) if table.opening else None,
    }


def ply_fact(event: events.Moved, table: Table) -> Fact:
    """Return the fact of a ply."""
    if table.game is None:
        raise InvalidValueError(f"expected an event in a battle, got {event}")
    return Fact("Thud.Move", _ply(event, table, table.game))


def _taken_back(event: events.TakenBack, table: Table) -> Iterator[Fact]:
    """Yield the facts of plies taken back, the latest ply first."""
    game, side = table.game, event.side
    if game is None:
        raise InvalidValueError(f"expected an event in a battle, got {event}")
    told = []
    for move in event.moves:
        played = events.Moved(event.at, table.seats.get(side, ""), side, move, len(game.moves) + 1)
        told.append(Fact("Thud.Move", _ply(played, table, game, taken_back=True)))
        game, side = game.play(move), side.other
    yield from reversed(told)


def _ply(event: events.Moved, table: Table, game: Game, *, taken_back: bool = False) -> Data:
    """Return a ply. `game` is the battle after it, or before it if it was taken back."""
    return {
        **board_reference(table),
        "ply": event.ply,
        "taken_back": taken_back,
        "side": event.side.value,
        "player": event.player or None,
        **data.move_data(event.move),
        "record": str(event.move),
        "score": data.score_data(game.score),
        "turn": data.side_to_move(game),
        "at": int(event.at),
        "spent": None if taken_back else _spent_on_last_ply(table),
        "clock": _clock(table),
    }


def _spent_on_last_ply(table: Table) -> float | None:
    """Return the seconds that the last ply took; None without a clock."""
    clock = table.match and table.match.clock
    return round(clock.spent[-1], 1) if clock and clock.spent else None


def _offer_declined(event: events.Declined, table: Table) -> Iterator[Fact]:
    """Yield that an offer was declined, unless whoever made it has gone."""
    side = table.side_of(event.player)
    if side and (to := table.seats.get(side.other)):
        yield declined_fact(table.name, event.player, to, event.offer)


def declined_fact(board: str, player: str, to: str, offer: events.Offer | None = None) -> Fact:
    """Return that a player declined what another one offered; None stands for an invitation."""
    known = {"board": board, "player": player, "to": to, "offer": offer.value if offer else None}
    return Fact("Thud.Declined", known)


def _battle_ended_fact(
    hall: Hall, event: events.BattleEnded, table: Table, changes: Sequence[RatingChange]
) -> Fact:
    outcome, match = event.outcome, table.match
    why = unrated_reason(event, match, changes, hall)
    rules, position = (match.game.ruleset, match.game.position) if match else (None, None)
    known = {
        **board_reference(table),
        **data.outcome_data(outcome, rules, position),
        "points": {side.value: match.points(side) if match else 0 for side in Side},
        "part": match.battle if match else None,
        "over": bool(match and match.is_over),
        "dwarf": event.dwarf or None,
        "troll": event.troll or None,
        "player": event.player,
        "plies": event.plies,
        "rated": event.rated,
        "at": int(event.at),
        "ratings": [data.rating_change_data(each) for each in changes],
        "unrated": why.value if why else None,
    }
    return Fact("Thud.End", known)


def seek_data(seek: events.SeekMade) -> Data:
    """Return a seek."""
    return {
        "seek": seek.number,
        "player": seek.player,
        "rules": seek.rules,
        "side": seek.side.value if seek.side else None,
        "rated": seek.rated,
        "to": None if seek.word else seek.to or None,
        "at": int(seek.at),
        "time": str(seek.time) if seek.time else None,
        "answers": seek.answers,
        "until": seek.until and int(seek.until),
        "word": seek.word or None,
    }


def observed_fact(hall: Hall, player: str) -> Fact:
    """Return the fact with the boards that a player observes."""
    return Fact("Thud.Observe", {"boards": list(hall.people[player].observed)}, player)


def options_fact(hall: Hall, player: str) -> Fact:
    """Return the fact with a player's options that matter to programs which draw boards."""
    chosen = hall.people[player].options
    colours = [
        {
            "element": element.value,
            "colour": as_hex(colour.foreground),
            "ground": as_hex(colour.background),
            "bold": colour.bold,
        }
        for element, colour in chosen.elements
    ]
    known = {
        "scheme": chosen.scheme.value,
        "orient": chosen.orient.value,
        "reader": chosen.reader.value,
        "colours": colours,
    }
    return Fact("Thud.Options", known, player)


# Parts of several facts.


def board_reference(table: Table) -> Data:
    """Return the name of a board, its version and the number of its battle."""
    number = table.match.number if table.match else None
    return {"board": table.name, "version": table.version, "battle": number}


def _clock(table: Table) -> Data | None:
    """Return the clock of a table, or None."""
    clock = table.match.clock if table.match else None
    if clock is None:
        return None
    is_on = table.clock is not None
    stands = is_on and clock.runs_at > clock.at
    return {
        **{side.value: int(clock.seconds_left(side)) for side in Side},
        "at": int(clock.at),
        "runs": clock.turn.value if is_on and not stands else None,
        "falls": int(clock.deadline) if is_on else None,
        "stands_until": int(clock.runs_at) if stands else None,
    }


def _seat(seat: Seat) -> Data:
    since = seat.away_since
    return {
        "side": seat.side.value,
        "player": seat.player,
        "away_since": None if since is None else int(since),
        **({"kept_for": seat.reserved_for} if seat.reserved_for else {}),
    }


def _plain(value: object) -> object:
    """Convert a detail of a refusal to its JSON form."""
    match value:
        case None | str() | int():
            return value
        case float():  # a waiting time in seconds
            return ceil(value)
        case Square():
            return str(value)
        case Piece():
            return value.noun.lower()
        case Enum():
            return value.value
        case Ruleset():
            return value.name
        case TimeControl():
            return str(value)
        case Seat():
            return _seat(value)
        case tuple():
            return [_plain(each) for each in value]
        case _:
            raise InvalidValueError(f"can't convert to JSON: {value!r}")


TAG = "@thud"
"""The first characters of a machine line."""


def _exact(value: object) -> str:
    """Convert an instance of a subclass of `str`, which a host may use for names, to `str`."""
    if not isinstance(value, str):
        raise InvalidValueError(f"can't convert to JSON: {value!r}")
    return str.__str__(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_exact)


def as_json(known: Data) -> str:
    """Encode data as one line of JSON in printable ASCII."""
    if isinstance(known, RecordedBattle):
        return _record_as_json(known.found)
    text = _ENCODER.encode(known).decode()
    if not text.isascii():
        text = json.dumps(known, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")


@lru_cache(maxsize=8)  # many look at the same battle; the JSON of the longest has 350,000 letters
def _record_as_json(found: FoundBattle) -> str:
    return as_json(data.record_data(found))


def machine_line(fact: Fact) -> str:
    """Return a fact as a machine line. It is never wrapped."""
    kind = fact.package.rpartition(".")[2].lower()
    return f"{TAG} {as_json({'type': kind, **fact.data})}"


def set_apart(lines: Iterable[str]) -> list[str]:
    """Indent lines of text that could be mistaken for machine lines."""
    return [f" {each}" if each.startswith(TAG) else each for each in lines]


def person_data(hall: Hall, name: str) -> Data:
    """Return the identity of a player who is online."""
    return {
        "player": name,
        "member": hall.people[name].is_member,
        "bot": name in hall.bots,
        "operator": hall.is_operator(name),
    }
