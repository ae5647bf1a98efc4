"""Playing alone at a board: bots, hints and analysis."""

from __future__ import annotations

from queue import Queue
from typing import Any
from unittest.mock import patch

from tests.evennia.cases.furnished import Furnished
from thudmud.bots.workers import Question, Reply
from thudmud.evennia.thinking import ask_worker
from thudmud.features.analysis.model import AnalysisLookup, positions
from thudmud.features.hints.model import AdviceLookup
from thudmud.game.evaluation import Evaluation
from thudmud.rules import DISCWORLD, Game


class Bots(Furnished):
    def setUp(self) -> None:
        super().setUp()
        self.asked: list[tuple[Any, Any]] = []
        finding = patch("thudmud.evennia.board.ask_worker", lambda *asked: self.asked.append(asked))
        finding.start()
        self.addCleanup(finding.stop)

    def begin_with_a_bot(self, invite: str = "invite grog") -> None:
        self.type(self.char1, "join game as dwarf")
        assert "Grog sits down" in self.type(self.char1, invite)
        self.type(self.char1, "start")

    def answered(self, reply: Any) -> None:
        """Answer the pending question with ``reply``."""
        ((_, then),) = self.asked
        self.asked.clear()
        self.sent.clear()
        then(reply)

    def test_bot_is_listed_and_takes_the_other_seat(self) -> None:
        assert "Grog" in self.type(self.char1, "bots")
        assert self.type(self.char1, "bots") == self.type(self.char1, "thud bots")
        self.begin_with_a_bot()
        assert "and Grog begin a match" in " ".join(self.heard(self.char1).split()), self.heard(
            self.char1
        )
        assert not self.asked

    def test_bot_plays_its_reply_after_a_pause(self) -> None:
        self.begin_with_a_bot("invite grog level 2")
        self.type(self.char1, "move a6 b6")
        ((question, _),) = self.asked
        assert isinstance(question, Question)
        assert (question.board, question.level) == (str(self.board.id), 2)
        assert [str(move) for move in question.game.moves] == ["dA6-B6"]
        self.later.clear()
        self.answered(Reply("TG7-F7", 0, ("TG7-F7",)))
        assert not self.heard(self.char1)
        ((seconds, *_),) = self.later
        assert 0 < seconds <= 3
        self.wait()
        assert "Grog moves the troll from G7 to F7" in self.heard(self.char1)
        assert not self.asked

    def test_bot_is_asked_again_after_a_reload_and_a_late_reply_ignored(self) -> None:
        self.begin_with_a_bot()
        self.type(self.char1, "move a6 b6")
        ((before, then),) = self.asked
        self.restart()
        self.asked.clear()
        self.type(self.char1, "view game")
        ((question, _),) = self.asked
        assert question == before
        self.answered(Reply("TG7-F7", 0, ("TG7-F7",)))
        self.wait()
        then(Reply("TG7-G6", 0, ("TG7-G6",)))
        self.wait()
        assert self.board.host.table.game.moves[-1] == DISCWORLD_PLY

    def test_bot_resigns_when_the_engine_fails(self) -> None:
        self.begin_with_a_bot()
        self.type(self.char1, "move a6 b6")
        self.answered(None)
        self.wait()
        assert "Grog resigns" in self.heard(self.char1)

    def test_bot_leaves_with_its_opponent_and_can_be_invited_again(self) -> None:
        self.begin_with_a_bot()
        self.type(self.char1, "leave game")
        assert not self.board.host.table.seats
        self.begin_with_a_bot()

    def test_builder_chooses_the_bot(self) -> None:
        self.type(self.char1, 'set oak board/bot = "Tunk"')
        self.type(self.char1, "set oak board/bot_level = 1")
        seen = self.type(self.char2, "bots")
        assert "level 1" in seen, seen
        self.type(self.char1, 'set oak board/bot = ""')
        assert "bots" in self.type(self.char2, "bots")
        assert "Tunk" not in self.heard(self.char2)
        assert "invite" not in self.type(self.char2, "play")
        self.type(self.char1, 'set oak board/bot = "a6"')
        self.type(self.char1, 'set oak board/bot_level = "Jelly"')
        seen = " ".join(self.type(self.char1, "look oak board").split())
        assert '"bot": ' in seen
        assert "\"bot_level\": unknown level 'Jelly'" in seen
        assert '"bot"' not in self.type(self.char2, "look oak board")

    def test_bot_name_is_unique(self) -> None:
        self.char2.key = "Grog"
        self.type(self.char2, "join game as dwarf")
        assert self.board.host.table.seats
        assert "Grog" not in self.board.host.table.seats.values()

    def test_hint_is_shown_once_found(self) -> None:
        assert "n't playing" in self.type(self.char1, "hint")
        self.type(self.char1, "practice")
        assert not self.type(self.char1, "hint")
        assert not self.type(self.char1, "hint")
        ((lookup, _),) = self.asked
        assert isinstance(lookup, AdviceLookup)
        game = Game.start(DISCWORLD)
        self.answered({lookup.game: game.push("dA6-B6").moves})
        seen = " ".join(self.heard(self.char1).lower().split())
        assert 'try "a6 b6"' in seen
        self.type(self.char1, "hint")
        self.answered(None)
        assert "no hint" in self.heard(self.char1).lower()

    def test_finished_battle_is_analysed(self) -> None:
        self.type(self.char1, "practice")
        for line in ("a6 b6", "g7 f7", "b6 a6", "f7 g7") * 3:
            self.type(self.char1, f"move {line}")
        assert "over" in self.type(self.char1, "analyse 1")
        self.type(self.char1, "end game")
        assert "is being analysed" in self.type(self.char1, "analyse 1 on oak board")
        ((lookup, _),) = self.asked
        assert isinstance(lookup, AnalysisLookup)
        plies = Game.start(DISCWORLD).push("dA6-B6").moves
        self.answered({each: Evaluation(1, (0, 0), plies) for each in positions(lookup.game)})
        told = self.heard(self.char1)
        assert "Battle 1" in told
        assert told in self.type(self.char1, "analyse 1")
        assert not self.asked


DISCWORLD_PLY = Game.start(DISCWORLD).push("dA6-B6").push("TG7-F7").moves[-1]


class Thinking(Furnished):
    def test_engine_process_answers_lookups(self) -> None:
        opening, answers = Game.start(DISCWORLD), Queue[Any]()
        with patch("thudmud.evennia.thinking.reactor") as reactor:
            reactor.callFromThread = lambda then, answer: then(answer)
            ask_worker(Question("oak", opening, 1), answers.put)
            assert opening.push(answers.get(timeout=60).ply)
            ask_worker(AdviceLookup("oak", opening), answers.put)
            assert answers.get(timeout=60)[opening][0] in opening.legal_moves()
