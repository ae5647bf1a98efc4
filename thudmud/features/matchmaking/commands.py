"""Commands for matchmaking: seeks, challenges, invitations, and the boards opened for them.

A seek asks anybody for a match; a challenge is a seek for one player. Accepting it opens a board,
seats both players and begins the first battle, in one decision. If two players accept the same
seek, the second one is refused. ``accept`` and ``decline`` also answer invitations to seats, and
offers at a board.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from math import inf
from typing import Any, ClassVar, Self

from thudmud.errors import RefusedError
from thudmud.features.archive.commands import Step, Way
from thudmud.features.archive.model import replay_of
from thudmud.features.matchmaking.model import InvitationDeclined
from thudmud.features.playing.moves import OFFERING
from thudmud.features.playing.opening import board_opened_event, decide_at_new_board, decide_in_hall
from thudmud.features.playing.resuming import Resume
from thudmud.features.playing.seats import Join, require_boards
from thudmud.features.talk.commands import require_not_ignored
from thudmud.game import archive, events
from thudmud.game.asides import Invited
from thudmud.game.clocks import TimeClass, TimeControl, time_class
from thudmud.game.command import (
    Asked,
    Command,
    CommandContext,
    close_private_board,
    verb,
    walk_asides,
)
from thudmud.game.hall import Decision, Hall
from thudmud.game.options import Toggle
from thudmud.game.refusals import Refusal
from thudmud.game.resolution import (
    is_board_phrase,
    match_by_prefix,
    resolve_hall_board,
    resolve_level,
    resolve_player,
    resolve_player_here,
)
from thudmud.game.seeks import (
    ANSWER_WITHIN,
    end_seek,
    end_seeks,
    open_question_about,
    require_no_live_clock,
    withdraw_questioned_seek,
)
from thudmud.game.table import Table
from thudmud.game.tables import (
    BattleCommand,
    Context,
    Events,
    free_seat_for,
    lapse_offers,
    make_invitation,
    require_seat,
)
from thudmud.rules import DEFAULT_RULES, Side
from thudmud.values import Value, replace


@verb("seeks")
class Seeks(Command):
    """List the open seeks."""

    is_question = True


class WithTerms(Command):
    """Base class of commands that end in terms, such as a side and a clock, in any order.

    Where they have a field ``rated``, its default is None: as the players' accounts allow.
    """

    @classmethod
    def of(cls, *given: Any) -> Self:
        """Return the command from its first fields, followed by a mapping of terms or None."""
        *fields, terms = given
        return cls(*fields, **(terms or {}))


@verb(seek="of", seek_by_word="by_word")
class Seek(WithTerms):
    """Look for an opponent, perhaps by a ruleset and with a clock; or for one who knows a word.

    If somebody who is free looks for the same match, it begins at once.
    """

    rules: str | None = None
    side: Side | None = None
    rated: bool | None = None
    time: TimeControl | None = None
    word: str = ""
    typed = "rules", "time", "side", "rated", "word"

    @classmethod
    def by_word(cls, terms: Mapping[str, Any] | None, word: str) -> Self:
        """Return the command from its terms and the word."""
        return cls(word=word, **(terms or {}))

    def decide(self, context: CommandContext) -> Decision:
        rules = self.rules or DEFAULT_RULES.name
        is_rated = _may_be_rated(context, rated=self.rated)
        require_no_live_clock(context.hall, context.me, self.time)
        require_boards(context.hall, context.me)  # nobody could accept it without a board
        made = replace(_make_seek(context, rules, self.side, rated=is_rated), time=self.time)
        if self.word:
            made = replace(made, to=context.me, word=self.word)
            if seek_with_word(context.hall, self.word):
                raise RefusedError(Refusal.WORD_TAKEN, word=self.word)
        for each in context.hall.seeks.values():
            if replace(each, number=made.number, at=made.at) == made:
                raise RefusedError(Refusal.SEEKING_ALREADY, number=each.number)
        if not self.word and (met := self._same_seek(context, made)):
            agreed = replace(met, rated=met.rated and is_rated)
            return _begin(context, agreed, self.side)
        _require_seeks(context)
        return decide_in_hall(context, made)

    def _same_seek(self, context: CommandContext, made: events.SeekMade) -> events.SeekMade | None:
        """Return the first seek for the same match by somebody who needn't be asked first."""
        hall = context.hall
        for seek in hall.seeks.values():
            is_same = seek.time == made.time and _is_suitable(seek, made.rules, made.side)
            is_free = seek.is_by_days or not hall.is_busy(seek.player, context.now)
            if seek.to or not (is_same and is_free and _may_meet(hall, seek, context.me)):
                continue
            if self.rated is None or self.rated == seek.rated or not context.person.is_member:
                return seek
        return None


