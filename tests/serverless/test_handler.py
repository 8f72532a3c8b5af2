"""The example Lambda handler: deliveries of the sandbox through every kind of gateway, and the modules that the
handler loads."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from billcore import webhooks
from billcore.testing import Sandbox
from support.children import child_environment

from .gateways import SHAPES, gateway_event
from .support import (
    BODY,
    EXAMPLES,
    FORMER,
    HEADER,
    SECRET,
    SIGNATURE,
    TEST_HOOKS,
    deliver_events,
    event_line,
    event_lines,
    load,
)

VARIANTS = [(shape, encoded) for shape in SHAPES for encoded in (False, True, None)]


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WEBHOOK_SECRET", f"{SECRET},{FORMER}")
    return load(EXAMPLES / "aws_lambda.py").handler


@dataclass
class Gateway:
    """Passes the event of each gateway to the handler in turn. If the handler returns the same status for all events,
    answers with this status."""

    handler: Any
    port: int = 0
    answers: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/webhooks"

    def pass_on(self, headers: list[tuple[str, str]], body: bytes) -> int:
        events = [gateway_event(shape, headers, body, encoded=encoded) for shape, encoded in VARIANTS]
        # Converts event and answer to JSON and back, because a gateway exchanges JSON with the handler.
        answers = [json.loads(json.dumps(self.handler(json.loads(json.dumps(event)), None))) for event in events]
        self.answers.append(answers)
        statuses = {answer["statusCode"] for answer in answers}
        return int(statuses.pop()) if len(statuses) == 1 else 599


@pytest.fixture
def gateway(handler: Any) -> Iterator[Gateway]:
    gateway = Gateway(handler)

    class Requests(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = 598
            try:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = gateway.pass_on(self.headers.items(), body)
            finally:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Requests) as server:
        gateway.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield gateway
        server.shutdown()
        thread.join()


def test_deliveries_are_received(gateway: Gateway, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    deliveries = deliver_events(sandbox, gateway.url)
    assert sorted(delivery["event"] for delivery in deliveries) == ["order.confirmed", "order.paid", "test.hook"]
    assert [[attempt["status"] for attempt in delivery["attempts"]] for delivery in deliveries] == [[200]] * 3
    assert gateway.answers == [[{"statusCode": 200, "body": ""}] * len(VARIANTS)] * 3
    output = capsys.readouterr().out
    expected = [event_line(delivery) for delivery in deliveries]
    assert sorted(event_lines(output)) == sorted(expected * len(VARIANTS))
    assert not any(delivery["body"] in output or delivery["signature"] in output for delivery in deliveries)


def test_deliveries_of_a_stranger_are_refused(
    gateway: Gateway, stranger: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    deliveries = deliver_events(stranger, gateway.url)
    assert [[attempt["status"] for attempt in delivery["attempts"]] for delivery in deliveries] == [[401, 401]] * 3
    assert gateway.answers == [[{"statusCode": 401, "body": "mismatch"}] * len(VARIANTS)] * 6
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("shape", "encoded"), VARIANTS)
def test_each_gateway_format_gets_the_verifiers_answer(handler: Any, shape: str, encoded: bool | None) -> None:
    def answer(headers: list[tuple[str, str]], body: bytes = BODY) -> tuple[int, str]:
        given = handler(gateway_event(shape, headers, body, encoded=encoded), None)
        assert set(given) == {"statusCode", "body"}
        return given["statusCode"], given["body"]

    assert answer([(HEADER, SIGNATURE)]) == (200, "")
    assert answer([(HEADER, webhooks.sign(BODY, FORMER))]) == (200, "")
    assert answer([(HEADER, SIGNATURE)], BODY[:-1]) == (401, "mismatch")
    assert answer([]) == (401, "missing")
    assert answer([(HEADER, "sha256=" + SIGNATURE)]) == (400, "malformed")
    assert answer([(HEADER, SIGNATURE)], b" " * ((1 << 20) + 1)) == (413, "body_too_large")


@pytest.mark.parametrize("body", TEST_HOOKS)
def test_only_the_name_of_a_test_hook_is_read(handler: Any, body: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    event = gateway_event("rest-v1", [(HEADER, webhooks.sign(body, SECRET))], body)
    assert handler(event, None) == {"statusCode": 200, "body": ""}
    assert event_lines(capsys.readouterr().out) == [("test.hook", "")]


@pytest.mark.parametrize("secret", [None, "", "too short", f"{SECRET},"])
def test_a_secret_that_cannot_work_is_one_clear_line(secret: str | None) -> None:
    environment = child_environment()
    environment.pop("WEBHOOK_SECRET", None)
    environment |= {} if secret is None else {"WEBHOOK_SECRET": secret}
    done = subprocess.run(
        [sys.executable, "-c", "import aws_lambda"],
        capture_output=True,
        text=True,
        cwd=EXAMPLES,
        env=environment,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("WEBHOOK_SECRET: the signing secret ") and done.stderr.count("\n") == 1
    assert "too short" not in done.stderr and SECRET not in done.stderr


LOADED = """
import sys
import json as _json  # a module that the platform has already loaded
platform = set(sys.modules)
sys.path.insert(0, sys.argv[1])
import aws_lambda
event = _json.loads(sys.argv[2])
assert aws_lambda.handler(event, None)["statusCode"] == 200
maps = open("/proc/self/maps").read()
print(_json.dumps({"modules": sorted(set(sys.modules) - platform), "maps": maps}))
"""


def test_a_handler_loads_the_verifier_and_nothing_else() -> None:
    event = gateway_event("rest-v1", [(HEADER, SIGNATURE)], BODY, encoded=True)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(EXAMPLES), json.dumps(event)],
        capture_output=True,
        text=True,
        env=child_environment(WEBHOOK_SECRET=SECRET),
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    modules = {name for name in loaded["modules"] if not name.startswith("pybind11_builtins")}
    verifier = {
        "__future__",
        "billcore",
        "billcore._error_base",
        "billcore._errors",
        "billcore._receivers",
        "billcore._receivers.aws_lambda",
        "billcore._webhook",
        "billcore.webhooks",
    }
    assert modules - {"binascii"} == {*verifier, "aws_lambda"}
    assert "_webhook" in loaded["maps"]
    assert not any(name in loaded["maps"] for name in ("libcurl", "_client", "libssl", "_asyncio"))
