"""Every option of the sandbox, with its default and its text for the command line.

This module imports only the standard library, so that `billcore-sandbox --help` is fast.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

DESCRIPTION = "Run the whole billing service on localhost; prints one JSON line when it is ready."
DEFAULT_SEED = 20250425
SECRET_LENGTH = 32
_MOST_SECONDS, _MOST_DAYS, _MOST_ITEMS = 10**9, 100_000, 100_000
_FIRST_YEAR, LAST_YEAR = 1970, 9000  # Python's years end with 9999, and renewals compute later dates from the clock
# The other headers of a delivery, and one that contradicts Content-Length.
_SENT_HEADERS = ("host", "user-agent", "content-type", "content-length", "connection", "transfer-encoding")

_ACCOUNT = "of_account"  # marks the options of accounts in the metadata of their fields
Errors = dict[str, dict[str, dict[str, Any]]]  # operation -> code -> its `status` and its `code`


@lru_cache(maxsize=1000)
def is_loopback(host: str) -> bool:
    """True for localhost and loopback addresses. Other host names are not resolved: their addresses may change."""
    name = host.removeprefix("[").removesuffix("]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 0.5,1,2, not {text!r}") from None


def read_time(text: str) -> datetime:
    """An ISO 8601 time in UTC; a time without an offset is in UTC. Raises ValueError or OverflowError."""
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)


def _time(text: str) -> datetime:
    try:
        return read_time(text)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"expected a time such as 2025-06-02T09:00:00Z, not {text!r}") from None


def _errors(text: str) -> Errors:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"expected a JSON object, not {text!r}")
    return value


def _option(default: Any, about: str, **more: Any) -> Any:
    """A field with its text for the command line. more: arguments of argparse's add_argument()."""
    return field(default=default, metadata={"help": about, **more})


def _of_account(default: Any, about: str, **more: Any) -> Any:
    """An option that each account can have for itself: see of_accounts()."""
    return _option(default, about, **{_ACCOUNT: True}, **more)


def _choice(about: str, *choices: str, **more: Any) -> Any:
    """An option of accounts that is one of these texts; the first one is the default."""
    return _of_account(choices[0], about, choices=choices, **more)


def _several(about: str, metavar: str) -> Any:
    return _option((), f"{about}; repeatable", metavar=metavar, action="append")


def _flag(about: str) -> Any:
    return _option(False, about, action="store_true")