@verb(challenge="of")
class Challenge(WithTerms):
    """Challenge a player to a match at a new board; a bot perhaps at a level."""

    player: str
    rules: str | None = None
    side: Side | None = None
    rated: bool | None = None
    level: str | None = None
    time: TimeControl | None = None
    words = "match"
    typed = "player", "rules", "time", "side", "rated", "level"

    def decide(self, context: CommandContext) -> Decision:
        hall, me = context.hall, context.me
        to = _resolve_opponent(context, self.player)
        rules = self.rules or DEFAULT_RULES.name
        if to == me:
            raise RefusedError(Refusal.MATCH_SELF)
        is_rated = _may_be_rated(context, rated=self.rated)
        require_no_live_clock(hall, me, self.time)
        require_not_ignored(hall, to, me)
        for seek in hall.seeks.values():
            is_answer = (seek.player, seek.to, seek.time) == (to, me, self.time)
            if is_answer and _is_suitable(seek, rules, self.side):
                agreed = replace(seek, rated=seek.rated and is_rated)
                return _begin(
                    context, agreed, self.side
                )  # both have challenged each other to the same match
            is_same = (seek.rules, seek.time) == (rules, self.time)
            if seek.player == me and seek.to == to and is_same:
                raise RefusedError(Refusal.ASKED_ALREADY, player=to, number=seek.number)
        _require_invitations(hall, to)
        if to in hall.bots:
            level = resolve_level(hall, to, self.level).number if self.level else None
            dwarf, troll = seat_players(me, to, self.side)
            terms = context.now, me, 1, rules, dwarf, troll, is_rated
            started = events.BattleStarted(*terms).with_time(self.time, hall.first_move)
            return decide_at_new_board(context, (), started, level=level)
        if self.level is not None:
            raise RefusedError(Refusal.PLAYS_AT_NO_LEVEL, player=to)
        require_boards(hall, me)
        _require_seeks(context)
        rated = is_rated and to in hall.people.members
        made = replace(_make_seek(context, rules, self.side, rated=rated), to=to, time=self.time)
        return decide_in_hall(context, made)


def _resolve_opponent(context: CommandContext, words: str) -> str:
    """Resolve the name of a player to challenge, with a refusal of its own for a board's name."""
    try:
        return resolve_player_here(context, words)
    except RefusedError as refusal:
        if refusal.code is Refusal.NO_SUCH_PLAYER and is_board_phrase(context.hall, words):
            raise RefusedError(Refusal.BOARD_FOR_PLAYER, words=words) from None
        raise


def _require_invitations(hall: Hall, to: str) -> None:
    """Refuse an invitation to a player who has switched them off."""
    if not hall.people[to].options.has(Toggle.INVITATIONS):
        raise RefusedError(Refusal.NO_INVITATIONS, player=to)


@verb(invite="of")
class Invite(WithTerms):
    """Invite a player to a seat at a board, by default a free one; a bot perhaps at a level."""

    player: str
    side: Side | None = None
    on: str | None = None
    level: str | None = None
    typed = "player", "side", "level", "on"

    def decide(self, context: CommandContext) -> Decision:
        hall, person = context.hall, context.person
        is_anywhere = (
            self.on is None and person.room is None and not hall.tables.seats_of(context.me)
        )
        if is_anywhere and hall.opens_boards:  # without a seat to offer, it is a challenge
            side = self.side and self.side.other
            return Challenge(self.player, side=side, level=self.level).decide(context)
        to = resolve_player_here(context, self.player)
        table = resolve_hall_board(hall, person, self.on)
        level = None if self.level is None else resolve_level(hall, to, self.level).number
        inputs = Context(context.now, hall.people.members)
        asked = make_invitation(table, context.me, to, self.side, inputs, level=level)
        require_not_ignored(hall, to, context.me)
        _require_invitations(hall, to)
        return Decision(context.me, table.name, asides=(asked,))


