"""Runs programs that fork, with a server that records for each request the sending process and the connection."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict

from conformance.server import Reply, Request, ScriptedServer
from support.children import child_environment
from support.waiting import GENEROUS

from .support import ACCOUNT, API_KEY, SUBSCRIPTION, data, page

PREAMBLE = """
import gc, os, socket, sys, threading, traceback
import billcore

options = dict(base_url=sys.argv[1], api_key=sys.argv[2], ca_bundle=sys.argv[3] or None, max_retries=0, timeout=60)

def get(client, name):
    assert client.subscriptions.get(name).id == name

def fork(work, *args):
    child = os.fork()
    if child != 0:
        return child
    status = 1
    try:
        work(*args)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)

def join(*children):
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def opened():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield int(number), os.readlink("/proc/self/fd/" + number)
        except FileNotFoundError:  # the descriptor of listdir() itself
            pass

def descriptors():
    return {name for _, name in opened()}

def connections():
    # Established connections. libcurl also has its own socket pairs, which a child inherits without harm. The table in
    # /proc/self/net/tcp would not do: a read of it can miss a connection while others end.
    found = set()
    for number, name in opened():
        try:
            with socket.socket(fileno=os.dup(number)) as one:
                if one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == b"\1":
                    found.add(name)
        except OSError:  # not a TCP socket, or another thread has closed it
            pass
    return found
"""


class Scene:
    """A server, with or without TLS, that records for each request the sending process and the connection."""

    def __init__(self, server: ScriptedServer, bundle: str) -> None:
        self.server = server
        self._bundle = bundle

    @property
    def arguments(self) -> list[str]:
        return [self.server.url + ACCOUNT, API_KEY, self._bundle]

    def run(self, code: str) -> str:
        """Runs a program; it must exit with 0 and write nothing to stderr."""
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", PREAMBLE + code, *self.arguments],
            capture_output=True,
            text=True,
            env=child_environment(),
            timeout=GENEROUS,
        )
        assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
        return done.stdout

    def by_sender(self) -> dict[str, list[int]]:
        """Maps each sender (named by the requested subscription's id) to the connection numbers of its requests."""
        senders: dict[str, list[int]] = defaultdict(list)
        for request in self.server.requests:
            senders[name_in(request).split("-")[0]].append(request.connection)
        return senders

    def expect(self, **requests: int) -> None:
        """Checks that each sender made the given number of requests, over one connection of its own."""
        senders = self.by_sender()
        assert {name: len(connections) for name, connections in senders.items()} == requests
        assert all(len(set(connections)) == 1 for connections in senders.values()), senders
        assert self.server.connections == len(requests), senders


def name_in(request: Request) -> str:
    return request.target.split("/subscription/")[1].split("/")[0].split("?")[0]


SEVEN = threading.Barrier(7)


def answer(request: Request) -> Reply:
    if "of-seven" in request.target:  # is answered when seven of them have arrived, each over a connection of its own
        SEVEN.wait(GENEROUS)
    if "/orders?" in request.target:
        number = int(request.target.split("page=")[1])
        if "/many/" in request.target:
            return page([{"id": number * 2}, {"id": number * 2 + 1}], number, 60, delay=0.005)
        return page([{"id": f"{number}a"}, {"id": f"{number}b"}], number, 4)
    delay = 0.02 if "slow" in request.target else 0.0
    return data({**SUBSCRIPTION, "id": name_in(request)}, delay=delay)
