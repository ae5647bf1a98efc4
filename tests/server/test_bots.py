"""Bots in the game: play, invitations, faulty programs, and their effect on players."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import RunServer
from tests.server.bots import (
    AMBLING,
    BAD,
    Person,
    is_alive,
    noting,
    opened,
    program,
    settings,
    until,
)
from tests.server.plain import PATIENCE, Client
from thudmud.bots import opponent
from thudmud.bots import session as playing
from thudmud.bots.pace import pause_before_ply
from thudmud.bots.program import ENGINE, MOST_SAID, Program, ProgramError
from thudmud.bots.workers import Workers
from thudmud.cli.main import main
from thudmud.features.playing.moves import Play
from thudmud.game.command import Command
from thudmud.game.events import OWN_PROGRAM, BattleStarted, Levels
from thudmud.game.sanctions import Measure, Order, Sanction
from thudmud.game.table import Table
from thudmud.rules import Side
from thudmud.server.bots import Bots
from thudmud.server.config import BotSettings, Settings, StorageSettings
from thudmud.server.runtime import open_sessions
from thudmud.server.session_registry import Sessions
from thudmud.service import Dismissal, Result, Visit
from thudmud.store import KeptName, StoreError, accounts, battles, scores

OWN = [sys.executable, "-m", "thudmud.cli.main", "engine", "--level", "4", "--seed", "1"]
PAIR = ("Grog", "Mog")
PLAYS = 'print("# depth 0 nodes 1 worth +0.00 line TG7-F7\\ngo TG7-F7", flush=True)'
"""What a worker says that would play the trolls."""
MUTE = [sys.executable, "-S", "-c", "import time; time.sleep(3600)"]
"""Never begins to answer."""
SIT = ("join game as dwarf on oak board", "invite grog")

WITHOUT_GROG = Order(bans={"grog": Sanction(Measure.BAN, "Grog")})


async def test_invited_bot_plays(tmp_path: Path) -> None:
    async with opened(settings(AMBLING), tmp_path) as (sessions, anna):
        await anna.type("who")
        await anna.sees("1 player and 1 bot connected:")
        await anna.sees("Grog (a bot) is in the hall")
        await anna.sees('To play a bot, type "match" and its name.')
        await anna.type(*SIT)
        await anna.sees("Grog sits down at the oak board to play the trolls.")
        await anna.type("start")
        for there, back in (("f1 to f2", "f2 to f1"),) * 2:
            await anna.type(f"move from {there}")
            await anna.sees("Grog moves the troll from G7 to F7")
            await anna.type(f"move from {back}")
            await anna.sees("Grog moves the troll from F7 to G7")
        await anna.type("undo")
        await anna.sees("You take back F2 to F1")
        assert sessions.player_count == 1


async def test_bot_greets_and_thanks_a_person(tmp_path: Path) -> None:
    given = settings(AMBLING)
    [grog] = given.bot
    talks = grog.model_copy(update={"hello": "Sit down.", "goodbye": "Stand up."})
    async with opened(given.model_copy(update={"bot": (talks,)}), tmp_path) as (_, anna):
        await anna.type(*SIT, "start")
        await anna.sees("Grog says: Sit down.")
        await anna.type("resign", "yes", "start", "resign", "yes")
        assert "Grog says" not in await anna.sees("The match is over")
        await anna.sees("Grog says: Stand up.")


async def test_bot_name_is_refused_to_players(tmp_path: Path) -> None:
    async with opened(settings(AMBLING), tmp_path) as (sessions, _):
        for name in ("grog", "GROG", "Grog"):
            assert sessions.name_problem(name) == ("Grog is a bot. Please choose another name.")
        assert sessions.name_problem("Mog") is None


@pytest.mark.parametrize("is_member", [True, False])
async def test_bot_with_a_players_name_stays_out(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    is_member: bool,  # noqa: FBT001 (of a parameter)
) -> None:
    given = Settings.model_validate({"bot": [{"name": "Grog"}]})
    async with open_sessions(given.model_copy(update={"bot": ()}), tmp_path) as sessions:
        if is_member:
            await sessions.store.write(accounts.enrol, "Grog", "a hash")
        else:
            await sessions.store.write(accounts.reserve_guest_name, KeptName("Grog", b"word", 1.0))
    async with open_sessions(given, tmp_path) as sessions:
        await sessions.ready()
        await until(lambda: "cannot join" in caplog.text)
        assert not sessions.is_online("Grog")
        async with asyncio.timeout(20):
            await sessions.wait_closed()


@pytest.mark.parametrize("kind", BAD)
async def test_repeatedly_failing_program_resigns_with_a_message(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(settings(BAD[kind], seconds=0.5), tmp_path) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        await anna.sees("Grog tells you: My program has failed too often. I resign.")
        await anna.sees("Grog resigns.")
        failures = [each for each in caplog.records if "failed: " in each.getMessage()]
        assert len(failures) == 2
        # The match continues with its second battle, with the sides swapped.
        await anna.type("start")
        await anna.sees("begin the second battle")
        await anna.sees("Grog resigns.")
        await anna.type("say still here")
        await anna.sees("You say: still here")


async def test_bot_takes_the_other_side_if_its_seat_is_occupied(tmp_path: Path) -> None:
    async with opened(settings(OWN), tmp_path) as (_, anna):
        asked = anna.begin("invite grog as dwarf on oak board")
        await anna.sees("You invite Grog")
        # The bot's program takes a while to start, so she can sit down first.
        await anna.type("join game as dwarf on oak board")
        await asked
        await anna.sees("Grog sits down at the oak board to play the trolls.")


async def test_command_after_invitation_waits_for_the_bot_to_sit_down(tmp_path: Path) -> None:
    async with opened(settings(OWN), tmp_path) as (_, anna):
        await anna.type(*SIT, "start")
        assert "Grog sits down at the oak board to play the trolls." in anna.shown
        assert "begin a match" in anna.shown


async def test_bot_is_present_before_the_first_player(tmp_path: Path) -> None:
    async with open_sessions(settings(AMBLING), tmp_path) as sessions:
        await sessions.ready()
        assert sessions.is_online("Grog")
        sessions.close("The server stops.")


@pytest.mark.parametrize("why", [Dismissal.CUT_OFF, Dismissal.MOVED])
async def test_bot_rejoins_after_its_node_was_presumed_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: Dismissal
) -> None:
    monkeypatch.setattr("thudmud.server.bots.AGAIN", 0.01)
    async with open_sessions(settings(AMBLING), tmp_path) as sessions:
        await sessions.ready()
        [before] = sessions.all
        before.handle_dismissal(why)
        await until(lambda: sessions.is_online("Grog") and before not in sessions.all)
        before = sessions.all.copy().pop()
        before.handle_dismissal(Dismissal.KICKED)
        await sessions.wait_closed()
        assert not sessions.is_online("Grog")
        sessions.close("The server stops.")


async def test_pending_invitation_delays_only_the_inviter(tmp_path: Path) -> None:
    async with opened(settings(MUTE), tmp_path) as (sessions, anna):
        bert = Person(sessions, "Bert")
        await bert.come()
        asked = anna.begin("invite grog on oak board")
        await anna.sees("You invite Grog")
        await bert.type("say hello", "join game as dwarf on oak board")
        await anna.sees("Bert says: hello")
        assert not asked.done()
        sessions.apply_order(WITHOUT_GROG)  # a ban answers the invitation as well
        await asked
        await anna.sees("Grog has lost the connection.")


async def test_simultaneous_invitations_are_all_answered(tmp_path: Path) -> None:
    async with opened(settings(OWN), tmp_path) as (sessions, anna):
        bert = Person(sessions, "Bert")
        await bert.come()
        await asyncio.gather(
            anna.type("join game as dwarf on oak board", "invite grog", "start"),
            bert.type("join game as dwarf on pine board", "invite grog", "start"),
        )
        assert "begin a match" in anna.shown
        assert "begin a match" in bert.shown


async def test_wait_for_an_invitation_answer_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "MAX_HOLD", 0.1)
    async with opened(settings(MUTE), tmp_path) as (_, anna):
        await anna.type(*SIT, "start")
        assert "A battle needs two players." in anna.shown


async def test_thinking_bot_accepts_another_invitation(tmp_path: Path) -> None:
    async with opened(settings(BAD["slow"], seconds=600), tmp_path) as (sessions, anna):
        bert = Person(sessions, "Bert")
        await bert.come()
        await anna.type(*SIT, "start", "move from f1 to f2")
        await bert.type("join game as dwarf on pine board", "invite grog", "start")
        assert "begin a match" in bert.shown


async def test_child_process_does_not_outlive_a_crashed_program(tmp_path: Path) -> None:
    child = tmp_path / "child"
    command = ["sh", "-c", f"sleep 600 </dev/null >/dev/null 2>&1 & echo $! > {child}; exit 0"]
    crashing = Program("Grog", command, tmp_path, 1.0)
    with pytest.raises(ProgramError):
        await crashing.start()
    await crashing.kill()
    stat = Path(f"/proc/{child.read_text().strip()}/stat")
    # Without an init process to reap it, the orphan stays as a zombie.
    await until(lambda: not stat.exists() or ") Z " in stat.read_text())


@pytest.mark.parametrize("times", [1, 2])
async def test_cancelled_program_start_terminates(tmp_path: Path, times: int) -> None:
    # The child keeps the pipes open, and asyncio would wait for them to close.
    started = tmp_path / "started"
    program = Program("Grog", ["sh", "-c", f"sleep 600 & touch {started}; wait"], tmp_path, 1.0)
    starting = asyncio.create_task(program.start())
    for _ in range(2):
        await asyncio.sleep(0)  # the start begins in one of these turns
    while not started.exists():  # the event loop must stand still meanwhile
        time.sleep(0.01)  # noqa: ASYNC251 (blocks deliberately)
    for _ in range(times):
        starting.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await starting


@pytest.mark.parametrize("end", [Program.kill, Program.stop])
async def test_cancelled_program_end_still_ends_the_process(
    tmp_path: Path, end: Callable[[Program], Coroutine[None, None, None]]
) -> None:
    running = Program("Grog", ENGINE, tmp_path, PATIENCE)
    await running.start()
    process = running._process
    assert process
    ending = asyncio.create_task(end(running))
    for _ in range(2):
        await asyncio.sleep(0)
        ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert process.returncode is not None


async def test_program_crash_is_survived(tmp_path: Path) -> None:
    once = program(
        """
