"""A scripted server and a client for it; every test gets its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings

import billcore
from conformance.server import Script, ScriptedServer

from .support import ACCOUNT, API_KEY

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("billcore", deadline=None)
settings.load_profile("billcore")

Serve = Callable[[Script], tuple[ScriptedServer, billcore.Client]]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(script) -> (server, client)"""
    with ExitStack() as stack:

        def start(script: Script) -> tuple[ScriptedServer, billcore.Client]:
            server = stack.enter_context(ScriptedServer(script))
            # Every canned answer is meant to be seen; test_retries.py is about those who are not content with one.
            client = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=0)
            stack.callback(client.close)
            return server, client

        yield start
