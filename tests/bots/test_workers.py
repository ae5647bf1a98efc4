"""The worker pool: order of the questions, restarts, timeouts and priorities."""

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
"""A node limit that no search reaches."""
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
    """Return a program that runs ``first`` on its first start, and answers on later ones."""
    body = "\n".join(f"    {line}" for line in first.strip().splitlines())
    return program(f'if not Path("pid").exists():\n{body}\n{SAYS}')


NOTE = 'Path("pid.new").write_text(str(os.getpid())); os.rename("pid.new", "pid")'


@pytest.mark.parametrize("rules", RULESETS.values(), ids=str)
async def test_reply_has_a_ply_an_evaluation_and_a_line(tmp_path: Path, rules: Ruleset) -> None:
    async with opened(tmp_path) as workers:
        game = Game.start(rules)
        for limit in (
            {"level": 1}, {"level": 4}, {"level": 5}, {"nodes": 300}, {"level": 6, "nodes": 300}
        ):  # fmt: skip
            answer = await workers.think(Question("oak board", game, **limit))
            assert answer.ply == answer.principal_variation[0]
            assert abs(answer.score) < 5000
            game = game.push(answer.ply)


async def test_worker_gets_the_position_and_plies_since_the_last_capture(tmp_path: Path) -> None:
    """Positions from before the last capture cannot recur."""
    captured = GAME.push("dF1-F6").push("TG7-G6xF6")
    game = captured.push("dA6-B6").push("TG8-F8")
    async with opened(tmp_path, noting(["position", "moves"], SAYS)) as workers:
        await workers.think(Question("oak board", game, 4))
    assert (tmp_path / "position").read_text() == write_position(captured.position)
    assert (tmp_path / "moves").read_text() == "dA6-B6 TG8-F8"


async def test_boards_with_several_questions_take_turns(tmp_path: Path) -> None:
    answered: list[str] = []
    async with opened(tmp_path, program(SAYS)) as workers:

        async def ask(board: str) -> None:
            assert await workers.think(Question(board, GAME, 4)) == REPLY
            answered.append(board)

        await asyncio.gather(*map(ask, ["oak"] * 4 + ["pine"] * 3 + ["marble"]))
    # The first question starts at once; then the boards alternate.
    assert answered == ["oak", "oak", "pine", "marble", "oak", "pine", "oak", "pine"]


async def test_questions_without_a_board_come_last(tmp_path: Path) -> None:
    answered: list[str | None] = []
    async with opened(tmp_path, program(SAYS)) as workers:

        async def ask(board: str | None) -> None:
            assert await workers.think(Question(board, GAME, 4)) == REPLY
            answered.append(board)

        await asyncio.gather(*map(ask, [None, None, None, "oak", "oak", "pine"]))
    assert answered == [None, "oak", "pine", "oak", None, None]


async def test_worker_is_reserved_for_questions_of_boards(tmp_path: Path) -> None:
    async with opened(tmp_path, count=3) as workers:
        endless = Question(None, GAME, nodes=HUNDREDS_OF_YEARS)
        asking = [asyncio.create_task(workers.think(endless)) for _ in range(4)]
        for _ in range(3):
            assert (await workers.think(Question("oak board", GAME, 4))).ply
        for each in asking[:2]:
            each.cancel()
        for each in asking[2:]:  # queued until now
            each.cancel()
        await asyncio.wait(asking)
        assert (await workers.think(Question(None, GAME, 4))).ply


async def test_reply_has_the_evaluation_at_each_depth(tmp_path: Path) -> None:
    says = [
        f"# depth {depth} nodes 9 worth {worth} line dA6-B6"
        for depth, worth in ((1, "+0.10"), (2, "-0.20"), (3, "+0.30"), (3, "+9.00"))
    ]
    says = [f"print({each!r})" for each in says]
    command = program("; ".join([*says, 'print("go dA6-B6", flush=True)']))
    async with opened(tmp_path, command) as workers:
        reply = await workers.think(Question(None, GAME, nodes=9))
    assert (reply.score, reply.scores_by_depth) == (900, (10, -20, 30))


