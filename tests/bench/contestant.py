"""Runs one Python contender as a process: python -m tests.bench.contestant AREA ROW [CA_FILE]

The process implements the protocol of turns.py. ROW is the contender's name: a key of the dictionary PEERS in the
module `<AREA>_peers`, whose value is a function that makes the contender.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from typing import Any

from .rows import Row, Server


def main() -> None:
    area, name, *more = sys.argv[1:]
    peers: Any = import_module(f".{area}_peers", __package__)
    ca_file = more[0] if more else None
    rows: dict[tuple[str, int], Row] = {}
    make = peers.PEERS[name]()
    print("ready", flush=True)
    for line in sys.stdin:
        verb, url, at_once, *numbers = line.split()
        server = Server(url, ca_file)
        if verb == "late":
            late = peers.LATE[name](server)
            wall, cpu = time.monotonic_ns(), time.process_time_ns()
            late(int(numbers[0]) / 1000)
            print(time.monotonic_ns() - wall, time.process_time_ns() - cpu, 0, flush=True)
            continue
        key = url, int(at_once)
        if key not in rows:
            rows[key] = make(server, int(at_once))
        row = rows[key]
        if verb == "show":
            print(row.show(), flush=True)
            continue
        count, warm = map(int, numbers)
        row.run(warm)
        wall, cpu = time.monotonic_ns(), time.process_time_ns()
        total = row.run(count)
        print(time.monotonic_ns() - wall, time.process_time_ns() - cpu, total, flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # skips the clean-up of clients; the operating system closes the connections
