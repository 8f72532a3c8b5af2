import billcore
from billcore import webhooks


def cents(body: bytes, signature: str, secret: str) -> int:
    """The code under test: what a delivery adds to the revenue."""
    event = webhooks.unwrap(body, signature, secret)
    if event.name != "order.paid" or not isinstance(event.data, billcore.Order):
        return 0
    return event.data.total


def test_only_paid_orders_count() -> None:
    secret = billcore.testing.SECRET
    assert cents(*billcore.testing.event("order.paid", total=19900), secret) == 19900
    assert cents(*billcore.testing.event("order.confirmed", total=19900), secret) == 0
    assert cents(*billcore.testing.event("test.hook"), secret) == 0