@verb("withdraw")
class Withdraw(Command):
    """Withdraw one's seek with the given number, or all one's seeks.

    Without a seek, withdraw one's offers at a board.
    """

    number: int | None = None

    def decide(self, context: CommandContext) -> Decision:
        number, seeks = self.number, context.hall.seeks.values()
        mine = {each.number: each for each in seeks if each.player == context.me}
        if not mine:
            boards = _boards_with_own_offers(context) if number is None else []
            if not boards:
                raise RefusedError(Refusal.NOTHING_SOUGHT)
            if len(boards) > 1:
                raise RefusedError(Refusal.SAY_WHICH, boards=tuple(boards))
            return No(boards[0]).decide(context)
        if number is not None and number not in mine:
            raise RefusedError(Refusal.NOT_YOUR_SEEK, number=number, numbers=tuple(mine))
        chosen = mine.values() if number is None else [mine[number]]
        ends = end_seeks(context.hall, chosen, context.me, events.SeekEnd.WITHDRAWN, context.now)
        return decide_in_hall(context, *ends)


def _boards_with_own_offers(context: CommandContext) -> list[str]:
    """Return the names of the boards where the player's own offers are the only open ones."""
    seats = context.hall.tables.seats_of(context.me)
    sides = ((table, table.side_of(context.me)) for table in seats if table.offers)
    return [table.name for table, side in sides if set(table.offers.values()) == {side}]


@verb(play_now="of")
class PlayNow(WithTerms):
    """Play the first suitable seeker; without one, make a seek and play a bot meanwhile.

    With a level, play a bot. In a replay, show the rest of the battle.
    """

    rules: str | None = None
    side: Side | None = None
    time: TimeControl | None = None
    rated: bool | None = None
    level: str | None = None
    words = "play"
    typed = "rules", "time", "side", "rated", "level"

    def decide(self, context: CommandContext) -> Decision:
        hall, name = context.hall, context.me
        if replay_of(context.person) and self == PlayNow():
            return Step(Way.PLAY).decide(context)
        rules = self.rules or DEFAULT_RULES.name
        is_rated = _may_be_rated(context, rated=self.rated)
        if self.level is not None:
            bot = nearest_bot(context, rules)
            if bot is None:
                raise RefusedError(Refusal.NO_BOTS)
            challenge = Challenge(bot, rules, self.side, self.rated, self.level, self.time)
            return challenge.decide(context)
        require_no_live_clock(hall, name)
        for seek in hall.seeks.values():
            if seek.player == name and seek.until and seek.is_open(context.now):
                wait = seek.until - context.now
                raise RefusedError(Refusal.ASKS_ALREADY, player=seek.to, seconds=wait)
        found = self._accept_seek(context)
        if found and not found.board:  # a busy seeker has been asked
            return self._play_bot(context, rules, found.hall, is_rated=is_rated)
        return found or self._seek_and_play_bot(context, rules, is_rated=is_rated)

    def _accept_seek(self, context: CommandContext) -> Decision | None:
        """Begin a match with the first suitable seeker, or ask a busy one; None without any."""
        hall, name, time = context.hall, context.me, self.time
        # Players who are free come first: busy ones have to be asked.
        theirs = sorted(
            hall.seeks.values(), key=lambda each: hall.is_busy(each.player, context.now)
        )
        for seek in theirs:
            is_asked_now = seek.to == name and seek.until and seek.is_open(context.now)
            if is_asked_now and self == PlayNow():
                return _begin(context, seek)
            fits = not seek.to and _is_suitable(seek, self.rules, self.side)
            if fits and _is_in_time(seek, time) and _may_meet(hall, seek, name):
                wants_rated = seek.rated and context.person.is_member and self.rated is False
                if wants_rated or open_question_about(hall, seek, context.now):
                    continue  # the terms must suit both
                agreed = replace(seek, rated=seek.rated and self.rated is not False)
                return _begin(context, agreed, self.side, looks_on=True)
        return None

    def _seek_and_play_bot(
        self, context: CommandContext, rules: str, *, is_rated: bool
    ) -> Decision:
        """Make a seek unless there is one already, and begin a battle with a bot meanwhile."""
        hall, name = context.hall, context.me
        mine = [each for each in hall.seeks.values() if each.player == name and not each.to]
        if mine and (bot_battles_of(hall, name) or nearest_bot(context, rules) is None):
            raise RefusedError(Refusal.SEEKING_ALREADY, number=mine[0].number)
        sought: tuple[events.HallEvent, ...] = ()
        require_boards(hall, name)
        if not mine:
            _require_seeks(context)
            made = _make_seek(context, rules, self.side, rated=is_rated)
            sought = (replace(made, time=self.time),)
        return self._play_bot(context, rules, sought, is_rated=is_rated)

    def _play_bot(
        self,
        context: CommandContext,
        rules: str,
        sought: tuple[events.HallEvent, ...],
        *,
        is_rated: bool,
    ) -> Decision:
        """Begin a battle with a bot to pass the time, if there is a bot and none is going on."""
        hall, name = context.hall, context.me
        if with_bots := bot_battles_of(hall, name):
            asked = Asked(name, PlayNow(), with_bots[0].name)
            return decide_in_hall(context, *sought, asides=(asked,))
        bot = nearest_bot(context, rules)
        if bot is None:
            return decide_in_hall(context, *sought)
        dwarf, troll = seat_players(name, bot, self.side)
        # No clock: this battle only passes the time until an opponent comes.
        started = events.BattleStarted(context.now, name, 1, rules, dwarf, troll, is_rated)
        return decide_at_new_board(context, sought, started, Asked(name, PlayNow()), waits=True)


