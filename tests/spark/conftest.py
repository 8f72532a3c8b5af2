"""Fixtures: a sandbox, and an engine that reads its first account. All tests share both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from billcore import Client
from billcore.testing import Sandbox

from . import engines

Load = Callable[..., DataFrame]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(keep_bytes=1 << 30) as running:
        yield running


@pytest.fixture(scope="session")
def session(sandbox: Sandbox, folder: Path) -> Iterator[SparkSession]:
    environment = {"BILLCORE_API_KEY": sandbox.api_key, "BILLCORE_BASE_URL": sandbox.base_url}
    with engines.spark(environment, folder) if engines.SPARK else engines.sail(environment) as started:
        yield started


@pytest.fixture
def load(session: SparkSession) -> Load:
    """load("orders", "id string", partitions=3): a DataFrame of the data source."""

    def load(resource: str, schema: str | None = None, **options: object) -> DataFrame:
        reader = session.read.format("billcore").options(resource=resource, **options)
        return (reader if schema is None else reader.schema(schema)).load()

    return load


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    with Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as opened:
        yield opened


def stored(sandbox: Sandbox, resource: str) -> int:
    """The number of records of the first account in the sandbox's store."""
    return sum(sandbox.control.state()["accounts"][0][resource].values())


def all_orders(client: Client) -> set[tuple[str, str, int]]:
    """(order, subscription, total) of each order, read list by list without Arrow."""
    subscriptions = [each.id for each in client.subscriptions.list()]
    return {(str(each.id), str(id), each.total) for id in subscriptions for each in client.subscriptions.orders(id)}
