"""The model's peer: answers with random acts, records each connection's requests, and detects forbidden requests."""

from __future__ import annotations

import contextlib
import random
import select
import socket
import ssl
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .. import steps
from ..certificates import Certificates
from ..proxy import GENEROUS, Connection, Exchange, Gone, Proxy, RawAnswer, Seen, Step
from .service import Asked, Service, parse
from .wire import Track, answers_of

MOST_CONNECTIONS = 1000


@dataclass(frozen=True)
class Act:
    """What the peer does with one request. spoils: after the act, stray bytes remain on the connection. lies: the
    answer may say anything. refuses: the peer says that it did not process the request, which may be sent again."""

    name: str
    step: Step
    spoils: bool = False
    lies: bool = False
    early: bool = False  # run the step before the request has been read completely
    delay: float = 0.0
    refuses: bool = False


Draw = Callable[[random.Random], Act]


class Peer(Proxy):
    """A server that acts at random. draw: chooses the act for a request at random. plain: the act that answers
    honestly. kind: the class for the connections."""

    def __init__(
        self, seed: str, service: Service, draw: Draw, plain: Act, kind: type[Drawn], tls: ssl.SSLContext | None
    ) -> None:
        self.seed = seed
        self.service = service
        self.violations: list[str] = []
        self.story: list[str] = []
        self.acts: Counter[str] = Counter()
        self.arrived: Counter[tuple[str, int]] = Counter()  # (operation, call) -> number of writes received
        self.lied: dict[tuple[str, int], float] = {}  # (operation, call) -> since when answers may say anything
        self.tracks: list[Track] = []
        self.calm = False
        self._draw = draw
        self._plain = plain
        self._asked: Counter[Asked] = Counter()
        self._telling = threading.Lock()
        self._held: list[socket.socket] = []
        drawn = [self._welcome(random.Random(f"{seed} connection {n}"), tls) for n in range(MOST_CONNECTIONS)]
        super().__init__(("", 0), on_accept=drawn, tls=tls, kind=kind)

    def act(self, asked: Asked, connection: int, act: Act | None = None) -> Act:
        """Chooses what to do with a request, unless `act` is given."""
        with self._telling:
            self._asked[asked] += 1
            times = self._asked[asked]
        if act is None:
            act = self._plain if self.calm else self._draw(random.Random(f"{self.seed} {asked.method} {asked} {times}"))
        self.tell(f"connection {connection}: {asked}, time {times}: {act.name}")
        self.acts[act.name.partition(",")[0]] += 1
        if act.lies:
            self.lie([asked])
        if asked.is_write and not act.refuses:
            with self._telling:
                self.arrived[asked.what, asked.mark] += 1
        return act

    def lie(self, to: Iterable[Asked]) -> None:
        with self._telling:
            for asked in to:
                self.lied.setdefault((asked.what, asked.mark), time.monotonic())

    def tell(self, what: str) -> None:
        with self._telling:
            self.story.append(f"{time.monotonic():.3f} {what}")

    def violation(self, what: str) -> None:
        self.tell(f"VIOLATION {what}")
        self.violations.append(what)

    def pause(self, number: int) -> None:
        """Lets each idle connection do a random act, such as sending bytes. Called between two rounds, when no call
        is in flight."""
        for connection in self._connections:
            if isinstance(connection, Drawn):
                connection.between(random.Random(f"{self.seed} pause {number} {connection.last}"))

    def quieten(self) -> None:
        """Makes the peer act honestly from now on. Closes the connections on which the peer no longer answers."""
        self.calm = True
        self.forget()
        for sock in self._held:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for connection in self._connections:
            if isinstance(connection, Drawn):
                connection.do(connection.quieten)

    def _welcome(self, chance: random.Random, tls: ssl.SSLContext | None) -> Callable[[socket.socket], None] | None:
        """Chooses at random what to do with a new connection instead of serving it; None means that the peer serves
        it."""
        if chance.random() > 0.06:
            return None
        kinds: list[Callable[[socket.socket], None]] = [steps.reset_at_once, steps.close_at_once, self._hold]
        if tls is not None:
            alert = b"\x15\x03\x03\x00\x02\x02\x28"
            kinds += [steps.answer_hello(b"HTTP/1.1 400 Bad Request\r\n\r\n"), steps.answer_hello(alert)]
        return chance.choice(kinds)

    def _hold(self, sock: socket.socket) -> None:
        """Reads everything from a connection and never answers."""
        self._held.append(sock)
        sock.settimeout(GENEROUS)
        while not self.calm and sock.recv(65536):
            pass