def bot_battles_of(hall: Hall, name: str) -> list[Table]:
    """Return the tables with a player's running battles against bots."""
    return [
        each
        for each in hall.tables.seats_of(name)
        if each.is_running and each.levels != events.NO_BOTS
    ]


@verb("new_board")
class NewBoard(Command):
    """Open a board, which is closed again once nobody needs it."""

    rules: str | None = None

    def decide(self, context: CommandContext) -> Decision:
        hall, person = context.hall, context.person
        if hall.caps.only_members_open_boards and not person.is_member:
            raise RefusedError(Refusal.NEW_BOARDS_FOR_MEMBERS)
        board = board_opened_event(
            hall, context.me, self.rules or DEFAULT_RULES.name, context.now, 0
        )
        require_boards(hall, context.me)
        asides = (*close_private_board(person), *walk_asides(person, board.name))
        return decide_in_hall(context, board, board=board.name, asides=asides)


class Agree(Command):
    """Base class of commands that accept an offer: by number, by its player, or the only one.

    Attributes:
        what: the number of a seek, or the name of a player; None for the only offer.
        takes_seeks: whether the command can accept a seek for anybody.
    """

    takes_seeks: ClassVar[bool]

    @property
    def what(self) -> int | str | None:
        """The number of a seek, or the name of a player; a field of both commands."""
        raise NotImplementedError

    def decide(self, context: CommandContext) -> Decision:
        if isinstance(self.what, int):
            seek = _resolve_seek(context, self.what)
            if not (seek.to or self.takes_seeks):
                raise _not_asked([seek])
            return _begin(context, seek)
        chosen = _resolve_offer(context, self.what, takes_seeks=self.takes_seeks)
        if chosen.seek is not None:
            return _begin(context, context.hall.seeks[chosen.seek])
        return chosen.accepting.decide(context)


@verb("accept")
class Accept(Agree):
    """Accept an offer, or a seek for anybody."""

    what: int | str | None = None
    takes_seeks = True


@verb("accept_word")
class AcceptWord(Command):
    """Accept a seek by its word."""

    key: str

    def decide(self, context: CommandContext) -> Decision:
        seek = seek_with_word(context.hall, self.key)
        if seek is None:
            raise RefusedError(Refusal.NO_SUCH_WORD, word=self.key)
        return _begin(context, seek)


@verb("yes")
class Yes(Agree):
    """Accept an offer made to this player; a seek for anybody takes ``accept``."""

    what: int | str | None = None
    takes_seeks = False


