"""Errors of a Celery task, as the program sees them that asks for its result: Celery's JSON keeps only `args`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import celery
import pytest
from celery.contrib.testing.worker import start_worker

import billcore
from billcore.journal import AmbiguousChargeError, ChargePendingError, JournalError
from billcore.testing import Sandbox, SandboxAccount, order


@pytest.fixture(scope="module")
def account() -> Iterator[SandboxAccount]:
    with Sandbox() as sandbox:
        yield sandbox.new_account()


@pytest.fixture
def client(account: SandboxAccount) -> Iterator[billcore.Client]:
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as made:
        yield made


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Returns the function fetched(work): the error that get() raises after a task has run `work`."""
    folder = tmp_path_factory.mktemp("results")
    app = celery.Celery(broker="memory://", backend=f"file://{folder}", set_as_current=False)
    assert app.conf.result_serializer == "json"  # the default
    waiting: list[Callable[[], Any]] = []

    @app.task(shared=False)  # type: ignore[untyped-decorator]
    def run() -> None:
        waiting.pop()()

    def fetch(work: Callable[[], Any]) -> Any:
        waiting.append(work)
        return run.delay().get(timeout=120, propagate=False)

    with start_worker(app, perform_ping_check=False, pool="solo"):
        yield fetch
    app.close()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("reset_after", billcore.OutcomeUnknownError), ("status", billcore.ServerError)],
)
def test_a_charge_of_unknown_outcome_is_found(
    account: SandboxAccount, client: billcore.Client, fetched: Callable[..., Any], fault: Any, kind: Any
) -> None:
    more: dict[str, Any] = {"status": 503, "effect": True} if fault == "status" else {}
    account.control.fault(fault, operation="charge", **more)
    subscription, product = account.ids["subscriptions"]["demo-active"], account.ids["products"]["one_time"]
    amount = 1500 + len(account.control.ledger("charge"))
    error = fetched(lambda: client.subscriptions.charge(subscription, product_id=product, amount=amount))
    assert type(error) is kind and error.outcome_unknown and error.attempted_at
    found = client.subscriptions.find_charges(error, product_id=product)
    assert [each.total for each in found if each.total == amount] == [amount]


def test_a_known_outcome_stays_known(
    account: SandboxAccount, client: billcore.Client, fetched: Callable[..., Any]
) -> None:
    subscription = account.ids["subscriptions"]["demo-active"]
    error = fetched(lambda: client.subscriptions.charge(subscription, product_id=99999, amount=1))
    assert isinstance(error, billcore.ApiError) and 400 <= error.status < 500 and not error.outcome_unknown


def raising(error: Exception) -> Callable[[], Any]:
    def work() -> None:
        raise error

    return work


def test_the_errors_of_the_journal(fetched: Callable[..., Any]) -> None:
    pending = fetched(raising(ChargePendingError("not known yet", key="k", retry_after=2.5)))
    assert type(pending) is ChargePendingError and (pending.key, pending.retry_after) == ("k", 2.5)
    made = fetched(raising(JournalError("made", key="k", order=order(id="ord_1"), outcome_unknown=False)))
    assert made.order.id == "ord_1" and not made.outcome_unknown
    several = fetched(raising(AmbiguousChargeError("which?", key="k", candidates=[order(id="ord_1"), order(id=2)])))
    assert [each.id for each in several.candidates] == ["ord_1", 2] and several.outcome_unknown