class Drawn(Connection):
    """A connection of a Peer. The connection's thread also runs functions that are passed to do()."""

    proxy: Peer
    prompt = False  # whether all steps are short, so that do() may wait until a running step has ended

    def __init__(self, proxy: Any, number: int, sock: Any) -> None:
        super().__init__(proxy, number, sock)
        self.last: Asked | None = None
        self.hopeless = False  # the peer will answer no further request on this connection
        self.track = Track(self.http2)
        self.unread = False  # a part of a request has not been read
        proxy.tracks.append(self.track)
        self._idle = False
        self._errands: list[tuple[Callable[[], None], threading.Event]] = []
        self._waker, self._woken = socket.socketpair()

    def between(self, chance: random.Random) -> None:
        raise NotImplementedError

    def quieten(self) -> None:
        if self.hopeless:
            self.close()

    def send(self, data: bytes) -> None:
        try:
            super().send(data)
        except Gone:
            self.track.finish("broken")
            raise
        self.track.send(data)

    def close(self) -> None:
        # If bytes are unread, the kernel resets the connection.
        self.track.finish("reset" if self.unread else "closed")
        super().close()

    def reset(self) -> None:
        self.track.finish("reset")
        super().reset()

    def do(self, errand: Callable[[], None]) -> None:
        """Runs `errand` in the connection's thread and waits for it. Does nothing if the thread has ended, or is busy
        with a step that may take long."""
        done = threading.Event()
        if not self._idle and not self.prompt:
            return
        self._errands.append((errand, done))
        with contextlib.suppress(OSError):
            self._waker.send(b"x")
            assert done.wait(GENEROUS), "a connection's thread hangs"

    def await_data(self, timeout: float | None = None) -> bool:
        """Waits for bytes from the client, and meanwhile runs the functions that are passed to do(). Returns False
        after a time-out or the end of the connection."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        self._idle = True
        try:
            while self.open:
                if isinstance(self.socket, ssl.SSLSocket) and self.socket.pending():
                    return True
                ready = [descriptor for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)]
                if not ready:
                    return False
                if self._woken.fileno() not in ready:
                    return True
                self._woken.recv(1)
                errand, done = self._errands.pop(0)
                try:
                    errand()
                finally:
                    done.set()
            return False
        finally:
            self._idle = False

    @contextlib.contextmanager
    def guarded(self, *ends: type[Exception]) -> Iterator[None]:
        """Handles the exceptions of a connection's thread. ends: additional exceptions that mean that the connection
        has ended."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, (Gone, OSError, *ends)):
                self.proxy.violation(f"the peer itself failed: {traceback.format_exc()}")
        finally:
            self._finish()

    def _finish(self) -> None:
        self.close()
        self._idle = False
        self._waker.close()
        for _, done in self._errands:
            done.set()
        self._woken.close()


HANG_UP = Act("hang up", lambda exchange: exchange.close())


class DrawnExchange(Exchange):
    def __init__(self, connection: Http1Peer, asked: Asked) -> None:
        super().__init__(connection, Seen(asked.method, time.monotonic(), connection.number))
        self.asked = asked
        self._service = connection.proxy.service

    def read(self) -> bytes:
        request = super().read()
        self._connection.unread = False  # type: ignore[attr-defined]
        return request

    def forward(self) -> RawAnswer:
        return self._service.act(self.asked)


class Http1Peer(Drawn):
    """The server's side of an HTTP/1 connection."""

    def __init__(self, proxy: Any, number: int, sock: Any) -> None:
        super().__init__(proxy, number, sock)
        self._spoiled = ""
        self._unclear = False  # it is unclear what the client takes for an answer to its next request
        sock.settimeout(GENEROUS)

    def serve(self) -> None:
        with self.guarded():
            while self.open and self.await_data():
                self._answer()

    def between(self, chance: random.Random) -> None:
        from .acts import between_calls

        name, data, end = between_calls(chance)
        if name == "nothing":
            return

        def errand() -> None:
            waiting = select.poll()
            waiting.register(self.socket, select.POLLIN)
            if waiting.poll(0):
                return  # bytes have arrived: a late request of an abandoned call, or the client's close
            self.proxy.tell(f"connection {self.number}: between calls {name}")
            with contextlib.suppress(Gone):
                if data:
                    self._spoiled = name
                    self.send(data)
            if end:
                getattr(self, end)()

        self.do(errand)

    def _answer(self) -> None:
        while b"\r\n\r\n" not in self._buffer:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise Gone
            self._buffer += chunk
        method, target, _ = self._buffer.split(b"\r\n", 1)[0].decode().split(" ")
        asked = self.last = parse(method, target)
        if self._spoiled:
            self.proxy.violation(f"{asked} was sent over connection {self.number} after {self._spoiled}")
        act = self.proxy.act(asked, self.number, HANG_UP if self._unclear else None)
        self.track.ask(asked)
        self.unread = True
        exchange = DrawnExchange(self, asked)
        if not act.early:
            exchange.read()
        if act.delay and self.proxy.stopped.wait(act.delay):
            raise Gone
        if act.spoils:
            self._spoiled = act.name
        act.step(exchange)
        if act.lies:
            _, answer = answers_of(self.track)[-1]
            self._unclear = answer.state != "whole"
        if self.open:
            exchange.read()


def contexts(certificates: Certificates) -> dict[str, ssl.SSLContext | None]:
    """Returns the server's TLS context for each transport."""
    return {"plain": None, "tls": certificates.tls13, "http2": certificates.http2}