@verb("decline")
class Decline(Command):
    """Decline an offer: a seek by number, or an offer by its player."""

    what: int | str

    def decide(self, context: CommandContext) -> Decision:
        if isinstance(self.what, int):
            seek = _resolve_seek(context, self.what)
            if seek.player == context.me:
                return Withdraw(seek.number).decide(context)
            if seek.to != context.me:
                raise RefusedError(Refusal.NOT_ASKED_YOU, player=seek.player, number=self.what)
        else:
            chosen = _resolve_offer(context, self.what, takes_seeks=False, declining=True)
            if asked := chosen.invited:
                told = InvitationDeclined(context.me, chosen.player, asked.board, asked.battle)
                return context.decide_asides(told)
            if chosen.seek is None:
                return chosen.declining.decide(context)
            seek = context.hall.seeks[chosen.seek]
        declined = end_seek(seek, context.me, events.SeekEnd.DECLINED, context.now)
        return decide_in_hall(
            context, declined, *withdraw_questioned_seek(context.hall, seek, context.now)
        )


@verb("no")
class No(BattleCommand):
    """Decline the opponent's offers, or withdraw one's own.

    Without a board, decline the only offer anywhere, or all offers if they are at one board.
    Without any offer, withdraw the player's only challenge.
    """

    def decide(self, context: CommandContext) -> Decision:
        if self.on is None and (answer := self._declined(context)):
            return answer.decide(context)
        return BattleCommand.decide(self, context)

    def _declined(self, context: CommandContext) -> Command | None:
        """Return the command that declines the offers; None if there is no offer.

        Raises:
            RefusedError: there are several offers; or there is none, and the player has no seat.
        """
        hall = context.hall
        offered = _most_urgent(context, list(_open_offers(context)))
        answers = {each.declining for each in offered}
        if len(answers) > 1:
            raise _which(offered, declining=True)
        if answers:
            return answers.pop()
        seats, seeks = hall.tables.seats_of(context.me), hall.seeks.values()
        own = [each for each in seats if each.offers]
        asked = [each.number for each in seeks if each.player == context.me and each.to]
        if len(asked) == 1 and not own:
            return Withdraw(asked[0])
        if not seats and hall.opens_boards:
            raise RefusedError(Refusal.NOTHING_STANDS)
        return None

    def decide_at_table(self, table: Table, player: str, context: Context) -> Events:
        side = require_seat(table, player)
        offered = [offer for offer, by in table.offers.items() if by is side.other]
        if offered:
            return tuple(events.Declined(context.now, player, offer) for offer in offered)
        # The open offers are the player's own: withdraw them.
        withdrawn = lapse_offers(table, player, context.now)
        if not withdrawn:
            raise RefusedError(Refusal.NOTHING_OFFERED, board=table.name)
        return withdrawn


class OpenOffer(Value):
    """An open offer to a player.

    Attributes:
        player: the player who made the offer.
        accepting: the command that accepts it.
        declining: the command that declines it.
        seek: the number of the seek, if the offer is one.
        invited: the invitation, if the offer is one.
    """

    player: str
    accepting: Command
    declining: Command
    seek: int | None = None
    invited: Invited | None = None


def offered_to(hall: Hall, name: str, now: float) -> frozenset[str]:
    """Return the commands that accept the open offers to a player who is here."""
    context = CommandContext(hall, hall.people[name], now, archive.NOTHING_FOUND, name)
    return frozenset(str(each.accepting) for each in _open_offers(context))


def _open_offers(context: CommandContext) -> Iterator[OpenOffer]:
    """Yield the open offers to the player."""
    hall, name = context.hall, context.me
    for table in hall.tables.seats_of(name):
        for offer, by in table.offers.items():
            if table.seats.get(by) != name:
                yield OpenOffer(table.seats[by], OFFERING[offer](table.name), No(table.name))
    for seek in hall.seeks.values():
        if seek.to == name != seek.player and seek.is_open(context.now):
            taking, refusing = Accept(seek.number), Decline(seek.number)
            yield OpenOffer(seek.player, taking, refusing, seek=seek.number)
    for asked in context.person.invitations.values():
        there = hall.tables.get(asked.board)
        if there and _is_still_possible(there, asked, Context(context.now, hall.people.members)):
            agreeing = _agreeing(asked, there.name)
            yield OpenOffer(asked.player, agreeing, Decline(asked.player.lower()), invited=asked)


