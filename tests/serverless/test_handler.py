"""The example Lambda handler: its answers through every kind of gateway, and the modules that it loads."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from billcore import webhooks
from support.children import child_environment

from .gateways import SHAPES, gateway_event
from .support import (
    BODY,
    DELIVERIES,
    EXAMPLES,
    FORMER,
    HEADER,
    SECRET,
    SIGNATURE,
    load,
)

VARIANTS = [(shape, encoded) for shape in SHAPES for encoded in (False, True, None)]


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("WEBHOOK_SECRET", f"{SECRET},{FORMER}")
    return load(EXAMPLES / "aws_lambda.py").handler


@pytest.mark.parametrize(("shape", "encoded"), VARIANTS)
def test_each_gateway_format_gets_the_verifiers_answer(
    handler: Any, shape: str, encoded: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
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
    assert capsys.readouterr().out == "order.paid 9\n" * 2


def test_the_shared_deliveries(handler: Any) -> None:
    def answer(body: str) -> int:
        signature = webhooks.sign(body.encode(), SECRET)
        return int(handler(gateway_event("rest-v1", [(HEADER, signature)], body.encode()), None)["statusCode"])

    assert {each["name"]: answer(each["body"]) for each in DELIVERIES} == {
        each["name"]: each["status"] for each in DELIVERIES
    }


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