crashed = Path("crashed")
if not crashed.exists():
    crashed.touch()
    sys.exit(1)
print("# thinking about", setup, flush=True)
print("", flush=True)
print("go TG7-F7", flush=True)
"""
    )
    async with opened(settings(once), tmp_path) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        await anna.sees("Grog moves the troll from G7 to F7")
    assert (tmp_path / "crashed").exists()


@pytest.mark.parametrize(
    "command", [["no such program anywhere"], ["/"], ["\x00"], [sys.executable, "-c", "pass"]]
)
async def test_unstartable_program_is_announced(tmp_path: Path, command: list[str]) -> None:
    async with opened(settings(command), tmp_path) as (_, anna):
        await anna.type(*SIT)
        assert "Grog tells you: Sorry, I can't come: my program isn't working." in anna.shown
        assert "Grog sits down" not in anna.shown


async def test_byte_order_mark_before_the_output_of_a_program_is_skipped(tmp_path: Path) -> None:
    code = "print('\\ufeffname Grog', flush=True); input(); input()"
    grog = Program("Grog", [sys.executable, "-S", "-c", code], tmp_path, PATIENCE)
    await grog.start()
    await grog.kill()


async def test_unresponsive_program_declines_the_invitation(tmp_path: Path) -> None:
    async with opened(settings(MUTE), tmp_path, starting=0.2) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("I can't come")


async def test_stderr_of_a_program_is_logged_and_truncated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        scream = program(
            'sys.stderr.write("no idea\\n" + "x" * 200_000)\nsys.stderr.flush()\n'
            'print("go TG7-F7", flush=True)'
        )
        async with opened(settings(scream), tmp_path) as (_, anna):
            await anna.type(*SIT)
            await anna.sees("Grog sits down")
            await anna.type("start", "move from f1 to f2")
            await anna.sees("Grog moves the troll")
    complaints = [
        each.getMessage() for each in caplog.records if "standard error of" in each.getMessage()
    ]
    assert complaints[0].startswith("standard error of the program of Grog: no idea")
    assert sum(map(len, complaints)) < 5000


async def test_bot_leaves_with_its_opponent_and_its_program_ends(tmp_path: Path) -> None:
    noted = program('Path("pid").write_text(str(os.getpid()))\nprint("go TG7-F7", flush=True)')
    async with opened(settings(noted), tmp_path) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        await anna.sees("Grog moves the troll")
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
        await anna.type("leave game")
        await anna.sees("Grog leaves the troll seat")
        await gone(pid)


async def test_server_stop_ends_processes_started_by_bots(tmp_path: Path) -> None:
    nested = program(
        """
