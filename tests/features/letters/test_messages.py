"""Letters as they are told, on screens of any width and to programs."""

from __future__ import annotations

import pytest

from tests.game.conftest import NOW
from tests.game.halls import hall_of
from thudmud.features.letters.commands import Letters
from thudmud.features.letters.messages import listed, waiting
from thudmud.features.letters.model import Letter, LetterCount, LettersPage
from thudmud.game.asides import Asked, Entered, TookOver
from thudmud.game.telling import Telling
from thudmud.views.data import Fact
from thudmud.views.telling import facts
from thudmud.views.view import Display

FIRST = Letter(7, "Anna", NOW - 90.0, "Shall we play? @thud " + "It is so long. " * 9)
LAST = Letter(12, "", NOW, "Ho!", is_new=False)


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("reader", [False, True])
def test_they_fit(width: int, *, reader: bool) -> None:
    page = LettersPage((FIRST, LAST), 1, 12)
    lines = listed(page, Letters(), Display(width, reader=reader), NOW)
    assert max(map(len, lines)) < width
    words = " ".join(" ".join(lines).replace("more: ", "").split())
    assert words.startswith("You have 12 messages, 1 of them new. Page 1 of 2: 7. Anna, 90 seconds")
    assert "12. a former member, 1 second ago: Ho!" in words
    assert '"forget 12" deletes one' in words


def test_who_comes_in_is_told_how_many_are_new() -> None:
    assert waiting(LetterCount(0, 3), 80) == []
    assert waiting(LetterCount(1, 3), 80) == ['You have 1 new message: "messages" shows it.']
    assert waiting(LetterCount(2, 3), 80) == ['You have 2 new messages: "messages" shows them.']


@pytest.mark.parametrize("room", [None, "oak board"])
def test_so_are_programs(room: str | None) -> None:
    hall = hall_of("Bert")
    for came in (
        Entered("Bert", room, letters=LetterCount(2, 3)),
        TookOver("Bert", room, LetterCount(2, 3)),
    ):
        found = facts(hall, Telling(came, ("Bert",), hall.tables[room] if room else None))
        known: dict[str, object] = {"in_all": 3, "new": 2, "page": None, "messages": []}
        assert found[-1] == Fact("Thud.Messages", known, "Bert")
    nothing = facts(hall, Telling(Entered("Bert", room), ("Bert",)))
    assert "Thud.Messages" not in {each.package for each in nothing}


def test_a_program_is_told_who_wrote_and_when() -> None:
    hall, page = hall_of("Bert"), LettersPage((FIRST, LAST), 1, 12)
    [fact] = facts(hall, Telling(Asked("Bert", Letters(page=2), answer=page), ("Bert",)))
    assert fact.data["page"] == 2
    assert fact.data["messages"] == [
        {"number": 7, "player": "Anna", "at": int(NOW - 90), "text": FIRST.text, "new": True},
        {"number": 12, "player": None, "at": int(NOW), "text": "Ho!", "new": False},
    ]
