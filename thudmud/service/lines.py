"""Player lines: parses, decides, stores and answers each line, one player's lines in order.

`PlayerLines.submit` holds the lock of the player's name from the first check to the answer. So each
line is decided on what the player's earlier lines have changed, and the visit doesn't end in
mid-line, since `Presence` takes the same lock for that. The board isn't locked, and others go on
there; a change shows as a conflict, see below. The steps:

1. Checks. A line of a visit that is over is ignored. A service that can't apply events, or whose
   lease has run out, takes no lines. A line whose ``key`` is stored already isn't repeated.
2. Reading (`_read_command`). The line answers a pending question ("Really resign?"), is blank, or
   is parsed. "Again" is replaced by the last command.
3. Dispatch. Some commands are left to the front end, and "quit" to `Presence`. Everything else goes
   to `_decide`.

`_decide` is a loop around the pure function `decide`, which computes a decision from the hall's
present state and changes nothing. So it can be repeated. A StoreError ends the line; otherwise each
round ends in one of four ways:

- Refused, by the rules, a limit or a question: the player is told why. Nothing has changed.
- Lookup needed: the decision needs stored data. The loop looks the data up, and decides anew with
  it. The board may have changed meanwhile; that doesn't matter, since the new decision is based
  on the current board.
- Conflict: another append came first. The loop waits until that is applied here, and decides the
  same command anew, without parsing. It drops the data looked up, which may be out of date, and
  keeps the time for a command in a running battle: a ply that came in time stays in time. With an
  ``expected_version``, the next round raises the ConflictError instead.
- Done: `EventApplier` has stored, applied and delivered the events; or `Broadcaster` has, at once,
  if there was nothing to store.

Repeated rounds mustn't repeat effects. The talk limit is charged once, and storing the same
preferences twice does no harm. Asides are stored before the events, but no command returns stored
asides along with events, so no conflict can follow them.

Cancellation. Front ends leave a visit instead of cancelling its line. If a line is cancelled all
the same, ``finally`` releases the name's lock. Before the append nothing has happened, except that
the talk limit may be charged, and preferences or stored asides may be stored but not delivered.
During the append the events may be stored, see `thudmud.service.event_applier`; they are
delivered, but the line has no result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from msgspec import Struct

from thudmud.errors import RefusedError
from thudmud.features.matchmaking.commands import offered_to, require_quota_left
from thudmud.game import asides, hooks
from thudmud.game.archive import NOTHING_FOUND, Lookup, LookupNeededError, LookupResults
from thudmud.game.command import Asked, Command, CommandContext, query_words
from thudmud.game.decisions import decide, is_deferrable, is_limited
from thudmud.game.delivery import Delivery
from thudmud.game.events import Parting
from thudmud.game.feature import (
    AsideStorer,
    LookupAnswerer,
    LookupRequest,
    Postponed,
    ProgramQuestion,
)
from thudmud.game.hall import Decision
from thudmud.game.more import Again, Quit
from thudmud.game.people import Person
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.game.tables import TableCommand
from thudmud.immutable import immutable
from thudmud.language import ParseError, parse
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.event_applier import EventApplier
from thudmud.service.interface import (
    Base,
    Keep,
    Limit,
    OutcomeUnknownError,
    PendingConfirmation,
    Quota,
    Result,
    Visit,
)
from thudmud.service.presence import Presence
from thudmud.store import ConflictError
from thudmud.store.database import Database
from thudmud.values import replace
from thudmud.views import sentences
from thudmud.views.data import Fact
from thudmud.views.facts import refusal_fact
from thudmud.views.messages import answer_in_words, fact_messages
from thudmud.views.registry import RenderContext, facts
from thudmud.views.telling import delivery_facts

ACTIVE_EVERY = 30.0
"""The shortest time, in seconds, between two updates of a player's time of activity."""

