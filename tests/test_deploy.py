"""The systemd unit, the Containerfile, and docs/operating.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import FreePort, RunServer
from thudmud.cli.main import SUBCOMMANDS
from thudmud.server.acceptor import ConnectionCapacity, ConnectionLimiter
from thudmud.server.config import NEEDS_RESTART, ServerSettings, load_settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
BIN = Path(sys.executable).parent

MOST_EXPOSED = "2.0"
"""The limit of what systemd rates "OK", out of 10; an unprotected service is rated 9.6."""


def run(*words: str | Path, **environment: str) -> str:
    """Run a program, check that it succeeds, and return its output."""
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | environment
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    return told


@pytest.mark.slow
def test_metrics_of_the_process_are_visible_in_the_sandbox(
    tmp_path: Path, run_server: RunServer, free_port: FreePort
) -> None:
    """The server runs with /proc mounted as the unit's options have systemd mount it."""
    unit = dict(
        re.findall(r"^(\w+)=(\w+)$", (DEPLOY / "thudmud.service").read_text("utf-8"), re.MULTILINE)
    )
    options = [f"hidepid={unit['ProtectProc']}"]
    options += ["subset=pid"] if unit["ProcSubset"] == "pid" else []
    mount = f"mount -t proc -o {','.join(options)} proc /proc"
    port = free_port()
    config = tmp_path / "config.toml"
    config.write_text(f"[metrics]\nenabled = true\nport = {port}\n", "utf-8")
    own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-rmpf"]
    serve = [sys.executable, "-m", "thudmud.cli.main", "serve", "--port", "0", "--config", config]
    with run_server([*own, "sh", "-c", f'{mount} && exec "$@"', "sh", *serve]):
        told = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    for name in ("cpu_seconds_total", "start_time_seconds", "resident_memory_bytes", "open_fds"):
        assert re.search(rf"^process_{name} [0-9.e+]+$", told, re.MULTILINE), name


UNITS = ("thudmud.service", "thudmud-backup.service", "thudmud-backup.timer")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Return a folder with the units, with a program that exists on this machine."""
    for name in UNITS:
        text = (DEPLOY / name).read_text("utf-8")
        (tmp_path / name).write_text(
            text.replace("/opt/thudmud/bin/thudmud", sys.executable), "utf-8"
        )
    return tmp_path


@pytest.fixture
def unit(units: Path) -> Path:
    """Return the server's unit."""
    return units / "thudmud.service"


@pytest.mark.parametrize("name", UNITS)
def test_unit_passes_systemd_analyze(units: Path, name: str) -> None:
    assert run("systemd-analyze", "verify", "--man=no", units / name) == ""


@pytest.mark.parametrize("name", UNITS[:2])
def test_unit_restricts_the_rights_of_the_program(units: Path, name: str) -> None:
    threshold = str(round(float(MOST_EXPOSED) * 10))
    analyze = "systemd-analyze", "security", "--offline=true", f"--threshold={threshold}"
    assert "Overall exposure level" in run(*analyze, units / name)


def test_backup_has_the_user_and_the_sandbox_of_the_server() -> None:
    server, backup = (
        dict(re.findall(r"(?m)^(\w+)=(.*)$", (DEPLOY / name).read_text("utf-8")))
        for name in UNITS[:2]
    )
    options = {name for name in server if name.startswith(("Protect", "Private", "Restrict"))}
    options -= {"RestartPreventExitStatus"}
    for option in {*options, "User", "Group", "SystemCallFilter", "CapabilityBoundingSet"}:
        assert backup[option] == server[option], option


def test_unit_stop_timeout_exceeds_the_shutdown_grace(unit: Path) -> None:
    (wait,) = re.findall(r"(?m)^TimeoutStopSec=(\d+)$", unit.read_text("utf-8"))
    assert int(wait) > load_settings(ROOT / "config.toml").server.shutdown_grace + 10


