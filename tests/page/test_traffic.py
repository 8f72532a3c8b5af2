"""The list: the first order, filters and the back button, an entry beside it, live rows, and a flood of events."""

from __future__ import annotations

import re
import threading
import time

from playwright.sync_api import Route, expect

from page.support import Visitor, press, rows
from support.waiting import LATE


def test_the_first_click_makes_an_order(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.locator(".cards .card")).to_have_count(3)
    page.evaluate("window.kept = true")
    press(page, "Make a first order")
    expect(page.locator("#note")).to_have_text("A visitor has bought a subscription.")
    expect(page.locator(".cards")).to_have_count(0)
    expect(rows(page, "state").filter(has_text="first_payment")).to_have_count(1)
    expect(rows(page, "effect").first).to_be_visible()
    assert page.evaluate("window.kept"), "the page was loaded again"
    assert [url.partition("/_page/")[2] for url in visitor.posts] == ["do/trigger"]


def test_search_and_filters_are_in_the_url_and_back_goes_back(visitor: Visitor) -> None:
    visitor.account.control.trigger("first-order")
    page = visitor.open()
    before, everything = page.url, rows(page).count()
    page.get_by_label("States", exact=True).check()
    page.wait_for_url("**kind=state**")
    expect(rows(page, "effect")).to_have_count(0)
    states = rows(page, "state").count()
    assert 0 < states < everything
    search = page.get_by_role("searchbox")
    search.fill("no such text")
    search.press("Enter")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.go_back()
    page.wait_for_url("**kind=state")
    expect(rows(page)).to_have_count(states)
    expect(page.get_by_label("States", exact=True)).to_be_checked()
    expect(search).to_have_value("")
    page.wait_for_load_state()  # the browser loads the page again, and htmx must see the next step back
    page.go_back()
    page.wait_for_url(before)
    expect(rows(page)).to_have_count(everything)
    expect(page.get_by_label("States", exact=True)).not_to_be_checked()


def test_an_entry_opens_beside_the_list_and_its_url_opens_it_again(visitor: Visitor) -> None:
    visitor.account.control.trigger("first-order")
    page = visitor.open()
    row = rows(page, "effect").first
    name = row.get_attribute("id")
    row.click()
    detail = page.locator(f"#detail[data-entry={name}]")
    expect(detail).to_be_visible()
    expect(detail).to_be_focused()
    assert re.search(rf"[?&]open={name}$", page.url)
    expect(row.locator("a")).to_have_attribute("aria-current", "true")
    text = detail.inner_text()
    page.reload()
    expect(detail).to_have_text(text, use_inner_text=True)
    expect(row.locator("a")).to_have_attribute("aria-current", "true")
    detail.locator(".chain a:not([aria-current])").first.click()  # from one entry to another
    expect(page.locator(f"#detail[data-entry]:not([data-entry={name}])")).to_be_visible()
    page.go_back()
    expect(detail).to_be_visible()


def test_the_last_click_counts_also_if_its_answer_comes_first(visitor: Visitor) -> None:
    visitor.account.control.trigger("first-order")
    page = visitor.open()
    early, last = (rows(page, kind).first for kind in ("effect", "state"))
    held: list[Route] = []
    page.route(re.compile(f"open={early.get_attribute('id')}$"), lambda route: held.append(route))
    early.click()
    last.click()
    shown = page.locator(f"#detail[data-entry={last.get_attribute('id')}]")
    expect(shown).to_be_visible()
    with page.expect_event("requestfinished", lambda request: request.url == held[0].request.url):
        held[0].continue_()
    page.evaluate("new Promise(done => setTimeout(done, 100))")  # for a swap that must not happen
    expect(shown).to_be_visible()
    assert page.url.endswith(str(last.get_attribute("id")))


def test_new_and_changed_rows_appear_without_a_reload(visitor: Visitor) -> None:
    control = visitor.account.control
    endpoint = control.create_endpoint("http://127.0.0.1:9/", paused=True, concurrency=100)
    page = visitor.open()
    page.evaluate("window.kept = true")
    for number in range(70):
        control.create_product(f"Number {number}")
    waiting = rows(page, "delivery").filter(has_text="pending")
    expect(waiting).not_to_have_count(0)
    expect(rows(page).first).to_have_attribute("id", newest(visitor))
    drawn = waiting.count()
    control.change_endpoint(endpoint["id"], paused=False)
    expect(rows(page, "delivery").filter(has_text="failed")).to_have_count(drawn)
    expect(waiting).to_have_count(0)
    assert page.evaluate("window.kept")


def newest(visitor: Visitor) -> str:
    """The name of the latest entry: the effect that follows its deliveries."""
    return f"effect-{visitor.account.control.ledger()[-1]['id']}"


def test_a_thousand_events_a_second_do_not_freeze_the_page(visitor: Visitor) -> None:
    control, products = visitor.account.control, 80
    for number in range(100):
        control.create_endpoint(f"http://127.0.0.1:9/{number}", paused=True)
    page = visitor.open()

    def flood() -> None:
        for number in range(products):
            control.create_product(f"Number {number}")

    began, clicks = time.monotonic(), 0
    sender = threading.Thread(target=flood)
    sender.start()
    while sender.is_alive():
        clicked, clicks = time.monotonic(), clicks + 1
        name = page.evaluate("const row = document.querySelector('#rows a'); row.click(); row.parentElement.id")
        expect(page.locator(f"#detail[data-entry={name}]")).to_be_visible()
        assert time.monotonic() - clicked < LATE
    print(f"{products * 100 / (time.monotonic() - began):.0f} events a second, {clicks} clicks")
    control.create_product("The last one")
    expect(page.locator(f"#{newest(visitor)}")).to_be_visible()
    missed = re.match(r"(\d+) earlier entries are not drawn", page.locator("#live").inner_text())
    assert missed is not None
    expect(rows(page)).to_have_count(200)
    assert int(missed[1]) + 200 >= products * 100
