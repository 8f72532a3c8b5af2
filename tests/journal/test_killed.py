"""A process that is killed before or after each step of a charge: the next calls with the key lead to one order."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from billcore.journal import ChargeInProgressError, ChargePendingError, Journal

from .support import CHARGE, Scene


def killed_at(number: int, *, after: bool, scene: Scene) -> bool:
    """Charges in a child process that kills itself before or after step `number`; False if there are fewer steps."""
    child = os.fork()
    if child == 0:
        try:
            steps = iter(range(1_000_000))

            def counted(function: Callable[..., Any]) -> Callable[..., Any]:
                def run(*arguments: Any, **named: Any) -> Any:
                    here = next(steps) == number
                    if here and not after:
                        os.kill(os.getpid(), signal.SIGKILL)
                    try:
                        return function(*arguments, **named)
                    finally:
                        if here:
                            os.kill(os.getpid(), signal.SIGKILL)

                return run

            with billcore.Client(base_url=scene.client.base_url, api_key=scene.account.api_key) as client:
                journal = Journal(scene.database.connect, client, settle=60)
                for owner, name in ((journal._store, "run"), (journal, "_call")):
                    setattr(owner, name, counted(getattr(owner, name)))
                with contextlib.suppress(billcore.BillcoreError):
                    scene.charge(journal)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def finish(scene: Scene) -> billcore.Order:
    """Calls charge() until it succeeds; instead of waiting, moves the journal's times into the past."""
    journal = scene.journal()
    while True:
        try:
            return scene.charge(journal)
        except (ChargeInProgressError, ChargePendingError) as error:
            assert error.retry_after is not None
            scene.database.age(error.retry_after + 1)
        except billcore.BillcoreError as error:  # the fault happened here, not in the killed process
            assert error.outcome_unknown


@pytest.mark.parametrize("fault", [None, "reset_before", "reset_after", "half_body", "status"])
def test_one_order_whenever_the_process_ends(scene: Scene, fault: Any) -> None:
    subscriptions = [str(each) for each in scene.account.ids["subscriptions"].values()]
    kills = 0
    for after in (False, True):
        number = 0
        while True:
            scene.subscription = subscriptions[0]
            scene.database.execute("DELETE FROM billcore_charges") if kills else None
            before = len(scene.charges())
            if fault is not None:
                scene.control.fault(fault, method="POST", path=CHARGE, optional=True)
            died = killed_at(number, after=after, scene=scene)
            order = finish(scene)
            made = scene.charges()[before:]
            assert [each["order_id"] for each in made] == [str(order.id)], (number, after)
            if not died:
                break
            kills += 1
            number += 1
    assert kills >= 6
