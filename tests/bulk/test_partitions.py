"""A partition in another process: it has no key, and belongs to one account and one format."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore import bulk

from .support import LONGER, Scene, child, found_in

WORKER = """
import json, pickle, sys
from billcore import bulk
counts = {}
for relation, batch in bulk.read(pickle.load(open(sys.argv[1], "rb"))):
    counts[relation] = counts.get(relation, 0) + batch.num_rows
print(json.dumps(counts))
"""


def work(partition: bulk.Partition, folder: Path, **environment: str) -> tuple[str, str]:
    """Reads the partition in a new process; returns its stdout, and the last line of its stderr."""
    file = folder / "partition"
    file.write_bytes(pickle.dumps(partition))
    out, err = child(WORKER, str(file), **environment).communicate(timeout=LONGER)
    return out, err.rstrip().rpartition("\n")[2]


def test_another_process_needs_the_key_alone(scene: Scene, tmp_path: Path) -> None:
    partition = scene.plan()
    shown = repr(partition).encode() + pickle.dumps(partition)
    assert scene.account.api_key.encode() not in shown
    assert pickle.loads(pickle.dumps(partition)) == partition
    out, err = work(partition, tmp_path, BILLCORE_API_KEY=scene.account.api_key)
    assert err == ""
    assert json.loads(out) == {"orders": sum(map(len, scene.stored().values())), "reads": len(partition.ids) + 1}


def test_a_process_without_the_key(scene: Scene, tmp_path: Path) -> None:
    out, err = work(scene.plan(), tmp_path)
    assert out == ""
    assert err == "billcore.ConfigError: api_key is missing: pass it, or set BILLCORE_API_KEY"


def test_a_partition_of_another_account(scene: Scene, tmp_path: Path) -> None:
    other = f"{scene.account.base_url.rpartition('/')[0]}/11111111-2222-4333-8444-555555555555"
    partition = scene.plan()
    _, err = work(partition, tmp_path, BILLCORE_API_KEY="key", BILLCORE_BASE_URL=other)
    message = f"the partition is of {partition.base_url}, the client of {other}: use one account"
    assert err == f"billcore.ConfigError: {message}"
    with scene.client_with(base_url=other) as client, pytest.raises(billcore.ConfigError) as caught:
        bulk.read(partition, client=client)
    assert str(caught.value) == message
    assert scene.asked() == 0


def test_a_partition_of_another_version(scene: Scene) -> None:
    with pytest.raises(billcore.ConfigError, match="format 1, not 2: plan with this version of billcore"):
        bulk.read(dataclasses.replace(scene.plan(), format=1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"partitions": 0}, "partitions is 0: pass 1 or more"),
        ({"fields": ["nope"]}, "not a column of orders"),
        ({"fields": "id"}, "fields must be a list of names, or None for all, not str"),
        ({"resource": "order"}, "resource is 'order': pass orders, subscriptions or products"),
    ],
)
def test_a_wrong_plan(scene: Scene, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=message):
        bulk.plan(scene.client, **{"partitions": 1, **arguments})
    assert scene.asked("subscriptions.list") == 0


@pytest.mark.parametrize("number", [0, -1])
def test_lists_at_once_below_1_is_refused(scene: Scene, number: int) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=f"lists_at_once is {number}: pass 1 or more"):
        found_in([bulk.read(scene.plan(), client=scene.client, lists_at_once=number)])
