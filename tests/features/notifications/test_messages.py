"""Wording of the refusals and mistakes of "notify"."""

from __future__ import annotations

import pytest

from thudmud.errors import RefusedError
from thudmud.features.notifications.model import NotifyMistake
from thudmud.features.notifications.model import NotifyRefusal as N
from thudmud.language import ParseError, parse
from thudmud.views.refusals import refusal_text

NOTIFIED = [
    (
        RefusedError(N.NOTIFY_FOR_MEMBERS),
        'Notifications are for registered players. "register" makes you one.',
    ),
    (
        RefusedError(N.NOTIFIES_NOBODY),
        "This server doesn't send notifications.",
    ),
    (
        RefusedError(N.NO_MAILS),
        'This server doesn\'t send email. "notify" shows what it offers instead.',
    ),
    (
        RefusedError(N.NO_MAIL_ADDRESS),
        'This server can\'t send to that address. It needs one like "anna@example.org".',
    ),
    (
        RefusedError(N.MAIL_UNWANTED),
        "The owner of that address doesn't want email from this server.",
    ),
    (
        RefusedError(N.CODES_TOO_MANY, most=3),
        "You can have 3 codes a day, and so can each address. Please try again tomorrow.",
    ),
    (
        RefusedError(N.CODES_FROM_ADDRESS, most=6, seconds=7200.0),
        "Players who share your internet address can have 6 codes a day between them. The next one"
        " is available in 2 hours.",
    ),
    (
        RefusedError(N.CODES_HELD_BACK, most=33, seconds=600.0),
        "A lot of codes are on their way right now. Please try again in 10 minutes.",
    ),
    (
        RefusedError(N.CODE_AFTER_BATTLE),
        'You can get email once you\'ve finished a battle here. "play" finds you an opponent.',
    ),
    (
        RefusedError(N.CODE_FOR_NEWCOMER, seconds=1200.0),
        "Welcome! You can get a code once you've been registered for an hour. Please try again in "
        "20 minutes.",
    ),
    (
        RefusedError(N.CODE_WRONG, left=4),
        "That isn't the code in the email. You have 4 tries left.",
    ),
    (
        RefusedError(N.NO_CODE),
        'No code is waiting for you: each is good for an hour, and for five tries. "notify mail"'
        " and your address gets you a new one.",
    ),
    (
        RefusedError(N.NO_BROWSERS),
        'This server doesn\'t notify browsers. "notify" shows what it offers instead.',
    ),
    (
        RefusedError(N.NO_SUCH_SERVICE),
        "Your browser uses a push service that this server doesn't support. Type"
        ' "notify mail" and your address instead.',
    ),
]


@pytest.mark.parametrize(("refusal", "sentence"), NOTIFIED, ids=lambda each: str(each)[:30])
def test_notify_refusal_is_worded(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence


MISTAKES = [
    ("notify quiet 25 to 7", NotifyMistake.NO_SUCH_HOURS),
    ("notify quiet 7 to 7", NotifyMistake.NO_SUCH_HOURS),
    ("notify quiet 22 to 7 utc+20", NotifyMistake.NO_SUCH_HOURS),
    ("notify mail anna", NotifyMistake.ADDRESS_WRITTEN_OTHERWISE),
    ("notify code 12", NotifyMistake.CODE_HAS_SIX_DIGITS),
]


@pytest.mark.parametrize(("line", "code"), MISTAKES)
def test_notify_mistake_has_a_code_and_no_suggestion(line: str, code: NotifyMistake) -> None:
    with pytest.raises(ParseError) as mistake:
        parse(line)
    assert mistake.value.code is code
    assert mistake.value.suggestion is None


TEXTS = [
    (
        "notify quiet 25 to 7",
        'Write the hours like "22 to 7" in UTC, or like "22 to 7 utc+2" in your own time zone.',
    ),
    ("notify mail anna", 'An email address looks like "anna@example.org".'),
    ("notify code 12", "The code in the email has six digits."),
]


@pytest.mark.parametrize(("line", "sentence"), TEXTS)
def test_notify_mistake_is_worded(line: str, sentence: str) -> None:
    with pytest.raises(ParseError) as mistake:
        parse(line)
    assert refusal_text(mistake.value) == sentence


def test_cases_cover_every_refusal_and_mistake() -> None:
    assert {refusal.code for refusal, _ in NOTIFIED} == set(N)
    assert {code for _, code in MISTAKES} == set(NotifyMistake)
