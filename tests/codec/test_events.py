"""Events survive being stored: those of today, and those of every schema there ever was.

`schema_N.events` holds, for each kind of event, texts that were stored by schema N, each followed
by what it is to be read as. These texts stay as they are for ever. When an event changes:

1. raise `SCHEMA`, and add a step to `UPGRADES` that makes an array of the new schema of an old one;
2. add samples of the new schema, `schema_N.events`, and a journal, `schema_N.journal` (see
   `tests/journal/test_old_journals.py`);
3. in the files of earlier schemas change nothing but what the texts are read as.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.codec.generated import KINDS, some_events
from thudmud.codec.events import SCHEMA, UPGRADES, Misread, TooNew, decode, encode
from thudmud.play.events import Event, Joined, Offer, Parting
from thudmud.rules import Ending, Side, Verb

HERE = Path(__file__).parent


def samples(schema: int) -> list[tuple[str, str]]:
    """Return the texts that were stored by a schema, and what they are to be read as."""
    lines = (HERE / f"schema_{schema}.events").read_text("utf-8").splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


ALL_SAMPLES = [(schema, *pair) for schema in range(1, SCHEMA + 1) for pair in samples(schema)]
MOVED = '["moved",1.5,"Anna","dwarf","dA6-B6",12]'


def values_in(value: object) -> Iterator[object]:
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from values_in(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from values_in(each)


class TestSamples:
    @pytest.mark.parametrize(("schema", "text", "value"), ALL_SAMPLES)
    def test_what_was_ever_stored_is_read_as_it_was_meant(
        self, schema: int, text: str, value: str
    ) -> None:
        assert repr(decode(schema, text)) == value

    @pytest.mark.parametrize(("text", "_value"), samples(SCHEMA))
    def test_what_is_stored_now_is_stored_as_the_samples_are(self, text: str, _value: str) -> None:
        assert encode(decode(SCHEMA, text)) == text, (
            f"read the first lines of {Path(__file__).name}"
        )

    def test_every_kind_of_event_has_a_sample(self) -> None:
        there = {type(decode(SCHEMA, text)) for text, _ in samples(SCHEMA)}
        missing = [kind.__name__ for kind in KINDS if kind not in there]
        assert not missing, f"add samples to schema_{SCHEMA}.events: {', '.join(missing)}"

    @pytest.mark.parametrize("names", [Side, Verb, Ending, Offer, Parting])
    def test_every_name_of_a_few_has_a_sample(self, names: type[Enum]) -> None:
        there = {
            value
            for text, _ in samples(SCHEMA)
            for value in values_in(decode(SCHEMA, text))
            if isinstance(value, names)
        }
        missing = [each.name for each in names if each not in there]
        assert not missing, f"add samples to schema_{SCHEMA}.events: {', '.join(missing)}"

    def test_every_earlier_schema_has_a_step_to_the_next(self) -> None:
        assert set(UPGRADES) == set(range(1, SCHEMA))


class TestRoundTrip:
    @given(some_events)
    def test_every_event_is_read_as_it_was(self, event: Event) -> None:
        again = decode(SCHEMA, encode(event))
        assert again == event
        assert repr(again) == repr(event), "what is not compared differs, such as a verb"

    @given(some_events)
    def test_a_text_is_one_line_of_ascii(self, event: Event) -> None:
        text = encode(event)
        assert text.isascii()
        assert text.isprintable()

    def test_a_whole_number_of_seconds_is_a_number_of_seconds(self) -> None:
        event = decode(SCHEMA, encode(Joined(7, "Anna", Side.DWARF)))
        assert type(event.at) is float

    @pytest.mark.parametrize("at", [float("nan"), float("inf")])
    def test_a_time_that_is_none_is_not_stored(self, at: float) -> None:
        event = Joined(0.0, "Anna", Side.DWARF)
        object.__setattr__(event, "at", at)  # none can be made so
        with pytest.raises(ValueError, match="finite"):
            encode(event)


class TestDamage:
    @given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
    def test_any_other_text_is_damaged(self, text: str) -> None:
        with pytest.raises(Misread):
            decode(SCHEMA, text)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_any_other_json_is_damaged(self, value: object) -> None:
        with pytest.raises(Misread):
            decode(SCHEMA, json.dumps(value))

    @given(st.data())
    def test_a_changed_text_is_damaged_or_another_event(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from([text for text, _ in samples(SCHEMA)]))
        place = data.draw(st.integers(0, len(text) - 1))
        changed = text[:place] + data.draw(st.characters(max_codepoint=127)) + text[place + 1 :]
        try:
            event = decode(SCHEMA, changed)
        except Misread:
            return
        assert decode(SCHEMA, encode(event)) == event

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
            ("]", "]]"),
            ("[", "[" * 100_000),
        ],
    )
    def test_what_is_not_an_event_is_damaged(self, right: str, wrong: str) -> None:
        with pytest.raises(Misread, match="This is not an event"):
            decode(SCHEMA, MOVED.replace(right, wrong))

    def test_a_schema_of_the_future_is_unknown(self) -> None:
        with pytest.raises(TooNew, match=f"schema {SCHEMA + 1}"):
            decode(SCHEMA + 1, MOVED)

    @pytest.mark.parametrize("schema", [0, -1])
    def test_a_schema_that_never_was_is_damaged(self, schema: int) -> None:
        with pytest.raises(Misread):
            decode(schema, MOVED)
