"""Mutants of the program, each of which a seed of the simulated world has to detect.

Each mutant is a change of the source, applied when its module is imported. A mutant that no longer
applies raises an error: the program has changed, and the mutant has to be adapted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import NamedTuple


class Change(NamedTuple):
    """A passage in a module and its replacement."""

    module: str
    before: str
    after: str


POSTGRES = "thudmud.store.postgres"
DATABASE = "thudmud.store.database"
CLAIMS = "thudmud.store.nodes"
RUNNING = "thudmud.store.running"
NODES = "thudmud.service.nodes"
SERVICE = "thudmud.service.service"
PRESENCE = "thudmud.service.presence"
FOLLOWING = "thudmud.service.event_applier"
BROADCASTING = "thudmud.service.broadcasting"
TIMERS = "thudmud.service.clock_timers"
BOARDS = "thudmud.game.boards"
HALL = "thudmud.game.hall"
NOTIFYING = "thudmud.features.notifications.notifier"
TOURNAMENTS = "thudmud.features.tournaments.reactors"
TV = "thudmud.features.tv.reactors"
ARCHIVE = "thudmud.features.archive.commands"
EXPLORER = "thudmud.features.explorer.commands"
DIRECTING = "thudmud.features.tournaments.directing"
STORES = "thudmud.server.shared_store"


class Mistake(NamedTuple):
    """A mutant's changes, and a seed that detects it; None if none is known.

    Worlds of late seeds may have mails, see `tests.simulation.mails`.
    """

    seed: int | None
    changes: Sequence[Change]


BREAKS: dict[str, Mistake] = {
    "an unknown commit is looked up by its transaction id": Mistake(
        40,
        [
            Change(
                POSTGRES,
                "                yield\n                if plies:\n",
                "                yield\n                self._xid = self.connection.execute(\n"
                "                    'select pg_current_xact_id()::text::bigint')\n"
                "                if plies:\n",
            ),
            Change(
                POSTGRES,
                "return written == self._number",
                "return self.connection.session.status_of(self._xid)",
            ),
            Change(
                POSTGRES,
                "                if written == self._number:\n"
                "                    self.connection.execute(LATER_COMMIT)\n",
                "",
            ),
        ],
    ),
    "a commit lost with its link counts as done": Mistake(
        221,
        [
            Change(POSTGRES, "return written == self._number", "return True"),
        ],
    ),
    "a commit lost with its link counts as not done": Mistake(
        77,
        [
            Change(POSTGRES, "return written == self._number", "return False"),
        ],
    ),
    "a recovered commit is visible before the standby has it": Mistake(
        142,
        [
            Change(
                POSTGRES,
                "                self.connection.execute(LATER_COMMIT)\n        except",
                "                pass\n        except",
            ),
        ],
    ),
    "a commit of unknown outcome is repeated": Mistake(
        15,
        [
            Change(
                POSTGRES,
                "self.rollback()\n            raise self._not_known() from error",
                "self.rollback()\n            return False",
            ),
        ],
    ),
    "an append ignores the stream's version": Mistake(
        69,
        [
            Change(DATABASE, "            if found != expected:\n", "            if False:\n"),
        ],
    ),
    "a prepared append ignores the stream's version": Mistake(
        None,
        [
            Change(
                POSTGRES,
                "id || ':' || version = any(?)) = ?",
                "id || ':' || version = any(?)) <= ?",
            ),
        ],
    ),
    "a prepared append keeps positions taken by others": Mistake(
        None,
        [
            Change(DATABASE, "position - self.head.position\n", "0\n"),
        ],
    ),
    "the cache survives another process's commit": Mistake(
        37,
        [
            Change(
                DATABASE,
                "        self._clear()\n        self.head = head\n        self.others_wrote = True",
                "        self.head = head\n        self.others_wrote = True",
            ),
        ],
    ),
    "another process's entries are not delivered": Mistake(
        4,
        [
            Change(
                RUNNING,
                "            if entries:\n"
                "                self._tell(self._followers.deliver, entries)\n"
                "            if database.is_caught_up:",
                "            if database.is_caught_up:",
            ),
        ],
    ),
    "entries are delivered twice and applied twice": Mistake(
        0,
        [
            Change(FOLLOWING, "if table and entry.version > table.version:", "if table:"),
            Change(
                RUNNING,
                "        if entries and entries[0].position <= self.position:\n",
                "        if False:\n",
            ),
            Change(
                RUNNING,
                "        if entries:\n"
                "            self._followers.deliver(entries)\n\n    def _answer",
                "        if entries:\n            self._followers.deliver(entries)\n"
                "            self._followers.deliver(entries)\n\n    def _answer",
            ),
        ],
    ),
    "a node writes after its lease has expired": Mistake(
        4,
        [
            Change(
                NODES,
                "0.0 if self._lease_end is None else self._lease_end - self._clock()",
                "3600.0",
            ),
            Change(
                NODES,
                "if before is None or (is_known and now < before):",
                "if True:",
            ),
        ],
    ),
    "a live node is reaped": Mistake(
        4,
        [
            Change(
                CLAIMS,
                '"where until <= ?", database.now())',
                '"where until <= ?", database.now() + 8)',
            ),
        ],
    ),
    "a claim is taken over from a live node": Mistake(
        2,
        [
            Change(
                CLAIMS,
                '        if owner and cast("float", owner[2]) > now:\n',
                "        if False:\n",
            ),
        ],
    ),
    "a claim is released before the departure is stored": Mistake(
        826,
        [
            Change(
                PRESENCE,
                "            if name in self._hall.people:\n"
                "                await self._depart(name, parting, None)",
                "            await self._node.release(self._realm, name)\n"
                "            if name in self._hall.people:\n"
                "                await self._depart(name, parting, None)",
            ),
        ],
    ),
    "a note to release a name is ignored": Mistake(
        1875,
        [
            Change(
                NODES,
                "                    run_eagerly(service.hand_over(name))",
                "                    pass",
            ),
        ],
    ),
    "a node asks for nothing after it may have missed notes": Mistake(
        21,
        [
            Change(
                NODES,
                "                for service in self._services:\n"
                "                    service.remove_stale_players()\n"
                "                self._greetings = GREETINGS\n"
                "                run_eagerly(self._greet())",
                "                pass",
            ),
        ],
    ),
    "a gateway ignores the key of a line": Mistake(
        24,
        [
            Change(
                "thudmud.gateway.boards",
                "                key=request.key,\n",
                "",
            ),
        ],
    ),
    "a gateway carries out a repeated line again": Mistake(
        34,
        [
            Change(
                "thudmud.gateway.session",
                "        if number <= self.received:\n            return False\n",
                "",
            ),
        ],
    ),
    "a gateway resends nothing": Mistake(
        24,
        [
            Change(
                "thudmud.gateway.link",
                "= session, session.outbox.seen",
                "= session, session.outbox.last",
            ),
        ],
    ),
    "another node's asides are delivered twice": Mistake(
        0,
        [
            Change(
                NODES,
                "                    service.apply_remote_asides(asides, node)\n",
                "                    service.apply_remote_asides(asides, node)\n"
                "                    service.apply_remote_asides(asides, node)\n",
            ),
        ],
    ),
    "players who may be on another node are not dismissed": Mistake(
        1,
        [
            Change(NODES, "            await service.dismiss_all(names)", "            pass"),
        ],
    ),
    "players of a dead node stay": Mistake(
        182,
        [
            Change(
                PRESENCE,
                "        run_eagerly(self.store_presence(name, parting))\n\n"
                "    def remove_stale_players",
                "        pass\n\n    def remove_stale_players",
            ),
        ],
    ),
    "a starting node is not told who is present": Mistake(
        0,
        [
            Change(
                NODES,
                "                    "
                "run_eagerly(self.send_asides(service.realm, service.people_here()))",
                "                    pass",
            ),
        ],
    ),
    "asides do not reach other nodes": Mistake(
        0,
        [
            Change(BROADCASTING, "            if crossing:\n", "            if False:\n"),
        ],
    ),
    "a refused commit counts as done": Mistake(
        12,
        [
            Change(
                POSTGRES,
                "            if not self.connection.is_lost:\n"
                "                raise\n"
                "            if not self._was",
                "            if not self.connection.is_lost:\n"
                "                return\n"
                "            if not self._was",
            ),
        ],
    ),
    "a server subscribes one event too late": Mistake(
        0,
        [
            Change(
                SERVICE,
                "        await self.follow(position)",
                "        await self.follow(position + 1)",
            ),
        ],
    ),
    "a name is not released": Mistake(
        18,
        [
            Change(
                PRESENCE,
                "            await self._node.release(self._realm, name)",
                "            pass",
            ),
        ],
    ),
    "ignored players are heard": Mistake(
        133,
        [
            Change(
                "thudmud.game.people",
                "        ignorers = self._ignorers.holders_of(player)\n",
                "        ignorers = self._ignorers.holders_of('')\n",
            ),
        ],
    ),
    "the prompt precedes the text": Mistake(
        32,
        [
            Change(
                "thudmud.server.session",
                "            result = await self._sessions.submit(visit, line)",
                "            self._prompter.invite(PROMPT)\n"
                "            result = await self._sessions.submit(visit, line)",
            ),
        ],
    ),
    "a rolled-back write stays cached": Mistake(
        91,
        [
            Change(
                DATABASE,
                "        self._clear(keys=True)\n        self.head = self.head._repl",
                "        self.head = self.head._repl",
            ),
        ],
    ),
    "a new link is used without checks": Mistake(
        85,
        [
            Change(
                DATABASE,
                "        if (link := self.backend.reconnect()) == self._link:\n"
                "            return\n",
                "        link = self.backend.reconnect()\n        return\n",
            ),
        ],
    ),
    "a player who moves to another node stays on the old one": Mistake(
        0,
        [
            Change(
                PRESENCE,
                "                self._dismiss(visit, Dismissal.MOVED)",
                "                pass",
            ),
        ],
    ),
    "nobody removes the players of a dead node": Mistake(
        182,
        [
            Change(
                NODES,
                "            self._note_cut_off(claim)\n"
                "            self._remove_lost_player(claim.realm, claim.name, Parting.CUT_OFF)",
                "            self._note_cut_off(claim)",
            ),
        ],
    ),
    "a clock runs while a seat is empty": Mistake(
        None,
        [
            Change(
                "thudmud.game.table",
                "if match and match.clock and match.is_running and not self.is_full:",
                "if False:",
            ),
        ],
    ),
    "an event stored after an outage advances the clock over it": Mistake(
        None,
        [
            Change(
                FOLLOWING,
                "        "
                "self.boards_to_hold |= {table.key for table in self._hall.tables.values()}",
                "        pass",
            ),
        ],
    ),
    "a late write hides an outage": Mistake(
        None,
        [
            Change(
                DATABASE,
                "return self.lease is not None and 0 < self.head.served < at - self.lease",
                "return False",
            ),
        ],
    ),
    "clocks run through an outage": Mistake(
        3,
        [
            Change(
                "thudmud.game.tables",
                'return (ClockHeld(now, "", seconds),) if seconds else ()',
                "return ()",
            ),
        ],
    ),
    "of two absent players, the one who left a moment later wins": Mistake(
        1559,
        [
            Change(DIRECTING, "at <= now + TOGETHER", "at <= now"),
        ],
    ),
    "a server does not retry if the database is lost during its start": Mistake(
        17,
        [
            Change(
                "thudmud.server.runtime",
                "kind = StartError if isinstance(error, UnknownFormatError) else NotYetError",
                "kind = StartError",
            ),
        ],
    ),
    "another server's sanctions are ignored": Mistake(
        404,
        [
            Change(
                "thudmud.store.store",
                "        if self._retold and not self._reread:\n",
                "        if False:\n",
            ),
        ],
    ),
    "a failed bot program keeps running": Mistake(
        None,
        [
            Change(
                "thudmud.bots.session",
                "self.name, error)\n        if self._program:\n",
                "self.name, error)\n        if False:\n",
            ),
        ],
    ),
    "a bot does not return after it was cut off": Mistake(
        87,
        [
            Change(
                "thudmud.server.bots",
                "            if self._bots[each.name].is_cut_off:",
                "            if False:",
            ),
        ],
    ),
    "a dismissed player keeps the connection": Mistake(
        11,
        [
            Change(
                "thudmud.telnet.screen",
                "            self._timers.append(loop.call_later(grace, self._transport.abort))",
                "            pass",
            ),
        ],
    ),
    "a battle's end counts twice": Mistake(
        4,
        [
            Change(
                DATABASE,
                "            ended = project(by_number, EventPlace",
                "            if type(event).__name__ == 'BattleEnded':\n"
                "                project(by_number, EventPlace(name, version, 0), self.projected)\n"
                "            ended = project(by_number, EventPlace",
            ),
        ],
    ),
    "mail that could not be sent is dropped": Mistake(
        340,
        [
            Change(
                NOTIFYING,
                "await self._store.write(storage.put_off, left, until, failed=True)",
                "await self._store.write(storage.sent, left)",
            ),
        ],
    ),
    "every server sends every mail": Mistake(
        403,
        [
            Change(
                NOTIFYING,
                "is_ours = await holders.get() is Holder.OURS",
                "is_ours = bool(await holders.get())",
            ),
        ],
    ),
    "sent mail is not recorded": Mistake(
        313,
        [
            Change(
                NOTIFYING,
                "await self._store.write(storage.delete_sent, recipient, mailed=mailed)",
                "pass",
            ),
        ],
    ),
    "a round is paired by two nodes": Mistake(
        373,
        [
            Change(
                TOURNAMENTS,
                "if self._tournaments.get(number) is not tournament:",
                "if self._tournaments.get(number) is None:",
            ),
        ],
    ),
    "a tournament battle is not scored": Mistake(
        329,
        [
            Change(
                FOLLOWING,
                "if BattleEnded in map(type, decision.events):",
                "if None in map(type, decision.events):",
            ),
        ],
    ),
    "a tv stays at a finished battle": Mistake(
        47,
        [
            Change(
                TV,
                "if board == shown or (board and needs_retuning(service.hall, person)):",
                "if not board:",
            ),
        ],
    ),
    "the explorer misses finished battles": Mistake(
        4,
        [
            Change(
                DATABASE,
                "            if ended:\n                self.streams.write()",
                "            if ended and position % 2:\n                self.streams.write()",
            ),
        ],
    ),
    "players of a rated battle can use the explorer": Mistake(
        4,
        [
            Change(
                EXPLORER,
                "raise RefusedError(ExplorerRefusal.NO_EXPLORING_RATED, board=rated)",
                "pass",
            ),
        ],
    ),
    "a table takes only the first of its deferred plies": Mistake(
        4,
        [
            Change(
                BOARDS,
                "apply_plies(self._deferred[board])",
                "apply_plies(self._deferred[board][:1])",
            ),
        ],
    ),
    "plies at a board that somebody watches are deferred": Mistake(
        121,
        [
            Change(
                HALL,
                "return here.isdisjoint(self.rooms.occupants_and_observers(board).members)",
                "return True",
            ),
        ],
    ),
    "a deferred ply sets no timer": Mistake(
        None,
        [
            Change(TIMERS, "following.deferral_handlers.append(self._ply_deferred)", "pass"),
        ],
    ),
    "plies that come again are applied again": Mistake(
        None,
        [
            Change(
                FOLLOWING,
                "if version is None or entry.version <= version:",
                "if version is None:",
            ),
        ],
    ),
    "a starting server reads data that the standby may lack": Mistake(
        552,
        [
            Change(STORES, "storage.dsn, serving=serving, reading", "storage.dsn, reading"),
        ],
    ),
    "an earlier version writes after a later one has taken over": Mistake(
        237,
        [
            Change(DATABASE, "        if head.projection != PROJECTION:", "        if False:"),
        ],
    ),
}


def changed(source: str, changes: Sequence[Change]) -> str:
    """Return the source of a module with some changes applied.

    Raises:
        LookupError: A passage is missing or ambiguous.
    """
    for each in changes:
        if source.count(each.before) != 1:
            raise LookupError(f"no such place in {each.module}: {each.before}")
        source = source.replace(each.before, each.after)
    return source


class _Finder(MetaPathFinder):
    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        of_it = [each for each in self._changes if each.module == name]
        spec = PathFinder.find_spec(name, path) if of_it else None
        if spec and spec.origin:
            spec.loader = _Loader(name, spec.origin, of_it)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, changes: Sequence[Change]) -> None:
        super().__init__(name, path)
        self._changes = changes

    def get_code(self, fullname: str) -> CodeType:
        source = changed(self.get_data(self.path).decode(), self._changes)
        return compile(source, self.path, "exec")


def apply(name: str) -> None:
    """Apply a mutant; none of the program may have been imported yet."""
    assert not any(each == "thudmud" for each in sys.modules)
    sys.meta_path.insert(0, _Finder(BREAKS[name].changes))
