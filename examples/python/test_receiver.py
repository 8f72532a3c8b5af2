import billcore
from billcore import webhooks
from billcore.testing import SignedEvent


def cents(body: bytes, signature: str, secret: str) -> int:
    """The code under test: returns how much a delivery adds to the revenue."""
    match webhooks.unwrap(body, signature, secret):
        case webhooks.OrderPaid(data=order):
            return order.total
        case _:
            return 0


def test_only_paid_orders_count(signed_event: SignedEvent) -> None:
    secret = billcore.testing.SECRET
    assert cents(*signed_event("order.paid", total=19900), secret) == 19900
    assert cents(*signed_event("order.confirmed", total=19900), secret) == 0
    assert cents(*signed_event("test.hook"), secret) == 0