def test_unit_limits_suffice_for_the_server(unit: Path) -> None:
    limits = dict(re.findall(r"(?m)^(\w+Max)=(\w+)$", unit.read_text("utf-8")))
    assert set(limits) == {"MemoryMax", "TasksMax"}
    cores, worker, rest = 16, 80 << 20, 450 << 20  # the figures of the page
    server = load_settings(ROOT / "config.toml").server
    needed = rest + server.connections * server.outbox_bytes + (cores - 1) * worker
    assert int(limits["MemoryMax"].removesuffix("G")) << 30 > needed
    assert int(limits["TasksMax"]) > 2 * (10 + cores + 4 + 2 * (cores - 1))
    for name, value in limits.items():
        assert f"`{name}={value}`" in PAGE


def test_containerfile_passes_hadolint() -> None:
    assert run(BIN / "hadolint", DEPLOY / "Containerfile") == ""


def test_containerfile_copies_all_sources_of_the_wheel() -> None:
    copied = set(
        re.findall(
            r"\S+",
            " ".join(
                re.findall(r"(?m)^COPY (?!--)(.*)$", (DEPLOY / "Containerfile").read_text("utf-8"))
            ),
        )
    )
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (included,) = re.findall(r"force-include\]\n((?:\".*\n)+)", project)
    wanted = {*re.findall(r'(?m)^"(\S+?)"', included), "thudmud", "pytest_thudmud"}
    wanted |= set(re.findall(r'shared-data\]\n"(\S+?)"', project))
    assert copied >= {*wanted, "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"}


