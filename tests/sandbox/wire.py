"""A raw connection to the service, for tests that check an answer's bytes, or whether the server reset or closed it."""

from __future__ import annotations

import json
import socket
from typing import Any

from sandbox.support import Service
from support.waiting import GENEROUS


class Wire:
    """A raw connection to the service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.socket = socket.create_connection((service.host, service.port or 80), timeout=GENEROUS)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, method: str, path: str, body: Any = None) -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {self._service.root}{path} HTTP/1.1\r\nHost: {self._service.host}:{self._service.port}\r\n"
        head += f"X-Api-KEY: {self._service.api_key}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + raw)

    def charge(self) -> None:
        subscription = self._service.subscription("demo-active")
        body = {"product_id": self._service.product()["id"], "amount": 900}
        self.send("POST", f"/subscription/{subscription['id']}/order", body)

    def read_to_end(self) -> bytes:
        """All bytes until the server closes the connection. Raises ConnectionResetError on a reset."""
        received = b""
        while chunk := self.socket.recv(65536):
            received += chunk
        return received

    def read_answer(self) -> tuple[int, bytes]:
        """Reads one complete answer; the connection stays open."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.socket.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        length = content_length(head)
        while len(body) < length:
            body += self.socket.recv(65536)
        assert len(body) == length
        return int(head.split()[1]), body


def content_length(head: bytes) -> int:
    return int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
