"""A program that makes 2,000 charges at once is killed in the middle: what it has said of each charge is true, and
find_charges() tells the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

import billcore
from conformance.drivers import VARIABLES, clean_environment
from support.waiting import GENEROUS

from .scene import World

COUNT, FIRST = 2000, 1000  # the amount of the first charge


def program(language: str) -> list[str]:
    if language == "python":
        return [sys.executable, str(Path(__file__).with_name("charges.py"))]
    return [os.environ[VARIABLES[language.partition("-")[0]]], "charges"]


@pytest.mark.parametrize("ends", [1, 700, 1500])
def test_every_outcome_is_told(world: World, language: str, ends: int) -> None:
    request = world.arguments("subscriptions.charge")[0]["args"]
    subscription, product = request["id"], request["product_id"]
    before = world.sandbox.control.ledger()
    given = [world.sandbox.base_url, world.sandbox.api_key, subscription, str(product), str(COUNT)]
    client = billcore.Client(base_url=given[0], api_key=given[1])
    began = datetime.now(UTC)

    def made() -> dict[str, int]:
        orders = client.subscriptions.find_charges(subscription, since=began, product_id=product)
        return {str(order.id): order.total - FIRST for order in orders if order.total is not None}

    others = made()  # of the same second
    # On a busy machine the program could otherwise send everything before it is killed.
    fault = world.sandbox.control.fault(
        "delay", operation="charge", nth=ends + 100, times=COUNT, delay=GENEROUS, optional=True
    )
    told: dict[int, str] = {}
    begun: set[int] = set()
    with subprocess.Popen([*program(language), *given], stdout=subprocess.PIPE, env=clean_environment()) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break  # the program was killed while it wrote this line
            word, number, *known = line.decode().split()
            if word == "begin":
                begun.add(int(number))
            else:
                told[int(number)] = known[0]
            if len(told) == ends:
                process.kill()
    world.sandbox.control.delete_fault(fault)
    assert process.returncode < 0 and len(begun) == COUNT and len(told) >= ends
    last = before[-1]["id"] if before else 0
    charged: list[int] = []
    found: set[int] = set()
    while not charged or charged != effects(world, last):  # the service may still work on the last requests
        charged = effects(world, last)
        found = {number for id, number in made().items() if id not in others}
    client.close()
    assert max(Counter(charged).values()) == 1 and set(charged) <= begun
    assert found == set(charged)
    assert {number for number, known in told.items() if known == "made"} <= found
    assert not {number for number, known in told.items() if known == "not-made"} & found
    assert len(found) < COUNT, "the rest was never sent"


def effects(world: World, since: int) -> list[int]:
    return [effect["amount"] - FIRST for effect in world.sandbox.control.ledger("charge", since=since)]
