"""Functions for all control routes: they find the account of a request, and read objects."""

from __future__ import annotations

import sqlite3
from typing import Any

from billcore_sandbox.control import answers
from billcore_sandbox.control.bodies import Body
from billcore_sandbox.errors import Refusal, invalid, not_found
from billcore_sandbox.lifecycle import SUBJECTS, resource_of
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.store import Account
from billcore_sandbox.work import Work
from billcore_sandbox.world import World


def named_account(world: World, uuid: str | None) -> Account | None:
    """The account with this UUID; None if `uuid` is None. Raises Refusal 404 for an unknown UUID."""
    if uuid is None:
        return None
    account = world.store.by_uuid.get(uuid)
    if account is None:
        raise Refusal(404, "not_found", "No account has this UUID: GET /_sandbox/state lists the accounts.")
    return account


def account_number(world: World, uuid: str | None) -> int | None:
    """The number of the account with this UUID; None if `uuid` is None. Raises Refusal 404."""
    account = named_account(world, uuid)
    return None if account is None else account.number


def account_or_first(world: World, uuid: str | None) -> Account:
    """The account that a request names, or the first account if it names none."""
    return named_account(world, uuid) or world.store.accounts[0]


def find(world: World, machine: str, number: str, body: Body) -> tuple[sqlite3.Row, Account]:
    """An object and its account. Raises Refusal 404 if the id is unknown or the object is in another account."""
    row = world.store.one(f"SELECT * FROM {SUBJECTS[machine].table} WHERE id = ?", number_of(number))
    named = named_account(world, body.account)
    if row is None or (named is not None and row["account"] != named.number):
        raise not_found()
    return row, world.store.by_number[row["account"]]


def of_account(world: World, uuid: str | None) -> tuple[str, list[Any]]:
    """An SQL condition that is true for rows of the account with this UUID, and its arguments; None: any account."""
    account = named_account(world, uuid)
    return ("1", []) if account is None else ("account = ?", [account.number])


def shown(work: Work, order: sqlite3.Row | None, subscription: int | None) -> answers.Shown:
    """The current order and subscription, as resources of the REST interface."""
    row = None if subscription is None else work.row("subscriptions", subscription)
    fresh = None if order is None else work.row("orders", order["id"])
    return {
        "subscription": None if row is None else resource_of(work, "subscription", row),
        "order": None if fresh is None else resource_of(work, "order", fresh),
    }


def no_endpoint(number: int) -> Refusal:
    return invalid(f"No endpoint has the id {number}: GET /_sandbox/endpoints lists them.")


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise invalid(f"The field {name} must be one of {', '.join(known)}.")
