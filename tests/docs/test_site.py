"""The site that python/docs/site.sh builds, in a browser. The variable BILLCORE_SITE names its folder."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from support.browser import browser
from support.waiting import GENEROUS

__all__ = ["browser"]
expect.set_options(timeout=GENEROUS * 1000)

DOCS = Path(__file__).resolve().parents[2] / "python/docs"
LONGEST = 250  # lines of a page that is written by hand
MADE = {"commands.md"}  # write_commands.py writes it
# What users search for, and a page that must be among the first results.
SEARCHES = {
    "gunicorn": "guides/deployment",
    "celery": "with/queues",
    "mock": "guides/testing",
    "pagination": "guides/lists",
    "idempotency": "guides/retries",
    "refund": "guides/money",
    "invoice": "guides/money",
    "retry a charge": "guides/retries",
    "PgBouncer": "with/databases",
}
FIRST = 8
# Sphinx writes the parameters of a long signature as a list of definitions without terms.
OF_SPHINX = {"definition-list"}
# One page of each kind: the table of contents, a guide with code, tabs, pictures, long tables, generated references.
KINDS = ["index", "why", "start/first_charge", "guides/receiving", "how/write_guard", "client", "commands"]
KINDS += ["reference/languages", "reference/error_names", "compared"]
LOOKS = [(name, "light") for name in KINDS] + [(name, "dark") for name in ("index", "how/write_guard", "client")]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Writes no line for each request."""


class Links(HTMLParser):
    """The targets of a page's links, and the ids that links to it may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value and tag in ("a", "img", "link", "script", "source"):
                self.targets.append(value)


@pytest.fixture(scope="session")
def folder() -> Path:
    return Path(os.environ["BILLCORE_SITE"])


@pytest.fixture(scope="session")
def url(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(GENEROUS * 1000)
    yield context.new_page()
    context.close()


def test_no_written_page_is_long() -> None:
    lines = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8").count("\n") for path in DOCS.rglob("*.md")}
    assert {name: count for name, count in lines.items() if count > LONGEST and name not in MADE} == {}


def test_each_link_has_a_target(folder: Path) -> None:
    written = [path for path in folder.rglob("*.html") if path.relative_to(folder).parts[0] != "c"]  # doxygen's pages
    pages = {path.relative_to(folder).as_posix(): Links(path.read_text("utf-8")) for path in written}
    wrong = []
    for name, links in pages.items():
        for target in links.targets:
            parts = urlsplit(urljoin(f"http://site/{name}", target))
            if parts.netloc != "site" or target.startswith(("data:", "mailto:")):
                continue
            path = unquote(parts.path).lstrip("/")
            if not (folder / path).is_file() or (path in pages and unquote(parts.fragment) not in pages[path].ids):
                wrong.append(f"{name}: {target}")
    assert wrong == []


@pytest.mark.parametrize("words", SEARCHES)
def test_the_search_finds(page: Page, url: str, words: str) -> None:
    page.goto(f"{url}/search.html?q={words}")
    results = page.locator("#search-results ul.search li a")
    expect(page.locator("#search-results .search-summary")).to_contain_text("Search finished")
    expect(results.first).to_be_visible()
    found = [str(link.get_attribute("href")) for link in results.all()[:FIRST]]
    assert any(SEARCHES[words] in link for link in found), found


def test_a_chosen_language_stays_chosen(page: Page, url: str) -> None:
    page.goto(f"{url}/start/first_charge.html")
    page.locator(".sd-tab-label", has_text="Rust").first.click()
    page.goto(f"{url}/start/first_webhook.html")
    chosen = page.locator(".sd-tab-set > input:checked + label")
    expect(chosen.first).to_have_text("Rust")
    assert {text.strip() for text in chosen.all_inner_texts()} == {"Rust"}


def test_code_can_be_copied(page: Page, url: str) -> None:
    page.goto(f"{url}/start/first_charge.html")
    expect(page.locator("button.copybtn").first).to_be_attached()


@pytest.mark.parametrize(("name", "scheme"), LOOKS)
def test_each_kind_of_page_fits_and_is_accessible(browser: Browser, url: str, name: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{url}/{name}.html")
    found = []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth"):
            found.append(f"wider than {width} pixels")
    for each in Axe().run(page).response["violations"]:
        if each["impact"] in ("serious", "critical") and each["id"] not in OF_SPHINX:
            found.append(f"{each['help']}: {[node['html'][:200] for node in each['nodes']][:3]}")
    context.close()
    assert found == []
