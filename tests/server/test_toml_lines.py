"""The lines of settings in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from thudmud.server.config import ConfigError, load_settings
from thudmud.server.toml_lines import ValuePath, find_lines

TEXT = '''\
bot = []  # a remark

# [server]
# port = 1
[server]

port = 2
news = """
port = 3
"""
hosts = [
    "a",
    "b",
]
listing.name = "x"

[[board]]
name = "oak board"

[[board]]  # port = 4
"name" = "fir board"
"rules" = "classic"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("bot",), 1),
        (("server",), 5),
        (("server", "port"), 7),
        (("server", "news"), 8),
        (("server", "hosts"), 11),
        (("server", "hosts", 1), 11),
        (("server", "listing", "name"), 15),
        (("server", "missing"), 5),
        (("board", 0, "name"), 18),
        (("board", 0, "rules"), 17),
        (("board", 1), 20),
        (("board", 1, "rules"), 22),
        (("board", 2), 17),
        (("metrics", "port"), None),
        ((), None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_of_a_setting_is_found(path: ValuePath, line: int | None, end: str) -> None:
    assert find_lines(TEXT.replace("\n", end), [path]) == [line]


def test_lines_of_all_mistakes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "\ufeff# Mine.\n[server]\nport = 8483\ntls_key = 'key'\n\n[web]\nport = -1\nprot = 1\n",
        "utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert [each.removeprefix(str(path)).partition(": ")[0] for each in caught.value.problems] == [
        ", line 2",
        ", line 7",
        ", line 8",
    ]
