"""What a member prefers, kept as JSON and read again."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from thudmud.language.parsing import ignored_of, options_of, preferences_of, styles_of
from thudmud.play.commands import Style
from thudmud.play.hall import MOST_IGNORED, Hall
from thudmud.play.options import WIDTHS, Charset, Colour, Element, Options, Orient, Scheme, Switch
from thudmud.play.table import BoardSpec
from thudmud.server.sessions import Sessions, make_service
from thudmud.store import Store
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
    st.booleans(),
    st.sampled_from(Scheme),
    st.dictionaries(st.sampled_from(Element), colours).map(
        lambda chosen: tuple(sorted(chosen.items(), key=lambda each: each[0].value))
    ),
)


@given(options, st.dictionaries(st.text(), st.sampled_from(Style)), st.lists(st.text()))
def test_what_is_kept_is_read_again(
    chosen: Options, styles: dict[str, Style], ignored: list[str]
) -> None:
    kept = json.loads(json.dumps(preferences_of(styles, chosen, ignored)))
    assert ignored_of(kept) == tuple(ignored)
    assert options_of(kept) == chosen
    assert styles_of(kept) == styles


async def test_what_a_guest_has_chosen_is_kept_when_they_register() -> None:
    store = Store.in_memory()
    service = make_service(store, Hall([BoardSpec("oak board")]))
    sessions = Sessions(service)
    await service.open()
    anna = await service.join("Anna", Terminal())
    assert anna
    for line in ("options reader on", "set board brief on oak board", "ignore mallory"):
        await service.submit(anna, line)
    await store.enrol("Anna", "a hash")
    await sessions.enrol("Anna")
    account = await store.find("Anna")
    assert account
    assert options_of(account.preferences) == Options(reader=Switch.ON)
    assert styles_of(account.preferences) == {"oak board": Style.BRIEF}
    assert ignored_of(account.preferences) == ("Mallory",)
    await store.close()


def test_what_nobody_knows_is_passed_over() -> None:
    kept = {
        "options": ["options charset runes", "quit", 7, "options orient north"],
        "styles": 3,
        "ignored": 3,
    }
    assert options_of(kept) == Options(orient=Orient.NORTH)
    assert styles_of(kept) == {}
    assert ignored_of(kept) == ()
    assert options_of({"options": "all"}) == Options()
    assert len(ignored_of({"ignored": ["Mallory"] * 1000})) == MOST_IGNORED
