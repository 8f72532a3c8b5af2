"""Signed webhooks for unit tests; public as billcore.testing.event and billcore.testing.SECRET."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from .._errors import BillcoreError, ConfigError, InvalidArgumentError
from .._not_given import NOT_GIVEN
from .._types import EventName

SECRET = "billcore-testing-secret-32-chars"
"""The public secret that event() signs with by default: never let a service accept it."""

SignedEvent: TypeAlias = Callable[..., tuple[bytes, str]]
"""The type of event(), to annotate the pytest fixture."""

_DEFAULT: Any = object()
_numbers = itertools.count(50_001)
_made: tuple[int, dict[str, Any]] | None = None


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

    An omitted value has a default like what the service sends: all fields of the resource, integer ids, a new
    envelope id in each call, the current time. A test.hook has the id 0 and no data.

    A value may be anything that JSON can hold, an aware datetime, a Decimal or a resource of billcore. A member with
    the value NOT_GIVEN is left out, as in a reduced payload. Thread-safe.

    Args:
        name: Name of one of the eleven events. If data= is given, any name, such as that of a future event.
        secret: A secret of 32 bytes; by default billcore.testing.SECRET.
        event_id: `id` of the envelope.
        account: `account` of the envelope.
        event_created_at: `created_at` of the envelope.
        data: The complete `data`, to which `fields` are then applied; may be a resource, such as a billcore.Order.
        fields: Members to change in `data` or add to it; id= and created_at= are members of `data`.

    Returns:
        The body and its signature.

    Raises:
        InvalidArgumentError: The values do not form a valid event.
        ConfigError: The secret is not valid.

    Service interface: Events.
    """
    from .. import webhooks

    number, catalog = _catalog()
    if data is _DEFAULT:
        if not isinstance(name, str) or name not in catalog:
            raise InvalidArgumentError(f"{name!r} is not an event: use one of {', '.join(catalog)}, or pass data=")
        data = catalog[name]
    if event_id is _DEFAULT:
        event_id = 0 if name == "test.hook" else next(_numbers)
    if account is _DEFAULT:
        account = number
    if event_created_at is _DEFAULT:
        event_created_at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        members = {"id": event_id, "name": name, "account": account, "created_at": event_created_at}
        members["data"] = _changed(_plain(data, "data"), _plain(fields, "data"))
        body = _encode({key: _plain(value, key) for key, value in members.items() if value is not NOT_GIVEN})
        signature = webhooks.sign(body, secret)
        webhooks.unwrap(body, signature, secret, max_body=len(body))
    except (BillcoreError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError | ConfigError):
            raise
        raise InvalidArgumentError(f"these values make no event: {error}") from None
    return body, signature


def _catalog() -> tuple[int, dict[str, Any]]:
    """The account and its sample data, read once; two threads may both read them."""
    global _made
    if _made is None:
        samples = json.loads((Path(__file__).parent / "samples.json").read_text("utf-8"))
        age = datetime.now(UTC).replace(microsecond=0) - datetime.fromisoformat(samples["made_at"])
        _made = samples["account"], {name: _later(data, age) for name, data in samples["data"].items()}
    return _made


def _later(data: Any, age: timedelta) -> Any:
    """The sample with its times moved, so that a subscription which is paid for is still paid for today."""
    if not isinstance(data, dict):
        return data
    moved = {
        name: (datetime.fromisoformat(value) + age).isoformat()
        for name, value in data.items()
        if name.endswith("_at") and value is not None
    }
    return data | moved


def _encode(value: Any) -> bytes:
    r"""JSON as a server-side encoder writes it: compact, `/` as `\/`, everything non-ASCII as \uXXXX."""
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode("ascii")


def _changed(data: Any, fields: dict[str, Any]) -> Any:
    if not fields:
        return _without_not_given(data) if isinstance(data, dict) else data
    if data is None or data is NOT_GIVEN:
        data = {}
    if not isinstance(data, dict):
        raise InvalidArgumentError("data is not an object, so it has no fields to change: leave the fields out")
    return _without_not_given(data | fields)


def _without_not_given(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not NOT_GIVEN}


def _plain(value: Any, name: str) -> Any:
    """A copy of the value for json.dumps. Copies every container, so that changes do not affect the caller's or the
    catalog's."""
    if isinstance(value, Mapping):
        return {key: _plain(member, f"{name}.{key}") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member, name) for member in value]
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InvalidArgumentError(f"{name} is a datetime without an offset: make it aware (datetime.now(UTC))")
        return value.isoformat()
    if isinstance(value, Decimal):
        number = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
        if Decimal(repr(number)) != value:
            raise InvalidArgumentError(f"{name}: {value} is not a number that JSON keeps; use fewer digits")
        return number
    from .._webhook import Resource

    return value.to_dict() if isinstance(value, Resource) else value
