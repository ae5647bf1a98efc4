"""Output for each screen: layout, escaping and data."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from unittest.mock import patch

from evennia.utils.ansi import parse_ansi
from evennia.utils.text2html import parse_html

from tests.evennia.cases.furnished import Furnished
from thudmud.evennia.host import escaped, terminal
from thudmud.evennia.inputfuncs import thud
from thudmud.game.options import Scheme

TEXTS = ("a|b", "a||b|", "|", "{{x", "{{{", "|rred|n", "|[R", "\\|", "|lcx|lty|le", "||l", "%s")


class Screens(Furnished):
    def setUp(self) -> None:
        super().setUp()
        self.one = self.session.protocol_flags
        self.other = self.session2.protocol_flags

    def test_protocol_flags_determine_the_terminal(self) -> None:
        for flags, expected in (
            ({}, (80, False, 0, False)),
            ({"SCREENWIDTH": {0: 60}, "UTF-8": True}, (60, True, 0, False)),
            ({"SCREENWIDTH": {0: 3}, "ANSI": True}, (20, False, 16, False)),
            ({"SCREENWIDTH": {0: 9000}, "XTERM256": True, "ANSI": True}, (500, False, 256, False)),
            ({"TRUECOLOR": True, "NOCOLOR": True, "SCREENREADER": True}, (80, False, 0, True)),
            ({"TRUECOLOR": True}, (80, False, 1 << 24, False)),
        ):
            self.one.clear()
            self.one.update(flags)
            found = terminal([self.session])
            assert (
                found.width,
                found.supports_utf8,
                found.colours,
                found.has_reader,
            ) == expected, flags

    def test_several_screens_share_the_least_capabilities(self) -> None:
        self.one.update({"SCREENWIDTH": {0: 60}, "UTF-8": True, "ANSI": True, "XTERM256": True})
        self.other.update({"SCREENWIDTH": {0: 100}, "UTF-8": False, "ANSI": True})
        self.other["SCREENREADER"] = True
        found = terminal([self.session, self.session2])
        assert (found.width, found.supports_utf8, found.colours, found.has_reader) == (
            60,
            False,
            16,
            True,
        )

    def test_large_board_requires_a_known_screen_height(self) -> None:
        self.one.pop("SCREENHEIGHT", None)
        self.one["SCREENWIDTH"] = {0: 140}
        assert terminal([self.session]).height == 0
        self.one["SCREENHEIGHT"] = {0: 50}
        assert terminal([self.session]).height == 50
        assert "A   B   C" in self.type(self.char1, "look oak board")

    def test_board_is_rendered_for_each_screen(self) -> None:
        self.begin()
        self.one["SCREENREADER"] = True
        self.other.update({"UTF-8": True, "SCREENWIDTH": {0: 45}})
        self.type(self.char1, "move from A6 to B6")
        heard, other = self.heard(self.char1), self.heard(self.char2)
        assert "A B C" not in heard
        assert "32 dwarfs" in heard.lower() or "dwarfs" in heard.lower()
        assert any(not char.isascii() for char in other)
        assert max(map(len, other.splitlines())) < 45

    def test_look_is_rendered_for_the_screen(self) -> None:
        self.one["SCREENREADER"] = True
        assert "A B C" not in self.type(self.char1, "look oak board")
        assert "A B C" in self.type(self.char2, "look oak board")

    def test_board_can_be_seen_from_another_room(self) -> None:
        self.begin()
        self.char1.location = self.room2
        self.wait()
        assert "A B C" in self.board.return_appearance(self.char1)
        assert "It is Char's turn" in self.board.return_appearance(self.obj1)
        assert self.board.return_appearance(None) == ""

    def test_colours_are_sent_only_to_screens_that_want_them(self) -> None:
        self.one.update({"XTERM256": True, "ANSI": True})
        self.type(self.char1, "options colour scheme vivid")
        self.sent.clear()
        self.char1.execute_cmd("view game")
        (text,) = [sent["text"][0] for _, sent in self.sent if "text" in sent]
        assert "\x1b[" in parse_ansi(text, xterm256=True)
        self.one["NOCOLOR"] = True
        self.sent.clear()
        self.char1.execute_cmd("view game")
        (text,) = [sent["text"][0] for _, sent in self.sent if "text" in sent]
        assert "\x1b[" not in text

    def test_names_with_markup_are_shown_verbatim(self) -> None:
        self.char1.key = "|rC||h|{{ar|n"
        self.type(self.char1, "join game as dwarf")
        (text,) = [
            sent["text"][0] for session, sent in self.sent if "text" in sent and session.sessid == 2
        ]
        assert parse_ansi(text).startswith("C|h"), text

    def test_escaped_text_round_trips(self) -> None:
        for text in TEXTS:
            for reader in (False, True):
                self.one["SCREENREADER"] = reader
                sent = escaped(text, self.session)
                if reader:
                    sent = parse_ansi(sent, strip_ansi=True)
                # The same processing as in Evennia's telnet.
                shown = parse_ansi(sent + ("||n" if sent.endswith("|") else ""))
                assert shown.replace("\x1b[0m", "") == text, (text, reader, shown)
        self.one["RAW"] = True
        assert escaped("a|b", self.session) == "a|b"

    def test_inline_functions_are_escaped(self) -> None:
        with self.settings(FUNCPARSER_PARSE_OUTGOING_MESSAGES_ENABLED=True):
            assert escaped("$pron(you) \\") == "\\$pron(you) \\\\"

    def test_gmcp_is_sent_only_to_clients_that_support_it(self) -> None:
        self.begin()
        self.other["OOB"] = True
        self.type(self.char1, "move from A6 to B6")
        assert self.facts(self.char2) == ["thud_move"]
        assert not self.facts(self.char1)
        self.session2.protocol_key = "webclient/websocket"
        self.type(self.char2, "move from G7 to G6")
        assert not self.facts(self.char2)

    def test_web_client_plugin_receives_the_requested_data(self) -> None:
        self.begin()
        self.session2.protocol_key = "webclient/websocket"
        assert self.asked() == [
            "Thud.Me",
            "Thud.Here",
            "Thud.Options",
            "Thud.Table",
            "Thud.Board",
        ]
        assert self.asked("moves A6 on oak board") == ["Thud.Legal"]
        assert self.asked("view possible") == ["Thud.Plies"]
        for line in ("resign", "join game as elf", "view game on elm", "\x1b"):
            assert self.asked(line) == ["Thud.Refused"]
        assert not self.asked("say hello")  # a command of the MUD
        assert self.board.host.table.is_running
        self.type(self.char1, "move from A6 to B6")
        assert self.packages(self.char2) == ["Thud.Move"]
        assert not self.packages(self.char1)
        self.char2.location = None
        assert not self.asked()

    def asked(self, *line: str) -> list[str]:
        """Return the packages sent to Char2's client on request; check that no text is shown."""
        self.sent.clear()
        with patch.object(type(self.session2.sessionhandler), "session_portal_partial_sync"):
            thud(self.session2, *line)
        assert not self.heard(self.char1) + self.heard(self.char2)
        return self.packages(self.char2)

    def packages(self, character: Any) -> list[str]:
        sent = [each for session, each in self.sent if self.is_of(session, character)]
        return [each["thud"][0][0] for each in sent if "thud" in each]

    def test_colours_are_convertible_to_html_by_the_web_client(self) -> None:
        self.session.protocol_key = "webclient/websocket"
        self.one.update({"TRUECOLOR": True, "XTERM256": True, "ANSI": True})
        self.begin()
        plain = self.type(self.char1, "look oak board")
        self.type(self.char1, "options colour dwarf bright yellow on bright blue")
        for scheme in Scheme:
            self.type(self.char1, f"options colour scheme {scheme.value}")
            for line in ("look oak board", "view game"):
                self.type(self.char1, line)
                (text,) = [sent["text"][0] for _, sent in self.sent if "text" in sent]
                page = parse_html(text)
                assert "\x1b" not in page, (scheme, page)
                assert page.count("<span") > 10, scheme
        bare = unescape(re.sub("<.*?>", "", page.replace("<br>", "\n")))
        assert "    A B C D E-F-G" in bare
        assert bare.strip() in plain

    def test_move_fact_has_the_expected_fields(self) -> None:
        self.begin()
        self.one["OOB"] = True
        self.type(self.char1, "move from A6 to B6")
        ((arguments, fact),) = [sent["thud_move"] for _, sent in self.sent if "thud_move" in sent]
        assert arguments == ()
        assert (fact["from"], fact["to"], fact["player"]) == ("A6", "B6", "Char")

    def test_refusal_is_sent_as_a_fact(self) -> None:
        self.begin()
        self.one["OOB"] = self.other["OOB"] = True
        for line, code in {
            "move from A6 to A7": "target_taken",
            "thud move from A6 tu A7": "unexpected_word",
            "thud move from A6 to A7 on chair": "no_board_here",
        }.items():
            self.type(self.char1, line)
            ((_, fact),) = [each["thud_refused"] for _, each in self.sent if "thud_refused" in each]
            assert fact["code"] == code
            assert not self.facts(self.char2)
        self.type(self.char1, "options machine on")
        assert '@thud {"type":"refused"' in self.type(self.char1, "thud move A6 tu A7")

    def test_look_sends_the_position_as_facts(self) -> None:
        self.one["OOB"] = True
        self.type(self.char1, "look oak board")
        assert self.facts(self.char1) == ["thud_table", "thud_board"]

    def test_resignation_is_confirmed_with_yes_or_no(self) -> None:
        self.begin()
        assert "Really resign the first battle" in self.type(self.char1, "resign game")
        assert "You play on." in self.type(self.char1, "no")
        assert self.board.host.table.is_running
        self.type(self.char1, "resign game")
        assert "You resign." in self.type(self.char1, "yes")
        assert "Char resigns." in self.heard(self.char2)

    def test_replay_is_shown_ply_by_ply(self) -> None:
        self.begin()
        self.play("move from A6 to B6", "move from G7 to G6", "resign game")
        self.type(self.char1, "yes")
        self.type(self.char1, "replay 1")
        self.type(self.char1, "play")
        shown = []
        while self.later:
            self.sent.clear()
            self.wait()
            shown.append(self.heard(self.char1))
        assert len(shown) == 2 or len(shown) == 1, shown
        assert not self.heard(self.char2)
        self.type(self.char1, "first")
        self.type(self.char1, "play")
        self.type(self.char1, "view game")
        self.sent.clear()
        self.wait()
        assert not self.heard(self.char1)