import subprocess
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"])
Path("pids").write_text(f"{os.getpid()} {child.pid}")
time.sleep(3600)
"""
    )
    async with opened(settings(nested, seconds=600), tmp_path) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        noted = tmp_path / "pids"
        await until(lambda: noted.exists() and len(noted.read_text().split()) == 2)
    for pid in (tmp_path / "pids").read_text().split():
        await gone(int(pid))


async def test_bot_returns_to_its_seat_after_a_restart(tmp_path: Path) -> None:
    ambling = settings(AMBLING, backend="sqlite")
    async with opened(ambling, tmp_path) as (_, anna):
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        await anna.sees("Grog moves the troll from G7 to F7")
    async with opened(ambling, tmp_path) as (_, anna):
        await anna.type("move from f2 to f1")
        await anna.sees("Grog moves the troll from F7 to G7")


async def test_bot_failing_on_an_event_affects_nobody_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(settings(AMBLING), tmp_path) as (_, anna):
        monkeypatch.setattr(opponent.Opponent, "observe_delivery", lambda *_: 1 / 0)
        await anna.type("invite grog on oak board")
        await anna.sees("You invite Grog to play the dwarfs")
        await anna.sees("Grog has lost the connection.")
    assert "could not handle Invited" in caplog.text


async def test_banned_bot_leaves(tmp_path: Path) -> None:
    async with opened(settings(AMBLING), tmp_path) as (sessions, anna):
        sessions.apply_order(WITHOUT_GROG)
        await anna.sees("Grog has lost the connection.")


async def test_thinking_bot_does_not_delay_players(tmp_path: Path) -> None:
    async with opened(settings(BAD["slow"], seconds=600), tmp_path) as (sessions, anna):
        bert = Person(sessions, "Bert")
        await bert.come()
        await anna.type(*SIT)
        await anna.sees("Grog sits down")
        await anna.type("start", "move from f1 to f2")
        await bert.type("go to oak board", "kibitz how is it going?")
        await anna.sees("Bert kibitzes: how is it going?")
        await anna.type("resign on it", "yes")
        await bert.sees("Anna resigns.")


@pytest.mark.slow
@pytest.mark.parametrize("board", ["marble board", "basalt board"])
async def test_complete_match_against_the_built_in_engine(tmp_path: Path, board: str) -> None:
    """Anna plays the move with the most captures, and resigns after forty plies."""
    async with opened(settings((), restarts=0), tmp_path) as (sessions, anna):
        await anna.type(f"join game as dwarf on {board}", "set board brief", "invite grog")
        await anna.sees("Grog sits down")
        for side, begun in zip(Side, ("a match", "the second battle"), strict=True):
            await anna.type("start")
            await anna.sees(f"begin {begun}")
            await play_on(sessions, anna, board, side)
        await anna.sees("The match is over")
        played = await sessions.store.read(battles.battles)
        score = await sessions.store.read(scores.score, "Anna")
        assert score
        assert not score.people.ratings
        assert not score.bots.ratings  # she is a guest
        assert sum(each.won + each.lost for each in score.bots.battles.values()) == 2
        assert all((battle.plies or 0) > 5 for battle in played)


async def play_on(sessions: Sessions, anna: Person, board: str, side: Side) -> None:
    tables = sessions.service.hall.tables
    while tables[board].is_running:
        await until(lambda: is_turn(tables[board], side))
        game = tables[board].game
        if game and len(game.moves) >= 40:
            await anna.type("resign on it", "yes")
        elif game and tables[board].is_running:
            best = max(game.legal_moves(), key=lambda move: len(move.captures))
            await anna.type(str(Play(best.attempt(), board)))


def is_turn(table: Table, side: Side) -> bool:
    return not table.is_running or (table.game is not None and table.game.position.turn is side)


@pytest.mark.slow
async def test_two_bots_finish_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots agree to end after a number of plies without captures, lowered here."""
    monkeypatch.setattr(opponent, "QUIET", 8)
    bots = [
        {"name": name, "seconds": 5.0, "command": OWN, "restarts": 0, "pause": 0} for name in PAIR
    ]
    given = Settings.model_validate({"storage": {"backend": "memory"}, "bot": bots})
    async with opened(given, tmp_path, pause=0.0) as (sessions, anna):
        await anna.type("go to pine board", "invite grog as dwarf", "invite mog as troll")
        tables = sessions.service.hall.tables
        await until(lambda: is_over(tables["pine board"]), 300)
        assert "resigns" not in anna.shown
        played = await sessions.store.read(battles.battles)
        assert [10 < (battle.plies or 0) < 400 for battle in played] == [True, True]
        for name in PAIR:
            score = await sessions.store.read(scores.score, name)
            assert score
            assert score.levels[OWN_PROGRAM].ratings


