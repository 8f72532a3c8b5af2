"""A program whose failed charge Sentry reports. python/docs/with/tracing.md shows a part of it; test_sentry.py runs it.

Arguments: the DSN, the subscription and the product to charge, and where the key is beside the variable `api_key`:
`name` (a variable of another name) or `nested` (a dict). With `without_locals`, Sentry records no local variables.
"""

from __future__ import annotations

import os
import sys

import sentry_sdk
from sentry_sdk.types import Event, Hint

import billcore


class Breadcrumbs(billcore.Hooks):
    def on_response(self, attempt: billcore.Attempt, /) -> None:
        sentry_sdk.add_breadcrumb(
            category="billcore",
            message=f"{attempt.method} {attempt.route}",
            data={"status": attempt.status, "error": attempt.error, "outcome_unknown": attempt.outcome_unknown},
        )


def before_send(event: Event, hint: Hint) -> Event:
    error = hint["exc_info"][1] if "exc_info" in hint else None
    if isinstance(error, billcore.BillcoreError):
        event.setdefault("tags", {})["outcome_unknown"] = str(error.outcome_unknown)
    return event


# end


def pay(subscription: str, product: int) -> None:
    api_key = os.environ["BILLCORE_API_KEY"]
    variable = api_key if "name" in sys.argv else ""
    settings = {"api_key": api_key} if "nested" in sys.argv else {}
    with billcore.Client(api_key=api_key, hooks=Breadcrumbs()) as client:
        found = client.subscriptions.get(subscription)
        client.subscriptions.charge(found.id, product_id=product, amount=1500)
    del variable, settings


if __name__ == "__main__":
    with_locals = "without_locals" not in sys.argv
    sentry_sdk.init(dsn=sys.argv[1], before_send=before_send, include_local_variables=with_locals)
    try:
        pay(sys.argv[2], int(sys.argv[3]))
    except billcore.BillcoreError as error:
        sentry_sdk.capture_exception(error)
    sentry_sdk.flush(60)
