"""Players' lines: each is read, decided, stored if need be, and answered, in order.

The commands of features make the decisions, which `Following` stores, or `Broadcaster` tells if
there is nothing to store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from thudmud.errors import Refused
from thudmud.features.matchmaking.commands import offered_to, require_share
from thudmud.game import asides, hooks
from thudmud.game.archive import NOTHING_FOUND, Found, Lookup, Unread
from thudmud.game.command import Asked, Command, questions
from thudmud.game.decisions import can_wait, decide, is_limited
from thudmud.game.events import Parting
from thudmud.game.feature import AsideStorer, LookupAnswerer, LookupRequest, Postponed
from thudmud.game.hall import Decision
from thudmud.game.more import Again, Quit
from thudmud.game.refusals import Refusal
from thudmud.game.table import Table
from thudmud.game.tables import TableCommand
from thudmud.game.telling import Telling
from thudmud.language import ParseError, parse
from thudmud.service.broadcasting import Broadcaster
from thudmud.service.following import Following
from thudmud.service.interface import (
    Base,
    Keep,
    Limit,
    Quota,
    Result,
    Unfollowed,
    Unsure,
    Visit,
)
from thudmud.service.presence import Presence
from thudmud.store import Conflict
from thudmud.store.database import Database
from thudmud.values import replace
from thudmud.views import sentences
from thudmud.views.data import Fact
from thudmud.views.facts import refusal_fact
from thudmud.views.messages import sent
from thudmud.views.telling import facts

ACTIVE_EVERY = 30.0
"""How many seconds apart a player's activity is noted, and told to other nodes."""

ANSWERS = {"yes": True, "y": True, "no": False, "n": False}
"""The answers to the question whether a player means a command."""