def _agreeing(asked: Invited, board: str) -> Command:
    """Return the command that accepts an invitation."""
    return Join(asked.side, board) if asked.battle is None else Resume(asked.battle, board)


def _most_urgent(context: CommandContext, offered: list[OpenOffer]) -> list[OpenOffer]:
    """Return the offers with a time limit of seconds; without any, all offers."""
    seeks = context.hall.seeks
    return [each for each in offered if each.seek and seeks[each.seek].until] or offered


def _is_still_possible(table: Table, invited: Invited, context: Context) -> bool:
    """Whether an invitation can still be accepted: the seat or the battle's board is free."""
    if invited.battle is not None:
        return not table.has_match_under_way
    is_free = free_seat_for(table, invited.side, invited.to, context) is not None
    return is_free and not table.side_of(invited.to)


def _is_suitable(seek: events.SeekMade, rules: str | None, side: Side | None) -> bool:
    """Whether a seek suits an opponent who wants a ruleset and a side; None for any."""
    return rules in {None, seek.rules} and (not seek.side or not side or seek.side is not side)


def _is_in_time(seek: events.SeekMade, time: TimeControl | None) -> bool:
    """Whether a seek is compatible with a clock. None accepts any but blitz and correspondence."""
    if time is None:
        return time_class(seek.time) not in {TimeClass.BLITZ, TimeClass.CORRESPONDENCE}
    return seek.time == time


def _may_meet(hall: Hall, seek: events.SeekMade, name: str) -> bool:
    """Whether a player may accept a seek.

    The seeker must be here, with a connection, and have a board left. Neither may ignore the other.
    """
    if seek.player == name or not _is_connected(hall, seek.player):
        return False
    if len(hall.tables.player_boards_in_use_by(seek.player)) >= hall.caps.boards:
        return False
    return not hall.people.is_ignoring(seek.player, name) and not hall.people.is_ignoring(
        name, seek.player
    )


def _is_connected(hall: Hall, player: str) -> bool:
    """Whether a player is here, and hasn't just lost the connection."""
    person = hall.people.get(player)
    return person is not None and not person.is_lost


def nearest_bot(context: CommandContext, rules: str) -> str | None:
    """Return the bot whose rating is nearest to the player's; the weakest for a newcomer.

    Ratings are compared in the pool of the ruleset, or else in the one in which the player has most
    results against bots. Bots with programs of their own are left out: they play at one board only.
    """
    bots = [
        each for each in bots_here(context.hall, context.found) if each.level != events.OWN_PROGRAM
    ]
    if not bots:
        return None
    score = context.found[archive.ScoreLookup(context.me)]
    mine = score.bots.ratings if score else {}
    pool = max(
        mine, key=lambda each: (each == archive.Pool(rules), mine[each].results), default=None
    )
    apart = {
        bot.name: abs(theirs.points - mine[pool].points)
        for bot in bots
        if pool and (theirs := bot.fared.ratings.get(pool))
    }
    return min(apart, key=apart.__getitem__, default=bots[0].name)


def bots_here(hall: Hall, found: archive.LookupResults) -> list[archive.ListedBot]:
    """Return the bots that are here, weakest first, with their results."""
    listed = []
    for name in hall.people:
        if (level := hall.level(name)) is not None:
            score = found[archive.ScoreLookup(name)] or archive.PlayerScore(name)
            listed.append(
                archive.ListedBot(name, level, score.levels.get(level, archive.Performance()))
            )
    return sorted(listed, key=lambda bot: bot.level or inf)


