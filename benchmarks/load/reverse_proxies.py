"""nginx and HAProxy in front of a server.

The configurations are those of docs/operating.md, but for ports and paths. Must never drive a
server.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import trustme

from benchmarks.load.processes import ROOT, Running

PAGE = ROOT / "docs" / "operating.md"
HOST = "thud.example.org"
FORWARDERS = '["127.0.0.1"]'
"""The value of `web.forwarders` in docs/operating.md."""

_POLL = 0.01  # seconds between attempts to connect to a starting proxy

_NGINX = """\
{user}
daemon off;
worker_processes auto;
pid nginx.pid;
events {{ worker_connections 768; }}
http {{
    access_log off;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    scgi_temp_path temp;
    uwsgi_temp_path temp;
    include site;
}}
"""


@dataclass(frozen=True)
class Front:
    """A running proxy.

    Attributes:
        place: address and port of the page, by TLS.
        trust: TLS context that trusts the proxy's certificate for `HOST`.
    """

    place: tuple[str, int]
    trust: ssl.SSLContext


Proxy = Callable[[Path, Running], AbstractContextManager[Front]]
"""Runs a proxy in a folder, in front of a server."""


def program(name: str) -> str | None:
    """Return the path of an installed proxy, None if it is missing."""
    return which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def nginx(folder: Path, server: Running) -> Iterator[Front]:
    """Run nginx in front of the page; yield once it accepts connections."""
    with _prepared(folder, 1) as ([port], pem, trust):
        changes = (
            ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
            ("listen [::]:443 ssl;", ""),
            (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(pem)),
            (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(pem)),
            ("127.0.0.1:8485", f"127.0.0.1:{server.web[1]}"),
        )
        (folder / "site").write_text(_configuration("nginx", changes), "utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(_NGINX.format(user=user), "utf-8")
        words = ["nginx", "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"]
        with _running(words, folder, port):
            yield Front(("127.0.0.1", port), trust)


@contextmanager
def haproxy(folder: Path, server: Running) -> Iterator[Front]:
    """Run HAProxy in front of the page and telnet; yield once it accepts connections."""
    with _prepared(folder, 2) as ([port, telnet], pem, trust):
        changes = (
            ("bind :443 ", f"bind 127.0.0.1:{port} "),
            ("bind :8992 ", f"bind 127.0.0.1:{telnet} "),
            (f"/etc/haproxy/{HOST}.pem", str(pem)),
            ("127.0.0.1:8485", f"127.0.0.1:{server.web[1]}"),
            ("127.0.0.1:8483", f"127.0.0.1:{server.place[1]}"),
        )
        (folder / "haproxy.cfg").write_text(_configuration("haproxy", changes), "utf-8")
        with _running(["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], folder, port):
            yield Front(("127.0.0.1", port), trust)


def _configuration(name: str, changes: Sequence[tuple[str, str]]) -> str:
    """Return the configuration in docs/operating.md, with substitutions.

    Args:
        name: language tag of the code block.
        changes: pairs of old and new text.
    """
    found = re.search(rf"(?s)```{name}\n(.*?)```", PAGE.read_text("utf-8"))
    assert found, f"expected a block of {name} in {PAGE}, got none"
    text = found[1]
    for theirs, ours in changes:
        assert theirs in text, f"expected {theirs!r} in the block of {name}, got none"
        text = text.replace(theirs, ours)
    return text


@contextmanager
def _prepared(folder: Path, count: int) -> Iterator[tuple[Sequence[int], Path, ssl.SSLContext]]:
    """Yield free ports, a certificate with its key, and a trusting TLS context.

    The ports stay bound meanwhile, with SO_REUSEADDR, so that nobody else is assigned them.
    """
    folder.mkdir(parents=True)
    authority, pem, trust = trustme.CA(), folder / "both.pem", ssl.create_default_context()
    authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(pem)
    authority.configure_trust(trust)
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            holder = stack.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
            ports.append(int(holder.getsockname()[1]))
        yield ports, pem, trust


@contextmanager
def _running(words: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    name, *others = words
    found = program(name)
    assert found, f"{name} is not installed"
    log = folder / "log"
    with (
        log.open("wb") as errors,
        subprocess.Popen([found, *others], stdout=errors, stderr=errors) as process,  # noqa: S603  (Debian's)
    ):
        try:
            while True:
                with (
                    suppress(ConnectionRefusedError),
                    socket.create_connection(("127.0.0.1", port)),
                ):
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL)
                    raise RuntimeError(f"{name} has ended: {log.read_text('utf-8')}")
            yield
        finally:
            process.terminate()
