"""Client requests: boards, players, lines and their owners."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.gateway.client import SECRET, Client, opened, stored
from tests.gateway.conftest import Connect
from thudmud.game.command import Command
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.requests import Hello, OpenRequest
from thudmud.gateway.session import GatewayPolicy
from thudmud.service import Result
from thudmud.service.lines import LineContext, PlayerLines
from thudmud.store import Store

GREETING = {"type": "hello", "version": 1, "client": "mud", "secret": SECRET}


async def last_words(link: Client, **greeting: object) -> tuple[str, bool]:
    """Return the code that ends a link, and whether nothing else was sent."""
    link.say(**greeting)
    heard = await link.end()
    assert all(each["type"] == "error" and each["fatal"] for each in heard)
    return heard[0]["code"], len(heard) == 1


# Hello.


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"secret": "something else"}, "wrong_secret"),
        ({"secret": ""}, "wrong_secret"),
        ({"secret": f"{SECRET}é"}, "wrong_secret"),
        ({"version": 2}, "wrong_version"),
        ({"version": 0, "secret": "x"}, "wrong_version"),
        ({"version": "1"}, "hello_first"),
        ({"client": "a mud"}, "hello_first"),
        ({"type": "ping"}, "hello_first"),
        ({"type": "open", "id": 1, "board": "oak"}, "hello_first"),
    ],
)
async def test_invalid_hello_ends_the_link(
    connect: Connect, change: dict[str, object], code: str
) -> None:
    assert await last_words(connect(), **GREETING | change) == (code, True)


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", b"\xff\xfd\x01\n", b"x" * 100_000])
async def test_foreign_protocol_is_refused_with_hello_first(connect: Connect, words: bytes) -> None:
    client = connect()
    client.write(words)
    assert [each["code"] for each in await client.end()] == ["hello_first"]


async def test_silent_connection_times_out() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, hello_limit=0.01))
    assert [each["code"] for each in await Client(gateway).end()] == ["hello_first"]
    await gateway.close()


async def test_welcome_states_the_policy(connect: Connect) -> None:
    assert await connect().greet() == {
        "type": "welcome",
        "version": 1,
        "session": "token-1",
        "resumed": False,
        "received": 0,
        "heartbeat": 30.0,
        "max_line": 8192,
        "outbox_bytes": 1_048_576,
    }


async def test_second_hello_is_a_bad_request(client: Client) -> None:
    client.say(**GREETING)
    assert (await client.hear())["code"] == "bad_request"
    assert (await client.answer("open", board="oak"))["ok"]


async def test_second_link_of_a_client_is_refused(client: Client, connect: Connect) -> None:
    assert await last_words(connect(), **GREETING) == ("client_taken", True)
    guess = {**GREETING, "session": "token-2"}
    assert await last_words(connect(), **guess) == ("client_taken", True)
    assert (await client.answer("open", board="oak"))["ok"]


async def test_clients_beyond_the_limit_are_refused() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, links=1))
    first = Client(gateway)
    await first.greet()
    assert await last_words(Client(gateway), **GREETING | {"client": "two"}) == ("full", True)
    first.say(type="bye")
    assert await first.end() == []
    assert (await Client(gateway).greet("two"))["type"] == "welcome"
    await gateway.close()


# Boards and their owners.


async def test_opening_a_board_is_idempotent(client: Client) -> None:
    await client.seat()
    again = await client.answer("open", board="oak", name="oak board")
    assert again["version"] == 3
    assert again["players"] == ["Anna", "Bert"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("oak  board", "A board's name should be at most 30 letters and single spaces."),
        ("board 2", "A board's name should be at most 30 letters and single spaces."),
        ("x" * 31, "A board's name should be at most 30 letters and single spaces."),
        (
            "hall",
            'A board\'s name should not contain "hall", which is a word in commands.',
        ),
    ],
)
async def test_invalid_board_name_is_refused(client: Client, name: str, text: str) -> None:
    answer = await client.answer("open", board="oak", name=name)
    assert (answer["ok"], answer["code"], answer["text"]) == (False, "bad_name", text)


async def test_open_board_cannot_be_renamed(client: Client) -> None:
    await client.answer("open", board="oak", name="oak board")
    answer = await client.answer("open", board="oak", name="elm board")
    assert (answer["code"], answer["text"]) == (
        "differs",
        'This board is already called "oak board", and cannot be renamed.',
    )


@pytest.mark.parametrize("kind", ["show", "close", "leave", "enter", "line"])
async def test_unknown_board_is_an_error(client: Client, kind: str) -> None:
    more = {"player": "Anna"} if kind in {"leave", "enter", "line"} else {}
    more |= {"line": "look"} if kind == "line" else {}
    answer = await client.answer(kind, board="elm", **more)
    assert (answer["ok"], answer["code"]) == (False, "unknown_board")


async def test_board_is_accessible_only_to_its_client(client: Client, connect: Connect) -> None:
    await client.seat()
    other = connect()
    await other.greet("another-mud")
    assert (await other.answer("open", board="oak", name="oak board"))["code"] == "not_yours"
    # Other clients can neither act for its players nor add any.
    move = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    assert (await other.answer("line", **move))["code"] == "not_yours"
    assert (await other.answer("enter", board="oak", player="Carla"))["code"] == "not_yours"
    assert (await other.answer("leave", board="oak", player="Anna"))["code"] == "not_yours"
    assert (await other.answer("show", board="oak"))["code"] == "not_yours"
    assert (await client.answer("show", board="oak"))["version"] == 3
    # A board with the same name but another key is separate and has its own players.
    await other.seat("elm")
    assert (await other.answer("line", **move | {"board": "elm"}))["version"] == 4
    assert (await client.answer("show", board="oak"))["version"] == 3
    assert all(each.get("board") != "elm" for each in client.heard)


async def test_board_ownership_outlasts_the_session(client: Client, connect: Connect) -> None:
    await client.seat()
    client.say(type="bye")
    await client.end()
    other = connect()
    await other.greet("another-mud")
    assert (await other.answer("open", board="oak", name="oak board"))["code"] == "not_yours"


async def test_boards_and_players_beyond_the_limit_are_refused() -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, boards=1, players=2))
    client = Client(gateway)
    await client.greet()
    await client.seat()
    assert (await client.answer("open", board="elm"))["code"] == "too_many"
    assert (await client.answer("enter", board="oak", player="Carla"))["code"] == "too_many"
    assert (await client.answer("close", board="oak"))["ok"]
    assert (await client.answer("open", board="elm"))["ok"]
    await gateway.close()


async def test_closed_board_keeps_the_battle_with_players_away(client: Client) -> None:
    await client.seat()
    assert (await client.answer("close", board="oak"))["version"] == 5
    assert (await client.answer("show", board="oak"))["code"] == "unknown_board"
    again = await client.answer("open", board="oak", name="oak board")
    assert (again["version"], again["players"]) == (5, [])
    table = (await client.answer("show", board="oak"))["table"]
    assert [seat["player"] for seat in table["seats"]] == ["Anna", "Bert"]
    assert all(seat["away_since"] for seat in table["seats"])
    assert table["running"]


# Players.


@pytest.mark.parametrize(
    ("player", "code"),
    [
        ("Anna", "here_already"),
        ("anna", "here_already"),
        ("", "bad_name"),
        (" Anna", "bad_name"),
        ("A" * 81, "bad_name"),
        ("Carla\n@thud", "bad_name"),
    ],
)
async def test_invalid_or_present_player_cannot_enter(
    client: Client, player: str, code: str
) -> None:
    await client.seat()
    assert (await client.answer("enter", board="oak", player=player))["code"] == code


async def test_player_name_of_a_kept_seat_is_case_sensitive(client: Client) -> None:
    await client.seat()
    await client.answer("leave", board="oak", player="Anna", parting="lost")
    answer = await client.answer("enter", board="oak", player="anna")
    assert (answer["code"], "Anna has a seat" in answer["text"]) == ("bad_name", True)
    assert "code" not in await client.answer("enter", board="oak", player="Anna")


@pytest.mark.parametrize("player", ["Carla", "anna", "", "Anna ", "x" * 1000])
async def test_absent_player_cannot_play_or_leave(client: Client, player: str) -> None:
    await client.seat()
    answer = await client.answer("line", board="oak", player=player, line="move from f1 to f6")
    assert answer["code"] == "unknown_player"
    assert len(answer["text"]) < 100
    assert (await client.answer("leave", board="oak", player=player))["code"] == "unknown_player"
    assert (await client.answer("show", board="oak"))["version"] == 3


async def test_player_enters_at_the_board_or_in_the_hall(client: Client) -> None:
    await client.answer("open", board="oak", name="oak board")
    await client.answer("enter", board="oak", player="Anna")
    assert [each["type"] for each in client.heard[2:]] == [
        "answer"
    ]  # no text for an arrival at the board
    await client.answer("enter", board="oak", player="Bert", room="hall")
    assert client.heard[3]["to"] == ["Bert"]
    assert client.heard[3]["text"].startswith("You come into the hall.")
    await client.answer("line", board="oak", player="Bert", line="go to oak board")
    assert (client.heard[5]["to"], client.heard[5]["text"]) == (
        ["Anna"],
        "Bert walks to the oak board.",
    )


async def test_returning_player_receives_missed_moves_and_the_board(client: Client) -> None:
    await client.seat()
    await client.answer("leave", board="oak", player="Bert", parting="lost")
    assert client.heard[-2]["text"].startswith("Bert has lost the connection")
    await client.answer("line", board="oak", player="Anna", line="move from f1 to f6")
    before = len(client.heard)
    await client.answer("enter", board="oak", player="Bert", data=True)
    told = [each for each in client.heard[before:] if "Bert" in each.get("to", ())]
    texts = "\n".join(each["text"] for each in told if each["type"] == "tell")
    assert "Anna moves the dwarf from F1 to F6." in texts
    packages = [each["package"] for each in told if each["type"] == "data"]
    assert packages == [
        *("Thud.Came", "Thud.Table", "Thud.Me", "Thud.Here"),
        *("Thud.Options", "Thud.Table", "Thud.Board"),
    ]


async def test_data_is_sent_only_to_players_who_enable_it(client: Client) -> None:
    await client.answer("open", board="oak")
    await client.answer("enter", board="oak", player="Anna", data=True)
    await client.answer("enter", board="oak", player="Bert")
    assert [(each["package"], each["to"]) for each in client.heard if each["type"] == "data"] == [
        ("Thud.Me", ["Anna"]),
        ("Thud.Here", ["Anna"]),
        ("Thud.Options", ["Anna"]),
        ("Thud.Table", ["Anna"]),
        ("Thud.Board", ["Anna"]),
    ]
    await client.answer("line", board="oak", player="Bert", line="join game as dwarf")
    sent = [each for each in client.heard[-5:] if each["type"] == "data"]
    assert [(each["package"], each["to"], each["id"]) for each in sent] == [
        ("Thud.Table", ["Anna"], 4)
    ]
    assert sent[0]["data"]["seats"][0]["player"] == "Bert"


async def test_refusal_reason_is_sent_as_data_to_the_player(client: Client) -> None:
    await client.seat(data=True)
    for line, code in {"move from g7 to f7": "opponents_turn", "dance": "unknown_command"}.items():
        await client.answer("line", board="oak", player="Bert", line=line)
        text, data, _ = client.heard[-3:]
        assert (text["type"], text["to"]) == ("tell", ["Bert"])
        assert (data["package"], data["to"]) == ("Thud.Refused", ["Bert"])
        assert data["data"]["code"] == code


# Lines.


async def test_answer_follows_its_events_and_shares_their_request_id(
    client: Client,
) -> None:
    await client.seat()
    before = len(client.heard)
    line = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    answer = await client.answer("line", **line)
    *told, last = client.heard[before:]
    assert last == answer
    assert [(each["type"], each["id"], each["to"]) for each in told] == [
        ("tell", answer["id"], ["Anna"]),
        ("tell", answer["id"], ["Bert"]),
    ]
    numbers = [each["seq"] for each in client.heard if "seq" in each]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    ("line", "understood", "refused"),
    [
        ("look", True, None),
        ("join game as elf", False, "unexpected_word"),
        ("join game as troll", True, "one_seat_each"),
        ("juggle for Bert", False, "unknown_command"),
        ("", False, "empty_line"),
    ],
)
async def test_answer_says_whether_a_line_was_understood_and_done(
    client: Client, line: str, *, understood: bool, refused: str | None
) -> None:
    await client.seat()
    answer = await client.answer("line", board="oak", player="Anna", line=line)
    assert answer["understood"] is understood
    assert (answer["version"], answer["here"]) == (3, True)
    assert answer["done"] is (refused is None)
    assert answer.get("refused") == (refused and {"code": refused, "squares": []})


async def test_answer_distinguishes_ok_from_done(client: Client) -> None:
    await client.seat()
    for player, line in (("Bert", "join game as troll"), ("Anna", "start")):
        await client.answer("line", board="oak", player=player, line=line)
    answers = [
        await client.answer("line", board="oak", player="Anna", line=line)
        for line in ("move a6 o6", "ply dA6-P6", "ply dA6-B6")
    ]
    assert [(each["ok"], each["understood"], each["done"]) for each in answers] == [
        (True, True, False), (True, True, False), (True, True, True),
    ]  # fmt: skip
    assert [each.get("refused") for each in answers] == [
        {"code": "target_taken", "squares": ["O6"]}, {"code": "target_taken", "squares": ["O6"]},
        None,
    ]  # fmt: skip


async def test_player_who_quits_is_gone(client: Client) -> None:
    await client.seat()
    answer = await client.answer("line", board="oak", player="Anna", line="quit")
    assert answer["here"] is False
    told = {(*each["to"],): each["text"] for each in client.heard[-3:-1]}
    assert told[("Anna",)] == "Goodbye!"
    assert "Anna" in told[("Bert",)]
    answer = await client.answer("line", board="oak", player="Anna", line="look")
    assert answer["code"] == "unknown_player"


@pytest.mark.parametrize("line", ["register", "password", "say \x1b[31m\nred", "x" * 5000])
async def test_ineffective_line_leaves_the_board_unchanged(client: Client, line: str) -> None:
    await client.seat()
    answer = await client.answer("line", board="oak", player="Anna", line=line)
    assert (answer["ok"], answer["version"]) == (True, 3)
    assert all("\x1b" not in each.get("text", "") for each in client.heard)


async def test_replayed_battle_is_shown_all_at_once(client: Client) -> None:
    await client.seat()
    for player, line in (("Anna", "move from f1 to f6"), ("Bert", "resign")):
        await client.answer("line", board="oak", player=player, line=line)
    before = len(client.heard)
    await client.answer("line", board="oak", player="Anna", line="replay 1")
    played = await client.answer("line", board="oak", player="Anna", line="play")
    *_, ply, answer = client.heard
    assert len(client.heard) - before == 4
    assert (ply["id"], answer) == (played["id"], played)


async def test_line_for_an_outdated_version_is_refused(client: Client) -> None:
    await client.seat()
    line = {"board": "oak", "player": "Anna", "line": "move from f1 to f6"}
    assert (await client.answer("line", at_version=3, **line))["version"] == 4
    answer = await client.answer("line", at_version=3, **line)
    assert (answer["code"], answer["text"]) == (
        "changed",
        "Expected version 3 of the board, but it has version 4.",
    )
    # The same goes for lines that change nothing at the board or are not understood.
    before = len(client.heard)
    for words in ("look", "smile", "", "quit"):
        late = line | {"line": words}
        assert (await client.answer("line", at_version=3, **late))["code"] == "changed"
    assert len(client.heard) == before + 4
    assert (await client.answer("line", at_version=4, **line | {"line": "look"}))["here"]


async def test_boards_are_independent_of_each_other(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for board in ("oak", "elm"):
        await client.answer("open", board=board)
        await client.answer("enter", board=board, player="Anna")
    free, decide = asyncio.Event(), PlayerLines._decide

    async def slow(self: PlayerLines, context: LineContext, command: Command) -> Result:
        if str(command) == "boards":
            await free.wait()
        return await decide(self, context, command)

    monkeypatch.setattr(PlayerLines, "_decide", slow)
    for number, (board, line) in enumerate([("oak", "boards"), ("oak", "who"), ("elm", "look")], 5):
        client.say(type="line", id=number, board=board, player="Anna", line=line)
    while (await client.hear())["type"] != "answer":
        pass
    assert client.heard[-1]["id"] == 7
    free.set()
    answered: list[int] = []
    while len(answered) < 2:
        if (await client.hear())["type"] == "answer":
            answered.append(client.heard[-1]["id"])
    assert answered == [5, 6]


async def test_internal_error_closes_only_its_board(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await client.seat()
    await client.answer("open", board="elm")
    with monkeypatch.context() as patched:
        patched.setattr(PlayerLines, "_decide", lambda *_, **__: 1 / 0)
        answer = await client.answer("line", board="oak", player="Anna", line="look")
    assert answer["code"] == "internal"
    assert "ZeroDivisionError" in caplog.text
    assert (await client.answer("show", board="oak"))["code"] == "unknown_board"
    assert (await client.answer("show", board="elm"))["ok"]
    assert (await client.answer("open", board="oak", name="oak board"))["ok"]
    assert (await client.answer("show", board="oak"))["table"]["running"]


async def test_stopping_gateway_announces_it(gateway: Gateway, client: Client) -> None:
    await client.seat()
    await gateway.close()
    assert [each["code"] for each in await client.end()] == ["closing"]
    late = Client(gateway)
    assert (await last_words(late, **GREETING))[0] == "closing"


async def test_board_opened_as_the_session_ends_is_closed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gateway = await opened(policy=GatewayPolicy(secret=SECRET, boards=1))
    hello = Hello(version=1, client="mud", secret=SECRET)
    session, _ = await gateway.greet(hello, Client(gateway).link, trusted=False)
    before = gateway.begin(session, 1, OpenRequest(id=1, board="oak"))
    gateway.end(session)
    after = gateway.begin(session, 2, OpenRequest(id=2, board="elm"))
    await asyncio.gather(before, after)
    other = Client(gateway)
    await other.greet("another-mud")
    assert (await other.answer("open", board="ash"))["ok"]  # otherwise: too many boards
    assert caplog.text == ""
    await gateway.close()


async def test_wrong_secret_is_logged_without_the_guess(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    await last_words(connect(), **GREETING | {"secret": "guess"})
    [record] = caplog.records
    assert (record.getMessage(), vars(record)["client"]) == ("wrong secret", "mud")
    assert "guess" not in str(vars(record))


async def test_timer_events_are_sent_without_a_request() -> None:
    store = Store.in_memory()
    policy = GatewayPolicy(secret=SECRET, idle_limit=0.02)
    gateway = Gateway(store, policy, clock=store.clock)
    await gateway.open()
    client = Client(gateway)
    await client.greet()
    await client.seat()
    while "is waiting, and can claim" not in (await client.hear()).get("text", ""):
        pass
    client.running.cancel()
    await gateway.close()


@pytest.mark.parametrize("player", ["O'Brien", "Zoë", "Player1", "X", "Ann-Marie", "Move"])
async def test_names_of_other_muds_can_play(client: Client, player: str) -> None:
    await client.answer("open", board="oak", name="oak board", style="brief")
    await client.answer("enter", board="oak", player="Bert", utf8=True)
    assert (await client.answer("enter", board="oak", player=player, utf8=True))["ok"]
    await client.answer("line", board="oak", player=player, line="join game as dwarf")
    texts = [heard["text"] for heard in client.heard if heard.get("to") == ["Bert"]]
    assert any(text.startswith(f"{player} sits down at the oak board") for text in texts)


async def test_player_who_walks_away_is_said_to_walk_away(client: Client) -> None:
    await client.seat()
    await client.answer("leave", board="oak", player="Anna", parting="left")
    told = {heard["to"][0]: heard["text"] for heard in client.heard[-3:-1]}
    assert told["Bert"].startswith("Anna walks away; the dwarf seat at the oak board is kept.")
    assert told["Anna"].startswith("You walk away; the dwarf seat at the oak board is kept.")


async def test_quiet_line_tells_nothing_if_it_is_no_command(client: Client) -> None:
    await client.seat()
    heard = len(client.heard)
    for line, code in (("sharpen axe", "unknown_command"), ("move table", "unexpected_word")):
        answer = await client.answer("line", board="oak", player="Anna", line=line, quiet=True)
        assert not answer["understood"]
        assert not answer["done"]
        assert answer["refused"]["code"] == code
    assert [each["type"] for each in client.heard[heard:]] == ["answer", "answer"]
    await client.answer("line", board="oak", player="Anna", line="move f15 f15", quiet=True)
    assert [each["type"] for each in client.heard[heard + 2 :]] == ["tell", "answer"]


async def test_board_can_do_without_verbs_and_features(client: Client) -> None:
    without = "say tell shout tutorial explorer"
    assert (await client.answer("open", board="oak", without=without))["ok"]
    await client.answer("enter", board="oak", player="Anna")
    for line in ("say hello", "tutorial", "explore", "register", "tv", "seek", "shutdown now"):
        answer = await client.answer("line", board="oak", player="Anna", line=line)
        assert answer["refused"]["code"] == "unknown_command", line
    await client.answer("line", board="oak", player="Anna", line="help all")
    told = client.heard[-2]["text"]
    assert "move" in told
    assert not re.search(r"\b(say|shout|explore|register|shutdown|tournaments?)\b", told)


async def test_habits_of_muds_are_no_commands_where_the_mud_has_them(client: Client) -> None:
    await client.answer("open", board="oak", without="go look say emote who quit")
    await client.answer("enter", board="oak", player="Anna")
    for line in ("north", "get lamp", "hello", "chat hello", "uptime", "login anna"):
        answer = await client.answer("line", board="oak", player="Anna", line=line, quiet=True)
        assert answer["refused"]["code"] == "unknown_command", line


async def test_unknown_verb_to_do_without_is_refused(client: Client) -> None:
    answer = await client.answer("open", board="oak", without="say jump")
    assert (answer["code"], answer["text"]) == (
        "bad_request",
        '"without": expected features and verbs, separated by blanks; unknown verbs: jump.',
    )


async def test_choices_of_members_outlive_the_gateway() -> None:
    store = stored()
    for run in range(2):
        gateway = await opened(store)
        client = Client(gateway)
        await client.greet()
        for board in ("oak", "pine"):
            await client.answer("open", board=board, name=f"{board} board", style="brief")
            for player, member in (("Anna", True), ("Bert", False)):
                await client.answer("enter", board=board, player=player, member=member, data=True)
                if not run and board == "oak":
                    for line in ("options orient north", "set board full on oak board"):
                        await client.answer("line", board=board, player=player, line=line)
        shown = [
            (heard["board"], heard["to"][0], heard["data"]["orient"])
            for heard in client.heard
            if heard.get("package") == "Thud.Options"
        ]
        client.running.cancel()
        await gateway.close()
    assert ("oak", "Anna", "north") in shown
    assert ("pine", "Anna", "north") in shown
    assert ("oak", "Bert", "south") in shown


async def test_choices_belong_to_one_client() -> None:
    gateway = await opened()
    for name in ("mud", "another"):
        client = Client(gateway)
        await client.greet(name)
        await client.answer("open", board=name, name="oak board")
        await client.answer("enter", board=name, player="Anna", member=True, data=True)
        await client.answer("line", board=name, player="Anna", line="options orient north")
    shown = [heard for heard in client.heard if heard.get("package") == "Thud.Options"]
    assert shown[0]["data"]["orient"] == "south"
    await gateway.close()
