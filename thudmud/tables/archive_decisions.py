"""What is wanted of the battles that were played, or why it cannot be had.

Owns the finding of a battle, and the steps through one that is seen again. Must never change
anything.
"""

from __future__ import annotations

from dataclasses import replace

from thudmud.commands import (
    ArchiveCommand,
    Go,
    History,
    Record,
    Replay,
    Resume,
    Step,
    ViewScore,
    Way,
)
from thudmud.tables.archive import Battle
from thudmud.tables.asides import Aside, Asked, Replayed
from thudmud.tables.hall import Hall
from thudmud.tables.objects import listed
from thudmud.tables.people import Person
from thudmud.tables.refusals import Refusal, Refused
from thudmud.tables.saved import SavedMatch
from thudmud.tables.table import Table


def looked_up(hall: Hall, person: Person, command: ArchiveCommand) -> Aside:
    """Return what ``command`` shows to ``person``.

    Raises:
        Refused: there is no such battle, or none is being replayed.
        Unread: the moves of the battle are needed first.
    """
    match command:
        case Record(number):
            return Asked(person.name, command, game=hall.game(_battle(hall, number)))
        case Replay(number):
            return Replayed(person.name, number, hall.game(_battle(hall, number)), 0)
        case Step(way):
            return _step(hall, person, way)
        case History(player) | ViewScore(player) if player and player.lower() in {"me", "myself"}:
            return Asked(person.name, replace(command, player=person.name))
    return Asked(person.name, command)


def _step(hall: Hall, person: Person, way: Way) -> Replayed:
    seen = person.replay
    if seen is None:
        raise Refused(Refusal.NOT_REPLAYING)
    end = len(seen.game.moves)
    back = way in {Way.BACK, Way.FIRST}
    if seen.ply == (0 if back else end):
        reason = Refusal.REPLAY_AT_START if back else Refusal.REPLAY_AT_END
        if not back and hall.game(_battle(hall, seen.number)) != seen.game:
            reason = Refusal.REPLAY_GONE_ON
        raise Refused(reason, number=seen.number, words=Replay(seen.number))
    to = {Way.FIRST: 0, Way.LAST: end, Way.BACK: seen.ply - 1}.get(way, seen.ply + 1)
    then = seen.game.after(to, seen.then)
    return replace(seen, ply=to, playing=way is Way.PLAY and to < end, then=then)


def to_resume(command: Resume, hall: Hall, person: Person, table: Table) -> SavedMatch:
    """Return the match that is meant: put away, and with both of its players at ``table``.

    Raises:
        Refused: there is none, or more than one, or somebody is not there.
    """
    adjourned = {
        number: saved
        for number, saved in hall.archive.adjourned.items()
        if person.name in (saved.dwarf, saved.troll)
    }
    if not adjourned:
        going_on = [each.name for each in hall.seats_of(person.name) if each.under_way]
        if going_on:
            raise Refused(Refusal.GOES_ON_ALREADY, board=listed(going_on))
        raise Refused(Refusal.NOTHING_ADJOURNED)
    if command.number is not None:
        if command.number not in adjourned:
            raise Refused(Refusal.NOT_YOURS_TO_RESUME, number=command.number)
        adjourned = {command.number: adjourned[command.number]}
    here = hall.people_in(table.name)
    if person.name not in here:
        raise Refused(Refusal.RESUME_THERE, words=Go(table.name))
    ready = {
        number: saved
        for number, saved in adjourned.items()
        if saved.dwarf in here and saved.troll in here
    }
    match list(ready.items()):
        case [(_, saved)]:
            return saved
        case []:
            players = {name for saved in adjourned.values() for name in (saved.dwarf, saved.troll)}
            others = sorted(players - {person.name})
            verb = "is" if len(others) == 1 else "are"
            away = f"{listed(others)} {verb}"
            raise Refused(Refusal.OPPONENT_NOT_THERE, board=table.name, others=away)
    raise Refused(Refusal.WHICH_ADJOURNED, words=Resume(next(iter(ready)), command.on))


def _battle(hall: Hall, number: int) -> Battle:
    battle = hall.archive.battle(number)
    if battle is None:
        raise Refused(Refusal.NO_SUCH_BATTLE, number=number)
    return battle
