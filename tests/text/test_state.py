"""The state of a house: nothing is lost by keeping it, and what is no state is not gone on with.

`house_N.state` is a state that was kept by the version whose form was N. It stays as it is for
ever. When the form changes, raise `VERSION`, add a step to `UPGRADES`, and a file of the new form:
run this module as a script, ``python -m tests.text.test_state``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.plays import BEGUN, DEEDS, GONE, NAMES, PLAYS, do, house_of, rich_house
from thudmud import BoardSpec, House, Message, StateError
from thudmud.text.state import UPGRADES, VERSION

HERE = Path(__file__).parent
Deed = tuple[str, str]


def kept(house: House) -> House:
    """Return the house that is made again of what was kept, by somebody who sorts keys."""
    return House.from_state(json.loads(json.dumps(house.state(), sort_keys=True)))


def everything(house: House) -> dict[str, object]:
    """Return all that a house has in it."""
    hall, archive = house.hall, house.hall.archive
    return {
        "tables": hall.tables,
        "people": list(hall.people.items()),
        "missed": hall.missed,
        "games": list(hall.games.items()),
        "battles": archive.battles,
        "ended": archive.ended,
        "adjourned": list(archive.adjourned.items()),
        "players": {name: archive.of(name) for name in NAMES},
        "ranked": hall.standings.ranked(),
        "scores": {name: hall.standings.score(name) for name in NAMES},
    }


SEAT_LOST: list[list[Deed]] = [
    [*BEGUN, ("Anna", "1"), ("Bert", GONE), ("Anna", "adjourn")],
    [*BEGUN[:2], ("Bert", GONE), ("Carla", "join game as troll on oak board")],
]
"""By what others do, somebody loses the troll seat who has been away for long."""


def house_without_a_seat_for_bert(deeds: list[Deed]) -> House:
    house = house_of(seat_grace=10.0)
    for number, (name, deed) in enumerate(deeds[:-1]):
        do(house, name, deed, float(number))
    assert list(house.hall.left) == ["Bert"]
    do(house, *deeds[-1], 50.0)
    assert "Bert" not in house.hall.tables["oak board"].seats.values()
    return house


class TestKeeping:
    @settings(max_examples=150)
    @given(
        st.sampled_from([[], BEGUN]),
        PLAYS,
        PLAYS,
        st.sampled_from([0.0, 300.0]),
        st.sampled_from([(200, 100), (1, 1), (2, 0)]),
    )
    def test_who_goes_on_with_it_is_told_the_same(
        self,
        begun: list[Deed],
        before: list[Deed],
        after: list[Deed],
        seat_grace: float,
        limits: tuple[int, int],
    ) -> None:
        house = house_of(seat_grace, *limits)
        for now, (name, deed) in enumerate([*begun, *before]):
            do(house, name, deed, now)
        again = kept(house)
        assert again.state() == house.state()
        assert everything(again) == everything(house)
        for now, (name, deed) in enumerate(after, 100):
            assert do(again, name, deed, now) == do(house, name, deed, now)
        assert again.state() == house.state()
        assert kept(again).state() == house.state()

    def test_a_house_with_something_of_everything_is_kept_whole(self) -> None:
        house = rich_house()
        state = house.state()
        parts = [state["hall"], state["hall"]["archive"]]
        assert [key for part in parts for key, value in part.items() if not value] == []
        assert everything(kept(house)) == everything(house)

    def test_who_is_back_is_told_what_they_have_missed(self) -> None:
        house = rich_house()
        again = kept(house)
        told = house.enter("Bert", 99.0)
        assert "meanwhile" in texts(told)
        assert again.enter("Bert", 99.0) == told

    @pytest.mark.parametrize("deeds", SEAT_LOST)
    def test_who_has_lost_the_seat_while_away_is_forgotten(self, deeds: list[Deed]) -> None:
        house = house_without_a_seat_for_bert(deeds)
        assert house.state()["hall"]["left"] == []
        again = kept(house)
        assert again.state() == house.state()
        assert again.enter("Bert", 99.0) == house.enter("Bert", 99.0)

    @pytest.mark.parametrize("deeds", SEAT_LOST)
    def test_a_state_that_still_has_them_is_gone_on_with(self, deeds: list[Deed]) -> None:
        house = house_without_a_seat_for_bert(deeds)
        state = house.state()
        bert = next(each for each in rich_house().state()["hall"]["left"] if each["name"] == "Bert")
        state["hall"]["left"].append(bert)
        assert House.from_state(state).state() == house.state()

    def test_a_house_that_nobody_has_come_to_is_kept(self) -> None:
        house = House([BoardSpec("board")])
        assert kept(house).state() == house.state()

    def test_a_state_is_ones_own(self) -> None:
        house = house_of()
        state = house.state()
        before = copy.deepcopy(state)
        for number, (name, line) in enumerate(BEGUN):
            do(house, name, line, float(number))
        assert state == before
        House.from_state(state)
        assert state == before

    def test_who_makes_a_house_of_a_kind_of_their_own_gets_one(self) -> None:
        class Furniture(House):
            pass

        assert type(Furniture.from_state(Furniture([BoardSpec("board")]).state())) is Furniture

    def test_each_line_of_play_is_kept_once(self) -> None:
        house = house_of()
        for number, (name, line) in enumerate([*BEGUN, *[("Anna", "9")] * 10]):
            do(house, name, line, float(number))
        house.depart("Bert", 20.0)
        for number in range(20):
            do(house, "Anna", ["undo", "no"][number % 2], 21.0 + number)
        state = house.state()["hall"]
        (missed,) = state["missed"]
        assert len(missed["events"]) == 20
        (line,) = state["lines"]
        assert len(line["moves"].split()) == 10


Place = tuple[Any, Any]
"""A list or a dict, and the index or the key of something in it."""


def places(value: Any) -> Iterator[Place]:
    keys: Any = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from places(value[key])


def names_in(value: Any) -> set[str]:
    return {name for _, name in places(value) if isinstance(name, str)}


FORMS = range(1, VERSION + 1)


def sample(form: int) -> Any:
    return json.loads((HERE / f"house_{form}.state").read_text("ascii"))


class TestEarlierForms:
    @pytest.mark.parametrize("form", FORMS)
    def test_all_of_them_are_read_as_the_same_house(self, form: int) -> None:
        house, latest = (House.from_state(sample(each)) for each in (form, VERSION))
        assert everything(house) == everything(latest)

    def test_what_is_kept_now_is_kept_as_the_sample_is(self) -> None:
        state = sample(VERSION)
        assert House.from_state(state).state() == state, "read the first lines of this test"

    def test_the_sample_has_something_of_everything(self) -> None:
        assert names_in(sample(VERSION)) == names_in(rich_house().state())

    def test_every_earlier_form_has_a_step_to_the_next(self) -> None:
        assert set(UPGRADES) == set(range(1, VERSION))


def texts(messages: list[Message]) -> str:
    return "\n".join(message.text for message in messages)


RICH = json.dumps(rich_house().state())
OTHERS: list[Any] = [
    None, True, 0, 1, 2, 9, -1, 1.5, 10**30, "", "x", "Anna", "Carla", "dwarf", "troll", "classic",
    "koom valley", "oak board", "elm table", "dE2-I2", "dA6-B6", [], {}, [[]], ["Anna"], [1, 1],
]  # fmt: skip


def put_another(place: Place, other: Any) -> None:
    place[0][place[1]] = copy.deepcopy(other)  # what is put in may be damaged next


def take_out(place: Place, _other: Any) -> None:
    del place[0][place[1]]


def double(place: Place, _other: Any) -> None:
    container, key = place
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    else:
        container[f"{key} again"] = container[key]


def swap(place: Place, _other: Any) -> None:
    container, key = place
    keys = list(container) if isinstance(container, dict) else range(len(container))
    for each in keys:
        container[each], container[key] = container[key], container[each]


DAMAGE: list[Callable[[Place, Any], None]] = [put_another, take_out, double, swap]
LINES = [
    "look", "boards", "who", "games", "history", "standings", "score", "next", "back", "view game",
    "view possible", "join game as troll on oak board", "replay 1", "replay 2", "play",
    "start on it", "record 1", "no on oak board", "undo on oak board", "resume game 3", "quit",
]  # fmt: skip


class TestDamage:
    @settings(max_examples=400)
    @given(st.data())
    def test_a_changed_state_is_none_or_one_that_a_house_can_be_in(
        self, data: st.DataObject
    ) -> None:
        state = json.loads(RICH)
        for _ in range(data.draw(st.integers(1, 3))):
            place = data.draw(st.sampled_from(list(places(state))))
            data.draw(st.sampled_from(DAMAGE))(place, data.draw(st.sampled_from(OTHERS)))
        try:
            house = House.from_state(state)
        except StateError:
            return
        assert house.state() == kept(house).state()
        for now, line in enumerate(LINES):
            for name in ("Anna", "Bert", "Carla"):
                do(house, name, line, float(now))
        for now, (name, deed) in enumerate(data.draw(st.lists(DEEDS, max_size=5)), 100):
            do(house, name, deed, now)
        assert house.state() == kept(house).state()

    def test_a_battle_that_was_seen_to_its_end_does_not_go_on_by_itself(self) -> None:
        state = json.loads(RICH)
        state["hall"]["people"][0]["replay"] |= {"ply": 2, "playing": True}
        with pytest.raises(StateError, match="no such ply to be seen"):
            House.from_state(state)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_other_json_is_none(self, value: Any) -> None:
        with pytest.raises(StateError, match="not the state of a house"):
            House.from_state(value)

    @pytest.mark.parametrize("end", range(0, len(RICH), 611))
    def test_half_a_text_is_no_json(self, end: int) -> None:
        with pytest.raises(json.JSONDecodeError):
            json.loads(RICH[:end])

    @pytest.mark.parametrize(
        ("path", "value", "problem"),
        [
            (["version"], None, '"version" is None'),
            (["version"], 0, '"version" is 0'),
            (["version"], True, '"version" is True'),
            (["version"], VERSION + 1, "A later version of thudmud"),
            (["events"], 2, "A later version of thudmud"),
            (["events"], "1", "\"events\" is '1'"),
            (["thudmud"], "table", "not the state of a house"),
            (["hall"], [], r"hall: \[\] should be dict"),
            (["more"], 1, "'more' is too much"),
            (["hall", "boards"], [], "boards need names"),
            (["hall", "boards", 0, "rules"], "chess", "there are no 'chess' rules"),
            (["hall", "seat_grace"], "long", "hall, seat_grace: 'long' should be a number"),
            (["hall", "lines", 0, "moves"], "dL3-L3", "is no move"),
            (["hall", "lines", 0, "moves"], "dL3-J3", "plies of a battle are missing"),
            (["hall", "lines", 2, "record"], "dF1", "one R"),
            (["hall", "tables", 0, "seats", 0, 1], "Bert", "two players at the oak board"),
            (["hall", "tables", 1, "match"], None, "the battle at the elm table is another one"),
            (["hall", "people", 0, "name"], "An\nna", "cannot be anybody's name"),
            (["hall", "people", 0, "room"], "kitchen", "there is no 'kitchen'"),
            (["hall", "people", 0, "options", "width"], 5, "and not 5"),
            (["hall", "people", 0, "options", "scheme"], "neon", "scheme: 'neon' is none of those"),
            (["hall", "archive", "ended"], [3], "battle 3 has not ended"),
            (["hall", "missed", 0, "events", 0, 0, 0], "hopped", "This is not an event"),
            (["hall", "archive", "battles", 0, 2], 1e30, "is no time in seconds"),
            (["hall", "archive", "adjourned", 0, 1, "began", 1], 3, "battle 3 is another one"),
            (["hall", "tables", 0, "version"], 19, "out of order"),
            (["hall", "tables", 1, "version"], 7, "has not been yet"),
            (["hall", "people", 0, "replay", "ply"], 3, "no such ply to be seen"),
            (["hall", "people", 0, "replay", "number"], 9, "there was no battle 9"),
            (["hall", "games", 0, 1, "plies"], 1, "battle 1 is kept as another one"),
            (["hall", "games", 0, 1, "line"], 4, "battle 1 is kept as another one"),
            (["hall", "tables", 0, "match", "game", "plies"], 0, "no ply can be taken back"),
            (["terminals", 0, 1, "width"], 5, "no such terminal"),
            (["terminals", 0, 0], "Dora", "each player has a terminal"),
        ],
    )
    def test_what_is_wrong_is_said(self, path: list[Any], value: Any, problem: str) -> None:
        state = json.loads(RICH)
        inner = state
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        with pytest.raises(StateError, match=problem):
            House.from_state(state)


if __name__ == "__main__":
    (HERE / f"house_{VERSION}.state").write_text(json.dumps(rich_house().state(), indent=1) + "\n")
