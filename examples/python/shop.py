import billcore
from billcore import webhooks


class Shop:
    """A small shop, which test_shop.py tests. A real shop keeps what it knows in a database."""

    def __init__(self, base_url: str, api_key: str, product_id: int) -> None:
        self.client = billcore.Client(base_url=base_url, api_key=api_key, timeout=3)
        self.product_id = product_id
        self.orders: list[str] = []
        self.shipped: list[str] = []
        self.members: set[str | None] = set()
        self.seen: set[str] = set()

    def buy(self, customer: str, cents: int) -> None:
        """Charge the customer's subscription once. If its outcome is unknown, look for the order."""
        (subscription,) = self.client.subscriptions.list(reference_id=customer)
        try:
            order = self.client.subscriptions.charge(subscription.id, product_id=self.product_id, amount=cents)
            self.orders.append(str(order.id))
        except billcore.BillcoreError as error:
            if not error.outcome_unknown:
                raise
            found = self.client.subscriptions.find_charges(error, product_id=self.product_id)
            new = [str(each.id) for each in found if each.total == cents and str(each.id) not in self.orders]
            if len(new) != 1:
                raise  # the service may still make the charge: search again later, and do not charge again before
            self.orders += new

    def on_event(self, event: webhooks.AnyEvent) -> None:
        """Handle each event once. Events may arrive late, so ask the service for a subscription's present status."""
        if str(event.id) in self.seen:
            return
        match event:
            case webhooks.OrderPaid(data=order):
                self.shipped.append(str(order.id))
            case webhooks.SubscriptionUpdated(data=changed):
                now = self.client.subscriptions.get(changed.id)
                if now.status in ("trialing", "active", "delayed"):  # while a renewal is retried, the customer stays in
                    self.members.add(now.reference_id)
                else:
                    self.members.discard(now.reference_id)
            case _:
                pass
        self.seen.add(str(event.id))
