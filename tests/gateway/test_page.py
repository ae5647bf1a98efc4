"""docs/gateway.md: its exchanges are replayed, and its reference is complete."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.gateway.client import NOW, SECRET, Client, stored
from thudmud.gateway.gateway import Gateway
from thudmud.gateway.requests import FATAL, KINDS, Code, Request
from thudmud.gateway.session import GatewayPolicy

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text("utf-8")
EXCHANGES = [
    line
    for block in re.findall(r"```gateway\n(.*?)```", PAGE, re.DOTALL)
    for line in block.split("\n")
]
TOKENS = re.findall(
    r'^G: .*"type":"welcome".*"session":"(.*?)".*"resumed":false', PAGE, re.MULTILINE
)


async def test_page_exchanges_match_the_gateway() -> None:
    tokens = iter(TOKENS)
    gateway = Gateway(
        stored(), GatewayPolicy(secret=SECRET), clock=lambda: NOW, token=lambda: next(tokens)
    )
    await gateway.open()
    client, heard = Client(gateway), 0
    for line in filter(None, EXCHANGES):
        mark, _, words = line.partition(" ")
        if mark == "C:":
            client.write(words.encode() + b"\n")
        elif mark == "G:":
            assert words == json.dumps(await client.hear(), separators=(",", ":"))
            heard += 1
        elif words == "the link ends --":
            assert await client.end() == []
        else:
            assert words in {"the link drops, and only 20 has come --", "a new link --"}
            if not client.running.done():
                await client.cut()
            client = Client(gateway)
    assert heard > 15
    await gateway.close()


def test_page_documents_every_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (yes|no) \|", PAGE, re.MULTILINE)
    assert rows == [(code.value, "yes" if code in FATAL else "no") for code in Code]


def test_page_documents_every_request_key() -> None:
    told: dict[str, list[str]] = {}
    kind = ""
    table = PAGE.split("## Requests")[1].split("What an answer")[0]
    for row in re.findall(r"^\|.*\|$", table, re.MULTILINE)[2:]:
        name, keys = (cell.strip() for cell in row.split("|")[1:3])
        kind = name.strip("`") or kind
        told.setdefault(kind, []).extend(re.findall(r"`(\w+)`", keys))
    shared = list(Request.__struct_fields__)
    assert told.pop("all") == shared
    assert told == {
        name: [each for each in sent.__struct_fields__ if each not in shared]
        for name, sent in KINDS.items()
        if issubclass(sent, Request)
    }


def test_page_documents_every_message_type() -> None:
    for name in KINDS:
        assert f"`{name}`" in PAGE
    hello = re.findall(
        r"`(\w+)`", PAGE.split("| key of `hello` |")[1].split("| key of `welcome`")[0]
    )
    assert hello == list(KINDS["hello"].__struct_fields__)
