"""Custom verbs of a house, and built-in verbs that it excludes."""

from __future__ import annotations

import pytest

from thudmud import BoardSpec, House
from thudmud.errors import InvalidValueError
from thudmud.game.asides import Emoted
from thudmud.game.command import Command, CommandContext
from thudmud.game.hall import Decision
from thudmud.language import ParseError, parse
from thudmud.language.vocabulary import HostCommand, Vocabulary, own_verb

NOW = 1_800_000_000.0


@own_verb("juggle [<number> [balls]] [for <player>] [singing <text>]")
class Juggle(HostCommand):
    """Juggle with some balls.

    Everybody in the room sees it.
    """

    number: int = 3
    player: str = "all"
    text: str = ""

    def decide(self, context: CommandContext) -> Decision:
        done = f"juggles {self.number} balls for {self.player}"
        song = f" and sings: {self.text}" if self.text else ""
        return context.decide_asides(Emoted(context.me, context.person.room, f"{done}{song}"))


@own_verb("say <text>")
class Murmur(HostCommand):
    """Say something, under your breath."""

    text: str

    def decide(self, context: CommandContext) -> Decision:
        return context.decide_asides(
            Emoted(context.me, context.person.room, f"murmurs: {self.text}")
        )


@own_verb("next")
class Next(HostCommand):
    """Ask who is next.
    It may take a while."""


@pytest.fixture
def house() -> House:
    house = House([BoardSpec("oak board")], verbs=[Juggle], without=["shout", "tell"])
    house.enter("Anna", NOW)
    return house


def typed(house: House, line: str) -> str:
    (message,) = house.obey("Anna", line, NOW)
    return " ".join(message.text.split())


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("juggle", "* Anna juggles 3 balls for all"),
        ("Juggle 5 balls.", "* Anna juggles 5 balls for all"),
        ("juggle 4 for Bert", "* Anna juggles 4 balls for Bert"),
        ("JUGGLE singing Oh my", "* Anna juggles 3 balls for all and sings: Oh my"),
        ("juggle 2 for bert singing la", "* Anna juggles 2 balls for bert and sings: la"),
    ],
)
def test_pattern_slots_fill_the_fields(house: House, line: str, seen: str) -> None:
    assert typed(house, line) == seen


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "juggle knives",
            'After "juggle" comes a number such as 12, "for", "singing" or the end of the line,'
            ' not "knives".',
        ),
        ("juggle 3 for", 'After "juggle 3 for" something is missing: the name of a player.'),
        ("jugle", 'There is no command "jugle". Did you mean "juggle"?'),
        ("shout hello", 'There is no command "shout".'),
        ("tel bert", 'There is no command "tel". "help" lists the commands'),
    ],
)
def test_own_verb_errors_read_like_those_of_built_in_verbs(
    house: House, line: str, said: str
) -> None:
    assert said in typed(house, line)


def test_help_covers_own_verbs_and_omits_removed_ones(house: House) -> None:
    contents = typed(house, "help")
    assert "juggle" in contents
    assert "shout" not in contents
    assert typed(house, "help juggle") == (
        "juggle: Juggle with some balls Syntax: juggle [<number> [balls]] [for <player>]"
        " [singing <text>] Everybody in the room sees it."
    )
    assert "shout <text>" not in typed(house, "syntax")
    assert 'There is no help on "shout".' in typed(house, "help shout")
    assert typed(house, "syntax juggle").startswith("juggle [<number>")


def test_built_in_verb_can_be_replaced() -> None:
    house = House([BoardSpec("oak board")], verbs=[Murmur], without=["say"])
    house.enter("Anna", NOW)
    assert typed(house, "say hello") == "* Anna murmurs: hello"
    assert "There is no command" in typed(house, "'hello")


@pytest.mark.parametrize(
    ("without", "line"),
    [
        ("play", "play"),
        ("play", "play classic"),
        ("setup", "setup turn trolls"),
        ("options", "options shout off"),
        ("match", "match bert"),
        ("no", "decline bert"),
        ("next", "next"),
        ("shout", "shout"),
        ("say", "'hello"),
        ("say", "\u201chello"),
        ("say", '"hello'),
        ("undo", "take back"),
    ],
)
def test_excluded_verb_is_gone_in_all_its_forms(without: str, line: str) -> None:
    house = House([BoardSpec("oak board")], without=[without])
    house.enter("Anna", NOW)
    assert "There is no command" in typed(house, line)
    assert "There is no command" not in typed(house, "move a6 b6")


