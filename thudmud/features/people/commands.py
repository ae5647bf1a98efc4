"""Commands about other players: who's online, profiles and plans, following and ignoring."""

from __future__ import annotations

from collections.abc import Sequence

from thudmud.english import capitalised
from thudmud.errors import RefusedError
from thudmud.game.archive import Fingered, MemberLookup, ScoreLookup
from thudmud.game.asides import Aside, aside
from thudmud.game.command import Command, CommandContext, verb
from thudmud.game.delivery import Delivery
from thudmud.game.events import LONGEST_NAME
from thudmud.game.hall import Decision, Hall, applies
from thudmud.game.people import LONGEST_PLAN, MOST_FOLLOWED, MOST_IGNORED
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import (
    find_known_name,
    match_one_by_prefix,
    require_not_absent,
    resolve_player,
)


@verb("who")
class Who(Command):
    """List a page of the players online, optionally only names that begin with ``player``."""

    player: str | None = None
    page: int = 1
    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        if self.player and not context.hall.people.names_starting_with(self.player):
            require_not_absent(context, self.player)
            raise RefusedError(Refusal.NO_SUCH_PLAYER, words=self.player)
        return context.decide_answer(self)


@verb("finger")
class Finger(Command):
    """Show a player's profile: ratings, games and plan; one's own if ``player`` is None."""

    player: str | None = None
    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        words, name = self.player, context.me
        if words and words.lower() not in {"me", "myself"}:
            name = find_known_name(context, words) or resolve_player(context.hall, words)
        return context.decide_answer(Finger(name), answer=fingered(context, name))


def fingered(context: CommandContext, name: str) -> Fingered:
    """Return the data of a player's profile.

    Raises:
        LookupNeededError: the data has to be looked up first.
    """
    return Fingered(name, context.found[MemberLookup(name)], context.found[ScoreLookup(name)])


NO_PLAN = frozenset({"none", "-"})
"""Words that remove a plan."""


@verb("plan")
class Plan(Command):
    """Write one's plan, which others can read; None shows it."""

    text: str | None = None

    def is_spoken(self) -> bool:
        return self.text is not None

    def decide(self, context: CommandContext) -> Decision:
        text, me = self.text, context.me
        if text is None:
            return context.decide_answer(self, answer=fingered(context, me))
        if not context.person.is_member:
            raise RefusedError(Refusal.PLANS_FOR_MEMBERS)
        if len(text) > LONGEST_PLAN:
            raise RefusedError(Refusal.PLAN_TOO_LONG, most=LONGEST_PLAN)
        plan = "" if text.lower() in NO_PLAN else text
        return context.decide_asides(PlanChosen(me, plan), plan=plan)


@aside
class PlanChosen(Aside):
    """A player wrote a plan, or removed it if `plan` is ""."""

    plan: str
    reaches_other_nodes = True


@applies(PlanChosen)
def _apply_plan_chosen(chosen: PlanChosen, hall: Hall) -> Delivery:
    hall.people[chosen.player].plan = chosen.plan
    return Delivery(chosen, (chosen.player,))


@verb("follow")
class Follow(Command):
    """Follow a player, to be notified of visits and matches; None lists the players followed."""

    player: str | None = None
    is_question = True

    def decide(self, context: CommandContext) -> Decision:
        if self.player is None:
            return context.decide_answer(self)
        others = context.person.followed
        other, is_here = _another(self.player, others, context, _FOLLOWING, MOST_FOLLOWED)
        followed = (*others, other)
        return context.decide_asides(
            FollowChosen(context.me, other, followed, is_here), followed=followed
        )


@verb("unfollow")
class Unfollow(Command):
    """Stop following a player."""

    player: str

    def decide(self, context: CommandContext) -> Decision:
        other, left = _taken_from(context.person.followed, self.player, Refusal.NOT_FOLLOWED)
        is_here = other.lower() in context.hall.people.names
        return context.decide_asides(FollowChosen(context.me, other, left, is_here), followed=left)


