"""The tests of this folder run with a Python that has the wheel installed; $BILLCORE_WHEEL is the wheel's path."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator

import pytest

from faults.certificates import Certificates


@pytest.fixture(scope="session")
def wheel() -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(os.environ["BILLCORE_WHEEL"]) as archive:
        yield archive


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))
