"""Workers: who is answered first, and what becomes of a worker that fails."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import PassTime
from tests.server.bots import noting, program, until
from thudmud.bots import workers as pool
from thudmud.bots.program import ENGINE, ProgramError
from thudmud.bots.workers import Question, Reply, Workers
from thudmud.errors import InvalidValueError
from thudmud.rules import DEFAULT_RULES, RULESETS, Game, Ruleset, write_position

GAME = Game.start(DEFAULT_RULES)
SAYS = 'print("# depth 0 nodes 1 worth +1.50 line dA6-B6 TG7-F7\\ngo dA6-B6", flush=True)'
REPLY = Reply("dA6-B6", 150, ("dA6-B6", "TG7-F7"))
HUNDREDS_OF_YEARS = 999_999_999
"""Of positions, roughly."""
HOUR = 3600.0


@asynccontextmanager
async def opened(
    folder: Path, command: Sequence[str] = ENGINE, count: int = 1
) -> AsyncIterator[Workers]:
    workers = Workers(count, folder, command)
    try:
        yield workers
    finally:
        await workers.close()


def once(first: str) -> list[str]:
    """Return a command that does something when it is first to play, and then plays well."""
    body = "\n".join(f"    {line}" for line in first.strip().splitlines())
    return program(f'if not Path("pid").exists():\n{body}\n{SAYS}')


NOTE = 'Path("pid.new").write_text(str(os.getpid())); os.rename("pid.new", "pid")'


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
async def test_a_question_is_answered_with_a_ply_its_worth_and_a_line(
    tmp_path: Path, rules: Ruleset
) -> None:
    async with opened(tmp_path) as workers:
        game = Game.start(rules)
        for limit in (
            {"level": 1}, {"level": 4}, {"level": 5}, {"nodes": 300}, {"level": 6, "nodes": 300}
        ):  # fmt: skip
            answer = await workers.think(Question("oak board", game, **limit))
            assert answer.ply == answer.line[0]
            assert abs(answer.worth) < 5000
            game = game.push(answer.ply)


async def test_it_knows_what_was_there_before(tmp_path: Path) -> None:
    """Since something was last captured; what was before that cannot come again."""
    captured = GAME.push("dF1-F6").push("TG7-G6xF6")
    game = captured.push("dA6-B6").push("TG8-F8")
    async with opened(tmp_path, noting(["position", "moves"], SAYS)) as workers:
        await workers.think(Question("oak board", game, 4))
    assert (tmp_path / "position").read_text() == write_position(captured.position)
    assert (tmp_path / "moves").read_text() == "dA6-B6 TG8-F8"


async def test_no_board_waits_for_two_questions_of_another(tmp_path: Path) -> None:
    answered: list[str] = []
    async with opened(tmp_path, program(SAYS)) as workers:

        async def ask(board: str) -> None:
            assert await workers.think(Question(board, GAME, 4)) == REPLY
            answered.append(board)

        await asyncio.gather(*map(ask, ["oak"] * 4 + ["pine"] * 3 + ["marble"]))
    # The first is asked at once; then one of each board.
    assert answered == ["oak", "oak", "pine", "marble", "oak", "pine", "oak", "pine"]


async def test_what_is_for_no_board_comes_after_all_boards(tmp_path: Path) -> None:
    answered: list[str | None] = []
    async with opened(tmp_path, program(SAYS)) as workers:

        async def ask(board: str | None) -> None:
            assert await workers.think(Question(board, GAME, 4)) == REPLY
            answered.append(board)

        await asyncio.gather(*map(ask, [None, None, None, "oak", "oak", "pine"]))
    assert answered == [None, "oak", "pine", "oak", None, None]


async def test_of_several_workers_one_is_left_for_the_boards(tmp_path: Path) -> None:
    async with opened(tmp_path, count=3) as workers:
        endless = Question(None, GAME, nodes=HUNDREDS_OF_YEARS)
        asking = [asyncio.create_task(workers.think(endless)) for _ in range(4)]
        for _ in range(3):
            assert (await workers.think(Question("oak board", GAME, 4))).ply
        for each in asking[:2]:
            each.cancel()
        for each in asking[2:]:  # their turn comes now
            each.cancel()
        await asyncio.wait(asking)
        assert (await workers.think(Question(None, GAME, 4))).ply


async def test_it_is_told_what_was_found_at_each_depth(tmp_path: Path) -> None:
    says = [
        f"# depth {depth} nodes 9 worth {worth} line dA6-B6"
        for depth, worth in ((1, "+0.10"), (2, "-0.20"), (3, "+0.30"), (3, "+9.00"))
    ]
    says = [f"print({each!r})" for each in says]
    command = program("; ".join([*says, 'print("go dA6-B6", flush=True)']))
    async with opened(tmp_path, command) as workers:
        reply = await workers.think(Question(None, GAME, nodes=9))
    assert (reply.worth, reply.worths) == (900, (10, -20, 30))


async def test_who_gives_up_waiting_holds_nobody_up(tmp_path: Path) -> None:
    async with opened(tmp_path) as workers:
        endless = Question("oak board", GAME, nodes=HUNDREDS_OF_YEARS)
        asking = [asyncio.create_task(workers.think(endless)) for _ in range(3)]
        other = asyncio.create_task(workers.think(Question("pine board", GAME, 4)))
        await asyncio.sleep(0)  # all of them wait by now
        for each in reversed(asking):
            each.cancel()
        assert (await other).ply
        await asyncio.wait(asking)
        assert all(each.cancelled() for each in asking)


async def test_a_worker_that_stops_is_asked_again(tmp_path: Path) -> None:
    stops = program(
        f"{NOTE}\nif sys.stdin.readline() == 'stop\\n': {SAYS}; print('stop', flush=True)"
    )
    async with opened(tmp_path, stops) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        first = (tmp_path / "pid").read_text()
        (tmp_path / "pid").unlink()
        asking.cancel()
        asking = asyncio.create_task(workers.think(Question("pine board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        assert (tmp_path / "pid").read_text() == first
        asking.cancel()


async def test_a_worker_that_does_not_stop_is_ended(tmp_path: Path) -> None:
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        asking.cancel()
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY


async def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        assert await asking == REPLY


async def test_a_worker_that_dies_while_it_has_nothing_to_do_is_started_again(
    tmp_path: Path,
) -> None:
    noting = f'Path("keeper").write_text(str(os.getppid()))\n{NOTE}\n{SAYS}'
    async with opened(tmp_path, program(noting)) as workers:
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY
        first = int((tmp_path / "pid").read_text())
        keeper = int((tmp_path / "keeper").read_text())
        os.kill(first, signal.SIGKILL)
        await until(lambda: not is_alive(keeper))  # it is our child, so the loop knows of it
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY
        assert int((tmp_path / "pid").read_text()) != first


def is_alive(process: int) -> bool:
    """Whether a process has not ended, or nobody has taken note of that."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_worker_that_hangs_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pass_time: PassTime
) -> None:
    monkeypatch.setattr(pool, "PATIENCE", HOUR)
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        await pass_time(HOUR)
        assert await asking == REPLY


