"""Effects of option commands, and the meaning of `last` outside a replay."""

from __future__ import annotations

import pytest

from thudmud.errors import RefusedError
from thudmud.features.archive.commands import Step, Way
from thudmud.features.options.commands import (
    SetCharset,
    SetColour,
    SetElement,
    SetOrient,
    SetReader,
    SetScheme,
    SetSize,
    SetToggle,
    SetWidth,
)
from thudmud.features.options.model import OptionChosen
from thudmud.features.playing.queries import LastMove
from thudmud.game.command import Asked
from thudmud.game.decisions import decide, decide_arrival
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import (
    UNKNOWN,
    Charset,
    Colour,
    Element,
    Options,
    Orient,
    Scheme,
    SetOption,
    Size,
    Switch,
    Toggle,
)
from thudmud.game.table import BoardSpec
from thudmud.language.parsing import parse_option

DEFAULT_ON = Options().on
RED = Colour(foreground=1)


@pytest.mark.parametrize(
    ("choice", "options"),
    [
        (SetCharset(Charset.UTF_8), Options(charset=Charset.UTF_8)),
        (SetColour(Switch.OFF), Options(colour=Switch.OFF)),
        (SetWidth(60), Options(width=60)),
        (SetOrient(Orient.NORTH), Options(orient=Orient.NORTH)),
        (SetSize(Size.LARGE), Options(size=Size.LARGE)),
        (SetReader(Switch.ON), Options(reader=Switch.ON)),
        (SetToggle(Toggle.MACHINE, value=True), Options(on=DEFAULT_ON | {Toggle.MACHINE})),
        (SetToggle(Toggle.PROMPT, value=False), Options(on=DEFAULT_ON - {Toggle.PROMPT})),
        (SetScheme(Scheme.SAFE), Options(scheme=Scheme.SAFE)),
        (SetElement(Element.TROLL, RED), Options(elements=((Element.TROLL, RED),))),
    ],
)
def test_choice_changes_a_single_option(choice: SetOption, options: Options) -> None:
    assert choice.apply_to(Options()) == options
    assert parse_option(str(choice)) == choice  # as at the name prompt, where a lone word is a name


def test_element_colour_can_be_changed_and_reset() -> None:
    options = SetElement(Element.TROLL, RED).apply_to(Options())
    options = SetElement(Element.DWARF, RED).apply_to(options)
    options = SetElement(Element.TROLL, Colour(bold=True)).apply_to(options)
    assert dict(options.elements) == {Element.DWARF: RED, Element.TROLL: Colour(bold=True)}
    assert SetElement(Element.TROLL, None).apply_to(options).elements == ((Element.DWARF, RED),)


def test_scheme_resets_element_colours() -> None:
    options = SetElement(Element.TROLL, RED).apply_to(Options())
    assert SetScheme(Scheme.DIM).apply_to(options) == Options(scheme=Scheme.DIM)


@pytest.fixture
def hall() -> Hall:
    hall = Hall([BoardSpec("oak board"), BoardSpec("elm board")])
    for decision in decide_arrival(hall, "Anna", 0.0, UNKNOWN, member=False):
        hall.commit(decision)
    return hall


def test_chosen_option_persists_for_its_player(hall: Hall) -> None:
    (decision,) = decide(hall, "Anna", SetToggle(Toggle.MACHINE, value=True), 0.0)
    assert hall.people["Anna"].options == Options()
    (told,) = hall.commit(decision)
    machine = Options(on=DEFAULT_ON | {Toggle.MACHINE})
    assert told.event == OptionChosen("Anna", SetToggle(Toggle.MACHINE, value=True), machine)
    assert told.recipients == ("Anna",)
    assert hall.people["Anna"].options == machine


def test_last_outside_a_replay_means_the_last_move(hall: Hall) -> None:
    with pytest.raises(RefusedError):
        decide(hall, "Anna", Step(Way.LAST), 0.0)
    hall.people["Anna"].room = "oak board"
    assert decide(hall, "Anna", Step(Way.LAST), 0.0) == [
        Decision("Anna", "oak board", asides=(Asked("Anna", LastMove(), "oak board"),))
    ]
    with pytest.raises(RefusedError):
        decide(hall, "Anna", Step(Way.NEXT), 0.0)
