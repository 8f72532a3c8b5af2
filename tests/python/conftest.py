"""Fixtures: a scripted server and a client for it. Every test gets its own server and client."""

from __future__ import annotations

import gc
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings

import billcore
from conformance.server import Script, ScriptedServer

from .fork_support import Scene, answer
from .support import SANITIZED, options_for

# Hypothesis examples have no deadline, because a busy machine may run an example slowly.
settings.register_profile("billcore", deadline=None)
settings.load_profile("billcore")


def pytest_collection_finish() -> None:
    # Many tests call gc.collect(), which then leaves out the objects of pytest and of the imported packages.
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # at its end, the interpreter collects them too


Serve = Callable[[Script], tuple[ScriptedServer, billcore.Client]]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, str]:
    """The TLS context of a server on 127.0.0.1, and the CA file for its clients."""
    folder = tmp_path_factory.mktemp("tls")
    files = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -nodes -days 2 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=tests"
    command += f" -addext subjectAltName=IP:127.0.0.1 -out {files[0]} -keyout {files[1]}"
    subprocess.run(command.split(), check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    context.num_tickets = 0  # no session tickets: the kernel delays the two small writes that send them
    return context, str(files[0])


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Returns the function serve(script) -> (server, client)."""
    with ExitStack() as stack:

        def start(script: Script) -> tuple[ScriptedServer, billcore.Client]:
            server = stack.enter_context(ScriptedServer(script))
            client = billcore.Client(**options_for(server))
            stack.callback(client.close)
            return server, client

        yield start


@pytest.fixture(params=["tls"] if SANITIZED else ["http", "tls"])
def scene(request: pytest.FixtureRequest, tls: tuple[ssl.SSLContext, str]) -> Iterator[Scene]:
    """A server for programs that fork; the test runs with TLS, and without sanitizers also without TLS."""
    context, bundle = tls if request.param == "tls" else (None, "")
    with ScriptedServer(answer, tls=context) as server:
        yield Scene(server, bundle)