async def test_a_worker_that_says_that_it_thinks_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pass_time: PassTime
) -> None:
    monkeypatch.setattr(pool, "PATIENCE", HOUR)
    thinks = f"""
with open("asked", "a") as asked: asked.write("x")
for said in "first", "second":
    while not os.path.exists("say"): time.sleep(0.01)
    print("# thinking", flush=True)
    os.rename("say", said)
{SAYS}
"""
    async with opened(tmp_path, program(thinks)) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "asked").exists)
        for said in ("first", "second"):
            await pass_time(0.7 * HOUR)
            (tmp_path / "say").touch()
            await until((tmp_path / said).exists)
            await pass_time(0)  # it has been read
        assert await asking == REPLY
    assert (tmp_path / "asked").read_text() == "x"


@pytest.mark.parametrize(
    "going", ["sys.exit(3)", 'print("go dA6-B6", flush=True)', 'print("error what?", flush=True)']
)
async def test_what_fails_again_and_again_is_given_up(tmp_path: Path, going: str) -> None:
    failing = program(f'with open("tries", "a") as tries: tries.write("x")\n{going}')
    async with opened(tmp_path, failing) as workers:
        for asked in (1, 2):
            with pytest.raises(ProgramError):
                await workers.think(Question("oak board", GAME, 4))
            assert len((tmp_path / "tries").read_text()) == asked * pool.TRIES


async def test_they_give_way_to_others(tmp_path: Path) -> None:
    """Also to those of other sessions, which Linux may give as much as theirs, nice or not."""
    nice = program(
        f"""
Path("nice").write_text(str(os.nice(0)))
group = Path("/proc/self/autogroup")
Path("group").write_text(group.read_text().strip() if group.exists() else "no groups here")
{SAYS}
"""
    )
    async with opened(tmp_path, nice) as workers:
        await workers.think(Question("oak board", GAME, 4))
    assert int((tmp_path / "nice").read_text()) == min(19, os.nice(0) + pool.NICENESS)
    group = (tmp_path / "group").read_text()
    assert group == "no groups here" or group.endswith(f" nice {pool.NICENESS}")


async def test_as_many_think_at_once_as_there_are(tmp_path: Path) -> None:
    meeting = program(
        f"""
Path(str(os.getpid())).touch()
while len(list(Path().iterdir())) < 2: time.sleep(0.01)
{SAYS}
"""
    )
    async with opened(tmp_path, meeting, count=2) as workers:
        both = [workers.think(Question(board, GAME, 4)) for board in ("oak", "pine")]
        assert await asyncio.gather(*both) == [REPLY, REPLY]


async def test_one_is_enough_for_who_ask_one_after_another(tmp_path: Path) -> None:
    noting = program(
        f'with open("starts", "a") as starts: starts.write(f"{{os.getpid()}} ")\n{SAYS}'
    )
    async with opened(tmp_path, noting, count=3) as workers:
        for _ in range(4):
            await workers.think(Question("oak board", GAME, 4))
    assert len(set((tmp_path / "starts").read_text().split())) == 1


async def test_when_they_are_ended_nobody_waits_any_more(tmp_path: Path) -> None:
    async with opened(tmp_path, program(f"{NOTE}; time.sleep(3600)")) as workers:
        question = Question("oak board", GAME, 4)
        asking = [asyncio.create_task(workers.think(question)) for _ in range(2)]
        await until((tmp_path / "pid").exists)
        await workers.close()
        for each in asking:
            with pytest.raises(ProgramError):
                await each
        with pytest.raises(ProgramError, match="the workers have ended"):
            await workers.think(question)


def test_a_question_has_a_limit_and_a_battle_that_goes_on() -> None:
    with pytest.raises(InvalidValueError, match="either a level or a number of nodes"):
        Question("oak board", GAME)
    with pytest.raises(InvalidValueError, match="the battle is over"):
        Question("oak board", GAME.resign(GAME.turn), 4)
