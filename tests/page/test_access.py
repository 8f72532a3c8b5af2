"""Who uses the page in other ways: without scripts, by keyboard, with a screen reader, on a phone, in the dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from page.support import Visitor, press, rows, shop
from sandbox.support import Service

NAMES = ("subscriptions", "upcoming", "faults", "endpoints", "accounts", "journal", "inbox")
VIEWS = ["/", *(f"/_page/{name}" for name in NAMES)]
MOST = 60 << 10  # bytes of the first view


def lived_in(visitor: Visitor) -> dict[str, str]:
    """Fills each view of the account; returns the URLs of its pages: each view, and each kind of open entry."""
    control, service = visitor.account.control, Service(visitor.account.accounts[0])
    with shop() as receiver:
        control.create_endpoint(receiver.url)
        bought = control.trigger("first-order")
        service.charge()
        control.fault("status", status=503, operation="webhook_endpoints.create")
        control.wait_for_deliveries(failed_ok=True)
        control.advance(days=1)
    urls = {path: visitor.url(path) for path in VIEWS}
    page = visitor.open()
    for kind in ("request", "effect", "state", "delivery", "clock"):
        urls[kind] = visitor.url("/", open=str(rows(page, kind).first.get_attribute("id")))
    path = f"/_page/subscriptions/{bought['subscription']['id']}"
    return {**urls, "subscription": visitor.url(path, order=str(bought["order"]["id"]))}


def mistakes(page: Page) -> list[str]:
    """What is wider than the window of a desktop or a phone, and what is not accessible; all folded parts are open."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
            found.append(f"wider than {width} pixels")
    answer = Axe().run(page).response
    # axe cannot measure the contrast of some characters, such as an arrow.
    unsure = [each for each in answer["incomplete"] if each["id"] != "color-contrast"]
    for each in (*answer["violations"], *unsure):
        if each["impact"] in ("serious", "critical"):
            found.append(f"{each['help']}: {[node['html'][:200] for node in each['nodes']][:3]}")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_page_fits_and_is_accessible(visitor: Visitor, scheme: str) -> None:
    page = visitor.open(color_scheme=scheme)
    wrong = {"first visit": mistakes(page)}
    for name, url in lived_in(visitor).items():
        page.goto(url)
        wrong[name] = mistakes(page)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_first_view_is_small(visitor: Visitor) -> None:
    for _ in range(60):
        Service(visitor.account.accounts[0]).get("/products")
    page = visitor.open("/_page/inbox")
    session = page.context.new_cdp_session(page)
    sizes: list[float] = []
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(visitor.url("/"))
    expect(rows(page)).to_have_count(50)
    page.wait_for_load_state("load")
    print(f"the first view: {sum(sizes):.0f} bytes in {len(sizes)} answers")
    assert len(sizes) >= 4 and sum(sizes) <= MOST


def test_it_works_without_scripts(visitor: Visitor) -> None:
    visitor.account.control.trigger("first-order")
    page = visitor.open(java_script_enabled=False)
    count = rows(page).count()
    rows(page, "effect").first.click()
    expect(page.locator("#detail[data-entry^=effect]")).to_be_visible()
    page.get_by_label("Effects", exact=True).check()
    page.get_by_role("button", name="Search").click()
    expect(rows(page, "state")).to_have_count(0)
    page.get_by_role("link", name="Subscriptions").click()
    press(page, "Make a first order")
    expect(page.locator("h1")).to_contain_text("Subscription")
    page.get_by_role("link", name="Traffic").click()
    assert rows(page).count() > count


def focused(page: Page) -> str:
    """What has the focus: its part of the page, or its text. It must be visible, with an outline."""
    found = page.evaluate(
        """() => {
          const on = document.activeElement, box = on.getBoundingClientRect(), style = getComputedStyle(on);
          const seen = box.width > 1 && box.bottom > 0 && box.top < innerHeight && parseFloat(style.outlineWidth) > 0;
          const where = on.closest('nav, .filters, #rows, #detail, .tools');
          return [on === document.body ? 'nothing' : on.matches('.skip') ? 'skip' : on.matches('#main') ? 'main' :
            where ? where.id || where.className || 'nav' : on.textContent.trim(), on.outerHTML.slice(0, 200), seen];
        }"""
    )
    name, html, seen = found
    assert seen or name in ("main", "nothing", "detail"), f"the focus cannot be seen: {html}"
    return str(name)


def test_the_keyboard_reaches_everything_in_order(visitor: Visitor) -> None:
    visitor.account.control.trigger("first-order")
    page = visitor.open(reduced_motion="reduce")
    assert rows(page).first.evaluate("each => getComputedStyle(each).animationName") == "none"
    reached: list[str] = []
    while not reached or reached[-1] != "rows":
        page.keyboard.press("Tab")
        reached.append(focused(page))
        assert len(reached) < 60
    order = [each for index, each in enumerate(reached) if each not in reached[:index]]
    assert order == ["skip", "billcore sandbox", "nav", "tools", "filters", "rows"]
    page.keyboard.press("Tab")
    link = rows(page).nth(1).locator("a")
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#detail[data-entry]")).to_be_focused()
    page.keyboard.press("Tab")
    assert focused(page) == "detail"
    page.reload()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.keyboard.press("Tab")
    assert focused(page) == "filters"
