"""Tests that a call ends at its deadline although the name server hangs: the call must not wait for the resolver
thread.

A preloaded library replaces the resolver. Preloading does not work in programs with sanitizers, so the tests use the
drivers of the release build in $BILLCORE_RELEASE_BUILD.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.waiting import LATE

from .drivers import OF_OWN_AREAS, VARIABLES, clean_environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

PYTHON_DRIVER = """
import json, sys
from tests.conformance.python_driver import PythonDriver
driver = PythonDriver(awaited=sys.argv[1] == "python-async")
for line in sys.stdin:
    print(json.dumps(driver.run(json.loads(line))), flush=True)
"""


def program(language: str) -> list[str]:
    build = os.environ["BILLCORE_RELEASE_BUILD"]
    in_c = f"{build}/tests/capi/wire-driver-c"
    compiled = {"cpp": [f"{build}/tests/core/wire-driver-cpp"], "c": [in_c], "c-loop": [in_c, "loop"]}
    if language in OF_OWN_AREAS:
        return [os.environ[VARIABLES[language]]]
    return compiled.get(language, [sys.executable, "-c", PYTHON_DRIVER, language])


@pytest.fixture(scope="module")
def slow_dns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("dns") / "slow_dns.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "slow_dns.c"], check=True)
    return library


CALLS: dict[str, dict[str, Any]] = {
    "get": {"op": "orders.get", "args": {"id": "o"}},
    "charge": {"op": "subscriptions.charge", "args": {"id": "s", "product_id": 1, "amount": 1}},
}


@pytest.mark.parametrize("call", CALLS)
def test_a_hanging_name_server_does_not_hold_a_call(language: str, slow_dns: Path, call: str) -> None:
    timeout = 0.5
    client = {"base_url": "https://billing.example/acct", "api_key": "key_dns", "timeout": timeout}
    environment = clean_environment() | {"LD_PRELOAD": str(slow_dns), "SLOW_DNS_SECONDS": "90"}
    with subprocess.Popen(
        program(language), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        # The program answers the first request with an error, because the id is empty. This answer shows that the
        # program has started, so the time measured for the second request contains only the call.
        for line in ({"op": "orders.get", "client": client, "args": {"id": ""}}, {**CALLS[call], "client": client}):
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            begun = time.monotonic()
            reply = json.loads(process.stdout.readline())
            took = time.monotonic() - begun
        assert reply["error"]["class"] == "TimeoutError" and not reply["error"].get("outcome_unknown"), reply
        assert took < LATE
        process.kill()
