"""Options that are chosen before there is a name."""

from __future__ import annotations

import pytest

from tests.accounts.desks import Answers, Office
from tests.server.plain import Serving
from thudmud.house import House
from thudmud.language.parsing import options_of
from thudmud.play.options import Charset, SetCharset, SetReader, SetWidth, Switch
from thudmud.play.table import BoardSpec
from thudmud.store import Store

NAME = "What is your name? "


async def test_choices_at_the_name_prompt_are_taken() -> None:
    office = Office(Store.in_memory())
    answers = Answers("options reader on", "Options  Width 60", "options", "options reader", "anna")
    entrance = await office.desk.introduce(answers, "192.0.2.1")
    assert entrance
    assert entrance.choices == (SetReader(Switch.ON), SetWidth(60))
    assert answers.shown[:4] == [
        NAME,
        'Boards are told in words from now on; "help reader" tells what you can ask.',
        NAME,
        "Lines fit 60 columns from now on.",
    ]
    await office.close()


async def test_they_hold_once_a_guest_is_in(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"options reader on\r\n")
    assert b"Boards are told in words" in await client.until(b"name? ")
    await client.send(b"anna\r\n")
    await client.until(b"> ")
    assert setup.service.hall.people["Anna"].options.reader is Switch.ON


async def test_they_are_remembered_for_a_member(serving: Serving) -> None:
    setup = await serving()
    anna = await setup.connect("Anna")
    await anna.send(b"register\r\npassword\r\npassword\r\n")
    await anna.until(b"yours now")
    await anna.send(b"real options width 60\r\nquit\r\n")
    await anna.rest()
    again = await setup.connect()
    await again.until(b"name? ")
    await again.send(b"options reader on\r\nanna\r\npassword\r\nreal who\r\n")
    await again.until(b"connected:")
    options = setup.service.hall.people["Anna"].options
    assert (options.reader, options.width) == (Switch.ON, 60)
    account = await setup.lobby.store.find("anna")
    assert account
    assert options_of(account.preferences) == options


@pytest.mark.parametrize("here", [True, False])
def test_they_change_the_options_of_before(*, here: bool) -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Anna", 0.0)
    for line in ("options charset ascii", "join game as dwarf on oak board"):
        house.obey("Anna", line, 0.0)
    house.enter("Bert", 0.0)
    house.obey("Bert", "join game as troll on oak board", 0.0)
    house.obey("Bert", "start", 0.0)
    if not here:
        house.depart("Anna", 1.0)
    options = house.hall.choose("Anna", None, [SetReader(Switch.ON)])
    assert (options.charset, options.reader) == (Charset.ASCII, Switch.ON)
    assert ("Anna" in house) is here
    if here:
        assert house.hall.people["Anna"].options == options


def test_they_come_on_top_of_what_is_kept() -> None:
    house = House([BoardSpec("oak board")])
    kept = house.hall.choose("Dora", None, [SetWidth(60)])
    chosen = house.hall.choose("Dora", kept, [SetCharset(Charset.ASCII)])
    assert (chosen.width, chosen.charset) == (60, Charset.ASCII)
