"""`billcore listen` in a pipe: exact bytes, honest answers, its history, its endpoint at a sandbox, bad input."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import socket
import stat
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Sandbox
from conformance.server import Reply, Request, ScriptedServer
from support.ports import reserve_port
from support.waiting import GENEROUS, until

from .listening import Listening, listen_environment, post
from .support import refused
from .test_webhook import ODD, SECRET, signature

EVENT = b'{"id":"7","name":"order.paid","account":1,"created_at":"2026-01-01T00:00:00Z","data":{}}'
HERE = "http://127.0.0.1:1"


def test_exact_bytes_and_the_answer_of_the_target(tmp_path: Path) -> None:
    """The sender gets the target's answer, and only when the target has given it."""
    given = threading.Event()

    def answer(request: Request) -> Reply:
        assert given.wait(GENEROUS)
        return Reply(202, {"Content-Type": "text/x"}, b"taken")

    with (
        ScriptedServer(answer) as target,
        Listening(tmp_path, "--forward-to", f"{target.url}/a?b=c", "--path", "/hooks", "--body") as listen,
    ):
        answers = []
        sender = threading.Thread(target=lambda: answers.append(post(listen.url, ODD, User_Agent="Service/1.0")))
        sender.start()
        until(lambda: target.requests)
        time.sleep(0.2)
        assert answers == []
        given.set()
        sender.join()
        assert (answers[0].status, answers[0].headers["content-type"], answers[0].body) == (202, "text/x", b"taken")
        (request,) = target.requests
        assert (request.body, request.target, request.header("User-Agent")) == (ODD, "/a?b=c", "Service/1.0")
        assert request.header("Service-Signature") == signature(ODD)
        line = listen.next()
        assert (line["status"], line["verified"], line["id"], line["name"], line["note"]) == (202, "ok", "-", "-", "")
        assert "body" not in line and line["body_base64"] and line["ms"] >= 200
        assert post(listen.url.removesuffix("/hooks"), EVENT).status == 404
        assert listen.next()["kind"] == "refused"