@aside
class FollowChosen(Aside):
    """A player started or stopped following another. `followed` is the new list.

    `is_here` says whether a player of that name is online.
    """

    other: str
    followed: tuple[str, ...]
    is_here: bool = True
    reaches_other_nodes = True


@applies(FollowChosen)
def _apply_follow_chosen(chosen: FollowChosen, hall: Hall) -> Delivery:
    hall.people.follow(chosen.player, chosen.followed)
    return Delivery(chosen, (chosen.player,))


@verb("ignore")
class Ignore(Command):
    """Ignore a player; None lists the ignored players."""

    player: str | None = None

    def decide(self, context: CommandContext) -> Decision:
        if self.player is None:
            return context.decide_answer(self)
        others = context.person.ignored
        other, is_here = _another(self.player, others, context, _IGNORING, MOST_IGNORED)
        ignored = (*others, other)
        return context.decide_asides(
            IgnoreChosen(context.me, other, ignored, is_here), ignored=ignored
        )


@verb("unignore")
class Unignore(Command):
    """Stop ignoring a player."""

    player: str

    def decide(self, context: CommandContext) -> Decision:
        other, left = _taken_from(context.person.ignored, self.player, Refusal.NOT_IGNORED)
        is_here = other.lower() in context.hall.people.names
        return context.decide_asides(IgnoreChosen(context.me, other, left, is_here), ignored=left)


@aside
class IgnoreChosen(Aside):
    """A player started or stopped ignoring another. `ignored` is the new list.

    `is_here` says whether a player of that name is online.
    """

    other: str
    ignored: tuple[str, ...]
    is_here: bool = True
    reaches_other_nodes = True


@applies(IgnoreChosen)
def _apply_ignore_chosen(chosen: IgnoreChosen, hall: Hall) -> Delivery:
    hall.people.ignore(chosen.player, chosen.ignored)
    return Delivery(chosen, (chosen.player,))


_FOLLOWING = Refusal.FOLLOW_SELF, Refusal.FOLLOWED_ALREADY, Refusal.FOLLOWS_TOO_MANY
_IGNORING = Refusal.IGNORE_SELF, Refusal.IGNORED_ALREADY, Refusal.IGNORES_TOO_MANY


def _another(
    words: str,
    others: Sequence[str],
    context: CommandContext,
    codes: tuple[Refusal, Refusal, Refusal],
    most: int,
) -> tuple[str, bool]:
    """Resolve words to a player who can be added to a list. The player need not exist.

    Args:
        words: the words typed for the player.
        others: the names in the list.
        context: the hall, and the player who owns the list.
        codes: the refusal codes for oneself, a name already in the list, and a full list.
        most: the maximum length of the list.

    Returns:
        The name, and whether this player is online.

    Raises:
        RefusedError: the player can't be added, or the words don't name one.
    """
    is_self, is_there, is_full = codes
    try:
        name, is_here = resolve_player(context.hall, words), True
    except RefusedError as refusal:
        is_name = words.isalpha() and len(words) <= LONGEST_NAME
        if refusal.code is not Refusal.NO_SUCH_PLAYER or not is_name:
            raise
        name, is_here = capitalised(words), False
    if name == context.me:
        raise RefusedError(is_self)
    if name.lower() in map(str.lower, others):
        raise RefusedError(is_there, player=name)
    if len(others) >= most:
        raise RefusedError(is_full, most=most)
    return name, is_here


def _taken_from(names: Sequence[str], words: str, none: Refusal) -> tuple[str, tuple[str, ...]]:
    """Find a name in a list by the name itself or a prefix; return it and the remaining names.

    Raises:
        RefusedError: no name matches, or several do.
    """
    other = match_one_by_prefix(words, names, none)
    return other, tuple(name for name in names if name != other)
