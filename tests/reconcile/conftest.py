"""Fixtures: a sandbox, and the databases of the inbox's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore.testing import Sandbox
from inbox.conftest import database, postgres, postgresql, sqlite

__all__ = ["database", "postgres", "postgresql", "sqlite"]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox
