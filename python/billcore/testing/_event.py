"""Signed webhooks for unit tests; public as billcore.testing.event and billcore.testing.SECRET."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from .._errors import BillcoreError, ConfigError, InvalidArgumentError
from .._not_given import NOT_GIVEN
from .._types import EventName
from ._fields import FIELDS_OF_EVENT
from ._samples import catalog, changed, plain, require_known

SECRET = "billcore-testing-secret-32-chars"
"""The public secret that event() signs with by default: never let a service accept it."""

SignedEvent: TypeAlias = Callable[..., tuple[bytes, str]]
"""The type of event(), to annotate the pytest fixture."""

_DEFAULT: Any = object()
_numbers = itertools.count(50_001)


def event(
    name: EventName | str,
    /,
    *,
    secret: str | bytes = SECRET,
    event_id: Any = _DEFAULT,
    account: Any = _DEFAULT,
    event_created_at: Any = _DEFAULT,
    data: Any = _DEFAULT,
    **fields: Any,
) -> tuple[bytes, str]:
    """Make a webhook for unit tests without a server: its body, and a signature that webhooks.unwrap accepts.

        body, signature = billcore.testing.event("order.paid", total=19900, reference_id="customer-7")
        event = webhooks.unwrap(body, signature, billcore.testing.SECRET)

    The default values are like those of the service: all fields of the resource, integer ids, a new envelope id in
    each call, the current time. A test.hook has the id 0 and no data.

    A value may be anything that JSON can hold, an aware datetime, a Decimal or a resource of billcore. A member with
    the value NOT_GIVEN is left out, as some events leave fields out. Thread-safe.

    Args:
        name: Name of one of the eleven events. If data= is given, any name, such as that of a future event.
        secret: A secret of 32 bytes; by default billcore.testing.SECRET.
        event_id: `id` of the envelope.
        account: `account` of the envelope.
        event_created_at: `created_at` of the envelope.
        data: The complete `data`, in which `fields` replace members; may be a resource, such as a billcore.Order.
        fields: Fields of the resource to set in `data`; id= and created_at= also set fields of the resource.

    Returns:
        The body and its signature.

    Raises:
        TypeError: The resource does not have a field of this name, which may be misspelt.
        InvalidArgumentError: The values do not form a valid event.
        ConfigError: The secret is not valid.

    Service interface: Events.
    """
    from .. import webhooks

    number, samples = catalog()
    if data is _DEFAULT:
        if not isinstance(name, str) or name not in samples:
            raise InvalidArgumentError(f"{name!r} is not an event: use one of {', '.join(samples)}, or pass data=")
        data = samples[name]
    if isinstance(name, str) and name in FIELDS_OF_EVENT:
        require_known("event", fields, FIELDS_OF_EVENT[name].__annotations__)
    if event_id is _DEFAULT:
        event_id = 0 if name == "test.hook" else next(_numbers)
    if account is _DEFAULT:
        account = number
    if event_created_at is _DEFAULT:
        event_created_at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        members = {"id": event_id, "name": name, "account": account, "created_at": event_created_at}
        members["data"] = changed(plain(data, "data"), plain(fields, "data"))
        body = _encode({key: plain(value, key) for key, value in members.items() if value is not NOT_GIVEN})
        signature = webhooks.sign(body, secret)
        webhooks.unwrap(body, signature, secret, max_body=len(body))
    except (BillcoreError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError | ConfigError):
            raise
        raise InvalidArgumentError(f"these values make no event: {error}") from None
    return body, signature


def _encode(value: Any) -> bytes:
    r"""JSON as a server-side encoder writes it: compact, `/` as `\/`, everything non-ASCII as \uXXXX."""
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode("ascii")
