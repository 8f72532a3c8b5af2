from wsgiref.types import StartResponse, WSGIEnvironment

import billcore
from billcore import webhooks
from billcore.testing import SandboxAccount


def accept(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    start_response("204 No Content", [])
    return []


def test_a_renewal_that_fails(billcore_sandbox: SandboxAccount) -> None:
    billcore_sandbox.serve(accept)
    client = billcore.Client(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key)
    declined = billcore_sandbox.ids["subscriptions"]["demo-declined"]
    billcore_sandbox.advance(days=35)  # the renewal fails, and so do its retries after 1 and 3 days
    assert client.subscriptions.get(declined).status == "unpaid"
    assert [effect["failures"] for effect in billcore_sandbox.control.ledger("renew_failed")] == [1, 2, 3]
    updates = billcore_sandbox.events("subscription.updated", count=2)
    found = [event.data for event in updates if isinstance(event, webhooks.SubscriptionUpdated)]
    assert [each.status for each in found if billcore.same_id(each.id, declined)] == ["delayed", "unpaid"]
