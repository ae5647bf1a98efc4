"""The help pages: their commands parse, their diagrams are correct, and they fit the screen."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from typing import get_args

import pytest

from tests.cases import cases
from thudmud.english import rounded_duration
from thudmud.features.playing.moves import Play
from thudmud.features.playing.queries import LastMove, Query, ViewPossible
from thudmud.features.talk.socials import SOCIALS
from thudmud.game.archive import MIDDLE, PAGE
from thudmud.game.clocks import TimeClass
from thudmud.game.match import RATED_PLIES
from thudmud.game.more import Help
from thudmud.game.options import SHADES, WIDTHS, Element, Scheme
from thudmud.house import House
from thudmud.language import VERBS, ParseError, parse
from thudmud.language.words import WORDS
from thudmud.rules import (
    DISCWORLD,
    KOOM_VALLEY,
    RULESETS,
    SQUARES,
    Move,
    Piece,
    Position,
    Ruleset,
    Side,
    Square,
    Verb,
)
from thudmud.server.config import Settings
from thudmud.views import boards, facts
from thudmud.views.help import (
    OF_OPERATORS,
    PAGES,
    PARTS,
    Page,
    _missing,
    _read,
    contents,
    page,
    pages_without,
    start,
    syntax,
)
from thudmud.views.view import Display

SAMPLES = {
    "<object>": ["oak board", "2"],
    "<from>": ["a6"],
    "<to>": ["B 6"],
    "<position>": ["h8"],
    "<positions>": ["d8, e8", "all", "none"],
    "<text>": ["hello there"],
    "<player>": ["anna"],
    "<mail>": ["anna@example.org"],
    "<code>": ["123456"],
    "<hours>": ["22 to 7", "22:30-7:00 utc-3"],
    "<url>": ["https://push.example.org/a"],
    "<key>": ["A" * 22],
    "<level>": ["3", "marble"],
    "<topic>": ["koom valley"],
    "<verb>": ["move"],
    "<number>": ["12"],
    "<day>": ["2026-11-20", "today", "yesterday"],
    "<pace>": [pace.value for pace in TimeClass],
    "<squares>": ["a6", "a6, b5 and c4"],
    "<setup>": ["dA6,TG7,RH8"],
    "<move>": ["34"],
    "<record>": ["dA6-B6", "TG7-F7xE6xE7"],
    "<row>": ["5"],
    "<column>": ["f"],
    "<width>": ["20", "500"],
    "<height>": ["5", "500"],
    "<clock>": ["10+5", "3 days"],
    "<time>": ["10 minutes", "a week", "an hour"],
    "<rounds>": ["5 rounds"],
    "<title>": ['"Thursday"'],
    "<word>": ["copper-kettle"],
    "<hour>": ["20:00", "tomorrow at 9:30"],
    "<address>": ["203.0.113.7", "2001:db8::7"],
    "<network>": ["203.0.113.0/24", "2001:db8::/32"],
    "<element>": [element.value for element in Element],
    "<colour>": ["bold bright red on 17", "#ff8800", "none", "default"],
}
NAMES = {"last board"}
"""Quoted names that begin like a command."""
PATTERN_PARTS = re.compile(r"[\[\]{}|]|<\w+>|[^\[\]{}|<]+")
PATTERNS = [pattern for page in PAGES.values() for pattern in page.patterns]


def expanded(pattern: str) -> Iterator[str]:
    """Yield every line that a pattern matches, with sample words filled in."""
    parts = PATTERN_PARTS.findall(pattern)
    assert "".join(parts) == pattern
    for line in _choices(parts):
        yield " ".join(line.split())


def _choices(parts: list[str]) -> list[str]:
    """Consume the parts up to and including a closing bracket, and return their expansions."""
    alternatives: list[str] = []
    lines = [""]
    while parts:
        part = parts.pop(0)
        if part in "]}":
            break
        if part == "|":
            alternatives += lines
            lines = [""]
            continue
        if part == "[":
            options = ["", *_choices(parts)]
        elif part == "{":
            options = _choices(parts)
        else:
            options = SAMPLES.get(part, [part])
        lines = [line + option for line, option in itertools.product(lines, options)]
    return alternatives + lines


def test_expanded_lists_all_alternatives_and_options() -> None:
    assert list(expanded("a [b [c]] {d|e f}")) == [
        "a d", "a e f", "a b d", "a b e f", "a b c d", "a b c e f",
    ]  # fmt: skip


@cases("pattern", PATTERNS)
def test_help_patterns_parse(pattern: str) -> None:
    for line in expanded(pattern):
        parse(line)


@cases("topic", PAGES)
def test_help_examples_parse(topic: str) -> None:
    for line in PAGES[topic].with_bot("Grog").examples:
        parse(line)


@cases("topic", PAGES)
def test_commands_quoted_in_help_prose_parse(topic: str) -> None:
    """A quote such as ``"set rules"`` may be incomplete, but must be a valid beginning."""
    prose = " ".join(" ".join(block) for block in PAGES[topic].with_bot("Grog").blocks)
    for line in re.findall(r'"([^"]+)"', " ".join(prose.split())):
        assert line.split()[0] not in VERBS or line in NAMES or is_sound(line), line


def is_sound(line: str) -> bool:
    """Whether a line is a command or the beginning of one."""
    try:
        parse(line)
    except ParseError as error:
        return error.word == ""
    return True


def test_rulesets_have_a_page_each() -> None:
    assert RULESETS.keys() <= PAGES.keys()
    listed = " ".join(page("rules", 80))
    assert all(f"- {name}: " in listed for name in RULESETS)


def verbs_of(pattern: str) -> list[str]:
    """Return the verbs (one or more words, or a sign) that a pattern may begin with."""
    choices = re.match(r"\{([^{}]+)\}", pattern)
    if choices:
        return choices[1].split("|")
    begun = re.split(r" ?[\[<{]", pattern)[0]
    return [begun if begun in VERBS else begun.split()[0]]


def test_verbs_have_a_page_with_patterns_and_examples() -> None:
    begun = [pattern for pattern in PATTERNS if not pattern.startswith("<from>")]
    assert set().union(*map(verbs_of, begun)) == set(VERBS)
    for verb in set(VERBS) - {"commands"}:  # its help is the list of all commands
        rows = page(verb, 80)
        assert "Syntax:" in rows
        assert "Examples:" in rows
        assert not syntax(verb, 80)[0].startswith("There is no")


def test_topics_without_a_command_are_typed_like_one() -> None:
    topics = set(PAGES) - set(VERBS)
    assert topics >= {"ratings", "peace", "koom valley"}
    for topic in topics:
        assert parse(topic) == Help(topic)


@pytest.mark.parametrize("show", [page, syntax])
def test_play_has_a_page_of_its_own(show: Callable[[str, int], list[str]]) -> None:
    text = "\n".join(show("play", 80))
    assert "play [" in text
    assert "replay <number>" not in text


def test_socials_page_lists_all_socials() -> None:
    found = PAGES["socials"]
    assert set(SOCIALS) <= set(found.also)
    assert [verb for each in found.patterns for verb in verbs_of(each)] == [*SOCIALS]
    assert set(SOCIALS) == set(WORDS["SMILE"])
    assert len(SOCIALS) == 30


def test_syntax_command_prints_the_patterns_of_the_pages() -> None:
    assert [row.strip() for row in syntax("finish", 80)] == list(PAGES["end"].patterns)
    assert [row.strip() for row in syntax("take back", 80)] == list(PAGES["undo"].patterns)
    assert [row.strip() for row in syntax("next", 80)] == list(PAGES["replay"].patterns)
    for keeps_order in (True, False):
        every = [row.strip() for row in syntax(None, 80, keeps_order=keeps_order)]
        assert sorted(every) == sorted(
            pattern
            for topic, found in PAGES.items()
            if topic in VERBS and (keeps_order or found.part != OF_OPERATORS)
            for pattern in found.patterns
        )
    assert syntax("thud", 80) == ['"thud" is a topic, not a command: type "help thud".']
    assert syntax("hrul", 80) == ['There is no command "hrul". Did you mean "hurl"?']


def test_contents_list_every_page() -> None:
    for keeps_order in (True, False):
        rows = contents(80, keeps_order=keeps_order)
        listed = {topic for row in rows for topic in row.strip(" ,").split(", ")}
        for topic, found in PAGES.items():
            assert (topic in listed) == (keeps_order or found.part != OF_OPERATORS)
    assert {page.part for page in PAGES.values()} == set(PARTS)
    assert page("all", 80) == page("contents", 80) == contents(80)


def test_contents_keep_commands_and_other_topics_apart() -> None:
    *parts, topics = "\n".join(contents(80, keeps_order=True)[:-2]).split("\n\n")
    assert "  absence, accounts, capturing, classic, colours, discworld," in topics
    listed = [topic for part in parts for row in part.split("\n")[1:] for topic in row.split(",")]
    assert {topic.strip() for topic in listed} - {""} <= set(VERBS)


@cases("keeps_order", [False, True])
def test_first_page_has_12_lines_and_ends_with_what_to_type(*, keeps_order: bool) -> None:
    rows = start(80, keeps_order=keeps_order)
    assert page(None, 80, keeps_order=keeps_order) == rows
    assert len(rows) <= 12
    assert rows[-1] == 'Type "help" and one of these words to read about it.'
    assert ("Keeping order: operators." in rows) == keeps_order


def test_first_page_lists_commands_only() -> None:
    rows = start(80)
    first, last = rows.index('Everything: "help all" lists all commands and topics.'), 2
    lists = [row.rpartition(": ")[2] for row in rows[last:first]]
    listed = [topic for row in lists for topic in row.strip(" .,").split(", ")]
    assert len(listed) > 25
    assert all(PAGES[topic].is_command for topic in listed)


def test_first_page_leaves_out_missing_commands() -> None:
    rows = start(80, pages=pages_without(frozenset({"tutorial", "tournaments", "tournament"})))
    assert rows[0] == 'New here: "play" finds you an opponent and "help thud" explains it.'
    assert not any(row.startswith("Tournaments: tournaments") for row in rows)


def test_see_also_topics_exist() -> None:
    for topic, found in PAGES.items():
        last = " ".join(found.blocks[-1])
        assert last.startswith("See also: ")
        pointed = last.removeprefix("See also: ").rstrip(".").split(", ")
        assert PAGES.keys() >= set(pointed)
        assert topic not in pointed


def test_page_names_are_unique() -> None:
    # If the feature of a page is missing, its name may lead to another page.
    names = [name for page in PAGES.values() for name in (page.topic, *page.also)]
    names = [name for name in names if not (name in PAGES and PAGES[name].needs)]
    assert sorted(names) == sorted(set(names))
    assert all(name == name.lower() for name in names)


@cases(
    ("asked", "topic"),
    [
        ("MOVE", "move"),
        ("  Koom   Valley ", "koom valley"),
        ("finish", "end"),
        ("l", "look"),
        ("'", "say"),
        (":", "emote"),
        ("positions", "squares"),
        ("set rules", "set"),
        ("join game as dwarf", "join"),
        ("points", "scoring"),
        ("game records", "notation"),
        ("records", "records"),
        ("record", "record"),
        ("take back", "undo"),
        ("decline", "no"),
        ("withdraw", "seek"),
        ("plies", "match"),
        ("yes", "accept"),
        ("next", "replay"),
        ("last", "last"),
        ("last move", "last"),
        ("moves", "moves"),
        ("option", "options"),
        ("options width", "options"),
        ("options colour scheme", "colours"),
        ("color", "colours"),
        ("screen reader", "reader"),
        ("set machine", "machine"),
        ("captures", "captures"),
        ("rock", "koom valley"),
        ("away", "absence"),
        ("guests", "accounts"),
        ("rating", "ratings"),
        ("personal data", "privacy"),
        ("score", "score"),
    ],
)
def test_topic_is_found_by_any_of_its_names(asked: str, topic: str) -> None:
    assert page(asked, 80)[0] == f"{topic}: {PAGES[topic].title}"


def test_unknown_topic_gets_a_suggestion() -> None:
    assert page("thdu", 80) == ['There is no help on "thdu". Did you mean "thud"?']
    assert page("xyzzy", 80) == ['There is no help on "xyzzy". "help all" lists the topics.']
    assert all(len(row) < 40 for row in page("x" * 1000, 40))


@cases("topic", [None, *PAGES])
@cases("width", [40, 60, 80, 200])
def test_help_pages_fit_the_screen_width(topic: str | None, width: int) -> None:
    for rows in (page(topic, width), page(topic, width, "Grog"), syntax(topic, width)):
        assert max(map(len, rows)) < min(width, 79)
        assert all(row == row.rstrip() for row in rows)
        assert all(row.isascii() and row.isprintable() for row in rows)


def test_optional_part_of_a_pattern_stays_on_one_row() -> None:
    assert syntax("hurl", 40)[:2] == ["    hurl [from] <from> [to] <to>", "        [on <object>]"]
    assert syntax("move", 30)[-6:-4] == ["        [capturing", "        <positions>]"]


def test_page_with_a_wrong_heading_is_refused() -> None:
    with pytest.raises(ValueError, match="expected the fields"):
        Page.parse("topic", "A title\nPart: Nowhere\n\nText.")


# --- diagrams --------------------------------------------------------------------------------


def drawn(position: Position, columns: str, rows: range) -> list[str]:
    """Draw a part of a position in the style of the pages."""
    marks = {Piece.DWARF: "d", Piece.TROLL: "T", Piece.STONE: "X", Piece.ROCK: "R", None: "."}
    heading = " " * 7 + " ".join(columns)
    return [heading] + [
        f"{row:>5}  "
        + " ".join(marks[position.piece_at(Square.parse(f"{column}{row}"))] for column in columns)
        for row in rows
    ]


@pytest.mark.parametrize(
    ("topic", "ruleset", "pieces", "line", "columns", "rows"),
    [
        ("thud", DISCWORLD, "dA8 dB8 dC8 TF8", "hurl c8 to f8", "ABCDEF", range(8, 9)),
        ("thud", DISCWORLD, "TB8 dD7 dB9", "move b8 to c8 capturing d7", "ABCDEF", range(7, 10)),
        (
            "thud",
            DISCWORLD,
            "TA8 TB8 dE7 dD9",
            "shove b8 to d8 capturing e7, d9",
            "ABCDEF",
            range(7, 10),
        ),
        (
            "koom valley",
            KOOM_VALLEY,
            "dD6 TE6 dF7",
            "move f7 to f6 capturing e6",
            "DEFG",
            range(6, 8),
        ),
        (
            "koom valley",
            KOOM_VALLEY,
            "TD6 dE6 dG6",
            "move d6 to h6 capturing e6, g6",
            "DEFGH",
            range(6, 7),
        ),
    ],
)
def test_small_diagrams_match_the_rules(
    *, topic: str, ruleset: Ruleset, pieces: str, line: str, columns: str, rows: range
) -> None:
    command = parse(line)
    assert isinstance(command, Play)
    on_board = {Square.parse(each[1:]): Piece(each[0]) for each in pieces.split()}
    side = on_board[command.attempt.origin].side
    assert side is not None
    before = Position.of(on_board, side)
    after = before.after(ruleset.resolve(before, command.attempt, side))
    text = PAGES[topic].blocks
    assert f'"{line}"' in " ".join(" ".join(" ".join(block) for block in text).split())
    [diagram] = [
        block
        for block in text
        if [
            row[: len(left)] for row, left in zip(block, drawn(before, columns, rows), strict=False)
        ]
        == drawn(before, columns, rows)
    ]
    right = [row[2:] for row in drawn(after, columns, rows)]
    assert [row[-len(each.lstrip()) :] for row, each in zip(diagram, right, strict=True)] == [
        each.lstrip() for each in right
    ]


@pytest.mark.parametrize(("topic", "name"), [("discworld", "discworld"), ("koom valley",) * 2])
def test_drawn_openings_match_the_rules(topic: str, name: str) -> None:
    opening = RULESETS[name].initial_position
    drawn = boards.grid(opening, None, Display(40), boards.GridLayout.SPACED)
    assert tuple(f"    {row}".rstrip() for row in drawn) in PAGES[topic].blocks


def test_row_extents_on_the_squares_page_match_the_board() -> None:
    text = "\n".join(row for block in PAGES["squares"].blocks for row in block)
    told = re.findall(r"row (\d+)(?: to row (\d+))? +([A-O]) to ([A-O])", text)
    reach = {
        row: (first, last)
        for start, end, first, last in told
        for row in range(int(start), int(end or start) + 1)
    }
    for row in range(1, 16):
        columns = [str(square)[0] for square in SQUARES if square.row == row - 1]
        assert reach[row] == (columns[0], columns[-1])


def test_notation_page_matches_the_notation_of_moves() -> None:
    text = "\n".join(page("notation", 80))
    at = Square.parse
    for move in (
        Move(Piece.DWARF, at("A6"), at("B6")),
        Move(Piece.DWARF, at("F1"), at("F6"), (at("F6"),), verb=Verb.HURL),
        Move(Piece.TROLL, at("G7"), at("F7"), (at("E6"), at("E7"))),
        Move(Piece.ROCK, at("H8"), at("H7")),
    ):
        assert f"\n    {move!s} " in text


def prose(topic: str) -> str:
    """Return the text of a page on one line."""
    return " ".join(" ".join(page(topic, 200)).split())


def test_help_pages_agree_with_the_settings() -> None:
    settings = Settings()
    grace = rounded_duration(settings.game.seat_grace)
    for topic in ("claim", "adjourn", "absence"):
        assert f"been away for a while, usually {grace}" in prose(topic)
    idle = rounded_duration(settings.game.idle_claim)
    assert f"have not moved for a while, usually {idle}" in prose("claim")
    assert f"usually {rounded_duration(settings.players.guest_grace)}" in prose("accounts")
    kept = f"each usually for {settings.players.addresses_kept} days after you last used it"
    assert f"last eight internet addresses that you came from, {kept}" in prose("privacy")
    warning, limit = settings.players.idle_warning, settings.players.idle_limit
    late = f"{rounded_duration(limit - warning)} later you are disconnected"
    assert f"usually {rounded_duration(warning)}, you are warned, and {late}" in prose("absence")


def test_help_references_are_complete() -> None:
    assert _missing(_read()) == frozenset()


def test_help_pages_agree_with_the_options() -> None:
    assert f"from {WIDTHS[0]} to {WIDTHS[-1]}" in prose("options")
    elements = [element.value for element in Element]
    assert f"elements are {', '.join(elements[:-1])} and {elements[-1]}" in prose("colours")
    hues = SHADES[: len(SHADES) // 2]
    assert f"a name: {', '.join(hues[:-1])} or {hues[-1]}" in prose("colours")
    assert all(f'"{scheme.value}"' in prose("colours") for scheme in Scheme)
    assert f"grey is {SHADES[8]}" in prose("colours")
    assert f"They begin with {facts.TAG}" in prose("machine")


def test_help_explains_both_meanings_of_last() -> None:
    assert "shows the last move played there" in prose("last")
    assert "goes to the end of that battle" in prose("last")
    assert '"last" has another meaning' in prose("replay")


def test_screen_reader_page_mentions_all_queries() -> None:
    lines = re.findall(r'"([^"]+)"', prose("reader"))
    asked = [type(parse(line)) for line in lines if is_whole(line)]
    assert {*get_args(Query), ViewPossible} - {LastMove} <= set(asked)
    assert "last" in lines


def is_whole(line: str) -> bool:
    """Whether a line is a complete command."""
    try:
        parse(line)
    except ParseError:
        return False
    return True


def test_help_pages_agree_with_the_game_constants() -> None:
    quiet = inspect.signature(House).parameters["quiet_plies"].default
    assert f"usually {quiet} moves" in prose("end")
    assert f"{boards.MOVED_FROM} is where it came from" in " ".join(page("view", 200))
    assert f"{boards.CAPTURED} where it captured" in " ".join(page("view", 200))
    assert f"There are {PAGE} on a page" in prose("history")
    assert f"begins at {MIDDLE} " in prose("ratings")
    assert f"{RATED_PLIES} moves or more" in prose("ratings")
    assert RULESETS[next(iter(RULESETS))].score(DISCWORLD.initial_position).of(Side.TROLL) == 32


def test_help_without_some_verbs_does_not_mention_them() -> None:
    left_out = frozenset({"match", "seek", "who"})
    assert pages_without(frozenset()) is PAGES
    pages = pages_without(left_out)
    assert PAGES.keys() - pages.keys() == {*left_out, "play"}
    for topic, each in pages.items():
        text = " ".join(" ".join(each.rows(WIDTHS[-1], "Grog")).split())
        assert left_out.isdisjoint(re.findall('"([a-z]+)', text)), topic
        assert left_out.isdisjoint(line.split()[0] for line in each.examples), topic
        see_also = re.search(r"See also: (.*)\.", text)
        assert see_also is None or pages.keys() >= {*see_also[1].split(", ")}, topic
        assert not re.search(r"See also: \.|Examples:$|  ", text), topic


def test_help_diagrams_use_the_signs_of_the_charset() -> None:
    for topic in ("thud", "koom valley", "hurl"):
        drawn, plain = (page(topic, 80, utf8=utf8) for utf8 in (True, False))
        signs = str.maketrans("\u2206\u25d8\u263c\u25ca\u2219", "dTXR.")
        assert "\n".join(drawn).translate(signs) == "\n".join(plain)
    text = "\n".join(page("thud", 80, utf8=True))
    assert "The 32 dwarfs, \u2206, stand" in " ".join(text.split())
    assert "    8  \u2206 \u2206 \u2206 \u2219 \u2219 \u25d8 " in text
    assert "the Thudstone, \u263c, in" in " ".join(text.split())


def test_page_aliases_are_not_topics_of_other_pages() -> None:
    taken = {each.topic: {*each.also} & (PAGES.keys() - {each.topic}) for each in PAGES.values()}
    assert {topic: names for topic, names in taken.items() if names} == {}
