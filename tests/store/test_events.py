"""Events survive being stored as lines.

For each kind of event, `schema_1.lines` holds lines written under schema 1, each followed by the
repr of the event that it decodes to. When an event gains a last field with a default, add the field
to its lines. When it changes in any other way, leave them:

1. raise `SCHEMA` and make `from_text` and `from_line` read the older form as well;
2. add samples of the new schema, `schema_N.lines`, and read the samples of all schemas here;
3. in the files of earlier schemas, change only the reprs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs
from msgspec.structs import force_setattr

from tests.cases import cases
from tests.store.generated import KINDS, some_events
from thudmud.game.events import (
    Absent,
    BattleScore,
    BattleStarted,
    Event,
    Joined,
    Moved,
    Offer,
    PairingScored,
    Parting,
    RoundPaired,
    StoredEvent,
    TournamentLeaving,
    TournamentLeft,
)
from thudmud.rules import Ending, Side, Verb
from thudmud.store import codec
from thudmud.store.codec import (
    SCHEMA,
    MalformedTextError,
    NewerSchemaError,
    from_line,
    ply_from_text,
    to_array,
    to_line,
    to_text,
)

HERE = Path(__file__).parent


def samples(schema: int) -> list[tuple[str, str]]:
    """Return the lines written under a schema and the reprs that they decode to."""
    lines = (HERE / f"schema_{schema}.lines").read_text("utf-8").splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


MOVED = f'[{SCHEMA},"oak board",["moved",1.5,"Anna","dwarf","dA6-B6",12]]'


class Name(str):
    """A name of a host's own class."""

    __slots__ = ()


def test_values_of_subclasses_are_stored_as_their_base_class() -> None:
    joined = Joined(1.0, Name("Anna"), Side.DWARF, level=True)
    line = to_line(Name("oak"), joined)
    assert line == f'[{SCHEMA},"oak",["joined",1.0,"Anna","dwarf",1]]'
    event = read(line)
    assert isinstance(event, Joined)
    assert (type(event.player), event.level) == (str, 1)


def read(line: str) -> Event:
    """Return the event of a line."""
    return from_line(line)[1]


def values_in(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, Struct):
        value = structs.astuple(value)
    elif is_dataclass(value):
        value = tuple(getattr(value, each.name) for each in fields(value))
    if isinstance(value, tuple):
        for each in value:
            yield from values_in(each)


def test_field_added_at_the_end_has_a_default() -> None:
    event = read('[1,"oak board",["absent",10.0,"Bert","troll","lost"]]')
    assert isinstance(event, Absent)
    assert event.since == event.at
    started = '"started",10.0,"Anna",1,"classic","Anna","Bert",true,[null,null],null,null,null'
    event = read(f'[1,"oak board",[{started}]]')
    assert isinstance(event, BattleStarted)
    assert event.first_move == 0


class TestSamples:
    @cases(("line", "value"), samples(SCHEMA))
    def test_samples_of_every_schema_are_decoded(self, line: str, value: str) -> None:
        stream, event = from_line(line)
        assert (stream, repr(event)) == ("oak board", value)

    @cases(("line", "value"), samples(SCHEMA))
    def test_encoding_matches_the_samples_of_the_schema(self, line: str, value: str) -> None:
        assert to_line(*from_line(line)) == line, f"read the first lines of {Path(__file__).name}"

    def test_sample_exists_for_every_event_class(self) -> None:
        there = {type(read(line)) for line, _ in samples(SCHEMA)}
        missing = [kind.__name__ for kind in KINDS if kind not in there]
        assert not missing, f"add samples to schema_{SCHEMA}.lines: {', '.join(missing)}"

    @pytest.mark.parametrize("names", [Side, Verb, Ending, Offer, Parting])
    def test_sample_exists_for_every_enum_value(self, names: type[Enum]) -> None:
        there = {
            value
            for line, _ in samples(SCHEMA)
            for value in values_in(read(line))
            if isinstance(value, names)
        }
        missing = [each.name for each in names if each not in there]
        assert not missing, f"add samples to schema_{SCHEMA}.lines: {', '.join(missing)}"


class TestRoundTrip:
    @given(st.text(), some_events)
    def test_event_survives_a_round_trip(self, stream: str, event: Event) -> None:
        again = from_line(to_line(stream, event))
        assert again == (stream, event)
        assert repr(again[1]) == repr(event), "what is not compared differs, such as a verb"

    @given(st.text(), some_events)
    def test_line_is_ascii_and_any_line_ending_is_accepted(self, stream: str, event: Event) -> None:
        line = to_line(stream, event)
        assert line.isascii()
        assert line.isprintable()
        assert from_line(f"{line}\r\n") == (stream, event)

    @given(some_events)
    def test_ply_is_decoded_alike_without_its_player(self, event: Event) -> None:
        text = to_text(to_array(event, lambda _: 7))
        ply = ply_from_text(SCHEMA, text)
        if isinstance(event, Moved):
            assert ply == (event.side, event.move, event.ply)
            assert repr(ply) == repr((event.side, event.move, event.ply))
        else:
            assert ply is None

    def test_integer_time_is_decoded_as_float(self) -> None:
        event = read(to_line("oak board", Joined(7, "Anna", Side.DWARF)))
        assert type(event.at) is float

    @pytest.mark.parametrize("at", [float("nan"), float("inf")])
    def test_non_finite_time_is_refused(self, at: float) -> None:
        event = Joined(0.0, "Anna", Side.DWARF)
        force_setattr(event, "at", at)  # the constructor rejects it
        with pytest.raises(ValueError, match="Out of range"):
            to_line("oak board", event)


