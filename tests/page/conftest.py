"""Fixtures: a browser, a sandbox, and pages of it whose every problem fails the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from billcore.testing import Sandbox, SandboxAccount
from page.support import Visitor
from support.accounts import account
from support.browser import browser
from support.waiting import GENEROUS

__all__ = ["account", "browser"]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(delivery_timeout=GENEROUS, retry_schedule=[]) as sandbox:
        yield sandbox


@pytest.fixture
def visitor(browser: Browser, account: SandboxAccount) -> Iterator[Visitor]:
    visitor = Visitor(browser, account)
    yield visitor
    visitor.close()
    assert visitor.problems == [], "the browser reported problems"
