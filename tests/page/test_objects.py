"""Subscriptions, the clock, faults and accounts: what their buttons do."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from page.support import Visitor, press, rows, shop
from sandbox.support import Service
from support.waiting import until


def test_a_subscription_goes_through_its_states(visitor: Visitor) -> None:
    page = visitor.open("/_page/subscriptions")
    page.get_by_role("searchbox").fill("demo-active")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url("**q=demo-active**")
    page.get_by_role("table").get_by_role("link").click()
    page.wait_for_url("**/_page/subscriptions/*")
    now = page.locator(".machine .state.now").first
    expect(now).to_have_attribute("data-state", "active")
    press(page, "Decline its payments")
    press(page, "renew")
    expect(now).to_have_attribute("data-state", "delayed")
    expect(page.locator(".changes").first).to_contain_text("active → delayed by renew")
    press(page, "Accept its payments")
    press(page, "Advance the clock to it")
    expect(now).to_have_attribute("data-state", "active")
    press(page, "cancel")
    expect(now).to_have_attribute("data-state", "cancelled")
    page.get_by_role("link", name="by cancel").click()
    expect(page.locator("#detail")).to_contain_text("cancelled")


def test_a_fault_is_registered_by_click_and_hits(visitor: Visitor) -> None:
    service = Service(visitor.account.accounts[0])
    page = visitor.open("/_page/faults")
    page.get_by_text("Set up status", exact=True).click()
    form = page.locator("#status form")
    form.get_by_label("account").select_option(visitor.uuid)
    form.get_by_label(re.compile("^status")).fill("503")
    press(page, "Register status")
    fault = page.get_by_role("row").filter(has_text="status")
    expect(fault).to_be_visible()
    assert service.get("/products").status == 503 and service.get("/products").status == 200
    page.get_by_role("link", name="Traffic").click()
    page.get_by_label("Trouble only").check()
    page.wait_for_url("**trouble=1**")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("status")
    rows(page).click()
    page.get_by_role("link", name="Fail the next request like this").click()
    expect(page.get_by_text("filled in for the operation products.list")).to_be_visible()
    press(page, "Delete")
    expect(fault).to_have_count(0)
    assert visitor.account.control.faults() == []


def test_the_clock_moves_once_however_often_the_button_is_pressed(visitor: Visitor) -> None:
    with shop() as receiver:
        receiver.secret = visitor.account.control.create_endpoint(receiver.url)["secret"]
        receiver.answer.clear()
        page = visitor.open()
        before = page.locator("#clock").inner_text()
        button = page.get_by_role("button", name="Advance a month")
        button.dblclick()
        form = page.locator("form.clock")
        expect(form).to_have_attribute("aria-busy", "true")
        expect(button).to_be_disabled()
        page.keyboard.press("Enter")
        form.evaluate("form => form.requestSubmit()")
        until(lambda: receiver.received)
        receiver.answer.set()
        expect(page.locator("#note")).to_have_text("The clock has moved by 30 days.")
        expect(button).to_be_enabled()
        expect(page.locator("#clock")).not_to_have_text(before)
        expect(rows(page, "clock")).to_have_count(1)
    assert [url.rpartition("/")[2] for url in visitor.posts] == ["clock"]
