"""An open entry: what its buttons do, why a delivery was refused, what it copies, and hostile content."""

from __future__ import annotations

import json

from playwright.sync_api import Locator, Page, expect

from page.support import Visitor, press, rows, shop
from sandbox.support import Service


def opened(page: Page, row: Locator) -> Locator:
    """Clicks a row; returns the entry that it opens."""
    name = row.get_attribute("id")
    row.click()
    entry = page.locator(f"#detail[data-entry={name}]")
    expect(entry).to_be_visible()
    return entry


def test_a_refused_delivery_is_explained_and_sent_again(visitor: Visitor) -> None:
    with shop() as receiver:
        page = visitor.open("/_page/endpoints")
        page.get_by_label("URL").fill(receiver.url)
        press(page, "Register")
        press(page, "Send test.hook")
        row = rows(page, "delivery")
        expect(row).to_contain_text("failed")
        why = opened(page, row).locator(".why")
        expect(why).to_contain_text("The receiver answered 401 Unauthorized")
        expect(why).to_contain_text("signature mismatch")
        expect(why).to_contain_text("the receiver has another secret")
        page.get_by_role("link", name="Endpoints").click()
        page.get_by_text("Show the secret").click()
        receiver.secret = page.get_by_label("Secret of endpoint").inner_text()
        page.go_back()
        expect(why).to_be_visible()  # the browser has loaded the page again
        press(page, "Redeliver")
        expect(page.locator("#detail")).to_contain_text("delivered")
        expect(page.locator(".why")).to_have_count(0)
        expect(rows(page, "delivery").first).to_contain_text("delivered")
    assert len({*receiver.received}) == 1 and len(receiver.received) == 2


def test_a_delivery_is_replayed_and_edited(visitor: Visitor) -> None:
    with shop() as receiver:
        receiver.secret = visitor.account.control.create_endpoint(receiver.url)["secret"]
        visitor.account.control.create_product("Tee")
        page = visitor.open()
        opened(page, rows(page, "delivery"))
        press(page, "Replay with a new id")
        expect(rows(page, "delivery")).to_have_count(2)
        for old, signed, outcome in (("Tee", True, "delivered"), ("<b>True", False, "failed")):
            page.get_by_text("Edit and sign again").click()
            text = page.get_by_label("Body", exact=True)
            text.fill(text.input_value().replace(old, f"<b>{signed}"))
            page.get_by_label("Sign the new body").set_checked(signed)
            press(page, "Send")
            expect(rows(page, "delivery").first).to_contain_text(outcome)
            expect(page.locator("#detail pre", has_text=f"<b>{signed}").first).to_be_visible()
        expect(rows(page, "delivery")).to_have_count(4)
    bodies = [json.loads(each) for each in receiver.received]
    assert bodies[0]["id"] != bodies[1]["id"] == bodies[2]["id"] and bodies[0]["data"] == bodies[1]["data"]


def test_a_request_is_repeated_and_copied(visitor: Visitor) -> None:
    Service(visitor.account.accounts[0]).charge()
    page = visitor.open(permissions=["clipboard-read", "clipboard-write"])
    opened(page, rows(page, "request").filter(has_text="charge"))
    entry = page.locator("#detail")
    for label in ("curl", "Python", "Go", "pytest"):
        part = entry.locator("details", has=page.locator("summary", has_text=label)).last
        part.locator("summary").click()
        button = part.get_by_role("button", name="Copy")
        button.click()
        expect(part.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == part.locator("pre").text_content() and copied.strip()
    press(page, "Perform it again")
    expect(rows(page, "request").filter(has_text="charge")).to_have_count(2)
    assert len(visitor.account.control.ledger("charge")) == 2


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egpj.exe"
SHOWN = HOSTILE.replace("\u202e", "⟨U+202E⟩")


def test_hostile_names_bodies_and_answers_are_shown_as_text(visitor: Visitor) -> None:
    control, service = visitor.account.control, Service(visitor.account.accounts[0])
    with shop() as receiver:
        receiver.said = HOSTILE.encode() + b"<b>" * (3 << 20)
        control.create_endpoint(f"{receiver.url}?a=%3Cscript%3E")
        product = control.create_product(HOSTILE, type="subscription")
        control.fault("event_oversize", bytes=10 << 20)
        bought = control.checkout(product["id"], reference_id=HOSTILE, reference_name=HOSTILE)
        control.confirm(bought["order"]["id"])
        control.wait_for_deliveries(failed_ok=True)
        service.charge(description=HOSTILE)
        service.send("POST", "/orders", raw=HOSTILE.encode())
    page = visitor.open("/", {"q": "<img src=x"})
    expect(page.get_by_role("searchbox")).to_have_value("<img src=x")
    named = rows(page, "delivery").last
    expect(opened(page, named).locator(".why")).to_contain_text(SHOWN)
    expect(page.locator("#detail pre", has_text="<script>alert(1)").first).to_be_attached()
    opened(page, rows(page, "request").first)
    expect(page.locator("#detail pre", has_text=SHOWN).first).to_be_visible()
    page.goto(visitor.url("/", kind="delivery"))
    opened(page, rows(page).filter(has_text="event_oversize"))
    expect(page.get_by_text("Download the body that was sent")).to_be_visible()
    page.get_by_role("link", name="Subscriptions").click()
    expect(page.locator("td", has_text=SHOWN).first).to_be_visible()
    page.get_by_role("link", name=str(bought["subscription"]["id"])).click()
    expect(page.locator("h1")).to_contain_text(SHOWN)
    page.get_by_role("link", name="Endpoints").click()
    expect(page.locator("h3 code")).to_contain_text("%3Cscript")
    assert page.locator("img, script:not([src])").count() == 0
