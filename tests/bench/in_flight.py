"""Measures calls in flight on one loop of the C ABI: python -m tests.bench.in_flight PROGRAM [CALLS]

A server answers each request after 50 ms, over plain HTTP/1.1 and over TLS. PROGRAM is `in-flight`, which CMake
builds from in_flight.c. The memory includes that of the connections.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import tempfile
from pathlib import Path

from .rest_server import Authority

DELAY = 0.05  # seconds
BODY = b'{"data":{"id":"ord_1","total":1500,"state":"paid"}}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Late(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(b"\r\n\r\n")):
            asyncio.get_running_loop().call_later(DELAY, self._transport.write, ANSWER)


async def measure(program: Path, calls: int, folder: Path) -> None:
    authority = Authority(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    for name, secured in (("plain", None), ("TLS", context)):
        server = await asyncio.get_running_loop().create_server(Late, "127.0.0.1", 0, ssl=secured, backlog=1024)
        url = f"http{'s' if secured else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}/acct"
        child = await asyncio.create_subprocess_exec(program, url, str(calls), *([authority.bundle] if secured else []))
        if await child.wait() != 0:
            sys.exit(f"{name}: in-flight failed")
        print(f"^ {name}, {calls} calls", flush=True)
        server.close()


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 10_000, Path(folder)))


if __name__ == "__main__":
    main()
