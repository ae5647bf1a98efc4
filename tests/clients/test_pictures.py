"""The pictures in `docs/clients.md` match the clients' real screens."""

from __future__ import annotations

import re

import pytest

from tests.clients.kinds import CLIENTS, Client
from tests.clients.pictures import PAGE, PASSWORD, SCENES, kept, taken

SHOWN = kept(PAGE.read_text("utf-8"))
COMMAND = "python -m tests.clients.pictures"
_ROW = re.compile(r" ?\d{1,2}[ |╎].*|    A B C.*")


def matters(rows: list[str]) -> list[str]:
    """Return the rows that a picture must reproduce: the board and the prompts."""
    return [row for row in rows if _ROW.fullmatch(row) or row.startswith(">") or "assword" in row]


def test_page_has_pictures_of_every_client() -> None:
    assert set(SHOWN) == {(client.name, scene) for client in CLIENTS for scene in SCENES}


@pytest.mark.parametrize("client", CLIENTS, ids=[each.name for each in CLIENTS])
def test_pictures_match_the_real_screens(client: Client) -> None:
    for scene, rows in taken(client):
        assert matters(SHOWN[client.name, scene]) == matters(rows), f"run {COMMAND}"
        assert len(matters(rows)) > 1


def test_password_is_visible_in_pictures_of_nc_only() -> None:
    seen = {name for (name, _), rows in SHOWN.items() if PASSWORD in "\n".join(rows)}
    assert seen == {client.name for client in CLIENTS if not client.hides}


def test_page_documents_how_to_retake_the_pictures() -> None:
    assert COMMAND in PAGE.read_text("utf-8")
