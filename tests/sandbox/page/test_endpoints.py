"""The view of endpoints: from registration to deletion by forms, and the receiver that it proposes."""

from __future__ import annotations

import html
import os
import re
import socket
import subprocess
import sys

import pytest

from billcore.testing import Sandbox, SandboxAccount
from sandbox.page.support import Browser
from sandbox.support import CLOSED, HOST, Receiver, Service, account_of, ended, make, sign
from support.ports import reserve_port
from support.waiting import GENEROUS, until


class View:
    """The view of endpoints of one account."""

    def __init__(self, mine: SandboxAccount) -> None:
        self.control, self.service = mine.control, Service(mine.accounts[0])
        self.browser = Browser(self.service)
        self.path = f"/_page/endpoints?account={self.service.account}"

    def press(self, path: str, button: str | None = None, /, **typed: str) -> str:
        return html.unescape(self.browser.press(self.path, path, button, **typed)[0])

    def copied(self, name: str) -> str:
        """A text that the page has for copying."""
        found = re.search(rf'<pre id="{name}"[^>]*>(.*?)</pre>', self.browser.get(self.path), re.DOTALL)
        assert found is not None
        return html.unescape(found[1])


@pytest.fixture
def view(mine: SandboxAccount) -> View:
    return View(mine)


def test_the_life_of_an_endpoint_by_forms(view: View, receiver: Receiver) -> None:
    note = view.press("endpoints", url=receiver.url, secret="s" * 32)
    (made,) = view.control.endpoints()
    path = f"endpoints/{made['id']}"
    assert note == f"The receiver is registered as endpoint {made['id']}."
    assert (made["url"], view.copied(f"secret-{made['id']}")) == (receiver.url, "s" * 32)
    view.press(path, "Pause")
    make(view.control, "one")
    page = view.browser.get(view.path)
    assert ">1 pending</a> " in page and ">0 failed</a>" in page and 'fault">paused' in page
    link = re.search(r'href="(/\?[^"]*)">1 pending', page)
    assert link is not None and "product.updated" in view.browser.get(html.unescape(link[1]))
    assert not receiver.received
    view.press(path, "Continue")
    assert receiver.wait(1)
    view.press(f"{path}/rotate_secret", overlap="600")
    new, old = view.copied(f"secret-{made['id']}"), view.copied(f"old-secret-{made['id']}")
    assert (old, new) == ("s" * 32, view.control.endpoints()[0]["secret"]) and new != old
    view.control.advance(seconds=601)
    assert f"old-secret-{made['id']}" not in view.browser.get(view.path)
    view.press("test-hook")
    body, signature = receiver.wait(2)[1].sent
    assert b"test.hook" in body and signature == sign(body, new)
    given = {"concurrency": "3", "retry_schedule:json": "[1, 60]", "keep_alive": "false"}
    view.press(path, "Change the settings", **given)
    changed = view.control.endpoints()[0]
    assert [changed[name] for name in ("concurrency", "retry_schedule", "keep_alive")] == [3, [1, 60], False]
    view.press(path, "Change the settings", **{"retry_schedule:json": "null"})
    changed = view.control.endpoints()[0]
    assert [changed[name] for name in ("concurrency", "retry_schedule", "keep_alive")] == [3, None, False]
    assert view.press(f"{path}/disable") == f"Endpoint {made['id']} is disabled."
    page = view.browser.get(view.path)
    assert f"{path}/disable" not in page and 'class="out bad">disabled' in page
    view.press(f"{path}/enable")
    view.press(f"{path}/delete")
    assert "No receiver is registered" in view.browser.get(view.path) and view.control.endpoints() == []
    assert view.press("endpoints", url="ftp://shop.example/").startswith("Refused: ")


def test_a_url_that_is_held_back_says_so() -> None:
    with account_of(deliver_to=["shop.example"]) as mine:
        view = View(mine)
        view.press("endpoints", url="https://shop.example/hook")
        assert "--deliver-to" not in view.browser.get(view.path)
        view.press("endpoints", url="https://till.example/<hook>")
        view.press("endpoints", url="https://till.example/hook")
        assert view.browser.get(view.path).count("<code>--deliver-to till.example</code>") == 1
        make(view.control, "tea")
        assert ">1 held back</a>" in view.browser.get(view.path)


def test_endpoints_stand_on_pages_with_their_failures(view: View, process: Sandbox) -> None:
    for number in range(51):
        view.control.create_endpoint(f"{CLOSED}{number}")
    first, *_, last = (each["id"] for each in view.control.endpoints())
    view.control.test_hook(endpoint_id=last)
    ended(view.control)
    page = view.browser.get(view.path)
    assert page.count('<h3 id="endpoint-') == 50 and page.count(">1 failed</a>") == 1
    older = re.search(r'href="([^"]*)">Older', page)
    assert older is not None
    assert re.findall(r'<h3 id="endpoint-(\d+)"', view.browser.get(html.unescape(older[1]))) == [str(first)]


def listens(port: int) -> bool:
    with socket.socket() as wire:
        return wire.connect_ex((HOST, port)) == 0


@pytest.mark.parametrize("header", ["Service-Signature", "X-Shop"])
def test_the_receiver_that_the_page_proposes_verifies(process: Sandbox, header: str) -> None:
    view = View(process.new_account(demo=False, signature_header=header))
    with reserve_port() as reserved:
        port = reserved.getsockname()[1]
    made = view.control.create_endpoint(f"http://127.0.0.1:{port}/hook")
    program = subprocess.Popen(
        [sys.executable, "-u", "-c", view.copied(f"receiver-{made['id']}")],
        env=os.environ | {"WEBHOOK_SECRET": view.copied(f"secret-{made['id']}")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: listens(port))
        view.press("test-hook")
        assert [each["attempts"][-1]["status"] for each in ended(view.control)] == [204]
        assert program.stdout is not None and program.stdout.readline() == "test.hook\n"
        view.control.rotate_secret(made["id"])
        view.press("test-hook")
        assert ended(view.control)[-1]["attempts"][-1]["status"] == 401
    finally:
        program.kill()
        program.communicate(timeout=GENEROUS)
        process.control.delete_account(view.service.account)
