"""Normalization of mail addresses, and limits on the codes sent to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thudmud.features.notifications.model import (
    CODE_LASTS,
    CODES_A_DAY,
    CODES_FROM_NETWORK,
    CodeHistory,
    NotifyRefusal,
    mail_domain,
    mailbox,
    refused_code,
    share_of_codes,
)
from thudmud.game.clocks import DAY

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("Anna@Example.org", "anna@example.org"),
        ("anna+1@example.org", "anna@example.org"),
        ("anna+1+2@example.org", "anna@example.org"),
        ("an.na@example.org", "an.na@example.org"),
        ("an.na+x@gmail.com", "anna@gmail.com"),
        ("a.n.n.a@GoogleMail.com", "anna@gmail.com"),
        ("an-na_b.c@pm.me", "annabc@proton.me"),
        ("an-na@gmail.com", "an-na@gmail.com"),
        ("+anna@example.org", "+anna@example.org"),
    ],
)
def test_mailbox_is_the_same_for_all_spellings_of_an_address(address: str, counted: str) -> None:
    assert mailbox(address) == counted


@given(st.emails())
def test_mailbox_normalization_is_idempotent(address: str) -> None:
    assert mailbox(mailbox(address)) == mailbox(address)


@pytest.mark.parametrize(
    ("address", "domain"),
    [
        ("a@example.org", "example.org"),
        ("a@x7.mail.example.org", "example.org"),
        ("a@x7.example.co.uk", "example.co.uk"),
        ("a@x7.example.de", "example.de"),
        ("a@googlemail.com", "gmail.com"),
    ],
)
def test_mail_domain_is_the_registrable_domain(address: str, domain: str) -> None:
    assert mail_domain(address) == domain


@pytest.mark.parametrize(
    ("asked", "code", "seconds"),
    [
        (CodeHistory(mailbox=(NOW - 5,) * CODES_A_DAY), NotifyRefusal.CODES_TOO_MANY, None),
        (
            CodeHistory(network=(NOW - 9, *[NOW - 5] * (CODES_FROM_NETWORK - 1))),
            NotifyRefusal.CODES_FROM_ADDRESS,
            DAY - 9,
        ),
        (CodeHistory(domain=(NOW - 7,) * 16), NotifyRefusal.CODES_HELD_BACK, CODE_LASTS - 7),
        (CodeHistory(everybody=(NOW - 7,) * 33), NotifyRefusal.CODES_HELD_BACK, CODE_LASTS - 7),
    ],
)
def test_code_over_a_limit_is_refused_until_the_oldest_expires(
    asked: CodeHistory, code: NotifyRefusal, seconds: float | None
) -> None:
    refusal = refused_code(asked, share_of_codes(100), NOW)
    assert refusal
    assert (refusal.code, refusal.details.get("seconds")) == (code, seconds)
    one_less = CodeHistory(
        asked.mailbox[1:], asked.network[1:], asked.domain[1:], asked.everybody[1:]
    )
    assert refused_code(one_less, share_of_codes(100), NOW) is None


def test_share_of_codes_is_a_third_of_all_mails_but_at_least_one() -> None:
    assert [share_of_codes(each) for each in (1, 2, 6, 100)] == [1, 1, 2, 33]