def _resolve_offer(
    context: CommandContext, what: str | None, *, takes_seeks: bool, declining: bool = False
) -> OpenOffer:
    """Return the offer that the player answers.

    Args:
        context: the command's context.
        what: the name of the player who made the offer; None for the only one.
        takes_seeks: whether a seek for anybody counts: if no other offer is open, or the seeker is
            named.
        declining: whether the player declines the offer.

    Raises:
        RefusedError: there is no such offer, or more than one.
    """
    hall = context.hall
    offered = list(_open_offers(context))
    if what is None:
        offered = _most_urgent(context, offered)
    open_seeks = [
        each
        for each in hall.seeks.values()
        if not each.to and not declining and _may_meet(hall, each, context.me)
    ]
    if takes_seeks and (what is not None or not offered):
        offered += [
            OpenOffer(each.player, Accept(each.number), Withdraw(each.number), each.number)
            for each in open_seeks
        ]
    if what is not None:
        players = match_by_prefix(what, [each.player for each in offered])
        if not players:
            player = resolve_player(hall, what)
            if theirs := [each for each in open_seeks if each.player == player]:
                raise _not_asked(theirs)
            raise RefusedError(Refusal.NOTHING_OFFERED_BY, player=player)
        offered = [each for each in offered if each.player in players]
    if not offered:
        raise _not_asked(open_seeks)
    if len(offered) > 1:
        raise _which(offered, declining=declining)
    return offered[0]


def _which(offered: list[OpenOffer], *, declining: bool) -> RefusedError:
    answers = {str(each.declining if declining else each.accepting): each for each in offered}
    players = tuple(each.player for each in answers.values())
    return RefusedError(Refusal.WHICH_OFFER, lines=tuple(answers), players=players)


def _not_asked(seeks: Sequence[events.SeekMade]) -> RefusedError:
    """Return the refusal of an answer without an offer, with the first seek that it may mean."""
    if not seeks:
        return RefusedError(Refusal.NOTHING_STANDS)
    return RefusedError(Refusal.SEEK_FOR_ANYBODY, player=seeks[0].player, number=seeks[0].number)


def _resolve_seek(context: CommandContext, number: int) -> events.SeekMade:
    seek = context.hall.seeks.get(number)
    is_theirs = seek and (not seek.to or context.me in {seek.to, seek.player})
    if seek is None or not (is_theirs and seek.is_open(context.now)):
        raise RefusedError(Refusal.NO_SUCH_SEEK, number=number)
    return seek


def _begin(
    context: CommandContext,
    seek: events.SeekMade,
    side: Side | None = None,
    *,
    looks_on: bool = False,
) -> Decision:
    """Return the decision that accepts a seek: it opens a board and begins the match there.

    A seeker who is busy is asked first.

    Args:
        context: the context of the player who accepts.
        seek: the seek.
        side: the side wanted by that player, compatible with the seek; None for any.
        looks_on: whether that player looks for somebody else if a busy seeker declines.
    """
    hall, name = context.hall, context.me
    if seek.player == name:
        raise RefusedError(Refusal.OWN_SEEK, number=seek.number)
    if not _is_connected(hall, seek.player):
        raise RefusedError(Refusal.SEEKER_AWAY, player=seek.player, number=seek.number)
    require_not_ignored(hall, seek.player, name)
    require_no_live_clock(hall, name, seek.time)
    is_asked_first = seek.answers is None and not seek.is_by_days
    if is_asked_first and hall.is_busy(seek.player, context.now):
        return _asked_first(context, seek, side, looks_on=looks_on)
    dwarf, troll = seat_players(seek.player, name, seek.side or (side and side.other))
    taken = [end_seek(seek, name, events.SeekEnd.ACCEPTED, context.now)]
    if met := hall.seeks.get(seek.answers or 0):
        taken.append(end_seek(met, seek.player, events.SeekEnd.MET, context.now))
    # Other challenges between the two end as well.
    both = {seek.player, name}
    over = {each.number for each in taken}
    taken += [
        end_seek(each, name, events.SeekEnd.WITHDRAWN, context.now)
        for each in hall.seeks.values()
        if each.number not in over and each.player in both and each.to in both
    ]
    rated = seek.rated and seek.player in hall.people.members and name in hall.people.members
    time = seek.time
    terms = context.now, name, 1, seek.rules, dwarf, troll, rated
    started = events.BattleStarted(*terms).with_time(time, hall.first_move)
    return decide_at_new_board(context, tuple(taken), started)