def test_a_target_that_fails(tmp_path: Path) -> None:
    """Down: 502. Silent: 504. With --retry, it is tried again before the sender is answered."""
    reserved = reserve_port()
    down = f"http://127.0.0.1:{reserved.getsockname()[1]}/"
    with Listening(tmp_path, "--forward-to", down) as listen:
        assert post(listen.url, EVENT).status == 502
        assert "no receiver was reached" in listen.next()["note"]
    reserved.close()
    silent = [
        Reply(raw=b"", ending="hang"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nX: ", ending="hang"),
        Reply(500, body=b"boom"),
    ]
    silent += [Reply(503), Reply(raw=b"", ending="close"), Reply(201)]
    with ScriptedServer(silent) as target:
        with Listening(tmp_path, "--forward-to", target.url, "--timeout", "0.5") as listen:
            for status, note in ((504, "within 0.5 s"), (504, "within 0.5 s"), (500, "boom")):
                assert post(listen.url, EVENT).status == status
                assert note in listen.next()["note"]
        with Listening(tmp_path, "--forward-to", target.url, "--retry", "0.1,0.1") as listen:
            assert post(listen.url, EVENT).status == 201
        assert len(target.requests) == 6


def test_what_is_not_forwarded(tmp_path: Path) -> None:
    """A wrong signature, a body over the limit, a request that is no webhook."""
    with ScriptedServer(lambda _: Reply()) as target, Listening(tmp_path, "--forward-to", target.url) as listen:
        wrong = post(listen.url, EVENT + b"\n", Service_Signature=signature(EVENT))
        line = listen.next()
        assert (wrong.status, line["status"], line["verified"], line["id"]) == (400, 400, "mismatch", "7")
        assert "a line end was added at its end" in line["note"] and SECRET not in json.dumps(line)
        assert post(listen.url, b"x" * 10_000_000).status == 413
        assert "body_too_large" in listen.next()["note"]
        assert raw(listen.url, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 405")
        assert b"400" in raw(listen.url, b"rubbish\r\n\r\n")
        assert target.requests == []
        smuggled = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        assert b"does not say clearly where its body ends" in raw(listen.url, smuggled)
        head = (
            f"POST / HTTP/1.1\r\nHost: a\r\nService-Signature: {signature(EVENT)}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        pieces = b"%x;a=b\r\n%b\r\n%X\r\n%b\r\n0\r\nTrailer: a\r\n\r\n" % (4, EVENT[:4], len(EVENT) - 4, EVENT[4:])
        assert raw(listen.url, head.encode() + pieces).startswith(b"HTTP/1.1 200")
        assert [each.body for each in target.requests] == [EVENT]


def port_of(url: str) -> int:
    return int(url.split("/")[2].rpartition(":")[2])


def raw(url: str, data: bytes) -> bytes:
    """The whole answer to a request of these bytes."""
    with socket.create_connection(("127.0.0.1", port_of(url)), GENEROUS) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)  # so that the connection is closed after the answer
        return b"".join(iter(lambda: connection.recv(1000), b""))


def history_of(folder: Path) -> Path:
    return folder / "state/billcore/listen-0.ndjson"


def test_the_history(tmp_path: Path) -> None:
    """For its owner alone; never over its size; whole after kill -9, and after a line that was cut."""
    with Listening(tmp_path, "--history-bytes", 4 << 20) as listen:
        for at in range(6):
            assert post(listen.url, EVENT[:-1] + b" " * 900_000 + b"%d}" % at).status == 400  # no event, but signed
        assert post(listen.url, EVENT).status == 200
        assert history_of(tmp_path).stat().st_size <= 4 << 20
        assert stat.S_IMODE(history_of(tmp_path).stat().st_mode) == 0o600
        listen.end(signal.SIGKILL)
    kept = history_of(tmp_path).read_bytes().splitlines()
    assert json.loads(kept[-1])["name"] == "order.paid" and len(kept) >= 2
    history_of(tmp_path).write_bytes(b"\n".join([*kept, kept[-1][:50]]))
    with Listening(tmp_path) as listen:
        assert post(listen.url, EVENT).status == 200
    lines = history_of(tmp_path).read_bytes().splitlines()
    assert len(lines) == len(kept) + 1 and all(json.loads(line) for line in lines)


def test_a_full_disk(tmp_path: Path) -> None:
    """The webhooks are still forwarded; one sentence says that they are not kept."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    with (
        ScriptedServer(lambda _: Reply()) as target,
        Listening(tmp_path, "--forward-to", target.url, preexec_fn=limit) as listen,
    ):
        assert [post(listen.url, EVENT).status for _ in range(6)] == [200] * 6
        assert [listen.next()["status"] for _ in range(6)] == [200] * 6
        status, said = listen.end()
        assert status == 128 + signal.SIGTERM and len(target.requests) == 6
        assert said.count("\n") == 1 and "webhooks are in memory only" in said and "Traceback" not in said
    assert all(json.loads(line) for line in history_of(tmp_path).read_bytes().splitlines())


def test_an_endpoint_of_a_sandbox(tmp_path: Path) -> None:
    """It is registered with its secret until the end; after kill -9, the next process takes its place."""
    with Sandbox() as sandbox, reserve_port() as reserved:
        env = listen_environment(tmp_path, BILLCORE_SANDBOX_CONTROL=sandbox.control_url)
        del env["BILLCORE_WEBHOOK_SECRET"]
        port = reserved.getsockname()[1]
        with Listening(tmp_path, "--port", port, env=env) as listen:
            listen.end(signal.SIGKILL)
        with Listening(tmp_path, "--port", port, env=env) as listen:
            (endpoint,) = sandbox.control.endpoints()
            assert endpoint["url"] == listen.url == f"http://127.0.0.1:{port}/"
            sandbox.control.test_hook()
            assert (listen.next()["name"], sandbox.control.wait_for_deliveries()[-1]["state"]) == (
                "test.hook",
                "delivered",
            )
            assert listen.end(signal.SIGINT) == (130, "billcore listen: interrupted\n")
        assert sandbox.control.endpoints() == []


def test_the_reader_of_the_lines_ends(tmp_path: Path) -> None:
    """As usual in a pipe, SIGPIPE then ends the process; the endpoint at the sandbox is removed before."""
    with Sandbox() as sandbox:
        with Listening(tmp_path, "--sandbox", sandbox.control_url) as listen:
            assert listen.process.stdout is not None
            listen.process.stdout.close()
            sandbox.control.test_hook()
            assert listen.process.wait(GENEROUS) == -signal.SIGPIPE
            assert listen.process.stderr is not None and listen.process.stderr.read() == ""
        assert sandbox.control.endpoints() == []


def test_a_sender_that_is_not_answered_is_told(tmp_path: Path) -> None:
    def send() -> None:
        with contextlib.suppress(OSError):
            post(listen.url, EVENT)

    with (
        ScriptedServer([Reply(raw=b"", ending="hang")]) as target,
        Listening(tmp_path, "--forward-to", target.url) as listen,
    ):
        threading.Thread(target=send, daemon=True).start()
        until(lambda: target.requests)
        status, said = listen.end(signal.SIGINT)
        assert status == 130 and "1 webhook was not answered: the sender will send it again" in said


def test_a_sender_that_has_gone(tmp_path: Path) -> None:
    """The target has handled the webhook, but the sender does not know: it will send it again."""
    given = threading.Event()

    def answer(_: Request) -> Reply:
        assert given.wait(GENEROUS)
        return Reply()

    with ScriptedServer(answer) as target, Listening(tmp_path, "--forward-to", target.url) as listen:
        head = f"POST / HTTP/1.1\r\nService-Signature: {signature(EVENT)}\r\nContent-Length: {len(EVENT)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port_of(listen.url)), GENEROUS) as sender:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() sends a reset
            sender.sendall(head.encode() + EVENT)
            until(lambda: target.requests)
        given.set()
        line = listen.next()
        assert line["status"] == 200 and "the sender had gone" in line["note"]


def test_a_target_that_is_itself(tmp_path: Path) -> None:
    """It would forward each webhook to itself for ever."""
    with reserve_port() as reserved:
        port = reserved.getsockname()[1]
        arguments = ("listen", "--port", port, "--forward-to", f"http://localhost:{port}/hooks")
        assert "is this billcore listen itself" in refused(HERE, 2, *arguments, env=listen_environment(tmp_path))


def test_two_on_one_port_or_one_history(tmp_path: Path) -> None:
    with Listening(tmp_path) as listen:
        port = port_of(listen.url)
        env = listen_environment(tmp_path)
        in_use = refused(HERE, 1, "listen", "--port", port, env=env)
        assert (
            in_use == f"billcore listen: port {port} of 127.0.0.1 is in use, perhaps by another billcore listen: "
            "pass another --port"
        )
        assert "another billcore listen uses" in refused(HERE, 1, "listen", "--port", "0", env=env)


@pytest.mark.parametrize(
    ("status", "arguments", "variables", "text"),
    [
        (2, [], {}, "there is no secret"),
        (2, [], {"BILLCORE_WEBHOOK_SECRET": f"{SECRET}\n"}, "ends with a line end"),
        (5, [], {"BILLCORE_SANDBOX_CONTROL": "http://127.0.0.1:1/_sandbox"}, "no sandbox listens at"),
        (2, ["--sandbox"], {}, "--sandbox needs the control URL"),
        (2, ["--sandbox", "ftp://a"], {}, "is not the control URL of a sandbox"),
        (2, ["--forward-to", "127.0.0.1:80"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--forward-to must be a URL"),
        (2, ["--forward-to", "http://a.invalid"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--yes"),
        (2, ["--path", "hooks"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--path must be a path"),
        (2, ["--port", "70000"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--port must be from 0 to 65535"),
        (1, ["--host", "192.0.2.1"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "cannot listen on 192.0.2.1"),
        (1, ["--host", "a.invalid"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "cannot listen on a.invalid"),
        (2, ["--history", "/dev/full"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "/dev/full is not a file"),
        (1, ["--history", "/proc/x/y"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--history: /proc/x/y cannot be written"),
        (2, ["--history-bytes", "5"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "--history-bytes must be at least"),
        (2, ["--retry", "1,x"], {"BILLCORE_WEBHOOK_SECRET": SECRET}, "list of seconds"),
    ],
)
def test_bad_input(tmp_path: Path, status: int, arguments: list[str], variables: dict[str, str], text: str) -> None:
    """One sentence each, before anything is received."""
    env: dict[str, Any] = listen_environment(tmp_path)
    del env["BILLCORE_WEBHOOK_SECRET"]
    line = refused(HERE, status, "listen", "--port", "0", *arguments, env=env | variables)
    assert text in line and SECRET not in line and line.startswith("billcore listen: ")
