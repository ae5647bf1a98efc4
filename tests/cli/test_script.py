"""`thudmud script` from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import junitparser
import pytest

from tests.conftest import RunServer
from thudmud.cli.main import main

pytest_plugins = ["pytester"]

Shown = pytest.CaptureFixture[str]
SERVE = [sys.executable, "-m", "thudmud.cli.main", "--port", "0"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


class TestPlaying:
    def script(self, tmp_path: Path, text: str) -> str:
        path = tmp_path / "talk.thud-script"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_matching_transcripts_print_only_the_total(self, tmp_path: Path, capsys: Shown) -> None:
        path = self.script(tmp_path, "Anna> say hi\nAnna| You say: hi\n")
        assert main(["script", path, path]) == 0
        told = "2 transcripts, 2 steps compared: all as expected\n"
        assert capsys.readouterr().out == told

    def test_mismatch_is_shown_as_a_diff(self, tmp_path: Path, capsys: Shown) -> None:
        path = self.script(tmp_path, "\nAnna> say hi\nAnna| You say: ho\n")
        assert main(["script", path]) == 1
        assert capsys.readouterr().out == (
            f'{path}: line 2: after "Anna> say hi", Anna should see (-) but saw (+):\n'
            "- You say: ho\n"
            "+ You say: hi\n"
        )

    def test_mismatch_in_any_transcript_fails_the_run(self, tmp_path: Path) -> None:
        bad = self.script(tmp_path, "Anna> say hi\nAnna| You say: ho\n")
        good = tmp_path / "good.thud-script"
        good.write_text("Anna> say hi\nAnna| You say: hi\n", encoding="utf-8")
        assert main(["script", bad, str(good)]) == 1
        assert main(["script", str(good), bad]) == 1

    def test_unwritable_update_is_reported(
        self, tmp_path: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> int:
            raise PermissionError(13, "Permission denied")

        path = self.script(tmp_path, "Anna> say hi\n")
        monkeypatch.setattr(Path, "replace", refuse)
        assert main(["script", "--update", path]) == 2
        assert capsys.readouterr().err == f"thudmud: {path}: Permission denied\n"

    def test_transcript_is_played_on_a_running_server(
        self, tmp_path: Path, run_server: RunServer
    ) -> None:
        good = self.script(tmp_path, "Anna> say hi\nAnna| You say: hi\n")
        with run_server(SERVE, tmp_path) as (host, port):
            connect = ["--connect", f"{host}:{port}"]
            assert main(["script", good, *connect]) == 0
            bad = self.script(tmp_path, "Anna> say hi\nAnna| You say: ho\n")
            assert main(["script", bad, *connect]) == 1
            assert main(["script", bad, "--update", *connect]) == 0
            assert main(["script", bad]) == 0

    def test_name_refused_by_a_server_is_reported(
        self, tmp_path: Path, run_server: RunServer, capsys: Shown
    ) -> None:
        taken = self.script(tmp_path, "You> say hi\n")
        with run_server(SERVE, tmp_path) as (host, port):
            assert main(["script", taken, "--connect", f"{host}:{port}"]) == 2
        assert 'You could not log in: "You" is reserved' in capsys.readouterr().err

    def test_update_rewrites_the_transcript(self, tmp_path: Path, capsys: Shown) -> None:
        path = self.script(tmp_path, "Anna> say hi\nAnna| You say: ho\n")
        assert main(["script", "--update", path]) == 0
        assert capsys.readouterr().out == f"{path}: updated\n"
        assert Path(path).read_text("utf-8") == "Anna> say hi\nAnna| You say: hi\n"
        assert main(["script", "--update", path]) == 0
        assert capsys.readouterr().out == ""

    def test_transcript_may_name_its_own_configuration(self, tmp_path: Path) -> None:
        (tmp_path / "one.toml").write_text('[[board]]\nname = "elm board"\n', encoding="utf-8")
        listed = "Anna|  1. elm board (discworld rules): both seats free"
        text = f"Anna> boards\n{listed}\n"
        own = self.script(tmp_path, f"@config one.toml\n{text}")
        assert main(["script", own]) == 0
        assert main(["script", own, "--config", "none.toml"]) == 0
        shared = self.script(tmp_path, text)
        assert main(["script", shared]) == 1
        assert main(["script", shared, "--config", str(tmp_path / "one.toml")]) == 0

    def test_configuration_settings_apply_to_all_boards(self, tmp_path: Path) -> None:
        own = tmp_path / "one.toml"
        own.write_text("bot = []\n[game]\nidle_claim = 60\n", encoding="utf-8")
        path = self.script(
            tmp_path,
            "Anna> join game as dwarf on oak board\nBert> join game as troll on oak board\n"
            "Bert> start\nBert> clock\nBert| It is Anna's turn (dwarfs).\n"
            "Bert| There's no clock at the oak board: take as long as you like.\n"
            "Bert~ If Anna doesn't move for 60 seconds, you can*\n"
            'Bert| "claim game on oak board".\n',
        )
        assert main(["script", "--config", str(own), path]) == 0
        assert main(["script", path]) == 1

    @pytest.mark.parametrize(
        ("text", "words", "problem"),
        [
            ("Anna says hi\n", [], "line 1: "),
            ("Anna> quit\nAnna> quit\n", [], "line 2: Anna is not here"),
            ("@config none.toml\nAnna+\n", [], "none.toml: no such file"),
            ("Anna+\n", ["--connect", "127.0.0.1:9"], "line 1: nothing answers at 127.0.0.1:9"),
        ],
    )
    def test_unplayable_transcript_is_reported_with_its_line(
        self, tmp_path: Path, text: str, words: list[str], problem: str, capsys: Shown
    ) -> None:
        assert main(["script", self.script(tmp_path, text), *words]) == 2
        assert problem in capsys.readouterr().err

    def test_connect_excludes_a_configuration(self, capsys: Shown) -> None:
        assert main(["script", "x", "--connect", "localhost:1", "--config", "y"]) == 2
        assert "--config: with --connect" in capsys.readouterr().err

    def test_address_without_a_port_is_a_usage_error(self, capsys: Shown) -> None:
        with pytest.raises(SystemExit):
            main(["script", "x", "--connect", "localhost"])
        assert "expected HOST:PORT or NAME=HOST:PORT, got 'localhost'" in capsys.readouterr().err

    def test_help_explains_the_transcript_format(self, capsys: Shown) -> None:
        with pytest.raises(SystemExit):
            main(["script", "--help"])
        assert "A transcript is text, line by line" in capsys.readouterr().out


class TestVariables:
    TEXT = "@set x hi\nAnna> say ${x}\nAnna| You say: hi\n"

    def test_variables_are_set_from_the_command_line(self) -> None:
        path = write("talk", self.TEXT)
        assert main(["script", path]) == 0
        assert main(["script", path, "--set", "x=hi"]) == 0
        assert main(["script", path, "--set", "x=ho"]) == 1

    def test_variable_unknown_to_every_transcript_is_refused(self, capsys: Shown) -> None:
        path = write("talk", self.TEXT)
        other = write("other", "Anna> say hi\nAnna~ You ${z=*}: hi\n")
        assert main(["script", path, other, "--set", "x=hi", "--set", "z=hi"]) == 0
        capsys.readouterr()
        assert main(["script", path, other, "--set", "x=hi", "--set", "y=", "--set", "X=1"]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err == "thudmud: --set: no transcript has a variable X or y\n"
        part = write("part", "@include talk\n")
        assert main(["script", part, "--set", "x=hi"]) == 0

    def test_variable_without_a_value_is_reported(self, capsys: Shown) -> None:
        path = write("talk", "\nAnna> say ${x}\n")
        assert main(["script", path]) == 2
        assert capsys.readouterr().err == "thudmud: talk: line 2: ${x} has no value here\n"
        assert main(["script", path, "--set", "x=", "--update"]) == 0
        assert main(["script", path, "--set", "x="]) == 0

    @pytest.mark.parametrize("given", ["x", "=x", "1=x", "x=a\nb", "x=\0"])
    def test_malformed_variable_is_a_usage_error(self, given: str, capsys: Shown) -> None:
        with pytest.raises(SystemExit):
            main(["script", "talk", "--set", given])
        assert f"expected NAME=VALUE, got {given!r}" in capsys.readouterr().err


class TestWhatIsCompared:
    @pytest.mark.parametrize(
        "text",
        ["", "# nothing\n", "@set x y\n", "Anna+\n", "Anna> say hi\n", "Anna> move a6 a7\n"],
    )
    def test_transcript_without_expectations_fails(self, text: str, capsys: Shown) -> None:
        path, good = write("talk", text), write("good", "Anna> say hi\nAnna| You say: hi\n")
        assert main(["script", path, good, "--junit", "out.xml"]) == 1
        told = "nothing in it is compared: add expectations below the steps, or use --update"
        assert capsys.readouterr().out == f"talk: {told}\n"
        suite = junitparser.JUnitXml.fromfile("out.xml")
        assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
        assert main(["script", path, "--update"]) == 0

    def test_wait_counts_as_a_compared_step(self, capsys: Shown) -> None:
        path = write("talk", "Anna> say hi\nAnna? 1s You say*\n")
        assert main(["script", path]) == 0
        assert capsys.readouterr().out == "1 transcript, 1 step compared: all as expected\n"

    def test_strict_option_compares_every_step(self, capsys: Shown) -> None:
        text = "Anna+\nAnna...\nAnna> say hi\nBert+\nBert> say ho\nBert...\nAnna...\nBert-\nAnna-\n"
        path = write("talk", text)
        assert main(["script", path]) == 0
        assert capsys.readouterr().out == "1 transcript, 2 steps compared: all as expected\n"
        assert main(["script", path, "--strict"]) == 1
        seen = capsys.readouterr().out
        assert seen.startswith(
            'talk: line 3: nothing expected after "Anna> say hi", but Anna saw (+):\n'
            "+ You say: hi\n"
        )
        assert seen.count("nothing expected after") == 4  # two for "Bert+", one for "Bert-"
        assert main(["script", path, "--update"]) == 0
        assert main(["script", path, "--strict"]) == 0


class TestIncludes:
    def test_includes_are_relative_to_the_including_file(self) -> None:
        write("sub/deep/greet", "Anna> say hi\nAnna| You say: hi\n")
        write("sub/part", "@include deep/greet\n")
        assert main(["script", write("talk", "@include sub/part\n@include sub/part\n")]) == 0

    @pytest.mark.parametrize(
        ("file", "problem"),
        [
            ("gone", "talk: line 2: gone: no such file"),
            (".", "talk: line 2: .: Is a directory"),
            ("a\0b", "talk: line 2: a\0b: embedded null byte"),
            ("talk", "talk: line 2: talk: includes itself"),
            ("./ring", "talk: line 2: ./ring: line 1: talk: includes itself"),
            ("latin", "talk: line 2: latin: not UTF-8 text"),
        ],
    )
    def test_include_that_cannot_be_read_is_reported(
        self, file: str, problem: str, capsys: Shown
    ) -> None:
        write("ring", "@include talk\n")
        Path("latin").write_bytes(b"# \xe4\n")
        assert main(["script", write("talk", f"\n@include {file}\n")]) == 2
        assert capsys.readouterr().err == f"thudmud: {problem}\n"

    def test_update_fills_in_included_files(self, capsys: Shown) -> None:
        part = "# Said by ${who}.\nAnna> say ${x}\n# End.\n"
        write("sub/part", part)
        text = "@set  x hello\n@include sub/part\nBert+\nBert...\nAnna> who\nAnna| ${x}\n\n# End.\n"
        path = write("talk", text)
        assert main(["script", path, "--update"]) == 0
        assert capsys.readouterr().out == "talk: updated\nsub/part: updated\n"
        seen = "Anna| You say: hello\n"
        assert Path("sub/part").read_text("utf-8") == part.replace("# End", f"{seen}# End")
        begin, _, _ = text.partition("Bert...\n")
        updated = Path(path).read_text("utf-8")
        assert updated.startswith(begin)
        assert updated.endswith("\n\n# End.\n")
        assert "Anna> who\nAnna| " in updated
        assert "Anna| ${x}" not in updated
        assert main(["script", path]) == 0

    def test_update_refuses_an_include_with_conflicting_output(self, capsys: Shown) -> None:
        part = "Anna> say ${x}\n"
        write("part", part)
        path = write("talk", "@set x a\n@include part\n@set x b\n@include part\n")
        assert main(["script", path, "--update"]) == 2
        assert "part: included more than once, with different results" in capsys.readouterr().err
        assert Path("part").read_text("utf-8") == part
        write("part", part + "Anna| You say: ${x}\n")
        assert main(["script", path, "--update"]) == 0


class TestWaits:
    def test_wait_that_fails_is_reported_and_blocks_the_update(self, capsys: Shown) -> None:
        text = "Bert> say ho\nAnna> say hi\nAnna? 5s You say: ho\n"
        path = write("talk", text)
        told = 'talk: line 3: Anna waited 5 s for "You say: ho" but saw (+):\n+ You say: hi\n'
        for words in ([], ["--update"]):
            assert main(["script", path, *words]) == 1
            assert capsys.readouterr().out == told
            assert Path(path).read_text("utf-8") == text

    def test_wait_on_a_server_times_out(self, run_server: RunServer, capsys: Shown) -> None:
        path = write("talk", "Anna+\nAnna? 5s You come *\nAnna> say hi\nAnna? 0.05s You say: ho\n")
        with run_server(SERVE) as (host, port):
            assert main(["script", path, "--connect", f"{host}:{port}"]) == 1
        assert capsys.readouterr().out == (
            'talk: line 4: Anna waited 0.05 s for "You say: ho" but saw (+):\n+ You say: hi\n'
        )


class TestServers:
    TEXT = """\
