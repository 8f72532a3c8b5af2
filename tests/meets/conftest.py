"""Fixtures of the tests with other programs."""

from __future__ import annotations

import pytest

from faults.certificates import Certificates


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))
