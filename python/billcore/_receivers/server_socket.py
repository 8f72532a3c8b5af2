"""The socket of a WSGI server: ends the read of a body whose time is over, and detects a sender that has disconnected.

wsgi.py loads this module on first use, because threading is slow to import.
"""

from __future__ import annotations

import _socket  # not `socket`, whose methods gevent and TLS replace by others
import os
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing is slow
    from typing import Any

_NEVER = float("inf")


def duplicate(server_socket: Any) -> _socket.socket:
    return _socket.socket(fileno=os.dup(server_socket.fileno()))


def has_ended(connection: _socket.socket) -> bool:
    """Whether the sender has disconnected, or sends nothing more."""
    try:
        return not connection.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Deadline:
    def __init__(self, at: float, connection: _socket.socket) -> None:
        self.at = at
        self.connection = connection
        self.is_over = False


class Limiter:
    """Ends reads whose time is over.

    A time limit of the socket would begin again with each byte. All requests of a process share one thread, because a
    thread for each request takes longer than the check of the signature.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._deadlines: set[Deadline] = set()
        self._wakes_at = _NEVER  # when the thread looks at the deadlines again
        self._has_thread = False

    def begin(self, connection: _socket.socket, timeout: float) -> Deadline:
        deadline = Deadline(time.monotonic() + timeout, connection)
        with self._changed:
            if not self._has_thread:
                threading.Thread(target=self._run, name="billcore-wsgi", daemon=True).start()
                self._has_thread = True
            self._deadlines.add(deadline)
            if deadline.at < self._wakes_at:
                self._changed.notify()
        return deadline

    def end(self, deadline: Deadline) -> None:
        """After this call, the thread does not use the connection."""
        with self._changed:
            self._deadlines.discard(deadline)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for deadline in [one for one in self._deadlines if one.at <= now]:
                    self._deadlines.remove(deadline)
                    deadline.is_over = True
                    try:  # noqa: SIM105  contextlib is slow to import
                        # For reading only, so that the server can still answer (with TLS, OpenSSL sends an alert).
                        deadline.connection.shutdown(_socket.SHUT_RD)
                    except OSError:
                        pass  # the sender has disconnected
                self._wakes_at = min((one.at for one in self._deadlines), default=_NEVER)
                self._changed.wait(None if self._wakes_at == _NEVER else self._wakes_at - now)


_limiters: dict[int, Limiter] = {}


def limiter() -> Limiter:
    """Returns the limiter of this process. A forked process does not have the thread, and may find the lock held."""
    process = os.getpid()
    return _limiters.get(process) or _limiters.setdefault(process, Limiter())
