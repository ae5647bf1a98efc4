"""nginx in front of a server, as docs/operating.md has it, but for ports, addresses and paths."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import trustme

from benchmarks.load.processes import ROOT

PAGE = ROOT / "docs" / "operating.md"
HOST = "thud.example.org"

SECTION = {"forwarders": '["127.0.0.1"]'}
"""What `[web]` says besides, as the page does."""

_POLL = 0.01  # seconds that nginx is given before somebody connects again

_WHOLE = """\
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
    """nginx that runs.

    Attributes:
        place: where it listens, with TLS.
        trust: knows the certificate that it has for `HOST`.
    """

    place: tuple[str, int]
    trust: ssl.SSLContext


def program() -> str | None:
    """Return where nginx is, if it is installed."""
    return which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def site(port: int, web: tuple[str, int], pem: Path) -> str:
    """Return the configuration that the page shows, for other ports and another certificate."""
    found = re.search(r"(?s)```nginx\n(.*?)```", PAGE.read_text("utf-8"))
    assert found, f"expected a block of nginx in {PAGE}, got none"
    text = found[1]
    for pattern, ours in (
        (r"listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (r"listen \[::\]:443 ssl;", ""),
        (r"(?<=ssl_certificate ).*(?=;)", str(pem)),
        (r"(?<=ssl_certificate_key ).*(?=;)", str(pem)),
        (r"127\.0\.0\.1:8485", f"{web[0]}:{web[1]}"),
    ):
        text, count = re.subn(pattern, ours, text)
        assert count == 1, f"expected {pattern} once in the block of nginx, got it {count} times"
    return text


@contextmanager
def nginx(folder: Path, web: tuple[str, int]) -> Iterator[Front]:
    """Run nginx in front of a page; yield it once it can be connected to."""
    name = program()
    assert name, "nginx is not installed"
    folder.mkdir(parents=True)
    authority = trustme.CA()
    pem = folder / "both.pem"
    authority.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(pem)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    with socket.socket() as holder:  # nobody else is given the port; nginx asks for it
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        place = "127.0.0.1", int(holder.getsockname()[1])
        (folder / "site").write_text(site(place[1], web, pem), "utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(_WHOLE.format(user=user), "utf-8")
        words = [name, "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
        with subprocess.Popen(words) as process:  # noqa: S603  (Debian's)
            try:
                _until_it_listens(process, place, folder / "error.log")
                yield Front(place, trust)
            finally:
                process.terminate()


def _until_it_listens(process: subprocess.Popen[bytes], place: tuple[str, int], log: Path) -> None:
    while True:
        with suppress(ConnectionRefusedError), socket.create_connection(place):
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL)
            raise RuntimeError(f"nginx has ended: {log.read_text('utf-8')}")
