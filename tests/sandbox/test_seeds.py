"""Demo data, seeds and seed files: what repeats with a seed, what never repeats without one, and what a file fills."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, Sandbox
from sandbox.support import CLOSED, Receiver, Service, account, refused
from support.waiting import GENEROUS

START = datetime(2026, 1, 12, 9, tzinfo=UTC)


def story(sandbox: Sandbox, url: str) -> tuple[list[Any], list[Any]]:
    """Does the same in the first account and in a new account; returns what is random, and everything that was made."""
    first, new = account(sandbox), sandbox.new_account()
    random: list[Any] = [first.account, first.api_key, new.base_url.rpartition("/")[2], new.api_key, first.products()]
    made: list[Any] = [new.ids, *(first.get(f"/subscriptions?page={page}").data for page in range(1, 6))]
    for control in (Control(sandbox.control_url, account=first.account), new.control):
        control.freeze()
        control.advance(to=START + timedelta(hours=1))
        random.append(control.create_endpoint(url)["secret"])
        made.append([control.trigger(name) for name in ("charge", "renewal-fails")])
        made.append(control.advance(days=5)["happened"])
        deliveries = control.wait_for_deliveries(GENEROUS)
        made += [control.ledger(), [{**each, "attempts": len(each["attempts"])} for each in deliveries]]
    new.control.fault("status", probability=0.5, times=99)
    random.append([Service(new.accounts[0]).get("/products").status for _ in range(40)])
    assert 5 < random[-1].count(503) < 35
    return random, made


def test_a_seed_and_a_start_make_everything_repeat(receiver: Receiver) -> None:
    found = []
    for seed in (7, 7, 8):
        with Sandbox(seed=seed, start=START, renewal_retries=[1], delivery_timeout=GENEROUS) as sandbox:
            assert sandbox.control.state()["accounts"][0]["now"].startswith("2026-01-12T09:")
            found.append(story(sandbox, receiver.url))
            if seed == 8:
                sandbox.control.reset()
                assert story(sandbox, receiver.url) == found[-1]
    assert found[0] == found[1]
    assert all(one != other for one, other in zip(found[0][0], found[2][0], strict=True))


def test_every_new_account_has_the_same_prices_and_dates() -> None:
    """Else a test with the fixture would depend on chance, or on the tests before it."""
    seen = []
    for _ in range(2):
        with Sandbox(start=START) as sandbox:
            for each in (sandbox.new_account(), sandbox.new_account(demo=False), sandbox.new_account()):
                service = Service(each.accounts[0])
                listed = [*service.products(), *service.get("/subscriptions").data]
                values = [[v for n, v in resource.items() if n != "id" and "url" not in n] for resource in listed]
                renewed = [each["at"] for each in each.control.advance(days=200)["happened"]]
                seen.append((values, renewed))
    assert seen[0] == seen[2] == seen[3] == seen[5] and len(seen[0][1]) > 20


def test_without_a_seed_new_ids_and_secrets_never_repeat(tmp_path: Path) -> None:
    """A receiver that drops known ids must not drop the events of the next test, so ids must differ."""
    found: dict[str, list[Any]] = {"subscriptions": [], "orders": [], "deliveries": [], "secrets": []}
    for db in (None, tmp_path / "billing.db", tmp_path / "billing.db"):
        with Sandbox(db=db) as sandbox:
            for _ in range(2):
                assert account(sandbox).subscription("demo-active")["id"] == "480001"
                accounts = [sandbox.new_account() for _ in range(2)]
                for each in accounts:
                    found["subscriptions"] += each.ids["subscriptions"].values()
                for control in (sandbox.control, *(each.control for each in accounts)):
                    found["secrets"].append(control.create_endpoint(CLOSED)["secret"])
                    done = control.trigger("renewal")
                    found["subscriptions"].append(done["subscription"]["id"])
                    found["orders"].append(done["order"]["id"])
                    found["deliveries"] += [each["id"] for each in done["deliveries"]]
                sandbox.control.reset()
    for kind, count in {"subscriptions": 15, "orders": 3, "deliveries": 9, "secrets": 3}.items():
        assert len({*found[kind]}) == len(found[kind]) == 6 * count
        if kind != "secrets":
            assert max(map(int, found[kind])) < 2**53  # doubles represent the ids exactly


def test_without_a_seed_the_accounts_are_random_but_a_file_and_a_reset_keep_them(tmp_path: Path) -> None:
    """A web page that knew the key could use it: see http/guard.py."""
    found = []
    for db in (None, None, tmp_path / "billing.db", tmp_path / "billing.db"):
        with Sandbox(db=db) as sandbox:
            known = [(each.base_url.rpartition("/")[2], each.api_key) for each in sandbox.accounts]
            sandbox.control.reset()
            assert [account(sandbox, index).get("/products").status for index in (0, 1)] == [200, 200]
            found.append(known)
    assert found[2] == found[3]
    texts = [text for known in found[:3] for pair in known for text in pair]
    assert len({*texts}) == 12


SEED_FILE = """
[[products]]
name = "Gym pass"
price = 19900
vat_rate = 12.5
interval = "week"

