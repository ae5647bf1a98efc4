"""The sockets for a `host` setting."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from tests.conftest import FreePort
from thudmud.errors import StartError
from thudmud.server import sockets
from thudmud.server.sockets import bound_sockets

EVERYWHERE = [(socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")]  # noqa: S104


async def bound(hosts: Sequence[str], port: int = 0) -> list[tuple[int, str, int]]:
    """Bind and close sockets; return their families, addresses and ports."""
    ends = await bound_sockets(hosts, "server.port", port)
    found = [(end.family, *end.getsockname()[:2]) for end in ends]
    for end in ends:
        end.close()
    return found


@pytest.mark.parametrize(
    "hosts",
    [["::"], ["::", "0.0.0.0"], ["::", "127.0.0.1", "::1"]],  # noqa: S104
)
async def test_wildcard_means_both_families_with_one_port(hosts: list[str]) -> None:
    found = await bound(hosts)
    assert [each[:2] for each in found] == EVERYWHERE
    assert len({port for _, _, port in found}) == 1


async def test_connections_of_both_families_are_accepted_at_all_addresses() -> None:
    ends = await bound_sockets(["::"], "server.port", 0)
    port = ends[0].getsockname()[1]
    for end in ends:
        end.listen()
    for host, end in (("::1", ends[0]), ("127.0.0.1", ends[1])):
        with closing(socket.create_connection((host, port))) as client:
            caller, address = await asyncio.get_running_loop().sock_accept(end)
            assert (address[0], address[1]) == (host, client.getsockname()[1])
            caller.close()
    for end in ends:
        end.close()


async def test_accepted_connections_send_without_delay() -> None:
    [end] = await bound_sockets(["127.0.0.1"], "server.port", 0)
    loop, accepted = asyncio.get_running_loop(), asyncio.Event()
    options = list[int]()

    class Noting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            mine = transport.get_extra_info("socket")
            options.append(mine.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.close()
            accepted.set()

    async with await loop.create_server(Noting, sock=end):
        with closing(socket.create_connection(end.getsockname())):
            await accepted.wait()
    assert options == [1]


async def test_ipv4_address_takes_only_ipv4() -> None:
    assert [each[:2] for each in await bound(["0.0.0.0"])] == EVERYWHERE[1:]  # noqa: S104


async def test_several_addresses_have_the_same_port() -> None:
    found = await bound(["127.0.0.1", "127.0.0.2", "::1", "127.0.0.1"])
    assert [each[1] for each in found] == ["127.0.0.1", "127.0.0.2", "::1"]
    assert len({port for _, _, port in found}) == 1


@pytest.mark.parametrize(
    ("family", "why"),
    [
        (socket.AF_INET6, errno.EAFNOSUPPORT),
        (socket.AF_INET6, errno.EADDRNOTAVAIL),
        (socket.AF_INET, errno.EAFNOSUPPORT),
    ],
)
async def test_system_with_one_family_has_all_addresses_of_that(
    family: int, why: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(family, why, monkeypatch)
    assert [each[:2] for each in await bound(["::"])] == [
        each for each in EVERYWHERE if each[0] != family
    ]


async def test_name_may_have_an_address_of_a_missing_family(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(_: str) -> list[tuple[int, tuple[str]]]:
        return [(socket.AF_INET6, ("::1",)), (socket.AF_INET, ("127.0.0.1",))]

    without(socket.AF_INET6, errno.EADDRNOTAVAIL, monkeypatch)
    monkeypatch.setattr(sockets, "_resolve", resolve)
    assert [each[:2] for each in await bound(["localhost"])] == [(socket.AF_INET, "127.0.0.1")]


async def test_missing_family_is_an_error_for_an_address_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(socket.AF_INET6, errno.EADDRNOTAVAIL, monkeypatch)
    with pytest.raises(StartError, match=r"server\.host: cannot listen on '::1': this machine"):
        await bound_sockets(["127.0.0.1", "::1"], "server.port", 0)


def without(family: int, why: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bind = sockets._bind

    def refused(of: int, place: tuple[object, ...]) -> socket.socket:
        if of == family:
            raise OSError(why, "not here")
        return bind(of, place)

    monkeypatch.setattr(sockets, "_bind", refused)


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that is in use at 127.0.0.2."""
    with socket.create_server(("127.0.0.2", 0)) as end:
        yield end.getsockname()[1]


async def test_port_in_use_at_one_address_leaves_the_others_free(taken: int) -> None:
    with pytest.raises(StartError, match=rf"^server\.port: port {taken} of 127\.0\.0\.2 is in use"):
        await bound_sockets(["127.0.0.1", "127.0.0.2"], "server.port", taken)
    with socket.create_server(("127.0.0.1", taken)):
        pass


async def test_free_port_is_free_at_all_addresses(
    free_port: FreePort, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first port that the system picks for one address is in use at the other."""
    picked, free, bind = [taken], free_port(), sockets._bind

    def chosen(of: int, place: tuple[str, int]) -> socket.socket:
        address, port = place
        return bind(of, (address, port or (picked.pop() if picked else free)))

    monkeypatch.setattr(sockets, "_bind", chosen)
    assert [each[2] for each in await bound(["127.0.0.1", "127.0.0.2"])] == [free, free]
