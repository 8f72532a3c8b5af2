"""Every option of the sandbox, with its default and its text for the command line.

This module imports only the standard library, so that `billcore-sandbox --help` is fast.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

DESCRIPTION = "Run the whole billing service on localhost; prints one JSON line when it is ready."
DEFAULT_SEED = 20250425
SECRET_LENGTH = 32


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


def _option(default: Any, about: str, **more: Any) -> Any:
    """A field with its text for the command line. more: arguments of argparse's add_argument()."""
    return field(default=default, metadata={"help": about, **more})


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
        None, f"seed of the demo data (default: the seed of the --db file, or {DEFAULT_SEED})", type=int
    )
    secret: str | None = _option(
        None, "secret of each new webhook endpoint, 32 characters (default: random)", metavar="S"
    )
    settlement: str = _option(
        "by-billing", "when a confirmed order becomes paid", choices=("by-billing", "immediate", "manual")
    )
    charge_total: str = _option(
        "amount-times-quantity", "how the total of a charge is computed", choices=("amount-times-quantity", "amount")
    )
    donation_status: int = _option(
        402, "status of a charge on a donation subscription", type=int, choices=(402, 403, 422)
    )
    cancel: str = _option("by-product", "status after a cancellation", choices=("by-product", "cancelled", "active"))
    second_cancel: str = _option("ok", "answer to cancelling again", choices=("ok", "refuse"))
    delete_body: str = _option(
        "product", "body of the answer to a product deletion", choices=("product", "null", "empty")
    )
    subscriptions_per_page: int = _option(100, "subscriptions in a page", type=int, metavar="N")
    products_per_page: int = _option(100, "products in a page", type=int, metavar="N")
    event_ids: str = _option("mixed", "JSON type of resource ids in events", choices=("mixed", "int", "string"))
    event_payload: str = _option("mixed", "fields of resources in events", choices=("mixed", "full", "reduced"))
    retry_schedule: tuple[float, ...] = _option(
        (0.2, 0.5, 1.0, 2.0, 5.0, 5.0, 5.0),
        "seconds to wait before each further delivery attempt",
        type=_numbers,
        metavar="S,S,…",
    )
    delivery_ids: str = _option("int", "JSON type of the id of an event", choices=("int", "string"))
    updated_too: bool = _flag("cancellations and renewals also fire subscription.updated")
    signature_header: str = _option("Service-Signature", "name of the header with the signature", metavar="NAME")
    start: datetime | None = _option(  # noqa: RUF009  the default is immutable
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
    renewal_retries: tuple[float, ...] = _option(
        (1.0, 3.0),
        "days to wait before each further attempt of a failed renewal; then the subscription is unpaid",
        type=_numbers,
        metavar="D,D,…",
    )
    invoice_days: float | None = _option(
        None, "days after which invoices are paid (default: only a control route pays them)", type=float, metavar="D"
    )
    delivery_timeout: float = _option(5.0, "seconds that a receiver may take to answer", type=float, metavar="S")
    keep: int = _option(
        10_000, "keep the latest N requests, N effects of the ledger and N ended deliveries", type=int, metavar="N"
    )
    log: str | None = _option(
        None, "write each request, delivery attempt, effect and warning to stderr as a JSON line", choices=("ndjson",)
    )
    deliver_anywhere: bool = _flag("deliver webhooks to every host, not only to loopback")
    deliver_to: tuple[str, ...] = _several("also deliver webhooks to this host or these addresses", "HOST|CIDR")
    deliver: tuple[str, ...] = _several("register this webhook receiver in the first account", "URL")
    allow_host: tuple[str, ...] = _several("further name that control routes accept in Host", "NAME")
    allow_non_loopback: bool = _flag("allow a --host that other machines can reach")
    exit_with_stdin: bool = _flag("exit when standard input ends, as it does when the parent ends")

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sandbox's options to `parser`, named like the fields of Options, with dashes."""
    for each in dataclasses.fields(Options):
        default: Any = each.default
        if isinstance(default, tuple):  # the help shows numbers as they are given; argparse appends values to a list
            default = ",".join(f"{number:g}" for number in default) if default else []
        parser.add_argument(f"--{each.name.replace('_', '-')}", default=default, **each.metadata)


def from_namespace(namespace: argparse.Namespace) -> Options:
    """Options from parsed arguments. Raises ValueError with one line that says what to change."""
    given = {each.name: getattr(namespace, each.name) for each in dataclasses.fields(Options)}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Options(**values)
