"""Pictures of positions: drawing, description and refusals."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.rules.shorthand import random_positions, seeded
from thudmud.errors import InvalidValueError
from thudmud.pictures import SCHEME, SCHEMES, frame, icon, svg
from thudmud.rules import (
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Game,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
)
from thudmud.web.site import files

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [each.name.lower() for each in Piece]


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(picture)  # noqa: S314  (our own output)


def places(picture: str) -> Counter[tuple[str, int, int]]:
    """Return the pieces of a picture with their visible column and row."""
    uses = parsed(picture).iter(f"{SVG}use")
    return Counter(
        (
            each.attrib["href"].split("-")[1],
            int(float(each.attrib["x"])),
            int(float(each.attrib["y"])),
        )
        for each in uses
    )


def said(picture: str, tag: str) -> str:
    return parsed(picture).findtext(f"{SVG}{tag}") or ""


@examples(25)
@given(
    st.sampled_from(list(RULESETS.values())),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["south", "north"]),
)
def test_pieces_are_drawn_and_described_on_their_squares(
    rules: Ruleset, seed: int, orientation: Any
) -> None:
    position = list(random_positions(rules, seeded(seed), 30))[-1]
    picture = svg(position, orientation=orientation)
    end = 14 if orientation == "north" else 0
    assert places(picture) == Counter(
        (piece.name.lower(), abs(end - square.column), abs(end - square.row))
        for piece in Piece
        for square in position.squares(piece)
    )
    words = said(picture, "desc")
    for piece in Piece:
        for square in position.squares(piece):
            assert re.search(rf"\b{square}\b", words), (piece, square)


def test_picture_has_a_title_and_description() -> None:
    position = Position.of(
        {Square.parse("A6"): Piece.DWARF, Square.parse("G7"): Piece.TROLL}, Side.TROLL
    )
    assert said(svg(position), "title") == "Thud: 1 dwarf, 1 troll, trolls to move"
    assert said(svg(position), "desc") == "Dwarf on A6. Troll on G7."
    game = Game.start(DISCWORLD).push("dA6-B6").push("TG7-F7")
    assert said(frame(game), "title") == (
        "Thud, discworld rules, after 2 plies: 32 dwarfs, 8 trolls"
    )
    assert said(frame(game), "desc").endswith("Thudstone on H8. Last: troll G7 to F7.")
    assert said(frame(game, 0), "title").endswith("after 0 plies: 32 dwarfs, 8 trolls")
    nobody = Position(0, 0, 0, 0, Side.DWARF)
    assert said(svg(nobody), "desc") == "The board is empty."


def test_last_ply_and_its_captures_are_tinted() -> None:
    at = Square.parse
    shove = Move(Piece.TROLL, at("F7"), at("F6"), (at("E5"), at("G5")))
    around = Move(Piece.TROLL, at("F7"), at("F7"), (at("E7"), at("F6")), is_trample=True)
    hurl = Move(Piece.DWARF, at("F7"), at("F6"), (at("F6"),))
    for ply, path, fallen in ((shove, 2, 2), (around, 1, 2), (hurl, 2, 0)):
        picture = svg(Position(0, 0, 0, 0, Side.DWARF), ply)
        for colour, number in (("last", path), ("fallen", fallen)):
            assert picture.count(f'fill="{SCHEME[colour]}" opacity=".62"') == number
    assert "Last: troll F7 to F6, capturing E5, G5." in said(
        svg(Position(0, 0, 0, 0, Side.DWARF), shove), "desc"
    )


def test_arrows_and_marks_are_turned_with_the_board() -> None:
    arrow, mark = (Square.parse("A6"), Square.parse("D6")), Square.parse("B7")
    position = KOOM_VALLEY.initial_position
    south, north = (
        svg(position, None, [arrow], [mark], orientation=each) for each in ("south", "north")
    )
    assert '<circle cx="1.5" cy="6.5"' in south
    assert '<circle cx="13.5" cy="8.5"' in north
    assert 'transform="matrix(1 0 0 1 0.5 5.5)" d="M0-.11H2.45' in south
    assert 'transform="matrix(-1 0 0 -1 14.5 9.5)" d="M0-.11H2.45' in north
    assert "NaN" not in svg(position, arrows=[(mark, mark)])  # an arrow of length zero


def test_sizes_coordinates_and_titles() -> None:
    position = DISCWORLD.initial_position
    root = parsed(svg(position, size=300))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "300",
        "300",
        "-0.7 -0.7 16 16",
    )
    assert "width" not in parsed(svg(position)).attrib
    assert "scale(" in svg(position)
    assert "scale(" not in svg(position, coordinates=False)
    evil = "</title><script>alert(1)</script>\0"
    assert said(svg(position, title=evil), "title") == evil[:-1]


def test_symbol_ids_are_consistent_across_pictures() -> None:
    """An id always stands for the same symbol, so several pictures fit on one page."""
    symbols: dict[str, str] = {}
    for colours in SCHEMES.values():
        for rules in RULESETS.values():
            for name, text in re.findall(r'<symbol id="([^"]*)"(.*?)</symbol>', svg(
                rules.initial_position, colours=colours
            )):  # fmt: skip
                assert symbols.setdefault(name, text) == text
    assert len(symbols) > len(Piece)


def test_web_page_shares_pieces_and_schemes() -> None:
    page = files()
    body, css = page["/index.html"].body.decode(), page["/schemes.css"].body.decode()
    for name in NAMES:
        assert body.count(f'<symbol id="{name}"') == 1
    assert re.search('<link rel="stylesheet" href="/[0-9a-f]+/thud.css">', body)
    assert page["/icon.svg"].body.decode() == icon(Piece.TROLL)
    schemes = {"plain", *re.findall(r'data-scheme="(\w+)"', css)}
    assert set(SCHEMES) == {f"{name}{dark}" for name in schemes for dark in ("", " dark")}
    for colours in SCHEMES.values():
        assert set(colours) == set(re.findall(r"--([\w-]+): ", css))
        assert "var(" not in svg(KOOM_VALLEY.initial_position, colours=colours)
    assert SCHEMES["vivid"]["dwarf"] == SCHEMES["vivid dark"]["dwarf"] == "#ffee00"
    assert SCHEMES["safe dark"]["mark"] == "#7fe3c4"
    assert SCHEMES["safe"]["labels"] == SCHEME["labels"]


def test_notebooks_show_text_until_pictures_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thudmud.rules.position.PICTURES", {})
    position: Any = DISCWORLD.initial_position
    assert position._repr_svg_() is None


def test_notebooks_show_positions_and_games() -> None:
    game = Game.start(DISCWORLD).push("dA6-B6")
    shown: Any = game
    assert shown._repr_svg_() == frame(game, size=420)
    shown = game.position
    assert shown._repr_svg_() == svg(game.position, size=420)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size": 0}, "1 to 2048 pixels"),
        ({"size": 3000}, "1 to 2048 pixels"),
        ({"orientation": "west"}, "'south' or 'north' as orientation, got 'west'"),
        ({"marks": [Square(0, 0)]}, "A1 is not on the board"),
        ({"arrows": [(SQUARES[0], Square(0, 0))]}, "A1 is not on the board"),
        (
            {"colours": {**SCHEME, "troll": '"/><script>'}},
            "expected a colour like #4a6178 for 'troll'",
        ),
        ({"colours": {}}, "got none"),
    ],
)
def test_invalid_drawing_option_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(words)):
        svg(DISCWORLD.initial_position, **wrong)


def test_frame_of_a_missing_ply_is_refused() -> None:
    game = Game.start(DISCWORLD).push("dA6-B6")
    for ply in (-1, 2):
        with pytest.raises(InvalidValueError, match="expected a ply from 0 to 1, got"):
            frame(game, ply)
