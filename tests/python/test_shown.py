"""How repr(), notebooks and rich show resources, events, pages, pagers and clients; and how amounts are formatted."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console

import billcore
from billcore import webhooks
from conformance.server import ScriptedServer

from .model_support import EVENTS
from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SECRET, data, event, page, resource, sign, subscription


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (1875, "DKK", "18.75 DKK"),
        (-5, "EUR", "-0.05 EUR"),
        (-1875, "USD", "-18.75 USD"),
        (1875, "JPY", "1875 JPY"),
        (1875, "KWD", "1.875 KWD"),
        (12345, "CLF", "1.2345 CLF"),
        (1875, "XYZ", "1875 XYZ"),
        (1875, "KKA", "1875 KKA"),  # not a currency code
        (1875, "dkk", "1875 dkk"),
        (2**63 - 1, "ISK", f"{2**63 - 1} ISK"),
    ],
)
def test_amounts_are_shown_in_the_units_of_their_currency(amount: int, currency: str, text: str) -> None:
    assert billcore.format_amount(amount, currency) == text


@pytest.mark.parametrize("amount", [18.75, True, "1875", None, Decimal(1875), 2**63])
def test_wrong_amounts(amount: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=r"^amount "):
        billcore.format_amount(amount, "DKK")


def test_resources() -> None:
    assert repr(resource(ORDER, "order.paid")) == "<Order ord_1 paid 18.75 NOK>"
    assert repr(resource(PRODUCT, "product.updated")) == "<Product 42 'Café' 10.00 NOK>"
    made = subscription()
    assert repr(made) == "<Subscription sub_1 active 15.00 NOK>"
    assert repr(made.custom_fields[0]) == "<CustomFieldValue 1 text>"
    assert repr(resource(ORDER, "order.paid").delivery) == "<Delivery>"
    assert repr(subscription(id=[1], status=None, price="1", currency=None)) == "<Subscription>"
    assert repr(subscription(price=10**30)) == "<Subscription sub_1 active>"
    # A value from the service that looks like a part of the repr() is quoted.
    assert repr(subscription(id="a b>", status="a\n", currency="N K")) == r"<Subscription 'a b>' 'a\n'>"
    assert len(repr(subscription(id="x" * 5000))) < 200


def test_events() -> None:
    assert repr(event(ORDER, "order.paid")) == "<OrderPaid 7>"
    assert repr(event(None, "order.refunded")) == "<UnknownEvent 7 'order.refunded'>"
    assert repr(webhooks.unwrap(b"{}", sign(b"{}"), SECRET)) == "<UnknownEvent ? ?>"


@pytest.mark.parametrize("name", EVENTS)
def test_notebooks_and_rich_show_no_url(name: str) -> None:
    made = event(EVENTS[name][2] | {"reference_name": "<b>Åse & Co"}, name)
    out = io.StringIO()
    for shown in (made, made.data):
        html = shown._repr_html_()
        assert html.startswith(f"<table><caption>{type(shown).__name__}</caption>") and "<b>" not in html
        Console(file=out, width=200).print(shown)
        assert "http" not in html + out.getvalue() + repr(shown)
    assert "&lt;b&gt;Åse &amp; Co" in made._repr_html_()


def test_rich() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(resource(ORDER, "order.paid"))
    assert out.getvalue() == "Order(id='ord_1', state='paid', total_with_vat='18.75 NOK')\n"


def test_clients_and_pagers() -> None:
    with ScriptedServer([page([ORDER], 1, 1), data(ORDER)]) as server:
        base = server.url + ACCOUNT
        client = billcore.Client(base_url=base + "/", api_key=API_KEY)
        assert repr(client) == f"<Client {base}>"
        changed = client.with_options(timeout=5, headers={"X-Secret": "s3cret"}).with_options(timeout=None)
        assert repr(changed) == f"<Client {base}, headers=..., timeout=None>"
        assert repr(client) == f"<Client {base}>"
        pager = client.subscriptions.orders("s")
        assert repr(pager) == "<Pager of orders, not read yet>"
        shown = next(pager.pages())
        assert repr(pager) == "<Pager of orders, 1 page read, 1 in all>"
        assert repr(shown) == "<Page of orders, 1 item>"
        html = shown._repr_html_()
        assert "<caption>1 item</caption>" in html and "<td>18.75 NOK</td>" in html and "http" not in html
        assert repr(billcore.AsyncClient(base_url=base, api_key=API_KEY)) == f"<AsyncClient {base}>"
        assert API_KEY not in repr(client) + repr(changed) + repr(pager)
