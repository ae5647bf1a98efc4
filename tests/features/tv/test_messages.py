from __future__ import annotations

from thudmud import BoardSpec, House
from thudmud.errors import Refused
from thudmud.features.tv.model import TvRefusal
from thudmud.views.refusals import refused


def test_tv_that_is_off_is_turned_off() -> None:
    house = House([BoardSpec("oak board")])
    house.enter("Carla", 0.0)
    [message] = [each for each in house.obey("Carla", "tv off", 0.0) if not each.package]
    assert message.text == 'Your tv is off. "tv" turns it on.'
    assert refused(Refused(TvRefusal.TV_IS_OFF)) == message.text
