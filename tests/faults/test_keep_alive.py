"""Tests, hundreds of times, a kept-alive connection that breaks exactly when the next request is written.

libcurl itself resends a request when a reused connection breaks without an answer. billcore must prevent libcurl from
resending a write.
"""

from __future__ import annotations

import random
from itertools import cycle, islice

import pytest

from . import steps
from .proxy import Step, passing
from .scene import WRITES, Scene, World
from .test_answers import OK

LOST = "OutcomeUnknownError/ConnectionError"

# Each entry is a pair: how the connection breaks, and the number of effects in the sandbox.
DEATHS: list[tuple[Step, int]] = [
    (steps.reset_unread, 0),
    (steps.reset_after(1), 0),
    (steps.reset_after(200), 0),
    (steps.ended(effect=False, reset=True), 0),
    (steps.ended(effect=False, reset=False), 0),
    (steps.ended(effect=True, reset=True), 1),
    (steps.ended(effect=True, reset=False), 1),
    (steps.cut("status", reset=True), 1),
    (steps.cut("head", reset=False), 1),
]


@pytest.mark.parametrize("max_retries", [0, 2])
def test_a_connection_that_dies_under_a_write_is_no_second_charge(
    world: World, language: str, max_retries: int
) -> None:
    operations = cycle(["subscriptions.charge", "products.update", "subscriptions.charge", "subscriptions.charge"])
    dying = []
    with Scene(world, language) as scene:
        for (death, effect), operation in islice(zip(cycle(DEATHS), operations, strict=False), 150):
            scene.proxy.add(passing, death)
            assert scene.call("orders.get", max_retries=max_retries).name == OK
            outcome = scene.call(operation, max_retries=max_retries)
            assert outcome.name == LOST, outcome
            dying.append((outcome, effect))
        assert scene.proxy.writes == 150
    assert [outcome.reply["effects"] for outcome, _ in dying] == [effect for _, effect in dying]


def test_a_connection_that_dies_under_a_read_is_replaced(world: World, language: str) -> None:
    with Scene(world, language) as scene:
        for death, _ in islice(cycle(DEATHS[:7]), 105):
            scene.proxy.add(passing, death)
            assert scene.call("orders.get", max_retries=2).name == OK
            outcome = scene.call("orders.get", max_retries=2)
            assert outcome.name == OK, outcome
        assert len(scene.proxy.seen) == 315


def test_without_retries_a_read_is_sent_once(world: World, language: str) -> None:
    with Scene(world, language) as scene:
        for death, _ in islice(cycle(DEATHS), 90):
            scene.proxy.add(passing, death)
            assert scene.call("orders.get", max_retries=0).name == OK
            assert scene.call("orders.get", max_retries=0).name == "ConnectionError"
        assert len(scene.proxy.seen) == 180


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "close"])
def test_a_dead_idle_connection_is_noticed_before_a_write(world: World, language: str, reset: bool) -> None:
    """The client detects the broken connection before use: nothing was sent, and the write uses another connection."""
    with Scene(world, language) as scene:
        for operation in [*WRITES, *["subscriptions.charge"] * 25]:
            scene.proxy.add(steps.then(passing, reset=reset))
            assert scene.call("orders.get", max_retries=0).name == OK
            scene.proxy.wait_until_closed()
            scene.proxy.add(steps.then(passing, reset=reset))
            outcome = scene.call(operation, max_retries=0)
            assert outcome.name == OK, outcome
            scene.proxy.wait_until_closed()


@pytest.mark.parametrize("seed", range(2))
def test_it_dies_while_the_next_request_is_written(world: World, language: str, seed: int) -> None:
    """The connection ends 0 to 0.6 ms after its last answer, before or after the next request is sent."""
    random_ = random.Random(seed)
    names = set()
    with Scene(world, language) as scene:
        for _ in range(200):
            ending = steps.then(passing, reset=random_.random() < 0.5, pause=random_.uniform(0, 0.0006))
            scene.proxy.add(ending)
            assert scene.call("orders.get", max_retries=2).name == OK
            outcome = scene.call("subscriptions.charge", max_retries=2)
            assert outcome.name in (OK, LOST), outcome
            names.add(outcome.name)
            scene.proxy.forget()  # drops the steps that no request used
    assert OK in names
