"""receive() of an account of the sandbox: what the inbox verifies, answers and keeps, and what wait() says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import billcore
from billcore import webhooks
from billcore.testing import DeliveryFailed, Sandbox, SandboxAccount, WaitTimeout
from support.waiting import GENEROUS, until


@pytest.fixture(scope="module")
def process() -> Iterator[Sandbox]:
    with Sandbox(retry_schedule=[0.02, 0.02], event_payload="full") as sandbox:
        yield sandbox


@pytest.fixture
def account(process: Sandbox) -> Iterator[SandboxAccount]:
    made = process.new_account()
    yield made
    made.close()


def charge(account: SandboxAccount) -> str:
    """Makes a charge, which fires order.confirmed and order.paid; returns its order's id."""
    done = account.trigger("charge", on=account.ids["subscriptions"]["demo-active"])
    return str(done["order"]["id"])


def outcomes(account: SandboxAccount, event: str) -> list[int | None]:
    """The statuses that the receivers answered to the attempts of these events."""
    account.control.wait_for_deliveries(GENEROUS, failed_ok=True)
    return [made["status"] for each in account.control.deliveries(event) for made in each["attempts"]]


def test_verified_events_are_handled_and_kept_in_order_of_arrival(account: SandboxAccount) -> None:
    handled: list[webhooks.AnyEvent] = []
    with account.receive(handler=handled.append, keep_alive=False) as inbox:
        assert inbox.secret == account.webhook_secret and inbox.events == []
        account.fault("event_duplicate", event="order.paid")
        account.fault("event_signature", event="order.confirmed")
        charged = charge(account)
        paid = inbox.wait(webhooks.OrderPaid, count=2, timeout=GENEROUS)
        assert [str(each.data.id) for each in paid] == [charged] * 2 and paid[0].id == paid[1].id
        (confirmed,) = inbox.wait("order.confirmed", timeout=GENEROUS)
        assert inbox.wait("order.paid") == paid and inbox.wait(webhooks.Event, count=3) == inbox.wait() == handled
        assert inbox.events == handled and {each.raw for each in handled} == {confirmed.raw, paid[0].raw}
        assert outcomes(account, "order.confirmed") == [401, 204]
    assert account.control.endpoints() == [] and inbox.events == handled


def test_the_script_of_statuses(account: SandboxAccount) -> None:
    handled: list[webhooks.AnyEvent] = []
    with account.receive(status=[503, 429], handler=handled.append) as inbox:
        account.control.test_hook()
        assert inbox.wait("test.hook", timeout=GENEROUS) == inbox.events == handled
        assert outcomes(account, "test.hook") == [503, 429, 204]
    with account.receive(status=lambda event: 200 if event.name == "order.paid" else 410) as inbox:
        charge(account)
        assert [each.name for each in inbox.wait(timeout=GENEROUS)] == ["order.paid"]
        assert outcomes(account, "order.confirmed")[-3:] == [410] * 3
    with account.receive(status=202) as inbox:
        account.control.test_hook()
        assert inbox.wait(timeout=GENEROUS)
        assert outcomes(account, "test.hook")[-1] == 202


def test_a_wait_that_ends_in_vain_says_what_there_is(account: SandboxAccount) -> None:
    with account.receive(status=lambda event: 500 if event.name == "order.paid" else 204) as inbox:
        charge(account)
        outcomes(account, "order.paid")
        with pytest.raises(DeliveryFailed, match=r"order\.paid .* failed after 3 attempts: the receiver answered 500"):
            inbox.wait("order.paid", timeout=0)
        with pytest.raises(WaitTimeout):
            account.receive().wait(timeout=0)  # the failed delivery was to another receiver
    with account.receive(status=[500] * 9, retry_schedule=[3600]) as inbox:
        account.control.test_hook()
        until(lambda: account.control.deliveries("test.hook")[-1]["attempts"])
        with pytest.raises(
            WaitTimeout, match=r"^0 of 2 events test\.hook came within 0 s: .*no events; .* 500$"
        ) as told:
            inbox.wait("test.hook", count=2, timeout=0)
    assert (told.value.arrived, told.value.pending) == (0, 1)
    assert told.value.last_answer is not None and told.value.last_answer["status"] == 500


def test_the_error_of_a_handler_reaches_the_test(account: SandboxAccount) -> None:
    seen: list[object] = []

    def broken(event: webhooks.AnyEvent) -> None:
        seen.append(event.id)
        if len(seen) == 1:
            raise LookupError("no such order")

    with account.receive(handler=broken) as inbox:
        account.control.test_hook()
        with pytest.raises(LookupError, match="no such order"):
            inbox.wait(timeout=GENEROUS)
        assert inbox.wait(timeout=GENEROUS) == inbox.events and len(seen) == 2
        (delivery,) = account.control.deliveries("test.hook")
        assert delivery["attempts"][0]["answer_body"] == "LookupError: no such order"
    with pytest.raises(billcore.ConfigError):
        account.receive(secret="short")
    assert account.control.endpoints() == []


def test_the_signature_header_of_the_account() -> None:
    with Sandbox(signature_header="X-Sign") as sandbox:
        for account in (sandbox.new_account(), sandbox.new_account(signature_header="X-Other"), sandbox):
            with account.receive() as inbox:
                account.control.test_hook()
                assert inbox.wait("test.hook", timeout=GENEROUS)
