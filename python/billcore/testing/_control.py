"""Control: the control routes of a sandbox; public as billcore.testing.Control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack, cast

from ._calls import arguments, segment
from ._deliveries import DeliveryControl
from ._faults import FaultControl
from ._history import HistoryControl
from ._options import AccountOptions

CauseOfOrder = Literal["confirm", "pay", "await_payment", "await_user", "fail_payment", "cancel_payment", "refund"]
CauseOfSubscription = Literal["renew", "start", "end", "cancel", "change_billing"]


class Control(HistoryControl, DeliveryControl, FaultControl):
    """Calls the control routes of a sandbox. Control(control_url) works with any running sandbox. Thread-safe.

    Args:
        control_url: The URL in the sandbox's ready line, or in the environment variable BILLCORE_SANDBOX_CONTROL.
        timeout: Seconds that a call may take.
        account: If given, every method acts only on the account with this UUID.
    """

    def checkout(
        self,
        product_id: int,
        *,
        reference_id: str | None = None,
        reference_name: str | None = None,
        billing: Literal["card", "mobile", "invoice"] = "card",
        trial_days: int = 0,
        starts_in_days: int = 0,
        declines: bool = False,
        metadata: Mapping[str, Any] | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """Start a purchase as a visitor of the shop.

        Returns {"order": …, "subscription": … or None}, with the JSON of the REST interface.
        """
        fields = arguments(locals())
        if metadata is not None:
            fields["metadata"] = dict(metadata)
        return cast(dict[str, Any], self._call("POST", "checkout", fields))

    def confirm(self, order_id: str | int) -> dict[str, Any]:
        """Confirm the order as the visitor; if its billing method settles at once, the order is also paid."""
        return cast(dict[str, Any], self._call("POST", f"orders/{segment(order_id)}/confirm", {}))

    def pay(self, order_id: str | int) -> dict[str, Any]:
        """Settle the order's payment. Does nothing if the order is already paid."""
        return cast(dict[str, Any], self._call("POST", f"orders/{segment(order_id)}/pay", {}))

    def renew(self, subscription_id: str | int) -> dict[str, Any]:
        """Renew the subscription as if its renewal date had arrived."""
        return cast(dict[str, Any], self._call("POST", f"subscriptions/{segment(subscription_id)}/renew", {}))

    def advance(
        self,
        *,
        days: float = 0,
        seconds: float = 0,
        to: datetime | str | None = None,
        settle: bool = True,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Move the account's clock forward; everything that becomes due happens, in order.

        Renewals, their retries, trial ends, starts and expiries happen at their due times. At each due time, the clock
        shows this time until the first attempts of the deliveries have ended, so a receiver that calls the service
        sees the state of then. A receiver in the thread that calls advance() cannot answer before advance() returns:
        after one delivery time-out, advance() waits for no further delivery to it.

        Args:
            days: Days to move forward.
            seconds: Seconds to move forward, added to the days.
            to: The time to move to, instead of `days` and `seconds`. A time in the past is refused, unless it is in the
                current second or `ends_at` of a subscription: then the clock stays.
            settle: False: all changes happen first, and their deliveries follow.
            timeout: Seconds of real time. Default: the `timeout` of this Control.

        Returns:
            `now`, `frozen`, `pending_deliveries`; `happened`: a list of changes, each with "at", "cause" (such as
            "renew"), and the id as "subscription", "order" or "request"; and `unanswered`: the endpoints that did not
            answer in time, each with "endpoint_id", "url", "pending" and "error".

        Raises:
            WaitTimeout: The time-out ended before the clock had arrived. The clock shows `details["now"]`, the changes
                so far are `details["happened"]`, and advance(to=error.details["to"]) goes on.
        """
        fields: dict[str, Any] = {"days": days, "seconds": seconds}
        if to is not None:
            fields = {"to": to if isinstance(to, str) else to.isoformat()}
        return self._move(timeout, settle, fields)

    def freeze(self) -> dict[str, Any]:
        """Stop the account's clock; advance() can still move it."""
        return cast(dict[str, Any], self._call("POST", "clock", {"freeze": True}))

    def run_clock(self) -> dict[str, Any]:
        """Start the account's clock again, from the time at which it stopped."""
        return cast(dict[str, Any], self._call("POST", "clock", {"run": True}))

    def trigger(self, name: str, *, on: str | int | None = None) -> dict[str, Any]:
        """Run a scenario, such as "renewal-fails".

        Args:
            name: The name of the scenario; scenarios() lists them.
            on: The id of an existing subscription. Default: the scenario makes a new subscription.

        Returns:
            `subscription` and `order` as the REST interface shows them, and `deliveries` (ids and events).
        """
        return cast(dict[str, Any], self._call("POST", "trigger", arguments(locals())))

    def scenarios(self) -> dict[str, str]:
        """The names of the scenarios, and what happens in each."""
        return {each["name"]: each["about"] for each in self._call("GET", "scenarios")["scenarios"]}

    def subscription(self, subscription_id: str | int, cause: CauseOfSubscription, **fields: Any) -> dict[str, Any]:
        """Perform the action `cause` on a subscription. Only change_billing has `fields`: `billing` and `declines`."""
        return cast(dict[str, Any], self._call("POST", f"subscriptions/{segment(subscription_id)}/{cause}", fields))

    def order(self, order_id: str | int, cause: CauseOfOrder) -> dict[str, Any]:
        """Perform the action `cause` on an order, such as "pay" or "refund"."""
        return cast(dict[str, Any], self._call("POST", f"orders/{segment(order_id)}/{cause}", {}))

    def create_product(self, name: str, **fields: Any) -> dict[str, Any]:
        """Create a product as an administrator. `fields`: type, price (cents, without VAT), interval, cycles, ….

        Returns:
            The product as the REST interface shows it.
        """
        return cast(dict[str, Any], self._call("POST", "products", {"name": name, **fields})["product"])

    def keys(self) -> list[dict[str, Any]]:
        """The account's API keys: id, api_key, state."""
        return cast(list[dict[str, Any]], self._call("GET", "keys")["keys"])

    def issue_key(self) -> str:
        """Issue one more API key for the account; returns the key."""
        return cast(str, self._call("POST", "keys", {})["api_key"])

    def revoke_key(self, key_id: int) -> None:
        """Revoke an API key: requests with it get 401."""
        self._call("POST", f"keys/{segment(key_id)}/revoke", {})

    def rotate_key(self, key_id: int) -> str:
        """Replace an API key: returns a new key, and revokes the old one."""
        return cast(str, self._call("POST", f"keys/{segment(key_id)}/rotate", {})["new"]["api_key"])

    def create_group(self, name: str, products: Sequence[int]) -> dict[str, Any]:
        """Create a product group; returns its `id`, `name` and `products`."""
        return cast(dict[str, Any], self._call("POST", "groups", {"name": name, "products": list(products)})["group"])

    def change_group(
        self, group_id: int, *, name: str | None = None, products: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Change the name or the products of a group; returns the changed group."""
        fields = {"name": name, "products": None if products is None else list(products)}
        return cast(dict[str, Any], self._call("POST", f"groups/{segment(group_id)}/change", fields)["group"])

    def delete_group(self, group_id: int) -> None:
        """Delete a group; its products remain."""
        self._call("POST", f"groups/{segment(group_id)}/delete", {})

    def create_account(self, *, demo: bool = True, **options: Unpack[AccountOptions]) -> dict[str, Any]:
        """Make an account; returns `account` (its UUID), `number`, `api_key`, and the `ids` of its demo data.

        Args:
            demo: Whether the account has a few products and subscriptions.
            options: Options of this account, instead of the sandbox's: see AccountOptions.
        """
        fields: dict[str, Any] = {"demo": demo, **options}
        if isinstance(start := fields.get("start"), datetime):
            fields["start"] = start.isoformat()
        return cast(dict[str, Any], self._call("POST", "accounts", fields))

    def delete_account(self, account: str) -> None:
        """Delete an account with all its data."""
        self._call("DELETE", f"accounts/{segment(account)}")

    def reset(self) -> None:
        """Reset the sandbox to its seeded state: no ledger entries, requests, deliveries, endpoints or faults."""
        if self._account is not None:
            raise ValueError("an account cannot be reset: create another one, or reset the whole sandbox")
        self._call("POST", "reset", {})
