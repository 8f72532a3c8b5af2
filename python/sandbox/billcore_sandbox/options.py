"""Every option of the sandbox, with its default and its text for the command line.

This module imports only the standard library, so that `billcore-sandbox --help` is fast.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

DESCRIPTION = "Run the whole billing service on localhost; prints one JSON line when it is ready."
DEFAULT_SEED = 20250425
SECRET_LENGTH = 32

SETTLEMENTS = ("by-billing", "immediate", "manual")
CHARGE_TOTALS = ("amount-times-quantity", "amount")
CANCELS = ("by-product", "cancelled", "active")
SECOND_CANCELS = ("ok", "refuse")
EVENT_IDS = ("mixed", "int", "string")
EVENT_PAYLOADS = ("mixed", "full", "reduced")
DELETE_BODIES = ("product", "null", "empty")
DELIVERY_IDS = ("int", "string")
DONATION_STATUSES = (402, 403, 422)
LOGS = ("ndjson",)


@dataclass(frozen=True, slots=True)
class Options:
    """The sandbox's options, among them its behaviour where the service interface defines none: see README.md."""

    host: str = "127.0.0.1"
    port: int = 0
    db: str | None = None
    seed: int | None = None
    secret: str | None = None
    settlement: str = "by-billing"
    charge_total: str = "amount-times-quantity"
    donation_status: int = 402
    cancel: str = "by-product"
    second_cancel: str = "ok"
    delete_body: str = "product"
    subscriptions_per_page: int = 100
    products_per_page: int = 100
    event_ids: str = "mixed"
    event_payload: str = "mixed"
    delivery_ids: str = "int"
    updated_too: bool = False
    signature_header: str = "Service-Signature"
    start: datetime | None = None
    seed_file: str | None = None
    renewal_retries: tuple[float, ...] = (1.0, 3.0)
    invoice_days: float | None = None
    retry_schedule: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0)
    delivery_timeout: float = 5.0
    keep: int = 10_000
    log: str | None = None
    deliver_anywhere: bool = False
    deliver_to: tuple[str, ...] = ()
    deliver: tuple[str, ...] = ()
    allow_host: tuple[str, ...] = ()
    allow_non_loopback: bool = False
    exit_with_stdin: bool = False

    def __post_init__(self) -> None:
        if self.secret is not None and not (len(self.secret) == SECRET_LENGTH and self.secret.isascii()):
            raise ValueError(f"the secret must be {SECRET_LENGTH} ASCII characters: it has {len(self.secret)}")
        if not 0 <= self.port <= 65535:
            raise ValueError(f"the port must be between 0 and 65535: {self.port}")
        if not self.allow_non_loopback and not is_loopback(self.host):
            raise ValueError(f"{self.host} is not a loopback address: add --allow-non-loopback to serve other machines")
        if self.subscriptions_per_page < 1 or self.products_per_page < 1:
            raise ValueError("page sizes must be 1 or more")
        if self.keep < 1:
            raise ValueError(f"--keep must be 1 or more: {self.keep}")
        times = (*self.retry_schedule, *self.renewal_retries, self.invoice_days or 0.0, self.delivery_timeout)
        if not all(math.isfinite(t) and t >= 0 for t in times) or self.delivery_timeout == 0:
            raise ValueError(
                "--retry-schedule and --delivery-timeout take seconds, --renewal-retries and --invoice-days take days:"
                " 0 or more (the time-out: more than 0)"
            )
        for allowed in self.deliver_to:
            if "/" in allowed and not _is_network(allowed):
                raise ValueError(f"--deliver-to takes a host or a network such as 10.0.0.0/8: {allowed!r}")
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", self.signature_header):
            raise ValueError(f"the signature header must be the name of a header: {self.signature_header!r}")

    def public(self) -> dict[str, object]:
        """The options as the control route `state` shows them: without the secret."""
        shown = dataclasses.asdict(self)
        shown["start"] = None if self.start is None else self.start.isoformat()
        shown["secret"] = None if self.secret is None else "set"
        return shown


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


