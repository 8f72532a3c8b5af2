"""Tells in the error of a test that the sandbox left fields out of its events, as the service interface allows."""

from __future__ import annotations

import json
from contextlib import suppress

from ._calls import ControlError
from ._control import Control
from ._deliveries import Delivery, DeliveryFailed
from ._fields import FIELDS_OF_EVENT


def explain(error: BaseException, control: Control) -> None:
    """Add a note to the error of a field that is missing in an event, or of a receiver that did not accept an event.

    Args:
        error: The error that ended the test.
        control: The control routes of the test's account.
    """
    if not isinstance(error, AttributeError | KeyError | DeliveryFailed):
        return
    with suppress(ControlError, OSError):  # the account was deleted, or the sandbox has ended
        state = control.state()
        payload = (state["options"] | state["accounts"][0]["options"])["event_payload"]
        for delivery in control.deliveries() if payload != "full" else ():
            missing = left_out(delivery)
            name = error.name if isinstance(error, AttributeError) else error.args[0]
            if missing and (isinstance(error, DeliveryFailed) or name in missing):
                error.add_note(
                    f"the sandbox left {', '.join(missing)} out of {delivery['event']} (id {delivery['id']}), because "
                    f"event_payload is {payload!r}: the events of the service may have only some of the fields"
                )
                return


def left_out(delivery: Delivery) -> list[str]:
    """The fields that the body of a delivery does not have, although the resource of its event has them."""
    fields = FIELDS_OF_EVENT.get(delivery["event"])
    try:
        data = json.loads(delivery["body"])["data"]
    except (ValueError, LookupError, TypeError):  # the test sent a body of its own
        return []
    return [each for each in fields.__annotations__ if each not in data] if fields and isinstance(data, dict) else []
