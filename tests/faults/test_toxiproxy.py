"""Repeats tests of test_answers.py with the faults of toxiproxy, which can occur at any byte of a connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from .scene import Outcome, Scene, World
from .test_answers import LATE, LOST, OK
from .toxiproxy import Line, Toxiproxy

pytestmark = pytest.mark.one_language
OPERATIONS = ["orders.get", "subscriptions.charge", "products.delete", "webhook_endpoints.create"]


@dataclass(frozen=True)
class Toxic:
    """A toxic (a fault of toxiproxy) and the expected results of calls through it. effect: number of effects; None if
    timing decides."""

    name: str
    kind: str
    stream: str
    read: tuple[str, ...]
    write: tuple[str, ...]
    effect: int | None
    timeout: float = 10.0
    attributes: dict[str, int] = field(default_factory=dict)


TOXICS = [
    Toxic("latency", "latency", "downstream", (OK,), (OK,), 1, attributes={"latency": 80, "jitter": 20}),
    Toxic("slices", "slicer", "downstream", (OK,), (OK,), 1, attributes={"average_size": 9, "delay": 200}),
    Toxic("slices-up", "slicer", "upstream", (OK,), (OK,), 1, attributes={"average_size": 9, "delay": 200}),
    Toxic("slow-close", "slow_close", "downstream", (OK,), (OK,), 1, attributes={"delay": 300}),
    Toxic("trickle", "latency", "downstream", ("TimeoutError",), (LATE,), None, 0.4, {"latency": 5000}),
    Toxic("black-hole", "timeout", "upstream", ("TimeoutError",), (LATE,), 0, 0.4, {"timeout": 0}),
    Toxic("black-hole-back", "timeout", "downstream", ("TimeoutError",), (LATE,), None, 0.4, {"timeout": 0}),
    Toxic("cut-up", "limit_data", "upstream", ("ConnectionError",), (LOST,), 0, attributes={"bytes": 100}),
    Toxic("cut", "limit_data", "downstream", ("ConnectionError",), (LOST,), 1, attributes={"bytes": 100}),
    Toxic("cut-at-0", "limit_data", "downstream", ("ConnectionError",), (LOST,), 1, attributes={"bytes": 0}),
    Toxic("reset-up", "reset_peer", "upstream", ("ConnectionError",), (LOST,), None, attributes={"timeout": 0}),
    Toxic("reset", "reset_peer", "downstream", ("ConnectionError",), (LOST,), None, attributes={"timeout": 0}),
    Toxic("reset-later", "reset_peer", "downstream", (OK, "ConnectionError"), (OK, LOST), None, 10, {"timeout": 5}),
]


@pytest.fixture(scope="module")
def toxiproxy() -> Iterator[Toxiproxy]:
    with Toxiproxy() as running:
        yield running


class ToxicScene(Scene):
    """A scene with toxiproxy in front of the scripted proxy; the scripted proxy records the requests that arrive."""

    def __init__(self, world: World, language: str, toxiproxy: Toxiproxy) -> None:
        super().__init__(world, language)
        self.line: Line = toxiproxy.line(self.proxy.port)
        self.base_url = self.base_url.replace(str(self.proxy.port), str(self.line.port))

        def settle() -> None:
            self.line.delete()
            self.proxy.close()

        self.settle = settle


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("toxic", TOXICS, ids=lambda toxic: toxic.name)
def test_each_toxic_gives_an_allowed_outcome(
    world: World, language: str, toxiproxy: Toxiproxy, toxic: Toxic, operation: str
) -> None:
    with ToxicScene(world, language, toxiproxy) as scene:
        scene.line.toxic(toxic.kind, toxic.stream, **toxic.attributes)
        outcome = scene.call(operation, max_retries=1, timeout=toxic.timeout)
        assert outcome.name in (toxic.read if operation == "orders.get" else toxic.write), outcome
    if operation != "orders.get" and toxic.effect is not None:
        assert outcome.reply["effects"] == toxic.effect


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_call_through_a_dead_proxy_fails_and_the_next_works(
    world: World, language: str, toxiproxy: Toxiproxy, operation: str
) -> None:
    """toxiproxy cuts the kept connection and refuses new connections, so the next call fails. If the next call is a
    write, the write was not sent, or its outcome is unknown."""
    with ToxicScene(world, language, toxiproxy) as scene:
        assert scene.call("orders.get", max_retries=1).name == OK
        scene.line.enable(False)
        down: Outcome = scene.call(operation, max_retries=1)
        assert down.name in ("ConnectionError", LOST), down
        scene.line.enable(True)
        assert scene.call(operation, max_retries=1).name == OK


def test_down_and_up_all_the_time(world: World, toxiproxy: Toxiproxy) -> None:
    over = threading.Event()
    with ToxicScene(world, "python", toxiproxy) as scene:

        def work() -> None:
            while not over.wait(0.02):
                scene.line.enable(False)
                scene.line.enable(True)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(60):
                scene.call("subscriptions.charge", max_retries=3)
                scene.call("orders.get", max_retries=3)
        finally:
            over.set()
            thread.join()
    assert OK in {outcome.name for outcome in scene.outcomes}
