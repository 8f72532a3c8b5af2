"""Signals are handled at once while a call waits for something else than its answer; test_attempts_blocking.py has the
wait for the answer."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conformance.server import FullListener, Reply, Request, Script, SilentListener, closed_port
from support.children import child_environment
from support.waiting import LATE

from .conftest import Serve
from .support import ACCOUNT, API_KEY, SANITIZED

CALLER = """
import signal, sys, billcore
signal.signal(signal.SIGINT, signal.default_int_handler)
client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], timeout=None, max_retries=int(sys.argv[3]))
try:
    print("begins", flush=True)
    exec(compile(sys.argv[4], "call", "exec"))  # exec() of a str would make Python exit by the signal
except KeyboardInterrupt as error:
    print("KeyboardInterrupt", *getattr(error, "__notes__", []))
"""
GET = 'client.subscriptions.get("s")'
CHARGE = 'client.subscriptions.charge("s", product_id=1, amount=1)'


def ctrl_c(
    url: str,
    code: str,
    asked: threading.Event | None = None,
    *,
    retries: int = 0,
    environment: dict[str, str] | None = None,
) -> list[str]:
    """Returns the output of a program whose waiting call `code` is interrupted; the program must end at once."""
    process = subprocess.Popen(
        [sys.executable, "-c", CALLER, url + ACCOUNT, API_KEY, str(retries), code],
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(**(environment or {})),
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "begins\n"
        assert asked is None or asked.wait(60)
        time.sleep(0.15)  # let the call begin to wait; an earlier signal would interrupt other code
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0 and time.monotonic() - interrupted < LATE
    return output.splitlines()


def telling(asked: threading.Event, reply: Reply) -> Script:
    """A script that sets the event `asked` at each request and always answers with `reply`."""

    def script(_: Request) -> Reply:
        asked.set()
        return reply

    return script


@pytest.mark.parametrize("code", [GET, "list(client.products.list())"])
def test_ctrl_c_ends_the_wait_before_a_repetition(serve: Serve, code: str) -> None:
    asked = threading.Event()
    server, _ = serve(telling(asked, Reply(status=503, headers={"Retry-After": "50"})))
    assert ctrl_c(server.url, code, asked, retries=5) == ["KeyboardInterrupt"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [GET, CHARGE])
def test_ctrl_c_while_another_call_is_limited(serve: Serve, code: str) -> None:
    asked = threading.Event()
    server, _ = serve(telling(asked, Reply(status=429, headers={"Retry-After": "50"})))
    limited = """
try:
    client.with_options(max_retries=0).orders.get("o")
except billcore.RateLimitError:
    pass
"""
    # After the 429 the interrupted call waits and sends no request, so its error has no note about a write.
    assert ctrl_c(server.url, limited + code, asked, retries=5) == ["KeyboardInterrupt"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [GET, CHARGE])
def test_ctrl_c_while_nobody_listens(code: str) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    assert ctrl_c(url, code, retries=1000) == ["KeyboardInterrupt"]


@pytest.mark.parametrize("code", [GET, CHARGE])
@pytest.mark.parametrize("listener", [SilentListener, FullListener])
def test_ctrl_c_while_it_connects(listener: type[SilentListener | FullListener], code: str) -> None:
    with listener() as listening:
        assert ctrl_c(f"https://127.0.0.1:{listening.port}", code) == ["KeyboardInterrupt"]


# The test replaces the resolver through LD_PRELOAD, which AddressSanitizer does not allow.
@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
@pytest.mark.parametrize("code", [GET, CHARGE])
def test_ctrl_c_while_the_host_is_looked_up(tmp_path: Path, code: str) -> None:
    library = tmp_path / "slow_dns.so"
    source = Path(__file__).resolve().parent.parent / "conformance" / "slow_dns.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    preloaded = {"LD_PRELOAD": str(library), "SLOW_DNS_SECONDS": "20"}
    assert ctrl_c("https://billing.example", code, environment=preloaded) == ["KeyboardInterrupt"]
