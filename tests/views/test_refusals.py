"""The sentence of every refusal, to the letter, each brought about by play."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from typing import NamedTuple

import pytest

from tests.play.halls import StoredHall, do, hall_of, lose
from tests.rules.refused import EXAMPLES, Example, refusal
from thudmud.errors import Refused
from thudmud.language import parse
from thudmud.play.commands import SetRules
from thudmud.play.hall_decisions import decide
from thudmud.play.lookups import BattleLookup, Found, FoundBattle, Unread
from thudmud.play.refusals import Refusal
from thudmud.rules import CLASSIC, Game, Reason, RecordError, read_record, write_record
from thudmud.views.refusals import refused, unread

NOW = 7.0


class Case(NamedTuple):
    """What was done before by Anna, Bert and Carla, what is refused, and the sentence."""

    code: Refusal
    before: str
    line: str
    sentence: str


R = Refusal
ALONE = "Anna: join game as dwarf on oak board"
SEATED = f"{ALONE}; Bert: join game as troll on oak board"
STARTED = f"{SEATED}; Anna: start game"
PLAYED = f"{STARTED}; Anna: move a6 b6"
HALF = f"{STARTED}; Anna: end game; Bert: end game"
OVER = f"{HALF}; Bert: start game; Anna: resign"
AWAY = f"{STARTED}; Bert is lost"
ADJOURNED = f"{PLAYED}; Anna: adjourn game; Bert: adjourn game"
TWICE = f"{ADJOURNED}; {STARTED}; Anna: adjourn game; Bert: adjourn game"
REPLAYING = f"{HALF}; Carla: replay 1"
BOTH = "You play the dwarfs and Bert plays the trolls."
SITTING = "Anna plays the dwarfs and Bert plays the trolls."
FREE = 'The troll seat is free: "join game as troll on oak board".'

CASES = [
    Case(
        R.NO_BOARD_HERE, "", "Anna: go to chair",
        'There is no "chair" here. The boards are: oak board, pine board and elm table.',
    ),
    Case(
        R.NO_BOARD_HERE, "", "Anna: go to oak bord",
        'There is no "oak bord" here. Did you mean "board"? The boards are: oak board, pine board '
        "and elm table.",
    ),
    Case(
        R.NO_BOARD_HERE, "", f"Anna: go to {'oaken ' * 10}",
        'There is no "oaken oaken oaken oaken oaken oaken oake..." here. Did you mean "oak"? The '
        "boards are: oak board, pine board and elm table.",
    ),
    Case(
        R.NO_SUCH_ORDINAL, "", "Anna: go to third board",
        'There is no "third board", only oak board and pine board.',
    ),
    Case(
        R.WHICH_BOARD, "", "Anna: go to board",
        'Which one do you mean by "board": oak board or pine board?',
    ),
    Case(
        R.SAY_WHICH, "", "Anna: start game",
        'Which board? Add "on" and one of: oak board, pine board or elm table.',
    ),
    Case(
        R.NOTHING_USED, "", "Anna: go to it",
        'You have not used a board yet for "it" to mean. The boards are: oak board, pine board and '
        "elm table.",
    ),
    Case(
        R.ALREADY_THERE, "Anna: go to oak board", "Anna: go to oak board",
        "You are at the oak board already.",
    ),
    Case(R.ALREADY_IN_HALL, "", "Anna: go to hall", "You are in the hall already."),
    Case(
        R.NO_SUCH_PLAYER, "", "Anna: tell dora hello",
        'There is no player called "dora" here. "who" lists the players.',
    ),
    Case(
        R.WHICH_PLAYER, "", "Anna: tell be hello",
        'Which player do you mean by "be": Bert or Bea?',
    ),
    Case(R.AWAY_FROM, AWAY, "Anna: look at bert", "Bert is away from the oak board."),
    Case(R.TELL_SELF, "", "Anna: tell anna hello",
         'That is you. To speak to the room, use "say".'),
    Case(R.NO_ACCOUNTS, "", "Anna: register", "Names cannot be registered here."),
    Case(
        R.INVITE_SELF, "", "Anna: invite anna on oak board",
        'That is you. "join game as dwarf on oak board" takes a seat.',
    ),
    Case(
        R.PLAYS_THERE, SEATED, "Anna: invite bert",
        "Bert plays the trolls at the oak board already.",
    ),
    Case(
        R.NO_SEAT_FREE, SEATED, "Anna: invite carla",
        f"Both seats at the oak board are taken. {BOTH}",
    ),
    Case(
        R.SEAT_NOT_FREE, SEATED, "Anna: invite carla as troll",
        "Bert plays the trolls at the oak board already.",
    ),
    Case(
        R.SEAT_NOT_FREE, ALONE, "Bert: invite carla as dwarf on oak board",
        f"Anna plays the dwarfs at the oak board already. {FREE}",
    ),
    Case(
        R.SEAT_TAKEN, SEATED, "Carla: join game as dwarf on oak board",
        "Anna plays the dwarfs at the oak board already. You are welcome to watch.",
    ),
    Case(
        R.SEAT_TAKEN, ALONE, "Carla: join game as dwarf on oak board",
        f"Anna plays the dwarfs at the oak board already. {FREE}",
    ),
    Case(
        R.SAME_SEAT, ALONE, "Anna: join game as dwarf",
        "You play the dwarfs at the oak board already.",
    ),
    Case(
        R.ONE_SEAT_EACH, ALONE, "Anna: join game as troll",
        'You play the dwarfs at the oak board. To change sides, "leave game" first.',
    ),
    Case(
        R.NOT_SEATED, STARTED, "Carla: resign on oak board",
        f"You are not playing at the oak board. {SITTING}",
    ),
    Case(
        R.NOT_SEATED, ALONE, "Carla: resign on oak board",
        f"You are not playing at the oak board. Anna plays the dwarfs. {FREE}",
    ),
    Case(
        R.NOT_SEATED, AWAY, "Carla: resign on oak board",
        "You are not playing at the oak board. Anna plays the dwarfs and Bert plays the trolls "
        "(away).",
    ),
    Case(
        R.NOT_SEATED, "", "Carla: resign on oak board",
        'You are not playing at the oak board. Both seats are free: "join game as dwarf on oak '
        'board" or "join game as troll on oak board".',
    ),
    Case(R.NEEDS_OPPONENT, ALONE, "Anna: start game", f"A battle needs two players. {FREE}"),
    Case(
        R.NOBODY_TO_AGREE, f"{STARTED}; Bert: leave game", "Anna: undo",
        f"There is nobody to agree to that. {FREE}",
    ),
    Case(
        R.NO_BATTLE, SEATED, "Anna: resign",
        'No battle is being played at the oak board. "start game on oak board" begins one.',
    ),
    Case(
        R.NO_BATTLE, f"{SEATED}; Bert: go to hall", "Carla: view possible on oak board",
        f"No battle is being played at the oak board. {SITTING}",
    ),
    Case(
        R.BATTLE_OVER, HALF, "Anna: resign",
        'The battle at the oak board is over. "start game on oak board" begins the next.',
    ),
    Case(
        R.BATTLE_OVER, f"{HALF}; Bert is lost", "Anna: resign",
        f"The battle at the oak board is over. {BOTH[:-1]} (away).",
    ),
    Case(R.OPPONENTS_TURN, STARTED, "Bert: move g7 f7", "It is Anna's turn (dwarfs)."),
    Case(
        R.OVER_FOR_GOOD, OVER, "Anna: undo",
        "The battle at the oak board is over, and what is over stays.",
    ),
    Case(
        R.AWAY, f"{HALF}; Bert is lost", "Anna: start game",
        "Bert is away. A battle needs you both.",
    ),
    Case(R.NOT_AWAY, STARTED, "Anna: claim", "Bert is here, so there is nothing to claim."),
    Case(
        R.TOO_SOON, AWAY, "Anna: claim",
        "Bert may still come back. You need not wait longer than another 5 minutes.",
    ),
    Case(
        R.NOTHING_TO_CLAIM, HALF, "Anna: claim",
        'There is no battle to claim between the two of a match; "adjourn game on oak board" puts '
        "the match away.",
    ),
    Case(
        R.NOBODY_TO_CLAIM_FROM, f"{STARTED}; Bert: leave game", "Anna: claim",
        'The other seat is free: you may say "end game on oak board" alone.',
    ),
    Case(R.NO_MATCH, SEATED, "Anna: adjourn", "No match is under way at the oak board."),
    Case(R.NO_PLY_YET, STARTED, "Anna: undo", "You have no move in this battle to take back yet."),
    Case(R.NOTHING_OFFERED, STARTED, "Anna: no", "Nothing has been offered at the oak board."),
    Case(
        R.ALREADY_OFFERED, f"{STARTED}; Anna: end game", "Anna: end game",
        'You have offered that already; it takes Bert to say "end game on oak board" too.',
    ),
    Case(
        R.BOARD_IN_USE, f"{ADJOURNED}; Carla: join game as dwarf on oak board", "Anna: resume",
        "The oak board is in use. Any other board that is free will do.",
    ),
    Case(
        R.NOTHING_ADJOURNED, "", "Anna: resume on oak board",
        'You have no adjourned match. "adjourn game" puts one away.',
    ),
    Case(
        R.GOES_ON_ALREADY, STARTED, "Anna: resume",
        "Your match goes on at the oak board; none of yours is put away.",
    ),
    Case(
        R.NOT_YOURS_TO_RESUME, ADJOURNED, "Anna: resume 7",
        'You have no adjourned match with the number 7: "games" lists them.',
    ),
    Case(
        R.RESUME_THERE, f"{ADJOURNED}; Anna: go to hall", "Anna: resume on oak board",
        'A match goes on when you both are at the board: "go to oak board".',
    ),
    Case(
        R.OPPONENT_NOT_THERE, f"{ADJOURNED}; Bert: go to hall", "Anna: resume",
        "It goes on when you both are at the oak board; Bert is not here.",
    ),
    Case(
        R.WHICH_ADJOURNED, TWICE, "Anna: resume",
        'Which one? "resume game 1" or another number; "games" lists them.',
    ),
    Case(
        R.WHICH_ADJOURNED, TWICE, "Anna: resume on oak",
        'Which one? "resume game 1 on oak" or another number; "games" lists them.',
    ),
    Case(
        R.NO_SUCH_BATTLE, "", "Anna: replay 9",
        'There is no battle 9. "history" lists those that were played.',
    ),
    Case(R.NOT_KEPT, HALF, "Anna: replay 1", "The moves of battle 1 are no longer kept here."),
    Case(
        R.NOT_REPLAYING, "", "Anna: next",
        'You are not replaying a battle. Begin with "replay" and its number.',
    ),
    Case(
        R.REPLAY_AT_START, REPLAYING, "Carla: back",
        'This is where battle 1 begins. "next" goes on.',
    ),
    Case(
        R.REPLAY_AT_END, REPLAYING, "Carla: next",
        'Battle 1 has no further ply. "back" and "first" go back.',
    ),
    Case(
        R.REPLAY_GONE_ON, f"{STARTED}; Carla: replay 1; Anna: move a6 b6", "Carla: next",
        'More has happened since; "replay 1" shows it.',
    ),
    Case(
        R.RULES_RUNNING, STARTED, "Anna: set rules classic",
        "The oak board keeps the discworld rules while a battle is being played. They can be set "
        "again when the match is over.",
    ),
    Case(
        R.RULES_MID_MATCH, HALF, "Anna: set rules classic",
        "The oak board keeps the discworld rules for the second battle of the match. They can be "
        "set again when the match is over.",
    ),
    Case(
        R.RULES_SEATED_ONLY, SEATED, "Carla: set rules classic on oak board",
        f"The rules of the oak board are for its players to choose. {SITTING}",
    ),
    Case(
        R.RULES_ALREADY, "", "Anna: set rules koom valley on elm table",
        "The elm table has the koom valley rules already.",
    ),
    Case(
        R.RULES_UNKNOWN, "", "Anna: set rules chess on elm table",
        'There are no "chess" rules. There are: discworld, classic, koom valley.',
    ),
]  # fmt: skip


def played(case: Case) -> StoredHall:
    """Return the hall in which a case happens."""
    hall = hall_of("Anna", "Bert", "Carla", *(["Bea"] if case.code is R.WHICH_PLAYER else []))
    for step in filter(None, case.before.split("; ")):
        name, colon, line = step.partition(": ")
        if colon:
            do(hall, name, parse(line), NOW)
        else:
            lose(hall, step.removesuffix(" is lost"), NOW)
    return hall


@cache
def brought_about(case: Case) -> Refused:
    """Return what comes of the line of a case."""
    hall = played(case)
    name, _, line = case.line.partition(": ")
    # What no line can ask for is asked for by a program.
    command = SetRules("chess", "elm table") if case.code is R.RULES_UNKNOWN else parse(line)
    found = Found()
    if case.code is R.NOT_KEPT:
        found.take(BattleLookup(1), FoundBattle(hall.battles[0], None))
    while True:
        try:
            decide(hall, name, command, NOW, found)
        except Unread as unread:
            found.take(unread.lookup, hall.found(unread.lookup))
        except Refused as refusal:
            return refusal


def all_refusals() -> Iterator[Refused]:
    """Yield one of each kind, and more."""
    yield from map(refusal, EXAMPLES)
    yield from map(brought_about, CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code.name}: {case.line}")
def test_what_the_hall_refuses(case: Case) -> None:
    refusal = brought_about(case)
    assert refusal.code is case.code
    assert refused(refusal, case.line.partition(":")[0]) == case.sentence


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.code.name}: {each.words}")
def test_what_the_rules_refuse(example: Example) -> None:
    assert refused(refusal(example)) == example.sentence


def test_every_code_is_here_and_means_one_thing() -> None:
    codes = [*Reason, *Refusal]
    assert {each.code for each in all_refusals()} == set(codes)
    assert len({code.value for code in codes}) == len(codes)


def test_one_code_has_the_same_facts_each_time() -> None:
    facts = {(each.code, tuple(each.details)) for each in all_refusals()}
    assert len(facts) == len([*Reason, *Refusal])


def test_squares_by_other_names() -> None:
    refusal_ = refusal(EXAMPLES[2])
    assert refused(refusal_, name=lambda square: f"<{square.column},{square.row}>") == (
        "<0,0> is off the octagon; that row runs from <5,0> to <9,0>."
    )
    assert refused(refusal_, name=attrgetter("record_name")).endswith("runs from F1 to K1.")


@pytest.mark.parametrize(
    ("plies", "sentence"),
    [
        ("dA6-A6", "line 2: dA6-A6: The piece on A6 has to go somewhere else."),
        (
            "dK1-K9xK9",
            "line 2: dK1-K9xK9: A hurled dwarf has to land on a troll; K9 holds nothing.",
        ),
        ("dA6-B6\nTJ7-L7", "line 3: TJ7-L7: A troll moves at most 1 square; L7 is 2 away."),
        ("TA6-B6", "line 2: TA6-B6: a dwarf stands on A6"),
    ],
)
def test_a_record_that_cannot_be_read(plies: str, sentence: str) -> None:
    setup = write_record(Game.start(CLASSIC).push("dA6-B6")).splitlines()[0]
    with pytest.raises(RecordError) as caught:
        read_record(f"{setup}\n{plies}\n", CLASSIC)
    assert unread(caught.value) == sentence
