"""Commands for past battles: lists, replays, records, comments, scores and standings."""

from __future__ import annotations

from enum import Enum
from operator import attrgetter

from thudmud.errors import InvalidValueError, RefusedError
from thudmud.features.archive.model import (
    AnnotatedBattle,
    CommentMade,
    Replayed,
    ReplayLeft,
    annotation_of,
    replay_of,
)
from thudmud.features.playing.queries import LastMove
from thudmud.game.archive import (
    GOES_ON,
    AdjournedLookup,
    HistoryLookup,
    LookupResults,
    ScoreLookup,
    StandingsLookup,
)
from thudmud.game.clocks import TimeClass
from thudmud.game.command import (
    Command,
    CommandContext,
    PrivateCommand,
    close_private_board,
    has_verb,
    verb,
)
from thudmud.game.days import day_begins
from thudmud.game.events import LONGEST_COMMENT, Commented
from thudmud.game.hall import Decision
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import resolve_battle
from thudmud.rules import Comment, find_ruleset
from thudmud.values import replace


class ArchiveCommand(Command):
    """Base class of commands about past battles, which work in any room."""


@verb(games="of")
class Games(ArchiveCommand):
    """List the player's running and adjourned matches, or all running matches."""

    includes_everybody: bool = False
    is_question = True

    @classmethod
    def of(cls, everybodys: str | None) -> Games:
        return cls(everybodys is not None)

    def __str__(self) -> str:
        return "games all" if self.includes_everybody else "games"

    def decide(self, context: CommandContext) -> Decision:
        if self.includes_everybody:
            return context.decide_answer(self)
        return context.decide_answer(self, answer=context.found[AdjournedLookup(context.me)])


@verb(history="of", history_by_rules="by_rules", history_all="of_everybody")
class History(ArchiveCommand):
    """List past battles, the latest first.

    Attributes:
        player: only battles of this player; None for oneself.
        page: the page, from 1.
        opponent: only battles against this player.
        rules: only battles under this ruleset, by its name.
        day: only battles begun on a day, such as 2026-11-20, ``today`` or ``yesterday``.
        includes_everybody: whether to list the battles of all players; ``player`` is None then.

    Raises:
        InvalidValueError: there is no such day.
    """

    player: str | None = None
    page: int = 1
    opponent: str | None = None
    rules: str | None = None
    day: str | None = None
    includes_everybody: bool = False
    is_question = is_public = True

    def __post_init__(self) -> None:
        if self.day is not None and day_begins(self.day, 0.0) is None:
            raise InvalidValueError(f"expected a day such as 2026-11-20, got {self.day!r:.50}")

    @classmethod
    def of(
        cls,
        player: str | None,
        opponent: str | None,
        rules: str | None,
        day: str | None,
        page: int | None,
    ) -> History:
        return cls(player, page or 1, opponent, rules, day)

    @classmethod
    def by_rules(
        cls, whose: str, opponent: str | None, day: str | None, page: int | None
    ) -> History:
        if rules := find_ruleset(whose):
            return cls(None, page or 1, opponent, rules.name, day)
        player, _, by = whose.partition(" ")
        return cls(player, page or 1, opponent, by, day)

    @classmethod
    def of_everybody(cls, _: str, rules: str | None, day: str | None, page: int | None) -> History:
        return cls(None, page or 1, None, rules, day, includes_everybody=True)

    def __str__(self) -> str:
        everybody = " all" if self.includes_everybody else ""
        typed = self._typed("player", "opponent", "rules", "day", "page")
        return f"{self.words}{everybody}{typed}"

    def decide(self, context: CommandContext) -> Decision:
        # A stranger's program has no name, and no battles of its own.
        opponent, me = _name_or_me(self.opponent, context.me), context.me or None
        player = None if self.includes_everybody else _name_or_me(self.player, context.me) or me
        is_everybody = player is None and opponent is None
        asked = replace(self, player=player, opponent=opponent, includes_everybody=is_everybody)
        lookup = HistoryLookup(player, self.page, opponent, self.rules, self.day)
        return context.decide_answer(asked, answer=context.found[lookup])


def _name_or_me(player: str | None, me: str) -> str | None:
    return me if player and player.lower() in {"me", "myself"} else player


@verb("replay")
class Replay(ArchiveCommand):
    """Replay a battle from a ply on; 0 is the opening."""

    number: int
    ply: int = 0

    def decide(self, context: CommandContext) -> Decision:
        known, game = resolve_battle(self.number, context.found)
        start = min(self.ply, len(game.moves))
        seen = Replayed(context.me, known.battle, game, start, comments=known.comments)
        seen = replace(seen, annotation=annotation_of(context, known), spent=known.spent)
        return context.decide_asides(*close_private_board(context.person), seen)


class Way(Enum):
    """Directions of a step in a replay."""

    NEXT = "next"
    BACK = "back"
    FIRST = "first"
    LAST = "last"
    PLAY = "play"
    """Autoplay: ply by ply to the end without further commands."""


