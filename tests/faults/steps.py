"""Steps for the script of a proxy; most of them cause a fault. With effect=True, a step first forwards the request to
the sandbox."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

from .proxy import Exchange, Gone, RawAnswer, Step

BOMB = gzip.compress(b"0" * (32 << 20))  # 32 MB, compressed to 32 KB


_ORDER = b'{"data":{"id":"o","state":"paid","total":1}}'
ORDER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(_ORDER), _ORDER)  # an answer to a charge


def reset_unread(exchange: Exchange) -> None:
    exchange.reset()


def reset_after(count: int) -> Step:
    """Resets the connection after this many bytes of the request."""

    def step(exchange: Exchange) -> None:
        exchange.take(count)
        exchange.reset()

    return step


def ended(*, effect: bool, reset: bool) -> Step:
    """Ends the connection after the request, before the first byte of the answer."""

    def step(exchange: Exchange) -> None:
        exchange.forward() if effect else exchange.read()
        exchange.reset() if reset else exchange.close()

    return step


def cut(place: str, *, reset: bool) -> Step:
    """Ends the connection within the answer. place: "status" (in the status line), "head" (in the last header),
    "headers" (after the head) or "body" (in the body)."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        length = {
            "status": 9,
            "head": len(answer.head) - 12,
            "headers": len(answer.head),
            "body": len(answer.raw) - max(1, len(answer.body) // 2),
        }[place]
        exchange.send(answer.raw[:length])
        exchange.reset() if reset else exchange.close()

    return step


def answering(form: Callable[[RawAnswer], bytes], *, close: bool = False) -> Step:
    """Sends what `form` makes of the sandbox's answer."""

    def step(exchange: Exchange) -> None:
        exchange.send(form(exchange.forward()))
        if close:
            exchange.close()

    return step


def with_body(end: int | None = None, **headers: str | int | None) -> Callable[[RawAnswer], bytes]:
    """The answer with other headers, and with its body up to `end`."""
    return lambda answer: answer.with_headers(**headers) + answer.body[:end]


def longer(by: int, *, hold: bool) -> Step:
    """Sends a Content-Length larger than the body. hold: keeps the connection open."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.send(answer.with_headers(Content_Length=len(answer.body) + by) + answer.body)
        exchange.hang() if hold else exchange.close()

    return step


def shorter(by: int) -> Step:
    """Sends a Content-Length smaller than the body; the rest of the body stays on the open connection."""
    return answering(lambda answer: answer.with_headers(Content_Length=len(answer.body) - by) + answer.body)


# Without a Content-Length, the end of the connection ends the body.
no_length = answering(with_body(Content_Length=None, Connection="close"), close=True)
no_length_cut = answering(with_body(-5, Content_Length=None, Connection="close"), close=True)
bad_length = answering(with_body(Content_Length="many"), close=True)


def lengths(*values: str) -> Step:
    """Sends one Content-Length header for each of these values; {} in a value is replaced by the true length."""

    def form(answer: RawAnswer) -> bytes:
        true = str(len(answer.body))
        lines = "".join(f"Content-Length: {value.replace('{}', true)}\r\n" for value in values)
        return answer.with_headers(Content_Length=None)[:-2] + lines.encode() + b"\r\n" + answer.body

    return answering(form)


# A second complete answer belongs to no request.
two_answers = answering(lambda answer: answer.raw + b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnull")


def drip(pause: float, size: int) -> Step:
    """Sends the answer in pieces of `size` bytes, with a pause of `pause` seconds after each piece."""

    def step(exchange: Exchange) -> None:
        raw = exchange.forward().raw
        for begin in range(0, len(raw), size):
            exchange.send(raw[begin : begin + size])
            if exchange.stopped.wait(pause):
                raise Gone

    return step


def silent(*, effect: bool) -> Step:
    def step(exchange: Exchange) -> None:
        exchange.forward() if effect else exchange.read()
        exchange.hang()

    return step


def silent_after_headers(exchange: Exchange) -> None:
    exchange.send(exchange.forward().head)
    exchange.hang()


def canned(
    status: int, *headers: str, body: bytes = b'{"error":{"code":"x","message":"y"}}', effect: bool = False
) -> Step:
    """Sends a canned answer instead of the sandbox's."""

    def step(exchange: Exchange) -> None:
        exchange.forward() if effect else exchange.read()
        lines = [f"HTTP/1.1 {status} Something", f"Content-Length: {len(body)}", *headers, "", ""]
        exchange.send("\r\n".join(lines).encode() + body)

    return step


INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
interim = answering(lambda answer: INTERIM + answer.raw)


def big_header(size: int, count: int = 1) -> Step:
    extra = b"".join(b"X-Big-%d: %s\r\n" % (number, b"b" * size) for number in range(count))
    return answering(lambda answer: answer.head[:-2] + extra + b"\r\n" + answer.body)


def gzipped(cut: int = 0) -> Step:
    """Sends a compressed body without its last `cut` bytes, with the Content-Length of what is sent."""

    def form(answer: RawAnswer) -> bytes:
        body = gzip.compress(answer.body)
        body = body[: len(body) - cut]
        return answer.with_headers(Content_Encoding="gzip", Content_Length=len(body)) + body

    return answering(form)


# The client did not request compression; libcurl decodes a transfer coding all the same.
gzip_bomb = answering(lambda answer: answer.with_headers(Content_Encoding="gzip", Content_Length=len(BOMB)) + BOMB)
transfer_bomb = answering(
    lambda answer: answer.with_headers(Content_Length=None, Transfer_Encoding="gzip") + BOMB, close=True
)
garbage = answering(lambda _: b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", close=True)


def of_http10(**headers: Any) -> Callable[[RawAnswer], bytes]:
    return lambda answer: with_body(**headers)(answer).replace(b"HTTP/1.1", b"HTTP/1.0", 1)


http10 = answering(of_http10(Content_Length=None), close=True)
http10_keep_alive = answering(of_http10(Connection="keep-alive"))


def chunked(end: bytes, *, close: bool, gzipped: bool = False) -> Step:
    """Sends a body in chunks of seven bytes, then `end` instead of the last chunk."""

    def form(answer: RawAnswer) -> bytes:
        data = gzip.compress(answer.body) if gzipped else answer.body
        pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        coding = "gzip" if gzipped else None
        head = answer.with_headers(Content_Length=None, Transfer_Encoding="chunked", Content_Encoding=coding)
        return head + body + end

    return answering(form, close=close)


def then(first: Step, *, reset: bool, pause: float = 0.0) -> Step:
    """Ends the connection right after the step `first`, or a moment later, when the next request may be in flight."""

    def step(exchange: Exchange) -> None:
        first(exchange)
        # Waits in a busy loop, because even a short sleep is longer than the intervals that matter.
        until = time.perf_counter() + pause
        while time.perf_counter() < until:
            pass
        exchange.reset() if reset else exchange.close()

    return step


# The proxy calls one of the functions below with a new connection, instead of serving the connection.


def reset_at_once(sock: socket.socket) -> None:
    """Resets the connection unread: with this option, the proxy's close(), right after this function, sends a RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def close_at_once(sock: socket.socket) -> None:
    """Closes the connection unread: the proxy closes it when this function returns."""


def answer_hello(data: bytes, *, hold: bool = False) -> Callable[[socket.socket], None]:
    """Answers the client's first TLS message with these bytes, then closes. hold: waits until the client closes the
    connection.
    """

    def act(sock: socket.socket) -> None:
        sock.recv(65536)
        sock.sendall(data)
        while hold and sock.recv(65536):
            pass

    return act


def broken_handshake(context: ssl.SSLContext, *, reset: bool) -> Callable[[socket.socket], None]:
    """Ends the connection in the middle of a valid TLS handshake: after half of the server's first flight."""

    def act(sock: socket.socket) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = context.wrap_bio(incoming, outgoing, server_side=True)
        while not outgoing.pending:
            incoming.write(sock.recv(65536))
            try:
                server.do_handshake()
            except ssl.SSLWantReadError:
                continue
        flight = outgoing.read()
        sock.sendall(flight[: len(flight) // 2])
        if reset:
            reset_at_once(sock)

    return act
