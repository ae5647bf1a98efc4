"""Wording of the refusals of moderation commands and reports."""

from __future__ import annotations

import pytest

from thudmud.errors import RefusedError
from thudmud.features.moderation.model import ModerationRefusal as M
from thudmud.views.refusals import refusal_text

REFUSALS = [
    (
        RefusedError(M.REPORTS_TOO_MANY, most=5),
        "You have 5 open reports, which is the limit. The operators will get to them.",
    ),
    (RefusedError(M.NO_OPEN_REPORT), "There are no open reports."),
    (
        RefusedError(M.NO_REPORTS_OF_PLAYER, words="zoe"),
        'There is no such open report with the name "zoe". "reports" lists the open ones.',
    ),
    (
        RefusedError(M.REPORTS_FULL),
        "The operators have more reports than they can read. Try again later.",
    ),
    (RefusedError(M.REPORT_SELF), "That's you. A report is about somebody else."),
    (
        RefusedError(M.NO_OPERATORS),
        "There are no operators here. The people who run this server keep order.",
    ),
    (RefusedError(M.SANCTION_SELF), "You can't do that to yourself."),
    (
        RefusedError(M.SANCTION_OPERATOR, player="Olga"),
        "Olga is an operator, too. You can't do that to them.",
    ),
    (
        RefusedError(M.SANCTION_BOT, player="Flint"),
        "Flint is one of this server's bots, and does what its settings say.",
    ),
    (RefusedError(M.NOT_MUTED, words="bert"), '"bert" is not muted; "mutes" lists who is.'),
    (RefusedError(M.NOT_BANNED, words="bert"), '"bert" is not banned; "bans" lists who is.'),
    (
        RefusedError(M.NO_SUCH_NETWORK, words="1.2.3.400"),
        '"1.2.3.400" isn\'t a name, an address such as 203.0.113.7, or a network such as '
        "203.0.113.0/24 or 2001:db8::/32.",
    ),
    (
        RefusedError(M.NETWORK_TOO_WIDE, network="0.0.0.0/0", widest="/8"),
        "0.0.0.0/0 is too wide; the widest network that can be banned is a /8.",
    ),
    (
        RefusedError(M.NETWORK_LOCAL, network="127.0.0.1"),
        "127.0.0.1 is this machine itself, and anybody may come from there.",
    ),
    (
        RefusedError(M.NO_SUCH_REPORT, number=9),
        'There is no open report 9; "reports" lists the open ones.',
    ),
    (
        RefusedError(M.NO_SHUTDOWN),
        "No shutdown is planned, so there's nothing to cancel.",
    ),
    (
        RefusedError(M.NO_REPORTS),
        "Nobody reads reports here. Please contact the people who run this server instead.",
    ),
    (RefusedError(M.NO_OPEN_REPORT), "There are no open reports."),
]


@pytest.mark.parametrize(("refusal", "sentence"), REFUSALS)
def test_moderation_refusal_is_worded(refusal: RefusedError, sentence: str) -> None:
    assert refusal_text(refusal) == sentence