@verb("step")
class Step(ArchiveCommand, PrivateCommand):
    """Go forward or back in the replay, by one or several plies."""

    way: Way
    plies: int = 1

    def __str__(self) -> str:
        return f"{self.way.value}{self._typed('plies')}"

    def decide(self, context: CommandContext) -> Decision:
        person = context.person
        if self.way is Way.LAST and replay_of(person) is None and person.room:
            # No replay: short for "last move".
            return context.decide_answer(LastMove(), person.room)
        seen = self._stepped(person, context.found)
        if context.hall.board_of_rated_battle(context.me):
            seen = replace(seen, annotation=None)
        return context.decide_asides(seen)

    def _stepped(self, person: Person, found: LookupResults) -> Replayed:
        seen, way = replay_of(person), self.way
        if seen is None:
            raise RefusedError(Refusal.NOT_REPLAYING)
        number = seen.battle.number
        end = len(seen.game.moves)
        back = way in {Way.BACK, Way.FIRST}
        if seen.ply == (0 if back else end):
            reason = Refusal.REPLAY_AT_START if back else Refusal.REPLAY_AT_END
            if not back and resolve_battle(number, found)[1] != seen.game:
                reason = Refusal.REPLAY_GONE_ON
            elif way is Way.LAST:
                return seen
            raise RefusedError(reason, number=number)
        on, back_to = min(seen.ply + self.plies, end), max(seen.ply - self.plies, 0)
        to = {Way.FIRST: 0, Way.LAST: end, Way.BACK: back_to}.get(way, on)
        then = seen.game.after(to, seen.then)
        return replace(seen, ply=to, is_autoplaying=way is Way.PLAY and to < end, then=then)


@verb("record")
class ViewRecord(ArchiveCommand):
    """Show a battle in record notation; programs get its annotation, too."""

    number: int
    is_question = is_public = True

    def decide(self, context: CommandContext) -> Decision:
        known, _ = resolve_battle(self.number, context.found)
        answer = AnnotatedBattle(known, annotation_of(context, known))
        return context.decide_answer(self, answer=answer)


MOST_COMMENTS = 100
"""The maximum number of plies of a battle that a player can comment on."""


@verb(comment="of")
class MakeComment(ArchiveCommand):
    """Comment on a ply of a battle; by default the ply shown in the replay.

    The text "" removes the player's own comment there.
    """

    text: str
    number: int | None = None
    ply: int | None = None
    speaks = True

    @classmethod
    def of(cls, place: str | None, text: str) -> MakeComment:
        number, ply = map(int, place.split(" ")) if place else (None, None)
        return cls("" if text.lower() == "none" else str(text), number, ply)

    def __str__(self) -> str:
        place = "" if self.number is None else f" {self.number} {self.ply}"
        return f"comment{place} {self.text or 'none'}"

    def decide(self, context: CommandContext) -> Decision:
        hall, person = context.hall, context.person
        if hall.version is None:
            raise RefusedError(Refusal.NO_COMMENTS)
        number, ply, text, me = self.number, self.ply, self.text, person.name
        if number is None or ply is None:
            seen = replay_of(person)
            if seen is None:
                raise RefusedError(Refusal.NOT_REPLAYING)
            number, ply = seen.battle.number, seen.ply
        known, game = resolve_battle(number, context.found)
        battle = known.battle
        if battle.imported or me not in known.players:
            raise RefusedError(Refusal.COMMENT_PLAYERS_ONLY, number=number)
        if battle.state in GOES_ON:
            raise RefusedError(Refusal.COMMENT_RUNNING, number=number)
        if ply > len(game.moves):
            raise RefusedError(
                Refusal.COMMENT_NO_SUCH_PLY, number=number, ply=ply, plies=len(game.moves)
            )
        if len(text) > LONGEST_COMMENT:
            raise RefusedError(Refusal.COMMENT_TOO_LONG, most=LONGEST_COMMENT)
        mine = [each.ply for each in known.comments if each.player == me]
        if not text and ply not in mine:
            raise RefusedError(Refusal.COMMENT_NONE, number=number, ply=ply)
        if len(mine) >= MOST_COMMENTS and ply not in mine:
            raise RefusedError(
                Refusal.COMMENT_TOO_MANY, number=number, most=MOST_COMMENTS, ply=mine[0]
            )
        others = tuple(each for each in known.comments if (each.ply, each.player) != (ply, me))
        comments = (*others, *((Comment(ply, me, text),) if text else ()))
        other = next((name for name in battle.players if name != me), "")
        made = CommentMade(
            me, other, number, ply, text, tuple(sorted(comments, key=attrgetter("ply")))
        )
        event = Commented(context.now, me, *battle.id, ply, text)
        return Decision(me, asides=(made,), hall=(event,), hall_version=hall.version)


@verb("score")
class ViewScore(ArchiveCommand):
    """Show the results of a player; one's own if ``player`` is None."""

    player: str | None = None
    is_question = is_public = True

    def decide(self, context: CommandContext) -> Decision:
        asked = ViewScore(_name_or_me(self.player, context.me))
        lookup = ScoreLookup(asked.player or context.me, with_curves=True)
        return context.decide_answer(asked, answer=context.found[lookup])


@verb("standings", standings_turned="with_pace_first")
class ViewStandings(ArchiveCommand):
    """List the standings for a ruleset and a pace, by default the pair with the most players.

    ``rules`` is the name of the ruleset.
    """

    rules: str | None = None
    time: TimeClass | None = None
    is_question = True

    @classmethod
    def with_pace_first(cls, time: TimeClass, rules: str) -> ViewStandings:
        return cls(rules, time)

    def decide(self, context: CommandContext) -> Decision:
        lookup = StandingsLookup(context.me, self.rules, self.time)
        return context.decide_answer(self, answer=context.found[lookup])


@verb(stop="of")
class Stop(ArchiveCommand, PrivateCommand):
    """Leave the replay or the private board."""

    words = "stop"

    @classmethod
    def of(cls, *_: str | None) -> Stop:
        return cls()

    def decide(self, context: CommandContext) -> Decision:
        if seen := replay_of(context.person):
            return context.decide_asides(ReplayLeft(context.me, seen))
        has_more = has_verb(context.hall, "tutorial")
        raise RefusedError(Refusal.NO_EXERCISE if has_more else Refusal.NOT_REPLAYING)
