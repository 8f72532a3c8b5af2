"""A billing service for your tests: `Sandbox` runs the service as a child process, `Control` controls it.

    with billcore.testing.Sandbox() as sandbox:
        client = billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)
        sandbox.control.fault("reset_after", operation="charge")

`event` makes one signed webhook, for unit tests without a server:

    body, signature = billcore.testing.event("order.paid", total=19900)

`order`, `subscription`, `product`, `product_group` and `page` make the objects that the client returns:

    client = unittest.mock.create_autospec(billcore.Client, instance=True)
    client.subscriptions.charge.return_value = billcore.testing.order(total=1500)

The pytest fixture `signed_event` is the function `event`, and `billcore_sandbox` is a new SandboxAccount for each test.

Sandbox needs the package billcore-sandbox (the extra `sandbox`); this module itself uses only the standard library.
"""

from __future__ import annotations

from ._account import Account, SandboxAccount
from ._calls import ControlError, WaitTimeout
from ._calls import Records as Records
from ._control import Control
from ._deliveries import Attempt as Attempt
from ._deliveries import Delivery as Delivery
from ._deliveries import DeliveryFailed
from ._deliveries import Endpoint as Endpoint
from ._event import SECRET, SignedEvent, event
from ._faults import FaultKind as FaultKind
from ._faults import FaultRecord as FaultRecord
from ._history import DeliveryMatch as DeliveryMatch
from ._history import LateWork as LateWork
from ._history import RequestMatch as RequestMatch
from ._history import RequestRecord as RequestRecord
from ._history import WantedOrder as WantedOrder
from ._history import WantedSubscription as WantedSubscription
from ._inbox import Inbox
from ._objects import order, product, product_group, subscription
from ._options import AccountOptions as AccountOptions
from ._options import ErrorAnswer as ErrorAnswer
from ._page import AsyncSamplePage, SamplePage, page
from ._process import Sandbox, SandboxError
from ._serve import Receiver
from ._stream import StateChange as StateChange
from ._stream import Stream as Stream
from ._stream import StreamEvent as StreamEvent

__all__ = [
    "SECRET",
    "Account",
    "AsyncSamplePage",
    "Control",
    "ControlError",
    "DeliveryFailed",
    "Inbox",
    "Receiver",
    "SamplePage",
    "Sandbox",
    "SandboxAccount",
    "SandboxError",
    "SignedEvent",
    "WaitTimeout",
    "event",
    "order",
    "page",
    "product",
    "product_group",
    "subscription",
]

# Sets __module__ to the module that users import the class from, because pickles and tracebacks show it.
for _value in list(globals().values()):
    if isinstance(_value, type):
        _value.__module__ = "billcore.testing"
del _value