@dataclass(frozen=True, slots=True)
class Options:
    """The sandbox's options, among them its behaviour where the service interface defines none: see README.md."""

    host: str = _option("127.0.0.1", "address to bind")
    port: int = _option(0, "port to bind; 0 takes a free port, which the JSON line shows", type=int)
    db: str | None = _option(None, "keep the data in this SQLite file (default: in memory)", metavar="FILE")
    seed: int | None = _option(
        None,
        "seed of the demo data, and of the accounts' UUIDs and API keys"
        f" (default: those of the --db file, or {DEFAULT_SEED} with random UUIDs and keys)",
        type=int,
    )
    secret: str | None = _of_account(
        None, "secret of each new webhook endpoint, 32 characters (default: random)", metavar="S"
    )
    settlement: str = _choice("when a confirmed order becomes paid", "by-billing", "immediate", "manual")
    charge_total: str = _choice("how the total of a charge is computed", "amount-times-quantity", "amount")
    donation_status: int = _of_account(
        402, "status of a charge on a donation subscription", type=int, choices=(402, 403, 422)
    )
    cancel: str = _choice("status after a cancellation", "by-product", "cancelled", "active")
    cancel_ends_at: str = _choice("ends_at of a cancelled delayed or unpaid subscription", "paid-period", "now")
    second_cancel: str = _choice("answer to cancelling again", "ok", "refuse")
    swap_to_one_time: str = _choice("answer to a change of a subscription's product to a one-time one", "ok", "refuse")
    unchanged_event: str = _choice("event of a write that changes nothing in a subscription", "sent", "none")
    delete_body: str = _choice("body of the answer to a product deletion", "product", "null", "empty")
    errors: Errors | None = _of_account(  # noqa: RUF009  the default is immutable
        None,
        'other statuses and codes of errors: {"OPERATION": {"CODE": {"status": N, "code": "TEXT"}}}',
        type=_errors,
        metavar="JSON",
    )
    rate_limit: tuple[float, ...] | None = _of_account(
        None,
        "answer 429 after N requests in S seconds of the account's clock (default: no limit)",
        type=_numbers,
        metavar="N,S",
    )
    subscriptions_per_page: int = _of_account(100, "subscriptions in a page", type=int, metavar="N")
    products_per_page: int = _of_account(100, "products in a page", type=int, metavar="N")
    event_ids: str = _choice("JSON type of resource ids in events", "mixed", "int", "string")
    event_payload: str = _choice("fields of resources in events", "mixed", "full", "reduced")
    retry_schedule: tuple[float, ...] = _of_account(
        (0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0),
        "seconds to wait before each further delivery attempt",
        type=_numbers,
        metavar="S,S,…",
    )
    delivery_ids: str = _choice("JSON type of the id of an event", "int", "string")
    updated_too: bool = _of_account(
        False, "cancellations and renewals also fire subscription.updated", action="store_true"
    )
    signature_header: str = _of_account("Service-Signature", "name of the header with the signature", metavar="NAME")
    start: datetime | None = _of_account(  # noqa: RUF009  the default is immutable
        None,
        "time at which the accounts' clocks begin, ISO 8601 (default: the real time)",
        type=_time,
        metavar="TIME",
    )
    seed_file: str | None = _option(
        None,
        "TOML file with products and subscriptions for the first account, instead of its demo data",
        metavar="FILE",
    )
    renewal_retries: tuple[float, ...] = _of_account(
        (1.0, 3.0),
        "days to wait before each further attempt of a failed renewal; then the subscription is unpaid",
        type=_numbers,
        metavar="D,D,…",
    )
    invoice_days: float | None = _of_account(
        None, "days after which invoices are paid (default: only a control route pays them)", type=float, metavar="D"
    )
    delivery_timeout: float = _of_account(5.0, "seconds that a receiver may take to answer", type=float, metavar="S")
    keep: int | None = _option(
        None,
        "keep only the latest N requests, N effects of the ledger and N ended deliveries (default: all)",
        type=int,
        metavar="N",
    )
    keep_bytes: int | None = _option(
        None,
        "delete the oldest records when the history is larger (default: 256 MB in memory, 4 GB in a --db file)",
        type=int,
        metavar="BYTES",
    )
    log: str | None = _option(
        None, "write each request, delivery attempt, effect and warning to stderr as a JSON line", choices=("ndjson",)
    )
    deliver_anywhere: bool = _flag("deliver webhooks to every host, not only to loopback")
    deliver_to: tuple[str, ...] = _several("also deliver webhooks to this host or these addresses", "HOST|CIDR")
    deliver: tuple[str, ...] = _several("register this webhook receiver in the first account", "URL")
    allow_host: tuple[str, ...] = _several("further name of this sandbox, which clients may send in Host", "NAME")
    allow_non_loopback: bool = _flag("allow a --host that other machines can reach")
    exit_with_stdin: bool = _flag("exit when standard input ends, as it does when the parent ends")

    def __post_init__(self) -> None:
        if self.secret is not None and not (len(self.secret) == SECRET_LENGTH and self.secret.isascii()):
            raise ValueError(f"the secret must be {SECRET_LENGTH} ASCII characters: it has {len(self.secret)}")
        if not 0 <= self.port <= 65535:
            raise ValueError(f"the port must be between 0 and 65535: {self.port}")
        if not self.allow_non_loopback and not is_loopback(self.host):
            raise ValueError(f"{self.host} is not a loopback address: add --allow-non-loopback to serve other machines")
        if not all(1 <= size <= _MOST_ITEMS for size in (self.subscriptions_per_page, self.products_per_page)):
            raise ValueError(f"page sizes must be between 1 and {_MOST_ITEMS}")
        for name, value in (("--keep", self.keep), ("--keep-bytes", self.keep_bytes)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be 1 or more: {value}")
        if not _are_times(_MOST_SECONDS, *self.retry_schedule, self.delivery_timeout) or self.delivery_timeout == 0:
            raise ValueError(
                "--retry-schedule and --delivery-timeout take seconds: 0 or more (the time-out: more than 0)"
            )
        if not _are_times(_MOST_DAYS, *self.renewal_retries, self.invoice_days or 0.0):
            raise ValueError(f"--renewal-retries and --invoice-days take days: 0 to {_MOST_DAYS}")
        if self.start is not None and not _FIRST_YEAR <= self.start.year <= LAST_YEAR:
            raise ValueError(f"--start must be in the years {_FIRST_YEAR} to {LAST_YEAR}: {self.start.isoformat()}")
        if self.rate_limit is not None and not _is_rate(self.rate_limit):
            raise ValueError("--rate-limit takes a number of requests and seconds, such as 10,60: each more than 0")
        if self.errors is not None:
            _check_errors(self.errors)
        for name in self.allow_host:
            if re.search("[/:]", name) and not _is_network(name.strip("[]")):
                raise ValueError(f"--allow-host takes a name or an address, without a scheme and a port: {name!r}")
        for allowed in self.deliver_to:
            if "/" in allowed and not _is_network(allowed):
                raise ValueError(f"--deliver-to takes a host or a network such as 10.0.0.0/8: {allowed!r}")
        is_name = re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", self.signature_header)
        if not is_name or self.signature_header.lower() in _SENT_HEADERS:
            raise ValueError(f"the signature header must be the name of a further header: {self.signature_header!r}")

    def public(self) -> dict[str, object]:
        """The options as the control route `state` shows them: without the secret."""
        shown = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        shown["start"] = None if self.start is None else self.start.isoformat()
        shown["secret"] = None if self.secret is None else "set"
        return shown

    def different(self, base: Options) -> dict[str, object]:
        """The options that differ from `base`, as public() shows them."""
        others = base.public()
        return {name: value for name, value in self.public().items() if value != others[name]}

    def replaced(self, own: Mapping[str, Any]) -> Options:
        """These options with an account's own instead, which have the types of JSON. Raises ValueError."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in own.items()
        }
        if isinstance(start := values.get("start"), str):
            try:
                values["start"] = read_time(start)
            except (ValueError, OverflowError):
                raise ValueError(f"--start must be a time such as 2025-06-02T09:00:00Z, not {start!r}") from None
        return dataclasses.replace(self, **values)

    def answer(self, operation: str, code: str, status: int) -> tuple[int, str]:
        """The status and the code with which an operation refuses a request: those of --errors, or the given ones."""
        own: dict[str, Any] = {}
        for name in (operation.partition(".")[2], operation):
            own |= (self.errors or {}).get(name, {}).get(code, {})
        return own.get("status", status), own.get("code", code)


def of_accounts() -> list[dataclasses.Field[Any]]:
    """The options that each account can have for itself."""
    return [each for each in dataclasses.fields(Options) if _ACCOUNT in each.metadata]


def _are_times(most: float, *times: float) -> bool:
    return all(math.isfinite(each) and 0 <= each <= most for each in times)


def _is_rate(rate: tuple[float, ...]) -> bool:
    return len(rate) == 2 and rate[0] >= 1 and float(rate[0]).is_integer() and 0 < rate[1] <= _MOST_SECONDS


def _check_errors(errors: Errors) -> None:
    """Check the form of --errors; service/patterns.py checks the names of its operations and codes."""
    for codes in errors.values():
        for given in codes.values() if isinstance(codes, dict) else [None]:
            if not isinstance(given, dict) or given.keys() - {"status", "code"}:
                raise ValueError('--errors takes {"OPERATION": {"CODE": {"status": N, "code": "TEXT"}}}')
            status, code = given.get("status", 400), given.get("code", "x")
            if not (isinstance(status, int) and 400 <= status <= 599 and isinstance(code, str) and code):
                raise ValueError(f"--errors takes a status between 400 and 599 and a text as the code, not {given}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sandbox's options to `parser`, named like the fields of Options, with dashes."""
    for each in dataclasses.fields(Options):
        default: Any = each.default
        if isinstance(default, tuple):  # the help shows numbers as they are given; argparse appends values to a list
            default = ",".join(f"{number:g}" for number in default) if default else []
        arguments = {name: value for name, value in each.metadata.items() if name != _ACCOUNT}
        parser.add_argument(f"--{each.name.replace('_', '-')}", default=default, **arguments)


def from_namespace(namespace: argparse.Namespace) -> Options:
    """Options from parsed arguments. Raises ValueError with one line that says what to change."""
    given = {each.name: getattr(namespace, each.name) for each in dataclasses.fields(Options)}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Options(**values)
