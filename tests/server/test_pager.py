"""Long answers stop when the screen is full, over a real socket."""

from __future__ import annotations

import pytest

from tests.server.plain import Client, Serving, Setup
from tests.telnet.commands import DO, END, EOR, GMCP, IAC, NAWS, WILL, WONT, framed, naws
from thudmud.telnet.pager import MORE_PROMPT

MORE = MORE_PROMPT.encode()
SYNTAX = b"real syntax\r\n"


async def connected(setup: Setup, rows: int = 24, columns: int = 80, name: str = "Anna") -> Client:
    """Return a client that reports the size of its window."""
    client = await setup.connect(name)
    await client.speak()
    await client.send(IAC + WILL + NAWS + naws(columns, rows))
    await client.fence()
    return client


async def whole_text(setup: Setup, line: bytes = SYNTAX, name: str = "Whole") -> list[bytes]:
    """Return the lines of an answer that doesn't stop."""
    client = await setup.connect(name)
    await client.send(line)
    told = await client.fence()
    await client.send(b"quit\r\n")
    await client.rest()
    return told.removesuffix(b"> ").splitlines()


async def page_after(client: Client, line: bytes) -> list[bytes]:
    """Type a line, and return the lines up to the pager's prompt."""
    await client.send(line)
    return (await client.until(MORE)).removesuffix(MORE).splitlines()


@pytest.mark.parametrize("rows", [5, 24, 43])
async def test_long_text_stops_at_each_full_screen(serving: Serving, rows: int) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    client = await connected(setup, rows)
    read = await page_after(client, SYNTAX)
    while len(whole) - len(read) > rows - 1:
        assert len(read) % (rows - 1) == 0
        read += await page_after(client, b"\r\n")
    await client.send(b"\r\n")
    read += (await client.fence()).removesuffix(b"> ").splitlines()
    assert read == whole
    assert setup.service.typed.count("") == 0


async def test_text_that_fits_with_its_prompt_does_not_stop(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup, b"real help again\r\n")
    client = await connected(setup, len(whole) + 1)
    await client.send(b"real help again\r\n")
    assert (await client.fence()).removesuffix(b"> ").splitlines() == whole
    await client.send(naws(80, len(whole)))
    assert await page_after(client, b"real help again\r\n") == whole[:-1]


async def test_q_drops_the_rest_and_brings_the_prompt_back(serving: Serving) -> None:
    client = await connected(await serving())
    await page_after(client, SYNTAX)
    await client.send(b" Q \r\n")
    assert await client.fence() == b"> "
    await client.send(b"q\r\n")  # no pager is open
    assert await client.fence() == b"echo q\r\n> "


async def test_command_at_the_pager_is_carried_out_and_ends_it(serving: Serving) -> None:
    setup = await serving()
    client = await connected(setup)
    await page_after(client, SYNTAX)
    await client.send(b"look\r\n")
    assert await client.fence() == b"echo look\r\n> "
    await client.send(b"\r\n")
    assert await client.fence() == b"> "
    assert setup.service.typed[-2:] == ["look", ""]
    await page_after(client, SYNTAX)
    await page_after(client, SYNTAX)
    await client.send(b"quit\r\n")
    assert await client.rest() == b"Anna leaves.\r\n"