def test_house_parses_its_own_verbs_and_none_that_it_leaves_out(house: House) -> None:
    assert house.parse("juggle 5") == Juggle(5)
    assert house.parse("say hello") == parse("say hello")
    for line in ("shout hello", "tell bert hello", "sharpen axe"):
        with pytest.raises(ParseError, match="unknown_command"):
            house.parse(line)


@pytest.mark.parametrize("command", [parse("shout hello"), parse("tell anna hello"), Next()])
def test_command_value_of_an_unavailable_verb_is_refused(house: House, command: Command) -> None:
    (message,) = house.obey("Anna", command, NOW)
    assert f'There is no command "{str(command).partition(" ")[0]}"' in message.text


def test_command_value_of_an_own_verb_is_obeyed() -> None:
    for verb, without in ((Juggle, []), (Murmur, ["say"])):
        house = House([BoardSpec("oak board")], verbs=[verb], without=without)
        house.enter("Anna", NOW)
        line = f"{verb.words} for bert"
        (message,) = house.obey("Anna", house.parse(line), NOW)
        assert "* Anna" in message.text
    with pytest.raises(ParseError):
        House([BoardSpec("oak board")]).parse("juggle")


@pytest.mark.parametrize("line", ["juggle", "juggle 5", "juggle 4 for Bert singing Oh my"])
def test_custom_command_round_trips_through_its_text(line: str) -> None:
    vocabulary = Vocabulary([Juggle])
    assert str(vocabulary.parse(line)) == line
    assert vocabulary.parse(str(vocabulary.parse(line))) == vocabulary.parse(line)


def test_overlong_number_is_rejected(house: House) -> None:
    assert 'After "juggle" comes a number' in typed(house, "juggle 1234567890")


def test_vocabulary_of_one_house_does_not_affect_others(house: House) -> None:
    other = House([BoardSpec("oak board")])
    other.enter("Anna", NOW)
    assert "juggle" not in typed(other, "help")
    assert 'There is no command "juggle".' in typed(other, "juggle")
    assert typed(other, "shout hello") == "You shout: hello"


def test_vocabulary_with_unknown_or_duplicate_verbs_is_rejected() -> None:
    with pytest.raises(InvalidValueError, match="unknown verbs: jump"):
        Vocabulary(without=["jump"])
    with pytest.raises(InvalidValueError, match="the verb say exists already"):
        Vocabulary([Murmur])
    with pytest.raises(InvalidValueError, match="the verb next exists already"):
        Vocabulary([Next])
    with pytest.raises(InvalidValueError, match="the verb juggle exists already"):
        Vocabulary([Juggle, Juggle])


@pytest.mark.parametrize("syntax", ["", "<player>", "wave [", "wave ]", "wave <hand>", "wave 3"])
def test_malformed_pattern_is_rejected(syntax: str) -> None:
    with pytest.raises(InvalidValueError):

        @own_verb(syntax)
        class Wave(HostCommand):
            """Wave."""


def test_pattern_without_slots_for_the_fields_is_rejected() -> None:
    with pytest.raises(InvalidValueError, match="match the fields of Wave"):

        @own_verb("wave to <player>")
        class Wave(HostCommand):
            """Wave to somebody."""


def test_optional_slot_needs_a_default_and_verb_a_docstring() -> None:
    with pytest.raises(InvalidValueError, match="optional fields need a default: number"):

        @own_verb("bet [<number>]")
        class Bet(HostCommand):
            """Bet."""

            number: int

    with pytest.raises(InvalidValueError, match="needs a docstring"):

        @own_verb("wave")
        class Wave(HostCommand):
            pass


def test_help_splits_a_docstring_without_a_blank_line() -> None:
    house = House([BoardSpec("oak board")], verbs=[Next], without=["next"])
    house.enter("Anna", NOW)
    assert typed(house, "help next") == "next: Ask who is next Syntax: next It may take a while."


def test_lower_case_name_is_capitalized_at_the_start_of_a_sentence(house: House) -> None:
    house.enter("bert", NOW)
    (message, *_) = house.obey("bert", "emote dances", NOW)
    assert message.text == "* Bert dances"
    (gone,) = house.depart("bert", NOW)
    assert gone.text == "Bert has lost the connection."