[[products]]
name = "Course"
type = "fixed_cycle"
cycles = 2

[[products]]
name = "Towel"
type = "one_time"
currency = "EUR"

[[subscriptions]]
product = "Gym pass"
reference_id = "customer-7"
reference_name = "Zoë"
metadata = { plan = "gold" }

[[subscriptions]]
product = "Course"
reference_id = "ended"
status = "expired"

[[subscriptions]]
product = "Gym pass"
reference_id = "tries"
status = "trialing"

[[subscriptions]]
product = "Gym pass"
reference_id = "fails"
status = "delayed"
declines = true
"""


def test_a_seed_file_replaces_the_data_of_the_first_account(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SEED_FILE, "utf-8")
    with Sandbox(seed_file=file) as sandbox:
        service, control = account(sandbox), sandbox.control
        products = service.products()
        shown = ("name", "type", "price", "vat_rate", "interval", "currency")
        assert [tuple(each[name] for name in shown) for each in products] == [
            ("Gym pass", "subscription", 19900, 12.5, "week", "DKK"),
            ("Course", "fixed_cycle", 10_000, 25, "month", "DKK"),
            ("Towel", "one_time", 10_000, 25, None, "EUR"),
        ]
        known = service.subscription("customer-7")
        assert (known["price"], known["vat"], known["metadata"]) == (19900, 1250, {"plan": "gold"})
        assert service.charge("customer-7").data["state"] == "paid"
        assert len(account(sandbox, 1).products()) == 30
        names = ("customer-7", "ended", "tries", "fails")
        assert [service.subscription(name)["status"] for name in names] == ["active", "expired", "trialing", "delayed"]
        control.advance(days=8)
        assert [service.subscription(name)["status"] for name in names] == ["active", "expired", "active", "unpaid"]
        assert len(control.ledger("renew")) == 2
        file.unlink()
        control.reset()
        assert service.products() == products
        assert service.subscription("tries")["status"] == "trialing"


GYM = "[[products]]\nname = 'Gym'\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read the seed file"),
        ("products = [", "is not TOML: "),
        ("[[subscriptions]]\nproduct = 'Gym'", "missing required field `products`"),
        (GYM + "prise = 5", "unknown field `prise` - at `$.products[0]`"),
        (GYM + GYM, "two products have one name"),
        (GYM + "[[subscriptions]]\nproduct = 'Jym'", "no recurring product is named 'Jym'"),
        (GYM + "[[subscriptions]]\nproduct = 'Gym'\nmetadata = { since = 2026-01-12 }", "JSON has no dates"),
    ],
)
def test_a_seed_file_with_a_mistake(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text, "utf-8")
    told = refused("--seed-file", str(file))
    assert message in told and str(file) in told
