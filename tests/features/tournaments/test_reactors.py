"""Unattended tournaments: rounds, boards, absences, pauses, restarts and several nodes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TypeVar

import pytest

from tests.service.place import refused, until
from tests.service.stores import SlowStore
from tests.service.test_clock_timers import TimedPlace
from thudmud.features.playing.moves import Resign, Start
from thudmud.features.tournaments import commands as tournaments
from thudmud.features.tournaments.commands import LONGEST_BY_CLOCK
from thudmud.features.tournaments.directing import COME_BACK, LATE, WAVE
from thudmud.features.tournaments.model import (
    ENDED_KEPT,
    OpenMatch,
    Tournament,
    TournamentLimits,
    TournamentLookup,
    TournamentRefusal,
    TournamentRegister,
    TournamentState,
)
from thudmud.features.tournaments.reactors import Director
from thudmud.game.clocks import DAY
from thudmud.game.events import (
    PairingBegun,
    PairingScored,
    Parting,
    RoundPaired,
    TournamentContinued,
    TournamentEnd,
    TournamentEnded,
    TournamentEvent,
    TournamentLeaving,
    TournamentLeft,
)
from thudmud.game.people import BotLevel
from thudmud.game.projections import HALL
from thudmud.game.refusals import Refusal
from thudmud.game.sanctions import Order
from thudmud.rules import Side
from thudmud.service import Node
from thudmud.service.boards import close_board
from thudmud.store import battles as battle_rows

T = TypeVar("T", bound=TournamentEvent)

NAMES = ("Anna", "Bert", "Carl", "Dora")
SOON = "starts in 1 minute"


def director_of(place: TimedPlace) -> Director:
    """Return the tournament director of a place."""
    [director] = [each for each in place.service.reactors if isinstance(each, Director)]
    return director


class Cup(TimedPlace):
    """A place with tournaments whose matches end by resignation."""

    def __init__(self, store: SlowStore, node: Node | None = None) -> None:
        super().__init__(store, node)
        self.hall.set_limits(TournamentLimits(rest=60.0, grace=300.0))

    @property
    def one(self) -> Tournament:
        """The tournament announced last."""
        return self.hall.part(TournamentRegister).known[self.hall.part(TournamentRegister).last]

    async def announce(self, terms: str, *names: str, by: str = "Anna") -> None:
        """Announce a tournament and enter players."""
        await self.type(by, f"tournament new {terms}")
        for name in names:
            await self.type(name, f"enter {self.hall.part(TournamentRegister).last}")

    async def settled(self) -> None:
        """Wait until the director has no work left and no lock is held."""
        service, director = self.service, director_of(self)
        locks = service.presence.names, service.applier.locks
        await until(lambda: not (director.due or director.is_working or any(map(len, locks))))

    async def pass_by(self, seconds: float) -> None:
        """Advance the clock and wait until the work due is done."""
        self.wait(seconds)
        await self.settled()

    async def begin_round(self) -> None:
        """Advance to the next round and wait until its matches have boards."""
        await self.pass_by(61.0)
        await until(lambda: all(each.key for each in self.one.open.values()))
        await self.settled()

    async def resigns(self, *losers: str) -> None:
        """Resign both battles of the given players' matches."""
        for loser in losers:
            board = self.board(loser)
            await self.type(loser, Resign(board), Start(board), Resign(board))
        await self.settled()

    async def play_round(self) -> None:
        """Play all matches of a round; the alphabetically earlier player wins."""
        await self.begin_round()
        await self.resigns(*(max(each.players) for each in self.one.open.values()))

    async def of_hall(self, kind: type[T]) -> list[T]:
        """Return the hall's events of the given kind."""
        return [
            each.event for each in await self.store.read_stream(HALL) if type(each.event) is kind
        ]

    def match(self, player: str) -> OpenMatch:
        """Return a player's open match."""
        match = self.one.match_of(player)
        assert match
        return match

    def board(self, player: str) -> str:
        """Return the name of the board of a player's match."""
        table = self.hall.tables.with_key(self.match(player).key)
        assert table
        return table.name


@pytest.fixture
async def cup(store: SlowStore) -> Cup:
    place = Cup(store)
    await place.open()
    await place.enter(*NAMES, member=True)
    return place


def met(rounds: list[RoundPaired]) -> Counter[frozenset[str]]:
    """Return the number of times each two players were paired."""
    return Counter(frozenset(pair) for each in rounds for pair in each.pairs if pair[1])


async def test_ended_tournaments_are_kept_in_order_of_ending(cup: Cup) -> None:
    cup.hall.order = Order(operators=frozenset({"anna"}))
    for number in range(1, ENDED_KEPT + 2):
        await cup.announce(f"round robin 10+5 {SOON}")
        if number > 1:
            await cup.type("Anna", f"cancel tournament {number}")
    told = await cup.type("Anna", "cancel tournament 1")
    assert told.startswith("You cancel tournament 1.")
    assert [*cup.hall.part(TournamentRegister).known] == [*range(3, ENDED_KEPT + 2), 1]


