"""Two hosts on a network that can fail: network namespaces, joined by a veth pair."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

CLONE_NEWNET = 0x40000000
DEVICE = "veth0"
_numbers = itertools.count()


class Network:
    """The host `client` has the address CLIENT, the host of listener() has the address SERVER.

    Raises OSError if the process may not make namespaces.
    """

    CLIENT, SERVER = "10.213.7.1", "10.213.7.2"

    def __init__(self) -> None:
        name = f"billcore{os.getpid()}-{next(_numbers)}"
        self.client, self._server = f"{name}c", f"{name}s"

    def __enter__(self) -> Self:
        for host in (self.client, self._server):
            self._ip("netns", "add", host)
        self._ip(
            "link", "add", DEVICE, "netns", self.client, "type", "veth", "peer", "name", DEVICE, "netns", self._server
        )
        for host, address in ((self.client, self.CLIENT), (self._server, self.SERVER)):
            self._ip("-n", host, "addr", "add", f"{address}/24", "dev", DEVICE)
            self._ip("-n", host, "link", "set", DEVICE, "up")
            self._ip("-n", host, "link", "set", "lo", "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for host in (self.client, self._server):
            with contextlib.suppress(OSError):
                self._ip("netns", "del", host)

    def fail(self) -> None:
        """From now on, no packet arrives."""
        self._ip("-n", self.client, "link", "set", DEVICE, "down")

    def recover(self) -> None:
        self._ip("-n", self.client, "link", "set", DEVICE, "up")

    def listener(self) -> socket.socket:
        """Returns a socket of the server's host, bound to a free port."""

        def bind() -> socket.socket:
            self._enter_server()
            made = socket.socket()
            made.bind((self.SERVER, 0))
            return made

        # The namespace belongs to a thread, which ends here.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(bind).result()

    def on_client(self, *command: str) -> list[str]:
        """Returns a command line that runs the command on the client's host."""
        return ["ip", "netns", "exec", self.client, *command]

    def connect_from_client(self, port: int) -> None:
        """Opens and closes a connection; fails while the network does not work."""
        program = f"import socket; socket.create_connection(('{self.SERVER}', {port}), timeout=60)"
        subprocess.run(self.on_client(sys.executable, "-c", program), check=True)

    def is_sending(self, port: int) -> bool:
        """Whether the client's kernel holds bytes for this port of the server that the server has not acknowledged."""
        table = subprocess.run(self.on_client("cat", "/proc/net/tcp"), capture_output=True, text=True, check=True)
        for line in table.stdout.splitlines()[1:]:
            _, _, remote, _, queues, *_ = line.split()
            if int(remote.partition(":")[2], 16) == port and int(queues.partition(":")[0], 16) > 0:
                return True
        return False

    def _enter_server(self) -> None:
        with Path(f"/var/run/netns/{self._server}").open() as namespace:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    @staticmethod
    def _ip(*arguments: str) -> None:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    made = Network()
    try:
        made.__enter__()
    except OSError as error:
        made.__exit__(None, None, None)
        pytest.skip(f"no network namespace can be made here: {error}")
    yield made
    made.__exit__(None, None, None)
