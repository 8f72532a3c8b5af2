"""Workers that inherit a client by fork: from multiprocessing, gunicorn, or a program with calls in other threads."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.waiting import GENEROUS

from .fork_support import Scene, name_in
from .gunicorn_support import gunicorn
from .support import SANITIZED


def test_workers_of_multiprocessing(scene: Scene) -> None:
    output = scene.run("""
import json, multiprocessing

client = billcore.Client(**options)
get(client, "parent")

def work(number):
    get(client, f"worker-{number}")
    return number, os.getpid()

def main():
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        done = pool.map_async(work, range(200), chunksize=1)
        for _ in range(20):
            get(client, "parent")
        print(json.dumps(done.get(60)))
        pool.close()
        pool.join()
    get(client, "parent")
    client.close()

main()
""")
    processes: dict[int, int] = dict(json.loads(output))
    assert len(processes) == 200 and len(set(processes.values())) <= 4
    used: dict[int, set[int]] = defaultdict(set)
    for request in scene.server.requests:
        sender, _, number = name_in(request).partition("-")
        used[processes[int(number)] if sender == "worker" else 0].add(request.connection)
    assert all(len(connections) == 1 for connections in used.values()), used
    assert scene.server.connections == len(used) == len(set(processes.values())) + 1


# AddressSanitizer's allocator stays locked in the child when a thread held the lock during the fork.
@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_fork_while_threads_are_in_calls(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
stop = threading.Event()
failures = []

def call():
    try:
        while not stop.is_set():
            get(client, "parent-slow")
    except BaseException as error:
        failures.append(error)

def child(number):
    for _ in range(2):
        get(client, f"child{number}")
    assert len(connections()) == 1
    client.close()
    assert not connections()

threads = [threading.Thread(target=call, daemon=True) for _ in range(6)]
for thread in threads:
    thread.start()
for number in range(12):
    get(client, "parent")
    join(fork(child, number))
stop.set()
for thread in threads:
    thread.join()
assert not failures, failures
get(client, "parent")
""")
    senders = scene.by_sender()
    parents = set(senders.pop("parent"))
    assert len(parents) <= 7
    assert len(senders) == 12 and all(len(connections) == 2 for connections in senders.values())
    children = [set(connections) for connections in senders.values()]
    assert all(len(connections) == 1 and not connections & parents for connections in children)
    assert scene.server.connections == len(parents) + 12


APPLICATION = """
import os
import billcore

bundle = os.environ["CA"] or None
client = billcore.Client(base_url=os.environ["URL"], api_key=os.environ["KEY"], ca_bundle=bundle, max_retries=0)
client.subscriptions.get("master")  # used before the workers are forked

def application(environ, start_response):
    name = "worker" + str(os.getpid()) + "-" + environ["PATH_INFO"][1:]
    body = client.subscriptions.get(name).id.encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""
CONFIGURATION = """
import os

preload_app = True
workers = 3
control_socket_disable = True

def on_exit(server):
    import application
    application.client.subscriptions.get("master")
"""


def test_workers_of_gunicorn(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "application.py").write_text(APPLICATION)
    (tmp_path / "settings.py").write_text(CONFIGURATION)
    url, key, bundle = scene.arguments

    def ask(port: int, number: int) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS)
        with contextlib.closing(connection):
            connection.request("GET", f"/{number}")
            response = connection.getresponse()
            assert response.status == 200
            return response.read().decode()

    options = ["--config", "settings.py"]
    with gunicorn(tmp_path, options, URL=url, KEY=key, CA=bundle) as port, ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda number: ask(port, number), range(120)))
    assert [name.partition("-")[2] for name in names] == [str(number) for number in range(120)]
    senders = scene.by_sender()
    assert len(senders.pop("master")) == 2
    assert sum(map(len, senders.values())) == 120
    assert all(len(set(connections)) == 1 for connections in senders.values()), senders
    assert scene.server.connections == len(senders) + 1
