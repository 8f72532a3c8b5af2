"""Jobs of RQ, which the worker of test_rq.py runs. python/docs/with/queues.md shows the first job."""

from __future__ import annotations

import billcore

client = billcore.Client()


def charge(subscription: str, product: int, cents: int) -> dict[str, object]:
    try:
        order = client.subscriptions.charge(subscription, product_id=product, amount=cents)
    except billcore.BillcoreError as error:
        return {"error": error.to_dict()}
    return {"order": order.id}


# end


def charge_and_raise(subscription: str, product: int, cents: int) -> str | int:
    return client.subscriptions.charge(subscription, product_id=product, amount=cents).id