def pair(both: dict[str, object]) -> Settings:
    """Return settings with two bots that neither pause nor restart."""
    bots = [{"name": name, "restarts": 0, "pause": 0, **both} for name in PAIR]
    return Settings.model_validate({"storage": {"backend": "memory"}, "bot": bots})


def is_over(table: Table) -> bool:
    return table.match is not None and table.match.is_over


async def test_example_bot_plays_a_game(tmp_path: Path) -> None:
    """The bot in examples/bots plays against a copy of itself."""
    example = Path(__file__).parents[2] / "examples" / "bots" / "any-ply.mjs"
    command = ["node", str(example), sys.executable, "-m", "thudmud.cli.main", "engine"]
    bots = [
        {"name": name, "command": command, "restarts": 0, "seconds": 20.0, "pause": 0}
        for name in PAIR
    ]
    given = Settings.model_validate({"storage": {"backend": "memory"}, "bot": bots})
    async with opened(given, tmp_path, pause=0.0) as (sessions, anna):
        await anna.type("go to basalt board", "set board brief")
        await anna.type("invite grog as dwarf", "invite mog as troll")
        table = sessions.service.hall.tables
        await until(lambda: bool(table["basalt board"].match))
        await until(
            lambda: plies(table["basalt board"]) >= 10 or not table["basalt board"].is_running
        )
        assert "resign on it" not in anna.shown


