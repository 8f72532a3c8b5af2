"""The list of subscriptions, and what the page of one says: prices, hidden fields, how a program calls the rest."""

from __future__ import annotations

import html
import json
import re
import shlex
from typing import Any

import pytest

from billcore.testing import SandboxAccount
from billcore_sandbox.lifecycle import SUBJECTS
from sandbox.page.support import Browser
from sandbox.support import Service


class Shown:
    """The views of one account."""

    def __init__(self, mine: SandboxAccount) -> None:
        self.control, self.service = mine.control, Service(mine.accounts[0])
        self.browser = Browser(self.service)
        self.of_account = f"account={self.service.account}"

    def page(self, query: str = "") -> str:
        return self.browser.get(f"/_page/subscriptions?{self.of_account}{query}")

    def references(self, query: str = "") -> list[str]:
        return re.findall(r"</a></th>\s*<td>(.*?)</td>", self.page(query))


@pytest.fixture
def view(mine: SandboxAccount) -> Shown:
    return Shown(mine)


def test_the_list_filters_searches_and_pages(view: Shown) -> None:
    stays = view.service.subscription("demo-stays-active")
    view.service.post(f"/subscription/{stays['id']}/cancel")
    assert view.references() == view.references("&status=active"), "each demo subscription is active for the service"
    assert view.references("&status=ending") == ["demo-stays-active"]
    assert re.findall(r"(\w+) <small>(\d+)</small></a>", view.page("&q=DEMO-")) == [
        (name, {"active": "6", "ending": "1"}.get(name, "0")) for name in SUBJECTS["subscription"].states
    ]
    assert view.references(f"&q={stays['id']}") == view.references("&q=stays") == ["demo-stays-active"]
    assert "active <small>(ending)</small>" in view.page("&q=stays")
    assert view.references("&status=unpaid") == [] and "No subscription matches" in view.page("&status=unpaid")
    product = view.service.product("subscription")["id"]
    for number in range(50):
        view.control.checkout(product, reference_id=f"<b>{number}</b>")
    assert view.references() == [html.escape(f"<b>{number}</b>") for number in range(49, -1, -1)]
    older = re.search(r'href="([^"]*before=\d+[^"]*)">Older', view.page())
    assert older is not None
    query = html.unescape(older[1]).partition(view.of_account)[2]
    assert "demo-active" in view.references(query) and len(view.references(query)) == 6
    assert "Older" not in view.page(query) and "Newest" in view.page(query)


def test_a_visitor_buys(view: Shown) -> None:
    path = f"/_page/subscriptions?{view.of_account}"
    note, page = view.browser.press(path, "trigger")
    assert note == "A visitor has bought a subscription." and "It is active" in page
    once, recurring = (view.service.product(kind)["id"] for kind in ("one_time", "subscription"))
    _, page = view.browser.press(path, "checkout", product_id=str(recurring), trial_days="3", reference_id="new-1")
    bought = view.service.subscription("new-1")
    assert (bought["status"], f"Subscription {bought['id']}" in page) == ("pending", True)
    _, page = view.browser.press(path, "checkout", product_id=str(once))
    assert re.search(r"<h2 id=\"order-title\">Order \d+</h2>", page) and "It becomes <b>confirmed</b>" in page
    note, _ = view.browser.press(path, "checkout", product_id=str(recurring), trial_days="-1")
    assert note.startswith("Refused:") and "trial_days" in note


def test_one_subscription_shows_what_the_service_hides_and_what_programs_do(view: Shown) -> None:
    shown = view.service.subscription("demo-active")
    path = f"/_page/subscriptions/{shown['id']}"
    page = view.browser.get(path)
    assert f"{shown['price'] / 100:.2f} {shown['currency']} without VAT" in page
    assert json.dumps(shown, indent=2, ensure_ascii=False) in html.unescape(page)
    assert "was made with the demo data" in page
    note, page = view.browser.press(path, f"subscriptions/{shown['id']}/change_billing", "Decline its payments")
    assert note == "Its next payments are declined." and "<dt>declines</dt><dd>yes</dd>" in page
    note, page = view.browser.press(path, "clock", "Advance the clock to it")
    assert re.match(r"The clock has moved\. Changes: [1-9]", note) and "It is delayed" in page
    assert "It becomes <b>expired</b> if the product has a fixed number of cycles" in page
    assert "Otherwise it stays <b>delayed</b> if --renewal-retries allows" in page
    view.browser.press(path, f"subscriptions/{shown['id']}/change_billing", "Accept its payments")
    sent = {name: call(view, page, name) for name in ("change_product", "charge")}
    assert (sent["charge"]["total"], sent["change_product"]["id"]) == (1500, shown["id"])


def call(view: Shown, page: str, name: str) -> Any:
    """Sends the request of a curl command of the page."""
    text = re.search(rf'<pre id="call-{name}"[^>]*>(.*?)</pre>', page)
    assert text is not None
    *_, url, _, key, _, media, _, body = shlex.split(html.unescape(text[1]))
    assert (key, media) == ("X-API-KEY: $BILLCORE_API_KEY", "Content-Type: application/json")
    root = f"http://{view.service.host}:{view.service.port}{view.service.root}"
    assert url.startswith(root)
    answer = view.service.post(url.removeprefix(root), json.loads(body))
    assert answer.status == 200, answer.json
    return answer.data
