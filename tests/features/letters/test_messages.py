"""Letters as text at any screen width, and as packets."""

from __future__ import annotations

import pytest

from tests.game.conftest import NOW
from tests.game.halls import hall_of
from thudmud.errors import RefusedError
from thudmud.features.letters.commands import Letters
from thudmud.features.letters.messages import letter_list_lines
from thudmud.features.letters.model import Letter, LettersPage
from thudmud.features.letters.model import LettersRefusal as L
from thudmud.game.archive import LetterCount, LetterCountLookup, LookupResults
from thudmud.game.asides import Entered, TookOver
from thudmud.game.command import Asked
from thudmud.game.delivery import Delivery
from thudmud.game.options import Style
from thudmud.views.data import Fact
from thudmud.views.refusals import refusal_text
from thudmud.views.registry import RenderContext, added_lines
from thudmud.views.telling import delivery_facts
from thudmud.views.view import Display, View

FIRST = Letter(7, "Anna", NOW - 90.0, "Shall we play? @thud " + "It is so long. " * 9)
LAST = Letter(12, "", NOW, "Ho!", is_new=False)


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("reader", [False, True])
def test_letters_fit_the_screen_width(width: int, *, reader: bool) -> None:
    page = LettersPage((FIRST, LAST), 1, 12)
    lines = letter_list_lines(page, Letters(), Display(width, is_for_reader=reader), NOW)
    assert max(map(len, lines)) < width
    words = " ".join(" ".join(lines).replace("more: ", "").split())
    assert words.startswith("You have 12 messages, 1 of them new. Page 1 of 2: 7. Anna, 90 seconds")
    assert "12. a former member, 1 second ago: Ho!" in words
    assert '"forget 12" deletes one' in words


def found(new: int, in_all: int) -> LookupResults:
    """Return the letter counts looked up for Bert on arrival."""
    return LookupResults({LetterCountLookup("Bert"): LetterCount(new, in_all)})


def test_arrival_announces_the_number_of_new_letters() -> None:
    hall, view = hall_of("Bert"), View("Bert", Style.FULL, Display(80))
    for new, lines in (
        (0, []),
        (1, ['You have 1 new message: "messages" shows it.']),
        (2, ['You have 2 new messages: "messages" shows them.']),
    ):
        came = Entered("Bert", None, found=found(new, 3))
        assert added_lines(Entered, came, RenderContext(hall, None, NOW, "Bert"), view) == lines


@pytest.mark.parametrize("room", [None, "oak board"])
def test_arrival_packet_counts_the_letters(room: str | None) -> None:
    hall = hall_of("Bert")
    for came in (
        Entered("Bert", room, found=found(2, 3)),
        TookOver("Bert", room, found(2, 3)),
    ):
        told = delivery_facts(hall, Delivery(came, ("Bert",), hall.tables[room] if room else None))
        known: dict[str, object] = {"in_all": 3, "new": 2, "page": None, "messages": []}
        assert told[-1] == Fact("Thud.Messages", known, "Bert")
    nothing = delivery_facts(hall, Delivery(Entered("Bert", room), ("Bert",)))
    assert "Thud.Messages" not in {each.package for each in nothing}


def test_letters_packet_has_sender_and_time() -> None:
    hall, page = hall_of("Bert"), LettersPage((FIRST, LAST), 1, 12)
    [fact] = delivery_facts(hall, Delivery(Asked("Bert", Letters(page=2), answer=page), ("Bert",)))
    assert fact.data["page"] == 2
    assert fact.data["messages"] == [
        {"number": 7, "player": "Anna", "at": int(NOW - 90), "text": FIRST.text, "new": True},
        {"number": 12, "player": None, "at": int(NOW), "text": "Ho!", "new": False},
    ]


REFUSALS = [
    (
        RefusedError(L.LETTERS_FOR_MEMBERS),
        'Only registered players get messages: "register" keeps your name. "tell" speaks '
        "to players who are here.",
    ),
    (RefusedError(L.NO_LETTERS), "This server doesn't keep messages."),
    (
        RefusedError(L.NO_SUCH_MEMBER, words="dora"),
        'Nobody called "dora" is registered here.',
    ),
    (
        RefusedError(L.NOT_A_MEMBER, player="Bert"),
        "Bert isn't registered, so you can't leave them a message. \"tell\" speaks to them "
        "while they are here.",
    ),
    (RefusedError(L.LETTER_SELF), "That's you. Messages are for other people."),
    (
        RefusedError(L.LETTERS_TOO_MANY, player="Bert", most=100),
        "Bert's box is full, with 100 messages. They'll have to delete some first.",
    ),
    (
        RefusedError(L.LETTERS_OF_STRANGERS_TOO_MANY, player="Bert", most=50),
        "Bert has 50 messages from players they haven't met at a board. The rest of the "
        "box is for players they've played with, or follow.",
    ),
    (
        RefusedError(L.LETTERS_OF_YOURS_TOO_MANY, player="Bert", most=20),
        "Bert already has 20 messages from you. They'll have to delete some first.",
    ),
    (
        RefusedError(L.NO_SUCH_LETTER, number=7),
        'You have no message 7. "messages" lists yours.',
    ),
    (
        RefusedError(L.NO_LETTERS_FROM, words="bert"),
        'You have no messages from "bert". "messages" lists them all.',
    ),
    (RefusedError(L.NOTHING_TO_FORGET), "You have no messages."),
]


@pytest.mark.parametrize(("refusal", "sentence"), REFUSALS)
def test_letter_refusal_wording(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence
