#!/usr/bin/env python3
"""Makes the pictures of the page in python/sandbox/images: PYTHONPATH=python:python/sandbox:tests tests/page/screenshots.py

The Python needs the packages of tests/page/requirements.txt. The sandbox has a seed and a stopped clock, so the pictures
show the same ids and the same accounts each time; only the times of requests and durations differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from billcore.testing import Sandbox
from page.support import press, rows, shop
from sandbox.support import Service, account

IMAGES = Path(__file__).parents[2] / "python" / "sandbox" / "images"
MOST = 60 << 10  # bytes of a picture


def take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    size = path.stat().st_size
    print(f"{path}: {size / 1024:.1f} KB")
    assert size <= MOST, f"{path} has more than {MOST} bytes"


def opened(browser: Browser, url: str, width: int, scheme: str) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(url)
    return page


def traffic(browser: Browser, sandbox: Sandbox, origin: str) -> None:
    """A first order whose receiver refuses the signatures; a phone with an entry."""
    page = opened(browser, origin, 1280, "light")
    press(page, "Make a first order")
    sandbox.control.wait_for_deliveries(failed_ok=True)
    rows(page, "delivery").filter(has_text="failed").last.click()
    expect(page.locator(".why")).to_be_visible()
    take(page, "traffic")
    phone = opened(browser, page.url.partition("&note")[0], 390, "light")
    take(phone, "phone")


def subscription(browser: Browser, sandbox: Sandbox, origin: str) -> None:
    number = account(sandbox).subscription("demo-declined")["id"]
    sandbox.control.subscription(number, "renew")
    take(opened(browser, f"{origin}/_page/subscriptions/{number}", 1280, "dark"), "subscription")


def faults(browser: Browser, service: Service, origin: str) -> None:
    page = opened(browser, f"{origin}/_page/faults", 1280, "light")
    page.locator("#stories-title + .actions button").first.click()
    expect(page.get_by_role("table")).to_be_visible()
    service.get("/products")
    page.reload()
    take(page, "faults")


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    with (
        shop() as receiver,
        sync_playwright() as play,
        Sandbox(seed=1, start="2026-01-31T09:00:00Z", port=8080, retry_schedule=[]) as sandbox,
    ):
        sandbox.control.freeze()
        sandbox.control.create_endpoint(receiver.url)
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        service = account(sandbox)
        origin = f"http://{service.host}:{service.port}"
        traffic(browser, sandbox, origin)
        subscription(browser, sandbox, origin)
        faults(browser, service, origin)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