class TestDamage:
    @given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
    def test_arbitrary_text_is_malformed(self, text: str) -> None:
        with pytest.raises(MalformedTextError):
            from_line(text)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_arbitrary_json_is_malformed(self, value: object) -> None:
        for each in (value, [value], [SCHEMA, "oak board", value]):
            with pytest.raises((MalformedTextError, NewerSchemaError)):
                from_line(json.dumps(each))

    @pytest.mark.parametrize(
        "text",
        [
            '["moved",7,"dwarf","dA6-B6",0]',
            '["moved",7,"dwarf","dA6-B6"]',
            '["moved",7,"dwarf","dA6-B6",1,2]',
            '["moved",7,"dwarf","dA6-B6",1.5]',
            '["moved","Anna","dwarf","dA6-B6",1]',
            '["moved",7,"troll","dA6-B6",1]',
            '["moved",7,"giant","dA6-B6",1]',
            '["moved",7,["dwarf"],"dA6-B6",1]',
            '["moved",7,"dwarf","dA6-A6",1]',
            '["moved",7,"dwarf","A6-B6",1]',
            '["moved",7,"dwarf","dA6-B6",1',
        ],
    )
    def test_malformed_ply_is_left_to_the_whole_decoder(self, text: str) -> None:
        assert ply_from_text(SCHEMA, text) is None

    def test_ply_of_another_schema_is_left_to_the_whole_decoder(self) -> None:
        assert ply_from_text(SCHEMA + 1, '["moved",7,"dwarf","dA6-B6",1]') is None

    @given(st.data())
    def test_altered_line_is_malformed_or_another_valid_event(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from([line for line, _ in samples(SCHEMA)]))
        place = data.draw(st.integers(0, len(line) - 1))
        changed = line[:place] + data.draw(st.characters(max_codepoint=127)) + line[place + 1 :]
        try:
            found = from_line(changed)
        except (MalformedTextError, NewerSchemaError):
            return
        assert from_line(to_line(*found)) == found

    @pytest.mark.parametrize(
        ("right", "wrong"),
        [
            ("moved", "hopped"),
            ("1.5", '"1.5"'),
            ("1.5", "true"),
            ("1.5", "NaN"),
            ("1.5", "1e999"),
            ("1.5", "null"),
            ('"Anna"', "null"),
            ('"Anna"', '["Anna"]'),
            ("dwarf", "elf"),
            ('"dwarf"', "[]"),
            ("dA6-B6", "dA6-B61"),
            ("dA6-B6", "dA1-B6"),
            ("dA6-B6", "dA6-B6xA1"),
            ("dA6-B6", "dA6-B6x"),
            ("dA6-B6", "XA6-B6"),
            ("dA6-B6", "dA6-B6 dB6-C6"),
            ('"dA6-B6"', "6"),
            ("12", "12.0"),
            ("12", "true"),
            (",12", ""),
            ("12", "12,13"),
            ("12]]", "12]]]"),
            ("12]]", "12]"),
            ("[", "[" * 100_000),
            ('"oak board"', "7"),
            ('"oak board"', '"\\ud800"'),
            ('"oak board",', ""),
        ],
    )
    def test_invalid_event_field_is_malformed(self, right: str, wrong: str) -> None:
        with pytest.raises(MalformedTextError, match="Not an event"):
            from_line(MOVED.replace(right, wrong))

    @pytest.mark.parametrize("line", [None, 7, MOVED.encode()])
    def test_line_of_another_type_is_malformed(self, line: Any) -> None:
        with pytest.raises(MalformedTextError, match="Not an event"):
            from_line(line)

    def test_newer_schema_is_refused(self) -> None:
        with pytest.raises(NewerSchemaError, match=f"schema {SCHEMA + 1}"):
            from_line(MOVED.replace(f"[{SCHEMA},", f"[{SCHEMA + 1},"))

    @pytest.mark.parametrize("schema", ["0", "-1", "true", "1.0", '"1"', "null"])
    def test_invalid_schema_number_is_malformed(self, schema: str) -> None:
        with pytest.raises(MalformedTextError):
            from_line(MOVED.replace(f"[{SCHEMA},", f"[{schema},"))


class TestTournaments:
    @pytest.mark.parametrize(
        ("event", "earlier"),
        [
            (RoundPaired(1.0, "", 3, 1, ("Anna", "Bert")), ["paired", 0, 3, 1, [1, 2]]),
            (
                TournamentLeft(1.0, "Bert", 3, TournamentLeaving.REMOVED),
                ["left tournament", 2, 3, "removed"],
            ),
            (
                PairingScored(1.0, "", 3, 1, 0, "Anna", "Bert", (BattleScore(32, 8, 40),)),
                ["pairing scored", 0, 3, 1, 0, 1, 2, ((32, 8, 40),), (False, False), True],
            ),
        ],
    )
    def test_event_stored_without_later_fields_is_decoded(
        self, event: StoredEvent, earlier: list[Any]
    ) -> None:
        names = ["", "Anna", "Bert"]
        assert codec.from_array(earlier, 1.0, names.__getitem__) == event
        assert codec.to_array(event, names.index)[: len(earlier)] == earlier

    def test_players_left_out_or_named_as_director_are_players_of_the_event(self) -> None:
        paired = RoundPaired(1.0, "", 3, 1, ("Anna", "Bert"), ("Carl",))
        assert {"Anna", "Bert", "Carl"} <= {*codec.players_of(paired)}
        left = TournamentLeft(1.0, "Bert", 3, TournamentLeaving.REMOVED, "Anna")
        assert {*codec.players_of(left)} == {"Bert", "Anna"}
