"""Follows docs/operating.md by its own commands, on a bare Debian under systemd.

``python -m tests.soak.bare_debian`` does it, as root on Debian, and takes some minutes. It makes a
Debian in a folder (debootstrap), boots it in a container (systemd-nspawn) without a network of its
own, and types the page's commands there, section by section. Packages are downloaded before, so
nothing in the container reaches other machines. What needs the internet is done by hand: the
certificate, which certbot would fetch.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
CONFIG = "/etc/thudmud/config.toml"
FILES = {"nginx": "etc/nginx/sites-enabled/thudmud", "haproxy": "etc/haproxy/haproxy.cfg"}
"""The files of the page's pieces for other programs, by their language."""

DOMAIN = "thud.example.org"
SUITE, PYTHON = "bookworm", (3, 11)
BARE = "systemd,systemd-sysv,dbus,python3,ca-certificates,curl,openssl,procps,netcat-openbsd,ufw"
LATER = ("certbot", "haproxy", "nginx", "prometheus", "fail2ban", "logrotate", "python3-venv")
"""Debian packages that the page installs, some with others that they recommend."""

EXTRAS = "server,metrics,pictures,notify,fast,postgres,completion"
BOOT = (
    *("systemd-nspawn", "--boot", "--quiet", "--machine=thudmud-debian", "--private-network"),
    *("--register=no", "--keep-unit", "--console=read-only"),
)
ENTER = ("nsenter", "--all", "--root")
NEWEST_BACKUP = "$(ls -t /var/lib/thudmud/backups/*.db | head -n 1)"
PATIENCE = 120.0  # seconds to wait for a service


