import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import billcore
from billcore import webhooks
from billcore.testing import SandboxAccount


def test_a_charge_and_a_renewal_that_fails(billcore_sandbox: SandboxAccount) -> None:
    events: list[webhooks.Event] = []
    control, ids = billcore_sandbox.control, billcore_sandbox.ids
    client = billcore.Client(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key)

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            events.append(webhooks.unwrap(body, self.headers["Service-Signature"], endpoint["secret"]))
            self.send_response(204)
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = control.create_endpoint(f"http://127.0.0.1:{server.server_port}/")
        active, declined = ids["subscriptions"]["demo-active"], ids["subscriptions"]["demo-declined"]
        client.subscriptions.charge(active, product_id=ids["products"]["one_time"], amount=1500)
        control.wait_for_deliveries()
        assert [event.name for event in events] == ["order.confirmed", "order.paid"]

        control.advance(days=35)  # the renewal fails, and so do its retries after 1 and 3 days
        assert client.subscriptions.get(declined).status == "unpaid"
        assert [effect["failures"] for effect in control.ledger("renew_failed")] == [1, 2, 3]
        updates = [event.data for event in events if isinstance(event, webhooks.SubscriptionUpdated)]
        assert [update.status for update in updates if billcore.same_id(update.id, declined)] == ["delayed", "unpaid"]
        server.shutdown()
