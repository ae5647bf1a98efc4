"""The page on GMCP, as far as it tells of what is no package of our own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from thudmud.telnet import gmcp

PAGE = (Path(__file__).parents[2] / "docs" / "gmcp.md").read_text("utf-8")
SENT = re.findall(r"^    (Char\.Login\S*) (\{.*\})$", PAGE, re.MULTILINE)
CORE = re.findall(r"^\| `(Core\.\S+)` \| `(.*?)` \|", PAGE, re.MULTILINE)


def test_what_the_server_says_of_logins() -> None:
    ours = [(name, json.loads(data)) for name, data in SENT if name.endswith(("Default", "Result"))]
    assert ours == [
        (gmcp.LOGIN, json.loads(gmcp.PASSWORDS)),
        (gmcp.LOGIN_RESULT, json.loads(gmcp.SUCCESS)),
        (gmcp.LOGIN_RESULT, json.loads(gmcp.FAILURE)),
    ]


def test_what_clients_log_in_with_is_understood() -> None:
    theirs = [f"{name} {data}" for name, data in SENT if not name.endswith(("Default", "Result"))]
    heard = [gmcp.read(each.encode()) for each in theirs]
    assert [each and each[0] for each in heard] == ["char.login.credentials", "char.login"]
    for each in heard:
        assert each
        assert gmcp.credentials(each[1]) == ("Anna", "correct horse")
    assert gmcp.read(b"Char.Login.Credentials {}") == ("char.login.credentials", {})
    assert gmcp.credentials({}) is None


def test_what_clients_want_is_understood() -> None:
    wanted = frozenset({"char"})
    seen = []
    for name, text in CORE:
        heard = gmcp.read(f"{name} {text}".encode())
        assert heard
        package, data = heard
        seen.append(package)
        if package.startswith("core.supports"):
            wanted = gmcp.supported(wanted, package.rpartition(".")[2], data)
            assert ("thud" in wanted) is (not package.endswith("remove"))
    assert wanted == {"char.login"}
    assert seen == [
        "core.hello",
        "core.supports.set",
        "core.supports.add",
        "core.supports.remove",
        "core.ping",
    ]


@pytest.mark.parametrize(("levels", "is_read"), [(8, True), (9, False)])
def test_how_deep_data_may_go(levels: int, is_read: bool) -> None:  # noqa: FBT001 (of a parameter)
    assert f"more than {levels if is_read else levels - 1} levels deep" in PAGE
    payload = b"Thud.Move " + b"[" * levels + b"]" * levels
    assert (gmcp.read(payload) is not None) is is_read
