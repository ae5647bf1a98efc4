"""Preferences of members, stored as JSON and read back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from thudmud.features.options.commands import SetToggle
from thudmud.features.options.preferences import (
    ignored_of,
    options_of,
    preferences_of,
    profile_of,
    styles_of,
)
from thudmud.game.hall import Hall
from thudmud.game.options import (
    HEIGHTS,
    WIDTHS,
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    Style,
    Switch,
    Toggle,
)
from thudmud.game.people import LONGEST_PLAN, MOST_IGNORED
from thudmud.game.table import BoardSpec
from thudmud.server.session_registry import Sessions, make_service
from thudmud.service import JoinRequest
from thudmud.store import Store, accounts
from thudmud.views.view import Terminal

shades = st.integers(0, 255) | st.tuples(*[st.integers(0, 255)] * 3)
colours = st.builds(Colour, st.none() | shades, st.none() | shades, st.booleans())
options = st.builds(
    Options,
    st.sampled_from(Charset),
    st.sampled_from(Switch),
    st.none() | st.sampled_from(WIDTHS),
    st.sampled_from(Orient),
    st.sampled_from(Switch),
    st.sampled_from(Scheme),
    st.dictionaries(st.sampled_from(Element), colours).map(
        lambda chosen: tuple(sorted(chosen.items(), key=lambda each: each[0].value))
    ),
    on=st.frozensets(st.sampled_from(Toggle)),
    rows=st.none() | st.just(0) | st.sampled_from(HEIGHTS),
)


@given(options, st.dictionaries(st.text(), st.sampled_from(Style)), st.lists(st.text()), st.text())
def test_preferences_round_trip_through_json(
    chosen: Options, styles: dict[str, Style], ignored: list[str], news: str
) -> None:
    kept = json.loads(json.dumps(preferences_of(styles, chosen, ignored, news)))
    assert profile_of(kept).news == news
    assert ignored_of(kept) == tuple(ignored)
    assert options_of(kept) == chosen
    assert styles_of(kept) == styles


@given(st.lists(st.text()), st.sampled_from(["", "To win.", "I'm \N{GRINNING FACE}"]))
def test_followed_players_and_plan_round_trip(followed: list[str], plan: str) -> None:
    kept = json.loads(json.dumps(preferences_of({}, Options(), followed=followed, plan=plan)))
    assert profile_of(kept).followed == tuple(followed)
    assert profile_of(kept).plan == plan


async def test_guest_preferences_are_kept_on_registration() -> None:
    store = Store.in_memory()
    service = make_service(store, Hall([BoardSpec("oak board")]))
    sessions = Sessions(service)
    await service.open()
    anna = await service.join(JoinRequest("Anna", Terminal()))
    assert anna
    for line in (
        "options reader on",
        "set board brief on oak board",
        "ignore mallory",
        "follow bert",
    ):
        await service.submit(anna, line)
    await store.write(accounts.enrol, "Anna", "a hash")
    await sessions.enrol("Anna")
    account = await store.read(accounts.find, "Anna")
    assert account
    assert options_of(account.preferences) == Options(reader=Switch.ON)
    assert styles_of(account.preferences) == {"oak board": Style.BRIEF}
    assert ignored_of(account.preferences) == ("Mallory",)
    assert profile_of(account.preferences).followed == ("Bert",)
    await service.submit(anna, "plan To win.")
    account = await store.read(accounts.find, "Anna")
    assert account
    assert profile_of(account.preferences).plan == "To win."
    await service.submit(anna, "plan none")
    account = await store.read(accounts.find, "Anna")
    assert account
    assert profile_of(account.preferences).plan == ""
    await store.close()


def test_toggle_missing_from_stored_options_has_its_default() -> None:
    kept = [str(SetToggle(each, value=False)) for each in Toggle if each is not Toggle.RESULTS]
    assert options_of({"options": kept}).on == {Toggle.RESULTS}
    kept.append(str(SetToggle(Toggle.RESULTS, value=False)))
    assert options_of({"options": kept}).on == frozenset()


def test_unknown_or_malformed_preferences_are_ignored() -> None:
    kept = {
        "options": ["options charset runes", "quit", 7, "options orient north"],
        "styles": 3,
        "ignored": 3,
    }
    assert options_of(kept) == Options(orient=Orient.NORTH)
    assert styles_of(kept) == {}
    assert ignored_of(kept) == profile_of(kept).followed == ()
    assert profile_of({"plan": "a\nb" + "c" * 1000}).plan == "a b" + "c" * (LONGEST_PLAN - 3)
    assert options_of({"options": "all"}) == Options()
    assert len(ignored_of({"ignored": ["Mallory"] * 1000})) == MOST_IGNORED