ANSWERS = {"yes": True, "y": True, "no": False, "n": False}
"""Answers to a request for confirmation."""

_SHORT = {"y": "yes", "n": "no", "Y": "yes", "N": "no"}
"""Abbreviations that answer an offer, while there is one."""


_log = logging.getLogger(__name__)


@immutable
@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a front end configures the handling of lines.

    Attributes:
        read: parses a line; raises ParseError.
        check_available: raises ParseError if a command was left out of the vocabulary; called with
            commands that were submitted as such.
        leaves: classes of commands that the front end carries out.
        keep: stores members' preferences; None if they aren't stored.
        allow: raises RefusedError if a player disturbs others too often; called before each
            decision that counts, see `thudmud.game.decisions.is_limited`.
        limits: further limits, by the names that commands have for them, see `Command.rate_limit`.
        quota: limits how much is stored for players from one address; None for no limit.
        return_within: seconds for which nobody is told that a connection was lost, since it may
            come back, as when a page is reloaded.
    """

    read: Callable[[str], Command] = parse
    check_available: Callable[[Command], None] | None = None
    leaves: tuple[type[Command], ...] = ()
    keep: Keep | None = None
    allow: Limit | None = None
    limits: Mapping[str, Limit] = field(default_factory=dict)
    quota: Quota | None = None
    return_within: float = 0.0


class LineContext(Struct, eq=False):
    """State of one line while it is read, decided and carried out.

    Attributes:
        visit: the player's visit.
        cause: the cause to deliver with every message.
        now: the time of the command, in seconds since the epoch.
        expected_version: the required version of the only board; None for any.
        key: identifies the line in the store.
        is_typed: whether the player typed the line, and so may be asked for confirmation.
        found: the lookups answered so far.
        confirmed: the question that the player has just answered with "yes".
        is_late: whether the line waited for a postponed answer. The player has typed other lines
            since, so it mustn't change the board that "it" refers to.
        is_charged: whether the line has been charged to the player's limits.
    """

    visit: Visit
    cause: object
    now: float
    expected_version: int | None = None
    key: str | None = None
    is_typed: bool = False
    found: LookupResults = NOTHING_FOUND
    confirmed: RefusedError | None = None
    is_late: bool = False
    is_charged: bool = False


class PlayerLines:
    """Carries out players' lines.

    Args:
        base: what the parts of a service share.
        policy: how lines are handled.
        broadcaster: delivers messages.
        following: stores events.
        presence: owns the locks of the players' names.
        is_alone: whether there is only one board.

    Attributes:
        answers: functions of features that answer lookups instead of the store, by lookup type.
        storers: functions of features that store asides before their delivery, by aside type.
        at_blank_line: called with the name of a player who enters a blank line.
    """

    def __init__(
        self,
        base: Base,
        policy: Policy,
        *,
        broadcaster: Broadcaster,
        following: EventApplier,
        presence: Presence,
        is_alone: bool,
    ) -> None:
        self._hall, self._store, self._clock = base.hall, base.store, base.clock
        self._look_up, self._node, self._policy = base.look_up, base.node, policy
        self._broadcaster, self._applier, self._presence = broadcaster, following, presence
        self._is_alone = is_alone
        self.answers: dict[type[Lookup[Any]], LookupAnswerer] = {}
        self.storers: dict[type[asides.Aside], AsideStorer[Any]] = {}
        self.at_blank_line: list[Callable[[str], None]] = []

    async def submit(
        self,
        visit: Visit,
        line: str | Command,
        *,
        cause: object = None,
        expected_version: int | None = None,
        key: str | None = None,
        quiet: bool = False,
    ) -> Result:
        """Carry out a line, after all earlier lines of the player.

        Args:
            visit: the player's visit.
            line: any string, or a command.
            cause: the cause to deliver with every message about the line.
            expected_version: the required version of the board; only with a single board.
            key: identifies the line, so that it isn't carried out twice even after a crash; only
                with a single board. Lines that store nothing may be repeated.
            quiet: whether the player isn't told if the line can't be parsed.

        Raises:
            ConflictError: the board is at another version than ``expected_version``.
            StoreError: the events cannot be stored, so nothing has happened.
            OutcomeUnknownError: the line may have been carried out.
        """
        # Long: on the path of every line, where tests limit the number of calls.
        # Not `async with`, which costs more calls: lines are the hot path, and most don't block.
        presence, name = self._presence, visit.name
        if not presence.names.try_acquire(name):
            await presence.names.acquire(name)
        try:
            if visit.is_over or presence.closing:
                return Result()
            if self._applier.failure:
                raise OutcomeUnknownError from self._applier.failure
            if self._node:
                self._applier.require_lease()
            if key is not None and (
                done := await self._store.read(Database.request_result, self._only_table.key, key)
            ):
                return Result(is_done=True, before=done.version)
            # From here to `_decide` nothing blocks, apart from "quit".
            now = self._clock()
            if now - self._hall.people[name].last_active >= ACTIVE_EVERY:
                active = Decision(name, asides=(asides.Active(name, now),))
                self._broadcaster.carry_out(active, at=now)
            if expected_version is not None:
                self._require_version(expected_version)
            context = LineContext(
                visit, cause, now, expected_version, key, is_typed=isinstance(line, str)
            )
            try:
                command = self._read_command(context, line)
            except ParseError as error:
                if quiet:
                    return Result(refusal=error)
                return self._broadcaster.refuse(name, None, error, cause)
            if isinstance(command, Result):
                return command
            if isinstance(command, Quit):
                await presence.see_out(visit, Parting.QUIT, cause)
                return Result(command, is_done=True)
            return await self._decide(context, command)
        finally:
            presence.names.release(name)

    def _read_command(self, context: LineContext, line: str | Command) -> Command | Result:
        """Return the line's command, or the line's result if there is nothing to decide.

        Raises:
            ParseError: the line isn't a command, or the command isn't available here.
        """
        visit, policy = context.visit, self._policy
        # Only the next line can answer it.
        pending = visit.pending_confirmation
        visit.pending_confirmation = None
        command: Command
        if not isinstance(line, str):
            if policy.check_available and not visit.watcher:  # our own bots may do all
                policy.check_available(line)
            command = line
        elif (
            pending
            and (is_confirmed := ANSWERS.get(line.strip(" .!").lower())) is not None
            and pending.is_fresh(context.now)
        ):
            return self._answer_confirmation(context, pending, is_confirmed=is_confirmed)
        elif not line.strip():
            for call in self.at_blank_line:
                call(visit.name)
            return Result()
        else:
            if line in _SHORT and offered_to(self._hall, visit.name, context.now):
                line = _SHORT[line]
            command = policy.read(line)
        if isinstance(command, Again):
            command = visit.last_command or command
        else:
            visit.last_command = command
        return Result(command, is_left=True) if isinstance(command, policy.leaves) else command

    def _answer_confirmation(
        self, context: LineContext, pending: PendingConfirmation, *, is_confirmed: bool
    ) -> Command | Result:
        """Return the command that a "yes" confirms, or the result of any other answer."""
        name, command = context.visit.name, pending.command
        # A "yes" could also accept an offer that was made since the question, or be meant for a
        # battle that is over: then it does nothing.
        if not pending.is_clear(self._hall, offered_to(self._hall, name, context.now)):
            passed = RefusedError(Refusal.QUESTION_PASSED, line=str(command))
            return self._broadcaster.refuse(name, command, passed, context.cause)
        if not is_confirmed:
            self._broadcaster.say(name, sentences.PLAYS_ON, context.cause)
            return Result(command, is_done=True)
        # "again" mustn't resign twice.
        context.visit.last_command = None
        context.confirmed = pending.refusal
        return command

    def _confirm(self, context: LineContext, command: TableCommand, decision: Decision) -> None:
        """Raise a request for confirmation if the command needs one, and store it in the visit.

        With only one board, the host has its own ways to ask. If the question would be another one
        by now than the player has just answered, they are asked again.
        """
        if self._is_alone or decision.board is None or not decision.events:
            return
        visit, confirmed = context.visit, context.confirmed
        table = self._hall.tables[decision.board]
        asks = command.confirmation(table, visit.name)
        if asks is None or (confirmed and confirmed.details == asks.details):
            return
        target = replace(command, on=table.name)
        offered = offered_to(self._hall, visit.name, context.now)
        visit.pending_confirmation = PendingConfirmation(target, table, asks, context.now, offered)
        raise asks

    async def speak_at_board(self, visit: Visit, aside: asides.Aloud) -> None:
        """Deliver what a player says or does to everybody at a board, wherever the player is.

        Args:
            visit: the player's visit.
            aside: speech or an emote; its room is the board.
        """
        async with self._presence.names.holding(visit.name):
            if not (visit.is_over or self._presence.closing) and aside.room in self._hall.tables:
                self._broadcaster.carry_out(Decision(visit.name, asides=(aside,)))

    async def ask(
        self,
        visit: Visit,
        line: str,
        number: int | str | None = None,
        *,
        in_words: bool = False,
    ) -> None:
        """Answer a question of a player's program with facts; refuse any other line with a fact.

        Nothing changes, not even the board that "it" refers to.

        Args:
            visit: the player's visit.
            line: the question.
            number: the program's identifier of the question, repeated in each fact; None for none.
            in_words: whether the answer is a single fact with its words.

        Raises:
            StoreError: the answer cannot be read from the store.
        """
        may_ask = "answers_in_words" if in_words else "is_question"
        async with self._presence.names.holding(visit.name):
            if not (visit.is_over or self._presence.closing):
                try:
                    command = self._read_question(line, attrgetter(may_ask))
                except RefusedError as refusal:
                    known = [self._broadcaster.refusal_fact(visit.name, refusal)]
                else:
                    cause = ProgramQuestion(number, in_words)
                    known = await self._answers(visit, command, LookupResults(), cause)
                self._send_answers(visit.name, known, number)

    def _read_question(self, line: str, may_ask: Callable[[Command], bool]) -> Command:
        """Return the command of a question; ``may_ask`` says whether it may be asked.

        Raises:
            RefusedError: it may not, or the line can't be read.
        """
        command = self._policy.read(line)
        if not may_ask(command):
            raise RefusedError(Refusal.NO_QUESTION, questions=query_words(self._hall))
        return command

    def _send_answers(self, name: str, known: list[Fact], number: int | str | None) -> None:
        if number is not None:
            known = [replace(each, data={**each.data, "id": number}) for each in known]
        terminals = self._broadcaster.screens.terminals
        self._broadcaster.send(fact_messages(known, (name,), terminals))

    async def _answers(
        self, visit: Visit, command: Command, found: LookupResults, cause: ProgramQuestion
    ) -> list[Fact]:
        """Return the facts that answer a program's question; none yet if they are postponed."""
        name = visit.name
        while True:
            try:
                [decision] = decide(self._hall, name, command, self._clock(), found)
            except RefusedError as refusal:
                return [self._broadcaster.refusal_fact(name, refusal)]
            except LookupNeededError as unread:
                lookup = unread.lookup
                if look_up := self.answers.get(type(lookup)):
                    request = LookupRequest(visit.name, visit.origin, cause, is_late=False)
                    try:
                        answer = look_up(request, lookup)
                    except RefusedError as refusal:
                        return [self._broadcaster.refusal_fact(name, refusal)]
                    if isinstance(answer, Postponed):
                        return []
                else:
                    answer = await self._look_up(lookup)
                found.store(lookup, answer)
                continue
            known: list[Fact] = []
            for asked in decision.asides:
                if isinstance(asked, Asked):
                    table = self._hall.visible_table(name, asked.board) if asked.board else None
                    telling = Delivery(asked, (name,), table).stamp(self._clock())
                    if cause.in_words:
                        known += answer_in_words(self._hall, telling, self._broadcaster.screens)
                    else:
                        known += delivery_facts(self._hall, telling)
            return known

    async def answer_stranger(self, line: str) -> list[Fact]:
        """Return the answer to a question of a program whose player has no name yet.

        Raises:
            StoreError: the answer cannot be read from the store.
        """
        found = LookupResults()
        while True:
            try:
                command = self._read_question(line, attrgetter("is_public"))
                now = self._clock()
                decision = command.decide(CommandContext(self._hall, Person(""), now, found, ""))
            except RefusedError as refusal:
                return [refusal_fact(refusal, "")]
            except LookupNeededError as unread:
                found.store(unread.lookup, await self._look_up(unread.lookup))
                continue
            context = RenderContext(self._hall, None, now, "")
            return [
                fact
                for asked in decision.asides
                if isinstance(asked, Asked)
                for fact in facts(asked.question, replace(context, answer=asked.answer))
            ]

    async def _decide(self, context: LineContext, command: Command) -> Result:
        """Decide and carry out a command, as often as lookups and conflicts require.

        The caller holds the lock of the player's name. The module's docstring explains the loop.

        Raises:
            ConflictError: the board is at another version than ``context.expected_version``.
            StoreError: the events cannot be stored, so nothing has happened.
            OutcomeUnknownError: the command may have been carried out.
        """
        name, cause = context.visit.name, context.cause
        while True:
            if context.expected_version is not None:
                self._require_version(context.expected_version)
            try:
                decision = self._decide_once(context, command)
                await self._carry_out(context, decision)
            except RefusedError as refusal:
                about = None if context.is_late else command
                return self._broadcaster.refuse(name, about, refusal, cause)
            except LookupNeededError as needed:
                lookup = needed.lookup
            except ConflictError as conflict:
                await self._applier.wait_past_conflict(conflict)
                context.found = NOTHING_FOUND  # the answers may be out of date
                if not (isinstance(command, TableCommand) and command.in_battle):
                    # A ply keeps its time. Otherwise an opponent could make its player's flag fall
                    # by a series of offers, each stored just before the ply.
                    context.now = self._clock()
                continue
            else:
                return Result(command, is_done=True)
            # Only after `LookupNeededError`: look up the answer, and decide anew.
            if ended := await self._answer(context, command, lookup):
                return ended
            context.now = self._clock()

    def _decide_once(self, context: LineContext, command: Command) -> Decision:
        """Decide a command on the present state of the hall, and check the limits.

        Raises:
            RefusedError: the rules, a limit or a request for confirmation stop the command.
            LookupNeededError: the decision needs stored data.
        """
        visit, policy = context.visit, self._policy
        [decision] = decide(self._hall, visit.name, command, context.now, context.found)
        if context.is_typed and isinstance(command, TableCommand) and command.needs_confirmation:
            self._confirm(context, command, decision)
        if decision.hall and visit.origin:
            self._require_address_shares(visit, decision)
        if (
            not context.is_charged
            and (policy.allow or policy.limits)
            and is_limited(self._hall, decision)
        ):
            if policy.allow:
                policy.allow(visit)
            if limit := policy.limits.get(command.rate_limit):
                limit(visit)
            context.is_charged = True  # once, however many rounds follow
        return decision

    async def _carry_out(self, context: LineContext, decision: Decision) -> None:
        """Store and deliver a decision: first asides and preferences, then the events.

        Raises:
            RefusedError: the address has used up its quota of stored events.
            ConflictError: another append came first.
        """
        visit, policy = context.visit, self._policy
        for aside in decision.asides:
            if isinstance(aside, asides.StoredAside):
                await self.storers[type(aside)](aside)
                context.now = self._clock()  # storing takes time
        if decision.preferences and policy.keep:
            await self._store_preferences(visit.name, decision.preferences)
            context.now = self._clock()
        if not (decision.hall or decision.events):
            kept = replace(decision, board=None) if context.is_late else decision
            self._broadcaster.carry_out(kept, context.cause, context.now)
            return
        quota = policy.quota
        if quota and quota.full:
            self._require_storage_quota(visit, decision, quota)
        await self._applier.write(decision, context.cause, context.key)
        if quota:
            quota.charge(visit.origin, len(decision.hall) + len(decision.events), context.now)

    def _require_address_shares(self, visit: Visit, decision: Decision) -> None:
        """Raise RefusedError if players from the same address have used up a share."""
        names = self._presence.players_from(visit.origin)
        require_quota_left(self._hall, decision, names)
        for require_share_of in hooks.shares:
            require_share_of(self._hall, decision, names)

    def _require_storage_quota(self, visit: Visit, decision: Decision, quota: Quota) -> None:
        """Raise RefusedError if the address has used up its quota, and the decision can wait."""
        wait = quota.wait(visit.origin, self._clock())
        if wait and is_deferrable(self._hall, decision):
            raise RefusedError(Refusal.STORED_TOO_MUCH, seconds=wait)

    async def _answer(
        self, context: LineContext, command: Command, lookup: Lookup[Any]
    ) -> Result | None:
        """Add the answer to a lookup to ``context.found``.

        Returns:
            None, or the line's result if the answer is refused or postponed.
        """
        if context.found is NOTHING_FOUND:
            context.found = LookupResults()
        look_up = self.answers.get(type(lookup))
        if look_up is None:
            context.found.store(lookup, await self._look_up(lookup))
            return None
        visit, cause, is_late = context.visit, context.cause, context.is_late
        try:
            answer = look_up(LookupRequest(visit.name, visit.origin, cause, is_late), lookup)
        except RefusedError as refusal:
            about = None if is_late else command
            return self._broadcaster.refuse(visit.name, about, refusal, cause)
        if isinstance(answer, Postponed):
            self._broadcaster.carry_out(answer.decision, cause)
            return Result(
                command, is_done=True, seconds=answer.seconds, is_awaited=answer.is_awaited
            )
        context.found.store(lookup, answer)
        return None

    @property
    def _only_table(self) -> Table:
        [table] = self._hall.tables.values()
        return table

    def _require_version(self, expected: int) -> None:
        table = self._only_table
        if table.version != expected:
            raise ConflictError(table.key, expected, table.version)

    async def _store_preferences(self, name: str, preferences: Mapping[str, Any]) -> None:
        """Store a player's preferences with these changes."""
        person = self._hall.people[name]
        after = replace(person, **preferences)
        if self._policy.keep and after != person:
            await self._policy.keep(after)

    async def run_command(
        self,
        name: str,
        command: Command,
        found: LookupResults = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Run a command for a player as if it had been typed; do nothing if the player has left.

        Args:
            name: the player's name.
            command: the command.
            found: the postponed answer, see `thudmud.game.feature.Postponed`.
            cause: the cause to deliver with every message.
            unless: called once the player's earlier lines are done; prevents the command if true.

        Raises:
            StoreError: the store cannot be read or written.
        """
        async with self._presence.names.holding(name):
            visit = self._broadcaster.visits.get(name)
            is_gone = self._presence.closing or name not in self._hall.people
            if visit is not None and not is_gone and not (unless and unless()):
                if isinstance(cause, ProgramQuestion):
                    known = await self._answers(visit, command, found, cause)
                    self._send_answers(name, known, cause.number)
                    return
                context = LineContext(visit, cause, self._clock(), found=found)
                context.is_late = found is not NOTHING_FOUND
                await self._decide(context, command)
