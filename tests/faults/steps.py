"""Steps for the script of a proxy; most of them cause a fault. With effect=True, a step first forwards the request to
the sandbox."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from collections.abc import Callable

from .proxy import Exchange, Gone, Step

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


def longer(by: int, *, hold: bool) -> Step:
    """Sends a Content-Length larger than the body. hold: keeps the connection open."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.send(answer.with_headers(Content_Length=len(answer.body) + by) + answer.body)
        exchange.hang() if hold else exchange.close()

    return step


def shorter(by: int) -> Step:
    """Sends a Content-Length smaller than the body; the rest of the body stays on the open connection."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        exchange.send(answer.with_headers(Content_Length=len(answer.body) - by) + answer.body)

    return step


def no_length(exchange: Exchange) -> None:
    """Sends no Content-Length, so that the end of the connection ends the body."""
    answer = exchange.forward()
    exchange.send(answer.with_headers(Content_Length=None, Connection="close") + answer.body)
    exchange.close()


def no_length_cut(exchange: Exchange) -> None:
    """Sends no Content-Length and ends the connection in the middle of the body."""
    answer = exchange.forward()
    exchange.send(answer.with_headers(Content_Length=None, Connection="close") + answer.body[:-5])
    exchange.close()


def bad_length(exchange: Exchange) -> None:
    answer = exchange.forward()
    exchange.send(answer.with_headers(Content_Length="many") + answer.body)
    exchange.close()


def lengths(*values: str) -> Step:
    """Sends one Content-Length header for each of these values; {} in a value is replaced by the true length."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        true = str(len(answer.body))
        lines = "".join(f"Content-Length: {value.replace('{}', true)}\r\n" for value in values)
        exchange.send(answer.with_headers(Content_Length=None)[:-2] + lines.encode() + b"\r\n" + answer.body)

    return step


def two_answers(exchange: Exchange) -> None:
    """Sends a second complete answer, which belongs to no request."""
    answer = exchange.forward()
    exchange.send(answer.raw + b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnull")


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


def interim(exchange: Exchange) -> None:
    """Sends two interim answers before the sandbox's answer."""
    answer = exchange.forward()
    exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + answer.raw)


def big_header(size: int, count: int = 1) -> Step:
    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        extra = b"".join(b"X-Big-%d: %s\r\n" % (number, b"b" * size) for number in range(count))
        exchange.send(answer.head[:-2] + extra + b"\r\n" + answer.body)

    return step


def gzipped(cut: int = 0) -> Step:
    """Sends a compressed body without its last `cut` bytes, with the Content-Length of what is sent."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        body = gzip.compress(answer.body)
        body = body[: len(body) - cut]
        exchange.send(answer.with_headers(Content_Encoding="gzip", Content_Length=len(body)) + body)

    return step


def gzip_bomb(exchange: Exchange) -> None:
    """Sends a compressed body, although the client did not request compression."""
    answer = exchange.forward()
    exchange.send(answer.with_headers(Content_Encoding="gzip", Content_Length=len(BOMB)) + BOMB)


def transfer_bomb(exchange: Exchange) -> None:
    """Sends a body with the transfer coding gzip, which libcurl decodes although the client did not request it."""
    exchange.send(exchange.forward().with_headers(Content_Length=None, Transfer_Encoding="gzip") + BOMB)
    exchange.close()


def garbage(exchange: Exchange) -> None:
    exchange.forward()
    exchange.send(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
    exchange.close()


def http10(exchange: Exchange) -> None:
    answer = exchange.forward()
    head = answer.with_headers(Content_Length=None).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    exchange.send(head + answer.body)
    exchange.close()


def http10_keep_alive(exchange: Exchange) -> None:
    answer = exchange.forward()
    head = answer.with_headers(Connection="keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    exchange.send(head + answer.body)


def chunked(end: bytes, *, close: bool, gzipped: bool = False) -> Step:
    """Sends a body in chunks of seven bytes, then `end` instead of the last chunk."""

    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        data = gzip.compress(answer.body) if gzipped else answer.body
        pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        coding = "gzip" if gzipped else None
        head = answer.with_headers(Content_Length=None, Transfer_Encoding="chunked", Content_Encoding=coding)
        exchange.send(head + body + end)
        if close:
            exchange.close()

    return step


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
