"""The OpenAPI document is valid and complete, and a tool that tests the sandbox from the document finds no mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from openapi_spec_validator import validate

from billcore.testing import Sandbox
from billcore_sandbox.openapi import VERSION, document
from billcore_sandbox.options import Options
from billcore_sandbox.service.event_schemas import EVENTS
from billcore_sandbox.service.routes import OPERATIONS
from sandbox.support import Service
from support.waiting import GENEROUS

HERE = Path(__file__).parent


def read(sandbox: Sandbox, path: str) -> Any:
    origin = sandbox.base_url.rpartition("/")[0]
    with urlopen(origin + path, timeout=GENEROUS) as answer:
        return json.load(answer)


def test_the_openapi_documents_are_valid_and_have_no_unused_schema(process: Sandbox) -> None:
    service, both = (read(process, path) for path in ("/openapi.json", "/_sandbox/openapi.json"))
    for each in (service, both):
        validate(each)
        text = json.dumps(each)
        assert [name for name in each["components"]["schemas"] if f'schemas/{name}"' not in text] == []
        # A dot in a component's name would mean that two types have the same name: msgspec then adds the module.
        assert [name for name in each["components"]["schemas"] if "." in name] == []
    named = {
        each["operationId"]: (method.upper(), path)
        for path, item in service["paths"].items()
        for method, each in item.items()
    }
    assert named == {each.name: (each.method, each.path) for each in OPERATIONS}
    assert service["info"]["version"] == VERSION
    assert service["servers"][0]["variables"]["account"]["default"] == process.base_url.rpartition("/")[2]
    assert [*service["webhooks"]] == [*EVENTS]
    assert service["paths"].items() <= both["paths"].items()
    assert service["webhooks"] == both["webhooks"]
    control = {
        f"{method.upper()} {path}"
        for path, item in both["paths"].items()
        for method in item
        if path not in service["paths"] and method != "servers"
    }
    index = read(process, "/_sandbox/")["routes"]
    assert control == {f"{row['method']} {row['path']}" for row in index}


def test_options_show_in_the_document() -> None:
    shown = document(Options(donation_status=403, signature_header="X-Signature"), "account")
    answers = shown["paths"]["/subscription/{id}/order"]["post"]["responses"]
    assert "donation_subscription" in answers["403"]["description"]
    assert "donation_subscription" not in answers["402"]["description"]
    assert shown["webhooks"]["order.paid"]["post"]["parameters"][0]["name"] == "X-Signature"


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with Sandbox(seed=1, start="2026-01-12T09:00:00Z") as sandbox:
        document = sandbox.base_url.rpartition("/")[0] + "/openapi.json"
        code = "from schemathesis.cli import schemathesis; schemathesis()"
        command = [sys.executable, "-c", code, "--config-file", str(HERE / "schemathesis.toml"), "run", document]
        command += ["--url", sandbox.base_url, "-H", f"X-API-KEY: {sandbox.api_key}"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "SCHEMATHESIS_HOOKS": "sandbox.openapi_hooks",
            "ONE_TIME_PRODUCT": str(Service(sandbox.accounts[0]).product()["id"]),
        }
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr + sandbox.stderr()
        assert "Traceback" not in sandbox.stderr()
        kinds = {effect["kind"] for effect in sandbox.control.ledger()}
        answered = {each["operation"] for each in sandbox.control.requests() if each["status"] == 200}
        assert answered == {each.name for each in OPERATIONS}
        assert {"charge", "cancel", "change_product", "product_update", "product_delete"} <= kinds
