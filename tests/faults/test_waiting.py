"""Tests how long the client waits: Retry-After, backoff, one deadline for all attempts, and how a 429 makes other
threads wait."""

from __future__ import annotations

import itertools
import threading

import pytest

import billcore
from support.waiting import LATE

from . import steps
from .proxy import Step
from .scene import Scene, World
from .test_answers import OK

pytestmark = pytest.mark.one_language


def gaps(scene: Scene) -> list[float]:
    """Returns the seconds between each received request and the next."""
    at = [seen.at for seen in scene.proxy.seen]
    return [later - earlier for earlier, later in itertools.pairwise(at)]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_seconds(world: World, language: str, status: int) -> None:
    with Scene(world, language, script=[steps.canned(status, "Retry-After: 1")]) as scene:
        assert scene.call("orders.get", max_retries=2).name == OK
        (gap,) = gaps(scene)
        assert 0.98 <= gap <= 1 + LATE


@pytest.mark.parametrize("step", [steps.canned(503), steps.reset_unread], ids=["503", "reset"])
def test_one_deadline_over_all_attempts(world: World, language: str, step: Step) -> None:
    with Scene(world, language, script=[step] * 60) as scene:
        outcome = scene.call("orders.get", max_retries=50, timeout=0.8)
        # Normally the call ends before its deadline, when the remaining time is too short for another wait. On a busy
        # machine the deadline may pass while an attempt is in flight.
        in_flight = outcome.name == "TimeoutError" and outcome.took >= 0.79
        assert outcome.name in ("ServerError", "ConnectionError") or in_flight, outcome
        assert outcome.took < LATE


@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.list"])
def test_the_deadline_ends_a_later_attempt(world: World, language: str, operation: str) -> None:
    again = steps.canned(503, "Retry-After: 0")
    with Scene(world, language, script=[again, steps.silent(effect=True)]) as scene:
        outcome = scene.call(operation, max_retries=1, timeout=0.8)
        assert outcome.name == "TimeoutError", outcome
        scene.proxy.wait_for(2)
        assert len(scene.proxy.seen) == 2 and outcome.took >= 0.79


def test_a_429_holds_the_other_threads(world: World) -> None:
    with (
        Scene(world, script=[steps.canned(429, "Retry-After: 1")]) as scene,
        billcore.Client(**scene.options()) as client,
    ):
        other = client.with_options(max_retries=1)
        charge = scene.run("subscriptions.charge", 10, lambda args: client.subscriptions.charge(args.pop("id"), **args))
        assert charge.name == "RateLimitError"
        begun = scene.proxy.seen[0].at
        threads = [
            threading.Thread(
                target=scene.run, args=("orders.get", 10, lambda args, which=which: which.orders.get(args["id"]))
            )
            for which in [client, other] * 2
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [outcome.name for outcome in scene.outcomes[1:]] == [OK] * 4
        assert all(seen.at - begun >= 0.98 for seen in scene.proxy.seen[1:])
