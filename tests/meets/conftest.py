"""Fixtures of the tests with other programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from faults.certificates import Certificates
from support.postgres import Postgres


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()