def plies(table: Table) -> int:
    return len(table.game.moves) if table.game else 0


def has_plies(tables: Mapping[str, Table], board: str, count: int) -> bool:
    return plies(tables[board]) == count


class TestWorkers:
    """Bots without a program, which use the worker processes of the engine."""

    async def test_two_bots_play_at_several_boards(self, tmp_path: Path) -> None:
        given = pair({"level": "Chalk"})
        async with opened(given, tmp_path) as (sessions, anna):
            players = [anna, *(Person(sessions, name) for name in ("Bert", "Carla"))]
            for each in players[1:]:
                await each.come()
            boards = ("oak board", "marble board", "basalt board")
            for player, board, bot in zip(players, boards, ("grog", "mog", "grog"), strict=True):
                await player.type(f"join game as troll on {board}", f"invite {bot}", "start")
            tables = sessions.service.hall.tables
            for moves in (1, 3, 5):
                for player, board in zip(players, boards, strict=True):
                    await until(partial(has_plies, tables, board, moves))
                    game = tables[board].game
                    assert game
                    await player.type(str(Play(game.legal_moves()[0].attempt(), board)))

    async def test_requested_level_applies_until_the_bot_leaves(self, tmp_path: Path) -> None:
        levels = noting(["level"], PLAYS)
        async with opened(settings(), tmp_path, worker=levels) as (_, anna):
            for invitation, level in (("invite grog level slate", 2), ("invite grog", 4)):
                await anna.type("join game as dwarf on oak board", invitation)
                await anna.sees("Grog sits down")
                await anna.type("start", "move from f1 to f2")
                await anna.sees("Grog moves the troll from G7 to F7")
                assert (tmp_path / "level").read_text() == str(level)
                await anna.type("leave game")
                await anna.sees("Grog leaves the troll seat")

    async def test_requested_level_survives_a_restart(self, tmp_path: Path) -> None:
        given, levels = settings(backend="sqlite"), noting(["level"], PLAYS)
        async with opened(given, tmp_path) as (_, anna):
            await anna.type("join game as dwarf on oak board", "invite grog level slate")
            await anna.sees("Grog sits down")
            await anna.type("start")
        async with opened(given, tmp_path, worker=levels) as (sessions, anna):
            await anna.type("move from f1 to f2")
            await anna.sees("Grog moves the troll from G7 to F7")
            assert (tmp_path / "level").read_text() == "2"
            (started,) = [
                entry.event
                for entry in await sessions.store.read_stream("oak board")
                if isinstance(entry.event, BattleStarted)
            ]
            assert started.levels == Levels(troll=2)

    async def test_engine_seed_differs_between_battles(self, tmp_path: Path) -> None:
        async with opened(settings(), tmp_path, worker=noting(["seed"], PLAYS)) as (_, anna):
            seeds = []
            for _ in range(2):
                await anna.type(*SIT, "start", "move from f1 to f2")
                await anna.sees("Grog moves the troll from G7 to F7")
                seeds.append((tmp_path / "seed").read_text())
                await anna.type("leave game")
                await anna.sees("Grog leaves the troll seat")
            assert seeds[0] != seeds[1]

    async def test_slow_thinking_is_announced_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next ply isn't announced unless it takes much longer."""
        monkeypatch.setattr(playing, "SLOW", 0.0)
        slow = program(
            """
while not os.path.exists("ready"): time.sleep(0.01)
ply = "TF7-G7" if os.path.exists("again") else "TG7-F7"
print(f"# depth 0 nodes 1 worth +0.00 line {ply}\\ngo {ply}", flush=True)
"""
        )
        async with opened(settings(), tmp_path, worker=slow) as (_, anna):
            await anna.type(*SIT, "start", "go to hall", "move a6 b6 on oak board")
            await anna.sees("[oak board] * Grog is thinking.")
            (tmp_path / "ready").touch()
            await anna.sees("Grog moves")
            (tmp_path / "again").touch()
            await anna.type("move b6 c6 on oak board")
            assert "thinking" not in await anna.sees("Grog moves")

    async def test_unknown_level_is_refused(self, tmp_path: Path) -> None:
        async with opened(settings(), tmp_path) as (_, anna):
            await anna.type("invite grog level basalt on oak board")
            assert (
                'There is no level "basalt". The levels are 1 Chalk, 2 Slate, 3 Marble'
                in anna.shown
            )
            await anna.type("bots")
            assert "Grog, level 4 Granite: no rating; no battle yet." in anna.shown

    async def test_killed_worker_is_replaced_and_the_bot_moves(self, tmp_path: Path) -> None:
        hanging = program(
            f"""
if not Path("pid").exists():
    Path("new").write_text(str(os.getpid()))
    os.rename("new", "pid")
    time.sleep(3600)
{PLAYS}
"""
        )
        async with opened(settings(restarts=0), tmp_path, worker=hanging) as (_, anna):
            await anna.type(*SIT, "start", "move from f1 to f2")
            noted = tmp_path / "pid"
            await until(noted.exists)
            os.kill(int(noted.read_text()), signal.SIGKILL)
            await anna.sees("Grog moves the troll from G7 to F7")

    async def test_repeatedly_failing_workers_make_the_bot_resign(self, tmp_path: Path) -> None:
        async with opened(settings(), tmp_path, worker=BAD["crashing"]) as (_, anna):
            await anna.type(*SIT, "start", "move from f1 to f2")
            await anna.sees("Grog tells you: My program has failed too often. I resign.")
            await anna.sees("Grog resigns.")

    async def test_undo_stops_the_search_for_the_old_position(self, tmp_path: Path) -> None:
        """Otherwise the only worker would search the old position for ever."""
        thinking = program(
            f"""
if Path("thinks").exists():
    {PLAYS}
else:
    Path("thinks").touch()
    while sys.stdin.readline() != "stop\\n": pass
    print("go TG7-F7\\nstop", flush=True)
"""
        )
        async with opened(settings(), tmp_path, worker=thinking) as (_, anna):
            await anna.type(*SIT, "start", "move from f1 to f2")
            await until((tmp_path / "thinks").exists)
            await anna.type("undo")
            await anna.sees("You take back F1 to F2")
            await anna.type("move from f1 to f3")
            await anna.sees("Grog moves the troll from G7 to F7")

    async def test_thinking_bot_does_not_delay_other_boards(self, tmp_path: Path) -> None:
        async with opened(settings(), tmp_path, worker=BAD["slow"]) as (sessions, anna):
            bert = Person(sessions, "Bert")
            await bert.come()
            await anna.type(*SIT, "start", "move from f1 to f2")
            await bert.type("join game as dwarf on pine board", "invite grog", "start")
            await bert.sees("begin a match")
            await bert.type("move from f1 to f2")
            await anna.type("undo")
            await anna.sees("You take back F1 to F2")
            await bert.type("adjourn")
            await bert.sees("The pine board is free again")


