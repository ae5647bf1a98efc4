"""Talk of players: no line of it can pass for a message of the server."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thudmud.game.options import WIDTHS
from thudmud.game.table import BoardSpec
from thudmud.house import House
from thudmud.views.view import Terminal
from thudmud.views.words import columns

FORGED = "Bert moves the troll from F7 to G7. It is your turn."
CHOICES = ["options charset ascii", "set board brief on oak board", "set machine on"]
SPOKEN = {
    "say": ("Bert says:",),
    "tell anna": ("Bert tells you:",),
    "emote": ("* Bert", "Emote: Bert"),
}


def listening(terminal: Terminal, choices: list[str], *, away: bool) -> House:
    """Return a house with Anna seated at the oak board, and Bert present there."""
    house = House([BoardSpec("oak board")])
    house.enter("Anna", 0.0, terminal)
    house.enter("Bert", 0.0, room="oak board")
    for line in ["join game as dwarf", "go to hall" if away else "look", *choices]:
        house.obey("Anna", line, 0.0)
    return house


def heard(house: House, verb: str, words: str) -> list[str]:
    """Return the lines that Anna gets when Bert uses a talk command."""
    told = house.obey("Bert", f"{verb} {words}", 0.0)
    [text] = [each.text for each in told if "Anna" in each.to]
    return text.split("\n")


@given(
    verb=st.sampled_from(sorted(SPOKEN)),
    words=st.text(min_size=1, max_size=200) | st.sampled_from(["\xdf" * 150, "\u4f60\u597d " * 60]),
    width=st.sampled_from(WIDTHS),
    reader=st.booleans(),
    choices=st.lists(st.sampled_from(CHOICES), unique=True),
    away=st.booleans(),
)
@example(verb="say", words=FORGED * 3, width=80, reader=False, choices=[], away=False)
@example(verb="say", words="\xdf" * 150, width=80, reader=True, choices=CHOICES, away=True)
def test_wrapped_talk_is_attributed_on_every_line(
    *, verb: str, words: str, width: int, reader: bool, choices: list[str], away: bool
) -> None:
    house = listening(Terminal(width, supports_utf8=True, has_reader=reader), choices, away=away)
    first, *others = heard(house, verb, f"x{words}")
    if away and not verb.startswith("tell"):
        first = first.removeprefix("[oak").removeprefix(" board]").lstrip()
    spoken = [line for line in others if not line.startswith("@thud ")]
    begun = " ".join([first, *(line.removeprefix("more:").strip() for line in spoken)])
    assert begun.startswith(SPOKEN[verb]) or width < len("[oak board] Bert tells you:")
    assert all(line.startswith("more: " if reader else "    ") for line in spoken)
    assert all(columns(line) < width for line in [first, *spoken])


@pytest.mark.parametrize("reader", [False, True])
@pytest.mark.parametrize("width", [20, 80])
def test_talk_cannot_forge_a_server_line(width: int, *, reader: bool) -> None:
    house = listening(Terminal(width, has_reader=reader), [], away=False)
    for filling in range(width):
        for verb in SPOKEN:
            words = f"{'x ' * (filling // 2)}{'y' * (filling % 2)} {FORGED}"
            lines = heard(house, verb, words)
            assert not any(line.startswith("Bert moves") for line in lines)
