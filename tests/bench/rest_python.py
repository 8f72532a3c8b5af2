"""A Python contender of the rest tables as a process: python -m tests.bench.rest_python ROW CA_FILE

It speaks the protocol of rest_turns.py.
"""

from __future__ import annotations

import os
import sys
import time

from .rest_peers import LATE, PEERS
from .rest_rows import Missing, Row, Server


def main() -> None:
    name, ca_file = sys.argv[1:]
    rows: dict[tuple[str, int], Row] = {}
    try:
        make = PEERS[name]()
    except Missing as problem:
        print("missing", problem, flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        verb, url, at_once, *more = line.split()
        server = Server(url, ca_file)
        if verb == "late":
            late = LATE[name](server)
            wall, cpu = time.monotonic_ns(), time.process_time_ns()
            late(int(more[0]) / 1000)
            print(time.monotonic_ns() - wall, time.process_time_ns() - cpu, 0, flush=True)
            continue
        key = url, int(at_once)
        if key not in rows:
            rows[key] = make(server, int(at_once))
        row = rows[key]
        if verb == "show":
            print(row.show(), flush=True)
            continue
        row.run(int(at_once))  # connections that were idle for long may have to be made anew
        wall, cpu = time.monotonic_ns(), time.process_time_ns()
        total = row.run(int(more[0]))
        print(time.monotonic_ns() - wall, time.process_time_ns() - cpu, total, flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # the connections end with the process