async def test_cancelled_question_holds_up_no_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as workers:
        endless = Question("oak board", GAME, nodes=HUNDREDS_OF_YEARS)
        asking = [asyncio.create_task(workers.think(endless)) for _ in range(3)]
        other = asyncio.create_task(workers.think(Question("pine board", GAME, 4)))
        await asyncio.sleep(0)  # let all of them queue
        for each in reversed(asking):
            each.cancel()
        assert (await other).ply
        await asyncio.wait(asking)
        assert all(each.cancelled() for each in asking)


async def test_worker_that_stops_on_request_is_reused(tmp_path: Path) -> None:
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


async def test_worker_that_does_not_stop_is_replaced(tmp_path: Path) -> None:
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        asking.cancel()
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY


async def test_worker_killed_while_thinking_is_restarted(tmp_path: Path) -> None:
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        assert await asking == REPLY


async def test_worker_killed_while_idle_is_restarted(
    tmp_path: Path,
) -> None:
    noting = f'Path("keeper").write_text(str(os.getppid()))\n{NOTE}\n{SAYS}'
    async with opened(tmp_path, program(noting)) as workers:
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY
        first = int((tmp_path / "pid").read_text())
        keeper = int((tmp_path / "keeper").read_text())
        os.kill(first, signal.SIGKILL)
        await until(lambda: not is_alive(keeper))  # a child of this process, reaped by the loop
        assert await workers.think(Question("oak board", GAME, 4)) == REPLY
        assert int((tmp_path / "pid").read_text()) != first


def is_alive(process: int) -> bool:
    """Whether a process is running, or is a zombie not yet reaped."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_worker_that_hangs_is_restarted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pass_time: PassTime
) -> None:
    monkeypatch.setattr(pool, "PATIENCE", HOUR)
    async with opened(tmp_path, once(f"{NOTE}; time.sleep(3600)")) as workers:
        asking = asyncio.create_task(workers.think(Question("oak board", GAME, 4)))
        await until((tmp_path / "pid").exists)
        await pass_time(HOUR)
        assert await asking == REPLY


async def test_worker_that_reports_thinking_is_not_timed_out(
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
            await pass_time(0)  # let the comment be read
        assert await asking == REPLY
    assert (tmp_path / "asked").read_text() == "x"


@pytest.mark.parametrize(
    "going", ["sys.exit(3)", 'print("go dA6-B6", flush=True)', 'print("error what?", flush=True)']
)
async def test_question_fails_after_several_tries(tmp_path: Path, going: str) -> None:
    failing = program(f'with open("tries", "a") as tries: tries.write("x")\n{going}')
    async with opened(tmp_path, failing) as workers:
        for asked in (1, 2):
            with pytest.raises(ProgramError):
                await workers.think(Question("oak board", GAME, 4))
            assert len((tmp_path / "tries").read_text()) == asked * pool.TRIES


async def test_worker_runs_at_low_priority(tmp_path: Path) -> None:
    """With autogroups, Linux shares the CPU by session, so the group needs its own niceness."""
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


async def test_workers_think_in_parallel(tmp_path: Path) -> None:
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


async def test_worker_is_reused_for_consecutive_questions(tmp_path: Path) -> None:
    noting = program(
        f'with open("starts", "a") as starts: starts.write(f"{{os.getpid()}} ")\n{SAYS}'
    )
    async with opened(tmp_path, noting, count=3) as workers:
        for _ in range(4):
            await workers.think(Question("oak board", GAME, 4))
    assert len(set((tmp_path / "starts").read_text().split())) == 1


async def test_questions_fail_once_the_workers_are_closed(tmp_path: Path) -> None:
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


def test_question_requires_a_limit_and_a_running_battle() -> None:
    with pytest.raises(InvalidValueError, match="either a level or a number of nodes"):
        Question("oak board", GAME)
    with pytest.raises(InvalidValueError, match="the battle is over"):
        Question("oak board", GAME.resign(GAME.turn), 4)