async def test_round_robin_runs_unattended_to_its_end(cup: Cup) -> None:
    await cup.announce(f'round robin 10+5 classic "Thursday" {SOON}', *NAMES)
    assert cup.one.state is TournamentState.OPEN
    for _ in range(3):
        await cup.play_round()
    await cup.pass_by(61.0)
    end = cup.one.end
    assert end
    assert (end.why, end.players, end.places) == (TournamentEnd.OVER, NAMES, (1, 2, 3, 4))
    pairs = met(await cup.of_hall(RoundPaired))
    assert pairs == {frozenset(pair): 1 for pair in combinations(NAMES, 2)}
    assert len(await cup.of_hall(PairingBegun)) == 6
    assert len(await cup.of_hall(PairingScored)) == 12
    battles = await cup.store.read(battle_rows.history, None, most=100)
    assert len(battles) == 12
    assert {each.event for each in battles} == {"Thursday"}
    assert Counter(each.tournament.round for each in battles if each.tournament) == {
        1: 4, 2: 4, 3: 4
    }  # fmt: skip


async def test_round_start_moves_players_and_names_their_opponents(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", *NAMES)
    cup.told.clear()
    await cup.begin_round()
    for name in NAMES:
        other = next(each for each in cup.match(name).players if each != name)
        assert cup.hall.people[name].room == cup.board(name)
        assert f"you play {other}" in cup.told[name][0]


async def test_round_start_is_announced_once_in_the_hall(cup: Cup) -> None:
    await cup.enter("Eve")
    await cup.announce(f"round robin {SOON}", *NAMES)
    cup.told.clear()
    await cup.begin_round()
    assert cup.told["Eve"] == [
        'Round 1 of 3 of tournament 1 begins, with 2 matches. "tournament 1" shows them.'
    ]


async def test_player_away_from_a_timed_game_is_moved_to_the_match(cup: Cup) -> None:
    await cup.enter("Eve")
    await cup.type("Anna", "seek 5+0 unrated")
    await cup.type("Eve", "accept Anna")
    board = cup.hall.people["Anna"].room
    await cup.type("Anna", "go to oak board")
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    cup.told.clear()
    await cup.begin_round()
    assert cup.hall.people["Anna"].room == cup.board("Anna") != board
    told = " ".join(" ".join(cup.told["Anna"]).split())
    assert "You stay here" not in told
    assert f"You're also playing at the {board}." in told
    assert "clock is running there." in told


async def test_seek_of_an_entrant_ends_at_match_start(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.type("Anna", "seek")
    await cup.type("Bert", "seek 3 days")
    await cup.begin_round()
    assert cup.hall.people["Anna"].room == cup.board("Anna")
    assert [seek.player for seek in cup.hall.seeks.values()] == ["Bert"]


async def test_player_at_a_timed_game_is_not_moved_to_the_match(cup: Cup) -> None:
    await cup.enter("Eve")
    await cup.type("Anna", "seek 5+0 unrated")
    await cup.type("Eve", "accept Anna")
    board = cup.hall.people["Anna"].room
    assert board
    await cup.type(cup.hall.tables[board].seats[Side.DWARF], "f1 f2")
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    cup.told.clear()
    await cup.begin_round()
    assert cup.hall.people["Anna"].room == board != cup.board("Anna")
    assert cup.hall.people["Bert"].room == cup.board("Anna")
    assert "You stay here while your clock is running" in " ".join(cup.told["Anna"][0].split())


async def test_second_battle_starts_after_the_rest(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    board = cup.board("Anna")
    await cup.type("Anna", Resign(board))
    await cup.pass_by(59.0)
    assert cup.hall.tables[board].half_played
    await cup.pass_by(1.0)
    match = cup.hall.tables[board].match
    assert match
    assert (match.battle, match.dwarf, match.rated) == (2, cup.match("Anna").second, False)
    assert match.tournament == (1, 1)


async def test_absent_player_forfeits_and_is_out_after_two_matches(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", *NAMES)
    await cup.begin_round()
    await cup.leave("Dora")
    other = next(each for each in cup.match("Dora").players if each != "Dora")
    board = cup.board("Dora")
    await cup.resigns(
        *(max(each.players) for each in cup.one.open.values() if "Dora" not in each.players)
    )
    await cup.pass_by(290.0)
    assert cup.one.match_of("Dora")
    cup.told.clear()
    await cup.pass_by(20.0)
    assert cup.one.match_of("Dora") is None
    assert "Dora didn't turn up, so you win the match" in "".join(cup.told[other])
    assert board not in cup.hall.tables
    assert cup.one.missed == {"Dora": 1}
    await cup.begin_round()
    await cup.resigns(
        *(max(each.players) for each in cup.one.open.values() if "Dora" not in each.players)
    )
    await cup.pass_by(310.0)
    [left] = await cup.of_hall(TournamentLeft)
    assert (left.player, left.why) == ("Dora", TournamentLeaving.ABSENT)
    await cup.play_round()  # the remaining matches; Dora forfeits hers without a board
    await cup.pass_by(61.0)
    assert cup.one.end
    assert cup.one.end.players[:2] == ("Anna", "Bert")
    assert len(await cup.of_hall(PairingBegun)) == 5


@pytest.mark.parametrize("is_away", [False, True])
async def test_player_out_of_time_without_a_move_forfeits_only_if_away(
    cup: Cup,
    is_away: bool,  # noqa: FBT001  (a parameter of pytest)
) -> None:
    await cup.announce(f"round robin 1+0 {SOON}", "Anna", "Bert")
    await cup.begin_round()
    board, first = cup.board("Anna"), cup.match("Anna").first
    if is_away:
        await cup.leave(first)
    await cup.pass_by(200.0 if is_away else 130.0)
    if is_away:
        assert not cup.one.open
        return
    match = cup.hall.tables[board].match
    assert cup.one.open
    assert match
    assert match.battle == 2
    told = " ".join(" ".join(cup.told[first]).split())
    assert "The second battle begins in 60 seconds" in told
    assert "turn up" not in told


async def test_player_returning_within_the_grace_period_plays(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    await cup.leave("Bert")
    await cup.pass_by(290.0)
    await cup.enter("Bert", member=True)
    assert cup.hall.people["Bert"].room == cup.board("Bert")
    await cup.pass_by(100.0)
    assert cup.one.open


async def test_player_leaving_after_a_ply_does_not_forfeit(cup: Cup) -> None:
    await cup.announce(f"round robin classic {SOON}", "Anna", "Bert")
    await cup.begin_round()
    first = cup.match("Anna").first
    await cup.type(first, f"move a6 to b6 on {cup.board(first)}")
    await cup.leave(first)
    await cup.pass_by(400.0)
    assert cup.one.open


async def test_match_missed_by_both_players_is_lost_by_both(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    await cup.leave("Anna")
    await cup.leave("Bert")
    await cup.pass_by(301.0)
    [scored] = await cup.of_hall(PairingScored)
    assert scored.absent == (True, True)


@pytest.mark.parametrize(("between", "absent"), [(0.1, (True, True)), (60.0, (True, False))])
async def test_player_leaving_just_after_the_other_forfeits_too(
    cup: Cup, between: float, absent: tuple[bool, bool]
) -> None:
    """The two absences are stored one after the other."""
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    await cup.leave(cup.match("Anna").first)
    cup.wait(between)
    await cup.leave(cup.match("Anna").second)
    await cup.pass_by(301.0)
    [scored] = await cup.of_hall(PairingScored)
    assert scored.absent == absent


async def test_swiss_of_five_gives_byes_and_admits_late_entrants(cup: Cup) -> None:
    await cup.enter("Emil", "Fritz", member=True)
    await cup.announce(f"swiss 4 rounds {SOON}", *NAMES, "Emil")
    await cup.play_round()
    assert sum(each.is_bye for each in cup.one.rounds[0]) == 1
    await cup.type("Fritz", "enter 1")
    for _ in range(3):
        await cup.play_round()
    await cup.pass_by(61.0)
    end = cup.one.end
    assert end
    assert end.players[0] == "Anna"
    assert max(met(await cup.of_hall(RoundPaired)).values()) == 1
    assert [len(each) for each in cup.one.rounds] == [3, 3, 3, 3]


async def test_knock_out_of_four_has_a_winner_after_two_rounds(cup: Cup) -> None:
    await cup.announce(f"knock-out {SOON}", *NAMES)
    await cup.play_round()
    assert len(cup.one.rounds) == 1
    await cup.play_round()
    await cup.pass_by(61.0)
    end = cup.one.end
    assert end
    assert (end.players[0], len(cup.one.rounds)) == ("Anna", 2)


async def test_arena_pairs_free_players_until_its_time_is_up(cup: Cup) -> None:
    await cup.announce(f"arena for 20 minutes 5+3 {SOON}", *NAMES)
    await cup.begin_round()
    assert len(cup.one.open) == 2
    one, other = cup.one.open.values()
    await cup.resigns(one.first)
    await cup.pass_by(11.0)
    assert len(cup.one.open) == 1  # the two free players have just met, so they wait for a third
    await cup.resigns(other.first)
    for _ in range(2):  # pairs may form at once or only after a while
        await cup.pass_by(11.0)
    assert len(cup.one.open) == 2
    assert max(met(await cup.of_hall(RoundPaired)).values()) == 1
    await cup.pass_by(1300.0)  # flags fall, even in matches paired since
    await cup.pass_by(11.0)
    assert not cup.one.open
    assert cup.one.end


async def test_arena_starts_without_absent_entrants_who_can_enter_again(cup: Cup) -> None:
    await cup.announce(f"arena for 20 minutes 5+3 {SOON}", *NAMES)
    await cup.leave("Carl")
    await cup.leave("Dora")
    await cup.pass_by(LATE)
    await cup.begin_round()
    [match] = cup.one.open.values()
    assert set(match.players) == set(cup.one.entries) == {"Anna", "Bert"}
    await cup.enter("Carl", "Dora", member=True)
    for name in ("Carl", "Dora"):
        await cup.type(name, "enter 1")
    await cup.pass_by(20.0)
    assert len(cup.one.open) == 2


async def test_arena_does_not_pair_players_who_have_left(cup: Cup) -> None:
    await cup.announce(f"arena for 20 minutes 5+3 {SOON}", *NAMES)
    await cup.begin_round()
    matches = [*cup.one.open.values()]
    for match in matches:
        await cup.resigns(match.second)
        await cup.leave(match.second)
    await cup.pass_by(2 * WAVE)
    [again_paired] = cup.one.open.values()
    assert set(again_paired.players) == {each.first for each in matches}


async def test_entrant_absent_at_the_start_is_out_before_the_first_round(cup: Cup) -> None:
    await cup.enter("Eve")
    await cup.announce(f"knock-out {SOON}", *NAMES)
    await cup.leave("Dora")
    cup.told.clear()
    await cup.pass_by(60.0 + LATE - 1)
    assert not cup.one.rounds
    await cup.pass_by(1.0)
    assert [each.player for each in cup.one.entrants] == ["Anna", "Bert", "Carl"]
    assert "Dora" not in {name for each in cup.one.rounds[0] for name in each.players}
    for name in ("Anna", "Bert", "Carl", "Eve"):
        assert "Dora missed the start, and is out." in " ".join(cup.told[name])
    assert not await cup.of_hall(PairingScored)
    await cup.enter("Dora", member=True)
    assert await refused(cup, "Dora", "enter 1") is TournamentRefusal.TOURNAMENT_BEGUN


async def test_entrant_returning_soon_after_the_start_plays(cup: Cup) -> None:
    await cup.announce(f"knock-out {SOON}", *NAMES)
    await cup.leave("Dora")
    await cup.pass_by(60.0 + LATE - 1)
    await cup.enter("Dora", member=True)
    await until(lambda: bool(cup.one.rounds))  # everybody is here
    assert len(cup.one.entrants) == len(NAMES)


async def test_entrants_absent_at_the_start_are_named_in_one_sentence(cup: Cup) -> None:
    ghosts = [f"Ghost{chr(ord('a') + each)}" for each in range(9)]
    await cup.enter(*ghosts)
    await cup.announce(f"swiss {SOON}", *NAMES, *ghosts)
    for each in ghosts:
        await cup.leave(each, Parting.QUIT)
    cup.told.clear()
    await cup.pass_by(60.0 + LATE)
    named = "Ghosta, Ghostb, Ghostc, Ghostd, Ghoste and 4 others missed the start"
    assert " ".join(cup.told["Anna"]).count("missed the start") == 1
    assert named in " ".join(" ".join(cup.told["Anna"]).split())
    assert set(cup.one.entries) == set(NAMES)


async def test_start_after_a_restart_waits_for_entrants_to_return(
    store: SlowStore,
) -> None:
    place = Cup(store)
    await place.open()
    await place.enter(*NAMES, member=True)
    await place.announce(f"knock-out {SOON}", *NAMES)
    place.service.stop()  # as if it were killed
    store.time += 3600.0
    place = await again(store)
    await place.enter("Anna", "Bert", member=True)
    await place.pass_by(COME_BACK - 1)
    assert not place.one.rounds
    await place.enter("Carl", member=True)
    await place.pass_by(1.0)
    assert set(place.one.entries) == {"Anna", "Bert", "Carl"}


async def test_player_removed_by_the_director_cannot_enter_again(cup: Cup) -> None:
    await cup.announce(f"swiss {SOON}", *NAMES)
    cup.told.clear()
    told = await cup.type("Anna", "withdraw dora from 1")
    assert told == "You take Dora out of tournament 1."
    assert cup.told["Dora"] == ["Anna takes you out of tournament 1."]
    assert await refused(cup, "Dora", "enter 1") is TournamentRefusal.REMOVED_FROM_TOURNAMENT
    assert (
        await refused(cup, "Bert", "withdraw carl from 1") is TournamentRefusal.NOT_YOUR_TOURNAMENT
    )
    later = await again(cup.store)
    assert later.one.removed == {"Dora": "Anna"}
    await cup.begin_round()
    await cup.type("Anna", "withdraw carl from 1")
    assert cup.one.playing == ("Anna", "Bert")


async def test_member_can_announce_one_tournament_at_a_time(cup: Cup) -> None:
    await cup.announce(f"swiss {SOON}")
    assert (
        await refused(cup, "Anna", f"tournament new arena {SOON}")
        is TournamentRefusal.TOURNAMENT_OF_YOURS
    )
    assert await refused(cup, "Bert", f"tournament new arena {SOON}") is None
    await cup.type("Anna", "cancel tournament 1")
    assert await refused(cup, "Anna", f"tournament new arena {SOON}") is None
    cup.hall.order = Order(operators=frozenset({"anna"}))
    assert await refused(cup, "Anna", f"tournament new arena {SOON}") is None


async def test_members_announce_up_to_two_weeks_ahead_and_operators_further(cup: Cup) -> None:
    assert await refused(cup, "Anna", "tournament new swiss starts in 15 days") is (
        TournamentRefusal.TOURNAMENT_TOO_LATE
    )
    assert await refused(cup, "Anna", "tournament new swiss starts in 14 days") is None
    cup.hall.order = Order(operators=frozenset({"bert"}))
    assert await refused(cup, "Bert", "tournament new swiss starts in 60 days") is None


async def test_tournaments_announced_from_one_address_are_limited(cup: Cup) -> None:
    names = "Xenia", "Yorick", "Zoe"
    await cup.enter(*names, member=True, origin="192.0.2.7")
    for each in names[:2]:
        assert await refused(cup, each, f"tournament new swiss {SOON}") is None
        await cup.leave(each, Parting.QUIT)
    line = f"tournament new swiss {SOON}"
    assert await refused(cup, "Zoe", line) is Refusal.TOO_MUCH_FROM_ADDRESS
    assert await refused(cup, "Anna", line) is None
    cup.hall.order = Order(operators=frozenset({"zoe"}))
    assert await refused(cup, "Zoe", line) is None


async def test_places_for_players_of_one_address_are_limited(
    cup: Cup,
) -> None:
    cup.hall.set_limits(TournamentLimits(players_per_address=2))
    names = "Xenia", "Yorick", "Zoe"
    await cup.announce(f"swiss {SOON}", *NAMES)
    await cup.enter(*names, origin="192.0.2.7")
    for each in names[:2]:
        assert await refused(cup, each, "enter 1") is None
        await cup.leave(each, Parting.QUIT)
    told = await cup.type("Zoe", "enter 1")
    assert "internet address have 2 places in tournament 1" in told
    await cup.type("Anna", "withdraw xenia from 1")
    assert await refused(cup, "Zoe", "enter 1") is None


async def test_correspondence_round_moves_nobody_and_needs_no_presence(cup: Cup) -> None:
    await cup.announce(f"round robin 2 days {SOON}", "Anna", "Bert")
    await cup.leave("Bert", Parting.QUIT)
    await cup.begin_round()
    assert cup.hall.people["Anna"].room is None
    table = cup.hall.tables[cup.board("Anna")]
    assert table.match
    assert table.match.rated
    await cup.pass_by(DAY)
    assert cup.one.open
    await cup.pass_by(1.1 * DAY)  # the player of the dwarfs has made no move
    [_, scored] = await cup.of_hall(PairingScored)
    assert scored.absent == (table.match.dwarf == scored.first, table.match.dwarf == scored.second)
    await cup.pass_by(1.0)
    assert cup.one.end


async def test_correspondence_round_ends_at_its_time_limit(cup: Cup) -> None:
    await cup.announce(f"round robin 14 days rounds of 1 day {SOON}", *NAMES)
    await cup.begin_round()
    boards = [cup.board(name) for name in NAMES]
    await cup.type("Dora", Resign(cup.board("Dora")))
    await cup.pass_by(DAY)
    assert len(cup.one.rounds) == 2
    assert sorted(
        each.match_points("Dora") for each in cup.one.rounds[0] if "Dora" in each.players
    ) == [0.0]
    assert all(cup.hall.tables[board].has_match_under_way for board in boards)


async def test_withdrawn_player_finishes_the_match_but_is_paired_no_more(cup: Cup) -> None:
    await cup.announce(f"swiss 3 rounds {SOON}", *NAMES)
    await cup.begin_round()
    told = await cup.type("Dora", "withdraw from 1")
    assert told == "You leave tournament 1."
    assert cup.one.match_of("Dora")
    await cup.resigns(*(max(each.players) for each in cup.one.open.values()))
    await cup.begin_round()
    assert "Dora" not in {name for each in cup.one.rounds[1] for name in each.players}
    assert sum(each.is_bye for each in cup.one.rounds[1]) == 1


async def test_paused_tournament_counts_no_absence(cup: Cup) -> None:
    await cup.announce(f"round robin 180+0 {SOON}", *NAMES)
    await cup.begin_round()
    await cup.leave("Dora")
    await cup.type("Anna", "pause tournament 1")
    await cup.pass_by(1000.0)
    assert cup.one.match_of("Dora")
    await cup.type("Anna", "resume tournament 1")
    await cup.pass_by(299.0)
    assert cup.one.match_of("Dora")
    await cup.pass_by(2.0)
    assert cup.one.match_of("Dora") is None


async def test_tournament_paused_before_its_start_starts_when_resumed(
    cup: Cup,
) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.type("Anna", "pause tournament 1")
    await cup.pass_by(500.0)
    assert not cup.one.rounds
    await cup.type("Anna", "resume tournament 1")
    await cup.settled()
    assert cup.one.rounds


async def test_pause_by_a_member_ends_after_a_day(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    told = await cup.type("Anna", "pause tournament 1")
    assert told == (
        "You pause tournament 1: no new matches begin. It resumes in 24 hours at the latest."
        ' "resume tournament 1" resumes it sooner.'
    )
    await cup.pass_by(DAY - 1.0)
    assert cup.one.state is TournamentState.PAUSED
    assert "It is paused, for 1 second at most." in await cup.type("Bert", "tournament 1")
    cup.told.clear()
    await cup.pass_by(2.0)
    assert cup.one.rounds
    assert cup.told["Bert"][0] == "Tournament 1 resumes."
    (continued,) = await cup.of_hall(TournamentContinued)
    assert continued.player == ""


async def test_tournament_paused_and_deserted_ends_after_a_day(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.type("Anna", "pause tournament 1")
    for name in NAMES:
        await cup.leave(name)
    await cup.pass_by(DAY + LATE)
    await cup.pass_by(LATE)
    assert cup.one.end
    assert cup.one.end.why is TournamentEnd.TOO_FEW


async def test_round_paused_and_deserted_is_forfeited_after_a_day(cup: Cup) -> None:
    await cup.announce(f"round robin 180+0 {SOON}", "Anna", "Bert")
    await cup.begin_round()
    for name in ("Bert", "Carl"):
        await cup.leave(name)
    await cup.type("Anna", "pause tournament 1")
    await cup.leave("Anna")
    await cup.pass_by(DAY)
    await cup.pass_by(301.0)
    await cup.pass_by(61.0)
    assert cup.one.end


async def test_pause_by_an_operator_lasts_until_it_is_resumed(cup: Cup) -> None:
    cup.hall.order = Order(operators=frozenset({"anna"}))
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    told = await cup.type("Anna", "pause tournament 1")
    assert told.endswith('begin. "resume tournament 1" resumes it.')
    await cup.pass_by(400 * DAY)
    assert cup.one.state is TournamentState.PAUSED
    assert "It is paused." in await cup.type("Bert", "tournament 1")


async def test_tournament_of_a_member_ends_within_two_weeks(
    cup: Cup,
) -> None:
    cup.hall.order = Order(operators=frozenset({"anna"}))
    await cup.announce(f"round robin {SOON}", "Bert", "Carl", by="Bert")
    await cup.type("Anna", "pause tournament 1")
    await cup.pass_by(LONGEST_BY_CLOCK + 59.0)
    assert not cup.one.end
    await cup.pass_by(1.0)
    assert cup.one.end
    assert cup.one.end.at == cup.one.made.starts + LONGEST_BY_CLOCK


@pytest.mark.parametrize("is_operator", [False, True])
async def test_correspondence_tournament_of_a_member_ends_within_a_year(
    cup: Cup, monkeypatch: pytest.MonkeyPatch, *, is_operator: bool
) -> None:
    monkeypatch.setattr(tournaments, "LONGEST_BY_DAYS", 20 * DAY)
    if is_operator:
        cup.hall.order = Order(operators=frozenset({"anna"}))
    await cup.announce(f"round robin 14 days {SOON}", "Anna", "Bert", "Carl")
    await cup.begin_round()
    match = next(iter(cup.one.open.values()))
    board = cup.board(match.first)
    await cup.pass_by(13 * DAY)
    await cup.type(match.first, f"move a6 to b6 on {board}")
    await cup.pass_by(7 * DAY)
    assert bool(cup.one.end) is not is_operator
    if not is_operator:
        assert cup.one.end
        assert cup.one.end.why is TournamentEnd.OVER
        assert not cup.one.open
        assert cup.one.rounds[0][match.index].is_over
        assert cup.hall.tables[board].is_running


async def test_correspondence_tournaments_take_at_most_half_the_places(cup: Cup) -> None:
    cup.hall.set_limits(TournamentLimits(most=5))
    for name in ("Anna", "Bert"):
        await cup.announce(f"round robin 3 days {SOON}", by=name)
    assert await cup.type("Carl", "tournament new round robin 3 days") == (
        "There are already 2 correspondence tournaments, which is the limit. You can"
        " announce one with a faster clock, or yours when one of those is over."
    )
    await cup.announce(f"round robin {SOON}", by="Carl")
    assert cup.hall.part(TournamentRegister).last == 3
    cup.hall.order = Order(operators=frozenset({"dora"}))
    await cup.announce(f"round robin 3 days {SOON}", by="Dora")
    assert cup.hall.part(TournamentRegister).last == 4


async def test_name_of_a_guest_is_reserved_while_entered(cup: Cup) -> None:
    await cup.enter("Zed")
    await cup.announce(f"arena {SOON}", "Zed", "Bert")
    await cup.leave("Zed")
    assert await cup.service.is_name_needed("zed")
    await cup.type("Anna", "withdraw zed from 1")
    assert not await cup.service.is_name_needed("Zed")


async def test_names_of_guests_are_reserved_until_the_tournament_ends(
    cup: Cup,
) -> None:
    cup.hall.set_limits(TournamentLimits(by="everybody"))
    await cup.enter("Yoda", "Zed")
    await cup.announce(f"swiss {SOON}", "Zed", by="Yoda")
    for name in ("Yoda", "Zed"):
        await cup.leave(name)
    assert await cup.service.is_name_needed("Yoda")
    assert await cup.service.is_name_needed("Zed")
    assert not await cup.service.is_name_needed("Bert")
    await cup.pass_by(100.0)
    assert cup.one.end
    assert not await cup.service.is_name_needed("Yoda")
    assert not await cup.service.is_name_needed("Zed")


async def test_cancelled_tournament_leaves_its_matches_running(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    board = cup.board("Anna")
    await cup.type("Anna", "cancel tournament 1")
    await cup.pass_by(500.0)
    assert cup.one.state is TournamentState.CANCELLED
    assert cup.hall.tables[board].is_running
    await cup.type("Anna", Resign(board), Start(board), Resign(board))
    assert not await cup.of_hall(PairingScored)


async def test_tournament_with_too_few_players_does_not_take_place(cup: Cup) -> None:
    await cup.announce(f"swiss {SOON}", "Bert")
    cup.told.clear()
    await cup.pass_by(61.0)
    assert cup.one.end
    assert cup.one.end.why is TournamentEnd.TOO_FEW
    assert cup.told["Bert"] == ["Tournament 1 is called off: too few players turned up."]


async def test_bot_fills_an_odd_field_and_operators_can_enter_more(cup: Cup) -> None:
    cup.hall.order = Order(operators=frozenset({"olga"}))
    cup.hall.bots = {
        name: BotLevel(level, name, "Plays.") for level, name in enumerate(("Chalk", "Flint"), 1)
    }
    await cup.enter("Olga", "Chalk", "Flint")
    await cup.announce(f"swiss 1 round with bot {SOON}", "Carl", by="Carl")
    await cup.announce(f"swiss 2 rounds with bot {SOON}", "Anna", "Bert")
    assert "enters tournament 2" in await cup.type("Olga", "enter 2 with flint")
    await cup.pass_by(61.0)
    await until(lambda: len(cup.one.open) == 2)
    await cup.settled()
    assert [each.player for each in cup.one.entrants] == ["Anna", "Bert", "Flint", "Chalk"]
    alone = cup.hall.part(TournamentRegister).known[1].entrants
    assert [each.player for each in alone] == ["Carl", "Flint"]
    tables = [cup.hall.tables[cup.board(name)] for name in ("Anna", "Bert")]
    assert all(each.match and each.match.rated for each in tables)


async def test_board_closed_by_an_operator_is_scored_on_battles_so_far(cup: Cup) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    await cup.begin_round()
    board, first = cup.board("Anna"), cup.match("Anna").first
    await cup.type("Anna", Resign(board))
    await close_board(cup.store, board, cup.now)
    await cup.settled()
    [pairing] = cup.one.rounds[0]
    assert pairing.match_points("Anna") == 0.0
    assert pairing.result
    assert len(pairing.result.battles) == 1
    assert pairing.first == first


# Restarts, kills and several nodes.


async def again(store: SlowStore) -> Cup:
    """Return a place that takes over the store of a killed one."""
    place = Cup(store)
    await place.open()
    return place


async def test_tournament_survives_a_restart_at_any_moment(store: SlowStore) -> None:
    """A new server takes over after each step, with the old one killed."""
    place = Cup(store)
    await place.open()
    await place.enter(*NAMES, member=True)
    await place.announce(f"round robin {SOON}", *NAMES)
    store.time += 61.0
    for _ in range(200):
        place.service.stop()  # as if killed: it stores nothing further
        place = await again(store)
        await place.enter(*NAMES, member=True)
        await place.settled()
        if place.one.end:
            break
        for match in list(place.one.open.values()):
            if match.key and (table := place.hall.tables.with_key(match.key)) and table.is_running:
                await place.type(match.second, Resign(table.name))
                break
        await place.settled()
        store.time += 61.0
    assert place.one.end
    pairs = met(await place.of_hall(RoundPaired))
    assert pairs == {frozenset(pair): 1 for pair in combinations(NAMES, 2)}
    begun = [(each.round, each.index) for each in await place.of_hall(PairingBegun)]
    assert len(set(begun)) == len(begun) == 6
    assert len(await place.of_hall(TournamentEnded)) == 1


class Cluster:
    """Two nodes on one store, with two players on each."""

    def __init__(self, store: SlowStore) -> None:
        self.store = store
        self.cups: dict[str, Cup] = {}
        self.nodes: dict[str, Node] = {}

    async def begin(self, name: str) -> Cup:
        """Start a node."""
        node = self.nodes[name] = Node(self.store, name, lease=10, clock=lambda: self.store.time)
        await node.open()
        cup = self.cups[name] = Cup(self.store, node)
        await cup.open()
        return cup

    async def settled(self) -> None:
        """Wait until every node is idle."""
        for cup in (*self.cups.values(), *self.cups.values()):
            await cup.settled()

    async def pass_by(self, seconds: float) -> None:
        """Advance the clock on all nodes."""
        end = self.store.time + seconds
        while self.store.time < end:
            now = min(self.store.time + 5, end)
            for cup in self.cups.values():
                cup.wait(now - cup.now)
            for name in self.cups:
                await self.nodes[name].renew()
                await self.nodes[name].reap()
            await self.settled()

    def where(self, name: str) -> Cup:
        """Return the node that hosts a player."""
        return next(each for each in self.cups.values() if name in each.visits)

    async def resigns(self, loser: str) -> None:
        """Resign both battles of a player's match."""
        cup = self.where(loser)
        board = cup.board(loser)
        await cup.type(loser, Resign(board), Start(board), Resign(board))
        await self.settled()


@pytest.fixture
async def cluster(store: SlowStore) -> Cluster:
    cluster = Cluster(store)
    one, two = await cluster.begin("one"), await cluster.begin("two")
    await one.enter("Anna", "Bert", member=True)
    await two.enter("Carl", "Dora", member=True)
    await one.announce(f"round robin {SOON}", "Anna", "Bert")
    await two.type("Carl", "enter 1")
    await two.type("Dora", "enter 1")
    return cluster


async def everything_is_done_once(cup: Cup) -> None:
    """Check that each round was paired, and each match started and scored, exactly once."""
    paired = await cup.of_hall(RoundPaired)
    assert [each.round for each in paired] == [1, 2, 3]
    assert met(paired) == {frozenset(pair): 1 for pair in combinations(NAMES, 2)}
    begun = [(each.round, each.index) for each in await cup.of_hall(PairingBegun)]
    assert len(set(begun)) == len(begun) == 6
    over = [(each.round, each.index) for each in await cup.of_hall(PairingScored) if each.is_over]
    assert sorted(over) == sorted(begun)
    assert len(await cup.of_hall(TournamentEnded)) == 1


async def test_tournament_on_two_nodes_does_everything_once(cluster: Cluster) -> None:
    one, two = cluster.cups.values()
    for _ in range(3):
        await cluster.pass_by(62)
        assert one.one == two.one
        assert len(one.one.open) == 2
        for name in NAMES:
            assert cluster.where(name).hall.people[name].room == one.board(name)
        for match in list(one.one.open.values()):
            await cluster.resigns(max(match.players))
    await cluster.pass_by(62)
    assert one.one.end
    assert one.one == two.one
    await everything_is_done_once(one)


async def test_pause_end_is_stored_once_by_two_nodes(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournaments, "PAUSE_LASTS", 120.0)
    one, two = cluster.cups.values()
    await one.type("Anna", "pause tournament 1")
    await cluster.pass_by(115)
    assert two.one.state is TournamentState.PAUSED
    await cluster.pass_by(10)
    assert one.one.rounds
    assert one.one == two.one
    assert len(await one.of_hall(TournamentContinued)) == 1


async def test_name_of_an_entrant_is_reserved_on_other_nodes(cluster: Cluster) -> None:
    one, two = cluster.cups.values()
    await two.enter("Zed")
    assert not await one.service.is_name_needed("Zed")
    await two.type("Zed", "enter 1")
    await two.leave("Zed")
    assert await one.service.is_name_needed("Zed")


async def test_round_paired_by_two_nodes_at_once_is_stored_once(
    cluster: Cluster, store: SlowStore
) -> None:
    """Both have decided and both appends are held up, so the second one conflicts."""
    one, two = cluster.cups.values()
    await cluster.pass_by(59)
    store.hold()
    for cup in (one, two):
        cup.wait(1)
    await store.held_up()
    await store.held_up()
    store.gate.set()
    await cluster.settled()
    assert len(await one.of_hall(RoundPaired)) == 1
    assert len(await one.of_hall(PairingBegun)) == 2
    assert one.one == two.one


async def test_tournament_continues_after_a_node_dies_in_mid_round(
    cluster: Cluster, store: SlowStore
) -> None:
    """The node dies after it has opened the first of the round's two boards."""
    one, two = cluster.cups.values()
    director_of(two).stop()  # as if slow
    await cluster.pass_by(59)
    store.hold()
    one.wait(1)
    await store.held_up()  # at the append of the round
    store.gate.set()
    store.gate.clear()
    await store.held_up()  # at the append of the first board
    store.gate.set()
    await until(lambda: any(each.key for each in one.one.open.values()))
    director_of(one).stop()  # its last action
    one.service.stop()
    del cluster.cups["one"]
    await cluster.settled()
    assert len(await two.of_hall(PairingBegun)) == 1
    three = await cluster.begin("three")
    await cluster.pass_by(20)
    await three.enter("Anna", "Bert", member=True)
    assert len(await two.of_hall(PairingBegun)) == 2
    for _ in range(3):
        for match in list(three.one.open.values()):
            await cluster.resigns(max(match.players))
        await cluster.pass_by(62)
    assert three.one.end
    await everything_is_done_once(three)


async def test_round_is_paired_after_a_store_failure(cup: Cup, store: SlowStore) -> None:
    await cup.announce(f"round robin {SOON}", "Anna", "Bert")
    store.broken = True
    await cup.pass_by(62)
    assert not cup.one.rounds
    store.broken = False
    await cup.pass_by(6)
    assert cup.one.open


async def test_flag_fall_during_a_hall_change_is_scored(cup: Cup, store: SlowStore) -> None:
    """The end of the battle conflicts with a seek, and is stored on the next attempt."""
    await cup.announce(f"round robin classic 1+0 {SOON}", "Anna", "Bert")
    await cup.begin_round()
    await cup.pass_by(1)
    first = cup.match("Anna").first
    board = cup.board(first)
    await cup.type(first, f"move a6 to b6 on {board}")
    store.hold()
    seeking = cup.submit("Carl", "seek")
    await store.held_up()
    cup.wait(60)
    await store.held_up()
    store.gate.set()
    await seeking
    await cup.settled()
    cup.wait(1)  # the retry
    await until(lambda: board not in cup.hall.tables or cup.hall.tables[board].half_played)
    await cup.settled()
    scored = await cup.of_hall(PairingScored)
    assert [(len(each.battles), each.is_over) for each in scored] == [(1, False)]


@pytest.mark.parametrize("parting", [Parting.QUIT, Parting.LOST])
async def test_flag_fall_as_the_player_leaves_is_scored(cup: Cup, parting: Parting) -> None:
    """The battle ends before the departure, so both are stored together."""
    await cup.announce(f"round robin classic 1+0 {SOON}", "Anna", "Bert")
    await cup.begin_round()
    first = cup.match("Anna").first
    board = cup.board(first)
    await cup.type(first, f"move a6 to b6 on {board}")
    await cup.type(cup.match("Anna").second, f"move h7 to h6 on {board}")
    cup.now = cup.store.time = cup.now + 61  # before any timer rings
    await cup.leave(first, parting)
    await cup.settled()
    assert cup.hall.tables[board].half_played
    assert cup.away(board) == {first}
    [scored] = await cup.of_hall(PairingScored)
    assert [(mine, theirs) for mine, theirs, _ in scored.battles] == [(0, 32)]
    assert not scored.is_over


async def test_finished_tournaments_are_loaded_on_demand(cup: Cup, store: SlowStore) -> None:
    await cup.announce(f'knock-out "Cup" {SOON}', *NAMES)
    for _ in range(2):
        await cup.play_round()
    await cup.pass_by(61)
    over = cup.one
    later = await again(store)
    assert not later.hall.part(TournamentRegister).known
    assert later.hall.part(TournamentRegister).last == 1
    assert await store.look_up(TournamentLookup(1)) == over
    await later.enter("Anna", member=True)
    assert "It is over." in await later.type("Anna", "tournament 1")
    assert "4 players, won by Anna" in await later.type("Anna", "tournaments")
    assert "Anna, in tournaments: 1st of 4 in Cup." in await later.type("Anna", "score")
    assert "round 2 of Cup" in await later.type("Anna", "history")
    await later.type("Anna", "tournament new swiss")
    assert later.hall.part(TournamentRegister).last == 2
    assert "You are in" not in await later.type("Anna", "finger")
    await later.type("Anna", "enter 2")
    assert "You are in tournament 2." in await later.type("Anna", "finger")
