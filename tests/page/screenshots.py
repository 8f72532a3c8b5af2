"""Makes the pictures of the page in python/sandbox/images, with the packages of tests/page/requirements.txt:

    PYTHONPATH=python:python/sandbox:tests python -m page.screenshots

The ports 8000 and 8080 must be free, because the pictures show them. The sandbox has a seed and a stopped clock, so the
command makes the same pictures each time, with the same browser.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from billcore.testing import Sandbox
from page.support import rows, shop
from sandbox.support import Service, account

IMAGES = Path(__file__).parents[2] / "python" / "sandbox" / "images"
MOST = 60 << 10  # bytes of a picture
COLOURS = 48


def take(page: Page, name: str) -> None:
    page.mouse.move(0, 0)
    path = IMAGES / f"{name}.png"
    picture = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path}: {size / 1024:.1f} KB")
    assert size <= MOST, f"{path} has more than {MOST} bytes"


def opened(browser: Browser, url: str, width: int, scheme: str) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(url)
    return page


def traffic(browser: Browser, sandbox: Sandbox, origin: str) -> None:
    """Take pictures of a delivery that the receiver refused, on a desktop and on a phone."""
    sandbox.control.trigger("first-order")
    sandbox.control.wait_for_deliveries(failed_ok=True)
    page = opened(browser, origin, 1280, "light")
    rows(page, "delivery").filter(has_text="failed").last.click()
    expect(page.locator(".why")).to_be_visible()
    take(page, "traffic")
    phone = opened(browser, page.url, 390, "light")
    take(phone, "phone")


def subscription(browser: Browser, sandbox: Sandbox, origin: str) -> None:
    number = account(sandbox).subscription("demo-declined")["id"]
    sandbox.control.subscription(number, "renew")
    take(opened(browser, f"{origin}/_page/subscriptions/{number}", 1280, "dark"), "subscription")


def faults(browser: Browser, service: Service, origin: str) -> None:
    page = opened(browser, f"{origin}/_page/faults", 1280, "light")
    page.locator("#stories-title + .actions button").first.click()
    expect(page.get_by_role("table")).to_be_visible()
    with suppress(ConnectionError):
        service.charge()
    page.reload()
    expect(page.locator("#note")).to_be_visible()
    take(page, "faults")


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    with (
        shop(8000) as receiver,
        sync_playwright() as play,
        Sandbox(seed=1, start="2026-01-31T09:00:00Z", port=8080, retry_schedule=[]) as sandbox,
    ):
        sandbox.control.freeze()
        sandbox.control.create_endpoint(receiver.url)
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-lcd-text"])
        service = account(sandbox)
        origin = f"http://{service.host}:{service.port}"
        traffic(browser, sandbox, origin)
        subscription(browser, sandbox, origin)
        faults(browser, service, origin)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
