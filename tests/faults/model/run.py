"""One run of the model: a peer, the callers of two clients, rounds of calls, then a round with an honest peer."""

from __future__ import annotations

import contextlib
import faulthandler
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import billcore

from ..certificates import Certificates
from . import acts, streams
from .callers import Call, Callers, Programs, Tasks, Threads, honest, numbered
from .judge import judge, said
from .peer import Http1Peer, Peer, contexts
from .service import KEY, ROOT, Service
from .wire import judge_calls, judge_connections

TRANSPORTS = ("plain", "tls", "http2")
ROUNDS = 3
CALLS = 3  # number of calls of each caller in a round
AT_ONCE = 6  # number of concurrent seeds
MOST_SHOWN = 60


class BrokenPromiseError(AssertionError):
    """The client broke a rule during the run of a seed."""


@dataclass
class Totals:
    seeds: int = 0
    connections: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    acts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, calls: Iterable[Call], peer: Peer) -> None:
        with self.lock:
            self.seeds += 1
            self.connections += peer.accepted
            self.acts += peer.acts
            for call in calls:
                kind = "write" if call.is_write else "list" if call.kind == "list" else "read"
                told = {1: "done", 0: "certainly not done", None: "unknown"}[said(call)]
                self.outcomes[f"{kind} {told if call.is_write else 'ok' if call.error is None else 'failed'}"] += 1

    def lines(self) -> Iterator[str]:
        yield f"model: {self.seeds} seeds, {self.connections} connections, {self.outcomes.total()} calls"
        yield f"model: {dict(sorted(self.outcomes.items()))}"


def random_names(transports: Sequence[str], seconds: float) -> Iterator[str]:
    """Yields random seeds until this many seconds have passed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield f"{random.choice(transports)}-{random.randrange(10**9)}"


def run(seed: str, certificates: Certificates, totals: Totals) -> None:
    """Runs one seed. Raises BrokenPromiseError if a rule was broken; the error's text says how to run this seed
    alone."""
    transport = seed.partition("-")[0]
    chance = random.Random(f"{seed} shape")
    service = Service(seed)
    tls = contexts(certificates)[transport]
    if transport == "http2":
        peer = Peer(seed, service, streams.draw, streams.PLAIN, streams.Http2Peer, tls)
    else:
        peer = Peer(seed, service, acts.http1, acts.PLAIN, Http1Peer, tls)
    where = f"http://127.0.0.1:{peer.port}" if transport == "plain" else f"https://localhost:{peer.port}"
    options: dict[str, Any] = {
        "base_url": where + ROOT,
        "api_key": KEY,
        "http2": transport == "http2",
        "timeout": 5.0,
    }
    options |= {"concurrency": chance.choice([1, 2, 4, 8]), "ca_bundle": str(certificates.bundle), "proxy": ""}
    if transport == "plain":
        del options["ca_bundle"]
    clients: list[Callers] = [Threads(options), Tasks(options), Programs(options, chance.choice([0, 1, 2]))]
    shares = chance.choice([(5, 0, 2), (0, 12, 0), (4, 8, 0), (3, 3, 2)])
    if not Programs.LANGUAGES:
        shares = (*shares[:2], 0)
    calls: list[Call] = []
    broken: list[str] = []

    def turn(*rows: list[list[Call]]) -> None:
        """Runs the callers of all clients at once. rows: for each client, the calls of each of its callers."""
        calls.extend(call for row in rows for each in row for call in each)
        with ThreadPoolExecutor(len(clients)) as pool:
            if not all(pool.map(lambda who, row: who.run(row), clients, rows)):
                faulthandler.dump_traceback(all_threads=True)
                raise failure(seed, ["a call hangs"], calls, peer)

    try:
        for number in range(ROUNDS):
            turn(*(list(numbered(seed, index + 1, share, number, CALLS)) for index, share in enumerate(shares)))
            peer.pause(number)
        peer.quieten()
        turn(*(list(honest(index + 1, 2 if share else 0)) for index, share in enumerate(shares)))
        for who in clients:
            who.close()
        peer.wait_until_closed()
        peer.close()
    except BrokenPromiseError:
        raise
    except AssertionError as error:
        broken.append(str(error))
    finally:
        with contextlib.suppress(AssertionError):  # the failure was already reported
            peer.close()
    for call in calls:
        broken += [f"{what}: {call}" for what in judge(call, peer)]
    broken += [f"{what} (by the bytes): {call}" for call, what in judge_calls(calls, peer.tracks)]
    broken += [*judge_connections(peer.tracks), *peer.violations]
    known = {(call.kind, call.number) for call in calls}
    broken += [f"an effect of no call: {each}" for each in service.effects if each not in known]
    totals.add(calls, peer)
    if broken:
        raise failure(seed, broken, calls, peer)


def run_many(
    seeds: Iterable[str], certificates: Certificates, totals: Totals, tell: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Runs the model with several seeds concurrently, because each run mostly waits. Returns the failures."""
    lock = threading.Lock()
    left = iter(seeds)
    found: list[str] = []

    def work() -> None:
        while True:
            with lock:
                seed = next(left, None)
            if seed is None:
                return
            tell(f"seed {seed}")
            try:
                run(seed, certificates, totals)
            except BrokenPromiseError as error:
                found.append(str(error))
                tell(str(error))
            except Exception:
                found.append(f"seed {seed}: the model itself failed: {traceback.format_exc()}")
                tell(found[-1])

    workers = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def failure(seed: str, broken: list[str], calls: list[Call], peer: Peer) -> BrokenPromiseError:
    marks = [str(call.number) for call in calls if any(f" {call.number}" in each for each in broken)]
    connections = {
        line.split(":")[0].split(" ", 1)[1] for line in peer.story if any(f" {mark}" in line for mark in marks)
    }
    told = [line for line in peer.story if any(f" {each}:" in line for each in connections)]
    return BrokenPromiseError(
        "\n".join(
            [
                f"seed {seed}:",
                *(f"  {each}" for each in broken),
                "what the peer did on the connections concerned:" if told else "the peer saw nothing of it",
                *(f"  {line}" for line in told[-MOST_SHOWN:]),
                f"again, alone: PYTHONPATH=PACKAGE:tests {sys.executable} -m faults.model {seed}",
                f"billcore: {billcore.__file__}",
            ]
        )
    )
