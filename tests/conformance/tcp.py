"""A TCP server on loopback with a thread for each connection, and the tunnel that the test proxies share."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable


class TcpServer:
    """A server that calls `serve` with each connection. `serve` must close the connection."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        # Join the thread before close(): otherwise it could accept from a new socket that reuses the descriptor.
        self._accepting.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()


def tunnel(client: socket.socket, server: socket.socket) -> None:
    """Forwards bytes in both directions until both sides have closed."""
    back = threading.Thread(target=_pump, args=(server, client), daemon=True)
    back.start()
    _pump(client, server)
    back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