_SHORT = {"y": "yes", "n": "no", "Y": "yes", "N": "no"}
"""What answers an offer as well, while there is one."""


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How the front ends of a service want lines to be handled.

    Attributes:
        read: parses a line; raises ParseError.
        check_available: called with commands that were not parsed from a line; raises ParseError
            if the command was left out.
        leaves: classes of commands that are left to the front end.
        keep: stores members' preferences; None if they are not stored.
        allow: called before others are told of something a player does, see
            `thudmud.game.decisions.is_limited`; raises Refused if it is too much.
        limits: called as well before a command that names one, see `Command.rate_limit`.
        quota: limits how much is stored for players from one address; None for no limit.
    """

    read: Callable[[str], Command] = parse
    check_available: Callable[[Command], None] | None = None
    leaves: tuple[type[Command], ...] = ()
    keep: Keep | None = None
    allow: Limit | None = None
    limits: Mapping[str, Limit] = field(default_factory=dict)
    quota: Quota | None = None


class PlayerLines:
    """Carries out players' lines.

    Args:
        base: what the parts of a service share.
        policy: how lines are handled.
        broadcaster: tells what happens.
        following: stores the events.
        presence: has the locks of the players' names.
        is_alone: whether there is only one board.

    Attributes:
        answers: by type, how lookups are answered that are not for the store.
        storers: by type of aside, what stores it before it is told.
        at_blank_line: called with the name of a player who enters a blank line.
    """

    def __init__(
        self,
        base: Base,
        policy: Policy,
        *,
        broadcaster: Broadcaster,
        following: Following,
        presence: Presence,
        is_alone: bool,
    ) -> None:
        self._hall, self._store, self._clock = base.hall, base.store, base.clock
        self._look_up, self._node, self._policy = base.look_up, base.node, policy
        self._broadcaster, self._following, self._presence = broadcaster, following, presence
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
        at: int | None = None,
        key: str | None = None,
    ) -> Result:
        """Carry out a line, after all earlier lines of the player.

        Args:
            visit: the player's.
            line: any text that was typed, or a command.
            cause: what ``told`` is to be told that this is about.
            at: the version at which the board has to be, where there is only one board.
            key: where there is only one board, identifies the line, so that it is not carried out
                twice even after a crash. Lines that store nothing may be repeated.

        Raises:
            Conflict: the board is at another version.
            StoreError: it cannot be stored, so nothing happened.
            Unfollowed: it may have happened.
        """
        # Most lines wait for nothing, and lines are what happens most, so there is no `async with`.
        presence, name = self._presence, visit.name
        if not presence.names.begin(name):
            await presence.names.take(name)
        try:
            if visit.is_over or presence.closing:
                return Result()
            if self._following.trouble:
                raise Unfollowed from self._following.trouble
            if self._node:
                self._following.require_lease()
            if key is not None and (
                done := await self._store.read(Database.came_to, self._only_table.key, key)
            ):
                return Result(done=True, before=done.version)
            now = self._clock()
            if now - self._hall.people[name].active >= ACTIVE_EVERY:
                active = Decision(name, asides=(asides.Active(name, now),))
                self._broadcaster.carry_out(active, at=now)
            if at is not None:
                self._require_version(at)
            unsure, visit.unsure = visit.unsure, None
            if not isinstance(line, str):
                command = line
                if self._policy.check_available and not visit.watcher:  # bots are programs of ours
                    try:
                        self._policy.check_available(command)
                    except ParseError as error:
                        return self._broadcaster.refuse(name, None, error, cause)
            elif (
                unsure
                and (is_meant := ANSWERS.get(line.strip(" .!").lower())) is not None
                and unsure.stands(now)
            ):
                if not unsure.is_clear(self._hall, offered_to(self._hall, name, now)):
                    passed = Refused(Refusal.QUESTION_PASSED, line=str(unsure.command))
                    return self._broadcaster.refuse(name, unsure.command, passed, cause)
                if not is_meant:
                    self._broadcaster.say(name, sentences.PLAYS_ON, cause)
                    return Result(unsure.command, done=True)
                command, visit.last = unsure.command, None  # so that "again" does not do it twice
                return await self._decide(
                    visit, command, cause, now, at=at, key=key, typed=True, confirmed=unsure.asks
                )
            elif not line.strip():
                for call in self.at_blank_line:
                    call(name)
                return Result()
            else:
                if line in _SHORT and offered_to(self._hall, name, now):
                    line = _SHORT[line]
                try:
                    command = self._policy.read(line)
                except ParseError as error:
                    return self._broadcaster.refuse(name, None, error, cause)
            if isinstance(command, Again):
                command = visit.last or command
            else:
                visit.last = command
            if isinstance(command, self._policy.leaves):
                return Result(command, is_left=True)
            if isinstance(command, Quit):
                await self._presence.see_out(visit, Parting.QUIT, cause)
                return Result(command, done=True)
            typed = isinstance(line, str)
            return await self._decide(visit, command, cause, now, at=at, key=key, typed=typed)
        finally:
            presence.names.leave(name)

    def _confirm(
        self,
        visit: Visit,
        command: TableCommand,
        decision: Decision,
        confirmed: Refused | None,
        now: float,
    ) -> None:
        """Raise the question whether a player means a command, unless they have just said so.

        They are asked again if the answer would not be the same by now. With only one board, the
        host has its own ways to ask.
        """
        if self._is_alone or decision.board is None or not decision.events:
            return
        table = self._hall.tables[decision.board]
        asks = command.confirmation(table, visit.name)
        if asks is None or (confirmed and confirmed.details == asks.details):
            return
        meant = replace(command, on=table.name)
        offered = offered_to(self._hall, visit.name, now)
        visit.unsure = Unsure(meant, table, asks, now, offered)
        raise asks

    async def emote(self, visit: Visit, board: str, deed: str) -> None:
        """Tell all at a board that a player does something, wherever the player is.

        Args:
            visit: the player's.
            board: its name.
            deed: what they do, without the name.
        """
        async with self._presence.names.of(visit.name):
            if not (visit.is_over or self._presence.closing) and board in self._hall.tables:
                self._broadcaster.carry_out(
                    Decision(visit.name, asides=(asides.Emoted(visit.name, board, deed),))
                )

    async def ask(self, visit: Visit, line: str, number: int | str | None = None) -> None:
        """Answer a line of a player's program with facts, also one that is no question.

        Nothing changes, not even what "it" means to the player.

        Args:
            visit: the player's.
            line: the question.
            number: the program's number for it, which each fact repeats; None for none.

        Raises:
            StoreError: the answer cannot be read from the store.
        """
        async with self._presence.names.of(visit.name):
            if not (visit.is_over or self._presence.closing):
                known = await self._answers(visit.name, line)
                if number is not None:
                    known = [replace(each, data={**each.data, "id": number}) for each in known]
                terminals = self._broadcaster.screens.terminals
                self._broadcaster.send(sent(known, (visit.name,), terminals))

    async def _answers(self, name: str, line: str) -> list[Fact]:
        found = Found()
        while True:
            try:
                command = self._policy.read(line)
                if not command.is_question:
                    raise Refused(Refusal.NO_QUESTION, questions=questions(self._hall))  # noqa: TRY301
                [decision] = decide(self._hall, name, command, self._clock(), found)
            except Refused as refusal:
                return [refusal_fact(refusal, name)]
            except Unread as unread:
                found.take(unread.lookup, await self._look_up(unread.lookup))
                continue
            known: list[Fact] = []
            for asked in decision.asides:
                if isinstance(asked, Asked):
                    table = self._hall.board_seen(name, asked.board) if asked.board else None
                    telling = Telling(asked, (name,), table).told_at(self._clock())
                    known += facts(self._hall, telling)
            return known

    async def _decide(
        self,
        visit: Visit,
        command: Command,
        cause: object,
        now: float,
        found: Found = NOTHING_FOUND,
        *,
        at: int | None = None,
        key: str | None = None,
        typed: bool = False,
        confirmed: Refused | None = None,
    ) -> Result:
        """Carry out a command; after a conflict, decide it again.

        The lock of the player's name has to be held. If it was ``typed``, the player may be asked
        first whether they mean it, unless they have ``confirmed`` that question.
        """
        name, is_late = visit.name, found is not NOTHING_FOUND
        policy, quota = self._policy, self._policy.quota
        is_allowed = policy.allow is None and not policy.limits
        while True:
            if at is not None:
                self._require_version(at)
            try:
                [decision] = decide(self._hall, name, command, now, found)
                if typed and isinstance(command, TableCommand) and command.needs_confirmation:
                    self._confirm(visit, command, decision, confirmed, now)
                if decision.hall and visit.origin:
                    self._require_shares(visit, decision)
                if not is_allowed and is_limited(self._hall, decision):
                    self._allow(visit, command)
                    is_allowed = True  # it counts once, however often it is decided again
                for aside in decision.asides:
                    if isinstance(aside, asides.StoredAside):
                        await self.storers[type(aside)](aside)
                        now = self._clock()
                if decision.preferences and policy.keep:
                    await self._keep(name, decision.preferences)
                    now = self._clock()
                if decision.hall or decision.events:
                    if quota and quota.full:
                        self._require_room(visit, decision, quota)
                    await self._following.write(decision, cause, key)
                    if quota:
                        quota.note(visit.origin, len(decision.hall) + len(decision.events), now)
                else:
                    kept = replace(decision, board=None) if is_late else decision  # "it" stays
                    self._broadcaster.carry_out(kept, cause, now)
            except Refused as refusal:
                return self._broadcaster.refuse(name, None if is_late else command, refusal, cause)
            except Unread as unread:
                asked = unread.lookup
            except Conflict as conflict:
                # The answers looked up may be out of date, too.
                await self._following.until(conflict)
                found = NOTHING_FOUND
                if not (isinstance(command, TableCommand) and command.in_battle):
                    # A ply that came in time stays in time. Else opponents could have a flag fall
                    # by offers that are stored first.
                    now = self._clock()
                continue
            else:
                return Result(command, done=True)
            found = Found() if found is NOTHING_FOUND else found
            request = LookupRequest(name, visit.origin, cause, is_late)
            if ended := await self._answer(request, command, asked, found):
                return ended
            now = self._clock()

    def _allow(self, visit: Visit, command: Command) -> None:
        """Raise Refused if others have been told too much of the player."""
        if self._policy.allow:
            self._policy.allow(visit)
        if limit := self._policy.limits.get(command.rate_limit):
            limit(visit)

    def _require_shares(self, visit: Visit, decision: Decision) -> None:
        """Refuse what players from the same address have their share of already."""
        names = self._presence.all_from(visit.origin)
        require_share(self._hall, decision, names)
        for require_share_of in hooks.shares:
            require_share_of(self._hall, decision, names)

    def _require_room(self, visit: Visit, decision: Decision, quota: Quota) -> None:
        """Refuse what can wait if too much was stored for players from the same address."""
        wait = quota.wait(visit.origin, self._clock())
        if wait and can_wait(self._hall, decision):
            raise Refused(Refusal.STORED_TOO_MUCH, seconds=wait)

    async def _answer(
        self, request: LookupRequest, command: Command, asked: Lookup[Any], found: Found
    ) -> Result | None:
        """Answer a lookup; return the result of the line if it ends without the answer."""
        look_up = self.answers.get(type(asked))
        if look_up is None:
            found.take(asked, await self._look_up(asked))
            return None
        try:
            answer = look_up(request, asked)
        except Refused as refusal:
            about = None if request.is_late else command
            return self._broadcaster.refuse(request.player, about, refusal, request.cause)
        if isinstance(answer, Postponed):
            self._broadcaster.carry_out(answer.decision, request.cause)
            return Result(command, done=True, seconds=answer.seconds, is_awaited=answer.is_awaited)
        found.take(asked, answer)
        return None

    @property
    def _only_table(self) -> Table:
        [table] = self._hall.tables.values()
        return table

    def _require_version(self, at: int) -> None:
        table = self._only_table
        if table.version != at:
            raise Conflict(table.key, at, table.version)

    async def _keep(self, name: str, preferences: Mapping[str, Any]) -> None:
        """Store the preferences of a player, some of which are new, if they are a member."""
        person = self._hall.people[name]
        after = replace(person, **preferences)
        if person.member and self._policy.keep and after != person:
            await self._policy.keep(after)

    async def run_command(
        self,
        name: str,
        command: Command,
        found: Found = NOTHING_FOUND,
        cause: object = None,
        *,
        unless: Callable[[], bool] | None = None,
    ) -> None:
        """Carry out a command for a player, as if they had typed it, unless they have left.

        ``found`` is an answer that was postponed, see `thudmud.game.feature.Postponed`. ``unless``
        is asked once the player's earlier lines are done: if it is true, nothing is carried out.

        Raises:
            StoreError: it cannot be stored, or something that it needs cannot be read.
        """
        async with self._presence.names.of(name):
            visit = self._broadcaster.visits.get(name)
            is_gone = self._presence.closing or name not in self._hall.people
            if visit is not None and not is_gone and not (unless and unless()):
                await self._decide(visit, command, cause, self._clock(), found)
