"""The texts that editors show for billcore: hovers, signature help and completions of pyright's language server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import jedi
import pytest

from python.typing.checkers import PACKAGE
from python.typing.language_server import LanguageServer

HEAD = """
import billcore
from billcore import webhooks

client = billcore.Client()
awaited = billcore.AsyncClient()
verifier = webhooks.Verifier("s")
subscription = client.subscriptions.get(1)
"""

pytestmark = pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="runs with the installed package")

# Maps a call with the cursor (|) to a text in the shown signature and a text in the shown documentation.
SIGNATURES = {
    "billcore.Client(|)": ("timeout: float | None = 30", "max_retries: Maximum number"),
    "client.subscriptions.charge(|)": ("amount: int", "amount: The amount in cents, without VAT."),
    "client.subscriptions.orders(|)": ("state: OrderState | Sequence[OrderState] | None", "per_page: "),
    "client.subscriptions.find_charges(|)": ("charge: BillcoreError", "skew: "),
    "client.products.update(|)": ("price: int | None", "ProductWrite"),
    "client.products.list().collect(|)": ("limit: int | None = None", "Args:"),
    "awaited.orders.get(|)": ("id: str | int", "No order has this id."),
    "webhooks.unwrap(|)": ("signature: str | bytes | None", "secret: "),
    "webhooks.Verifier(|)": ("freshness: float | timedelta | None = None", "secrets: A secret of 32 bytes"),
    "verifier.unwrap_request(|)": ("headers: ", "Args:"),
    "billcore.testing.event(|)": ("secret: str | bytes", "data: "),
    "subscription.usable_at(|)": ("now: datetime", "MissingFieldError"),
}
HOVERS = {
    "client.subscriptions.cha|rge": ("-> Order", "Bill a one-off amount"),
    "client.subscriptions.li|st": ("-> Pager[Subscription]", "lazily"),
    "webhooks.unw|rap": ("-> AnyEvent", "Service interface: Events"),
    "webhooks.Order|Paid": ("class OrderPaid", "its data is an Order"),
    "subscription.pri|ce": ("int", "Cents."),
    "subscription.stat|us": ("SubscriptionStatus", "does not know yet"),
    "billcore.NOT_GI|VEN": ("NotGiven", "left out"),
    "billcore.OutcomeUnknown|Error": ("class OutcomeUnknownError", "attempted_at"),
    "awaited.subscriptions.char|ge": ("Order]", "Bill a one-off amount"),
    "verifier.unwr|ap": ("-> AnyEvent", "Raises"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    with LanguageServer(tmp_path_factory.mktemp("editor")) as running:
        yield running


@pytest.mark.parametrize("call", SIGNATURES)
def test_signature_help(server: LanguageServer, call: str) -> None:
    shown = server.signature_help(HEAD + call)
    for words in SIGNATURES[call]:
        assert words in shown, shown
    assert "_Id" not in shown and "SupportsIndex" not in shown, shown


def test_no_private_name_is_shown(server: LanguageServer) -> None:
    for call in ("billcore.Client(|)", "client.products.list().collect(|)", "client.products.list().pages(|)"):
        shown = server.signature_help(HEAD + call).partition("->")[0]
        assert " _" not in shown and "[_" not in shown, shown


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import billcore\nbillcore.", {"Client", "OutcomeUnknownError", "Order", "webhooks", "format_amount"}),
        ("import billcore\nbillcore.Client().subscriptions.", {"charge", "find_charges", "list"}),
        ("import billcore\nbillcore.Client().orders.get(1).", {"total_with_vat", "state", "to_dict"}),
        ("from billcore import webhooks\nwebhooks.", {"OrderPaid", "Verifier", "unwrap"}),
    ],
)
def test_completion_by_jedi(tmp_path: Path, code: str, expected: set[str]) -> None:
    """Completions that IPython and editors without a language server show."""
    project = jedi.Project(tmp_path, sys_path=[str(PACKAGE), *sys.path])
    found = {one.name for one in jedi.Script(code, project=project).complete()}
    assert expected <= found, sorted(found)[:40]


@pytest.mark.parametrize("name", HOVERS)
def test_hover(server: LanguageServer, name: str) -> None:
    shown = server.hover(HEAD + name)
    for words in HOVERS[name]:
        assert words in shown, shown


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('client.subscriptions.orders(1, state="|")', {'"paid"', '"payment_failed"'}),
        ('if subscription.status == "|":\n    pass', {'"active"', '"unpaid"'}),
        ('match subscription.status:\n    case "|":\n        pass', {'"active"', '"cancelled"'}),
        ("client.products.update(101, p|)", {"price="}),
        ("webhooks.|", {"OrderPaid", "UnknownEvent", "Verifier", "unwrap"}),
        ("client.subscriptions.|", {"charge", "find_charges", "list"}),
        ("subscription.|", {"status", "ends_at", "to_dict", "usable_at"}),
        ('billcore.testing.event("|")', {'"order.paid"', '"test.hook"'}),
    ],
)
def test_editors_complete_names_and_literals(server: LanguageServer, code: str, expected: set[str]) -> None:
    found = {label.replace("'", '"') for label in server.completions(HEAD + code)}
    assert expected <= found, sorted(found)[:40]
