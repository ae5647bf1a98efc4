"""English grammar helpers for sentences."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.cases import cases
from thudmud import english
from thudmud.english import (
    LENGTHS,
    conjugate,
    parse_duration,
    pluralize,
    rounded_duration,
    typed_duration,
    with_article,
)
from thudmud.game.sanctions import Measure
from thudmud.rules.moves import Piece, Side, Verb


@cases(
    ("seconds", "told"),
    [
        (0, "1 second"), (1.2, "2 seconds"), (60, "60 seconds"), (89.5, "90 seconds"),
        (104, "110 seconds"), (117, "2 minutes"), (120, "2 minutes"), (121, "2 minutes"),
        (127, "3 minutes"), (600.01, "10 minutes"), (6_000, "100 minutes"), (7_100, "2 hours"),
        (86_400, "24 hours"), (172_000, "2 days"), (604_800, "7 days"), (1_209_600, "2 weeks"),
        (1_209_500, "2 weeks"), (1_300_000, "15 days"), (34_560_000, "400 days"),
    ],
)  # fmt: skip
def test_durations_are_rounded_and_spelled_out(seconds: float, told: str) -> None:
    assert rounded_duration(seconds) == told


@pytest.mark.parametrize(
    ("words", "seconds", "exactly"),
    [
        ("an hour", 3_600, "1 hour"), ("A Min", 60, "1 minute"), ("90 secs", 90, "90 seconds"),
        ("117s", 117, "117 seconds"), ("2 hrs", 7_200, "2 hours"), ("14d", 1_209_600, "2 weeks"),
        ("1 wk", 604_800, "1 week"), ("100 min", 6_000, "100 minutes"),
    ],
)  # fmt: skip
def test_typed_durations_are_parsed(words: str, seconds: int, exactly: str) -> None:
    assert parse_duration(words) == seconds
    assert typed_duration(seconds) == exactly
    assert parse_duration(exactly) == seconds


@pytest.mark.parametrize("words", ["", "2", "minutes", "2 fortnights", "-2 hours", "2 hours more"])
def test_invalid_duration_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(words)


# Inflections of all words in use. New words must be checked and added here.

PLURALS = {
    "ban": "bans", "battle": "battles", "blunder": "blunders", "board": "boards", "bot": "bots",
    "browser": "browsers", "byte": "bytes", "day": "days", "dwarf": "dwarfs",
    "empty square": "empty squares", "event": "events", "hour": "hours", "match": "matches",
    "message": "messages", "minute": "minutes", "mistake": "mistakes", "more board": "more boards",
    "more line": "more lines", "more report": "more reports", "name": "names",
    "new message": "new messages", "other": "others", "other ply": "other plies", "page": "pages",
    "player": "players", "ply": "plies", "point": "points", "record": "records",
    "report": "reports", "Rock": "Rocks", "round": "rounds", "second": "seconds",
    "square": "squares", "step": "steps", "thing": "things", "Thudstone": "Thudstones",
    "transcript": "transcripts", "troll": "trolls", "try": "tries", "week": "weeks",
}  # fmt: skip

THIRD_PERSONS = {
    "announce": "announces", "ask": "asks", "ban": "bans", "beat": "beats", "cancel": "cancels",
    "challenge": "challenges", "claim": "claims", "close": "closes", "come": "comes",
    "decline": "declines", "emote": "emotes", "end": "ends", "go": "goes", "have": "has",
    "hurl": "hurls", "kibitz": "kibitzes", "kick": "kicks", "leave": "leaves", "lose": "loses",
    "move": "moves", "mute": "mutes", "offer": "offers", "open": "opens", "pause": "pauses",
    "play": "plays",
    "practise": "practises", "quit": "quits", "resign": "resigns", "say": "says", "send": "sends",
    "set": "sets", "shout": "shouts", "shove": "shoves", "sit": "sits", "take": "takes",
    "tell": "tells", "unban": "unbans", "unmute": "unmutes", "walk": "walks",
    "whisper": "whispers", "win": "wins",
}  # fmt: skip


def words_given(function: str, place: int) -> set[str]:
    """Return the literal words passed to a function of `english` anywhere in the source."""
    words = set[str]()
    for path in Path(english.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and len(call.args) > place:
                name = call.func.id if isinstance(call.func, ast.Name) else ""
                given = ast.walk(call.args[place]) if name == function else ()
                words |= {
                    each.value
                    for each in given
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    return words - {"un", "piece"}  # a prefix and a key


def test_nouns_in_use_have_the_right_plural() -> None:
    assert words_given("counted", 1) <= set(PLURALS)
    assert {piece.noun for piece in Piece} <= set(PLURALS)
    assert {side.value for side in Side} <= set(PLURALS)
    assert set(LENGTHS) <= set(PLURALS)
    for noun, plural in PLURALS.items():
        assert pluralize(1, noun) == f"1 {noun}"
        assert pluralize(2, noun) == f"2 {plural}"


def test_verbs_in_use_have_the_right_third_person() -> None:
    assert words_given("does", 2) <= set(THIRD_PERSONS)
    assert {verb.word for verb in Verb} <= set(THIRD_PERSONS)
    assert {measure.value for measure in Measure} <= set(THIRD_PERSONS)
    assert {"say", "kibitz", "whisper", "shout", "emote", "tell"} <= set(THIRD_PERSONS)
    for verb, third in THIRD_PERSONS.items():
        assert conjugate("Anna", "Anna", verb) == f"you {verb}"
        assert conjugate("Anna", None, verb) == f"Anna {third}"


@cases(
    ("noun", "plural"),
    [
        ("boss", "bosses"), ("box", "boxes"), ("quartz", "quartzes"), ("wish", "wishes"),
        ("church", "churches"), ("key", "keys"), ("party", "parties"),
    ],
)  # fmt: skip
def test_regular_nouns_have_the_right_plural(noun: str, plural: str) -> None:
    assert pluralize(0, noun) == f"0 {plural}"


@cases(
    ("verb", "third"),
    [
        ("watch", "watches"), ("pass", "passes"), ("fix", "fixes"), ("push", "pushes"),
        ("carry", "carries"), ("stay", "stays"), ("do", "does"), ("be", "is"), ("agree", "agrees"),
    ],
)  # fmt: skip
def test_regular_verbs_have_the_right_third_person(verb: str, third: str) -> None:
    assert conjugate("Anna", None, verb) == f"Anna {third}"


@cases(
    "phrase",
    [
        "an oak board", "an elm table", "a fir board", "an Ankh board", "an iron board",
        "an umber board", "a unicorn board", "a used board", "a uniform", "a user",
        "a utility board", "an unlit board", "an unusual board", "an hour", "an honest board",
        "a house", "a horse", "a eucalyptus board", "a one", "an onyx board", "an only board",
        "an 8", "an 80", "an 11", "an 18", "a 1", "a 110", "a /24", "a yew board", "an ounce",
    ],
)  # fmt: skip
def test_article_follows_the_sound_of_the_noun(phrase: str) -> None:
    _, _, noun = phrase.partition(" ")
    assert with_article(noun) == phrase