def _listed(numbers: tuple[float, ...]) -> str:
    """Numbers as text for the command line, which _numbers() can read."""
    return ",".join(f"{number:g}" for number in numbers)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a time such as 2025-06-02T09:00:00Z, not {text!r}") from None
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sandbox's options to `parser`, named like the fields of Options, with dashes."""
    default = Options()
    add = parser.add_argument
    add("--host", default=default.host, help="address to bind")
    add("--port", type=int, default=default.port, help="port to bind; 0 takes a free port, which the JSON line shows")
    add("--db", metavar="FILE", help="keep the data in this SQLite file (default: in memory)")
    add("--seed", type=int, help=f"seed of the demo data (default: the seed of the --db file, or {DEFAULT_SEED})")
    add("--secret", metavar="S", help="secret of each new webhook endpoint, 32 characters (default: random)")
    add("--settlement", choices=SETTLEMENTS, default=default.settlement, help="when a confirmed order becomes paid")
    add(
        "--charge-total",
        choices=CHARGE_TOTALS,
        default=default.charge_total,
        help="how the total of a charge is computed",
    )
    add(
        "--donation-status",
        type=int,
        choices=DONATION_STATUSES,
        default=default.donation_status,
        help="status of a charge on a donation subscription",
    )
    add("--cancel", choices=CANCELS, default=default.cancel, help="status after a cancellation")
    add("--second-cancel", choices=SECOND_CANCELS, default=default.second_cancel, help="answer to cancelling again")
    add(
        "--delete-body",
        choices=DELETE_BODIES,
        default=default.delete_body,
        help="body of the answer to a product deletion",
    )
    add(
        "--subscriptions-per-page",
        type=int,
        metavar="N",
        default=default.subscriptions_per_page,
        help="subscriptions in a page",
    )
    add("--products-per-page", type=int, metavar="N", default=default.products_per_page, help="products in a page")
    add("--event-ids", choices=EVENT_IDS, default=default.event_ids, help="JSON type of resource ids in events")
    add("--event-payload", choices=EVENT_PAYLOADS, default=default.event_payload, help="fields of resources in events")
    add(
        "--retry-schedule",
        type=_numbers,
        metavar="S,S,…",
        default=_listed(default.retry_schedule),
        help="seconds to wait before each further delivery attempt",
    )
    add("--delivery-ids", choices=DELIVERY_IDS, default=default.delivery_ids, help="JSON type of the id of an event")
    add("--updated-too", action="store_true", help="cancellations and renewals also fire subscription.updated")
    add(
        "--signature-header",
        metavar="NAME",
        default=default.signature_header,
        help="name of the header with the signature",
    )
    add(
        "--start",
        type=_time,
        metavar="TIME",
        help="time at which the accounts' clocks begin, ISO 8601 (default: the real time)",
    )
    add(
        "--seed-file",
        metavar="FILE",
        help="TOML file with products and subscriptions for the first account, instead of its demo data",
    )
    add(
        "--renewal-retries",
        type=_numbers,
        metavar="D,D,…",
        default=_listed(default.renewal_retries),
        help="days to wait before each further attempt of a failed renewal; then the subscription is unpaid",
    )
    add(
        "--invoice-days",
        type=float,
        metavar="D",
        help="days after which invoices are paid (default: only a control route pays them)",
    )
    add(
        "--delivery-timeout",
        type=float,
        metavar="S",
        default=default.delivery_timeout,
        help="seconds that a receiver may take to answer",
    )
    add(
        "--keep",
        type=int,
        metavar="N",
        default=default.keep,
        help="keep the latest N requests, N effects of the ledger and N ended deliveries",
    )
    add("--log", choices=LOGS, help="write each request, delivery attempt, effect and warning to stderr as a JSON line")
    add("--deliver-anywhere", action="store_true", help="deliver webhooks to every host, not only to loopback")
    add(
        "--deliver-to",
        action="append",
        default=[],
        metavar="HOST|CIDR",
        help="also deliver webhooks to this host or these addresses; repeatable",
    )
    add(
        "--deliver",
        action="append",
        default=[],
        metavar="URL",
        help="register this webhook receiver in the first account; repeatable",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="further name that control routes accept in Host; repeatable",
    )
    add("--allow-non-loopback", action="store_true", help="allow a --host that other machines can reach")
    add("--exit-with-stdin", action="store_true", help="exit when standard input ends, as it does when the parent ends")


def from_namespace(namespace: argparse.Namespace) -> Options:
    """Options from parsed arguments. Raises ValueError with one line that says what to change."""
    names = [field.name for field in dataclasses.fields(Options)]
    given = {name: getattr(namespace, name) for name in names}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Options(**values)