def sections() -> dict[str, str]:
    """Return the text of each section of the page, by heading."""
    parts = re.split(r"(?m)^#{2,3} (.*)\n", PAGE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def steps(section: str) -> Iterator[tuple[str, str]]:
    """Yield what an operator does in a section, in order.

    Yields:
        "#" and a command of root's; or the language and the text of a piece of a file.
    """
    pattern = r"(?ms)^ {4,7}(#) ([^\n]*)$|^```(\w+)\n(.*?)^```"
    for found in re.finditer(pattern, sections()[section]):
        yield found[1] or found[3], found[2] or found[4]


def commands(section: str) -> list[str]:
    """Return the commands that root types in a section."""
    return [text for kind, text in steps(section) if kind == "#"]


class Machine:
    """A Debian that runs in a container.

    Args:
        root: the folder of its files.
        leader: the process id of its systemd.
    """

    def __init__(self, root: Path, leader: int) -> None:
        self.root, self._leader = root, leader

    def run(self, command: str, *, fails: bool = False) -> str:
        """Type a command in the checkout; return its output.

        Raises:
            SystemExit: it fails, or doesn't although it should.
        """
        print(f"# {command}", flush=True)
        done = subprocess.run(
            [*ENTER, f"--target={self._leader}", "/bin/sh", "-c", f"cd /root/thudmud; {command}"],
            env={
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/root",
                "DEBIAN_FRONTEND": "noninteractive",
                "APT_LISTCHANGES_FRONTEND": "none",
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": "/wheels",
                "SYSTEMD_COLORS": "0",
                "SYSTEMD_PAGER": "cat",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",  # telnet commands
            check=False,
        )
        if bool(done.returncode) is not fails:
            raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def follow(self, section: str, *, without: Sequence[str] = ()) -> None:
        """Do what a section says, except for commands that begin with some words.

        Pieces of config.toml are put in their places, and those of other programs in their files.
        apt asks nothing.
        """
        print(f"\n{section}", flush=True)
        for kind, text in steps(section):
            if kind == "toml":
                self.configure(text)
            elif kind in FILES:
                with (self.root / FILES[kind]).open("a", encoding="utf-8") as file:
                    file.write(text)
            elif kind == "#" and not text.startswith(tuple(without)):
                command = re.sub(r"^apt install", "apt-get install -y", text)
                self.run(command.replace(" FILE ", f" {NEWEST_BACKUP} "))

    def until(self, command: str, words: str) -> str:
        """Repeat a command until its output contains some words."""
        end = time.monotonic() + PATIENCE
        while True:
            with suppress(SystemExit):
                if words in (output := self.run(command)):
                    return output
            if time.monotonic() > end:
                raise SystemExit(f"{command}: no {words!r} within {PATIENCE:g} seconds")
            time.sleep(0.5)

    def configure(self, piece: str) -> None:
        """Set the keys of a piece of config.toml, each in its place."""
        path = self.root / CONFIG[1:]
        text, section = path.read_text("utf-8"), ""
        for line in piece.splitlines():
            if header := re.fullmatch(r"\[(\w+)\]", line):
                section = header[1]
            elif " = " in line:
                text = replaced(text, section, line)
        path.write_text(text, "utf-8")


def replaced(text: str, section: str, line: str) -> str:
    """Return a configuration with another value of a key that it has."""
    key = line.partition(" = ")[0]
    pattern = rf"(?ms)^(\[{section}\]\n(?:(?!^\[).)*?^){key} = [^\n]*$"
    changed, count = re.subn(pattern, lambda found: found[1] + line, text, count=1)
    if not count:
        raise SystemExit(f"config.toml has no {section}.{key}")
    return changed


# The machine.


def make(folder: Path) -> Path:
    """Make a bare Debian, with the packages that the page needs in its caches; return its root."""
    base = folder / "base"
    if not (folder / "complete").exists():
        shutil.rmtree(base, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        host("debootstrap", "--variant=minbase", f"--include={BARE}", SUITE, base)
        host("chroot", base, "apt-get", "update")
        host("chroot", base, "apt-get", "install", "--download-only", "--yes", *LATER)
        (folder / "complete").touch()
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    host("cp", "--archive", base, root)
    checkout = root / "root" / "thudmud"
    for name in host("git", "-C", ROOT, "ls-files", quiet=True).splitlines():
        if (source := ROOT / name).is_file():
            (target := checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    wheels = folder / "wheels"
    build = (sys.executable, "-m", "pip", "wheel", "--quiet")
    host(*build, f"--wheel-dir={wheels}", f"--find-links={wheels}", *requirements())
    shutil.copytree(wheels, root / "wheels")
    names = f"127.0.0.1 localhost {DOMAIN}\n::1 localhost {DOMAIN}\n"
    (root / "etc" / "hosts").write_text(names, "ascii")
    return root


def requirements() -> list[str]:
    """Return what pip needs to build thudmud and to install it with all extras."""
    import tomllib  # noqa: PLC0415

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [*project["build-system"]["requires"], *project["project"].get("dependencies", [])]
    for extra in EXTRAS.split(","):
        wanted += project["project"]["optional-dependencies"][extra]
    return [*wanted, "pip"]


def host(*words: str | Path, quiet: bool = False) -> str:
    """Run a command on this machine; return its output.

    Raises:
        SystemExit: it fails.
    """
    if not quiet:
        print(f"$ {' '.join(map(str, words))}", flush=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def booted(root: Path) -> Iterator[Machine]:
    """Boot a Debian without a network but its own loopback; stop it at the end."""
    process = subprocess.Popen(
        [*BOOT, f"--directory={root}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        machine = Machine(root, leader_of(process))
        machine.until("systemctl is-active multi-user.target", "active")
        yield machine
    finally:
        for _ in range(2):  # the first signal asks the container to halt, the second ends it
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)


def leader_of(process: subprocess.Popen[str]) -> int:
    """Return the process id of a container's systemd once it runs."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            with suppress(OSError):
                if "systemd" in Path(f"/proc/{child}/comm").read_text():
                    return int(child)
        time.sleep(0.1)
    process.kill()
    raise SystemExit(f"systemd-nspawn did not boot: {process.communicate()[1]}")


# The page.


def install(machine: Machine) -> None:
    """Install a server and let people in."""
    machine.follow("Install")
    assert "0 players" in machine.run("systemctl status thudmud")
    machine.follow("Let people in")
    for address in ("127.0.0.1", "::1"):
        greeting = machine.run(f"printf 'Anna\\r\\nquit\\r\\n' | nc -q 3 {address} 8483")
        assert "Goodbye!" in greeting, greeting


def certify(machine: Machine) -> None:
    """Have a certificate for telnet, and for the proxies."""
    live = f"/etc/letsencrypt/live/{DOMAIN}"
    machine.run(
        f"mkdir -p {live} && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={DOMAIN} "
        f"-addext subjectAltName=DNS:{DOMAIN} -keyout {live}/privkey.pem -out {live}/fullchain.pem"
    )
    machine.follow("Certificates", without=["certbot "])
    shown = machine.run(f"openssl s_client -connect {DOMAIN}:8992 -servername {DOMAIN} </dev/null")
    assert f"CN = {DOMAIN}" in shown


def serve_page(machine: Machine) -> None:
    """Serve the page by nginx, then by HAProxy."""
    page = f"curl --silent --show-error --insecure https://{DOMAIN}/"
    machine.follow("With nginx")
    assert "<title>Thud" in machine.until(page, "<title>")
    machine.run("systemctl stop nginx")
    machine.follow("With HAProxy")
    assert "<title>Thud" in machine.until(page, "<title>")
    told = machine.run(
        "(printf 'Bert\\r\\nquit\\r\\n'; sleep 3) | "
        f"openssl s_client -quiet -connect {DOMAIN}:8992 2>/dev/null; true"
    )
    assert "Goodbye!" in told, told


def maintain(machine: Machine) -> None:
    """Reload, upgrade, back up, restore and survive a kill."""
    machine.follow("Change settings")
    config = machine.root / CONFIG[1:]
    text = config.read_text("utf-8")
    config.write_text(text.replace("\nconnections = ", "\nconections = "), "utf-8")
    machine.run("systemctl reload thudmud", fails=True)
    assert "did you mean" in machine.run("journalctl -u thudmud")
    config.write_text(text, "utf-8")
    machine.run("systemctl reload thudmud")
    for _ in range(2):  # what works once may fail the second time
        machine.follow("Restart and upgrade")
        machine.follow("Back up and restore")
        machine.until("systemctl is-active thudmud", "active")
    before = machine.run("systemctl show --property=MainPID thudmud")
    machine.run("systemctl kill --signal=KILL thudmud")
    machine.until("systemctl show --property=NRestarts thudmud", "NRestarts=1")
    machine.until("systemctl is-active thudmud", "active")
    assert machine.run("systemctl show --property=MainPID thudmud") != before


def monitor(machine: Machine) -> None:
    """Ask for the health and the metrics."""
    machine.until(commands("Monitor the server")[0], "thudmud is healthy")
    machine.follow("Metrics")
    machine.run("systemctl restart thudmud")
    figures = machine.until("curl --silent http://127.0.0.1:8486/metrics", "thudmud_healthy 1")
    assert "process_resident_memory_bytes" in figures
    machine.follow("The log")


def watch(machine: Machine) -> None:
    """Raise alarms, keep guessers out, rotate the log, and have everything checked."""
    machine.follow("Alarms")
    text = dict(steps("Alarms"))["yaml"]
    settings = machine.root / "etc" / "prometheus" / "prometheus.yml"
    settings.write_text(f"global:\n  scrape_interval: 1s\n{text}", "utf-8")
    machine.run("systemctl restart prometheus")
    machine.until("curl --silent http://127.0.0.1:9090/api/v1/rules", "ThudmudDown")
    query = "curl --silent 'http://127.0.0.1:9090/api/v1/query?query=thudmud_healthy'"
    machine.until(query, '"1"]')
    machine.follow("Keep guessers out")
    machine.until("fail2ban-client status thudmud; true", "_SYSTEMD_UNIT=thudmud.service")
    machine.follow("Completion and the manual page")
    assert "EXIT STATUS" in machine.run("cat /usr/local/share/man/man1/thudmud.1")
    machine.follow("Rotate a log file")
    machine.until("cat /var/lib/thudmud/thudmud.log", "listening")
    machine.run("logrotate --force /etc/logrotate.d/thudmud")
    machine.run("ls /var/lib/thudmud/thudmud.log.1")
    (check,) = [each for each in commands("Monitor the server") if " doctor " in each]
    told = machine.until(check, "ok server: one runs")
    print(told)
    assert "\nerror" not in told, told


STEPS = (install, certify, serve_page, maintain, monitor, watch)


def main() -> None:
    """Follow the page; stop at the first command that doesn't do what the page says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "debian", help="kept for the next time"
    )
    folder = parser.parse_args().folder.resolve()
    if sys.version_info[:2] != PYTHON:
        raise SystemExit("This builds packages for Debian 12, so it needs Python 3.11.")
    with booted(make(folder)) as machine:
        try:
            for step in STEPS:
                step(machine)
        except BaseException:
            print(machine.run("journalctl --unit=thudmud --lines=30 --no-pager"))
            raise
    print("\nEverything on the page works.")


if __name__ == "__main__":
    main()
