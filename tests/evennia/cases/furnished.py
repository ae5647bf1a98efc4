"""A room in an Evennia test case with boards and two connected players.

``Char`` is a superuser, ``Char2`` an ordinary player. Output to the portal is recorded, and delayed
calls run when a test waits for them.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import evennia
from evennia.commands import cmdhandler
from evennia.server.serversession import ServerSession
from evennia.utils import create
from evennia.utils.ansi import parse_ansi
from evennia.utils.idmapper.models import flush_cache
from evennia.utils.test_resources import BaseEvenniaTest, EvenniaTestMixin

from thudmud.evennia import ThudBoard
from thudmud.evennia.board import LOADED

BOARD = "thudmud.evennia.ThudBoard"


MADE: dict[str, tuple[type[Any], int]] = {}
"""The characters and rooms of Evennia's test case: class and database id of each. They are created
once, before the first test; the changes of each test are rolled back."""


def make() -> None:
    maker = EvenniaTestMixin()
    maker.create_accounts()
    maker.create_rooms()
    maker.create_objs()
    maker.create_chars()
    maker.create_script()
    MADE.update((name, (type(made), made.id)) for name, made in vars(maker).items())


class Furnished(BaseEvenniaTest):  # type: ignore[misc]  # Evennia has no types
    @classmethod
    def setUpClass(cls) -> None:
        if not MADE:
            make()
        super().setUpClass()

    def create_accounts(self) -> None:
        flush_cache()
        for kind, _ in MADE.values():
            kind.flush_instance_cache(force=True)
        for name, (kind, number) in MADE.items():
            setattr(self, name, kind.objects.get(id=number))

    def create_rooms(self) -> None: ...

    def create_objs(self) -> None: ...

    def create_chars(self) -> None: ...

    def create_script(self) -> None: ...

    def teardown_accounts(self) -> None: ...

    def setUp(self) -> None:
        super().setUp()
        # Each test simulates a MUD of its own. Evennia 6 keeps merged command sets by the ids of
        # objects, which the next test uses again.
        LOADED.clear()
        cmdhandler._CMDSET_MERGE_CACHE.clear()
        self.sent: list[tuple[Any, dict[str, Any]]] = []
        self.later: list[tuple[Any, ...]] = []
        evennia.SESSION_HANDLER.data_out = lambda session, **sent: self.sent.append((session, sent))
        put_off = patch("thudmud.evennia.board.delay", self._put_off)
        put_off.start()
        self.addCleanup(put_off.stop)
        self.puppet(self.account, self.session, self.char1)
        self.session2 = self.connect(2, self.account2, self.char2)
        self.board = self.furniture("oak board")

    def tearDown(self) -> None:
        for number in (2, 3):
            if number in evennia.SESSION_HANDLER:
                del evennia.SESSION_HANDLER[number]
        super().tearDown()

    def connect(self, number: int, account: Any, character: Any) -> Any:
        session = ServerSession()
        session.init_session("telnet", ("localhost", "testmode"), evennia.SESSION_HANDLER)
        session.sessid = number
        evennia.SESSION_HANDLER.portal_connect(session.get_sync_data())
        session = evennia.SESSION_HANDLER.session_from_sessid(number)
        evennia.SESSION_HANDLER.login(session, account, testmode=True)
        self.puppet(account, session, character)
        return session

    def puppet(self, account: Any, session: Any, character: Any) -> None:
        character.locks.add("puppet:all()")
        account.puppet_object(session, character)
        character.location = character.location or self.room1

    def furniture(self, key: str, **more: Any) -> Any:
        return create.create_object(ThudBoard, key=key, location=self.room1, **more)

    def type(self, character: Any, line: str) -> str:
        """Type a line as ``character`` and return the text shown in response."""
        self.sent.clear()
        character.sessions.all()[0].execute_cmd(line)
        return self.heard(character)

    def play(self, *lines: str) -> None:
        """Type lines as Char and Char2 in turn."""
        for number, line in enumerate(lines):
            self.type((self.char1, self.char2)[number % 2], line)

    def begin(self) -> None:
        """Start a battle at the oak board, with Char as the dwarfs."""
        self.play("join game as dwarf on oak", "join game as troll on oak", "start game on oak")

    def heard(self, character: Any) -> str:
        """Return the text shown to ``character`` since the last typed line."""
        sent = [sent for session, sent in self.sent if self.is_of(session, character)]
        texts = [each["text"] for each in sent if "text" in each]
        return "\n".join(
            parse_ansi(text if isinstance(text, str) else text[0], strip_ansi=True)
            for text in texts
        )

    def facts(self, character: Any) -> list[str]:
        """Return the names of the facts sent to the client of ``character``."""
        return [
            key
            for session, sent in self.sent
            for key in sent
            if key.startswith("thud_") and self.is_of(session, character)
        ]

    def is_of(self, session: Any, character: Any) -> bool:
        # Evennia considers sessions from the same address equal.
        return session.sessid in [each.sessid for each in character.sessions.all()]

    def wait(self) -> None:
        """Run the delayed calls."""
        later, self.later = self.later, []
        for _, call, *arguments in later:
            call(*arguments)

    def restart(self) -> None:
        """Drop all state that is not stored, as a reload does."""
        self.board.nattributes.clear()

    def _put_off(self, *call: Any) -> None:
        self.later.append(call)
