"""A small SOCKS 4, 4a and 5 server whose tunnels all end at one local port. The server records the requests."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass

from .tcp import TcpServer, tunnel


@dataclass(frozen=True)
class Asked:
    version: int
    host: str  # host name or IP address
    port: int
    user: str = ""
    password: str = ""


class SocksServer(TcpServer):
    """A SOCKS proxy. refuse: error code to send instead of opening a tunnel. user: the only accepted user name and
    password."""

    def __init__(self, target: int, *, refuse: int | None = None, user: tuple[str, str] | None = None) -> None:
        self._target = target
        self._refuse = refuse
        self._user = user
        self.asked: list[Asked] = []
        super().__init__(self._converse)

    def _converse(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, EOFError):
            if (self._ask_4 if _take(connection, 1) == b"\4" else self._ask_5)(connection):
                with socket.create_connection(("127.0.0.1", self._target)) as server:
                    tunnel(connection, server)
            else:
                while connection.recv(4096):  # closing with unread input would send a reset
                    pass

    def _ask_4(self, connection: socket.socket) -> bool:
        assert _take(connection, 1) == b"\1"
        port = int.from_bytes(_take(connection, 2), "big")
        address = _take(connection, 4)
        user = _take_text(connection)
        named = address[:3] == bytes(3) and address[3] != 0  # SOCKS 4a
        host = _take_text(connection) if named else socket.inet_ntop(socket.AF_INET, address)
        self.asked.append(Asked(4, host, port, user))
        connection.sendall(bytes([0, 90 if self._refuse is None else self._refuse]) + bytes(6))
        return self._refuse is None

    def _ask_5(self, connection: socket.socket) -> bool:
        methods = _take(connection, _take(connection, 1)[0])
        method = 0 if self._user is None else 2
        if method not in methods:
            connection.sendall(b"\5\xff")
            return False
        connection.sendall(bytes([5, method]))
        user = password = ""
        if method == 2:
            assert _take(connection, 1) == b"\1"
            user = _take(connection, _take(connection, 1)[0]).decode()
            password = _take(connection, _take(connection, 1)[0]).decode()
            right = (user, password) == self._user
            connection.sendall(b"\1\0" if right else b"\1\1")
            if not right:
                return False
        assert _take(connection, 3) == b"\5\1\0"
        kind = _take(connection, 1)[0]
        if kind == 3:
            host = _take(connection, _take(connection, 1)[0]).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, _take(connection, size))
        port = int.from_bytes(_take(connection, 2), "big")
        self.asked.append(Asked(5, host, port, user, password))
        connection.sendall(bytes([5, self._refuse or 0, 0, 1]) + bytes(6))
        return self._refuse is None


def _take(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _take_text(connection: socket.socket) -> str:
    text = b""
    while (one := _take(connection, 1)) != b"\0":
        text += one
    return text.decode()
