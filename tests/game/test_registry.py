"""Completeness of verbs: grammar rule, help page, words, facts and transcript."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from tests.language.generated import commands
from thudmud.features.analysis.commands import Analyse, CancelAnalysis
from thudmud.features.exercises.commands import Lessons
from thudmud.features.hints.commands import Hint
from thudmud.features.letters.commands import ForgetLetters, Letters, SendLetter
from thudmud.features.letters.model import LettersRead
from thudmud.features.moderation.commands import Bans, FileReport, Mutes, OperatorCommand, Reports
from thudmud.features.notifications.commands import (
    NotifyBrowser,
    NotifyCode,
    NotifyMail,
    NotifyOf,
    NotifyOff,
    NotifyPublished,
    NotifyQuiet,
)
from thudmud.features.options.commands import ShowOptions, ShowScheme
from thudmud.features.people.commands import Ignore, Plan
from thudmud.features.playing.queries import Query
from thudmud.features.rooms.commands import Observe, ViewNews
from thudmud.game.asides import Active, Aside
from thudmud.game.command import COMMANDS, VERBS, Asked, Command
from thudmud.game.more import Again, Help, LogoutEverywhere, Password, Register, Syntax
from thudmud.language import ParseError, parse
from thudmud.script import Transcript
from thudmud.script.transcript import Act, TranscriptStep
from thudmud.views.help import PAGES
from thudmud.views.registry import facts, words

ROOT = Path(__file__).parents[2]
QUESTIONS = {each for each in COMMANDS if each.is_question}
ANSWERED = QUESTIONS | {
    Analyse, Bans, Help, Hint, Ignore, Lessons, Letters, Mutes, Observe, Plan, Reports, ShowOptions,
    ShowScheme, Syntax, ViewNews, *(each for each in COMMANDS if issubclass(each, Query)),
}  # fmt: skip
"""Commands with words of their own; all others cause events, which have words."""


def kind_of(maker: Any) -> type[Command]:
    return maker if isinstance(maker, type) else maker.__self__


def test_verbs_and_grammar_rules_correspond() -> None:
    assert {kind_of(maker) for maker in VERBS.values()} == set(COMMANDS)
    assert rules_with_a_name() == set(VERBS)


def rules_with_a_name() -> set[str]:
    """Return the rule names and aliases of the grammar that stand for whole commands."""
    text = (ROOT / "grammar" / "thud.lark").read_text(encoding="utf-8")
    text = re.sub(r" *// of \w+$", "", text, flags=re.MULTILINE)
    start = re.search(r"\?start: (.*(?:\n +\|.*)*)", text)
    assert start
    groups = re.findall(r"[a-z_]+", start[1])
    found: set[str] = set()
    for group in groups:
        body = re.search(rf"(?m)^[?!]*{group}: (.*(?:\n +\|.*)*)", text)
        assert body, group
        found |= set(re.findall(r"-> ([a-z_]+)", body[1])) or {group}
    return found


def test_verbs_are_all_in_the_round_trip_test() -> None:
    drawn = repr(commands)
    assert [kind for kind in COMMANDS if not re.search(rf"\b{kind.__name__}\b", drawn)] == []


def test_verbs_all_have_a_help_page() -> None:
    shown = {kind for page in PAGES.values() for kind in commands_of(page.examples)}
    patterns = " ".join(pattern for page in PAGES.values() for pattern in page.patterns)
    typed = set(re.findall("[a-z]+", patterns))
    others = {kind for kind in COMMANDS if not typed.issuperset(kind.words.split())}
    assert others - shown == set()


@cache
def commands_of(lines: tuple[str, ...]) -> frozenset[type[Command]]:
    found = set()
    for line in lines:
        try:
            found.add(type(parse(line)))
        except ParseError:
            continue
    return frozenset(found)


def test_answers_have_words_and_questions_have_facts() -> None:
    registered = {each for each in words.registry if issubclass(each, Command)}
    assert registered >= ANSWERED
    assert {each for each in facts.registry if issubclass(each, Command)} >= QUESTIONS


def test_asides_all_have_words() -> None:
    silent = {Active, Asked, LettersRead}
    ours = {each for each in Aside.KINDS if each.__module__.startswith("thudmud.")}
    assert ours - set(words.registry) - silent == set()


def test_gmcp_page_lists_every_question() -> None:
    page = " ".join((ROOT / "docs" / "gmcp.md").read_text(encoding="utf-8").split())
    listed = re.search(r"It can be any of (.*?), in all their forms", page)
    assert listed
    named = re.findall("`([^`]*)`", listed[1])
    assert commands_of((*named, *(f"{each} 1" for each in named))) == QUESTIONS


def test_verbs_are_all_typed_in_a_transcript() -> None:
    lines = []
    for path in (ROOT / "tests").rglob("*.thud-script"):
        steps = Transcript.parse(path.read_text(encoding="utf-8")).parts
        lines += [
            each.text for each in steps if isinstance(each, TranscriptStep) and each.act is Act.TYPE
        ]
    typed = commands_of(tuple(lines))
    # Transcripts have no accounts, and nothing in them runs in the background.
    absent: set[type[Command]] = {each for each in COMMANDS if issubclass(each, OperatorCommand)}
    absent |= {
        Register,
        Password,
        LogoutEverywhere,
        SendLetter,
        Letters,
        ForgetLetters,
        FileReport,
        Plan,
    }
    absent |= {CancelAnalysis, Again}
    absent |= {NotifyMail, NotifyCode, NotifyBrowser, NotifyOff, NotifyOf, NotifyQuiet}
    absent |= {NotifyPublished}
    assert set(COMMANDS) - typed <= absent
