from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

import billcore
from billcore.testing import SandboxAccount


def test_a_charge_is_booked_once(billcore_sandbox: SandboxAccount) -> None:
    def shop(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
        event = billcore.webhooks.from_wsgi(environ, verifier)
        booked[event.id] = event.data.total if isinstance(event, billcore.webhooks.OrderPaid) else 0
        start_response("204 No Content", [])
        return []

    sandbox, booked = billcore_sandbox, dict[str | int, int]()
    verifier = billcore.webhooks.Verifier(sandbox.webhook_secret)
    sandbox.serve(shop)
    client = billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)
    active, product = sandbox.ids["subscriptions"]["demo-active"], sandbox.ids["products"]["one_time"]
    sandbox.fault("event_duplicate", event="order.paid")
    sandbox.fault("reset_after", operation="charge")  # the service charges, but its answer is lost
    with pytest.raises(billcore.OutcomeUnknownError):
        client.subscriptions.charge(active, product_id=product, amount=1500)
    assert len(sandbox.events("order.paid", count=2)) == 2 and sum(booked.values()) == 1500