async def test_pause_before_a_bot_move_delays_nothing_else(tmp_path: Path) -> None:
    """Each board has its own pause, for programs and workers alike."""
    for command, worker in ((AMBLING, None), ((), program(PLAYS))):
        given = settings(command, pause=60.0)
        async with opened(given, tmp_path, worker=worker) as (sessions, anna):
            bert = Person(sessions, "Bert")
            await bert.come()
            await anna.type(*SIT, "start", "move from f1 to f2")
            await bert.type("join game as dwarf on pine board", "invite grog", "start")
            await bert.type("move from f1 to f2", "undo")
            await bert.sees("You take back F1 to F2")
            await anna.type("undo")
            await anna.sees("You take back F1 to F2")
            assert "Grog moves" not in anna.shown + bert.shown


async def test_bot_moves_after_the_pause(tmp_path: Path) -> None:
    async with opened(settings(AMBLING, pause=0.5), tmp_path) as (sessions, anna):
        await anna.type(*SIT, "start")
        for ply in ("f1 to f2", "f2 to f1"):
            before = sessions.clock()
            await anna.type(f"move from {ply}")
            await anna.sees("Grog moves the troll")
            assert sessions.clock() - before >= 0.5


async def test_weak_level_hesitates_against_a_person(tmp_path: Path) -> None:
    async with opened(settings(pause=0.2), tmp_path, worker=program(PLAYS)) as (sessions, anna):
        await anna.type(*SIT, "start")
        before = sessions.clock()
        await anna.type("move from a6 to h6")
        game = sessions.service.hall.tables["oak board"].game
        assert game
        pause = pause_before_ply(0.2, game.position, 4, plays_person=True)
        assert pause > 0.5
        await anna.sees("Grog moves the troll")
        assert sessions.clock() - before >= pause


async def test_hesitating_bot_leaves_at_once_with_its_opponent(tmp_path: Path) -> None:
    given = settings(pause=60.0)
    async with opened(given, tmp_path, worker=program(PLAYS)) as (_sessions, anna):
        await anna.type(*SIT, "start", "move from f1 to f2", "leave game")
        await anna.sees("Grog leaves")
        await anna.type(*SIT, "start")
        await anna.sees("begin a match")


