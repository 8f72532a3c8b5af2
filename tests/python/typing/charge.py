"""A script that charges a subscription, as a user writes it from the README; every type checker accepts it."""

import sys
from datetime import datetime, timedelta
from decimal import Decimal
from typing import assert_type

import billcore


def find(client: billcore.Client, reference: str) -> billcore.Subscription | None:
    found = client.subscriptions.list(reference_id=reference).first()
    assert_type(found, billcore.Subscription | None)
    if found is None or found.renews_at is None:
        return None
    assert_type(found.renews_at, datetime)
    assert_type(found.custom_fields, list[billcore.CustomFieldValue])
    print({field.label: field.value for field in found.custom_fields})
    return found


def charge(client: billcore.Client, subscription: billcore.Subscription, cents: int) -> billcore.Order | None:
    try:
        order = client.subscriptions.charge(subscription.id, product_id=102, amount=cents, vat=2500, timeout=10)
    except billcore.OutcomeUnknownError as error:
        assert_type(error.attempted_at, datetime)
        orders = client.subscriptions.find_charges(error, skew=timedelta(minutes=1))
        assert_type(orders, list[billcore.Order])
        return orders[0] if orders else None
    except billcore.PaymentError as error:
        assert_type(error.code, str | None)
        assert_type(error.retry_after, float | None)
        sys.exit(f"refused: {error.message} ({error.status_code})")
    except billcore.BillcoreError as error:
        assert_type(error.outcome_unknown, bool)
        sys.exit(str(error))
    if order.response_info is not None:
        assert_type(order.response_info.request_id, str | None)
    return order


def reprice(client: billcore.Client, product: billcore.Product) -> billcore.Product:
    client.products.update(product.id, price=product.price * 2, vat_rate=Decimal("25.5"), description=None)
    write: billcore.ProductWrite = {"name": "Coffee", "price": 900}
    client.products.update(101, write)
    client.products.update(101, {"further": [1, 2], "timeout": None}, currency="DKK", timeout=None)
    return client.products.update(101, interval="month", timeout=1.5)


def main() -> None:
    with billcore.Client(max_retries=3, timeout=None, hooks=Counter()) as client:
        quick = client.with_options(timeout=2.0)
        assert_type(quick, billcore.Client)
        subscription = find(quick, sys.argv[1])
        if subscription is None:
            sys.exit("there is none")
        order = charge(client, subscription, 1500)
        print(order and order.state)
        state: billcore.SubscriptionStatus | str = subscription.status
        print(state, billcore.same_id(subscription.id, "480001"))
        client.products.delete(5)
        response = client.request("GET", "/later", query={"page": 1})
        assert_type(response, billcore.Response)
        assert_type(response.status, int)


class Counter:
    def on_response(self, attempt: billcore.Attempt) -> None:
        assert_type(attempt.status, int | None)


if __name__ == "__main__":
    main()
