"""The view of accounts: keys, options, scenarios, the history and the reset."""

from __future__ import annotations

import html
import re
import shlex
from urllib.parse import urlsplit

from billcore.testing import Sandbox, SandboxAccount
from billcore_sandbox.options import of_accounts
from sandbox.page.support import Browser, forms
from sandbox.support import Service

ALL = "/_page/accounts"


def of_account(service: Service) -> str:
    return f"{ALL}?account={service.account}"


def exported(page: str) -> dict[str, str]:
    """The variables that the page of one account has for copying."""
    (text,) = re.findall(r'<pre id="exports-\d+"[^>]*>(.*?)</pre>', page, re.DOTALL)
    words = shlex.split(html.unescape(text))
    assert words[::2] == ["export"] * 3
    return dict(word.partition("=")[::2] for word in words[1::2])


def test_keys_by_forms(mine: SandboxAccount) -> None:
    service = Service(mine.accounts[0])
    browser, path = Browser(service), of_account(service)
    assert exported(browser.get(path)) == {
        "BILLCORE_BASE_URL": service.base_url,
        "BILLCORE_API_KEY": service.api_key,
        "BILLCORE_SANDBOX_CONTROL": mine.control_url,
    }
    browser.press(path, "keys")
    first, second = mine.control.keys()
    note, page = browser.press(path, f"keys/{first['id']}/rotate")
    third = mine.control.keys()[-1]
    assert note == f"Key {first['id']} is revoked, and key {third['id']} replaces it."
    assert exported(page)["BILLCORE_API_KEY"] == third["api_key"] and service.get("/products").status == 401
    for each in (second, third):
        browser.press(path, f"keys/{each['id']}/revoke")
    page = browser.get(path)
    assert "No key is valid" in page and page.count(">revoked</b>") == 3
    assert [each.action for each in forms(page) if each.action.startswith("keys/")] == []


def test_an_account_is_made_with_options_and_deleted(sandbox: Sandbox) -> None:
    browser, control = Browser(Service(sandbox.accounts[0])), sandbox.control
    page = browser.get(ALL)
    fields = next(each.fields for each in forms(page) if each.action == "accounts")
    assert {each.name for each in of_accounts()} <= {name.removesuffix(":json") for name in fields}
    assert all(each.metadata["help"] in html.unescape(page) for each in of_accounts())
    options = {"settlement": "manual", "donation_status": "422", "updated_too": "true", "delivery_timeout": "2.5"}
    json = {"rate_limit:json": "[10, 60]", "errors:json": '{"charge": {"charge_declined": {"status": 409}}}'}
    note, page = browser.press(ALL, "accounts", **options, **json, demo="false", start="2031-01-31T09:00")
    made = control.state()["accounts"][-1]
    assert note.startswith("The account is made") and f"Account {made['number']} " in page
    assert made["subscriptions"] == {} and made["now"].startswith("2031-01-31T09:00")
    assert made["options"] == {
        "settlement": "manual",
        "donation_status": 422,
        "updated_too": True,
        "delivery_timeout": 2.5,
        "rate_limit": [10, 60],
        "errors": {"charge": {"charge_declined": {"status": 409}}},
        "start": "2031-01-31T09:00:00+00:00",
    }
    assert "<dt>rate_limit</dt><dd>[10.0, 60.0]</dd>" in page and "<dt>Subscriptions</dt><dd>none</dd>" in page
    note, _ = browser.press(ALL, "accounts", **{"rate_limit:json": "[0, 1]"})
    assert note.startswith("Refused: An option is wrong: rate_limit takes ")
    note, page = browser.press(f"{ALL}?account={made['account']}", f"accounts/{made['account']}")
    assert note == f"Account {made['number']} is deleted." and made["account"] not in page.partition("<main")[2]
    assert f'action="/_page/do/accounts/{Service(sandbox.accounts[0]).account}"' not in page, "the first one stays"
    for button in ("Delete account", "Reset the sandbox"):
        assert re.search(rf'<input type="checkbox" required>[^<]*</label>\s*<button class="danger">{button}', page)


def test_scenarios_history_and_reset(sandbox: Sandbox) -> None:
    service, control = Service(sandbox.accounts[1]), sandbox.control
    browser, path = Browser(service), of_account(service)
    page = html.unescape(browser.get(path))
    for name, story in control.scenarios().items():
        assert f"<span>{story}</span>" in page
        note, shown = browser.press(path, "trigger", name)
        assert note == f"{name}: this is its subscription."
        assert f"<small>scenario-{name}</small>" in shown, "it belongs to the account of the page"
    for each in (sandbox.accounts[0], sandbox.accounts[1]):
        Service(each).get("/products")
    browser.press(path, "history/clear")
    assert {urlsplit(each["target"]).path.split("/")[1] for each in control.requests()} == {
        Service(sandbox.accounts[0]).account
    }
    note, _ = browser.press(ALL, "history/clear", "Clear the history")
    assert re.match(r"The records are deleted: requests 1, effects \d+, deliveries 0\.", note)
    assert control.requests() == []
    sandbox.new_account(demo=False)
    assert browser.press(ALL, "reset")[0] == "The sandbox is as it was at its start."
    assert len(control.state()["accounts"]) == 2 and control.ledger() == []


def test_the_base_url_is_the_one_that_the_browser_used(mine: SandboxAccount) -> None:
    service = Service(mine.accounts[0])
    browser = Browser(service)
    browser.host = "localhost"
    assert exported(browser.get(of_account(service)))["BILLCORE_BASE_URL"].startswith("http://localhost:")


def test_accounts_stand_on_pages(sandbox: Sandbox) -> None:
    for _ in range(50):
        sandbox.new_account(demo=False)
    browser = Browser(Service(sandbox.accounts[0]))
    page = browser.get(ALL)
    more = re.search(r'href="([^"]*)">More', page)
    assert more is not None and page.count('<h2 id="account-') == 50
    assert browser.get(html.unescape(more[1])).count('<h2 id="account-') == 2
