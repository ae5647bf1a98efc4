"""Dispatch of lines to boards or to the MUD's own commands."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.conf import settings
from evennia.commands.default.cmdset_character import CharacterCmdSet
from evennia.help.filehelp import FileHelpStorageHandler

from tests.evennia.cases.furnished import BOARD, Furnished
from thudmud.evennia import ThudBoard
from thudmud.evennia.commands import VERBS_HERE, VOCABULARY, BoardCmdSet, EveryCommand, command_keys
from thudmud.evennia.help_entries import PAGES_HERE
from thudmud.features.talk.socials import SOCIALS
from thudmud.language import VERBS, ParseError, parse
from thudmud.views.help import PARTS

PAGE = (Path(__file__).parents[3] / "docs" / "evennia.md").read_text("utf-8")
WHICH = "Which board?"
WHERE = '"on" and its name: 1st oak board, pine board or 2nd oak board.'


def begins(words: str) -> bool:
    """Whether a line of the game can begin with these words."""
    try:
        parse(words)
    except ParseError as error:
        return error.column == len(words)
    return True


class OneBoard(Furnished):
    def test_builder_creates_a_board_with_one_command(self) -> None:
        self.board.delete()
        self.type(self.char1, f"create/drop elm board:{BOARD}")
        seen = self.type(self.char2, "look elm board")
        assert "Elm board, discworld rules" in seen
        assert "You sit down at the elm board" in self.type(self.char2, "join game as dwarf")

    def test_command_set_contains_exactly_the_board_verbs(self) -> None:
        known = list(command_keys())
        assert set(VERBS) - set(VERBS_HERE) == {
            *("look", "l", "help", "h", "commands", "?", "go", "boards", "who", "finger", "plan"),
            *("follow", "unfollow", "news", "say", "'", "emote", ":", "tell", "message"),
            *("messages", "forget", "shout", "report", "kibitz", "whisper", "observe"),
            *("unobserve", "ignore", "unignore", "register", "password", "logout"),
            *("again", ".", "quit", "exit", "bye"),
            *("examine", "x", "reply", "r", "gg", "watch", "unwatch", *SOCIALS),
            *("broadcast", "mute", "unmute", "mutes", "kick", "ban", "unban", "bans"),
            *(
                "shutdown",
                "cancel",
                "reports",
                "close",
                "seek",
                "seeks",
                "match",
                "withdraw",
                "new",
            ),
            *("tournaments", "tournament", "enter", "pause", "tv", "notify"),
        }
        for verb in VERBS_HERE:
            assert any(key == verb or key.startswith(f"{verb} ") for key in known), verb
        for key in known:
            assert begins(key), key

    def test_mud_commands_keep_their_meaning(self) -> None:
        words = {
            name.lstrip("@+") for each in CharacterCmdSet() for name in (each.key, *each.aliases)
        }
        assert not words & set(command_keys())
        assert 'You say, "start game"' in self.type(self.char1, "say start game")
        assert "Room" in self.type(self.char1, "look")
        seen = self.type(self.char1, "set oak board/desc = Old wood.")
        assert "Old wood." in seen, seen
        assert "Old wood." in self.type(self.char2, "look oak board")
        self.account.cmdset.add_default(settings.CMDSET_ACCOUNT)
        seen = self.type(self.char1, "option")
        assert "Client settings" in seen, seen

    def test_ambiguous_command_is_recognized_with_its_second_word(self) -> None:
        assert "is brief" in self.type(self.char1, "set board brief")
        assert "read" in self.type(self.char1, "options reader on")
        assert "reader" in self.type(self.char1, "thud options")

    def test_thud_prefix_reaches_every_command(self) -> None:
        assert "You sit down" in self.type(self.char1, "thud join game as dwarf")
        assert "Playing:" in self.type(self.char1, "thud")
        assert "Hurl" in self.type(self.char1, "thud help hurl").title()
        assert "Oak board" in self.type(self.char1, "thud look")
        seen = self.type(self.char1, "thud say hello")
        assert seen == '"say" is a command of this MUD. Type it without "thud".'

    def test_listed_topics_have_help_and_commands(self) -> None:
        listed = " ".join(EveryCommand().get_help(self.char2, None).split())
        topics = re.findall(rf"(?:{'|'.join(PARTS)}): (.*?)(?= [A-Z]|$)", listed)
        names = [topic for part in topics for topic in part.split(", ")]
        assert {"bots", "invite", "practice", "tutorial", "puzzle"} <= set(names)
        assert not {"boards", "finger", "register", "quit", "match", "play", "seek"} & set(names)
        for topic in names:
            assert "There is no" not in self.type(self.char2, f"thud help {topic}"), topic
            if topic in VERBS:
                seen = self.type(self.char2, f"thud {topic}")
                assert "no command" not in seen, (topic, seen)
                assert "without" not in seen, (topic, seen)

    def test_help_pages_mention_only_available_commands(self) -> None:
        for topic, page in PAGES_HERE.items():
            text = " ".join(page.rows(79, "Grog"))
            for verb in re.findall(r'"([a-z]+)', text):
                assert verb not in VOCABULARY.without, (topic, verb)
            for line in page.examples:
                VOCABULARY.parse(line.replace("{bot}", "grog"))

    def test_unavailable_command_is_reported_without_a_dead_end(self) -> None:
        assert 'There is no command "seek"' in self.type(self.char1, "thud seek")
        seen = self.type(self.char1, "play")
        assert seen == self.type(self.char1, "thud play")
        for line in ("join", "invite grog", "practice"):
            assert f'"{line}"' in " ".join(seen.split())
            assert "no command" not in self.type(self.char1, line)

    def test_player_invites_another_who_accepts(self) -> None:
        self.type(self.char1, "join game as dwarf")
        self.type(self.char1, "invite char2")
        assert "Char invites you to play the trolls" in self.heard(self.char2)
        assert "You sit down" in self.type(self.char2, "accept")

    def test_help_exists_for_every_command(self) -> None:
        for number, command in enumerate(BoardCmdSet()):
            word = command.key.split()[0].split("-")[0]
            assert word in command.get_help(self.char2, None).lower(), command.key
            # Evennia rebuilds its index of all help on each request, so a sample has to do.
            if number % 10 == 0:
                assert word in self.type(self.char2, f"help {command.key}").lower(), command.key

    def test_help_about_the_game_is_the_same_everywhere(self) -> None:
        storage = FileHelpStorageHandler(["thudmud.evennia.help_entries"])
        self.char1.location = self.room2
        with patch("evennia.commands.default.help.FILE_HELP_ENTRIES", storage):
            for who, title in product((self.char1, self.char2), ("thud", "thud thud")):
                seen = self.type(who, f"help {title}")
                assert PAGES_HERE["thud"].title in seen, (who, title, seen)
        # The list comes on Evennia's second page, after "next".
        assert "Playing:" in EveryCommand().get_help(self.char2, None)

    def test_help_entries_cover_every_page(self) -> None:
        entries = FileHelpStorageHandler(["thudmud.evennia.help_entries"]).all(return_dict=True)
        assert set(entries) == {"thud", *(f"thud {topic}" for topic in PAGES_HERE)}
        for topic, page in PAGES_HERE.items():
            text = entries["thud" if topic == "thud" else f"thud {topic}"].entrytext
            assert page.title in text
            assert max(map(len, text.splitlines())) < 79, topic

    def test_mistake_is_reported_only_to_its_author(self) -> None:
        seen = self.type(self.char1, "join game as elf")
        assert '"dwarf" or "troll"' in seen
        assert not self.heard(self.char2)

    def test_carried_board_cannot_be_played(self) -> None:
        self.board.location = self.char2
        assert "no board here" in self.type(self.char2, "join game as dwarf")

    def test_board_cannot_be_picked_up(self) -> None:
        assert "can't" in self.type(self.char2, "get oak board")


class ThePage(Furnished):
    def test_page_commands_for_builders_work(self) -> None:
        self.board.delete()
        self.room2.key = "the library"
        (block,) = re.findall(r"## For builders\n\n((?:    .*\n)+)", PAGE)
        lines = [line.strip() for line in block.splitlines()]
        for line in lines[:-1]:
            seen = self.type(self.char1, line)
            assert not re.search("Could not|not available|Usage|Traceback", seen), (line, seen)
        (board,) = self.room2.contents_get(content_type="object")
        assert (board.key, board.host.table.ruleset.name) == ("elm board", "koom valley")
        self.char1.location = self.room2
        assert "A board of oak" in self.type(self.char1, "look elm board")
        assert "Are you sure" in self.type(self.char1, lines[-1])

    def test_page_example_class_is_a_board(self) -> None:
        (code,) = re.findall(r"```python\n(from [^`]*?class .*?)```", PAGE, re.DOTALL)
        names: dict[str, Any] = {}
        # Evennia registers classes by the name of their module.
        exec(code, {"__name__": __name__}, names)  # noqa: S102 (our own page)
        assert issubclass(names["StoneBoard"], ThudBoard)
        assert names["StoneBoard"].rules == "koom valley"


class SeveralBoards(Furnished):
    def setUp(self) -> None:
        super().setUp()
        self.pine = self.furniture("pine board", aliases=["tall one"])
        self.oak2 = self.furniture("oak board")

    def at(self, line: str, board: Any) -> None:
        """Assert that a line is dispatched to the given board."""
        seen = self.type(self.char1, line)
        assert self.char1.ndb.thud_used == board.id, seen

    def test_command_is_unique_with_several_boards(self) -> None:
        assert WHICH in self.type(self.char1, "start")
        assert "More than one" not in self.heard(self.char1)

    def test_ambiguity_question_names_every_board_uniquely(self) -> None:
        seen = " ".join(self.type(self.char1, "view game").split())
        assert seen.endswith("1st oak board, pine board or 2nd oak board.")
        self.at("view game on 1st oak board", self.board)
        self.at("view game on 2nd oak board", self.oak2)

    def test_board_is_found_by_any_of_its_names(self) -> None:
        self.at("view game on pine", self.pine)
        self.at("view game on tall one", self.pine)
        self.at("view game on 2nd board", self.pine)
        self.at("view game on board 3", self.oak2)
        self.at("view game on last board", self.oak2)
        self.at("view game on oak board-2", self.oak2)
        self.at("view game on 1-oak", self.board)
        self.at("view game on it", self.board)

    def test_unknown_or_ambiguous_board_is_asked_about(self) -> None:
        assert 'by "oak"' in self.type(self.char1, "view game on oak")
        assert 'There is no "elm"' in self.type(self.char1, "view game on elm")
        assert "only" in self.type(self.char1, "view game on 4th board")
        seen = self.type(self.char2, "view game on it")
        assert "you haven't used one yet" in " ".join(seen.split())

    def test_board_of_the_own_seat_is_the_default(self) -> None:
        self.at("join game as dwarf on 2nd oak board", self.oak2)
        self.at("view game on pine", self.pine)
        self.at("start game", self.oak2)
        self.at("view game on oak board", self.oak2)
        self.type(self.char1, "join game as dwarf on pine")
        assert "pine board or 2nd oak board" in self.type(self.char1, "start game")

    def test_query_defaults_to_the_board_looked_at_last(self) -> None:
        self.type(self.char1, "join game as dwarf on pine")
        for board, name in ((self.pine, "pine board"), (self.board, "oak board-1")):
            self.type(self.char1, f"look {name}")
            for line in ("where trolls", "moves", "captures", "view game", "clock", "history"):
                self.at(line, board)
        assert f"Which board? Add {WHERE}" in " ".join(self.type(self.char2, "history").split())

    def test_board_specific_command_accepts_a_board_name(self) -> None:
        for line in ("history", "score", "games", "tutorial 1", "puzzle 1", "stop", "analyse 1"):
            for board, name in ((self.pine, "pine board"), (self.oak2, "2nd oak board")):
                self.at(f"{line} on {name}", board)
        seen = self.type(self.char1, "history on elm board")
        assert 'There is no "elm board" here.' in seen

    def test_options_apply_to_all_boards_and_persist(self) -> None:
        self.type(self.char1, "join game as dwarf on pine")
        self.type(self.char1, "options width 40")
        for name in ("pine", "1st oak board"):
            seen = self.type(self.char1, f"join game as troll on {name}")
            assert max(map(len, seen.splitlines())) < 40, seen
        for board in (self.board, self.pine):
            board.nattributes.clear()
        self.char1.location = self.room2
        self.char1.location = self.room1
        seen = self.type(self.char1, "leave game on pine")
        assert max(map(len, seen.splitlines())) < 40, seen
