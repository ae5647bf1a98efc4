"""MSSP, the status for MUD listings, over telnet and as plain text."""

from __future__ import annotations

import re

import pytest

from tests.server.plain import Serving
from thudmud.server.config import ListingSettings
from thudmud.telnet.mssp import in_text, packed, status

REQUIRED = {"NAME", "PLAYERS", "UPTIME"}
LISTING = ListingSettings(name="The Mended Drum", website="https://thud.example", created="2026")


def told(listing: ListingSettings = LISTING) -> dict[str, str]:
    return status(
        players=3,
        booted=1_800_000_000.7,
        port=4000,
        tls_port=0,
        compresses=False,
        listing=listing.model_dump(),
    )


def test_status_reports_the_configured_listing() -> None:
    variables = told()
    assert set(variables) >= REQUIRED | {"PORT", "CODEBASE", "SSL", "GMCP"}
    assert variables["NAME"] == "The Mended Drum"
    assert variables["WEBSITE"] == "https://thud.example"
    assert variables["CREATED"] == "2026"
    assert variables["PLAYERS"] == "3"
    assert variables["UPTIME"] == "1800000000"
    assert not {"CONTACT", "HOSTNAME", "LOCATION"} & set(variables)


def test_packed_status_gives_every_variable_a_value() -> None:
    pairs = packed(told()).split(b"\x01")[1:]
    assert [tuple(pair.decode().split("\x02")) for pair in pairs] == list(told().items())


@pytest.mark.parametrize("char", ["\x00", "\x01", "\x02", "\t", "\n", "\x1b", "\x7f"])
def test_control_characters_in_values_are_replaced(char: str) -> None:
    variables = {"NAME": f"a{char}b"}
    assert packed(variables) == b"\x01NAME\x02a b"
    assert in_text(variables).split("\n")[2] == "NAME\ta b"


def test_packed_values_contain_no_iac() -> None:
    variables = {"NAME": "\xff\xf0 \ud800"}
    assert b"\xff" not in packed(variables)


async def test_mssp_request_at_the_name_prompt_is_answered_in_text(serving: Serving) -> None:
    setup = await serving()
    client = await setup.connect()
    await client.until(b"name? ")
    await client.send(b"MSSP-REQUEST\r\n")
    answer = (await client.until(b"MSSP-REPLY-END")).decode()
    lines = answer.split("MSSP-REPLY-START\r\n")[1].split("\r\n")[:-1]
    assert all(re.fullmatch(r"[A-Z0-9 -]+\t.+", line) for line in lines)
    variables = dict(line.split("\t") for line in lines)
    assert variables["PLAYERS"] == "0"
    assert variables["NAME"] == "thudmud"