class TestProgram:
    """Unit tests of the process wrapper."""

    async def test_program_is_started_once(self, tmp_path: Path) -> None:
        counting = Program("Grog", [sys.executable, "-S", "-c", COUNTING], tmp_path, 10.0)
        await counting.start()
        await counting.start()
        await counting.stop()
        await counting.stop()
        assert (tmp_path / "starts").read_text() == "x"

    async def test_program_ignoring_quit_is_killed(self, tmp_path: Path) -> None:
        stubborn = Program("Grog", [sys.executable, "-S", "-c", STUBBORN], tmp_path, 10.0)
        await stubborn.start()
        async with asyncio.timeout(20):
            await stubborn.stop()
        await gone(int((tmp_path / "pid").read_text()))

    async def test_program_blocked_on_output_is_killed(self, tmp_path: Path) -> None:
        talking = Program("Grog", [sys.executable, "-S", "-c", TALKING], tmp_path, 10.0)
        await talking.start()
        stat = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
        # It sleeps once its output pipe is full.
        await until(lambda: ") S " in stat.read_text("utf-8"))
        async with asyncio.timeout(20):
            await talking.kill()
        await gone(int((tmp_path / "pid").read_text()))

    async def test_missing_program_is_reported(self, tmp_path: Path) -> None:
        lost = Program("Grog", ["no such program"], tmp_path, 10.0)
        with pytest.raises(ProgramError, match="no executable program 'no such program'"):
            await lost.start()

    async def test_program_output_before_an_answer_is_limited(self, tmp_path: Path) -> None:
        for before, is_too_much in ((MOST_SAID // 2, False), (2 * MOST_SAID, True)):
            words = [sys.executable, "-S", "-c", THINKING, str(before)]
            thinking = Program("Grog", words, tmp_path, PATIENCE)
            if is_too_much:
                with pytest.raises(
                    ProgramError, match=f"{MOST_SAID} bytes of output, but no answer"
                ):
                    await thinking.start()
            else:
                await thinking.start()
            await thinking.kill()

    async def test_stderr_of_a_crashing_program_is_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        broken = Program("Grog", [sys.executable, "-S", "-c", "no such name"], tmp_path, PATIENCE)
        with pytest.raises(ProgramError, match='the program ended instead of answering "name"'):
            await broken.start()
        assert "SyntaxError" in caplog.text
        await broken.kill()

    async def test_stderr_of_a_program_that_ended_early_is_logged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = Program("Grog", [sys.executable, "-S", "-c", "no such name"], tmp_path, PATIENCE)
        begin = broken._begin

        async def begin_and_end() -> asyncio.subprocess.Process:
            process = await begin()
            await process.wait()
            return process

        monkeypatch.setattr(broken, "_begin", begin_and_end)
        with pytest.raises(ProgramError, match='the program ended instead of answering "name"'):
            await broken.start()
        assert "SyntaxError" in caplog.text
        await broken.kill()

    @pytest.mark.parametrize("how", ["killed", "by itself"])
    async def test_daemonised_children_of_a_program_are_ended(
        self, tmp_path: Path, how: str
    ) -> None:
        words = [sys.executable, "-S", "-c", HIDING, how]
        hiding = Program("Grog", words, tmp_path, PATIENCE)
        await hiding.start()
        pids = tmp_path / "pids"
        await until(lambda: len(pids.read_text().split()) == 3)
        await hiding.kill()
        for pid in pids.read_text().split():
            await gone(int(pid))

    async def test_killed_server_leaves_no_program_processes(self, tmp_path: Path) -> None:
        server = [sys.executable, "-c", SERVING, sys.executable, "-S", "-c", HIDING, "killed"]
        process = await asyncio.create_subprocess_exec(
            *server, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        assert await process.stdout.readline() == b"started\n"
        pids = tmp_path / "pids"
        await until(lambda: len(pids.read_text().split()) == 3)
        process.kill()
        await process.wait()
        for pid in pids.read_text().split():
            await gone(int(pid))


def test_unrunnable_bot_command_is_reported_at_startup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "grog.py").touch()
    config = tmp_path / "config.toml"
    for command in ("no-such-program", "./grog.py", "/nowhere/grog", "/", "", "a\\u0000b"):
        config.write_text(f'[[bot]]\nname = "Mog"\n[[bot]]\nname = "Grog"\ncommand = ["{command}"]')
        assert main(["serve", "--port", "0", "--config", str(config)]) == 2
        shown = "a\\x00b" if "u0000" in command else command
        assert capsys.readouterr() == (
            "",
            f"thudmud: bot 2, command: no executable program '{shown}'\n",
        )
    assert {each.name for each in tmp_path.iterdir()} == {"config.toml", "grog.py"}


THINKING = """
import sys
print("# " + ("x" * 62 + "\\n# ") * (int(sys.argv[1]) // 64))
print("name", flush=True)
sys.stdin.read()
"""
HIDING = """
import os, sys, time
def note():
    with open("pids", "a") as file:
        file.write(f"{os.getpid()} ")
note()
if not os.fork():
    os.setsid()
    note()
    if not os.fork():
        os.setsid()
        note()
        time.sleep(3600)
    os._exit(0) if sys.argv[1] == "killed" else time.sleep(3600)
while len(open("pids").read().split()) < 3:  # else some are ended before they note theirs
    time.sleep(0.01)
print("name", flush=True)
time.sleep(3600 if sys.argv[1] == "killed" else 0)
"""
SERVING = """
import asyncio, sys
from pathlib import Path
from thudmud.bots.program import Program
async def serve():
    await Program("Grog", sys.argv[1:], Path(), 60.0).start()
    print("started", flush=True)
    await asyncio.sleep(3600)
asyncio.run(serve())
"""
COUNTING = """
import sys
open("starts", "a").write("x")
for line in sys.stdin:
    print(line.strip(), flush=True)
"""
TALKING = """
import os
open("pid", "w").write(str(os.getpid()))
print("name", flush=True)
while True:
    print("# and so on")
"""
STUBBORN = """
import os, signal, sys, time
open("pid", "w").write(str(os.getpid()))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("name", flush=True)
time.sleep(3600)
"""


async def gone(pid: int) -> None:
    """Wait until a process has ended or is a zombie."""
    await until(lambda: not is_alive(pid))


async def test_bot_closed_before_it_has_begun_leaves(tmp_path: Path) -> None:
    without = Settings(bot=(), storage=StorageSettings(backend="memory"))
    async with open_sessions(without, tmp_path) as sessions:
        mog = BotSettings(name="Mog")
        bots = Bots([mog], sessions, tmp_path, Workers(), patience=1.0, pause=1.0)
        bots.start()
        sessions.close("That is all.")
        async with asyncio.timeout(PATIENCE):
            await bots.close()
            await sessions.wait_closed()


async def test_bot_failure_while_leaving_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async with opened(settings(AMBLING), tmp_path) as (sessions, anna):
        obeyed = sessions.submit

        async def submit(visit: Visit, line: str | Command) -> Result:
            if visit.name == "Grog":
                asked.set()
                await answered.wait()
                raise StoreError("gone")
            return await obeyed(visit, line)

        monkeypatch.setattr(sessions, "submit", submit)
        sitting = anna.begin(SIT[0]), anna.begin(SIT[1])
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        sessions.close("That is all.")
        answered.set()
        await until(lambda: "could not carry out a command of Grog" in caplog.text)
        async with asyncio.timeout(PATIENCE):
            await sessions.wait_closed()
            await asyncio.wait(sitting)
    gc.collect()
    assert "never retrieved" not in caplog.text


CONFIG = """
[storage]
backend = "memory"

[[board]]
name = "oak board"
style = "brief"

[[bot]]
name = "grog"
seconds = 30
"""


README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
async def test_two_lines_on_a_fresh_server_start_a_battle(run_server: RunServer) -> None:
    """Sends a name and the lines from the README to a server without configuration."""
    (told,) = re.findall(r"Give a name, and type\n\n((?:    .*\n)+)", README.read_text("utf-8"))
    lines = ["Anna", *told.split("\n")[:-1]]
    assert len(lines) == 2
    with run_server([sys.executable, "-m", "thudmud.cli.main", "--port", "0"]) as address:
        async with asyncio.timeout(PATIENCE):
            anna = Client(*await asyncio.open_connection(*address))
        await anna.send("".join(f"{line.strip()}\r\n" for line in lines).encode())
        await anna.until(b'To play, type "play".')
        await anna.until(b"Meanwhile, here's a bot to play.")
        await anna.until(b"begin a match")
        await anna.until(b"Move by typing two squares")
        await anna.close()


@pytest.mark.slow
async def test_guest_plays_the_built_in_engine(tmp_path: Path, run_server: RunServer) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG, "utf-8")
    words = [
        sys.executable,
        "-m",
        "thudmud.cli.main",
        "serve",
        "--port",
        "0",
        "--config",
        config,
    ]
    with run_server(words) as address:
        async with asyncio.timeout(PATIENCE):
            anna = Client(*await asyncio.open_connection(*address))
        await anna.until(b"name? ")
        await anna.send(b"grog\r\n")
        await anna.until(b"Grog is a bot.")
        await anna.send(b"anna\r\njoin game as dwarf on oak board\r\ninvite gr\r\n")
        await anna.until(b"Grog sits down at the oak board")
        await anna.send(b"start\r\nmove from a6 to b6\r\n")
        await anna.until(b"It is Grog's turn")
        await anna.until(b"It is your turn.")
        processes = engines(tmp_path)
        assert processes
        await anna.close()
    await until(lambda: not any(map(is_alive, processes)))


def engines(folder: Path) -> list[int]:
    """Return the engine processes that run in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            where, words = (path.parent / "cwd").readlink(), path.read_bytes().split(b"\0")
        except OSError:
            continue
        if where == folder and b"engine" in words:
            found.append(int(path.parent.name))
    return found
