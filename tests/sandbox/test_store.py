"""An effect, its row in the ledger and its deliveries exist together or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from billcore_sandbox import products, subscriptions
from billcore_sandbox.service.calls import Call, Reply
from billcore_sandbox.options import Options
from billcore_sandbox.store import Store
from billcore_sandbox.world import Work, World
from billcore.testing import Control
from sandbox.support import Service

TABLES = ("subscriptions", "orders", "products", "ledger", "deliveries")
BODY = b'{"product_id": 102, "amount": 100, "price": 1}'


def snapshot(store: Store) -> list[list[tuple[object, ...]]]:
    return [[tuple(row) for row in store.all(f"SELECT * FROM {table} ORDER BY 1")] for table in TABLES]


@pytest.mark.parametrize("broken", ["record", "emit"])
@pytest.mark.parametrize(
    ("operation", "number"),
    [
        (subscriptions.charge, "480001"),
        (subscriptions.cancel, "480001"),
        (subscriptions.change_product, "480001"),
        (products.update, "101"),
        (products.delete, "101"),
    ],
)
def test_an_effect_that_fails_midway_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, broken: str, operation: Callable[[Call], Reply], number: str
) -> None:
    world = World(Options())
    try:
        call = Call(world, world.store.accounts[0], id=number, body=BODY, content_type="application/json")
        before = snapshot(world.store)

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("broken on purpose")

        with monkeypatch.context() as patched:
            patched.setattr(Work, broken, fail)
            with pytest.raises(RuntimeError, match="on purpose"):
                operation(call)
        assert snapshot(world.store) == before
        assert operation(call).status == 200
        assert snapshot(world.store) != before
    finally:
        world.store.close()


def test_many_clients_at_once(service: Service, control: Control) -> None:
    subscription, product = service.subscription("demo-active"), service.product()
    made: list[str] = []

    def charge() -> None:
        for _ in range(10):
            body = {"product_id": product["id"], "amount": 100}
            made.append(service.post(f"/subscription/{subscription['id']}/order", body).data["id"])

    threads = [threading.Thread(target=charge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 80
    assert sorted(effect["order_id"] for effect in control.ledger("charge")) == sorted(made)
    assert len(control.requests()) == 82