@server north
@server south one.toml
Anna> say Is anybody here?
Anna| You say: Is anybody here?
Bert+ south
Bert...
Bert> boards
Bert|  1. elm board (discworld rules): both seats free
"""

    def test_server_names_map_to_configurations_in_a_house(self) -> None:
        write("one.toml", '[[board]]\nname = "elm board"\n')
        assert main(["script", write("talk", self.TEXT)]) == 0

    def test_server_names_map_to_addresses(self, run_server: RunServer, here: Path) -> None:
        one = write("one/config.toml", '[[board]]\nname = "elm board"\n')
        path = write("talk", self.TEXT)
        with (
            run_server(SERVE) as (_, north),
            run_server([*SERVE, "--config", here / one], here / "one") as (_, south),
        ):
            words = [f"--connect=north=127.0.0.1:{north}", f"--connect=south=127.0.0.1:{south}"]
            assert main(["script", path, *words]) == 0

    @pytest.mark.parametrize(
        ("text", "connect", "problem"),
        [
            (TEXT, "north=localhost:1", "also needs the address south=HOST:PORT"),
            (TEXT, "localhost:1", "also needs the address north=HOST:PORT and south="),
            ("Anna+", "north=localhost:1", "names no servers: give one address without a name"),
        ],
    )
    def test_server_name_without_an_address_is_refused(
        self, text: str, connect: str, problem: str, capsys: Shown
    ) -> None:
        assert main(["script", write("talk", text), "--connect", connect]) == 2
        assert capsys.readouterr().err.startswith(f"thudmud: talk: {problem}")

    @pytest.mark.parametrize("given", ["=h:1", "a b=h:1", "a=h", "a=:1", "a=h:x", "a=h:65536"])
    def test_malformed_address_is_a_usage_error(self, given: str, capsys: Shown) -> None:
        with pytest.raises(SystemExit):
            main(["script", "talk", "--connect", given])
        assert "expected HOST:PORT or NAME=HOST:PORT" in capsys.readouterr().err


class TestJUnit:
    def test_junit_results_are_readable_by_a_parser(self) -> None:
        good = write("sub/good", "Anna> say hi\nAnna| You say: hi\n")
        bad = write("sub/deep/bad", "Anna> say <&]]>\nAnna| \x1bho\n")
        stuck = write("stuck", "Anna> say hi\nAnna| ho\nAnna+\n")
        assert main(["script", good, bad, stuck, "--junit", "out.xml"]) == 2
        xml = junitparser.JUnitXml.fromfile("out.xml")
        (suite,) = xml
        assert (suite.name, suite.tests, suite.failures, suite.errors) == ("thudmud", 3, 1, 1)
        assert suite.time >= 0
        passed, failed, broken = suite
        assert (passed.classname, passed.name, passed.is_passed) == ("sub", "good", True)
        (failure,) = failed.result
        assert isinstance(failure, junitparser.Failure)
        assert failure.message.startswith('line 1: after "Anna> say <&]]>", Anna should see (-)')
        assert failure.text.startswith("sub/deep/bad: line 1: after")
        assert failure.text.endswith("- #x1Bho\n+ You say: <&]]>")
        (error,) = broken.result
        assert isinstance(error, junitparser.Error)
        assert error.message == "stuck: line 3: Anna is already here"
        assert "- ho\n+ You say: hi\nstuck: line 3: Anna is already here" in error.text

    def test_junit_results_are_written_even_if_no_transcript_runs(self, capsys: Shown) -> None:
        assert main(["script", "gone", "--junit", "out.xml"]) == 2
        assert "thudmud: gone: no such file\n" in capsys.readouterr().err
        assert junitparser.JUnitXml.fromfile("out.xml").errors == 1

    def test_junit_file_that_is_unwritable_is_reported(self, capsys: Shown) -> None:
        path = write("talk", "Anna> say hi\n")
        assert main(["script", path, "--junit", "gone/out.xml"]) == 2
        assert capsys.readouterr().err == "thudmud: gone/out.xml: no folder gone\n"

    def test_junit_elements_and_attributes_match_those_of_pytest(
        self, pytester: pytest.Pytester
    ) -> None:
        """CI systems are written for the output of pytest, which cannot be configured."""
        pytester.makepyfile(
            "import pytest\n@pytest.fixture\ndef bad():\n    1 / 0\n"
            "def test_error(bad): pass\ndef test_failure(): assert 0\n"
        )
        pytester.runpytest_subprocess("--junitxml=theirs.xml", "-p", "no:cacheprovider")
        write("bad", "Anna> say hi\nAnna| ho\n")
        assert main(["script", "bad", "gone", "--junit", "ours.xml"]) == 2
        theirs, ours = _shape("theirs.xml"), _shape("ours.xml")
        assert set(ours) == {"testsuites", "testsuite", "testcase", "failure", "error"}
        for name, attributes in ours.items():
            assert attributes <= theirs[name]


def _shape(file: str) -> dict[str, set[str]]:
    shape: dict[str, set[str]] = {}
    for element in junitparser.JUnitXml.fromfile(file)._elem.iter():
        shape.setdefault(element.tag, set()).update(element.attrib)
    return shape


def test_dates_are_the_same_every_day(tmp_path: Path) -> None:
    path = tmp_path / "day.thud-script"
    path.write_text(
        "Anna> join game as dwarf on oak board\n"
        "Bert> join game as troll on oak board\n"
        "Anna> start\n"
        "Anna> f15 f8\n"
        "Bert> resign\n"
        "Bert> yes\n"
        "Anna> history\n"
        "Anna...\n"
        "Anna~ *2026-01-01*\n"
        "Anna...\n"
        "Anna> say ${date}\n"
        "Anna| You say: 2026-01-01\n"
        "Bert...\n",
        "utf-8",
    )
    assert main(["script", str(path)]) == 0
    path.write_text("@set date Monday\nAnna> say ${date}\nAnna| You say: Monday\n", "utf-8")
    assert main(["script", str(path)]) == 0
