"""The clock and the jobs that wait for it."""

from __future__ import annotations

import re

from billcore.testing import Sandbox
from sandbox.page.support import Browser
from sandbox.shop import Shop
from sandbox.support import account


def test_the_clock_moves_by_forms(shop: Shop) -> None:
    browser = Browser(shop.service)
    path = f"/_page/upcoming?account={shop.service.account}"

    def shown() -> str:
        found = re.search(r"It shows <b>(.*?)</b> UTC and ([\w ]+)\.", browser.get(path))
        assert found is not None
        return f"{found[1]} {found[2]}"

    tea = shop.buy(billing="invoice", reference_id="tea")
    assert "No job waits" in browser.get(path), "an invoice is not paid yet"
    buys = [shop.buy(), shop.buy(trial_days=40)]
    page = browser.get(path)
    assert re.findall(r">subscription (\d+)</a>", page) == buys and "in 28 d" in page and tea not in page
    assert '<option value="7200">2</option>' in page
    nothing = "Changes: 0, pending deliveries: 0, endpoints that did not answer: 0."
    assert browser.press(path, "clock", "Advance", days="1.5", seconds="7200")[0] == f"The clock has moved. {nothing}"
    assert shown() == "2031-02-01 23:00:00 is stopped"
    assert "Changes: 1," in browser.press(path, "clock", "Advance to this")[0]
    assert shown() == "2031-02-28 09:00:00 is stopped"
    browser.press(path, "clock", "Advance to it", to="2031-03-01T10:30")
    assert shown() == "2031-03-01 10:30:00 is stopped"
    assert browser.press(path, "clock", "A month (30 days)")[0].startswith("The clock has moved. Changes: 2,")
    assert shown() == "2031-03-31 10:30:00 is stopped"
    note, _ = browser.press(path, "clock", "Advance to it", to="2031-03-01T10:30")
    assert note.startswith("Refused: The clock shows 2031-03-31T10:30:00+00:00 and only moves forward")
    assert browser.press(path, "clock", "Let the clock run")[0] == "The clock runs."
    assert shown().endswith(" runs")
    browser.press(path, "clock", "Stop the clock")
    assert shown().endswith(" is stopped")


def test_jobs_of_all_accounts_stand_on_pages(sandbox: Sandbox) -> None:
    browser = Browser(account(sandbox))

    def jobs(page: str) -> list[tuple[str, str]]:
        return re.findall(r"<td><time>(.*?)</time></td>.*?>(\w+ \d+)</a>", browser.get(page), re.DOTALL)

    total = int(re.findall(r"(\d+) jobs wait", browser.get("/_page/upcoming"))[0])
    pages = [jobs(f"/_page/upcoming?page={number}") for number in range(1, total // 50 + 2)]
    listed = [job for page in pages for job in page]
    assert [len(page) for page in pages] == [*[50] * (total // 50), total % 50] and len({*listed}) == total > 100
    assert listed == sorted(listed, key=lambda each: each[0])
    assert jobs("/_page/upcoming?page=999999999999999999") == []
