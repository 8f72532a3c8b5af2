"""Tests the scripted server with http.client and raw sockets, because the other tests rely on it."""

from __future__ import annotations

import http.client
import socket

import pytest

from .server import FullListener, Reply, Request, ScriptedServer, SilentListener, closed_port, json_reply

DEADLINE = 30.0


def _connect(server: ScriptedServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)


def _exchange(connection: http.client.HTTPConnection, method: str, target: str, body: bytes | None = None) -> bytes:
    connection.request(method, target, body)
    return connection.getresponse().read()


def test_replies_in_order_on_one_connection() -> None:
    with ScriptedServer([json_reply({"n": 1}), json_reply({"n": "å"}, status=402)]) as server:
        connection = _connect(server)
        connection.request("GET", "/a?b=%5B", headers={"X-Test": "yes"})
        first = connection.getresponse()
        assert (first.status, first.read(), first.headers["content-type"]) == (200, b'{"n":1}', "application/json")
        connection.request("POST", "/c", b"body \xff")
        second = connection.getresponse()
        assert (second.status, second.read()) == (402, '{"n":"å"}'.encode())
        connection.close()
    one, two = server.requests
    assert (one.method, one.target, one.version, one.body, one.header("x-test")) == (
        "GET",
        "/a?b=%5B",
        "HTTP/1.1",
        b"",
        "yes",
    )
    assert (two.method, two.target, two.body, two.header("Content-Length")) == ("POST", "/c", b"body \xff", "6")
    assert one.connection == two.connection == 0 and server.connections == 1


def test_script_at_its_end_and_function_scripts() -> None:
    with ScriptedServer() as server:
        connection = _connect(server)
        connection.request("GET", "/")
        assert connection.getresponse().status == 599
        connection.close()

    def echo(request: Request) -> Reply:
        return Reply(body=request.target.encode())

    with ScriptedServer(echo) as server:
        connection = _connect(server)
        assert [_exchange(connection, "GET", f"/{n}") for n in range(3)] == [b"/0", b"/1", b"/2"]
        connection.close()


def test_truncated_answer() -> None:
    with ScriptedServer([Reply(headers={"Content-Length": "100"}, body=b"half", ending="close")]) as server:
        with pytest.raises(http.client.IncompleteRead) as caught:
            _exchange(_connect(server), "GET", "/")
        assert caught.value.partial == b"half"


def test_send_only_cuts_the_whole_answer() -> None:
    whole = Reply(body=b"x" * 10)
    with ScriptedServer([Reply(body=b"x" * 10, send_only=len(whole.encode()) - 4, ending="close")]) as server:
        with pytest.raises(http.client.IncompleteRead) as caught:
            _exchange(_connect(server), "GET", "/")
        assert caught.value.partial == b"x" * 6


def test_reset_without_an_answer() -> None:
    with ScriptedServer([Reply(raw=b"", ending="reset")]) as server:
        with pytest.raises(ConnectionResetError):
            _exchange(_connect(server), "POST", "/charge", b"{}")
        assert [request.body for request in server.requests] == [b"{}"]


def test_close_without_an_answer() -> None:
    with ScriptedServer([Reply(raw=b"", ending="close")]) as server, pytest.raises(http.client.RemoteDisconnected):
        _exchange(_connect(server), "GET", "/")


def test_endless_body_ends_when_the_client_goes() -> None:
    with ScriptedServer([Reply(endless=b"x" * 4096)]) as server:
        connection = _connect(server)
        connection.request("GET", "/")
        assert connection.getresponse().read(1 << 20) == b"x" * (1 << 20)
        connection.close()


def test_hang_never_answers_and_ends_with_the_block() -> None:
    with ScriptedServer([Reply(send_only=20, body=b"x", ending="hang")]) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b""
            while len(received) < 20:
                received += raw.recv(100)
            raw.settimeout(0.2)
            with pytest.raises(TimeoutError):
                raw.recv(1)
        assert received == b"HTTP/1.1 200 Canned\r"


def test_listeners() -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", closed_port()), timeout=DEADLINE)
    with SilentListener() as silent, socket.create_connection(("127.0.0.1", silent.port), timeout=DEADLINE) as raw:
        raw.sendall(b"hello")
        raw.settimeout(0.2)
        with pytest.raises(TimeoutError):
            raw.recv(1)
    with FullListener() as full, pytest.raises(TimeoutError):
        socket.create_connection(("127.0.0.1", full.port), timeout=0.5)
