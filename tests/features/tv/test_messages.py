from __future__ import annotations

from thudmud import BoardSpec, House
from thudmud.errors import RefusedError
from thudmud.features.tv.model import TvRefusal
from thudmud.views.refusals import refusal_text


def test_tv_off_when_already_off_is_refused() -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Carla", 0.0)
    [message] = [each for each in house.obey("Carla", "tv off", 0.0) if not each.package]
    assert message.text == 'Your tv is off. "tv" turns it on.'
    assert refusal_text(RefusedError(TvRefusal.TV_IS_OFF)) == message.text


def test_disabled_tv_is_named_as_the_syntax_error() -> None:
    house = House([BoardSpec("oak board")], without=["tv"])
    house.enter("Carla", 0.0)
    [message] = [each for each in house.obey("Carla", "stop tv", 0.0) if not each.package]
    last = 'comes "tutorial", "puzzle", "replay" or the end of the line, not "tv".'
    assert last in " ".join(message.text.split())