@pytest.mark.parametrize("fails", ["", "thudmud"])
def test_certbot_hook_installs_a_renewed_certificate(tmp_path: Path, fails: str) -> None:
    """Run the certbot hook with stand-ins for the commands that need root.

    A server that refuses to reload, because of an error in its configuration, doesn't keep the
    proxies from reloading.
    """
    renewed, tools, haproxy = tmp_path / "thud.example.org", tmp_path / "bin", tmp_path / "haproxy"
    for folder in (renewed, tools, haproxy):
        folder.mkdir()
    for name in ("fullchain.pem", "privkey.pem"):
        (renewed / name).write_text(f"{name}\n", "ascii")
    for name, more in (("install", "cat <&0"), ("systemctl", f'test "$*" != "reload {fails}"')):
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@"\n{more}\n', "ascii")
        (tools / name).chmod(0o755)
    done = subprocess.run(
        [DEPLOY / "certbot-hook.sh"],
        env={
            "PATH": f"{tools}:{os.environ['PATH']}",
            "RENEWED_LINEAGE": str(renewed),
            "HAPROXY_FOLDER": str(haproxy),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    copy = "install -o root -g thudmud -m 0640"
    assert done.stdout.splitlines() == [
        "install -d -o root -g thudmud -m 0750 /etc/thudmud/tls",
        f"{copy} {renewed}/fullchain.pem /etc/thudmud/tls/fullchain.pem",
        f"{copy} {renewed}/privkey.pem /etc/thudmud/tls/privkey.pem",
        f"install -m 0600 /dev/stdin {haproxy}/thud.example.org.pem",
        "fullchain.pem",
        "privkey.pem",
        *(
            f"systemctl {what} {service}"
            for service in ("thudmud", "nginx", "haproxy")
            for what in ("--quiet is-active", "reload")
        ),
    ]
    assert done.returncode == bool(fails)


def test_reload_of_a_broken_configuration_fails_and_is_told_to_the_server(tmp_path: Path) -> None:
    """Run the unit's command, with a program that notes the signal in place of the server."""
    text = (DEPLOY / "thudmud.service").read_text("utf-8").replace("\\\n", "")
    [command] = re.findall(r"(?m)^ExecReload=/bin/sh -c '(.*)'$", text)
    path = tmp_path / "config.toml"
    with subprocess.Popen(
        [sys.executable, "-c", HANGUPS], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        assert server.stdout.readline() == "ready\n"
        command = command.replace("$$", "$").replace("$MAINPID", str(server.pid))
        command = command.replace("/etc/thudmud/config.toml", str(path)).replace(
            "/opt/thudmud/bin/thudmud", f"{sys.executable} -m thudmud.cli.main"
        )
        for wrong, status in (("port = 0", 0), ("prot = 0", 2)):
            path.write_text(f"[server]\n{wrong}\n[web]\nport = 0\n", "utf-8")
            done = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True)
            assert done.returncode == status
            assert server.stdout.readline() == "SIGHUP\n"
        server.terminate()


HANGUPS = """
import signal
signal.signal(signal.SIGHUP, lambda *_: print("SIGHUP", flush=True))
print("ready", flush=True)
while True:
    signal.pause()
"""

# The page.


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_page_settings_are_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    load_settings(path)


def test_page_limits_admit_a_class_behind_one_address(tmp_path: Path) -> None:
    [text] = [each for each in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL) if "chat_" in each]
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    rejected = {}
    for name, settings in (("defaults", ServerSettings()), ("page", load_settings(path).server)):
        limiter = ConnectionLimiter(settings, ConnectionCapacity(settings.connections))
        browsers, each_opens = 30, 6
        at_once = [limiter.acquire("192.0.2.1", 0.0) for _ in range(browsers * each_opens)]
        rejected[name] = any(at_once)
    assert rejected == {"defaults": True, "page": False}


def test_page_commands_and_files_exist() -> None:
    commands = re.findall(r"\bthudmud ([a-z]+) (?:[a-z]+ )?--config|`thudmud ([a-z]+)", PAGE)
    assert {one or other for one, other in commands} <= {*SUBCOMMANDS}
    for file in re.findall(r"(?<=[ `])deploy/[\w./-]+", PAGE):
        assert (ROOT / file).is_file()


BACKUP_SECTION = PAGE[PAGE.index("## Back up and restore") : PAGE.index("## Monitor the server")]


def test_documented_backup_commands_work_twice(tmp_path: Path) -> None:
    """Run the commands of the section and of the timer, except systemctl, with other paths."""
    config, store = tmp_path / "config.toml", tmp_path / "thudmud.db"
    config.write_text(f'[storage]\nfile = "{store}"\n', "utf-8")
    environment = {"PYTHONPATH": str(ROOT)}
    create = "import asyncio, sys\nfrom thudmud.store import Store\n"
    create += "asyncio.run(Store.open(sys.argv[1]))"
    run(sys.executable, "-c", create, store, **environment)
    [daily] = re.findall(
        r"(?m)^ExecStart=(.*)$", (DEPLOY / "thudmud-backup.service").read_text("utf-8")
    )
    lines = [daily, *re.findall(r"(?m)^    # runuser -u thudmud -- (.*)$", BACKUP_SECTION)]
    assert len(lines) == 3
    backups = tmp_path / "backups"
    for _ in range(2):
        for line in lines:
            newest = sorted(backups.glob("*.db")) if "FILE" in line else [""]
            known = {
                "/etc/thudmud/config.toml": config,
                "/var/lib/thudmud/backups": backups,
                "FILE": newest[0],
            }
            words = [str(known.get(word, word)) for word in line.split()[1:]]
            run(sys.executable, "-m", "thudmud.cli.main", *words, **environment)
    assert len([*backups.glob("thudmud-*.db")]) == 4
    run(sys.executable, "-m", "thudmud.cli.main", "store", "check", store, **environment)


def test_page_lists_settings_that_need_a_restart() -> None:
    (told,) = re.findall(r"what needs a restart: (.*?)\.\n? ?Limits", PAGE, re.DOTALL)
    told = " ".join(told.split())
    for name in NEEDS_RESTART:
        section, _, key = name.partition(".")
        words = {
            "board": "the boards",
            "bot": "the bots",
            "host": "addresses and ports",
            "port": "addresses and ports",
            "tls_port": "addresses and ports",
            "enabled": "addresses and ports",
            "connections": "how many may connect",
            "connections_reserved": "how many may connect",
        }
        assert words.get(key or section, f"`{key}`" if key else f"`[{section}]`") in told, name