async def test_command_at_the_pager_shows_a_short_rest_first(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    client = await connected(setup, len(whole) - 3)
    assert await page_after(client, SYNTAX) == whole[:-4]
    await client.send(b"look\r\n")
    told = await client.fence()
    assert told.splitlines()[1:] == [*whole[-4:], b"echo look", b"> "]


async def test_events_are_shown_at_the_pager(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    client = await connected(setup)
    bob = await setup.connect("Bob")
    await client.until(b"Bob comes in.")
    await page_after(client, SYNTAX)
    await bob.send(b"say Hello!\r\n")
    await bob.fence()
    assert await client.fence() == b"\r\nBob says: Hello!\r\n" + MORE
    assert await page_after(client, b"\r\n") == whole[23:46]


async def test_players_read_their_own_pages(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    anna, bert = await connected(setup, 24), await connected(setup, 12, name="Bert")
    await anna.until(b"Bert comes in.\r\n> ")
    assert await page_after(anna, SYNTAX) == whole[:23]
    assert await page_after(bert, SYNTAX) == whole[:11]
    assert await page_after(anna, b"\r\n") == whole[23:46]
    assert await page_after(bert, b"\r\n") == whole[11:22]


async def test_next_page_fits_a_resized_window(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    client = await connected(setup)
    await page_after(client, SYNTAX)
    await client.send(naws(80, 10))
    assert await page_after(client, b"\r\n") == whole[23:32]
    await client.send(naws(80, 0))  # its height is unknown from now on
    await client.send(b"\r\n")
    assert (await client.fence()).removesuffix(b"> ").splitlines() == whole[32:]


async def test_narrow_window_counts_the_rows_of_lines_that_it_breaks(serving: Serving) -> None:
    client = await connected(await serving(), rows=24, columns=20)
    pages = [await page_after(client, b"real help discworld\r\n")]
    pages.append(await page_after(client, b"\r\n"))  # with a board, 38 columns wide
    heights = [sum(-(-len(line) // 20) or 1 for line in page) for page in pages]
    assert len(pages[1]) < 23
    assert all(20 < height <= 23 for height in heights)


async def test_client_without_a_height_gets_the_whole_text(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect("Anna")
    await client.speak()
    await client.send(SYNTAX + naws(80, 24))  # not agreed on
    assert MORE not in await client.fence()
    await client.send(b"real options rows 24\r\n")
    assert await client.fence() == b"Long texts now stop after 24 rows.\r\n> "
    await page_after(client, SYNTAX)
    await client.send(b"real options rows off\r\n")
    assert await client.fence() == b"Long texts no longer stop when your screen is full.\r\n> "
    await client.send(SYNTAX)
    assert MORE not in await client.fence()


async def test_height_that_was_chosen_replaces_the_reported_one(serving: Serving) -> None:
    setup = await serving()
    client = await connected(setup)
    await client.send(b"real options rows 10\r\n")
    await client.fence()
    assert len(await page_after(client, SYNTAX)) == 9
    await client.send(b"real options rows auto\r\n")
    await client.fence()
    assert len(await page_after(client, SYNTAX)) == 23


async def test_screen_reader_is_stopped_only_if_asked(serving: Serving) -> None:
    client = await connected(await serving())
    await client.send(b"real options reader on\r\n")
    await client.fence()
    await client.send(SYNTAX)
    assert MORE not in await client.fence()
    await client.send(b"real options rows 24\r\n")
    await client.fence()
    assert len(await page_after(client, SYNTAX)) == 23


@pytest.mark.parametrize(
    "program",
    [
        b"real set machine on\r\n",
        IAC + DO + GMCP + framed(GMCP, b'Core.Supports.Set ["Char 1"]'),
    ],
    ids=["machine lines", "GMCP"],
)
async def test_programs_are_never_stopped(serving: Serving, program: bytes) -> None:
    client = await connected(await serving())
    await client.send(program)
    await client.send(b"real options rows 24\r\n")
    await client.fence()
    await client.send(SYNTAX)
    assert MORE not in await client.fence()


async def test_pasted_lines_are_answered_in_full(serving: Serving) -> None:
    setup = await serving()
    whole = await whole_text(setup)
    client = await connected(setup)
    await client.send(SYNTAX + b"look\r\n")
    assert (await client.fence()).splitlines() == [*whole, b"echo look", b"> "]


async def test_pagers_prompt_ends_like_any_other(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect("Anna")
    await client.speak()
    await client.send(IAC + WILL + NAWS + naws(80) + IAC + DO + EOR)
    await client.fence()
    await page_after(client, SYNTAX)
    assert await client.fence() == END
    await client.send(b"real options prompt off\r\n")
    await client.fence()
    await page_after(client, SYNTAX)
    assert await client.fence() == END  # the pager's prompt is shown all the same
    await client.send(b"q\r\n")
    assert await client.fence() == END


async def test_dialogue_ends_the_pager(serving: Serving) -> None:
    client = await connected(await serving())
    await page_after(client, SYNTAX)
    await client.send(b"register\r\n")
    await client.until(b"password: ")
    await client.send(b"\r\n")
    told = await client.until(b"> ")
    assert MORE not in told


async def test_overlong_line_leaves_the_pager_open(serving: Serving) -> None:
    setup = await serving(max_line=80)
    whole = await whole_text(setup)
    client = await connected(setup)
    await page_after(client, SYNTAX)
    await client.send(b"x" * 100 + b"\r\n")
    assert b"80 characters" in await client.until(MORE)
    assert await page_after(client, b"\r\n") == whole[23:46]


async def test_connection_lost_at_the_pager_is_announced(serving: Serving) -> None:
    setup = await serving()
    client = await connected(setup)
    await page_after(client, SYNTAX)
    bob = await setup.connect("Bob")
    await client.close()
    await bob.until(b"Anna is lost.")


async def test_window_without_naws_is_never_stopped(serving: Serving) -> None:
    client = await (await serving()).connect("Anna")
    await client.speak()
    await client.send(IAC + WONT + NAWS + SYNTAX)
    assert MORE not in await client.fence()