def _asked_first(
    context: CommandContext, seek: events.SeekMade, side: Side | None, *, looks_on: bool
) -> Decision:
    """Return the decision that asks a busy seeker whether to play now."""
    hall, me, now = context.hall, context.me, context.now
    if other := open_question_about(hall, seek, now):
        seconds = (other.until or now) - now
        code = Refusal.ASKS_ALREADY if other.player == me else Refusal.ASKED_BY_OTHERS
        raise RefusedError(code, player=seek.player, seconds=seconds)
    require_boards(hall, me)
    _require_seeks(context)
    mine = seek.side.other if seek.side else side
    asking = replace(
        _make_seek(context, seek.rules, mine, rated=seek.rated),
        to=seek.player,
        time=seek.time,
        answers=seek.number,
        until=now + ANSWER_WITHIN,
        keeps_looking=looks_on,
    )
    return decide_in_hall(context, asking)


def seek_with_word(hall: Hall, word: str) -> events.SeekMade | None:
    """Return the open seek with a word; None if there is none."""
    return next((each for each in hall.seeks.values() if each.word == word), None)


def _may_be_rated(context: CommandContext, *, rated: bool | None) -> bool:
    """Whether a match on these terms may be rated: the player is a member and doesn't object.

    Raises:
        RefusedError: a guest asks for a rated match.
    """
    if rated and not context.person.is_member:
        raise RefusedError(Refusal.RATED_FOR_MEMBERS)
    return context.person.is_member and rated is not False


def _make_seek(
    context: CommandContext, rules: str, side: Side | None, *, rated: bool
) -> events.SeekMade:
    """Return a new seek of the player. It is rated only for members."""
    seeks = context.hall.seeks
    number = next(each for each in range(1, len(seeks) + 2) if each not in seeks)
    is_rated = rated and context.person.is_member
    return events.SeekMade(context.now, context.me, number, rules, side, is_rated)


def seat_players(player: str, other: str, side: Side | None) -> tuple[str, str]:
    """Return the players of dwarfs and trolls if ``player`` wants a side; None for any."""
    return (other, player) if side is Side.TROLL else (player, other)


def _require_seeks(context: CommandContext) -> None:
    hall = context.hall
    mine = [each.number for each in hall.seeks.values() if each.player == context.me]
    if len(mine) >= hall.caps.seeks:
        raise RefusedError(Refusal.SEEKS_TOO_MANY, most=hall.caps.seeks, numbers=tuple(mine))


def require_quota_left(hall: Hall, decision: Decision, names: Collection[str]) -> None:
    """Refuse a decision that exceeds the share of an address in seeks or boards.

    Everybody who is here can have a first one. Only those beyond it count, so that players who
    share an address by chance don't keep each other from playing. `connections_per_address` limits
    how many players these are.
    """
    caps, me = hall.caps, decision.player
    if any(isinstance(event, events.SeekMade) for event in decision.hall):
        seeks = {
            name: {each.number for each in hall.seeks.values() if each.player == name}
            for name in names
        }
        if seeks.get(me) and _beyond_first(hall, seeks) >= caps.seeks_per_address:
            raise RefusedError(Refusal.SEEKS_FROM_ADDRESS, most=caps.seeks_per_address)
    if any(isinstance(event, events.BoardOpened) for event in decision.hall):
        boards = {
            name: {
                each
                for each in hall.tables.player_boards_in_use_by(name)
                if _counts_towards_limit(hall, each)
            }
            for name in names
        }
        if boards.get(me) and _beyond_first(hall, boards) >= caps.boards_per_address:
            raise RefusedError(
                Refusal.BOARDS_FROM_ADDRESS,
                most=caps.boards_per_address,
                boards=tuple(hall.tables.player_boards_in_use_by(me)),
                free=hall.tables.first_empty_standing_board(),
            )


def _counts_towards_limit(hall: Hall, board: str) -> bool:
    """Whether a board counts towards the limit.

    It doesn't if the player has left a bot alone there, as when an opponent was found elsewhere.
    """
    table, here = hall.tables[board], hall.people_in(board)
    if table.levels == events.NO_BOTS or table.has_live_clock:
        return True
    return any(each in here for each in table.seats.values() if each not in hall.bots)


def _beyond_first(hall: Hall, held: Mapping[str, Set[Any]]) -> int:
    """Count the things held, apart from one for each player who is here.

    Things held by players who have left count in full. Otherwise anybody could leave something
    behind under ever new names.
    """
    here = [name for name, things in held.items() if things and name in hall.people]
    return len(set().union(*held.values())) - len(here)
