"""A house replayed from its events equals the house in which they happened."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.house.plays import (
    BEGUN,
    BOARDS,
    DEEDS,
    GONE,
    IMPORTED,
    NAMES,
    PLAYS,
    RICH_DEEDS,
    TERMINALS,
    do,
    everything,
    house_of,
    kept,
    rich_house,
    seated,
    told,
)
from thudmud import BoardSpec, House, Message, Options
from thudmud.errors import InvalidValueError
from thudmud.features.playing.moves import Resign
from thudmud.game.archive import BattleLookup, HistoryLookup, ScoreLookup
from thudmud.game.command import Command
from thudmud.game.events import BattleId, Cleared, Joined, Moved, Returned
from thudmud.game.options import Profile
from thudmud.rules import Move, Piece, Side, Square
from thudmud.store.codec import SCHEMA, MalformedTextError, NewerSchemaError, to_line
from thudmud.values import replace

Deed = tuple[str, str]
PUT_AWAY = [*BEGUN, ("Anna", "7"), ("Anna", "adjourn"), ("Bert", "adjourn")]


def played(*deeds: Deed) -> House:
    house = house_of(10.0)
    for now, (name, deed) in enumerate(deeds, 1):
        do(house, name, deed, now)
    return house


def emptied(house: House, now: float) -> House:
    """Disconnect everybody from a house, and return it."""
    for name in house.people:
        house.depart(name, now)
    return house


def come(house: House, name: str, now: float) -> list[Message]:
    """Let a player enter with the styles and options of their account."""
    terminal, styles = TERMINALS[NAMES.index(name)], {each.name: each.style for each in BOARDS}
    return house.enter(name, now, terminal, profile=Profile(styles=styles, options=Options()))


def texts(messages: list[Any]) -> str:
    return "\n".join(message.text for message in messages)


class TestMadeAgain:
    @examples(40)
    @given(
        st.sampled_from([[], BEGUN, PUT_AWAY]),
        PLAYS,
        PLAYS,
        st.sampled_from([0.0, 300.0]),
        st.sampled_from([200, 2]),
    )
    def test_replayed_house_equals_the_original_and_stays_equal(
        self, begun: list[Deed], before: list[Deed], after: list[Deed], grace: float, quiet: int
    ) -> None:
        house = house_of(grace, quiet)
        for now, (name, deed) in enumerate([*begun, *before]):
            do(house, name, deed, now)
        again = kept(emptied(house, 99.0))
        assert everything(again) == everything(house)
        for name in NAMES:
            assert come(again, name, 100.0) == come(house, name, 100.0)
        for now, (name, deed) in enumerate(after, 101):
            assert do(again, name, deed, now) == do(house, name, deed, now)
        assert everything(again) == everything(house)

    def test_rich_house_is_replayed_completely(self) -> None:
        house = rich_house()
        again = kept(house)
        found = everything(again)
        assert found == everything(house)
        assert house.hall.missed
        assert all(house.look_up(BattleLookup(number)) for number in range(1, 6))
        assert house.look_up(ScoreLookup("Anna"))
        numbers = [table.match and table.match.number for table in again.hall.tables.values()]
        assert all(numbers)
        assert again.people == ()

    def test_prefix_of_events_restores_the_state_of_that_moment(self) -> None:
        """Every prefix can be loaded; those that end with an action are compared."""
        house, then = house_of(10.0), {}
        for now, (name, deed) in enumerate(RICH_DEEDS, 1):
            do(house, name, deed, now)
            tables, battles = dict(house.hall.tables), house.look_up(HistoryLookup(None))
            then[len(house.events())] = tables, battles
        lines = house.events()
        assert len(then) > 20
        for count in range(len(lines) + 1):
            again = House(BOARDS, 200, 10.0, lines[:count])
            assert again.events() == lines[:count]
            if count in then:
                found = again.look_up(HistoryLookup(None))
                assert (dict(again.hall.tables), found) == then[count]

    def test_seated_player_returns_to_the_seat_after_a_replay(self) -> None:
        again = kept(emptied(played(*BEGUN, ("Anna", "7")), 9.0))
        seen = told(again.enter("Bert", 10.0))["Bert"]
        assert seen.startswith("You're back at the oak board, playing the trolls.")
        assert again.hall.tables["oak board"].away == {Side.DWARF: 9.0}

    def test_returning_player_is_shown_missed_events_after_a_replay(self) -> None:
        house = played(*BEGUN, ("Bert", GONE), ("Anna", "7"))
        again = kept(house)
        again.enter("Anna", 19.0)
        seen = texts(again.enter("Bert", 20.0))
        assert "What happened at the oak board while you were away:\nAnna moves" in seen

    def test_battles_of_removed_boards_can_still_be_replayed(self) -> None:
        house = played(*BEGUN, ("Anna", "7"), ("Bert", "resign on it"), ("Bert", "yes"))
        again = House([BoardSpec("ivory board")], events=house.events())
        again.enter("Anna", 50.0)
        assert again.hall.tables.seats_of("Anna") == []
        assert "1 move to come:" in texts(again.obey("Anna", "replay 1", 50.0))
        again.obey("Anna", "join game as dwarf on ivory board", 51.0)
        assert again.events(len(house.events())) == again.events()[-1:]
        assert kept(again).events() == again.events()

    def test_boards_are_matched_by_key_rather_than_name(self) -> None:
        house = played(*BEGUN)
        boards = [BoardSpec("oak board", key="new"), BoardSpec("elm board", key="oak board")]
        again = House(boards, events=house.events())
        assert seated(again, "elm board") == ("Anna", "Bert")
        assert seated(again, "oak board") == ()

    def test_replayed_house_shares_no_state_with_the_original(self) -> None:
        house = played(*BEGUN)
        before = everything(house)
        again = kept(house)
        do(again, "Anna", "join game as dwarf on elm table", 50.0)
        assert everything(house) == before

    def test_import_dated_in_the_future_does_not_advance_the_clock(self) -> None:
        imported = replace(IMPORTED, at=IMPORTED.at + 1e9)
        again = House(BOARDS, events=[to_line("(imports)", imported)])
        again.enter("Anna", 5.0)
        again.obey("Anna", "join game as dwarf on oak board", 6)
        assert again.events(1) == [to_line("oak board", Joined(6.0, "Anna", Side.DWARF))]


class TestEvents:
    def test_new_house_has_no_events(self) -> None:
        assert house_of().events() == []

    def test_events_are_ascii_lines_in_chronological_order(self) -> None:
        lines = played(*BEGUN).events()
        assert lines == [
            '[1,"oak board",["joined",1.0,"Anna","dwarf",null]]',
            '[1,"oak board",["joined",2.0,"Bert","troll",null]]',
            '[1,"oak board",["started",3.0,"Anna",1,"discworld","Anna","Bert",true,[null,null],'
            "null,null,null,0.0]]",
        ]

    def test_events_after_an_offset_are_the_tail(self) -> None:
        """An adjourned match is stored twice but exported once."""
        house = rich_house()
        lines = house.events()
        assert sum('"adjourned"' in line for line in lines) == 1
        for after in range(len(lines) + 3):
            assert house.events(after) == lines[after:]

    def test_events_after_a_negative_offset_are_rejected(self) -> None:
        with pytest.raises(
            InvalidValueError, match="expected a non-negative number of events, got -1"
        ):
            house_of().events(-1)

    def test_talk_and_looking_leave_no_events(self) -> None:
        house = played(("Anna", "say hello"), ("Anna", "look"), ("Anna", "go to oak"))
        assert house.events() == []

    @given(PLAYS)
    def test_events_fetched_incrementally_equal_the_whole(self, deeds: list[Deed]) -> None:
        house = house_of()
        lines: list[str] = []
        for now, (name, deed) in enumerate([*PUT_AWAY, *deeds]):
            do(house, name, deed, now)
            lines += house.events(len(lines))
        assert lines == house.events()


class TestSettling:
    def test_settle_marks_seated_players_not_yet_back_as_away(self) -> None:
        again = kept(played(*BEGUN))
        again.enter("Anna", 9.0)
        messages = again.mark_absent_players(10.0)
        assert again.hall.tables["oak board"].away == {Side.TROLL: 10.0}
        assert [message.to for message in messages] == [("Anna",)]
        assert texts(messages).startswith("The server was down for a while. The troll seat")
        assert again.mark_absent_players(11.0) == []
        assert again.events()[-1] == '[1,"oak board",["absent",10.0,"Bert","troll","restart",0.0]]'

    def test_settle_marks_absences_at_every_board(self) -> None:
        house = played(*BEGUN, ("Carla", "join game as dwarf on elm table"))
        again = kept(house)
        again.mark_absent_players(10.0)
        assert [len(table.away) for table in again.hall.tables.values()] == [2, 1]

    def test_settle_keeps_the_start_of_an_earlier_absence(self) -> None:
        house = played(*BEGUN, ("Bert", GONE))
        again = kept(house)
        again.mark_absent_players(100.0)
        assert again.hall.tables["oak board"].away == {Side.DWARF: 100.0, Side.TROLL: 4.0}

    def test_settle_with_everybody_present_does_nothing(self) -> None:
        house = played(*BEGUN)
        assert house.mark_absent_players(9.0) == []
        with pytest.raises(ValueError, match="expected a time in seconds"):
            house.mark_absent_players(-1.0)


class TestLookingUp:
    def test_history_is_paged_and_ignores_the_case_of_names(self) -> None:
        house = played(*BEGUN)
        for number in range(22):
            for name, line in (("Anna", "resign on it"), ("Anna", "yes"), ("Anna", "start")):
                do(house, name, line, 10.0 + number)
            do(house, "Bert", "start", 10.0 + number)  # each battle needs both
        for asked in ("history anna", "history BERT", "history all"):
            numbers = []
            for page in (1, 2):
                lines = texts(house.obey("Carla", f"{asked} page {page}", 99.0)).split("\n")
                numbers += [int(each[1]) for line in lines if (each := ENTRY.match(line))]
            assert numbers == list(range(23, 0, -1)), asked

    def test_match_end_reports_rating_changes_to_both_players(self) -> None:
        house = House([BoardSpec("oak board")])
        for name in ("Anna", "Bert"):
            house.enter(name, 1.0, member=True)
        lines = [("Anna", "join game as dwarf"), ("Bert", "join game as troll"), ("Anna", "start")]
        lines += [(name.replace("other", "Bert"), line) for name, line in PLIES]
        resign = Resign("oak board")
        deeds: list[tuple[str, str | Command]]
        deeds = [(name, f"{line} on oak board") for name, line in lines]
        for name, command in [*deeds, ("Anna", resign), ("Anna", "start"), ("Bert", "start")]:
            seen = texts(house.obey(name, command, 2.0))
            assert "rating" not in seen
        told_both = told(house.obey("Anna", resign, 3.0))
        anna, bert = (told_both[name].replace("\n", " ") for name in ("Anna", "Bert"))
        mine, theirs = "rating 1500 -> 1421?", "rating 1500 -> 1579?"
        assert f"Discworld, untimed: your {mine}; Bert's {theirs}." in anna
        assert f"Discworld, untimed: your {theirs}; Anna's {mine}." in bert
        ranking = texts(house.obey("Anna", "standings", 4.0))
        assert "Yours is provisional: 1421?" in ranking

    def test_battle_lookup_returns_the_game_or_none(self) -> None:
        house = played(*BEGUN, ("Anna", "7"))
        found = house.look_up(BattleLookup(1))
        assert found
        assert found.game == house.game("oak board")
        assert found.battle.id == BattleId("oak board", 3)
        assert house.look_up(BattleLookup(2)) is None


RICH = rich_house().events()
GOOD = played(*PUT_AWAY, ("Anna", "join game as troll on elm table")).events()
OAK, ELM = "oak board", "elm table"
A6_B6 = Move(Piece.DWARF, Square.parse("A6"), Square.parse("B6"))
G7_G6 = Move(Piece.TROLL, Square.parse("G7"), Square.parse("G6"))


def moved(move: Move, ply: int, board: str = OAK) -> str:
    return to_line(board, Moved(9.0, "Anna", move.piece.side or Side.DWARF, move, ply))


BEGUN_LINES = played(*BEGUN).events()
JOINED, JOINED_TOO, STARTED = BEGUN_LINES
AWAY = next(line for line in GOOD if '"adjourned"' in line)
BACK = AWAY.replace("adjourned", "resumed")
ENDED = next(line for line in RICH if '"ended"' in line)
WRONG: list[tuple[list[str], str]] = [
    ([moved(A6_B6, 1)], "'oak board', event 1: no battle has begun"),
    ([*BEGUN_LINES, moved(A6_B6, 2)], "event 4: expected ply 1, got ply 2"),
    ([*BEGUN_LINES, moved(A6_B6, 1), moved(A6_B6, 1)], "event 5: expected ply 2, got ply 1"),
    ([*BEGUN_LINES, moved(G7_G6, 1)], "event 4: "),
    ([*BEGUN_LINES, moved(replace(A6_B6, target=Square.parse("H8")), 1)], "event 4: "),
    ([*BEGUN_LINES, moved(replace(A6_B6, captures=(Square.parse("G7"),)), 1)], "event 4: "),
    ([JOINED, JOINED], "event 2: Anna has a seat"),
    (
        [JOINED, JOINED.replace("Anna", "Bert")],
        "event 2: Bert has a seat, or the dwarf seat is taken",
    ),
    ([JOINED, JOINED.replace("dwarf", "troll")], "event 2: Anna has a seat"),
    ([JOINED, STARTED], "event 2: the players aren't those in the seats"),
    ([*BEGUN_LINES[:2], STARTED.replace(",1,", ",2,")], "battle 2 of a match can't begin now"),
    ([*BEGUN_LINES, ENDED], "event 4: the end doesn't fit the battle"),
    ([to_line(OAK, Returned(1.0, "Carla", Side.DWARF))], "Carla doesn't have the dwarf seat"),
    ([*BEGUN_LINES, AWAY], "event 4: the adjourned match isn't the one at the board"),
    ([AWAY], "event 1: the adjourned match isn't the one at the board"),
    ([BACK], "event 1: the match is not adjourned"),
    ([*GOOD, BACK, BACK.replace(OAK, ELM, 1)], "the match is not adjourned"),
    ([*BEGUN_LINES, '[1,"oak board",["rules",9.0,"Anna","classic"]]'], "a match is under way"),
    (['[1,"oak board",["offered",9.0,"Anna","end"]]'], "Anna has no seat"),
    ([JOINED, to_line(OAK, IMPORTED)], "event 2: it was played elsewhere"),
    ([to_line("x", replace(IMPORTED, record="dA6-B6"))], "'x', event 1: "),
    ([to_line("hall", Cleared(9.0, "Anna"))], "'hall', event 1: it does not belong to a board"),
    ([to_line("(match) oak board 3", Cleared(9.0, "Anna"))], "it does not belong to a board"),
    ([to_line("a/b", Cleared(9.0, "Anna"))], "it does not belong to a board"),
]


def lose(lines: list[str], place: int, _other: int) -> None:
    del lines[place]


def double(lines: list[str], place: int, _other: int) -> None:
    lines.insert(place, lines[place])


def swap(lines: list[str], place: int, other: int) -> None:
    lines[place], lines[other] = lines[other], lines[place]


def mix(lines: list[str], place: int, other: int) -> None:
    """Replace a value of one line with one from another."""
    values, others = json.loads(lines[place]), json.loads(lines[other])
    at = 1 + other % (len(values[2]) - 1)
    values[2][at] = others[2][min(at, len(others[2]) - 1)]
    lines[place] = json.dumps(values)


def change(lines: list[str], place: int, other: int) -> None:
    line = lines[place]
    at = other * 7 % len(line)
    lines[place] = f"{line[:at]}{'AGdT17,x'[other % 8]}{line[at + 1 :]}"


DAMAGE: list[Callable[[list[str], int, int], None]] = [lose, double, swap, mix, change]
LINES = [
    "look", "boards", "who", "games", "history", "standings", "score", "view game", "view possible",
    "join game as troll on oak board", "replay 1", "next", "replay 2", "play", "start on it",
    "record 1", "record 2", "no on oak board", "undo on oak board", "resume game", "quit",
]  # fmt: skip


class TestDamage:
    @pytest.mark.parametrize(
        "line",
        ["", "\n", "nonsense", "[]", "{}", "7", JOINED[:-1], JOINED[:20], f"{JOINED}{JOINED}",
         JOINED.replace("joined", "hopped"), JOINED.replace(f"[{SCHEMA},", "[0,")],
    )  # fmt: skip
    def test_malformed_event_lines_are_rejected(self, line: str) -> None:
        with pytest.raises(MalformedTextError, match="Not an event"):
            House(BOARDS, events=[JOINED, line])

    def test_events_of_a_newer_schema_are_rejected(self) -> None:
        with pytest.raises(NewerSchemaError, match=f"schema {SCHEMA + 1}, but this version"):
            House(BOARDS, events=[JOINED.replace(f"[{SCHEMA},", f"[{SCHEMA + 1},")])

    @pytest.mark.parametrize(("lines", "problem"), WRONG)
    def test_inconsistent_events_are_rejected_with_their_position(
        self, lines: list[str], problem: str
    ) -> None:
        words = f"the events do not fit together: .*{re.escape(problem)}"
        with pytest.raises(InvalidValueError, match=words):
            House(BOARDS, events=lines)
        if "elm table" not in str(lines):
            with pytest.raises(InvalidValueError, match=words):  # whether or not the board exists
                House([BoardSpec("ivory board")], events=lines)

    def test_consistent_events_are_accepted(self) -> None:
        assert House(BOARDS, events=[f"{line}\n" for line in GOOD]).events() == GOOD
        assert seated(House(BOARDS, events=[*GOOD, BACK]), OAK) == ("Anna", "Bert")

    @examples(50)
    @given(st.data())
    def test_damaged_lines_are_rejected_or_yield_a_working_house(self, data: st.DataObject) -> None:
        lines = list(RICH)
        for _ in range(data.draw(st.integers(1, 3))):
            places = st.integers(0, len(lines) - 1)
            data.draw(st.sampled_from(DAMAGE))(lines, data.draw(places), data.draw(places))
            try:
                house = House(BOARDS, 200, 10.0, lines)
            except (MalformedTextError, NewerSchemaError, InvalidValueError):
                return
        assert everything(kept(house)) == everything(house)
        for name in seated(house, OAK) + seated(house, ELM):
            if name not in house:
                house.enter(name, 200.0)
        for now, line in enumerate(LINES, 201):
            for name in NAMES:
                with suppress(ValueError):  # the name is taken in another spelling
                    do(house, name, line, now)
        for now, (name, deed) in enumerate(data.draw(st.lists(DEEDS, max_size=5)), 300):
            with suppress(ValueError):
                do(house, name, deed, now)
        assert everything(kept(house)) == everything(house)


PLIES = [
    ("Anna", "move a6 b6"), ("other", "move g7 g6"), ("Anna", "move b6 a6"),
    ("other", "move g6 g7"), ("Anna", "move a6 b6"), ("other", "move g7 g6"),
]  # fmt: skip
ENTRY = re.compile(r" *(\d+)\. ")
