"""Tests a write that the client gives up while the network is down: when the network comes back, the kernel must not
deliver the write."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from support.children import child_environment
from support.waiting import until

from . import steps
from .certificates import Certificates
from .http2 import Http2Connection, Stream
from .outage import Network, network
from .proxy import Connection, Exchange, Gone, Proxy

__all__ = ["network"]
pytestmark = pytest.mark.one_language

# Charges once, which leaves a kept connection; waits for a line; charges again, and gives up in one of several ways.
PROGRAM = """
import asyncio, json, os, signal, sys, threading
import billcore

given = json.loads(sys.argv[1])
how = given["how"]
charge = dict(product_id=1, amount=1500)

def ready():
    print("ready", flush=True)
    sys.stdin.readline()

def blocking():
    client = billcore.Client(**given["client"])
    client.subscriptions.charge("s", **charge)
    ready()
    if how == "exit":
        threading.Thread(target=client.subscriptions.charge, args=("s",), kwargs=charge, daemon=True).start()
        sys.stdin.readline()
        return
    client.subscriptions.charge("s", **charge, **({"timeout": given["timeout"]} if given["timeout"] else {}))

async def awaited():
    client = billcore.AsyncClient(**given["client"])
    await client.subscriptions.charge("s", **charge)
    ready()
    call = asyncio.create_task(client.subscriptions.charge("s", **charge, timeout=given["timeout"]))
    if how in ("cancel", "loop"):
        await asyncio.to_thread(sys.stdin.readline)
    if how == "loop":
        return call  # kept, so that only the loop's end gives it up
    if how == "cancel":
        call.cancel()
    await call

def run():
    if not given["awaited"]:
        return blocking()
    loop = asyncio.new_event_loop()
    kept = loop.run_until_complete(awaited())
    loop.close()
    print("closed", flush=True)
    sys.stdin.readline()

try:
    run()
except (billcore.OutcomeUnknownError, asyncio.CancelledError, KeyboardInterrupt) as error:
    print(type(error).__name__, flush=True)
    sys.stdin.readline()
"""


def answered(exchange: Any) -> None:
    if isinstance(exchange, Stream):
        exchange.send_head(200)
        exchange.send_body(steps.ORDER.partition(b"\r\n\r\n")[2], end=True)
    else:
        exchange.read()
        exchange.send(steps.ORDER)


def unanswered(exchange: Any) -> None:
    if isinstance(exchange, Exchange):
        exchange.read()
    raise Gone


WAYS = [
    ("deadline", False),
    ("deadline", True),
    ("stopped", False),
    ("cancel", True),
    ("loop", True),
    ("interrupt", False),
    ("exit", False),
    ("kill", False),
    ("kill", True),
]
SAID = {
    "deadline": "OutcomeUnknownError",
    "stopped": "OutcomeUnknownError",
    "cancel": "CancelledError",
    "loop": "closed",
    "interrupt": "KeyboardInterrupt",
}


@pytest.mark.parametrize("transport", ["plain", "proxy", "tls", "http2"])
@pytest.mark.parametrize(("how", "awaited"), WAYS, ids=[f"{how}{'-awaited' * awaited}" for how, awaited in WAYS])
def test_a_write_that_was_given_up_is_not_delivered(
    network: Network, certificates: Certificates, transport: str, how: str, awaited: bool
) -> None:
    context = certificates.for_address(network.SERVER) if transport in ("tls", "http2") else None
    if context is not None and transport == "http2":
        context.set_alpn_protocols(["h2"])
    kind = Http2Connection if transport == "http2" else Connection
    proxy = Proxy(("", 0), [answered, unanswered], tls=context, kind=kind, listener=network.listener())
    address = f"{network.SERVER}:{proxy.port}"
    client = {
        "base_url": f"{'https' if context else 'http'}://{'shop.example' if transport == 'proxy' else address}/account",
        "proxy": f"http://{address}" if transport == "proxy" else "",
        "api_key": "key",
        "timeout": None,
        "ca_bundle": str(certificates.bundle),
        "http2": transport == "http2",
        "allow_insecure_http": True,
    }
    timeout = {"deadline": 0.5, "stopped": 2.0}.get(how)
    given = json.dumps({"client": client, "how": how, "awaited": awaited, "timeout": timeout})
    command = network.on_client(sys.executable, "-c", PROGRAM, given)
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=child_environment()) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            network.fail()
            process.stdin.write("go on\n")
            process.stdin.flush()
            until(lambda: network.is_sending(proxy.port))
            if how == "interrupt":
                process.send_signal(signal.SIGINT)
            elif how == "kill":
                process.kill()
            elif how == "stopped":  # the kernel itself gives up the write
                process.send_signal(signal.SIGSTOP)
                until(lambda: not network.is_sending(proxy.port))
                network.recover()
                network.connect_from_client(proxy.port)
                process.send_signal(signal.SIGCONT)
            elif how != "deadline":
                process.stdin.write("give up\n")
                process.stdin.flush()
            if how in ("kill", "exit"):
                process.wait()
            else:
                assert process.stdout.readline().strip() == SAID[how]
            if how != "stopped":  # then the network works again, and the end of the connection may be under way
                assert not network.is_sending(proxy.port), "the kernel goes on delivering the write"
            network.recover()
            network.connect_from_client(proxy.port)
            process.kill()
    finally:
        network.recover()
        proxy.close()
    assert len(proxy.seen) == 1, "the write was delivered"
