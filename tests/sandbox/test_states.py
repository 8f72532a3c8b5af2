"""Tests every row of states.toml for each state of its `from`, through routes and with a real receiver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox
from billcore_sandbox.lifecycle import StatesError, read
from sandbox.stories import TABLE, Step, Story, nothing, on_endpoint, on_order, on_subscription
from sandbox.support import Receiver, Service
from support.waiting import GENEROUS


@pytest.fixture
def story(request: pytest.FixtureRequest, receiver: Receiver) -> Iterator[Story]:
    """A Story in a new account; if the parameter is "no_retries", the sandbox does not retry renewals."""
    process: Sandbox = request.getfixturevalue(getattr(request, "param", "process"))
    mine = process.new_account()
    yield Story(mine, receiver)
    process.control.delete_account(Service(mine.accounts[0]).account)


@pytest.fixture(scope="module")
def no_retries() -> Iterator[Sandbox]:
    with Sandbox(renewal_retries=[], delivery_timeout=GENEROUS) as sandbox:
        yield sandbox


def _cases() -> Iterator[Any]:
    for (machine, number), (sources, _, _) in TABLE.items():
        for source in sources:
            process = "no_retries" if (machine, number) == ("subscription", 11) and source != "delayed" else "process"
            yield pytest.param(process, machine, number, source, id=f"{machine}-{number}-{source}")


def rows(sandbox: Sandbox) -> dict[tuple[str, int], dict[str, Any]]:
    """Maps (state machine, number of the machine's row) to the row, as the control route `states` shows it."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in sandbox.control._call("GET", "states")["states"]:
        number = sum(machine == row["machine"] for machine, _ in found) + 1
        found[row["machine"], number] = row
    return found


def events_after(story: Story, count: int) -> list[str]:
    """The names of the events that the receiver got, without the first `count`."""
    deliveries = story.control.wait_for_deliveries()
    assert [each.event["name"] for each in story.receiver.received] == [each["event"] for each in deliveries]
    return [each["event"] for each in deliveries[count:]]


@pytest.mark.parametrize(("story", "machine", "number", "source"), [*_cases()], indirect=["story"])
def test_each_row_of_the_state_table_holds(
    process: Sandbox, story: Story, machine: str, number: int, source: str
) -> None:
    row = rows(process)[machine, number]
    sources, cause, events = TABLE[machine, number]
    sources[source](story)
    if source != "new":
        assert story.state(machine) == {"ending": "active"}.get(source, source)
    before = len(story.control.wait_for_deliveries())
    cause(story)
    assert events_after(story, before) == events.split()
    assert (row["event"] or "") in events
    assert story.state(machine) == (row["to"] if row["to"] != "same" else {"ending": "active"}.get(source, source))


def test_every_row_and_every_state_of_its_from_has_a_test(process: Sandbox) -> None:
    wanted = {key: {*row["from"]} for key, row in rows(process).items()}
    assert wanted == {key: {*sources} for key, (sources, _, _) in TABLE.items()}


def test_a_group_follows_its_products(story: Story) -> None:
    story.grouped()
    before = len(story.control.wait_for_deliveries())
    story.service.post(f"/product/{story.product}", {"price": 7})
    story.service.send("DELETE", f"/product/{story.product}")
    assert events_after(story, before) == [
        "product.updated",
        "product-group.updated",
        "product.deleted",
        "product-group.deleted",
    ]
    assert story.receiver.received[-1].event["data"]["products"] == [story.product]


@pytest.mark.parametrize(
    ("reach", "cause", "message"),
    [
        (
            lambda s: s.bought(),
            on_subscription("end"),
            "The subscription is active, which does not take end:"
            " it takes renew, cancel, change_product, change_billing.",
        ),
        (
            lambda s: s.cancelled(stays_active=True),
            on_subscription("renew"),
            "The subscription is cancelled, which does not take renew: it takes end, change_product, change_billing.",
        ),
        (
            lambda s: s.buy("one_time"),
            on_order("pay"),
            "The order is created, which does not take pay: it takes confirm, cancel_payment.",
        ),
        (
            lambda s: s.invoice("cancel_payment"),
            on_order("refund"),
            "The order is payment_cancelled, which does not take refund: it takes nothing any more.",
        ),
        (
            lambda s: [s.bought(), s.service.send("DELETE", f"/product/{s.product}")],
            lambda s: s.control.trigger("product-withdrawn", on=s.subscription),
            "The product is deleted, which does not take delete: it takes nothing any more.",
        ),
        (
            lambda s: [s.grouped(), s.post(f"groups/{s.group}/delete")],
            lambda s: s.post(f"groups/{s.group}/change"),
            "The group is deleted, which does not take change: it takes nothing any more.",
        ),
        (
            nothing,
            on_endpoint("enable"),
            "The endpoint is enabled, which does not take enable: it takes disable, rotate_secret, delete.",
        ),
        (
            lambda s: [s.issue(), s.control.revoke_key(s.key_id)],
            lambda s: s.control.revoke_key(s.key_id),
            "The key is revoked, which does not take revoke: it takes nothing any more.",
        ),
    ],
)
def test_a_cause_that_the_state_does_not_allow(story: Story, reach: Step, cause: Step, message: str) -> None:
    reach(story)
    before = (story.control.ledger(), len(story.control.wait_for_deliveries()))
    with pytest.raises(ControlError) as refused:
        cause(story)
    assert str(refused.value) == f"422 not_allowed: {message}"
    assert (story.control.ledger(), len(story.control.deliveries())) == before


ROW = '[[order]]\nfrom = ["new"]\ncause = "checkout"\nto = "created"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[order]\n", " is not TOML"),
        ("[[invoice]]\n", r"\[\[invoice\]\] is not a machine; there are subscription, order, "),
        ("[order]\ncause = 'checkout'\n", r"\[\[order\]\] is not a machine"),
        ("order = [1]\n", r"\[\[order\]\] number 1 is not a table"),
        (ROW + ROW + "form = 1\n", r"\[\[order\]\] number 2 has an unknown key 'form': use cause, effect, event, from"),
        (ROW.replace('["new"]', '["paid", "payed"]'), "`from` must be a list of states: new, created, "),
        (ROW.replace('["new"]', '[["new"]]'), "`from` must be a list of states"),
        (ROW.replace('["new"]', '"new"'), "`from` must be a list of states"),
        (ROW.replace('["new"]', "[]"), "`from` must be a list of states"),
        (ROW.replace('"created"', '"active"'), "a state as `to`: same, created, "),
        (ROW.replace('cause = "checkout"\n', ""), "needs a cause"),
        (ROW + 'guard = "pay"\n', "guard 'pay' does not exist; there are starts_later, "),
        (ROW + "guard = ['pays']\n", r"guard \['pays'\] does not exist"),
        (ROW + 'effect = "pay"\n', "effect 'pay' does not exist; there are begin_waiting, "),
        (ROW + 'then = "pay"\n', "then 'pay' does not exist; there are begin_waiting, "),
        (ROW + 'event = "order.payed"\n', "event 'order.payed' does not exist; there are subscription.created, "),
    ],
)
def test_a_mistake_in_a_states_file_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(StatesError, match=rf"^states\.toml.*{message}") as refused:
        read(text)
    assert "\n" not in str(refused.value)
    assert [each.to for each in read(ROW)] == ["created"]
